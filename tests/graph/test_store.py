"""The store's own promises; the random operations are in test_store_machine.py."""

from collections.abc import Callable
from functools import partial
from itertools import count
from threading import Thread

import pytest

from stagecache.errors import CycleError, NodeInUseError, NodeKindError, UnknownNodeError
from stagecache.graph import (
    NodeKind,
    Store,
)
from stagecache.graph.rollback import checkpoint, restore
from stagecache.graph.store import CLOSED, COMPUTING, MENDING, WIDE
from tests.graph.check_structure import check_store
from tests.interrupting import ignore_lost_strikes, plain_only, struck_at, visits
from tests.threads import wait_until_in

VARIABLE, STAGE, ENTRY = NodeKind.VARIABLE, NodeKind.STAGE, NodeKind.CACHE_ENTRY


def test_a_new_variable_is_valid_and_a_new_entry_is_not() -> None:
    store = Store()
    v = store.add("v", VARIABLE, value=3)
    e = store.add("e", ENTRY, (v,))
    assert (store.values[v], store.versions[v], store.is_valid(v)) == (3, 1, True)
    assert not store.is_valid(e)


def test_a_mark_holds_until_a_source_is_written() -> None:
    store = Store()
    a, b = store.add("a", VARIABLE), store.add("b", VARIABLE)
    of_a, of_both = store.add("of_a", ENTRY, (a,)), store.add("of_both", ENTRY, (a, b))
    store.mark_valid(of_a)
    store.mark_valid(of_both)
    store.write(b)
    assert store.is_valid(of_a)
    assert not store.is_valid(of_both)
    store.mark_valid(of_both)
    store.write(a)
    assert not store.is_valid(of_a)
    assert not store.is_valid(of_both)


def test_a_valid_entry_may_lie_below_an_invalid_one() -> None:
    store = Store()
    v = store.add("v", VARIABLE)
    upper = store.add("upper", ENTRY, (v,))
    middle = store.add("middle", ENTRY, (upper,))
    lower = store.add("lower", ENTRY, (middle,))
    store.mark_valid(lower)
    assert not store.is_valid(upper)
    assert store.is_valid(lower)
    store.invalidate(upper)
    assert not store.is_valid(lower), "invalidation passes through what is invalid already"


def test_a_second_write_visits_nothing() -> None:
    """With nothing computed in between, only the clock and the version move."""
    store = Store()
    v = store.add("v", VARIABLE)
    below = v
    for i in range(100):
        below = store.add(f"e{i}", ENTRY, (below, store.add(f"w{i}", VARIABLE)))
    store.mark_valid(below)
    store.write(v)
    gates = store.gates.copy()
    store.write(v)
    assert store.gates == gates
    assert store.live.count(True) == 100, "the other sources, each of which was not written"


def test_a_closed_stage_hides_what_is_below_and_opening_restores_it() -> None:
    store = Store()
    v, stage = store.add("v", VARIABLE), store.add("position", STAGE)
    upper = store.add("upper", ENTRY, (v, stage))
    lower = store.add("lower", ENTRY, (upper, store.add("w", VARIABLE)))
    store.mark_valid(upper)
    assert not store.is_valid(stage)
    assert not store.is_valid(upper), "a stage starts closed"
    store.open(stage)
    assert store.is_valid(stage)
    assert store.is_valid(upper)
    store.mark_valid(lower)
    store.close(stage)
    store.close(stage)
    assert not store.is_valid(upper)
    assert not store.is_valid(lower)
    store.open(stage)
    store.open(stage)
    assert store.is_valid(upper)
    assert store.is_valid(lower)


def test_a_change_while_closed_counts_when_it_opens() -> None:
    store = Store()
    v, stage = store.add("v", VARIABLE), store.add("position", STAGE)
    entry = store.add("entry", ENTRY, (v, stage))
    store.open(stage)
    store.mark_valid(entry)
    store.close(stage)
    store.write(v)
    store.open(stage)
    assert not store.is_valid(entry)
    store.close(stage)
    store.mark_valid(entry)
    assert not store.is_valid(entry)
    store.open(stage)
    assert store.is_valid(entry), "marked while closed, and nothing changed since"
    store.close(stage)
    for _ in range(3):
        store.write(v)
        store.mark_valid(entry)
    store.open(stage)
    assert store.is_valid(entry), "however often it was written while closed"


