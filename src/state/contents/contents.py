"""Contents of a State: `State` is a view of the whole of it, `SubsystemState` of a part.

A write first checks whether it is allowed; then it makes stale all that depends on the variable;
then it changes the value. So nothing stale passes for valid, even if Control-C strikes in between.
"""

from collections.abc import Callable
from functools import partial
from threading import get_ident
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import ArrayLike

from stagecache.errors import (
    CacheEntryOutOfDateError,
    ForeignNodeError,
    NodeInUseError,
    PrerequisiteStageError,
    ReadOnlyError,
    StagecacheError,
    StageOrderError,
    TopologyVersionError,
    UnknownItemError,
    short_repr,
)
from stagecache.graph.evaluation import NO_FUNCTION, Arguments
from stagecache.graph.observing import (
    TracedWrite,
    around_compute,
    around_read,
    around_replace,
    around_write,
    last_write,
)
from stagecache.graph.releasing import let_go, replace
from stagecache.graph.store import MENDING, SHUT, Store
from stagecache.state.contents.causes import why_not_valid
from stagecache.state.contents.guards import COMPUTING, FROZEN, OUTDATED, REALIZING, Guard
from stagecache.state.contents.observer import Item, Observer
from stagecache.state.contents.pools import Pools
from stagecache.state.handles import (
    NOWHERE,
    AbstractContinuousVariable,
    AbstractHandle,
    CacheEntry,
    DiscreteVariable,
    Vector,
)
from stagecache.state.items.layout import WriteSet
from stagecache.state.items.realization import Realization
from stagecache.state.items.stage_machine import (
    INFINITY,
    INSTANCE,
    MODEL,
    POSITION,
    REPORT,
    TIME,
    TOPOLOGY,
)
from stagecache.state.refusals import too_low, unknown_subsystem
from stagecache.state.stage import Stage, check_stage
from stagecache.state.values.values import (
    IMMUTABLE,
    duplicate,
    duplicates,
    independent_copy,
    seal,
    snapshot,
)
from stagecache.state.vectors.conversion import FLOAT, converted
from stagecache.state.vectors.vectors import CONTINUOUS, VectorKind, Y

NAN: Final = float("nan")
WHOLE: Final = slice(None)


