"""Columns of trajectory files: the form of their values, which Arrow knows.

A column has numbers (float64, int64 or bool), or lists of them of a fixed size, where all values of
an item have that form. Any other value stands among the changes of its row, as `files.values` makes
it, and is null in its column.
"""

from collections.abc import Sequence
from typing import Any, Final, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

DTYPES: Final = {"float64": np.dtype("<f8"), "int64": np.dtype("<i8"), "bool": np.dtype("?")}
SCALARS: Final = {"float64": float, "int64": int, "bool": bool}


@final
@frozen
class ColumnForm:
    """The form of the values of a column.

    Attributes
    ----------
    path : str
    kind : str
        As of `Column`.
    dtype : str
        "float64", "int64" or "bool".
    shape : tuple of int
        Shape of each value.
    is_array : bool
        True if each value is an array; False if it is a number of Python, or either may be there.
    """

    path: str
    kind: str
    dtype: str = "float64"
    shape: tuple[int, ...] = ()
    is_array: bool = False

    @property
    def width(self) -> int:
        """Number of numbers of a value."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def is_list(self) -> bool:
        """True if Arrow has a list for each value."""
        return bool(self.shape)

    @property
    def num_buffers(self) -> int:
        """Number of its buffers in a record batch: buffers of the list, and of numbers."""
        return 3 if self.is_list else 2

    def fits(self, value: object) -> bool:
        """Return True if a value can be taken from the column as it is."""
        if self.is_array:
            return (
                type(value) is np.ndarray
                and value.dtype == DTYPES[self.dtype]
                and value.shape == self.shape
            )
        if type(value) is not SCALARS[self.dtype]:
            return False
        return type(value) is not int or -(2**63) <= value < 2**63

    def restored(self, value: Any) -> Any:
        """Return the value of a row of the column as a State has it."""
        return np.array(value) if self.is_array or self.shape else value.item()


def form_of_value(path: str, kind: str, value: object) -> ColumnForm | None:
    """Return the form of the column of an item that has a value; None if it has no column."""
    if type(value) is np.ndarray:
        if value.dtype.name in DTYPES and value.size:
            return ColumnForm(path, kind, value.dtype.name, value.shape, is_array=True)
        return None
    dtype = next((name for name, cls in SCALARS.items() if type(value) is cls), None)
    form = ColumnForm(path, kind, dtype) if dtype else None
    return form if form is not None and form.fits(value) else None


def form_of_results(path: str, values: Sequence[Any]) -> ColumnForm | None:
    """Return the form of the column of an entry that had these values; None if it has no column.

    Numbers of NumPy and of Python are the same there, as in the columns of a trajectory.
    """
    if not values:
        return None
    array = np.asarray(values[0])
    if array.dtype.name not in DTYPES or not array.size:
        return None
    form = ColumnForm(path, "cache entry", array.dtype.name, array.shape)
    return form if all(is_result(form, value) for value in values) else None


def is_result(form: ColumnForm, value: object) -> bool:
    """Return True if the value of an entry has the form of its column."""
    if not isinstance(value, np.ndarray | np.generic | float | int):
        return False
    array = np.asarray(value)
    return array.dtype == DTYPES[form.dtype] and array.shape == form.shape


def stored(values: NDArray[Any]) -> NDArray[Any]:
    """Return the numbers of a column as Arrow stores them; truth values are bits."""
    flat = np.ascontiguousarray(values).reshape(-1)
    return np.packbits(flat, bitorder="little") if flat.dtype == bool else flat
