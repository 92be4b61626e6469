"""Noticing all that happens to a State, while it is traced; free when it is not.

As in strict mode (`watching`), handles are given an empty store to look into, so that they ask the
contents, whose class is exchanged for one that notes what it is asked; the two go together::

                  not strict         strict
    not traced    Contents           WatchedContents
    traced        TracedContents     TracedWatchedContents

Computations that the evaluator begins on its own are noticed, too: its functions are wrapped.
"""

from collections.abc import Callable
from typing import Any, final

from stagecache.graph.evaluation import Arguments
from stagecache.inspection.trace.tracer import Tracer, node_of
from stagecache.inspection.watched_contents import WatchedContents
from stagecache.state.contents.contents import Contents
from stagecache.state.contents.staged import REALIZING, AbstractStaged, Guard
from stagecache.state.handles import (
    AbstractContinuousVariable,
    AbstractHandle,
    CacheEntry,
    DiscreteVariable,
    Vector,
)
from stagecache.state.stage import Stage
from stagecache.state.vectors.vectors import CONTINUOUS, VectorKind

GUARD: Any = vars(AbstractStaged)["guard"]


class TracedContents(Contents):
    """The same contents, of which all is noted that is done with them.

    As `WatchedContents`, it says neither super() nor the name of a method of its own: another
    thread may put the class back while this one is in a method of it.
    """

    __slots__ = ()

    # ------------------------------------------------------------------ stages

    def _set_guard(self, guard: Guard | None) -> None:
        GUARD.__set__(self, guard)  # which is all that a System says about realizing
        if self.tracer is not None:
            self.tracer.realizing(is_on=guard is REALIZING)

    guard = property(GUARD.__get__, _set_guard)

    def advance(self, stage: Stage, subsystem: int | None) -> None:
        """Let a subsystem, or the system, reach the stage after its present one."""
        Contents.advance(self, stage, subsystem)
        if self.tracer is not None and GUARD.__get__(self) is not REALIZING:
            self.tracer.advanced(stage, subsystem)

    # ------------------------------------------------------------------ writes

    def invalidate(self, stage: Stage, cause: object, nodes: Any) -> None:
        """Count a change of a stage, and of variables; back up before the stage."""
        tracer: Tracer | None = self.tracer
        if tracer is None:
            Contents.invalidate(self, stage, cause, nodes)
            return
        realization = self.realization
        before = realization.machine.stage
        version = realization.store.versions[node_of(cause, nodes)]
        reach = tracer.reach(nodes)  # of which some may be forgotten
        Contents.invalidate(self, stage, cause, nodes)
        tracer.wrote(cause, nodes, reach, version, before)

    def _count_write_of_discrete(self, variable: DiscreteVariable[Any]) -> None:
        Contents._count_write_of_discrete(self, variable)
        if variable._update is not None and self.tracer is not None:
            self.tracer.invalidated(variable, (variable._update._node,))

    def auto_update(self) -> None:
        """Exchange each discrete variable with its update value, if that is realized."""
        tracer: Tracer | None = self.tracer
        if tracer is None:
            _under(self).auto_update(self)
            return
        versions = self.realization.store.versions
        subsystems = self.realization.layout.subsystems
        before = {v: versions[v._node] for s in subsystems for v in s.auto_update}
        tracer.wrap()
        _under(self).auto_update(self)
        versions = self.realization.store.versions
        stage = self.realization.machine.stage
        for variable, version in before.items():
            if versions[variable._node] != version:
                assert variable._update is not None
                nodes = (variable._update._node, variable._node)
                tracer.wrote(variable, nodes, tracer.reach(nodes), version, stage)

    def mark(self, entry: CacheEntry[Any]) -> None:
        """Count the value as computed now."""
        Contents.mark(self, entry)
        if self.tracer is not None:
            self.tracer.valid.add(entry)

    def unmark(self, entry: CacheEntry[Any]) -> None:
        """Make it, and all that depends on it, unrealized."""
        Contents.unmark(self, entry)
        if self.tracer is not None:
            self.tracer.invalidated(entry, (entry._node,))

    def assign(self, other: Contents) -> object:
        """Become `other`, which nobody else has."""
        at = self.realization.machine.stage
        if self.tracer is not None:
            self.tracer.unwrap()  # checkpoints may keep what was there until now
        before = Contents.assign(self, other)
        if self.tracer is not None:
            self.tracer.replaced("assign()", at)
        return before

    def outdate(self, change: str) -> None:
        """Let nothing be written or computed any more: the System has changed."""
        Contents.outdate(self, change)
        if self.tracer is not None:
            self.tracer.replaced(
                f"a change of the System: {change}", self.realization.machine.stage
            )

    # ------------------------------------------------------------------ reads of entries

    def read_stale(self, entry: CacheEntry[Any]) -> Any:
        """Return the value of an entry, computing it if it is not valid."""
        tracer: Tracer | None = self.tracer
        if tracer is None:  # another thread has just left
            return _under(self).read_stale(self, entry)
        if self.watch is None:
            store = self.realization.store
            node = entry._node
            keys = store.keys
            if (
                node < len(keys)
                and keys[node] is entry
                and store.marks[node] >= store.gates[store.group_of[node]]
            ):
                tracer.hit(entry)
                return store.values[node]
        tracer.missing(entry)
        under = Contents if self.watch is None else WatchedContents
        value = under.read_stale(self, entry)
        tracer.hit(entry)  # it is as it was, another thread has computed it, or it was computed
        return value

    def get_entry(self, entry: CacheEntry[Any]) -> Any:
        """Return the value; never compute it."""
        value = _under(self).get_entry(self, entry)
        tracer: Tracer | None = self.tracer
        if tracer is not None:
            tracer.hit(entry)
        return value

    # ------------------------------------------------------------------ reads of all else

    def copy(self, bind: Callable[[int], Arguments]) -> Contents:
        """Return those of a copy of the State, in which nothing is noted."""
        _note_read(self, "a copy of the State")
        return _under(self).copy(self, bind)

    def clone(self, bind: Callable[[int], Arguments]) -> Contents:
        """Return those of a State in the same state, in which nothing is noted."""
        _note_read(self, "a copy of the State")
        return _under(self).clone(self, bind)

    def version(self, handle: AbstractHandle) -> int:
        """The number of the present value."""
        _note_read(self, handle)
        return _under(self).version(self, handle)

    def update_time(self, variable: DiscreteVariable[Any]) -> float:
        """When it was last written; NaN if it never was."""
        _note_read(self, variable)
        return _under(self).update_time(self, variable)

    def get_discrete(self, variable: DiscreteVariable[Any]) -> Any:
        """Return the value."""
        value = _under(self).get_discrete(self, variable)
        _note_read(self, variable)
        return value

    def get_block(self, variable: AbstractContinuousVariable) -> Vector:
        """A read-only view of a block, or of a whole q, u or z."""
        values = _under(self).get_block(self, variable)
        _note_read(self, variable)
        return values

    def get_time(self, variable: AbstractHandle) -> float:
        """The time, at any stage."""
        time = _under(self).get_time(self, variable)
        _note_read(self, variable)
        return time

    def read_time(self) -> float:
        """The time, from Topology on."""
        time = _under(self).read_time(self)
        _note_read(self, self.realization.layout.variables["time"])
        return time

    def view(self, kind: VectorKind, subsystem: int | None) -> Vector:
        """A read-only view of a vector."""
        values = _under(self).view(self, kind, subsystem)
        layout = self.realization.layout
        if kind.name == "y":
            _note_read(self, *[layout.variables[part] for part in CONTINUOUS])
        elif kind.name in CONTINUOUS:
            whose = layout.variables if subsystem is None else layout.subsystems[subsystem].whole
            _note_read(self, whose[kind.name])
        else:
            _note_read(self, self._title(kind, subsystem))
        return values

    def size(self, part: str, subsystem: int | None) -> int:
        """The number of items of a part of the vectors: "q", "qerr", ..."""
        _note_read(self, f"the number of {part}")
        return _under(self).size(self, part, subsystem)

    def start(self, part: str, subsystem: int | None) -> int:
        """Where it starts."""
        _note_read(self, f"the start of {part}")
        return _under(self).start(self, part, subsystem)

    def triggers(self, stage: Stage, subsystem: int | None) -> Vector:
        """A read-only view of the event triggers of a stage."""
        _note_read(self, "event triggers")
        return _under(self).triggers(self, stage, subsystem)

    def num_triggers(self, stage: Stage, subsystem: int | None) -> int:
        """How many there are."""
        _note_read(self, "the number of event triggers")
        return _under(self).num_triggers(self, stage, subsystem)

    def num_all_triggers(self) -> int:
        """How many there are of all stages."""
        _note_read(self, "the number of event triggers")
        return _under(self).num_all_triggers(self)

    def trigger_start(self, stage: Stage, subsystem: int | None) -> int:
        """Where they start: the system's among all, a subsystem's among those of that stage."""
        _note_read(self, "the start of event triggers")
        return _under(self).trigger_start(self, stage, subsystem)


