"""Errors that strike in the middle of an operation, wherever the library is at the time.

CPython delivers Control-C when a function is entered, when a loop goes round, and after a call; a
call may run out of stack, and any line out of memory. `struck_at` raises at the n-th line, entry or
end of a function that an operation comes to, so that a test can try one after the other. In
compiled code nothing can be struck so; there, a timer strikes (`struck_by_timer`). Functions of a
model that pass by the `FUSE` strike in either form.

Rules of state machines strike at one drawn moment of a drawn operation, on a copy that is thrown
away afterwards (`struck`)::

    the pair of the machine          untouched
        |- a copy, before it         what all was
        |- a copy, whole             counts the moments; what all should be
        `- a copy, struck            is as before, or as it should be; all valid is right; goes on
"""

import gc
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache, partial, wraps
from linecache import getline
from pathlib import Path
from types import FrameType
from typing import Any, Final, NoReturn, TypeVar

import pytest
from hypothesis import note
from hypothesis import strategies as st

import stagecache
from stagecache.graph import store
from tests.profiles import is_nightly

LIBRARY = str(Path(stagecache.__file__).parent)
IS_COMPILED = not store.__file__.endswith(".py")

Operation = Callable[[], object]
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

plain_only = pytest.mark.skipif(
    IS_COMPILED, reason="the library is compiled: nothing can be traced in it"
)
needs_timer = pytest.mark.skipif(
    not hasattr(signal, "setitimer") or sys.gettrace() is not None,
    reason="needs the timers of Unix, and no tracer, in which they may strike as well",
)
ignore_lost_strikes = pytest.mark.filterwarnings(
    # Python drops an error in the call-back of a weak reference, or in a generator that it closes.
    "ignore::pytest.PytestUnraisableExceptionWarning"
)


class Strike:
    """Raises an error at the n-th step of the library, counted from 0; a trace function.

    Steps are counted in functions of these names, or in all functions.
    """

    def __init__(
        self, at: int, error: type[BaseException], within: frozenset[str] = frozenset()
    ) -> None:
        self.steps = at
        self.error = error
        self.within = within
        self.place = ""

    def __call__(self, frame: FrameType, event: str, argument: object) -> Any:
        code = frame.f_code
        if not code.co_filename.startswith(LIBRARY):
            return None
        if self.within and code.co_name not in self.within:
            return None
        if event != "exception" and not is_spared(code.co_filename, frame.f_lineno):
            if self.steps == 0:
                sys.settrace(None)
                where = Path(frame.f_code.co_filename).name
                self.place = f"{where}:{frame.f_lineno}, {frame.f_code.co_name}, {event}"
                self.steps -= 1
                self.strike()
            self.steps -= 1
        return self

    def strike(self) -> None:
        raise self.error(f"struck at {self.place}")


@cache
def is_spared(file: str, line: int) -> bool:
    """Whether a ``with`` is entered or left, or a ``try`` begun: the interpreter strikes at none.

    Python 3.11 would not leave a ``with`` if a tracer raised at the ``try`` that follows it.
    """
    return getline(file, line).lstrip().startswith(("with ", "try:"))


def struck_at(
    at: int,
    operation: Operation,
    error: type[BaseException],
    within: frozenset[str] = frozenset(),
) -> str:
    """Run an operation and strike at its n-th step; return where, or "" if it has fewer."""
    strike = Strike(at, error, within)
    before = sys.gettrace()
    sys.settrace(strike)
    try:
        operation()
    except BaseException:  # a computation may have turned it into another one
        if not strike.place:
            raise
    finally:
        sys.settrace(before)
    return strike.place


class Visit(Strike):
    """Calls a function at the n-th step of the library, as a garbage collection may there."""

    def __init__(self, at: int, act: Operation) -> None:
        super().__init__(at, KeyboardInterrupt)
        self._act = act

    def strike(self) -> None:
        self._act()


