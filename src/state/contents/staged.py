"""How a State moves from stage to stage: forwards by realizing, backwards by writing."""

from collections.abc import Callable, Sequence
from threading import get_ident
from typing import Any, Final

import attrs

from stagecache.errors import ForeignNodeError, NodeInUseError, ReadOnlyError, StageOrderError
from stagecache.graph.releasing import let_go
from stagecache.state.contents.pools import Pools
from stagecache.state.handles import AbstractHandle
from stagecache.state.items.realization import Realization
from stagecache.state.refusals import too_low
from stagecache.state.stage import Stage

EMPTY, TOPOLOGY, MODEL, INSTANCE, TIME = list(Stage)[:5]
NAN = float("nan")


@attrs.frozen
class Guard:
    """Why a State must not be written now, and what to do instead."""

    reason: str
    hint: str


DEFAULT: Final = Guard(
    "the default State of a System, which is only for reading and for copying",
    "write into a copy: state = system.default_state.copy()",
)
REALIZING: Final = Guard(
    "a State that is being realized",
    "let hooks and computations fill caches only; write before realize(), or after it",
)
COMPUTING: Final = Guard(
    "a State of a System, in which an entry is being computed",
    "let computations return values only; write before the entry is read, or after it",
)


FROZEN: Final = Guard(
    "a frozen State, in which nothing is written and nothing computed",
    "realize it and read the entry before frozen(); or use frozen_state.copy(keep_cache=True)",
)
OUTDATED: Final = Guard(
    "a State of an older topology of its System, which was changed since",
    "call realize_topology() of the System, and copy the State that it returns",
)


