"""Observation of reads, writes and computations in a State; it costs nothing if there is none.

Strict mode and traces are observers. Handles, partitions and views ask a State for its contents
each time. So one assignment begins and ends observation, in any thread; an operation that has just
begun with the former contents finishes with them::

                    state._contents                          state._store
    not observed    Contents                                 its store
    observed        ObservedContents  -->  Contents          an empty one
                           |
                       observers

A handle that is called looks into the store of the State itself, which takes no time, and asks the
contents only if it does not find there what it looks for; hence the empty one.

Rejected: asking at each read whether anybody observes, which costs; and exchanging the class of the
contents, which fails in threads that are in one of its methods.
"""

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import partial
from operator import attrgetter
from typing import Any, Final, Protocol, TypeVar, final

from stagecache.graph.evaluation import Arguments
from stagecache.state.contents.contents import Contents
from stagecache.state.contents.guards import REALIZING, Guard
from stagecache.state.handles import (
    AbstractContinuousVariable,
    AbstractHandle,
    CacheEntry,
    DiscreteVariable,
    Vector,
)
from stagecache.state.items.realization import INSTANCE, MODEL
from stagecache.state.stage import Stage
from stagecache.state.vectors.vectors import CONTINUOUS, VectorKind, Y

T = TypeVar("T")
Item = AbstractHandle | Stage
"""Something read: a variable or an entry; if it has no handle, the stage that guarantees it."""

Act = Callable[[], Any]
"""An operation that an observer is to call, once, and whose result it is to return."""


class Observer:
    """An observer of one State.

    Some methods are called after an operation, some instead of it: these call it. Any thread may
    call them, also one that has begun before observation ended.
    """

    is_strict = False

    def inherited(self, contents: Contents) -> "Observer | None":
        """Return an observer of a copy of the State, which has these contents, or None."""
        return None

    def last_write(self, node: int) -> tuple[int, str, int] | None:
        """Return the version before the last write of a variable, its file and its line."""
        return None

    # ------------------------------------------------------------------ after an operation

    def read(self, items: Sequence[Item], title: str) -> None:
        """Note a read of variables; or of something without a handle, which has a title."""

    def handed_out(self, handle: AbstractHandle) -> None:
        """Note that a value may be changed in place now, or was stored."""

    def marked(self, entry: CacheEntry[Any]) -> None:
        """Note that a value counts as computed now."""

    def advanced(self, stage: Stage, subsystem: int | None) -> None:
        """Note a stage that was reached by hand."""

    def realizing(self, *, is_on: bool) -> None:
        """Note that a System begins to realize the State, or has ended."""

    # ------------------------------------------------------------------ around an operation

    def read_entry(self, entry: CacheEntry[Any], act: Act) -> Any:
        """Note a read of an entry, which may compute it."""
        return act()

    def compute(self, act: Act) -> Any:
        """Note an operation that may compute entries without a read of them."""
        return act()

    def write(self, cause: object, nodes: Sequence[int], act: Act) -> Any:
        """Note an operation that makes stale what depends on some nodes."""
        return act()

    def replace(self, cause: str, act: Act) -> Any:
        """Note an operation after which all of the State may be another."""
        return act()


class Observable(Protocol):
    """A State, as far as its observers know it."""

    _contents: Contents

    def _link(self) -> None:
        """Let handles look into the store, or ask the contents."""


OBSERVERS_OF_NEW: Final[ContextVar[tuple[Callable[[Any], None], ...]]] = ContextVar(
    "OBSERVERS_OF_NEW", default=()
)
"""Callables that begin to observe each State made now, in this context."""


def observe(state: Observable, *observers: Observer) -> None:
    """Let a State have these observers, and no others. The caller holds its lock.

    Control-C may strike in between; so the end of observation can be repeated, and is.
    """
    plain = state._contents.plain
    state._contents = ObservedContents(plain, observers) if observers else plain
    state._link()


def _shared(name: str) -> Any:
    """Return a property that is an attribute of the plain contents."""
    slot = vars(Contents)[name]

    def assign(contents: "ObservedContents", value: object) -> None:
        slot.__set__(contents.plain, value)

    return property(attrgetter(f"plain.{name}"), assign)


