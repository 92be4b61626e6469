"""Methods of SciPy, for starts from which the quick method makes no progress.

Errors that are too large are made small by `scipy.optimize.least_squares`, a trust region method
that keeps bounds; where they are small, a goal is made small by `scipy.optimize.minimize` (SLSQP).
The quick method then brings the result to the tolerance and the accuracy.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final, final

import numpy as np
from attrs import evolve

from stagecache.assembly.problem.problem import Derivatives, Problem
from stagecache.numerics.sqp import Descent, Point, Report, Solution
from stagecache.state.handles import Vector

MOST_EVALUATIONS: Final = 200


Descend = Callable[..., Descent]
"""Takes a problem, a point, and maybe the first damping."""


def descent_of(problem: Problem, report: Report) -> Descend:
    """Return the quick method with the tolerance and the accuracy of a problem."""
    settings = problem.settings
    tolerance, accuracy = settings.tolerance_in_use, settings.accuracy_in_use
    return partial(Descent, tolerance=tolerance, accuracy=accuracy, report=report)


def by_library(problem: Problem, point: Point, descent: Descend) -> Solution:
    """Go on from a point by a method of SciPy. The free q are elsewhere afterwards."""
    functions = _Functions(problem)
    may_move = problem.lower < problem.upper
    nothing = Solution(point, has_converged=False, num_iterations=0)
    if not may_move.any():
        return nothing
    try:
        if point.error_norm > problem.settings.tolerance_in_use:
            x, count = _least_errors(functions, point.x, may_move)
        else:
            x, count = _least_goal(functions, point.x)
    except _NotFinite:
        return nothing
    moved = problem.move_to(np.clip(x, problem.lower, problem.upper))
    found: Solution = descent(problem, moved).run(MOST_EVALUATIONS)
    return evolve(found, num_iterations=count + found.num_iterations)


def _least_errors(functions: "_Functions", x: Vector, may_move: Any) -> tuple[Vector, int]:
    from scipy.optimize import least_squares  # noqa: PLC0415  # it takes a while

    problem, full = functions.problem, x.copy()
    size = float(np.linalg.norm(functions.at(x).errors))  # by which errors are divided
    if not np.isfinite(size):
        raise _NotFinite

    def whole(some: Vector) -> Vector:
        full[may_move] = some
        return full.copy()

    found: Any = least_squares(
        lambda some: functions.at(whole(some)).errors / size,
        x[may_move],
        lambda some: functions.derivatives_at(whole(some)).error_jacobian[:, may_move] / size,
        bounds=(problem.lower[may_move], problem.upper[may_move]),
        max_nfev=MOST_EVALUATIONS,
    )
    return whole(found.x), int(found.nfev)


def _least_goal(functions: "_Functions", x: Vector) -> tuple[Vector, int]:
    from scipy.optimize import minimize  # noqa: PLC0415  # it takes a while

    problem, goal = functions.problem, functions.at(x).goal
    size = functions.size_at(x)  # by which the goal is divided
    settings = problem.settings
    enough = settings.accuracy_in_use * 1e-3 * goal / size
    factor = enough / settings.tolerance_in_use  # for the errors, as there is one tolerance
    constraints: Any = ()
    if len(functions.at(x).errors):
        constraints = {
            "type": "eq",
            "fun": lambda x: factor * functions.at(x).errors,
            "jac": lambda x: factor * functions.derivatives_at(x).error_jacobian,
        }
    found: Any = minimize(
        lambda x: functions.at(x).goal / size,
        x,
        jac=lambda x: functions.gradient_at(x) / size,
        method="SLSQP",
        bounds=list(zip(problem.lower, problem.upper, strict=True)),
        constraints=constraints,
        options={"maxiter": MOST_EVALUATIONS, "ftol": enough},
    )
    return found.x, int(found.nit)


class _NotFinite(Exception):  # noqa: N818  # it is caught here
    """Derivatives, or errors at the start, are not finite."""


@final
class _Functions:
    """A problem as functions that can be called in any order."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._point: Point | None = None
        self._derivatives: Derivatives | None = None

    def at(self, x: Vector) -> Point:
        """Return the point at some x."""
        if self._point is None or not np.array_equal(self._point.x, x):
            self._point, self._derivatives = self.problem.move_to(x.copy()), None
        return self._point

    def derivatives_at(self, x: Vector) -> Derivatives:
        """Return the derivatives there."""
        self.at(x)
        if self._derivatives is None:
            found = self._derivatives = self.problem.derivatives()
            if not all(part is None or np.isfinite(part).all() for part in found):
                raise _NotFinite
        return self._derivatives

    def size_at(self, x: Vector) -> float:
        """Return the approximate change of the goal by a step of length 1."""
        goal, jacobian = self.at(x).goal, self.derivatives_at(x).residual_jacobian
        squares = float(np.max((jacobian**2).sum(axis=0), initial=0.0))
        return max(goal, squares, float(np.linalg.norm(self.gradient_at(x))))

    def gradient_at(self, x: Vector) -> Vector:
        """Return the gradient of the goal there."""
        point, derivatives = self.at(x), self.derivatives_at(x)
        found: Vector = point.residuals @ derivatives.residual_jacobian
        return found if derivatives.other_gradient is None else found + derivatives.other_gradient
