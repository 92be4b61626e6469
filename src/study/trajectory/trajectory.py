"""Trajectories: the values of a State at a sequence of times, without keeping the States.

::

    trajectory["pendulum.angle"]   a column      (n,), or (n, k) of a vector
    trajectory[-1]                 a State       made when it is asked for
    trajectory[10:20]              a Trajectory  of these rows

A row has the time, y, all discrete variables, and the recorded entries. All else is computed from a
State that has these values.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from os import PathLike
from typing import Any, Final, SupportsIndex, final, overload

from stagecache.checks import require_bool, require_path, whole_number
from stagecache.errors import UnknownItemError, UnknownPathError, WrongTypeError, short_repr
from stagecache.state.handles import AbstractHandle, CacheEntry, ContinuousElement, Vector
from stagecache.state.stage import Stage, check_stage
from stagecache.state.state import State
from stagecache.state.values.values import duplicate
from stagecache.study.ending import ENDING, Ending
from stagecache.study.integrate.statistics import IntegratorStatistics
from stagecache.study.integrate.step_status import TerminationReason
from stagecache.study.trajectory.column_curve import ColumnCurve
from stagecache.study.trajectory.curves import known_curves
from stagecache.study.trajectory.dataset import places_of, write_dataset, xarray_dataset
from stagecache.study.trajectory.export import (
    MOST_ROWS,
    check_units,
    html_table,
    pandas_dataframe,
    write_csv,
)
from stagecache.study.trajectory.parquet import write_parquet
from stagecache.study.trajectory.plot import draw_columns
from stagecache.study.trajectory.rows import (
    AbstractRows,
    Array,
    Column,
    Pattern,
    Rows,
    array_of_values,
)
from stagecache.study.trajectory.stream import save_rows

INSTANCE: Final = Stage.INSTANCE

ELEMENT: Final = re.compile(r"(.+)\[(\d+)\]")
WHOLE_Y: Final = "y"

Item = str | AbstractHandle | ContinuousElement
"""The path of a column, or the handle of its item."""


@final
class Trajectory:
    """The values of variables, and of some entries, at a sequence of times.

    Cost of a row: O(its numbers + discrete variables), amortised. Values of discrete variables are
    kept once for as long as they stay the same; those that can be changed in place are copied.
    Rows of `simulate` after each step have its dense output beside them.

    Parameters
    ----------
    state : State
        State of the System: the pattern of all rows, not a row itself. A copy is kept.
    record : sequence of str or handles
        Entries whose values are to be kept as well. They are computed in each State that is added,
        which is realized for that. Discrete variables are kept anyway; those that are named here
        become columns of tables.

    Raises
    ------
    WrongTypeError, TopologyVersionError
    UnknownPathError, NodeKindError, WrongTypeError, ForeignNodeError
        An item to be recorded is not a variable or entry of the System.

    Examples
    --------
    >>> from stagecache import Subsystem, System, cached, q_variable
    >>> from stagecache.study.trajectory.trajectory import Trajectory
    >>> class Cart(Subsystem):
    ...     place = q_variable(1.0)
    ...
    ...     @cached(prerequisites=(place,))
    ...     def square(self, state: State) -> float:
    ...         return self.place(state) ** 2
    >>> cart = Cart()
    >>> state = System(cart).new_state()
    >>> trajectory = Trajectory(state, record=(cart.square,))
    >>> for place in (1.0, 2.0, 3.0):
    ...     cart.place.set(state, place)
    ...     trajectory.append(state)
    >>> trajectory
    Trajectory(of 'system': 3 rows, t=0 to 0, ny=1, records cart.square)
    >>> trajectory["cart.square"], cart.place(trajectory[1])
    (array([1., 4., 9.]), 2.0)
    """

    def __init__(self, state: State, record: Iterable[Item] = ()) -> None:
        pattern = Pattern.of(state)
        paths = _checked_record(pattern, record)
        entries = [path for path in paths if isinstance(pattern.handle(path), CacheEntry)]
        self._become(Rows(pattern, entries), paths)

    @classmethod
    def _of(
        cls,
        rows: AbstractRows,
        record: tuple[str, ...],
        ending: Ending | None,
        frames: tuple[Any, ...] = (),
    ) -> "Trajectory":
        new = cls.__new__(cls)
        new._become(rows, record, ending)
        new._frames = frames
        return new

    def _become(
        self, rows: AbstractRows, record: tuple[str, ...], ending: Ending | None = None
    ) -> None:
        self._frames: tuple[Any, ...] = ()
        self._kept = rows
        self._record = record
        self._ending = ending

    # ------------------------------------------------------------------ adding rows

    def append(self, state: State) -> None:
        """Add a row with the present values of a State.

        Parameters
        ----------
        state : State
            At Model or further. If entries are recorded, it is realized to the stage that they
            need.

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError, StageTooLowError
        ShapeError
            It has another number of variables than the pattern.
        Exception
            Any exception of a recorded entry. No row is added then, nor in the cases above.
        """
        if self.system is not None:
            self.system._require_own(state)
        try:
            self._kept.append(state)
        except Exception as error:
            error.add_note(
                f"while row {len(self)} was added to a trajectory, at t = {state.time:.9g}"
            )
            raise

    # ------------------------------------------------------------------ contents

    @property
    def system(self) -> Any:
        """The System of its States; None if it was loaded without one."""
        pattern = self._kept.pattern
        return None if pattern is None else pattern.template.system

    @property
    def record(self) -> tuple[str, ...]:
        """Paths of the recorded items."""
        return self._record

    @property
    def units(self) -> dict[str, str]:
        """The declared units of items by path, as in `System.units`. Cost O(nodes)."""
        return self._kept.units

    @property
    def termination_reason(self) -> TerminationReason | None:
        """Reason of the end of the simulation; None without one, or if it is not finished."""
        return None if self._ending is None else self._ending.reason

    @property
    def statistics(self) -> IntegratorStatistics | None:
        """Counters of the integrator; None without one, or if it is not finished."""
        return None if self._ending is None else self._ending.statistics

    @property
    def frames(self) -> tuple[Any, ...]:
        """A `FrameResult` for each row of `Assembler.track_all`; otherwise empty.

        It goes with slices, and is not saved.
        """
        return self._frames

    @property
    def times(self) -> Vector:
        """The time of each row [s]. Shape (n,). Before and after an event, it is the same."""
        return self._kept.all_times

    @property
    def y(self) -> Vector:
        """The continuous variables. Shape (n, ny). A read-only view, as `times`, `q`, `u`, `z`."""
        return self._kept.all_y

    @property
    def q(self) -> Vector:
        """The generalized coordinates. Shape (n, nq)."""
        return self.y[:, : self._kept.sizes[0]]

    @property
    def u(self) -> Vector:
        """The generalized speeds. Shape (n, nu)."""
        nq, nu, _ = self._kept.sizes
        return self.y[:, nq : nq + nu]

    @property
    def z(self) -> Vector:
        """The auxiliary variables. Shape (n, nz)."""
        nq, nu, _ = self._kept.sizes
        return self.y[:, nq + nu :]

    @property
    def columns(self) -> tuple[str, ...]:
        """Paths of the columns of tables: all of y, discrete variables, and recorded entries.

        Discrete variables are among them if they are numbers, and neither parameters nor modeling
        options. Others are available by name.
        """
        return tuple(dict.fromkeys([*self._kept.of_tables, *self._record]))

    def __len__(self) -> int:
        return self._kept.count

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[State]:
        return self.states()

    @overload
    def __getitem__(self, which: SupportsIndex) -> State: ...
    @overload
    def __getitem__(self, which: slice) -> "Trajectory": ...
    @overload
    def __getitem__(self, which: Item) -> Array: ...
    def __getitem__(self, which: Any) -> Any:
        """Return a column by its path or handle, a State by its row, or some rows by a slice.

        A column has shape (n,), or (n, k) of a vector, and is read-only. Paths are those of
        `State.graph`: "pendulum.angle", "pendulum.q", "q", "time", also "y"; "chain.angles[2]" or,
        by its name, "arm.elbow" is one of several numbers. Values that are not numbers of one
        shape are objects.

        Raises
        ------
        UnknownItemError, UnknownPathError, NodeKindError, WrongTypeError, ForeignNodeError
        """
        if isinstance(which, slice):
            rows = self._kept.of(range(len(self))[which])
            return Trajectory._of(rows, self._record, self._ending, self._frames[which])
        if isinstance(which, Item):
            return self._column(which).values
        return self.state(which)

    # ------------------------------------------------------------------ States

    def state(self, index: SupportsIndex, stage: Stage = INSTANCE) -> State:
        """Return a new State with the values of a row, realized to a stage.

        Weights, versions, and update times of discrete variables are not those of the State from
        which the row came. Cost O(items), and the realization.

        Parameters
        ----------
        index : int
            From the end, if it is negative.
        stage : Stage
            Instance to Report.

        Raises
        ------
        UnknownItemError, StageOutOfRangeError, TopologyVersionError
        Exception
            Any exception of a hook or an entry.
        """
        stage = check_stage(stage, INSTANCE, Stage.REPORT, "Trajectory.state(stage=...)")
        return self._kept.state(self._row(index), stage)

    def states(self, stage: Stage = INSTANCE) -> Iterator[State]:
        """Return an iterator over the States of all rows, each a new one, realized to a stage."""
        return (self.state(row, stage) for row in range(len(self)))

    def calc(self, item: Item) -> Array:
        """Return the values of an entry that was not recorded, computed in a State for each row.

        Parameters
        ----------
        item : str or handle
            A path or handle of anything that has a value.

        Returns
        -------
        ndarray of shape (n, ...)
            The values, a row for each time.

        Raises
        ------
        UnknownPathError, NodeKindError, WrongTypeError, ForeignNodeError
        Exception
            Any exception of a hook or an entry.
        """
        path, pattern = self._kept.path_of(item), self._kept.pattern
        handle = None if pattern is None or path in self._kept.entries else pattern.handle(path)
        if not isinstance(handle, CacheEntry):
            return self._column(path).values
        stage = max(INSTANCE, handle.available_from)
        return array_of_values([duplicate(handle(state)) for state in self.states(stage)])

    def curve(self, item: Item) -> Callable[[float], Any]:
        """Return a column as a function of the time [s], to feed an input: `System.connect`.

        Floats of q, u, z and entries are interpolated linearly between rows. Values of discrete
        variables, and those of any other type, are held until the next row. Before the first row
        and after the last one the function has the value there. Cost of a call O(log n).

        Parameters
        ----------
        item : str or handle
            As in ``trajectory[item]``.

        Raises
        ------
        UnknownPathError, WrongTypeError, ForeignNodeError
        UnknownItemError
            The trajectory has no rows.
        """
        column = self._column(item)
        self._row(0)
        return ColumnCurve.of(self.times, column)

    def _row(self, index: object) -> int:
        row = whole_number(index)
        if row is None:
            raise UnknownItemError(
                f"{short_repr(index)}: not a row of a trajectory",
                "an integer or a slice, or the path or handle of a column",
                f"an object of type {type(index).__name__}",
                "for a column pass a handle, as pendulum.angle or body.q; the row of a time is "
                "found in times",
            )
        if not -len(self) <= row < len(self):
            raise UnknownItemError(
                f"row {row}: is not in {self!r}",
                f"{-len(self)} to {len(self) - 1}" if len(self) else "a trajectory with rows",
                str(row),
                "the last one is trajectory[-1]" if len(self) else "append a State first",
            )
        return row % len(self)

    # ------------------------------------------------------------------ columns

    def _column(self, item: Item) -> Column:
        """Return the column of a path or handle, or of number: "arm.elbow", "chain.angles[2]"."""
        if item == WHOLE_Y:
            return Column(WHOLE_Y, "y", self.y, slice(0, self.y.shape[1]))
        if isinstance(item, ContinuousElement):
            item = f"{self._kept.path_of(item.variable)}[{item.index}]"
        try:
            return self._kept.column(self._kept.path_of(item))
        except UnknownPathError:
            found = self._number(item) if isinstance(item, str) else None
            if found is None:
                raise
            return found

    def _number(self, item: str) -> Column | None:
        """Return the column of one number, by its name or index; None if there is none."""
        path, index = _by_name(item, self._kept.number_names)
        if found := ELEMENT.fullmatch(item):
            path, index = found[1], int(found[2])
        if not path:
            return None
        try:
            whole = self._column(path)
        except UnknownPathError:
            return None
        if whole.values.ndim != 2 or not 0 <= index < whole.values.shape[1]:
            return None
        start = None if whole.place is None else whole.place.start + index
        place = None if start is None else slice(start, start + 1)
        return Column(whole.labels[index], whole.kind, whole.values[:, index], place)

    def _columns(self, items: tuple[Item, ...]) -> list[Column]:
        """Return several columns; by default the columns of tables."""
        return [self._column(item) for item in items or self.columns]

    def _units_of(self, columns: list[Column]) -> dict[str, str]:
        """Return the declared units of columns; one number of a vector has the vector's unit."""
        units = self.units
        found = {c.path: units.get(c.path) or units.get(c.path.rpartition("[")[0]) for c in columns}
        return {path: unit for path, unit in found.items() if unit}

    # ------------------------------------------------------------------ other forms

    def to_xarray(
        self, *paths: Item, units: dict[str, str] | None = None, together: bool = True
    ) -> Any:
        """Return an `xarray.Dataset` along "time".

        Columns that belong together are one variable, with a dimension that has their names: those
        of subsystems of one class (rooms ``kitchen.heat`` and ``bath.heat`` become ``heat``, along
        ``room``), and the items of a family (``house.heat``, along ``house.heat.item``).

        Parameters
        ----------
        *paths : str or handles
            Columns; all `columns` by default.
        together : bool
            False for a variable for each column.
        units : dict of str to str, optional
            Units of columns by path, instead of the declared ones.

        Raises
        ------
        MissingExtraError
            xarray is not installed.
        UnknownPathError, NodeKindError, WrongTypeError, ForeignNodeError, InvalidNameError
        """
        columns, given = self._columns(paths), {} if units is None else units
        check_units(columns, given)
        units = self._units_of(columns) | dict(given)
        require_bool(together, "together=...")
        classes = self._kept.classes if together else {}
        places = places_of(columns, classes, with_families=together)
        return xarray_dataset(self.times, columns, places, units, self._kept.name)

    def to_dataframe(self, *paths: Item) -> Any:
        """Return a `pandas.DataFrame`: the index is "time" [s], each number has a column.

        Columns are named as in `to_csv`: "pendulum.angle", "chain.angles[2]". Before and after an
        event the time is the same, so the index may have duplicates.

        Parameters
        ----------
        *paths : str or handles
            Columns; all `columns` by default.

        Raises
        ------
        MissingExtraError
            pandas is not installed.
        NotANumberError
            The values of a column are not real numbers of one shape.
        UnknownPathError, NodeKindError, WrongTypeError, ForeignNodeError
        """
        return pandas_dataframe(self.times, self._columns(paths))

    def save(self, path: "str | PathLike[str]") -> None:
        """Write all rows into a file, which `load_trajectory` reads.

        The file is an Arrow IPC stream, which other programs read as well, with a column for each
        path. An older file of that name is replaced when the first rows are on disk.

        Parameters
        ----------
        path : str or os.PathLike

        Raises
        ------
        UnsavableValueError
            A discrete variable or an entry has a value of a class that is not registered: see
            `stagecache.register_value`.
        StudyError
            There are no rows, or they were loaded without their System.
        WrongTypeError, OSError
        """
        file = require_path(path, f"save(path) of {self!r}")
        save_rows(self._kept, file, self._record, self._details)

    def to_parquet(self, path: "str | PathLike[str]") -> None:
        """Write all rows into a Parquet file, which `load_trajectory` reads. See `save`.

        Raises
        ------
        MissingExtraError
            pyarrow is not installed.
        UnsavableValueError, StudyError, WrongTypeError, OSError
        """
        file = require_path(path, "to_parquet(path)")
        write_parquet(self._kept, file, self._record, self._details)

    def to_netcdf(self, path: "str | PathLike[str]") -> None:
        """Write all rows into a file of netCDF, which `load_trajectory` reads. See `to_xarray`.

        Raises
        ------
        MissingExtraError
            xarray or netCDF4 is not installed.
        UnsavableValueError, StudyError, WrongTypeError, OSError
        """
        file = require_path(path, "to_netcdf(path)")
        write_dataset(self._kept, file, self._record, self._details, "netcdf")

    def to_zarr(self, path: "str | PathLike[str]") -> None:
        """Write all rows into a folder of Zarr, which `load_trajectory` reads. See `to_xarray`.

        Raises
        ------
        MissingExtraError
            xarray or zarr is not installed.
        UnsavableValueError, StudyError, WrongTypeError, OSError
        """
        file = require_path(path, "to_zarr(path)")
        write_dataset(self._kept, file, self._record, self._details, "zarr")

    @property
    def _details(self) -> Mapping[str, Any]:
        """The facts that files tell beside the rows."""
        return {} if self._ending is None else {ENDING: self._ending.to_json()}

    def to_csv(self, path: Any, *paths: Item) -> None:
        """Write a table with a head: the time, and a column for each number.

        Numbers that are read back are exactly the same.

        Parameters
        ----------
        path : str, os.PathLike or io.TextIOBase
            Name of a file, which is replaced; or an open file.
        *paths : str or handles
            Columns; all `columns` by default.

        Raises
        ------
        NotANumberError
            The values of a column are not real numbers of one shape. Nothing is written.
        UnknownPathError, NodeKindError, WrongTypeError, ForeignNodeError
        OSError
        """
        write_csv(path, self.times, self._columns(paths))

    def plot(self, *paths: Item, ax: Any = None) -> Any:
        """Draw columns over the time with matplotlib, with declared units.

        Lines show what was computed between rows, with corners and jumps at events; elsewhere, rows
        are marks that no line connects:

        - Rows of `simulate`: the dense output of its steps, also between rows at intervals unless
          there are many steps to a row or the curves take more than 64 MB. Discrete variables are
          steps; with ``every``, only where no step ends between two rows.
        - Rows of a file, and appended ones: cubics, if the System is known, there are at most 600
          rows, and ydot of the model fits them; within 0.5 % of the range of each number. The model
          is asked for 5 s at most.
        - Recorded entries, and files without their System: marks.

        Data are in seconds; the axis of times shows them in minutes, hours or days where these fit.
        Several lines have a legend beside the axes.

        Parameters
        ----------
        *paths : str or handles
            Columns; all q by default, or else all `columns`.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; by default on a new figure.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        MissingExtraError
            matplotlib is not installed.
        NotANumberError
            The values of a column are not real numbers of one shape.
        UnknownPathError, NodeKindError, WrongTypeError, ForeignNodeError
        """
        columns = self._columns(paths)
        if not paths:
            columns = [column for column in columns if column.kind == "q"] or columns
        units = self._units_of(columns)
        return draw_columns(self.times, columns, known_curves(self._kept), units, ax)

    def __repr__(self) -> str:
        return f"Trajectory({self._summary})"

    @property
    def _summary(self) -> str:
        rows = f"{len(self)} row{'' if len(self) == 1 else 's'}"
        span = f", t={self.times[0]:g} to {self.times[-1]:g}" if len(self) else ""
        records = f", records {', '.join(self._record)}" if self._record else ""
        end = ", not finished" if self._kept.is_run and self._ending is None else ""
        return f"of {self._kept.name!r}: {rows}{span}, ny={sum(self._kept.sizes)}{records}{end}"

    def _repr_html_(self) -> str:
        parts = [self]
        if len(self) > 2 * MOST_ROWS + 1:
            parts = [self[:MOST_ROWS], self[-MOST_ROWS:]]
        found = [(part.times, part._columns(())) for part in parts]
        return html_table(self._summary, found, self._units_of(found[0][1]))


def _by_name(item: str, names: Mapping[str, tuple[str, ...]]) -> tuple[str, int]:
    """Return the path of the variable that has a number of that name, and its index there."""
    subsystem, _, name = item.partition(".")
    for path, own in names.items():
        if name in own and path.partition(".")[0] == subsystem:
            return path, own.index(name)
    return "", 0


def _checked_record(pattern: Pattern, record: Iterable[Item] | Item) -> tuple[str, ...]:
    """Return the paths of the items to record, each once."""
    if isinstance(record, str | AbstractHandle) or not isinstance(record, Iterable):
        raise WrongTypeError(
            "record=...: not a collection",
            "paths or handles, as a tuple or list",
            got := short_repr(record),
            f"write record=({record if isinstance(record, AbstractHandle) else got},)",
        )
    whole = (item.variable if isinstance(item, ContinuousElement) else item for item in record)
    return tuple(dict.fromkeys(map(pattern.path_of, whole)))
