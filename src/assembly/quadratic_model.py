r"""The step of a Gauss-Newton method with constraints and bounds: a small quadratic problem.

At a point, errors e and goal 1/2 \|r\|² + h are linearised. The step d is

::

    d = n + Z t        n   removes the errors:  E n = -e, the shortest; E = de/dx
                       t   along them, Z = null(E), makes least
                           1/2 |r + J d|² + dh d + 1/2 d B d + 1/2 damping |t|²
    lower <= x + d <= upper

E may have dependent rows: what is below `RANK` of its largest singular value counts as zero.
Bounds are an active set: numbers that would cross theirs are fixed there, at first all at once;
then that which would go inwards the most is let go, one after the other. SciPy's `lsq_linear` is
asked where that goes in circles. Source: Nocedal and Wright,
Numerical Optimization, 2nd ed., 10.3, 16.5, 18.6.
"""

from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv
from scipy.optimize import lsq_linear

Vector = NDArray[np.float64]
Mask = NDArray[np.bool_]

RANK: Final = 1e-8
ROUNDING: Final = 1e-12
MOST_RELEASES: Final = 5


@final
class QuadraticModel:
    """Errors and goal near a point.

    Parameters
    ----------
    errors : (m,) float
    error_jacobian : (m, n) float
    residuals : (k,) float
    residual_jacobian : (k, n) float
    gradient : (n,) float or None
        Of what the goal is more than half the squares of its residuals.
    curvature : (n, n) float or None
        An approximation of the second derivatives of that.
    room : tuple of (n,) float, or None
        How far each number is from its lower bound (0 or less), and from its upper one (0 or more).
    """

    def __init__(
        self,
        errors: Vector,
        error_jacobian: Vector,
        residuals: Vector,
        residual_jacobian: Vector,
        gradient: Vector | None,
        curvature: Vector | None,
        room: tuple[Vector, Vector] | None,
    ) -> None:
        self._e = errors
        self._de = error_jacobian
        self._r = residuals
        self._dr = residual_jacobian
        self._gradient = gradient
        self._curvature = curvature
        self._room = room
        self._split: _Split | None = None
        squares = np.einsum("ij,ij->j", residual_jacobian, residual_jacobian)
        self._scale = float(np.max(squares, initial=0.0))
        if curvature is not None:
            self._scale = max(self._scale, float(np.max(np.diagonal(curvature), initial=0.0)))

    @property
    def is_finite(self) -> bool:
        """Whether all derivatives are."""
        gradient = self._gradient
        return (
            bool(np.isfinite(self._scale))
            and (not len(self._de) or bool(np.isfinite(self._de).all()))
            and (gradient is None or bool(np.isfinite(gradient).all()))
        )

    def step(self, damping: float) -> tuple[Vector, float, float]:
        """Return the step, and what it does to the goal.

        Parameters
        ----------
        damping : float
            0 or more; as a part of the largest second derivative.

        Returns
        -------
        step : (n,) float
        fall : float
            By how much the goal falls along the constraints, to second order.
        rise : float
            By how much it rises, at the same time, as errors are removed.

        Raises
        ------
        numpy.linalg.LinAlgError
            The second derivatives along the constraints are not positive: damp more.
        """
        step = self._bounded(lambda free, d: self._composite(free, d, damping), damping)
        rise = max(0.0, self._change(self.normal_step(0.0))) if len(self._e) else 0.0
        return step, rise - self._change(step), rise

    def normal_step(self, damping: float) -> Vector:
        """Return a step that only makes errors smaller; damped, one to the gradient of |e|²."""
        return self._bounded(lambda free, d: self._normal(free, d, damping), None)

    def errors_after(self, step: Vector) -> Vector:
        """Return the errors there, to first order."""
        found: Vector = self._e + self._de @ step
        return found

    def worth_of(self, errors: float) -> float:
        """By how much errors of that norm change the goal at most, to first order."""
        if not len(self._e) or not self._scale:
            return 0.0
        slope = self._r @ self._dr
        if self._gradient is not None:
            slope = slope + self._gradient
        return errors * self._part(None).multiplier(slope)

    def correction(self, errors: Vector, step: Vector) -> Vector:
        """Return the shortest step that removes errors found after a step, with the same Jacobian.

        What the step has taken to a bound stays there.
        """
        free = None
        if self._room is not None:
            inside = (step > self._room[0]) & (step < self._room[1])
            free = None if inside.all() else inside
        found: Vector = self._part(free).shortest(-errors, 0.0)
        return found

    # ------------------------------------------------------------------ without bounds

    def _composite(self, free: Mask | None, d: Vector, damping: float) -> Vector:
        """The step of the free numbers, where others take that of d."""
        d = self._normal(free, d, 0.0)
        if not self._scale:  # nothing changes the goal
            return d
        z = self._part(free).null_space
        jacobian = self._dr if z is None else self._dr @ z
        size = jacobian.shape[1]
        if not size:
            return d
        is_moved = z is not None or free is not None
        r = self._r + self._dr @ d if is_moved else self._r
        added = damping * self._scale
        slope = None
        if self._gradient is not None:
            slope = (
                self._gradient if self._curvature is None else self._gradient + self._curvature @ d
            )
            slope = slope if z is None else slope @ z
        if slope is None and len(r) < size:
            square = jacobian @ jacobian.T
            square.flat[:: len(r) + 1] += added
            t = -(_solve(square, r) @ jacobian)
        else:
            square = jacobian.T @ jacobian
            if self._curvature is not None:
                square += self._curvature if z is None else z.T @ self._curvature @ z
            square.flat[:: size + 1] += added
            down = -(r @ jacobian)
            if slope is not None:
                down -= slope
            t = _solve(square, down)
        return d + (t if z is None else z @ t)

    def _normal(self, free: Mask | None, d: Vector, damping: float) -> Vector:
        if not len(self._e):
            return d
        errors = self._e if free is None else self._e + self._de @ d
        return d + self._part(free).shortest(-errors, damping)

    def _part(self, free: Mask | None) -> "_Split":
        if free is not None:
            return _Split(self._de, free)
        if self._split is None:
            self._split = _Split(self._de, None)
        return self._split

    # ------------------------------------------------------------------ with bounds

    def _bounded(self, solve: Any, damping: float | None) -> Vector:
        """The step that `solve` finds where bounds are kept."""
        n = self._de.shape[1]
        found: Vector = solve(None, np.zeros(n))
        if self._room is None:
            return found
        lower, upper = self._room
        free, d = np.ones(n, bool), np.zeros(n)
        releases = np.zeros(n, np.intp)
        is_first = True
        while True:
            beyond = np.where(free, np.maximum(lower - found, found - upper), 0.0)
            if beyond.max() > ROUNDING:
                over = beyond > (ROUNDING if is_first else beyond.max() * (1 - 1e-9))
                d[over] = np.clip(found[over], lower[over], upper[over])
                free &= ~over
            else:
                worst = self._held_most(found, free, damping)
                if worst is None:
                    return np.clip(found, lower, upper)
                if releases[worst] == MOST_RELEASES:
                    return self._by_scipy(damping)
                free[worst] = True
                releases[worst] += 1
                d[worst] = 0.0
                is_first = False
            found = solve(free, d) if free.any() else d

    def _change(self, step: Vector) -> float:
        """By how much the goal changes, to second order."""
        change = self._dr @ step
        found = float(change @ (self._r + 0.5 * change))
        if self._gradient is not None:
            found += float(self._gradient @ step)
            if self._curvature is not None:
                found += 0.5 * float(step @ self._curvature @ step)
        return found

    def _held_most(self, step: Vector, free: Mask, damping: float | None) -> int | None:
        """Which number is held where it would go inwards."""
        held = ~free
        if not held.any():
            return None
        left = self.errors_after(step)
        slope = left @ self._de
        if damping is not None and np.linalg.norm(left) <= 1e-9 * (1 + np.linalg.norm(self._e)):
            slope = (self._r + self._dr @ step) @ self._dr + damping * self._scale * step
            if self._gradient is not None:
                slope = slope + self._gradient
                if self._curvature is not None:
                    slope = slope + self._curvature @ step
            if len(self._e):
                multipliers = np.linalg.lstsq(self._de[:, free].T, -slope[free], rcond=RANK)[0]
                slope = slope + multipliers @ self._de
        assert self._room is not None
        outwards = np.where(step <= self._room[0], slope, -slope)
        outwards[~held | (self._room[0] == self._room[1])] = np.inf
        worst = int(np.argmin(outwards))
        return worst if outwards[worst] < -ROUNDING * max(1.0, self._scale) else None

    def _by_scipy(self, damping: float | None) -> Vector:
        """The same by an active set that cannot go in circles, where ours does.

        Errors are residuals of large weight there, so they are removed nearly.
        """
        n = self._de.shape[1]
        weight = 1.0 if damping is None else 1e4 * max(1.0, float(np.sqrt(self._scale)))
        rows, goals = [weight * self._de], [-weight * self._e]
        if damping is not None:
            added = np.sqrt(damping * self._scale)
            rows += [self._dr, added * np.eye(n)]
            goals += [-self._r, np.zeros(n)]
            if self._curvature is not None and self._gradient is not None:
                root = np.asarray(np.linalg.cholesky(self._curvature), np.float64)
                rows.append(root.T)
                goals.append(-np.asarray(np.linalg.solve(root, self._gradient), np.float64))
        assert self._room is not None
        lower, upper = self._room
        is_open = lower < upper
        found = np.where(is_open, 0.0, lower)
        right = np.concatenate(goals) - np.vstack(rows) @ found
        found[is_open] = lsq_linear(
            np.vstack(rows)[:, is_open], right, (lower[is_open], upper[is_open]), method="bvls"
        ).x
        return found


