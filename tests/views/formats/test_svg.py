"""Pictures as SVG, of few nodes and of many."""

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given

from stagecache.views import GraphView, NodeInfo
from tests.views.samples import pendulum, random_view
from tests.views.strategies import NASTY, views

SVG = "{http://www.w3.org/2000/svg}"


def groups(text: str, name: str) -> list[ET.Element]:
    """The groups of a class, after the text has been parsed as XML."""
    root = ET.fromstring(text)
    return [g for g in root.iter(f"{SVG}g") if name in (g.get("class") or "").split()]


@pytest.mark.parametrize("number", [5, 50, 500])
def test_each_node_and_each_edge_is_drawn(number: int) -> None:
    view = random_view(number)
    text = view.to_svg()
    assert [g.get("data-path") for g in groups(text, "node")] == [n.path for n in view]
    assert [(g.get("data-source"), g.get("data-target")) for g in groups(text, "edge")] == [
        (e.source, e.target) for e in view.edges
    ]
    assert all(g.find(f"{SVG}path") is not None for g in groups(text, "edge"))


@given(views())
def test_any_name_is_escaped(view: GraphView) -> None:
    assert len(groups(view.to_svg(), "node")) == len(view)
    assert len(groups(view.to_svg(), "edge")) == len(view.edges)


@pytest.mark.parametrize("name", NASTY)
def test_a_name_is_found_in_the_picture_as_it_is(name: str) -> None:
    (group,) = groups(GraphView([NodeInfo(name, "entry")], []).to_svg(), "node")
    assert group.get("data-path") == name


def test_what_xml_cannot_hold_is_replaced() -> None:
    (group,) = groups(GraphView([NodeInfo("a\x00b", "entry")], []).to_svg(), "node")
    assert group.get("data-path") == "a\N{REPLACEMENT CHARACTER}b"


def test_a_tooltip_tells_all_that_is_known() -> None:
    node = NodeInfo(
        "arm.<tip>", "entry", "cached", "arm", "Model", "Time", version=3, value="[0 1]",
        file="arm.py", line=12, seconds=0.00123, hit_rate=0.5,
    )  # fmt: skip
    (group,) = groups(GraphView([node], []).to_svg(), "node")
    assert group.findtext(f"{SVG}title") == (
        "arm.<tip>\nentry, cached\nsubsystem: arm\nstage: Model\ncomputed by: Time\nversion: 3\n"
        "value: [0 1]\nlast computed in: 0.00123 s\nhit rate: 50%\narm.py:12"
    )
    assert group.findtext(f"{SVG}text") == "<tip>"


def test_a_node_is_of_the_class_of_its_kind_and_status() -> None:
    classes = {g.get("data-path"): g.get("class") for g in groups(pendulum().to_svg(), "node")}
    assert classes["pendulum.tip"] == "node entry stale"
    assert classes["stage Velocity"] == "node stage not-computed"
    assert classes["pendulum.angle"] == "node variable plain"


def test_the_picture_follows_the_browser_to_dark() -> None:
    assert "@media(prefers-color-scheme:dark)" in pendulum().to_svg()


def test_more_nodes_than_are_legible_are_taken_together() -> None:
    view = random_view(2000)
    text = view.to_svg()
    shown = groups(text, "node")
    assert 30 < len(shown) <= 500
    assert len(groups(text, "edge")) <= 1000
    assert "stage Time" in {g.get("data-path") for g in shown}
    titles = [g.findtext(f"{SVG}text") or "" for g in shown]
    counted = [int(title.split()[0]) for title in titles if title[0].isdigit()]
    assert sum(counted) == 2000 - view.counts["stage"]


def test_groups_say_what_is_in_them() -> None:
    shown = {g.get("data-path"): g for g in groups(pendulum().to_svg(most=7), "node")}
    assert list(shown) == [
        "stage Instance",
        "stage Position",
        "stage Velocity",
        "pendulum.2 variables",
        "pendulum.1 Instance entry",
        "pendulum.1 Velocity entry",
        "anchor.1 Instance entry",
    ]
    title = shown["pendulum.1 Instance entry"].findtext(f"{SVG}title")
    assert title is not None
    assert "value: 1 stale" in title


def test_many_subsystems_are_taken_together_until_it_fits() -> None:
    nodes = [NodeInfo(f"s{i}.x", "variable", subsystem=f"s{i}") for i in range(64)]
    assert len(groups(GraphView(nodes, []).to_svg(most=10), "node")) == 8
    assert len(groups(GraphView(nodes, []).to_svg(most=0), "node")) == 1


def test_equal_views_have_equal_pictures() -> None:
    assert random_view(100).to_svg() == random_view(100).to_svg()


def test_a_notebook_shows_the_picture_and_scrolls() -> None:
    html = pendulum()._repr_html_()
    assert html.startswith("<div")
    assert "overflow: auto" in html
    assert pendulum().to_svg() in html
