"""Attributes that a Graph, or a node of it, does not have; compiled and in plain form alike."""

from typing import Any

import pytest

from stagecache import Graph
from stagecache.errors import UnknownAttributeError


def parts() -> dict[str, Any]:
    graph = Graph()
    angle = graph.variable("angle", 1.0)
    tip = graph.entry("tip", lambda angle: angle(), prerequisites=(angle,))
    return {"graph": graph, "variable": angle, "entry": tip}


@pytest.mark.parametrize("kind", ["graph", "variable", "entry"])
@pytest.mark.parametrize("name", ["value", "valeu", "_hidden"])
def test_a_wrong_attribute_is_not_set(kind: str, name: str) -> None:
    part = parts()[kind]
    with pytest.raises(AttributeError, match=name):
        setattr(part, name, 3)
    assert not hasattr(part, name)


@pytest.mark.parametrize("kind", ["graph", "variable", "entry"])
def test_a_wrong_attribute_is_not_read(kind: str) -> None:
    with pytest.raises(AttributeError, match="exlpain"):
        _ = parts()[kind].exlpain


def test_a_graph_suggests_the_attribute_or_the_look_up_of_a_node() -> None:
    graph: Any = parts()["graph"]
    with pytest.raises(UnknownAttributeError, match="did you mean 'explain'"):
        _ = graph.exlpain
    with pytest.raises(UnknownAttributeError, match=r"graph\['angle'\]"):
        _ = graph.angle
