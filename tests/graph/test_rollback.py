"""Checkpoints of a Store against brute force, which copies everything; and what they cost."""

import copy
from dataclasses import dataclass

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from stagecache.graph import (
    NodeKind,
    Store,
    rollback,
)
from stagecache.graph.rollback import checkpoint, release, restore
from stagecache.graph.store import Journal
from stagecache.graph.structure import NEVER
from tests.graph.check_structure import check_store
from tests.graph.test_store_machine import ENTRY, BruteStore, Node, StoreMachine
from tests.interrupting import plain_only, steps, strikes, visits
from tests.profiles import examples


@dataclass
class Mark:
    """A checkpoint, and copies of all that it should bring back."""

    journal: Journal
    brute: BruteStore
    seen: dict[int, tuple[object, int, object]]  # by node: key, version, value


class RollbackMachine(StoreMachine):
    """The machine of the Store, with checkpoints; each value is another number."""

    def __init__(self) -> None:
        super().__init__()
        self.marks: dict[int, list[Mark]] = {}
        self.values = 0
        self.meanings: dict[tuple[int, int, int], object] = {}

    @initialize(data=st.data())
    def start(self, data: st.DataObject) -> None:
        """Three sources, one of them a stage, and entries, half of which are marked."""
        for kind in (NodeKind.STAGE, NodeKind.VARIABLE, NodeKind.VARIABLE):
            self.add_source_of(kind, *self.pairs[0])
        for i in range(4):
            self.add_entry_to(data, *self.pairs[0], computed_by=i % 2 - 1, is_compared=i > 1)
        self.close_or_open_all(closed=data.draw(st.booleans()))
        for _ in range(3):
            self.mark(data)

    def close_or_open_all(self, *, closed: bool) -> None:
        store, brute = self.pairs[0]
        (store.close if closed else store.open)(0)
        brute.nodes[0].closed, brute.nodes[0].opened = closed, brute.now()

    def place(self, store: Store) -> int:
        return next(i for i, (other, _) in enumerate(self.pairs) if other is store)

    def marks_of(self, store: Store) -> list[Mark]:
        return self.marks.setdefault(self.place(store), [])

    def give_value(self, store: Store, number: int) -> None:
        self.values += 1
        store.values[number] = self.values

    def seen(self, store: Store) -> dict[int, tuple[object, int, object]]:
        found = {}
        for n in store.structure:
            found[n] = store.keys[n], store.versions[n], store.values[n]
            key = self.place(store), n, store.versions[n]
            if store.values[n] is None:  # an entry that has no value yet
                continue
            assert self.meanings.setdefault(key, store.values[n]) == store.values[n]
        return found

    # ------------------------------------------------------------------ with values

    @rule(data=st.data(), kind=st.sampled_from([NodeKind.VARIABLE, NodeKind.STAGE]))
    def add_source(self, data: st.DataObject, kind: NodeKind) -> None:
        store, brute, _ = self.pick(data)
        self.add_source_of(kind, store, brute)

    def add_source_of(self, kind: NodeKind, store: Store, brute: BruteStore) -> None:
        self.values += 1
        number = store.add(f"source {self.values}", kind, value=self.values)
        brute.nodes[number] = Node(kind, [], brute.now(), closed=kind == NodeKind.STAGE)

    @rule(data=st.data(), is_presumed=st.booleans(), is_compared=st.booleans())
    def add_entry(self, data: st.DataObject, is_presumed: bool, is_compared: bool = False) -> None:
        store, brute, stage = self.pick(data, NodeKind.STAGE)
        latest = NEVER if stage is None or not is_presumed else stage
        self.add_entry_to(data, store, brute, computed_by=latest, is_compared=is_compared)

    def add_entry_to(
        self,
        data: st.DataObject,
        store: Store,
        brute: BruteStore,
        *,
        computed_by: int,
        is_compared: bool,
    ) -> None:
        chosen = data.draw(st.permutations(list(brute.nodes)))[: data.draw(st.integers(0, 4))]
        self.values += 1
        number = store.add(
            f"entry {self.values}", ENTRY, tuple(chosen), computed_by, is_compared=is_compared
        )
        brute.nodes[number] = Node(ENTRY, chosen, brute.now(), computed_by=computed_by)

    @rule(data=st.data())
    def write(self, data: st.DataObject) -> None:
        store, brute, number = self.pick(data, NodeKind.VARIABLE, NodeKind.STAGE)
        if number is not None:
            store.write(number)
            self.give_value(store, number)
            brute.nodes[number].changed = brute.now()

    @rule(data=st.data(), bump=st.booleans())
    def write_several(self, data: st.DataObject, bump: bool) -> None:
        store, brute, _ = self.pick(data)
        sources = [n for n, node in brute.nodes.items() if node.kind != ENTRY]
        chosen = data.draw(st.lists(st.sampled_from(sources), unique=True)) if sources else []
        (store.write_all if bump else store.touch_all)(chosen)
        for n in chosen:
            brute.nodes[n].changed = brute.now()
            if bump:
                self.give_value(store, n)

    @rule(data=st.data())
    def mark(self, data: st.DataObject) -> None:
        store, brute, number = self.pick(data, ENTRY)
        if number is not None:
            store.mark_valid(number)
            self.give_value(store, number)
            brute.nodes[number].marked = brute.now()

    @rule(data=st.data())
    def connect_or_disconnect(self, data: st.DataObject) -> None:
        store, brute, number = self.pick(data, NodeKind.VARIABLE, NodeKind.STAGE)
        before = None if number is None else store.versions[number]
        if number is not None:
            sources = [n for n, node in brute.nodes.items() if node.kind != ENTRY]
            other = data.draw(st.sampled_from(sources))
            node = brute.nodes[number]
            if other in node.prerequisites:
                store.disconnect(number, other)
                node.prerequisites.remove(other)
            elif number not in brute.upstream(other):
                store.connect(number, other)
                node.prerequisites.append(other)
            if store.versions[number] != before:
                self.give_value(store, number)
                node.changed = brute.now()

    # ------------------------------------------------------------------ checkpoints

    @rule(data=st.data())
    def make_checkpoint(self, data: st.DataObject) -> None:
        store, brute, _ = self.pick(data)
        seen = self.seen(store)
        self.marks_of(store).append(Mark(checkpoint(store), copy.deepcopy(brute), seen))

    @precondition(lambda self: any(self.marks.values()))
    @rule(data=st.data())
    def roll_back(self, data: st.DataObject) -> None:
        place = data.draw(st.sampled_from([p for p, marks in self.marks.items() if marks]))
        store = self.pairs[place][0]
        marks = self.marks[place]
        self.seen(store)
        i = data.draw(st.integers(0, len(marks) - 1))
        clock = store.clock
        restore(store, marks[i].journal)
        assert store.clock >= clock
        assert self.seen(store) == marks[i].seen
        del marks[i + 1 :]
        self.pairs[place] = store, copy.deepcopy(marks[i].brute)

    @precondition(lambda self: any(self.marks.values()))
    @rule(data=st.data())
    def let_go(self, data: st.DataObject) -> None:
        place = data.draw(st.sampled_from([p for p, marks in self.marks.items() if marks]))
        marks = self.marks[place]
        mark = marks.pop(data.draw(st.integers(0, len(marks) - 1)))
        release(self.pairs[place][0], mark.journal)

    def teardown(self) -> None:
        for place, (store, _) in enumerate(self.pairs):
            self.seen(store)
            assert store.journals == [mark.journal for mark in self.marks.get(place, [])]


