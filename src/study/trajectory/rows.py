"""Rows of a trajectory: values that are taken from each State."""

from collections.abc import Callable, Sequence
from operator import is_, itemgetter
from typing import Any, final

import numpy as np

from stagecache.errors import ShapeError
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
from stagecache.state.values.values import duplicate
from stagecache.study.methods.step_polynomial import StepPolynomial
from stagecache.study.trajectory.columns import (
    DISCRETE,
    Column,
    GrowingArray,
    SeldomChanging,
    array_of_values,
    own,
)
from stagecache.study.trajectory.pattern import Pattern


@final
class Rows:
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
        For each row, y since the row before, as it was computed; None where that is not known.
    """

    def __init__(self, pattern: Pattern, entries: Sequence[str]) -> None:
        self.pattern = pattern
        self.times = GrowingArray(())
        self.y = GrowingArray((pattern.template.ny,))
        self.discrete = [[SeldomChanging() for _ in found] for found in pattern.discrete]
        self.entries: dict[str, list[Any]] = {path: [] for path in entries}
        self.curves: list[StepPolynomial | None] = []
        self._layout: tuple[object, int] = (None, 0)  # that of the State that was added last

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
            f"{got} ones",
            "begin another Trajectory with a State that has these modeling options",
        )

    # ------------------------------------------------------------------ taking out

    def state(self, row: int, stage: Stage) -> State:
        """Return a new State with the values of a row, realized to a stage."""
        values = [[column.at(row) for column in columns] for columns in self.discrete]
        return self.pattern.state(float(self.times.rows[row]), self.y.rows[row], values, stage)

    def column(self, path: str, handle: AbstractHandle) -> Column:
        """Return the values of what is kept."""
        if isinstance(handle, TimeVariable):
            return Column(path, "time", self.times.rows)
        if isinstance(handle, AbstractContinuousVariable):
            place = self.pattern.place(handle)
            values: Vector = self.y.rows[:, place]
            is_one = isinstance(handle, ScalarVariable)
            return Column(path, handle.kind, values[:, 0] if is_one else values, place)
        if isinstance(handle, DiscreteVariable):
            assert handle.subsystem is not None
            kept = self.discrete[handle.subsystem][handle.index].all(self.times.count)
            return Column(path, DISCRETE, array_of_values(kept))
        return Column(path, "cache entry", array_of_values(self.entries[path]))

    def of(self, rows: range) -> "Rows":
        """Return some of them, in that order."""
        new = Rows(self.pattern, ())
        which = np.array(rows, dtype=np.intp)
        new.times = GrowingArray((), self.times.rows[which])
        new.y = GrowingArray(self.y.shape, self.y.rows[which])
        new.discrete = [[column.of_rows(rows) for column in s] for s in self.discrete]
        new.entries = {path: [kept[row] for row in rows] for path, kept in self.entries.items()}
        follows = rows.step == 1
        new.curves = [self.curves[row] if follows and row != rows[0] else None for row in rows]
        return new

    def __reduce__(self) -> Any:
        parts = self.times, self.y, self.discrete, self.entries, self.curves
        return _restored, (self.pattern, *parts)


def _restored(pattern: Pattern, *parts: Any) -> Rows:
    new = Rows(pattern, ())
    new.times, new.y, new.discrete, new.entries, new.curves = parts
    return new


def _getter(nodes: list[int]) -> Callable[[list[Any]], tuple[Any, ...]]:
    """Return a fast function that takes the items at these places of a list."""
    if len(nodes) > 1:
        return itemgetter(*nodes)
    return lambda values: tuple([values[node] for node in nodes])
