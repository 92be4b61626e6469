"""The gates of groups: when something upstream last changed, and whether it can be reached now.

A gate is a clock. A change raises the gates of the groups downstream, and a group is out of date
for all whose mark is lower (`Store`).

**Live groups.** A write visits only groups that are *live*: in which, or downstream of which,
something may have become valid since their gates were last raised. A computation makes its group
live, and with it all groups upstream. So a write pays for the computations made since the last
one and for nothing else, and a second write in a row costs O(1). Of the groups directly below a
*wide* one, those that are live are listed, so that the others need not even be passed over.

**Closed groups.** A source that is closed (a stage that is not realized) closes the groups
downstream, for as long as it is. The gate of a closed group has `CLOSED` added once for each
closed group directly upstream and for its own source being closed: it is above every mark, and
what it will be when the group opens is still there below.

**Presumed entries.** Once a stage is reached, an entry may be presumed computed: by whoever
realized the stage, without having marked it. The gate of its group is then ``-clock``, with the
clock when the stage was opened, which lets in every mark but those of entries that were
invalidated later. A write upstream ends it, as it raises the gate; closing the stage brings back
the gate of before.

**Interrupts.** Control-C may strike between any two steps of a walk. A walk over gates that is cut
short is made good before the exception goes on: too much is taken for live, or the closed groups
are counted again.
"""

from typing import Final

from stagecache.errors import NodeKindError
from stagecache.graph.journal import ABSENT, Journal
from stagecache.graph.kind import NodeKind
from stagecache.graph.structure import Structure

CLOSED: Final = 1 << 60  # added to a gate; above every clock
SHUT: Final = CLOSED >> 1  # between the gates of open groups and those of closed ones
WIDE: Final = 8  # a group with more groups directly below lists the live ones


