"""Strategies for the values of variables, from what there is in the default State.

========================  ===========================================================
a first value that is     is written as
========================  ===========================================================
a float                   0, 1, -1; the first value, its half, double, negative, and
                          one more; other numbers from -1000 to 1000
an int                    the same, whole
an int, of an option      0 to 2 more than the first value (it may be a size)
a bool, an enum member    any bool, any member
a string                  the first value, "", and short texts
a tuple, a dict           of as many items, with the same keys
a list, a set             of up to two items more
an array                  of the same shape and dtype
None, any other type      the first value, always
========================  ===========================================================

Bounds are always included, and no value is NaN or infinite. A strategy of the user's replaces the
one for its variable.
"""

from enum import Enum
from typing import Any, Final

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

MOST: Final = 1000
ROUND: Final = 3  # decimals of a number, so that programs are short


def floats(first: float = 1.0) -> st.SearchStrategy[float]:
    """Moderate floats, some of them related to the first value."""
    first = float(first)
    if not -MOST <= first <= MOST:
        first = 1.0
    special = [0.0, 1.0, -1.0, first, first / 2, 2 * first, -first, first + 1]
    return st.one_of(
        st.sampled_from(list(dict.fromkeys(special))),
        st.floats(-MOST, MOST, allow_nan=False, allow_subnormal=False).map(_rounded),
    )


def integers(first: int = 1) -> st.SearchStrategy[int]:
    """Moderate integers, likewise."""
    first = first if -MOST <= first <= MOST else 1
    special = [0, 1, -1, first, 2 * first, first + 1]
    return st.one_of(st.sampled_from(list(dict.fromkeys(special))), st.integers(-MOST, MOST))


def like(first: Any) -> st.SearchStrategy[Any]:
    """Values of the type of the first one, and as large."""
    if isinstance(first, np.ndarray):
        return _arrays(first)
    if isinstance(first, np.generic):
        return _arrays(np.asarray(first)).map(lambda array: array[()])
    if isinstance(first, Enum):
        return st.sampled_from(list(type(first)))
    kind = type(first)
    if kind is bool:
        return st.booleans()
    if kind is int:
        return integers(first)
    if kind is float:
        return floats(first)
    if kind is complex:
        return st.builds(complex, floats(first.real), floats(first.imag))
    if kind is str:
        return st.sampled_from([first, "", first + "a"]) | st.text(max_size=4)
    if kind is tuple:
        return st.tuples(*map(like, first))
    if kind is dict:
        return st.fixed_dictionaries({key: like(value) for key, value in first.items()})
    if kind in (list, set, frozenset) and first:
        found = [like(item) for item in list(first)[:4]]
        return st.lists(st.one_of(found), max_size=len(first) + 2).map(kind)
    return st.just(first)


def options_like(first: Any) -> st.SearchStrategy[Any]:
    """Values of a modeling option, on which sizes may depend."""
    if type(first) is int and first >= 0:
        return st.integers(0, first + 2)
    if type(first) is float and first >= 0:
        return st.sampled_from([0.0, 1.0, first, first + 1, first / 2])
    return like(first)


def _arrays(first: np.ndarray[Any, Any]) -> st.SearchStrategy[Any]:
    kind = first.dtype.kind
    elements: st.SearchStrategy[Any]
    if kind == "f":
        elements = floats(float(first.flat[0]) if first.size else 1.0)
        if first.dtype.itemsize < 8:
            elements = st.integers(-MOST, MOST).map(float)
    elif kind in "iu":
        info = np.iinfo(first.dtype)
        elements = st.integers(max(-MOST, int(info.min)), min(MOST, int(info.max)))
    elif kind == "b":
        elements = st.booleans()
    elif kind == "c":
        elements = st.builds(complex, st.integers(-MOST, MOST), st.integers(-MOST, MOST))
    else:
        return st.just(first)
    return hnp.arrays(first.dtype, first.shape, elements=elements)


def _rounded(value: float) -> float:
    return round(value, ROUND) + 0.0  # no negative zero
