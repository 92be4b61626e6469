"""Locks and bounds of q, as they were asked for.

They are independent: a mobilizer is locked as a whole, and each q by itself; a q that is locked in
either way is not moved. Bounds stay where a q is locked, and count again where it is not.
"""

from math import inf
from typing import final

import numpy as np
from numpy.typing import NDArray

from stagecache.assembly.coordinates.mobilizers import checked_index, name_of
from stagecache.errors import OutOfRangeError
from stagecache.state.handles import AbstractContinuousVariable, Vector
from stagecache.state.state import State


@final
class Restrictions:
    """Which q must not move, and how far the others may."""

    def __init__(self) -> None:
        self.mobilizers: set[AbstractContinuousVariable] = set()
        self.locked: set[tuple[AbstractContinuousVariable, int]] = set()
        self.bounds: dict[tuple[AbstractContinuousVariable, int], tuple[float, float]] = {}

    def is_locked(self, state: State) -> NDArray[np.bool_]:
        """By q of the State, whether it is locked. Shape (nq,).

        Raises
        ------
        UnknownItemError
            A mobilizer has fewer q in this State.
        """
        found = np.zeros(state.nq, bool)
        for mobilizer in self.mobilizers:
            found[mobilizer.place(state)] = True
        for mobilizer, index in self.locked:
            found[_row(mobilizer, index, state)] = True
        return found

    def bounds_of(self, state: State) -> tuple[Vector, Vector]:
        """The least and the most that each q may be, two of shape (nq,).

        Raises
        ------
        UnknownItemError
            A mobilizer has fewer q in this State.
        OutOfRangeError
            A q is restricted as part of several groups, and no value satisfies all.
        """
        lower, upper = np.full(state.nq, -inf), np.full(state.nq, inf)
        for (mobilizer, index), (low, high) in self.bounds.items():
            row = _row(mobilizer, index, state)
            lower[row], upper[row] = max(lower[row], low), min(upper[row], high)
            if lower[row] > upper[row]:
                raise OutOfRangeError(
                    f"q {index} of {name_of(mobilizer, state)}: has bounds that contradict each "
                    "other",
                    "ranges that have values in common",
                    f"[{low:g}, {high:g}], and as part of another group, at least {lower[row]:g} "
                    f"and at most {upper[row]:g} together with that",
                    "call unrestrict_q for one of them",
                )
        return lower, upper


def _row(mobilizer: AbstractContinuousVariable, index: int, state: State) -> int:
    """Where a q of a mobilizer is in q, which is where it is in y."""
    start: int = mobilizer.place(state).start
    return start + checked_index(mobilizer, index, state)
