"""Changes upstream of an entry, as explanations find them in a Store."""

import pytest

from stagecache import Graph
from stagecache.graph import NodeKind, Store
from stagecache.graph.changes import NodeChange, invalidated_together, nodes_changed, way_down

VARIABLE, ENTRY = NodeKind.VARIABLE, NodeKind.CACHE_ENTRY


def ladder() -> tuple[Store, list[int]]:
    """Variables a, b; entry c below a, d below c and b, e below d; all are valid."""
    store = Store()
    a, b = store.add("a", VARIABLE, value=1), store.add("b", VARIABLE, value=2)
    c = store.add("c", ENTRY, (a,))
    d = store.add("d", ENTRY, (c, b))
    e = store.add("e", ENTRY, (d,))
    for entry in (c, d, e):
        store.mark_valid(entry)
    return store, [a, b, c, d, e]


def compared() -> tuple[Store, list[int]]:
    """Variable v, entry c below it, which is compared, and d below c; all are valid."""
    store = Store()
    v = store.add("v", VARIABLE, value=1)
    c = store.add("c", ENTRY, (v,), is_compared=True)
    d = store.add("d", ENTRY, (c,))
    for entry in (c, d):
        store.mark_valid(entry)
    return store, [v, c, d]


def test_each_variable_that_has_changed_since_is_found_with_the_path_from_it() -> None:
    store, (a, b, c, d, e) = ladder()
    since = store.marks[e]
    assert nodes_changed(store, e, since).changes == ()
    store.write(a)
    assert nodes_changed(store, e, since).changes == (NodeChange(1, a, (c, d, e)),)
    store.mark_valid(c)
    store.write(b)
    found = nodes_changed(store, e, since)
    assert found.changes == (NodeChange(2, b, (d, e)), NodeChange(1, a, (c, d, e)))
    assert found.visited == ((e, since), (d, since), (c, since))
    assert nodes_changed(store, e, 1).changes == (NodeChange(2, b, (d, e)),)
    assert nodes_changed(store, e, 2).changes == ()


def test_a_variable_that_is_reached_by_two_paths_is_found_once() -> None:
    store = Store()
    a = store.add("a", VARIABLE, value=1)
    left, right = store.add("left", ENTRY, (a,)), store.add("right", ENTRY, (a,))
    top = store.add("top", ENTRY, (left, right))
    store.mark_valid(top)
    store.write(a)
    found = nodes_changed(store, top, store.marks[top])
    assert found.changes == (NodeChange(1, a, (left, top)),)
    assert [node for node, _ in found.visited] == [top, left, right]


def test_an_entry_that_is_reached_by_two_paths_is_looked_at_once() -> None:
    store = Store()
    a = store.add("a", VARIABLE, value=1)
    upper = store.add("upper", ENTRY, (a,))
    left, right = store.add("left", ENTRY, (upper,)), store.add("right", ENTRY, (upper,))
    top = store.add("top", ENTRY, (left, right))
    store.mark_valid(top)
    store.write(a)
    found = nodes_changed(store, top, store.marks[top])
    assert [node for node, _ in found.visited] == [top, left, right, upper]
    assert found.changes == (NodeChange(1, a, (upper, left, top)),)


def test_a_change_above_an_entry_that_came_out_equal_counts_only_if_cuts_do_not() -> None:
    store, (v, c, d) = compared()
    since = store.marks[d]
    store.write(v)
    change = (NodeChange(store.clock, v, (c, d)),)
    assert nodes_changed(store, d, since).changes == change  # it is not known to be equal
    store.mark_valid(c)
    assert nodes_changed(store, d, since).changes == change  # what was marked is not replaced
    store.changed[c] = since  # it is computed again, and has its value since before
    assert store.is_valid(c)
    assert nodes_changed(store, d, since).changes == ()
    assert nodes_changed(store, d, since, cuts=False).changes == change
    store.write(v)
    assert nodes_changed(store, d, since).changes == (NodeChange(store.clock, v, (c, d)),)


@pytest.mark.parametrize("earlier", [0, 3])
def test_it_makes_no_difference_what_was_written_before(earlier: int) -> None:
    graph = Graph()
    angle, width, other = (graph.variable(name, 1) for name in ("angle", "width", "other"))
    side = graph.entry("side", lambda angle: angle() > 0, prerequisites=(angle,), equal=True)
    force = graph.entry("force", lambda width, side: width(), prerequisites=(width, side))
    for _ in range(earlier):
        other.set(0)
    side()
    angle.set(2)
    force()
    width.set(2)
    store = graph._handles.store
    found = nodes_changed(store, force._node, store.marks[force._node])
    assert [change.node for change in found.changes] == [width._node, angle._node]


def test_a_compared_entry_whose_value_was_replaced_by_hand_is_a_change_itself() -> None:
    store, (v, c, d) = compared()
    since = store.marks[d]
    store.renounce(c)
    change = NodeChange(store.changed[c], c, (d,))
    assert change.clock > since
    assert nodes_changed(store, d, since).changes == (change,)
    store.write(v)
    found = nodes_changed(store, d, since)
    assert found.changes == (change, NodeChange(store.clock, v, (c, d)))


def test_a_value_replaced_before_the_entry_was_computed_is_not_a_change() -> None:
    store, (v, c, d) = compared()
    store.renounce(c)
    store.mark_valid(d)
    store.write(v)
    found = nodes_changed(store, d, store.marks[d])
    assert found.changes == (NodeChange(store.clock, v, (c, d)),)


def test_changes_since_the_beginning_of_time_are_told_as_later_ones_are() -> None:
    graph = Graph()
    angle = graph.variable("angle", 1)
    side = graph.entry("side", lambda angle: angle() > 0, prerequisites=(angle,), equal=True)
    force = graph.entry("force", lambda side: side(), prerequisites=(side,))
    force()
    store = graph._handles.store
    assert store.marks[side._node] == store.marks[force._node] == 0
    replaced = graph.copy()._handles.store
    replaced.renounce(side._node)
    angle.set(2)
    for each, node in ((store, angle._node), (replaced, side._node)):
        found = nodes_changed(each, force._node, 0)
        assert [change.node for change in found.changes] == [node]


def test_what_was_invalidated_together_is_told_from_the_farthest_on() -> None:
    store, (_, _, c, d, e) = ladder()
    store.invalidate(e)
    assert invalidated_together(store, e) == (e,)
    store.invalidate(c)
    assert invalidated_together(store, e) == (c, d, e)
    assert invalidated_together(store, d) == (c, d)


def test_a_path_down_ends_with_the_entry_in_question_even_if_that_is_node_0() -> None:
    assert way_down({0: -1}, 0) == (0,)
    assert way_down({0: -1, 5: 0, 3: 5}, 3) == (3, 5, 0)
