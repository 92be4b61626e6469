"""Checkpoints of a Graph; random operations are in test_graph_machine.py."""

import gc
from typing import Any

import pytest

from stagecache import Graph, State
from stagecache.errors import CheckpointError, NodeInUseError, NotPicklableError, RemovedNodeError
from stagecache.graph.store import Store
from tests.graph.check_structure import check_store
from tests.interrupting import plain_only


def sum_graph() -> tuple[Graph, list[int]]:
    """`total` adds `a` and `b`, and notes each computation."""
    graph, calls = Graph("sum"), list[int]()
    a, b = graph.variable("a", 1), graph.variable("b", 2)

    def total(a: Any, b: Any) -> int:
        calls.append(1)
        return int(a() + b())

    graph.entry("total", total, prerequisites=(a, b))
    return graph, calls


def test_what_was_valid_is_valid_after_a_rollback_without_a_computation() -> None:
    graph, calls = sum_graph()
    assert graph["total"]() == 3
    mark = graph.checkpoint()
    for value in (10, 20):
        graph["a"].set(value)
        assert graph["total"]() == value + 2
        graph.rollback(mark)
        assert (graph["a"](), graph["total"](), graph["total"].is_valid()) == (1, 3, True)
    assert len(calls) == 3
    assert repr(mark) == "Checkpoint(of graph 'sum')"


def test_a_block_that_raises_goes_back_and_one_that_does_not_goes_on() -> None:
    graph, _ = sum_graph()

    def write_and_fail() -> None:
        graph["a"].set(10)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), graph.checkpoint():
        write_and_fail()
    assert graph["a"]() == 1
    with graph.checkpoint() as mark:
        graph["a"].set(10)
    assert graph["a"]() == 10
    assert mark.is_released


def test_handles_of_nodes_declared_since_count_as_removed_and_removed_ones_are_back() -> None:
    graph, _ = sum_graph()
    a, total = graph["a"], graph["total"]
    mark = graph.checkpoint()
    late = graph.variable("late", 5)
    graph.remove(total)
    again = graph.entry("total", lambda late: late(), prerequisites=(late,))
    assert again() == 5
    graph.rollback(mark)
    assert graph["total"] is total
    assert (total(), [p.name for p in total.prerequisites]) == (3, ["a", "b"])
    assert repr(late) == "Variable('late', removed)"
    assert repr(again) == "Entry('total', removed)"
    assert "late" not in graph
    a.set(4)
    assert total() == 6
    check_store(graph._handles.store)


def test_nodes_can_be_declared_after_a_rollback_and_lost_again() -> None:
    graph, _ = sum_graph()
    mark = graph.checkpoint()
    for value in (1, 2):
        graph.variable("late", value)
        assert graph["late"]() == value
        graph.rollback(mark)
        assert len(graph) == 3


def test_the_comparison_of_an_entry_comes_back() -> None:
    graph = Graph()
    a = graph.variable("a", 1)
    entry = graph.entry("e", lambda a: a() % 2, prerequisites=(a,), equal=True)
    below = graph.entry("below", lambda e: e(), prerequisites=(entry,))
    mark = graph.checkpoint()
    graph.remove(below, entry)
    graph.rollback(mark)
    assert below() == 1
    version = entry.version
    a.set(3)
    assert (entry(), entry.version, below.is_valid()) == (1, version, False)
    before = below.version
    assert (below(), below.version) == (1, before)


def test_a_handle_of_a_copy_stays_the_same_object() -> None:
    graph = sum_graph()[0].copy()
    mark = graph.checkpoint()
    graph.variable("late", 1)
    a = graph["a"]
    graph.rollback(mark)
    assert graph["a"] is a


def test_it_is_refused_while_an_entry_is_computed() -> None:
    graph = Graph()
    mark = graph.checkpoint()
    entry = graph.entry("e", lambda: graph.rollback(mark))
    with pytest.raises(NodeInUseError, match=r"rollback\(\): graph 'graph' is in use"):
        entry()
    late = graph.entry("late", graph.checkpoint)
    with pytest.raises(NodeInUseError, match="the computation of 'late'"):
        late()


