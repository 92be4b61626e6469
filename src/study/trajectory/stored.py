"""Rows of a trajectory that are in a file: columns read when they are looked at, and States.

::

    trajectory["arm.angle"]    that column of all batches, and no other                     (n,)
    trajectory[-1]             one row of each column, and the changes of its batch     a State

Without the System there are columns, plots and exports; with it, States as well.
"""

from bisect import bisect_right
from collections.abc import Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from stagecache.checks import did_you_mean
from stagecache.errors import StudyError, UnknownPathError, WrongTypeError, listed, short_repr
from stagecache.files.envelope import unpack
from stagecache.state.handles import ScalarVariable, Vector
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.study.trajectory.dataset import read_dataset
from stagecache.study.trajectory.file import TrajectoryFile
from stagecache.study.trajectory.imported import ImportedFile
from stagecache.study.trajectory.parquet import read_parquet
from stagecache.study.trajectory.rows import (
    DISCRETE,
    AbstractRows,
    Array,
    Column,
    GrowingArray,
    Pattern,
    Pieces,
    Rows,
    SeldomChanging,
    array_of_values,
    not_recorded,
    rows_of,
)
from stagecache.system.core.state_file import KIND
from stagecache.system.saved.content import content_snapshot

RECENT: Final = 4
"""Batches whose changes are remembered."""

ENTRY: Final = "cache entry"
NETCDF: Final = (b"\x89HDF", b"CDF\x01", b"CDF\x02", b"CDF\x05")
"""The first bytes of files of netCDF."""


