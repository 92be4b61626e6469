r"""Semi-explicit Euler: speeds first, and with the new ones the coordinates.

::

    u1 = u0 + h udot(t0, q0, u0, z0)            z1 = z0 + h zdot(t0, q0, u0, z0)
    q1 = q0 + h qdot(t0, q0, u1)                qdot = N(q0) u1

It is of order 1, and symplectic where N = 1, so the energy of an oscillation does not drift.

Source: Hairer, Lubich, Wanner, "Geometric Numerical Integration", I.1.
"""

from math import isfinite
from typing import final

from stagecache.state.handles import Vector
from stagecache.study.methods.one_step import AbstractOneStep, Attempt, parts_of


@final
class Euler(AbstractOneStep):
    """Semi-explicit Euler, of order 1.

    A step of fixed size costs one evaluation, and one more of qdot. With error control, two half
    steps are compared with a full one: two evaluations, and three of qdot. The difference is the
    estimated error, of order 2 in h.
    """

    name, min_order, max_order, estimate_order = "Euler", 1, 1, 2

    def attempt(self, t: float, h: float) -> Attempt:
        """Try a step."""
        whole = y = self._one(self.t, self.y, self.ydot, h)
        if self.sizes.fixed is None:
            middle = self._one(self.t, self.y, self.ydot, h / 2)
            ydot = self.derivatives(self.t + h / 2, middle)
            y = self._one(self.t + h / 2, middle, ydot, h / 2)
        ydot = self.derivatives(t, y)
        if not isfinite(ydot.sum()):
            return self.failed(y)
        return Attempt(y, ydot, y - whole)

    def _one(self, t: float, y: Vector, ydot: Vector, h: float) -> Vector:
        q, _ = parts_of(self.derivatives)
        new = y + h * ydot
        if q.stop:
            halfway = new.copy()
            halfway[q] = y[q]
            new[q] = y[q] + h * self.derivatives.qdot(t, halfway)
        return new
