"""Columns, families and paths of the nodes of a State, and the reasons of entries."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from stagecache import Stage, System
from stagecache.examples import four_bar
from stagecache.state.handles import AbstractHandle
from stagecache.testing.strategies.random_systems import systems
from stagecache.views import EdgeKind


@settings(max_examples=30, deadline=None)
@given(systems(), st.data())
def test_views_of_random_systems_hold_what_they_promise(
    system: System, data: st.DataObject
) -> None:
    """Columns are not before those of prerequisites, and reasons are those of `explain`."""
    state = system.new_state()
    system.realize(state, data.draw(st.sampled_from([Stage.MODEL, Stage.VELOCITY, Stage.REPORT])))
    store = state._contents.realization.store
    handles = [key for key in store.keys if isinstance(key, AbstractHandle)]
    for handle in data.draw(st.lists(st.sampled_from(handles), max_size=3)):
        if getattr(handle, "set", None) is not None and handle._kind() == "discrete variable":
            handle.set(state, handle(state))  # type: ignore[attr-defined]
    if state.stage >= Stage.MODEL and state.nq:
        state.q = state.q + 1.0
    view = state.graph
    order = [str(stage) for stage in Stage]
    assert len({node.path for node in view.nodes}) == len(view.nodes)
    for edge in view.edges:
        if edge.kind is EdgeKind.PREREQUISITE and view[edge.target].variant != "vector":
            before, after = view[edge.source].column, view[edge.target].column
            assert order.index(before) <= order.index(after), edge
    for node in view.nodes:
        if node.kind != "entry":
            continue
        explanation = state.explain(node.path)
        if explanation.is_valid or node.variant == "vector":
            assert node.path not in view.reasons
            continue
        reason = view.reasons[node.path]
        assert reason.text == explanation.text.splitlines()[0]
        assert reason.path == explanation.path
        assert explanation.cause is not None
        assert reason.variable == explanation.cause.variable


def test_poses_belong_to_position_and_name_their_bodies() -> None:
    view = four_bar.system().graph
    pose = view["matter.pose[coupler]"]
    assert (pose.stage, pose.column, pose.family) == ("Model", "Position", "matter.pose")
    assert view["matter.joint_u[crank]"].column == "Velocity"
    assert view["matter.joint_lock[crank]"].column == "Instance"
    assert any("crank" in node.path for node in view.nodes)


def test_reasons_do_not_follow_the_state() -> None:
    system = four_bar.system()
    state = system.new_state()
    system.realize(state)
    view = state.graph
    state.q = state.q + 0.1
    assert all("has changed" not in reason.text for reason in view.reasons.values())
    assert any("has changed" in r.text or "since" in r.text for r in state.graph.reasons.values())


def test_a_traced_write_gives_its_line_without_folders_of_a_person() -> None:
    system = four_bar.system()
    state = system.new_state()
    system.realize(state)
    with state.trace():
        state.q = state.q + 0.1
        places = {(r.file, r.line > 0) for r in state.graph.reasons.values() if r.variable == "q"}
    assert places <= {("tests/inspection/test_columns.py", True)}


def test_files_are_relative_to_the_project() -> None:
    files = {node.file for node in four_bar.system().graph.nodes if node.file}
    assert files
    assert not any(Path(file).is_absolute() for file in files)
    assert all(file.startswith("stagecache/") for file in files)
