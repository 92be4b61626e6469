"""The Store against brute force: marks made from outside, stages that close, connected sources."""

import copy
from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from stagecache.graph import (
    NodeKind,
    Store,
)
from stagecache.graph.rollback import checkpoint, release, restore
from stagecache.graph.store import WIDE
from stagecache.graph.structure import NEVER
from tests.graph.check_structure import check_store
from tests.interrupting import ignore_lost_strikes, struck

ENTRY = NodeKind.CACHE_ENTRY


@dataclass
class Node:
    """One node; `changed` is the tick of its last change, `marked` of its last mark."""

    kind: NodeKind
    prerequisites: list[int]
    changed: int
    marked: int = -1
    closed: bool = False
    opened: int = -1  # tick at which a stage was last opened
    computed_by: int = NEVER


def valid_nodes(store: Store) -> set[int]:
    return {n for n in store.structure if store.is_valid(n)}


@dataclass
class BruteStore:
    nodes: dict[int, Node] = field(default_factory=dict)
    tick: int = 0

    def now(self) -> int:
        self.tick += 1
        return self.tick

    def upstream(self, number: int) -> set[int]:
        found = {number}
        for p in self.nodes[number].prerequisites:
            found |= self.upstream(p)
        return found

    def dependents(self, number: int) -> list[int]:
        return [
            n
            for n, node in self.nodes.items()
            if number in node.prerequisites or number == node.computed_by
        ]

    def is_valid(self, number: int) -> bool:
        above = [self.nodes[n] for n in self.upstream(number)]
        if any(n.closed for n in above):
            return False
        node = self.nodes[number]
        if node.kind != ENTRY:
            return True
        since = node.marked
        if node.computed_by != NEVER and not self.nodes[node.computed_by].closed:
            since = max(since, self.nodes[node.computed_by].opened)
        return since > max(n.changed for n in above)


