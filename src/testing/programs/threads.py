"""Operation that reads a State in several threads at the same time."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import copy_context
from threading import Barrier, Thread
from typing import Final

from attrs import frozen

from stagecache.state.state import State
from stagecache.testing.oracle.comparison import Outcome, outcome_of, same_outcome
from stagecache.testing.oracle.memory import nothing_remembered
from stagecache.testing.oracle.oracle import Subject, entries_now
from stagecache.testing.programs.operation import AbstractOperation
from stagecache.testing.programs.run import Run

THREADS: Final = 4
SWITCHING: Final = 1e-5  # s: threads take turns after this time, a thousandth of the default


@frozen
class ReadInThreads(AbstractOperation):
    """Read of all entries that can be read, by several threads, each in another order."""

    def code(self, run: Run) -> str:
        """``read_in_threads(state)``."""
        return f"read_in_threads({run.name(self.where)})"

    def apply(self, run: Run) -> None:
        """Read, and note each value that any of the threads gets."""
        state = run.state(self.where)
        subjects = entries_now(state, valid=False)
        found = outcomes_in_threads([state] * THREADS, subjects, remembers=True)
        for subject, outcomes in zip(subjects, zip(*found, strict=True), strict=True):
            run.read(self.where, subject, outcomes[0])
            for other in outcomes[1:]:
                if not same_outcome(other, outcomes[0]):
                    run.read(self.where, subject, other)


def read_in_threads(state: State) -> None:
    """Read all entries of a State in several threads."""
    outcomes_in_threads([state] * THREADS, entries_now(state, valid=False))


def outcomes_in_threads(
    states: list[State], subjects: list[Subject], *, remembers: bool = False
) -> list[list[Outcome]]:
    """Return the values that threads get when they read at the same time, each from its State.

    Parameters
    ----------
    states : list of State
    subjects : list of Subject
    remembers : bool
        True if values of expensive entries may be remembered, and not computed.

    Returns
    -------
    list of list of Outcome
        Values by State, in the order of `subjects`. Each thread begins with another subject.
    """
    found: list[list[Outcome]] = [[] for _ in states]
    barrier = Barrier(len(states))

    def read(number: int) -> None:
        first = number * len(subjects) // len(states)
        order = [*range(first, len(subjects)), *range(first)]
        outcomes: dict[int, Outcome] = {}
        barrier.wait()
        for i in order:
            outcomes[i] = outcome_of(lambda: subjects[i].read(states[number]))  # noqa: B023  # called at once
        found[number] = [outcomes[i] for i in range(len(subjects))]

    with nullcontext() if remembers else nothing_remembered():
        threads = [
            Thread(target=copy_context().run, args=(read, number)) for number in range(len(states))
        ]
    with _switching_often():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return found


@contextmanager
def _switching_often() -> Iterator[None]:
    """Let threads take turns as often as possible."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(SWITCHING)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)