def visits(
    prepare: Callable[[], Any],
    operation: Callable[[Any], object],
    act: Callable[[Any], object],
    every: int,
) -> Iterator[tuple[Any, str]]:
    """Call `act` at each `every`-th step of an operation, each time on what `prepare` makes.

    Yields what it was done to, and where (in the profile `nightly`, at 50 times as many steps).
    """
    every = max(every // 50, 1) if is_nightly() else every
    at = 0
    while True:
        subject = prepare()
        visit = Visit(at, partial(act, subject))
        before = sys.gettrace()
        sys.settrace(visit)
        try:
            operation(subject)
        except BaseException as error:
            error.add_note(f"visited at {visit.place}")
            raise
        finally:
            sys.settrace(before)
        if not visit.place:
            break
        yield subject, f"visited at {visit.place}"
        at += every


class Cycle:
    """Something that only the garbage collector can finalize."""

    def __init__(self, finalizer: "Finalizer") -> None:
        self.finalizer = finalizer
        self.itself = self

    def __del__(self) -> None:
        self.finalizer.run()


class Finalizer:
    """Calls a function at the n-th collection, counted from 0; each one leads to the next one."""

    def __init__(self, at: int, act: Operation) -> None:
        self.has_acted = False
        self._left = at
        self._act: Operation | None = act

    def run(self) -> None:
        if self._act is None:
            return
        if self._left > 0:
            self._left -= 1
            Cycle(self)
            return
        act, self._act = self._act, None
        act()
        self.has_acted = True

    def end(self) -> None:
        self._act = None


def collections(
    prepare: Callable[[], Any],
    operation: Callable[[Any], object],
    act: Callable[[Any], object],
    every: int,
) -> Iterator[tuple[Any, str]]:
    """Call `act` in a finalizer in each `every`-th collection during an operation, in either form.

    Collections are at nearly every allocation. Yields what it was done to, and when.
    """
    every = 1 if is_nightly() else every
    thresholds = gc.get_threshold()
    at = 0
    has_acted = True
    while has_acted:
        subject = prepare()
        finalizer = Finalizer(at, partial(act, subject))
        gc.collect(0)
        gc.freeze()  # what is there already is not looked at again and again
        gc.set_threshold(1, 1, 1)
        try:
            Cycle(finalizer)
            operation(subject)
        finally:
            finalizer.end()
            gc.set_threshold(*thresholds)
            gc.unfreeze()
        has_acted = finalizer.has_acted
        yield subject, f"at collection {at}"
        at += every


def steps(operation: Operation) -> int:
    """How many steps of the library an operation takes."""
    strike = Strike(sys.maxsize, KeyboardInterrupt)
    before = sys.gettrace()
    sys.settrace(strike)
    try:
        operation()
    finally:
        sys.settrace(before)
    return sys.maxsize - strike.steps


def out_of_stack(margin: int, operation: Operation) -> bool:
    """Run an operation with that many frames left; return whether they were too few."""
    depth = 0
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(depth + margin)  # which the interpreter refuses if it is used already
        operation()
    except RecursionError:
        return True
    finally:
        sys.setrecursionlimit(limit)
    return False


def strikes(
    prepare: Callable[[], Any],
    operation: Callable[[Any], object],
    every: int,
    within: frozenset[str] = frozenset(),
) -> Iterator[tuple[Any, str]]:
    """Strike at steps of an operation, each time on what `prepare` makes.

    Yields what it was done to, and what struck: Control-C and lack of memory at each `every`-th
    step (in the profile `nightly`, at 50 times as many), lack of stack at each depth. Steps are
    those in functions of the names `within`, or all.
    """
    every = max(every // 50, 1) if is_nightly() else every
    for error in (KeyboardInterrupt, MemoryError):
        at = 0
        while True:
            subject = prepare()
            place = struck_at(at, partial(operation, subject), error, within)
            if not place:
                break
            yield subject, f"{error.__name__} at {place}"
            at += every
    for margin in range(1, 200):
        subject = prepare()
        if not out_of_stack(margin, partial(operation, subject)):
            break
        yield subject, f"stack of {margin} frames"


def strike_after_opening(beside: Path, _: Path) -> NoReturn:
    """Take the place of `open_beside`: the file is there, but nobody was given it."""
    beside.touch(exist_ok=False)
    raise KeyboardInterrupt


def struck_by_timer(seconds: float, steps: Iterable[object]) -> None:
    """Take steps that have no end until Control-C strikes, after that time."""
    has_struck = False

    def strike(*_: object) -> NoReturn:
        nonlocal has_struck
        has_struck = True
        raise KeyboardInterrupt

    def take() -> None:  # Python 3.13 catches no error that strikes at the end of a loop in a try
        for _ in steps:
            if has_struck:  # and was lost, in the call-back of a weak reference
                break

    before = signal.signal(signal.SIGALRM, strike)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        take()
    except KeyboardInterrupt:
        pass
    finally:
        signal.signal(signal.SIGALRM, before)


# ---------------------------------------------------------------------- at a drawn moment

ERRORS: Final = (ValueError, KeyboardInterrupt, MemoryError)
"""Errors that strike: those of a model, and those that come from anywhere."""

MOST_MOMENTS: Final = 50
"""Moments of one operation at which the profile `nightly` strikes; others strike at one."""


class Fuse:
    """Raises an error when the code of a model passes by for the n-th time, counted from 0."""

    def __init__(self) -> None:
        self.count = 0
        self.at = -1
        self.error: type[BaseException] = ValueError

    def pass_by(self) -> None:
        self.count += 1
        if self.count - 1 == self.at:
            raise self.error(f"struck at call {self.at} of the model")


FUSE: Final = Fuse()
"""The fuse of all test models: inert, unless `struck` sets it."""


def fused(function: F) -> F:
    """Let a function of a model pass by the fuse at its beginning and at its end."""

    @wraps(function)
    def passing(*arguments: Any, **named: Any) -> Any:
        FUSE.pass_by()
        found = function(*arguments, **named)
        FUSE.pass_by()
        return found

    return passing  # type: ignore[return-value]  # it takes and returns the same


def burnt_at(at: int, operation: Operation, error: type[BaseException]) -> str:
    """Run an operation, and strike when its model passes by the fuse; at -1 never."""
    FUSE.count, FUSE.at, FUSE.error = 0, at, error
    try:
        operation()
    except BaseException:
        if not 0 <= at < FUSE.count:
            raise
    finally:
        FUSE.at = -1
    return f"call {at} of the model" if 0 <= at < FUSE.count else ""


def struck(
    data: st.DataObject, prepare: Callable[[], T], operation: Callable[[T], object]
) -> Iterator[tuple[T, T]]:
    """Strike an operation at drawn moments: steps of the library, or calls of the model.

    Yields what was struck, and another one for which the operation was completed. In compiled form
    nothing but the model can strike.

    Parameters
    ----------
    data : DataObject
    prepare : callable
        Makes what the operation is done to, the same each time.
    operation : callable
        Survives errors that it raises by itself; draws nothing.
    """
    error = data.draw(st.sampled_from(ERRORS), label="error")
    in_model = data.draw(st.booleans(), label="in the model")
    fraction = data.draw(st.integers(0, 999), label="at 1/1000")
    whole = prepare()
    with no_collections():
        FUSE.count = 0
        count = 0 if IS_COMPILED else steps(partial(operation, whole))
        if IS_COMPILED:
            operation(whole)
        in_model = (in_model or IS_COMPILED) and FUSE.count > 0
    count, strike = (FUSE.count, burnt_at) if in_model else (count, struck_at)
    num = min(count, MOST_MOMENTS if is_nightly() else 1)
    for moment in range(num):
        subject = prepare()
        at = (fraction + 1000 * moment // num) % 1000 * count // 1000
        with no_collections():
            place = strike(at, partial(operation, subject), error)
        note(f"{error.__name__} at {place}")
        yield subject, whole


@contextmanager
def no_collections() -> Iterator[None]:
    """Let the garbage collector call no finalizer of the library, which would be counted."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
