"""Strategies for structures and graphs."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from stagecache.graph import Graph, NodeKind, Structure

MODULUS = 1009


@st.composite
def structures(draw: st.DrawFn, *, max_nodes: int = 12, max_prerequisites: int = 4) -> Structure:
    """Structures: variables, stages in a row, and cache entries; some nodes were removed again.

    Parameters
    ----------
    max_nodes : int
        Most nodes that were added; there is at least one.
    max_prerequisites : int
        Most prerequisites of an entry.
    """
    structure = Structure()
    stages: list[int] = []
    for number in range(draw(st.integers(1, max_nodes))):
        kind = draw(st.sampled_from((NodeKind.VARIABLE, NodeKind.CACHE_ENTRY, NodeKind.STAGE)))
        known = list(structure)
        above: list[int] = []
        if kind is NodeKind.CACHE_ENTRY and known:
            one = st.sampled_from(known)
            above = draw(st.lists(one, unique=True, max_size=max_prerequisites))
        node = structure.add(f"{kind} {number}", kind, tuple(above))
        if kind is NodeKind.STAGE:
            if stages:
                structure.connect(node, stages[-1])
            stages.append(node)
    unused = [node for node in structure if not structure.dependents[node]]
    going = draw(st.lists(st.sampled_from(unused), unique=True, max_size=2)) if unused else []
    for node in going:
        structure.remove(node)
    return structure


@st.composite
def graphs(draw: st.DrawFn, *, max_variables: int = 5, max_entries: int = 10) -> Graph:
    """Graphs of integers: entries are sums of some of the nodes before them.

    The variables are "v0", "v1", ..., the entries "e0", "e1", ... . Some of the entries compare
    their values (``equal=``).

    Parameters
    ----------
    max_variables : int
        There is at least one.
    max_entries : int
        There may be none.
    """
    graph = Graph()
    first = draw(st.lists(st.integers(-10, 10), min_size=1, max_size=max_variables))
    nodes: list[Any] = [graph.variable(f"v{i}", value) for i, value in enumerate(first)]
    for number in range(draw(st.integers(0, max_entries))):
        above = draw(st.lists(st.sampled_from(nodes), unique_by=id, min_size=1, max_size=4))
        modulus = draw(st.sampled_from((MODULUS, 3)))  # a small one often gives the same again
        equal = True if draw(st.booleans()) else None
        entry = graph.entry(
            f"e{number}", _sum(number, modulus), prerequisites=tuple(above), equal=equal
        )
        nodes.append(entry)
    return graph


def _sum(number: int, modulus: int) -> Callable[..., int]:
    def total(*nodes: Callable[[], int]) -> int:
        return (number + sum(k * node() for k, node in enumerate(nodes, 1))) % modulus

    return total
