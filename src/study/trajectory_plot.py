"""Columns of a trajectory over the time, on axes of matplotlib."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from stagecache.errors import MissingExtraError
from stagecache.state.handles import Vector
from stagecache.study.trajectory_columns import Column


def draw_columns(times: Vector, columns: Sequence[Column], ax: Any) -> Any:
    """Draw columns on axes, or on new ones if these are None; return them.

    The types of matplotlib cannot be named where it is not installed.
    """
    try:
        pyplot = import_module("matplotlib.pyplot")
    except ImportError:
        raise MissingExtraError(
            "plot(): matplotlib is not installed",
            "the extra viz",
            "none",
            "pip install 'stagecache[viz]', or use to_csv()",
        ) from None
    lines = [
        (label, numbers, "steps-post" if column.kind == "discrete variable" else "default")
        for column in columns
        for label, numbers in zip(column.labels, column.numbers("plotted").T, strict=True)
    ]
    if ax is None:
        _, ax = pyplot.subplots()
    for label, numbers, style in lines:
        ax.plot(times, numbers, drawstyle=style, label=_as_it_is(label))
    ax.set_xlabel("time [s]")
    if lines:
        ax.legend()
    return ax


def _as_it_is(label: str) -> str:
    """A name whose dollars begin no formula, and which is in the legend if it begins with "_"."""
    text = label.replace("$", r"\$")
    return f"\u200b{text}" if text.startswith("_") else text