TestRollbackMachine = RollbackMachine.TestCase
TestRollbackMachine.settings = examples(100)


# ---------------------------------------------------------------------- costs and interrupts


def many(count: int) -> tuple[Store, list[int]]:
    """One entry for each of that many variables, all valid."""
    store, variables = Store(), []
    for i in range(count):
        variables.append(store.add(f"v{i}", NodeKind.VARIABLE, value=i))
        store.mark_valid(store.add(f"e{i}", ENTRY, (variables[-1],)))
    return store, variables


def test_a_journal_notes_only_what_has_changed() -> None:
    store, variables = many(10_000)
    journal = checkpoint(store)
    for v in variables[:10]:
        store.write(v)
        store.mark_valid(v + 1)
    assert len(journal.nodes) == 20
    assert len(journal.gates) == 10
    assert journal.whole is None


def test_a_write_of_what_everything_depends_on_notes_one_group() -> None:
    store = Store()
    time = store.add("time", NodeKind.VARIABLE, value=0.0)
    entries = [store.add(f"e{i}", ENTRY, (time,)) for i in range(10_000)]
    for e in entries:
        store.mark_valid(e)
    journal = checkpoint(store)
    store.write(time)
    assert (len(journal.nodes), len(journal.gates)) == (1, 1)
    restore(store, journal)
    assert all(map(store.is_valid, entries))
    assert (journal.nodes, journal.gates) == ({}, {})


