"""Values of discrete variables and cache entries: what is kept, shared and copied.

An array is kept as a private read-only copy. States share it; who wants to change it in place
gets a copy of his own first. Any other value is kept as it is.
"""

from collections.abc import Callable, Set
from copy import deepcopy
from typing import Any, Final

import numpy as np

IMMUTABLE: Final = frozenset({type(None), bool, int, float, complex, str, bytes, frozenset, type})


def kept(value: object) -> Any:
    """What is kept of a value: a read-only copy of an array; else the value itself."""
    if isinstance(value, np.ndarray):
        value = value.copy()
        value.flags.writeable = False
    return value


def of_ones_own(value: object) -> Any:
    """A copy that shares nothing that can be changed; an array of it can be written."""
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return value.copy()
    return deepcopy(value)


def seal(value: object) -> None:
    """Make an array that was handed out to be changed read-only."""
    if isinstance(value, np.ndarray):
        value.flags.writeable = False


def duplicates(values: list[Any], handed_out: Set[int], name: Callable[[int], str]) -> list[Any]:
    """The values for a copy of the State: shared where nobody can change them, else copied.

    Parameters
    ----------
    values : list
    handed_out : set of int
        Where there are arrays that somebody may have kept a writable slice of.
    name : callable
        What to call the item there, if its value cannot be copied.
    """
    if not handed_out and IMMUTABLE.issuperset(map(type, values)):
        return values.copy()
    memo: dict[int, Any] = {}
    twins = values.copy()
    for i, value in enumerate(values):
        if type(value) not in IMMUTABLE:
            try:
                twins[i] = _duplicate(value, memo, is_shared=i not in handed_out)
            except Exception as error:
                error.add_note(f"while the value of {name(i)} was being copied")
                raise
    return twins


def duplicate(value: object) -> Any:
    """The value, if nobody can change it; else a copy."""
    return _duplicate(value, {}, is_shared=True)


def _duplicate(value: object, memo: dict[int, Any], *, is_shared: bool) -> object:
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return value if is_shared and not value.flags.writeable else kept(value)
    twin = deepcopy(value, memo)
    seal(twin)
    return twin


def freezing(
    compute: Callable[[Any], Any], refuse_none: Callable[[], None] | None = None
) -> Callable[[Any], Any]:
    """Return the function such that an array which it returns is read-only from then on.

    `refuse_none` is called if it returns None.
    """

    def computed(state: Any) -> Any:
        value = compute(state)
        if isinstance(value, np.ndarray):
            if value.base is not None:  # others may write to the memory
                value = value.copy()
            value.flags.writeable = False
        elif value is None and refuse_none is not None:
            refuse_none()
        return value

    return computed
