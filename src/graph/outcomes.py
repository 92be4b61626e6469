"""What comes of computations and is remembered for a while, instead of computing again."""

from types import TracebackType
from typing import Any


class Outcome:
    """What came of a computation whose entry is not valid after it."""

    __slots__ = ("began", "clock", "error", "traceback", "value")

    def __init__(self, began: int, clock: int, value: Any) -> None:
        self.began = began
        self.clock = clock  # when it came out: a later change makes it worthless
        self.value = value
        self.error: Exception | None = None
        self.traceback: TracebackType | None = None


class Failure:
    """What a computation raised when it was looked into whether its value has changed.

    The entry because of which this was done may read it next: then it is raised again.
    """

    __slots__ = ("clock", "error", "reader", "thread", "traceback")

    def __init__(self, clock: int, error: Exception, reader: int, thread: int) -> None:
        self.clock = clock
        self.error = error
        self.traceback = error.__traceback__
        self.reader = reader
        self.thread = thread


class Changes:
    """Groups of which it was found out that they have changed, so that no value can be kept.

    Attributes
    ----------
    clock : int
        That of the store when it was found out; a later change makes it worthless.
    clocks : dict of int to int
        By group: a clock at which something upstream has changed.
    """

    __slots__ = ("clock", "clocks")

    def __init__(self, clock: int) -> None:
        self.clock = clock
        self.clocks: dict[int, int] = {}


class Memory:
    """What a thread remembers while it is deep: outcomes by entry, and which was raised last."""

    __slots__ = ("outcomes", "raised")

    def __init__(self) -> None:
        self.outcomes: dict[int, Outcome] = {}
        self.raised: Outcome | None = None
