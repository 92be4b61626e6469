"""Methods of assembly, one after the other, until errors are small and the goal is least.

::

    Gauss-Newton   all that `track` does          goes on unless it has converged
    SciPy          least squares of the errors    goes on if the errors are still too large
    restarts       other starts, errors first

Each begins at the best point so far, and none makes it worse.
"""

from math import isfinite
from typing import Final

from attrs import frozen

from stagecache.assembly.methods.library import Descend, by_library, descent_of
from stagecache.assembly.methods.restarts import by_restarts
from stagecache.assembly.problem.inspection import check_conditions, independent_goals
from stagecache.assembly.problem.problem import Problem
from stagecache.assembly.results import GAUSS_NEWTON, LIBRARY, RESTARTS, UNCHANGED
from stagecache.numerics.sqp import Point, Report, Solution

MOST_ITERATIONS: Final = 200
MOST_TO_TRACK: Final = 50
MOST_TO_KEEP: Final = 1e-3
"""Largest damping that is kept for the next frame."""


@frozen
class Outcome:
    """Outcome of the methods.

    Attributes
    ----------
    point : Point
        The best point; the free q are there.
    method : str
        Method that found it.
    num_iterations : int
        Sum over all methods.
    has_converged : bool
    """

    point: Point
    method: str
    num_iterations: int
    has_converged: bool


def by_gauss_newton(problem: Problem, point: Point, descent: Descend) -> Solution:
    """Go on from a point by the quick method. The free q are there."""
    return descent(problem, point).run(MOST_ITERATIONS)


METHODS: Final = ((GAUSS_NEWTON, by_gauss_newton), (LIBRARY, by_library), (RESTARTS, by_restarts))


def assembled(problem: Problem, report: Report) -> Outcome:
    """Try one method after the other, from the q as they are. Errors may remain too large.

    Raises
    ------
    ConditionError
    Exception
        Any exception of a condition.
    """
    is_start = not problem.coordinates.move_within_bounds()
    check_conditions(problem)
    problem.find_scales()
    problem.independent_goals = independent_goals(problem)
    tolerance, descent = problem.settings.tolerance_in_use, descent_of(problem, report)
    best: Point = problem.begin()
    found_by = UNCHANGED if is_start else GAUSS_NEWTON
    iterations, has_converged = 0, False
    for name, method in METHODS:
        found = method(problem, best, descent)
        iterations += found.num_iterations
        if is_better(found.point, best, tolerance):
            best, found_by = found.point, name
        if best is found.point:
            has_converged = found.has_converged
        is_satisfied = best.error_norm <= tolerance
        if is_satisfied and (has_converged or name != GAUSS_NEWTON):
            break
    problem.be_at(best.x)
    return Outcome(best, found_by, iterations, has_converged)


def tracked(problem: Problem, report: Report) -> Outcome:
    """Try the quick method alone, from the q as they are; otherwise as `assembled`."""
    is_start = not problem.coordinates.move_within_bounds()
    if not problem.is_checked:
        check_conditions(problem)
    problem.find_scales()
    start = problem.begin()
    descent = descent_of(problem, report)
    found = descent(problem, start, damping=problem.damping).run(MOST_TO_TRACK)
    problem.damping = min(found.damping, MOST_TO_KEEP)
    problem.be_at(found.point.x)
    method = UNCHANGED if is_start and found.point is start else GAUSS_NEWTON
    return Outcome(found.point, method, found.num_iterations, found.has_converged)


def is_better(one: Point, other: Point, tolerance: float) -> bool:
    """Return True if a point is better than another: first by its errors, then by its goal."""
    if not isfinite(one.goal):
        return False
    fits, fitted = one.error_norm <= tolerance, other.error_norm <= tolerance
    if fits and fitted:
        return one.goal < other.goal
    if fits or fitted:
        return fits
    return one.error_norm < other.error_norm