@final
class StoredRows(AbstractRows):
    """Rows of a file; some of them, in any order.

    Parameters
    ----------
    file : TrajectoryFile
    rows : range
    pattern : Pattern, optional
        The pattern of its States, if the System is known.
    new_names : dict of str to str, optional
        Paths in the model of items that have other paths in the file.
    """

    def __init__(
        self,
        file: TrajectoryFile | ImportedFile,
        rows: range,
        pattern: Pattern | None = None,
        new_names: Mapping[str, str] | None = None,
    ) -> None:
        names = new_names or {}
        self._file, self._header = file, file.header
        self._rows = rows
        self.is_run = bool(file.header.details)
        self.pattern = pattern
        self._new_names = names
        self._forms = {names.get(path, path): form for path, form in file.header.forms.items()}
        self.entries = [names.get(path, path) for path in file.header.entries]
        self._places = file.header.places if pattern is None else pattern.places
        self.curves: list[Pieces | None] = [None] * len(rows)
        self._changes = lru_cache(RECENT)(self._renamed_changes)

    def __reduce__(self) -> Any:
        path, text = self._file.path.resolve(), self._header.text
        return _reopened, (path, text, self._rows, self.pattern, self._new_names)

    # ------------------------------------------------------------------ contents

    @property
    def name(self) -> str:
        """Name of the System."""
        return self._header.system

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self._rows)

    @property
    def all_times(self) -> Vector:
        """The time of each row [s], only for reading."""
        return self._numbers("time")[0]

    @property
    def all_y(self) -> Vector:
        """The continuous variables of all rows, (n, ny), only for reading. All are read."""
        return self._part_of_y(slice(0, sum(self.sizes)))

    @property
    def units(self) -> dict[str, str]:
        """Declared units by path, when the file was written."""
        return {self._new_names.get(path, path): unit for path, unit in self._header.units.items()}

    @property
    def number_names(self) -> dict[str, tuple[str, ...]]:
        """Names of the numbers of variables by path, when the file was written."""
        new, names = self._new_names, self._header.number_names
        return {new.get(path, path): own for path, own in names.items()}

    @property
    def classes(self) -> dict[str, str]:
        """Names of the classes of subsystems, by their names, when the file was written."""
        names = self._new_names
        return {names.get(name, name): cls for name, cls in self._header.classes.items()}

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Numbers of q, u and z."""
        q, u, z = (self._places.get(kind, slice(0, 0)) for kind in ("q", "u", "z"))
        return q.stop - q.start, u.stop - u.start, z.stop - z.start

    @property
    def of_tables(self) -> list[str]:
        """Paths of the columns that tables have: y, and discrete variables that are numbers."""
        return [path for path, form in self._forms.items() if form.kind not in ("time", ENTRY)]

    @cached_property
    def _first_values(self) -> dict[str, Any]:
        """Values of the State that rows are made from, by path."""
        if self.pattern is not None:
            template = self.pattern.template
            return {path: v(template) for path, v in self.pattern.discrete_by_path.items()}
        where = f"{self._file.path}, the State in it"
        content, blobs = unpack(self._header.template, KIND, where)
        taken = content_snapshot(content, blobs, where)
        return {p: v for p, v in taken.values.items() if not taken.forms[p].is_continuous}

    def path_of(self, item: object) -> str:
        """Return the path of a handle, or a path in its full form; see `Pattern.path_of`."""
        own = (self._forms, self._places, self.entries, self._first_values)
        if isinstance(item, str) and any(item in paths for paths in own):
            return item
        if self.pattern is not None:
            return self.pattern.path_of(item)
        if not isinstance(item, str):
            raise WrongTypeError(
                f"{short_repr(item)}: cannot be looked up without the System",
                "the path of a column",
                f"an object of type {type(item).__name__}",
                "pass a path; or load it with the model: load_trajectory(path, system)",
            )
        known = list(self._forms)
        raise UnknownPathError(
            f"{item!r}: not in {self._file.path}",
            "the path of a column",
            repr(item),
            did_you_mean(item, known) or f"use one of {listed(known)}",
        )

    def append(self, state: State) -> None:
        """Refuse to add a row to a file."""
        raise StudyError(
            f"Trajectory.append(): {self._file.path} is a file",
            "a trajectory in memory",
            f"one that was loaded, {short_repr(state)}",
            "resume(path, system) goes on with a run; simulate(into=path) writes a new file",
        )

    # ------------------------------------------------------------------ columns

    def column(self, path: str) -> Column:
        """Return the column of a path.

        Raises
        ------
        UnknownPathError
            It is a cache entry that was not recorded.
        FileFormatError
            The column is damaged.
        """
        form = self._forms.get(path)
        if path in self._places:
            place = self._places[path]
            values = self._part_of_y(place)
            if self._is_scalar(path):
                values = values[:, 0]
            return Column(path, self._kind(place), values, place, self.number_names.get(path, ()))
        if form is not None:
            numbers, is_there = self._numbers(path)
            if is_there is None:
                return Column(path, form.kind, numbers)
        if path in self.entries:
            return Column(path, ENTRY, array_of_values(self._values(path)))
        if path in self._first_values:
            return Column(path, DISCRETE, array_of_values(self._values(path)))
        raise not_recorded(path, self.entries)

    def _is_scalar(self, path: str) -> bool:
        if path in self._forms:
            return self._forms[path].shape == ()
        return self.pattern is not None and isinstance(self.pattern.handle(path), ScalarVariable)

    def _kind(self, place: slice) -> str:
        nq, nu, _ = self.sizes
        return "q" if place.stop <= nq else "u" if place.stop <= nq + nu else "z"

    def _part_of_y(self, place: slice) -> Array:
        """Return the numbers of a part of y, of shape (n, size of the part)."""
        found = np.full((self.count, place.stop - place.start), np.nan)
        if self.pattern is not None:  # what is not in the file
            found[:] = self.pattern.template.y[place]
        for path, form in self._forms.items():
            own = self._places.get(path)
            if own is not None and place.start <= own.start and own.stop <= place.stop:
                numbers, _ = self._numbers(path)
                if form.width == own.stop - own.start:
                    part = slice(own.start - place.start, own.stop - place.start)
                    found[:, part] = numbers.reshape(self.count, form.width)
        found.flags.writeable = False
        return found

    def _batches(self) -> range:
        """Return the numbers of the batches in which the rows are."""
        if not self._rows:
            return range(0)
        low, high = sorted((self._rows[0], self._rows[-1]))
        return range(self._batch_of(low), self._batch_of(high) + 1)

    def _batch_of(self, row: int) -> int:
        return bisect_right(self._file.starts, row) - 1

    def _numbers(self, path: str) -> tuple[Array, Array | None]:
        """Return the numbers of a column, and where they are; None if everywhere."""
        form, batches = self._forms[path], self._batches()
        if not batches:
            return np.empty((0, *form.shape)), None
        parts = [self._file.numbers(number, form.path) for number in batches]
        first, asked = self._file.starts[batches[0]], self._rows
        low, high, step = asked.start - first, asked.stop - first, asked.step
        rows: Any = slice(low, high, step) if step > 0 else np.arange(low, high, step)
        numbers = np.concatenate([numbers for numbers, _ in parts])[rows]
        numbers.flags.writeable = False
        if all(is_there is None for _, is_there in parts):
            return numbers, None
        places = [np.ones(len(n), bool) if there is None else there for n, there in parts]
        return numbers, np.concatenate(places)[rows]

    def _values(self, path: str) -> list[Any]:
        """Return the values of a discrete variable or an entry, a row for each."""
        found = {row: value for number in self._batches() for row, value in self._of(path, number)}
        return [found[row] for row in self._rows]

    def _of(self, path: str, number: int) -> list[tuple[int, Any]]:
        """Return the rows of a batch, and the value of a discrete variable or an entry in each."""
        start, stop = self._file.starts[number : number + 2]
        changes, form = self._changes(number), self._forms.get(path)
        value = self._first_values.get(path)
        found: list[tuple[int, Any]] = []
        if form is not None:
            numbers, is_there = self._file.numbers(number, form.path)
        for row in range(stop - start):
            if path in changes.get(row, ()):
                value = changes[row][path]
            elif form is not None and (is_there is None or is_there[row]):
                value = form.restored(numbers[row])
            found.append((start + row, value))
        return found

    def _renamed_changes(self, number: int) -> dict[int, dict[str, Any]]:
        """Return the values that stand in no column of a batch, by row and path in the model."""
        names = self._new_names
        return {
            row: {names.get(path, path): value for path, value in values.items()}
            for row, values in self._file.changes(number).items()
        }

    # ------------------------------------------------------------------ taking out

    def state(self, row: int, stage: Stage) -> State:
        """Return a new State with the values of a row, realized to a stage."""
        pattern = self._known_pattern()
        one = self.of(range(row, row + 1))
        discrete = [
            [one._values(pattern.paths.of[variable._node])[0] for variable in variables]
            for variables in pattern.discrete
        ]
        return pattern.state(float(one.all_times[0]), one.all_y[0], discrete, stage)

    def in_memory(self, rows: range) -> Rows:
        """Return some rows in memory."""
        pattern, found = self._known_pattern(), self.of(rows)
        discrete = [[SeldomChanging() for _ in variables] for variables in pattern.discrete]
        for path, variable in pattern.discrete_by_path.items():
            kept, last = discrete[variable.subsystem or 0][variable.index], object()
            for row, value in enumerate(found._values(path)):
                if value is not last:
                    kept.append(row, value)
                last = value
        times, y = found.all_times, found.all_y
        return rows_of(
            pattern,
            GrowingArray((), times),
            GrowingArray(y.shape[1:], y),
            discrete,
            {path: found._values(path) for path in self.entries},
            found.curves,
        )

    def _known_pattern(self) -> Pattern:
        if self.pattern is None:
            raise StudyError(
                f"{self._file.path}: cannot make a State",
                "the System of the trajectory",
                f"a file of {self._header.system!r}, which has the values, not the model",
                "load it with the model: load_trajectory(path, system)",
            )
        return self.pattern

    def of(self, rows: range) -> "StoredRows":
        """Return some rows, in that order."""
        if not rows:
            which = range(0)
        else:
            first, step = self._rows[rows[0]], self._rows.step * rows.step
            which = range(first, first + step * len(rows), step)
        new = StoredRows(self._file, which, self.pattern, self._new_names)
        new._changes = self._changes
        return new


def _reopened(
    path: Path, text: str, rows: range, pattern: Pattern | None, new_names: Mapping[str, str]
) -> StoredRows:
    """Return rows of a file that was opened elsewhere, if it is still that file."""
    file = open_trajectory(path)
    if file.header.text != text or max(rows, default=-1) >= file.starts[-1]:
        raise StudyError(
            f"{path}: is another trajectory now",
            "the file whose rows were pickled or copied",
            f"one of {file.starts[-1]} rows",
            "load it again by load_trajectory()",
        )
    return StoredRows(file, rows, pattern, new_names)


def open_trajectory(path: Path) -> TrajectoryFile | ImportedFile:
    """Return the trajectory in a file, whatever its format is.

    Raises
    ------
    OSError, FileFormatError, MissingExtraError
    """
    if path.is_dir():
        return read_dataset(path, "zarr")
    with path.open("rb") as file:
        first = file.read(4)
    if first == b"PAR1":
        return read_parquet(path)
    return read_dataset(path, "netcdf") if first in NETCDF else TrajectoryFile(path)
