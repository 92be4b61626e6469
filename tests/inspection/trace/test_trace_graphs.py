"""Traces of a Graph; random operations are in tests/graph/test_graph_machine.py."""

import json
from typing import Any

import pytest

from stagecache import Graph, State
from stagecache.errors import WrongTypeError
from stagecache.inspection.trace.events import (
    ComputationEvent,
    HitEvent,
    InvalidationEvent,
    WriteEvent,
)


def chain() -> Graph:
    graph = Graph("chain")
    a = graph.variable("a", 1)
    b = graph.entry("b", lambda a: a() % 2, prerequisites=(a,), equal=True)
    graph.entry("c", lambda b: b() + 1, prerequisites=(b,))
    return graph


def test_events_tell_writes_invalidations_computations_and_hits() -> None:
    graph = chain()
    with graph.trace() as trace:
        graph["c"]()
        graph["c"]()
        graph["a"].set(3)
    kinds = [type(event) for event in trace.events]
    assert kinds == [
        *(ComputationEvent, ComputationEvent, HitEvent, WriteEvent),
        *(InvalidationEvent, InvalidationEvent),
    ]
    write: Any = trace.events[3]
    assert (write.variable, write.before, write.after, write.file) == ("a", 1, 2, __file__)
    below: Any = trace.events[0]
    assert (below.entry, below.reads, below.reader) == ("b", ("a",), "c")
    assert [e.entry for e in trace.events[4:] if isinstance(e, InvalidationEvent)] == ["b", "c"]


def test_a_computation_in_vain_is_counted() -> None:
    graph = chain()
    graph["c"]()
    with graph.trace() as trace:
        graph["a"].set(3)
        graph["c"]()
    summary = trace.summary()
    assert (summary["b"].computed, summary["b"].unchanged) == (1, 1)
    assert summary[graph["b"]] is summary["b"]
    assert summary["c"].computed == 0
    assert (summary["c"].hits, summary.seconds > 0) == (1, True)


def test_nodes_declared_and_removed_meanwhile_are_traced() -> None:
    graph = chain()
    with graph.trace() as trace:
        late = graph.entry("late", lambda c: c() + 1, prerequisites=(graph["c"],))
        assert late() == 3
        graph.remove(late)
        graph.entry("late", lambda c: c() + 2, prerequisites=(graph["c"],))
        assert graph["late"]() == 4
    assert trace.summary()["late"].computed == 2
    assert graph._handles.evaluator.functions is graph._handles.functions


def test_a_read_that_began_before_the_trace_ended_in_another_thread_leaves_nothing() -> None:
    graph = chain()
    entry = graph["c"]
    with graph.trace():
        (tracer,) = graph._handles.observers
    tracer.read_entry(entry, entry)
    assert graph._handles.evaluator.functions is graph._handles.functions


def test_a_rollback_is_a_cause() -> None:
    graph = chain()
    mark = graph.checkpoint()
    graph["c"]()
    with graph.trace() as trace:
        graph.rollback(mark)
    assert {(e.entry, e.cause) for e in trace.events if isinstance(e, InvalidationEvent)} == {
        ("b", "rollback()"),
        ("c", "rollback()"),
    }


def test_an_entry_that_was_removed_before_a_rollback_is_not_lost_by_it() -> None:
    graph = chain()
    mark = graph.checkpoint()
    with graph.trace() as trace:
        graph["c"]()
        graph.remove(graph["c"])
        graph.rollback(mark)
    lost = [e.entry for e in trace.events if isinstance(e, InvalidationEvent)]
    assert lost == ["b"]


def test_a_failed_computation_is_counted_and_raised() -> None:
    graph = Graph()
    failing = graph.entry("failing", lambda: 1 // 0)
    with graph.trace() as trace, pytest.raises(ZeroDivisionError) as caught:
        failing()
    assert caught.value.__context__ is None
    assert trace.summary()["failing"].failed == 1


def test_several_graphs_have_numbers_and_blocks_nest() -> None:
    one, other = chain(), chain()
    with one.trace(other) as trace, one.trace() as inner:
        one["c"]()
        other["c"]()
    assert {event.state for event in trace.events} == {0, 1}
    assert (trace.summary().computed, inner.summary().computed) == (4, 2)
    assert one._handles.observers == ()


def test_copies_are_not_traced() -> None:
    graph = chain()
    with graph.trace() as trace:
        assert graph.copy()["c"]() == 2
    assert trace.events == ()


def test_exports_show_it() -> None:
    graph = chain()
    with graph.trace() as trace:
        graph["c"]()
    assert len(json.loads(trace.to_chrome())["traceEvents"]) >= 2
    assert trace.to_csv().splitlines()[1].startswith("computation")


def test_something_else_is_refused() -> None:
    with pytest.raises(WrongTypeError, match="not a Graph"):
        chain().trace(State())  # type: ignore[arg-type]  # that is the test