def test_a_group_below_two_closed_stages_opens_with_the_last() -> None:
    store = Store()
    first, second = store.add("first", STAGE), store.add("second", STAGE)
    entry = store.add("entry", ENTRY, (first, second))
    store.mark_valid(entry)
    store.open(first)
    assert not store.is_valid(entry)
    store.open(second)
    assert store.is_valid(entry)
    assert store.gates[store.structure.group_of[entry]] < CLOSED


def test_groups_open_again_as_often_as_they_were_closed() -> None:
    store = Store()
    first, second, v = store.add("1", STAGE), store.add("2", STAGE), store.add("v", VARIABLE)
    upper = store.add("upper", ENTRY, (first, second))
    lower = store.add("lower", ENTRY, (upper, v))
    for _ in range(3):
        store.open(first)
        store.open(second)
        store.mark_valid(lower)
        assert store.is_valid(lower)
        store.close(first)
        store.close(second)
        assert not store.is_valid(lower)


def test_a_stage_starts_closed_also_where_a_closed_one_was() -> None:
    store = Store()
    number = store.add("old", STAGE)
    store.remove(number)
    assert store.add("new", STAGE) == number
    assert not store.is_valid(number)
    store.open(number)
    assert store.is_valid(number)


def test_a_write_visits_live_groups_only_however_many_there_are() -> None:
    """One variable that all entries need, and one for each: time and the joints of a mechanism."""
    store = Store()
    time = store.add("time", VARIABLE)
    entries = [store.add(f"e{i}", ENTRY, (time, store.add(f"q{i}", VARIABLE))) for i in range(1000)]
    store.mark_valid(entries[0])
    store.write(time)
    store.mark_valid(entries[7])
    assert list(store._live_below[time]) == [entries[7]]
    store.write(time)
    assert not store._live_below[time]
    assert not store.is_valid(entries[7])


def wide() -> tuple[Store, int, list[int]]:
    r"""A variable with many groups directly below, each of an entry; the first is valid and listed.

    ::

        time   v0   time   v1
           \  /        \  /
            e0          e1    ...
    """
    store = Store()
    time = store.add("time", VARIABLE)
    others = [store.add(f"v{i}", VARIABLE) for i in range(WIDE + 1)]
    entries = [store.add(f"e{i}", ENTRY, (time, v)) for i, v in enumerate(others)]
    store.mark_valid(entries[0])
    store.write(time)
    store.mark_valid(entries[0])
    return store, time, entries


def test_a_write_passes_over_what_has_the_number_of_a_removed_node() -> None:
    store, time, (first, *_) = wide()
    store.remove(first)
    assert store.add("v", VARIABLE) == first
    store.mark_valid(entry := store.add("of v", ENTRY, (first,)))
    store.write(time)
    assert store.is_valid(entry)
    check_store(store)


def test_a_write_passes_over_what_was_disconnected() -> None:
    store, time, _ = wide()
    v = store.add("v", VARIABLE)
    entry = store.add("of v", ENTRY, (v,))
    store.connect(v, time)
    store.mark_valid(entry)
    store.write(time)
    assert not store.is_valid(entry)
    store.mark_valid(entry)
    store.disconnect(v, time)
    assert not store.is_valid(entry)
    store.mark_valid(entry)
    store.write(time)
    assert store.is_valid(entry)
    check_store(store)


def test_a_write_after_a_rollback_reaches_what_was_valid_at_the_checkpoint() -> None:
    store, time, (first, *_) = wide()
    journal = checkpoint(store)
    store.add("v", VARIABLE)
    store.write(time)
    restore(store, journal)
    assert store.is_valid(first)
    check_store(store)
    store.write(time)
    assert not store.is_valid(first)


def test_only_stages_are_closed() -> None:
    store = Store()
    v = store.add("v", VARIABLE)
    for operation in (store.close, store.open):
        with pytest.raises(NodeKindError, match="'v'"):
            operation(v)