@final
class ObservedContents(Contents):
    """Contents that tell their observers what is done with them.

    Parameters
    ----------
    plain : Contents
        The same contents, which are not observed. All attributes are theirs.
    observers : tuple of Observer
        Each one is told of an operation around those before it.
    """

    __slots__ = ("_observers", "_plain")

    checkpoints = _shared("checkpoints")
    handed_out = _shared("handed_out")
    outdated_by = _shared("outdated_by")
    pools = _shared("pools")
    realization = _shared("realization")
    system = _shared("system")
    time = _shared("time")
    unfinished = _shared("unfinished")
    update_times = _shared("update_times")

    def __init__(self, plain: Contents, observers: tuple[Observer, ...]) -> None:
        self._plain = plain
        self._observers = observers

    @property
    def plain(self) -> Contents:
        """The contents that are not observed."""
        return self._plain

    @property
    def observers(self) -> tuple[Observer, ...]:
        """The observers."""
        return self._observers

    @property
    def guard(self) -> Guard | None:
        """The reason why the State must not be written, if there is one."""
        return self._plain.guard

    @guard.setter
    def guard(self, guard: Guard | None) -> None:
        self._plain.guard = guard  # a System says nothing else about realizing
        for observer in self._observers:
            observer.realizing(is_on=guard is REALIZING)

    def _read(self, *items: Item, title: str = "") -> None:
        for observer in self._observers:
            observer.read(items, title)

    def _noted(self, value: T, *items: Item, title: str = "") -> T:
        """Return what was read, and tell the observers."""
        self._read(*items, title=title)
        return value

    def _read_entry(self, entry: CacheEntry[Any], act: Act) -> Any:
        for observer in self._observers:
            act = partial(observer.read_entry, entry, act)
        return act()

    def _write(self, cause: object, nodes: Sequence[int], act: Act) -> None:
        for observer in self._observers:
            act = partial(observer.write, cause, nodes, act)
        act()

    def _replace(self, cause: str, act: Act) -> None:
        for observer in self._observers:
            act = partial(observer.replace, cause, act)
        act()

    def _hand_out(self, handle: AbstractHandle) -> None:
        for observer in self._observers:
            observer.handed_out(handle)

    def trace_of_write(self, node: int) -> tuple[int, str, int] | None:
        """Return the version before the last write of a variable, its file and its line."""
        return next(filter(None, [o.last_write(node) for o in self._observers]), None)

    # ------------------------------------------------------------------ the State as a whole

    def copy(self, bind: Callable[[int], Arguments]) -> Contents:
        """Return contents for a copy of the State."""
        self._read(title="a copy of the State")
        return self._inherit(self._plain.copy(bind))

    def clone(self, bind: Callable[[int], Arguments]) -> Contents:
        """Return contents for a State in the same state."""
        self._read(title="a copy of the State")
        return self._inherit(self._plain.clone(bind))

    def _inherit(self, twin: Contents) -> Contents:
        inherited = [observer.inherited(twin) for observer in self._observers]
        observers = tuple([observer for observer in inherited if observer is not None])
        return ObservedContents(twin, observers) if observers else twin

    def finish(self, what: Callable[[], object], cause: str = "") -> None:
        """Run an operation that, once begun, must be completed."""
        if cause:
            self._replace(cause, partial(self._plain.finish, what))
        else:
            self._plain.finish(what)

    def outdate(self, change: str) -> None:
        """Let nothing be written or computed any more: the System has changed."""
        self._replace(f"a change of the System: {change}", partial(self._plain.outdate, change))

    def advance(self, stage: Stage, subsystem: int | None) -> None:
        """Let a subsystem, or the system, reach the stage after its present one."""
        self._plain.advance(stage, subsystem)
        if self._plain.guard is not REALIZING:
            for observer in self._observers:
                observer.advanced(stage, subsystem)

    def version(self, handle: AbstractHandle) -> int:
        """Return the version of the present value."""
        return self._noted(self._plain.version(handle), handle)

    # ------------------------------------------------------------------ writes

    def invalidate(self, stage: Stage, cause: object, nodes: Sequence[int]) -> None:
        """Count a change of a stage, and of variables; back up before the stage."""
        self._write(cause, nodes, partial(self._plain.invalidate, stage, cause, nodes))

    def write_time_and_y(self, time: float, y: Vector) -> None:
        """Write both, at Model or later, one by one."""
        if time != self.time:
            self.set_time(time, self.realization.layout.variables["time"])
        self.assign_vector(Y, None, y)

    def discard(self, node: int, cause: object) -> None:
        """Make an entry stale, and all that depends on it."""
        self._write(cause, (node,), partial(self._plain.discard, node, cause))

    def auto_update(self) -> None:
        """Exchange each discrete variable with its update value, if that is valid."""
        act = partial(Contents.auto_update, self)
        for observer in self._observers:
            act = partial(observer.compute, act)
        act()

    def exchange(self, variable: DiscreteVariable[Any], update: int) -> None:
        """Exchange a discrete variable with its update value."""
        act = partial(self._plain.exchange, variable, update)
        self._write(variable, (update, variable._node), act)

    def upd_discrete(self, variable: DiscreteVariable[Any]) -> Any:
        """Return the value to be changed in place."""
        value = Contents.upd_discrete(self, variable)
        self._hand_out(variable)
        return value

    def set_entry(self, entry: CacheEntry[Any], value: object) -> None:
        """Store a value, without saying that it is valid."""
        self._plain.set_entry(entry, value)
        self._hand_out(entry)

    def upd_entry(self, entry: CacheEntry[Any]) -> Any:
        """Return the value to be changed in place, valid or not."""
        value = self._plain.upd_entry(entry)
        self._hand_out(entry)
        return value

    def mark(self, entry: CacheEntry[Any]) -> None:
        """Count the value as computed now."""
        self._plain.mark(entry)
        for observer in self._observers:
            observer.marked(entry)

    # ------------------------------------------------------------------ reads

    def read_stale(self, entry: CacheEntry[Any]) -> Any:
        """Return the value of an entry, computed if it is not valid."""
        return self._read_entry(entry, partial(self._plain.read_stale, entry))

    def get_entry(self, entry: CacheEntry[Any]) -> Any:
        """Return the value; never compute it."""
        return self._read_entry(entry, partial(self._plain.get_entry, entry))

    def get_discrete(self, variable: DiscreteVariable[Any]) -> Any:
        """Return the value."""
        return self._noted(self._plain.get_discrete(variable), variable)

    def update_time(self, variable: DiscreteVariable[Any]) -> float:
        """Return the time of the last write; NaN if it was never written."""
        self._read(variable)
        return self._plain.update_time(variable)

    def get_block(self, variable: AbstractContinuousVariable) -> Vector:
        """Return a read-only view of a block, or of a whole q, u or z."""
        return self._noted(self._plain.get_block(variable), variable)

    def place(self, variable: AbstractContinuousVariable) -> slice:
        """Return its place in y."""
        return self._noted(self._plain.place(variable), MODEL, title=f"the place of {variable}")

    def get_time(self, variable: AbstractHandle) -> float:
        """Return the time, at any stage."""
        return self._noted(self._plain.get_time(variable), variable)

    def read_time(self) -> float:
        """Return the time, from Topology on."""
        return self._noted(self._plain.read_time(), self.realization.layout.variables["time"])

    def view(self, kind: VectorKind, subsystem: int | None) -> Vector:
        """Return a read-only view of a vector."""
        values = self._plain.view(kind, subsystem)
        layout = self.realization.layout
        if kind.name in CONTINUOUS:
            whose = layout.variables if subsystem is None else layout.subsystems[subsystem].whole
            self._read(whose[kind.name])
        elif kind.name == "y":
            self._read(*[layout.variables[part] for part in CONTINUOUS])
        else:
            stage = kind.read if kind.invalidates is None else kind.invalidates
            self._read(stage, title=self._title(kind, subsystem))
        return values

    def size(self, part: str, subsystem: int | None) -> int:
        """Return the number of items of a part of the vectors: "q", "qerr", ..."""
        return self._noted(
            self._plain.size(part, subsystem),
            MODEL if part in CONTINUOUS else INSTANCE,
            title=f"the number of {part}",
        )

    def start(self, part: str, subsystem: int | None) -> int:
        """Return the index at which it starts."""
        return self._noted(
            self._plain.start(part, subsystem),
            MODEL if part in CONTINUOUS else INSTANCE,
            title=f"the start of {part}",
        )

    def triggers(self, stage: Stage, subsystem: int | None) -> Vector:
        """Return a read-only view of the event triggers of a stage."""
        return self._noted(
            self._plain.triggers(stage, subsystem),
            max(Stage(stage), INSTANCE),
            title=f"event triggers of stage {stage}",
        )

    def num_triggers(self, stage: Stage, subsystem: int | None) -> int:
        """Return the number of event triggers of a stage."""
        return self._noted(
            self._plain.num_triggers(stage, subsystem),
            INSTANCE,
            title="the number of event triggers",
        )

    def num_all_triggers(self) -> int:
        """Return the number of event triggers of all stages."""
        return self._noted(
            self._plain.num_all_triggers(), INSTANCE, title="the number of event triggers"
        )

    def trigger_start(self, stage: Stage, subsystem: int | None) -> int:
        """Return where they start."""
        return self._noted(
            self._plain.trigger_start(stage, subsystem),
            INSTANCE,
            title="the start of event triggers",
        )
