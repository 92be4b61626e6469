"""Edge lists, kept small: most nodes have no edge in a direction, or one.

An edge list is a tuple while it has at most one item, which is smaller than a list and shared by
copies, and a list from the second item on.
"""

from collections.abc import Sequence

Edges = list[Sequence[int]]
"""By node or group: the other ends of its edges in one direction."""


def attach(edges: Edges, at: int, end: int) -> None:
    """Add an edge."""
    listed = edges[at]
    if isinstance(listed, list):
        listed.append(end)
    else:
        edges[at] = [*listed, end] if listed else (end,)


def detach(edges: Edges, at: int, end: int) -> None:
    """Take an edge out, looking for it from the end: what came last usually goes first."""
    listed = edges[at]
    if isinstance(listed, list):
        i = len(listed) - 1
        while listed[i] != end:
            i -= 1
        del listed[i]
    else:
        edges[at] = ()


def copy_edges(edges: Edges) -> Edges:
    """Return edges that share no list with these."""
    return [e.copy() if isinstance(e, list) else e for e in edges]
