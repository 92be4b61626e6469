r"""Sequential quadratic programming for least squares: the method that is tried first.

Two phases, distinguished by the errors at the point::

    errors too large    steps make them smaller; the goal is asked for, but may rise
    errors small        steps make the goal smaller, and errors stay small: where a step leaves the
                        constraints, corrections with the same Jacobian bring it back

So a start that satisfies the errors is never left for a point that does not, or whose goal is
worse. A step that is not good enough is corrected, by what was found at its end, and else tried
again with more damping (Levenberg, Marquardt).

**Second derivatives.** Far from the least goal, the approximation of Gauss and Newton will do: it
needs only first derivatives of residuals. Goals without residuals get BFGS with Powell's damping.
Nearer, the true second derivatives of the Lagrangian are used: steps become steps of Newton's
method, and a saddle is distinguished from a minimum.

**The end.** The quadratic model m is minimized with so much damping that it bounds the decrease
within `RADIUS`, R; if H + d is positive along the constraints, then for each step s that is no
longer than R::

    -m(s)  <=  -m(s) - d/2 |s|² + d/2 R²  <=  g (H + d)^-1 g / 2  +  d/2 R²

With d = accuracy * goal / R², a half of the accuracy is left for the first part, the decrease that
the model predicts for the damped step. The model may be wrong where valleys are curved: there,
predicted decreases stay about as large from step to step. So the prediction must be a hundredth of
that half, unless predicted decreases shrink fast. Saddles where the model has negative second
derivatives are left along these, if that makes the goal smaller.

Numbers are scaled so that 1 is a natural length for each; see `scales`.

Sources: Nocedal and Wright, Numerical Optimization, 2nd ed., chapters 3, 4, 10 and 18; Abadie and
Carpentier's generalized reduced gradient; the bound is in Moré and Sorensen, Computing a Trust
Region Step, SIAM J. Sci. Stat. Comput. 4 (1983); corrections by the residuals that were found are
the geodesic acceleration of Transtrum and Sethna, arXiv:1201.5885, with a finite step.
"""

from collections.abc import Callable
from typing import Final, Protocol, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from stagecache.numerics.quadratic_model import QuadraticModel, Step

Vector = NDArray[np.float64]

RADIUS: Final = 10.0
"""The length of steps for which the end is proved."""

SLOW: Final = 100.0
"""Steps that may follow with a predicted decrease as large as the last, if it does not shrink."""

ZERO: Final = 1e-10
"""A goal is zero if residuals are as small as a step of that length makes them."""

ROUNDING: Final = 1e-14
"""Residuals up to this part of the largest number come from rounding, and count as zero."""

NEAR: Final = 0.3
"""Part of the goal: a step whose predicted decrease is smaller needs true second derivatives."""

FAST: Final = 0.1
"""Unless predicted decreases shrink by this factor."""

LEAST_DAMPING: Final = 1e-14
"""Damping of all steps: numbers on which nothing depends stay."""

FIRST_DAMPING: Final = 1e-9
"""The least damping of the first step."""

LITTLE_DAMPING: Final = 1e-7
"""A step with that damping goes about as far as one without."""

MOST_DAMPING: Final = 1e8

ENOUGH: Final = 1e-4
"""Part of the predicted decrease that must come true."""

LONG: Final = 1.0
LONG_DAMPING: Final = 0.1
"""A step in which a number changes by more is long, mostly as its direction is nearly singular. By
Gauss and Newton it is damped that much at most, as what is far away must be reached, too."""

LONG_ENOUGH: Final = 0.25
"""Part of the decrease that must come true of a long step."""

GOOD: Final = 0.75
"""Part of the decrease above which a step needs no correction."""

MOST_CORRECTIONS: Final = 6
WELL_WITHIN: Final = 0.1
"""Corrections go on to that part of the tolerance: errors change the goal, too."""

STALLED: Final = 1e-6
"""Part by which a step must make errors smaller."""

