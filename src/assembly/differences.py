"""Derivatives of conditions by the free q, by central differences, where they have none."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from stagecache.state.handles import Vector
from stagecache.system.differences import NOISE, by_differences

Calc = Callable[[Any], Any]


def central_differences(
    move: Callable[[Vector], Any],
    x: Vector,
    functions: Sequence[Calc],
    bounds: tuple[Vector, Vector],
) -> list[Vector]:
    """Differentiate functions of a State by the free q.

    The step of each is e^(1/3) max(1, |x|), e = 2.2e-16: see `stagecache.system.differences`. It
    ends at a bound, where conditions may be defined up to it only: differences are one-sided there.
    What must not move at all has zeros.

    Parameters
    ----------
    move : callable
        Moves the free q, and returns the State, realized as far as needed. It is called 2 n times,
        and once to return.
    x : (n,) float
        Where they are.
    functions : sequence of callable
        Called with the State; each returns an array (m,) or a number.
    bounds : tuple of (n,) float

    Returns
    -------
    list of (m, n) float
    """
    steps = NOISE ** (1 / 3) * np.maximum(1.0, np.abs(x))
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
