r"""Velocity Verlet, with the iterations that forces need which depend on speeds.

::

    q1 = q0 + h qdot0 + h²/2 qdotdot0
    u1 = u0 + h/2 (udot0 + udot(t1, q1, u1, z1))        z1 likewise; iterated from Euler's

Where qdot is not u, and no hook fills qdotdot, q1 = q0 + h/2 (qdot0 + qdot(q0 + h qdot0, u0 + h
udot0)). The estimated error is of the order h³, as the true one is: the difference to the
trapezoidal rule, and the error of that rule, -h³/12 y'''. The third derivative is a difference of
ydot at three times::

    t_old...............t0.............t1       the start of the last step, and both ends of this
                        t0......tm.....t1       in a first step: its middle, for an evaluation more

Simbody's VerletIntegrator compares u and z with Euler's method instead, which is h². Source: Swope,
Andersen, Berens, Wilson, J. Chem. Phys. 76 (1982) 637.
"""

from math import inf, isfinite
from typing import Final, final

import numpy as np

from stagecache.state.handles import Vector
from stagecache.study.methods.method import LastStart
from stagecache.study.methods.one_step import AbstractOneStep, Attempt, parts_of

MOST_ITERATIONS: Final = 10
CONVERGED: Final = 0.01
"""Iterations end when u and z change by at most this part of their tolerance."""


@final
class Verlet(AbstractOneStep):
    """Velocity Verlet, of order 2; symplectic where forces depend on q only, and N = 1.

    Cost: two evaluations for each attempt where udot does not depend on u; else some more.
    """

    name, min_order, max_order, estimate_order = "Verlet", 2, 2, 3
    _qdotdot: Vector | None = None

    def attempt(self, t: float, h: float) -> Attempt:
        """Try a step."""
        q, rest = parts_of(self.derivatives)
        y0, ydot0 = self.y, self.ydot
        y = y0 + h * ydot0
        y[q] = self._new_q(t, h, y)
        before, ydot_before = self._third(h, y)
        ydot = self.derivatives(t, y)
        change = inf
        for i in range(1, MOST_ITERATIONS + 1):
            if not isfinite(ydot.sum()):
                return self.failed(y, i)
            last, trapezoidal = change, y0 + h / 2 * (ydot0 + ydot)
            change = self.tolerances.norm_of_part(
                (trapezoidal - y)[rest], y0[rest], trapezoidal[rest], rest.start
            )
            if change <= CONVERGED:
                break
            if i > 2 and change > last:
                return Attempt(y, ydot, ydot, has_converged=False, num_iterations=i)
            y = y.copy()
            y[rest] = trapezoidal[rest]
            ydot = self.derivatives(t, y)
        else:
            return Attempt(y, ydot, ydot, has_converged=False, num_iterations=MOST_ITERATIONS)
        slopes = (ydot - ydot0) / h, (ydot0 - ydot_before) / (self.t - before)
        bend = (slopes[0] - slopes[1]) / (t - before)  # half of y'''
        return Attempt(y, ydot, trapezoidal - y - h**3 / 6 * bend, num_iterations=i)

    def _third(self, h: float, y: Vector) -> tuple[float, Vector]:
        """Return another time than those at both ends of a step, and ydot then."""
        if self.t_old < self.t:
            return self.t_old, self.ydot_old
        middle = self.t + h / 2
        return middle, self.derivatives(middle, (3 * self.y + y + h * self.ydot) / 4)

    def begin(self, t: float, y: Vector, bound: float) -> None:
        """Compute the derivatives at the start, and qdotdot."""
        super().begin(t, y, bound)
        self._qdotdot = self._known_qdotdot()

    def step(self, bound: float) -> None:
        """Take a step."""
        super().step(bound)
        self._qdotdot = self._known_qdotdot()

    @property
    def last_start(self) -> LastStart | None:
        """Start of the last step, ydot then, and qdotdot at its end."""
        return (self.t_old, self.ydot_old, self._qdotdot) if self.t_old < self.t else None

    def go_on_after(self, last_start: LastStart) -> None:
        """Take the start of the step before."""
        self.t_old, self.ydot_old, self._qdotdot = last_start

    def _new_q(self, t: float, h: float, euler: Vector) -> Vector:
        q, _ = parts_of(self.derivatives)
        if self._qdotdot is not None:
            return np.asarray(euler[q] + h**2 / 2 * self._qdotdot)
        qdot = self.derivatives.qdot(t, euler)
        return np.asarray(self.y[q] + h / 2 * (self.ydot[q] + qdot))

    def _known_qdotdot(self) -> Vector | None:
        """Return qdotdot of the last evaluation, if hooks have filled it; or udot, if qdot is u."""
        q, _ = parts_of(self.derivatives)
        nq = q.stop
        pools = self.derivatives.state._contents.pools
        nu = len(pools.whole["u"])
        u, udot = self.y[nq : nq + nu], self.ydot[nq : nq + nu]
        if np.array_equal(self.ydot[q], u):
            return udot
        qdotdot = pools.whole["qdotdot"].copy()
        return qdotdot if np.isfinite(qdotdot).all() else None
