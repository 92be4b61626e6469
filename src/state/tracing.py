"""Noticing all that happens to a State, while it is traced; free when it is not.

As in strict mode (`watching`), handles are given an empty store to look into, so that they ask the
contents, whose class is exchanged for one that notes what it is asked; the two go together::

                  not strict         strict
    not traced    Contents           WatchedContents
    traced        TracedContents     TracedWatchedContents

Computations that the evaluator begins on its own are noticed, too: its functions are wrapped.
"""

from typing import Any, final

from stagecache.state.contents import Contents
from stagecache.state.handles import (
    AbstractContinuousVariable,
    AbstractHandle,
    CacheEntry,
    DiscreteVariable,
    Vector,
)
from stagecache.state.stage import Stage
from stagecache.state.staged import REALIZING, AbstractStaged, Guard
from stagecache.state.tracer import Tracer, node_of
from stagecache.state.vectors import CONTINUOUS, VectorKind
from stagecache.state.watched_contents import WatchedContents

GUARD: Any = vars(AbstractStaged)["guard"]


class TracedContents(Contents):
    """The same contents, of which all is noted that is done with them.

    As `WatchedContents`, it says no super(): another thread may have put the class back meanwhile.
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
        before = realization.stage
        version = realization.store.versions[node_of(cause, nodes)]
        Contents.invalidate(self, stage, cause, nodes)
        tracer.wrote(cause, nodes, version, before)

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
        stage = self.realization.stage
        for variable, version in before.items():
            if versions[variable._node] != version:
                assert variable._update is not None
                nodes = (variable._update._node, variable._node)
                tracer.wrote(variable, nodes, version, stage)

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

    def assign(self, other: Contents) -> None:
        """Become `other`, which nobody else has."""
        before = self.realization.stage
        if self.tracer is not None:
            self.tracer.unwrap()  # checkpoints may keep what was there until now
        Contents.assign(self, other)
        if self.tracer is not None:
            self.tracer.replaced("assign()", before)

    def outdate(self, change: str) -> None:
        """Let nothing be written or computed any more: the System has changed."""
        Contents.outdate(self, change)
        if self.tracer is not None:
            self.tracer.replaced(f"a change of the System: {change}", self.realization.stage)

    # ------------------------------------------------------------------ reads of entries

    def read_unrealized(self, entry: CacheEntry[Any]) -> Any:
        """Return the value of an entry, computing it if it is not valid."""
        tracer: Tracer | None = self.tracer
        if tracer is None:  # another thread has just left
            return _under(self).read_unrealized(self, entry)
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
        thread = tracer.missing(entry)
        under = Contents if self.watch is None else WatchedContents
        value = under.read_unrealized(self, entry)
        if thread.finished is not entry:  # it is as it was, or another thread has computed it
            tracer.hit(entry)
        return value

    def get_entry(self, entry: CacheEntry[Any]) -> Any:
        """Return the value; never compute it."""
        value = _under(self).get_entry(self, entry)
        if self.tracer is not None:
            self.tracer.hit(entry)
        return value

    # ------------------------------------------------------------------ reads of variables

    def get_discrete(self, variable: DiscreteVariable[Any]) -> Any:
        """Return the value."""
        value = _under(self).get_discrete(self, variable)
        self._note_read(variable)
        return value

    def get_block(self, variable: AbstractContinuousVariable) -> Vector:
        """A read-only view of a block, or of a whole q, u or z."""
        values = _under(self).get_block(self, variable)
        self._note_read(variable)
        return values

    def get_time(self, variable: AbstractHandle) -> float:
        """The time, at any stage."""
        time = _under(self).get_time(self, variable)
        self._note_read(variable)
        return time

    def read_time(self) -> float:
        """The time, from Topology on."""
        time = _under(self).read_time(self)
        self._note_read(self.realization.layout.variables["time"])
        return time

    def view(self, kind: VectorKind, subsystem: int | None) -> Vector:
        """A read-only view of a vector."""
        values = _under(self).view(self, kind, subsystem)
        layout = self.realization.layout
        if kind.name == "y":
            self._note_read(*[layout.variables[part] for part in CONTINUOUS])
        elif kind.name in CONTINUOUS:
            whose = layout.variables if subsystem is None else layout.subsystems[subsystem].whole
            self._note_read(whose[kind.name])
        else:
            self._note_read(self._title(kind, subsystem))
        return values

    def _note_read(self, *items: AbstractHandle | str) -> None:
        tracer: Tracer | None = self.tracer
        if tracer is not None:
            tracer.read(items)


@final
class TracedWatchedContents(TracedContents, WatchedContents):  # type: ignore[misc]  # final for users
    """The same for a State that is strict."""

    __slots__ = ()


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
