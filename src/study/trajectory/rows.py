"""Rows of a trajectory: values that are taken from each State, and States made of them.

::

    times, y             GrowingArray     [0.0, 0.1, 0.2, ...]
    discrete variables   SeldomChanging   from row 0: 3, from row 7: 4
    recorded entries     a list of values, one for each row

    path, handle  ->  Pattern  ->  place in a row
    a row         ->  Pattern  ->  State
"""

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import pairwise
from operator import is_, itemgetter
from typing import Any, Final, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from stagecache.checks import require_type
from stagecache.errors import (
    NodeKindError,
    NotANumberError,
    ShapeError,
    UnknownPathError,
    WrongTypeError,
    short_repr,
)
from stagecache.inspection.node_paths import NodePaths
from stagecache.state.handles import (
    AbstractContinuousVariable,
    AbstractHandle,
    CacheEntry,
    DiscreteVariable,
    ScalarVariable,
    TimeVariable,
    Vector,
)
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.state.values.values import IMMUTABLE, duplicate
from stagecache.study.methods.step_polynomial import StepPolynomial
from stagecache.system.declare.units import declared_units

Array = NDArray[Any]
NUMBERS: Final = "biuf"
"""The kinds of arrays that are real numbers, or truth values."""

Pieces = tuple[StepPolynomial, ...]
"""y from one row to the next: each piece holds from its start until the next one, or the row."""

DISCRETE: Final = "discrete variable"
"""The kind of a column."""

FIRST_CAPACITY: Final = 64


@final
class GrowingArray:
    """Rows of floats, to which more are added. Cost of a row O(its size), amortised.

    Parameters
    ----------
    shape : tuple of int
        Shape of a row.
    rows : array_like, optional
        Rows to begin with; they are copied.

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
        """All rows, as a read-only view that later rows do not change."""
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

    def changes(self) -> list[tuple[int, Any]]:
        """Return each value, with the first row that has it."""
        return list(zip(self._starts, self._values, strict=True))

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
    names : tuple of str
        The names of the numbers of a row within their subsystem; empty where they have none.
    """

    path: str
    kind: str
    values: Array
    place: slice | None = None
    names: tuple[str, ...] = ()

    @property
    def labels(self) -> list[str]:
        """Labels of the numbers of a row: "arm.elbow", "chain.angles[2]", or the path of one."""
        shape = self.values.shape[1:]
        if self.names:
            subsystem = self.path.partition(".")[0]
            return [f"{subsystem}.{name}" for name in self.names]
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


MODEL = Stage.MODEL


