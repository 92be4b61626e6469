"""A System built anew from what pickle takes of it, as in a process that never saw it.

What a model keeps in itself, and not in States, is as at the beginning there.
"""

import pickle
from typing import Any, Final

from stagecache.system.core.system import System
from stagecache.system.core.transport import KNOWN

NOT_KNOWN: Final = None


def rebuilt(system: System, pickled: bytes) -> Any:
    """Objects that were pickled together with a System, which is built anew here."""
    content = system._content
    known = KNOWN.pop(content, NOT_KNOWN)
    try:
        return pickle.loads(pickled)
    finally:
        if known is not NOT_KNOWN:
            KNOWN[content] = known


def through_pickle(system: System, *others: Any) -> tuple[Any, ...]:
    """A System, and what goes with it, as they would arrive in another process."""
    arrived: tuple[Any, ...] = rebuilt(system, pickle.dumps((system, *others)))
    return arrived


class Blueprint:
    """A System as it was when this was made; it cannot be built anew if it cannot be pickled."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._pickled: bytes | None = None
        try:
            self._pickled = pickle.dumps(system)
            self.build().realize_topology()
        except Exception:  # which check_pickle tells
            self._pickled = None

    @property
    def is_known(self) -> bool:
        """Return True if it can be built anew."""
        return self._pickled is not None

    def build(self) -> System:
        """Another System of this kind; the System itself, if it cannot be built anew."""
        if self._pickled is None:
            return self._system
        system = rebuilt(self._system, self._pickled)
        assert isinstance(system, System)
        return system
