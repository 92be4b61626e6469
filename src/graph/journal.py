"""Journal of a store: old values of all that has changed since a checkpoint.

A journal notes what is about to change, the first time it does: values, versions and marks of
nodes, gates of groups. So going back costs what was changed, however large the graph is::

    checkpoint          tip: mark 5, gate 4        journal
    angle is written    tip: mark 5, gate 8        gate of {tip}: 4
    tip is computed     tip: mark 8, gate 8        gate of {tip}: 4, tip: mark 5
    back                tip: mark 5, gate 4

Of several checkpoints only the last one notes. To go back to an earlier one is to go back step by
step; when one in between is released, what it noted is given to the one before, which keeps what
it noted itself. A change of structure is noted *whole*: as copies of the lists of the store, which
cost no more than the copy of the structure.
"""

from typing import Any, Final

from stagecache.graph.releasing import let_go
from stagecache.graph.structure import Structure

ABSENT: Final = -1  # in place of a clock or a gate that is not there


class Whole:
    """All of a store that may differ once nodes were added or removed."""

    __slots__ = (
        "changed",
        "closed",
        "gates",
        "marks",
        "structure",
        "unpresumed",
        "values",
        "versions",
    )

    def __init__(
        self,
        structure: Structure,
        values: list[Any],
        versions: list[int],
        marks: list[int],
        gates: list[int],
        closed: set[int],
        changed: dict[int, int],
        unpresumed: dict[int, int],
    ) -> None:
        self.structure = structure
        self.values = values
        self.versions = versions
        self.marks = marks
        self.gates = gates
        self.closed = closed
        self.changed = changed
        self.unpresumed = unpresumed


class Journal:
    """Old values of all that has changed since a checkpoint.

    Attributes
    ----------
    nodes : dict of int to tuple
        By node that has changed: value, version, mark, and when it last had another value if that
        differs from the mark.
    gates : dict of int to int
        By group.
    unpresumed : dict of int to int
        By group: the gate of before it was presumed computed.
    closed : dict of int to bool
        By stage that was closed or opened: whether it was closed.
    whole : Whole or None
        What there was when nodes were first added or removed. Nothing is noted after that.
    """

    __slots__ = ("closed", "gates", "nodes", "unpresumed", "whole")

    def __init__(self) -> None:
        self.nodes: dict[int, tuple[Any, int, int, int]] = {}
        self.gates: dict[int, int] = {}
        self.unpresumed: dict[int, int] = {}
        self.closed: dict[int, bool] = {}
        self.whole: Whole | None = None

    def clear(self) -> None:
        """Forget what was noted, which was brought back.

        In such an order that the rest can be brought back again, if this is cut short.
        """
        whole, self.whole = self.whole, None
        self.gates.clear()
        self.unpresumed.clear()
        self.closed.clear()
        self.nodes.clear()
        let_go(whole)

    def take_over(self, later: "Journal") -> None:
        """Note what a later journal did, which is released. Cost O(what it noted)."""
        if self.whole is None:
            for node, kept in later.nodes.items():
                self.nodes.setdefault(node, kept)
            for group, gate in later.gates.items():
                self.gates.setdefault(group, gate)
            for group, gate in later.unpresumed.items():
                self.unpresumed.setdefault(group, gate)
            for stage, was_closed in later.closed.items():
                self.closed.setdefault(stage, was_closed)
            self.whole = later.whole
