"""What goes to JSON or to networkx comes back as it was."""

import io
import json

import networkx as nx
import pytest
from hypothesis import given

from stagecache.errors import GraphFormatError
from stagecache.views import EdgeInfo, GraphView, NodeInfo
from tests.views.samples import pendulum, random_view
from tests.views.strategies import views


@given(views())
def test_json_comes_back(view: GraphView) -> None:
    assert GraphView.from_json(view.to_json()) == view
    assert GraphView.from_json(view.to_json(indent=2)) == view


@given(views())
def test_a_graph_of_networkx_comes_back(view: GraphView) -> None:
    graph = view.to_networkx()
    assert list(graph.nodes) == [node.path for node in view]
    assert set(graph.edges) == {(edge.source, edge.target) for edge in view.edges}
    assert GraphView.from_networkx(graph) == view


def test_attributes_of_networkx_have_types_that_any_format_holds() -> None:
    view = random_view(50)
    graph = view.to_networkx()
    held = [*dict(graph.nodes).values(), *[d for *_, d in graph.edges(data=True)]]
    assert {type(v) for attributes in held for v in attributes.values()} <= {str, int, float}
    file = io.BytesIO()
    nx.write_graphml(graph, file)
    file.seek(0)
    again = GraphView.from_networkx(nx.read_graphml(file))
    assert set(again.nodes) == set(view.nodes)
    assert set(again.edges) == set(view.edges)


def test_a_graph_made_by_hand_is_a_view() -> None:
    view = GraphView.from_networkx(nx.DiGraph([("angle", "tip"), ("tip", "force")]))
    assert view.nodes == (
        NodeInfo("angle", "variable"),
        NodeInfo("tip", "entry"),
        NodeInfo("force", "entry"),
    )


def test_the_document_has_what_is_documented() -> None:
    document = json.loads(pendulum().to_json())
    assert list(document) == ["format", "version", "title", "stages", "nodes", "edges"]
    assert (document["format"], document["version"]) == ("stagecache graph", 2)
    assert document["nodes"][5] == {
        "path": "pendulum.tip",
        "kind": "entry",
        "variant": "cached",
        "subsystem": "pendulum",
        "stage": "Instance",
        "computed_by": "",
        "status": "stale",
        "version": None,
        "value": "",
        "file": "",
        "line": 0,
        "seconds": None,
        "hit_rate": None,
        "waits_for": "",
        "column": "",
        "family": "",
        "alike": "",
    }
    assert document["edges"][0] == {
        "source": "stage Instance",
        "target": "stage Position",
        "kind": "stage",
    }


def test_what_is_missing_or_unknown_in_a_document_does_no_harm() -> None:
    document = {
        "format": "stagecache graph",
        "version": 2,
        "nodes": [{"path": "a", "kind": "entry", "mood": "good"}],
        "edges": [{"source": "a", "target": "a"}],
    }
    view = GraphView.from_json(json.dumps(document))
    assert view == GraphView([NodeInfo("a", "entry")], [EdgeInfo("a", "a")])


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{", "not JSON"),
        ("[]", "an object whose format is not"),
        ('{"format": "other"}', "an object whose format is not"),
        ('{"format": "stagecache graph", "version": 3}', "another version"),
        ('{"format": "stagecache graph", "version": 2, "nodes": 3}', "nodes that are not an array"),
        ('{"format": "stagecache graph", "version": 2, "nodes": [3]}', "a wrong node"),
        ('{"format": "stagecache graph", "version": 2, "nodes": [{}]}', "a wrong node"),
        (
            '{"format": "stagecache graph", "version": 2, "nodes": [{"path": 1, "kind": "a"}]}',
            "a wrong node",
        ),
    ],
)
def test_what_is_no_such_document_is_refused(text: str, what: str) -> None:
    with pytest.raises(GraphFormatError, match=what):
        GraphView.from_json(text)


@pytest.mark.parametrize("stages", ["Time", ["Time"], "3", None])
def test_stages_of_another_type_are_refused(stages: object) -> None:
    with pytest.raises(GraphFormatError, match="stages that are not a JSON array"):
        GraphView.from_networkx(nx.DiGraph(stages=stages))


@pytest.mark.parametrize("kind", [3, "edge"])
def test_a_node_of_another_kind_is_refused(kind: object) -> None:
    graph = nx.DiGraph()
    graph.add_node("angle", kind=kind)
    with pytest.raises(GraphFormatError, match="a wrong node"):
        GraphView.from_networkx(graph)


@pytest.mark.parametrize("status", [3, "fresh"])
def test_an_attribute_of_another_type_is_refused(status: object) -> None:
    graph = nx.DiGraph()
    graph.add_node("angle", status=status)
    with pytest.raises(GraphFormatError, match="a wrong node"):
        GraphView.from_networkx(graph)
