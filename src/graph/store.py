"""What varies from state to state: values, versions, and what is valid. All of it in flat lists.

A clock counts writes. A cache entry remembers the clock of its computation, its *mark*; each group
of nodes has a *gate*, the clock at which something upstream of it last changed, and ::

    valid(node)  <=>  marks[node] >= gates[group_of[node]]

So a read costs one comparison. An entry that was never computed, or was explicitly invalidated,
has the mark ``~clock``, with the clock when that was: below 0, and so below its gate. A write moves
the clock on and raises the gates downstream, however many entries share them::

    clock 7          {angle} gate 4        tip, mark 5: valid
                        |
                     {tip}   gate 4

    angle is written, clock 8:
                     {angle} gate 8        tip, mark 5: not valid
                        |
                     {tip}   gate 8

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

from collections.abc import Sequence
from typing import Any, Final

from stagecache.errors import NodeKindError
from stagecache.graph.kind import NodeKind
from stagecache.graph.structure import NEVER, Structure

CLOSED: Final = 1 << 60  # added to a gate; above every clock
SHUT: Final = CLOSED >> 1  # between the gates of open groups and those of closed ones
COMPUTING: Final = -CLOSED  # the mark of an entry while it is being computed
VOID: Final = COMPUTING - 1  # the same, when it was invalidated meanwhile
WIDE: Final = 8  # a group with more groups directly below lists the live ones


class Store:
    """Values, versions and validity of the nodes of one structure, for one state.

    Stores share a structure until one of them changes it (copy-on-write). Changes of structure are
    checked; what is done all the time is not: handles see to it that a number is that of a node of
    the right kind.

    Attributes
    ----------
    structure : Structure
        To be changed only through the store.
    keys, group_of : list
        Those of the structure, one step nearer.
    clock : int
        The number of changes so far, never set back: of writes, explicit invalidations, and
        stages reached at which something is presumed computed.
    values, versions : list
        By node. The version of a variable is 1 or more and rises with each write, that of an
        entry with each computation. No number is given twice, not even to a later node.
    marks : list of int
        By node, of entries.
    gates, live : list
        By group.
    closed : set of int
        The stages that are closed.
    """

    __slots__ = (
        "_floor",
        "_live_below",
        "_shared",
        "_unpresumed",
        "clock",
        "closed",
        "gates",
        "group_of",
        "keys",
        "live",
        "marks",
        "structure",
        "values",
        "versions",
    )

    def __init__(self) -> None:
        self.structure = Structure()
        self.keys = self.structure.keys
        self.group_of = self.structure.group_of
        self.clock = 0
        self.values: list[Any] = []  # of every type; the handles know which
        self.versions: list[int] = []
        self.marks: list[int] = []
        self.gates: list[int] = []
        self.live: list[bool] = []
        self.closed: set[int] = set()
        self._live_below: dict[int, dict[int, None]] = {}  # of wide groups, once they were raised
        self._unpresumed: dict[int, int] = {}  # the gates of groups presumed computed, before
        self._floor = 0  # the highest version of any node that was removed
        self._shared = False

    def __repr__(self) -> str:
        return f"Store({self.structure!r}, clock {self.clock})"

    def copy(self) -> "Store":
        """Return an independent store in the same state. Cost O(nodes), as copies of flat lists.

        Values are shared: they are replaced by writes, never changed. Other threads may read
        meanwhile, and so compute: what is being computed here is not computed in the copy.
        """
        twin = Store()
        twin.structure = self.structure
        twin.keys = self.keys
        twin.group_of = self.group_of
        twin._shared = self._shared = True
        twin.clock = self.clock
        # An entry is marked once its value is there: a mark that is seen comes with its value.
        twin.marks = self.marks.copy()
        if min(twin.marks, default=0) <= COMPUTING:
            twin.marks = [mark if mark > COMPUTING else ~self.clock for mark in twin.marks]
        twin.values = self.values.copy()
        twin.versions = self.versions.copy()
        twin.gates = self.gates.copy()
        twin.live = [True] * len(self.live)  # here, a group may just be becoming so
        twin.closed = self.closed.copy()
        twin._unpresumed = self._unpresumed.copy()
        twin._floor = self._floor
        return twin

    def exceed(self, other: "Store") -> None:
        """Let the clock and every version number exceed those of another store. Cost O(nodes)."""
        self.clock = max(self.clock, other.clock) + 1
        above = max(max(other.versions, default=0), other._floor)
        self.versions = [max(version, above) + 1 for version in self.versions]
        self._floor = max(self._floor, above)

    # ------------------------------------------------------------------ structure

    def add(
        self,
        key: object,
        kind: NodeKind,
        prerequisites: tuple[int, ...] = (),
        latest: int = NEVER,
        value: object = None,
        reserved: int = -1,
    ) -> int:
        """Add a node, as `Structure.add` does, with a first value if it is a variable.

        A stage starts closed. An entry starts invalid, even if it joins those presumed computed.
        """
        self._own_structure()
        structure = self.structure
        node = structure.add(key, kind, prerequisites, latest, reserved)
        self._extend()
        self.values[node] = value
        self.versions[node] = self._floor
        self.marks[node] = ~self.clock
        if structure.group_of[node] == node:
            self.gates[node] = 0
            self.live[node] = False
            for g in structure.upstream[node]:
                if self.gates[g] > SHUT:
                    self.gates[node] += CLOSED
        if kind != NodeKind.CACHE_ENTRY:
            self.versions[node] += 1
        if kind == NodeKind.STAGE:
            self.close(node)
        return node

    def reserve(self, count: int) -> None:
        """Keep numbers free, as `Structure.reserve` does."""
        self._own_structure()
        self.structure.reserve(count)
        self._extend()

    def _extend(self) -> None:
        while len(self.values) < len(self.keys):
            self.values.append(None)
            self.versions.append(0)
            self.marks.append(0)
            self.gates.append(0)
            self.live.append(False)

    def remove(self, node: int) -> None:
        """Remove a node, as `Structure.remove` does, and forget its value."""
        self._own_structure()
        structure = self.structure
        group = structure.group_of[node]
        upstream = structure.upstream[group]
        structure.remove(node)
        if not structure.members[group]:
            self._live_below.pop(group, None)
            self._unpresumed.pop(group, None)
            for g in upstream:
                if g in self._live_below:
                    self._live_below[g].pop(group, None)
        self.closed.discard(node)
        self._floor = max(self._floor, self.versions[node])
        self.values[node] = None

    def connect(self, node: int, prerequisite: int) -> None:
        """Connect two sources, as `Structure.connect` does; a change of `node`."""
        self._own_structure()
        self.structure.connect(node, prerequisite)
        if self.gates[prerequisite] > SHUT:
            self._shut(node)
        self.write(node)

    def disconnect(self, node: int, prerequisite: int) -> None:
        """Disconnect two sources, as `Structure.disconnect` does; a change of `node`."""
        self._own_structure()
        self.structure.disconnect(node, prerequisite)
        self._live_below.pop(prerequisite, None)
        if self.gates[prerequisite] > SHUT:
            self._unshut(node)
        self.write(node)

    def _own_structure(self) -> None:
        if self._shared:
            self.structure = self.structure.copy()
            self.keys = self.structure.keys
            self.group_of = self.structure.group_of
            self._shared = False

    # ------------------------------------------------------------------ validity

    def is_valid(self, node: int) -> bool:
        """Whether nothing upstream of an entry changed since it was marked. Cost O(1).

        A source is valid unless it is closed.
        """
        if self.structure.kinds[node] is NodeKind.CACHE_ENTRY:
            return self.marks[node] >= self.gates[self.structure.group_of[node]]
        return self.gates[node] < SHUT

    def is_closed(self, node: int) -> bool:
        """Whether a node waits for a stage."""
        return self.gates[self.group_of[node]] > SHUT

    def write(self, node: int) -> None:
        """Count a change of a source: everything downstream becomes invalid.

        To be called before the value changes, so that nothing passes for valid if it is cut short.
        Cost O(groups downstream that became live since they were last raised).
        """
        self.versions[node] += 1
        self.clock += 1
        if self.live[node]:
            self._raise_gates([node])

    def write_all(self, nodes: Sequence[int]) -> None:
        """Count a change of each of these sources at once, as `write` does."""
        versions = self.versions
        live = self.live
        self.clock += 1
        queue = []
        for node in nodes:
            versions[node] += 1
            if live[node]:
                queue.append(node)
        if queue:
            self._raise_gates(queue)

    def touch_all(self, nodes: Sequence[int]) -> None:
        """Make everything downstream of these sources invalid; their versions do not rise.

        For what brings a source to no new value, but may let one be read again.
        """
        self.clock += 1
        queue = [node for node in nodes if self.live[node]]
        if queue:
            self._raise_gates(queue)

    def mark_valid(self, node: int) -> None:
        """Count an entry as computed now. Cost O(groups that it makes live and their edges up)."""
        self.make_live(self.structure.group_of[node])
        self.versions[node] += 1
        self.marks[node] = self.clock

    def invalidate(self, node: int) -> None:
        """Make an entry and all that depends on it invalid. Cost O(transitive dependents).

        Dependents that are invalid already are passed through: a valid one may lie below.
        """
        marks = self.marks
        dependents = self.structure.dependents
        reached = {node}
        queue = [node]
        for n in queue:
            for d in dependents[n]:
                if d not in reached:
                    reached.add(d)
                    queue.append(d)
        self.clock += 1
        for n in reversed(queue):  # if this is cut short, the entry itself was not invalidated
            marks[n] = ~self.clock if marks[n] > COMPUTING else VOID

    def invalidate_all(self) -> None:
        """Make every entry invalid. Cost O(nodes)."""
        self.clock += 1
        self.marks[:] = [~self.clock] * len(self.marks)

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
            self._take_all_for_live()
            raise

    def _raise_gates(self, queue: list[int]) -> None:
        clock = self.clock
        live = self.live
        gates = self.gates
        live_below = self._live_below
        downstream = self.structure.downstream
        try:
            for g in queue:
                if live[g]:
                    live[g] = False
                    gates[g] = clock if gates[g] < SHUT else _closing(gates[g]) + clock
                    if len(downstream[g]) <= WIDE:
                        queue.extend(downstream[g])
                    else:
                        queue.extend(live_below.get(g, downstream[g]))
                        live_below[g] = {}
        except BaseException:
            self._take_all_for_live()
            raise

    def _take_all_for_live(self) -> None:
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
        queue = [group]
        try:
            for g in queue:
                was_open = gates[g] < SHUT
                gates[g] += CLOSED
                if was_open:
                    queue.extend(downstream[g])
        except BaseException:
            self._count_closed_again()
            raise

    def _unshut(self, group: int) -> None:
        gates = self.gates
        downstream = self.structure.downstream
        queue = [group]
        try:
            for g in queue:
                gates[g] -= CLOSED
                if gates[g] < SHUT:
                    queue.extend(downstream[g])
        except BaseException:
            self._count_closed_again()
            raise

    def _count_closed_again(self) -> None:
        self.gates[:] = [gate - _closing(gate) for gate in self.gates]
        for stage in self.closed:
            self._shut(stage)

    # ------------------------------------------------------------------ presuming

    def _presume(self, stage: int) -> None:
        gates = self.gates
        self.clock += 1
        for g in self.structure.presumable[stage]:
            self.make_live(g)
            closing = _closing(gates[g])
            if gates[g] >= closing:
                self._unpresumed[g] = gates[g] - closing
            gates[g] = closing - self.clock

    def _withdraw(self, stage: int) -> None:
        gates = self.gates
        for g in self.structure.presumable[stage]:
            closing = _closing(gates[g])
            if gates[g] < closing:
                gates[g] = closing + self._unpresumed[g]


def _closing(gate: int) -> int:
    """The part of a gate that counts what closes it."""
    return (gate + SHUT) // CLOSED * CLOSED
