"""Outputs of a linear model: the numbers of cache entries and variables."""

from collections.abc import Iterable
from typing import Any, final

import numpy as np

from stagecache.checks import as_float, type_text
from stagecache.errors import NotANumberError, NotFiniteError, ShapeError, short_repr
from stagecache.inspection.node_paths import NodePaths
from stagecache.numerics.matrices import is_sparse
from stagecache.state.handles import AbstractHandle, CacheEntry, Vector
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.study.linear.items import element_names


@final
class Outputs:
    """Items that are read in each evaluation, and their numbers in one vector.

    Parameters
    ----------
    state : State
        Realized to `stage_of` these items.
    handles : iterable of handles
    paths : NodePaths

    Attributes
    ----------
    handles : list of handles
    shapes : list of tuple of int
    names : list of str
        Names of the numbers.
    values : (n,) float

    Raises
    ------
    NotANumberError, NotFiniteError
    Exception
        Whatever a computation raises.
    """

    def __init__(self, state: State, handles: Iterable[AbstractHandle], paths: NodePaths) -> None:
        self.handles = list(handles)
        self._paths = [paths.of[handle._node] for handle in self.handles]
        self.shapes: list[tuple[int, ...]] = []
        self.names: list[str] = []
        parts = [np.empty(0)]
        for handle, path in zip(self.handles, self._paths, strict=True):
            numbers = _numbers(handle(state), path)
            self.shapes.append(numbers.shape)
            self.names += element_names(path, numbers.shape)
            parts.append(numbers.ravel())
        self.values = self._finite(np.concatenate(parts))

    def read(self, state: State) -> Vector:
        """Return the numbers in another State.

        Raises
        ------
        ShapeError
            An output has another shape there.
        NotANumberError, NotFiniteError
        """
        parts = [np.empty(0)]
        for handle, path, shape in zip(self.handles, self._paths, self.shapes, strict=True):
            numbers = _numbers(handle(state), path)
            if numbers.shape != shape:
                raise ShapeError(
                    f"{path}: its shape changes with the variables",
                    f"shape {shape}, as in the State",
                    f"shape {numbers.shape}",
                    "leave it out of the outputs, or return an array of a fixed shape",
                )
            parts.append(numbers.ravel())
        return self._finite(np.concatenate(parts))

    def _finite(self, values: Vector) -> Vector:
        if np.isfinite(values).all():
            return values
        worst = int(np.argmin(np.isfinite(values)))
        raise NotFiniteError(
            f"{self.names[worst]}: is not finite",
            "a finite number as output",
            f"{values[worst]}",
            "look at what computes it in that State: does it divide by 0?",
        )


def stage_of(handles: Iterable[AbstractHandle]) -> Stage:
    """Return the first stage at which items can be read, Acceleration or Report."""
    stages = [handle.available_from for handle in handles if isinstance(handle, CacheEntry)]
    return max([Stage.ACCELERATION, *stages])


def _numbers(value: Any, path: str) -> Vector:
    """Return a value as an array of floats."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiu":
        return np.array(value, dtype=np.float64)
    number = None if is_sparse(value) else as_float(value)
    if number is None:
        raise NotANumberError(
            f"{path}: cannot be an output",
            "a number, or an array of real numbers",
            f"an array of {value.dtype}"
            if isinstance(value, np.ndarray)
            else type_text(value)
            if not is_sparse(value)
            else short_repr(value),
            "declare an entry that returns a float, or a NumPy array",
        )
    return np.array(number)