FEW: Final = 4
PROBES: Final = 2
HARDLY: Final = 0.02
"""Second derivatives that take differences are probed along two random directions first, if there
are more than `FEW`. Where they change the others by no larger part, they are left out. (Two probes
miss a single one of size 0.9 with a probability of 4e-4.)"""


class Point(Protocol):
    """The values at some x."""

    @property
    def x(self) -> Vector:
        """(n,)."""

    @property
    def errors(self) -> Vector:
        """(m,): to become zero."""

    @property
    def residuals(self) -> Vector:
        """(k,): half the sum of their squares is a part of the goal."""

    @property
    def goal(self) -> float:
        """Number to become least."""

    @property
    def error_norm(self) -> float:
        """The norm of the errors that the tolerance is for."""


class Derivatives(Protocol):
    """The first derivatives at some x."""

    @property
    def error_jacobian(self) -> Vector:
        """(m, n)."""

    @property
    def residual_jacobian(self) -> Vector:
        """(k, n)."""

    @property
    def other_gradient(self) -> Vector | None:
        """(n,): the gradient of the goal without half the squares of residuals."""


class Curvature(Protocol):
    """Second derivatives at some x."""

    @property
    def known(self) -> Vector | None:
        """(n, n): those that are known; None where these are 0."""

    @property
    def rest(self) -> Callable[[Vector], Vector] | None:
        """A function that finds the others along directions (n, p), as (n, p); None without any."""


class Problem(Protocol):
    """Errors that must vanish, and a goal to be minimized."""

    @property
    def lower(self) -> Vector:
        """(n,): bounds of x."""

    @property
    def upper(self) -> Vector:
        """(n,)."""

    def move_to(self, x: Vector) -> Point:
        """Return the values at some x."""

    def derivatives(self) -> Derivatives:
        """Return the derivatives where it was moved to last."""

    def curvature(self, residuals: Vector, multipliers: Vector) -> Curvature:
        """Return the second derivatives there of the other goal, and of residuals and errors.

        Second derivatives of residuals and errors are added, each times a factor.
        """


Report = Callable[[Point], object] | None
"""Called with each point that a step leads to, if it is not None."""


@frozen
class Solution:
    """The end of a descent.

    Attributes
    ----------
    point : Point
        The best one that was found. The problem may have been moved elsewhere since.
    has_converged : bool
        The errors are within the tolerance, and the goal is greater than its least value nearby by
        no larger part than the accuracy.
    num_iterations : int
    damping : float
        The damping of the last step; a descent nearby may begin with it.
    """

    point: Point
    has_converged: bool
    num_iterations: int
    damping: float = 0.0


