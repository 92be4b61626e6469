"""Reads of a Graph without the cache, against values that are computed each time."""

from collections import Counter
from threading import Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import Entry, Graph, strict
from stagecache.errors import ForeignNodeError, RemovedNodeError, WrongTypeError
from stagecache.inspection import uncached
from tests.inspection.strict.test_uncached import truth
from tests.profiles import examples

CALLS: Counter[str] = Counter()


def model() -> Graph:
    """Entries in a chain; the first lacks a prerequisite, which the others need as well."""
    graph = Graph("chain")
    first, second = graph.variable("first", 1.0), graph.variable("second", 10.0)

    @graph.entry(prerequisites=(first,))
    def one(first: Any) -> float:
        CALLS["one"] += 1
        return float(first() + second())  # the second is not declared

    @graph.entry(prerequisites=(one,), equal=True)
    def is_large(one: Any) -> bool:
        CALLS["is_large"] += 1
        return bool(one() > 5.0)

    @graph.entry(prerequisites=(is_large, one))
    def two(is_large: Any, one: Any) -> float:
        CALLS["two"] += 1
        return float(one() * (2.0 if is_large() else 1.0))

    CALLS.clear()
    return graph


def entry(graph: Graph, name: str) -> Entry[Any]:
    found = graph[name]
    assert isinstance(found, Entry)
    return found


def read(graph: Graph) -> tuple[Any, ...]:
    return graph["one"](), graph["is_large"](), graph["two"]()


@given(
    st.lists(
        st.tuples(st.sampled_from(["first", "second", "cached"]), st.sampled_from([0.0, 1.0, 7.0])),
        max_size=10,
    )
)
@examples(200)
def test_values_are_right_in_spite_of_wrong_declarations(writes: list[tuple[str, float]]) -> None:
    graph = model()
    values = {"first": 1.0, "second": 10.0}
    for name, value in writes:
        if name == "cached":
            read(graph)
            continue
        values[name] = value
        graph[name].set(value)
        with uncached(graph):
            assert read(graph) == truth(values["first"], values["second"])


def test_each_read_computes_and_after_the_block_none_does() -> None:
    graph = model()
    two = entry(graph, "two")
    two()
    assert CALLS == {"one": 1, "is_large": 1, "two": 1}
    CALLS.clear()
    with uncached(graph):
        two()
        two()
    assert CALLS == {"two": 2, "is_large": 2, "one": 4}
    CALLS.clear()
    two()
    assert not CALLS


def test_an_entry_alone_is_computed_and_others_stay_valid() -> None:
    graph = model()
    one, two = entry(graph, "one"), entry(graph, "two")
    two()
    CALLS.clear()
    with uncached(graph, one):
        two()
        assert not CALLS
        one()
        one()
    assert CALLS == {"one": 2}
    assert two.is_valid()


def test_blocks_may_be_nested_and_end_in_any_order() -> None:
    graph = model()
    one, is_large = entry(graph, "one"), entry(graph, "is_large")
    outer, inner = uncached(graph, one), uncached(graph, is_large)
    outer.__enter__()
    inner.__enter__()
    outer.__exit__(None, None, None)
    is_large()
    CALLS.clear()
    one()
    assert not CALLS
    is_large()
    assert CALLS == {"is_large": 1}
    inner.__exit__(None, None, None)
    assert graph._handles.observers == ()


def test_it_ends_with_an_error_and_a_computation_that_raises_stays_to_be_done() -> None:
    graph = model()
    with pytest.raises(ZeroDivisionError), uncached(graph):
        raise ZeroDivisionError
    assert graph._handles.observers == ()
    graph["two"]()
    graph["second"].set("x")
    with uncached(graph), pytest.raises(TypeError):
        graph["one"]()
    assert not entry(graph, "one").is_valid()


def test_a_trace_and_strict_mode_see_computations() -> None:
    graph = model()
    one = entry(graph, "one")
    with graph.trace() as trace, uncached(graph), strict(graph, undeclared="record") as reads:
        for _ in range(3):
            one()
    assert trace.summary()[one].computed == 3
    assert [str(found.item.name) for found in reads.undeclared] == ["second"]


def test_a_rollback_keeps_what_was_valid() -> None:
    graph = model()
    graph["two"]()
    mark = graph.checkpoint()
    graph["second"].set(0.0)
    with uncached(graph):
        assert graph["one"]() == 1.0
    graph.rollback(mark)
    CALLS.clear()
    assert graph["one"]() == 11.0
    assert not CALLS


def test_copies_are_as_usual_and_a_handle_of_one_names_the_same_entry_in_another() -> None:
    graph = model()
    graph["two"]()
    twin = graph.copy()
    CALLS.clear()
    with uncached(graph):
        twin["two"]()
    assert not CALLS
    with uncached(twin, entry(graph, "one")):
        twin["one"]()
        graph["one"]()
    assert CALLS == {"one": 1}


def test_nodes_that_are_added_and_removed_in_the_block_are_uncached_too() -> None:
    graph = model()
    with uncached(graph):
        three = graph.entry("three", lambda two: two() + 1.0, prerequisites=(graph["two"],))
        assert (three(), three()) == (23.0, 23.0)
        assert CALLS["two"] == 2
        graph.remove(three)
    with pytest.raises(RemovedNodeError):
        uncached(graph, three)


def test_threads_get_right_values() -> None:
    graph = model()
    found: list[object] = []
    with uncached(graph):
        threads = [
            Thread(target=lambda: found.extend(read(graph) for _ in range(50))) for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert set(found) == {truth(1.0, 10.0)}


def test_wrong_arguments_are_refused_before_the_block() -> None:
    graph = model()
    bold: Any = uncached
    with pytest.raises(WrongTypeError, match="not a State"):
        bold(graph["one"])
    with pytest.raises(WrongTypeError, match="not an entry"):
        bold(graph, graph["first"])
    with pytest.raises(ForeignNodeError):
        uncached(graph, entry(model(), "one"))
