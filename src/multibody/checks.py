"""Checks of arguments: arrays of finite numbers of a given shape, and rotations."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from stagecache.errors import OutOfRangeError, short_repr
from stagecache.state.vectors.conversion import ANY, array_of, require_array

ROTATION_TOLERANCE: Final = 1e-9
"""The accepted deviation of elements of R' R, and of det R, from a rotation."""


def checked_array(
    values: Any, shape: tuple[int, ...], what: str, *, may_be_nan: bool = False
) -> NDArray[np.float64]:
    """Return a private read-only array of finite floats; see `require_array`."""
    return require_array(values, shape, what, may_be_nan=may_be_nan)


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


def checked_direction(values: Any, what: str) -> NDArray[np.float64]:
    """Return a vector (3,) of length 1, in the direction of one of any length.

    Raises
    ------
    ShapeError, NotANumberError, OutOfRangeError
    """
    vector = checked_array(values, (3,), what)
    scale = float(np.abs(vector).max())
    if scale == 0.0:
        raise OutOfRangeError(
            f"{what}: has no direction",
            "a vector that is not zero",
            short_repr(values),
            "give one of any other length; only its direction counts",
        )
    found: NDArray[np.float64] = vector / scale  # whose squares are finite
    found /= np.linalg.norm(found)
    found.flags.writeable = False
    return found
