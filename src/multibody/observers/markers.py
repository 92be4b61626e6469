"""Markers: points of bodies that are to be where they were observed."""

from collections.abc import Callable, Iterable
from typing import SupportsIndex, final

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike

from stagecache.decorations.decorations import AbstractDecoration, DecorativeLine, DecorativePoint
from stagecache.multibody.checks import checked_array
from stagecache.multibody.geometry.spatial import Array, cross_matrices
from stagecache.multibody.matter.matter import MobilizedBody
from stagecache.multibody.matter.named_things import AbstractThing
from stagecache.multibody.observers.observations import Frame
from stagecache.multibody.observers.observer import AbstractObserver, FrameTables
from stagecache.multibody.tree.poses import TreePoses
from stagecache.multibody.tree.stations import StationTable
from stagecache.state.state import State

OBSERVED = (0.9, 0.5, 0.1)
"""The color of what is observed, in pictures."""


@final
@frozen(eq=False)
class Marker(AbstractThing):
    """A point of a body. It is const, and equal to itself only.

    Attributes
    ----------
    name : str
    index : int
        Of the markers that it is one of.
    body : MobilizedBody
    station : ndarray of shape (3,)
        Where it is, in the frame of the body [m].
    """

    station: Array = field(repr=False)

    def __str__(self) -> str:
        return f"marker {self.name!r}"


@final
class Markers(AbstractObserver[Marker]):
    """Markers on bodies, and where they were observed in ground.

    As a goal, it is half the weighted mean of the squares of the distances [m^2]. As an error, it
    has three rows for each marker that is observed [m]. Left out are markers that are missing in a
    frame, those of weight 0, those without an observation, and those on the ground.

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
            All are on bodies of one matter.
        station : (3,) array_like
            Where it is, in the frame of the body [m].
        weight : float
            How much it counts, 0 or more.
        name : str
            Of its own; the default is "marker 3" for the one of index 3.

        Returns
        -------
        Marker
            To name it by.

        Raises
        ------
        UnknownBodyError, ShapeError, NotANumberError, OutOfRangeError, InvalidNameError,
        DuplicateNameError
        ConditionError
            The body is not of the System of the Assembler.
        """
        name = self._observations.named.new_name(name)
        what = f"marker {name!r}"
        owner = self._owner(body, what)
        point = checked_array(station, (3,), f"the station of {what} of {self}")
        checked = self._observations.checked_weight(weight, f"{what} of {self}")
        marker = Marker(name, len(self.markers), owner, point)
        self._add(marker, checked)
        return marker

    def marker(self, which: Marker | str | SupportsIndex) -> Marker:
        """The marker of a name or an index.

        Raises
        ------
        UnknownMarkerError
        """
        return self.markers[self._index(which)]

    def current_positions(self, state: State | None = None) -> Array:
        """Where all markers are in ground, (number of markers, 3) [m].

        Parameters
        ----------
        state : State, optional
            At Model or further. The default is the internal State of the Assembler.

        Raises
        ------
        StudyError
            No State is given, and there is no Assembler.
        StageTooLowError, WrongTypeError, ForeignStateError, KinematicsError
        """
        if not self.markers:
            return np.empty((0, 3))
        state = self._state_or_internal(state)
        return self._table(state).positions(self._matter.tree_poses(state).bodies)

    def calc_decorations(
        self, state: State | None = None, *, color: tuple[float, float, float] = OBSERVED
    ) -> list[AbstractDecoration]:
        """Points where the markers are, and where they were observed, with lines between them.

        Parameters
        ----------
        state : State, optional
            As of `current_positions`.
        color : (3,) tuple of float
            Of observations: red, green and blue, from 0 to 1.
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

    def _check_values(self, values: Array, label: Callable[[int], str]) -> None:
        """All finite positions will do."""

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
