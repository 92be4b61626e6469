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
from stagecache.study.methods.one_step import AbstractOneStep, Attempt


class AbstractRungeKutta(AbstractOneStep):
    """An explicit Runge-Kutta method, whose last derivatives are the first of the next step.

    Attributes
    ----------
    table : class of SciPy
        With the arrays A (s, s), B (s,) and C (s,), and those of the estimate and of the
        interpolant, which are for the s stages and the end of the step.
    """

    table: Any

    def attempt(self, t: float, h: float) -> Attempt:
        """Try a step."""
        table, derivatives, t0, y0 = self.table, self.derivatives, self.t, self.y
        k = self._k = np.empty((table.n_stages + 1, len(y0)))
        k[0] = self.ydot
        for i in range(1, table.n_stages):
            k[i] = derivatives(t0 + table.C[i] * h, y0 + h * (table.A[i, :i] @ k[:i]))
            if k[i, 0] != k[i, 0]:  # if one is missing, all are NaN
                return self.failed(y0)
        y = y0 + h * (table.B @ k[:-1])
        ydot = k[-1] = derivatives(t, y)
        if ydot[0] != ydot[0]:
            return self.failed(y)
        return Attempt(y, ydot, h * self._errors(k, y))

    def _errors(self, k: Vector, y: Vector) -> Vector:  # noqa: ARG002  # another one needs it
        """Return the estimated errors of y, for a step of size 1."""
        return np.asarray(self.table.E @ k)


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
        fifth, third = self.table.E5 @ k, self.table.E3 @ k
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
