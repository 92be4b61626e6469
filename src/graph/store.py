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

**Equal values.** Where a new value of an entry was compared with the one before, and was equal,
the entry is marked anew, and `changed` tells since when it has its value. With that, the gate of a
group that depends on it can be lowered to where it would be had nothing been written (`Evaluator`).

**Journals.** After a checkpoint, a `Journal` notes what of all this is about to change, so that
`rollback.restore` can bring it back, with what was valid. Only the clock goes on; and a version
number that was given meanwhile is not given again.
"""

from collections.abc import Sequence
from typing import Any, Final, final

from stagecache.graph.gates import CLOSED, SHUT, AbstractGates, closing_of
from stagecache.graph.journal import ABSENT, Journal, Whole
from stagecache.graph.kind import NodeKind
from stagecache.graph.structure import NEVER

COMPUTING: Final = -CLOSED  # the mark of an entry while it is being computed
VOID: Final = COMPUTING - 1  # the same, when it was invalidated meanwhile


@final
class Store(AbstractGates):
    """Values, versions and validity of the nodes of one structure, for one state.

    Stores share a structure until one of them changes it (copy-on-write). Changes of structure are
    checked; what is done all the time is not: handles see to it that a number is that of a node of
    the right kind.

    Attributes
    ----------
    keys : list of object
        Those of the structure, one step nearer.
    values, versions : list
        By node. The version of a variable is 1 or more and rises with each write, that of an
        entry with each computation. No number is given twice, not even to a later node.
    marks : list of int
        By node, of entries.
    changed : dict of int to int
        By node of a compared entry: the clock at which it got its value, if that is not its mark.
    journals : list of Journal
        One for each checkpoint, the first one first.
    rewound : dict of int to int
        By node: the highest version that it ever had, if a rollback took it below that.
    """

    __slots__ = (
        "_floor",
        "_shared",
        "changed",
        "journals",
        "keys",
        "marks",
        "rewound",
        "values",
        "versions",
    )

    def __init__(self) -> None:
        super().__init__()
        self.keys = self.structure.keys
        self.values: list[Any] = []  # of every type; the handles know which
        self.versions: list[int] = []
        self.marks: list[int] = []
        self.changed: dict[int, int] = {}
        self.journals: list[Journal] = []
        self.rewound: dict[int, int] = {}
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
        twin.changed = self.changed.copy()
        twin.rewound = self.rewound.copy()
        twin.unpresumed = self.unpresumed.copy()
        twin._floor = self._floor
        return twin

    def exceed(self, other: "Store") -> None:
        """Let the clock and every version number exceed those of another store. Cost O(nodes)."""
        self.clock = max(self.clock, other.clock) + 1
        above = other.highest_version()
        if self.rewound:
            above = max(above, self.highest_version())
            self.rewound.clear()
        self.versions = [max(version, above) + 1 for version in self.versions]
        self._floor = max(self._floor, above)

    def highest_version(self) -> int:
        """The highest version that any node ever had. Cost O(nodes)."""
        return max(
            max(self.versions, default=0), self._floor, max(self.rewound.values(), default=0)
        )

    # ------------------------------------------------------------------ structure

    def add(
        self,
        key: object,
        kind: NodeKind,
        prerequisites: tuple[int, ...] = (),
        latest: int = NEVER,
        value: object = None,
        reserved: int = -1,
        is_compared: bool = False,
    ) -> int:
        """Add a node, as `Structure.add` does, with a first value if it is a variable.

        A stage starts closed. An entry starts invalid, even if it joins those presumed computed.
        """
        self._own_structure()
        structure = self.structure
        node = structure.add(key, kind, prerequisites, latest, reserved, is_compared)
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
            self.unpresumed.pop(group, None)
            for g in upstream:
                if g in self._live_below:
                    self._live_below[g].pop(group, None)
        self.closed.discard(node)
        self.changed.pop(node, None)
        self._floor = max(self._floor, self.versions[node], self.rewound.pop(node, 0))
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

    def share(self) -> None:
        """Let the structure be copied before it is changed: somebody else has it, too."""
        self._shared = True

    def _own_structure(self) -> None:
        if self.journal is not None:
            self._keep_whole(self.journal)
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
        if self.journal is not None:
            self.keep(node)
        self.versions[node] += 1
        self.clock += 1
        if self.live[node]:
            self.raise_gates([node])
        if self.rewound:
            self.exceed_rewound(node)

    def write_all(self, nodes: Sequence[int]) -> None:
        """Count a change of each of these sources at once, as `write` does."""
        versions = self.versions
        live = self.live
        if self.journal is not None:
            for node in nodes:
                self.keep(node)
        self.clock += 1
        queue = []
        for node in nodes:
            versions[node] += 1
            if live[node]:
                queue.append(node)
        if queue:
            self.raise_gates(queue)
        if self.rewound:
            for node in nodes:
                self.exceed_rewound(node)

    def touch_all(self, nodes: Sequence[int]) -> None:
        """Make everything downstream of these sources invalid; their versions do not rise.

        For what brings a source to no new value, but may let one be read again.
        """
        self.clock += 1
        queue = [node for node in nodes if self.live[node]]
        if queue:
            self.raise_gates(queue)

    def mark_valid(self, node: int) -> None:
        """Count an entry as computed now. Cost O(groups that it makes live and their edges up)."""
        if self.journal is not None:
            self.keep(node)
        self.make_live(self.structure.group_of[node])
        self.versions[node] += 1
        if self.rewound:
            self.exceed_rewound(node)
        if node in self.structure.compared:
            self.clock += 1
            self.changed[node] = self.clock
        self.marks[node] = self.clock

    def renounce(self, node: int) -> None:
        """Count a value that replaces that of an entry by hand as another one.

        If the entry is out of date, nothing can make it valid again but a computation or a mark.
        """
        if self.journal is not None:
            self.keep(node)
        group = self.group_of[node]
        if node in self.structure.compared or group in self.structure.soft:
            gate = self.gates[group]
            if COMPUTING < self.marks[node] < gate - closing_of(gate):
                self.marks[node] = ~self.clock
            elif node in self.structure.compared:
                self.clock += 1
                self.changed[node] = self.clock

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
        if self.journal is not None:
            for n in queue:
                self.keep(n)
        self.clock += 1
        for n in reversed(queue):  # if this is cut short, the entry itself was not invalidated
            marks[n] = ~self.clock if marks[n] > COMPUTING else VOID

    def invalidate_all(self) -> None:
        """Make every entry invalid. Cost O(nodes)."""
        if self.journal is not None:
            for n in range(len(self.marks)):
                self.keep(n)
        self.clock += 1
        self.marks[:] = [~self.clock] * len(self.marks)

    # ------------------------------------------------------------------ presuming

    # ------------------------------------------------------------------ journals

    def keep(self, node: int) -> None:
        """Note a node that is about to change, if changes are noted."""
        journal = self.journal
        if journal is not None and node not in journal.nodes:
            journal.nodes[node] = (
                self.values[node],
                self.versions[node],
                self.marks[node],
                self.changed.get(node, ABSENT),
            )

    def _keep_whole(self, journal: Journal) -> None:
        journal.whole = Whole(
            self.structure,
            self.values.copy(),
            self.versions.copy(),
            [mark if mark > COMPUTING else ~self.clock for mark in self.marks],
            self.gates.copy(),
            self.closed.copy(),
            self.changed.copy(),
            self.unpresumed.copy(),
        )
        self.journal = None

    def exceed_rewound(self, node: int) -> None:
        """Skip the version numbers that a node had before a rollback."""
        highest = self.rewound.pop(node, 0)
        if highest >= self.versions[node]:
            self.versions[node] = highest + 1

    def exceed_all(self, version: int) -> None:
        """Let every version number to come exceed one. Cost O(nodes)."""
        self.rewound = dict.fromkeys(range(len(self.versions)), version)
        self._floor = max(self._floor, version)
