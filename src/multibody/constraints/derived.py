r"""Derivatives of errors that the author of a constraint has left out, by differences.

Of an error f of a pose, that moves by (w, v) with h as the time, and of one of coordinates x::

    jacobian     f'  = (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12 h
    bias         f'' = (16 (f(h) + f(-h)) - (f(2h) + f(-2h)) - 30 f(0)) / 12 h²

Their relative errors are some 1e-12, and 1e-11. Where a Jacobian is given, the bias is its first
derivative, times the velocity.

Source: B. Fornberg, Generation of finite difference formulas on arbitrarily spaced grids (1988).
"""

from collections.abc import Callable, Iterable, Iterator
from math import cos, sin
from typing import Any, Final

import numpy as np

from stagecache.errors import ConstraintError, StagecacheError
from stagecache.multibody.geometry.spatial import Array, cross_matrices
from stagecache.multibody.geometry.transform import Transform
from stagecache.multibody.matter.matter import MobilizedBody

STEP: Final = 1e-3
"""The step of first derivatives, in units of lengths of the model, and in radians."""

WIDE: Final = 5e-3
"""That of second ones."""

TOLERANCE: Final = 1e-6
"""The relative difference of derivatives that are given and derived, from which it is an error."""

Function = Callable[[float], Any]


def first_derivative(function: Function, step: float) -> Array:
    """Return the derivative of a function of one number at 0."""
    near, far = (_numbers(function(h)) - _numbers(function(-h)) for h in (step, 2 * step))
    found: Array = (8.0 * near - far) / (12.0 * step)
    return found


def second_derivative(function: Function, step: float) -> Array:
    """Return the second derivative of a function of one number at 0."""
    near, far = (_numbers(function(h)) + _numbers(function(-h)) for h in (step, 2 * step))
    here = _numbers(function(0.0))
    found: Array = (16.0 * near - far - 30.0 * here) / (12.0 * step**2)
    return found


def _numbers(values: Any) -> Array:
    return np.atleast_1d(np.asarray(values, float))


# ---------------------------------------------------------------------- poses


def moved(pose: Transform, velocity: Array, time: float) -> Transform:
    """Return the pose after some time with a constant (w, v), (6,)."""
    turn = velocity[:3] * time
    angle = float(np.linalg.norm(turn))
    matrix = pose.matrix.copy()
    if angle > 0.0:
        across = cross_matrices(turn[None] / angle)[0]
        rotation = np.eye(3) + sin(angle) * across + (1.0 - cos(angle)) * across @ across
        matrix[:3, :3] = rotation @ matrix[:3, :3]
    matrix[:3, 3] += velocity[3:] * time
    return Transform.of_matrix(matrix)


def pose_jacobian(error: Callable[[Transform], Any], pose: Transform, length: float) -> Array:
    """Return the derivatives of errors by (w, v), (m, 6), for a scale of lengths [m]."""
    columns = []
    for i in range(6):
        unit = np.zeros(6)
        unit[i] = 1.0 if i < 3 else length
        columns.append(first_derivative(lambda h, unit=unit: error(moved(pose, unit, h)), STEP))  # type: ignore[misc]
    found: Array = np.stack(columns, axis=-1)
    found[..., 3:] /= length
    return found


def pose_bias(
    error: Callable[[Transform], Any], pose: Transform, velocity: Array, length: float
) -> Array:
    """Return the second derivatives of errors (m,) at a constant (w, v), (6,)."""
    rate = _rate(velocity, length)
    if rate == 0.0:
        return 0.0 * _numbers(error(pose))
    return second_derivative(lambda h: error(moved(pose, velocity, h)), WIDE / rate)


def pose_bias_of_jacobian(
    jacobian: Callable[[Transform], Any], pose: Transform, velocity: Array, length: float
) -> Array:
    """Return the same by the derivatives of the errors."""
    rate = _rate(velocity, length)
    if rate == 0.0:
        return 0.0 * np.asarray(jacobian(pose), float)[..., 0]
    return first_derivative(
        lambda h: np.asarray(jacobian(moved(pose, velocity, h)), float) @ velocity, STEP / rate
    )


