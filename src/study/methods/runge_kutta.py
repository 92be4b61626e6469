r"""Explicit Runge-Kutta methods: a table for each, and one loop over its stages.

::

    k_i = f(t + c_i h, y + h sum_j<i a_ij k_j)      y1 = y + h sum_i b_i k_i      k_last = f(t1, y1)

Where SciPy has a method, the table is taken from its class: hundreds of numbers that need no second
copy. The steps are our own, because those classes keep their estimated errors to themselves, and
constraints require that they be projected. Other tables are from Hairer, Nørsett, Wanner, "Solving
Ordinary Differential Equations I": Merson's is (4.1) of II.4, Fehlberg's is table 5.1 of II.5.
"""

from collections.abc import Sequence
from typing import Any, Final, final

import numpy as np
from attrs import frozen
from scipy.integrate import DOP853, RK23, RK45

from stagecache.state.handles import Vector
from stagecache.study.methods.derivatives import Derivatives
from stagecache.study.methods.method import StepSizes
from stagecache.study.methods.one_step import AbstractOneStep, Attempt
from stagecache.study.methods.tolerances import Tolerances


@final
@frozen(eq=False)
class Table:
    """The numbers of a method, in the form of SciPy's classes.

    Attributes
    ----------
    A : (s, s) float
    B, C : (s,) float
    E : (s + 1,) float
        Of the estimated error; the last one is for the derivatives at the end of the step.
    """

    A: Vector
    B: Vector
    C: Vector
    E: Vector

    @property
    def n_stages(self) -> int:
        """The number of stages, without the end of the step."""
        return len(self.B)


def _table(a: Sequence[Sequence[float]], b: Sequence[float], e: Sequence[float]) -> Table:
    """Return the table of the rows of A below its diagonal; C has their sums."""
    rows = np.zeros((len(b), len(b)))
    for i, row in enumerate(a):
        rows[i, :i] = row
    return Table(rows, np.array(b), rows.sum(axis=1), np.array(e))


EULER: Final = _table([()], [1.0], [0.5, -0.5])
"""The estimate is the difference from the trapezoidal rule."""

MERSON: Final = _table(
    [(), (1 / 3,), (1 / 6, 1 / 6), (1 / 8, 0, 3 / 8), (1 / 2, 0, -3 / 2, 2)],
    [1 / 6, 0, 0, 2 / 3, 1 / 6],
    [1 / 15, 0, -3 / 10, 4 / 15, -1 / 30, 0],
)

FEHLBERG: Final = _table(
    [
        (),
        (1 / 4,),
        (3 / 32, 9 / 32),
        (1932 / 2197, -7200 / 2197, 7296 / 2197),
        (439 / 216, -8, 3680 / 513, -845 / 4104),
        (-8 / 27, 2, -3544 / 2565, 1859 / 4104, -11 / 40),
    ],
    [16 / 135, 0, 6656 / 12825, 28561 / 56430, -9 / 50, 2 / 55],
    [1 / 360, 0, -128 / 4275, -2197 / 75240, 1 / 50, 2 / 55, 0],
)


class AbstractRungeKutta(AbstractOneStep):
    """An explicit Runge-Kutta method, whose last derivatives are the first of the next step.

    Attributes
    ----------
    table : Table, or class of SciPy
        With the arrays A (s, s), B (s,) and C (s,), and arrays of the estimate and of the
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
        """Return the estimate of order 5, smaller where the estimate of order 3 is much larger."""
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


@final
class ExplicitEuler(AbstractRungeKutta):
    """Euler's explicit method, of order 1. Cost: one evaluation for each attempt."""

    name, min_order, max_order, estimate_order, table = "ExplicitEuler", 1, 1, 2, EULER


@final
class Merson(AbstractRungeKutta):
    """Merson's method, of order 4. Cost: 5 evaluations for each attempt.

    The estimate is of order 5 where the derivatives are linear, and else of order 4.
    """

    name, min_order, max_order, estimate_order, table = "Merson", 4, 4, 4, MERSON


@final
class Fehlberg(AbstractRungeKutta):
    """Fehlberg's pair, of order 5(4). Cost: 6 evaluations for each attempt."""

    name, min_order, max_order, estimate_order, table = "Fehlberg", 5, 5, 5, FEHLBERG


RUNGE_KUTTA: Final = (
    *(RungeKutta23, RungeKutta45, RungeKutta853),
    *(ExplicitEuler, Merson, Fehlberg),
)
