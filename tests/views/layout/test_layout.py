"""Where things are: apart from each other, in their columns and bands, and connected."""

from itertools import combinations, pairwise

import pytest
from hypothesis import given

from stagecache.views import EdgeInfo, EdgeKind, GraphView, NodeInfo
from stagecache.views.layout.layout import Box, Layout, curve, layout_of
from tests.views.samples import pendulum, random_view
from tests.views.strategies import views


def overlap(one: Box, other: Box) -> bool:
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


def check(view: GraphView, layout: Layout) -> None:
    """That nothing is lost, on top of something else, or outside of where it belongs."""
    assert list(layout.boxes) == [node.path for node in view]
    assert not [pair for pair in combinations(layout.boxes.values(), 2) if overlap(*pair)]
    bands = {band.subsystem: band for band in layout.bands}
    for node in view:
        box, band = layout.boxes[node.path], bands[node.subsystem]
        assert band.y <= box.y
        assert box.y + box.height <= band.y + band.height
        assert box.x >= 0
        assert box.x + box.width <= layout.width
    for one, other in pairwise(layout.bands):
        assert one.y + one.height <= other.y
    for left, right in pairwise(layout.columns):
        assert left.x + left.width < right.x
    assert [(r.source, r.target, r.kind) for r in layout.routes] == [
        (e.source, e.target, e.kind) for e in view.edges
    ]
    for route in layout.routes:
        assert on_side(route.points[0], layout.boxes[route.source])
        assert on_side(route.points[-1], layout.boxes[route.target])
        assert len(route.points) % 2 == 0


def on_side(point: tuple[float, float], box: Box) -> bool:
    x, y = point
    return min(abs(x - box.x), abs(x - box.x - box.width)) < 0.2 and box.y < y < box.y + box.height


@pytest.mark.parametrize("number", [1, 5, 50, 100, 500])
def test_nothing_is_on_top_of_something_else(number: int) -> None:
    view = random_view(number)
    check(view, layout_of(view))


@given(views())
def test_any_view_is_laid_out_even_with_cycles(view: GraphView) -> None:
    layout = layout_of(view)
    check(view, layout)
    assert layout.crossings <= layout_of(view, sweeps=0).crossings
    assert layout_of(GraphView.from_json(view.to_json())) == layout


@pytest.mark.parametrize("number", [50, 100, 500])
def test_ordering_leaves_fewer_crossings(number: int) -> None:
    view = random_view(number)
    assert layout_of(view).crossings < layout_of(view, sweeps=0).crossings


def test_crossings_of_a_small_graph_are_all_undone() -> None:
    nodes = [NodeInfo(name, "variable") for name in "abc"]
    nodes += [NodeInfo(name, "entry") for name in "xyz"]
    view = GraphView(nodes, [EdgeInfo("a", "z"), EdgeInfo("b", "y"), EdgeInfo("c", "x")])
    assert layout_of(view, sweeps=0).crossings == 3
    assert layout_of(view).crossings == 0


def test_no_line_runs_through_a_box() -> None:
    view = random_view(100)
    layout = layout_of(view)
    for route in layout.routes:
        for (x, y), (to_x, _) in list(pairwise(route.points))[::2]:
            line = Box("", "", min(x, to_x), y, abs(x - to_x), 0)
            hit = {path for path, box in layout.boxes.items() if overlap(line, box)}
            assert hit <= {route.source, route.target}


def test_columns_are_variables_then_stages_in_order() -> None:
    layout = layout_of(pendulum())
    assert [column.title for column in layout.columns] == [
        "variables",
        "Instance",
        "Position",
        "Velocity",
    ]
    assert [band.subsystem for band in layout.bands] == ["", "pendulum", "anchor"]
    assert layout.boxes["pendulum.angle"].x < layout.boxes["stage Instance"].x
    assert layout.boxes["stage Instance"].x < layout.boxes["pendulum.tip"].x
    assert layout.boxes["pendulum.tip"].x < layout.boxes["anchor.torque"].x
    assert layout.boxes["anchor.torque"].x < layout.boxes["stage Position"].x


def test_without_stages_columns_follow_the_edges() -> None:
    nodes = [NodeInfo("force", "entry"), NodeInfo("tip", "entry"), NodeInfo("angle", "variable")]
    view = GraphView(nodes, [EdgeInfo("angle", "tip"), EdgeInfo("tip", "force")])
    layout = layout_of(view)
    assert [column.title for column in layout.columns] == ["variables", ""]
    assert layout.boxes["angle"].x < layout.boxes["tip"].x < layout.boxes["force"].x


def test_edges_that_end_at_one_stage_share_their_bends() -> None:
    stages = [NodeInfo(f"stage {s}", "stage", stage=s) for s in ("Time", "Position")]
    variables = [NodeInfo(f"angle[{i}]", "variable") for i in range(3)]
    edges = [EdgeInfo(v.path, "stage Position", EdgeKind.INVALIDATES) for v in variables]
    layout = layout_of(GraphView([*variables, *stages], edges))
    assert len({route.points[2:] for route in layout.routes}) == 1


def test_an_empty_view_has_a_layout() -> None:
    layout = layout_of(GraphView([], []))
    assert (layout.boxes, layout.routes, layout.bands) == ({}, (), ())
    assert layout.width > 0
    assert layout.height > 0


def test_a_curve_is_straight_where_layers_are_passed() -> None:
    assert curve([(0, 0), (4, 0), (20, 10), (30, 10)]) == "M0,0L4,0C12,0 12,10 20,10L30,10"
    assert curve([(0, 5), (4, 5), (20, 5), (30, 5)]) == "M0,5L4,5L20,5L30,5"


def test_a_picture_of_too_many_lines_has_no_bends() -> None:
    view = random_view(4000)
    layout = layout_of(view)
    assert {len(route.points) for route in layout.routes} == {4}
    bands = {band.subsystem: band for band in layout.bands}
    inside = [(layout.boxes[node.path], bands[node.subsystem]) for node in view]
    assert all(b.y <= box.y and box.y + box.height <= b.y + b.height for box, b in inside)


def test_many_lines_between_few_nodes_have_no_bends() -> None:
    nodes = [NodeInfo(f"n{i}", "entry") for i in range(100)]
    view = GraphView(nodes, [EdgeInfo(a.path, b.path) for a, b in combinations(nodes, 2)])
    assert {len(route.points) for route in layout_of(view).routes} == {4}
