r"""Sequential quadratic programming for least squares: what is tried first.

Two phases, told apart by the errors of the point where one is::

    errors too large    steps make them smaller; the goal is asked for, but may rise
    errors small        steps make the goal smaller, and errors stay small: where a step leaves the
                        constraints, corrections with the same Jacobian bring it back

So a start that satisfies the errors is never left for a point that does not, or whose goal is
worse. A step that is not good enough is tried again with more damping (Levenberg, Marquardt). The
first derivatives of residuals stand for the second ones of the goal; of what is no sum of squares,
these are approximated by BFGS with Powell's damping. Sources: Nocedal and Wright, Numerical
Optimization, 2nd ed., chapters 10 and 18; Abadie and Carpentier's generalized reduced gradient.
"""

from collections.abc import Callable
from typing import Final, Protocol, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from stagecache.assembly.quadratic_model import QuadraticModel

Vector = NDArray[np.float64]

LEAST_DAMPING: Final = 1e-7
"""Always: where nothing depends on some numbers, they stay."""

HIDING: Final = 1e-6
"""Damping that may hide what there is to gain, where second derivatives differ by that factor."""

MODERATE_DAMPING: Final = 10.0
"""Up to it, a step that promises nothing tells that there is nothing to gain."""

MOST_DAMPING: Final = 1e8
ENOUGH: Final = 1e-4
"""Which part of the decrease that is predicted must come true."""

LONG: Final = 1.0
LONG_DAMPING: Final = 0.1
"""A number that changes by more [rad or m] does so for its direction is nearly singular, mostly. So
such steps are damped that much at most: what is far away is reached nevertheless."""

MOST_CORRECTIONS: Final = 6
WELL_WITHIN: Final = 0.1
"""Corrections go on to that part of the tolerance: errors change the goal, too."""

STALLED: Final = 1e-6
"""Steps that make errors smaller by no larger part lead nowhere."""


class Point(Protocol):
    """What is known at some x."""

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
        """To become least."""

    @property
    def error_norm(self) -> float:
        """Which the tolerance is for."""


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
        """(n,): of what the goal is more than half the squares of residuals."""


class Problem(Protocol):
    """Errors that must vanish, and a goal to make least."""

    @property
    def lower(self) -> Vector:
        """(n,): bounds of x."""

    @property
    def upper(self) -> Vector:
        """(n,)."""

    def move_to(self, x: Vector) -> Point:
        """Return what there is at some x."""

    def derivatives(self) -> Derivatives:
        """Return the derivatives where it was moved to last."""


Report = Callable[[Point], object] | None
"""What is called with each point that a step leads to, if anything is."""


