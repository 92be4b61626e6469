"""Conversion of values to arrays of a type and shape, where nothing but precision is lost."""

import sys
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from stagecache.errors import NotANumberError, OutOfRangeError, ShapeError, short_repr

FLOAT: Final = np.dtype(np.float64)

ANY: Final = -1
"""Any number of rows, in a shape."""


def converted(
    values: object,
    dtype: np.dtype[Any],
    shape: tuple[int, ...] | None,
    what: object,
    *,
    whole: bool = False,
) -> NDArray[Any]:
    """Return values of that shape (None: any) as an array of that type.

    Integers fit into every type that holds them. A complex number does not become a real one. A
    float does not become an integer, unless `whole` is True and its value is one.

    Raises
    ------
    ShapeError, NotANumberError
        `what` names the target in them.
    """
    refuse_masked(values, what)
    array = _objects(values) if dtype.kind == "O" else _array(values)
    if array is None or (shape is not None and array.shape != shape):
        raise ShapeError(
            f"{what}: cannot be written",
            "one value" if shape == () else f"values of shape {shape or '(n,)'}",
            values_and_shape(values, array),
            "give one value for each element; to write some, change what upd_...() returns",
        )
    if dtype.kind == "O" or array.size == 0:
        return array.astype(dtype)
    source, target = array.dtype.kind, dtype.kind
    fits = source in "iufcO" and not (source == "c" and target != "c")
    fits = fits and not (source == "f" and target in "iu" and not whole)
    if fits and source == "O":
        fits = not any(value is None for value in array.flat)
    if fits:
        try:
            with np.errstate(all="ignore"):
                twin = array.astype(dtype)
                fits = target not in "iu" or bool(np.all(twin == array))
        except (TypeError, ValueError, OverflowError):
            fits = False
    if not fits:
        raise NotANumberError(
            f"{what}: cannot be written",
            f"values that {dtype} can hold",
            f"{short_repr(values)}, of type {array.dtype}",
            "convert the values first, or clone with another dtype",
        )
    return twin


def require_array(
    values: object,
    shape: tuple[int, ...],
    what: str,
    dtype: np.dtype[Any] = FLOAT,
    *,
    may_be_nan: bool = False,
) -> NDArray[Any]:
    """Return a private read-only array of finite numbers. Cost O(size).

    Parameters
    ----------
    values : array_like
    shape : tuple of int
        The expected shape; `ANY` for any size.
    what : str
        Name of the values in errors.
    dtype : dtype, optional
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
            values_and_shape(values, array),
            f"give it as an array of {expected}" if shape else "give one number",
        )
    kind = "real" if dtype is FLOAT else "whole"
    try:
        found = converted(array, dtype, None, what)
    except NotANumberError as error:  # its hint is one for vectors of a State
        raise NotANumberError(
            f"{what}: not {kind} numbers", error.expected, error.got, f"give {kind} numbers"
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


def values_and_shape(values: object, array: NDArray[Any] | None) -> str:
    """Show values and their shape in an error; `array` is None where they have no shape."""
    of = "lists of different lengths" if array is None else f"shape {array.shape}"
    return f"{short_repr(values)}, of {of}"


def array_of(values: object, what: str) -> NDArray[Any] | None:
    """Return values as an array; None if they are lists of different lengths.

    Raises
    ------
    NotANumberError
        The array is masked; `what` names the target in the error.
    """
    refuse_masked(values, what)
    return _array(values)


def refuse_masked(values: object, what: object) -> None:
    """Raise if values are a masked array, or a list with one: NumPy would drop its mask.

    Raises
    ------
    NotANumberError
    """
    ma = sys.modules.get("numpy.ma")  # NumPy loads it with the first masked array
    if ma is not None and _holds(values, ma.MaskedArray):
        raise NotANumberError(
            f"{what}: a masked array",
            "numbers without a mask",
            short_repr(values),
            "pass values.filled(nan) where NaN may stand for masked values, and values.data if "
            "nothing is masked",
        )


def masked_as_nan(values: Any) -> Any:
    """Return values with NaN in place of each masked number, also among the rows of a list.

    Values without a masked array are returned unchanged.
    """
    ma = sys.modules.get("numpy.ma")
    if ma is None or not _holds(values, ma.MaskedArray):
        return values
    if isinstance(values, ma.MaskedArray):
        return np.where(ma.getmaskarray(values), np.nan, ma.getdata(values))
    return [masked_as_nan(value) for value in values]


def _holds(values: object, kind: type) -> bool:
    if not isinstance(values, list | tuple):
        return isinstance(values, kind)
    kinds = {*map(type, values)} - {float, int}
    return bool(kinds) and any(_holds(value, kind) for value in values)


def _array(values: object) -> NDArray[Any] | None:
    try:
        return np.asarray(values)
    except ValueError:  # of lists of different lengths
        return None


def _objects(values: object) -> NDArray[Any] | None:
    """Return values as an array of objects: of shape (), or with each item of a list or vector."""
    is_array = hasattr(values, "__array__") and np.ndim(values) > 0
    if not is_array and not isinstance(values, list | tuple):
        one = np.empty((), object)
        one[()] = values.item() if isinstance(values, np.ndarray) else values
        return one
    items = list(values)  # type: ignore[call-overload]  # an array, a list or a tuple
    if any(isinstance(item, list | tuple | np.ndarray) for item in items):
        return _array(values)
    several = np.empty(len(items), object)
    several[:] = items
    return several
