"""The graph of a System: what every State has, without what differs between States."""

import inspect

from stagecache import Graph, Subsystem, System, parameter
from stagecache.examples import every_declaration, pendulum
from stagecache.graph.sources import class_body, shown_file
from stagecache.views.nodes import EdgeKind, Status
from tests.system.models import Chain, Crane, Springs


def test_it_is_the_graph_of_a_state_without_status_versions_and_values() -> None:
    system = Crane()
    graph = system.graph
    assert graph.title == "crane"
    assert {(n.status, n.version, n.value) for n in graph} == {(Status.NONE, None, "")}
    state = system.state_at()
    assert [n.path for n in graph] == [n.path for n in state.graph]
    assert graph.edges == state.graph.edges


def test_it_realizes_the_topology() -> None:
    system = Crane()
    assert not system.topology_has_been_realized
    assert "joint.tip" in system.graph
    assert system.topology_has_been_realized


def test_entries_say_what_declares_them_and_where() -> None:
    graph = System(Chain()).graph
    entries = [n for n in graph if n.kind == "entry" and n.variant != "vector"]
    assert {n.path: n.variant for n in entries} == {
        "chain.gaps": "position_error",
        "chain.gap_rates": "velocity_error",
        "chain.twisted": "position_error",
        "chain.contacts": "event_trigger",
        "chain.end_stop": "event_trigger",
        "chain.gaps.acceleration": "acceleration_error",  # by differences
        "chain.twisted.velocity": "velocity_error",
        "chain.twisted.acceleration": "acceleration_error",
    }
    for node in entries:
        if node.path.count(".") == 1:
            compute = getattr(Chain, node.path.removeprefix("chain.")).compute
            file = inspect.getsourcefile(compute)
            assert file is not None
            assert (node.file, node.line) == (
                shown_file(file),
                inspect.getsourcelines(compute)[1],
            )


def test_variables_say_where_they_are_declared() -> None:
    rope = every_declaration.Rope(2)
    graph = System(rope).graph
    file = shown_file(every_declaration.__file__)
    lines = inspect.getsource(every_declaration).splitlines()
    declared = [n for n in graph if n.kind == "variable" and n.line]
    assert {n.path for n in graph if n.kind == "variable"} - {n.path for n in declared} == {
        *("time", "q", "u", "z", "u_weights", "z_weights", "qerr_weights", "uerr_weights"),
        *("rope.q", "rope.u", "rope.z"),
    }
    for node in declared:
        assert node.file == file
        name = node.path.removeprefix("rope.").partition("[")[0]
        assert f"{name} = " in lines[node.line - 1], node


def test_what_is_not_declared_in_a_class_has_no_source() -> None:
    assert class_body() == ("", 0)
    made = parameter(1.0)
    cls = type("Late", (Subsystem,), {"mass": made})
    assert System(cls()).graph["late.mass"].file == ""


def test_items_of_families_have_paths_of_their_own() -> None:
    graph = System(Springs(2)).graph
    node = graph["springs.force[1]"]
    assert (node.variant, node.line > 0) == ("cached", True)
    above = {e.source for e in graph.edges if e.target == node.path}
    assert above == {
        "springs.place[1]",
        "springs.place[2]",
        "springs.stiffness[1]",
        "stage Model",
    }


def test_every_kind_of_declaration_is_there() -> None:
    rope = every_declaration.Rope(2)
    graph = System(rope, observer=every_declaration.Observer(rope)).graph
    variants = {node.variant for node in graph}
    assert {"auto-update", "update", "event_trigger", "position_error", "cached"} <= variants
    entries = [node for node in graph if node.kind == "entry" and node.variant != "vector"]
    assert all(node.line for node in entries)


def test_subsystems_depend_on_each_other() -> None:
    graph = pendulum.system().graph
    assert graph.path_between("pendulum.angle", "anchor.torque") == (
        "pendulum.angle",
        "pendulum.tip",
        "anchor.torque",
    )
    kinds = [e.kind for e in graph.edges if e.source == "pendulum.angle"]
    assert sorted(kinds) == [EdgeKind.PART, EdgeKind.PREREQUISITE]
    assert graph.path_between("pendulum.angle", "stage Position") == (
        *("pendulum.angle", "pendulum.q", "q", "stage Position"),
    )


def test_a_graph_has_a_view_as_well() -> None:
    graph = Graph("reactive")
    one = graph.variable("one", 1)
    two = graph.entry("two", lambda one: one() + 1, prerequisites=(one,))
    before = graph.view
    assert (before.title, before["two"].status, before["two"].value) == (
        "reactive",
        Status.NOT_COMPUTED,
        "",
    )
    two()
    node = graph.view["two"]
    assert (node.status, node.version, node.value) == (Status.VALID, 1, "2")
    assert node.file == shown_file(__file__)
    assert graph.view["one"].value == "1"
    assert [(e.source, e.target) for e in graph.view.edges] == [("one", "two")]