class _Split:
    """The Jacobian of errors by some numbers, split by its singular values."""

    def __init__(self, jacobian: Vector, free: Mask | None) -> None:
        self._free = free
        self._n = jacobian.shape[1]
        self._is_empty = not len(jacobian)
        if self._is_empty:
            return
        some = jacobian if free is None else jacobian[:, free]
        is_wide = some.shape[0] < some.shape[1]  # else vt is whole anyway, and u may be large
        u, s, vt = np.linalg.svd(some, full_matrices=is_wide)
        rank = int(np.count_nonzero(s > RANK * s[0])) if s.size and s[0] > 0 else 0
        self._u, self._s, self._vt = u[:, :rank], s[:rank], vt[:rank]
        self._null = vt[rank:].T

    @property
    def null_space(self) -> Vector | None:
        """An orthonormal basis of the directions along the constraints; None if all are."""
        if self._is_empty and self._free is None:
            return None
        return np.eye(self._n)[:, self._free] if self._is_empty else self._placed(self._null)

    def shortest(self, goal: Vector, damping: float) -> Vector:
        """The shortest change for which the errors change by that; damped, a shorter one."""
        if self._is_empty or not len(self._s):
            return np.zeros(self._n)
        s = self._s
        weights = 1 / s if not damping else s / (s**2 + damping * s[0] ** 2)
        return self._placed(((goal @ self._u) * weights) @ self._vt)

    def multiplier(self, slope: Vector) -> float:
        """The norm of Lagrange's multipliers of a goal with that slope."""
        if self._is_empty:
            return 0.0
        return float(np.linalg.norm((self._vt @ slope) / self._s))

    def _placed(self, some: Vector) -> Vector:
        """Numbers of the free ones, among zeros for others."""
        if self._free is None:
            return some
        found = np.zeros((self._n, *some.shape[1:]))
        found[self._free] = some
        return found


def _solve(matrix: Vector, right: Vector) -> Vector:
    """Solve equations with a positive matrix, by Cholesky.

    Raises
    ------
    numpy.linalg.LinAlgError
    """
    _, found, info = dposv(matrix, right)
    if info:
        raise np.linalg.LinAlgError("not positive")
    solution: Vector = found
    return solution