@final
class Descent:
    """A problem on its way to the least goal.

    Parameters
    ----------
    problem : Problem
    point : Point
        The point to which it was moved last, within the bounds.
    tolerance : float
        The error norm up to which errors are small.
    accuracy : float
        Part of the least goal by which the goal may be greater. A goal that is zero, but for
        residuals of the size `ZERO` and for rounding, is always small enough.
    damping : float
        The first damping, as from a solution nearby.
    report : callable, optional
        Called with each point that a step leads to.

    Notes
    -----
    It ends without having converged where derivatives are not finite. Errors of the problem are not
    caught.
    """

    def __init__(
        self,
        problem: Problem,
        point: Point,
        *,
        tolerance: float,
        accuracy: float,
        damping: float = 0.0,
        report: Report = None,
    ) -> None:
        self._problem = problem
        self._point = self._start = self._here = point
        self._tolerance = tolerance
        self._accuracy = accuracy
        self._report = report
        self._lower, self._upper = problem.lower, problem.upper
        finite = np.isfinite(self._lower).any() or np.isfinite(self._upper).any()
        self._has_bounds = bool(finite)
        self._damping = max(FIRST_DAMPING, damping)
        self._growth = 2.0
        self._predicted = 0.0  # of the last step, if it was hardly damped; else 0
        self._reach = np.inf  # how long a step without damping may be
        self._is_near = False  # whether true second derivatives are needed
        self._zero = 0.0  # the goal that counts as zero
        self._price = 0.0  # by how much errors of length 1 change the goal
        self._bfgs: Vector | None = None
        self._before: tuple[Vector, Vector] | None = None  # x and the gradient of the other goal
        self._random: np.random.Generator | None = None  # it takes 20 us to make

    def run(self, most_iterations: int) -> Solution:
        """Step until the goal is least, or nothing improves. The problem may be left anywhere."""
        iterations = 0
        has_converged = False
        while iterations < most_iterations and np.isfinite(self._point.goal):
            is_satisfied = self._point.error_norm <= self._tolerance
            if is_satisfied and 0.0 <= self._point.goal <= self._zero:
                has_converged = True
                break
            model = self._model()
            if not model.is_finite:
                break
            iterations += 1
            before = self._point
            goes_on = self._less_goal(model) if is_satisfied else self._less_errors(model)
            if self._report is not None and self._point is not before:
                self._return()
                self._report(self._point)
            if not goes_on:
                has_converged = goes_on is None
                break
        start = self._start
        if start.error_norm <= self._tolerance and not self._point.goal <= start.goal:
            self._point = start  # whose errors, though small, made its goal smaller
        return Solution(self._point, has_converged, iterations, self._damping)

    # ------------------------------------------------------------------ smaller errors

    def _less_errors(self, model: QuadraticModel) -> bool:
        """Make a step to smaller errors; return False if none was found."""
        point = self._point
        size = float(np.linalg.norm(point.errors))
        damping, composite = 0.0, _step(model, max(self._damping, LITTLE_DAMPING))
        while damping <= MOST_DAMPING:
            step = model.normal_step(damping)
            is_long = np.max(np.abs(step), initial=0.0) > LONG
            if not is_long or damping >= LONG_DAMPING:
                gain = size - float(np.linalg.norm(model.errors_after(step)))
                if gain <= STALLED * size:
                    return False
                if not damping and composite and self._goes(composite.change, size, gain / 2):
                    return True
                if self._goes(step, size, ENOUGH * gain):
                    return True
            damping = max(10 * damping, 1e-6)
        return False

    def _goes(self, step: Vector, size: float, gain: float) -> bool:
        """Take the step if it reduces the errors by `gain`, or leaves them within tolerance."""
        found = self._move_to(self._point.x + step)
        is_smaller = float(np.linalg.norm(found.errors)) <= size - gain
        if not (is_smaller or found.error_norm <= self._tolerance) or not np.isfinite(found.goal):
            return False
        self._point = found
        return True

    # ------------------------------------------------------------------ a smaller goal

    def _less_goal(self, model: QuadraticModel) -> bool | None:
        """Make a step to a smaller goal; False if none was found, None if the goal is least."""
        predicted, self._predicted = self._predicted, 0.0
        if not self._is_near:
            step = _step(model, self._damping)
            is_fast = step is not None and (not predicted or step.fall < FAST * predicted)
            is_fast = is_fast and self._damping <= LITTLE_DAMPING
            worth = self._enough if is_fast else NEAR * self._point.goal
            if self._goes_down_damped(model, step, worth):
                return True
        model = self._with_second_derivatives(model)
        if not model.is_finite:
            return False
        damping = self._least_damping(model)
        step = _step(model, damping)
        if step is None:
            goal = self._point.goal
            value, direction = model.most_downward()
            damping = 2 * abs(value) / model.scale
            step = _step(model, damping)
            is_flat = step is None or step.fall <= self._enough
            if is_flat and self._leaves_saddle(model, direction, damping):
                if goal - self._point.goal > self._enough / SLOW:
                    return True
                model = self._with_second_derivatives(self._model())
                step = _step(model, damping)
        if step is not None:
            slowness = min(1.0, step.fall / predicted) if predicted else 1.0
            if step.fall * (1 + SLOW * slowness) <= self._enough:
                return None
            self._is_near = step.fall <= NEAR * self._point.goal
            if self._goes_down_undamped(model, step, damping):
                return True
        start = self._point.x
        if not self._goes_down_damped(model, _step(model, self._damping)):
            return False
        self._reach = 4 * float(np.linalg.norm(self._point.x - start))
        return True

    @property
    def _enough(self) -> float:
        """The decrease of the model that may be left."""
        return self._accuracy / 2 * self._point.goal

    def _least_damping(self, model: QuadraticModel) -> float:
        """Return the damping for which the end is proved."""
        if not model.scale:
            return LEAST_DAMPING
        return max(LEAST_DAMPING, 2 * self._enough / RADIUS**2 / model.scale)

    def _goes_down_undamped(self, model: QuadraticModel, step: Step, damping: float) -> bool:
        """Go there if the goal falls, unless steps of that length are known to fail."""
        length = float(np.linalg.norm(step.change))
        if length > self._reach:
            return False
        truth = self._goes_down(model, step, damping)
        if truth is None:
            return False
        self._reach = (4 if truth > GOOD else 1) * length
        self._predicted = step.fall
        return True

    def _goes_down_damped(
        self, model: QuadraticModel, step: Step | None, worth: float = 0.0
    ) -> bool:
        """Go there with enough damping; False once the predicted decrease is less than a worth."""
        self._growth = 2.0
        while self._damping <= MOST_DAMPING:
            if step is not None:
                if step.fall < worth:
                    return False
                damping = self._damping
                is_short = damping >= LONG_DAMPING or not step.is_longer(LONG)
                if is_short and self._goes_down(model, step, damping) is not None:
                    self._predicted = step.fall if damping <= LITTLE_DAMPING else 0.0
                    return True
            self._damping = max(self._growth * self._damping, FIRST_DAMPING / 100)
            self._growth *= 2
            step = _step(model, self._damping)
        return False

    def _goes_down(self, model: QuadraticModel, step: Step, damping: float) -> float | None:
        """Go there if the goal falls; return the part of the predicted decrease, or None.

        The step is corrected while its errors are too large; and once by the residuals found at its
        end, if it is not good.
        """
        start, change = self._point, step.change
        best, truth = start, 0.0
        size, is_corrected = np.inf, not len(start.residuals)
        for _ in range(MOST_CORRECTIONS if step.fall > 0 else 0):
            found = self._move_to(start.x + change)
            if not np.isfinite(found.goal):
                break
            if found.error_norm <= self._tolerance and (best is start or found.goal < best.goal):
                best = found
                truth = (start.goal + step.rise - found.goal) / step.fall
            before, size = size, float(np.linalg.norm(found.errors))
            if self._is_feasible(found, size):
                if is_corrected or truth > GOOD:
                    break
            elif not size < 0.5 * before:
                break
            is_corrected = True
            try:
                change = change + model.correction(change, found.errors, found.residuals, damping)
            except np.linalg.LinAlgError:
                break
        least = LONG_ENOUGH if step.is_longer(LONG) else ENOUGH
        if best is start or not truth >= least:
            return None
        factor = max(0.1, 1 - (2 * min(truth, 1.0) - 1) ** 3)  # Nielsen
        self._damping = max(LEAST_DAMPING, factor * self._damping)
        self._point = best
        return truth

    def _is_feasible(self, point: Point, size: float) -> bool:
        """Tell whether errors of that length are so small that they hardly change the goal."""
        if point.error_norm > WELL_WITHIN * self._tolerance:
            return False
        return self._price * size <= WELL_WITHIN * self._accuracy / 2 * point.goal

    def _leaves_saddle(self, model: QuadraticModel, direction: Vector, damping: float) -> bool:
        """Go along a direction in which the slope falls, one way or the other, if the goal does."""
        length = 1.0
        while True:
            steps = [model.along(sign * length * direction) for sign in (1.0, -1.0)]
            if steps[0].fall <= self._enough / SLOW:
                return False
            if any(self._goes_down(model, step, damping) is not None for step in steps):
                return True
            length /= 4

    def _move_to(self, x: Vector) -> Point:
        """Move the problem there, or as near as the bounds allow."""
        within = np.clip(x, self._lower, self._upper) if self._has_bounds else x
        self._here = self._problem.move_to(within)
        return self._here

    def _return(self) -> None:
        """Move the problem to the point, unless it is there."""
        if self._here is not self._point:
            self._point = self._move_to(self._point.x)

    # ------------------------------------------------------------------ the model

    def _model(self) -> QuadraticModel:
        """Return the quadratic model at the point by Gauss and Newton, and BFGS."""
        self._return()
        derivatives = self._problem.derivatives()
        point, gradient = self._point, derivatives.other_gradient
        if gradient is not None:
            self._update_bfgs(point.x, gradient)
        room = (self._lower - point.x, self._upper - point.x) if self._has_bounds else None
        model = QuadraticModel(
            point.errors,
            derivatives.error_jacobian,
            point.residuals,
            derivatives.residual_jacobian,
            gradient,
            self._bfgs,
            room,
        )
        rounding = ROUNDING * float(np.max(np.abs(point.x), initial=0.0))
        self._zero = model.scale * max(ZERO, rounding) ** 2 / 2
        return model

    def _with_second_derivatives(self, model: QuadraticModel) -> QuadraticModel:
        """Return the model with the true second derivatives of the Lagrangian.

        Residuals and multipliers are those to which a step of Gauss and Newton would lead. Where
        the goal can be made smaller to first order, that leaves its second derivatives along
        valleys which are curved as they would be on their floor; and at the end, it is the same.
        """
        self._return()
        residuals, multipliers = model.ahead()
        self._price = float(np.linalg.norm(multipliers))
        curvature = self._problem.curvature(residuals, multipliers)
        model, rest = model.with_curvature(curvature.known), curvature.rest
        if rest is None or not model.is_finite:
            return model
        z = model.along_constraints()
        if self._bfgs is None and z.shape[1] > FEW and self._bends_hardly(model, rest, z):
            return model
        found = z.T @ rest(z)
        found = z @ (found + found.T) @ z.T / 2
        return model.with_curvature(found if curvature.known is None else found + curvature.known)

    def _bends_hardly(
        self, model: QuadraticModel, rest: Callable[[Vector], Vector], z: Vector
    ) -> bool:
        """Tell whether the rest of second derivatives is small beside the others, where both count.

        With the others H = L L', that is the size of L^-1 rest L^-T, along random directions.
        """
        square = model.second_derivatives(z)
        square.flat[:: len(square) + 1] += self._least_damping(model) * model.scale
        try:
            root = np.linalg.cholesky(square)
        except np.linalg.LinAlgError:
            return False
        self._random = self._random or np.random.default_rng(0)
        random = self._random.normal(size=(z.shape[1], PROBES))
        along = np.linalg.solve(root.T, random)
        lengths = np.linalg.norm(along, axis=0)
        bent = np.linalg.solve(root, z.T @ rest(z @ (along / lengths))) * lengths
        sizes = np.linalg.norm(bent, axis=0) / np.linalg.norm(random, axis=0)
        return bool(sizes.max() <= HARDLY)

    def _update_bfgs(self, x: Vector, gradient: Vector) -> None:
        """Damped BFGS: Nocedal and Wright, procedure 18.2."""
        if self._bfgs is None:
            self._bfgs = (float(np.linalg.norm(gradient)) or 1.0) * np.eye(len(x))
        elif self._before is not None:
            s, y = x - self._before[0], gradient - self._before[1]
            bs = self._bfgs @ s
            curve, own = float(s @ bs), float(s @ y)
            if curve > 0:
                part = 1.0 if own >= 0.2 * curve else 0.8 * curve / (curve - own)
                r = part * y + (1 - part) * bs
                self._bfgs = self._bfgs - np.outer(bs, bs) / curve + np.outer(r, r) / float(s @ r)
        self._before = (x, gradient)


def _step(model: QuadraticModel, damping: float) -> Step | None:
    """Return the step of a model; None if its second derivatives are not positive: damp more."""
    try:
        return model.step(damping)
    except np.linalg.LinAlgError:
        return None
