"""Inspection of conditions, once at the start: shapes, finite values, and goals without free q."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Real
from typing import Any, Final

import numpy as np

from stagecache.assembly.conditions.condition import AssemblyCondition, not_a_goal
from stagecache.assembly.problem.problem import Problem, derived
from stagecache.errors import ConditionError, short_repr
from stagecache.state.vectors.conversion import FLOAT, refuse_masked

DISTURBANCE: Final = 0.1
"""Change of free q that shows if a goal depends on any, as a part of their scales."""


def check_conditions(problem: Problem) -> None:
    """Refuse conditions that return values that do not fit, at the free q as they are.

    Raises
    ------
    ConditionError
    Exception
        Any exception of a condition.
    """
    state, n = problem.here(), len(problem.coordinates.index)
    for condition in problem.errors:
        with _named(condition):
            _check_errors(condition, state, n)
    for condition, _ in problem.goals:
        with _named(condition):
            if not condition.has_residuals:
                _check_goal(condition, state, n)
            elif not condition.has_own_residuals:
                _check_errors(condition, state, n)
            else:
                _check_residuals(condition, state, n)
    problem.is_checked = True


@contextmanager
def _named(condition: AssemblyCondition) -> Iterator[None]:
    """Note the name of the condition on exceptions."""
    try:
        yield
    except ConditionError:
        raise  # it names the condition
    except Exception as error:
        error.add_note(f"in condition {condition.name!r}")
        raise


def _check_errors(condition: AssemblyCondition, state: Any, n: int) -> None:
    errors = condition.calc_errors(state)
    _check(condition, "calc_errors", errors, (None,), lambda: condition.error_names(state))
    jacobian = derived(condition.calc_error_jacobian, state)
    _check(condition, "calc_error_jacobian", jacobian, (len(errors), n))


def _check_goal_value(condition: AssemblyCondition, state: Any) -> None:
    goal: Any = condition.calc_goal(state)
    is_number = isinstance(goal, Real) or (isinstance(goal, np.ndarray) and goal.shape == ())
    if not is_number or not 0 <= goal < np.inf:
        raise not_a_goal(condition, goal)


def _check_residuals(condition: AssemblyCondition, state: Any, n: int) -> None:
    _check_goal_value(condition, state)
    residuals = condition.calc_goal_residuals(state)
    _check(condition, "calc_goal_residuals", residuals, (None,))
    jacobian = derived(condition.calc_goal_residual_jacobian, state)
    _check(condition, "calc_goal_residual_jacobian", jacobian, (len(residuals), n))


def _check_goal(condition: AssemblyCondition, state: Any, n: int) -> None:
    _check_goal_value(condition, state)
    gradient = derived(condition.calc_goal_gradient, state)
    _check(condition, "calc_goal_gradient", gradient, (n,))


def independent_goals(problem: Problem) -> tuple[str, ...]:
    """Return the names of goals that depend on no free q, which stay as they are.

    Such goals have the same value at the start and at two places beside it. Cost three evaluations.
    If a goal cannot be evaluated beside the start, return no names.
    """
    x = problem.x
    if not problem.goals:
        return ()
    if not len(x):
        return tuple(condition.name for condition, _ in problem.goals)
    pattern = np.cos(np.arange(len(x)) * 2.0 + 1.0) * DISTURBANCE
    found: list[list[float]] = []
    try:
        for place in (x, x + pattern, x - 0.7 * pattern):
            problem.move(np.clip(place, problem.lower, problem.upper))
            if problem.coordinates.undefined is not None:
                return ()
            state = problem.here()
            found.append([float(condition.calc_goal(state)) for condition, _ in problem.goals])
    except Exception:  # whatever it is, methods may not come there
        return ()
    finally:
        problem.move(x)
        problem.here()
    with np.errstate(invalid="ignore"):  # of goals that are not finite there
        spans = np.ptp(np.array(found), axis=0)
    largest = np.abs(np.array(found)).max(axis=0)
    return tuple(
        condition.name
        for (condition, _), span, size in zip(problem.goals, spans, largest, strict=True)
        if span <= 1e-13 * size
    )


def _check(
    condition: AssemblyCondition,
    method: str,
    found: Any,
    shape: tuple[int | None, ...],
    names: Callable[[], Sequence[str]] | None = None,
) -> None:
    """Refuse all but finite arrays of a shape (None: any number); a derivative may be None."""
    if found is None and not method.endswith(("errors", "residuals")):
        return
    refuse_masked(found, f"condition {condition.name!r}: result of {method}()")
    is_array = isinstance(found, np.ndarray) and found.dtype == FLOAT
    fits = is_array and len(found.shape) == len(shape)
    if not fits or any(n not in (None, m) for m, n in zip(found.shape, shape, strict=True)):
        text = str(tuple("m" if n is None else n for n in shape)).replace("'", "")
        of = f"type {type(found).__name__}"
        if isinstance(found, np.ndarray):
            of = f"shape {found.shape}, of {found.dtype}"
        expected = f"an array of floats of shape {text}"
        hint = "return a numpy array of floats; " if isinstance(found, list | tuple | Real) else ""
        raise _refused(condition, method, expected, f"{short_repr(found)}, of {of}", hint)
    is_finite = np.isfinite(found)
    if not is_finite.all():
        got = short_repr(found)
        if names is not None:
            row = int(np.argmin(is_finite))
            got = f"{names()[row]} is {found[row]}"
        raise _refused(condition, method, "finite numbers", got)


def _refused(
    condition: AssemblyCondition, method: str, expected: str, got: str, hint: str = ""
) -> ConditionError:
    return ConditionError(
        f"condition {condition.name!r}: {method}() returns values that do not fit",
        expected,
        got,
        f"{hint}look at {type(condition).__name__}.{method}, and at its inputs in this State: "
        "q, and parameters",
    )
