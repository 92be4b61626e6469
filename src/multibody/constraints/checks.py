"""Checks of the arguments of constraints, beside `multibody.checks`."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from stagecache.checks import require_number
from stagecache.errors import (
    ConstraintError,
    NotANumberError,
    ShapeError,
    UnknownBodyError,
    short_repr,
)
from stagecache.multibody.checks import checked_array
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.matter.mobilized_body import MobilizedBody
from stagecache.state.state import State


def checked_bodies(given: tuple[Any, ...], what: str) -> tuple[MobilizedBody, ...]:
    """Return bodies of one matter.

    Raises
    ------
    UnknownBodyError
        One of them is not a body.
    ConstraintError
        They are in different matters.
    """
    for body in given:
        if not isinstance(body, MobilizedBody):
            raise UnknownBodyError(
                f"{what}: ties something that is not a body",
                "bodies that add_body() has returned, or the ground of a matter",
                short_repr(body),
                "by its name, a body is matter.body(name)",
            )
    for body in given[1:]:
        if body.matter is not given[0].matter:
            raise ConstraintError(
                f"{what}: ties bodies of different matters",
                f"bodies of the same matter as {given[0]}",
                f"{body} of another one",
                "tie bodies of one matter",
            )
    return given


def checked_pair(first: Any, second: Any, what: str) -> tuple[MobilizedBody, ...]:
    """Return two different bodies of one matter; else as `checked_bodies`."""
    found = checked_bodies((first, second), what)
    if first is second:
        raise ConstraintError(
            f"{what}: ties a body to itself",
            "two different bodies",
            f"{first}, twice",
            "to fix it in the ground, give matter.ground",
        )
    return found


def checked_result(values: Any, shape: tuple[int, ...], what: str, constraint: object) -> Array:
    """Return the result of something of a constraint as floats. Cost some 0.5 us.

    Raises
    ------
    ShapeError, NotANumberError
    """
    try:
        found = np.asarray(values, float)
    except (TypeError, ValueError):
        raise NotANumberError(
            f"{what} of {constraint}: returned values that are not real numbers",
            f"an array of shape {shape}",
            short_repr(values),
            "return real numbers; rows of one length, if there are several",
        ) from None
    if found.shape != shape:
        raise ShapeError(
            f"{what} of {constraint}: returned values of another shape",
            f"shape {shape}",
            f"shape {found.shape}",
            "let num_errors, calc_error and calc_jacobian fit each other",
        )
    return found


def checked_points_of(constraints: Sequence[Any], name: str, state: State) -> Array:
    """Return a variable of each constraint that is a point, (k, 3).

    Raises
    ------
    ShapeError, NotANumberError, OutOfRangeError
    """
    handles = [getattr(each, name) for each in constraints]
    found = [checked_array(handle(state), (3,), f"{handle}") for handle in handles]
    return np.array(found).reshape(-1, 3)


def checked_lengths_of(constraints: Sequence[Any], name: str, state: State) -> Array:
    """Return a variable of each constraint that is a length above 0, (k,).

    Raises
    ------
    NotANumberError, OutOfRangeError
    """
    handles = [getattr(each, name) for each in constraints]
    return np.array([checked_length(handle(state), f"{handle}") for handle in handles])


def checked_length(value: Any, what: str) -> float:
    """Return a length above 0.

    Raises
    ------
    NotANumberError, OutOfRangeError
    """
    return require_number(value, what, above=0.0, hint="give more than 0")
