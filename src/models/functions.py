r"""Functions of OpenSim's joints that `stagecache.multibody` does not have.

::

    SimmSpline         cubics; the third derivative at each end is taken from the cubic
                       through the last four points there; straight lines beyond
    PiecewiseLinear    straight lines through points, and on beyond the last two

Source of the spline: G. Forsythe, M. Malcolm, C. Moler, Computer Methods for Mathematical
Computations (1977), section 4.4, which SIMM and OpenSim follow.
"""

from typing import final

import numpy as np
from numpy.typing import ArrayLike

from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.mobilizers.functions import AbstractPiecewise


@final
class SimmSpline(AbstractPiecewise):
    """The cubic spline of SIMM and OpenSim, which is not a natural one.

    Parameters
    ----------
    x : (n,) array_like
        At least two, ascending.
    y : (n,) array_like

    Raises
    ------
    ShapeError, NotANumberError
    OutOfRangeError
        The x do not ascend.

    Examples
    --------
    Four points determine one cubic:

    >>> from stagecache.models import SimmSpline
    >>> cube = SimmSpline([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 8.0, 27.0])
    >>> round(cube.value(1.5), 12), round(cube.second(1.5), 12), round(cube.value(4.0), 12)
    (3.375, 9.0, 54.0)
    """

    def __init__(self, x: ArrayLike, y: ArrayLike) -> None:
        places, values = self._points(x, y)
        h = np.diff(places)
        slopes = np.diff(values) / h
        c = _bends(places, h, slopes)
        b = slopes - h * (c[1:] + 2.0 * c[:-1])
        last = slopes[-1] + h[-1] * (c[-2] + 2.0 * c[-1])
        cubics = np.column_stack([values[:-1], b, 3.0 * c[:-1], np.diff(c) / h])
        self._join(places, values, cubics, (b[0], last))


def _bends(x: Array, h: Array, slopes: Array) -> Array:
    """Return a sixth of the second derivatives at the points, (n,)."""
    n = len(x)
    if n == 2:
        return np.zeros(2)
    matrix, right = np.zeros((n, n)), np.zeros(n)
    for i in range(1, n - 1):
        matrix[i, i - 1 : i + 2] = h[i - 1], 2.0 * (h[i - 1] + h[i]), h[i]
        right[i] = slopes[i] - slopes[i - 1]
    matrix[0, :2] = -h[0], h[0]
    matrix[-1, -2:] = h[-1], -h[-1]
    if n > 3:
        second = right[1:-1] / (x[2:] - x[:-2])  # divided differences
        third = np.diff(second) / (x[3:] - x[:-3])
        right[0] = third[0] * h[0] ** 2
        right[-1] = -third[-1] * h[-1] ** 2
    return np.asarray(np.linalg.solve(matrix, right), np.float64)


@final
class PiecewiseLinear(AbstractPiecewise):
    """Straight lines through points; the first and the last one go on beyond them.

    Parameters
    ----------
    x : (n,) array_like
        At least two, ascending.
    y : (n,) array_like

    Raises
    ------
    ShapeError, NotANumberError
    OutOfRangeError
        The x do not ascend.

    Examples
    --------
    >>> from stagecache.models import PiecewiseLinear
    >>> f = PiecewiseLinear([0.0, 1.0, 2.0], [0.0, 1.0, 0.0])
    >>> f.value(0.5), f.value(3.0), f.first(1.5), f.second(1.5)
    (0.5, -1.0, -1.0, 0.0)
    """

    def __init__(self, x: ArrayLike, y: ArrayLike) -> None:
        places, values = self._points(x, y)
        slopes = np.diff(values) / np.diff(places)
        zero = np.zeros(len(slopes))
        cubics = np.column_stack([values[:-1], slopes, zero, zero])
        self._join(places, values, cubics, (slopes[0], slopes[-1]))
