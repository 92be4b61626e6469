"""Running what recurses once or more for each node of a long chain."""

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final, TypeVar

T = TypeVar("T")

STACK: Final = 1 << 30
"""Bytes of address space; memory is taken only as deep as a recursion goes."""

DEEPEST: Final = 10_000_000
"""Python calls, which is to say: as many as there is stack for."""

Run = Callable[[Callable[[], T]], T]


class DeepStack:
    """One thread with a large stack, kept so that its stack need not be allocated anew each time.

    Python's recursion limit holds for all threads, so it is raised for a call and lowered again:
    what does not run here never profits from it.
    """

    def __init__(self, executor: ThreadPoolExecutor) -> None:
        self._executor = executor

    def run(self, function: Callable[[], T]) -> T:
        """Call a function of no arguments in the thread, and wait for its result.

        Raises
        ------
        RecursionError
            It is deeper than this Python allows: from 3.12 on, there is a limit for calls through
            C that cannot be raised.
        """
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(DEEPEST)
        try:
            return self._executor.submit(function).result()
        finally:
            sys.setrecursionlimit(limit)


@contextmanager
def deep_stack() -> Iterator[DeepStack]:
    """Open a deep stack, to be used within the `with`."""
    usual = threading.stack_size(STACK)
    try:
        with ThreadPoolExecutor(1) as executor:
            executor.submit(int).result()  # starts the thread while the stack size holds
            threading.stack_size(usual)
            yield DeepStack(executor)
    finally:
        threading.stack_size(usual)