@final
class TracedWatchedContents(TracedContents, WatchedContents):  # type: ignore[misc]  # final for users
    """The same for a State that is strict."""

    __slots__ = ()


def _note_read(contents: Contents, *items: AbstractHandle | str) -> None:
    tracer: Tracer | None = contents.tracer
    if tracer is not None:
        tracer.read(items)


def _under(contents: Contents) -> type[Contents]:
    """The class that does what is noted."""
    return Contents if contents.watch is None else WatchedContents


def begin_tracing(state: Any, log: Any) -> Tracer:
    """Note all that is done with a State, until `end_tracing`."""
    with state.lock:
        contents: Contents = state._contents
        if contents.tracer is None:
            contents.tracer = Tracer(contents)
        tracer: Tracer = contents.tracer
        tracer.unread.clear()  # the new log does not know of these
        tracer.logs = (*tracer.logs, log)
        put_class(contents)
        state._link()
        return tracer


def end_tracing(state: Any, log: Any) -> None:
    """Undo `begin_tracing`, as far as it came; it may be done twice."""
    with state.lock:
        contents: Contents = state._contents
        tracer: Tracer | None = contents.tracer
        if tracer is not None:
            tracer.logs = tuple([other for other in tracer.logs if other is not log])
        if tracer is None or not tracer.logs:
            contents.tracer = None
            put_class(contents)
            if tracer is not None:
                tracer.unwrap()
            state._link()


def put_class(contents: Contents) -> None:
    """Let the contents be of the class that does what is to be done now."""
    if contents.tracer is None:
        contents.__class__ = _under(contents)
    else:
        contents.__class__ = TracedContents if contents.watch is None else TracedWatchedContents
