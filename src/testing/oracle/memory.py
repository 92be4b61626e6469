"""Memory of expensive computations: a check computes such an entry once for the same inputs.

::

    not known well    all variables, and the values of its prerequisites    -->  value
    covered           variables whose writes make it stale, and these       -->  value

The first key has all that is in a State. The second one is right unless the entry depends on what
does not make it stale, for which `check_coherence` looks first, by real computations.

Used Systems and the Systems of fresh States remember apart (`role`). So the values that a check
compares never come from one computation.
"""

import pickle
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from stagecache.errors import StagecacheError
from stagecache.graph.evaluation import no_function
from stagecache.state.handles import CacheEntry
from stagecache.state.state import State
from stagecache.state.values.values import IMMUTABLE
from stagecache.state.vectors.vectors import VECTORS
from stagecache.system.core.system import System
from stagecache.testing.items import Item, entries_of, is_computed, layout_of
from stagecache.testing.oracle.comparison import copied
from stagecache.testing.oracle.oracle import Snapshot

EXPENSIVE: Final = 0.05
"""Time of one computation from which on an entry is expensive [s]."""

_PAUSED: Final[ContextVar[bool]] = ContextVar("_PAUSED", default=False)


@contextmanager
def nothing_remembered() -> Iterator[None]:
    """Compute each value while the block runs."""
    token = _PAUSED.set(True)
    try:
        yield
    finally:
        _PAUSED.reset(token)


class Memory:
    """Costs of entries, and values of expensive ones.

    Attributes
    ----------
    seconds : dict of Item to list of float
        Times of computations of the entries that were expensive at least once, without those
        inside of them [s].
    covered : dict of Item to frozenset of Item
        The variables whose writes make an expensive entry stale.
    trusted : set of Item
        Entries whose values are functions of what is covered, as far as scouts know.
    """

    def __init__(self) -> None:
        self.seconds: dict[Item, list[float]] = {}
        self.covered: dict[Item, frozenset[Item]] = {}
        self.trusted: set[Item] = set()
        self._known: dict[tuple[str, Item, bytes], _Known] = {}
        self._running = threading.local()

    def attach(self, system: System, role: str) -> System:
        """Let the States of a System use the memory, and return the System."""
        functions = layout_of(system.realize_topology()).functions
        for item, entry in entries_of(system.default_state):
            function = functions[entry._node]
            if function is not no_function and not isinstance(function, _Remembering):
                functions[entry._node] = _Remembering(self, function, item, entry, role)
        return system

    def is_put_off(self, item: Item) -> bool:
        """Return True if each comparison of an entry costs a computation."""
        return item in self.seconds and item not in self.trusted

    def forget(self, item: Item) -> None:
        """Forget an entry that is not expensive: the machine was slow when it was computed."""
        del self.seconds[item]

    @contextmanager
    def attached(self, system: System, role: str) -> Iterator[None]:
        """Let the States of a System use the memory while the block runs."""
        functions = layout_of(system.realize_topology()).functions
        before = functions.copy()
        self.attach(system, role)
        try:
            yield
        finally:
            functions[:] = before

    def value(self, asked: "_Remembering", state: State) -> Any:
        """Return the value of an entry, remembered or computed."""
        if _PAUSED.get():
            return asked.function(state)
        keys: list[bytes] = []
        if asked.item in self.seconds:
            keys = self._keys(asked, state)
            known = self._known.get((asked.role, asked.item, keys[0])) if keys else None
            if known is not None:
                self._keep(asked, keys, known)
                return known.result()
        running = self._running
        outer, running.inside = getattr(running, "inside", 0.0), 0.0
        start = time.perf_counter()
        known = None
        try:
            value = asked.function(state)
            known = _Known(value)
            return value
        except StagecacheError:  # which says something about this State
            raise
        except Exception as error:
            known = _Known(error=error)
            raise
        finally:
            elapsed = time.perf_counter() - start
            own, running.inside = elapsed - running.inside, outer + elapsed
            if asked.item in self.seconds:
                self.seconds[asked.item].append(own)
            elif own >= EXPENSIVE:
                self.seconds[asked.item] = [own]
                keys = self._keys(asked, state)
            if known is not None and known.is_private:
                self._keep(asked, keys, known)

    def _keep(self, asked: "_Remembering", keys: list[bytes], known: "_Known") -> None:
        for key in keys:
            self._known[asked.role, asked.item, key] = known

    def _keys(self, asked: "_Remembering", state: State) -> list[bytes]:
        """Return the key to find a value by, and others to keep it by; none without such keys."""
        covered = self.covered.get(asked.item)
        if asked.item in self.trusted:
            return self._made_of(asked, state, covered)
        keys = self._made_of(asked, state, None)
        return keys if covered is None else keys + self._made_of(asked, state, covered)

    def _made_of(
        self, asked: "_Remembering", state: State, covered: frozenset[Item] | None
    ) -> list[bytes]:
        """Return a key of all or of the covered variables; none if values cannot be compared."""
        contents = state._contents
        store = contents.realization.store
        snapshot = Snapshot.of(state)
        parts: list[Any] = [covered is None]
        parts += [
            (str(item), value)
            for item, value in snapshot.values.items()
            if covered is None or item in covered
        ]
        parts += [(name, values.tobytes()) for name, values in snapshot.weights.items()]
        for kind in VECTORS:
            if not kind.is_variable and kind.part and kind.read <= asked.entry.available_from:
                parts.append((kind.name, contents.pools.whole[kind.name].tobytes()))
        for above in asked.entry.prerequisites(state):
            if isinstance(above, CacheEntry):
                try:
                    value = above(state) if is_computed(state, above) else store.values[above._node]
                except StagecacheError:
                    raise
                except Exception as error:  # which the computation may catch
                    value = repr(error)
                parts.append(value)
        try:
            return [pickle.dumps(parts)]
        except Exception:  # whatever a value holds
            return []


class _Known:
    """A remembered value, or a remembered error."""

    def __init__(self, value: Any = None, error: Exception | None = None) -> None:
        self._value = copied(value)
        self._error = error
        self._traceback = None if error is None else error.__traceback__
        self.is_private = type(value) in IMMUTABLE or copied(value) is not value
        """True if a change in place of what is handed out leaves it as it is."""

    def result(self) -> Any:
        """Return a copy of the value, or raise the error."""
        if self._error is not None:
            raise self._error.with_traceback(self._traceback)
        return copied(self._value)


class _Remembering:
    """The compute function of an entry, with the memory in front."""

    __slots__ = ("__wrapped__", "entry", "function", "item", "memory", "role")

    def __init__(
        self,
        memory: Memory,
        function: Callable[[State], Any],
        item: Item,
        entry: CacheEntry[Any],
        role: str,
    ) -> None:
        self.memory = memory
        self.function = self.__wrapped__ = function
        self.item = item
        self.entry = entry
        self.role = role

    def __call__(self, state: State) -> Any:
        """Return the value."""
        return self.memory.value(self, state)
