"""Groups of stations: points of bodies, whose positions, velocities and Jacobians are entries."""

from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import ArrayLike

from stagecache.multibody.checks import checked_array
from stagecache.multibody.geometry.spatial import (
    Array,
    forces_about_origin,
    velocities_at,
)
from stagecache.multibody.matter.mobilized_body import MobilizedBody
from stagecache.multibody.matter.part import MatterPart
from stagecache.multibody.tree.motions import (
    generalized_forces,
    motions,
)
from stagecache.multibody.tree.stations import StationTable
from stagecache.state.handles import (
    CacheEntry,
)
from stagecache.state.state import State

if TYPE_CHECKING:
    pass


@final
class StationGroup(MatterPart):
    """Points of some bodies; see `MatterSubsystem.add_stations`. It is const.

    `positions`, `velocities`, `accelerations`, `jacobian`, `frame_jacobian` and `acceleration_bias`
    are handles of entries.

    Attributes
    ----------
    matter : MatterSubsystem
    name : str
    index : int
        Groups are numbered as they were added.
    bodies : tuple of MobilizedBody
        By station, its body.
    stations : ndarray of shape (k, 3)
        Each in the frame of its body [m].
    """

    __slots__ = ("bodies", "stations")
    _collection = "_groups"
    bodies: tuple[MobilizedBody, ...]
    stations: Array

    # ------------------------------------------------------------------ handles

    @property
    def positions(self) -> CacheEntry[Array]:
        """The entry of the positions in ground, (k, 3) [m]."""
        return self.matter.station_positions.member(self.index)

    @property
    def velocities(self) -> CacheEntry[Array]:
        """The entry of the velocities in ground, (k, 3) [m/s]."""
        return self.matter.station_velocities.member(self.index)

    @property
    def accelerations(self) -> CacheEntry[Array]:
        """The entry of the accelerations in ground, (k, 3) [m/s²]. Needs Acceleration."""
        return self.matter.station_accelerations.member(self.index)

    @property
    def jacobian(self) -> CacheEntry[Array]:
        """The entry of the derivatives of the velocities by u, (k, 3, nu)."""
        return self.matter.station_jacobian.member(self.index)

    @property
    def acceleration_bias(self) -> CacheEntry[Array]:
        """The entry of the accelerations where udot is 0, (k, 3) [m/s²]."""
        return self.matter.station_acceleration_bias.member(self.index)

    @property
    def frame_jacobian(self) -> CacheEntry[Array]:
        """The Jacobian of frames at the stations, (k, 6, nu): angular, then linear velocity."""
        return self.matter.station_frame_jacobian.member(self.index)

    # ------------------------------------------------------------------ products

    def multiply_by_jacobian(self, state: State, u: ArrayLike) -> Array:
        """Return the velocities (k, 3) for any u of the matter, (nu,).

        Reads `positions`, `matter.axes`. Cost O(bodies log(depth) + stations): the Jacobian is not
        formed.

        Raises
        ------
        ShapeError, NotANumberError, OutOfRangeError, StageTooLowError, WrongTypeError
        """
        return self.multiply_by_frame_jacobian(state, u)[:, 3:]

    def multiply_by_jacobian_transpose(self, state: State, forces: ArrayLike) -> Array:
        """Return the forces on u (nu,) of forces on the stations, (k, 3) [N]. Else as above."""
        shape = (len(self.bodies), 3)
        what = f"multiply_by_jacobian_transpose(forces) of {self}"
        values = checked_array(forces, shape, what)
        return self._generalized(state, forces_about_origin(self.positions(state), values))

    def multiply_by_frame_jacobian(self, state: State, u: ArrayLike) -> Array:
        """Return the velocities of frames (k, 6), angular and linear. Else as above."""
        layout, axes = self.matter.layout(state), self.matter.axes(state)
        what = f"the u by which a Jacobian of {self} is multiplied"
        found = motions(layout, axes, checked_array(u, (layout.nu,), what))[self.table.rows]
        found[:, 3:] = velocities_at(self.positions(state), found)
        return found

    def multiply_by_frame_jacobian_transpose(self, state: State, forces: ArrayLike) -> Array:
        """Return the forces on u (nu,) of moments and forces on frames, (k, 6). Else as above."""
        shape = (len(self.bodies), 6)
        what = f"multiply_by_frame_jacobian_transpose(forces) of {self}"
        values = checked_array(forces, shape, what)
        spatial = forces_about_origin(self.positions(state), values[:, 3:])
        spatial[:, :3] += values[:, :3]
        return self._generalized(state, spatial)

    def _generalized(self, state: State, spatial: Array) -> Array:
        """Return the forces on u of spatial forces on the bodies of the stations."""
        layout = self.matter.layout(state)
        on_bodies = np.zeros((len(layout.joints), 6))
        np.add.at(on_bodies, self.table.rows, spatial)
        return generalized_forces(layout, self.matter.axes(state), on_bodies)

    @property
    def table(self) -> StationTable:
        """The tables of the stations, which are const."""
        return self.matter._tables[self.index]

    def _hint(self, name: str) -> str:  # noqa: ARG002  # of a fixed form
        return "add another group"

    def __len__(self) -> int:
        return len(self.bodies)

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        return f"stations {self.name!r} of {self.matter.name}"

    def __repr__(self) -> str:
        return f"StationGroup({self.name!r}, {len(self)} stations)"
