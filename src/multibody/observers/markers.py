"""Markers: points of bodies, and their observed positions."""

from collections.abc import Callable, Iterable
from typing import SupportsIndex, final

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike

from stagecache.decorations.decorations import AbstractDecoration, DecorativeLine, DecorativePoint
from stagecache.multibody.checks import checked_array
from stagecache.multibody.geometry.spatial import Array, cross_matrices
from stagecache.multibody.matter.mobilized_body import MobilizedBody
from stagecache.multibody.observers.observations import AbstractThing, Frame
from stagecache.multibody.observers.observer import AbstractObserver, FrameTables
from stagecache.multibody.tree.poses import TreePoses
from stagecache.multibody.tree.stations import StationTable
from stagecache.state.state import State

OBSERVED = (0.9, 0.5, 0.1)
"""The color of observations in pictures."""


@final
@frozen(eq=False)
class Marker(AbstractThing):
    """A point of a body. It is const, and equal to itself only.

    Attributes
    ----------
    name : str
    index : int
        Markers are numbered as they were added.
    body : MobilizedBody
    station : ndarray of shape (3,)
        In the frame of the body [m].
    """

    station: Array = field(repr=False)

    def __str__(self) -> str:
        return f"marker {self.name!r}"


@final
class Markers(AbstractObserver[Marker]):
    """Markers on bodies, and their observed positions in ground.

    As a goal, it is half the weighted mean of the squares of the distances [m^2]. As an error, it
    has three rows for each marker that is observed [m]. Markers are left out that are missing in a
    frame, have weight 0 or no observation, or are on the ground.

    Parameters
    ----------
    name : str

    Raises
    ------
    InvalidNameError

    Examples
    --------
    >>> from stagecache import Assembler
    >>> from stagecache.multibody import Markers, MultibodySystem, Pin
    >>> system = MultibodySystem()
    >>> arm = system.matter.add_body("arm", system.matter.ground, Pin())
    >>> state = system.new_state()
    >>> assembler = Assembler(system, accuracy=1e-6)
    >>> markers = assembler.add_goal(Markers())
    >>> tip = markers.add_marker(arm, [1, 0, 0], name="tip")
    >>> markers.move_all_observations([[0, 1, 0]])
    >>> result = assembler.assemble(state)
    >>> arm.q(state).round(3), markers.current_errors(state).round(3)
    (array([1.571]), array([0.]))
    """

    _kind = "marker"
    _shape = (3,)
    _knows_bends = True

    def __init__(self, name: str = "markers") -> None:
        super().__init__(name)

    # ------------------------------------------------------------------ markers

    @property
    def markers(self) -> tuple[Marker, ...]:
        """All markers."""
        return self._observations.things

    def add_marker(
        self, body: MobilizedBody, station: ArrayLike, weight: float = 1.0, name: str = ""
    ) -> Marker:
        """Add a marker. The order of observations is forgotten, and all of them are missing then.

        Parameters
        ----------
        body : MobilizedBody
            All markers are on bodies of one matter.
        station : (3,) array_like
            In the frame of the body [m].
        weight : float
            0 or more.
        name : str
            The name of no other marker; the default is "marker 3" for index 3.

        Returns
        -------
        Marker
            The marker, for other methods.

        Raises
        ------
        UnknownBodyError, ShapeError, NotANumberError, OutOfRangeError, InvalidNameError,
        DuplicateNameError
        ConditionError
            The body is not of the System of the Assembler.
        """

        def make(name: str, index: int, owner: MobilizedBody) -> Marker:
            what = f"the station of marker {name!r} of {self}"
            return Marker(name, index, owner, checked_array(station, (3,), what))

        return self._add(make, body, weight, name)

    def marker(self, which: Marker | str | SupportsIndex) -> Marker:
        """Return the marker of a name or an index.

        Raises
        ------
        UnknownMarkerError
        """
        return self.markers[self._observations.index_of(which)]

    def current_positions(self, state: State | None = None) -> Array:
        """Return the positions of all markers in ground, (number of markers, 3) [m].

        Parameters
        ----------
        state : State, optional
            At Model or further. The default is the internal State of the Assembler.

        Raises
        ------
        StudyError
            A State is missing, and an Assembler, too.
        StageTooLowError, WrongTypeError, ForeignStateError, KinematicsError
        """
        if not self.markers:
            return np.empty((0, 3))
        state = self._state_or_internal(state)
        return self._table(state).positions(self._matter.tree_poses(state).bodies)

    def calc_decorations(
        self, state: State | None = None, *, color: tuple[float, float, float] = OBSERVED
    ) -> list[AbstractDecoration]:
        """Return points at the markers, and at their observations, with lines between them.

        Parameters
        ----------
        state : State, optional
            Same as for `current_positions`.
        color : (3,) tuple of float
            The color of observations: red, green and blue, from 0 to 1.
        """
        positions = self.current_positions(state)
        found: list[AbstractDecoration] = [
            DecorativePoint(position, label=marker.name)
            for marker, position in zip(self.markers, positions, strict=True)
        ]
        for marker, observed in zip(self.observation_order, self.observations, strict=True):
            if np.isnan(observed).any():
                continue
            found.append(DecorativePoint(observed, color=color))
            if marker is not None:
                there = positions[marker.index]
                found.append(DecorativeLine(there, observed, color=color, line_width=0.5))
        return found

    # ------------------------------------------------------------------ duties

    def marker_distances(self, state: State) -> tuple[list[str], Array] | None:
        """Return names of markers that count, and their distances from their observations [m]."""
        tables = self._current(state)
        if tables is None:
            return None
        deviations = self._deviations_of(tables, self._places(tables, state))
        names = [self.markers[i].name for i in tables.frame.things.tolist()]
        return names, np.sqrt(np.einsum("ij,ij->i", deviations, deviations))

    def _check_values(self, values: Array, label: Callable[[int], str]) -> None:
        """Accept all positions."""

    def _stations_of(self, things: Iterable[Marker]) -> Array:
        return np.array([marker.station for marker in things])

    def _targets_of(self, frame: Frame) -> Array:
        return frame.targets

    def _places_of(self, tables: FrameTables, poses: TreePoses) -> Array:
        return tables.plain.positions(poses.bodies)

    def _deviations_of(self, tables: FrameTables, places: Array) -> Array:
        return places - tables.targets

    def _jacobian_of(self, table: StationTable, places: Array, axes: Array) -> Array:
        return table.jacobian(places, axes)

    def _bends_of(
        self,
        table: StationTable,  # noqa: ARG002  # the Jacobian has it
        places: Array,  # noqa: ARG002  # likewise
        axes: Array,
        jacobian: Array,
        factors: Array,
    ) -> Array:
        """Turn each column of the Jacobian about the axes: a_i . sum of J_kj x f_k."""
        moments = -cross_matrices(factors).swapaxes(0, 1).reshape(3, -1)
        found: Array = axes[:, :3] @ (moments @ jacobian.reshape(moments.shape[1], len(axes)))
        return found
