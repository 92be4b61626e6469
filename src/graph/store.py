r"""The store: values, versions and validity, which vary from state to state, in flat lists.

A clock counts writes. Each entry has a *mark*, or verified-at: the clock at which its value was
computed, or found to be right. Each group of nodes has a *gate*, or changed-at: the clock at which
something upstream of it last changed. So ::

    valid(node)  <=>  marks[node] >= gates[group_of[node]]

So a read costs one comparison. An entry that was never computed, or was explicitly invalidated,
has the mark ``~clock``, with the clock when that was: below 0, and so below its gate. A write moves
the clock on and raises the gates downstream, however many entries share them::

    clock 7          {angle} gate 4        tip, mark 5: valid
                        |
                     {tip}   gate 4

    angle is written, clock 8:
                     {angle} gate 8        tip, mark 5: stale
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

**Presumed entries.** Once a stage is reached, an entry may be presumed computed: by the code that
realized the stage, without a mark. The gate of its group is then ``-clock``, with the clock when
the stage was opened: below every mark, except of entries that were invalidated later. A write
upstream ends this, as it raises the gate; closing the stage restores the old gate.

**Early cutoff.** If a new value of an entry is equal to the one before, the entry is marked anew,
and `changed` has the clock since when it has its value. With that, the gate of a group that depends
on it can be lowered to the value that it would have without the write (`Evaluator`).

**Journals.** After a checkpoint, a `Journal` notes what is about to change, the first time it does,
so that `rollback.restore` can bring it back, with what was valid. Only the clock goes on; and a
version number that was given meanwhile is not given again. A rollback costs what was changed,
however large the graph is::

    checkpoint          tip: mark 5, gate 4        journal
    angle is written    tip: mark 5, gate 8        gate of {tip}: 4
    tip is computed     tip: mark 8, gate 8        gate of {tip}: 4, tip: mark 5
    rollback            tip: mark 5, gate 4

Of several checkpoints only the last one notes. To go back to an earlier one is to go back step by
step; when one in between is released, the one before takes over its notes. A change of structure
is noted by a copy of the store, which costs no more than the copy of the structure.

**Errors in the middle.** Control-C, a lack of memory or of stack can strike between any two steps.
An operation raises gates before anything changes, so valid values are right. If it is cut short,
`is_torn` is set, without a call that could fail, too; the next operation mends the store before it
begins.
"""

from threading import RLock
from typing import Any, Final, final

from stagecache.errors import NodeInUseError, NodeKindError, StagecacheError
from stagecache.graph.kind import NodeKind
from stagecache.graph.releasing import let_go, replace
from stagecache.graph.structure import CACHE_ENTRY, NEVER, STAGE, Structure

CLOSED: Final = 1 << 60  # added to a gate; above every clock
SHUT: Final = CLOSED >> 1  # between the gates of open groups and those of closed ones
CLOCK: Final = CLOSED - 1  # the bits of a gate that do not count what closes it
WIDE: Final = 8  # a group with more groups directly below lists the live ones

COMPUTING: Final = -CLOSED  # the mark of an entry while it is being computed
VOID: Final = COMPUTING - 1  # the same, when it was invalidated meanwhile

ABSENT: Final = -1  # in place of a clock or a gate that is not there

# Several threads may find that a store is torn, or a State. One lock for both: a finalizer may come
# to a State while a store is mended, and a State mends its store.
MENDING: Final = RLock()


