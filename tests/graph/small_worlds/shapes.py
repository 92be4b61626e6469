"""All graphs of a few nodes: edges, comparisons, and what computations read.

Variables come first. Their order means nothing, so of two shapes that differ in it, only one is
listed. Entries are listed in each order in which they can be declared, since groups depend on it.
"""

from collections.abc import Iterator
from functools import cached_property
from itertools import combinations, permutations, product

import attrs

from stagecache import Graph
from stagecache.graph import AbstractNode
from tests.graph.model import Read

VARIABLES = "abcd"
ENTRIES = "wxyz"


@attrs.frozen
class EntryShape:
    """Declaration of one entry.

    Attributes
    ----------
    prerequisites : tuple of int
        Nodes, in the order in which the function gets their handles.
    is_compared : bool
        The entry has ``equal=True``; its value is 0 or 1, so that different inputs may give the
        same. Other entries have different values for different reads.
    branches : bool
        The function reads the others only if the first prerequisite is odd.
    """

    prerequisites: tuple[int, ...]
    is_compared: bool
    branches: bool

    def value(self, reads: tuple[Read, ...]) -> int:
        """Compute the value, with a call for each prerequisite that is needed."""
        total, weight = 1, 1
        for read in reads:
            value = read()
            total += weight * value
            weight *= 97  # odd, so that a change of parity reaches compared entries below
            if self.branches and weight == 97 and value % 2 == 0:
                break
        return total % 2 if self.is_compared else total


@attrs.frozen
class Shape:
    """A number of variables, which are the first nodes, and the entries after them."""

    num_variables: int
    entries: tuple[EntryShape, ...]

    def __str__(self) -> str:
        texts = [f"variables {', '.join(self.names[: self.num_variables])}"]
        for name, entry in zip(self.names[self.num_variables :], self.entries, strict=True):
            above = ", ".join(self.names[p] for p in entry.prerequisites)
            notes = "compared" * entry.is_compared, "branches" * entry.branches
            texts.append(" ".join([f"{name}({above})", *filter(None, notes)]))
        return "; ".join(texts)

    @cached_property
    def num_nodes(self) -> int:
        return self.num_variables + len(self.entries)

    @cached_property
    def names(self) -> str:
        return VARIABLES[: self.num_variables] + ENTRIES[: len(self.entries)]

    @cached_property
    def above(self) -> tuple[frozenset[int], ...]:
        """All nodes upstream, by node, which is among them itself."""
        found = [frozenset({node}) for node in range(self.num_variables)]
        for node, entry in enumerate(self.entries, self.num_variables):
            found.append(frozenset({node}).union(*[found[p] for p in entry.prerequisites]))
        return tuple(found)

    @cached_property
    def below(self) -> tuple[tuple[int, ...], ...]:
        """All entries downstream, by node; an entry is among them itself."""
        entries = range(self.num_variables, self.num_nodes)
        return tuple(
            tuple(e for e in entries if node in self.above[e]) for node in range(self.num_nodes)
        )

    @cached_property
    def causes(self) -> tuple[tuple[int, ...], ...]:
        """Nodes whose new versions justify a computation, by node.

        These are the variables and the compared entries upstream, as far as a path leads down from
        them that has no other compared entry on it.
        """
        found: list[frozenset[int]] = [frozenset()] * self.num_variables
        for entry in self.entries:
            causes: set[int] = set()
            for p in entry.prerequisites:
                is_plain = p >= self.num_variables and not self._entry(p).is_compared
                causes |= found[p] if is_plain else {p}
            found.append(frozenset(causes))
        return tuple(tuple(sorted(each)) for each in found)

    @cached_property
    def has_compared(self) -> bool:
        return any(entry.is_compared for entry in self.entries)

    def _entry(self, node: int) -> EntryShape:
        return self.entries[node - self.num_variables]

    @cached_property
    def _recomputed(self) -> dict[tuple[int, ...], tuple[int, ...]]:
        return {}

    def recomputed(self, variables: tuple[int, ...]) -> tuple[int, ...]:
        """Return the value of each node from those of the variables alone."""
        known = self._recomputed.get(variables)
        if known is None:
            values = list(variables)
            for entry in self.entries:
                values.append(entry.value(tuple([values[p].__int__ for p in entry.prerequisites])))
            known = self._recomputed[variables] = tuple(values)
        return known

    def build(self, computed: list[int]) -> Graph:
        """Make the graph, with 0 in each variable. Computations append their node to a list."""
        graph = Graph()
        nodes: list[AbstractNode] = []
        nodes += [graph.variable(name, 0) for name in self.names[: self.num_variables]]
        for node, entry in enumerate(self.entries, self.num_variables):

            def compute(*reads: Read, node: int = node, entry: EntryShape = entry) -> int:
                computed.append(node)
                return entry.value(reads)

            above = [nodes[p] for p in entry.prerequisites]
            equal = True if entry.is_compared else None
            nodes.append(graph.entry(self.names[node], compute, prerequisites=above, equal=equal))
        return graph


def all_shapes(num_nodes: int) -> Iterator[Shape]:
    """Yield all shapes of that many nodes."""
    for num_variables in range(1, num_nodes + 1):
        seen: set[Shape] = set()
        choices = [list(_entries(node)) for node in range(num_variables, num_nodes)]
        for entries in product(*choices):
            shape = Shape(num_variables, entries)
            if shape not in seen:
                seen.update(_renamed(shape))
                yield shape


def _entries(num_above: int) -> Iterator[EntryShape]:
    """Yield all entries that can be declared below that many nodes."""
    for size in range(num_above + 1):
        for above in combinations(range(num_above), size):
            for is_compared in (False, True):
                yield EntryShape(above, is_compared, branches=False)
                for first in above if size > 1 else ():
                    others = tuple(p for p in above if p != first)
                    yield EntryShape((first, *others), is_compared, branches=True)


def _renamed(shape: Shape) -> Iterator[Shape]:
    """Yield the shape with its variables in each order."""
    num_variables = shape.num_variables
    for order in permutations(range(num_variables)):
        entries = []
        for entry in shape.entries:
            above = [order[p] if p < num_variables else p for p in entry.prerequisites]
            first = 1 if entry.branches else 0
            above[first:] = sorted(above[first:])
            entries.append(attrs.evolve(entry, prerequisites=tuple(above)))
        yield Shape(num_variables, tuple(entries))
