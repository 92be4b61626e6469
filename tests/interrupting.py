"""Errors that strike in the middle of an operation, wherever the library is at the time.

CPython delivers Control-C when a function is entered, when a loop goes round, and after a call; a
call may run out of stack, and any line out of memory. `struck_at` raises at one such place, the
n-th that the operation comes to, so that a test can try all of them one after the other.
"""

import sys
from collections.abc import Callable, Iterator
from linecache import getline
from pathlib import Path
from types import FrameType
from typing import Any

import stagecache

LIBRARY = str(Path(stagecache.__file__).resolve().parent)

Operation = Callable[[], object]


def is_plain() -> bool:
    """Return whether the library runs as plain Python, which alone can be struck at each line."""
    return not stagecache.graph.store.__file__.endswith((".so", ".pyd"))


class Strike:
    """Raises an error at the n-th step of the library, counted from 0."""

    def __init__(self, at: int, error: type[BaseException]) -> None:
        self.steps = at
        self.error = error
        self.place = ""

    def __call__(self, frame: FrameType, event: str, argument: object) -> Any:
        if not frame.f_code.co_filename.startswith(LIBRARY):
            return None
        if event != "exception" and not is_with(frame):
            if self.steps == 0:
                sys.settrace(None)
                self.steps = -1
                where = Path(frame.f_code.co_filename).name
                self.place = f"{where}:{frame.f_lineno} ({frame.f_code.co_name}, {event})"
                raise self.error(f"struck at {self.place}")
            self.steps -= 1
        return self


def is_with(frame: FrameType) -> bool:
    """Return whether a ``with`` is being entered or left, where the interpreter lets nothing strike."""
    return getline(frame.f_code.co_filename, frame.f_lineno).lstrip().startswith("with ")


def struck_at(at: int, operation: Operation, error: type[BaseException]) -> str:
    """Run an operation and strike at its n-th step; return where, or "" if it has fewer."""
    strike = Strike(at, error)
    before = sys.gettrace()
    sys.settrace(strike)
    try:
        operation()
    except BaseException:  # noqa: BLE001, S110  # it may be told as another one
        pass
    finally:
        sys.settrace(before)
    return strike.place


def out_of_stack(margin: int, operation: Operation) -> bool:
    """Run an operation with that many frames left; return whether they were too few."""
    depth = 0
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + margin)
    try:
        operation()
    except RecursionError:
        return True
    finally:
        sys.setrecursionlimit(limit)
    return False


def places(operation: Operation) -> Iterator[int]:
    """All steps of an operation."""
    at = 0
    while struck_at(at, operation, KeyboardInterrupt):
        yield at
        at += 1
