r"""What has made an entry stale: the changes upstream of it since it was computed.

The search goes up from the entry. A change counts where nothing between it and the entry has come
out as it was::

    angle, written      width, written
      |                   |
    side, compared        |       side was computed again and is equal: angle is no cause,
       \                  |       and width is one
        \________________/
               force

When a variable was written is not stored for each write: known is the first one since something
below it was computed, and of a stage the last one that invalidated it.
"""

from attrs import frozen

from stagecache.graph.gates import closing_of
from stagecache.graph.kind import NodeKind
from stagecache.graph.store import Store
from stagecache.state.handles import CacheEntry
from stagecache.state.realization import Realization
from stagecache.state.stage import Stage

Above = dict[int, int]
"""By node upstream of an entry: the next one on a shortest way down to it."""


@frozen
class Change:
    """Something upstream of an entry that has changed since it was computed.

    Attributes
    ----------
    clock : int
        When.
    node : int
        The variable, or the compared entry whose value was replaced by hand; -1 for a stage.
    stage : int
        The stage; 0 if it is none.
    written : object
        What was written then: a handle, or text; None if that is not known.
    way : tuple of int
        The entries from there down to the one in question.
    """

    clock: int
    node: int
    stage: int
    written: object
    way: tuple[int, ...]


def changes_upstream(
    realization: Realization, entry: CacheEntry[object], *, cuts: bool = True
) -> list[Change]:
    """All that is known of, the nearest first, stages after variables.

    Parameters
    ----------
    cuts : bool
        Whether what has come out as it was hides what is above it. If not, this finds also what a
        read is yet to look into.
    """
    store = realization.store
    structure = store.structure
    below: Above = {entry._node: -1}
    queue = [(entry._node, store.marks[entry._node])]
    found: dict[int, Change] = {}
    of_stages: dict[int, Change] = {}
    for node, since in queue:
        key = store.keys[node]
        assert isinstance(key, CacheEntry)
        for stage in range(key.depends_on + 1):
            clock, cause = realization.causes[stage]
            if clock > since:
                change = Change(clock, -1, stage, cause, _way(below, node))
                known = of_stages.get(stage)
                if known is None or _length(realization, change) < _length(realization, known):
                    of_stages[stage] = change
        for above in structure.prerequisites[node]:
            kind = structure.kinds[above]
            if kind is NodeKind.VARIABLE:
                clock = store.gates[above] - closing_of(store.gates[above])
                if clock > since and above not in found:
                    written = _written(realization, clock)
                    found[above] = Change(clock, above, 0, written, _way(below, node))
            elif kind is NodeKind.CACHE_ENTRY and above not in below:
                threshold = since
                if cuts and above in structure.compared:
                    threshold = _threshold(store, above, since)
                    replaced = _replaced(store, above)
                    if threshold == since and replaced > since:
                        found[above] = Change(replaced, above, 0, None, _way(below, node))
                if threshold >= 0:
                    below[above] = node
                    queue.append((above, threshold))
    return [*found.values(), *[of_stages[stage] for stage in sorted(of_stages)]]


def _threshold(store: Store, node: int, since: int) -> int:
    """Since when changes above a compared entry count; -1 if it has come out as it was."""
    mark = store.marks[node]
    if mark < 0 or store.changed.get(node, mark) > since:
        return since
    return -1 if store.is_valid(node) else mark


def _replaced(store: Store, node: int) -> int:
    """When the value of a compared entry was stored by hand, since it was computed; else -1."""
    changed = store.changed.get(node, -1)
    return changed if changed > store.marks[node] >= 0 else -1


def _written(realization: Realization, clock: int) -> object:
    """What was written when the clock showed that, if it is known."""
    for when, cause in realization.causes:
        if when == clock:
            return cause
    return None


def _way(below: Above, node: int) -> tuple[int, ...]:
    way = []
    while node >= 0:
        way.append(node)
        node = below[node]
    return tuple(way)


def _length(realization: Realization, change: Change) -> int:
    """How many edges lie between a stage that has changed and the entry in question."""
    first = realization.store.keys[change.way[0]]
    assert isinstance(first, CacheEntry)
    return first.depends_on - change.stage + len(change.way)


# ---------------------------------------------------------------------- what it waits for


def ways_upstream(realization: Realization, entry: CacheEntry[object]) -> Above:
    """The entry and all those on which it depends, directly or not, and the ways down to it."""
    structure = realization.store.structure
    below: Above = {entry._node: -1}
    queue = [entry._node]
    for node in queue:
        for above in structure.prerequisites[node]:
            if above not in below and structure.kinds[above] is NodeKind.CACHE_ENTRY:
                below[above] = node
                queue.append(above)
    return below


def missing_stage(
    realization: Realization, entry: CacheEntry[object]
) -> tuple[CacheEntry[object], Stage, tuple[int, ...]] | None:
    """The nearest entry whose stage its subsystem has not reached, and the way down from there."""
    below = ways_upstream(realization, entry)
    for node in below:
        key = realization.store.keys[node]
        assert isinstance(key, CacheEntry)
        if key.subsystem is not None and realization.stages[key.subsystem] < key.depends_on:
            return key, key.depends_on, _way(below, node)
    return None


def invalidated_together(realization: Realization, entry: CacheEntry[object]) -> tuple[int, ...]:
    """The way from the farthest entry upstream that was invalidated at the same time."""
    store = realization.store
    mark = store.marks[entry._node]
    below: Above = {entry._node: -1}
    queue = [entry._node]
    for node in queue:
        for above in store.structure.prerequisites[node]:
            is_entry = store.structure.kinds[above] is NodeKind.CACHE_ENTRY
            if is_entry and above not in below and store.marks[above] == mark:
                below[above] = node
                queue.append(above)
    return _way(below, queue[-1])