class Journal:
    """Old values of all that has changed since a checkpoint.

    Attributes
    ----------
    nodes : dict of int to tuple
        By node that has changed: value, version, mark, and its item of `Store.changed`.
    gates : dict of int to int
        By group.
    unpresumed : dict of int to int
        By group: its gate before it was presumed computed; `ABSENT` if it was not.
    closed : dict of int to bool
        By stage that was closed or opened: True if it was closed.
    whole : Store or None
        Copy of the store when nodes were first added or removed. Nothing is noted after that.
    """

    __slots__ = ("closed", "gates", "nodes", "unpresumed", "whole")

    def __init__(self) -> None:
        self.nodes: dict[int, tuple[Any, int, int, int]] = {}
        self.gates: dict[int, int] = {}
        self.unpresumed: dict[int, int] = {}
        self.closed: dict[int, bool] = {}
        self.whole: Store | None = None

    def clear(self) -> None:
        """Forget what was noted, once it is restored.

        In such an order that the rest can be restored again, if this is cut short.
        """
        whole, self.whole = self.whole, None
        self.gates.clear()
        self.unpresumed.clear()
        self.closed.clear()
        self.nodes.clear()
        let_go(whole)

    def take_over(self, later: "Journal") -> None:
        """Note what a later journal, which is released, has noted. Cost O(what it noted)."""
        if self.whole is None:
            for node, snapshot in later.nodes.items():
                self.nodes.setdefault(node, snapshot)
            for group, gate in later.gates.items():
                self.gates.setdefault(group, gate)
            for group, gate in later.unpresumed.items():
                self.unpresumed.setdefault(group, gate)
            for stage, was_closed in later.closed.items():
                self.closed.setdefault(stage, was_closed)
            self.whole = later.whole