def _rate(velocity: Array, length: float) -> float:
    """Return how fast it moves, in radians or lengths of the model per second."""
    return max(float(np.linalg.norm(velocity[:3])), float(np.linalg.norm(velocity[3:])) / length)


# ---------------------------------------------------------------------- coordinates


def jacobian_by_x(error: Callable[[Array], Any], x: Array) -> Array:
    """Return the derivatives of errors by coordinates, (m, n)."""
    units = np.eye(len(x))
    columns = [first_derivative(lambda h, e=e: error(x + h * e), STEP) for e in units]  # type: ignore[misc]
    return np.stack(columns, axis=-1)


def bias_by_x(error: Callable[[Array], Any], x: Array, rates: Array) -> Array:
    """Return the second derivatives of errors (m,) at constant rates."""
    rate = float(np.abs(rates).max(initial=0.0))
    if rate == 0.0:
        return 0.0 * _numbers(error(x))
    return second_derivative(lambda h: error(x + h * rates), WIDE / rate)


def bias_by_x_of_jacobian(jacobian: Callable[[Array], Any], x: Array, rates: Array) -> Array:
    """Return the same by the derivatives of the errors."""
    rate = float(np.abs(rates).max(initial=0.0))
    if rate == 0.0:
        return 0.0 * np.asarray(jacobian(x), float)[..., 0]
    return first_derivative(
        lambda h: np.asarray(jacobian(x + h * rates), float) @ rates, STEP / rate
    )


# ---------------------------------------------------------------------- checks


def default_pose(body: MobilizedBody) -> Transform:
    """Return X_GB of a body where all q are at their defaults."""
    if body.parent is body:
        return Transform()
    across = np.eye(4)
    across[:3] = np.reshape(body.mobilizer.pose(body.mobilizer.default_q), (3, 4))
    inboard = default_pose(body.parent) @ body.inboard_frame
    return inboard @ Transform.of_matrix(across) @ body.outboard_frame.inverse()


def poses_near(pose: Transform, length: float) -> Iterator[tuple[Transform, Array]]:
    """Yield some poses near another one, each with a velocity."""
    draws = np.random.default_rng(0).uniform(-1.0, 1.0, (6, 2, 6))
    draws[:, :, 3:] *= length
    for offset, velocity in draws:
        yield moved(pose, offset, 0.5), velocity


def require_equal(given: Any, derived: Any, what: str) -> None:
    """Refuse derivatives that are given and differ from those of the error.

    Raises
    ------
    ConstraintError
    ArithmeticError
        The error has no derivatives there.
    """
    one, other = np.asarray(given, float), np.asarray(derived, float)
    if one.shape != other.shape:
        return  # which is refused with its own error when it is used
    if not np.isfinite(other).all():
        raise ArithmeticError
    apart = float(np.abs(one - other).max(initial=0.0))
    if not apart <= TOLERANCE * max(1.0, float(np.abs(other).max(initial=0.0))):
        raise ConstraintError(
            f"{what}: differs from differences of calc_error",
            f"{np.round(other, 6).tolist()}",
            f"{np.round(one, 6).tolist()}",
            "mend it; or leave it out, then it is derived",
        )


def check_at(places: Iterable[Callable[[], None]]) -> None:
    """Make a check at several places; refuse what fails at most of those where it can be made.

    At some of them an error may not be defined, or not be smooth.

    Raises
    ------
    ConstraintError
    """
    passed, failures = 0, []
    for check in places:
        try:
            check()
        except ConstraintError as error:
            failures.append(error)
        except (StagecacheError, ArithmeticError, ValueError):
            continue
        else:
            passed += 1
    if len(failures) > passed:
        raise failures[0]
