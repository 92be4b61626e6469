r"""The structure: nodes and their dependencies, which are the same in every state.

Nodes are numbered, and a node's number is its key in every array here and in each `Store`. Edges
run between nodes. A second, smaller graph runs between *groups*: a group is a set of nodes that
always become stale together, so that one gate for each group, in each store, serves all of them::

        nodes                            groups

    length    angle      rate        {length}    {angle}      {rate}
         \    /   \      /                 \      /    \      /
          tip      energy             {tip, height}   {energy}
           |
         height

A group goes by the number of the node that founded it. Every variable and every stage founds
one. An entry joins the group of its only prerequisite, or the group with the same groups upstream,
and otherwise founds one. The set of *all* sources upstream of an entry is never written out: in a
kinematic tree, where entry i depends on entry i-1 and on variable i, these sets have n² members.

An entry whose new values are *compared* with those before may come out as it was. So what depends
on it founds a *soft* group, whose gate may be lowered again (`Evaluator`)::

    angle                     {angle}
      |                          |
    side, compared             {side}
      |                          |   by a compared entry
    force                     {force}

The graph is acyclic by construction: what an entry depends on exists before it. Only variables
and stages gain edges later (`Structure.connect`), and there a cycle is looked for.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from stagecache.errors import (
    CycleError,
    DuplicatePrerequisiteError,
    InvalidNameError,
    NodeInUseError,
    NodeKindError,
    UnknownNodeError,
)
from stagecache.graph.kind import NodeKind
from stagecache.graph.releasing import let_go, replace

# A group with more groups upstream than this is not searched for edges that it makes redundant:
# adding a node costs what its own prerequisites cost, and such an edge is but a step in a walk.
LONGEST_REDUCED: Final = 8

NO_SIBLING: Final = -1
NO_GROUP: Final = -1
NEVER: Final = -1  # in place of the stage from which on an entry is presumed computed

# Compiled code looks up members of an Enum, and not these.
VARIABLE: Final = NodeKind.VARIABLE
STAGE: Final = NodeKind.STAGE
CACHE_ENTRY: Final = NodeKind.CACHE_ENTRY


Edges = list[Sequence[int]]
"""Other ends of the edges in one direction, by node or group.

