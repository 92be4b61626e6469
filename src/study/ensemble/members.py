"""Members of a study: the values of each one, by path.

::

    [{"pendulum.length": 1.0}, ...]        members one by one
    {"pendulum.length": [1.0, ...], ...}   columns, as of a table of pandas or polars
    full_factorial(...), sobol(...), ...   designs, which are Members
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Self, SupportsIndex, final, overload

import numpy as np
from numpy.typing import NDArray

from stagecache.checks import wrong_type
from stagecache.errors import ShapeError, UnknownItemError, WrongTypeError, short_repr

MOST_SHOWN: Final = 3
HINT: Final = (
    "pass a list of dicts as [{'pendulum.length': 1.0}, ...], a dict of columns, or "
    "latin_hypercube({'pendulum.length': (0.5, 2.0)}, 100)"
)


@final
class Members(Sequence[dict[str, Any]]):
    """Members as columns: a sequence of dicts, each from path to value. It is immutable.

    Parameters
    ----------
    columns : mapping of str to sequence
        Values of all members by path; equally long. Rows of a two-dimensional array are values,
        too. They are copied.

    Raises
    ------
    WrongTypeError
        The columns are not a mapping of paths to sequences.
    ShapeError
        They have different lengths.

    Examples
    --------
    >>> from stagecache.study import Members
    >>> members = Members({"pendulum.length": [1.0, 2.0], "pendulum.angle": [0.1, 0.2]})
    >>> len(members), members[1]
    (2, {'pendulum.length': 2.0, 'pendulum.angle': 0.2})
    """

    __slots__ = ("_columns", "_length", "_levels")

    def __init__(self, columns: Mapping[str, Any]) -> None:
        if not isinstance(columns, Mapping):
            raise wrong_type(columns, "Members(columns): not columns", "a mapping", HINT)
        self._columns = {
            _checked_path(path, "Members(columns)"): _column_of(path, values)
            for path, values in columns.items()
        }
        lengths = {path: len(values) for path, values in self._columns.items()}
        if len(set(lengths.values())) > 1:
            raise ShapeError(
                "Members(columns): the columns have different lengths",
                "a value of each member in every column",
                ", ".join(f"{path}: {length}" for path, length in lengths.items()),
                "complete the shorter ones; or pass a list of dicts, which need not name all paths",
            )
        self._length = next(iter(lengths.values()), 0)
        self._levels: dict[str, tuple[Any, ...]] = {}

    @classmethod
    def _of_levels(cls, levels: Mapping[str, tuple[Any, ...]], columns: Mapping[str, Any]) -> Self:
        """Return Members whose columns are all combinations of levels."""
        members = cls(columns)
        members._levels = dict(levels)
        return members

    @property
    def names(self) -> tuple[str, ...]:
        """Paths of the variables in which members differ."""
        return tuple(self._columns)

    @property
    def levels(self) -> dict[str, tuple[Any, ...]]:
        """Values by path, if the members are all their combinations; else empty."""
        return dict(self._levels)

    def column(self, path: str) -> tuple[Any, ...]:
        """Return the values of all members at a path.

        Raises
        ------
        UnknownItemError
        """
        if path not in list(self._columns):  # it may be a list, which has no hash
            raise UnknownItemError(
                f"{short_repr(path)}: not a column of {self!r}",
                "one of " + ", ".join(self._columns),
                short_repr(path),
                "members.names lists all",
            )
        return self._columns[path]

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, which: SupportsIndex) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, which: slice) -> "Members": ...
    def __getitem__(self, which: Any) -> Any:
        """Return the values of a member, or some members by a slice.

        Raises
        ------
        UnknownItemError
        """
        if isinstance(which, slice):
            return Members({path: values[which] for path, values in self._columns.items()})
        try:
            row = range(self._length)[which]
        except (IndexError, TypeError):
            raise UnknownItemError(
                f"member {short_repr(which)}: does not exist",
                f"an index from 0 to {self._length - 1}" if self._length else "a member",
                short_repr(which),
                "len(members) is their number",
            ) from None
        return {path: values[row] for path, values in self._columns.items()}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[row] for row in range(self._length))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Members):
            return NotImplemented
        mine, theirs = list(map(_comparable, self)), list(map(_comparable, other))
        return self.names == other.names and mine == theirs

    __hash__ = None  # type: ignore[assignment]  # values may be arrays

    def __reduce__(self) -> Any:
        return _restored, (self._columns, self._levels)

    def __repr__(self) -> str:
        return f"Members({self._length} of {', '.join(self._columns) or 'no variable'})"


def _restored(columns: dict[str, Any], levels: dict[str, Any]) -> Members:
    return Members._of_levels(levels, columns)


def _comparable(values: dict[str, Any]) -> list[Any]:
    return [(p, np.shape(value), np.asarray(value).tolist()) for p, value in values.items()]


def _checked_path(path: object, where: str) -> str:
    if isinstance(path, str):
        return path
    raise wrong_type(
        path, f"{where}: not a path", "a path as 'pendulum.length'", f"write {str(path)!r}"
    )


def _column_of(path: str, values: Any) -> tuple[Any, ...]:
    """Return the values of a column; NumPy numbers become Python numbers."""
    if hasattr(values, "to_numpy"):  # of pandas or polars
        values = values.to_numpy()
    if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__len__"):
        raise WrongTypeError(
            f"Members(columns): {path!r} is not a column",
            "a list or an array, with a value of each member",
            short_repr(values),
            f"write [{short_repr(values)}]",
        )
    return tuple(plain(value) for value in values)


def plain(value: Any) -> Any:
    """Return a Python number for a NumPy number, and a copy of an array, a list or a dict."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        if value.shape == () and not value.dtype.hasobject:
            return value.item()
        value = value.copy()
        value.flags.writeable = False
    elif type(value) in (list, tuple):
        return type(value)(map(plain, value))
    elif type(value) is dict:
        return {key: plain(inside) for key, inside in value.items()}
    return value


def array_of(value: Any) -> NDArray[Any] | None:
    """Return an array with exactly the items of a list; None if that is not possible.

    NumPy would turn numbers beside texts into texts, and round integers beside floats.
    """
    if isinstance(value, np.ndarray):
        return None if np.ma.isMaskedArray(value) else value
    try:
        array, objects = np.array(value), np.array(value, object)
    except ValueError:  # rows of several lengths
        return None
    items = objects.ravel().tolist()
    if array.dtype.hasobject or array.shape != objects.shape:
        return None
    is_exact = {*map(type, items)} == {float} or are_same(items, array.ravel().tolist())
    return array if is_exact else None


def are_same(items: Sequence[Any], others: Sequence[Any]) -> bool:
    """Return True if numbers or texts are equal, exactly; NaN is equal to NaN."""
    pairs = zip(items, others, strict=True)
    return all(one == other or (one != one and other != other) for one, other in pairs)  # noqa: PLR0124  # is it NaN?


def members_of(given: Any) -> Sequence[Mapping[str, Any]]:
    """Return members as a sequence of mappings, which may make them on demand.

    Raises
    ------
    WrongTypeError, ShapeError
    """
    if isinstance(given, Mapping):
        return Members(given)
    if hasattr(given, "columns") and hasattr(given, "__getitem__"):  # of pandas or polars
        return Members({path: given[path] for path in given.columns})
    if isinstance(given, Sequence) and not isinstance(given, str | bytes):
        return given
    raise wrong_type(given, "run_study(members): not members", "a sequence of dicts", HINT)