def test_a_rollback_lets_no_write_visit_more_than_before() -> None:
    store, (a, *_) = many(2)
    apart = store.add("apart", NodeKind.VARIABLE)
    journal = checkpoint(store)
    store.write(a)
    restore(store, journal)
    assert store.live[a]
    assert not store.live[apart], "below it, nothing was computed"


def test_what_was_noted_after_a_released_checkpoint_is_given_to_the_one_before() -> None:
    store, (a, b, *_) = many(3)
    first = checkpoint(store)
    store.write(a)
    second = checkpoint(store)
    store.write(a)
    store.write(b)
    release(store, second)
    restore(store, first)
    assert store.is_valid(a + 1)
    assert store.is_valid(b + 1)
    store.write(a)
    store.write(b)
    store.write(b)
    restore(store, first)
    assert [store.versions[a], store.versions[b]] == [1, 1]
    store.write(a)
    store.write(b)
    assert [store.versions[a], store.versions[b]] == [5, 5]


def test_a_later_checkpoint_is_what_it_was_when_the_oldest_is_released() -> None:
    store, (a, b, *_) = many(3)
    first = checkpoint(store)
    store.write(a)
    second = checkpoint(store)
    store.write(b)
    release(store, first)
    restore(store, second)
    assert [store.versions[a], store.versions[b]] == [2, 1]


def test_an_entry_that_was_presumed_computed_is_so_again_and_no_longer() -> None:
    store = Store()
    latest = store.add("latest", NodeKind.STAGE)
    v = store.add("v", NodeKind.VARIABLE, value=1)
    e, unmarked = (store.add(name, ENTRY, (v,), latest) for name in ("e", "unmarked"))
    store.mark_valid(e)
    store.open(latest)
    journal = checkpoint(store)
    store.close(latest)
    store.write(v)
    store.open(latest)
    restore(store, journal)
    assert store.is_valid(e)
    assert store.is_valid(unmarked)
    store.close(latest)
    assert store.is_valid(e)  # by its mark
    assert not store.is_valid(unmarked)
    store.write(v)
    assert not store.is_valid(e)


def test_a_stage_that_was_closed_before_the_structure_changed_can_be_opened() -> None:
    store = Store()
    stage = store.add("stage", NodeKind.STAGE)
    e = store.add("e", ENTRY, (stage,))
    store.mark_valid(e)
    journal = checkpoint(store)
    store.add("new", NodeKind.VARIABLE)
    store.open(stage)
    assert store.is_valid(e)
    restore(store, journal)
    assert not store.is_valid(e)
    store.open(stage)
    assert store.is_valid(e)


@pytest.mark.skipif(not rollback.__file__.endswith(".py"), reason="compiled: no method to patch")
def test_a_restoration_that_is_cut_short_is_made_good_by_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store, variables = many(4)
    stage = store.add("stage", NodeKind.STAGE)
    waiting = store.add("waiting", ENTRY, (stage, variables[0]))
    store.open(stage)
    store.mark_valid(waiting)
    journal = checkpoint(store)
    store.close(stage)
    for v in variables:
        store.write(v)

    def strike(group: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Store, "make_live", lambda self, group: strike(group))
        with pytest.raises(KeyboardInterrupt):
            restore(store, journal)
    check_store(store)
    restore(store, journal)
    check_store(store)
    assert all(store.is_valid(n) for n in store.structure)
    store.write(variables[0])
    assert not store.is_valid(waiting)


@plain_only
@pytest.mark.parametrize("is_changed", [False, True])
def test_a_write_between_a_restoration_that_is_cut_short_and_the_next_is_undone(
    is_changed: bool,
) -> None:
    """Also where the structure was changed, so that a copy has what was there before."""

    def prepare() -> Store:
        store, (a, b, *_) = many(3)
        checkpoint(store)
        store.write(a)
        if is_changed:
            store.add("new", NodeKind.VARIABLE)
        write(store, b)
        return store

    def write(store: Store, node: int) -> None:
        store.write(node)
        store.values[node] = "new"

    def look(store: Store) -> list[tuple[object, int, bool]]:
        return [(store.values[n], store.versions[n], store.is_valid(n)) for n in store.structure]

    before = look(many(3)[0])
    for store, what in strikes(prepare, lambda store: restore(store, store.journals[0]), every=1):
        for node in (2, 4):
            write(store, node)
        restore(store, store.journals[0])
        assert look(store) == before, what
        check_store(store)


