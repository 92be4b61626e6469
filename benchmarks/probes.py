"""Probes: each knows how to take one sample, and how to spend about as long on it as it is told.

A probe is built once for each row and peer, holds what it measures, and is sampled in turn with
those of the other peers.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from statistics import median
from time import perf_counter_ns
from timeit import Timer
from typing import Final, final

MANY: Final = 1000
"""More samples than are ever taken."""


class AbstractProbe(ABC):
    """Something that can be measured again and again.

    Attributes
    ----------
    note : str
        What the reader of the figure must know, or "".
    enough : int
        How many samples tell all there is to know; more are not taken.
    """

    note: str
    enough: int

    @abstractmethod
    def calibrate(self, budget: float) -> None:
        """Run it to warm up, and choose how much work makes a sample of that many seconds."""

    @abstractmethod
    def sample(self) -> float:
        """Return the seconds, or bytes, that one operation takes."""


@final
class Repeated(AbstractProbe):
    """A statement in a loop.

    The loop costs 10 ns, so a statement that takes less than a microsecond is written several
    times over in each turn.

    Parameters
    ----------
    statement : str
        Compiled once; all its names are in `names`, so looking one up costs the same everywhere.
    names : mapping of str to object
    operations : int
        How many operations the statement is.
    times : int
        How many times over it is written.
    """

    def __init__(
        self,
        statement: str,
        names: Mapping[str, object],
        *,
        operations: int = 1,
        times: int = 1,
        note: str = "",
    ) -> None:
        self.note = note
        self.enough = MANY
        self._timer = Timer("\n".join([statement] * times), globals=dict(names))
        self._operations = operations * times
        self._turns = 1

    def calibrate(self, budget: float) -> None:
        self._timer.timeit(1)
        seconds = self._timer.timeit(1)
        while seconds < budget / 2:
            self._turns = max(self._turns + 1, int(self._turns * min(10, budget / seconds)))
            seconds = self._timer.timeit(self._turns)

    def sample(self) -> float:
        return self._timer.timeit(self._turns) / self._turns / self._operations


@final
class Prepared(AbstractProbe):
    """A single call that cannot be repeated before something is prepared for it.

    A sample is the median of several calls, each timed on its own, less that of a call that does
    nothing.

    Parameters
    ----------
    prepare, call : callable
        Called in turn with the same number, another one each time.
    operations : int
        How many operations the call is.
    """

    def __init__(
        self,
        prepare: Callable[[int], object],
        call: Callable[[int], object],
        *,
        operations: int = 1,
        note: str = "",
    ) -> None:
        self.note = note
        self.enough = MANY
        self._prepare = prepare
        self._call = call
        self._operations = operations
        self._calls = 1
        self._number = 0

    def calibrate(self, budget: float) -> None:
        start = perf_counter_ns()
        self._time(3)
        seconds = (perf_counter_ns() - start) * 1e-9 / 3
        self._calls = max(3, min(100, int(budget / seconds)))

    def sample(self) -> float:
        return self._time(self._calls) * 1e-9 / self._operations

    def _time(self, calls: int) -> float:
        call = self._call
        timed: list[int] = []
        empty: list[int] = []
        for _ in range(calls):
            self._number += 1
            number = self._number
            self._prepare(number)
            for _ in range(3):  # what timing itself needs is in the processor's cache by the last
                start = perf_counter_ns()
                _nothing(number)
                stop = perf_counter_ns()
            empty.append(stop - start)
            start = perf_counter_ns()
            call(number)
            stop = perf_counter_ns()
            timed.append(stop - start)
        return median(timed) - median(empty)


def _nothing(number: int) -> None:
    pass


@final
class Building(AbstractProbe):
    """Building something anew; that it is freed again is not timed."""

    def __init__(self, build: Callable[[], object], *, operations: int) -> None:
        self.note = ""
        self.enough = MANY
        self._build = build
        self._operations = operations

    def calibrate(self, budget: float) -> None:
        self._build()

    def sample(self) -> float:
        start = perf_counter_ns()
        built = self._build()
        stop = perf_counter_ns()
        del built
        return (stop - start) * 1e-9 / self._operations
