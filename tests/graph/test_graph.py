"""What a user of `Graph` sees; the random operations are in test_graph_machine.py."""

import copy
import gc
import pickle
import re
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from stagecache import (
    Entry,
    Graph,
    Variable,
)
from stagecache.display.html import MOST_ROWS
from stagecache.errors import (
    DuplicateNameError,
    ForeignNodeError,
    InvalidNameError,
    NodeInUseError,
    NodeKindError,
    RemovedNodeError,
    UnknownNodeError,
    WrongTypeError,
)
from stagecache.graph import (
    GraphStatistics,
)

Read = Callable[[], int]


class Counted:
    """A function that adds its prerequisites, one, and one to its count of calls."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, *reads: Read) -> int:
        self.calls += 1
        return 1 + sum(read() for read in reads)


Diamond = tuple[Graph, Variable[int], list[Entry[int]], list[Counted]]


def make_diamond() -> Diamond:
    """head -> left, right -> tail."""
    graph = Graph("diamond")
    head = graph.variable("head", 1)
    counts = [Counted() for _ in range(3)]
    left = graph.entry("left", counts[0], prerequisites=(head,))
    right = graph.entry("right", counts[1], prerequisites=(head,))
    tail = graph.entry("tail", counts[2], prerequisites=(left, right))
    return graph, head, [left, right, tail], counts


def test_its_view_and_its_table_say_of_each_node_how_it_is() -> None:
    graph, head, [left, right, _], _ = make_diamond()
    left()
    right()
    head.set(2)
    left()
    nodes = [(n.path, n.kind, n.value, n.version, str(n.status)) for n in graph.view.nodes]
    assert nodes == [
        ("head", "variable", "2", 2, "value"),
        ("left", "entry", "3", 2, "valid"),
        ("right", "entry", "", 1, "stale"),
        ("tail", "entry", "", 0, "not computed"),
    ]
    assert [repr(node) for node in graph] == [
        "Variable('head', version 2, value 2)",
        "Entry('left', version 2, valid)",
        "Entry('right', version 1, stale)",
        "Entry('tail', version 0, not computed)",
    ]
    html = graph._repr_html_()
    assert "</b> &#x27;diamond&#x27;: 1 variable, 1 of 3 entries valid</p>" in html
    cells = re.findall(r"<td[^>]*>(.*?)</td>", html)
    shown = [re.sub(r"<span.*?</span> ", "", cell) for cell in cells]
    assert shown == [
        *("head", "variable", "2", "version 2"),
        *("left", "entry", "3", "valid"),
        *("right", "entry", "", "stale"),
        *("tail", "entry", "", "not computed"),
    ]


def test_of_many_nodes_the_first_are_shown_and_the_others_counted() -> None:
    graph = Graph()
    for i in range(MOST_ROWS + 3):
        graph.variable(f"v{i}", i)
    html = graph._repr_html_()
    assert f"v{MOST_ROWS - 1}</td>" in html
    assert f"v{MOST_ROWS}</td>" not in html
    assert "and 3 more nodes" in html


def test_a_trace_may_keep_no_events() -> None:
    graph, head, *_ = make_diamond()
    with graph.trace(most=0) as trace:
        head.set(2)
    assert list(trace.events) == []


def test_handles_look_into_the_store_after_each_change_of_the_nodes() -> None:
    """Else each read of a valid entry would take the long way."""
    graph = Graph()
    handles = graph._handles
    mark = graph.checkpoint()
    for change in (
        lambda: graph.variable("a", 1),
        lambda: graph.remove(graph["a"]),
        lambda: graph.rollback(mark),
    ):
        change()
        assert handles.visible is handles.store


def test_a_name_that_is_taken_or_not_a_name_is_refused() -> None:
    graph, *_ = make_diamond()
    names: list[tuple[Any, type[Exception]]] = [
        ("head", DuplicateNameError),
        ("tail", DuplicateNameError),
        ("", InvalidNameError),
        (5, InvalidNameError),
    ]
    for name, error in names:
        with pytest.raises(error):
            graph.variable(name, 1)
        with pytest.raises(error):
            graph.entry(name, lambda: 1)
    assert [node.name for node in graph] == ["head", "left", "right", "tail"]


def test_a_node_that_is_needed_or_being_computed_is_not_removed() -> None:
    graph, head, [left, right, tail], _ = make_diamond()
    with pytest.raises(NodeInUseError, match="'tail'"):
        graph.remove(left, right)
    itself: Entry[None] = graph.entry("itself", lambda: graph.remove(itself))
    with pytest.raises(NodeInUseError, match="its computation"):
        itself()
    graph.remove(head, tail, left, itself, right)
    assert list(graph) == []


def test_a_node_is_neither_true_nor_false() -> None:
    graph = Graph()
    with pytest.raises(WrongTypeError, match="neither true nor false"):
        bool(graph.variable("a", 0))


def test_an_entry_is_computed_when_read_and_only_once() -> None:
    _, _head, (left, right, tail), counts = make_diamond()
    assert [c.calls for c in counts] == [0, 0, 0]
    assert (tail(), tail(), left(), right()) == (5, 5, 2, 2)
    assert [c.calls for c in counts] == [1, 1, 1]


def test_a_diamond_has_no_glitch() -> None:
    _, head, (_left, _right, tail), counts = make_diamond()
    for n in range(1, 20):
        head.set(n)
        assert tail() == 2 * n + 3, "never a mixture of old and new"
        assert [c.calls for c in counts] == [n, n, n], "each entry once for each write"


def test_a_write_invalidates_exactly_what_depends_on_it() -> None:
    graph = Graph()
    a, b = graph.variable("a", 1), graph.variable("b", 2)
    of_a = graph.entry("of_a", lambda a: a(), prerequisites=(a,))
    of_b = graph.entry("of_b", lambda b: b(), prerequisites=(b,))
    of_both = graph.entry("of_both", lambda x, y: x() + y(), prerequisites=(of_a, of_b))
    assert of_both() == 3
    b.set(5)
    assert (of_a.is_valid(), of_b.is_valid(), of_both.is_valid()) == (True, False, False)
    assert of_both() == 6


def test_a_write_of_an_equal_value_is_a_write() -> None:
    _, head, (_, _, tail), _counts = make_diamond()
    tail()
    head.set(head())
    assert head.version == 2
    assert not tail.is_valid()


def test_what_is_not_read_is_not_computed() -> None:
    graph = Graph()
    switch = graph.variable("switch", True)
    costly = Counted()
    expensive = graph.entry("expensive", costly)
    chosen = graph.entry(
        "chosen", lambda s, e: 0 if s() else e(), prerequisites=(switch, expensive)
    )
    assert chosen() == 0
    assert costly.calls == 0
    switch.set(False)
    assert chosen() == 1


def test_an_entry_is_invalidated_with_all_that_depends_on_it() -> None:
    _, _, (left, right, tail), counts = make_diamond()
    tail()
    left.invalidate()
    assert (left.is_valid(), right.is_valid(), tail.is_valid()) == (False, True, False)
    assert tail() == 5
    assert [c.calls for c in counts] == [2, 1, 2]


def test_versions_count_writes_and_computations() -> None:
    _, head, (left, _, _), _ = make_diamond()
    assert (head.version, left.version) == (1, 0)
    left()
    left()
    assert (head.version, left.version) == (1, 1)
    head.set(3)
    assert (head.version, left.version) == (2, 1)
    left()
    assert left.version == 2


def test_prerequisites_and_dependents_are_handles() -> None:
    _, head, (left, right, tail), _ = make_diamond()
    assert tail.prerequisites == (left, right)
    assert head.dependents == (left, right)
    assert (head.prerequisites, tail.dependents) == ((), ())


def test_the_decorator_declares_the_same_entry() -> None:
    graph = Graph()
    length = graph.variable("length", 2.0)

    @graph.entry(prerequisites=(length,))
    def area(length: Variable[float]) -> float:
        return length() ** 2

    assert isinstance(area, Entry)
    assert (area.name, area()) == ("area", 4.0)


def test_any_callable_that_takes_the_prerequisites_will_do() -> None:
    graph = Graph()
    a = graph.variable("a", 3)

    def with_default(a: Read, factor: int = 2) -> int:
        return factor * a()

    assert graph.entry("any number", lambda *reads: reads[0](), prerequisites=[a])() == 3
    assert graph.entry("default", with_default, prerequisites=iter([a]))() == 6
    assert graph.entry("no prerequisites", dict)() == {}
    assert graph.entry("object", Counted(), prerequisites=(a,))() == 4


def test_names_of_locals_are_not_taken_for_parameters() -> None:
    graph = Graph()
    nodes = [graph.variable("total", 1), graph.variable("reads", 2)]

    def add(*reads: Read) -> int:
        total = 0
        for read in reads:
            total += read()
        return total

    assert graph.entry("sum", add, prerequisites=nodes)() == 3


def test_a_value_may_be_anything() -> None:
    graph = Graph()
    array = graph.variable("array", np.arange(3.0))
    nothing = graph.entry("nothing", lambda a: None, prerequisites=(array,))
    assert nothing() is None
    assert nothing.is_valid()
    assert graph["array"]() is array()


def test_a_graph_is_a_collection_of_its_nodes() -> None:
    graph = Graph("g")
    a = graph.variable("a", 1)
    b = graph.entry("b", lambda a: a(), prerequisites=(a,))
    assert list(graph) == [a, b]
    assert len(graph) == 2
    assert graph["b"] is b
    assert graph[a] is a
    assert "a" in graph
    assert a in graph
    assert "c" not in graph
    assert Graph().variable("a", 1) not in graph


def test_statistics_count_what_is_there() -> None:
    graph, head, (left, _, _), _ = make_diamond()
    left()
    head.set(1)
    left()
    assert graph.statistics == GraphStatistics(
        variables=1, entries=3, valid_entries=1, edges=4, groups=1, changes=1
    )


def test_representations_show_the_state() -> None:
    graph, head, (left, right, _), _ = make_diamond()
    left()
    assert repr(head) == "Variable('head', version 1, value 1)"
    assert repr(left) == "Entry('left', version 1, valid)"
    assert repr(right) == "Entry('right', version 0, not computed)"
    assert repr(graph) == "Graph('diamond': 1 variable, 1 of 3 entries valid)"


def test_a_view_shows_values_that_are_valid_and_no_others() -> None:
    graph, head, (left, right, tail), _ = make_diamond()
    tail()
    head.set(2)
    left()
    shown = {node.path: node.value for node in graph.view.nodes}
    assert shown == {head.name: "2", left.name: "3", right.name: "", tail.name: ""}


# ---------------------------------------------------------------------- copies


def test_a_copy_starts_valid_and_goes_its_own_way() -> None:
    graph, head, (left, right, tail), _counts = make_diamond()
    tail()
    twin = graph.copy("twin")
    assert twin[tail].is_valid()
    assert twin[tail] is twin["tail"]
    assert twin[tail] is not tail
    twin[head].set(10)
    assert (twin[tail](), tail()) == (23, 5)
    assert tail.is_valid()
    head.set(2)
    assert (twin[tail](), tail()) == (23, 7)
    assert twin[tail].prerequisites == (twin[left], twin[right])


def test_the_kinds_of_handles_are_told_apart() -> None:
    graph, head, (left, _, _), _ = make_diamond()
    twin = graph.copy()
    for variable, entry in [(head, left), (twin[head], twin[left])]:
        assert isinstance(entry, Entry)
        assert not isinstance(variable, Entry)
        assert isinstance(variable, Variable)
        assert not isinstance(entry, Variable)


def test_the_standard_copy_is_the_same() -> None:
    graph, head, (_, _, tail), _ = make_diamond()
    twin = copy.copy(graph)
    head.set(7)
    assert (tail(), twin[tail]()) == (17, 5)


def test_a_deep_copy_is_independent_and_has_values_of_its_own() -> None:
    graph = Graph("table")
    shared = [1.0]
    rows = graph.variable("rows", {"a": shared})
    table = graph.entry("table", lambda rows: [rows()["a"], shared], prerequisites=(rows,))
    never = graph.entry("never", lambda rows: 1, prerequisites=(rows,))
    before = table()
    holder: Any = copy.deepcopy({"table": table, "graph": graph, "rows": rows, "shared": shared})
    twin = holder["graph"]
    assert (holder["table"], holder["rows"]) == (twin[table], twin[rows])
    assert (twin[table].is_valid(), twin[never].is_valid()) == (True, False)
    assert [node.version for node in twin] == [node.version for node in graph]
    found = twin[table]()
    assert found == before == [[1.0], [1.0]]
    assert found[0] is found[1] is twin[rows]()["a"] is holder["shared"]
    assert found[0] is not shared
    twin[rows].set({"a": [2.0]})
    assert (twin[table]()[0], table()[0], table.is_valid()) == ([2.0], [1.0], True)
    graph.remove(never)
    assert "never" in twin
    assert copy.deepcopy(table)() == before


def test_a_value_that_cannot_be_copied_is_named_by_a_deep_copy() -> None:
    graph = Graph("locked")
    graph.variable("lock", threading.Lock())
    with pytest.raises(TypeError) as caught:
        copy.deepcopy(graph)
    assert caught.value.__notes__ == [
        "while the value of 'lock' of graph 'locked' was being copied"
    ]


def test_a_copy_computes_from_its_own_variables() -> None:
    """The compute functions get the handles of the graph that computes."""
    graph, head, (_, _, tail), _ = make_diamond()
    twin = graph.copy().copy()
    twin[head].set(100)
    assert twin[tail]() == 203
    assert tail() == 5


def test_an_entry_may_be_computed_with_a_copy_of_its_graph() -> None:
    """By finite differences, say: what is being computed here is not being computed there."""
    graph = Graph()
    x = graph.variable("x", 3.0)
    square = graph.entry("square", lambda x: x() ** 2, prerequisites=(x,))

    def differentiate(square: Entry[float], x: Variable[float]) -> float:
        twin = graph.copy()
        assert not twin["slope"].is_valid()
        twin[x].set(x() + 1e-6)
        return float((twin[square]() - square()) / 1e-6)

    slope = graph.entry("slope", differentiate, prerequisites=(square, x))
    assert slope() == pytest.approx(6.0, abs=1e-4)
    twin = graph.copy()
    assert twin[slope].is_valid()


def test_what_is_being_computed_can_be_computed_in_a_copy() -> None:
    graph = Graph()
    depth = graph.variable("depth", 3)

    def compute(depth: Variable[int]) -> int:
        if depth() == 0:
            return 0
        twin = graph.copy()
        twin[depth].set(depth() - 1)
        value: int = twin["count"]()
        return value + 1

    assert graph.entry("count", compute, prerequisites=(depth,))() == 3


def test_what_is_valid_is_so_in_a_copy_that_is_made_while_another_entry_is_computed() -> None:
    graph, _, (left, right, _), _ = make_diamond()
    left()
    twin = graph.entry("twin", graph.copy)()
    assert (twin[left].is_valid(), twin[right].is_valid()) == (True, False)


def test_nodes_added_to_one_copy_are_not_in_the_other() -> None:
    graph = Graph()
    a = graph.variable("a", 1)
    twin = graph.copy()
    only_here = graph.entry("b", lambda a: a() + 1, prerequisites=(a,))
    only_there = twin.entry("b", lambda a: a() + 2, prerequisites=(twin[a],))
    assert (only_here(), only_there()) == (2, 3)
    assert twin[only_here] is only_there, "found by its name"
    twin.remove(only_there)
    assert only_here() == 2


# ---------------------------------------------------------------------- removal


def test_a_removed_name_can_be_used_again() -> None:
    graph = Graph()
    a = graph.variable("a", 1)
    b = graph.entry("b", lambda a: a(), prerequisites=(a,))
    b()
    before = a.version
    graph.remove(a, b)
    assert len(graph) == 0
    again = graph.variable("a", 2)
    assert again() == 2
    assert again.version > before
    assert graph.entry("b", lambda a: a() + 1, prerequisites=(again,))() == 3


def test_many_are_removed_in_any_order() -> None:
    graph, head, entries, _ = make_diamond()
    left, right, tail = entries
    graph.remove(left, head, tail, right)
    assert list(graph) == []


def test_a_removed_entry_keeps_nothing_alive() -> None:
    graph = Graph()
    compute = Counted()
    entry = graph.entry("entry", compute)
    entry()
    alive = weakref.ref(compute)
    graph.remove(entry)
    del compute
    gc.collect()
    assert alive() is None


def test_a_handle_is_not_copied() -> None:
    _, head, (left, _, _), _ = make_diamond()
    assert copy.copy(head) is head
    assert copy.copy(left) is left


# ---------------------------------------------------------------------- size


def test_a_chain_of_100_000_entries_is_built_written_and_read() -> None:
    graph = Graph()
    head = graph.variable("head", 0)
    tail: Variable[int] | Entry[int] = head
    for i in range(100_000):
        tail = graph.entry(f"e{i}", lambda below: below() + 1, prerequisites=(tail,))
    assert tail() == 100_000
    head.set(5)
    assert tail() == 100_005
    assert isinstance(tail, Entry)
    graph["e0"].invalidate()  # type: ignore[union-attr]  # an entry
    assert not tail.is_valid()
    assert graph.copy()[tail]() == 100_005


def test_a_ladder_recomputes_what_is_above_the_written_rung_only() -> None:
    graph = Graph()
    count = Counted()
    rungs: list[Variable[int]] = []
    top: Variable[int] | Entry[int] = graph.variable("start", 0)
    for i in range(1000):
        rungs.append(graph.variable(f"v{i}", 0))
        top = graph.entry(f"e{i}", count, prerequisites=(top, rungs[-1]))
    assert top() == 1000
    for written, computed in [(0, 1000), (500, 500), (999, 1)]:
        count.calls = 0
        rungs[written].set(rungs[written]() + 1)
        top()
        assert count.calls == computed


@pytest.mark.parametrize("fan_out", [1, 100])
def test_entries_of_one_variable_share_one_gate(fan_out: int) -> None:
    """What makes the cost of a write independent of the number of dependents."""
    graph = Graph()
    a = graph.variable("a", 1)
    for i in range(fan_out):
        graph.entry(f"e{i}", lambda a: a(), prerequisites=(a,))()
    assert graph.statistics.groups == 1
    assert graph.statistics.valid_entries == fan_out


# ---------------------------------------------------------------------- mending

AFTERWARDS: dict[str, Callable[[Graph], object]] = {
    "copy": lambda graph: graph.copy(),
    "declare": lambda graph: graph.variable("new", 1),
    "checkpoint": lambda graph: graph.checkpoint(),
    "ask": lambda graph: graph["left"].is_valid(),
    "find": lambda graph: graph["left"],
    "count": len,
    "write": lambda graph: graph["apart"].set(2),
    "invalidate": lambda graph: graph["below"].invalidate(),  # type: ignore[union-attr]  # an entry
}


def test_a_computation_mends_a_graph_in_which_another_was_cut_short() -> None:
    graph, head, (left, *_), _ = make_diamond()
    store = graph._handles.store
    store.is_torn = True  # and the handles are not, as in a computation nothing is added or removed
    before = left()
    assert not store.is_torn
    head.set(head() + 5)
    assert left() != before


@pytest.mark.parametrize("operation", AFTERWARDS)
def test_an_operation_mends_a_graph_in_which_another_was_cut_short(operation: str) -> None:
    graph, head, (left, *_), _ = make_diamond()
    apart = graph.variable("apart", 1)
    graph.entry("below", lambda apart: apart(), prerequisites=(apart,))
    left()
    handles = graph._handles
    handles.store.live[:] = [False] * len(
        handles.store.live
    )  # writes would not see what is computed
    handles.store.is_torn = handles.is_torn = True
    AFTERWARDS[operation](graph)
    assert not handles.is_torn
    assert not handles.store.is_torn
    assert left.is_valid()
    before = left()
    head.set(head() + 5)
    assert left() != before


# ---------------------------------------------------------------------- refusals


def test_a_name_or_a_function_alone_declares_nothing() -> None:
    graph = Graph()
    with pytest.raises(WrongTypeError, match="cannot be called"):
        graph.entry("entry", None)  # type: ignore[call-overload]
    for name, hint in ((None, "write graph.entry(name"), (abs, "write the decorator with")):
        with pytest.raises(InvalidNameError) as caught:
            graph.entry(name, lambda: 1)  # type: ignore[call-overload]
        assert caught.value.hint.startswith(hint)
    assert len(graph) == 0
    assert graph.entry()(lambda: 1).name == "<lambda>"


def test_a_copy_has_the_name_that_it_is_given_or_that_of_the_original() -> None:
    graph = Graph("original")
    assert (graph.copy().name, graph.copy("twin").name) == ("original", "twin")
    with pytest.raises(InvalidNameError):
        graph.copy(5)  # type: ignore[arg-type]


def test_nodes_of_another_graph_or_after_their_removal_are_refused_everywhere() -> None:
    graph, other = Graph("one"), Graph("two")
    foreign = other.variable("a", 1)
    removed = graph.entry("removed", lambda: 1)
    graph.remove(removed)
    twin = graph.copy()
    a = graph.variable("a", 1)
    uses: list[Callable[[Any], object]] = [
        graph.remove,
        graph.explain,
        graph.impact,
        lambda node: graph.entry("b", lambda a: 1, prerequisites=(node,)),
    ]
    for node, error in [(foreign, ForeignNodeError), (removed, RemovedNodeError)]:
        for use in [*uses, graph.__getitem__]:
            with pytest.raises(error):
                use(node)
    for use in [*uses, graph.__getitem__]:
        with pytest.raises(WrongTypeError):
            use(5)
    for use in (pickle.dumps, copy.deepcopy):
        with pytest.raises(RemovedNodeError):
            use(removed)
    with pytest.raises(ForeignNodeError):
        twin.explain(a)
    assert graph[a] is a
    assert [node.name for node in graph] == ["a"]


def test_an_entry_cannot_be_set() -> None:
    graph = Graph()
    entry = graph.entry("entry", lambda: 1)
    with pytest.raises(NodeKindError, match="cannot be set"):
        entry.set(2)
    assert entry() == 1


@pytest.mark.parametrize(
    ("given", "hint"), [("a", "write graph['a']"), ("b", "pass the handle"), (1, "pass the handle")]
)
def test_what_is_given_in_place_of_a_node_is_answered_by_the_way_to_it(
    given: Any, hint: str
) -> None:
    graph = Graph()
    graph.variable("a", 1)
    with pytest.raises(WrongTypeError, match=re.escape(hint)):
        graph.entry("sum", lambda a: a(), prerequisites=(given,))


@pytest.mark.parametrize(
    ("count", "hint"),
    [
        (3, "use one of 'n0', 'n1', 'n2'"),
        (12, "use one of 'n0', "),
        (13, "iterate"),
        (100, "iterate"),
    ],
)
def test_the_error_of_an_unknown_name_lists_few_names_and_none_of_many(
    count: int, hint: str
) -> None:
    graph = Graph()
    for i in range(count):
        graph.variable(f"n{i}", i)
    with pytest.raises(UnknownNodeError) as caught:
        graph["entirely different"]
    assert hint in str(caught.value)
    with pytest.raises(UnknownNodeError) as caught:
        graph["n11n"]
    assert ("'n1'" in str(caught.value)) or ("did you mean" in str(caught.value))
