"""Tracing: writes, the entries that they made stale, computations, and their cost.

::

    with state.trace() as trace:
        system.realize(state)
    print(trace.summary())
"""

import csv
import io
import json
from collections.abc import Callable
from os import PathLike
from types import TracebackType
from typing import Any, Final, Self, final

from stagecache.checks import require_path
from stagecache.graph.observing import MOST_EVENTS
from stagecache.inspection.subject import Subject, subject_of
from stagecache.inspection.trace.chrome import chrome_events
from stagecache.inspection.trace.events import AbstractTraceEvent
from stagecache.inspection.trace.log import TraceLog
from stagecache.inspection.trace.summary import TraceSummary
from stagecache.inspection.trace.tracer import TakesRecords, Tracer

COLUMNS: Final = (
    *("time", "state", "thread", "variable", "entry", "before", "after", "cause"),
    *("seconds", "own_seconds", "reads", "reader", "changed"),
    *("is_unchanged", "is_needless", "is_found", "error"),
    *("subsystem", "file", "line"),
)


@final
class Trace:
    """A record of what happens to States or Graphs in a ``with`` block, to be read in and after it.

    Made by `State.trace` or `Graph.trace`. Copies of a State that are made in the block are traced,
    too, each as a State of its own; by any thread, but not in other processes. A read costs up to a
    microsecond, a write or a computation some microseconds; they are part of the times that are
    told, unless a computation is compared with large earlier values: that is not part of them. An
    event takes 100 to 200 bytes until the Trace is gone. Events are counted when somebody looks, at
    about a microsecond each, and meanwhile only if there are more of them than are kept. A traced
    copy costs O(items), as any copy does.

    A Trace holds the States or Graphs that it was given, also when it has ended; it does not hold
    copies.

    Parameters
    ----------
    states : tuple of State or Graph
    most : int
        Number of events to keep; later ones are only counted.
    show : callable, optional
        Called with the number of events now and then, in the thread that made the last one.
    """

    def __init__(
        self,
        states: tuple[Any, ...],
        most: int = MOST_EVENTS,
        show: Callable[[int], object] | None = None,
    ) -> None:
        self._states = states
        self._log = TraceLog(most, len(states), show)
        self._depth = 0

    def __enter__(self) -> Self:
        self._depth += 1
        if self._depth > 1:
            return self
        try:
            self._log.begin()
            for number, state in enumerate(self._states):
                self._log.add_state(begin_tracing(state, self._log).names, number)
        except BaseException:
            self._depth = 0
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._depth > 1:
            self._depth -= 1
            return
        try:
            self._end()
        except BaseException:
            self._end()
            raise
        finally:
            self._depth = 0

    def _end(self) -> None:
        for state in (*self._states, *self._log.end()):
            end_tracing(state, self._log)

    # ------------------------------------------------------------------ what happened

    @property
    def events(self) -> tuple[AbstractTraceEvent, ...]:
        """The events so far, in the order in which they ended. Cost O(events)."""
        return self._log.events()

    @property
    def num_dropped(self) -> int:
        """Number of events that were counted and not kept, as there were too many."""
        self._log.count()
        return self._log.dropped

    def summary(self) -> TraceSummary:
        """Return a table with a row for each entry: its computations, hits and times."""
        return TraceSummary._of(self._log)

    @property
    def untraced(self) -> tuple[str, ...]:
        """Computations that are not in the trace, as they were made in other processes."""
        return tuple(self._log.untraced)

    # ------------------------------------------------------------------ taking it elsewhere

    def to_csv(self, path: str | PathLike[str] | None = None) -> str:
        """Return the events, a line for each, and write them to a file if a path is given.

        Columns that an event does not have are empty; where several things are in one, they are
        separated by ``;``.

        Raises
        ------
        WrongTypeError, OSError
        """
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(("event", *COLUMNS))
        writer.writerows([_cells(event) for event in self.events])
        return _written(text.getvalue(), path)

    def to_chrome(self, path: str | PathLike[str] | None = None) -> str:
        """Return the events in the Trace Event Format of Chrome, Perfetto and Speedscope.

        Each State is a process, and each thread a row of it. The names of computations end with
        "(needless)" or "(unchanged)" if these were in vain: see `EntrySummary`. They are
        categories, too.

        Raises
        ------
        WrongTypeError, OSError
        """
        document = {
            "traceEvents": chrome_events(self.events, len(self._states)),
            "displayTimeUnit": "ms",
        }
        return _written(json.dumps(document, ensure_ascii=False), path)

    def __repr__(self) -> str:
        summary = self.summary()
        state = "on" if self._depth else "ended"
        return f"Trace({state}: {summary.computed} computed, {summary.hits} hits)"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def _cells(event: AbstractTraceEvent) -> list[object]:
    values = [getattr(event, name, "") for name in COLUMNS]
    cells = [";".join(value) if isinstance(value, tuple) else value for value in values]
    return [type(event).__name__.removesuffix("Event").lower(), *cells]


def _written(text: str, path: str | PathLike[str] | None) -> str:
    if path is not None:
        require_path(path, "the path of a trace").write_text(text, encoding="utf-8")
    return text


def begin_tracing(observed: Any, log: TakesRecords) -> Tracer:
    """Record all operations on a State or a Graph until `end_tracing`."""
    with observed.lock:
        subject = subject_of(observed)
        tracer = _tracer_of(subject)
        if tracer is None:
            tracer = Tracer(subject)
            tracer.logs = (log,)
            subject.observe((*subject.observers, tracer))
        else:
            tracer.unread.clear()  # the new log does not know of these
            tracer.logs = (*tracer.logs, log)
        return tracer


def end_tracing(observed: Any, log: TakesRecords) -> None:
    """Undo `begin_tracing`, as far as it came; it may be done twice."""
    with observed.lock:
        subject = subject_of(observed)
        tracer = _tracer_of(subject)
        if tracer is not None:
            tracer.logs = tuple([other for other in tracer.logs if other is not log])
            if not tracer.logs:
                subject.observe(tuple([o for o in subject.observers if o is not tracer]))
                tracer.unwrap()
        else:
            subject.observe(subject.observers)


def trace_as_copy(state: Any, other: Any) -> None:
    """Trace a State that was made from values of another one, as if it were a copy of it."""
    with state.lock:
        tracer = _tracer_of(subject_of(state))
    subject = subject_of(other)
    if tracer is None or _tracer_of(subject) is not None:
        return
    inherited = tracer.inherited(other._contents)
    if inherited is not None:
        with other.lock:
            subject.observe((*subject.observers, inherited))
        inherited.made(other)


def tell_untraced(state: Any, text: str) -> None:
    """Let each trace of a State tell that something is not in it."""
    with state.lock:
        tracer = _tracer_of(subject_of(state))
    for log in tracer.logs if tracer is not None else ():
        if isinstance(log, TraceLog):
            log.untraced.append(text)


def _tracer_of(subject: Subject) -> Tracer | None:
    return next((o for o in subject.observers if isinstance(o, Tracer)), None)
