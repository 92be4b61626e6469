"""Other starts, if no method makes progress from the given one: first the errors, then the goal.

Starts are random, farther and farther from the given one, and within the bounds; they are
reproducible.
"""

from typing import Final, final

import numpy as np
from attrs import evolve

from stagecache.assembly.methods.library import Descend
from stagecache.assembly.problem.problem import NONE, Curvature, Derivatives, Problem
from stagecache.numerics.sqp import Point, Solution
from stagecache.state.handles import Vector

NUM_STARTS: Final = 30
SPREADS: Final = (0.3, 1.0, 3.0)
"""Distances of starts from the given one, in scales of the free q; in turn."""

MOST_ITERATIONS: Final = 100


def by_restarts(problem: Problem, point: Point, descent: Descend) -> Solution:
    """Return the first point that satisfies the errors, or the one with the smallest errors."""
    random = np.random.default_rng(len(point.x))
    errors_only = _ErrorsOnly(problem)
    best, iterations = point, 0
    for i in range(NUM_STARTS if len(point.x) else 0):
        x = _start(random, problem, point.x, SPREADS[i % len(SPREADS)])
        found = descent(errors_only, errors_only.move_to(x)).run(MOST_ITERATIONS)
        iterations += found.num_iterations
        if not found.point.error_norm < best.error_norm:
            continue
        best = problem.move_to(found.point.x)
        if best.error_norm <= problem.settings.tolerance_in_use:
            last = descent(problem, best).run(2 * MOST_ITERATIONS)
            return evolve(last, num_iterations=iterations + last.num_iterations)
    return Solution(best, has_converged=False, num_iterations=iterations)


def _start(random: np.random.Generator, problem: Problem, x: Vector, spread: float) -> Vector:
    """Return a random start: uniform where a range is narrower than the spread."""
    found = x + spread * random.standard_normal(len(x))
    uniform = random.random(len(x))
    width = problem.upper - problem.lower
    is_narrow = width < 2 * spread
    found[is_narrow] = (problem.lower + uniform * np.where(is_narrow, width, 0.0))[is_narrow]
    return np.clip(found, problem.lower, problem.upper)


@final
class _ErrorsOnly:
    """A problem without its goals."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem

    @property
    def lower(self) -> Vector:
        return self._problem.lower

    @property
    def upper(self) -> Vector:
        return self._problem.upper

    def move_to(self, x: Vector) -> Point:
        return self._problem.move_to(x)._replace(residuals=NONE, other_goal=0.0, goal=0.0)

    def curvature(self, residuals: Vector, multipliers: Vector) -> Curvature:  # noqa: ARG002  # no goals
        return Curvature(None, None)

    def derivatives(self) -> Derivatives:
        found = self._problem.derivatives()
        return Derivatives(found.error_jacobian, found.residual_jacobian[:0], None)
