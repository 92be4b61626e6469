"""Values to be written into a vector of any type: converted, if nothing but precision is lost."""

import sys
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from stagecache.errors import NotANumberError, ShapeError, short_repr

FLOAT: Final = np.dtype(np.float64)


def converted(
    values: object,
    dtype: np.dtype[Any],
    shape: tuple[int, ...] | None,
    what: object,
    *,
    whole: bool = False,
) -> NDArray[Any]:
    """Return values of that shape (None: any) as an array of that type.

    Integers fit into every type that holds them. A complex number does not become a real one, nor
    a float an integer, unless `whole` says that it may if it is one in value.

    Raises
    ------
    ShapeError, NotANumberError
        `what` names what was to be written.
    """
    refuse_masked(values, what)
    array = _objects(values) if dtype.kind == "O" else _array(values)
    if array is None or (shape is not None and array.shape != shape):
        raise ShapeError(
            f"{what}: cannot be written",
            "one value" if shape == () else f"values of shape {shape or '(n,)'}",
            f"{short_repr(values)}, of "
            + ("lists of different lengths" if array is None else f"shape {array.shape}"),
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


def array_of(values: object, what: str) -> NDArray[Any] | None:
    """The values as an array, if they are of one shape.

    Raises
    ------
    NotANumberError
        Of a masked array; `what` names what was to be written.
    """
    refuse_masked(values, what)
    return _array(values)


def refuse_masked(values: object, what: object) -> None:
    """Refuse a masked array, also among the rows of a list: NumPy would drop its mask.

    Raises
    ------
    NotANumberError
    """
    ma = sys.modules.get("numpy.ma")  # NumPy loads it late; until then there are no masked arrays
    if ma is not None and _holds(values, ma.MaskedArray):
        raise NotANumberError(
            f"{what}: is a masked array",
            "numbers of which none is masked",
            short_repr(values),
            "pass values.filled(nan) where NaN may stand for what is masked, and values.data where "
            "nothing is",
        )


def masked_as_nan(values: Any) -> Any:
    """Return the values with NaN in place of each masked number, also among the rows of a list.

    The same object where none of them is a masked array.
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
    """The values as objects: one, or as many as there are in a list or vector."""
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