@plain_only
@pytest.mark.parametrize("is_changed", [False, True])
def test_a_restoration_that_is_cut_short_leaves_nothing_stale_that_is_valid(
    is_changed: bool,
) -> None:
    def prepare() -> Store:
        store = Store()
        v = store.add("v", NodeKind.VARIABLE, value=1)
        fresh, stale = (store.add(name, ENTRY, (v,)) for name in ("fresh", "stale"))
        compute(store, stale)
        write(store, 2)
        compute(store, fresh)
        checkpoint(store)
        write(store, 3)
        if is_changed:
            store.add("new", NodeKind.VARIABLE)
        compute(store, fresh)
        compute(store, stale)
        return store

    def write(store: Store, value: int) -> None:
        store.write(0)
        store.values[0] = value

    def compute(store: Store, entry: int) -> None:
        store.note(entry)
        store.values[entry] = store.values[0]
        store.mark_valid(entry)

    for store, what in strikes(prepare, lambda store: restore(store, store.journals[0]), every=1):
        store.mend()
        for entry in (1, 2):
            assert not store.is_valid(entry) or store.values[entry] == store.values[0], what


@plain_only
def test_a_copy_is_as_cheap_after_a_rollback_that_undoes_what_was_cut_short() -> None:
    def prepare() -> Store:
        store = Store()
        stage = store.add("stage", NodeKind.STAGE)
        store.add("entry", ENTRY, (stage,))
        store.open(stage)
        checkpoint(store)
        return store

    expected = steps(prepare().copy)
    for store, what in strikes(prepare, lambda store: store.close(0), every=1):
        restore(store, store.journals[0])
        assert steps(store.copy) == expected, what


@plain_only
def test_no_version_stands_for_another_value_in_the_middle_of_a_rollback() -> None:
    given = {1: "before", 2: "after"}

    def prepare() -> Store:
        store = Store()
        store.add("v", NodeKind.VARIABLE, value=given[1])
        checkpoint(store)
        store.write(0)
        store.values[0] = given[2]
        return store

    def look(store: Store) -> None:
        assert given.get(store.versions[0], store.values[0]) == store.values[0]

    for store, _ in visits(prepare, lambda store: restore(store, store.journals[0]), look, every=1):
        assert (store.versions[0], store.values[0]) == (1, "before")


# ---------------------------------------------------------------------- rules, one by one


@pytest.mark.parametrize("is_open", [False, True])
def test_a_stage_is_closed_or_open_as_at_the_checkpoint_and_can_change_again(
    is_open: bool,
) -> None:
    store = Store()
    stage = store.add("stage", NodeKind.STAGE)
    e = store.add("e", ENTRY, (stage,))
    store.mark_valid(e)
    change, change_back = (store.close, store.open) if is_open else (store.open, store.close)
    if is_open:
        store.open(stage)
    journal = checkpoint(store)
    for _ in range(2):
        change(stage)
        restore(store, journal)
        assert store.is_valid(e) is is_open
        assert store.is_closed(stage) is not is_open
    change(stage)
    assert store.is_valid(e) is not is_open
    change(stage)
    change_back(stage)
    assert store.is_valid(e) is is_open


def test_an_entry_that_was_presumed_computed_leaves_nothing_when_it_is_removed() -> None:
    store = Store()
    latest = store.add("latest", NodeKind.STAGE)
    v = store.add("v", NodeKind.VARIABLE, value=1)
    e = store.add("e", ENTRY, (v,), latest)
    store.open(latest)
    assert store.unpresumed.keys() == {store.structure.group_of[e]}
    store.remove(e)
    assert store.unpresumed == {}


