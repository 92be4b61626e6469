"""Reads without the cache: each read of an entry computes it, in a ``with`` block.

It tells wrong declarations from wrong computations: a value that is right without the cache, and
wrong with it, has a prerequisite that it does not declare. And it tells what a computation costs.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, final

from stagecache.checks import require_type
from stagecache.state.contents.contents import Contents
from stagecache.state.contents.observer import Observer, observe
from stagecache.state.handles import CacheEntry
from stagecache.state.state import State


def uncached(state: State, *entries: CacheEntry[Any]) -> AbstractContextManager[None]:
    """Compute entries of a State each time that they are read, in a ``with`` block.

    What depends on an entry stays as valid as it was: so name the entries to be read, or none for
    all. Then the cost of a read is that of all paths upstream, as each of them is a read. What is
    realized stays realized: vectors, such as udot, are not computed again. An entry that is
    `shared` may find its value elsewhere. Copies of the State are as usual.

    In a frozen State nothing is computed.

    Parameters
    ----------
    state : State
    *entries : CacheEntry
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
    require_type(state, State, "uncached(state): not a State", "a State", "pass the State first")
    for entry in entries:
        what, hint = "uncached(state, entry): not an entry", "pass the handle, as spring.force"
        require_type(entry, CacheEntry, what, "a cache entry", hint)
        state._contents.require(entry)
    return _block(state, frozenset(entries))


@contextmanager
def _block(state: State, entries: frozenset[CacheEntry[Any]]) -> Iterator[None]:
    contents = state._contents
    observer = Uncached(contents, entries)
    try:
        with state.lock:
            observe(contents, *contents.observers, observer)
        yield
    finally:
        with state.lock:
            observe(contents, *[other for other in contents.observers if other is not observer])


@final
class Uncached(Observer):
    """An observer that lets each read of entries compute.

    Parameters
    ----------
    contents : Contents
        Contents of the State.
    entries : frozenset of CacheEntry
        Empty for all.
    """

    __slots__ = ("_contents", "_entries")

    def __init__(self, contents: Contents, entries: frozenset[CacheEntry[Any]]) -> None:
        self._contents = contents
        self._entries = entries

    def reading(self, entry: CacheEntry[Any]) -> None:
        """Let the read compute the entry."""
        if not self._entries or entry in self._entries:
            self._contents.forget_value(entry)
