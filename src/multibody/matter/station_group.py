"""Groups of stations that are declared: their positions and Jacobian are entries of the graph."""

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from stagecache.errors import ConstModelError
from stagecache.multibody.checks import checked_array
from stagecache.multibody.geometry.spatial import Array, forces_about_origin, velocities_at
from stagecache.multibody.matter.abstract_matter import AbstractMatter
from stagecache.multibody.matter.body import MobilizedBody
from stagecache.multibody.tree.motions import generalized_forces, motions
from stagecache.multibody.tree.stations import StationTable
from stagecache.state.handles import CacheEntry
from stagecache.state.state import State


@final
class StationGroup:
    """Points of some bodies, as `MatterSubsystem.add_stations` makes them. It is const.

    `positions`, `velocities`, `jacobian`, `frame_jacobian` and `acceleration_bias` are handles of
    entries.

    Attributes
    ----------
    matter : MatterSubsystem
    name : str
    index : int
        Of the groups of its matter.
    bodies : tuple of MobilizedBody
        By station, of what it is a point.
    stations : ndarray of shape (k, 3)
        Where, in the frame of its body [m].
    """

    __slots__ = ("bodies", "index", "matter", "name", "stations")
    matter: AbstractMatter
    name: str
    index: int
    bodies: tuple[MobilizedBody, ...]
    stations: Array

    def __init__(
        self,
        matter: AbstractMatter,
        name: str,
        index: int,
        bodies: tuple[MobilizedBody, ...],
        stations: Array,
    ) -> None:
        values = (bodies, index, matter, name, stations)
        self.__setstate__(dict(zip(self.__slots__, values, strict=True)))

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
    def jacobian(self) -> CacheEntry[Array]:
        """The entry of the derivatives of the velocities by u, (k, 3, nu)."""
        return self.matter.station_jacobian.member(self.index)

    @property
    def acceleration_bias(self) -> CacheEntry[Array]:
        """The entry of the accelerations where udot is 0, (k, 3) [m/s^2]."""
        return self.matter.station_acceleration_bias.member(self.index)

    @property
    def frame_jacobian(self) -> CacheEntry[Array]:
        """The same of frames at the stations, (k, 6, nu): angular, then linear velocity."""
        return self.matter.station_frame_jacobian.member(self.index)

    # ------------------------------------------------------------------ products

    def multiply_by_jacobian(self, state: State, u: ArrayLike) -> Array:
        """The velocities (k, 3) for any u of the matter, (nu,). Reads `positions`, `matter.axes`.

        Cost O(bodies log(depth) + stations): the Jacobian is not formed.

        Raises
        ------
        ShapeError, NotANumberError, OutOfRangeError, StageTooLowError, WrongTypeError
        """
        return self.multiply_by_frame_jacobian(state, u)[:, 3:]

    def multiply_by_jacobian_transpose(self, state: State, forces: ArrayLike) -> Array:
        """The forces on u (nu,) of forces on the stations, (k, 3) [N]. Else as above."""
        shape = (len(self.bodies), 3)
        what = f"multiply_by_jacobian_transpose(forces) of {self}"
        values = checked_array(forces, shape, what)
        return self._generalized(state, forces_about_origin(self.positions(state), values))

    def multiply_by_frame_jacobian(self, state: State, u: ArrayLike) -> Array:
        """The velocities of frames at the stations, (k, 6), angular and linear. Else as above."""
        layout, axes = self.matter.layout(state), self.matter.axes(state)
        speeds = checked_array(
            u, (layout.nu,), f"the u by which a Jacobian of {self} is multiplied"
        )
        found = motions(layout, axes, speeds)[self.table.rows]
        found[:, 3:] = velocities_at(self.positions(state), found)
        return found

    def multiply_by_frame_jacobian_transpose(self, state: State, forces: ArrayLike) -> Array:
        """The forces on u (nu,) of moments and forces on frames, (k, 6). Else as above."""
        shape = (len(self.bodies), 6)
        what = f"multiply_by_frame_jacobian_transpose(forces) of {self}"
        values = checked_array(forces, shape, what)
        spatial = forces_about_origin(self.positions(state), values[:, 3:])
        spatial[:, :3] += values[:, :3]
        return self._generalized(state, spatial)

    def _generalized(self, state: State, spatial: Array) -> Array:
        """The forces on u of spatial forces on the bodies of the stations."""
        layout = self.matter.layout(state)
        on_bodies = np.zeros((len(layout.joints), 6))
        np.add.at(on_bodies, self.table.rows, spatial)
        return generalized_forces(layout, self.matter.axes(state), on_bodies)

    @property
    def table(self) -> StationTable:
        """The tables of the stations, which are const."""
        return self.matter.station_table(self.index)

    # ------------------------------------------------------------------ a const object

    def __setattr__(self, name: str, value: object) -> None:
        raise ConstModelError(
            f"{self}.{name}: cannot be assigned",
            "a group of stations that is const",
            "another value for it",
            "add another group",
        )

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    def __len__(self) -> int:
        return len(self.bodies)

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        return f"stations {self.name!r} of {self.matter.name}"

    def __repr__(self) -> str:
        return f"StationGroup({self.name!r}, {len(self)} stations)"

    def __copy__(self) -> "StationGroup":
        return self

    def __reduce__(self) -> Any:
        return group_of, (self.matter, self.index), {n: getattr(self, n) for n in self.__slots__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if not hasattr(self, "matter"):  # it is new
            for name, value in state.items():
                object.__setattr__(self, name, value)


def group_of(matter: AbstractMatter, index: int) -> StationGroup:
    """The group of that index when it is unpickled: that which is there, or a new one."""
    there: tuple[StationGroup, ...] = matter.__dict__.get("_groups", ())
    if index < len(there):
        return there[index]
    arriving: dict[int, StationGroup] = matter.__dict__.setdefault("_arriving_groups", {})
    return arriving.setdefault(index, StationGroup.__new__(StationGroup))
