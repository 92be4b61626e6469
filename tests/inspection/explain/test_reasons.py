"""Reasons of all entries in one pass, which are those of `explain`, and impacts of all writes."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import Entry, Graph, Stage, State, System, Variable
from stagecache.graph.sources import shown_file
from stagecache.inspection import Explanation, WriteEvent
from stagecache.inspection.explain.first_changes import LONGEST
from stagecache.testing.items import entries_of
from stagecache.testing.strategies.graph import graphs
from stagecache.views.nodes import Reason
from tests.profiles import examples
from tests.state.asking import random_systems, steps
from tests.state.realizing import realize, state_of


def reason_of(explained: Explanation) -> Reason:
    """Return the reason that an explanation tells."""
    cause = explained.cause
    assert cause is not None
    way = explained.path
    if len(way) > LONGEST:
        way = (way[0], *way[1 - LONGEST :])
    file = shown_file(cause.file) if cause.file else ""
    text = f"{explained.entry} is {explained.status}: {cause.without_trace()}."
    if not cause.file:
        assert text == explained.text.splitlines()[0]
    return Reason(text, way, cause.variable, file, cause.line, cause.seconds)


def check_graph(graph: Graph) -> None:
    """Check that the view of a Graph tells what the Graph tells."""
    view = graph.view
    explained = {node.name: graph.explain(node) for node in graph if isinstance(node, Entry)}
    stale = {name: each for name, each in explained.items() if not each.is_valid}
    assert view.reasons == {name: reason_of(each) for name, each in stale.items()}
    variables = [node for node in graph if isinstance(node, Variable)]
    assert view.impacts == {node.name: graph.impact(node).entries for node in variables}


@given(graph=graphs(max_entries=14), data=st.data())
def test_the_view_of_a_graph_tells_what_explain_and_impact_tell(
    graph: Graph, data: st.DataObject
) -> None:
    nodes: list[Any] = list(graph)
    with graph.trace():
        for _ in range(data.draw(st.integers(1, 8))):
            node = data.draw(st.sampled_from(nodes))
            if isinstance(node, Variable):
                node.set(data.draw(st.integers(-3, 3)))
            elif data.draw(st.integers(0, 4)):
                node()
            else:
                node.invalidate()
            check_graph(graph)
    check_graph(graph)


@examples(50)
@given(random_systems(), st.data())
def test_the_view_of_a_state_tells_what_explain_tells(system: System, data: st.DataObject) -> None:
    for step in steps(system, data):
        step.do()
        state = step.state
        reasons = state.graph.reasons
        explained = {str(entry): state.explain(entry) for _, entry in entries_of(state)}
        stale = {path: each for path, each in explained.items() if not each.is_valid}
        assert {path: reasons[path] for path in stale} == {
            path: reason_of(each) for path, each in stale.items()
        }
        assert not set(reasons) & (set(explained) - set(stale))


def test_a_view_does_not_follow_the_graph() -> None:
    graph = Graph()
    angle = graph.variable("angle", 1.0)
    tip = graph.entry("tip", lambda angle: 2 * angle(), prerequisites=(angle,))
    tip()
    valid = graph.view
    angle.set(2.0)
    stale = graph.view
    graph.remove(tip)
    graph.entry("other", lambda angle: angle(), prerequisites=(angle,))()
    angle.set(3.0)
    assert (valid.reasons, valid.impacts) == ({}, {"angle": ("tip",)})
    text = "tip is stale: angle (now version 2) has changed since it was computed."
    assert (stale.reasons["tip"].text, stale.impacts) == (text, {"angle": ()})


def test_the_reasons_of_a_graph_tell_the_writes_of_a_trace_as_they_were() -> None:
    graph = Graph()
    angle = graph.variable("angle", 1.0)
    tip = graph.entry("tip", lambda angle: 2 * angle(), prerequisites=(angle,))
    tip()
    with graph.trace() as trace:
        angle.set(2.0)
        view = graph.view
    (write,) = (event for event in trace.events if isinstance(event, WriteEvent))
    reason = view.reasons["tip"]
    assert (reason.file, reason.line) == (shown_file(__file__), write.line)
    assert reason.seconds == write.time
    assert graph.view.reasons["tip"].seconds is None


def arm() -> tuple[State, Any]:
    """Return a State with an entry that depends on q, and its q."""
    state = state_of("arm")
    angle = state[0].allocate_q([1.0], name="angle")
    tip = state[0].allocate_cache_entry_with_prerequisites(
        Stage.TOPOLOGY, Stage.INFINITY, (angle,), compute=lambda s: angle(s)[0], name="tip"
    )
    realize(state, Stage.POSITION)
    tip(state)
    return state, angle


def test_the_reasons_of_a_state_tell_the_writes_of_a_trace_as_they_were() -> None:
    state, angle = arm()
    other = state.copy(keep_cache=True)
    with state.trace() as trace:
        angle.set(state, [2.0])
        view = state.graph
        angle.set(state, [3.0])
    angle.set(other, [2.0])
    view_without_trace = other.graph
    (write, _) = (event for event in trace.events if isinstance(event, WriteEvent))
    reason = view.reasons["arm.tip"]
    assert (reason.variable, reason.file) == ("arm.angle", shown_file(__file__))
    assert (reason.line, reason.seconds) == (write.line, write.time)
    assert reason.text == view_without_trace.reasons["arm.tip"].text
    assert state.graph.reasons["arm.tip"].seconds is None


@pytest.mark.parametrize("equal", [None, True])
def test_of_a_long_path_the_cause_and_the_last_nodes_are_kept(equal: bool | None) -> None:
    graph = Graph()
    first = above = graph.variable("first", 0)
    for number in range(2 * LONGEST):
        above = graph.entry(f"e{number}", lambda x: x() + 1, prerequisites=(above,), equal=equal)  # type: ignore[assignment]  # an entry, too
    above()
    first.set(1)
    path = graph.view.reasons[above.name].path
    kept = [f"e{number}" for number in range(LONGEST + 1, 2 * LONGEST)]
    assert path == ("first", *kept)
