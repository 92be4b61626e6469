r"""Functions of one coordinate, with their derivatives, for mobilizers and couplers.

::

    Linear(slope, intercept)                    slope x + intercept
    Polynomial([c0, c1, c2, ...])               c0 + c1 x + c2 x² + ...
    NaturalCubicSpline(x, y)                    cubics with f'' = 0 at both ends, and straight
                                                lines beyond

They take and return plain floats, as mobilizers do. For another one, write a subclass of
`AbstractFunction`.

Source of splines: C. de Boor, A Practical Guide to Splines (2001), chapter IV.
"""

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from stagecache.checks import require_number
from stagecache.errors import OutOfRangeError, ShapeError, short_repr
from stagecache.multibody.checks import checked_array
from stagecache.multibody.geometry.spatial import Array
from stagecache.state.vectors.conversion import ANY


class AbstractFunction(ABC):
    """A smooth function of one coordinate. It is const.

    Derivatives that a subclass does not give are found by differences, with relative errors of some
    1e-12 and 1e-9, if the function is smooth on the scale of 100 steps.

    Attributes
    ----------
    step : float
        The step of differences, relative to the coordinate where that is large; 1e-3 by default.
    """

    step: float = 1e-3

    @abstractmethod
    def value(self, x: float) -> float:
        """Return f(x)."""

    def first(self, x: float) -> float:
        """Return f'(x)."""
        h = self.step * max(1.0, abs(x))
        f = self.value
        return (8.0 * (f(x + h) - f(x - h)) - (f(x + 2.0 * h) - f(x - 2.0 * h))) / (12.0 * h)

    def second(self, x: float) -> float:
        """Return f''(x)."""
        h = self.step * max(1.0, abs(x))
        f = self.first
        return (8.0 * (f(x + h) - f(x - h)) - (f(x + 2.0 * h) - f(x - 2.0 * h))) / (12.0 * h)


@final
class Linear(AbstractFunction):
    """slope x + intercept.

    Parameters
    ----------
    slope : float
    intercept : float, optional

    Raises
    ------
    NotANumberError, ShapeError, OutOfRangeError
    """

    def __init__(self, slope: float, intercept: float = 0.0) -> None:
        self.slope = require_number(slope, "the slope of a Linear")
        self.intercept = require_number(intercept, "the intercept of a Linear")

    def value(self, x: float) -> float:
        """Return the value."""
        return self.slope * x + self.intercept

    def first(self, x: float) -> float:  # noqa: ARG002  # it is constant
        """Return the slope."""
        return self.slope

    def second(self, x: float) -> float:  # noqa: ARG002  # likewise
        """Return 0."""
        return 0.0

    def __repr__(self) -> str:
        return f"Linear({self.slope!r}, {self.intercept!r})"


@final
class Polynomial(AbstractFunction):
    """c0 + c1 x + c2 x² + ...

    Parameters
    ----------
    coefficients : (n,) array_like
        The constant first, as `numpy.polynomial` has them; at least one.

    Raises
    ------
    ShapeError, NotANumberError, OutOfRangeError

    Examples
    --------
    >>> from stagecache.multibody import Polynomial
    >>> f = Polynomial([1.0, 0.0, 3.0])
    >>> f.value(2.0), f.first(2.0), f.second(2.0)
    (13.0, 12.0, 6.0)
    """

    def __init__(self, coefficients: ArrayLike) -> None:
        found = checked_array(coefficients, (ANY,), "the coefficients of a Polynomial")
        if not found.size:
            raise ShapeError(
                "the coefficients of a Polynomial: there are none",
                "at least one number, the constant",
                short_repr(coefficients),
                "write [0.0] for the function that is 0",
            )
        powers = np.arange(len(found))
        self.coefficients: list[float] = found.tolist()
        self._first: list[float] = (found * powers)[1:].tolist()
        self._second: list[float] = (found * powers * (powers - 1))[2:].tolist()

    def value(self, x: float) -> float:
        """Return the value."""
        return _horner(self.coefficients, x)

    def first(self, x: float) -> float:
        """Return the first derivative."""
        return _horner(self._first, x)

    def second(self, x: float) -> float:
        """Return the second derivative."""
        return _horner(self._second, x)

    def __repr__(self) -> str:
        return f"Polynomial({self.coefficients})"


def _horner(coefficients: Sequence[float], x: float) -> float:
    found = 0.0
    for coefficient in reversed(coefficients):
        found = found * x + coefficient
    return found


class AbstractPiecewise(AbstractFunction):
    """Cubics between points, and straight lines beyond them; at a point, the piece on the right."""

    _x: list[float]
    _y: list[float]

    def _points(self, x: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
        """Return places and values of at least two points.

        Raises
        ------
        ShapeError, NotANumberError, OutOfRangeError
        """
        kind = type(self).__name__
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

    def _join(
        self, places: Array, values: Array, cubics: Array, slopes: tuple[float, float]
    ) -> None:
        """Keep the pieces.

        Parameters
        ----------
        places, values : (n,) float
        cubics : (n - 1, 4) float
            a, b, c, d of a + b t + c t² + d t³, by interval, with t from its start.
        slopes : (float, float)
            Of the lines before the first point, and after the last one.
        """
        self._x, self._y = places.tolist(), values.tolist()
        first, last = (
            [y, float(slope), 0.0, 0.0]
            for y, slope in zip((self._y[0], self._y[-1]), slopes, strict=True)
        )
        self._pieces = [first, *cubics.tolist(), last]
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
        return f"{type(self).__name__}({self._x}, {self._y})"


@final
class NaturalCubicSpline(AbstractPiecewise):
    """Cubics through points, with second derivatives 0 at both ends, and straight lines beyond.

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
    >>> from stagecache.multibody import NaturalCubicSpline
    >>> f = NaturalCubicSpline([0.0, 1.0, 2.0], [0.0, 1.0, 0.0])
    >>> f.value(1.0), f.first(1.0), f.value(3.0), f.second(3.0)
    (1.0, 0.0, -1.5, 0.0)
    """

    def __init__(self, x: ArrayLike, y: ArrayLike) -> None:
        from scipy.interpolate import CubicSpline  # noqa: PLC0415  # it takes a while

        places, values = self._points(x, y)
        spline: Any = CubicSpline(places, values, bc_type="natural")
        slopes = spline(places[0], 1), spline(places[-1], 1)
        self._join(places, values, spline.c[::-1].T, slopes)
