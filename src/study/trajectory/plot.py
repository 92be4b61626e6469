"""Plots of trajectories: curves where values between rows are known, and marks elsewhere.

Data are in seconds; the axis of times shows them in minutes, hours or days where these fit.
"""

import re
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import Any, Final

import numpy as np

from stagecache.checks import require_extra
from stagecache.state.handles import Vector
from stagecache.study.trajectory.curves import points_between
from stagecache.study.trajectory.export import Units, titles
from stagecache.study.trajectory.rows import DISCRETE, Column, Pieces

Curves = Sequence[Pieces | None]
"""Curves of y since the row before, for each row; None where they are not known."""

RESOLUTION: Final = 600
"""Number of points over the whole time."""

TIME_UNITS: Final = ((172_800.0, "d", 86_400.0), (10_800.0, "h", 3600.0), (300.0, "min", 60.0))
"""Units of an axis of times: the shortest axis that has it [s], its name, and its length [s]."""

ROUND: Final = {"d": (1, 2, 5, 10), "h": (1, 1.5, 2, 3, 6, 10), "min": (1, 1.5, 2, 3, 6, 10)}
"""Steps between ticks, and their multiples by powers of ten, in each unit."""

OWNER_AND_PLACE: Final = r"^\S*\.(?=\w)|(?<=\S)\[[^][]*\]"
"""Parts of a label that others do not share: "car." and "[0]" of "car.speeds[0] [m/s]"."""

UNIT: Final = r" (\[[^]]*\])$"

MOST_NAMES: Final = 3
"""Names on the axis of values; if there are more, it has the units only."""

SIZE: Final = (7.0, 3.5)  # of a new figure [inch]


def draw_columns(
    times: Vector, columns: Sequence[Column], curves: Curves, units: Units, ax: Any
) -> Any:
    """Draw columns on axes, or on new ones if these are None; return the axes."""
    pyplot = require_extra("matplotlib.pyplot", "viz", "plot()", "use to_csv()")
    found = [(column, *_points(times, column, curves)) for column in columns]
    if ax is None:
        _, ax = pyplot.subplots(figsize=SIZE, layout="constrained")
        ax.margins(x=0.01)
        ax.grid(alpha=0.3)
    is_first, before = not ax.lines, _names(ax)
    for column, x, numbers, alone in found:
        style = "steps-post" if column.kind == DISCRETE else "default"
        for label, y in zip(titles(column, units), numbers.T, strict=True):
            (line,) = ax.plot(x, y, drawstyle=style, label=_literal(label))
            if len(alone) == len(times):
                line.set(marker=".", markersize=4, linestyle="none")
            elif alone:
                line.set(marker=".", markersize=4, markevery=alone)
    _name_times(ax)
    if ax.get_ylabel() in ("", before):  # else somebody has named the axis
        ax.set_ylabel(_names(ax))
    if is_first and columns and all(column.values.dtype == bool for column in columns):
        ax.set_yticks([0, 1], ["False", "True"])
    if len(ax.get_legend_handles_labels()[0]) > 1:
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax


def _name_times(ax: Any) -> None:
    """Name the axis of times, with the unit that fits all that is drawn, and round ticks."""
    low, high = ax.dataLim.intervalx
    unit, length = next(
        ((name, s) for least, name, s in TIME_UNITS if high - low >= least), ("s", 1)
    )
    ax.set_xlabel(f"time [{unit}]")
    if unit in ROUND and np.isfinite(high - low):
        tickers = import_module("matplotlib.ticker")
        locator = tickers.MaxNLocator("auto", steps=ROUND[unit])
        locator.tick_values = partial(_ticks, locator.tick_values, length)
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(tickers.FuncFormatter(partial(_written, length)))


def _ticks(places: Any, length: float, low: float, high: float) -> Any:
    """Return ticks [s] that are round numbers of a unit."""
    return length * places(low / length, high / length)


def _written(length: float, time: float, _position: object) -> str:
    return f"{time / length:g}"


def _names(ax: Any) -> str:
    """Return what the axis of values shows: one line by its path, several by what they share."""
    labels = [str(line.get_label()) for line in ax.lines]
    labels = [label for label in labels if not label.startswith("_")]
    if len(labels) == 1:
        return labels[0]
    names = list(dict.fromkeys(re.sub(OWNER_AND_PLACE, "", label) for label in labels))
    if len(names) > MOST_NAMES:
        names = list(dict.fromkeys(unit for name in names for unit in re.findall(UNIT, name)))
    return ", ".join(names)


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
    known = [_is_known(column, pieces) for pieces in curves]
    if not any(known):
        return times, numbers, list(range(len(times)))
    spacing = float(times[-1] - times[0]) / RESOLUTION
    x, y, alone = [], [], []
    for row, pieces in enumerate(curves):
        if row and not known[row]:
            x.append(times[row])
            y.append(np.full(numbers.shape[1], np.nan))
        if known[row] and column.place is not None and pieces:
            low, high = times[row - 1 : row + 1].tolist()
            inner, values = points_between(pieces, low, high, spacing)
            x += inner
            y += [value[column.place] for value in values]
        x.append(times[row])
        y.append(numbers[row])
        if not any(known[row : row + 2]):
            alone.append(len(x) - 1)
    return np.array(x), np.array(y).reshape(-1, numbers.shape[1]), alone


def _is_known(column: Column, pieces: Pieces | None) -> bool:
    """Return True if values of a column are known between two rows with these pieces.

    A discrete variable may change where a piece ends, unless a row is there.
    """
    if pieces is None:
        return False
    return column.place is not None or (column.kind == DISCRETE and len(pieces) < 2)


def _literal(label: str) -> str:
    """Return a label that is shown as it is, even with "$", or "_" at the beginning."""
    text = label.replace("$", r"\$")
    return f"\u200b{text}" if text.startswith("_") else text
