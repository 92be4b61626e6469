"""The State of a system: its variables, and what was computed from them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from os import PathLike
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, final, overload
from weakref import ref

from numpy.typing import ArrayLike

from stagecache.checks import require_bool, require_count, require_text, require_type
from stagecache.errors import (
    ForeignStateError,
    NotPicklableError,
    OutOfRangeError,
    short_repr,
)
from stagecache.graph.checkpoint import Checkpoint
from stagecache.graph.evaluation import Arguments
from stagecache.graph.observing import MOST_EVENTS, OBSERVERS_OF_NEW
from stagecache.state.checkpoint import going_back, new_checkpoint
from stagecache.state.contents.contents import Contents
from stagecache.state.contents.guards import FROZEN
from stagecache.state.contents.observer import Observer
from stagecache.state.display import cache_text, html, summary, text
from stagecache.state.handles import (
    AbstractHandle,
    CacheEntry,
    ContinuousVariable,
    TimeVariable,
    Vector,
)
from stagecache.state.items.realization import (
    Realization,
    new_variables,
    new_wholes,
)
from stagecache.state.partition import AbstractPartition
from stagecache.state.refusals import too_high
from stagecache.state.stage import Stage, check_stage
from stagecache.state.subsystem_state import SubsystemState, index_of, partition
from stagecache.state.vectors.vectors import (
    EVENT_TRIGGERS,
    YDOT,
    YERR,
    Y,
)
from stagecache.views.view import GraphView

if TYPE_CHECKING:
    from stagecache.inspection.explain.explanation import Explanation
    from stagecache.inspection.explain.impact import Impact
    from stagecache.inspection.reads import RecordedHooks
    from stagecache.inspection.trace.trace import Trace
    from stagecache.system.core.system import System


@final
class State(AbstractPartition):
    """Everything variable about a system: stages, variables, and cached computations.

    A State is allocated subsystem by subsystem, and realized stage by stage. A write of a variable
    takes it back to the stage before the one that the variable invalidates, and makes stale
    exactly what depends on it. ``state[index]`` is a subsystem's partition.

    Any number of threads may read one State; a write needs it to itself, for which there is
    `lock`.

    Parameters
    ----------
    strict : bool
        True to watch the reads of computations from the beginning, here and in all copies, and to
        refuse those that are not declared; see `strict`.

    Examples
    --------
    >>> state = State()
    >>> pendulum = state[state.add_subsystem("pendulum")]
    >>> angle = pendulum.allocate_q([0.5])
    >>> height = pendulum.allocate_cache_entry_with_prerequisites(
    ...     Stage.TOPOLOGY, Stage.INFINITY, (angle,), compute=lambda state: 1 - angle(state)[0]
    ... )
    >>> for stage in (Stage.TOPOLOGY, Stage.MODEL, Stage.INSTANCE):
    ...     pendulum.advance_to_stage(stage)
    ...     state.advance_to_stage(stage)
    >>> float(height(state)), height.is_valid(state)
    (0.5, True)
    >>> state.q = [0.25]
    >>> height.is_valid(state), float(height(state))
    (False, 0.75)
    """

    __slots__ = ("__weakref__", "_lock")

    def __init__(self, *, strict: bool = False) -> None:
        is_strict = require_bool(strict, "State(strict=...)")
        self._become(Contents(Realization.empty(_binder(self), new_variables())))
        if is_strict:
            from stagecache.inspection.strict.strict import watch_always  # noqa: PLC0415

            watch_always(self)

    @classmethod
    def _of_system(cls, system: Any, variables: dict[str, AbstractHandle]) -> "State":
        """Return the Empty State of a System, which has the handles of time, q, u and z."""
        state = State.__new__(State)
        state._become(Contents(Realization.empty(_binder(state), variables), system))
        return state

    def _seen_by(self, *observers: Observer) -> "State":
        """Return another view of this State, for a computation, which has these observers."""
        view = State.__new__(State)
        AbstractPartition.__init__(view, self._contents.seen_by(observers), None)
        view._lock = self._lock
        return view

    def _become(self, contents: Contents) -> None:
        super().__init__(contents, None)
        self._lock = RLock()
        for observer in contents.observers:
            observer.made(self)
        for observe in OBSERVERS_OF_NEW.get():
            observe(self)
        self._register()

    def _mended(self) -> Contents:
        """Return the contents; first finish or undo an operation that was cut short by an error."""
        if self._contents.realization.is_torn:
            self._contents.mend()
        return self._contents

    def _register(self) -> None:
        """Let the System know which States it has."""
        if self._contents.system is not None:
            self._contents.system._states[id(self)] = self

    # ------------------------------------------------------------------ life

    def copy(self, *, keep_cache: bool = False) -> "State":
        """Return an independent State with the same variables, at Instance or before.

        Variables come along with their versions and update times, and so do weights and numbers of
        items. Cache entries that depend on Instance or an earlier stage stay valid if they are;
        all others are not valid. Items that were allocated, but not advanced over, are left
        out. Read-only arrays and immutable values are shared, other values
        are deep-copied, the structure is shared until one of the two changes it.

        Cost O(items), as copies of flat lists.

        Parameters
        ----------
        keep_cache : bool
            True for a copy that is realized as far as this State, with all that is valid here and
            all that is allocated but not advanced over. Computed values are shared: they are
            replaced by new ones, and never changed.

        Raises
        ------
        PrerequisiteStageError
            An item of the copy would depend on an item that is left out.
        ReadOnlyError
            `keep_cache` for a State that is being realized.
        """
        keeps = require_bool(keep_cache, "copy(keep_cache=...)")
        twin = State.__new__(State)
        bind = _binder(twin)
        twin._become(self._contents.clone(bind) if keeps else self._contents.copy(bind))
        return twin

    def __copy__(self) -> "State":
        return self.copy()

    def frozen(self) -> "State":
        """Return a copy with its cache, in which nothing is written and nothing computed.

        Valid values can be read, by any number of threads; a read of anything else raises.
        A copy of it is free again.
        """
        twin = self.copy(keep_cache=True)
        twin._contents.guard = twin._contents.guard or FROZEN
        return twin

    @property
    def is_frozen(self) -> bool:
        """True if it came from `frozen`, or `freeze` was called."""
        return self._contents.guard is FROZEN

    def freeze(self) -> None:
        """Refuse writes and computations from now on, as in a copy by `frozen`, until `unfreeze`.

        Values that were handed out for writing are detached, as by `checkpoint`; but a slice of a
        view of q, u or z stays writable. No effect if it is frozen.

        Raises
        ------
        ReadOnlyError
            It is the default State of a System or of an older topology, or something is computed.
        """
        self._contents.freeze()

    def unfreeze(self) -> None:
        """Allow writes and computations again. No effect if the State is not frozen."""
        self._contents.unfreeze()

    def checkpoint(self) -> Checkpoint:
        """Return a mark to which `rollback` goes back, any number of times.

        Values that were handed out for writing are detached: views are sealed, other values are
        replaced by copies. From now on changes are noted, until the mark is released, or there is
        no reference to it when the next one is made.

        Cost O(size of the vectors + subsystems + discrete variables that were written).

        Returns
        -------
        Checkpoint
            Also a context manager, which goes back if the block raises.

        Raises
        ------
        ReadOnlyError, NodeInUseError
            The State is being realized, or an entry computed.
        """
        return new_checkpoint(self)

    def rollback(self, mark: Checkpoint) -> None:
        """Restore a checkpoint: variables, versions, stages, items, caches.

        Entries that were valid then are valid, without a computation; values computed since are
        dropped. Later checkpoints are given up. Version numbers given since are not given again.
        Cost O(changes since + size of the vectors + subsystems).

        Raises
        ------
        CheckpointError
            It belongs to another State, or was released or given up.
        ReadOnlyError, NodeInUseError, TopologyVersionError
            And nothing has changed.
        """
        self._contents.finish(going_back(self._contents, mark), "rollback()")

    def __deepcopy__(self, memo: object) -> "State":
        return self.copy()

    def __reduce__(self) -> Any:
        if self.system is not None:
            return self.system._reduce_state(self)
        raise NotPicklableError(
            f"{self!r}: cannot be pickled",
            "a State of a System, which says anew what is in it",
            "a State that was made by hand",
            "pickle the values of its variables; or write the model as Subsystems of a System",
        )

    # ------------------------------------------------------------------ files

    def save(self, path: "str | PathLike[str]", *, cache: bool = False) -> None:
        """Write the State into a file, which `load_state` reads.

        A file names each variable, with its kind, form and value; it holds no code. An older file
        of that name is replaced at once: after a crash the old one or the new one is there, whole.
        Cost O(items).

        Parameters
        ----------
        path : str or os.PathLike
        cache : bool
            Save values of valid entries, too. They are valid again where the layout of the model,
            its attributes, and the functions of the entries are the same. Values that cannot be
            saved are computed again.

        Raises
        ------
        UnsavableValueError
            A discrete variable has a value of a class that is not registered: see
            `stagecache.register_value`. Nothing is written then.
        WrongTypeError, TopologyVersionError
            The State has no System, or the System has changed since.
        OSError
        """
        from stagecache.system.core.state_file import save_state  # noqa: PLC0415  # a delegate

        save_state(self, path, cache=cache)

    def to_bytes(self, *, cache: bool = False) -> bytes:
        """Return the State as `save` writes it, to be sent elsewhere; the System stays here.

        Raises
        ------
        UnsavableValueError, WrongTypeError, TopologyVersionError
            See `save`.
        """
        from stagecache.system.core.state_file import state_bytes  # noqa: PLC0415  # a delegate

        return state_bytes(self, cache=cache)

    @staticmethod
    def from_bytes(
        data: bytes,
        system: "System",
        *,
        strict: bool = True,
        renamed: Mapping[str, str] | None = None,
    ) -> Any:
        """Return the State of a System that `to_bytes` has saved.

        Parameters are those of `load_state`.

        Returns
        -------
        State
        LoadReport
            Only if `strict` is False.

        Raises
        ------
        FileFormatError, LayoutMismatchError, UnknownPathError, WrongTypeError
            See `load_state`.
        """
        from stagecache.system.core.state_file import state_of_bytes  # noqa: PLC0415  # a delegate

        return state_of_bytes(data, system, strict=strict, renamed=renamed)

    def assign(self, other: "State") -> None:
        """Become a copy of another State.

        Vectors are written in place where their sizes are equal. Every version number is higher
        afterwards than it was in either; only `topology_version` is the other State's.

        Raises
        ------
        WrongTypeError
        ForeignStateError
            Both are States of Systems, and these are not the same one.
        """
        require_state(other)
        self._mended().require_unguarded("assign()")
        mine, theirs = self.system, other.system
        if mine is not None and theirs is not None and theirs is not mine:
            raise ForeignStateError(
                f"assign(): {other!r} is not a State of {mine!r}",
                "a State of the same System",
                "one of another System, which has the same name and subsystems"
                if repr(mine) == repr(theirs)
                else f"one of {theirs!r}",
                "use other.copy(); or clear() this State first, which is of no System then",
            )
        if other is not self:
            self._contents.refuse_to_forget_what_is_computed(Stage.EMPTY)
            twin = other._contents.copy(_binder(self))
            self._contents.finish(partial(self._contents.assign, twin), "assign()")
            self._register()

    def clear(self) -> None:
        """Forget everything: the State is Empty and has no subsystems. Versions go on rising."""
        topology_version = self.topology_version
        self.assign(State())
        self.topology_version = topology_version + 1

    @property
    def system(self) -> "System | Any":
        """The System whose State it is; None if it was made by hand.

        `Any` in its type stands for None, so a model whose States all have a System need not ask.
        """
        return self._contents.system

    @property
    def is_strict(self) -> bool:
        """True if the reads of its computations are watched, as `strict` and `verify` do."""
        return any(observer.is_strict for observer in self._contents.observers)

    @property
    def lock(self) -> RLock:
        """A re-entrant lock, which no copy shares: ``with state.lock: ...``."""
        return self._lock

    # ------------------------------------------------------------------ subsystems

    @property
    def num_subsystems(self) -> int:
        """Number of subsystems."""
        return len(self._contents.realization.machine.stages)

    def add_subsystem(self, name: str = "", version: str = "") -> int:
        """Add a subsystem that is Empty, and return its index. Needs the system at Empty.

        Raises
        ------
        StageTooHighError, InvalidNameError
        """
        self._contents.require_unguarded("add_subsystem()")
        realization = self._mended().realization
        if realization.machine.stage > Stage.EMPTY:
            raise too_high(
                "adding a subsystem", Stage.EMPTY, "the system", realization.machine.stage
            )
        require_text(name, "the name of a subsystem")
        require_text(version, "the version of a subsystem")
        return realization.add_subsystem(name, version, new_wholes())

    def _rename_subsystem(self, which: int, name: str, version: str) -> None:
        x = index_of(self, which)
        self._contents.require_unguarded("initialize_subsystem()")
        require_text(name, f"the name of subsystem {x}")
        require_text(version, f"the version of subsystem {x}")
        self._contents.realization.rename_subsystem(x, name, version)

    def __getitem__(self, subsystem: SupportsIndex | str) -> SubsystemState:
        """Return the partition of a subsystem, given by itself, its index or its name.

        Raises
        ------
        UnknownSubsystemError, ForeignStateError
        """
        return partition(self, subsystem)

    def __len__(self) -> int:
        return self.num_subsystems

    def __iter__(self) -> Iterator[SubsystemState]:
        return (SubsystemState(self, x) for x in range(self.num_subsystems))

    def __bool__(self) -> bool:
        return True

    # ------------------------------------------------------------------ stages

    @property
    def stage(self) -> Stage:
        """Stage of the system."""
        return Stage(self._contents.stage_of(None))

    def advance_to_stage(self, stage: Stage) -> None:
        """Let the system reach the next stage, at which all subsystems are.

        Raises
        ------
        StageOrderError
            It is not the stage after the present one, or a subsystem is not there yet.
        """
        stage = check_stage(stage, Stage.TOPOLOGY, Stage.REPORT, "advance_to_stage()")
        self._contents.require_unguarded("advance_to_stage()")
        self._contents.advance(stage, None)

    def invalidate_all(self, stage: Stage) -> None:
        """Take the system and all subsystems that are at a stage back to the one before.

        Entries that depend on the stage are stale. No effect if neither has reached it.

        Raises
        ------
        StageOutOfRangeError
            Empty cannot be invalidated.
        """
        stage = check_stage(stage, Stage.TOPOLOGY, Stage.INFINITY, "invalidate_all()")
        self._contents.invalidate_explicitly(stage)

    def discard_cache(self) -> None:
        """Make all stale that can be computed, and take the State back to Model if it is further.

        Variables keep their values, and their versions but for versions of stages. Values that
        hooks stored by hand at Topology or Model stay. Cost O(entries).

        Raises
        ------
        ReadOnlyError
            The State must not be changed now.
        """
        self._contents.discard_cache()

    @property
    def stage_versions(self) -> tuple[int, ...]:
        """Versions of stages, Empty to the present one: one more than the times each was left."""
        realization = self._mended().realization
        return tuple(
            [
                realization.machine.versions.in_system(stage)
                for stage in range(realization.machine.stage + 1)
            ]
        )

    def lowest_stage_difference(self, versions: Sequence[int]) -> Stage:
        """Return the first stage that was left since `stage_versions` had been `versions`.

        Infinity, if all stages realized then still are, and were not left in the meantime.
        """
        now = self.stage_versions
        if not isinstance(versions, Sequence):
            raise OutOfRangeError(
                "lowest_stage_difference(): not versions of stages",
                "what stage_versions was at some time",
                short_repr(versions),
                "keep state.stage_versions, and pass it later",
            )
        for stage, (before, after) in enumerate(zip(versions, now, strict=False)):
            if before != after:
                return Stage(stage)
        return Stage(len(now)) if len(now) < len(versions) else Stage.INFINITY

    @property
    def topology_version(self) -> int:
        """The version of Topology, which must equal the System's.

        Setting it changes no stage.

        Raises
        ------
        OutOfRangeError
            It is not a positive integer.
        """
        return self._contents.realization.machine.versions.in_system(Stage.TOPOLOGY)

    @topology_version.setter
    def topology_version(self, version: int) -> None:
        realization = self._contents.realization
        version = require_count(version, 1, "the topology version")
        self._contents.require_unguarded("the topology version")
        realization.machine.versions.system[Stage.TOPOLOGY] = version - 1

    # ------------------------------------------------------------------ variables

    @property
    def time(self) -> float:
        """The time. Needs the system at Topology; 0 at first. A write invalidates Time."""
        return self._contents.read_time()

    @time.setter
    def time(self, time: float) -> None:
        self._contents.set_time(time, self.variable("time"))

    @property
    def y(self) -> Vector:
        """The continuous variables q, u and z. Shape (ny,). A write invalidates Position."""
        return self._contents.view(Y, None)

    @y.setter
    def y(self, values: ArrayLike) -> None:
        self._contents.assign_vector(Y, None, values)

    def upd_y(self) -> Vector:
        """Return a writable view of `y`. This counts as a write."""
        return self._contents.upd(Y, None)

    @property
    def ny(self) -> int:
        """Number of y's. Needs the system at Model."""
        return self.nq + self.nu + self.nz

    @overload
    def variable(self, name: Literal["time"]) -> TimeVariable: ...

    @overload
    def variable(self, name: Literal["q", "u", "z"]) -> ContinuousVariable: ...

    @overload
    def variable(self, name: str) -> AbstractHandle: ...

    def variable(self, name: str) -> AbstractHandle:
        """Return the handle of "time", or of the whole "q", "u" or "z", to be a prerequisite.

        Raises
        ------
        UnknownItemError
        """
        return self._contents.variable(name, None)

    def auto_update_discrete_variables(self) -> None:
        """Exchange each auto-update variable with its update value, if that is valid.

        First, update values that have become stale since their computation are computed again. Then
        each exchanged variable has a new version, its dependents and its update entry are stale,
        and no stage is invalidated.
        """
        self._contents.auto_update()

    # ------------------------------------------------------------------ what is computed

    @property
    def ydot(self) -> Vector:
        """Time derivatives of y. Shape (ny,). Read from Acceleration on."""
        return self._contents.view(YDOT, None)

    @property
    def yerr(self) -> Vector:
        """Position and velocity errors. Shape (nyerr,). Read from Velocity on."""
        return self._contents.view(YERR, None)

    @property
    def event_triggers(self) -> Vector:
        """All event triggers, by stage and then by subsystem. Read from Acceleration on."""
        values = self._contents.view(EVENT_TRIGGERS, None)
        self._contents.complete_triggers()
        return values

    @property
    def num_event_triggers(self) -> int:
        """Number of event triggers of all stages. Needs the system at Instance."""
        return self._contents.num_all_triggers()

    # ------------------------------------------------------------------ asking

    @property
    def graph(self) -> GraphView:
        """A view of all variables, entries, stages and hooks, as they are now.

        Cost O(nodes + edges). The first time in a topology, a copy is realized through Report, to
        see what hooks read and write; see `System.record_hooks`.
        """
        from stagecache.inspection.graph_view import graph_view  # noqa: PLC0415

        title = "State" if self.system is None else self.system.name
        return graph_view(self._mended(), title, self._recorded_hooks())

    def _recorded_hooks(self) -> "RecordedHooks":
        from stagecache.inspection.reads import RecordedHooks  # noqa: PLC0415

        return RecordedHooks() if self.system is None else self.system._recorded(self)

    def explain(self, entry: CacheEntry[Any] | str) -> "Explanation":
        """Explain whether an entry is valid; if not, what has changed, and what a call computes.

        Cost O(nodes).

        Parameters
        ----------
        entry : CacheEntry or str
            The handle, or its path: "pendulum.tip"; or a computed vector, or the part of a
            subsystem: "udot", "pendulum.udot".

        Raises
        ------
        UnknownPathError, NodeKindError, ForeignNodeError, WrongTypeError
        """
        from stagecache.inspection.explain.vectors import explain_item  # noqa: PLC0415

        return explain_item(self._mended(), entry, self._recorded_hooks)

    def impact(self, variable: AbstractHandle | str) -> "Impact":
        """Tell what a write of a variable would make stale. Nothing is written. Cost O(nodes).

        Hooks that would run again are told, as far as they were recorded: see `graph`.

        Parameters
        ----------
        variable : handle or str
            The handle, or its path: "pendulum.angle", "q", "u_weights"; "y" for all of q, u and z.

        Raises
        ------
        UnknownPathError, NodeKindError, ForeignNodeError, WrongTypeError
        """
        from stagecache.inspection.explain.impact import impact  # noqa: PLC0415

        return impact(self._mended(), variable, self._recorded_hooks())

    def trace(self, *others: "State", most: int = MOST_EVENTS) -> "Trace":
        """Note what is done with this State, and with others, in a ``with`` block.

        That is: writes, and what they make stale; computations, with what they take and read; reads
        that find a value; changes of the stage. Blocks may be nested, and go together with strict
        mode. Where no State is traced, nothing is paid.

        Copies that are made in the block are traced as well, by any thread, and copies of these: so
        the trace has what a simulation, an Assembler or a study computes, as these work on copies.
        A copy in another process is not traced.

        Parameters
        ----------
        *others : State
        most : int
            How many events are kept; later ones are only counted.

        Raises
        ------
        WrongTypeError

        Examples
        --------
        >>> from stagecache import State, Subsystem, System, cached, parameter
        >>> class Spring(Subsystem):
        ...     stretch = parameter(0.1)
        ...
        ...     @cached(prerequisites=(stretch,))
        ...     def force(self, state: State) -> float:
        ...         return -100.0 * self.stretch(state)
        >>> spring = Spring()
        >>> state = System(spring).new_state()
        >>> with state.trace() as trace:
        ...     for stretch in (0.1, 0.2):
        ...         spring.stretch.set(state, stretch)
        ...         total = spring.force(state) + spring.force(state)
        >>> summary = trace.summary()
        >>> summary.computed, summary.hits
        (2, 2)
        """
        for other in others:
            require_state(other)
        from stagecache.inspection.trace.trace import Trace  # noqa: PLC0415

        most = require_count(most, 0, "trace(most=...)")
        return Trace(tuple(dict.fromkeys((self, *others))), most)

    # ------------------------------------------------------------------ showing

    def cache_to_string(self) -> str:
        """Return the computed items, and which of them are valid, in lines of text."""
        return cache_text(self._mended())

    def __str__(self) -> str:
        return text(self._mended())

    def __repr__(self) -> str:
        return summary(self._mended())

    def _repr_html_(self) -> str:
        return html(self._mended())


def _binder(state: State) -> Callable[[int], Arguments]:
    """Return a function that gives compute functions the State, without a reference cycle."""
    weak = ref(state)

    def bind(_: int) -> Arguments:
        alive = weak()
        assert alive is not None, "the reader of an entry holds the State"
        return (alive,)

    return bind


def require_state(value: object) -> State:
    """Return a State.

    Raises
    ------
    WrongTypeError
    """
    what = f"{short_repr(value)}: not a State"
    return require_type(value, State, what, "a State", "pass a State")