class StoreMachine(RuleBasedStateMachine):
    """Runs each operation on a store and on brute force; up to three pairs of them."""

    def __init__(self) -> None:
        super().__init__()
        self.pairs = [(Store(), BruteStore())]

    def pick(self, data: st.DataObject, *kinds: NodeKind) -> tuple[Store, BruteStore, int | None]:
        store, brute = data.draw(st.sampled_from(self.pairs))
        numbers = [n for n, node in brute.nodes.items() if node.kind in kinds]
        return store, brute, data.draw(st.sampled_from(numbers)) if numbers else None

    @rule(data=st.data(), kind=st.sampled_from([NodeKind.VARIABLE, NodeKind.STAGE]))
    def add_source(self, data: st.DataObject, kind: NodeKind) -> None:
        store, brute, _ = self.pick(data)
        number = store.add(f"{kind} {len(brute.nodes)}", kind)
        brute.nodes[number] = Node(kind, [], brute.now(), closed=kind == NodeKind.STAGE)

    @rule(data=st.data(), is_presumed=st.booleans())
    def add_entry(self, data: st.DataObject, is_presumed: bool) -> None:
        store, brute, stage = self.pick(data, NodeKind.STAGE)
        computed_by = NEVER if stage is None or not is_presumed else stage
        chosen = data.draw(st.permutations(list(brute.nodes)))[: data.draw(st.integers(0, 4))]
        number = store.add(f"entry {len(brute.nodes)}", ENTRY, tuple(chosen), computed_by)
        brute.nodes[number] = Node(ENTRY, chosen, brute.now(), computed_by=computed_by)

    @rule(data=st.data())
    def write(self, data: st.DataObject) -> None:
        store, brute, number = self.pick(data, NodeKind.VARIABLE, NodeKind.STAGE)
        if number is not None:
            store.write(number)
            brute.nodes[number].changed = brute.now()

    @rule(data=st.data(), bump=st.booleans())
    def write_several(self, data: st.DataObject, bump: bool) -> None:
        store, brute, _ = self.pick(data)
        sources = [n for n, node in brute.nodes.items() if node.kind != ENTRY]
        chosen = data.draw(st.lists(st.sampled_from(sources), unique=True)) if sources else []
        before = [store.versions[n] for n in chosen]
        (store.write_all if bump else store.touch_all)(chosen)
        assert [store.versions[n] for n in chosen] == [v + bump for v in before]
        for n in chosen:
            brute.nodes[n].changed = brute.now()

    @rule(data=st.data())
    def mark(self, data: st.DataObject) -> None:
        store, brute, number = self.pick(data, ENTRY)
        if number is not None:
            store.mark_valid(number)
            brute.nodes[number].marked = brute.now()

    @rule(data=st.data())
    def invalidate(self, data: st.DataObject) -> None:
        store, brute, number = self.pick(data, ENTRY)
        if number is not None:
            store.invalidate(number)
            brute.nodes[number].changed = brute.now()

    @rule(data=st.data(), closed=st.booleans())
    def close_or_open(self, data: st.DataObject, closed: bool) -> None:
        store, brute, number = self.pick(data, NodeKind.STAGE)
        if number is not None:
            (store.close if closed else store.open)(number)
            node = brute.nodes[number]
            if node.closed and not closed:
                node.opened = brute.now()
            node.closed = closed

    @rule(data=st.data())
    def connect_or_disconnect(self, data: st.DataObject) -> None:
        store, brute, number = self.pick(data, NodeKind.VARIABLE, NodeKind.STAGE)
        sources = [n for n, node in brute.nodes.items() if node.kind != ENTRY]
        if number is None:
            return
        other = data.draw(st.sampled_from(sources))
        node = brute.nodes[number]
        if other in node.prerequisites:
            store.disconnect(number, other)
            node.prerequisites.remove(other)
        elif number not in brute.upstream(other):
            store.connect(number, other)
            node.prerequisites.append(other)
        else:
            return
        node.changed = brute.now()

    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        store, brute, number = self.pick(data, *NodeKind)
        if number is not None and not brute.dependents(number):
            store.remove(number)
            del brute.nodes[number]

    @precondition(lambda self: len(self.pairs) < 3)
    @rule(data=st.data())
    def copy(self, data: st.DataObject) -> None:
        store, brute, _ = self.pick(data)
        self.pairs.append((store.copy(), copy.deepcopy(brute)))

    @rule(data=st.data())
    def strike(self, data: st.DataObject) -> None:
        """An operation on a copy that an error cuts short leaves valid what was, or will be."""
        store, brute, source = self.pick(data, NodeKind.VARIABLE, NodeKind.STAGE)
        stages = [n for n, node in brute.nodes.items() if node.kind == NodeKind.STAGE]
        entries = [n for n, node in brute.nodes.items() if node.kind == ENTRY]
        do: list[Callable[[Store], object]] = [
            Store.copy,
            lambda s: restore(s, s.journals[0]),
            lambda s: release(s, s.journals[0]),
            lambda s: s.add("new", NodeKind.VARIABLE),
        ]
        if source is not None:
            do += [
                lambda s: s.write(source),
                lambda s: s.write_all([source]),
                lambda s: s.touch_all([source]),
                lambda s: s.add("new", ENTRY, (source, *entries[:2]), NEVER, 1),
            ]
        if stages:
            do += [lambda s: s.close(stages[0]), lambda s: s.open(stages[0])]
        if entries:
            entry = data.draw(st.sampled_from(entries))
            do += [lambda s: s.mark_valid(entry), lambda s: s.invalidate(entry)]
            if not brute.dependents(entry):
                do.append(lambda s: s.remove(entry))
        operate = data.draw(st.sampled_from(do))
        written = data.draw(st.lists(st.sampled_from(stages), max_size=1)) if stages else []

        def prepare() -> Store:
            twin = store.copy()
            checkpoint(twin)
            for node in written:  # so that there is something to be restored
                twin.close(node)
                twin.write(node)
            return twin

        before, at_mark = valid_nodes(prepare()), valid_nodes(store)
        for twin, whole in struck(data, prepare, operate):
            check_store(twin)
            if "new" in twin.keys:  # half added, it is dropped, since nobody has its number
                twin.remove(twin.keys.index("new"))
            now = valid_nodes(twin)
            assert now <= before | valid_nodes(whole) | at_mark
            if twin.journals:
                restore(twin, twin.journals[0])
                check_store(twin)
                assert valid_nodes(twin) <= at_mark
                assert not now & at_mark & valid_nodes(whole) - valid_nodes(twin)
            for n in [n for n in twin.structure if twin.structure.kinds[n] != ENTRY]:
                below = {m for m in brute.nodes if n in brute.upstream(m) and m in entries}
                twin.write(n)
                assert not valid_nodes(twin) & below

    @invariant()
    def validity_agrees(self) -> None:
        for store, brute in self.pairs:
            assert sorted(store.structure) == sorted(brute.nodes)
            for number in brute.nodes:
                assert store.is_valid(number) == brute.is_valid(number)

    @invariant()
    def structure_holds(self) -> None:
        for store, _ in self.pairs:
            check_store(store)


TestStoreMachine = ignore_lost_strikes(StoreMachine.TestCase)


class WideStoreMachine(StoreMachine):
    """Starts with a variable that has many groups directly below it."""

    @initialize()
    def start(self) -> None:
        store, brute = self.pairs[0]
        time = store.add("time", NodeKind.VARIABLE)
        brute.nodes[time] = Node(NodeKind.VARIABLE, [], brute.now())
        for i in range(WIDE + 3):
            own = store.add(f"own {i}", NodeKind.VARIABLE)
            brute.nodes[own] = Node(NodeKind.VARIABLE, [], brute.now())
            entry = store.add(f"of both {i}", ENTRY, (time, own))
            brute.nodes[entry] = Node(ENTRY, [time, own], brute.now())
        self.time = time

    @rule()
    def write_time(self) -> None:
        for store, brute in self.pairs:
            if self.time in brute.nodes and brute.nodes[self.time].kind == NodeKind.VARIABLE:
                store.write(self.time)
                brute.nodes[self.time].changed = brute.now()


TestWideStoreMachine = ignore_lost_strikes(WideStoreMachine.TestCase)
