r"""The step of a Newton method with constraints and bounds: a small quadratic problem.

At a point, errors e are linearised, and the goal 1/2 \|r\|² + h is taken to second order. The step
d is

::

    d = n + Z t        n   removes the errors:  E n = -e, the shortest; E = de/dx
                       t   along them, Z = null(E), minimizes
                           1/2 |r + J d|² + dh d + 1/2 d C d + 1/2 damping |t|²
    lower <= x + d <= upper

C are the second derivatives that do not follow from J. Without them this is a Gauss-Newton step.

E may have dependent rows: singular values below `RANK` of the largest one count as zero. Bounds are
an active set: at first, numbers at a bound against which the goal presses them are held; numbers
that would cross a bound are held there as well, and the one that would go inwards the most is
released, one after the other. SciPy's `lsq_linear` takes over where that goes in circles. Source:
Nocedal and Wright, Numerical Optimization, 2nd ed., 10.3, 16.5, 18.6.
"""

from typing import Any, Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.linalg.lapack import dposv
from scipy.optimize import lsq_linear

Vector = NDArray[np.float64]
Mask = NDArray[np.bool_]

RANK: Final = 1e-8
ROUNDING: Final = 1e-12
MOST_RELEASES: Final = 5


class Step(NamedTuple):
    """A step of the model.

    Attributes
    ----------
    change : (n,) float
    fall : float
        The decrease of the goal along the constraints, to second order.
    rise : float
        Its simultaneous increase, as errors are removed.
    """

    change: Vector
    fall: float
    rise: float

    def is_longer(self, length: float) -> bool:
        """Tell whether any number changes by more than a length."""
        return len(self.change) > 0 and bool(abs(self.change).max() > length)


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
        The gradient of the goal without half the squares of its residuals.
    curvature : (n, n) float or None
        C: second derivatives in addition to those of the residual Jacobian; symmetric.
    room : tuple of (n,) float, or None
        The distances to the lower bounds (0 or less), and to the upper ones (0 or more).
    scale : float, optional
        Of a model with the same derivatives of the residuals, and the same C.

    Attributes
    ----------
    scale : float
        The largest second derivative by one number.
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
        scale: float | None = None,
    ) -> None:
        self._e = errors
        self._de = error_jacobian
        self._r = residuals
        self._dr = residual_jacobian
        self._gradient = gradient
        self._curvature = curvature
        self._room = room
        self._split: _Split | None = None
        if scale is None:
            squares = np.einsum("ij,ij->j", residual_jacobian, residual_jacobian)
            scale = float(np.max(squares, initial=0.0))
            if curvature is not None:
                own = np.abs(np.diagonal(curvature))
                scale = max(scale, float(np.max(own, initial=0.0)))
        self.scale = scale

    def with_curvature(self, curvature: Vector | None) -> "QuadraticModel":
        """Return the same model with another C."""
        twin = QuadraticModel(
            self._e, self._de, self._r, self._dr, self._gradient, curvature, self._room
        )
        twin._split = self._split
        return twin

    @property
    def is_finite(self) -> bool:
        """True if all derivatives are finite."""
        gradient = self._gradient
        return (
            bool(np.isfinite(self.scale))
            and (not len(self._de) or bool(np.isfinite(self._de).all()))
            and (gradient is None or bool(np.isfinite(gradient).all()))
        )

    def step(self, damping: float) -> Step:
        """Return the step, and the change of the goal that it predicts.

        Parameters
        ----------
        damping : float
            0 or more; as a part of the largest second derivative.

        Raises
        ------
        numpy.linalg.LinAlgError
            The second derivatives along the constraints are not positive: damp more.
        """
        change = self.change(damping)
        rise = max(0.0, self._change(self.normal_step(0.0))) if len(self._e) else 0.0
        return Step(change, rise - self._change(change), rise)

    def change(self, damping: float) -> Vector:
        """Return the change of that step alone. Raises LinAlgError likewise."""
        return self._bounded(lambda free, d: self._composite(free, d, damping), damping)

    def normal_step(self, damping: float) -> Vector:
        """Return a step that only makes errors smaller; damped, one to the gradient of |e|²."""
        return self._bounded(lambda free, d: self._normal(free, d, damping), None)

    def errors_after(self, step: Vector) -> Vector:
        """Return the errors there, to first order."""
        found: Vector = self._e + self._de @ step
        return found

    def ahead(self) -> tuple[Vector, Vector]:
        """Return residuals (k,) and Lagrange's multipliers (m,) as a damped step would make them.

        It is a step of Gauss and Newton along all numbers, damped so that it removes what it can of
        the residuals where their own derivatives count more than the curvature that they cause.
        """
        r, jacobian = self._r, self._dr
        if len(r) and self.scale:
            added = max(float(np.sqrt(r @ r * self.scale)), ROUNDING * self.scale)
            square = jacobian.T @ jacobian if len(r) > len(jacobian.T) else jacobian @ jacobian.T
            square.flat[:: len(square) + 1] += added
            if len(r) > len(square):
                r = r - jacobian @ _solved(square, r @ jacobian)
            else:
                r = added * _solved(square, r)
        if not len(self._e):
            return r, self._e
        slope = r @ jacobian
        if self._gradient is not None:
            slope = slope + self._gradient
        return r, self._part(self._free_at_start()).multipliers(-slope)

    def correction(
        self, change: Vector, errors: Vector, residuals: Vector, damping: float
    ) -> Vector:
        """Return a second step, (n,), for errors and residuals found after a first one.

        Derivatives are taken from the first one. Both together make least what they would together,
        if errors and residuals were off by as much everywhere.
        """
        gradient = damping * self.scale * change
        if self._gradient is not None:
            gradient += self._gradient
        if self._curvature is not None:
            gradient += self._curvature @ change
        room = None if self._room is None else (self._room[0] - change, self._room[1] - change)
        twin = QuadraticModel(
            errors, self._de, residuals, self._dr, gradient, self._curvature, room, self.scale
        )
        twin._split = self._split
        return twin.change(damping)

    def along_constraints(self) -> Vector:
        """Return an orthonormal basis of all directions along the constraints, (n, p)."""
        basis = self._part(None).null_space
        return np.eye(self._de.shape[1]) if basis is None else basis

    def second_derivatives(self, directions: Vector) -> Vector:
        """Return the second derivatives of the goal along directions (n, p): (p, p)."""
        jacobian = self._dr @ directions
        found: Vector = jacobian.T @ jacobian
        if self._curvature is not None:
            found += directions.T @ self._curvature @ directions
        return found

    def along(self, change: Vector) -> Step:
        """Return a given step, with the change of the goal that it predicts."""
        return Step(change, -self._change(change), 0.0)

    def most_downward(self) -> tuple[float, Vector]:
        """Return the least second derivative along the constraints, and its direction, (n,).

        Numbers that the goal presses against their bounds are held. The direction has length 1, and
        does not go uphill.
        """
        z = self._part(self._free_at_start()).null_space
        z = np.eye(self._de.shape[1]) if z is None else z
        square = self.second_derivatives(z)
        values, vectors = eigh(square, subset_by_index=[0, 0], driver="evx", check_finite=False)
        direction: Vector = z @ vectors[:, 0]
        return float(values[0]), -direction if self._slope @ direction > 0 else direction

    # ------------------------------------------------------------------ without bounds

    @property
    def _slope(self) -> Vector:
        """The gradient of the goal."""
        found: Vector = self._r @ self._dr
        return found if self._gradient is None else found + self._gradient

    def _composite(self, free: Mask | None, d: Vector, damping: float) -> Vector:
        """Return the step of the free numbers, where the others take their step in d."""
        d = self._normal(free, d, 0.0)
        if not self.scale:  # nothing changes the goal
            return d
        z = self._part(free).null_space
        jacobian = self._dr if z is None else self._dr @ z
        size = jacobian.shape[1]
        if not size:
            return d
        is_moved = z is not None or free is not None
        r = self._r + self._dr @ d if is_moved else self._r
        added = damping * self.scale
        curvature, slope = self._curvature, self._gradient
        if curvature is None and slope is None and len(r) < size:
            square = jacobian @ jacobian.T
            square.flat[:: len(r) + 1] += added
            t = -(_solved(square, r) @ jacobian)
        else:
            square = jacobian.T @ jacobian
            down = -(r @ jacobian)
            if curvature is not None:
                square += curvature if z is None else z.T @ curvature @ z
                bent = curvature @ d
                slope = bent if slope is None else slope + bent
            if slope is not None:
                down -= slope if z is None else slope @ z
            square.flat[:: size + 1] += added
            t = _solved(square, down)
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
        """Return the step that `solve` finds within the bounds."""
        n = self._de.shape[1]
        d = np.zeros(n)
        if self._room is None:
            alone: Vector = solve(None, d) if n else d
            return alone
        held = None if damping is None else self._free_at_start()
        free = np.ones(n, bool) if held is None else held
        found: Vector = solve(held, d) if free.any() else d
        lower, upper = self._room
        releases = np.zeros(n, np.intp)
        is_first = True
        while True:
            beyond = np.where(free, np.maximum(lower - found, found - upper), 0.0)
            if beyond.max() > ROUNDING:
                over = beyond > (ROUNDING if is_first else beyond.max() * (1 - 1e-9))
                d[over] = np.clip(found[over], lower[over], upper[over])
                free = free & ~over
            else:
                worst = self._held_most(found, free, damping)
                if worst is None:
                    return np.clip(found, lower, upper)
                if releases[worst] == MOST_RELEASES:
                    return self._by_scipy(damping)
                free = free.copy()
                free[worst] = True
                releases[worst] += 1
                d[worst] = 0.0
                is_first = False
            found = solve(free, d) if free.any() else d

    def _free_at_start(self) -> Mask | None:
        """All numbers but those that the goal presses against a bound; None for all."""
        if self._room is None:
            return None
        is_low, is_high = self._room[0] >= 0.0, self._room[1] <= 0.0
        is_inside = ~(is_low | is_high)
        if is_inside.all():
            return None
        slope = self._slope
        if len(self._e):
            slope = slope + self._part(is_inside).multipliers(-slope) @ self._de
        return ~((is_low & is_high) | (is_low & (slope > 0.0)) | (is_high & (slope < 0.0)))

    def _change(self, step: Vector) -> float:
        """Return the change of the goal, to second order."""
        change = self._dr @ step
        found = float(change @ (self._r + 0.5 * change))
        if self._gradient is not None:
            found += float(self._gradient @ step)
        if self._curvature is not None:
            found += 0.5 * float(step @ self._curvature @ step)
        return found

    def _held_most(self, step: Vector, free: Mask, damping: float | None) -> int | None:
        """Return the number that is held although it would go inwards."""
        held = ~free
        if not held.any():
            return None
        left = self.errors_after(step)
        reach = np.abs(self._e) + np.abs(self._de) @ np.abs(step)
        slope, size = left @ self._de, reach @ np.abs(self._de)
        if damping is not None and np.linalg.norm(left) <= 1e-9 * np.linalg.norm(reach):
            r = self._r + self._dr @ step
            slope = r @ self._dr + damping * self.scale * step
            size = np.abs(r) @ np.abs(self._dr)
            if self._gradient is not None:
                slope = slope + self._gradient
                size = size + np.abs(self._gradient)
            if self._curvature is not None:
                slope = slope + self._curvature @ step
            if len(self._e):
                slope = slope + self._part(free).multipliers(-slope) @ self._de
        assert self._room is not None
        outwards = np.where(step <= self._room[0], slope, -slope)
        outwards[~held | (self._room[0] == self._room[1])] = np.inf
        worst = int(np.argmin(outwards))
        return worst if outwards[worst] < -ROUNDING * float(size.max()) else None

    def _by_scipy(self, damping: float | None) -> Vector:
        """Return the same by an active set that cannot go in circles, where ours does.

        Errors are residuals of large weight there, so they are removed nearly.
        """
        n = self._de.shape[1]
        weight, rows, goals = 1.0, [], []
        if damping is not None and self.scale:
            square = self.second_derivatives(np.eye(n))
            square.flat[:: n + 1] += damping * self.scale
            root = np.asarray(np.linalg.cholesky(square), np.float64)
            rows.append(root.T)
            goals.append(-np.asarray(np.linalg.solve(root, self._slope), np.float64))
            if len(self._de):
                weight = 1e4 * float(np.sqrt(self.scale)) / float(np.abs(self._de).max() or 1.0)
        rows.append(weight * self._de)
        goals.append(-weight * self._e)
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
        self._m = len(jacobian)
        if not self._m:
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
        if not self._m and self._free is None:
            return None
        return np.eye(self._n)[:, self._free] if not self._m else self._placed(self._null)

    def shortest(self, goal: Vector, damping: float) -> Vector:
        """Return the shortest change for which the errors change by that; damped, a shorter one."""
        if not self._m or not len(self._s):
            return np.zeros(self._n)
        s = self._s
        weights = 1 / s if not damping else s / (s**2 + damping * s[0] ** 2)
        return self._placed(((goal @ self._u) * weights) @ self._vt)

    def multipliers(self, slope: Vector) -> Vector:
        """Return the smallest factors (m,) of rows whose sum is nearest to a slope."""
        if not self._m or not len(self._s):
            return np.zeros(self._m)
        free = slope if self._free is None else slope[self._free]
        found: Vector = self._u @ ((self._vt @ free) / self._s)
        return found

    def _placed(self, some: Vector) -> Vector:
        """Return numbers of the free variables, with zeros for the others."""
        if self._free is None:
            return some
        found = np.zeros((self._n, *some.shape[1:]))
        found[self._free] = some
        return found


def _solved(matrix: Vector, right: Vector) -> Vector:
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
