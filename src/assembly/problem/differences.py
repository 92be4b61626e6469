"""Derivatives of conditions by the free q, by central differences.

The free q are divided by their scales here, so that 1 is a natural length for each.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from stagecache.state.handles import Vector
from stagecache.system.motion.differences import NOISE, by_differences

Calc = Callable[[Any], Any]
Bounds = tuple[Vector, Vector]

STEP: Final = NOISE ** (1 / 3)
"""Relative step of central differences of exact functions, whose error is about its square."""

SECOND_STEP: Final = NOISE**0.25
"""Relative step of differences of derivatives, which may be differences themselves."""

BLOCKED: Final = 1e-3
"""Part of a step below which bounds leave no room for it."""


def central_differences(
    move: Callable[[Vector], Any], x: Vector, functions: Sequence[Calc], bounds: Bounds
) -> list[Vector]:
    """Differentiate functions of a State by the free q.

    The step of each is e^(1/3) max(1, |x|), e = 2.2e-16: see
    `stagecache.system.motion.differences`.
    It ends at a bound, beyond which conditions may not be defined: differences are one-sided
    there. Columns of q that must not move are zero.

    Parameters
    ----------
    move : callable
        Moves the free q, and returns the State, realized as far as needed. It is called 2 n times,
        and once to return.
    x : (n,) float
        Free q.
    functions : sequence of callable
        Called with the State; each returns an array (m,) or a number.
    bounds : tuple of (n,) float

    Returns
    -------
    list of (m, n) float
    """
    steps = STEP * np.maximum(1.0, np.abs(x))
    above, below = np.minimum(x + steps, bounds[1]), np.maximum(x - steps, bounds[0])
    columns: list[list[Vector]] = [[] for _ in functions]
    with by_differences("derivatives of conditions", "override calc_..._jacobian or _gradient"):
        for i, way in enumerate(above - below):
            sides = []
            for place in (above[i], below[i]):
                moved = x.copy()
                moved[i] = place
                state = move(moved)
                sides.append([np.array(calc(state), ndmin=1) for calc in functions])
            for column, one, other in zip(columns, *sides, strict=True):
                column.append((one - other) / way if way else one - other)
        state = move(x)
    if not len(x):
        return [np.zeros((np.size(calc(state)), 0)) for calc in functions]
    return [np.stack(column, axis=1) for column in columns]


def differences_along(
    slope: Callable[[Vector], Vector], x: Vector, directions: Vector, bounds: Bounds
) -> Vector:
    """Differentiate a gradient along directions.

    Steps end at a bound, as in `central_differences`; numbers that could not move along a direction
    at all are left out of it.

    Parameters
    ----------
    slope : callable
        Moves the free q, and returns the gradient (n,). It is called 2 p times.
    x : (n,) float
        Free q.
    directions : (n, p) float
        Directions of length 1.
    bounds : tuple of (n,) float

    Returns
    -------
    (n, p) float
        The free q are elsewhere afterwards.
    """
    found = np.zeros_like(directions)
    step = SECOND_STEP * max(1.0, float(np.max(np.abs(x), initial=0.0)))
    with by_differences("second derivatives of conditions", "override calc_..._curvature"):
        for i, direction in enumerate(directions.T):
            way = direction
            for _ in range(2):
                rooms = np.stack([_rooms(x, sign * way, bounds) for sign in (1.0, -1.0)])
                above, below = np.minimum(step, rooms.min(axis=1, initial=np.inf)).tolist()
                if above + below >= BLOCKED * step:
                    break
                way = np.where(rooms.min(axis=0) < step, 0.0, way)
            if way.any():
                found[:, i] = (slope(x + above * way) - slope(x - below * way)) / (above + below)
    return found


def _rooms(x: Vector, way: Vector, bounds: Bounds) -> Vector:
    """Return for each number the multiples of a way up to its bound; may be infinite."""
    room = np.where(way > 0, bounds[1] - x, bounds[0] - x)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(way == 0, np.inf, room / way)
