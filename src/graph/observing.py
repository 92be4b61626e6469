"""Operations with observers around them: each calls the one inside of it and returns its result.

A handle looks into the *visible* store, which takes no time, and asks further only if it does not
find what it looks for there. So what is observed has one in which no handle finds itself::

                    visible         observers
    not observed    its store       ()
    observed        a blank one     (watch, tracer)

The observers are those of `stagecache.state.contents.observer`.
"""

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import partial
from typing import Any, Final, final

from attrs import frozen

Act = Callable[[], Any]
"""An operation that an observer is to call, once, and whose result it is to return."""

Observers = tuple[Any, ...]
"""Observers of a State or a Graph, the innermost first."""


MOST_EVENTS: Final = 1_000_000
"""Number of events that a trace keeps, if it is not told another one."""


OBSERVERS_OF_NEW: Final[ContextVar[tuple[Callable[[Any], None], ...]]] = ContextVar(
    "OBSERVERS_OF_NEW", default=()
)
"""Callables that begin to observe each State and Graph made now, in this context."""


@final
@frozen
class TracedWrite:
    """The last write of a variable, as a trace knows it.

    Attributes
    ----------
    version_before : int
        Version of the variable before the write.
    file, line : str and int
        Place of the write.
    seconds : float
        Time of the write since the trace began; of several traces, since the first one.
    """

    version_before: int
    file: str
    line: int
    seconds: float


def last_write(observers: Observers, node: int) -> TracedWrite | None:
    """Return the last write of a variable; None if it was not traced."""
    return next(filter(None, [observer.last_write(node) for observer in observers]), None)


def around_read(observers: Observers, entry: object, act: Act) -> Any:
    """Read an entry by `act`, with the observers around it."""
    for observer in observers:
        act = partial(observer.read_entry, entry, act)
    return act()


def around_write(observers: Observers, cause: object, nodes: Sequence[int], act: Act) -> None:
    """Make stale by `act` what depends on some nodes, with the observers around it."""
    for observer in observers:
        act = partial(observer.write, cause, nodes, act)
    act()


def around_compute(observers: Observers, act: Act) -> None:
    """Compute entries by `act` without a read of them, with the observers around it."""
    for observer in observers:
        act = partial(observer.compute, act)
    act()


def around_replace(observers: Observers, cause: str, act: Act) -> None:
    """Make all another by `act`, with the observers around it."""
    for observer in observers:
        act = partial(observer.replace, cause, act)
    act()
