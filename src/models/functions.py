r"""Functions of OpenSim's joints that `stagecache.multibody` does not have.

::

    SimmSpline         cubics; the third derivative at each end is that of the cubic through the
                       last four points there; straight lines beyond
    PiecewiseLinear    straight lines through points, and on beyond the last two

Source of the spline: G. Forsythe, M. Malcolm, C. Moler, Computer Methods for Mathematical
Computations (1977), section 4.4, which SIMM and OpenSim follow.
"""

from bisect import bisect_right
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from stagecache.errors import OutOfRangeError, short_repr
from stagecache.multibody.checks import checked_array
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.mobilizers.functions import AbstractFunction
from stagecache.state.vectors.conversion import ANY


@final
class SimmSpline(AbstractFunction):
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
        places, values = _points(x, y, "SimmSpline")
        self._x: list[float] = places.tolist()
        self._y: list[float] = values.tolist()
        h = np.diff(places)
        slopes = np.diff(values) / h
        c = _bends(places, h, slopes)
        b = slopes - h * (c[1:] + 2.0 * c[:-1])
        last = slopes[-1] + h[-1] * (c[-2] + 2.0 * c[-1])
        d = np.diff(c) / h
        cubics = np.column_stack([values[:-1], b, 3.0 * c[:-1], d]).tolist()
        first = [self._y[0], float(b[0]), 0.0, 0.0]
        self._pieces = [first, *cubics, [self._y[-1], float(last), 0.0, 0.0]]
        self._starts = [self._x[0], *self._x]

    def value(self, x: float) -> float:
        """Return the value."""
        t, (a, b, c, d) = self._piece(x)
        return a + t * (b + t * (c + t * d))

    def first(self, x: float) -> float:
        """Return the first derivative."""
        t, (_, b, c, d) = self._piece(x)
        return b + t * (2.0 * c + t * 3.0 * d)

    def second(self, x: float) -> float:
        """Return the second derivative."""
        t, (_, _, c, d) = self._piece(x)
        return 2.0 * c + 6.0 * d * t

    def _piece(self, x: float) -> tuple[float, list[float]]:
        """Return the distance from the start of the piece at x, and its coefficients."""
        i = bisect_right(self._x, x)
        return x - self._starts[i], self._pieces[i]

    def __repr__(self) -> str:
        return f"SimmSpline({self._x}, {self._y})"


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
class PiecewiseLinear(AbstractFunction):
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
        places, values = _points(x, y, "PiecewiseLinear")
        self._x: list[float] = places.tolist()
        self._y: list[float] = values.tolist()
        self._slopes: list[float] = (np.diff(values) / np.diff(places)).tolist()

    def value(self, x: float) -> float:
        """Return the value."""
        i = self._interval(x)
        return self._y[i] + self._slopes[i] * (x - self._x[i])

    def first(self, x: float) -> float:
        """Return the slope; at a point, that on the right."""
        return self._slopes[self._interval(x)]

    def second(self, x: float) -> float:  # noqa: ARG002  # it is constant
        """Return 0."""
        return 0.0

    def _interval(self, x: float) -> int:
        return min(max(bisect_right(self._x, x) - 1, 0), len(self._slopes) - 1)

    def __repr__(self) -> str:
        return f"PiecewiseLinear({self._x}, {self._y})"


def _points(x: ArrayLike, y: ArrayLike, kind: str) -> tuple[Array, Array]:
    """Return places and values of at least two points.

    Raises
    ------
    ShapeError, NotANumberError, OutOfRangeError
    """
    places = checked_array(x, (ANY,), f"the x of a {kind}")
    values = checked_array(y, (len(places),), f"the y of a {kind}")
    if len(places) < 2 or not (np.diff(places) > 0.0).all():
        raise OutOfRangeError(
            f"the x of a {kind}: do not ascend",
            "at least two numbers, each larger than the one before",
            short_repr(x),
            "sort the points by x, and leave out those that are there twice",
        )
    return places, values
