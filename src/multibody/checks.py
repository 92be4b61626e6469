"""Checks of arguments: arrays of finite numbers of a given shape, and rotations."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from stagecache.errors import NotANumberError, OutOfRangeError, ShapeError, short_repr
from stagecache.state.vectors.conversion import FLOAT, array_of, converted, masked_as_nan

ANY: Final = -1
"""In a shape: any number of rows."""

ROTATION_TOLERANCE: Final = 1e-9
"""The accepted deviation of elements of R' R, and of det R, from a rotation."""


def checked_array(
    values: Any, shape: tuple[int, ...], what: str, *, may_be_nan: bool = False
) -> NDArray[np.float64]:
    """Return a private read-only array of finite numbers. Cost O(size).

    Parameters
    ----------
    values : array_like
    shape : tuple of int
        The expected shape; `ANY` for any size.
    what : str
        The name of the values in errors.
    may_be_nan : bool
        True to accept NaN for missing values. Masked values are then NaN.

    Raises
    ------
    ShapeError, NotANumberError, OutOfRangeError
    """
    array = array_of(masked_as_nan(values) if may_be_nan else values, what)
    if (
        array is None
        or array.ndim != len(shape)
        or any(size not in (ANY, got) for size, got in zip(shape, array.shape, strict=True))
    ):
        expected = "one number" if shape == () else f"shape {shape}".replace(str(ANY), "n")
        raise ShapeError(
            f"{what}: wrong shape",
            expected,
            f"{short_repr(values)}, of "
            + ("lists of different lengths" if array is None else f"shape {array.shape}"),
            f"give it as an array of {expected}" if shape else "give one number",
        )
    try:
        found = converted(array, FLOAT, None, what)
    except NotANumberError as error:
        raise NotANumberError(
            f"{what}: not real numbers", error.expected, error.got, "give real numbers"
        ) from None
    if np.isinf(found).any() if may_be_nan else not np.isfinite(found).all():
        raise OutOfRangeError(
            f"{what}: not finite",
            "finite numbers" + (", or NaN for missing values" if may_be_nan else ""),
            short_repr(values),
            "find the computation that made it NaN or infinite",
        )
    found.flags.writeable = False
    return found


def checked_points(values: Any, what: str) -> NDArray[np.float64]:
    """Return one point (3,) or several (k, 3), as `checked_array` does.

    Raises
    ------
    ShapeError, NotANumberError, OutOfRangeError
    """
    array = array_of(values, what)
    is_one = array is None or array.ndim < 2
    return checked_array(values, (3,) if is_one else (ANY, 3), what)


def checked_rotation(values: Any, what: str) -> NDArray[np.float64]:
    """Return a rotation matrix, as `checked_array` does.

    Raises
    ------
    ShapeError, NotANumberError, OutOfRangeError
    """
    matrix = checked_array(values, (3, 3), what)
    with np.errstate(all="ignore"):
        deviation = float(np.max(np.abs(matrix.T @ matrix - np.eye(3))))
        determinant = float(np.linalg.det(matrix))
    if not (deviation <= ROTATION_TOLERANCE and abs(determinant - 1) <= ROTATION_TOLERANCE):
        raise OutOfRangeError(
            f"{what}: not a rotation",
            f"R' R = 1 and det R = 1, within {ROTATION_TOLERANCE}",
            f"R' R - 1 up to {deviation:.3g}, det R = {determinant:.6g}",
            "give it through scipy.spatial.transform.Rotation, whose as_matrix() is one",
        )
    return matrix
