"""Locks and bounds of q, as they were requested.

They are independent: a mobilizer is locked as a whole, and each q by itself; a q that is locked in
either way is not moved. Bounds remain while a q is locked, and count again when it is unlocked.
"""

from math import inf, isnan
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from stagecache.assembly.coordinates.mobilizers import (
    Mobilizer,
    checked_index,
    handle_of,
    name_of,
)
from stagecache.errors import OutOfRangeError
from stagecache.state.handles import AbstractContinuousVariable, Vector
from stagecache.state.state import State
from stagecache.state.vectors.conversion import FLOAT, converted

Key = tuple[AbstractContinuousVariable, int]


@final
class Restrictions:
    """Locks and bounds of the q of an Assembler, which is uninitialized before each change.

    Parameters
    ----------
    assembler : Assembler
    """

    def __init__(self, assembler: Any) -> None:
        self._assembler = assembler
        self._mobilizers: set[AbstractContinuousVariable] = set()
        self._locked: set[Key] = set()
        self._bounds: dict[Key, tuple[float, float]] = {}

    # ------------------------------------------------------------------ changes

    def lock_mobilizer(self, mobilizer: Mobilizer) -> None:
        """Lock all q of a mobilizer."""
        handle = self._handle(mobilizer, "lock_mobilizer(mobilizer)")
        self._assembler.uninitialize()
        self._mobilizers.add(handle)

    def unlock_mobilizer(self, mobilizer: Mobilizer) -> None:
        """Take the lock of a mobilizer back."""
        handle = self._handle(mobilizer, "unlock_mobilizer(mobilizer)")
        if handle in self._mobilizers:
            self._assembler.uninitialize()
            self._mobilizers.discard(handle)

    def lock_q(self, mobilizer: Mobilizer, index: int) -> None:
        """Lock one q of a mobilizer."""
        key = self._key(mobilizer, index, "lock_q(mobilizer, index)")
        self._assembler.uninitialize()
        self._locked.add(key)

    def unlock_q(self, mobilizer: Mobilizer, index: int) -> None:
        """Take the lock of one q back."""
        key = self._key(mobilizer, index, "unlock_q(mobilizer, index)")
        if key in self._locked:
            self._assembler.uninitialize()
            self._locked.discard(key)

    def restrict_q(self, mobilizer: Mobilizer, index: int, lower: float, upper: float) -> None:
        """Set the bounds of one q, or remove them if both are infinite."""
        key = self._key(mobilizer, index, "restrict_q(mobilizer, index)")
        low = float(converted(lower, FLOAT, (), "restrict_q(lower=...)"))
        high = float(converted(upper, FLOAT, (), "restrict_q(upper=...)"))
        if isnan(low) or isnan(high) or low > high or low == inf or high == -inf:
            name = name_of(key[0], self._assembler.internal_state)
            raise OutOfRangeError(
                f"restrict_q: no value is left for q {index} of {name}",
                "lower <= upper, either of which may be infinite",
                f"[{low:g}, {high:g}]",
                "exchange the two; to keep the q where it is, call lock_q",
            )
        self._assembler.uninitialize()
        if (low, high) == (-inf, inf):
            self._bounds.pop(key, None)
        else:
            self._bounds[key] = (low, high)

    def unrestrict_q(self, mobilizer: Mobilizer, index: int) -> None:
        """Remove the bounds of one q."""
        key = self._key(mobilizer, index, "unrestrict_q(mobilizer, index)")
        if key in self._bounds:
            self._assembler.uninitialize()
            del self._bounds[key]

    def _handle(self, mobilizer: Mobilizer, what: str) -> AbstractContinuousVariable:
        return handle_of(mobilizer, self._assembler.internal_state, what)

    def _key(self, mobilizer: Mobilizer, index: int, what: str) -> Key:
        handle = self._handle(mobilizer, what)
        return handle, checked_index(handle, index, self._assembler.internal_state)

    # ------------------------------------------------------------------ in a State

    def is_locked(self, state: State) -> NDArray[np.bool_]:
        """Return for each q of the State if it is locked. Shape (nq,).

        Raises
        ------
        UnknownItemError
            A mobilizer has fewer q in this State.
        """
        found = np.zeros(state.nq, bool)
        for mobilizer in self._mobilizers:
            found[mobilizer.place(state)] = True
        for mobilizer, index in self._locked:
            found[_row(mobilizer, index, state)] = True
        return found

    def bounds_of(self, state: State) -> tuple[Vector, Vector]:
        """Return the lower and upper bounds of each q, two of shape (nq,).

        Raises
        ------
        UnknownItemError
            A mobilizer has fewer q in this State.
        OutOfRangeError
            A q is restricted as part of several groups, and no value satisfies all.
        """
        lower, upper = np.full(state.nq, -inf), np.full(state.nq, inf)
        for (mobilizer, index), (low, high) in self._bounds.items():
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
    """Return the row of a q of a mobilizer in q, which is also its row in y."""
    start: int = mobilizer.place(state).start
    return start + checked_index(mobilizer, index, state)