@final
class Pattern:
    """A State from which others differ only in the time, y, and discrete variables.

    Parameters
    ----------
    template : State
        At Instance. Nothing else changes it.
    """

    def __init__(self, template: State) -> None:
        self.template = template
        self._paths: NodePaths | None = None

    @classmethod
    def of(cls, state: State) -> "Pattern":
        """Return the pattern of a State, which is copied.

        Raises
        ------
        WrongTypeError, TopologyVersionError
        """
        hint = "pass a State: system.realize_topology(), for instance"
        what = f"{short_repr(state)}: cannot be the pattern of a Trajectory"
        require_type(state, State, what, "a State of a System", hint)
        if state.system is None:
            raise WrongTypeError(
                what,
                "a State of a System, which can make others",
                "a State that was made by hand",
                "write the model as Subsystems of a System",
            )
        state.system._require_own(state)
        template = state.copy()
        state.system.realize(template, Stage.INSTANCE)
        return cls(template)

    def __reduce__(self) -> Any:
        return Pattern, (self.template,)

    # ------------------------------------------------------------------ items

    @property
    def paths(self) -> NodePaths:
        """Names of the items."""
        if self._paths is None:
            self._paths = NodePaths(self.template._contents)
        return self._paths

    @property
    def discrete(self) -> list[list[DiscreteVariable[Any]]]:
        """The discrete variables, by subsystem."""
        return [s.discrete for s in self.template._contents.realization.layout.subsystems]

    @property
    def discrete_by_path(self) -> dict[str, DiscreteVariable[Any]]:
        """The discrete variables by path."""
        return {self.paths.of[v._node]: v for variables in self.discrete for v in variables}

    @property
    def blocks(self) -> list[str]:
        """Paths of the variables in y that are not empty."""
        subsystems = self.template._contents.realization.layout.subsystems
        blocks = [b for kind in ("q", "u", "z") for s in subsystems for b in s.blocks[kind]]
        places = map(self.place, blocks)
        return [
            self.paths.of[block._node]
            for block, place in zip(blocks, places, strict=True)
            if place.start < place.stop
        ]

    @property
    def places(self) -> dict[str, slice]:
        """Places in y, by path: of all variables that are not empty, and of those they make up."""
        layout = self.template._contents.realization.layout
        handles: list[Any] = [layout.variables[kind] for kind in ("q", "u", "z")]
        for subsystem in layout.subsystems:
            handles += subsystem.whole.values()
            handles += [block for blocks in subsystem.blocks.values() for block in blocks]
        places = {self.paths.of[handle._node]: self.place(handle) for handle in handles}
        return {path: place for path, place in places.items() if place.start < place.stop}

    def place(self, variable: AbstractContinuousVariable) -> slice:
        """Return the place of a variable in y."""
        return self.template._contents.place(variable)

    def handle(self, path: str) -> AbstractHandle:
        """Return the handle of a path that `path_of` has returned."""
        keys = self.template._contents.realization.store.keys
        found = keys[self.paths.node[path]]
        assert isinstance(found, AbstractHandle)
        return found

    def path_of(self, item: object) -> str:
        """Return the path of a handle, or a path in its full form.

        Raises
        ------
        UnknownPathError, WrongTypeError, ForeignNodeError
        NodeKindError
            The path of a stage, or of weights.
        """
        node = self.paths.find(item)
        path = self.paths.of[node]
        if isinstance(self.template._contents.realization.store.keys[node], AbstractHandle):
            return path
        raise NodeKindError(
            f"{path}: has no values in a trajectory",
            "the time, a variable, or a cache entry",
            "a stage, or weights",
            "trajectory.columns has some of these; state.graph shows all items",
        )

    # ------------------------------------------------------------------ States

    def state(self, time: float, y: Vector, discrete: list[list[Any]], stage: Stage) -> State:
        """Return a new State that has these values, realized to a stage.

        Raises
        ------
        TopologyVersionError
        Exception
            Any exception of a hook or an entry.
        """
        system = self.template.system
        system._require_own(self.template)
        state = self.template.copy()
        state.time = time
        for is_option in (True, False):  # after options are written, q, u and z begin anew
            _write(state, discrete, is_option=is_option)
            system.realize(state, MODEL)
        state.y = y
        system.realize(state, stage)
        return state


def _write(state: State, discrete: list[list[Any]], *, is_option: bool) -> None:
    """Write the discrete variables that have other values; options, or all others."""
    contents = state._contents
    layout, values = contents.realization.layout, contents.realization.store.values
    for subsystem, wanted in zip(layout.subsystems, discrete, strict=True):
        for variable, value in zip(list(subsystem.discrete), wanted, strict=True):
            has_turn = (variable.invalidates == MODEL) is is_option
            if has_turn and value is not values[variable._node]:
                contents.set_discrete(variable, duplicate(value))


class AbstractRows(ABC):
    """Rows of a trajectory, in memory or in a file."""

    pattern: Pattern | None
    """The pattern of its States; None if the System is not known."""

    entries: Collection[str]
    """Paths of the recorded entries."""

    curves: list[Pieces | None]
    """Curves of y since the row before, as computed, for each row; None where not kept."""

    is_run: bool
    """True if they are in a file that a simulation writes, or has written."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Name of the System."""

    @property
    @abstractmethod
    def count(self) -> int:
        """Number of rows."""

    @property
    @abstractmethod
    def all_times(self) -> Vector:
        """The time of each row [s], only for reading."""

    @property
    @abstractmethod
    def all_y(self) -> Vector:
        """The continuous variables of all rows, (n, ny), only for reading."""

    @property
    @abstractmethod
    def units(self) -> dict[str, str]:
        """Declared units by path."""

    @property
    @abstractmethod
    def number_names(self) -> dict[str, tuple[str, ...]]:
        """Names of the numbers of variables by path, of those that have names."""

    @property
    @abstractmethod
    def classes(self) -> dict[str, str]:
        """Names of the classes of subsystems, by their names."""

    @property
    @abstractmethod
    def sizes(self) -> tuple[int, int, int]:
        """Numbers of q, u and z."""

    @property
    @abstractmethod
    def of_tables(self) -> list[str]:
        """Paths of the columns that tables have: y, and discrete variables that are numbers."""

    @abstractmethod
    def append(self, state: State) -> None:
        """Add a State of the System, as `Trajectory.append` says."""

    @abstractmethod
    def path_of(self, item: object) -> str:
        """Return the path of a handle, or a path in its full form; see `Pattern.path_of`."""

    @abstractmethod
    def column(self, path: str) -> Column:
        """Return the column of a path.

        Raises
        ------
        UnknownPathError
            It is a cache entry that was not recorded.
        """

    @abstractmethod
    def state(self, row: int, stage: Stage) -> State:
        """Return a new State with the values of a row, realized to a stage."""

    @abstractmethod
    def of(self, rows: range) -> "AbstractRows":
        """Return some rows, in that order."""

    @abstractmethod
    def in_memory(self, rows: range) -> "Rows":
        """Return some rows in memory; `StudyError` if the System is not known."""


