"""Pictures on axes of matplotlib."""

import sys

import pytest

from stagecache.errors import MissingExtraError
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
    boxes = [p for p in ax.patches if type(p).__name__ == "FancyBboxPatch"]
    arrows = [p for p in ax.patches if type(p).__name__ == "FancyArrowPatch"]
    assert (len(boxes), len(arrows)) == (len(view), len(view.edges))
    assert ax.get_title() == "random 30"
    ax.figure.canvas.draw()


def test_given_axes_are_drawn_on_and_returned() -> None:
    figure = pytest.importorskip("matplotlib.figure", reason="the extra viz is not installed")
    ax = figure.Figure().add_subplot()
    assert pendulum().draw(ax) is ax
    assert len(ax.patches) > len(pendulum())
