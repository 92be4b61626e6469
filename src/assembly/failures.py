"""Errors of a failed assembly: the condition that is not satisfied, by how much, and a hint."""

from typing import TypeVar

import numpy as np

from stagecache.assembly.conditions.condition import AssemblyCondition
from stagecache.assembly.conditions.system_constraints import SystemConstraints
from stagecache.assembly.coordinates.mobilizers import name_of_q
from stagecache.assembly.problem.problem import Point, Problem, derived
from stagecache.errors import AssemblyError
from stagecache.state.handles import Vector

E = TypeVar("E", bound=AssemblyError)

SHOWN = 4

ROUNDING = 1e-9
"""Rounding of errors, as a part of their change by a natural step."""

WRONG = 1e-2
"""Relative difference from differences at which a Jacobian is wrong."""


def failed(kind: type[E], what: str, problem: Problem, point: Point) -> E:
    """Return the error to raise if this point, where the free q are, is the best one."""
    settings = problem.settings
    tolerance = settings.tolerance_in_use
    norm_name = "root of the mean square" if settings.use_rms_error_norm else "largest"
    expected = f"errors whose {norm_name} is at most {tolerance:g}"
    n = len(point.x)
    undefined = problem.coordinates.undefined
    if undefined is not None:
        return kind(
            f"{what}: {name_of_q(undefined, problem.here())} has no finite value there, as a "
            "function of other q",
            "a start at which each dependent coordinate has one",
            f"none, with {n} free q",
            "begin elsewhere, or correct the function of the constraint",
            *(point.error_norm, tolerance),
        )
    if point.error_norm <= tolerance:
        return kind(
            f"{what}: the goal is not finite",
            "a finite goal",
            f"{point.goal:g}, with {n} free q",
            "look at the conditions, and at their observations, in this frame",
            *(point.error_norm, tolerance),
        )
    condition, row, value = _worst(problem)
    row_name = condition.error_names(problem.here())[row]
    return kind(
        f"{what}: condition {condition.name!r} is not satisfied: {row_name} is {value:.4g}",
        expected,
        f"{point.error_norm:.4g} at best, with {n} free q",
        _hint(problem, point, condition, row),
        *(point.error_norm, tolerance, condition.name),
    )


def _worst(problem: Problem) -> tuple[AssemblyCondition, int, float]:
    """Return the condition with the largest error, the row of this error, and its value."""
    state = problem.here()
    every = [(condition, condition.calc_errors(state)) for condition in problem.errors]
    found = [
        (condition, row, float(error))
        for condition, errors in every
        for row, error in enumerate(errors)
    ]
    return max(found, key=lambda one: np.inf if np.isnan(one[2]) else abs(one[2]))


def _hint(problem: Problem, point: Point, condition: AssemblyCondition, row: int) -> str:
    if not np.isfinite(point.error_norm):
        return f"look at {type(condition).__name__}.calc_errors, and at its observations"
    if not len(point.x):
        return "no q is free: unlock one, or disable what prescribes it"
    state, settings = problem.here(), problem.settings
    tolerance = settings.tolerance_in_use
    errors = condition.calc_errors(state)
    jacobian = derived(condition.calc_error_jacobian, state)
    jacobian = None if jacobian is None else problem.coordinates.by_x(jacobian)
    by_differences = _by_differences(problem, condition)
    is_used = jacobian is not None and not settings.force_numerical_jacobian
    if jacobian is not None and is_used and by_differences is not None:
        wrong = _wrong_row(jacobian, by_differences, errors)
        if wrong is not None:
            method = f"calc_error_jacobian of {type(condition).__name__}"
            if isinstance(condition, SystemConstraints):
                method = "the Jacobian of the constraint"
            return (
                f"correct {method}: its row of {condition.error_names(state)[wrong]} differs from "
                "differences by the free q; with force_numerical_jacobian, it is not used"
            )
    jacobian = by_differences if jacobian is None else jacobian
    felt = 0.0 if jacobian is None else float(np.abs(jacobian).max(initial=0.0))
    if tolerance < point.error_norm <= ROUNDING * felt:
        return f"raise error_tolerance: {tolerance:g} is below the rounding of these errors"
    held = np.flatnonzero((point.x <= problem.lower) | (point.x >= problem.upper))
    hints = []
    if len(held):
        coordinates = problem.coordinates
        rows = coordinates.index[coordinates.independent[held]][:SHOWN].tolist()
        shown = ", ".join(name_of_q(row, state) for row in rows)
        shown += ", ..." if len(held) > SHOWN else ""
        hints.append(f"loosen the bounds of {shown}")
    num_locked = len(state.q) - len(problem.coordinates.index)
    if num_locked == 1:
        hints.append("unlock the q that is locked or prescribed")
    elif num_locked:
        hints.append(f"unlock some of the {num_locked} q that are locked or prescribed")
    hints.append("begin closer to the expected solution")
    hints.append("check that a solution exists: lengths, angles, other constraints")
    is_stationary = jacobian is not None and not np.any(jacobian[row])
    return ("no free q changes it there: " if is_stationary else "") + "; or ".join(hints)


def _by_differences(problem: Problem, condition: AssemblyCondition) -> Vector | None:
    """Return the Jacobian of errors by differences, at the cost of 2 n evaluations.

    None where differences cannot be taken, or mean something else: steps in the q of quaternions
    change their length.
    """
    constraints = [one for one in problem.errors if isinstance(one, SystemConstraints)]
    if any(one.is_normalization and one.num_rows for one in constraints):
        return None
    try:
        return problem.error_jacobian_by_differences(condition)
    except Exception:  # conditions need not be defined beside the point
        return None


def _wrong_row(jacobian: Vector, by_differences: Vector, errors: Vector) -> int | None:
    """Return the row of a Jacobian that differs most from differences; None if all are right."""
    gaps = np.abs(jacobian - by_differences).max(axis=1)
    row = int(np.argmax(gaps))
    size = max(float(np.abs(by_differences).max()), float(np.abs(errors).max()))
    return row if gaps[row] > WRONG * size else None
