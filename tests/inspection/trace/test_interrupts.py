"""A trace in which an error has struck notes all that happens later, as if nothing had been."""

from collections.abc import Callable

import pytest

from stagecache import Entry, Graph, Trace
from stagecache.inspection.trace.events import ComputationEvent
from tests.graph.striking import seen_by_trace
from tests.interrupting import ignore_lost_strikes, plain_only, strikes

Subject = tuple[Graph, Trace]


def prepare() -> Subject:
    graph = Graph()
    a, b = graph.variable("a", 1), graph.variable("b", 2)
    twice = graph.entry("twice", lambda a: 2 * a(), prerequisites=(a,))
    total = graph.entry("total", lambda t, b: t() + b(), prerequisites=(twice, b))
    graph.entry("other", lambda b: -b(), prerequisites=(b,))
    trace = graph.trace().__enter__()
    b.set(3)
    total()
    return graph, trace


def go_back(graph: Graph) -> None:
    with graph.checkpoint() as mark:
        graph["a"].set(7)
        graph["total"]()
        graph.rollback(mark)


def declare(graph: Graph) -> None:
    graph.entry("new", lambda a: a(), prerequisites=(graph["a"],))()


OPERATIONS: dict[str, Callable[[Graph], object]] = {
    "write": lambda graph: graph["a"].set(5),
    "read": lambda graph: graph["total"](),
    "read what is valid": lambda graph: graph["twice"](),
    "invalidate": lambda graph: graph["twice"].invalidate(),  # type: ignore[union-attr]  # an entry
    "go back": go_back,
    "declare": declare,
    "copy": lambda graph: graph.copy(),
}


@plain_only
@ignore_lost_strikes
@pytest.mark.parametrize("operation", OPERATIONS)
def test_what_follows_an_operation_that_is_cut_short_is_traced(operation: str) -> None:
    every = 1 if operation == "read" else 11
    for (graph, trace), what in strikes(
        prepare, lambda s: OPERATIONS[operation](s[0]), every=every
    ):
        try:
            check(graph, trace)
        except BaseException as error:
            error.add_note(what)
            raise
        finally:
            trace.__exit__(None, None, None)


def check(graph: Graph, trace: Trace) -> None:
    with seen_by_trace(graph, trace):
        graph["b"].set(8)
    for name in ("b", "a"):
        for node in graph:
            if isinstance(node, Entry):
                with seen_by_trace(graph, trace):
                    node()
        with seen_by_trace(graph, trace):
            graph[name].set(9)
    begun = len(trace.events)
    graph["total"]()
    computed = [e for e in trace.events[begun:] if isinstance(e, ComputationEvent)]
    found = [(e.entry, e.reader, e.reads) for e in computed]
    assert found == [("twice", "total", ("a",)), ("total", "", ("twice", "b"))]
