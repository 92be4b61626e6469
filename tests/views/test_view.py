"""Views: look-up, selections, and what is refused."""

import pytest

from stagecache.errors import DuplicateNameError, UnknownChoiceError, UnknownPathError
from stagecache.views import EdgeInfo, EdgeKind, GraphView, NodeInfo, Status
from tests.views.samples import pendulum, random_view


def paths_of(view: GraphView) -> set[str]:
    return {node.path for node in view}


def test_a_node_is_found_by_its_path() -> None:
    view = pendulum()
    assert view["pendulum.tip"].status == Status.STALE
    assert view["pendulum/tip"] is view["pendulum.tip"]
    assert "pendulum.tip" in view
    assert "pendulum/tip" in view
    assert view["pendulum.tip"] in view
    assert NodeInfo("pendulum.tip", "entry") not in view
    assert "tip" not in view
    assert 3 not in view


def test_a_path_that_is_not_there_is_refused_with_a_suggestion() -> None:
    with pytest.raises(UnknownPathError, match=r"did you mean 'pendulum.tip'") as caught:
        pendulum()["pendulum.tipp"]
    assert isinstance(caught.value, KeyError)
    with pytest.raises(UnknownPathError, match=r"use one of 'stage Instance', .*"):
        pendulum()["?"]


def test_patterns_find_nodes() -> None:
    view = pendulum()
    assert [n.path for n in view.find("pendulum.*")] == [
        "pendulum.length",
        "pendulum.angle",
        "pendulum.tip",
        "pendulum.energy",
    ]
    assert view.find("*/tor?ue") == (view["anchor.torque"],)
    assert view.find("tip") == ()


def test_brackets_in_patterns_stand_for_themselves() -> None:
    view = GraphView([NodeInfo(f"force[{i}]", "entry") for i in range(3)], [])
    assert view.find("force[1]") == (view["force[1]"],)
    assert view.find("force[*]") == view.nodes


def test_all_nodes_are_kept_in_order_for_those_who_ask_often() -> None:
    view = pendulum()
    assert view.nodes is view.nodes
    assert view.nodes == tuple(view)


def test_two_nodes_of_one_path_are_refused() -> None:
    with pytest.raises(DuplicateNameError, match="node 'a'"):
        GraphView([NodeInfo("a", "entry"), NodeInfo("a", "variable")], [])


def test_an_edge_that_ends_nowhere_is_refused() -> None:
    with pytest.raises(UnknownPathError, match="node 'b'"):
        GraphView([NodeInfo("a", "entry")], [EdgeInfo("a", "b")])


def test_of_edges_between_the_same_nodes_the_first_counts() -> None:
    nodes = [NodeInfo("a", "variable"), NodeInfo("b", "entry")]
    first = EdgeInfo("a", "b", EdgeKind.PART)
    assert GraphView(nodes, [first, EdgeInfo("a", "b")]).edges == (first,)


def test_edges_are_in_the_order_of_nodes() -> None:
    view = pendulum()
    turned = GraphView(view.nodes, reversed(view.edges), view.title)
    assert turned.edges == view.edges
    assert turned == view
    assert hash(turned) == hash(view)
    assert turned != view.select(kind="entry")
    assert view != "pendulum"


def test_stages_are_those_given_then_those_of_nodes() -> None:
    nodes = [
        NodeInfo("tip", "entry", stage="Position"),
        NodeInfo("stage Time", "stage", stage="Time"),
    ]
    assert GraphView(nodes, []).stages == ("Time", "Position")
    assert GraphView(nodes, [], stages=["Model", "Position"]).stages == (
        "Model",
        "Position",
        "Time",
    )
    assert pendulum().select(kind="entry").stages == pendulum().stages


def test_nodes_are_selected_by_what_they_are() -> None:
    view = pendulum()
    assert paths_of(view.select(subsystem="anchor")) == {"anchor.torque"}
    assert paths_of(view.select(kind="entry", status="stale")) == {
        "pendulum.tip",
        "anchor.torque",
    }
    assert paths_of(view.select(subsystem="", stage="Position")) == {"stage Position"}
    assert view.select(kind="entry").edges == (EdgeInfo("pendulum.tip", "anchor.torque"),)
    assert view.select().nodes == view.nodes


@pytest.mark.parametrize("asked", [{"kind": "entries"}, {"status": "fresh"}])
def test_a_kind_that_there_is_not_is_refused(asked: dict[str, str]) -> None:
    with pytest.raises(UnknownChoiceError, match=f"cannot select by {next(iter(asked))}"):
        pendulum().select(**asked)


def test_what_is_upstream_and_downstream() -> None:
    view = pendulum()
    assert paths_of(view.upstream_of("anchor.torque", depth=1)) == {
        "anchor.torque",
        "pendulum.tip",
        "stage Instance",
    }
    assert paths_of(view.upstream_of("anchor/torque")) == {
        "anchor.torque",
        "pendulum.tip",
        "pendulum.angle",
        "pendulum.length",
        "stage Instance",
    }
    assert paths_of(view.downstream_of("pendulum.tip")) == {"pendulum.tip", "anchor.torque"}
    assert paths_of(view.downstream_of("pendulum.tip", depth=0)) == {"pendulum.tip"}
    assert paths_of(view.around("stage Velocity")) == {
        "stage Velocity",
        "stage Position",
        "pendulum.energy",
    }


def test_a_path_between_two_nodes_is_a_shortest_one() -> None:
    view = pendulum()
    assert view.path_between("pendulum.angle", "anchor.torque") == (
        "pendulum.angle",
        "pendulum.tip",
        "anchor.torque",
    )
    assert view.path_between("anchor.torque", "pendulum.angle") == ()
    assert view.path_between("anchor.torque", "anchor.torque") == ("anchor.torque",)


def test_counts_and_repr() -> None:
    view = pendulum()
    assert dict(view.counts) == {"variable": 2, "entry": 3, "stage": 3, "hook": 0, "edge": 10}
    assert repr(view) == "GraphView('pendulum': 2 variable, 3 entry, 3 stage, 10 edge)"
    assert view.subsystems == ("pendulum", "anchor")
    assert len(random_view(100)) == 100