class AbstractGates:  # no ABC: a compiled class must not have a metaclass
    """The groups of one structure, for one state; the half of a `Store` that knows no entries.

    Attributes
    ----------
    structure : Structure
        To be changed only through the store.
    group_of : list of int
        That of the structure, one step nearer.
    clock : int
        The number of changes so far, never set back: of writes, explicit invalidations, values that
        were stored by hand, and stages reached at which something is presumed computed.
    gates, live : list
        By group.
    closed : set of int
        The stages that are closed.
    unpresumed : dict of int to int
        By group that is presumed computed: its gate without that.
    journal : Journal or None
        That which notes changes, if one does.
    """

    __slots__ = (
        "_live_below",
        "clock",
        "closed",
        "gates",
        "group_of",
        "journal",
        "live",
        "structure",
        "unpresumed",
    )

    def __init__(self) -> None:
        self.structure = Structure()
        self.group_of = self.structure.group_of
        self.clock = 0
        self.gates: list[int] = []
        self.live: list[bool] = []
        self.closed: set[int] = set()
        self.unpresumed: dict[int, int] = {}
        self.journal: Journal | None = None
        self._live_below: dict[int, dict[int, None]] = {}  # of wide groups, once they were raised

    # ------------------------------------------------------------------ raising

    def make_live(self, group: int) -> None:
        """Let the next write upstream of this group raise its gate."""
        live = self.live
        live_below = self._live_below
        upstream = self.structure.upstream
        queue = [group]
        try:
            for g in queue:
                if not live[g]:
                    live[g] = True
                    queue.extend(upstream[g])
                    if live_below:
                        for above in upstream[g]:
                            if above in live_below:
                                live_below[above][g] = None
        except BaseException:
            self.take_all_for_live()
            raise

    def raise_gates(self, queue: list[int]) -> None:
        """Raise the gates of these groups and of all that are live downstream."""
        clock = self.clock
        live = self.live
        gates = self.gates
        live_below = self._live_below
        downstream = self.structure.downstream
        kept = None if self.journal is None else self.journal.gates
        try:
            for g in queue:
                if live[g]:
                    live[g] = False
                    if kept is not None and g not in kept:
                        kept[g] = gates[g]
                    gates[g] = clock if gates[g] < SHUT else closing_of(gates[g]) + clock
                    if len(downstream[g]) <= WIDE:
                        queue.extend(downstream[g])
                    else:
                        queue.extend(live_below.get(g, downstream[g]))
                        live_below[g] = {}
        except BaseException:
            self.take_all_for_live()
            raise

    def take_all_for_live(self) -> None:
        """Let the next write raise all gates downstream. Cost O(groups)."""
        self._live_below.clear()
        self.live[:] = [True] * len(self.live)

    # ------------------------------------------------------------------ closing and opening

    def close(self, node: int) -> None:
        """Close a stage: it and all that depends on it is invalid until it is opened.

        What is marked valid in the meantime becomes valid then, unless something upstream of it
        changes. No effect where it is closed already. Cost O(edges of the groups that close).
        """
        if self.structure.kinds[node] is not NodeKind.STAGE:
            raise self._no_stage(node)
        if node not in self.closed:
            if self.journal is not None:
                self.journal.closed.setdefault(node, False)
            self.closed.add(node)
            self._shut(node)
            if node in self.structure.presumable:
                self._withdraw(node)

    def open(self, node: int) -> None:
        """Open a stage: what did not change since it was marked is valid again.

        Entries of which it is the latest stage are presumed computed. No effect where it is open
        already. Cost O(edges of the groups that open, and of those presumed computed).
        """
        if self.structure.kinds[node] is not NodeKind.STAGE:
            raise self._no_stage(node)
        if node in self.closed:
            self.admit(node)
            self.presume(node)

    def admit(self, node: int) -> None:
        """Open a stage that is closed, but presume nothing computed until `presume` says so."""
        if self.journal is not None:
            self.journal.closed.setdefault(node, True)
        self.closed.remove(node)
        self._unshut(node)

    def presume(self, node: int) -> None:
        """Presume that all entries of which this open stage is the latest are computed."""
        if node in self.structure.presumable:
            self._presume(node)

    def _no_stage(self, node: int) -> NodeKindError:
        kind = self.structure.kinds[node]
        return NodeKindError(
            f"{kind} {self.structure.name_of(node)!r}: cannot be closed or opened",
            "a stage",
            f"a {kind}",
            "close a stage on which it depends",
        )

    def _shut(self, group: int) -> None:
        gates = self.gates
        downstream = self.structure.downstream
        kept = None if self.journal is None else self.journal.gates
        queue = [group]
        try:
            for g in queue:
                was_open = gates[g] < SHUT
                if kept is not None and g not in kept:
                    kept[g] = gates[g]
                gates[g] += CLOSED
                if was_open:
                    queue.extend(downstream[g])
        except BaseException:
            self.count_closed_again()
            raise

    def _unshut(self, group: int) -> None:
        gates = self.gates
        downstream = self.structure.downstream
        kept = None if self.journal is None else self.journal.gates
        queue = [group]
        try:
            for g in queue:
                if kept is not None and g not in kept:
                    kept[g] = gates[g]
                gates[g] -= CLOSED
                if gates[g] < SHUT:
                    queue.extend(downstream[g])
        except BaseException:
            self.count_closed_again()
            raise

    def count_closed_again(self) -> None:
        """Make good what a walk that was cut short has left. Cost O(groups)."""
        if self.journal is not None:
            for g, gate in enumerate(self.gates):
                self.journal.gates.setdefault(g, gate)
        self.gates[:] = [gate - closing_of(gate) for gate in self.gates]
        for stage in self.closed:
            self._shut(stage)

    # ------------------------------------------------------------------ presuming

    def _presume(self, stage: int) -> None:
        gates = self.gates
        self.clock += 1
        for g in self.structure.presumable[stage]:
            if self.journal is not None:
                self.journal.gates.setdefault(g, gates[g])
                self.journal.unpresumed.setdefault(g, self.unpresumed.get(g, ABSENT))
            self.make_live(g)
            closing = closing_of(gates[g])
            if gates[g] >= closing:
                self.unpresumed[g] = gates[g] - closing
            gates[g] = closing - self.clock

    def _withdraw(self, stage: int) -> None:
        gates = self.gates
        for g in self.structure.presumable[stage]:
            closing = closing_of(gates[g])
            if gates[g] < closing:
                if self.journal is not None:
                    self.journal.gates.setdefault(g, gates[g])
                gates[g] = closing + self.unpresumed[g]


def closing_of(gate: int) -> int:
    """The part of a gate that counts what closes it."""
    return (gate + SHUT) // CLOSED * CLOSED
