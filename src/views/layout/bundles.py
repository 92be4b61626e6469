"""Bundles of edges: common bends in the layers between their ends.

An edge passes each layer between its ends at a bend. What one node gives to many shares its bends,
and so does what many variables of a subsystem do to one stage::

    angle ──┬───────┬── force          angle ──┐
            └─ tip  └── energy         length ─┴──────── stage Position
"""

from collections.abc import Mapping, Sequence
from typing import Final

from attrs import frozen

from stagecache.views.nodes import EdgeInfo, EdgeKind

MOST: Final = 40_000
"""Most passes of edges through bends. With more, no reader could follow them, and none bends."""

MERGED: Final = (EdgeKind.INVALIDATES, EdgeKind.PART)
"""Kinds of edges that share bends where they have the target in common, not the source."""


@frozen
class Bend:
    """A place in a layer through which edges pass.

    Attributes
    ----------
    layer : int
    band : int
    """

    layer: int
    band: int


@frozen
class Bundles:
    """All bends, and how edges pass through them.

    Attributes
    ----------
    bends : tuple of Bend
    chains : tuple of tuple of int
        For each edge the numbers of its bends, from left to right.
    """

    bends: tuple[Bend, ...]
    chains: tuple[tuple[int, ...], ...]


def bundles_of(
    edges: Sequence[EdgeInfo], layers: Mapping[str, int], bands: Mapping[str, int]
) -> Bundles:
    """The bends of edges between nodes of these layers and bands; none if there are too many."""
    bends: list[Bend] = []
    numbers: dict[tuple[object, ...], int] = {}
    chains = []
    passes = 0
    for edge in edges:
        left, right = ends_of(edge, layers)
        band = bands[left]
        chain = []
        for layer in range(layers[left] + 1, layers[right]):
            shared = (right, band) if edge.kind in MERGED else (left,)
            key = (*shared, edge.kind, left == edge.source, layer)
            if key not in numbers:
                numbers[key] = len(bends)
                bends.append(Bend(layer, band))
            chain.append(numbers[key])
        chains.append(tuple(chain))
        passes += len(chain)
        if passes > MOST:
            return Bundles((), ((),) * len(edges))
    return Bundles(tuple(bends), tuple(chains))


def ends_of(edge: EdgeInfo, layers: Mapping[str, int]) -> tuple[str, str]:
    """The paths of the left end and of the right end."""
    if layers[edge.source] <= layers[edge.target]:
        return edge.source, edge.target
    return edge.target, edge.source
