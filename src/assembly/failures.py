"""How an Assembler tells that it has failed: what is not satisfied, by how much, what to try."""

from typing import TypeVar

import numpy as np

from stagecache.assembly.conditions.condition import AssemblyCondition
from stagecache.assembly.conditions.system_constraints import AbstractConstraintRows, Normalization
from stagecache.assembly.coordinates.mobilizers import name_of_q
from stagecache.assembly.problem.problem import Point, Problem, derived
from stagecache.assembly.settings import AssemblerSettings
from stagecache.errors import AssemblyError
from stagecache.state.handles import Vector

E = TypeVar("E", bound=AssemblyError)

SHOWN = 4

ROUNDING = 1e-9
"""Part of the change of errors by a natural step that may be as small as they become."""

WRONG = 1e-2
"""How much of its size a Jacobian differs from differences, if it is wrong."""


def failed(
    kind: type[E], what: str, problem: Problem, point: Point, settings: AssemblerSettings
) -> E:
    """The error to be raised where a point, at which the problem is, was the best one."""
    tolerance = settings.tolerance_in_use
    norm_name = "root of the mean square" if settings.use_rms_error_norm else "largest"
    expected = f"errors whose {norm_name} is at most {tolerance:g}"
    n = len(point.x)
    if point.error_norm <= tolerance:
        return kind(
            f"{what}: the goal is not finite",
            "a finite goal",
            f"{point.goal:g}, with {n} free q",
            "look at what the conditions, and their observations, are in that frame",
            *(point.error_norm, tolerance),
        )
    condition, row, value = _worst(problem)
    row_name = condition.error_names(problem.here())[row]
    return kind(
        f"{what}: condition {condition.name!r} is not satisfied: {row_name} is {value:.4g}",
        expected,
        f"{point.error_norm:.4g} at best, with {n} free q",
        _hint(problem, point, condition, row, settings),
        *(point.error_norm, tolerance, condition.name),
    )


def _worst(problem: Problem) -> tuple[AssemblyCondition, int, float]:
    """The condition with the largest error, which of its errors that is, and the error."""
    state = problem.here()
    every = [(condition, condition.calc_errors(state)) for condition in problem.errors]
    found = [
        (condition, row, float(error))
        for condition, errors in every
        for row, error in enumerate(errors)
    ]
    return max(found, key=lambda one: np.inf if np.isnan(one[2]) else abs(one[2]))


def _hint(
    problem: Problem,
    point: Point,
    condition: AssemblyCondition,
    row: int,
    settings: AssemblerSettings,
) -> str:
    if not np.isfinite(point.error_norm):
        return f"look at {type(condition).__name__}.calc_errors, and at what it observes"
    if not len(point.x):
        return "no q is free: unlock one, or disable what prescribes it"
    state = problem.here()
    tolerance = settings.tolerance_in_use
    errors = condition.calc_errors(state)
    jacobian = problem.scaled(derived(condition.calc_error_jacobian, state))
    by_differences = _by_differences(problem, condition)
    is_used = jacobian is not None and not settings.force_numerical_jacobian
    if jacobian is not None and is_used and by_differences is not None:
        wrong = _wrong_row(jacobian, by_differences, errors)
        if wrong is not None:
            method = f"calc_error_jacobian of {type(condition).__name__}"
            if isinstance(condition, AbstractConstraintRows):
                method = "the Jacobian of the constraint"
            return (
                f"mend {method}: its row of {condition.error_names(state)[wrong]} is not the "
                "change of that by the free q; with force_numerical_jacobian, it is not used"
            )
    jacobian = by_differences if jacobian is None else jacobian
    felt = 0.0 if jacobian is None else float(np.abs(jacobian).max(initial=0.0))
    if tolerance < point.error_norm <= ROUNDING * felt:
        return f"raise error_tolerance: {tolerance:g} is less than such errors are rounded to"
    held = np.flatnonzero((point.x <= problem.lower) | (point.x >= problem.upper))
    hints = []
    if len(held):
        rows = problem.coordinates.index[held][:SHOWN].tolist()
        shown = ", ".join(name_of_q(row, state) for row in rows)
        shown += ", ..." if len(held) > SHOWN else ""
        hints.append(f"loosen the bounds of {shown}, which hold it")
    num_locked = len(state.q) - len(point.x)
    if num_locked == 1:
        hints.append("unlock the q that is locked or prescribed")
    elif num_locked:
        hints.append(f"unlock some of the {num_locked} q that are locked or prescribed")
    hints.append("begin elsewhere, closer to what you expect")
    hints.append("check that it can be satisfied at all: lengths, angles, other constraints")
    is_stationary = jacobian is not None and not np.any(jacobian[row])
    return ("no free q changes it there: " if is_stationary else "") + "; or ".join(hints)


def _by_differences(problem: Problem, condition: AssemblyCondition) -> Vector | None:
    """The Jacobian of errors by differences, at the cost of 2 n evaluations.

    None where differences cannot be taken, or mean something else: those by the q of quaternions
    change their length.
    """
    if any(isinstance(one, Normalization) and one.num_rows for one in problem.errors):
        return None
    try:
        return problem.error_jacobian_by_differences(condition)
    except Exception:  # of what is not defined beside the point
        return None


def _wrong_row(jacobian: Vector, by_differences: Vector, errors: Vector) -> int | None:
    """The row of a Jacobian that differs the most from differences; None where all are right."""
    gaps = np.abs(jacobian - by_differences).max(axis=1)
    row = int(np.argmax(gaps))
    size = max(float(np.abs(by_differences).max()), float(np.abs(errors).max()))
    return row if gaps[row] > WRONG * size else None
