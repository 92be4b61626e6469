"""Watching every read of a State, in strict mode; free when it is off.

A handle that is called looks into the store of the State itself, which takes no time, and asks the
contents of the State only if it does not find there what it looks for. A strict State gives it an
empty store to look into, and its contents are of another class::

              state._store          contents.__class__
    off       its store             Contents
    strict    an empty one          WatchedContents, which notes each read and then does the same

So whoever has the contents (partitions, live vectors, hooks) is watched, too, and all of them are
as before when the class and the store are put back. Nothing looks whether a State is strict.

Control-C may strike while this is switched. So whatever ends it can be done twice, and is.
"""

from collections.abc import Callable
from contextlib import ContextDecorator
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Final, final
from weakref import WeakSet

from stagecache.inspection.strict.beginnings import unhook
from stagecache.inspection.strict.reads import ReadLog
from stagecache.inspection.strict.watch import Watch
from stagecache.inspection.tracing import put_class
from stagecache.state.contents.contents import Contents

Watched = list[tuple[Any, Watch | None]]
"""States that are watched no more, each with what has watched it."""


def watch_new(state: Any) -> None:
    """Watch a State that is being made, if its original is strict, or all are to be."""
    contents: Contents = state._contents
    for everywhere in EVERYWHERE.get():
        if everywhere.is_over:
            continue
        watch: Watch | None = contents.watch
        contents.watch = Watch((*(watch.logs if watch else ()), everywhere.log))
        everywhere.states.add(state)
    if contents.watch is not None:
        put_class(contents)


def begin_watching(state: Any, log: ReadLog) -> None:
    """Watch all reads of a State, until `end_watching`."""
    with state.lock:
        contents: Contents = state._contents
        if contents.watch is None:
            contents.watch = Watch()
        contents.watch.logs = (*contents.watch.logs, log)
        put_class(contents)
        state._link()


def end_watching(state: Any, log: ReadLog) -> Watch | None:
    """Undo `begin_watching`, as far as it came, and return what has watched."""
    with state.lock:
        contents: Contents = state._contents
        watch: Watch | None = contents.watch
        if watch is not None:
            watch.logs = tuple([other for other in watch.logs if other is not log])
        if watch is None or not watch.logs:
            contents.watch = None
            put_class(contents)
            unhook(contents)
            state._link()
        return watch


# ---------------------------------------------------------------------- blocks


@final
class One:
    """What watches one State."""

    __slots__ = ("_state", "log")

    def __init__(self, state: Any, log: ReadLog) -> None:
        self._state = state
        self.log = log

    def begin(self) -> None:
        """Watch it."""
        begin_watching(self._state, self.log)

    def end(self) -> Watched:
        """Watch it no more."""
        return [(self._state, end_watching(self._state, self.log))]


@final
class Everywhere:
    """What watches all States that are made while it is there, and which it has found so far."""

    __slots__ = ("is_over", "log", "states")

    def __init__(self, log: ReadLog) -> None:
        self.log = log
        self.states: WeakSet[Any] = WeakSet()
        self.is_over = False

    def begin(self) -> None:
        """Watch what is made from now on, in this context."""
        EVERYWHERE.set((*EVERYWHERE.get(), self))

    def end(self) -> Watched:
        """Watch them no more; return those that there still are.

        The context may be another one, where an asynchronous generator is closed: so what has
        begun in the first one is told that it is over.
        """
        self.is_over = True
        EVERYWHERE.set(tuple([other for other in EVERYWHERE.get() if other is not self]))
        return [(state, end_watching(state, self.log)) for state in list(self.states)]


EVERYWHERE: Final[ContextVar[tuple[Everywhere, ...]]] = ContextVar("EVERYWHERE", default=())
"""What watches the States that are made now, in this context."""


@final
class Watching(ContextDecorator):
    """A block in which States are watched; each time that it is entered, with a log of its own.

    Parameters
    ----------
    make : callable
        Makes what watches.
    """

    def __init__(self, make: Callable[[], One | Everywhere]) -> None:
        self._make = make
        self._entered: list[One | Everywhere] = []

    def __enter__(self) -> ReadLog:
        block = self._make()
        try:
            self._entered.append(block)
            block.begin()
            return block.log
        except BaseException:
            block.end()
            self._entered = [other for other in self._entered if other is not block]
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            watched = self._entered[-1].end()
        except BaseException:
            self._entered[-1].end()
            raise
        finally:
            del self._entered[-1]
        for state, watch in watched if kind is None else ():
            if watch is not None:
                watch.check(state._contents)

    def _recreate_cm(self) -> "Watching":
        """Return what a call of a decorated function enters: several threads may call it."""
        return Watching(self._make)
