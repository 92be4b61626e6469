r"""Polynomials over a step of integration: what a method has computed between its ends.

::

    y(t) = y0 + s (p0 + (1 - s) (p1 + s (p2 + (1 - s) (p3 + ...))))         s = (t - t0) / h

So y0 is the value at the start, and y0 + p0 the value at the end; with p1 and p2 it is the cubic of
Hermite, and what comes after changes neither values nor slopes at the ends. The form is taken from
the dense output of DOP853: Hairer, Nørsett, Wanner, "Solving Ordinary Differential Equations I",
II.6.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import final

import numpy as np
from attrs import frozen

from stagecache.state.handles import Vector


@final
@frozen(eq=False)
class StepPolynomial:
    """A polynomial in the time. Cost of a value: O(degree + ny degree).

    Attributes
    ----------
    t0, h : float
        The start of the step, and its size [s].
    y0 : (ny,) float
        The value at the start.
    parts : (degree, ny) float
    """

    t0: float
    h: float
    y0: Vector
    parts: Vector

    @staticmethod
    def constant(t0: float, y0: Vector) -> "StepPolynomial":
        """Return the polynomial of degree 0, of a step in which nothing is integrated."""
        return StepPolynomial(t0, 1.0, y0, np.empty((0, len(y0))))

    @staticmethod
    def of_slopes(
        t0: float,
        h: float,
        y: tuple[Vector, Vector],
        slopes: tuple[Vector, Vector],
        more: Sequence[Vector] = (),
    ) -> "StepPolynomial":
        """Return the cubic with values and slopes at both ends, and more parts beside it."""
        change, d0, d1 = y[1] - y[0], h * slopes[0], h * slopes[1]
        parts = np.array([change, d0 - change, 2 * change - d0 - d1, *more])
        return StepPolynomial(t0, h, y[0], parts)

    @staticmethod
    def of_values(
        t0: float, h: float, degree: int, read: Callable[[Vector], Vector]
    ) -> "StepPolynomial":
        """Return the polynomial through values at times of Chebyshev, which are read.

        `read` gets the times, (degree + 1,), and returns y for each, (degree + 1, ny).
        """
        nodes, to_parts = _from_values(degree)
        values = read(t0 + nodes * h)
        return StepPolynomial(t0, h, values[0], to_parts @ (values[1:] - values[0]))

    def __call__(self, t: float) -> Vector:
        """Return y at a time."""
        found: Vector = self.y0 + _basis((t - self.t0) / self.h, len(self.parts)) @ self.parts
        return found

    def through(self, y0: Vector, t1: float, y1: Vector) -> "StepPolynomial":
        """Return the polynomial with these values at its start and at a later time.

        The difference grows smoothly from one to the other, so slopes stay at both times.
        """
        change = y1 - self(t1) - (y0 - self.y0)
        c = (t1 - self.t0) / self.h
        square, cube = 3 / c**2, 2 / c**3  # of 3 (s/c)² - 2 (s/c)³
        parts = np.zeros((max(3, len(self.parts)), len(y0)))
        parts[: len(self.parts)] = self.parts
        parts[:3] += np.outer((square - cube, cube - square, cube), change)
        return StepPolynomial(self.t0, self.h, y0, parts)


def _basis(s: float, degree: int) -> Vector:
    """Return the factors of the parts: s, s (1 - s), s² (1 - s), ..."""
    found, factor = [], 1.0
    for i in range(degree):
        factor *= 1 - s if i % 2 else s
        found.append(factor)
    return np.array(found)


@lru_cache
def _from_values(degree: int) -> tuple[Vector, Vector]:
    """Return the nodes s, and the matrix from differences to the first value to the parts."""
    nodes = (1 - np.cos(np.pi * np.arange(degree + 1) / degree)) / 2
    rows = [_basis(s, degree) for s in nodes[1:].tolist()]
    return nodes, np.asarray(np.linalg.inv(rows), dtype=float)
