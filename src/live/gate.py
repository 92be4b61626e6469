"""The gate at computations and writes, where threads wait while a State is paused.

Boundaries are the beginning of a computation, its end, and a write of a variable.

A thread passes an open gate at once. At a shut one it waits, until the gate is opened, or until it
is granted a step: the thread goes on to the end of the next computation, with the writes before it,
and waits again at the next boundary::

    write   [computation]   write   write   [computation]   write
          ^                       step ------------------>^

It waits without any lock that another thread needs to compute, read or write; but an entry that is
computed further up is waited for by whoever reads it, here as always. Control-C ends the wait.
"""

from threading import Condition, get_ident
from time import perf_counter_ns
from typing import Final, final

PATIENCE: Final = 0.2
"""Seconds until a thread looks anew: not everywhere can Control-C interrupt a longer wait."""


@final
class Gate:
    """A gate for any number of threads.

    Attributes
    ----------
    is_shut : bool
        True while threads wait. It is read without the lock, since that takes no time.
    """

    def __init__(self, *, is_shut: bool = False) -> None:
        self.is_shut = is_shut
        self._changed = Condition()
        self._is_granted = False
        self._stepping = 0  # thread

    def shut(self) -> None:
        """Let each thread wait at its next boundary."""
        with self._changed:
            self.is_shut = True
            self._is_granted = False
            self._stepping = 0

    def open(self) -> None:
        """Let all threads go on."""
        with self._changed:
            self.is_shut = False
            self._changed.notify_all()

    def grant_step(self) -> None:
        """Let one thread go on to the end of its next computation; shut the gate for others."""
        with self._changed:
            self.is_shut = True
            self._is_granted = True
            self._stepping = 0
            self._changed.notify_all()

    def pass_through(self) -> int:
        """Wait at a boundary while the gate is shut; return the nanoseconds of the wait."""
        me = get_ident()
        if self._stepping == me:
            return 0
        start = perf_counter_ns()
        with self._changed:
            while self.is_shut:
                if self._is_granted:
                    self._is_granted = False
                    self._stepping = me
                    break
                self._changed.wait(PATIENCE)
        return perf_counter_ns() - start

    def count_computation(self) -> None:
        """Note that a computation of this thread has ended, which ends its step."""
        if self._stepping == get_ident():
            self._stepping = 0
