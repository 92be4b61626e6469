r"""Reasons why entries are not valid, of all entries in one pass: what `explain` tells of each.

`explain` goes up from one entry. Here the nearest first change is passed down from entry to entry
instead, so that all entries together cost O(nodes + edges)::

    angle, written --> tip --> torque --> work       tip: angle, 1 edge
                                                     torque: that of tip, 2 edges

That holds where an entry is stale as soon as something upstream has changed. Below an entry that
compares its values, changes count or not by what was computed since: those are searched one by one.
"""

from collections.abc import Callable, Iterable
from typing import Final, final

from stagecache.graph.kind import NodeKind
from stagecache.graph.sources import shown_file
from stagecache.graph.status import status_of
from stagecache.graph.store import COMPUTING, clock_of
from stagecache.inspection.explain.explain import cause_of, change_of, path_of
from stagecache.inspection.explain.explanation import Cause
from stagecache.inspection.node_paths import NodePaths
from stagecache.state.contents.causes import Change, cause_of_variable, computed_at, known_causes
from stagecache.state.contents.contents import Contents
from stagecache.state.handles import CacheEntry
from stagecache.views.nodes import Reason

LONGEST: Final = 100
"""Most nodes of a path: of a longer one, the cause and the last nodes are kept."""

NONE: Final = (1 << 62, 0, 0, 0, 0)
"""Rank of an entry above which nothing has changed."""

Rank = tuple[int, int, int, int, int]
"""Time of a change, 1 if it is one of a stage, the stage, its distance, and edges along entries."""


def reasons(
    contents: Contents, paths: NodePaths, nodes: Iterable[int] | None = None
) -> dict[str, Reason]:
    """Return the reason of each entry that is not valid, by path; of all, or only of some nodes.

    Cost O(nodes + edges), of these and upstream of them.
    """
    store = contents.realization.store
    changes = _FirstChanges(contents)
    told: dict[tuple[int, int, int], tuple[Cause, str, str]] = {}  # once for each change
    found: dict[str, Reason] = {}
    for node in paths.of if nodes is None else nodes:
        entry, path = store.keys[node], paths.of[node]
        if not isinstance(entry, CacheEntry) or store.is_valid(node):
            continue
        change = changes.of(entry)
        if change is None:
            diagnosis = cause_of(contents, paths, entry)
            cause, way = diagnosis.cause, diagnosis.path
            text, file = _told(cause)
        else:
            key = change.clock, change.node, change.stage
            if key not in told:
                cause = change_of(contents, paths, change)
                told[key] = cause, *_told(cause)
            cause, text, file = told[key]
            way = path_of(contents, paths, change)
        if len(way) > LONGEST:
            way = (way[0], *way[1 - LONGEST :])
        line = f"{path} is {status_of(store, node)}: {text}."
        found[path] = Reason(line, way, cause.variable, file, cause.line)
    return found


def _told(cause: Cause) -> tuple[str, str]:
    """Return the text of a cause, and the file of its write."""
    return str(cause), shown_file(cause.file) if cause.file else ""


@final
class _FirstChanges:
    """The first change upstream of each entry, where this can be passed down."""

    def __init__(self, contents: Contents) -> None:
        self._realization = contents.realization
        self._store = contents.realization.store
        self._is_current = not contents.outdated_by
        self._causes = known_causes(contents.realization)
        self._ranks: dict[tuple[int, int], tuple[Rank, int]] = {}
        self._has_compared: dict[int, bool] = {}

    def of(self, entry: CacheEntry[object]) -> Change | None:
        """Return the change; None if the entry has to be searched by itself."""
        store = self._store
        node = entry._node
        is_plain = self._is_current and store.marks[node] > COMPUTING
        if not is_plain or store.is_closed(node):
            return None
        since = computed_at(self._realization, entry)
        if since < 0 or self._compares(node):
            return None
        rank, hop = self._rank(node, since)
        if rank is NONE:
            return None
        way = [node]
        while hop >= 0 and store.structure.kinds[hop] is not NodeKind.VARIABLE:
            way.append(hop)
            _, hop = self._ranks[hop, since]
        clock, is_stage, stage, _, _ = rank
        way.reverse()
        if is_stage:
            return Change(clock, -1, stage, self._causes[stage][1], tuple(way))
        written = cause_of_variable(self._causes, store.keys[hop], clock)
        return Change(clock, hop, 0, written, tuple(way))

    def _compares(self, node: int) -> bool:
        """Return True if an entry compares its values, or one upstream of it does."""
        structure = self._store.structure
        known = self._has_compared
        above = structure.prerequisites
        for n in _upstream_first(node, known.__contains__, self._entries_above):
            known[n] = any(p in structure.compared or known.get(p, False) for p in above[n])
        return known[node]

    def _rank(self, node: int, since: int) -> tuple[Rank, int]:
        """Return the rank of the first change since a time, and the next node on the way up."""
        ranks = self._ranks
        store = self._store
        kinds = store.structure.kinds
        for n in _upstream_first(node, lambda n: (n, since) in ranks, self._entries_above):
            best, hop = NONE, -1
            key = store.keys[n]
            assert isinstance(key, CacheEntry)
            for stage in range(key.available_from + 1):
                clock = self._causes[stage][0]
                rank = clock, 1, stage, key.available_from - stage + 1, 1
                if clock > since and rank < best:
                    best = rank
            for p in store.structure.prerequisites[n]:
                rank = NONE
                if kinds[p] is NodeKind.VARIABLE:
                    clock = clock_of(store.gates[p])
                    if clock > since:
                        rank = clock, 0, 0, 1, 1
                elif kinds[p] is NodeKind.CACHE_ENTRY:
                    above, _ = ranks[p, since]
                    if above is not NONE:
                        rank = (*above[:3], above[3] + 1, above[4] + 1)
                if rank < best:
                    best, hop = rank, p
            ranks[n, since] = best, hop
        return ranks[node, since]

    def _entries_above(self, node: int) -> list[int]:
        structure = self._store.structure
        kinds = structure.kinds
        return [p for p in structure.prerequisites[node] if kinds[p] is NodeKind.CACHE_ENTRY]


def _upstream_first(
    node: int, is_known: Callable[[int], bool], above: Callable[[int], list[int]]
) -> list[int]:
    """Return a node and those upstream of it that are not known, each after those above it."""
    found: dict[int, None] = {}
    stack = [node]
    while stack:
        n = stack.pop()
        if n < 0:
            found[~n] = None
        elif n not in found and not is_known(n):
            stack.append(~n)
            stack.extend(p for p in above(n) if p not in found and not is_known(p))
    return list(found)
