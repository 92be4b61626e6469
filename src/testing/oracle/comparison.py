"""Comparison of values, their copies and form in Python, and places of errors.

The same code computed both values from the same numbers, so nothing is tolerated: arrays are equal
in type, shape and each element. NaN is the same as NaN.
"""

import math
import sysconfig
from collections.abc import Callable, Iterator
from copy import deepcopy
from enum import Enum
from types import FrameType
from typing import Any, Final

import attrs
import numpy as np

from stagecache.errors import short_repr
from stagecache.state.values.sameness import same
from stagecache.state.values.values import IMMUTABLE
from stagecache.system.declare.subsystem import Subsystem

MOST_WRITTEN: Final = 200  # elements of an array that a program shows
NEW_LINE: Final = "\n"


@attrs.frozen
class Outcome:
    """Outcome of a read: a value, or an error."""

    value: Any = None
    error: Exception | None = attrs.field(default=None, eq=False)

    def __str__(self) -> str:
        if self.error is None:
            return short_repr(self.value)
        place = place_of(self.error)
        told = f"{type(self.error).__name__}: {str(self.error).partition(NEW_LINE)[0]}"
        return f"{told}, at {place}" if place else told


NOTHING: Final = Outcome()


def outcome_of(read: Callable[[], object]) -> Outcome:
    """Read, and copy the value if it could be changed in place."""
    try:
        return Outcome(copied(read()))
    except Exception as error:  # whatever the model raises is to be compared
        return Outcome(error=error)


def same_outcome(a: Outcome, b: Outcome) -> bool:
    """Return True if both are the same value, or errors of the same type."""
    if a.error is not None or b.error is not None:
        return type(a.error) is type(b.error)
    x, y = a.value, b.value
    return x is y or (type(x) is float is type(y) and x == y) or same(x, y)


def copied(value: object) -> Any:
    """Return a private copy; the value itself if it is immutable, or cannot be copied."""
    if type(value) in IMMUTABLE:
        return value
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return value.copy() if value.flags.writeable or value.base is not None else value
    try:
        return deepcopy(value)
    except Exception:  # whatever it holds
        return value


# ---------------------------------------------------------------------- as Python


def written(value: Any) -> str | None:
    """Return an expression of a value, with `np` and `math`; None if it does not have one."""
    kind = type(value)
    if kind in (float, np.float64):
        return _number(float(value))
    if kind in (bool, int, str, bytes, type(None)):
        return repr(value)
    if kind in (list, tuple, set):
        items = [written(item) for item in value]
        if None in items or (kind is set and not items):
            return None
        inside = ", ".join(map(str, items))
        if kind is tuple:
            return f"({inside},)" if len(items) == 1 else f"({inside})"
        return f"[{inside}]" if kind is list else f"{{{inside}}}"
    if kind is dict:
        pairs = [(written(key), written(item)) for key, item in value.items()]
        if any(None in pair for pair in pairs):
            return None
        return "{" + ", ".join(f"{key}: {item}" for key, item in pairs) + "}"
    if kind is np.ndarray and value.dtype.kind in "biuf" and value.size <= MOST_WRITTEN:
        inside = written(value.tolist()) or ""
        dtype = (
            "" if value.dtype in (np.float64, np.int64, np.bool_) and value.size else value.dtype
        )
        return f"np.array({inside}{f', dtype={str(dtype)!r}' if dtype else ''})"
    if isinstance(value, Enum) and isinstance(value, int):
        return repr(int(value))
    return None


def _number(value: float) -> str:
    if math.isnan(value):
        return "math.nan"
    if math.isinf(value):
        return "math.inf" if value > 0 else "-math.inf"
    return repr(value)


# ---------------------------------------------------------------------- places of errors


LIBRARY: Final = (
    *("stagecache.graph.", "stagecache.state.", "stagecache.inspection.", "stagecache.numerics."),
    "stagecache.system.",
)
KIT: Final = "stagecache.testing."
INSTALLED: Final = tuple(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))
"""Folders of packages that a model calls. For their errors, the call is shown."""


def place_of(error: BaseException) -> str:
    """Return the place of an error in the model, as `file.py:12`; empty if not in the model."""
    found = [
        (frame.f_code.co_filename, line)
        for frame, line in frames_of(error)
        if not frame.f_globals.get("__name__", "").startswith((*LIBRARY, KIT))
    ]
    own = [place for place in found if not place[0].startswith(INSTALLED)]
    if not found:
        return ""
    file, line = (own or found)[-1]
    return f"{file}:{line}"


def hook_of(error: BaseException) -> str:
    """Return the hook in which an error was raised, `tank.realize_time`; empty if in none."""
    for frame, _ in frames_of(error):
        owner, name = frame.f_locals.get("self"), frame.f_code.co_name
        if isinstance(owner, Subsystem) and name.startswith("realize_"):
            return f"{owner.name}.{name}"
    return ""


def depth_of(error: BaseException) -> int:
    """Count the calls from the handler of an error down to its origin."""
    return len(list(frames_of(error)))


def frames_of(error: BaseException) -> Iterator[tuple[FrameType, int]]:
    """Return the calls, from the outside in, and their lines."""
    at = error.__traceback__
    while at is not None:
        yield at.tb_frame, at.tb_lineno
        at = at.tb_next
