"""A column of a trajectory as a function of the time, such as an input of another model takes.

::

    linear   o____                 held   o----.        between rows; before the first row and after
                  ----o                        |---o    the last one, the value there
"""

from typing import Any, final

import numpy as np
from attrs import frozen

from stagecache.state.handles import Vector
from stagecache.state.values.values import duplicate
from stagecache.study.trajectory.rows import Array, Column


@final
@frozen(eq=False)
class ColumnCurve:
    """A column as a function of the time: its numbers are interpolated, or held.

    Where two rows have the same time, at an event, the later one counts from then on.

    Attributes
    ----------
    path : str
    times : (n,) float
        [s]
    values : (n, ...) array
    is_held : bool
        True to keep the value of a row until the next one.
    """

    path: str
    times: Vector
    values: Array
    is_held: bool

    @classmethod
    def of(cls, times: Vector, column: Column) -> "ColumnCurve":
        """Return the curve of a column."""
        is_held = column.kind == "discrete variable" or column.values.dtype.kind != "f"
        return cls(column.path, times.copy(), column.values.copy(), is_held)

    def __call__(self, time: float) -> Any:
        """Return the value at a time [s]."""
        times, values = self.times, self.values
        row = max(int(np.searchsorted(times, time, side="right")) - 1, 0)
        value = values[row]
        if not self.is_held and row + 1 < len(times) and time > times[row]:
            part = (time - times[row]) / (times[row + 1] - times[row])
            value = (1.0 - part) * value + part * values[row + 1]
        return value.item() if isinstance(value, np.generic) else duplicate(value)

    def __repr__(self) -> str:
        return f"ColumnCurve({self.path!r}, {len(self.times)} rows)"
