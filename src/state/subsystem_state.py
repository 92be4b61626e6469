"""Partitions of a State: the part that a subsystem has."""

from collections.abc import Callable, Iterable
from typing import Any, Final, SupportsIndex, TypeVar, final, overload

from numpy.typing import ArrayLike

from stagecache.checks import AnyText, require_count
from stagecache.display.html import output, paragraph
from stagecache.display.words import counted
from stagecache.errors import ForeignStateError, NotANumberError
from stagecache.graph.declaration import Equality
from stagecache.state.allocation import (
    Attempt,
    allocate_block,
    allocate_discrete,
    allocate_errors,
    allocate_triggers,
    checked_name,
    new_entry,
)
from stagecache.state.contents.contents import Contents, HasContents
from stagecache.state.display import html_of_subsystem
from stagecache.state.handles import (
    AbstractHandle,
    AutoUpdateVariable,
    CacheEntry,
    ContinuousVariable,
    DiscreteVariable,
)
from stagecache.state.items.layout import SubsystemLayout
from stagecache.state.partition import AbstractPartition
from stagecache.state.refusals import check_subsystem
from stagecache.state.stage import Stage, check_stage

T = TypeVar("T")
Index = SupportsIndex | AbstractHandle
INFINITY: Final = Stage.INFINITY