@final
class Store:
    """Values, versions and validity of the nodes of one structure, for one state.

    Stores share a structure until one of them changes it (copy-on-write). Changes of structure are
    checked. Frequent operations are not: handles ensure that a number belongs to a node of the
    right kind.

    Attributes
    ----------
    structure : Structure
        To be changed only through the store.
    keys, group_of : list
        The same lists as in the structure, one step nearer.
    values, versions : list
        By node. The version of a variable is 1 or more and rises with each write; of an entry, with
        each computation. No number is given twice, not even to a later node.
    marks : list of int
        By node, of entries.
    clock : int
        The number of changes so far, never set back: of writes, explicit invalidations, values that
        were stored by hand, and stages reached at which something is presumed computed.
    gates, live : list
        By group.
    closed : set of int
        The stages that are closed.
    unpresumed : dict of int to int
        By group that is presumed computed: its gate without that.
    changed : dict of int to int
        By node of a compared entry: the clock at which it got its value, if that is not its mark.
    journals : list of Journal
        One for each checkpoint, the oldest first.
    journal : Journal or None
        The one that notes changes, if one does.
    rewound : dict of int to int
        By node: the highest version that it ever had, if a rollback took it below that.
    origins : dict of int to tuple
        By node of a shared entry: a value, the `Origin` of that value, and True if it was found and
        not computed. It tells of the present value if that is the same object.
    computations : int
        Number of computations so far, and of entries found to be right or marked by hand. A write
        that finds another number at its end than at its beginning has been met by a finalizer.
    is_torn : bool
        An operation was cut short by an error, and `mend` has not been called since.
    """

    __slots__ = (
        "_floor",
        "_is_making_live",
        "_is_mending",
        "_is_shutting",
        "_is_structure_torn",
        "_live_below",
        "_shared",
        "changed",
        "clock",
        "closed",
        "computations",
        "gates",
        "group_of",
        "is_torn",
        "journal",
        "journals",
        "keys",
        "live",
        "marks",
        "origins",
        "rewound",
        "structure",
        "unpresumed",
        "values",
        "versions",
    )

    def __init__(self) -> None:
        self.structure = Structure()
        self.keys = self.structure.keys
        self.group_of = self.structure.group_of
        self.values: list[Any] = []  # of every type; the handles know which
        self.versions: list[int] = []
        self.marks: list[int] = []
        self.clock = 0
        self.gates: list[int] = []
        self.live: list[bool] = []
        self.closed: set[int] = set()
        self.unpresumed: dict[int, int] = {}
        self.changed: dict[int, int] = {}
        self.journals: list[Journal] = []
        self.journal: Journal | None = None
        self.rewound: dict[int, int] = {}
        self.origins: dict[int, tuple[Any, Any, bool]] = {}
        self.computations = 0
        self.is_torn = False
        self._is_making_live = False
        self._is_mending = False
        self._is_shutting = False
        self._is_structure_torn = False
        self._live_below: dict[int, dict[int, None]] = {}  # of wide groups, once they were raised
        self._floor = 0  # the highest version of any node that was removed
        self._shared = False

    def __repr__(self) -> str:
        return f"Store({self.structure!r}, clock {self.clock})"

    def copy(self) -> "Store":
        """Return an independent store in the same state. Cost O(nodes), as copies of flat lists.

        Values are shared: they are replaced by writes, never changed. Other threads may read
        meanwhile, and so compute: what is being computed here is not computed in the copy.
        """
        if self.is_torn:
            self.mend()
        twin = Store()
        twin.structure = self.structure
        twin.keys = self.keys
        twin.group_of = self.group_of
        twin._shared = self._shared = True
        twin.clock = self.clock
        # A computation marks its entry before and after it stores a value: if no mark has changed
        # in the meantime, all lists are of the same moment.
        while True:
            twin.marks = self.marks.copy()
            twin.values = self.values.copy()
            twin.versions = self.versions.copy()
            twin.gates = self.gates.copy()
            twin.changed = self.changed.copy()
            if twin.marks == self.marks:
                break
        if min(twin.marks, default=0) <= COMPUTING:
            twin.marks = [mark if mark > COMPUTING else ~self.clock for mark in twin.marks]
        twin.live = [True] * len(self.live)  # here, a group may just be becoming so
        twin.closed = self.closed.copy()
        twin.rewound = self.rewound.copy()
        twin.origins = self.origins.copy()
        twin.unpresumed = self.unpresumed.copy()
        twin._floor = self._floor
        if self._is_shutting:  # a finalizer copies while a stage is being closed or opened
            twin.is_torn = True
            twin.mend()
        return twin

    def blank(self) -> "Store":
        """Return a store of the same length in which no key is found. Cost O(nodes)."""
        twin = Store()
        twin.keys = [None] * len(self.keys)
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
        """Return the highest version that any node ever had. Cost O(nodes)."""
        return max(
            max(self.versions, default=0), self._floor, max(self.rewound.values(), default=0)
        )

    # ------------------------------------------------------------------ structure

    def add(
        self,
        key: object,
        kind: NodeKind,
        prerequisites: tuple[int, ...] = (),
        computed_by: int = NEVER,
        value: object = None,
        reserved: int = -1,
        is_compared: bool = False,
    ) -> int:
        """Add a node, as `Structure.add` does, with a first value if it is a variable.

        A stage starts closed. An entry starts invalid, even if it joins those presumed computed.
        """
        self._own_structure()
        structure = self.structure
        try:
            node = structure.add(key, kind, prerequisites, computed_by, reserved, is_compared)
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
            if kind is not CACHE_ENTRY:
                self.versions[node] += 1
            if kind is STAGE:
                self.close(node)
        except StagecacheError:
            raise  # it was refused
        except BaseException:
            self._is_structure_torn = self.is_torn = True
            raise
        return node

    def reserve(self, count: int) -> None:
        """Keep numbers free, as `Structure.reserve` does."""
        self._own_structure()
        structure = self.structure
        try:
            structure.reserve(count)
            self._extend()
        except BaseException:
            self._is_structure_torn = self.is_torn = True
            raise

    def _extend(self) -> None:
        while len(self.values) < len(self.keys):
            self.versions.append(0)
            self.marks.append(0)
            self.gates.append(0)
            self.live.append(False)
            self.values.append(None)  # last: its length counts for all lists

    def remove(self, node: int) -> None:
        """Remove a node, as `Structure.remove` does, and forget its value."""
        self._own_structure()
        structure = self.structure
        before = None
        try:
            structure.require(node)
            group = structure.group_of[node]
            upstream = structure.upstream[group]
            self._floor = max(self._floor, self.versions[node], self.rewound.get(node, 0))
            structure.remove(node)
            if not structure.members[group]:
                self._live_below.pop(group, None)
                self.unpresumed.pop(group, None)  # or a later group at its number has it
                for g in upstream:
                    if g in self._live_below:
                        self._live_below[g].pop(group, None)
            self.closed.discard(node)
            self.changed.pop(node, None)
            self.rewound.pop(node, None)
            before = replace(self.values, node, None)
        except StagecacheError:
            raise  # it was refused
        except BaseException:
            self._is_structure_torn = self.is_torn = True
            raise
        let_go(before)

    def connect(self, node: int, prerequisite: int) -> None:
        """Connect two sources, as `Structure.connect` does; a change of `node`."""
        self._own_structure()
        structure = self.structure
        structure.require_connectable(node, prerequisite)
        self.write(node)
        try:
            structure.attach(node, prerequisite)
            if self.gates[prerequisite] > SHUT:
                self._shut(node)
        except BaseException:
            self._is_structure_torn = self.is_torn = True
            raise

    def disconnect(self, node: int, prerequisite: int) -> None:
        """Disconnect two sources, as `Structure.disconnect` does; a change of `node`."""
        self._own_structure()
        structure = self.structure
        structure.require_connected(node, prerequisite)
        self.write(node)
        try:
            structure.detach(node, prerequisite)
            self._live_below.pop(prerequisite, None)
            if self.gates[prerequisite] > SHUT:
                self._shut(node, -CLOSED)
        except BaseException:
            self._is_structure_torn = self.is_torn = True
            raise

    def share(self) -> None:
        """Have the structure copied before it is changed, as it is shared from now on."""
        self._shared = True

    def _own_structure(self) -> None:
        if self.is_torn:
            self.mend()
        if self.journal is not None:
            self.journal.whole = self.copy()
            self.journal = None
        if self._shared:
            own = self.structure.copy()
            self.keys = own.keys
            self.group_of = own.group_of
            self.structure = own
            self._shared = False

    # ------------------------------------------------------------------ validity

    def is_valid(self, node: int) -> bool:
        """Return True if nothing upstream of an entry changed since it was marked. Cost O(1).

        A source is valid unless it is closed.
        """
        if self.structure.kinds[node] is CACHE_ENTRY:
            return self.marks[node] >= self.gates[self.structure.group_of[node]]
        return self.gates[node] < SHUT

    def was_computed(self, node: int) -> bool:
        """Return True if an entry was computed, and has a value, valid or not. Cost O(1).

        Its mark tells; after an explicit invalidation, its version and value do.
        """
        return self.marks[node] >= 0 or (self.versions[node] > 0 and self.values[node] is not None)

    def is_closed(self, node: int) -> bool:
        """Return True if a node waits for a stage."""
        return self.gates[self.group_of[node]] > SHUT

    def write(self, node: int) -> None:
        """Count a change of a source: everything downstream becomes invalid.

        Call it before the value changes, so that nothing stale counts as valid if it is cut short.
        Cost O(groups downstream that became live since they were last raised).
        """
        if self.is_torn:
            self.mend()
        is_live = self.live[node]  # an IndexError if the node does not exist: before all changes
        if self.journal is not None:
            self.note(node)
        self.clock += 1
        self.raise_version(node)
        if is_live:
            self._raise_gates([node])
        elif self._is_making_live:
            self.take_all_for_live()
            self._raise_gates([node])

    def write_again(self, nodes: list[int]) -> None:
        """Count a change of sources once more, when their values have changed.

        For a write that finds that something was computed since it began: by a finalizer, from
        values of before. Cost O(groups).
        """
        self.take_all_for_live()
        self.write_all(nodes)

    def write_all(self, nodes: list[int]) -> None:
        """Count a change of each of these sources at once, as `write` does."""
        if self.is_torn:
            self.mend()
        if self.journal is not None:
            for node in nodes:
                self.note(node)
        self.clock += 1
        if self.rewound:
            for node in nodes:
                self.raise_version(node)
        else:
            versions = self.versions
            for node in nodes:
                versions[node] = versions[node] + 1
        if self._is_making_live:
            self.take_all_for_live()
        live = self.live
        for node in nodes:
            if live[node]:
                self._raise_gates([node for node in nodes if live[node]])
                break

    def touch_all(self, nodes: list[int]) -> None:
        """Make everything downstream of these sources invalid; their versions do not rise.

        For changes that give a source no new value, but may let one be read again.
        """
        if self.is_torn:
            self.mend()
        self.clock += 1
        if self._is_making_live:
            self.take_all_for_live()
        queue = [node for node in nodes if self.live[node]]
        if queue:
            self._raise_gates(queue)

    def raise_version(self, node: int) -> None:
        """Give a node the next version number, higher than any that it ever had."""
        if self.rewound:
            highest = max(self.versions[node], self.rewound.get(node, 0))
            self.versions[node] = highest + 1
            self.rewound.pop(node, None)
        else:
            self.versions[node] = self.versions[node] + 1

    def mark_valid(self, node: int) -> None:
        """Count an entry as computed now, with the value that is there.

        Cost O(groups that it makes live and their edges up).
        """
        if self.is_torn:
            self.mend()
        if self.journal is not None:
            self.note(node)
        group = self.group_of[node]
        if group in self.structure.soft:
            self._give_up_stale_values(group)
        self.make_live(group)
        self.raise_version(node)
        if node in self.structure.compared:
            self.clock += 1
            self.changed[node] = self.clock
        self.computations += 1
        self.marks[node] = self.clock

    def _give_up_stale_values(self, group: int) -> None:
        """Let no compared entry above a group compare its next value with one that is stale now.

        A value that is marked by hand fits the present values of compared entries above it, not the
        stale ones that are stored: if one of these is computed again later, that proves nothing.
        """
        soft = self.structure.soft
        queue = [group]
        for g in queue:
            others, compared = soft[g]
            for x in compared:
                if 0 <= self.marks[x] < clock_of(self.gates[self.group_of[x]]):
                    self.note(x)
                    self.marks[x] = ~self.clock
            queue.extend([above for above in others if above in soft and above not in queue])

    def renounce(self, node: int) -> None:
        """Count a value that replaces an entry's value by hand as another one.

        If the entry is stale, only a computation or a mark can make it valid again.
        """
        if self.journal is not None:
            self.note(node)
        self.origins.pop(node, None)
        group = self.group_of[node]
        if node in self.structure.compared or group in self.structure.soft:
            if COMPUTING < self.marks[node] < clock_of(self.gates[group]):
                self.marks[node] = ~self.clock
            elif node in self.structure.compared:
                self.clock += 1
                self.changed[node] = self.clock

    def invalidate(self, node: int) -> None:
        """Make an entry and all that depends on it invalid. Cost O(transitive dependents).

        Dependents that are invalid already are passed through: a valid one may lie below.
        """
        if self.is_torn:
            self.mend()
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
                self.note(n)
        self.clock += 1
        for n in reversed(queue):  # if this is cut short, the entry itself was not invalidated
            marks[n] = ~self.clock if marks[n] > COMPUTING else VOID

    def void(self, node: int) -> None:
        """Let only a computation or a mark make an entry valid again, and leave its dependents."""
        if self.journal is not None:
            self.note(node)
        if self.marks[node] > COMPUTING:
            self.marks[node] = ~self.clock

    def invalidate_all(self) -> None:
        """Make every entry invalid. Cost O(nodes)."""
        if self.journal is not None:
            for n in range(len(self.marks)):
                self.note(n)
        self.clock += 1
        self.marks[:] = [~self.clock] * len(self.marks)

    # ------------------------------------------------------------------ live groups

    def make_live(self, group: int) -> None:
        """Let the next write upstream of this group raise its gate.

        Until all groups upstream are live, a write by a finalizer takes all groups for live.
        """
        live = self.live
        live_below = self._live_below
        upstream = self.structure.upstream
        was_making_live = self._is_making_live
        try:
            self._is_making_live = True
            queue = [group]
            for g in queue:
                if not live[g]:
                    live[g] = True
                    if upstream[g]:
                        queue.extend(upstream[g])
                    if live_below:
                        for above in upstream[g]:
                            if above in live_below:
                                live_below[above][g] = None
            self._is_making_live = was_making_live
        except BaseException:
            self._is_making_live = False
            self.is_torn = True
            raise

    def _raise_gates(self, queue: list[int]) -> None:
        """Raise the gates of these groups and of all that are live downstream."""
        clock = self.clock
        live = self.live
        gates = self.gates
        live_below = self._live_below
        downstream = self.structure.downstream
        noted = None if self.journal is None else self.journal.gates
        try:
            for g in queue:
                if live[g]:
                    if noted is not None and g not in noted:
                        noted[g] = gates[g]
                    live[g] = False
                    gates[g] = clock if gates[g] < SHUT else gates[g] - clock_of(gates[g]) + clock
                    if len(downstream[g]) <= WIDE:
                        if downstream[g]:
                            queue.extend(downstream[g])
                    else:
                        below = live_below.get(g, downstream[g])
                        live_below[g] = {}  # what a finalizer makes live from now on, it lists here
                        queue.extend(below)
        except BaseException:
            self.is_torn = True
            raise

    def take_all_for_live(self) -> None:
        """Let the next write raise all gates downstream. Cost O(groups)."""
        self._live_below.clear()
        self.live[:] = [True] * len(self.live)

    # ------------------------------------------------------------------ closing and opening

    def close(self, node: int) -> None:
        """Close a stage: nothing downstream is valid until it is opened.

        An entry that is marked valid in the meantime becomes valid at the opening, unless something
        upstream of it changes. No effect if the stage is closed already. Cost O(edges of the
        groups that close).
        """
        if self.is_torn:
            self.mend()
        if node not in self.closed:
            if self.structure.kinds[node] is not STAGE:
                raise self._not_a_stage(node)
            was_shutting = self._is_shutting
            try:
                if self.journal is not None:
                    self.journal.closed.setdefault(node, False)
                self._is_shutting = True
                self.closed.add(node)
                self._shut(node)
                if node in self.structure.presumable:
                    self._withdraw(node)
                self._is_shutting = was_shutting
            except BaseException:
                self.is_torn = True
                raise

    def open(self, node: int) -> None:
        """Open a stage: marked entries become valid, unless they have changed upstream.

        Entries with this stage as `computed_by` are presumed computed. No effect if it is open.
        Cost O(edges of the groups that open, and of those presumed computed).
        """
        if self.structure.kinds[node] is not STAGE:
            raise self._not_a_stage(node)
        if self.is_torn:
            self.mend()
        if node in self.closed:
            self.admit(node)
            self.presume(node)

    def admit(self, node: int) -> None:
        """Open a stage, but presume nothing computed until `presume` says so."""
        if self.is_torn:
            self.mend()
        if node in self.closed:
            was_shutting = self._is_shutting
            try:
                if self.journal is not None:
                    self.journal.closed.setdefault(node, True)
                self._is_shutting = True
                self.closed.remove(node)
                self._shut(node, -CLOSED)
                self._is_shutting = was_shutting
            except BaseException:
                self.is_torn = True
                raise

    def presume(self, node: int) -> None:
        """Presume that the entries with this open stage as `computed_by` are computed."""
        if node in self.structure.presumable:
            if self.is_torn:
                self.mend()
            self._presume(node)

    def _not_a_stage(self, node: int) -> NodeKindError:
        kind = self.structure.kinds[node]
        return NodeKindError(
            f"{kind} {self.structure.name_of(node)!r}: cannot be closed or opened",
            "a stage",
            f"a {kind}",
            "close a stage on which it depends",
        )

    def _shut(self, group: int, by: int = CLOSED) -> None:
        """Close a group and those downstream of it; open them if the gate is lowered instead."""
        gates = self.gates
        downstream = self.structure.downstream
        noted = None if self.journal is None else self.journal.gates
        queue = [group]
        for g in queue:
            was_open = gates[g] < SHUT
            if noted is not None and g not in noted:
                noted[g] = gates[g]
            gate = gates[g] + by
            gates[g] = gate
            if was_open or gate < SHUT:
                queue.extend(downstream[g])

    def _presume(self, stage: int) -> None:
        gates = self.gates
        self.clock += 1
        for g in self.structure.presumable[stage]:
            if self.journal is not None:
                self.journal.gates.setdefault(g, gates[g])
                self.journal.unpresumed.setdefault(g, self.unpresumed.get(g, ABSENT))
            self.make_live(g)
            clock = clock_of(gates[g])
            if clock >= 0:
                self.unpresumed[g] = clock
            gates[g] += -self.clock - clock

    def _withdraw(self, stage: int) -> None:
        gates = self.gates
        for g in self.structure.presumable[stage]:
            clock = clock_of(gates[g])
            if clock < 0:
                if self.journal is not None:
                    self.journal.gates.setdefault(g, gates[g])
                gates[g] += self.unpresumed[g] - clock

    # ------------------------------------------------------------------ mending

    def mend(self) -> None:
        """Complete or undo an operation that was cut short. Cost O(nodes + edges).

        If this is cut short itself, the next call begins anew.

        Raises
        ------
        NodeInUseError
            A finalizer comes in the middle of this, and uses the store.
        """
        with MENDING:
            if not self.is_torn:
                return
            if self._is_mending:
                raise NodeInUseError(
                    "the Graph or State: cannot be used now",
                    "one that is not being mended after an error",
                    "a use in the middle of that, by a finalizer",
                    "let the finalizer note what to do, and do it after the operation",
                )
            try:
                self._is_mending = True
                self._mend()
                self._is_shutting = self.is_torn = False
                self._is_mending = False
            except BaseException:
                self._is_mending = False
                raise

    def _mend(self) -> None:
        if self._is_structure_torn:
            self._mend_structure()
        if self.journal is not None:
            for g, gate in enumerate(self.gates):
                self.journal.gates.setdefault(g, gate)
        self.gates[:] = [clock_of(gate) for gate in self.gates]
        for stage in self.closed:
            self._shut(stage)
            if stage in self.structure.presumable:
                self._withdraw(stage)
        self.take_all_for_live()

    def _mend_structure(self) -> None:
        self.structure.mend()
        self._extend()
        count = len(self.keys)
        for items in (self.versions, self.marks, self.gates, self.live):
            del items[count:]
        self.closed = {node for node in self.closed if self.keys[node] is not None}
        self._is_structure_torn = False

    # ------------------------------------------------------------------ journals

    def note(self, node: int) -> None:
        """Note a node that is about to change, if changes are noted."""
        journal = self.journal
        if journal is not None and node not in journal.nodes:
            changed = self.changed.get(node, ABSENT)
            before = (self.values[node], self.versions[node], self.marks[node], changed)
            journal.nodes.setdefault(node, before)  # a finalizer may have noted an older one

    def exceed_all(self, version: int) -> None:
        """Let every version number to come exceed one. Cost O(nodes)."""
        self.rewound = dict.fromkeys(range(len(self.versions)), version)
        self._floor = max(self._floor, version)


def clock_of(gate: int) -> int:
    """Return the part of a gate that is a clock; the rest counts what closes it.

    By a mask, as a product of large integers looks for Control-C: compiled by mypyc, that would
    pass for a lack of memory, and end the process.
    """
    return ((gate + SHUT) & CLOCK) - SHUT
