r"""What Markers and OrientationSensors have in common, as conditions of an Assembler.

::

    tree_poses(q)           axes(q)                    d: deviations (k, 3) of all that counts
        |                      |                       w: weights
        places -> d        axes by free q = S' pinv(N)
            \             /
             Jacobian of d                             goal = 1/2 sum w |d|^2 / sum w
                                                       r = sqrt(w / sum w) d, its residuals

All of it is read when Model is realized, which spares realizing more.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.matter.named_things import T
from stagecache.multibody.observers.observations import Frame
from stagecache.multibody.observers.observed_things import AbstractObservedThings
from stagecache.multibody.tree.layout import TreeLayout
from stagecache.multibody.tree.poses import TreePoses
from stagecache.multibody.tree.stations import StationTable
from stagecache.state.stage import Stage
from stagecache.state.state import State

AXES: Final = "xyz"


@final
class FrameTables:
    """Constant tables for one frame of observations. It is const.

    Attributes
    ----------
    frame : Frame
    plain : StationTable
        Of the things that count.
    weighted : StationTable
        The same, whose Jacobians are times the factors of the frame.
    targets : ndarray of shape (k, ...)
        What is made of observations for the frame.
    """

    __slots__ = ("frame", "plain", "targets", "weighted")

    def __init__(self, frame: Frame, plain: StationTable, targets: Array) -> None:
        self.frame = frame
        self.plain = plain
        self.weighted = plain.times(frame.factors)
        self.targets = targets


class AbstractObserver(AbstractObservedThings[T], ABC):
    """Things that are fixed to bodies of one matter, and their observations.

    As an error, it has three rows for each thing that is observed; weights do not matter then,
    unless they are 0.

    Parameters
    ----------
    name : str
    """

    needs = Stage.MODEL

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._forget()

    def _forget(self) -> None:
        """Forget all tables."""
        self._all: StationTable | None = None
        self._version = -1  # of the topology for which tables are
        self._columns: Any = None
        self._tables: FrameTables | None = None
        self._turns: NDArray[np.bool_] | None = None  # by free q
        self._last: tuple[TreePoses, FrameTables, Array] | None = None
        self._last_jacobian: tuple[Array, StationTable, Array, Array] | None = None

    # ------------------------------------------------------------------ duties

    @abstractmethod
    def _stations_of(self, things: Iterable[T]) -> Array:
        """The stations of things, (k, 3)."""

    @abstractmethod
    def _targets_of(self, frame: Frame) -> Array:
        """What is made of observations for one frame, (k, ...)."""

    @abstractmethod
    def _places_of(self, tables: FrameTables, poses: TreePoses) -> Array:
        """What both methods below need, (k, 3)."""

    @abstractmethod
    def _deviations_of(self, tables: FrameTables, places: Array) -> Array:
        """By how much they differ from the observations, (k, 3)."""

    @abstractmethod
    def _jacobian_of(self, table: StationTable, places: Array, axes: Array) -> Array:
        """The derivatives of deviations by coordinates, (k, 3, n), of which there are axes."""

    @abstractmethod
    def _bends_of(
        self, table: StationTable, places: Array, axes: Array, jacobian: Array, factors: Array
    ) -> Array:
        """The second derivatives (n, n) of factors . deviations, (k, 3) both.

        Only those by i, j are asked for where coordinate i turns the axis of coordinate j.
        """

    # ------------------------------------------------------------------ how well they are met

    def current_errors(self, state: State | None = None) -> Array:
        """By how much each of them differs from its observation; NaN where that is missing.

        Those of weight 0 have one, too.

        Parameters
        ----------
        state : State, optional
            At Model or further. The default is the internal State of the Assembler.

        Returns
        -------
        ndarray of shape (n,)
            Of n markers or sensors: distances [m], or angles [rad].

        Raises
        ------
        StudyError
            No State is given, and there is no Assembler.
        StageTooLowError, WrongTypeError, ForeignStateError, KinematicsError
        """
        found = np.full(len(self._observations.things), np.nan)
        frame = self._observations.all_observed
        if frame is not None:
            state = self._state_or_internal(state)
            tables = self._tables_of(frame, state)
            places = self._places_of(tables, self._matter.tree_poses(state))
            deviations = self._deviations_of(tables, places)
            found[frame.things] = np.sqrt(np.einsum("ij,ij->i", deviations, deviations))
        return found

    def rms(self, state: State | None = None) -> float:
        """The root of the mean square of the errors of all that count, not weighted.

        Raises
        ------
        NoObservationError
            There are none; and as `current_errors`.
        """
        self.check_observations()
        frame = self._observations.frame
        assert frame is not None, "it was checked"
        return float(np.sqrt(np.mean(self.current_errors(state)[frame.things] ** 2)))

    # ------------------------------------------------------------------ errors and goal

    def calc_errors(self, state: State) -> Array:
        """The deviations of all that count, without weights: (3k,)."""
        tables = self._current(state)
        if tables is None:
            return np.empty(0)
        return self._deviations_of(tables, self._places(tables, state)).ravel()

    def calc_error_jacobian(self, state: State) -> Array:
        """The derivatives of `calc_errors` by the free q."""
        tables = self._current(state)
        return self._jacobian(state, tables, None if tables is None else tables.plain)

    def error_names(self, state: State) -> list[str]:  # noqa: ARG002  # the same for all
        """Of which of them, and along which axis of the ground."""
        frame = self._observations.frame
        things = [] if frame is None else frame.things.tolist()
        names = [self._observations.things[i].name for i in things]
        return [f"{self.name}[{name!r}].{axis}" for name in names for axis in AXES]

    def calc_goal_residuals(self, state: State) -> Array:
        """The deviations times sqrt(w / sum w): (3k,)."""
        tables = self._current(state)
        if tables is None:
            return np.empty(0)
        found = self._deviations_of(tables, self._places(tables, state)) * tables.frame.factors
        return found.ravel()

    def calc_goal_residual_jacobian(self, state: State) -> Array:
        """The derivatives of `calc_goal_residuals` by the free q."""
        tables = self._current(state)
        return self._jacobian(state, tables, None if tables is None else tables.weighted)

    def calc_error_curvature(self, state: State, factors: Array) -> Array | None:
        """The second derivatives of factors . `calc_errors` by the free q, (n, n).

        None where they are not known, as a mobilizer is not a sequence of lengths and angles.
        """
        tables = self._current(state)
        return self._curvature(state, tables, None if tables is None else tables.plain, factors)

    def calc_goal_residual_curvature(self, state: State, factors: Array) -> Array | None:
        """The second derivatives of factors . `calc_goal_residuals`, likewise."""
        tables = self._current(state)
        return self._curvature(state, tables, None if tables is None else tables.weighted, factors)

    def _curvature(
        self,
        state: State,
        tables: FrameTables | None,
        table: StationTable | None,
        factors: Array,
    ) -> Array | None:
        if tables is None or table is None:
            return np.zeros((self.num_free_qs, self.num_free_qs))
        if self._turns is None:
            return None
        places, axes, jacobian = self._moved(state, tables, table)
        found = self._bends_of(table, places, axes, jacobian, factors.reshape(-1, 3))
        return np.where(self._turns, found, np.where(self._turns.T, found.T, 0.0))

    def _jacobian(
        self, state: State, tables: FrameTables | None, table: StationTable | None
    ) -> Array:
        if tables is None or table is None:
            return np.empty((0, self.num_free_qs))
        _, axes, jacobian = self._moved(state, tables, table)
        return jacobian.reshape(jacobian.shape[0] * 3, len(axes))

    def _moved(
        self, state: State, tables: FrameTables, table: StationTable
    ) -> tuple[Array, Array, Array]:
        """Places, axes by the free q, and the Jacobian (k, 3, n); of the last call, if they fit."""
        places, last = self._places(tables, state), self._last_jacobian
        if last is None or last[0] is not places or last[1] is not table:
            axes = self.by_free_q(self._matter.axes(state).T, self._matter).T
            jacobian = self._jacobian_of(table, places, axes)
            jacobian.flags.writeable = False
            self._last_jacobian = last = (places, table, axes, jacobian)
        return places, last[2], last[3]

    def _places(self, tables: FrameTables, state: State) -> Array:
        """What the last call has computed, if it was for the same poses."""
        poses = self._matter.tree_poses(state)
        last = self._last
        if last is None or last[0] is not poses or last[1] is not tables:
            self._last = last = (poses, tables, self._places_of(tables, poses))
        return last[2]

    # ------------------------------------------------------------------ tables

    def _current(self, state: State) -> FrameTables | None:
        """The tables of this frame; None if nothing is observed."""
        frame = self._observations.frame
        if frame is None:
            return None
        tables = self._tables
        if tables is None or tables.frame is not frame or self._is_outdated:
            self._tables = tables = self._tables_of(frame, state)
        return tables

    def _tables_of(self, frame: Frame, state: State) -> FrameTables:
        table = self._table(state).subset(frame.things)
        return FrameTables(frame, table, self._targets_of(frame))

    def _table(self, state: State) -> StationTable:
        """The table of all things, whether they count or not."""
        if self._all is None or self._is_outdated:
            things, layout = self._observations.things, self._matter.layout(state)
            bodies = [thing.body for thing in things]
            table = StationTable(layout, bodies, self._stations_of(things))
            self._all = table if self._columns is None else table.for_columns(self._columns)
            self._version = self._matter.system.topology_cache_version
        return self._all

    @property
    def _is_outdated(self) -> bool:
        version: int = self._matter.system.topology_cache_version
        return version != self._version

    # ------------------------------------------------------------------ use by an Assembler

    def initialize_condition(self) -> None:
        """Make tables for the q that are free now."""
        self._forget()
        if self._matter is not None:
            state = self.assembler.internal_state
            layout, start = self._matter.layout(state), self._matter.q.place(state).start
            columns = np.full(self.num_free_qs, -1, np.intp)
            for q, row in enumerate(layout.joint_of_q.tolist()):
                free = self.free_q_index_of_q(start + q)
                if free is not None:
                    columns[free] = layout.joints[row].u.start
            self._columns = columns
            self._turns = self._turns_of(layout, start)

    def _turns_of(self, layout: TreeLayout, start: int) -> NDArray[np.bool_] | None:
        """Which free q turn the axes of which, (n, n); those of other subsystems none."""
        turns = layout.turns()
        if turns is None:
            return None
        own = [(self.free_q_index_of_q(start + q), q) for q in range(layout.nq)]
        free, q = np.array([p for p in own if p[0] is not None], np.intp).reshape(-1, 2).T
        found = np.zeros((self.num_free_qs, self.num_free_qs), bool)
        found[np.ix_(free, free)] = turns[np.ix_(q, q)]
        return found

    def uninitialize_condition(self) -> None:
        """Forget the tables."""
        self._forget()
