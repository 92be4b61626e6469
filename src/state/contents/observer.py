"""Observers of a State: strict mode and traces. They cost nothing where there are none.

The contents of a State tell their observers of each operation: after it, or around it, where an
observer calls it and returns its result. A handle that is called looks into the visible store
itself, which takes no time, and asks the contents only if it does not find what it looks for there.
So an observed State has one in which no handle finds itself::

                    contents.visible    contents.observers
    not observed    its store           ()
    observed        a blank one         (watch, tracer)

Any thread may begin or end observation; an operation that has begun before is told of in part.
"""

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import partial
from typing import Any, Final

from stagecache.state.handles import AbstractHandle, CacheEntry
from stagecache.state.stage import Stage
from stagecache.state.vectors.vectors import VectorKind

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

    def inherited(self, contents: Any) -> "Observer | None":
        """Return an observer of a copy of the State, which has these contents, or None."""
        return None

    def made(self, state: Any) -> None:
        """Note that the copy exists which has the contents that `inherited` was told of."""

    def last_write(self, node: int) -> tuple[int, str, int] | None:
        """Return the version before the last write of a variable, its file and its line."""
        return None

    # ------------------------------------------------------------------ after an operation

    def read(self, items: Sequence[Item], title: str) -> None:
        """Note a read of variables; or of something without a handle, which has a title."""

    def read_vector(self, kind: VectorKind, subsystem: int | None, title: str) -> None:
        """Note a read of a computed vector or of weights, or of the part of a subsystem."""
        stage = kind.read if kind.invalidates is None else kind.invalidates
        self.read((stage,), title)

    def read_valid(self, entry: CacheEntry[Any]) -> None:
        """Note a read of an entry that is valid."""

    def handed_out_vector(self, kind: VectorKind, subsystem: int | None) -> None:
        """Note that a computed vector, or the part of a subsystem, may be changed in place now."""

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
        """Note a read of an entry that is not valid, which may compute it."""
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


def around_read(observers: tuple[Observer, ...], entry: CacheEntry[Any], act: Act) -> Any:
    """Read an entry by `act`, with the observers around it."""
    for observer in observers:
        act = partial(observer.read_entry, entry, act)
    return act()


def around_write(
    observers: tuple[Observer, ...], cause: object, nodes: Sequence[int], act: Act
) -> None:
    """Make stale by `act` what depends on some nodes, with the observers around it."""
    for observer in observers:
        act = partial(observer.write, cause, nodes, act)
    act()


def around_compute(observers: tuple[Observer, ...], act: Act) -> None:
    """Compute entries by `act` without a read of them, with the observers around it."""
    for observer in observers:
        act = partial(observer.compute, act)
    act()


def around_replace(observers: tuple[Observer, ...], cause: str, act: Act) -> None:
    """Make all of the State another by `act`, with the observers around it."""
    for observer in observers:
        act = partial(observer.replace, cause, act)
    act()


OBSERVERS_OF_NEW: Final[ContextVar[tuple[Callable[[Any], None], ...]]] = ContextVar(
    "OBSERVERS_OF_NEW", default=()
)
"""Callables that begin to observe each State made now, in this context."""


def observe(contents: Any, *observers: Observer) -> None:
    """Let the contents of a State have these observers only. The caller holds the State's lock.

    Control-C may strike in between; so the end of observation can be repeated, and is.
    """
    contents.observers = observers
    contents.link()
