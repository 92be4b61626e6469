"""The graph of a State as it is shown: paths, edges, and how each node is."""

import inspect
import pickle
from functools import partial, wraps
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import CacheEntry, Stage, State, System, simbody
from stagecache.graph.sources import source_of
from stagecache.testing.items import entries_of, variables_of
from stagecache.views.nodes import EdgeKind, Status
from tests.profiles import examples
from tests.state.asking import random_systems, steps
from tests.state.realizing import realize, state_of


def arm() -> State:
    """Two subsystems, of which the second has no name, with items with and without names."""
    state = state_of("arm", "")
    angle = state[0].allocate_q([1.0, 2.0], name="angle")
    state[0].allocate_q([3.0])
    mass = state[0].allocate_discrete_variable(Stage.INSTANCE, 1.0, name="mass")
    state[0].allocate_auto_update_discrete_variable(
        Stage.DYNAMICS, 2.0, available_from=Stage.TIME, name="mode"
    )
    state[0].allocate_cache_entry_with_prerequisites(
        Stage.TIME, Stage.INFINITY, (angle, mass), compute=lambda s: angle(s) * mass(s), name="tip"
    )
    state[1].allocate_cache_entry_with_prerequisites(
        Stage.TOPOLOGY, Stage.INFINITY, (state.variable("u"),), compute=lambda s: 1.0
    )
    state[1].allocate_cache_entry(Stage.POSITION, Stage.VELOCITY, name="late")
    return realize(state, Stage.TIME)


def test_paths_are_those_of_the_model() -> None:
    graph = arm().graph
    assert [node.path for node in graph if node.kind != "stage"] == [
        *("time", "q", "u", "arm.q", "arm.angle", "arm.q block 1", "arm.mass", "arm.mode"),
        *("arm.update of mode", "arm.tip", "subsystem 1.cache entry 0", "subsystem 1.late"),
        *("qdot", "qdotdot"),
    ]
    assert graph.subsystems == ("arm", "subsystem 1")


def edges_of(state: State, path: str) -> set[tuple[str, str]]:
    """What leads from a node, and by which kind of edge."""
    return {(e.target, str(e.kind)) for e in state.graph.edges if e.source == path}


def test_edges_say_why_one_node_depends_on_another() -> None:
    state = arm()
    assert edges_of(state, "arm.angle") == {("arm.tip", "prerequisite"), ("arm.q", "part")}
    assert edges_of(state, "arm.q") == {("q", "part")}
    assert edges_of(state, "q") == {("stage Position", "invalidates")}
    assert edges_of(state, "stage Position") == {
        ("stage Velocity", "stage"),
        ("subsystem 1.late", "stage"),
    }
    assert edges_of(state, "arm.mode") == {
        ("arm.update of mode", "invalidates"),
        ("stage Dynamics", "invalidates"),
    }
    assert edges_of(state, "time") == {("stage Time", "invalidates")}


def test_nodes_say_how_they_are() -> None:
    state = arm()
    simbody.cache_entry_info(state[0], 1)(state)
    graph = state.graph
    tip, late = graph["arm.tip"], graph["subsystem 1.late"]
    assert (tip.kind, tip.status, tip.version) == ("entry", Status.VALID, 1)
    assert tip.value == "array([1., 2.])"
    assert (tip.stage, tip.computed_by) == ("Time", "")
    assert (late.status, late.waits_for) == (Status.NOT_COMPUTED, "Position")
    assert (late.stage, late.computed_by) == ("Position", "Velocity")
    assert graph["subsystem 1.cache entry 0"].status is Status.NOT_COMPUTED
    assert graph["arm.mass"].variant == "parameter"
    assert graph["arm.mode"].variant == "auto-update"
    assert graph["arm.angle"].value == "array([1., 2.])"
    assert graph["stage Time"].status is Status.REALIZED
    assert graph["stage Position"].status is Status.NOT_REALIZED


def test_a_view_does_not_follow_the_state() -> None:
    state = arm()
    graph = state.graph
    state.time = 5.0
    assert (graph["time"].value, state.graph["time"].value) == ("0.0", "5.0")


def test_impacts_are_those_of_the_state_when_the_view_was_made() -> None:
    state = arm()
    simbody.cache_entry_info(state[0], 1)(state)
    graph = state.graph
    expected = {"arm.angle": ("arm.tip",), "arm.mass": ("arm.tip",), "u": ()}
    simbody.set_discrete_variable(state[0], 0, 2.0)
    assert {path: graph.impacts[path] for path in expected} == expected
    assert graph.select(subsystem="arm").impacts is graph.impacts
    assert not any(state.graph.impacts.values())


def test_impacts_outlive_what_is_forgotten() -> None:
    state = state_of("arm")
    option = state[0].allocate_discrete_variable(Stage.MODEL, 1, name="option")
    realize(state, Stage.TOPOLOGY)
    late = state[0].allocate_lazy_cache_entry(Stage.TOPOLOGY, compute=lambda s: 1, name="late")
    realize(state, Stage.INSTANCE)
    late(state)
    graph = state.graph
    option.set(state, 2)
    assert "arm.late" not in state.graph
    assert graph.impacts["arm.option"] == ("arm.late",)


