"""Storage of a trajectory: numbers in arrays that grow, and values that seldom change.

::

    times, y             GrowingArray     [0.0, 0.1, 0.2, ...]
    discrete variables   SeldomChanging   from row 0: 3, from row 7: 4
    recorded entries     a list of values, one for each row
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from stagecache.errors import NotANumberError, short_repr
from stagecache.state.values.values import IMMUTABLE, duplicate

Array = NDArray[Any]
NUMBERS: Final = "biuf"
"""The kinds of arrays that are real numbers, or truth values."""

DISCRETE: Final = "discrete variable"
"""The kind of a column."""

FIRST_CAPACITY: Final = 64


@final
class GrowingArray:
    """Rows of floats, to which more are added. Cost of a row O(its size), amortised.

    Parameters
    ----------
    shape : tuple of int
        Of a row.
    rows : array_like, optional
        Which it has already; they are copied.

    Attributes
    ----------
    count : int
        The number of rows.
    shape : tuple of int
    """

    __slots__ = ("_rows", "count", "shape")

    def __init__(self, shape: tuple[int, ...], rows: Array | None = None) -> None:
        self.shape = shape
        self.count = 0 if rows is None else len(rows)
        self._rows = np.empty((FIRST_CAPACITY, *shape)) if rows is None else np.array(rows)

    def append(self, row: Any) -> None:
        """Add a row, which is copied."""
        count = self.count
        if count == len(self._rows):
            more = np.empty((max(2 * count, FIRST_CAPACITY), *self.shape))
            more[:count] = self._rows
            self._rows = more
        self._rows[count] = row
        self.count = count + 1

    @property
    def rows(self) -> Array:
        """All rows: a read-only view, which later ones do not change."""
        view = self._rows[: self.count]
        view.flags.writeable = False
        return view

    def __reduce__(self) -> Any:
        return GrowingArray, (self.shape, self._rows[: self.count])


@final
class SeldomChanging:
    """Values of a discrete variable: each once, with the first row that has it."""

    __slots__ = ("_starts", "_values")

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._values: list[Any] = []

    def append(self, row: int, value: Any) -> None:
        """Store the value from a row on."""
        self._starts.append(row)
        self._values.append(value)

    def at(self, row: int) -> Any:
        """Return the value in a row, only for reading. Cost O(log changes)."""
        return self._values[bisect_right(self._starts, row) - 1]

    def all(self, count: int) -> list[Any]:
        """Return the values in this number of rows."""
        spans = pairwise([*self._starts, count])
        return [
            value
            for value, (start, stop) in zip(self._values, spans, strict=True)
            for _ in range(start, stop)
        ]

    def of_rows(self, rows: Sequence[int]) -> "SeldomChanging":
        """Return the values in other rows, in that order."""
        new = SeldomChanging()
        last = -1
        for number, row in enumerate(rows):
            which = bisect_right(self._starts, row) - 1
            if which != last:
                new.append(number, self._values[which])
            last = which
        return new


def own(value: Any) -> Any:
    """Return a value that cannot change: itself if it is immutable, else a copy."""
    return value if type(value) in IMMUTABLE else duplicate(value)


def array_of_values(values: Sequence[Any]) -> Array:
    """Return values as an array, a row for each; of objects, unless they are numbers of one shape.

    A read-only array of shape (n, ...).
    """
    try:
        found = np.array(values)
    except (TypeError, ValueError):  # of several shapes
        found = np.empty(0, object)
    if not values:
        found = np.empty(0)
    elif found.dtype.kind not in f"{NUMBERS}c":
        found = np.empty(len(values), object)
        for row, value in enumerate(values):
            found[row] = value
    found.flags.writeable = False
    return found


@final
@frozen
class Column:
    """One column of a trajectory.

    Attributes
    ----------
    path : str
    kind : str
        "q", "u", "z", "y", "time", "discrete variable" or "cache entry".
    values : ndarray of shape (n, ...)
    place : slice or None
        Place in y; None if it is not in y.
    """

    path: str
    kind: str
    values: Array
    place: slice | None = None

    @property
    def labels(self) -> list[str]:
        """The names of the numbers of a row: "chain.angles[2]"; the path alone if it is one."""
        shape = self.values.shape[1:]
        if not shape:
            return [self.path]
        return [f"{self.path}[{','.join(map(str, index))}]" for index in np.ndindex(*shape)]

    def numbers(self, what: str) -> Array:
        """Return its numbers, of shape (n, number of labels).

        Raises
        ------
        NotANumberError
            They are not numbers, or not of one shape. `what` names their use.
        """
        values = self.values
        if values.dtype.kind in NUMBERS:
            return values.reshape(len(values), len(self.labels))
        row = next((n for n, value in enumerate(values) if not _is_number(value)), 0)
        kinds = {np.shape(value) for value in values if _is_number(value)}
        raise NotANumberError(
            f"{self.path}: cannot be {what}",
            "real numbers, of one shape in all rows",
            f"{short_repr(values[row])} in row {row}"
            if len(kinds) < 2
            else f"shapes {' and '.join(map(str, sorted(kinds)))}",
            f"name other columns; or record an entry that makes numbers of {self.path}",
        )


def _is_number(value: object) -> bool:
    return isinstance(value, np.ndarray | float | int) and np.asarray(value).dtype.kind in NUMBERS
