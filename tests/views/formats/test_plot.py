"""Pictures on axes of matplotlib."""

import sys
from collections import Counter

import pytest

from stagecache.errors import MissingExtraError
from stagecache.views import GraphView, NodeInfo, Status
from stagecache.views.style import DASHES
from tests.views.samples import pendulum, random_view


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'stagecache\[viz\]'"):
        pendulum().draw()


def test_each_node_and_edge_is_drawn() -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="the extra viz is not installed")
    matplotlib.use("agg")
    view = random_view(30)
    ax = view.draw()
    kinds = Counter(type(patch).__name__ for patch in ax.patches)
    assert kinds["FancyBboxPatch"] + kinds["Polygon"] == len(view)
    assert kinds["Polygon"] == view.counts["stage"]
    assert kinds["FancyArrowPatch"] == len(view.edges)
    assert ax.get_title() == "random 30"
    ax.figure.canvas.draw()


def test_given_axes_are_drawn_on_and_returned() -> None:
    figure = pytest.importorskip("matplotlib.figure", reason="the extra viz is not installed")
    ax = figure.Figure().add_subplot()
    assert pendulum().draw(ax) is ax
    assert len(ax.patches) > len(pendulum())


def test_what_is_not_valid_has_a_broken_border() -> None:
    figure = pytest.importorskip("matplotlib.figure", reason="the extra viz is not installed")
    statuses = {"stale": Status.STALE, "not-computed": Status.NOT_COMPUTED, "valid": Status.VALID}
    for name, status in statuses.items():
        view = GraphView([NodeInfo("a", "entry", status=status)], [])
        (box,) = [
            p for p in view.draw(figure.Figure().add_subplot()).patches if p.get_zorder() == 2
        ]
        dashes = box.get_linestyle()
        assert (dashes == (0, DASHES[name])) if name in DASHES else (dashes == (0, None)), name