def test_copies_share_the_structure_until_one_changes_it() -> None:
    store = Store()
    v = store.add("v", VARIABLE, value=1)
    e = store.add("e", ENTRY, (v,))
    store.mark_valid(e)
    twin = store.copy()
    assert twin.structure is store.structure
    store.write(v)
    assert not store.is_valid(e)
    assert twin.is_valid(e)
    twin.add("w", VARIABLE)
    assert twin.structure is not store.structure
    assert (len(store.structure), len(twin.structure)) == (2, 3)
    own = twin.structure
    twin.add("x", VARIABLE)
    assert twin.structure is own, "it has its own now"


CHANGES: dict[str, Callable[[Store], object]] = {
    "add": lambda store: store.add("new", VARIABLE),
    "remove": lambda store: store.remove(store.keys.index("entry")),
    "connect": lambda store: store.connect(store.keys.index("whole"), store.keys.index("other")),
    "disconnect": lambda store: store.disconnect(
        store.keys.index("whole"), store.keys.index("part")
    ),
    "reserve": lambda store: store.reserve(9),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_structure_changes_one_twin_and_a_rollback_undoes_it(change: str) -> None:
    store = Store()
    whole, part, other = (store.add(key, VARIABLE) for key in ("whole", "part", "other"))
    store.connect(whole, part)
    store.mark_valid(store.add("entry", ENTRY, (whole, other)))

    def look(store: Store) -> list[list[object]]:
        check_store(store)
        structure = store.structure
        return [list(structure.keys), [list(edges) for edges in structure.prerequisites]]

    before = look(store)
    twin = store.copy()
    journal = checkpoint(twin)
    for _ in range(2):
        CHANGES[change](twin)
        assert look(twin) != before
        assert look(store) == before
        restore(twin, journal)
        assert look(twin) == before
        assert twin.is_valid(twin.keys.index("entry"))


@pytest.mark.parametrize("value", [None, 7])
def test_an_entry_was_computed_if_it_has_a_value_valid_or_not(value: object) -> None:
    store = Store()
    v = store.add("v", VARIABLE)
    e = store.add("e", ENTRY, (v,))
    assert not store.was_computed(e)
    store.values[e] = value
    store.mark_valid(e)
    store.write(v)
    assert store.was_computed(e)
    store.invalidate(e)
    assert store.was_computed(e) is (value is not None)
    store.remove(e)
    assert not store.was_computed(store.add("another", ENTRY, (v,)))


def test_no_version_is_given_twice_even_after_removal() -> None:
    store = Store()
    v = store.add("v", VARIABLE)
    for _ in range(5):
        store.write(v)
    highest = store.versions[v]
    store.remove(v)
    assert store.versions[store.add("v", VARIABLE)] > highest
    assert store.versions[store.add("w", VARIABLE)] > highest


def test_an_entry_added_below_a_closed_stage_is_closed() -> None:
    store = Store()
    stage, v = store.add("stage", STAGE), store.add("v", VARIABLE)
    entry = store.add("entry", ENTRY, (stage, v))
    store.mark_valid(entry)
    assert not store.is_valid(entry)
    store.open(stage)
    assert store.is_valid(entry)


def test_a_closed_part_closes_its_aggregate() -> None:
    store = Store()
    stage, whole = store.add("stage", STAGE), store.add("whole", VARIABLE)
    entry = store.add("entry", ENTRY, (whole,))
    store.connect(whole, stage)
    store.mark_valid(entry)
    assert not store.is_valid(entry)
    store.open(stage)
    assert store.is_valid(entry)
    store.close(stage)
    store.disconnect(whole, stage)
    store.mark_valid(entry)
    assert store.is_valid(entry)


@plain_only
def test_a_copy_is_of_one_moment_though_an_entry_is_computed_meanwhile() -> None:
    store = Store()
    v = store.add("v", NodeKind.VARIABLE, value=1)
    e = store.add("e", NodeKind.CACHE_ENTRY, (v,))

    class ChangedMeanwhile(dict[int, int]):
        """Copied last; as if another thread computed an entry just before."""

        def copy(self) -> "ChangedMeanwhile":
            if not store.is_valid(e):
                store.values[e] = "computed"
                store.mark_valid(e)
            return self

    store.changed = ChangedMeanwhile()
    twin = store.copy()
    assert twin.is_valid(e)
    assert twin.values[e] == "computed"


def test_what_is_presumed_computed_may_be_presumed_so_again() -> None:
    store = Store()
    stage = store.add("stage", NodeKind.STAGE)
    v = store.add("v", NodeKind.VARIABLE, value=1)
    e = store.add("e", NodeKind.CACHE_ENTRY, (v,), stage)
    store.write(v)
    store.open(stage)
    store.invalidate(e)
    assert not store.is_valid(e)
    store.presume(stage)
    assert store.is_valid(e)
    store.close(stage)
    assert not store.is_valid(e)


OPERATIONS: dict[str, Callable[[Store], object]] = {
    "copy": lambda store: store.copy(),
    "add": lambda store: store.add("new", NodeKind.VARIABLE),
    "write": lambda store: store.write(store.keys.index("other")),
    "write several": lambda store: store.write_all([store.keys.index("other")]),
    "touch several": lambda store: store.touch_all([store.keys.index("other")]),
    "mark": lambda store: store.mark_valid(store.keys.index("apart")),
    "invalidate": lambda store: store.invalidate(store.keys.index("apart")),
    "close": lambda store: store.close(store.keys.index("open")),
    "open": lambda store: store.open(store.keys.index("closed")),
    "admit": lambda store: store.admit(store.keys.index("closed")),
    "presume": lambda store: store.presume(store.keys.index("open")),
    "checkpoint": checkpoint,
    "mend": lambda store: store.mend(),
    "open what is open": lambda store: store.open(1),
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("is_noted", [False, True])
def test_each_operation_first_mends_a_store_in_which_another_was_cut_short(
    operation: str, is_noted: bool
) -> None:
    store = Store()
    stages = [store.add(key, NodeKind.STAGE) for key in ("closed", "open")]
    store.open(stages[1])
    v, other = (store.add(key, NodeKind.VARIABLE) for key in ("v", "other"))
    e = store.add("e", NodeKind.CACHE_ENTRY, (v,))
    store.add("apart", NodeKind.CACHE_ENTRY, (other,), stages[1])
    store.add("waiting", NodeKind.CACHE_ENTRY, (other, stages[0]))
    store.mark_valid(e)
    journal = checkpoint(store) if is_noted else None
    store.live[store.group_of[e]] = False  # a computation was cut short: writes would not see it
    store.is_torn = True
    OPERATIONS[operation](store)
    assert not store.is_torn
    assert store.is_valid(e)
    store.write(v)
    assert not store.is_valid(e)
    assert store.is_closed(stages[0]) is (operation not in ("open", "admit"))
    check_store(store)
    if journal is not None and operation != "checkpoint":
        restore(store, journal)
        assert store.is_valid(e)
        assert store.is_closed(stages[0])


@plain_only
@ignore_lost_strikes
def test_a_reservation_that_is_cut_short_leaves_a_sound_store() -> None:
    for at in count():
        store = Store()
        above = store.add("above", VARIABLE)
        place = struck_at(at, partial(store.reserve, 4), KeyboardInterrupt)
        store.add("below", ENTRY, (above,))
        check_store(store)
        if not place:
            break


def test_a_sound_store_is_left_as_it_is_when_it_is_mended() -> None:
    store = Store()
    v = store.add("v", NodeKind.VARIABLE)
    e = store.add("e", NodeKind.CACHE_ENTRY, (v,))
    store.mark_valid(e)
    store.write(v)
    before = store.live.copy()
    store.mend()
    assert store.live == before == [False, False]


def test_what_is_refused_leaves_nothing_to_mend() -> None:
    store = Store()
    v = store.add("v", NodeKind.VARIABLE)
    e = store.add("e", NodeKind.CACHE_ENTRY, (v,))
    stage = store.add("s", NodeKind.STAGE)
    refused: list[tuple[type[Exception], Callable[[], object]]] = [
        (NodeKindError, lambda: store.add("w", NodeKind.VARIABLE, (v,))),
        (NodeInUseError, lambda: store.remove(v)),
        (UnknownNodeError, lambda: store.remove(17)),
        (NodeKindError, lambda: store.connect(e, v)),
        (CycleError, lambda: store.connect(stage, stage)),
        (NodeKindError, lambda: store.close(v)),
        (NodeKindError, lambda: store.open(v)),
    ]
    for error, act in refused:
        with pytest.raises(error):
            act()
        assert not store.is_torn
    check_store(store)


def test_a_store_shows_its_structure_and_its_clock() -> None:
    store = Store()
    store.write(store.add("v", NodeKind.VARIABLE))
    assert repr(store) == f"Store({store.structure!r}, clock 1)"


# ---------------------------------------------------------------------- by a finalizer


@pytest.mark.parametrize(
    "write",
    [
        lambda store, node: store.write(node),
        lambda store, node: store.write_all([node]),
        lambda store, node: store.touch_all([node]),
    ],
    ids=["write", "write_all", "touch_all"],
)
def test_a_write_while_groups_become_live_takes_all_for_live(
    write: Callable[[Store, int], None],
) -> None:
    store = Store()
    v = store.add("v", VARIABLE)
    e = store.add("e", ENTRY, (v,))
    store.mark_valid(e)
    store.live[:] = [False] * len(store.live)  # as some are in the middle of `make_live`
    store._is_making_live = True
    write(store, v)
    store._is_making_live = False
    assert not store.is_valid(e)


@pytest.mark.parametrize("is_open", [True, False])
def test_a_copy_while_a_stage_is_closed_or_opened_is_of_the_time_after_it(is_open: bool) -> None:
    store = Store()
    stage = store.add("stage", STAGE)
    other = store.add("other", STAGE)
    store.open(stage)
    e = store.add("e", ENTRY, (stage,))
    store.mark_valid(e)
    if is_open:
        store.close(stage)
        store.closed.remove(stage)  # as it is before the gates are lowered
    else:
        store.closed.add(stage)
    store._is_shutting = True
    store.open(other)  # by a finalizer as well
    store.close(other)
    twin = store.copy()
    assert not twin.is_torn
    assert twin.is_valid(e) == is_open
    check_store(twin)


@plain_only
@pytest.mark.parametrize("operation", ["close", "admit", "open"])
def test_a_copy_by_a_finalizer_is_of_the_time_before_a_stage_is_closed_or_opened_or_after(
    operation: str,
) -> None:
    def prepare() -> Store:
        store = Store()
        stage, v, w = (store.add("stage", STAGE), *[store.add(key, VARIABLE) for key in "vw"])
        below = store.add("below", ENTRY, (stage, v))
        store.add("presumed", ENTRY, (below, w), stage)
        store.open(stage)
        store.mark_valid(below)
        if operation != "close":
            store.close(stage)
        return store

    def copy(store: Store) -> None:
        twin = store.copy()
        is_open = 0 not in twin.closed
        assert twin.is_valid(0) == twin.is_valid(3) == is_open
        assert twin.is_valid(4) <= is_open
        check_store(twin)

    for store, what in visits(prepare, lambda store: getattr(store, operation)(0), copy, every=1):
        assert store.is_valid(3) == (operation != "close"), what


@pytest.mark.parametrize(
    ("change", "versions"),
    [
        (lambda store, v, w: store.connect(w, v), (1, 2)),
        (lambda store, v, w: store.write_all([v, w]), (2, 2)),
        (lambda store, v, w: store.write_all([w]), (1, 2)),
        (lambda store, v, w: store.write_again([w]), (1, 2)),
        (lambda store, v, w: store.touch_all([w]), (1, 1)),
        (lambda store, v, w: store.touch_all([v, w]), (1, 1)),
    ],
)
def test_a_change_of_a_source_makes_stale_what_is_below_and_raises_its_version_by_one(
    change: Callable[[Store, int, int], object], versions: tuple[int, int]
) -> None:
    store = Store()
    v, w = store.add("v", VARIABLE), store.add("w", VARIABLE)
    entry = store.add("e", ENTRY, (w,))
    store.clock = 7
    store.mark_valid(entry)
    change(store, v, w)
    assert not store.is_valid(entry)
    assert store.clock > 7
    assert (store.versions[v], store.versions[w]) == versions
    check_store(store)


def test_a_connection_that_ends_is_a_change_and_one_that_is_not_there_is_refused() -> None:
    store = Store()
    v, w = store.add("v", VARIABLE), store.add("w", VARIABLE)
    entry = store.add("e", ENTRY, (w,))
    store.connect(w, v)
    store.mark_valid(entry)
    store.disconnect(w, v)
    assert not store.is_valid(entry)
    with pytest.raises(UnknownNodeError):
        store.disconnect(w, v)
    assert store.versions[w] == 3
    check_store(store)


def test_an_entry_with_a_first_value_was_not_computed() -> None:
    store = Store()
    entry = store.add("e", ENTRY, value=5)
    assert not store.was_computed(entry)
    store.mark_valid(entry)
    assert store.was_computed(entry)


def test_an_entry_has_version_1_when_it_is_first_computed_also_after_a_rollback() -> None:
    store = Store()
    v = store.add("v", VARIABLE)
    entry = store.add("e", ENTRY, (v,))
    journal = checkpoint(store)
    store.write(v)
    restore(store, journal)
    store.mark_valid(entry)
    assert store.versions[entry] == 1
    store.write(v)
    assert store.versions[v] == 3


def test_a_mark_of_a_compared_entry_is_a_change_of_its_own() -> None:
    store = Store()
    v = store.add("v", VARIABLE)
    compared = store.add("c", ENTRY, (v,), is_compared=True)
    plain = store.add("p", ENTRY, (v,))
    for entry, step in ((plain, 0), (compared, 1), (compared, 1)):
        clock, computations = store.clock, store.computations
        store.mark_valid(entry)
        assert store.clock == store.marks[entry] == clock + step
        assert store.computations != computations
    assert store.changed == {compared: store.clock}


@pytest.mark.parametrize("is_stale", [False, True])
@pytest.mark.parametrize("is_far", [False, True])
def test_a_mark_gives_up_stale_values_above_it_and_no_others(is_stale: bool, is_far: bool) -> None:
    store = Store()
    v, w = store.add("v", VARIABLE), store.add("w", VARIABLE)
    compared = store.add("c", ENTRY, (v,), is_compared=True)
    entry = store.add("b", ENTRY, (compared, w))
    if is_far:
        entry = store.add("f", ENTRY, (entry, store.add("x", VARIABLE)))
    for _ in range(1 + is_stale):
        store.marks[compared] = store.clock  # as if it was computed
        store.make_live(store.group_of[compared])
        store.write(v)
    if not is_stale:
        store.marks[compared] = store.clock
    journal = checkpoint(store)
    mark = store.marks[compared]
    store.mark_valid(entry)
    assert (store.marks[compared] < 0) == is_stale
    restore(store, journal)
    assert store.marks[compared] == mark


@plain_only
@pytest.mark.parametrize("operation", ["mark_valid", "close", "admit", "open"])
def test_what_is_cut_short_leaves_a_stage_open_or_closed_and_lets_a_write_reach_all(
    operation: str,
) -> None:
    for at in count():
        store = Store()
        stage, v, w = (store.add("stage", STAGE), *[store.add(key, VARIABLE) for key in "vw"])
        upper = store.add("upper", ENTRY, (stage, v))
        lower = store.add("lower", ENTRY, (upper, w))
        presumed = store.add("presumed", ENTRY, (v,), stage)
        store.open(stage)
        store.mark_valid(upper)
        if operation in ("admit", "open"):
            store.close(stage)
        node = lower if operation == "mark_valid" else stage
        place = struck_at(at, partial(getattr(store, operation), node), KeyboardInterrupt)
        store.touch_all([])  # any operation mends
        is_open = stage not in store.closed
        assert store.is_valid(stage) == store.is_valid(upper) == is_open, place
        assert store.is_valid(presumed) <= is_open, place
        store.open(stage)
        for source in (w, v, stage):
            store.mark_valid(lower)
            assert store.is_valid(lower), place
            store.write(source)
            assert not store.is_valid(lower), place
        for source in (w, v, stage):
            store.write(source)
        assert not any(store.live), "a write costs no more than before"
        check_store(store)
        if not place:
            break


@plain_only
def test_a_mending_that_is_cut_short_begins_anew() -> None:
    for at in count():
        store = Store()
        stage, v = store.add("stage", STAGE), store.add("v", VARIABLE)
        entry = store.add("e", ENTRY, (v,))
        hidden = store.add("hidden", ENTRY, (entry, stage))
        store.mark_valid(entry)
        store.mark_valid(hidden)
        store.live[:] = [False] * len(store.live)  # as if a computation were cut short
        store.is_torn = True
        place = struck_at(at, store.mend, KeyboardInterrupt)
        store.mend()
        assert (store.is_valid(entry), store.is_valid(hidden)) == (True, False), place
        store.open(stage)
        assert store.is_valid(hidden), place
        store.write(v)
        assert not store.is_valid(entry), place
        if not place:
            break


CUT_SHORT: dict[str, Callable[[Store], object]] = {
    "add": lambda store: store.add("new", ENTRY, (0, 1)),
    "remove": lambda store: store.remove(3),
    "connect": lambda store: store.connect(2, 0),
    "disconnect": lambda store: store.disconnect(1, 0),
}


@plain_only
@pytest.mark.parametrize("change", CUT_SHORT)
def test_a_change_of_the_nodes_that_is_cut_short_leaves_nothing_that_cannot_be_mended(
    change: str,
) -> None:
    for at in count():
        store = Store()
        for name in "uvw":
            store.add(name, VARIABLE)
        store.connect(1, 0)
        for _ in range(2):
            store.mark_valid(store.add("e", ENTRY, (1, 2)))
        place = struck_at(at, partial(CUT_SHORT[change], store), KeyboardInterrupt)
        check_store(store)
        store.mark_valid(store.add("after", ENTRY, (0, 2)))
        check_store(store)
        if not place:
            break


def test_what_is_void_leaves_what_is_below_valid_and_comes_back_by_a_rollback() -> None:
    store = Store()
    v = store.add("v", VARIABLE)
    entry = store.add("e", ENTRY, (v,))
    below = store.add("b", ENTRY, (entry,))
    for each in (entry, below):
        store.mark_valid(each)
    store.void(entry)
    assert (store.is_valid(entry), store.is_valid(below)) == (False, True)
    store.mark_valid(entry)
    journal = checkpoint(store)
    store.void(entry)
    restore(store, journal)
    assert store.is_valid(entry)
    store.marks[entry] = COMPUTING
    store.void(entry)
    assert store.marks[entry] == COMPUTING


def test_an_invalidation_of_everything_is_a_change() -> None:
    store = Store()
    entry = store.add("e", ENTRY, (store.add("v", VARIABLE),))
    store.clock = 7
    store.mark_valid(entry)
    store.invalidate_all()
    assert not store.is_valid(entry)
    assert store.clock == 8


@pytest.mark.parametrize(
    ("kind", "status", "is_void", "is_change"),
    [
        ("compared", "valid", False, True),
        ("compared", "stale", True, False),
        ("compared", "computing", False, True),
        ("below", "valid", False, False),
        ("below", "stale", True, False),
        ("plain", "valid", False, False),
        ("plain", "stale", False, False),
    ],
)
def test_a_value_stored_by_hand_is_a_change_or_leaves_an_entry_that_may_be_cut_off_stale(
    kind: str, status: str, is_void: bool, is_change: bool
) -> None:
    store = Store()
    v = store.add("v", VARIABLE)
    compared = store.add("c", ENTRY, (v,), is_compared=True)
    below = store.add("b", ENTRY, (compared,))
    plain = store.add("p", ENTRY, (v,))
    entry = {"compared": compared, "below": below, "plain": plain}[kind]
    store.make_live(store.group_of[entry])
    store.write(v)
    clock = store.clock = 7
    store.gates[store.group_of[entry]] = clock
    mark = {"valid": clock, "stale": clock - 1, "computing": COMPUTING}[status]
    store.marks[entry] = mark
    store.renounce(entry)
    assert store.marks[entry] == (~clock if is_void else mark)
    assert store.clock == clock + is_change
    assert store.changed == ({entry: clock + 1} if is_change else {})


@plain_only
def test_a_thread_that_finds_it_mended_by_another_one_leaves_it_as_it_is() -> None:
    store = Store()
    v = store.add("v", VARIABLE)
    group = store.group_of[store.add("e", ENTRY, (v,))]
    store.is_torn = True
    thread = Thread(target=store.mend)
    with MENDING:
        thread.start()
        wait_until_in(thread, "mend")
        store.mend()
        assert store.live[group]
        store.live[group] = False  # which it would be no more if it was mended again
    thread.join()
    assert not store.live[group]
