"""Restarts: all that a simulation needs to go on from a moment between two steps.

::

    Restart  ->  to_bytes  ->  beside the rows in a file  ->  of_bytes  ->  a new TimeStepper

A simulation that streams its rows takes a restart after each batch, and goes on from it itself. One
that was interrupted goes on from the same bytes, and so to the same result, bit for bit.
"""

from collections.abc import Mapping
from math import isfinite, isnan
from typing import Any, Final, Self, final

import numpy as np
from attrs import asdict, fields, frozen

from stagecache.errors import short_repr
from stagecache.files.envelope import pack, unpack
from stagecache.files.values import Blobs, bad_file, decode, encode
from stagecache.study.ending import are_counts
from stagecache.study.integrate.record import IntegratorRecord
from stagecache.study.integrate.signs import RECORDED

KIND: Final = "restart of a simulation"


@final
@frozen(eq=False)
class Restart:
    """A moment between two steps of a simulation.

    Attributes
    ----------
    integrator : IntegratorRecord
    begin : float
        Time of the beginning [s].
    last_seen : float
        Time of the last row, if each step makes one; -inf before the first one.
    handled, reported : dict of str to float
        Time at which a scheduled event was handled or reported last, by its name.
    """

    integrator: IntegratorRecord
    begin: float
    last_seen: float
    handled: Mapping[str, float]
    reported: Mapping[str, float]

    def to_bytes(self) -> bytes:
        """Return the restart in the form of a file."""
        blobs: Blobs = []
        content = {name: encode(value, name, blobs) for name, value in asdict(self).items()}
        return pack(KIND, content, blobs)

    @classmethod
    def of_bytes(cls, data: Any, where: str) -> Self:
        """Return the restart that `to_bytes` has saved; `where` names the file in errors.

        Raises
        ------
        FileFormatError
        """
        content, blobs = unpack(data, KIND, where)
        found = _Found(content, where)
        found.require_names(fields(cls))
        values = {name: decode(value, name, blobs) for name, value in content.items()}
        inner = _Found(values["integrator"], where)
        inner.require_names(fields(IntegratorRecord))
        inner.require(type(inner.value["state"]) is bytes, "a State")
        y, atol, size = (inner.value[name] for name in ("y", "atol", "step_size"))
        inner.require(_is_vector(y) and bool(np.isfinite(y).all()), "y")
        inner.require(_is_vector(atol, len(y)) and bool((atol > 0).all()), "tolerances")
        inner.require(size is None or (type(size) is float and size > 0), "a step size")
        start = inner.value["last_start"]
        is_start = type(start) is tuple and len(start) == 3 and type(start[0]) is float
        is_whole = is_start and isfinite(start[0]) and _is_vector(start[1], len(y))
        is_whole = is_whole and (start[2] is None or _is_vector(start[2]))
        inner.require(start is None or is_whole, "the start of a step")
        _check_signs(_Found(inner.value["signs"], where))
        inner.require(are_counts(inner.value["statistics"]), "counts")
        found.require(type(values["begin"]) is float and isfinite(values["begin"]), "a time")
        last = values["last_seen"]
        found.require(type(last) is float and not isnan(last), "a time")
        for name in ("handled", "reported"):
            times = values[name]
            is_dict = type(times) is dict and all(type(key) is str for key in times)
            is_times = is_dict and all(type(t) is float and isfinite(t) for t in times.values())
            found.require(is_times, "times of events")
        return cls(**values | {"integrator": IntegratorRecord(**inner.value)})


class _Found:
    """Something that a file says, which has to be checked."""

    def __init__(self, value: Any, where: str) -> None:
        self.value = value
        self._where = where

    def require(self, holds: bool, expected: str) -> None:
        if not holds:
            what = f"{self._where}: has no restart of a simulation"
            raise bad_file(what, expected, short_repr(self.value))

    def require_names(self, known: Any) -> None:
        names = {getattr(name, "name", name) for name in known}
        is_complete = isinstance(self.value, dict) and set(self.value) == names
        self.require(is_complete, ", ".join(sorted(names)))


def _is_vector(found: Any, length: int | None = None) -> bool:
    is_array = isinstance(found, np.ndarray) and found.dtype == float and found.ndim == 1
    return is_array and length in (None, len(found))


def _check_signs(signs: _Found) -> None:
    signs.require_names(RECORDED)
    length = len(signs.value["after"]) if _is_vector(signs.value["after"]) else None
    for name in RECORDED:
        values = signs.value[name]
        is_known = values is not None or name in ("slopes", "speeds")
        signs.require(is_known and length is not None, "signs of triggers")
        signs.require(values is None or _is_vector(values, length), "signs of triggers")
