"""Tables of data over time: columns with labels and units, as in files of motion capture.

::

    times (n,)      labels      "hip_r", "knee_r"     values (n, m)       units "rad", "rad"
                                "R.ASIS", "Sternum"          (n, m, 3)          "m", "m"
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, final

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import ArrayLike, NDArray

from stagecache.checks import (
    did_you_mean,
    repeated,
    require_extra,
    require_name,
    require_number,
    require_text,
    wrong_type,
)
from stagecache.errors import (
    DuplicateNameError,
    FileFormatError,
    OutOfRangeError,
    ShapeError,
    StagecacheError,
    UnknownItemError,
    listed,
    short_repr,
)
from stagecache.multibody.checks import checked_array, checked_rotation
from stagecache.multibody.geometry.spatial import Array
from stagecache.state.vectors.conversion import ANY

SPACE: Final = 3


def _times(values: ArrayLike) -> NDArray[np.float64]:
    found = checked_array(values, (ANY,), "the times of a Table")
    if (np.diff(found) < 0.0).any():
        row = int(np.argmax(np.diff(found) < 0.0))
        raise OutOfRangeError(
            "the times of a Table: do not ascend",
            "seconds, in ascending order",
            f"{found[row + 1]:g} after {found[row]:g}",
            "sort the rows by time",
        )
    return found


def _texts(values: Any, what: str) -> list[Any]:
    """Return the items of a list of texts.

    Raises
    ------
    WrongTypeError
    """
    if isinstance(values, Sequence) and not isinstance(values, str | bytes):
        return list(values)
    raise wrong_type(values, what, "a list of texts", "write ['hip', 'knee']")


def _labels(values: Sequence[str]) -> tuple[str, ...]:
    given = _texts(values, "the labels of a Table")
    found = tuple(require_name(label, "a label of a Table") for label in given)
    if twice := repeated(found):
        raise DuplicateNameError(
            f"a label of a Table: {twice[0]!r} is there twice",
            "a label of its own for each column",
            listed(found),
            "rename one of these columns",
        )
    return found


def _values(values: ArrayLike) -> NDArray[np.float64]:
    what = "the values of a Table"
    shape = (ANY, ANY, SPACE) if np.ndim(values) == SPACE else (ANY, ANY)
    return checked_array(values, shape, what, may_be_nan=True)


def _units(values: Sequence[str]) -> tuple[str, ...]:
    given = _texts(values, "the units of a Table")
    return tuple(require_text(unit, "a unit of a Table") for unit in given)


def _name(value: str) -> str:
    return require_text(value, "the name of a Table")


def _header(values: Mapping[str, str]) -> Mapping[str, str]:
    if not isinstance(values, Mapping):
        hint = "write {'DataRate': '60'}"
        raise wrong_type(values, "the header of a Table", "a dict of texts", hint)
    what = "the header of a Table"
    return MappingProxyType(
        {require_text(k, what): require_text(v, what) for k, v in values.items()}
    )


@final
@frozen(eq=False, repr=False)
class Table:
    """Data over time: columns of numbers, or of points. It is const.

    Parameters
    ----------
    times : (n,) array_like
        Ascending [s].
    labels : sequence of str
        One for each of m columns.
    values : (n, m) or (n, m, 3) array_like
        NaN where there is no value.
    units : sequence of str, optional
        One for each column: "rad", "m", or "" if it is not known. The default is "".
    name : str, optional
    header : mapping, optional
        What else a file has said.

    Raises
    ------
    ShapeError, NotANumberError, OutOfRangeError, InvalidNameError, DuplicateNameError
    WrongTypeError

    Examples
    --------
    >>> from stagecache.models import Table
    >>> angles = Table([0.0, 0.1], ["hip", "knee"], [[0.1, -0.5], [0.2, -0.6]], ["rad", "rad"])
    >>> angles["knee"]
    array([-0.5, -0.6])
    >>> angles.between(0.05, 1.0)
    Table(2 columns, 1 row, t=0.1)
    """

    times: NDArray[np.float64] = field(converter=_times)
    labels: tuple[str, ...] = field(converter=_labels)
    values: NDArray[np.float64] = field(converter=_values)
    units: tuple[str, ...] = field(default=(), converter=_units)
    name: str = field(default="", converter=_name)
    header: Mapping[str, str] = field(factory=dict, converter=_header)

    def __attrs_post_init__(self) -> None:
        """Refuse parts that do not fit each other."""
        if not self.units:
            object.__setattr__(self, "units", ("",) * len(self.labels))
        expected = (len(self.times), len(self.labels))
        for what, got in (
            ("values", self.values.shape[:2]),
            ("units", (expected[0], len(self.units))),
        ):
            if got != expected:
                raise ShapeError(
                    f"the {what} of a Table: not as many as its times and labels",
                    f"{expected[0]} rows of {expected[1]}",
                    f"{got[0]} rows of {got[1]}",
                    "give a row for each time, and in it a value for each label",
                )

    # ------------------------------------------------------------------ columns

    @property
    def has_points(self) -> bool:
        """True if each value is a point (3,), as of markers."""
        return self.values.ndim == SPACE

    def __len__(self) -> int:
        return len(self.times)

    def __contains__(self, label: object) -> bool:
        return label in self.labels

    def __getitem__(self, label: str) -> Array:
        """Return a column, (n,) or (n, 3), read-only.

        Raises
        ------
        UnknownItemError
        """
        found: Array = self.values[:, self._place(label)]
        return found

    def unit(self, label: str) -> str:
        """Return the unit of a column.

        Raises
        ------
        UnknownItemError
        """
        return self.units[self._place(label)]

    def _place(self, label: str) -> int:
        if label in self.labels:
            return self.labels.index(label)
        raise UnknownItemError(
            f"{short_repr(label)}: not a column of {self!r}",
            "one of " + (listed(self.labels) or "its columns; it has none"),
            short_repr(label),
            did_you_mean(str(label), self.labels) or "see labels",
        )

    # ------------------------------------------------------------------ parts

    def between(self, start: float, end: float) -> "Table":
        """Return the rows from one time to another, both included up to a rounding of 1e-9 s.

        Raises
        ------
        ShapeError, NotANumberError, OutOfRangeError
        """
        what = "Table.between(start, end)"
        low = require_number(start, what, may_be_infinite=True) - 1e-9
        high = require_number(end, what, may_be_infinite=True) + 1e-9
        rows = (self.times >= low) & (self.times <= high)
        return evolve(self, times=self.times[rows], values=self.values[rows])

    def columns(self, labels: Sequence[str]) -> "Table":
        """Return a table of some columns, in the given order.

        Raises
        ------
        UnknownItemError, DuplicateNameError, WrongTypeError
        """
        places = [self._place(label) for label in _texts(labels, "Table.columns(labels)")]
        units = [self.units[place] for place in places]
        return evolve(self, labels=labels, values=self.values[:, places], units=units)

    def turned(self, rotation: ArrayLike) -> "Table":
        """Return a table of the same points in other axes: each is rotation @ point.

        Raises
        ------
        ShapeError, NotANumberError, OutOfRangeError
            It is not a rotation, or the table does not have points.
        """
        matrix = checked_rotation(rotation, "Table.turned(rotation)")
        if not self.has_points:
            raise ShapeError(
                f"{self!r}: has no points to turn",
                "a table of points, as of markers",
                f"values of shape {self.values.shape}",
                "turn the table of read_trc()",
            )
        return evolve(self, values=self.values @ matrix.T)

    # ------------------------------------------------------------------ other forms

    def to_xarray(self) -> Any:
        """Return an `xarray.DataArray` with dimensions time, label, and of points axis.

        Coordinate "unit" goes with the labels.

        Raises
        ------
        MissingExtraError
            xarray is not installed.
        """
        xarray = require_extra("xarray", "labels", "Table.to_xarray()")
        coordinates: dict[str, Any] = {
            "time": self.times,
            "label": list(self.labels),
            "unit": ("label", list(self.units)),
        }
        dimensions = ["time", "label"]
        if self.has_points:
            coordinates["axis"] = list("xyz")
            dimensions.append("axis")
        return xarray.DataArray(
            self.values.copy(),
            coordinates,
            dimensions,
            name=self.name or None,
            attrs=dict(self.header),
        )

    def __reduce__(self) -> Any:
        parts = self.times, self.labels, self.values, self.units, self.name, dict(self.header)
        return Table, parts

    def __repr__(self) -> str:
        kind = "points" if self.has_points else "columns"
        rows = f"{len(self)} row{'' if len(self) == 1 else 's'}"
        times = [f"{self.times[0]:g}", f"{self.times[-1]:g}"] if len(self) else []
        where = f", t={' to '.join(dict.fromkeys(times))}" if times else ""
        return f"Table({len(self.labels)} {kind}, {rows}{where})"


def table_of(file: str, *parts: Any) -> Table:
    """Return a table that was read from a file; errors name the file.

    Raises
    ------
    FileFormatError
    """
    try:
        return Table(*parts)
    except StagecacheError as error:
        raise FileFormatError(
            f"{file}: {error.what}", error.expected, error.got, error.hint
        ) from None