class Contents:
    """Stages, vectors, discrete variables and cache entries of one State.

    Its parts are the realization, which has the stages and the graph, and the pools, which store
    the vectors.

    Attributes
    ----------
    realization : Realization
    pools : Pools
    time : float
        NaN before Topology is realized.
    update_times : dict of int to float
        Time of the last write, by node of a discrete variable; absent if it was never written.
    handed_out : set of int
        Nodes whose array was handed out for writing, so that a writable slice may exist.
    system : object
        The System whose State it is; None if it was made by hand.
    observers : tuple of Observer
        Observers of the State; each one is told of an operation around those before it.
    outdated_by : str
        The change of its System that made it useless, if one did.
    checkpoints : list of tuple
        Checkpoints, the oldest first: a weak reference, and the snapshot.
    unfinished : callable or None
        Operation that was begun and must be completed: a rollback, or an assignment.
    visible : Store
        The store of the realization, in which handles look; a blank one if they shall ask instead,
        since the State is observed, or an operation was begun.
    """

    __slots__ = (
        "_guard",
        "checkpoints",
        "handed_out",
        "observers",
        "outdated_by",
        "pools",
        "realization",
        "system",
        "time",
        "unfinished",
        "update_times",
        "visible",
    )

    def __init__(self, realization: Realization, system: Any = None) -> None:
        self.realization = realization
        self.visible = realization.store
        self.system = system
        self._guard: Guard | None = None
        self.observers: tuple[Observer, ...] = ()
        self.outdated_by = ""
        self.pools = Pools()
        self.time = NAN
        self.update_times: dict[int, float] = {}
        self.handed_out: set[int] = set()
        self.checkpoints: list[tuple[Any, Any]] = []
        self.unfinished: Callable[[], object] | None = None

    # ------------------------------------------------------------------ observation

    def _tell(self, *items: Item, title: str = "") -> None:
        """Tell the observers of a read of items, or of something that only has a title."""
        for observer in self.observers:
            observer.read(items, title)

    def _tell_handed_out(self, handle: AbstractHandle) -> None:
        """Tell the observers that a value may be changed in place now, or was stored."""
        for observer in self.observers:
            observer.handed_out(handle)

    def _observe_copy(self, twin: "Contents") -> "Contents":
        """Let the observers observe a copy as well, if they want to; return it."""
        if self.observers:
            inherited = [observer.inherited(twin) for observer in self.observers]
            twin.observers = tuple([observer for observer in inherited if observer is not None])
            twin.link()
        return twin

    def seen_by(self, observers: tuple[Observer, ...]) -> "Contents":
        """Return contents of another view of the State, whose reads these observers are told of.

        They are for reads in a computation: while it lasts, the State is not written.
        """
        view = Contents(self.realization, self.system)
        view._guard = self._guard
        view.outdated_by = self.outdated_by
        view.pools = self.pools
        view.time = self.time
        view.update_times = self.update_times
        view.handed_out = self.handed_out
        view.observers = observers
        view.link()
        return view

    def link(self) -> None:
        """Let handles look into the store; into a blank one if it is observed, so that they ask."""
        store = self.realization.store
        self.visible = store.blank() if self.observers else store

    def trace_of_write(self, node: int) -> TracedWrite | None:
        """Return the last write of a variable; None if it was not traced."""
        return last_write(self.observers, node)

    # ------------------------------------------------------------------ errors in the middle

    def finish(self, what: Callable[[], object], cause: str = "") -> None:
        """Run an operation that must be completed once begun, and can be run again from its start.

        If an error cuts it short, the next operation runs it. It returns the objects that it has
        replaced, which are released last, since finalizers may look at the State. Observers are
        told the cause.
        """
        around_replace(self.observers if cause else (), cause, partial(self._finish, what))

    def _finish(self, what: Callable[[], object]) -> None:
        realization = self.realization
        was_torn = realization.is_torn
        try:
            self.unfinished = what
            realization.is_busy = realization.is_torn = True
            self.visible = Store()  # in which no handle finds anything until it is done
            before = what()
            self.link()
            self.unfinished = None
            realization = self.realization  # which may be another one
            realization.is_busy = False
            realization.is_torn = was_torn
        except BaseException:
            self.realization.is_torn = True
            self.realization.is_busy = False
            raise
        let_go(before)

    def mend(self) -> None:
        """Complete or undo an operation that was cut short by an error. Cost O(items).

        Raises
        ------
        NodeInUseError
            It was not cut short, but goes on.
        """
        with MENDING:
            realization = self.realization
            if realization.is_busy:
                raise NodeInUseError(
                    "the State: cannot be used now",
                    "a State that is not being written, rolled back or assigned to",
                    "a use in the middle of that, by a finalizer or by another thread",
                    "let the finalizer note what to do, and do it after the operation",
                )
            if self.unfinished is not None:
                self.finish(self.unfinished)
                realization = self.realization
            try:
                realization.is_busy = True
                realization.mend()
                self._drop_unreached()
                realization.is_busy = False
            except BaseException:
                realization.is_busy = False
                realization.is_torn = True
                raise

    def stage_of(self, subsystem: int | None) -> int:
        """Return the stage of a subsystem, or of the system."""
        realization = self.realization
        if realization.is_torn:
            self.mend()
            realization = self.realization
        if subsystem is None:
            return realization.machine.stage
        stages = realization.machine.stages
        if subsystem >= len(stages):
            subsystems = realization.layout.subsystems
            raise unknown_subsystem(subsystem, subsystems, "the State any more")
        return stages[subsystem]

    def who(self, subsystem: int | None) -> str:
        """Return the name of a subsystem, or of the system, in messages."""
        return self.realization.layout.label(subsystem)

    def require_stage(self, needed: int, subsystem: int | None, what: str) -> None:
        """Raise `StageTooLowError` unless the system, or a subsystem, has reached that stage."""
        if self.stage_of(subsystem) < needed:
            raise too_low(what, needed, self.who(subsystem), self.stage_of(subsystem))

    def advance(self, stage: Stage, subsystem: int | None) -> None:
        """Let a subsystem, or the system, reach the stage after its present one."""
        self._advance(stage, subsystem)
        if self.observers and self._guard is not REALIZING:
            for observer in self.observers:
                observer.advanced(stage, subsystem)

    def _advance(self, stage: Stage, subsystem: int | None) -> None:
        at = self.stage_of(subsystem)
        realization = self.realization
        if stage != at + 1:
            raise StageOrderError(
                f"{self.who(subsystem)}: cannot advance to {stage}",
                f"one stage at a time: {Stage(at + 1)}"
                if at < REPORT
                else "a stage that is left to be realized",
                f"{stage}, at {Stage(at)}",
                f"call advance_to_stage(Stage.{Stage(at + 1).name}) first"
                if stage > at
                else f"call invalidate_all(Stage.{stage.name}) to realize it again",
            )
        if subsystem is None:
            for x, reached in enumerate(realization.machine.stages):
                if reached < stage:
                    raise StageOrderError(
                        f"the system: cannot advance to {stage}",
                        "all subsystems there",
                        f"{self.who(x)} at {Stage(reached)}",
                        "advance the subsystems first",
                    )
        if subsystem is not None:
            self.pools.seal_reached(stage, subsystem)
            realization.advance_subsystem(subsystem, stage)
            return
        if stage == TOPOLOGY:
            realization.store.write(realization.layout.variables["time"]._node)
            self.time = 0.0
        if stage in (MODEL, INSTANCE):
            self.pools.allocate(stage, realization.layout)
        self.pools.seal_reached(stage, None)
        if stage == MODEL:
            realization.renew_vectors()
        realization.machine.advance_system(stage)

    def invalidate(self, stage: int, cause: object, nodes: list[int]) -> None:
        """Count a change of a stage, and of variables; back up before the stage.

        Call it before a value changes: if an error cuts it short, valid entries are right, and the
        next operation backs up.

        Parameters
        ----------
        cause : object
            Handle of the variable that was written, or text that says what happened.
        nodes : list of int
            Nodes of the stage and of the variables that were written; each gets a new version.
        """
        if self.observers:
            act = partial(self._invalidate, stage, cause, nodes)
            around_write(self.observers, cause, nodes, act)
        else:
            self._invalidate(stage, cause, nodes)

    def _write(self, effect: WriteSet) -> None:
        """Count a write of a variable, before its value changes."""
        self.invalidate(effect.stage, effect.cause, effect.nodes)

    def _invalidate(self, stage: int, cause: object, nodes: list[int]) -> None:
        realization = self.realization
        if realization.is_torn:
            self.mend()
            realization = self.realization
        if self._guard is not None or realization.evaluator.running:
            self._require_writable(cause)
        if stage <= INSTANCE:
            self.refuse_to_forget_what_is_computed(stage - 1)
        try:
            realization.is_busy = realization.is_torn = True
            if realization.machine.highest < stage:
                realization.touch(stage, cause, nodes)
                realization.is_busy = realization.is_torn = False
                return
            realization.backing_up = stage - 1  # if an error strikes, this is finished later
            realization.touch(stage, cause, nodes)
            if stage <= MODEL:
                realization.reset_variables(stage, realization.machine.stage)
            realization.back_up(stage - 1)
            if stage <= INSTANCE:
                self._drop_unreached()
            realization.is_busy = realization.is_torn = False
        except BaseException:
            realization.is_torn = True
            realization.is_busy = False
            raise

    def _require_writable(self, cause: object) -> None:
        if self._guard is not None or self.system is not None:
            layout = self.realization.layout
            what = layout.path(cause) if isinstance(cause, AbstractHandle) else cause
            self.require_unguarded(f"a write of {what}")

    def _drop_unreached(self) -> None:
        """Drop the values that are there only once Topology, Model or Instance is realized."""
        reached = self.realization.machine.stage
        if reached < INSTANCE:
            self.pools.drop(Stage.MODEL if reached < MODEL else Stage.INSTANCE)
        if reached < TOPOLOGY:
            self.time = NAN

    def belongs_to(self, system: object, topology_version: int) -> bool:
        """Return True if this is a State of that topology of a System, which may be used."""
        if self.realization.is_torn:
            self.mend()
        number = self.realization.machine.versions.system[TOPOLOGY] + 1
        return self.system is system and number == topology_version and not self.outdated_by

    def is_computing_here(self) -> bool:
        """Return True if this thread computes an entry of the State now."""
        running = self.realization.evaluator.running
        return bool(running) and get_ident() in list(running.values())

    @property
    def guard(self) -> Guard | None:
        """Reason why the State must not be written, if there is one."""
        return self._guard

    @guard.setter
    def guard(self, guard: Guard | None) -> None:
        self._guard = guard  # a System says nothing else about realizing
        for observer in self.observers:
            observer.realizing(is_on=guard is REALIZING)

    def guarded(self, guard: Guard | None, act: Callable[[], Any]) -> Any:
        """Call a function while the State has a guard, and return what that returns.

        The former guard is restored even if an error is raised. A context manager would
        keep the other one if Control-C struck when it is entered or left.
        """
        before = self.guard
        try:
            self.guard = guard
            found = act()
            self.guard = before
        except BaseException:
            self.guard = before
            raise
        return found

    def require_unguarded(self, what: str) -> None:
        """Raise `ReadOnlyError` if the State must not be changed now."""
        guard = self._guard
        if guard is None and self.system is not None and self.realization.evaluator.running:
            guard = COMPUTING
        if guard is not None:
            expected = "a State that may be changed now"
            raise ReadOnlyError(f"{what}: is refused", expected, guard.reason, guard.hint)

    def require_not_frozen(self, what: str) -> None:
        """Raise `ReadOnlyError` if nothing may be computed, either."""
        if self._guard is FROZEN:
            self.require_unguarded(what)

    def detach(self) -> None:
        """Detach values that were handed out: seal views, and replace other values by copies."""
        self.pools.seal_reached(INFINITY, None)
        values = self.realization.store.values
        for node in self.handed_out:  # somebody may have them, or slices of them
            values[node] = independent_copy(values[node])
            seal(values[node])
        self.handed_out.clear()

    def freeze(self) -> None:
        """Write nothing and compute nothing from now on."""
        if self._guard is FROZEN:
            return
        if self.realization.is_torn:
            self.mend()
        self.require_unguarded("freeze()")
        self.detach()
        self.guard = FROZEN

    def unfreeze(self) -> None:
        """Undo `freeze`."""
        if self._guard is FROZEN:
            self.guard = None

    def forget_value(self, entry: CacheEntry[Any]) -> None:
        """Let the next read of an entry compute it, if it can be computed now."""
        self.require(entry)
        functions = self.realization.layout.functions
        if self._guard is not FROZEN and functions[entry._node] is not NO_FUNCTION:
            self.realization.store.void(entry._node)

    def discard_cache(self) -> None:
        """Take stages above Model back, and make all stale that can be computed."""
        what = "discard_cache()"
        self.require_unguarded(what)
        self.invalidate_explicitly(Stage.INSTANCE)
        functions = self.realization.layout.functions
        nodes = [node for node, function in enumerate(functions) if function is not NO_FUNCTION]
        around_write(self.observers, what, nodes, partial(self._void, nodes))

    def _void(self, nodes: list[int]) -> None:
        for node in nodes:
            self.realization.store.void(node)

    def outdate(self, change: str) -> None:
        """Refuse writes and computations from now on: the System has changed."""
        cause = f"a change of the System: {change}"
        around_replace(self.observers, cause, partial(self._outdate, change))

    def _outdate(self, change: str) -> None:
        self.guard = OUTDATED
        self.outdated_by = self.outdated_by or change
        self.realization.store.invalidate_all()

    def invalidate_explicitly(self, stage: Stage) -> None:
        """Invalidate a stage without a write; do nothing if it is not realized anywhere."""
        if self.realization.is_torn:
            self.mend()
        if self.realization.machine.highest >= stage:
            nodes = [self.realization.layout.stages[stage]]
            self.invalidate(stage, f"invalidate_all({stage})", nodes)

    def refuse_to_forget_what_is_computed(self, stage: int) -> None:
        """Raise `NodeInUseError` if an entry is being computed that backing up would forget."""
        realization = self.realization
        for node in list(realization.evaluator.running):
            entry = realization.store.keys[node]
            assert isinstance(entry, AbstractHandle)
            if entry.allocated_at >= stage:
                raise NodeInUseError(
                    f"{realization.layout.path(entry)}: is being computed, and would be forgotten",
                    f"a change that leaves what was allocated at {entry.allocated_at}",
                    f"one after which nothing allocated from {Stage(stage)} on is left",
                    "do this outside of compute functions, and while no other thread reads",
                )

    def require(self, handle: AbstractHandle) -> None:
        """Raise `ForeignNodeError` unless it is a handle of this State."""
        if self.realization.is_torn:
            self.mend()
        keys = self.realization.store.keys
        if handle._node < len(keys) and keys[handle._node] is handle:
            return
        raise ForeignNodeError(
            f"{handle!r}: is not in this State",
            "the handle of an item that was allocated in it, or in another before this was copied",
            *self._why_foreign(handle),
        )

    def _why_foreign(self, handle: AbstractHandle) -> tuple[str, str]:
        """Return the last two parts of the error: what was got, and a hint."""
        owner = handle._owner
        if owner is None:
            return (
                "one of another State, or one allocated after the copy was made, or one that was "
                f"forgotten when the State backed up to {handle.allocated_at}",
                "use a State that has the item, or allocate it here and use its new handle",
            )
        theirs = getattr(owner, "_system", owner)
        if theirs is None or not theirs.topology_has_been_realized:
            hint = "make a State of its System: system.new_state()"
        else:
            hint = f"use a State of {theirs!r}: copy its default_state"
        if self.system is None:
            return "one that is declared, and a State without a System", hint
        if theirs is self.system and handle._node == NOWHERE and theirs.topology_has_been_realized:
            return "one that this model does not have", "look at exists= where it is declared"
        if theirs is self.system:
            return f"one that is declared, and a State of another topology of {theirs!r}", hint
        return f"one that is declared, and a State of {self.system!r}", hint

    # ------------------------------------------------------------------ vectors

    def view(self, kind: VectorKind, subsystem: int | None) -> Vector:
        """Return a read-only view of a vector."""
        if self.stage_of(subsystem) < kind.read_at:
            at = self.stage_of(subsystem)
            raise too_low(self._title(kind, subsystem), kind.read, self.who(subsystem), at)
        if self.realization.machine.stage < kind.exists_at:
            raise self._not_there(kind, subsystem)
        if self.observers:
            self._tell_view(kind, subsystem)
        return self.pools.view(kind, subsystem)

    def _tell_view(self, kind: VectorKind, subsystem: int | None) -> None:
        """Tell the observers of a read of a vector."""
        layout = self.realization.layout
        if kind.name in CONTINUOUS:
            whose = layout.variables if subsystem is None else layout.subsystems[subsystem].whole
            self._tell(whose[kind.name])
        elif kind.name == "y":
            self._tell(*[layout.variables[part] for part in CONTINUOUS])
        else:
            title = self._title(kind, subsystem)
            for observer in self.observers:
                observer.read_vector(kind, subsystem, title)

    def upd(self, kind: VectorKind, subsystem: int | None) -> Vector:
        """Return a writable view of a vector."""
        at = self.stage_of(subsystem)
        realization = self.realization
        if realization.machine.stage < kind.exists_at:
            raise self._not_there(kind, subsystem)
        if kind.is_variable:
            effect = realization.layout.write_set(kind, subsystem)
            store = realization.store
            while True:  # again, if a finalizer has computed something from the values of before
                computations = store.computations
                self._write(effect)
                view = self.pools.writable_view(kind, subsystem, at)
                if store.computations == computations:
                    return view
        else:
            if self._guard is FROZEN:
                self.require_unguarded(f"write access to {kind.name}")
            for observer in self.observers:
                observer.handed_out_vector(kind, subsystem)
        return self.pools.writable_view(kind, subsystem, at)

    def known_so_far(self, kind: VectorKind, subsystem: int) -> Vector:
        """Return a view of a computed vector for a hook, which may read it before its stage."""
        if self.observers:
            self._tell_view(kind, subsystem)
        return self.pools.view(kind, subsystem)

    def fill_vector(self, kind: VectorKind, subsystem: int, values: Vector) -> None:
        """Write all values of a computed vector for a hook, and hand out no view of it."""
        for observer in self.observers:
            observer.handed_out_vector(kind, subsystem)
        self.pools.write(kind, subsystem, values)

    def assign_vector(self, kind: VectorKind, subsystem: int | None, values: ArrayLike) -> None:
        """Write all values of a variable."""
        self.stage_of(subsystem)  # which mends, and refuses a subsystem that is not there any more
        if self.realization.machine.stage < kind.exists_at:
            raise self._not_there(kind, subsystem)
        place = self.pools.place(kind, subsystem)  # it stays: no vector is lost by its write
        shape = place.shape
        if not (type(values) is np.ndarray and values.dtype is FLOAT and values.shape == shape):
            values = converted(values, FLOAT, shape, self._title(kind, subsystem))
        store = self.realization.store
        effect = self.realization.layout.write_set(kind, subsystem)
        computations = store.computations
        self._write(effect)
        place[WHOLE] = values
        if store.computations != computations:  # a finalizer has read: from values of before
            self._write(effect)

    def _not_there(self, kind: VectorKind, subsystem: int | None) -> StagecacheError:
        at = self.realization.machine.stage
        return too_low(self._title(kind, subsystem), kind.exists, "the system", at)

    def _title(self, kind: VectorKind, subsystem: int | None) -> str:
        return kind.name if subsystem is None else f"{kind.name} of {self.who(subsystem)}"

    def size(self, part: str, subsystem: int | None) -> int:
        """Return the number of items of a part of the vectors: "q", "qerr", ..."""
        self._require_part(part, "the number of ", subsystem)
        return self.pools.size(part, subsystem)

    def start(self, part: str, subsystem: int | None) -> int:
        """Return the index at which it starts."""
        self._require_part(part, "the start of ", subsystem)
        return self.pools.start(part, subsystem)

    def _require_part(self, part: str, what: str, subsystem: int | None) -> None:
        """Check that a part of the vectors exists, and tell of the read of its size or start."""
        exists = Stage.MODEL if part in CONTINUOUS else Stage.INSTANCE
        self.stage_of(subsystem)  # which mends, and refuses a subsystem that is not there any more
        if self.realization.machine.stage < exists:
            whose = "" if subsystem is None else f" of {self.who(subsystem)}"
            at = self.realization.machine.stage
            raise too_low(f"{what}{part}{whose}", exists, "the system", at)
        if self.observers:
            self._tell(exists, title=what + part)

    # ------------------------------------------------------------------ event triggers

    def triggers(self, stage: Stage, subsystem: int | None) -> Vector:
        """Return a read-only view of the event triggers of a stage."""
        what = f"event triggers of stage {stage}"
        stage = self._trigger_stage(stage, what)
        self.require_stage(stage, subsystem, what)
        if self.observers:
            self._tell(max(stage, Stage.INSTANCE), title=what)
        self.complete_triggers()
        return self.pools.whole["event_triggers"][self.pools.trigger_slice(stage, subsystem)]

    def complete_triggers(self) -> None:
        """Compute declared triggers of stages that were realized without them."""
        if self.pools.lacks_triggers and self.system is not None:
            self.system._triggers.complete(self)

    def upd_triggers(self, stage: Stage, subsystem: int | None) -> Vector:
        """Return a writable view of them."""
        what = f"event triggers of stage {stage}"
        stage = self._trigger_stage(stage, what)
        self.require_not_frozen(f"write access to {what}")
        return self.pools.writable_triggers(stage, subsystem, self.stage_of(subsystem))

    def num_triggers(self, stage: Stage, subsystem: int | None) -> int:
        """Return the number of them."""
        stage = self._trigger_stage(stage, f"the number of event triggers of stage {stage}")
        if self.observers:
            self._tell(Stage.INSTANCE, title="the number of event triggers")
        part = self.pools.trigger_slice(stage, subsystem)
        return part.stop - part.start  # type: ignore[no-any-return]  # two integers

    def num_all_triggers(self) -> int:
        """Return the number of event triggers of all stages."""
        what = "the number of event triggers"
        self.require_stage(INSTANCE, None, what)
        if self.observers:
            self._tell(Stage.INSTANCE, title=what)
        return len(self.pools.whole["event_triggers"])

    def trigger_start(self, stage: Stage, subsystem: int | None) -> int:
        """Return where they start: the system's among all, a subsystem's among that stage's."""
        stage = self._trigger_stage(stage, f"the number of event triggers of stage {stage}")
        if self.observers:
            self._tell(Stage.INSTANCE, title="the start of event triggers")
        if subsystem is None:
            return self.pools.trigger_slice(stage, None).start  # type: ignore[no-any-return]  # an integer
        return self.pools.trigger_starts[stage][subsystem]

    def _trigger_stage(self, stage: Stage, what: str) -> Stage:
        """Check a stage, and that there are event triggers."""
        stage = check_stage(stage, Stage.EMPTY, Stage.INFINITY, what)
        self.require_stage(INSTANCE, None, what)
        return stage

    # ------------------------------------------------------------------ blocks of q, u and z

    def get_block(self, variable: AbstractContinuousVariable) -> Vector:
        """Return a read-only view of a block, or of a whole q, u or z."""
        place = self._place(variable)
        if self.observers:
            self._tell(variable)
        return self.pools.y[place]

    def upd_block(self, variable: AbstractContinuousVariable) -> Vector:
        """Return a writable view of it."""
        place = self._place(variable)
        kind = CONTINUOUS[variable.kind]
        if variable.subsystem is None:
            return self.upd(kind, None)
        store = self.realization.store
        effect = self.realization.layout.write_set_of(variable)
        while True:  # as in `upd`
            computations = store.computations
            self._write(effect)
            view = self.pools.writable_block(kind, variable.subsystem, place)
            if store.computations == computations:
                return view

    def set_block(self, variable: AbstractContinuousVariable, values: ArrayLike) -> None:
        """Write all its values."""
        place = self._place(variable)
        shape = (place.stop - place.start,)
        if not (type(values) is np.ndarray and values.dtype is FLOAT and values.shape == shape):
            values = converted(values, FLOAT, shape, self._path(variable))
        store = self.realization.store
        effect = self.realization.layout.write_set_of(variable)
        computations = store.computations
        self._write(effect)
        self.pools.write_y(place, values)
        if store.computations != computations:  # as in `assign_vector`
            self._write(effect)

    def set_scalar(self, variable: AbstractContinuousVariable, value: object) -> None:
        """Write its only value."""
        place = self._place(variable)
        if type(value) is not float:
            value = float(converted(value, FLOAT, (), self._path(variable)))
        store = self.realization.store
        effect = self.realization.layout.write_set_of(variable)
        computations = store.computations
        self._write(effect)
        self.pools.write_item(place.start, value)
        if store.computations != computations:  # as in `assign_vector`
            self._write(effect)

    def place(self, variable: AbstractContinuousVariable) -> slice:
        """Return its place in y."""
        place = self._place(variable)
        if self.observers:
            self._tell(Stage.MODEL, title=f"the place of {variable}")
        return place

    def _place(self, variable: AbstractContinuousVariable) -> slice:
        self.require(variable)
        if self.realization.machine.stage < MODEL:
            raise self._not_there(CONTINUOUS[variable.kind], variable.subsystem)
        return self.pools.places[variable._node]

    def _path(self, variable: AbstractHandle) -> str:
        return self.realization.layout.path(variable)

    # ------------------------------------------------------------------ time

    def set_time(self, time: object, variable: AbstractHandle) -> None:
        """Write the time."""
        self.require(variable)
        self.require_stage(TOPOLOGY, None, "time")
        value = time if type(time) is float else float(converted(time, FLOAT, (), "time"))
        nodes = [self.realization.layout.stages[TIME], variable._node]
        store = self.realization.store
        computations = store.computations
        self.invalidate(TIME, variable, nodes)
        self.time = value
        if store.computations != computations:  # as in `assign_vector`
            self.invalidate(TIME, variable, nodes)

    def write_time_and_y(self, time: float, y: Vector) -> None:
        """Write both, at Model or later: backs up once, and for the time only if it is another."""
        if self.realization.is_torn:
            self.mend()
        realization = self.realization
        if self.observers:  # are told of one after the other
            if time != self.time:
                self.set_time(time, realization.layout.variables["time"])
            self.assign_vector(Y, None, y)
            return
        layout, store, causes = realization.layout, realization.store, realization.causes
        effect = layout.write_set(Y, None)
        nodes = effect.nodes
        first = POSITION
        if time != self.time:
            first = TIME
            handle = layout.variables["time"]
            nodes = [layout.stages[TIME], handle._node, *nodes]
        try:
            realization.is_busy = realization.is_torn = True
            backs_up = realization.machine.highest >= first
            if backs_up:
                realization.backing_up = first - 1  # as in `_invalidate`
            store.write_all(nodes)
            if first == TIME:
                causes[TIME] = (store.clock, handle)
            causes[POSITION] = (store.clock, effect.cause)
            if backs_up:
                realization.back_up(first - 1)
            self.time = time  # last: if an error strikes, nothing stale is valid
            self.pools.write_y(WHOLE, y)
            realization.is_busy = realization.is_torn = False
        except BaseException:
            realization.is_busy = False
            raise

    def get_time(self, variable: AbstractHandle) -> float:
        """Return the time, at any stage."""
        self.require(variable)
        if self.observers:
            self._tell(variable)
        return self.time

    def read_time(self) -> float:
        """Return the time, from Topology on."""
        self.require_stage(TOPOLOGY, None, "time")
        if self.observers:
            self._tell(self.realization.layout.variables["time"])
        return self.time

    # ------------------------------------------------------------------ copies

    def copy(self, bind: Callable[[int], Arguments]) -> "Contents":
        """Return contents for a copy of the State; `State.copy` says what comes along."""
        if self.observers:
            self._tell(title="a copy of the State")
        if self.realization.is_torn:
            self.mend()
        self._refuse_dangling()
        twin = self._twin(self.realization.copy(bind), self.pools.copy())
        store = twin.realization.store
        store.values = duplicates(store.values, self.handed_out, self._name_of)
        return self._observe_copy(twin)

    def clone(self, bind: Callable[[int], Arguments]) -> "Contents":
        """Return contents for a State in the same state; `State.copy` says what that is."""
        if self.observers:
            self._tell(title="a copy of the State")
        if self.realization.is_torn:
            self.mend()
        if self._guard is REALIZING:
            self.require_unguarded("copy(keep_cache=True)")
        twin = self._twin(self.realization.clone(bind), self.pools.copy(with_caches=True))
        store, layout = twin.realization.store, twin.realization.layout
        changeable = self.handed_out | {  # an update value becomes the value of a variable
            variable._update._node
            for subsystem in layout.subsystems
            for variable in subsystem.auto_update
            if variable._update is not None
        }
        is_computed = [  # which are replaced, and never changed
            function is not NO_FUNCTION and node not in changeable
            for node, function in enumerate(layout.functions)
        ]
        others = [None if c else v for c, v in zip(is_computed, store.values, strict=True)]
        copies = duplicates(others, self.handed_out, self._name_of)
        store.values = [
            value if computed else copied
            for computed, value, copied in zip(is_computed, store.values, copies, strict=True)
        ]
        return self._observe_copy(twin)

    def _twin(self, realization: Realization, pools: Pools) -> "Contents":
        twin = Contents(realization, self.system)
        if self.outdated_by:
            twin.outdate(self.outdated_by)
        twin.pools = pools
        twin.time = self.time
        twin.update_times = self.update_times.copy()
        return twin

    def assign(self, other: "Contents") -> object:
        """Become `other`, which is used nowhere else, and return the former realization.

        Version numbers exceed all that were given in either.
        """
        before = self.realization
        other.realization.is_busy = other.realization.is_torn = True
        other.realization.exceed(self.realization)
        self.pools.assign(other.pools)
        self.realization = other.realization
        self.system = other.system
        self.guard = other.guard
        self.outdated_by = other.outdated_by
        self.time = other.time
        self.update_times = other.update_times
        self.handed_out = other.handed_out
        return before

    def _name_of(self, node: int) -> str:
        key = self.realization.store.keys[node]
        assert isinstance(key, AbstractHandle)  # no other node has a value
        return self.realization.layout.path(key)

    def _refuse_dangling(self) -> None:
        """Refuse a copy that would leave out a prerequisite of something in it."""
        realization = self.realization
        structure = realization.store.structure
        stages = realization.machine.stages  # what was allocated at these is left out
        for x, subsystem in enumerate(realization.layout.subsystems):
            for handle in subsystem.items() if stages[x] < INSTANCE else ():
                if handle.allocated_at < stages[x]:
                    continue
                for node in structure.dependents[handle._node]:
                    entry = structure.keys[node]
                    assert isinstance(entry, CacheEntry)
                    if entry.allocated_at < stages[entry.subsystem or 0]:
                        path = realization.layout.path(handle)
                        raise PrerequisiteStageError(
                            f"{path}: would not be in the copy, but what depends on it would",
                            "a subsystem that has advanced over what others depend on",
                            f"{realization.layout.path(entry)} depends on it; it was allocated "
                            f"at {handle.allocated_at}, where its subsystem still is",
                            "advance that subsystem one stage, then copy",
                        )

    # ------------------------------------------------------------------ discrete variables

    def get_discrete(self, variable: DiscreteVariable[Any]) -> Any:
        """Return the value."""
        self.require(variable)
        if self.observers:
            self._tell(variable)
        return self.realization.store.values[variable._node]

    def update_time(self, variable: DiscreteVariable[Any]) -> float:
        """Return the time of the last write; NaN if it was never written."""
        self.require(variable)
        if self.observers:
            self._tell(variable)
        return self.update_times.get(variable._node, NAN)

    def set_discrete(self, variable: DiscreteVariable[Any], value: object) -> None:
        """Replace the value."""
        self.require(variable)
        value = snapshot(value, variable)
        store = self.realization.store
        computations = store.computations
        self._count_write_of_discrete(variable)
        before = replace(store.values, variable._node, value)
        self.handed_out.discard(variable._node)
        if store.computations != computations:  # as in `assign_vector`
            self._count_write_of_discrete(variable)
        let_go(before)

    def upd_discrete(self, variable: DiscreteVariable[Any]) -> Any:
        """Return the value to be changed in place."""
        self.require(variable)
        store = self.realization.store
        while True:  # as in `upd`
            computations = store.computations
            self._count_write_of_discrete(variable)
            value = self._changeable(variable)
            if isinstance(value, np.ndarray):
                self.pools.writable_values[variable._node] = value
                self.pools.is_open = True
            if store.computations == computations:
                break
        if self.observers:
            self._tell_handed_out(variable)
        return value

    def _count_write_of_discrete(self, variable: DiscreteVariable[Any]) -> None:
        stage = variable.invalidates
        nodes = [self.realization.layout.stages[stage], variable._node]
        self.invalidate(stage, variable, nodes)
        if variable._update is not None:
            self.discard(variable._update._node, variable)
        self.update_times[variable._node] = self.time

    def auto_update(self) -> None:
        """Swap each discrete variable with its update value, if the update value is valid."""
        around_compute(self.observers, self._auto_update)

    def _auto_update(self) -> None:
        self.require_unguarded("auto_update_discrete_variables()")
        store = self.realization.store
        self.pools.seal()
        due = []
        for subsystem in self.realization.layout.subsystems:
            for variable in subsystem.auto_update:
                assert variable._update is not None
                node = variable._update._node
                if self._was_computed(node) and not store.is_valid(node):
                    self.realization.evaluator.evaluate(node)
                if store.is_valid(node):
                    due.append(variable)
        for variable in due:
            assert variable._update is not None
            self.exchange(variable, variable._update._node)

    def exchange(self, variable: DiscreteVariable[Any], update: int) -> None:
        """Exchange a discrete variable with its update value, which is at that node."""
        act = partial(self._exchange, variable, update)
        around_write(self.observers, variable, [update, variable._node], act)

    def _exchange(self, variable: DiscreteVariable[Any], update: int) -> None:
        store = self.realization.store
        node = variable._node
        seal(self.pools.writable_entries.pop(update, None))
        store.invalidate(update)
        store.write(node)
        store.values[node], store.values[update] = store.values[update], store.values[node]
        self.handed_out.update((node, update) if self.handed_out & {node, update} else ())
        self.update_times[node] = self.time

    def _was_computed(self, node: int) -> bool:
        """Return True if an entry can be computed, and was since it was last invalidated."""
        realization = self.realization
        return (
            realization.store.marks[node] >= 0
            and realization.layout.functions[node] is not NO_FUNCTION
            and not realization.store.is_closed(node)
        )

    # ------------------------------------------------------------------ cache entries

    def read_stale(self, entry: CacheEntry[Any]) -> Any:
        """Return the value of an entry, computed if it is not valid; or raise why it cannot be."""
        if self.observers:
            for observer in self.observers:
                observer.reading(entry)
            return self._read_observed(entry, self._read_stale)
        return self._read_stale(entry)

    def _read_observed(self, entry: CacheEntry[Any], read: Callable[[CacheEntry[Any]], Any]) -> Any:
        self.require(entry)
        if not self.realization.store.is_valid(entry._node):
            return around_read(self.observers, entry, partial(read, entry))
        for observer in self.observers:
            observer.read_valid(entry)
        return self.realization.store.values[entry._node]

    def _read_stale(self, entry: CacheEntry[Any]) -> Any:
        self.require(entry)
        realization = self.realization
        store = realization.store
        node = entry._node
        gate = store.gates[store.group_of[node]]
        if store.marks[node] >= gate:  # the State is observed, or was until just now
            return store.values[node]
        if (
            gate > SHUT
            or self._guard is FROZEN
            or self.outdated_by
            or realization.layout.functions[node] is NO_FUNCTION
        ):
            raise self._why_not_computed(entry)
        self._seal_variables()
        return realization.evaluator.evaluate(node)

    def _why_not_computed(self, entry: CacheEntry[Any]) -> StagecacheError:
        """Return the error of a read of an entry that is not valid and cannot be computed."""
        realization = self.realization
        if self._guard is FROZEN:
            return CacheEntryOutOfDateError(
                f"{realization.layout.path(entry)}: is not valid",
                "an entry that was valid when frozen() was called",
                FROZEN.reason,
                FROZEN.hint,
            )
        if self.outdated_by:
            return TopologyVersionError(
                f"{realization.layout.path(entry)}: cannot be computed any more",
                f"a State of topology version {self.system.topology_cache_version}",
                f"{OUTDATED.reason}: {self.outdated_by}",
                OUTDATED.hint,
            )
        return why_not_valid(realization, entry, in_hook=self._guard is REALIZING)

    def _seal_variables(self) -> None:
        """Seal views that were handed out for writing, as something is computed from them.

        In a hook these are caches of earlier subsystems, which are sealed at its end.
        """
        pools = self.pools
        if (pools.writable or pools.writable_values) and self._guard is not REALIZING:
            pools.seal()

    def get_entry(self, entry: CacheEntry[Any]) -> Any:
        """Return the value; never compute it."""
        if self.observers:
            return self._read_observed(entry, self._get_entry)
        return self._get_entry(entry)

    def _get_entry(self, entry: CacheEntry[Any]) -> Any:
        self.require(entry)
        store = self.realization.store
        if not store.is_valid(entry._node):
            raise why_not_valid(self.realization, entry)
        return store.values[entry._node]

    def set_entry(self, entry: CacheEntry[Any], value: object) -> None:
        """Store a value, without marking it as valid."""
        self.require(entry)
        self.require_not_frozen("storing a value")
        own = snapshot(value, entry)
        self.realization.store.renounce(entry._node)
        replace(self.realization.store.values, entry._node, own)
        self.handed_out.discard(entry._node)
        if self.observers:
            self._tell_handed_out(entry)

    def upd_entry(self, entry: CacheEntry[Any]) -> Any:
        """Return the value to be changed in place, valid or not."""
        self.require(entry)
        self.require_not_frozen("write access to a cache entry")
        self.realization.store.renounce(entry._node)
        value = self._changeable(entry)
        if isinstance(value, np.ndarray):
            self.pools.writable_entries[entry._node] = value
            self.pools.is_open = True
        if self.observers:
            self._tell_handed_out(entry)
        return value

    def is_valid(self, entry: CacheEntry[Any]) -> bool:
        """Return True if the entry is valid."""
        self.require(entry)
        return self.realization.store.is_valid(entry._node)

    def mark(self, entry: CacheEntry[Any]) -> None:
        """Count the value as computed now."""
        self.require(entry)
        reached = self.realization.machine.stages[entry.subsystem or 0]
        if reached < entry.available_from - 1:
            what = f"{self.realization.layout.path(entry)} to be marked as realized"
            raise too_low(what, entry.available_from - 1, self.who(entry.subsystem), reached)
        self._seal_variables()
        self.require_not_frozen("marking an entry as realized")
        store = self.realization.store
        if self.pools.writable_entries:
            seal(self.pools.writable_entries.pop(entry._node, None))
        store.mark_valid(entry._node)
        for observer in self.observers:
            observer.marked(entry)

    def unmark(self, entry: CacheEntry[Any]) -> None:
        """Discard the value of an entry, and of all that depends on it."""
        self.require(entry)
        self.require_not_frozen("invalidating an entry")
        self.discard(entry._node, entry)

    def discard(self, node: int, cause: object) -> None:
        """Make the entry at a node stale, and all that depends on it."""
        act = partial(self.realization.store.invalidate, node)
        around_write(self.observers, cause, [node], act)

    def _changeable(self, item: AbstractHandle) -> Any:
        node = item._node
        values = self.realization.store.values
        value = values[node]
        if type(value) in IMMUTABLE:
            return value
        if isinstance(value, np.ndarray):
            if not value.flags.writeable:  # copies of the State share it
                value = independent_copy(value)
                replace(values, node, value)
        elif node not in self.handed_out and (
            self.checkpoints  # which keep the value of before
            or self.realization.layout.functions[node] is not NO_FUNCTION  # copies share it
        ):
            value = duplicate(value)
            replace(values, node, value)
        self.handed_out.add(node)
        return value

    # ------------------------------------------------------------------ handles

    def variable(self, name: object, subsystem: int | None) -> AbstractHandle:
        """Return the handle of the time, or of a whole q, u or z."""
        layout = self.realization.layout
        handles = layout.variables if subsystem is None else layout.subsystems[subsystem].whole
        if isinstance(name, str) and name in handles:
            return handles[name]
        raise UnknownItemError(
            f"variable {short_repr(name)} of {self.who(subsystem)}: does not exist",
            "one of " + ", ".join(map(repr, handles)),
            short_repr(name),
            "use the handle that the allocating call returned for any other",
        )

    def require_of(self, handle: AbstractHandle, subsystem: int) -> None:
        """Raise as `require` does, also unless it is the handle of an item of that subsystem."""
        self.require(handle)
        if handle.subsystem != subsystem:
            raise UnknownItemError(
                f"{self.realization.layout.path(handle)}: belongs to another subsystem",
                f"an item of {self.who(subsystem)}",
                f"one of {self.who(handle.subsystem)}",
                f"use state[{handle.subsystem}]",
            )

    def version(self, handle: AbstractHandle) -> int:
        """Return the version of the present value."""
        self.require(handle)
        if self.observers:
            self._tell(handle)
        return self.realization.store.versions[handle._node]

    def dependents(self, handle: AbstractHandle) -> tuple[CacheEntry[Any], ...]:
        """Return the entries that name it as a prerequisite, in order of subsystem and index."""
        self.require(handle)
        structure = self.realization.store.structure
        found = [structure.keys[node] for node in structure.dependents[handle._node]]
        entries = [entry for entry in found if isinstance(entry, CacheEntry)]
        return tuple(sorted(entries, key=lambda entry: (entry.subsystem, entry.index)))

    def prerequisites(self, entry: CacheEntry[Any]) -> tuple[AbstractHandle, ...]:
        """Return the variables and entries that it names."""
        self.require(entry)
        structure = self.realization.store.structure
        found = [structure.keys[node] for node in structure.prerequisites[entry._node]]
        return tuple([handle for handle in found if isinstance(handle, AbstractHandle)])


class HasContents(Protocol):
    """A State, or a part of one."""

    @property
    def _contents(self) -> Contents: ...
