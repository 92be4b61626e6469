"""Threads of tests: they start at the same moment, switch often, and must end."""

import sys
import threading
import time
import traceback
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from linecache import getline
from pathlib import Path
from types import FrameType
from typing import Any, Final, TypeVar

import stagecache

T = TypeVar("T")

TIMEOUT: Final = 60  # seconds after which a test of threads has hung
PAUSE: Final = 1e-5  # seconds, in which another thread takes over
FOLDERS: Final = (str(Path(stagecache.__file__).parent), str(Path(__file__).parent))


@contextmanager
def many_switches() -> Iterator[None]:
    """Let the interpreter switch threads as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


class Pauses:
    """Lets other threads go on at each n-th line of the library and of the tests; a trace function.

    The interpreter alone switches so seldom that threads hardly meet within an operation.
    """

    def __init__(self, every: int) -> None:
        self._every = every
        self._count = 0

    def __call__(self, frame: FrameType, _event: str, _argument: object) -> Any:
        if not frame.f_code.co_filename.startswith(FOLDERS):
            return None
        self._count += 1
        if self._count % self._every == 0:
            time.sleep(PAUSE)
        return self


class Together:
    """Functions, each in a thread of its own, which has a result or an error.

    The threads are daemons: one that hangs fails the test, and does not keep the process.
    """

    def __init__(
        self, functions: Sequence[Callable[[], Any]], pauses: Sequence[int], timeout: float
    ) -> None:
        self._functions = functions
        self._pauses = pauses
        self._barrier = threading.Barrier(len(functions))
        self._timeout = timeout
        self._results: list[Any] = [None] * len(functions)
        self._errors: list[BaseException | None] = [None] * len(functions)

    def _run(self, number: int) -> None:
        try:
            self._barrier.wait(self._timeout)
            if self._pauses:
                sys.settrace(Pauses(self._pauses[number]))
            self._results[number] = self._functions[number]()
        except BaseException as error:  # raised again in the thread that waits
            self._errors[number] = error
        finally:
            sys.settrace(None)

    def results(self) -> list[Any]:
        """Start all, wait until they end, and return the results or raise the first error."""
        threads = [
            threading.Thread(target=self._run, args=(number,), daemon=True)
            for number in range(len(self._functions))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(self._timeout)
        hung = [thread for thread in threads if thread.is_alive()]
        if hung:
            frames = sys._current_frames()
            places = [traceback.format_stack(frames[t.ident or 0])[-1] for t in hung]
            raise AssertionError(f"{len(hung)} of {len(threads)} threads hang: {places}")
        for error in self._errors:
            if error is not None:
                raise error
        return self._results


def run_together(
    *functions: Callable[[], T], pauses: Sequence[int] = (), timeout: float = TIMEOUT
) -> list[T]:
    """Run functions in one thread each, started at the same moment, and return their results.

    Parameters
    ----------
    pauses : sequence of int
        For each thread: the number of lines after which it lets others go on.

    Raises
    ------
    AssertionError
        A thread has not ended after the timeout.
    BaseException
        What the first of those that raised has raised.
    """
    return Together(functions, pauses, timeout).results()


def comes_true(condition: Callable[[], bool]) -> bool:
    """Wait until a condition holds, and return whether it ever does."""
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.005)
    return False


def comes_to_stay(condition: Callable[[], bool]) -> bool:
    """Wait until a condition holds, and return whether it still does a little later."""
    comes_true(condition)
    time.sleep(0.05)
    return condition()


def is_waited_for(condition: threading.Condition) -> bool:
    """Return whether a thread waits for a condition."""
    waiters: Collection[Any] = vars(condition)["_waiters"]
    return len(waiters) > 0


def wait_until_in(thread: threading.Thread, function: str) -> None:
    """Wait until a thread is in a function of that name, at a lock that it takes by `with`."""
    for _ in range(TIMEOUT * 1000):
        frame = sys._current_frames().get(thread.ident or 0)
        if frame is not None and frame.f_code.co_name == function:
            line = getline(frame.f_code.co_filename, frame.f_lineno)
            if line.lstrip().startswith("with "):
                return
        time.sleep(1e-3)
    raise AssertionError(f"the thread never comes to {function}()")