def test_an_entry_that_was_presumed_computed_since_a_checkpoint_is_so_no_longer() -> None:
    store = Store()
    latest = store.add("latest", NodeKind.STAGE)
    v = store.add("v", NodeKind.VARIABLE, value=1)
    e = store.add("e", ENTRY, (v,), latest)
    journal = checkpoint(store)
    store.open(latest)
    assert store.is_valid(e)
    restore(store, journal)
    assert not store.is_valid(e)
    assert store.unpresumed == {}
    store.open(latest)
    assert store.is_valid(e)


def test_what_was_computed_after_the_structure_changed_is_computed_again_after_a_rollback() -> None:
    store, (a, *_) = many(3)
    store.write(a)
    journal = checkpoint(store)
    store.add("new", NodeKind.VARIABLE)
    store.mark_valid(a + 1)
    assert store.is_valid(a + 1)
    restore(store, journal)
    assert not store.is_valid(a + 1)
    store.mark_valid(a + 1)
    store.write(a)
    assert not store.is_valid(a + 1)


def test_a_copy_made_at_a_change_of_structure_is_kept_when_a_later_checkpoint_is_released() -> None:
    store, (a, b, *_) = many(3)
    first = checkpoint(store)
    store.write(a)
    new = store.add("new", NodeKind.VARIABLE)
    second = checkpoint(store)
    store.write(b)
    release(store, second)
    store.write(b)
    restore(store, first)
    assert new not in store.structure
    assert [store.versions[n] for n in (a, b)] == [1, 1]
    assert all(map(store.is_valid, (a + 1, b + 1)))


def test_a_checkpoint_of_a_shared_structure_leaves_that_of_the_twin_alone() -> None:
    store, _ = many(2)
    journal = checkpoint(store)
    twin = store.copy()
    new = store.add("new", NodeKind.VARIABLE)
    restore(store, journal)
    again = store.add("again", NodeKind.VARIABLE)
    assert again == new
    assert new not in twin.structure
    restore(store, journal)
    assert again not in store.structure


def test_invalidation_of_everything_is_undone_by_a_rollback() -> None:
    store, _ = many(3)
    journal = checkpoint(store)
    store.invalidate_all()
    entries = [n for n in store.structure if store.structure.kinds[n] is ENTRY]
    assert not any(map(store.is_valid, entries))
    restore(store, journal)
    assert all(map(store.is_valid, entries))
    release(store, journal)
    store.invalidate_all()
    assert not any(map(store.is_valid, entries))


def test_what_is_computed_after_a_rollback_becomes_stale_like_anything_else() -> None:
    store = Store()
    stage = store.add("stage", NodeKind.STAGE)
    v = store.add("v", NodeKind.VARIABLE, value=1)
    e = store.add("e", ENTRY, (v, stage))
    store.open(stage)
    journal = checkpoint(store)
    store.close(stage)
    restore(store, journal)
    store.mark_valid(e)
    assert store.is_valid(e)
    store.write(v)
    assert not store.is_valid(e)


def test_versions_that_exceed_those_of_a_store_exceed_what_was_rewound_in_it() -> None:
    store, (a, *_) = many(2)
    journal = checkpoint(store)
    for _ in range(5):
        store.write(a)
    restore(store, journal)
    assert store.versions[a] == 1
    store.exceed(Store())
    assert store.versions[a] > 6
    later = Store()
    later.exceed(store)
    assert later.clock > store.clock
    assert later.add("v", NodeKind.VARIABLE) == 0
    assert later.versions[0] > store.versions[a]


def test_a_released_checkpoint_passes_on_which_stages_it_saw_closed_and_what_was_presumed() -> None:
    store = Store()
    stage = store.add("stage", NodeKind.STAGE)
    v = store.add("v", NodeKind.VARIABLE, value=1)
    e = store.add("e", ENTRY, (v,), stage)
    first = checkpoint(store)
    second = checkpoint(store)
    store.open(stage)
    release(store, second)
    assert store.is_valid(e)
    restore(store, first)
    assert store.closed == {stage}
    assert store.unpresumed == {}
    assert not store.is_valid(e)
    store.open(stage)
    assert store.is_valid(e)
    assert store.is_closed(stage) is False


def test_the_next_write_reaches_all_when_a_store_is_restored_in_which_something_was_cut_short() -> (
    None
):
    store, _ = many(3)
    journal = checkpoint(store)
    store.is_torn = True
    store.live[:] = [False] * len(store.live)  # as far as making groups live had come
    restore(store, journal)
    assert not store.is_torn
    check_store(store)
