r"""Derivatives of errors that the author of a constraint has left out, by differences.

Of an error f of a pose, that moves by (w, v) with h as the time, and of one of coordinates x::

    jacobian     f'  = (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12 h
    bias         f'' = (16 (f(h) + f(-h)) - (f(2h) + f(-2h)) - 30 f(0)) / 12 h²

The first steps fit the scale of lengths of the System, `default_length_scale`. Where a result
depends on the step, as for a rod of a millimetre in a System whose scale is a metre, other
steps are tried: models may be a thousand times larger or smaller. Relative errors are some 1e-12,
and 1e-9. Where a Jacobian is given, the bias is its first derivative, times the velocity, to 1e-12.

Source: B. Fornberg, Generation of finite difference formulas on arbitrarily spaced grids (1988).
"""

from collections.abc import Callable, Iterable, Iterator
from math import cos, sin
from typing import Any, Final

import numpy as np

from stagecache.errors import ConstraintError, StagecacheError
from stagecache.multibody.geometry.spatial import Array, cross_matrices
from stagecache.multibody.geometry.transform import Transform
from stagecache.multibody.matter.mobilized_body import MobilizedBody

STEP: Final = 1e-3
"""The step of first derivatives, in units of lengths of the model, and in radians."""

WIDE: Final = 5e-3
"""The step of second derivatives, likewise."""

TOLERANCE: Final = 1e-6
"""The relative difference of derivatives that are given and derived, from which it is an error."""

Function = Callable[[float], Any]


ROUNDING: Final = 1e-11
"""The difference of derivatives that may be rounding, whatever their size."""


FACTOR: Final = 8.0
"""The factor between steps that are tried."""

ENOUGH: Final = (1e-9, 1e-7)
"""The relative difference of first, and of second derivatives by two steps that is small enough."""

PAIRS: Final = ((0, -1), (1, 0), (-1, -2), (2, 1), (-2, -3), (3, 2), (-3, -4), (4, 3), (5, 4))
"""Powers of the factor, by which two steps are compared, in the order in which they are tried."""


def settled(estimate: Callable[[float], Array], enough: float) -> Array:
    """Return an estimate for the factor of its step on which it depends least."""
    known: dict[int, Array | None] = {}

    def at(power: int) -> Array | None:
        if power not in known:
            try:
                known[power] = estimate(FACTOR**power)
            except (StagecacheError, ArithmeticError, ValueError):
                if power == 0:
                    raise
                known[power] = None  # it is not defined so far away
        return known[power]

    best, least = at(0), np.inf
    for coarse, fine in PAIRS:
        one, other = at(coarse), at(fine)
        if one is None or other is None:
            continue
        apart = _apart(one, other)
        if apart < least:
            best, least = one, apart
        if least < enough:
            break
    assert best is not None
    return best


def _apart(one: Array, other: Array) -> float:
    """Return the largest difference of two arrays, relative to the numbers in the row."""
    rows = np.abs(one).reshape(len(one), -1).max(axis=1, initial=0.0)
    differences = np.abs(one - other).reshape(len(one), -1).max(axis=1, initial=0.0)
    found = float(np.max(differences / np.where(rows > 0.0, rows, 1.0), initial=0.0))
    return found if np.isfinite(found) else np.inf


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
    scales = np.array([1.0, 1.0, 1.0, length, length, length])

    def estimate(factor: float) -> Array:
        columns = [
            first_derivative(lambda h, u=unit: error(moved(pose, u, h)), factor * STEP)  # type: ignore[misc]
            for unit in np.diag(scales)
        ]
        found: Array = np.stack(columns, axis=-1) / scales
        return found

    return settled(estimate, ENOUGH[0])


def pose_bias(
    error: Callable[[Transform], Any], pose: Transform, velocity: Array, length: float
) -> Array:
    """Return the second derivatives of errors (m,) at a constant (w, v), (6,)."""
    rate = _rate(velocity, length)
    if rate == 0.0:
        return 0.0 * _numbers(error(pose))

    def along(h: float) -> Any:
        return error(moved(pose, velocity, h))

    return settled(lambda factor: second_derivative(along, factor * WIDE / rate), ENOUGH[1])


def pose_bias_of_jacobian(
    jacobian: Callable[[Transform], Any], pose: Transform, velocity: Array, length: float
) -> Array:
    """Return the same, by the Jacobian of the errors."""
    rate = _rate(velocity, length)
    if rate == 0.0:
        return 0.0 * np.asarray(jacobian(pose), float)[..., 0]

    def along(h: float) -> Any:
        return np.asarray(jacobian(moved(pose, velocity, h)), float) @ velocity

    return settled(lambda factor: first_derivative(along, factor * STEP / rate), ENOUGH[0])


def _rate(velocity: Array, length: float) -> float:
    """Return how fast it moves, in radians or lengths of the model per second."""
    return max(float(np.linalg.norm(velocity[:3])), float(np.linalg.norm(velocity[3:])) / length)


# ---------------------------------------------------------------------- coordinates


def jacobian_by_x(error: Callable[[Array], Any], x: Array, scales: Array) -> Array:
    """Return the derivatives of errors by coordinates, (m, n), for scales of these, (n,)."""

    def estimate(factor: float) -> Array:
        columns = [
            first_derivative(lambda h, u=unit: error(x + h * u), factor * STEP)  # type: ignore[misc]
            for unit in np.diag(scales)
        ]
        found: Array = np.stack(columns, axis=-1) / scales
        return found

    return settled(estimate, ENOUGH[0])


def bias_by_x(error: Callable[[Array], Any], x: Array, rates: Array, scales: Array) -> Array:
    """Return the second derivatives of errors (m,) at constant rates."""
    rate = float(np.abs(rates / scales).max(initial=0.0))
    if rate == 0.0:
        return 0.0 * _numbers(error(x))

    def along(h: float) -> Any:
        return error(x + h * rates)

    return settled(lambda factor: second_derivative(along, factor * WIDE / rate), ENOUGH[1])


def bias_by_x_of_jacobian(
    jacobian: Callable[[Array], Any], x: Array, rates: Array, scales: Array
) -> Array:
    """Return the same, by the Jacobian of the errors."""
    rate = float(np.abs(rates / scales).max(initial=0.0))
    if rate == 0.0:
        return 0.0 * np.asarray(jacobian(x), float)[..., 0]

    def along(h: float) -> Any:
        return np.asarray(jacobian(x + h * rates), float) @ rates

    return settled(lambda factor: first_derivative(along, factor * STEP / rate), ENOUGH[0])


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
    if one.shape == other.shape and _differ(one, other):  # another shape is refused when it is used
        raise ConstraintError(
            f"{what}: differs from differences of calc_error",
            _shown(other),
            _shown(one),
            "mend it; or leave it out, then it is derived",
        )


def _shown(values: Array) -> str:
    text = np.array2string(values, separator=", ", formatter={"float_kind": "{:.6g}".format})
    return " ".join(text.split())


def _differ(one: Array, other: Array) -> bool:
    """Tell whether a row of derivatives is another one, by the size of its numbers."""
    if not np.isfinite(other).all():
        raise ArithmeticError
    rows = np.abs(other).reshape(len(other), -1).max(axis=1, initial=0.0)
    allowed = TOLERANCE * (rows + 1e-3 * rows.max(initial=0.0)) + ROUNDING
    apart = np.abs(one - other).reshape(len(other), -1).max(axis=1, initial=0.0)
    return not bool((apart <= allowed).all())


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
