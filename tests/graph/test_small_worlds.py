"""Small worlds: no program of a few operations on a small graph gives a wrong value."""

import random
from collections.abc import Callable

import pytest

from stagecache.graph import rollback
from stagecache.graph.evaluation import Evaluator
from stagecache.graph.store import Journal, Store
from tests.graph.small_worlds.shapes import all_shapes
from tests.graph.small_worlds.walk import Counts, Walk
from tests.interrupting import plain_only
from tests.profiles import is_nightly

pytestmark = plain_only  # it saves and restores each field of the store


PARTS = range(16) if is_nightly() else range(1)
"""Of the graphs of four nodes; all together, with five operations, they take an hour."""


def test_all_graphs_of_few_nodes_are_among_the_shapes() -> None:
    shapes = [list(all_shapes(num_nodes)) for num_nodes in (1, 2, 3)]
    assert [len(each) for each in shapes] == [1, 5, 57]
    described = [str(shape) for shape in shapes[2]]
    assert len(set(described)) == 57
    assert "variables a; w(a) compared; x(w, a) branches" in described
    assert "variables a, b; w(a, b) branches" in described
    assert "variables a, b; w(b, a) branches" not in described  # the same with other names


def test_a_walk_counts_the_programs_that_there_are() -> None:
    """Each copy, and each checkpoint, makes more operations possible."""
    (shape,) = all_shapes(1)  # three writes, a checkpoint and a copy; no entry
    first = 5
    second = 3 * 5 + (5 + 2) + (5 + 5)
    assert Walk(shape).go(1).programs == first
    assert Walk(shape).go(2).programs == first + second


def test_all_programs_on_all_graphs_of_three_nodes() -> None:
    counts = sum((Walk(shape).go(3) for shape in all_shapes(3)), Counts())
    assert counts.programs == 73_417  # a smaller number would mean that some were left out
    assert counts.comparisons > 10_000


def test_prerequisites_that_are_prepared_change_no_value() -> None:
    """As in deep chains, each read first computes the prerequisites of what it computes."""
    for shape in list(all_shapes(3))[::4]:
        counts = Walk(shape, deepest=0).go(3)
        assert (counts.comparisons > 0) == bool(shape.entries)


@pytest.mark.parametrize("part", PARTS)
def test_all_programs_on_graphs_of_four_nodes(part: int) -> None:
    shapes = list(all_shapes(4))[part :: len(PARTS) if is_nightly() else 100]
    for shape in shapes:
        assert Walk(shape).go(5 if is_nightly() else 2).comparisons > 0


def test_programs_on_new_graphs_end_as_the_walk_says() -> None:
    """The walk changes graphs back and goes on from equal states; a replay does neither."""
    rng = random.Random(1)
    for shape in list(all_shapes(3))[::8]:
        walk = Walk(shape)
        walk.go(3)
        for _ in range(20):
            walk.replay(rng, 2)


# ---------------------------------------------------------------------- planted faults


def gates_are_not_restored(patch: pytest.MonkeyPatch) -> None:
    original = rollback._restore

    def restore(store: Store, journal: Journal, before: list[object]) -> None:
        journal.gates.clear()
        original(store, journal, before)

    patch.setattr(rollback, "_restore", restore)


def versions_are_given_twice(patch: pytest.MonkeyPatch) -> None:
    def raise_version(self: Store, node: int) -> None:
        self.versions[node] += 1

    patch.setattr(Store, "raise_version", raise_version)


def notes_of_a_released_checkpoint_are_lost(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Journal, "take_over", lambda self, later: None)


def a_computation_makes_only_its_own_group_live(patch: pytest.MonkeyPatch) -> None:
    def make_live(self: Store, group: int) -> None:
        self.live[group] = True

    patch.setattr(Store, "make_live", make_live)


def an_invalidation_ends_at_stale_entries(patch: pytest.MonkeyPatch) -> None:
    def invalidate(self: Store, node: int) -> None:
        self.note(node)
        self.clock += 1
        self.marks[node] = ~self.clock
        for below in self.structure.dependents[node]:
            if self.is_valid(below):
                invalidate(self, below)

    patch.setattr(Store, "invalidate", invalidate)


def values_count_as_new_when_they_are_found_equal(patch: pytest.MonkeyPatch) -> None:
    original = Evaluator._last_change

    def last_change(self: Evaluator, node: int, reader: int, me: int) -> int:
        self._store.changed.pop(node, None)
        found = original(self, node, reader, me)
        self._store.changed.pop(node, None)
        return max(found, self._store.marks[node])

    patch.setattr(Evaluator, "_last_change", last_change)


def values_count_as_old_when_they_are_new(patch: pytest.MonkeyPatch) -> None:
    original = Evaluator._last_change

    def last_change(self: Evaluator, node: int, reader: int, me: int) -> int:
        mark = self._store.marks[node]
        original(self, node, reader, me)
        return self._store.changed.get(node, mark)

    patch.setattr(Evaluator, "_last_change", last_change)


def copies_share_their_changes(patch: pytest.MonkeyPatch) -> None:
    original = Store.copy

    def copy(self: Store) -> Store:
        twin = original(self)
        twin.changed = self.changed
        return twin

    patch.setattr(Store, "copy", copy)


def copies_forget_since_when_values_are_equal(patch: pytest.MonkeyPatch) -> None:
    original = Store.copy

    def copy(self: Store) -> Store:
        twin = original(self)
        twin.changed.clear()
        return twin

    patch.setattr(Store, "copy", copy)


FAULTS = [
    (gates_are_not_restored, "w(a)", 4),
    (versions_are_given_twice, "w(a)", 4),
    (notes_of_a_released_checkpoint_are_lost, "w(a)", 5),
    (a_computation_makes_only_its_own_group_live, "w(); x(a, w)", 2),
    (an_invalidation_ends_at_stale_entries, "w(); x(a, w) compared", 4),
    (values_count_as_new_when_they_are_found_equal, "w(a) compared; x(w)", 3),
    (values_count_as_old_when_they_are_new, "w(a) compared; x(w)", 3),
    (copies_share_their_changes, "w(a) compared; x(w)", 1),
    (copies_forget_since_when_values_are_equal, "w(a) compared; x(w)", 5),
]


@plain_only
@pytest.mark.parametrize(("plant", "entries", "length"), FAULTS)
def test_a_wrong_protocol_is_noticed(
    plant: Callable[[pytest.MonkeyPatch], None],
    entries: str,
    length: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each fault on one of the smallest graphs on which it shows."""
    (shape,) = [s for n in (2, 3) for s in all_shapes(n) if str(s) == f"variables a; {entries}"]
    Walk(shape).go(min(length, 3))
    plant(monkeypatch)
    with pytest.raises(AssertionError):
        Walk(shape).go(length)


@plain_only
def test_a_failure_comes_with_its_program(monkeypatch: pytest.MonkeyPatch) -> None:
    values_count_as_old_when_they_are_new(monkeypatch)
    shape = next(s for s in all_shapes(3) if str(s) == "variables a; w(a) compared; x(w)")
    with pytest.raises(AssertionError) as failure:
        Walk(shape).go(3)
    assert failure.value.__notes__ == [f"{shape}\nx()\na.set(1)\nx()"]