class AbstractStaged:
    """What is in a State, as far as stages go.

    Attributes
    ----------
    realization : Realization
    pools : Pools
    time : float
        NaN before Topology is realized.
    update_times : dict of int to float
        By node of a discrete variable: when it was last written; not there if it never was.
    handed_out : set of int
        By node: whose array was handed out to be changed, so that a slice of it may be about.
    system : object
        The System whose State it is; None if it was made by hand.
    guard : Guard or None
        Why it must not be written, if it must not.
    outdated_by : str
        The change of its System that made it useless, if one did.
    checkpoints : list of tuple
        To which it may go back, the first one first: a weak reference, and what was kept.
    watch : Watch or None
        What watches its reads, in strict mode.
    tracer : Tracer or None
        What notes all that is done with it, while it is traced.
    unfinished : callable or None
        What was begun and must be done to its end: a rollback, or an assignment.
    """

    __slots__ = (
        "checkpoints",
        "guard",
        "handed_out",
        "outdated_by",
        "pools",
        "realization",
        "system",
        "time",
        "tracer",
        "unfinished",
        "update_times",
        "watch",
    )

    def __init__(self, realization: Realization, system: Any = None) -> None:
        self.realization = realization
        self.system = system
        self.guard: Guard | None = None
        self.outdated_by = ""
        self.pools = Pools()
        self.time = NAN
        self.update_times: dict[int, float] = {}
        self.handed_out: set[int] = set()
        self.watch: Any = None
        self.tracer: Any = None
        self.checkpoints: list[tuple[Any, Any]] = []
        self.unfinished: Callable[[], object] | None = None

    # ------------------------------------------------------------------ errors in the middle

    def finish(self, what: Callable[[], object]) -> None:
        """Do what, once begun, must be done to its end, and can be done again from its beginning.

        If an error cuts it short, the next operation does it. It returns what it has replaced: that
        is let go of at last, since finalizers may look at the State.
        """
        try:
            self.unfinished = what
            before = what()
            self.unfinished = None
        except BaseException:
            self.realization.is_torn = True
            raise
        let_go(before)

    def mend(self) -> None:
        """Make good what an operation that was cut short by an error has left. Cost O(items)."""
        if self.unfinished is not None:
            self.finish(self.unfinished)
        self.realization.mend()
        self._drop_unreached()

    def stage_of(self, subsystem: int | None) -> int:
        """The stage of a subsystem, or of the system."""
        realization = self.realization
        if realization.is_torn:
            self.mend()
            realization = self.realization
        return (
            realization.machine.stage
            if subsystem is None
            else realization.machine.stages[subsystem]
        )

    def trace_of_write(self, node: int) -> tuple[int, str, int] | None:
        """The version before the last write of a variable, its file and line, if it was traced."""
        if self.tracer is None:
            return None
        found: tuple[int, str, int] | None = self.tracer.last_write(node)
        return found

    def who(self, subsystem: int | None) -> str:
        """What messages call it."""
        return self.realization.layout.label(subsystem)

    def require_stage(self, needed: int, subsystem: int | None, what: str) -> None:
        """Raise `StageTooLowError` unless the system, or a subsystem, has reached that stage."""
        if self.stage_of(subsystem) < needed:
            raise too_low(what, needed, self.who(subsystem), self.stage_of(subsystem))

    def advance(self, stage: Stage, subsystem: int | None) -> None:
        """Let a subsystem, or the system, reach the stage after its present one."""
        realization = self.realization
        at = self.stage_of(subsystem)
        if stage != at + 1:
            raise StageOrderError(
                f"{self.who(subsystem)}: cannot advance to {stage}",
                f"one stage at a time: {Stage(at + 1)}"
                if at < Stage.REPORT
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

    def invalidate(self, stage: Stage, cause: object, nodes: Sequence[int]) -> None:
        """Count a change of a stage, and of variables; back up before the stage.

        To be called before a value changes: if an error cuts this short, what is valid is right,
        and the next operation backs up.

        Parameters
        ----------
        cause : object
            The handle of what was written, or text that says what happened.
        nodes : sequence of int
            Those of the stage and of the variables that were written; each has a new version.
        """
        realization = self.realization
        if realization.is_torn:
            self.mend()
        if self.guard is not None or realization.evaluator.running:
            cause = realization.layout.path(cause) if isinstance(cause, AbstractHandle) else cause
            self.require_unguarded(f"a write of {cause}")
        if stage <= INSTANCE:
            self.refuse_to_forget_what_is_computed(stage - 1)
        if realization.machine.highest < stage:
            realization.touch(stage, cause, nodes)
            return
        try:
            realization.backing_up = stage - 1  # if an error strikes, this is finished later
            realization.touch(stage, cause, nodes)
            layout = realization.layout
            if stage <= MODEL <= realization.machine.stage:
                realization.store.write_all(layout.variable_nodes("y", None))
            if stage <= TOPOLOGY <= realization.machine.stage:
                realization.store.write(layout.variables["time"]._node)
            realization.back_up(stage - 1)
            if stage <= INSTANCE:
                self._drop_unreached()
        except BaseException:
            realization.is_torn = True
            raise

    def _drop_unreached(self) -> None:
        """Drop the values that are there only once Topology, Model or Instance is realized."""
        reached = self.realization.machine.stage
        if reached < INSTANCE:
            self.pools.drop(MODEL if reached < MODEL else INSTANCE)
        if reached < TOPOLOGY:
            self.time = NAN

    def is_computing_here(self) -> bool:
        """Whether this thread computes an entry of the State now."""
        running = self.realization.evaluator.running
        return bool(running) and get_ident() in list(running.values())

    def guarded(self, guard: Guard | None, act: Callable[[], Any]) -> Any:
        """Call a function while the State has a guard, and return what that returns.

        It has the guard of before again, whatever strikes in the meantime: a context manager would
        keep the other one if Control-C came when it is entered or left.
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
        guard = self.guard
        if guard is None and self.system is not None and self.realization.evaluator.running:
            guard = COMPUTING
        if guard is not None:
            expected = "a State that may be changed now"
            raise ReadOnlyError(f"{what}: is refused", expected, guard.reason, guard.hint)

    def require_not_frozen(self, what: str) -> None:
        """Raise `ReadOnlyError` if nothing may be computed, either."""
        if self.guard is FROZEN:
            self.require_unguarded(what)

    def outdate(self, change: str) -> None:
        """Let nothing be written or computed any more: the System has changed."""
        self.guard = OUTDATED
        self.outdated_by = self.outdated_by or change
        self.realization.store.invalidate_all()

    def invalidate_explicitly(self, stage: Stage) -> None:
        """The same without a write; does nothing if nobody is at that stage."""
        if self.realization.is_torn:
            self.mend()
        if self.realization.machine.highest >= stage:
            nodes = (self.realization.layout.stages[stage],)
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
        """What was got, and what to do."""
        owner = handle._owner
        if owner is None:
            return (
                "one of another State, or one allocated after the copy was made, or one that was "
                f"forgotten when the State backed up to {handle.allocated_at}",
                "use a State that has the item, or allocate it here and use its new handle",
            )
        theirs = getattr(owner, "_system", owner)
        if theirs is None or not theirs.topology_has_been_realized:
            hint = "call realize_topology() of its System, and copy the State that it returns"
        else:
            hint = f"use a State of {theirs!r}: copy its default_state"
        if self.system is None:
            return "one that is declared, and a State without a System", hint
        if theirs is self.system:
            return f"one that is declared, and a State of another topology of {theirs!r}", hint
        return f"one that is declared, and a State of {self.system!r}", hint
