"""Which computations of a State have begun, in strict mode, and which of them have ended."""

from threading import get_ident
from typing import Any, final

from stagecache.state.contents.contents import Contents
from stagecache.state.handles import CacheEntry


def being_computed(contents: Contents) -> CacheEntry[Any] | None:
    """The entry that this thread is computing, the innermost one; None if it computes none."""
    realization = contents.realization
    running = realization.evaluator.running
    if running:
        me = get_ident()
        for node, thread in reversed(list(running.items())):
            if thread == me:
                entry = realization.store.keys[node]
                assert isinstance(entry, CacheEntry)
                return entry
    return None


@final
class Computations:
    """Those of each thread, in order.

    Nobody says that one has ended; it is not running any more when it is looked for.
    """

    __slots__ = ("_begun",)

    def __init__(self) -> None:
        self._begun: dict[int, list[CacheEntry[Any]]] = {}  # by thread

    def begin(self, entry: CacheEntry[Any]) -> None:
        """Note that this thread begins to compute an entry."""
        self._begun.setdefault(get_ident(), []).append(entry)

    def ended(self, contents: Contents) -> list[CacheEntry[Any]]:
        """Return those of this thread that have ended since this was asked."""
        me = get_ident()
        running = contents.realization.evaluator.running
        begun = self._begun.get(me, [])
        ended = []
        while begun and running.get(begun[-1]._node) != me:
            ended.append(begun.pop())
        if not begun:
            self._begun.pop(me, None)
        return ended

    def forget(self) -> None:
        """Forget those of this thread, which Control-C has left."""
        self._begun.pop(get_ident(), None)
