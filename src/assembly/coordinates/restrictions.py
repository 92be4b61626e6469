"""Locks and bounds of q, as they were requested.

They are independent: a mobilizer is locked as a whole, and each q by itself; a q that is locked in
either way is not moved. Bounds remain while a q is locked, and count again when it is unlocked.
"""

from math import inf, isnan
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from stagecache.assembly.coordinates.mobilizers import (
    WHOLE,
    Key,
    Mobilizer,
    checked_index,
    key_of,
    key_of_mobilizer,
    name_of,
)
from stagecache.errors import OutOfRangeError
from stagecache.state.handles import AbstractContinuousVariable, Vector
from stagecache.state.state import State
from stagecache.state.vectors.conversion import FLOAT, converted


@final
class Restrictions:
    """Locks and bounds of the q of an Assembler, which is uninitialized before each change.

    Clamped coordinates of the System are bounded from the start.

    Parameters
    ----------
    assembler : Assembler
    """

    def __init__(self, assembler: Any) -> None:
        self._assembler = assembler
        self._locked: set[Key] = set()
        self._bounds: dict[Key, tuple[float, float]] = {
            (element.variable, element.index): bounds
            for element, bounds in getattr(assembler.system, "clamped_ranges", {}).items()
        }

    # ------------------------------------------------------------------ changes

    def lock(self, key: Key) -> None:
        """Lock one q, or the mobilizer as a whole."""
        self._assembler.uninitialize()
        self._locked.add(key)

    def unlock(self, key: Key) -> None:
        """Undo `lock`."""
        if key in self._locked:
            self._assembler.uninitialize()
            self._locked.discard(key)

    def restrict_q(self, mobilizer: Mobilizer, index: int, lower: float, upper: float) -> None:
        """Set the bounds of one q, or remove them if both are infinite."""
        key = self.key_of(mobilizer, index, "restrict_q")
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

    def unrestrict(self, key: Key) -> None:
        """Remove the bounds of one q."""
        if key in self._bounds:
            self._assembler.uninitialize()
            del self._bounds[key]

    def key_of_mobilizer(self, mobilizer: Mobilizer, method: str) -> Key:
        """Return the key of all q of a mobilizer, which was passed to a method."""
        return key_of_mobilizer(mobilizer, self._assembler.internal_state, f"{method}(mobilizer)")

    def key_of(self, mobilizer: Mobilizer, index: int, method: str) -> Key:
        """Return the key of one q of a mobilizer."""
        state = self._assembler.internal_state
        return key_of(mobilizer, index, state, f"{method}(mobilizer, index)")

    # ------------------------------------------------------------------ in a State

    def is_locked(self, state: State) -> NDArray[np.bool_]:
        """Return for each q of the State if it is locked. Shape (nq,).

        Raises
        ------
        UnknownItemError
            A mobilizer has fewer q in this State.
        """
        found = np.zeros(state.nq, bool)
        for mobilizer, index in self._locked:
            is_whole = index == WHOLE
            found[mobilizer.place(state) if is_whole else _row(mobilizer, index, state)] = True
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
