"""Values of discrete variables and cache entries: what is kept, shared and copied.

An array is kept as a private read-only copy. States share it; who wants to change it in place
gets a copy of his own first. Any other value is kept as it is.
"""

from collections.abc import Callable
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


def seal(value: object) -> None:
    """Make an array that was handed out to be changed read-only."""
    if isinstance(value, np.ndarray):
        value.flags.writeable = False


def duplicates(values: list[Any]) -> list[Any]:
    """The values for a copy of the State: shared where nobody can change them, else copied."""
    if IMMUTABLE.issuperset(map(type, values)):
        return values.copy()
    return [v if type(v) in IMMUTABLE else _duplicate(v) for v in values]


def _duplicate(value: object) -> object:
    if isinstance(value, np.ndarray):
        return value if not value.flags.writeable else kept(value)
    return deepcopy(value)


def freezing(compute: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the function such that an array which it returns is read-only from then on."""

    def computed(state: Any) -> Any:
        value = compute(state)
        if isinstance(value, np.ndarray):
            if value.base is not None:  # others may write to the memory
                value = value.copy()
            value.flags.writeable = False
        return value

    return computed
