"""Columns and layers of the nodes of a picture.

Columns are the stages to which nodes belong by derivation, in order. In a view without these, the
variables come first. A column has as many layers as the longest path inside of it has nodes, and
more where a layer would get too high::

    Position                       | Velocity
    angle -> stage -> tip -> force | rate -> stage -> energy

So edges go from left to right. One that does not, because there is a cycle, counts as reversed.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from attrs import frozen

from stagecache.views.nodes import AbstractView, NodeInfo
from stagecache.views.reach import depth_first, neighbours

ROWS: Final = 60
"""Typical number of nodes below each other, over all bands."""

FEWEST_ROWS: Final = 6
"""Number of nodes that any band may have below each other."""


@frozen
class Layers:
    """Layers and columns of nodes, from left to right.

    Attributes
    ----------
    of : mapping
        The layer of each node, by path.
    columns : tuple of str
        Titles of the columns.
    firsts : tuple of int
        The first layer of each column, and last the number of layers.
    """

    of: Mapping[str, int]
    columns: tuple[str, ...]
    firsts: tuple[int, ...]


def layers_of(view: AbstractView) -> Layers:
    """Return the columns and layers of a view."""
    columns = _columns(view)
    pairs = [(e.source, e.target) for e in view.edges if e.source != e.target]
    bands = len({node.subsystem for node in view.nodes})
    most = max(FEWEST_ROWS, ROWS // max(bands, 1))
    of: dict[str, int] = {}
    firsts = [0]
    for nodes in columns.values():
        inside = {node.path for node in nodes}
        depths = depths_of(inside, [p for p in pairs if p[0] in inside and p[1] in inside], nodes)
        first = firsts[-1]
        for depth in range(max(depths.values()) + 1):
            first = _fill(of, first, [n for n in nodes if depths[n.path] == depth], most)
        firsts.append(first)
    return Layers(of, tuple(title for _, title in columns), tuple(firsts))


def _fill(of: dict[str, int], first: int, nodes: Sequence[NodeInfo], most: int) -> int:
    """Spread nodes over as many layers as it takes; the first layer that is left."""
    total = Counter(node.subsystem for node in nodes)
    seen: Counter[str] = Counter()
    needed = max(-(-number // most) for number in total.values())
    for node in nodes:
        parts = -(-total[node.subsystem] // most)
        of[node.path] = first + seen[node.subsystem] * parts // total[node.subsystem]
        seen[node.subsystem] += 1
    return first + needed


def _columns(view: AbstractView) -> dict[tuple[int, str], list[NodeInfo]]:
    """Return the nodes of each column; a node without a stage stands after its prerequisites."""
    later = _after_a_stage(view)
    variables, before, after = (0, "variables"), (1, ""), (3, "")
    columns: dict[tuple[int, str], list[NodeInfo]] = {
        key: [] for key in (variables, before, *[(2, stage) for stage in view.stages], after)
    }
    for node in view.nodes:
        if node.column:
            columns.setdefault((2, node.column), []).append(node)
        elif node.kind == "variable":
            columns[variables].append(node)
        elif node.stage:
            columns[2, node.stage].append(node)
        else:
            columns[after if node.path in later else before].append(node)
    return {key: nodes for key, nodes in columns.items() if nodes}


def _after_a_stage(view: AbstractView) -> set[str]:
    """Return the paths downstream of any item that has a stage."""
    below = neighbours((e.source, e.target) for e in view.edges)
    found = {node.path for node in view.nodes if node.stage and node.kind != "variable"}
    waiting = list(found)
    while waiting:
        for path in below.get(waiting.pop(), ()):
            if path not in found:
                found.add(path)
                waiting.append(path)
    return found


def depths_of(
    inside: Iterable[str], pairs: Sequence[tuple[str, str]], order: Sequence[NodeInfo]
) -> dict[str, int]:
    """Return the length of the longest path to each node, along edges without cycles."""
    below = neighbours(pairs)
    done, closing = depth_first([node.path for node in order], below)
    depths = dict.fromkeys(inside, 0)
    for path in reversed(done):
        for target in below.get(path, ()):
            if (path, target) not in closing:
                depths[target] = max(depths[target], depths[path] + 1)
    return depths