def test_the_page_of_a_state_knows_the_impacts() -> None:
    state = arm()
    assert state.graph.to_html() == state.graph.to_html(impacts=state.graph.impacts)
    assert state.graph.to_html() != state.graph.to_html(impacts={})


def test_costs_of_a_trace_are_shown_at_the_entries() -> None:
    state = arm()
    with state.trace() as trace:
        for _ in range(4):
            simbody.cache_entry_info(state[0], 1)(state)
    graph = state.graph.with_costs(trace.summary().rows)
    tip = graph["arm.tip"]
    assert tip.hit_rate == 0.75
    assert tip.seconds == trace.summary()["arm.tip"].last_seconds > 0
    assert (graph["arm.mass"].seconds, graph["arm.mass"].hit_rate) == (None, None)
    assert graph.impacts == state.graph.impacts
    assert graph.edges == state.graph.edges


def test_an_entry_that_was_only_found_has_no_time() -> None:
    state = arm()
    tip = simbody.cache_entry_info(state[0], 1)
    tip(state)
    with state.trace() as trace:
        tip(state)
    graph = state.graph.with_costs(trace.summary().rows)
    assert (graph["arm.tip"].seconds, graph["arm.tip"].hit_rate) == (None, 1.0)


def test_a_view_can_be_pickled() -> None:
    graph = arm().graph
    twin = pickle.loads(pickle.dumps(graph))
    assert (twin, twin.impacts) == (graph, graph.impacts)


def test_an_entry_says_where_its_function_is_written() -> None:
    tip = arm().graph["arm.tip"]
    lines, first = inspect.getsourcelines(arm)
    assert tip.file == "tests/inspection/test_graph_view.py"
    assert first < tip.line < first + len(lines)
    assert arm().graph["subsystem 1.late"].file == ""


def test_names_that_are_taken_are_numbered() -> None:
    state = state_of("a", "a")
    for _ in range(2):
        state[1].allocate_discrete_variable(Stage.TIME, 1.0, name="x")
    assert {"subsystem 1.x", "subsystem 1.x (2)"} <= {node.path for node in state.graph}


def test_values_that_cannot_be_shown_do_not_matter() -> None:
    class Odd:
        def __repr__(self) -> str:
            raise ValueError("never")

    state = state_of("a")
    state[0].allocate_discrete_variable(Stage.TIME, Odd(), name="odd")
    state[0].allocate_discrete_variable(Stage.TIME, np.float64(0.5), name="half")
    assert "Odd" in state.graph["a.odd"].value
    assert state.graph["a.half"].value == "0.5"


def plain() -> None:
    """Stand for what a user writes."""


@wraps(plain)
def wrapped() -> None: ...


@pytest.mark.parametrize("function", [plain, wrapped, partial(plain), partial(wrapped)])
def test_the_function_inside_of_wrappers_is_found(function: Any) -> None:
    assert source_of(function) == (__file__, inspect.getsourcelines(plain)[1])


def test_a_builtin_is_written_nowhere() -> None:
    assert source_of(abs) == ("", 0)


@examples(50)
@given(random_systems(), st.data())
def test_the_view_has_all_items_and_what_handles_say_of_them(
    system: System, data: st.DataObject
) -> None:
    for step in steps(system, data):
        step.do()
        state = step.state
        graph = state.graph
        handles = [handle for _, handle in [*variables_of(state), *entries_of(state)]]
        assert {str(handle).removeprefix("system.") for handle in handles} <= {
            node.path for node in graph
        }
        for _, entry in entries_of(state):
            node = graph[str(entry)]
            assert (node.status is Status.VALID) == entry.is_valid(state)
            assert node.version == entry.version(state)
            above = {e.source for e in graph.edges if e.target == node.path}
            named = {str(p).removeprefix("system.") for p in entry.prerequisites(state)}
            assert named <= above
        stages = [node for node in graph if node.kind == "stage"]
        reached = [node.stage for node in stages if node.status is Status.REALIZED]
        assert len(reached) == state.stage


@examples(50)
@given(random_systems(), st.data())
def test_what_a_write_makes_stale_is_downstream_of_it(system: System, data: st.DataObject) -> None:
    for step in steps(system, data):
        written = step.written
        if written is not None and not isinstance(written, str):
            impact, graph = step.state.impact(written), step.state.graph
            parts = [e.target for e in graph.edges if e.kind is EdgeKind.PART]
            if impact.variable in graph and impact.variable not in parts and not impact.forgotten:
                below = {node.path for node in graph.downstream_of(impact.variable)}
                of_q = {p for p in impact.entries if is_dropped(step.state, p)}
                assert set(impact.entries) - of_q <= below
        step.do()


def is_dropped(state: State, path: str) -> bool:
    """Whether an entry depends on q, u or z, which are made anew with a modeling option."""
    handles: list[Any] = [entry for _, entry in entries_of(state) if str(entry) == path]
    for handle in handles:
        if isinstance(handle, CacheEntry):
            handles += handle.prerequisites(state)
    return any(getattr(handle, "kind", "") in ("q", "u", "z") for handle in handles)
