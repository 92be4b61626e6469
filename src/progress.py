"""Progress bars of long operations.

::

    double pendulum ━━━━━━━━━━━━━╸━━━━━━━━━━  t = 5.61 of 10   0:00:04
    cart and pole   ━━━━━━━━╸━━━━━━━━━━━━━━━  member 40 of 200, 8.1 a second, 0:00:20 left   0:00:05
"""

import time
from collections.abc import Callable
from contextvars import ContextVar
from datetime import timedelta
from math import isfinite
from types import TracebackType
from typing import Any, Final, final

from stagecache.errors import NotANumberError, short_repr

PATIENCE: Final = 1.0
"""Seconds until a bar is shown."""

INTERVAL: Final = 0.1
"""Seconds between two updates, at least."""

Progress = Any
"""None, a bool, or a rich.console.Console; rich is imported where a bar is shown only."""

ENTERED: Final[ContextVar["ProgressBar | None"]] = ContextVar("ENTERED", default=None)
"""The innermost bar of this context."""


@final
class ProgressBar:
    """A bar that rich shows on a terminal, if the operation takes longer than a second.

    A context manager: the bar is gone afterwards. While another one is entered inside of it, that
    one alone is shown, since it says more. Cost of `show` 0.1 µs as long as there is nothing
    to draw.

    Parameters
    ----------
    what : str
        Name of the operation.
    begin, end : float
        The times between which it runs; the end may be infinite, if it is not known.
    progress : bool or rich.console.Console, optional
        False: never. True: at once, not after a second. A Console: there, instead of on standard
        error.
    clock : callable
        Returns seconds.
    counted : str
        Name of the times that are shown; for other steps, such as "frame".
    has_rate : bool
        True to show the steps a second, and the time left.

    Raises
    ------
    NotANumberError
        `progress` is something else.
    """

    def __init__(
        self,
        what: str,
        begin: float,
        end: float,
        progress: Progress = None,
        clock: Callable[[], float] = time.monotonic,
        *,
        counted: str = "t",
        has_rate: bool = False,
    ) -> None:
        check_progress(progress)
        self._what = what
        self._begin = begin
        self._end = end
        self._progress = progress
        self._clock = clock
        self._counted = counted
        self._started = clock() if has_rate else None
        self._outer: ProgressBar | None = None
        self._bar: Any = None
        self._task: Any = None
        self._due = float("inf")
        if progress is not False:
            self._due = clock() + (0.0 if progress is True else PATIENCE)

    def show(self, t: float) -> None:
        """Draw the bar, if it is time."""
        now = self._clock()
        if now < self._due:
            return
        if ENTERED.get() is not self:  # another one is inside, or this is another thread
            self._due = now + INTERVAL
            return
        if self._bar is None:
            self._start()
            if self._bar is None:
                self._due = float("inf")
                return
        self._draw(t)
        self._due = now + INTERVAL

    def _start(self) -> None:
        from rich.console import Console  # noqa: PLC0415  # it takes long to import
        from rich.progress import (  # noqa: PLC0415
            BarColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
        )

        given = self._progress
        console = given if isinstance(given, Console) else Console(stderr=True)
        if not (console.is_terminal or console.is_jupyter):
            return
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[where]}", markup=False),
            TimeElapsedColumn(),
        )
        span = self._end - self._begin
        self._bar = Progress(*columns, console=console, transient=True, auto_refresh=False)
        self._bar.start()
        total = span if isfinite(span) and span > 0 else None
        self._task = self._bar.add_task(self._what, total=total, where="")

    def _draw(self, t: float) -> None:
        if not self._bar.live.is_started:
            self._bar.start()
        end = f" of {self._end:.4g}" if isfinite(self._end) else ""
        if not end and self._counted != "t":
            where = f"{t:,.0f} {self._counted}s"
        elif self._started is None:
            where = f"{self._counted} = {t:.4g}{end}"
        else:
            where = f"{self._counted} {t:,.0f} of {self._end:,.0f}{self._rate(t, self._started)}"
        self._bar.update(self._task, completed=t - self._begin, where=where, refresh=True)

    def _rate(self, t: float, started: float) -> str:
        """Return the steps a second, and the time that is left at this rate."""
        seconds = self._clock() - started
        if t <= self._begin or seconds <= 0:
            return ""
        rate = (t - self._begin) / seconds
        left = timedelta(seconds=round((self._end - t) / rate))
        return f", {rate:.3g} a second, {left} left"

    def __enter__(self) -> "ProgressBar":
        self._outer = ENTERED.get()
        if self._outer is not None and self._outer._bar is not None:
            self._outer._bar.stop()
        ENTERED.set(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        ENTERED.set(self._outer)
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def check_progress(progress: object) -> None:
    """Refuse values that are not a choice of a bar.

    Raises
    ------
    NotANumberError
    """
    if progress is None or isinstance(progress, bool) or hasattr(progress, "is_terminal"):
        return
    raise NotANumberError(
        "progress=...: not a choice",
        "None, True, False, or a Console of rich",
        short_repr(progress),
        "leave it out: a bar is shown on a terminal if it takes longer than a second",
    )
