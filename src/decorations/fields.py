"""Converters of the fields of decorations: values are checked, arrays become private copies."""

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stagecache.errors import (
    InvalidNameError,
    NotANumberError,
    OutOfRangeError,
    ShapeError,
    short_repr,
)
from stagecache.state.values.values import seal
from stagecache.state.vectors.conversion import FLOAT, array_of, converted

TOLERANCE: Final = 1e-6
"""Largest difference of R^T R, and det R, from their values for a rotation."""

_INT: Final = np.dtype(np.int64)
_ANY: Final = -1  # in a shape: any number of rows


def _array(
    values: object, field: str, shape: tuple[int, ...], dtype: np.dtype[Any] = FLOAT
) -> NDArray[Any]:
    """Return a private read-only array of finite numbers."""
    what = f"{field} of a decoration"
    expected = f"an array of shape {shape}".replace(str(_ANY), "n") if shape else "one number"
    array = array_of(values, what)
    if (
        array is None
        or array.ndim != len(shape)
        or any(size not in {_ANY, got} for size, got in zip(shape, array.shape, strict=True))
    ):
        raise ShapeError(
            f"{what}: has another shape",
            expected,
            f"{short_repr(values)}, of "
            + ("lists of different lengths" if array is None else f"shape {array.shape}"),
            f"give {field} as {expected}",
        )
    try:
        twin = converted(array, dtype, None, what)
    except NotANumberError as error:  # its hint is one for vectors of a State
        raise NotANumberError(
            f"{what}: not made of numbers that fit there",
            error.expected,
            error.got,
            f"give {field} as {'whole' if dtype == _INT else 'real'} numbers",
        ) from None
    if not np.all(np.isfinite(twin)):
        raise out_of_range(field, "finite numbers", values, "find the cause of NaN or infinity")
    seal(twin)
    return twin


def out_of_range(field: str, expected: str, got: object, hint: str) -> OutOfRangeError:
    """Return the error of a field with a value out of range."""
    return OutOfRangeError(
        f"{field} of a decoration: out of range", expected, short_repr(got), hint
    )


def _positive(values: object, field: str, shape: tuple[int, ...] = ()) -> NDArray[Any]:
    array = _array(values, field, shape)
    if not np.all(array > 0):
        hint = f"give a greater {field}, or leave the decoration out"
        raise out_of_range(field, "greater than 0", values, hint)
    return array


def _fraction(values: object, field: str, shape: tuple[int, ...], hint: str) -> NDArray[Any]:
    array = _array(values, field, shape)
    if not np.all((array >= 0) & (array <= 1)):
        raise out_of_range(field, "from 0 to 1", values, hint)
    return array


def _string(value: object, field: str, *, is_required: bool) -> str:
    if not isinstance(value, str) or (is_required and not value):
        raise InvalidNameError(
            f"{field} of a decoration: not a proper text",
            "a string that is not empty" if is_required else "a string, which may be empty",
            short_repr(value),
            f"give {field} as a string" + (", or leave the decoration out" if is_required else ""),
        )
    return str(value)


# One converter for each field, since mypy takes the types of arguments from named functions only.


def check_rotation(values: ArrayLike) -> NDArray[np.float64]:
    """Return a rotation matrix."""
    matrix = _array(values, "rotation", (3, 3))
    with np.errstate(all="ignore"):
        deviation = np.max(np.abs(matrix.T @ matrix - np.eye(3)))
        is_rotation = deviation <= TOLERANCE and abs(np.linalg.det(matrix) - 1) <= TOLERANCE
    if not is_rotation:
        raise out_of_range(
            "rotation",
            f"orthonormal, of determinant +1, within {TOLERANCE}",
            values,
            "give it through scipy.spatial.transform.Rotation, whose as_matrix() is one",
        )
    return matrix


def check_translation(values: ArrayLike) -> NDArray[np.float64]:
    """Return a vector."""
    return _array(values, "translation", (3,))


def check_color(values: ArrayLike | None) -> tuple[float, float, float] | None:
    """Return red, green and blue, or None."""
    if values is None:
        return None
    red, green, blue = _fraction(
        values, "color", (3,), "divide by 255 what is given in bytes"
    ).tolist()
    return red, green, blue


def check_opacity(value: float) -> float:
    """Return a fraction."""
    return float(_fraction(value, "opacity", (), "give 0 for invisible, 1 for solid"))


def check_line_width(value: float) -> float:
    """Return a positive number."""
    return float(_positive(value, "line_width"))


def check_label(value: str) -> str:
    """Return a text, which may be empty."""
    return _string(value, "label", is_required=False)


def check_point(values: ArrayLike) -> NDArray[np.float64]:
    """Return a point."""
    return _array(values, "point", (3,))


def check_point1(values: ArrayLike) -> NDArray[np.float64]:
    """Return a point."""
    return _array(values, "point1", (3,))


def check_point2(values: ArrayLike) -> NDArray[np.float64]:
    """Return a point."""
    return _array(values, "point2", (3,))


def check_radius(value: float) -> float:
    """Return a positive length."""
    return float(_positive(value, "radius"))


def check_half_lengths(values: ArrayLike) -> NDArray[np.float64]:
    """Return three positive lengths."""
    return _positive(values, "half_lengths", (3,))


def check_half_height(value: float) -> float:
    """Return a positive length."""
    return float(_positive(value, "half_height"))


def check_axis_length(value: float) -> float:
    """Return a positive length."""
    return float(_positive(value, "axis_length"))


def check_vertices(values: ArrayLike) -> NDArray[np.float64]:
    """Return points."""
    return _array(values, "vertices", (_ANY, 3))


def check_faces(values: ArrayLike) -> NDArray[np.int64]:
    """Return triples of indices."""
    return _array(values, "faces", (_ANY, 3), _INT)


def check_text(value: str) -> str:
    """Return a text that is not empty."""
    return _string(value, "text", is_required=True)
