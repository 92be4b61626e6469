r"""Explicit Runge-Kutta methods: a table for each, and one loop over its stages.

::

    k_i = f(t + c_i h, y + h sum_j<i a_ij k_j)      y1 = y + h sum_i b_i k_i      k_last = f(t1, y1)

The tables are those of SciPy's classes of the same names: hundreds of numbers that need no second
copy. The steps are our own, because those classes keep their estimated errors to themselves, and
constraints require that they be projected.
"""

from collections.abc import Sequence
from typing import Any, Final, final

import numpy as np
from scipy.integrate import DOP853, RK23, RK45

from stagecache.state.handles import Vector
from stagecache.study.methods.derivatives import Derivatives
from stagecache.study.methods.method import StepSizes
from stagecache.study.methods.one_step import AbstractOneStep, Attempt
from stagecache.study.methods.tolerances import Tolerances


class AbstractRungeKutta(AbstractOneStep):
    """An explicit Runge-Kutta method, whose last derivatives are the first of the next step.

    Attributes
    ----------
    table : class of SciPy
        With the arrays A (s, s), B (s,) and C (s,), and those of the estimate and of the
        interpolant, which are for the s stages and the end of the step.
    """

    table: Any

    def __init__(self, derivatives: Derivatives, tolerances: Tolerances, sizes: StepSizes) -> None:
        super().__init__(derivatives, tolerances, sizes)
        self._allocate(derivatives.state.ny)

    def _allocate(self, ny: int) -> None:
        """Make the array of an attempt, and the rows and factors that each stage uses."""
        table = self.table
        self._k = k = np.empty((table.n_stages + 1, ny))
        self._stages = [
            (c, table.A[i, :i].copy(), k[:i], k[i]) for i, c in enumerate(table.C.tolist()) if i
        ]
        self._known, self._at_end = k[:-1], k[-1]

    def attempt(self, t: float, h: float) -> Attempt:
        """Try a step."""
        derivatives, t0, y0 = self.derivatives, self.t, self.y
        num_failures = derivatives.num_failures
        if self._k.shape[1] != len(y0):
            self._allocate(len(y0))
        self._k[0] = self.ydot
        for c, factors, known, ydot in self._stages:
            ydot[:] = derivatives.inside(t0 + c * h, y0 + h * factors.dot(known))
            if derivatives.num_failures != num_failures:
                return self.failed(y0)
        y = y0 + h * self.table.B.dot(self._known)
        self._at_end[:] = at_end = derivatives(t, y)
        if derivatives.num_failures != num_failures:
            return self.failed(y)
        return Attempt(y, at_end, h * self._errors(self._k, y))

    def _errors(self, k: Vector, y: Vector) -> Vector:  # noqa: ARG002  # another one needs it
        """Return the estimated errors of y, for a step of size 1."""
        return np.asarray(self.table.E.dot(k))


@final
class RungeKutta23(AbstractRungeKutta):
    """The pair of Bogacki and Shampine, of order 3(2). Cost: 3 evaluations for each attempt."""

    name, min_order, max_order, estimate_order, table = "RK23", 3, 3, 3, RK23


@final
class RungeKutta45(AbstractRungeKutta):
    """The pair of Dormand and Prince, of order 5(4). Cost: 6 evaluations for each attempt."""

    name, min_order, max_order, estimate_order, table = "RK45", 5, 5, 5, RK45
    degree = 4

    def _inside(self) -> Sequence[Vector]:
        """Return what Shampine's quartic has beyond a cubic: Mathematics of Computation 46, 135."""
        return ((self.t - self.t_old) * (self.table.P[:, 3] @ self._k),)


@final
class RungeKutta853(AbstractRungeKutta):
    """DOP853, of order 8(5,3). Cost: 12 evaluations for each attempt, 3 to interpolate."""

    name, min_order, max_order, estimate_order, table = "DOP853", 8, 8, 8, DOP853
    degree = 7
    has_long_steps = True

    def _errors(self, k: Vector, y: Vector) -> Vector:
        """Return the estimate of order 5, made smaller where that of order 3 is much larger."""
        fifth, third = self.table.E5.dot(k), self.table.E3.dot(k)
        norm = self.tolerances.norm(fifth, self.y, y)
        both = np.hypot(norm, 0.1 * self.tolerances.norm(third, self.y, y))
        return np.asarray(fifth * (norm / both if both else 0.0))

    def _inside(self) -> Sequence[Vector]:
        """Return what the polynomial of degree 7 has beyond a cubic, from three more stages."""
        table, t0, y0, h = self.table, self.t_old, self.y_old, self.t - self.t_old
        k = self._k
        for c, a in zip(table.C_EXTRA, table.A_EXTRA, strict=True):
            y = y0 + h * (a[: len(k)] @ k)
            k = np.vstack([k, self._checked_derivatives(t0 + c * h, y)])
        return list(h * (table.D @ k))


RUNGE_KUTTA: Final = (RungeKutta23, RungeKutta45, RungeKutta853)