Most nodes have no edge in a direction, or one. So an edge list is a tuple while it has at most one
item, which is smaller than a list and shared by copies, and a list from the second item on.
"""


def attach(edges: Edges, at: int, end: int) -> None:
    """Add an edge."""
    listed = edges[at]
    if isinstance(listed, list):
        listed.append(end)
    else:
        edges[at] = [*listed, end] if listed else (end,)


def detach(edges: Edges, at: int, end: int) -> None:
    """Remove an edge, searched from the end: the last one added is usually the first removed."""
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


class Structure:
    """Nodes, prerequisites, dependents and groups, without any value.

    Many stores share one structure; a `Store` copies it before changing it. A node keeps its
    number for life; numbers of removed nodes are used again.

    Attributes
    ----------
    keys : list of object
        By node: its name, or another object, whose `str` is shown; None where the number is
        free.
    kinds : list of NodeKind
        By node.
    prerequisites : list of sequence of int
        By node: the edges up, as declared.
    dependents : list of sequence of int
        By node: the edges down, in the order in which they came.
    group_of : list of int
        By node: the group to which it belongs.
    upstream : list of sequence of int
        By group: the groups from which it is reached by one edge.
    downstream : list of sequence of int
        By group: the groups that it reaches by one edge.
    members : list of int
        By group: how many nodes belong to it.
    presumable : dict of int to list of int
        By stage: the groups of the entries that are presumed computed when it is reached.
    compared : set of int
        The entries whose new values are compared with those before.
    soft : dict of int to tuple
        By group downstream of a compared entry: the other groups, and the compared entries, on
        which it directly depends. Where a write has made it stale, early cutoff is possible.
    """

    __slots__ = (
        "_computed_by",
        "_founded",
        "_free",
        "compared",
        "dependents",
        "downstream",
        "group_of",
        "keys",
        "kinds",
        "members",
        "prerequisites",
        "presumable",
        "soft",
        "upstream",
    )

    def __init__(self) -> None:
        self.keys: list[object] = []
        self.kinds: list[NodeKind] = []
        self.prerequisites: Edges = []
        self.dependents: Edges = []
        self.group_of: list[int] = []
        self.upstream: Edges = []
        self.downstream: Edges = []
        self.members: list[int] = []
        self.presumable: dict[int, list[int]] = {}
        self.compared: set[int] = set()
        self.soft: dict[int, tuple[tuple[int, ...], tuple[int, ...]]] = {}
        self._computed_by: dict[int, int] = {}
        self._founded: dict[int, dict[tuple[int, ...], int]] = {}
        self._free: list[int] = []

    def __len__(self) -> int:
        return sum(1 for key in self.keys if key is not None)

    def __iter__(self) -> Iterator[int]:
        return (node for node, key in enumerate(self.keys) if key is not None)

    def __repr__(self) -> str:
        return f"Structure({len(self)} nodes in {self.num_groups} groups)"

    @property
    def num_groups(self) -> int:
        """Number of groups that the nodes form. Cost O(nodes)."""
        return sum(1 for members in self.members if members)

    def copy(self) -> "Structure":
        """Return the same nodes, sharing nothing that can change. Cost O(nodes + edges)."""
        twin = Structure()
        twin.keys = self.keys.copy()
        twin.kinds = self.kinds.copy()
        twin.prerequisites = self.prerequisites.copy()
        twin.dependents = copy_edges(self.dependents)
        twin.group_of = self.group_of.copy()
        twin.upstream = self.upstream.copy()
        for node, edges in enumerate(self.upstream):
            if isinstance(edges, list):  # made by connect()
                twin.upstream[node] = twin.prerequisites[node] = edges.copy()
        twin.downstream = copy_edges(self.downstream)
        twin.members = self.members.copy()
        twin.presumable = {stage: groups.copy() for stage, groups in self.presumable.items()}
        twin.compared = self.compared.copy()
        twin.soft = self.soft.copy()
        twin._computed_by = self._computed_by.copy()
        twin._founded = {
            computed_by: groups.copy() for computed_by, groups in self._founded.items()
        }
        twin._free = self._free.copy()
        return twin

    def require(self, node: int) -> None:
        """Raise `UnknownNodeError` unless there is a node of that number."""
        if not 0 <= node < len(self.keys) or self.keys[node] is None:
            raise UnknownNodeError(
                f"node {node}: does not exist",
                f"the number of one of {len(self)} nodes",
                f"{node}",
                "use numbers that add() returned and remove() was not given since",
            )

    def name_of(self, node: int) -> str:
        """Return the name of a node in messages."""
        return str(self.keys[node])

    # ------------------------------------------------------------------ nodes

    def add(
        self,
        key: object,
        kind: NodeKind,
        prerequisites: tuple[int, ...] = (),
        computed_by: int = NEVER,
        reserved: int = -1,
        is_compared: bool = False,
    ) -> int:
        """Add a node and return its number. Cost O(prerequisites), amortised.

        Parameters
        ----------
        key : object
            Its name, or what else stands for it; not None and no empty string. It need not be
            unique.
        kind : NodeKind
        prerequisites : tuple of int
            Existing nodes, for a cache entry. Variables and stages start without any.
        computed_by : int
            For a cache entry: the stage from which on it is presumed computed, or `NEVER`. Entries
            share a group only where it is the same.
        reserved : int
            The number that it gets: one that `reserve` kept free, or the next; -1 for any.
        is_compared : bool
            True for a cache entry whose new value is compared with the previous one.

        Raises
        ------
        InvalidNameError, UnknownNodeError, DuplicatePrerequisiteError, NodeKindError,
        NodeInUseError
            And the structure is as before.
        """
        if key is None or (isinstance(key, str) and not key):
            raise InvalidNameError(
                f"{kind}: its name is missing", "a string that is not empty", repr(key), "name it"
            )
        if type(kind) is not NodeKind:
            raise NodeKindError(
                f"node {str(key)!r}: not a kind of node",
                "a NodeKind",
                repr(kind),
                "use NodeKind.VARIABLE, ...",
            )
        sibling = self._sibling(prerequisites) if kind is CACHE_ENTRY else NO_SIBLING
        if sibling == NO_SIBLING:
            prerequisites = tuple(prerequisites)
            self._require_prerequisites(key, kind, prerequisites)
        if computed_by != NEVER:
            self._require_stage(computed_by)
        if reserved >= 0:
            self._require_reserved(reserved)
        if 0 <= reserved < len(self.keys):
            node = reserved
        else:
            node = self._free.pop() if self._free and reserved < 0 else self._extend()
        self.kinds[node] = kind
        shared = prerequisites if sibling == NO_SIBLING else self.prerequisites[sibling]
        self.prerequisites[node] = shared  # one object for all of them
        for p in prerequisites:
            attach(self.dependents, p, node)
        group = node
        if kind is CACHE_ENTRY:
            if sibling != NO_SIBLING:
                group = self.group_of[sibling]
            if sibling == NO_SIBLING or self._computed_by.get(group, NEVER) != computed_by:
                group = self._join_or_found(node, prerequisites, computed_by)
            if is_compared:
                self.compared.add(node)
        self.group_of[node] = group
        self.members[group] += 1
        self.keys[node] = key  # from here on it is there
        return node

    def remove(self, node: int) -> None:
        """Remove a node on which nothing depends, wherever it is registered.

        Cost O(prerequisites), if the node added last is removed first; otherwise it grows with the
        number of their dependents.

        Raises
        ------
        NodeInUseError, UnknownNodeError
            And the structure is as before.
        """
        self.require(node)
        below = [*self.dependents[node], *self.presumable.get(node, ())]
        if below:
            raise NodeInUseError(
                f"{self.kinds[node]} {self.name_of(node)!r}: other nodes depend on it",
                "a node without dependents",
                "dependents " + ", ".join(repr(self.name_of(d)) for d in below),
                "remove these first, or together with it",
            )
        key = replace(self.keys, node, None)  # from here on it is not there
        for p in self.prerequisites[node]:
            detach(self.dependents, p, node)
        self.prerequisites[node] = ()
        self.compared.discard(node)
        group = self.group_of[node]
        self.members[group] -= 1
        # The founder's number stays taken while its group has other members.
        if not self.members[group]:
            self._dissolve(group)
            self._free.append(group)
        if group != node:
            self._free.append(node)
        let_go(key)

    def _sibling(self, prerequisites: tuple[int, ...]) -> int:
        """Return an entry with the same prerequisites, if the last one added below them is; or -1.

        These need no second check, and only a stage that computes it can put the new entry into
        another group.
        """
        if prerequisites and 0 <= prerequisites[0] < len(self.dependents):
            siblings = self.dependents[prerequisites[0]]
            last = siblings[-1] if siblings else NO_SIBLING
            if last != NO_SIBLING and self.prerequisites[last] == prerequisites:
                return last
        return NO_SIBLING

    def _require_prerequisites(
        self, key: object, kind: NodeKind, prerequisites: tuple[int, ...]
    ) -> None:
        """Raise unless these are existing nodes, each once, and may be above such a node."""
        keys = self.keys
        for p in prerequisites:
            if not 0 <= p < len(keys) or keys[p] is None:
                self.require(p)
        if len(prerequisites) > 1 and len(set(prerequisites)) < len(prerequisites):
            twice = sorted({self.name_of(p) for p in prerequisites if prerequisites.count(p) > 1})
            raise DuplicatePrerequisiteError(
                f"{kind} {str(key)!r}: a prerequisite is listed more than once",
                "each prerequisite once",
                ", ".join(map(repr, twice)) + " repeatedly",
                "name each prerequisite once",
            )
        if prerequisites and kind is not CACHE_ENTRY:
            raise NodeKindError(
                f"{kind} {str(key)!r}: is a source and starts without prerequisites",
                "none",
                ", ".join(repr(self.name_of(p)) for p in prerequisites),
                "connect() it to other variables and stages once it exists",
            )

    def _require_stage(self, node: int) -> None:
        self.require(node)
        if self.kinds[node] is not STAGE:
            raise NodeKindError(
                f"{self.kinds[node]} {self.name_of(node)!r}: cannot be reached",
                "a stage, from which on an entry is presumed computed",
                f"a {self.kinds[node]}",
                "give the node of a stage, or NEVER",
            )

    def reserve(self, count: int) -> None:
        """Keep the numbers below this free for nodes that ask for theirs."""
        while len(self.keys) < count:
            self._extend()

    def _require_reserved(self, node: int) -> None:
        """Raise unless a number was reserved, or is the next."""
        if node >= len(self.keys):
            if node > len(self.keys):
                self.require(node)
        elif self.keys[node] is not None or self.members[node] or node in self._free:
            raise NodeInUseError(
                f"node {node}: is not reserved",
                "a number that reserve() kept free",
                f"the number of {self.name_of(node)!r}"
                if self.keys[node] is not None
                else "the number of a node that was removed",
                "reserve numbers before any other node is added",
            )

    def _extend(self) -> int:
        node = len(self.keys)
        self.kinds.append(VARIABLE)
        self.prerequisites.append(())
        self.dependents.append(())
        self.group_of.append(node)
        self.upstream.append(())
        self.downstream.append(())
        self.members.append(0)
        self.keys.append(None)  # last: its length counts for all lists
        return node

    # ------------------------------------------------------------------ edges between sources

    def connect(self, node: int, prerequisite: int) -> None:
        """Let a variable or stage depend on another one: an aggregate on a part of it, say.

        Cost O(nodes and edges upstream of `prerequisite`).

        Raises
        ------
        CycleError, DuplicatePrerequisiteError, NodeKindError, UnknownNodeError
            And the structure is as before.
        """
        self.require_connectable(node, prerequisite)
        self.attach(node, prerequisite)

    def attach(self, node: int, prerequisite: int) -> None:
        """Connect two sources that have passed `require_connectable`."""
        # Both found groups of their own, so that the same list serves nodes and groups.
        edges = self.prerequisites[node]
        if isinstance(edges, list):
            edges.append(prerequisite)
        else:
            self.upstream[node] = self.prerequisites[node] = [prerequisite]
        attach(self.dependents, prerequisite, node)
        attach(self.downstream, prerequisite, node)

    def require_connectable(self, node: int, prerequisite: int) -> None:
        """Raise the error that `connect` would."""
        self.require(node)
        self.require(prerequisite)
        for end in (node, prerequisite):
            if self.kinds[end] is CACHE_ENTRY:
                raise NodeKindError(
                    f"cache entry {self.name_of(end)!r}: cannot be connected",
                    "variables and stages at both ends",
                    f"{self.name_of(node)!r} to depend on {self.name_of(prerequisite)!r}",
                    "give an entry its prerequisites when it is added",
                )
        path = self.path_up(prerequisite, node)
        if path:
            names = tuple(self.name_of(n) for n in [node, *path])
            raise CycleError(
                f"{self.kinds[node]} {names[0]!r}: would depend on itself",
                "prerequisites without a cycle",
                " -> ".join(names),
                "leave one of these edges out",
                names,
            )
        edges = self.prerequisites[node]
        below = self.dependents[prerequisite]
        if prerequisite in edges if len(edges) < len(below) else node in below:
            raise DuplicatePrerequisiteError(
                f"{self.kinds[node]} {self.name_of(node)!r}: is connected to it already",
                "each prerequisite once",
                f"{self.name_of(prerequisite)!r} again",
                "connect() each prerequisite once",
            )

    def disconnect(self, node: int, prerequisite: int) -> None:
        """Undo `connect`.

        Raises
        ------
        UnknownNodeError
            The edge does not exist.
        """
        self.require_connected(node, prerequisite)
        self.detach(node, prerequisite)

    def detach(self, node: int, prerequisite: int) -> None:
        """Disconnect two sources that are connected."""
        detach(self.prerequisites, node, prerequisite)
        detach(self.dependents, prerequisite, node)
        detach(self.downstream, prerequisite, node)

    def require_connected(self, node: int, prerequisite: int) -> None:
        """Raise the error that `disconnect` would."""
        self.require(node)
        self.require(prerequisite)
        edges = self.prerequisites[node]
        if not isinstance(edges, list) or node not in reversed(self.dependents[prerequisite]):
            raise UnknownNodeError(
                f"node {node}: is not connected to {prerequisite}",
                "an edge made by connect()",
                "no such edge",
                "disconnect() what was connected",
            )

    def path_up(self, start: int, goal: int) -> list[int]:
        """Return the nodes of a shortest path up from `start` to `goal`, or an empty list."""
        came_from = {start: start}
        queue = [start]
        for n in queue:
            if n == goal:
                path = [goal]
                while path[-1] != start:
                    path.append(came_from[path[-1]])
                return path[::-1]
            for above in self.prerequisites[n]:
                if above not in came_from:
                    came_from[above] = n
                    queue.append(above)
        return []

    # ------------------------------------------------------------------ mending

    def mend(self) -> None:
        """Complete or undo a change that was cut short. Cost O(nodes + edges).

        Nodes, their prerequisites and their groups are written in one step each; all else follows
        from these. A number that was to be given stays unused.
        """
        count = len(self.keys)
        del self.kinds[count:]
        del self.group_of[count:]
        nodes = list(self)
        members = [0] * count
        dependents: Edges = [()] * count
        downstream: Edges = [()] * count
        prerequisites: Edges = [()] * count
        upstream: Edges = [()] * count
        for node in nodes:
            members[self.group_of[node]] += 1
            prerequisites[node] = self.prerequisites[node]
            for p in prerequisites[node]:
                attach(dependents, p, node)
        presumable: dict[int, list[int]] = {}
        founded: dict[int, dict[tuple[int, ...], int]] = {}
        computed_by = {group: stage for group, stage in self._computed_by.items() if members[group]}
        soft = {group: above for group, above in self.soft.items() if members[group]}
        for group in range(count):
            if members[group]:
                is_entry = self.kinds[group] is CACHE_ENTRY
                upstream[group] = self.upstream[group] if is_entry else prerequisites[group]
                for g in upstream[group]:
                    attach(downstream, g, group)
                if is_entry:
                    stage = computed_by.get(group, NEVER)
                    key = _soft_key(*soft[group]) if group in soft else tuple(upstream[group])
                    founded.setdefault(stage, {})[key] = group
                    if stage != NEVER:
                        presumable.setdefault(stage, []).append(group)
        self.compared.intersection_update(nodes)
        self._free = [n for n in self._free if self.keys[n] is None and not members[n]]
        self.members, self.presumable, self._founded = members, presumable, founded
        self._computed_by, self.soft = computed_by, soft
        self.prerequisites, self.dependents = prerequisites, dependents
        self.upstream, self.downstream = upstream, downstream

    # ------------------------------------------------------------------ groups

    def _join_or_found(self, node: int, prerequisites: tuple[int, ...], computed_by: int) -> int:
        """Return the group of a new entry."""
        founded = self._founded.get(computed_by)
        if founded is None:
            founded = self._founded[computed_by] = {}
        if self.compared and self._is_soft(prerequisites):
            return self._join_or_found_soft(node, prerequisites, computed_by, founded)
        group = founded.get(prerequisites, NO_GROUP)
        if group != NO_GROUP:  # they are its upstream groups: what is most often the case, first
            return group
        groups = dict.fromkeys([self.group_of[p] for p in prerequisites])
        if len(groups) > 1:
            # What is upstream of another upstream group need not be named. Only entries' groups
            # are asked: their edges never change, and those made by connect() may be undone.
            for g in list(groups):
                if self.kinds[g] is CACHE_ENTRY and len(self.upstream[g]) <= LONGEST_REDUCED:
                    for above in self.upstream[g]:
                        groups.pop(above, None)
        if len(groups) == 1:
            (only,) = groups
            if self._computed_by.get(only, NEVER) == computed_by:
                return only
        upstream = tuple(sorted(groups))
        group = founded.get(upstream, NO_GROUP)
        if group != NO_GROUP:
            return group
        if upstream == prerequisites:
            upstream = prerequisites  # share one tuple, for memory
        founded[upstream] = node
        self._found(node, upstream, computed_by)
        return node

    def _is_soft(self, prerequisites: tuple[int, ...]) -> bool:
        return not self.compared.isdisjoint(prerequisites) or any(
            self.group_of[p] in self.soft for p in prerequisites
        )

    def _join_or_found_soft(
        self,
        node: int,
        prerequisites: tuple[int, ...],
        computed_by: int,
        founded: dict[tuple[int, ...], int],
    ) -> int:
        """Return the group of a new entry that is downstream of a compared one."""
        cuts = tuple(sorted(self.compared.intersection(prerequisites)))
        groups = dict.fromkeys([self.group_of[p] for p in prerequisites if p not in self.compared])
        for g in list(groups):
            # What another upstream group depends on otherwise than by a compared entry.
            above, _ = self.soft.get(g, (self.upstream[g], ()))
            if self.kinds[g] is CACHE_ENTRY and len(above) <= LONGEST_REDUCED:
                for a in above:
                    groups.pop(a, None)
        if len(groups) == 1 and not cuts:
            (only,) = groups
            if self._computed_by.get(only, NEVER) == computed_by:
                return only
        others = tuple(sorted(groups))
        key = _soft_key(others, cuts)
        group = founded.get(key, NO_GROUP)
        if group == NO_GROUP:
            founded[key] = group = node
            self.soft[node] = others, cuts
            self._found(node, tuple({*others, *[self.group_of[x] for x in cuts]}), computed_by)
        return group

    def _found(self, node: int, upstream: tuple[int, ...], computed_by: int) -> None:
        if computed_by != NEVER:
            self._computed_by[node] = computed_by
            self.presumable.setdefault(computed_by, []).append(node)
        self.upstream[node] = upstream
        for g in upstream:
            attach(self.downstream, g, node)

    def _dissolve(self, group: int) -> None:
        upstream = self.upstream[group]
        for g in upstream:
            detach(self.downstream, g, group)
        self.upstream[group] = ()
        if self.kinds[group] is CACHE_ENTRY:
            computed_by = self._computed_by.pop(group, NEVER)
            soft = self.soft.pop(group, None)
            key = tuple(upstream) if soft is None else _soft_key(*soft)
            del self._founded[computed_by][key]
            if computed_by != NEVER:
                self.presumable[computed_by].remove(group)
                if not self.presumable[computed_by]:
                    del self.presumable[computed_by]


def _soft_key(others: tuple[int, ...], cuts: tuple[int, ...]) -> tuple[int, ...]:
    """Key of a group downstream of compared entries, which it holds as negative numbers."""
    return (*others, *[~x for x in cuts])
