"""Data of the page: what is written in columns, runs and shared paths can be read again."""

import json
from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from stagecache.views import EdgeInfo, EdgeKind, GraphView, NodeInfo, Reason, Status
from stagecache.views.formats.page_data import DEFAULTS, graph_data, impacts_data, reasons_data
from tests.profiles import examples
from tests.views.reading import column
from tests.views.samples import pendulum, rooms
from tests.views.strategies import views


def read(data: object) -> Any:
    """The data as the page gets them."""
    return json.loads(json.dumps(data))


def from_runs(runs: list[int]) -> list[int]:
    found: list[int] = []
    end = 0
    for gap, length in zip(runs[::2], runs[1::2], strict=True):
        found += range(end + gap, end + gap + length)
        end += gap + length
    return found


def reason_of(data: Mapping[str, Any], view: GraphView, number: int) -> Reason:
    """The reason of a node, read as the page does."""
    parts, variable, file, line, seconds = data["of"][str(number)]
    path: list[int] = []
    here: Any = number
    while True:
        before = data["paths"].get(str(here))
        if isinstance(before, list):
            path = [*before, *path]
            break
        path = [here, *path]
        if before is None:
            break
        here = before
    names = [node.path for node in view]
    text = "".join(names[-1 - part] if part < 0 else data["words"][part] for part in parts)
    return Reason(
        text, tuple(names[n] for n in path), "" if variable is None else names[variable],
        data["words"][file], line, seconds,
    )  # fmt: skip


@examples(60)
@given(views())
def test_all_of_a_view_can_be_read_from_its_columns(view: GraphView) -> None:
    data = read(graph_data(view))
    number = len(view)
    names = {"path": None, "kind": None, **DEFAULTS}
    columns = {name: column(data["nodes"].get(name), number, d) for name, d in names.items()}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    nodes = [NodeInfo(**{**row, "status": Status(row["status"])}) for row in rows]
    paths = [node.path for node in nodes]
    ends = data["edges"]
    kinds = column(ends["kind"], len(ends["source"]))
    edges = [
        EdgeInfo(paths[source], paths[target], EdgeKind(kind))
        for source, target, kind in zip(ends["source"], ends["target"], kinds, strict=True)
    ]
    assert GraphView(nodes, edges, data["title"], data["stages"]) == view


@examples(60)
@given(views(), st.data())
def test_what_a_write_makes_stale_can_be_read_again(view: GraphView, draw: st.DataObject) -> None:
    paths = [node.path for node in view]
    lists = st.lists(st.sampled_from([*paths, "elsewhere", "beyond"]), max_size=6)
    impacts = draw.draw(st.dictionaries(st.sampled_from([*paths, "elsewhere"]), lists))
    data = read(impacts_data(view, impacts))
    by_edges = set(from_runs(data["edges"]))
    assert {int(number) for number in data["of"]} | by_edges == {
        paths.index(path) for path in impacts if path in paths
    }
    for number, key in data["of"].items():
        runs, others = data["sets"][key]
        stale = set(impacts[paths[int(number)]])
        assert {paths[n] for n in from_runs(runs)} == stale & set(paths)
        assert others == len(stale - set(paths))
    for number in by_edges:
        assert set(impacts[paths[number]]) == valid_below(view, paths[number])


def valid_below(view: GraphView, path: str) -> set[str]:
    """Valid entries below a node and its parts, found edge by edge."""
    flows = [e for e in view.edges if e.kind not in (EdgeKind.READ, EdgeKind.WRITE)]

    def grown(found: set[str], pairs: list[tuple[str, str]]) -> set[str]:
        while True:
            more = found | {target for source, target in pairs if source in found}
            if more == found:
                return found
            found = more

    parts = [(e.target, e.source) for e in flows if e.kind is EdgeKind.PART]
    below = grown(grown({path}, parts), [(e.source, e.target) for e in flows])
    return {p for p in below if view[p].status is Status.VALID}


@examples(100)
@given(views(), st.data())
def test_reasons_can_be_read_again(view: GraphView, draw: st.DataObject) -> None:
    paths = [node.path for node in view]
    reasons = {}
    if paths:
        some = st.lists(st.sampled_from(paths), max_size=4, unique=True)
        words = st.lists(st.one_of(st.sampled_from(paths), st.text(max_size=5)), max_size=4)
        for path in draw.draw(some):
            before = [other for other in draw.draw(some) if other != path]
            reasons[path] = Reason(
                "".join(draw.draw(words)),
                (*before, path),
                draw.draw(st.sampled_from(["", *paths])),
                draw.draw(st.sampled_from(["", "a.py"])),
                draw.draw(st.integers(0, 3)),
                draw.draw(st.sampled_from([None, 0.5])),
            )
    data = read(reasons_data(view, reasons))
    assert len(data["of"]) == len(reasons)
    for path, reason in reasons.items():
        assert reason_of(data, view, paths.index(path)) == reason


def test_paths_that_go_on_from_each_other_are_kept_once() -> None:
    view, reasons = rooms(2)
    data = read(reasons_data(view, reasons))
    number = {node.path: n for n, node in enumerate(view)}
    assert data["paths"][str(number["room_0.loss"])] == number["room_0.flow[3]"]
    assert data["words"].count(" was written <b>after</b> it was computed.") == 1


def test_variables_with_the_same_consequences_share_them() -> None:
    view = pendulum()
    impacts = dict.fromkeys(("pendulum.length", "pendulum.angle"), ("pendulum.tip",))
    assert len(read(impacts_data(view, impacts))["sets"]) == 1


def test_what_is_not_in_the_view_is_left_out_of_reasons() -> None:
    view = pendulum().select(subsystem="pendulum")
    reason = Reason("torque was read.", ("anchor.torque", "pendulum.tip"), "anchor.torque")
    data = read(reasons_data(view, {"pendulum.tip": reason, "anchor.torque": reason}))
    number = [node.path for node in view].index("pendulum.tip")
    assert reason_of(data, view, number) == Reason("torque was read.", ("pendulum.tip",))
    assert len(data["of"]) == 1
