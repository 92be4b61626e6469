r"""First changes upstream of entries, of all entries in one pass.

A search goes up from one entry. Here the nearest first change is passed down from entry to entry
instead, so that all entries together cost O(nodes + edges)::

    angle, written --> tip --> torque --> work       tip: angle, 1 edge
                                                     torque: angle, 2 edges

That holds where an entry is stale as soon as something upstream has changed. Below an entry that
compares its values, changes count or not by what was computed since: those are searched one by one.
And it holds for entries that were computed at one time; each further time is a pass of its own.
"""

from collections.abc import Callable
from typing import Final, final

from stagecache.graph.store import Store, clock_of
from stagecache.graph.structure import CACHE_ENTRY, VARIABLE
from stagecache.state.contents.causes import Change

LONGEST: Final = 100
"""Most entries on the way from a change: of a longer one, the first and the last are kept."""

Rank = tuple[int, int, int, int, int]
"""Time of a change, 1 if it is one of a stage, the stage, its distance, and edges along entries."""

NONE: Final[Rank] = (1 << 62, 0, 0, 0, 0)
"""Rank of an entry above which nothing has changed."""


def no_stages(node: int, since: int) -> Rank:  # noqa: ARG001  # those of a Graph
    """Return the rank of an entry that depends on no stage."""
    return NONE


@final
class FirstChanges:
    """The first change upstream of each entry, where this can be passed down.

    Parameters
    ----------
    store : Store
    of_stages : callable
        Returns the rank of the first change of a stage on which an entry, its first argument,
        depends itself; its second argument is the time since which changes count.
    """

    def __init__(self, store: Store, of_stages: Callable[[int, int], Rank] = no_stages) -> None:
        self._store = store
        self._of_stages = of_stages
        self._ranks: dict[tuple[int, int], tuple[Rank, int, int]] = {}
        self._has_compared: dict[int, bool] = {}

    def of(self, node: int, since: int) -> Change | None:
        """Return the first change since a time; None if the entry has to be searched by itself.

        The change does not say what was written then.
        """
        if since < 0 or self._compares(node):
            return None
        (clock, is_stage, stage, _, _), hop, first = self._rank(node, since)
        if first < 0:
            return None
        way = [node]
        while way[-1] != first and len(way) < LONGEST:
            way.append(hop)
            _, hop, _ = self._ranks[hop, since]
        if way[-1] != first:
            way.append(first)
        way.reverse()
        _, origin, _ = self._ranks[first, since]
        return Change(clock, -1 if is_stage else origin, stage, None, tuple(way))

    def _compares(self, node: int) -> bool:
        """Return True if an entry compares its values, or one upstream of it does."""
        structure = self._store.structure
        known = self._has_compared
        above = structure.prerequisites
        for n in self._upstream_first(node, known.__contains__):
            known[n] = any(p in structure.compared or known.get(p, False) for p in above[n])
        return known[node]

    def _rank(self, node: int, since: int) -> tuple[Rank, int, int]:
        """Return the rank of the first change since a time, the node above, and the first entry.

        The node above is the next one on the way up: in the end the variable, or -1 for a stage.
        """
        ranks = self._ranks
        store = self._store
        kinds = store.structure.kinds
        for n in self._upstream_first(node, lambda n: (n, since) in ranks):
            best = self._of_stages(n, since)
            hop, first = -1, -1 if best is NONE else n
            for p in store.structure.prerequisites[n]:
                rank, top = NONE, n
                if kinds[p] is VARIABLE:
                    clock = clock_of(store.gates[p])
                    if clock > since:
                        rank = clock, 0, 0, 1, 1
                elif kinds[p] is CACHE_ENTRY:
                    above, _, top = ranks[p, since]
                    if above is not NONE:
                        rank = (*above[:3], above[3] + 1, above[4] + 1)
                if rank < best:
                    best, hop, first = rank, p, top
            ranks[n, since] = best, hop, first
        return ranks[node, since]

    def _upstream_first(self, node: int, is_known: Callable[[int], bool]) -> list[int]:
        """Return an entry and those upstream that are not known, each after those above it."""
        structure = self._store.structure
        kinds = structure.kinds
        found: dict[int, None] = {}
        stack = [node]
        while stack:
            n = stack.pop()
            if n < 0:
                found[~n] = None
            elif n not in found and not is_known(n):
                stack.append(~n)
                stack.extend(
                    p
                    for p in structure.prerequisites[n]
                    if kinds[p] is CACHE_ENTRY and p not in found and not is_known(p)
                )
        return list(found)
