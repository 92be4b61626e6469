"""Reads without the cache: each read of an entry computes it, in a ``with`` block.

It tells wrong declarations from wrong computations: a value that is right without the cache, and
wrong with it, has a prerequisite that it does not declare. And it tells what a computation costs.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, final, overload

from stagecache.checks import require_type, wrong_type
from stagecache.graph.graph import Graph
from stagecache.graph.handles import Entry
from stagecache.inspection.subject import subject_of
from stagecache.state.contents.observer import Observer
from stagecache.state.handles import CacheEntry
from stagecache.state.state import State


@overload
def uncached(state: State, *entries: CacheEntry[Any]) -> AbstractContextManager[None]: ...
@overload
def uncached(state: Graph, *entries: Entry[Any]) -> AbstractContextManager[None]: ...
def uncached(
    state: State | Graph, *entries: CacheEntry[Any] | Entry[Any]
) -> AbstractContextManager[None]:
    """Compute entries of a State or a Graph each time that they are read, in a ``with`` block.

    What depends on an entry stays as valid as it was: so name the entries to be read, or none for
    all. Then a read costs as much as all paths upstream, as each of them is a read. What is
    realized stays realized: vectors, such as udot, are not computed again. An entry that is
    `shared` may find its value elsewhere. Copies of the State are as usual.

    In a frozen State nothing is computed.

    Parameters
    ----------
    state : State or Graph
    *entries : CacheEntry or Entry
        By default all entries that have a compute function.

    Returns
    -------
    context manager

    Raises
    ------
    WrongTypeError
    ForeignNodeError
        The State does not have an entry.

    Examples
    --------
    >>> from stagecache import State, Subsystem, System, cached, parameter
    >>> from stagecache.inspection import uncached
    >>> class Spring(Subsystem):
    ...     stiffness = parameter(100.0)
    ...     stretch = parameter(0.1)
    ...
    ...     @cached(prerequisites=(stretch,))
    ...     def force(self, state: State) -> float:
    ...         return -self.stiffness(state) * self.stretch(state)
    >>> spring = Spring()
    >>> state = System(spring).new_state()
    >>> force = spring.force(state)
    >>> spring.stiffness.set(state, 50.0)
    >>> spring.force(state)  # wrong, since it does not declare the stiffness
    -10.0
    >>> with uncached(state):
    ...     spring.force(state)
    -5.0
    """
    if not isinstance(state, State | Graph):
        what, hint = "uncached(state): not a State", "pass the State or the Graph first"
        raise wrong_type(state, what, "a State or a Graph", hint)
    kind: type[Any] = CacheEntry if isinstance(state, State) else Entry
    what, hint = "uncached(state, entry): not an entry", "pass the handle, as spring.force"
    named = [require_type(entry, kind, what, "a cache entry", hint) for entry in entries]
    if isinstance(state, State):
        for entry in named:
            state._contents.require(entry)
        return _block(state, Uncached(state._contents.forget_value, frozenset(named)))
    own = frozenset([state[entry] for entry in named])
    return _block(state, Uncached(state._handles.forget_value, own))


@contextmanager
def _block(state: Any, observer: "Uncached") -> Iterator[None]:
    subject = subject_of(state)
    try:
        with state.lock:
            subject.observe((*subject.observers, observer))
        yield
    finally:
        with state.lock:
            subject.observe(tuple([other for other in subject.observers if other is not observer]))


@final
class Uncached(Observer):
    """An observer that lets each read of entries compute.

    Parameters
    ----------
    forget : callable
        Lets the next read of an entry compute it.
    entries : frozenset of CacheEntry or Entry
        Empty for all.
    """

    __slots__ = ("_entries", "_forget")

    def __init__(self, forget: Callable[[Any], None], entries: frozenset[Any]) -> None:
        self._forget = forget
        self._entries = entries

    def reading(self, entry: Any) -> None:
        """Let the read compute the entry."""
        if not self._entries or entry in self._entries:
            self._forget(entry)
