r"""Observers: markers or sensors on bodies, and their observations, as assembly conditions.

::

    tree_poses(q)           axes(q)                    d: deviations (k, 3) of things that count
        |                      |                       w: weights
        places -> d        axes by free q = S' pinv(N)
            \             /
             Jacobian of d                             goal = 1/2 sum w |d|^2 / sum w
                                                       r = sqrt(w / sum w) d, its residuals

All entries are read at stage Model, so no higher stage is realized.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Final, Generic, SupportsIndex, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stagecache.assembly.conditions.condition import AssemblyCondition
from stagecache.checks import require_bool
from stagecache.errors import ConditionError, UnknownBodyError, short_repr
from stagecache.multibody.geometry.spatial import Array, cross
from stagecache.multibody.matter.mobilized_body import MobilizedBody
from stagecache.multibody.observers.observations import Frame, Observations, T
from stagecache.multibody.tree.joints import Joint
from stagecache.multibody.tree.layout import Indices, TreeLayout
from stagecache.multibody.tree.poses import TreePoses
from stagecache.multibody.tree.stations import StationTable
from stagecache.state.stage import Stage
from stagecache.state.state import State

AXES: Final = "xyz"
Mesh = tuple[Indices, ...]
"""Rows and columns of a block of a matrix, as `numpy.ix_` has them."""


@final
class FrameTables:
    """Constant tables for one frame of observations. It is const.

    Attributes
    ----------
    frame : Frame
    plain : StationTable
        The table of the things that count.
    weighted : StationTable
        The same, with Jacobians times the factors of the frame.
    targets : ndarray of shape (k, ...)
        The targets that a subclass makes of observations.
    """

    __slots__ = ("frame", "plain", "targets", "weighted")

    def __init__(self, frame: Frame, plain: StationTable, targets: Array) -> None:
        self.frame = frame
        self.plain = plain
        self.weighted = plain.times(frame.factors)
        self.targets = targets


class AbstractObserver(AssemblyCondition, Generic[T], ABC):
    """Things that are fixed to bodies of one matter, and their observations.

    As an error, it has three rows for each thing that is observed; weights do not matter then,
    unless they are 0.

    Parameters
    ----------
    name : str
    """

    _kind: ClassVar[str]
    """Name of a thing in errors."""

    _shape: ClassVar[tuple[int, ...]]
    """The shape of one observation."""

    _knows_bends: ClassVar[bool] = False
    """True if `bends` of mobilizers count: deviations are differences of positions."""

    needs = Stage.MODEL

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._observations: Observations[T] = Observations(
            self._kind, f"{self}", self._shape, self._check_values
        )
        self._matter: Any = None
        self._forget()

    def _forget(self) -> None:
        """Forget all tables."""
        self._all: StationTable | None = None
        self._version = -1  # of the topology for which tables are
        self._columns: Any = None
        self._tables: FrameTables | None = None
        self._turns: NDArray[np.bool_] | None = None  # by free q
        self._bent: list[tuple[Joint, Mesh, Mesh]] = []
        self._last: tuple[TreePoses, FrameTables, Array] | None = None
        self._last_jacobian: tuple[Array, StationTable, Array, Array] | None = None

    # ------------------------------------------------------------------ duties

    @abstractmethod
    def _check_values(self, values: Array, label: Callable[[int], str]) -> None:
        """Refuse observations (n, ...) that are neither valid nor missing."""

    @abstractmethod
    def _stations_of(self, things: Iterable[T]) -> Array:
        """Return the stations of things, (k, 3)."""

    @abstractmethod
    def _targets_of(self, frame: Frame) -> Array:
        """Return the targets of one frame, (k, ...), made of its observations."""

    @abstractmethod
    def _places_of(self, tables: FrameTables, poses: TreePoses) -> Array:
        """Return the values (k, 3) that the methods below need."""

    @abstractmethod
    def _deviations_of(self, tables: FrameTables, places: Array) -> Array:
        """Return the differences from the observations, (k, 3)."""

    @abstractmethod
    def _jacobian_of(self, table: StationTable, places: Array, axes: Array) -> Array:
        """Return the derivatives of deviations by the n coordinates of the axes, (k, 3, n)."""

    @abstractmethod
    def _bends_of(
        self, table: StationTable, places: Array, axes: Array, jacobian: Array, factors: Array
    ) -> Array:
        """Return the second derivatives (n, n) of factors . deviations, (k, 3) both.

        Only those by i, j are used where coordinate i turns the axis of coordinate j.
        """

    # ------------------------------------------------------------------ observations

    @property
    def num_observations(self) -> int:
        """The number of observations in a frame."""
        return len(self._observations.order)

    @property
    def observations(self) -> Array:
        """The observations of this frame, (num_observations, ...), read-only; NaN if missing."""
        return self._observations.values

    def observation(self, index: SupportsIndex) -> Array:
        """Return one observation of this frame, read-only; NaN if it is missing.

        Raises
        ------
        UnknownMarkerError
        """
        found: Array = self.observations[self._observations.checked_observation(index)]
        return found

    @property
    def observation_order(self) -> tuple[T | None, ...]:
        """The thing of each observation; None if it is ignored."""
        things, order = self._observations.things, self._observations.order
        return tuple(None if i is None else things[i] for i in order)

    def define_observation_order(
        self,
        order: Iterable[T | str | SupportsIndex | None] | None = None,
        *,
        ignore_unknown: bool = False,
    ) -> None:
        """Define the things of the observations in a frame; all are missing then.

        Call it when all things are added. Those that are not in the order have no observation. The
        Assembler, if there is one, is uninitialized.

        Parameters
        ----------
        order : sequence, optional
            By observation, a marker or sensor, its name or its index; None or "" for an observation
            to ignore. By default, there is an observation for each of them, in their order.
        ignore_unknown : bool
            True to ignore observations with unknown names: a file may have more. By default they
            are refused, as a name may be misspelt.

        Raises
        ------
        UnknownMarkerError, ObservationError
        """
        ignore = require_bool(ignore_unknown, "define_observation_order(ignore_unknown=...)")
        self._observations.define_order(order, ignore=ignore)
        self.uninitialize_assembler()

    def move_one_observation(self, index: SupportsIndex, value: ArrayLike) -> None:
        """Change one observation. It is missing if any component is NaN or masked.

        Parameters
        ----------
        index : int
            The index of the observation.
        value : array_like
            A position (3,) [m], or a rotation (3, 3), in ground.

        Raises
        ------
        UnknownMarkerError, ShapeError, NotANumberError, OutOfRangeError
        """
        self._observations.move_one(self._observations.checked_observation(index), value)

    def move_all_observations(self, observations: ArrayLike) -> None:
        """Take the observations of another frame. One is missing if any component is NaN or masked.

        The array is copied. Cost some 20 us.

        Parameters
        ----------
        observations : array_like
            Positions (num_observations, 3) [m], or rotations (num_observations, 3, 3), in ground.

        Raises
        ------
        ShapeError, NotANumberError, OutOfRangeError
        """
        self._observations.move_all(observations)

    def observation_for(self, which: T | str | SupportsIndex) -> int | None:
        """Return the index of the observation of a marker or sensor; None if it has none.

        The inverse is `observation_order`.

        Parameters
        ----------
        which : Marker, OrientationSensor, str or int
            A thing, its name, or its index; so below.

        Raises
        ------
        UnknownMarkerError
        """
        return self._observations.observation_of(self._observations.index_of(which))

    # ------------------------------------------------------------------ weights

    def weight(self, which: T | str | SupportsIndex) -> float:
        """Return the weight of a marker or sensor. Raises UnknownMarkerError.

        Raises
        ------
        UnknownMarkerError
        """
        return self._observations.weight(self._observations.index_of(which))

    def change_weight(self, which: T | str | SupportsIndex, weight: float) -> None:
        """Change the weight of a marker or sensor.

        The Assembler, if there is one, is uninitialized if the weight was 0, or is now.

        Raises
        ------
        UnknownMarkerError, ShapeError, NotANumberError, OutOfRangeError
        """
        index = self._observations.index_of(which)
        thing, before = self._observations.things[index], self._observations.weight(index)
        new = self._observations.checked_weight(weight, f"{thing} of {self}")
        if new == before:
            return
        self._observations.set_weight(index, new)
        if new == 0.0 or before == 0.0:
            self.uninitialize_assembler()

    # ------------------------------------------------------------------ deviations

    def current_errors(self, state: State | None = None) -> Array:
        """Return the difference of each thing from its observation; NaN if that is missing.

        Things of weight 0 are included.

        Parameters
        ----------
        state : State, optional
            At Model or further. The default is the internal State of the Assembler.

        Returns
        -------
        ndarray of shape (n,)
            Distances of markers [m], or angles of sensors [rad].

        Raises
        ------
        StudyError
            A State is missing, and an Assembler, too.
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
        """Return the root mean square of the errors of all that count, not weighted.

        Raises
        ------
        NoObservationError
            No thing counts. Other errors: see `current_errors`.
        """
        self.check_observations()
        frame = self._observations.frame
        assert frame is not None, "it was checked"
        return float(np.sqrt(np.mean(self.current_errors(state)[frame.things] ** 2)))

    # ------------------------------------------------------------------ errors and goal

    def calc_errors(self, state: State) -> Array:
        """Return the deviations of all that count, without weights: (3k,)."""
        tables = self._current(state)
        if tables is None:
            return np.empty(0)
        return self._deviations_of(tables, self._places(tables, state)).ravel()

    def calc_error_jacobian(self, state: State) -> Array:
        """Return the derivatives of `calc_errors` by the free q."""
        return self._jacobian(state, weighted=False)

    def error_names(self, state: State) -> list[str]:  # noqa: ARG002  # the same for all
        """Return the names of the errors: the thing, and the axis of the ground."""
        frame = self._observations.frame
        things = [] if frame is None else frame.things.tolist()
        names = [self._observations.things[i].name for i in things]
        return [f"{self.name}[{name!r}].{axis}" for name in names for axis in AXES]

    def calc_goal_residuals(self, state: State) -> Array:
        """Return the deviations times sqrt(w / sum w): (3k,)."""
        tables = self._current(state)
        if tables is None:
            return np.empty(0)
        found = self._deviations_of(tables, self._places(tables, state)) * tables.frame.factors
        return found.ravel()

    def calc_goal_residual_jacobian(self, state: State) -> Array:
        """Return the derivatives of `calc_goal_residuals` by the free q."""
        return self._jacobian(state, weighted=True)

    def calc_error_curvature(self, state: State, factors: Array) -> Array | None:
        """Return the second derivatives of factors . `calc_errors` by the free q, (n, n).

        None if a mobilizer is not a sequence of lengths and angles.
        """
        return self._curvature(state, factors, weighted=False)

    def calc_goal_residual_curvature(self, state: State, factors: Array) -> Array | None:
        """Return the second derivatives of factors . `calc_goal_residuals`, likewise."""
        return self._curvature(state, factors, weighted=True)

    def _curvature(self, state: State, factors: Array, *, weighted: bool) -> Array | None:
        tables = self._current(state)
        if tables is None:
            return np.zeros((self.num_free_qs, self.num_free_qs))
        if self._turns is None:
            return None
        table = tables.weighted if weighted else tables.plain
        places, axes, jacobian = self._moved(state, tables, table)
        own = factors.reshape(-1, 3)
        whole = self._bends_of(table, places, axes, jacobian, own)
        found = np.where(self._turns, whole, np.where(self._turns.T, whole.T, 0.0))
        if self._bent:
            forces = own * tables.frame.factors if weighted else own
            wrenches = self._wrenches(state, table, places, forces)
            q = self._matter.tree_poses(state).q
            for (joint, free, kept), wrench in zip(self._bent, wrenches, strict=True):
                bends: Array = np.array(joint.mobilizer.bends(q[joint.q].tolist())) @ wrench
                found[free] = whole[free] + bends[kept]
        return found

    def _wrenches(self, state: State, table: StationTable, places: Array, forces: Array) -> Array:
        """Return moment and force of forces (k, 3) at places on what is outboard of bent joints.

        By joint, (n, 6): about the origin of its M, in the axes of its F, as the bends have them.
        """
        poses, layout = self._matter.tree_poses(state), self._matter.layout(state)
        rows = np.array([joint.row for joint, _, _ in self._bent])
        outboard = (table.rows >= rows[:, None]) & (table.rows < layout.ends[rows][:, None])
        both = outboard.astype(float) @ np.column_stack([cross(places, forces), forces])
        both[:, :3] -= cross(poses.joints[rows, :3, 3], both[:, 3:])
        parents = [layout.parents[row] for row in rows.tolist()]
        inboard = poses.joints[parents, :3, :3] @ layout.inboard[rows, :3, :3]
        found: Array = (both.reshape(-1, 2, 3) @ inboard).reshape(-1, 6)
        return found

    def _jacobian(self, state: State, *, weighted: bool) -> Array:
        tables = self._current(state)
        if tables is None:
            return np.empty((0, self.num_free_qs))
        table = tables.weighted if weighted else tables.plain
        _, axes, jacobian = self._moved(state, tables, table)
        return jacobian.reshape(jacobian.shape[0] * 3, len(axes))

    def _moved(
        self, state: State, tables: FrameTables, table: StationTable
    ) -> tuple[Array, Array, Array]:
        """Return places, axes by the free q, and the Jacobian (k, 3, n), which are kept."""
        places, last = self._places(tables, state), self._last_jacobian
        if last is None or last[0] is not places or last[1] is not table:
            axes = self.by_free_q(self._matter.axes(state).T, self._matter).T
            jacobian = self._jacobian_of(table, places, axes)
            jacobian.flags.writeable = False
            self._last_jacobian = last = (places, table, axes, jacobian)
        return places, last[2], last[3]

    def _places(self, tables: FrameTables, state: State) -> Array:
        """Return the places of things, which are kept for the last poses."""
        poses = self._matter.tree_poses(state)
        last = self._last
        if last is None or last[0] is not poses or last[1] is not tables:
            self._last = last = (poses, tables, self._places_of(tables, poses))
        return last[2]

    # ------------------------------------------------------------------ tables

    def _current(self, state: State) -> FrameTables | None:
        """Return the tables of this frame; None if nothing is observed."""
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
        """Return the table of all things, whether they count or not."""
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

    def check_system(self, system: Any) -> None:
        """Refuse a System that does not have the bodies.

        Raises
        ------
        ConditionError
        """
        if self._matter is not None:
            self._check_system(self._matter, system)

    def _check_system(self, matter: Any, system: Any) -> None:
        theirs = matter.system if matter.is_adopted else None
        if theirs is not system:
            raise ConditionError(
                f"{self}: of another System",
                f"bodies of {system!r}",
                f"bodies of {matter.name} of another one, {theirs!r}"
                if theirs
                else f"{matter!r} without one",
                "add bodies of the System that is to be assembled",
            )

    def check_observations(self) -> None:
        """Refuse to assemble if nothing is observed.

        Raises
        ------
        NoObservationError
        """
        self._observations.require_some()

    def initialize_condition(self) -> None:
        """Make tables for the present free q."""
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
            self._bent = self._bent_joints(layout, start)
            known = self._knows_bends or not self._bent
            self._turns = self._turns_of(layout, start) if known else None

    def _bent_joints(self, layout: TreeLayout, start: int) -> list[tuple[Joint, Mesh, Mesh]]:
        """Return joints that bend by themselves: blocks of the free q, and of their own q."""
        found: list[tuple[Joint, Mesh, Mesh]] = []
        for joint in layout.bent:
            free = [self.free_q_index_of_q(start + q) for q in range(joint.q.start, joint.q.stop)]
            kept = [i for i, q in enumerate(free) if q is not None]
            if kept:
                places = [q for q in free if q is not None]
                found.append((joint, np.ix_(places, places), np.ix_(kept, kept)))
        return found

    def _turns_of(self, layout: TreeLayout, start: int) -> NDArray[np.bool_] | None:
        """Return a mask (n, n), True where a free q turns the axis of another one.

        None if the tree does not know; False for q of other subsystems.
        """
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

    # ------------------------------------------------------------------ for subclasses

    def _add(
        self, make: Callable[[str, int, MobilizedBody], T], body: object, weight: float, name: str
    ) -> T:
        """Add what `make` returns for a name, an index and a body, if all of them are valid."""
        name = self._observations.new_name(name)
        what = f"{self._kind} {name!r}"
        owner = self._checked_owner(body, what)
        thing = make(name, len(self._observations.things), owner)
        self._observations.add(
            thing, self._observations.checked_weight(weight, f"{what} of {self}")
        )
        self._matter = owner.matter
        self.uninitialize_condition()
        self.uninitialize_assembler()
        return thing

    def _checked_owner(self, body: object, what: str) -> MobilizedBody:
        """Return a body to which a thing can be fixed."""
        if not isinstance(body, MobilizedBody):
            raise UnknownBodyError(
                f"{what} of {self}: not on a body",
                "a body, as add_body() returns it",
                short_repr(body),
                "pass the body itself; by its name, it is matter.body(name)",
            )
        if self._matter is not None and body.matter is not self._matter:
            raise UnknownBodyError(
                f"{what} of {self}: on a body of another matter",
                f"a body of {self._matter.name}, as all others",
                f"{body}",
                f"make another {type(self).__name__}() for that matter",
            )
        if self.is_in_assembler:
            self._check_system(body.matter, self.assembler.system)
        return body

    def _state_or_internal(self, state: State | None) -> State:
        if state is None:
            internal: State = self.assembler.internal_state
            return internal
        if self._matter is not None:
            self._matter.system._require_own(state)
        return state

    def __str__(self) -> str:
        return f"{type(self).__name__} {self.name!r}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {len(self._observations.things)} of them)"