@final
class Rows(AbstractRows):
    """Values of States, a row for each.

    Parameters
    ----------
    pattern : Pattern
    entries : sequence of str
        The paths of entries that are recorded.

    Attributes
    ----------
    times : GrowingArray
    y : GrowingArray
    discrete : list of list of SeldomChanging
        By subsystem.
    entries : dict of str to list
        The values, by path.
    curves : list of StepPolynomial or None
        For each row, y since the row before, as it was computed; None where it is not known.
    """

    pattern: Pattern
    is_run = False

    def __init__(self, pattern: Pattern, entries: Sequence[str]) -> None:
        self.pattern = pattern
        self.times = GrowingArray(())
        self.y = GrowingArray((pattern.template.ny,))
        self.discrete = [[SeldomChanging() for _ in found] for found in pattern.discrete]
        self.entries: dict[str, list[Any]] = {path: [] for path in entries}
        self.curves: list[Pieces | None] = []
        self._layout: tuple[object, int] = (None, 0)  # of the State that was added last

    # ------------------------------------------------------------------ contents

    @property
    def name(self) -> str:
        """Name of the System."""
        return str(self.pattern.template.system.name)

    @property
    def count(self) -> int:
        """Number of rows."""
        return self.times.count

    @property
    def all_times(self) -> Vector:
        """The time of each row [s], only for reading."""
        return self.times.rows

    @property
    def all_y(self) -> Vector:
        """The continuous variables of all rows, (n, ny), only for reading."""
        return self.y.rows

    @property
    def units(self) -> dict[str, str]:
        """Declared units by path."""
        return declared_units(self.pattern.template._contents, self.pattern.paths)

    @property
    def number_names(self) -> dict[str, tuple[str, ...]]:
        """Names of the numbers of variables by path, of those that have names."""
        found: dict[str, tuple[str, ...]] = {}
        for path in self.pattern.blocks:
            handle: Any = self.pattern.handle(path)
            place = self.pattern.place(handle)
            if names := handle._names_of(place.stop - place.start):
                found[path] = names
        return found

    @property
    def classes(self) -> dict[str, str]:
        """Names of the classes of subsystems, by their names."""
        subsystems = self.pattern.template.system.subsystems
        return {subsystem.name: type(subsystem).__name__ for subsystem in subsystems}

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Numbers of q, u and z."""
        template = self.pattern.template
        return template.nq, template.nu, template.nz

    @property
    def of_tables(self) -> list[str]:
        """Paths of the columns that tables have: y, and discrete variables that are numbers."""
        found = list(self.pattern.blocks)
        for path, variable in self.pattern.discrete_by_path.items():
            is_shown = variable.invalidates > Stage.INSTANCE
            if is_shown and self.column(path).values.dtype.kind in NUMBERS:
                found.append(path)
        return found

    def path_of(self, item: object) -> str:
        """Return the path of a handle, or a path in its full form; see `Pattern.path_of`."""
        return self.pattern.path_of(item)

    # ------------------------------------------------------------------ adding

    def append(self, state: State) -> None:
        """Add a State of the System, as `Trajectory.append` says."""
        y = state.y
        contents = state._contents
        layout = contents.realization.layout
        if layout is not self._layout[0] or layout.serial != self._layout[1]:
            self._look(state)
        if y.shape != self.y.shape:
            raise self._another_size(f"{len(y)} continuous")
        found = []
        if self.entries:
            if contents.realization.machine.stage < self._stage:
                self.pattern.template.system.realize(state, self._stage)
            found = [duplicate(entry(state)) for entry in self._handles]
        values = self._values_of(contents.realization.store.values)
        changes = []
        if not all(map(is_, values, self._last)):
            changes = [
                (n, value, own(value))
                for n, (value, last) in enumerate(zip(values, self._last, strict=True))
                if value is not last
            ]
        for n, value, kept in changes:
            self._changing[n].append(self.times.count, kept)
            self._last[n] = value if kept is value else self
        for recorded, value in zip(self.entries.values(), found, strict=True):
            recorded.append(value)
        self.y.append(y)
        self.times.append(contents.time)
        self.curves.append(None)

    def _look(self, state: State) -> None:
        """Find the discrete variables of a State, and the entries to compute."""
        contents = state._contents
        layout = contents.realization.layout
        sizes = [len(subsystem.discrete) for subsystem in layout.subsystems]
        if sizes != [len(columns) for columns in self.discrete]:
            raise self._another_size(f"{sum(sizes)} discrete")
        handles = []
        for path in self.entries:
            handle = self.pattern.handle(path)
            contents.require(handle)
            assert isinstance(handle, CacheEntry)
            handles.append(handle)
        self._handles: list[CacheEntry[Any]] = handles
        self._stage = max([handle.available_from for handle in handles], default=Stage.MODEL)
        self._values_of = _getter([v._node for s in layout.subsystems for v in s.discrete])
        self._changing = [column for columns in self.discrete for column in columns]
        # Values of a State as long as nothing has changed; self, if they may change in place.
        self._last: list[object] = [self] * len(self._changing)
        self._layout = layout, layout.serial

    def _another_size(self, got: str) -> ShapeError:
        count = sum(map(len, self.discrete))
        return ShapeError(
            "Trajectory.append(): cannot have this State as a row",
            f"{self.y.shape[0]} continuous and {count} discrete variables",
            f"{got} variables",
            "begin another Trajectory with a State that has these modeling options",
        )

    # ------------------------------------------------------------------ taking out

    def state(self, row: int, stage: Stage) -> State:
        """Return a new State with the values of a row, realized to a stage."""
        values = [[column.at(row) for column in columns] for columns in self.discrete]
        return self.pattern.state(float(self.times.rows[row]), self.y.rows[row], values, stage)

    def column(self, path: str) -> Column:
        """Return the column of a path.

        Raises
        ------
        UnknownPathError
            It is a cache entry that was not recorded.
        """
        handle = self.pattern.handle(path)
        if isinstance(handle, CacheEntry) and path not in self.entries:
            raise not_recorded(path, self.entries)
        if isinstance(handle, TimeVariable):
            return Column(path, "time", self.times.rows)
        if isinstance(handle, AbstractContinuousVariable):
            place = self.pattern.place(handle)
            values: Vector = self.y.rows[:, place]
            is_one = isinstance(handle, ScalarVariable)
            names = handle._names_of(place.stop - place.start)
            return Column(path, handle.kind, values[:, 0] if is_one else values, place, names)
        if isinstance(handle, DiscreteVariable):
            assert handle.subsystem is not None
            kept = self.discrete[handle.subsystem][handle.index].all(self.times.count)
            return Column(path, DISCRETE, array_of_values(kept))
        return Column(path, "cache entry", array_of_values(self.entries[path]))

    def of(self, rows: range) -> "Rows":
        """Return some rows, in that order."""
        which = np.array(rows, dtype=np.intp)
        follows = rows.step == 1
        return rows_of(
            self.pattern,
            GrowingArray((), self.times.rows[which]),
            GrowingArray(self.y.shape, self.y.rows[which]),
            [[column.of_rows(rows) for column in columns] for columns in self.discrete],
            {path: [kept[row] for row in rows] for path, kept in self.entries.items()},
            [self.curves[row] if follows and row != rows[0] else None for row in rows],
        )

    def in_memory(self, rows: range) -> "Rows":
        """Return some rows in memory."""
        return self.of(rows)

    def __reduce__(self) -> Any:
        parts = self.times, self.y, self.discrete, self.entries, self.curves
        return rows_of, (self.pattern, *parts)


def not_recorded(path: str, entries: Iterable[str]) -> UnknownPathError:
    """Return the error of an entry that has no column."""
    return UnknownPathError(
        f"{path!r}: was not recorded",
        ", ".join(("y, a discrete variable", *entries)),
        "a cache entry",
        f"record it: record=({path!r},); or compute it now: trajectory.calc({path!r})",
    )


def rows_of(pattern: Pattern, *parts: Any) -> Rows:
    """Return rows that have these times, y, discrete variables, entries and curves."""
    new = Rows(pattern, ())
    new.times, new.y, new.discrete, new.entries, new.curves = parts
    return new


def _getter(nodes: list[int]) -> Callable[[list[Any]], tuple[Any, ...]]:
    """Return a fast function that takes the items at these places of a list."""
    if len(nodes) > 1:
        return itemgetter(*nodes)
    return lambda values: tuple([values[node] for node in nodes])
