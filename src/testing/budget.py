"""Limits of what runs programs, a check or the shortening of a failing program: time, Control-C.

The limit of time is looked at before each operation of a program, so one operation may exceed it.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final


class OutOfTimeError(BaseException):
    """The time is over; like an interrupt, neither a model nor Hypothesis catches it."""


_END: Final[ContextVar[float]] = ContextVar("_END", default=float("inf"))


@contextmanager
def within(seconds: float | None) -> Iterator[None]:
    """Limit the time of programs in the block; None for no limit of its own.

    Raises
    ------
    OutOfTimeError
        By `require_time`, in the block.
    """
    end = float("inf") if seconds is None else time.monotonic() + seconds
    token = _END.set(min(end, _END.get()))
    try:
        yield
    finally:
        _END.reset(token)


@contextmanager
def without_limit() -> Iterator[None]:
    """Run the programs in the block to their ends."""
    token = _END.set(float("inf"))
    try:
        yield
    finally:
        _END.reset(token)


def is_time_over() -> bool:
    """Return True if the limit is exceeded."""
    return time.monotonic() >= _END.get()


def require_time() -> None:
    """Raise an error if the limit is exceeded.

    Raises
    ------
    OutOfTimeError
    """
    if is_time_over():
        raise OutOfTimeError


_INTERRUPTS: Final[ContextVar[list[None] | None]] = ContextVar("_INTERRUPTS", default=None)


@contextmanager
def interrupts_put_off() -> Iterator[list[None]]:
    """Collect interrupts that wait until a failure is reported; raise them after the block."""
    put_off: list[None] = []
    token = _INTERRUPTS.set(put_off)
    try:
        yield put_off
    finally:
        _INTERRUPTS.reset(token)


def put_off_interrupt() -> bool:
    """Put off an interrupt; return False outside of `interrupts_put_off`."""
    put_off = _INTERRUPTS.get()
    if put_off is None:
        return False
    put_off.append(None)
    return True
