"""Columns of a linear model: all numbers of y and of the inputs.

::

    column   0 ... ny - 1                    ny ...
             q, u, z                         time, parameters and other discrete variables

A set of columns is an int with a bit for each, so the union of two sets is fast.
"""

from collections.abc import Iterable, Mapping
from typing import Any, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from stagecache.checks import not_finite, type_text
from stagecache.errors import NodeKindError, NotANumberError, short_repr
from stagecache.inspection.node_paths import NodePaths
from stagecache.state.handles import (
    AbstractContinuousVariable,
    AbstractHandle,
    DiscreteVariable,
    TimeVariable,
    Vector,
)
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.state.vectors.vectors import CONTINUOUS
from stagecache.study.linear.items import element_names
from stagecache.study.methods.derivatives import name_of_y


@final
@frozen(eq=False)
class Input:
    """A variable. Each of its numbers is a column.

    Attributes
    ----------
    handle : TimeVariable or DiscreteVariable
    path : str
    value : (n,) float
    shape : tuple of int
    is_array : bool
        True for an array, also of shape (); False for a float.
    start : int
        Its first column.
    """

    handle: TimeVariable | DiscreteVariable[Any]
    path: str
    value: Vector
    shape: tuple[int, ...]
    is_array: bool
    start: int

    @property
    def columns(self) -> range:
        """Columns of the variable."""
        return range(self.start, self.start + len(self.value))

    @property
    def stage(self) -> Stage:
        """The stage that a write invalidates."""
        return Stage.TIME if isinstance(self.handle, TimeVariable) else self.handle.invalidates

    def write(self, state: State, values: Vector) -> None:
        """Write other numbers in place of its value."""
        handle: Any = self.handle
        handle.set(state, values.reshape(self.shape) if self.is_array else float(values[0]))


@final
class Columns:
    """All columns of a linear model, and their values.

    Parameters
    ----------
    state : State
        Realized to Instance.
    inputs : sequence of handles
    paths : NodePaths

    Attributes
    ----------
    ny : int
    inputs : list of Input
    names : list of str
    values : (n,) float

    Raises
    ------
    NodeKindError, NotANumberError
    """

    def __init__(self, state: State, inputs: Iterable[AbstractHandle], paths: NodePaths) -> None:
        contents = state._contents
        self._places = contents.pools.places
        y = contents.pools.y.copy()
        self.ny = len(y)
        self.names = [name_of_y(state, i) for i in range(self.ny)]
        for name, value in zip(self.names, y, strict=True):
            if not np.isfinite(value):
                raise not_finite(f"{name}: cannot be moved", value, "set it to a finite number")
        self.inputs: list[Input] = []
        parts = [y]
        stop = self.ny
        for handle in inputs:
            found = _input(state, handle, paths.of[handle._node], stop)
            self.inputs.append(found)
            self.names += element_names(found.path, found.shape)
            parts.append(found.value)
            stop = found.columns.stop
        self.values: Vector = np.concatenate(parts)
        self._input_of: dict[AbstractHandle, Input] = {each.handle: each for each in self.inputs}
        layout = contents.realization.layout
        self._wholes = layout.variables
        blocks = [b for s in layout.subsystems for own in s.blocks.values() for b in own]
        self._blocks = {b: self._places[b._node] for b in blocks}
        self._block_of = np.empty(self.ny, object)
        for block, place in self._blocks.items():
            self._block_of[place] = block

    def __len__(self) -> int:
        return len(self.values)

    # ------------------------------------------------------------------ sets of columns

    def of(self, variable: AbstractHandle) -> range:
        """Return the columns of a variable; none if it is not an input."""
        if isinstance(variable, AbstractContinuousVariable):
            place = self._places[variable._node]
            return range(place.start, place.stop)
        found = self._input_of.get(variable)
        return range(0) if found is None else found.columns

    def is_column(self, variable: AbstractHandle) -> bool:
        """Tell whether a variable is a part of y or an input, if without a number."""
        return isinstance(variable, AbstractContinuousVariable) or variable in self._input_of

    def below(self, stage: Stage) -> int:
        """Return the columns that invalidate a stage when they are written, as bits."""
        found = 0
        for name, kind in CONTINUOUS.items():
            assert kind.invalidates is not None
            if kind.invalidates <= stage:
                found |= bits(self.of(self._wholes[name]))
        for each in self.inputs:
            if each.stage <= stage:
                found |= bits(each.columns)
        return found

    # ------------------------------------------------------------------ writing

    def write(self, state: State, moved: Mapping[int, float]) -> None:
        """Write other values of some columns. Variables without these columns are not written."""
        values = self.values.copy()
        values[[*moved]] = [*moved.values()]
        contents = state._contents
        blocks = dict.fromkeys(self._block_of[column] for column in moved if column < self.ny)
        for each in self.inputs:
            if any(column in each.columns for column in moved):
                each.write(state, values[each.start : each.start + len(each.value)])
        for block in blocks:
            contents.set_block(block, values[self._blocks[block]])


def bits(columns: Iterable[int]) -> int:
    """Return a set of numbers as bits of an int. Cost O(1) for a range."""
    if isinstance(columns, range) and columns.step == 1:
        return ((1 << len(columns)) - 1) << columns.start
    found = 0
    for column in columns:
        found |= 1 << column
    return found


def _input(state: State, handle: AbstractHandle, path: str, start: int) -> Input:
    """Return an input, if it is one."""
    if not isinstance(handle, TimeVariable | DiscreteVariable):
        is_y = isinstance(handle, AbstractContinuousVariable)
        raise NodeKindError(
            f"{path}: cannot be an input",
            "a parameter, another discrete variable, or the time",
            "q, u or z" if is_y else "a cache entry",
            "leave it out: all of y are columns of A and C"
            if is_y
            else "name the variables from which it is computed",
        )
    if isinstance(handle, DiscreteVariable) and handle.invalidates <= Stage.MODEL:
        raise NodeKindError(
            f"{path}: cannot be an input",
            "a variable that invalidates Instance or a later stage",
            f"a modeling option, which invalidates {handle.invalidates}",
            "leave it out: with another option, q, u and z are reset",
        )
    value: Any = handle(state)
    is_array = isinstance(value, np.ndarray) and value.dtype == np.float64
    if not is_array and not isinstance(value, float):
        raise NotANumberError(
            f"{path}: cannot be moved a little",
            "a float, or an array of floats, as value of an input",
            f"an array of {value.dtype}" if isinstance(value, np.ndarray) else type_text(value),
            "leave it out if it counts or switches something; else declare it with 1.0 or np.array",
        )
    numbers: NDArray[np.float64] = np.array(value, dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise not_finite(f"{path}: cannot be moved", short_repr(value), "set it to finite numbers")
    return Input(handle, path, numbers.ravel(), numbers.shape, is_array, start)
