"""A view as a `networkx.DiGraph`, and back.

A node of the graph is the path of a node of the view. Its attributes are those of `NodeInfo`, but
for the path: texts are `str`, numbers `int` and `float`, and what is None is left out. An edge has
the attribute "kind". The graph has the attributes "title" and "stages", of which the second is a
JSON array of strings. So it can be written in any format of networkx, such as GraphML.
"""

import json
from enum import StrEnum
from typing import Any

import networkx as nx
from attrs import asdict

from stagecache.errors import short_repr
from stagecache.views.formats.json_text import edge_of, node_of, refused
from stagecache.views.nodes import AbstractView, Parts


def networkx_of(view: AbstractView) -> Any:
    """Return a view as a graph of networkx."""
    graph: Any = nx.DiGraph(title=view.title, stages=json.dumps(view.stages))
    for node in view.nodes:
        attributes = _attributes(node)
        graph.add_node(attributes.pop("path"), **attributes)
    for edge in view.edges:
        graph.add_edge(edge.source, edge.target, kind=str(edge.kind))
    return graph


def parts_of_networkx(graph: Any) -> Parts:
    """Read a graph that `networkx_of` made, or one made by hand.

    A node without a kind is a variable if nothing leads to it, else an entry. Other attributes
    that it lacks get the value that `NodeInfo` gives them; those that are not known are left out.
    """
    return Parts(
        tuple(
            node_of({"kind": _kind(graph, name), **attributes, "path": str(name)})
            for name, attributes in graph.nodes(data=True)
        ),
        tuple(
            edge_of({**attributes, "source": str(source), "target": str(target)})
            for source, target, attributes in graph.edges(data=True)
        ),
        str(graph.graph.get("title", "")),
        _stages(graph.graph.get("stages", "[]")),
    )


def _stages(text: object) -> tuple[str, ...]:
    try:
        stages = json.loads(text) if isinstance(text, str) else None
    except ValueError:
        stages = None
    if not isinstance(stages, list):
        raise refused("stages that are not a JSON array", short_repr(text))
    return tuple(map(str, stages))


def _kind(graph: Any, name: object) -> str:
    return "entry" if graph.in_degree(name) else "variable"


def _attributes(node: Any) -> dict[str, Any]:
    return {
        name: str(value) if isinstance(value, StrEnum) else value
        for name, value in asdict(node).items()
        if value is not None
    }
