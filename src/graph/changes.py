r"""Changes upstream of an entry since it was computed: the causes for which it is stale.

The search goes up from the entry. A change counts unless an entry in between was computed again and
came out equal::

    angle, written      width, written
      |                   |
    side, compared        |       side was computed again and is equal: angle is not a cause,
       \                  |       and width is one
        \________________/
               force

The time of each write is not stored. Known is the first write of a variable since something below
it was computed.
"""

from typing import final

from attrs import frozen

from stagecache.graph.kind import NodeKind
from stagecache.graph.store import Store, clock_of

Above = dict[int, int]
"""Next node on a shortest path down to an entry, by node upstream of it."""


@final
@frozen
class NodeChange:
    """A node upstream of an entry that has changed since the entry was computed.

    Attributes
    ----------
    clock : int
        Time of the change.
    node : int
        The variable, or the compared entry whose value was replaced by hand.
    way : tuple of int
        The entries from there down to the one in question.
    """

    clock: int
    node: int
    way: tuple[int, ...]


@final
@frozen
class Search:
    """Result of a search upstream of an entry.

    Attributes
    ----------
    changes : tuple of NodeChange
        The nearest first.
    visited : tuple of (int, int)
        Entries whose prerequisites were looked at, each with the time since which changes count.
    below : dict of int to int
        Paths down to the entry.
    """

    changes: tuple[NodeChange, ...]
    visited: tuple[tuple[int, int], ...]
    below: Above


def nodes_changed(store: Store, entry: int, since: int, *, cuts: bool = True) -> Search:
    """Return all known changes of nodes upstream of an entry.

    Parameters
    ----------
    since : int
        Time since which changes count.
    cuts : bool
        Leave out changes above entries that came out equal. If False, this finds also what a
        read is yet to look into.
    """
    structure = store.structure
    below: Above = {entry: -1}
    queue = [(entry, since)]
    found: dict[int, NodeChange] = {}
    for node, threshold in queue:
        for above in structure.prerequisites[node]:
            kind = structure.kinds[above]
            if kind is NodeKind.VARIABLE:
                clock = clock_of(store.gates[above])
                if clock > threshold and above not in found:
                    found[above] = NodeChange(clock, above, way_down(below, node))
            elif kind is NodeKind.CACHE_ENTRY and above not in below:
                next_threshold = threshold
                if cuts and above in structure.compared:
                    next_threshold = _threshold(store, above, threshold)
                    replaced = _replaced(store, above)
                    if replaced > threshold:
                        found[above] = NodeChange(replaced, above, way_down(below, node))
                if next_threshold >= 0:
                    below[above] = node
                    queue.append((above, next_threshold))
    return Search(tuple(found.values()), tuple(queue), below)


def invalidated_together(store: Store, entry: int) -> tuple[int, ...]:
    """Return the path from the farthest entry upstream that was invalidated at the same time."""
    mark = store.marks[entry]
    below: Above = {entry: -1}
    queue = [entry]
    for node in queue:
        for above in store.structure.prerequisites[node]:
            is_entry = store.structure.kinds[above] is NodeKind.CACHE_ENTRY
            if is_entry and above not in below and store.marks[above] == mark:
                below[above] = node
                queue.append(above)
    return way_down(below, queue[-1])


def way_down(below: Above, node: int) -> tuple[int, ...]:
    """Return the path from a node down to the entry in question."""
    way = []
    while node >= 0:
        way.append(node)
        node = below[node]
    return tuple(way)


def _threshold(store: Store, node: int, since: int) -> int:
    """Return the time since which changes above a compared entry count; -1 if it came out equal."""
    mark = store.marks[node]
    if mark < 0 or store.changed.get(node, mark) > since:
        return since
    return -1 if store.is_valid(node) else mark


def _replaced(store: Store, node: int) -> int:
    """Return the time at which a compared entry was stored by hand after its computation, or -1."""
    changed = store.changed.get(node, -1)
    return changed if changed > store.marks[node] >= 0 else -1