@frozen
class Solution:
    """How a descent ended.

    Attributes
    ----------
    point : Point
        The best one that was found. The problem may have been moved elsewhere since.
    has_converged : bool
        The errors are within the tolerance, and no step would make the goal smaller by more than
        the accuracy.
    num_iterations : int
    damping : float
        That of the last step, with which a descent nearby may begin.
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
        Where it was moved to last, within the bounds.
    tolerance : float
        Up to which error norm errors are small.
    accuracy : float
        Which part of the goal may be left. The last step is one after which no more than that is
        expected, if promises go on to shrink as they did (100 times at the most; and they are less
        than 1e-2 of the goal), or one that promises less than 1e-4 of the accuracy. Where the goal
        is no sum of squares, promises are not expected to shrink.
    damping : float
        With which to begin; that of the solution nearby. If it is 0, as nothing is known, steps
        that promise little for their damping only are not the last ones.
    report : callable, optional
        Called with each point that a step leads to.

    Notes
    -----
    Where derivatives are not finite it ends, without having converged. What the problem raises
    comes through.
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
        self._nothing = 0.5 * (WELL_WITHIN * tolerance) ** 2
        self._lower, self._upper = problem.lower, problem.upper
        finite = np.isfinite(self._lower).any() or np.isfinite(self._upper).any()
        self._has_bounds = bool(finite)
        self._damping = max(LEAST_DAMPING, damping)
        self._looks_behind_damping = not damping
        self._growth = 2.0
        self._fall = np.inf  # what the step before promised
        self._curvature: Vector | None = None
        self._before: tuple[Vector, Vector] | None = None  # x and the gradient of the other goal

    def run(self, most_iterations: int) -> Solution:
        """Go as far as it leads. Where the problem is afterwards is not defined."""
        iterations = 0
        has_converged = False
        while iterations < most_iterations and np.isfinite(self._point.goal):
            is_satisfied = self._point.error_norm <= self._tolerance
            if is_satisfied and 0.0 <= self._point.goal <= self._nothing:
                has_converged = True
                break
            model = self._model()
            if not model.is_finite:
                break
            iterations += 1
            before = self._point
            goes_on = self._less_goal(model) if is_satisfied else self._less_errors(model)
            if self._report is not None and self._point is not before:
                self._report(self._point)
            if not goes_on:
                has_converged = goes_on is None
                break
        start = self._start
        if start.error_norm <= self._tolerance and not self._point.goal <= start.goal:
            self._point = start  # whose errors, though small, made its goal smaller
        return Solution(self._point, has_converged, iterations, self._damping)

    # ------------------------------------------------------------------ the two phases

    def _less_errors(self, model: QuadraticModel) -> bool:
        """Make a step to smaller errors, or tell that there is none."""
        point = self._point
        size = float(np.linalg.norm(point.errors))
        damping, composite = 0.0, self._composite(model)
        while damping <= MOST_DAMPING:
            step = model.normal_step(damping)
            is_long = np.max(np.abs(step), initial=0.0) > LONG
            if not is_long or damping >= LONG_DAMPING:
                gain = size - float(np.linalg.norm(model.errors_after(step)))
                if gain <= STALLED * size:
                    return False
                if not damping and composite and self._goes(composite[0], size, gain / 2):
                    return True
                if self._goes(step, size, ENOUGH * gain):
                    return True
            damping = max(10 * damping, 1e-6)
        return False

    def _goes(self, step: Vector, size: float, gain: float) -> bool:
        """Go there if the errors are smaller by so much, or small enough."""
        found = self._move_to(self._point.x + step)
        is_smaller = float(np.linalg.norm(found.errors)) <= size - gain
        if not (is_smaller or found.error_norm <= self._tolerance) or not np.isfinite(found.goal):
            return False
        self._point = found
        return True

    def _less_goal(self, model: QuadraticModel) -> bool | None:
        """Make a step to a smaller goal; False if none was found, None if it is the last one.

        A step that promises little is the last one. It is made, as it costs no derivatives.
        """
        point = self._point
        nothing = self._nothing + model.worth_of(WELL_WITHIN * self._tolerance)
        self._growth = 2.0
        while self._damping <= MOST_DAMPING:
            composite = self._composite(model)
            if composite is None:
                self._damp()
                continue
            step, fall, rise = composite
            if self._damping < LONG_DAMPING and np.max(np.abs(step), initial=0.0) > LONG:
                self._damp()
                continue
            is_last = fall <= self._enough(point.goal, fall) + nothing
            if is_last and self._is_hidden(model, point.goal, nothing):
                is_last = False
            if fall <= nothing or (is_last and self._damping > MODERATE_DAMPING):
                return None if self._damping <= MODERATE_DAMPING else False
            found = self._corrected(model, step)
            if found is not None and found.goal <= point.goal + rise - ENOUGH * fall:
                truth = (point.goal + rise - found.goal) / fall
                factor = max(0.1, 1 - (2 * min(truth, 1.0) - 1) ** 3)  # Nielsen
                self._damping = max(LEAST_DAMPING, factor * self._damping)
                self._point = found
                self._fall = fall
                return None if is_last else True
            if is_last:
                return None
            self._damp()
        return False

    def _is_hidden(self, model: QuadraticModel, goal: float, nothing: float) -> bool:
        """Whether there is much to gain that the damping hides, as where weights differ a lot."""
        if not self._looks_behind_damping or not HIDING < self._damping <= MODERATE_DAMPING:
            return False
        try:
            fall = model.step(LEAST_DAMPING)[1]
        except np.linalg.LinAlgError:
            return True
        return fall > self._enough(goal, fall) + nothing

    def _enough(self, goal: float, fall: float) -> float:
        """The fall of a goal that is not worth another look at the derivatives."""
        slowness = 1.0 if self._curvature is not None else min(1.0, max(fall / self._fall, 1e-2))
        return min(self._accuracy / slowness, 1e-2) * abs(goal) + 1e-4 * self._accuracy

    def _composite(self, model: QuadraticModel) -> tuple[Vector, float, float] | None:
        """The step for the goal and the errors; None if the damping is too small for that."""
        try:
            return model.step(self._damping)
        except np.linalg.LinAlgError:
            return None

    def _damp(self) -> None:
        self._damping *= self._growth
        self._growth *= 2

    def _corrected(self, model: QuadraticModel, step: Vector) -> Point | None:
        """The point of a step, brought back to the constraints; None if it does not come back."""
        start = self._point.x
        best, before = None, np.inf
        for _ in range(MOST_CORRECTIONS):
            found = self._move_to(start + step)
            if found.error_norm <= self._tolerance and np.isfinite(found.goal):
                best = found
            size = float(np.linalg.norm(found.errors))
            if found.error_norm <= WELL_WITHIN * self._tolerance or not size < 0.5 * before:
                break
            before = size
            step = step + model.correction(found.errors, step)
        return best

    def _move_to(self, x: Vector) -> Point:
        """Move the problem there, or as near as the bounds allow."""
        within = np.clip(x, self._lower, self._upper) if self._has_bounds else x
        self._here = self._problem.move_to(within)
        return self._here

    # ------------------------------------------------------------------ the model

    def _model(self) -> QuadraticModel:
        """The quadratic model at the point."""
        if self._here is not self._point:
            self._point = self._move_to(self._point.x)
        derivatives = self._problem.derivatives()
        point, gradient = self._point, derivatives.other_gradient
        if gradient is not None:
            self._update_curvature(point.x, gradient)
        room = (self._lower - point.x, self._upper - point.x) if self._has_bounds else None
        return QuadraticModel(
            point.errors,
            derivatives.error_jacobian,
            point.residuals,
            derivatives.residual_jacobian,
            gradient,
            self._curvature,
            room,
        )

    def _update_curvature(self, x: Vector, gradient: Vector) -> None:
        """Damped BFGS: Nocedal and Wright, procedure 18.2."""
        if self._curvature is None:
            self._curvature = max(1e-8, float(np.linalg.norm(gradient))) * np.eye(len(x))
        elif self._before is not None:
            s, y = x - self._before[0], gradient - self._before[1]
            bs = self._curvature @ s
            curve, own = float(s @ bs), float(s @ y)
            if curve > 0:
                part = 1.0 if own >= 0.2 * curve else 0.8 * curve / (curve - own)
                r = part * y + (1 - part) * bs
                self._curvature = (
                    self._curvature - np.outer(bs, bs) / curve + np.outer(r, r) / float(s @ r)
                )
        self._before = (x, gradient)
