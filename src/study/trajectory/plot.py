"""Columns of a trajectory over the time, on axes of matplotlib."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from stagecache.checks import require_extra
from stagecache.state.handles import Vector
from stagecache.study.methods.step_polynomial import StepPolynomial
from stagecache.study.trajectory.columns import DISCRETE, Column

Curves = Sequence[StepPolynomial | None]
"""For each row, y since the row before; None where it is not known."""

RESOLUTION: Final = 600
"""Number of points over the whole time."""


def draw_columns(times: Vector, columns: Sequence[Column], curves: Curves, ax: Any) -> Any:
    """Draw columns on axes, or on new ones if these are None; return the axes."""
    pyplot = require_extra("matplotlib.pyplot", "viz", "plot()", "use to_csv()")
    found = [(column, *_points(times, column, curves)) for column in columns]
    if ax is None:
        _, ax = pyplot.subplots()
    for column, x, numbers, alone in found:
        style = "steps-post" if column.kind == DISCRETE else "default"
        for label, y in zip(column.labels, numbers.T, strict=True):
            (line,) = ax.plot(x, y, drawstyle=style, label=_as_it_is(label))
            if alone:
                line.set(marker=".", markersize=4, markevery=alone)
            if len(alone) == len(times):
                line.set_linestyle("none")
    ax.set_xlabel("time [s]")
    if found:
        ax.legend()
    return ax


def _points(times: Vector, column: Column, curves: Curves) -> tuple[Vector, Vector, list[int]]:
    """Return the points of a column that a line connects, and those that are alone.

    Returns
    -------
    (m,) float, (m, number of labels) float
        NaN lies between points that are not connected.
    list of int
        The points that no line goes to.
    """
    numbers = column.numbers("plotted").astype(float)
    has_lines = column.place is not None or column.kind == DISCRETE
    known = [has_lines and curve is not None for curve in curves]
    x, y, alone = [], [], []
    for row, curve in enumerate(curves):
        if row and not known[row]:
            x.append(times[row])
            y.append(np.full(numbers.shape[1], np.nan))
        if known[row] and column.place is not None and curve is not None:
            low, high = times[row - 1 : row + 1]
            count = int(RESOLUTION * (high - low) / (times[-1] - times[0]))
            for t in np.linspace(low, high, count + 1, endpoint=False)[1:].tolist():
                x.append(t)
                y.append(curve(t)[column.place])
        x.append(times[row])
        y.append(numbers[row])
        if not any(known[row : row + 2]):
            alone.append(len(x) - 1)
    return np.array(x), np.array(y).reshape(-1, numbers.shape[1]), alone


def _as_it_is(label: str) -> str:
    """Return a label without formulas, which the legend shows even if it begins with "_"."""
    text = label.replace("$", r"\$")
    return f"\u200b{text}" if text.startswith("_") else text
