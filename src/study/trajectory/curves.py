r"""Curves between the rows of a trajectory: what was computed there, cut at events.

::

    row         row          row       rows of simulate()
     |---p1------|--p2--.--p3-|        pieces: polynomials of steps, from one row to the next
                        ^ an event     y may jump, or its slope

    row ........ row                   rows of files, and appended ones: a cubic of Hermite, kept
                                       where it satisfies the equations of the model

The error of a cubic is estimated by its defect, the difference between its slope and the one that
the model computes from it, at a Gauss point, where the defect is nearly the greatest. Source: W. H.
Enright, "A new error-control for initial value solvers", Applied Mathematics and Computation 31
(1989).
"""

from math import sqrt
from time import perf_counter
from typing import Any, Final

import numpy as np

from stagecache.state.handles import Vector
from stagecache.state.stage import Stage
from stagecache.state.values.sameness import same
from stagecache.study.methods.step_polynomial import StepPolynomial
from stagecache.study.trajectory.rows import AbstractRows, Pieces, Rows

MOST_ROWS: Final = 600
"""Rows between which cubics are looked for; more of them are as close as the pixels of a plot."""

PATIENCE: Final = 5.0
"""Seconds after which the model is not asked any more: it may be slow."""

TOLERANCE: Final = 0.005
"""Largest error of a cubic, by the range of a number over all rows: less than a line is wide."""

ROUNDING: Final = 1e-9
"""Error that is always allowed, by the greatest value: a number may stay the same in all rows."""

PIXEL: Final = 1e-3
"""Longest interval that cannot be seen, by the whole time."""

GAUSS_POINT: Final = 0.5 - sqrt(3.0) / 6.0
ERROR_BY_DEFECT: Final = 0.325
"""Largest error of a cubic over a step of length 1, by its defect at the Gauss point.

The error is as (s (1 - s))², which is 1/16 in the middle; the defect as the derivative of that,
which is 0.192 at the Gauss point.
"""


def points_between(
    pieces: Pieces, low: float, high: float, spacing: float
) -> tuple[list[float], list[Vector]]:
    """Return times and y between two rows; where a piece follows another, a time is there twice."""
    times: list[float] = []
    y: list[Vector] = []
    starts = [low, *[max(low, piece.t0) for piece in pieces[1:]]]
    for number, (piece, start) in enumerate(zip(pieces, starts, strict=False)):
        stop = [*starts, high][number + 1]
        inner = np.linspace(start, stop, int((stop - start) / spacing) + 2)
        first, last = 0 if number else 1, len(inner) - (number == len(pieces) - 1)
        found = inner[first:last].tolist()
        times += found
        y += [piece(t) for t in found]
    return times, y


def known_curves(kept: AbstractRows) -> list[Pieces | None]:
    """Return the curve to each row from the one before; None where nothing is known of it.

    Where no step was kept, the model is asked, if it is there and rows are not as close as pixels:
    cost of two States at Acceleration for each such row, for a few seconds at most. Where it cannot
    be realized as far, or a discrete variable differs, nothing is known. The rows before and after
    an event are connected.
    """
    times = kept.all_times
    if kept.pattern is None or not 1 < kept.count <= MOST_ROWS or not times[0] < times[-1]:
        return kept.curves
    wanted = [row for row in range(1, kept.count) if kept.curves[row] is None]
    if not wanted:
        return kept.curves
    rows = kept.in_memory(range(kept.count))
    steps = np.diff(times, prepend=times[0])
    shortest = PIXEL * (times[-1] - times[0])
    curves = list(kept.curves)
    slopes: dict[int, Vector | None] = {}
    end = perf_counter() + PATIENCE
    for row in wanted:
        if steps[row] > shortest and perf_counter() < end:
            curves[row] = _cubic(rows, row, slopes)
    for row in wanted:
        neighbours = (curves[row - 1], *curves[row + 1 : row + 2])
        if 0 <= steps[row] <= shortest and any(neighbours):
            curves[row] = ()
    return curves


def _cubic(rows: Rows, row: int, slopes: dict[int, Vector | None]) -> Pieces | None:
    """Return the cubic from the row before, if it is close to the solution; note the slopes."""
    before = _discrete(rows, row - 1)
    if not same(before, _discrete(rows, row)):
        return None
    times, y = rows.times.rows, rows.y.rows
    for end in (row - 1, row):
        if end not in slopes:
            slopes[end] = _slope(rows, float(times[end]), y[end], before)
    d0, d1 = slopes[row - 1], slopes[row]
    if d0 is None or d1 is None:
        return None
    t0, h = float(times[row - 1]), float(times[row] - times[row - 1])
    cubic = StepPolynomial.of_slopes(t0, h, (y[row - 1], y[row]), (d0, d1))
    t = t0 + GAUSS_POINT * h
    slope = _slope(rows, t, cubic(t), before)
    if slope is None:
        return None
    error = ERROR_BY_DEFECT * np.abs(h * slope - _slope_of_cubic(cubic.parts))
    allowed = TOLERANCE * np.ptp(y, axis=0) + ROUNDING * np.abs(y).max(axis=0)
    return (cubic,) if (error <= allowed).all() else None


def _slope_of_cubic(parts: Vector) -> Vector:
    """Return h times the slope of a cubic at the Gauss point."""
    s = GAUSS_POINT
    found: Vector = np.array([1.0, 1.0 - 2.0 * s, 2.0 * s - 3.0 * s**2]) @ parts
    return found


def _discrete(rows: Rows, row: int) -> list[list[Any]]:
    return [[column.at(row) for column in columns] for columns in rows.discrete]


def _slope(rows: Rows, t: float, y: Vector, discrete: list[list[Any]]) -> Vector | None:
    """Return ydot as the model computes it; None if it cannot."""
    try:
        found = np.array(rows.pattern.state(t, y, discrete, Stage.ACCELERATION).ydot)
    except Exception:  # a State can be looked at even if nothing moves it
        return None
    return found if np.isfinite(found).all() else None