@pytest.mark.parametrize("kind", ["graph", "copy", "state", "released", "given up", "text"])
def test_a_checkpoint_of_something_else_is_refused(kind: str) -> None:
    graph, _ = sum_graph()
    first = graph.checkpoint()
    mark: Any = graph.checkpoint()
    if kind == "graph":
        mark = Graph().checkpoint()
    elif kind == "copy":
        mark = graph.copy().checkpoint()
    elif kind == "state":
        mark = State().checkpoint()
    elif kind == "released":
        mark.release()
    elif kind == "given up":
        graph.rollback(first)
    else:
        mark = "mark"
    graph["a"].set(7)
    with pytest.raises(CheckpointError) as caught:
        graph.rollback(mark)
    assert graph["a"]() == 7
    got = {
        "released": "one that was released",
        "given up": "one that was given up, by going back further",
        "text": "an object of type str",
    }
    assert caught.value.got == got.get(kind, "one of another State or Graph")


def test_a_checkpoint_cannot_be_pickled() -> None:
    with pytest.raises(NotPicklableError):
        Graph().checkpoint().__reduce__()


def test_a_checkpoint_may_be_released_after_a_rollback_to_one_before_it() -> None:
    graph, calls = sum_graph()
    graph["total"]()
    first = graph.checkpoint()
    second = graph.checkpoint()
    third = graph.checkpoint()
    graph.rollback(first)
    assert [each() for each, _ in graph._handles.checkpoints] == [first]
    for later in (second, third):
        with pytest.raises(CheckpointError, match="given up"):
            graph.rollback(later)
    second.release()
    second.release()
    assert len(graph._handles.store.journals) == 1
    graph["a"].set(100)
    graph.rollback(first)
    assert graph["total"]() == 3
    assert calls == [1]
    first.release()
    assert graph._handles.store.journals == []


def test_a_rollback_over_several_checkpoints_undoes_what_was_changed_after_each() -> None:
    graph = Graph()
    variables = [graph.variable(name, 0) for name in "abcd"]
    total = graph.entry("total", lambda *all: sum(each() for each in all), prerequisites=variables)
    total()
    marks = []
    for variable in variables:
        marks.append(graph.checkpoint())
        variable.set(1)
        total()
    graph.rollback(marks[0])
    assert [variable() for variable in variables] == [0, 0, 0, 0]
    assert total.is_valid()
    assert total() == 0


def test_a_change_after_a_released_checkpoint_leaves_a_copy_alone() -> None:
    graph, _ = sum_graph()
    twin = graph.copy()
    mark = graph.checkpoint()
    graph.variable("new", 1)
    graph.rollback(mark)
    mark.release()
    graph.variable("other", 2)
    assert len(twin._structure) == len(twin) == 3
    assert twin.variable("other", 3)() == 3


def test_a_node_that_was_removed_before_a_checkpoint_stays_removed_after_a_rollback() -> None:
    graph, _ = sum_graph()
    early = graph.variable("early", 1)
    last = graph.variable("last", 2)
    graph.remove(early)
    mark = graph.checkpoint()
    graph.remove(graph["total"])
    graph.rollback(mark)
    assert last() == 2
    assert graph["total"]() == 3
    with pytest.raises(RemovedNodeError):
        early()


def test_a_forgotten_checkpoint_is_released_when_the_next_is_made() -> None:
    graph, _ = sum_graph()
    for _ in range(5):
        graph.checkpoint()
        gc.collect()
    mark = graph.checkpoint()
    assert len(graph._handles.store.journals) == len(graph._handles.checkpoints) == 1
    mark.release()
    assert graph._handles.store.journals == []


@plain_only
def test_a_rollback_that_is_cut_short_is_ended_by_the_next_operation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph, _ = sum_graph()
    total = graph["total"]
    total()
    mark = graph.checkpoint()
    graph["a"].set(10)
    total()
    graph.variable("late", 1)

    def interrupted(self: object, chosen: object) -> None:
        raise KeyboardInterrupt

    handles = type(graph._handles)
    restore_nodes = handles._restore_nodes
    monkeypatch.setattr(handles, "_restore_nodes", interrupted)
    with pytest.raises(KeyboardInterrupt):
        graph.rollback(mark)
    monkeypatch.setattr(handles, "_restore_nodes", restore_nodes)
    assert (graph["a"](), total(), "late" in graph) == (1, 3, False)
    assert isinstance(graph._handles.visible, Store)
    check_store(graph._handles.store)