@final
class SubsystemState(AbstractPartition):
    """A subsystem's partition of a State: its stage, its part of the vectors, and its items.

    ``state[index]`` makes it. Items are given by their handle, or by their index in the
    subsystem; these are consecutive, in the order of allocation.

    Parameters
    ----------
    state : State
    index : int
        Index of the subsystem.
    """

    __slots__ = ("_state",)

    def __init__(self, state: HasContents, index: int) -> None:
        super().__init__(state._contents, index)
        self._state = state  # else it might end while its partition is in use

    def __repr__(self) -> str:
        if self.index >= len(self._contents.realization.machine.stages):
            return f"SubsystemState(subsystem {self.index}, which is not in the State any more)"
        discrete, entries = len(self._layout.discrete), len(self._layout.entries)
        return (
            f"SubsystemState({self._contents.who(self._index)} at {self.stage}: "
            f"{counted(discrete, 'discrete variable')}, {counted(entries, 'cache entry')})"
        )

    def _repr_html_(self) -> str:
        if self.index >= len(self._contents.realization.machine.stages):
            return output(paragraph(repr(self)))
        return html_of_subsystem(self._contents, self.index)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SubsystemState):
            return NotImplemented
        return self._state is other._state and self._index == other._index

    def __hash__(self) -> int:
        return hash((id(self._state), self._index))

    @property
    def index(self) -> int:
        """Index of the subsystem."""
        assert self._index is not None
        return self._index

    @property
    def name(self) -> str:
        """Name of the subsystem."""
        return self._layout.name

    @property
    def version(self) -> str:
        """Version of the subsystem: any text."""
        return self._layout.version

    # ------------------------------------------------------------------ stages

    @property
    def stage(self) -> Stage:
        """Stage of the subsystem."""
        return Stage(self._contents.stage_of(self._index))

    @property
    def stage_versions(self) -> tuple[int, ...]:
        """Versions of the stages from Empty to Infinity: one more than the times each was left."""
        realization = self._here().realization
        return tuple(
            [realization.machine.versions.in_subsystem(self.index, stage) for stage in Stage]
        )

    def advance_to_stage(self, stage: Stage) -> None:
        """Let the subsystem reach the next stage, for which it has computed everything.

        Raises
        ------
        StageOrderError
            It is not the stage after the present one.
        """
        stage = check_stage(stage, Stage.TOPOLOGY, Stage.REPORT, "advance_to_stage()")
        self._contents.require_unguarded("advance_to_stage()")
        self._contents.advance(stage, self._index)

    def variable(self, name: AnyText) -> ContinuousVariable:
        """Return the handle of the subsystem's "q", "u" or "z", to be a prerequisite.

        Raises
        ------
        UnknownItemError
        """
        whole = self._here().variable(name, self._index)
        assert isinstance(whole, ContinuousVariable)
        return whole

    # ------------------------------------------------------------------ allocation of vectors

    def allocate_q(self, values: ArrayLike, *, name: AnyText = "") -> ContinuousVariable:
        """Allocate generalized coordinates, with their first values. Needs Empty or Topology.

        Returns
        -------
        ContinuousVariable
            The handle of the block. Its index is where it starts in the subsystem's q.

        Raises
        ------
        StageTooHighError, ShapeError, NotANumberError
        """
        return self._allocate_block("q", values, name)

    def allocate_u(self, values: ArrayLike, *, name: AnyText = "") -> ContinuousVariable:
        """Allocate generalized speeds, as `allocate_q` does."""
        return self._allocate_block("u", values, name)

    def allocate_z(self, values: ArrayLike, *, name: AnyText = "") -> ContinuousVariable:
        """Allocate auxiliary variables, as `allocate_q` does."""
        return self._allocate_block("z", values, name)

    def _allocate_block(self, kind: str, values: ArrayLike, name: AnyText) -> ContinuousVariable:
        what = self._attempt(kind)
        block = ContinuousVariable(kind, checked_name(name, what))
        if values is None:  # that would be a size which is found later
            raise NotANumberError(f"{what}: no values", "numbers", "None", "give the first values")
        allocate_block(what, block, values)
        return block

    def allocate_qerr(self, count: SupportsIndex) -> int:
        """Allocate position errors before Instance; return where they start in the partition.

        Raises
        ------
        StageTooHighError, OutOfRangeError
        """
        return self._allocate_errors("qerr", count)

    def allocate_uerr(self, count: SupportsIndex) -> int:
        """Allocate velocity errors, as `allocate_qerr` does."""
        return self._allocate_errors("uerr", count)

    def allocate_udoterr(self, count: SupportsIndex) -> int:
        """Allocate acceleration errors and as many multipliers, as `allocate_qerr` does."""
        return self._allocate_errors("udoterr", count)

    def allocate_event_trigger(self, stage: Stage, count: SupportsIndex) -> int:
        """Allocate event triggers computed at a stage; return where they start among these.

        Raises
        ------
        StageTooHighError, StageOutOfRangeError, OutOfRangeError
        """
        what = self._attempt("event triggers")
        return allocate_triggers(what, stage, require_count(count, 1, str(what)))

    def _allocate_errors(self, part: str, count: SupportsIndex) -> int:
        what = self._attempt(part)
        return allocate_errors(what, part, require_count(count, 0, str(what)))

    # ------------------------------------------------------------------ discrete variables

    def allocate_discrete_variable(
        self, invalidates: Stage, value: T, *, name: AnyText = ""
    ) -> DiscreteVariable[T]:
        """Allocate a variable of any type. Needs Empty or Topology; Empty if it invalidates Model.

        Parameters
        ----------
        invalidates : Stage
            Model to Report: a write makes this stage stale, and those after it.
        value : object
            Its first value. An array is stored as a private read-only copy.

        Raises
        ------
        StageOutOfRangeError, StageTooHighError
        """
        what = self._attempt("a discrete variable")
        invalidates = check_stage(invalidates, Stage.MODEL, Stage.REPORT, what)
        variable: DiscreteVariable[T] = DiscreteVariable(checked_name(name, what), invalidates)
        allocate_discrete(what, variable, value)
        return variable

    def allocate_auto_update_discrete_variable(
        self, invalidates: Stage, value: T, available_from: Stage, *, name: AnyText = ""
    ) -> AutoUpdateVariable[T]:
        """Allocate a variable together with a cache entry that holds its next value.

        `State.auto_update_discrete_variables` exchanges the two, if the entry is valid.

        Parameters
        ----------
        invalidates : Stage
            Position to Report: the stage that a write (not an exchange) makes stale.
        value : object
            The first value of both.
        available_from : Stage
            The earliest stage at which the entry can be computed.

        Raises
        ------
        StageOutOfRangeError, StageTooHighError
            And neither is allocated.
        """
        what = self._attempt("a discrete variable")
        invalidates = check_stage(invalidates, Stage.POSITION, Stage.REPORT, what)
        what.require_at_most(Stage.TOPOLOGY)
        available_from = check_stage(available_from, Stage.TOPOLOGY, Stage.REPORT, what)
        name = checked_name(name, what)
        update_name = f"update of {name}" if name else ""
        update: CacheEntry[T] = CacheEntry(update_name, available_from, Stage.INFINITY)
        variable = AutoUpdateVariable(name, invalidates, update)
        allocate_discrete(what, variable, value)
        return variable

    # ------------------------------------------------------------------ cache entries

    def allocate_cache_entry(
        self,
        available_from: Stage,
        computed_by: Stage = Stage.INFINITY,
        value: object = None,
        *,
        name: AnyText = "",
    ) -> CacheEntry[Any]:
        """Allocate a cache entry that depends on a stage. Needs Empty, Topology or Model.

        Parameters
        ----------
        available_from : Stage
            Topology to Report: it can be computed from this stage on, and is stale when the stage
            changes.
        computed_by : Stage
            Not before `available_from`: once the subsystem has reached it, the entry is presumed
            computed. At Infinity, it is computed when it is read.
        value : object
            Its value before it is computed: an array to be filled, say.

        Raises
        ------
        StageOutOfRangeError, StageTooHighError
        """
        return new_entry(
            self._here(), self.index, available_from, computed_by, (), value, None, None, name
        )

    @overload
    def allocate_lazy_cache_entry(
        self,
        available_from: Stage,
        value: object = None,
        *,
        compute: Callable[[Any], T],
        equal: Equality = None,
        name: str = "",
    ) -> CacheEntry[T]: ...

    @overload
    def allocate_lazy_cache_entry(
        self, available_from: Stage, value: object = None, *, name: str = ""
    ) -> CacheEntry[Any]: ...

    def allocate_lazy_cache_entry(
        self,
        available_from: Stage,
        value: object = None,
        *,
        compute: Callable[[Any], T] | None = None,
        equal: Equality = None,
        name: AnyText = "",
    ) -> CacheEntry[Any]:
        """Allocate a cache entry that is computed when it is read.

        Parameters
        ----------
        compute : callable
            Called with a State, it returns the value; a read of the handle calls it if the entry is
            not valid. It must read nothing but what `available_from` stands for. An array that it
            returns is stored as a private read-only copy.
        equal : bool or callable
            Comparison of a new value with the one before; True stands for ``==``. If they are
            equal, the old one stays, and entries that depend on nothing else that has changed are
            valid once this was read.

        Raises
        ------
        ComputeSignatureError, WrongTypeError, StageTooHighError, StageOutOfRangeError
        """
        return new_entry(
            self._here(), self.index, available_from, INFINITY, (), value, compute, equal, name
        )

    @overload
    def allocate_cache_entry_with_prerequisites(
        self,
        available_from: Stage,
        computed_by: Stage,
        prerequisites: Iterable[AbstractHandle],
        value: object = None,
        *,
        compute: Callable[[Any], T],
        equal: Equality = None,
        name: str = "",
    ) -> CacheEntry[T]: ...

    @overload
    def allocate_cache_entry_with_prerequisites(
        self,
        available_from: Stage,
        computed_by: Stage,
        prerequisites: Iterable[AbstractHandle],
        value: object = None,
        *,
        name: str = "",
    ) -> CacheEntry[Any]: ...

    def allocate_cache_entry_with_prerequisites(
        self,
        available_from: Stage,
        computed_by: Stage,
        prerequisites: Iterable[AbstractHandle],
        value: object = None,
        *,
        compute: Callable[[Any], T] | None = None,
        equal: Equality = None,
        name: AnyText = "",
    ) -> CacheEntry[Any]:
        """Allocate a cache entry that depends on variables and on other entries as well.

        A change of one of them makes it stale, at any stage. With `available_from` at Topology it
        depends on them alone. Cost O(prerequisites), amortised.

        Parameters
        ----------
        prerequisites : iterable of handles
            ``state.variable("q")``, ``state[1].variable("u")``, blocks of q, u or z, discrete
            variables, and entries of any subsystem. Each must have been allocated at the same
            stage as this one or before.
        compute, equal : callable
            Same as for a lazy entry. An entry with a compute function is never presumed computed,
            whatever `computed_by` is, since it can be computed.

        Raises
        ------
        ComputeSignatureError
        PrerequisiteStageError
            A prerequisite is available only later than `available_from`, or is forgotten first.
        DuplicatePrerequisiteError, WrongTypeError, ForeignNodeError, StageOutOfRangeError,
        StageTooHighError
            And nothing has changed.
        """
        return new_entry(
            self._here(),
            self.index,
            available_from,
            computed_by,
            prerequisites,
            value,
            compute,
            equal,
            name,
        )

    def _attempt(self, kind: str) -> Attempt:
        return Attempt(self._here(), self.index, kind)

    @property
    def _layout(self) -> SubsystemLayout:
        return self._here().realization.layout.subsystems[self.index]

    def _here(self) -> Contents:
        """Return the contents, unless the subsystem is not in the State any more."""
        self._contents.stage_of(self._index)
        return self._contents


def partition(state: HasContents, which: Any) -> SubsystemState:
    """Return the partition of a subsystem, as `State.__getitem__` does."""
    return SubsystemState(state, index_of(state, which))


def index_of(state: HasContents, which: Any) -> int:
    """Return the index of a subsystem that is given by itself, its index or its name.

    Raises
    ------
    UnknownSubsystemError, ForeignStateError
    """
    contents: Contents = state._contents
    realization = contents.realization
    system = getattr(which, "_system", None)
    if system is not None and system is contents.system:
        index: int = which._index
        if index < len(realization.machine.stages):
            return index
    elif system is not None:
        raise ForeignStateError(
            f"{which!r}: is not in this State",
            "a subsystem of " + ("no System" if contents.system is None else repr(contents.system)),
            f"one of {system!r}",
            "use a State of that System",
        )
    return check_subsystem(which, realization.layout.subsystems, state.__repr__)
