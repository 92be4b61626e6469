"""When the next events are due whose times are known before."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from stagecache.errors import EventTimeError, ShapeError, short_repr
from stagecache.state.state import State
from stagecache.state.vectors.conversion import FLOAT, converted
from stagecache.system.events.events import Event
from stagecache.system.events.observers import (
    AbstractEventObserver,
    AbstractPeriodic,
    AbstractScheduled,
)
from stagecache.system.events.only_looking import only_looking

INFINITY: Final = float("inf")


def next_scheduled(
    state: State,
    scheduled: Sequence[tuple[AbstractScheduled, Event]],
    *,
    include_current_time: bool,
) -> tuple[float, tuple[Event, ...]]:
    """Return the next time that was known before, and what takes place then.

    Times that differ by rounding only are one time. The number that stands for it is that of an
    event which is not periodic, the latest if there are several: what computes it may compare times
    to the bit.
    """
    if not scheduled:
        return INFINITY, ()
    found = only_looking(
        state._contents, partial(_due, state, scheduled, include_current_time=include_current_time)
    )
    if not found:
        return INFINITY, ()
    if len(found) == 1:
        return found[0][0], (found[0][2],)
    first, earliest, _ = min(found, key=lambda due: due[0])
    close = earliest.rounding(first, first)
    due = [d for d in found if d[0] - first <= max(close, d[1].rounding(first, first))]
    exact = [time for time, observer, _ in due if not isinstance(observer, AbstractPeriodic)]
    return max(exact, default=first), tuple(event for _, _, event in due)


def _due(
    state: State,
    scheduled: Sequence[tuple[AbstractScheduled, Event]],
    *,
    include_current_time: bool,
) -> list[tuple[float, AbstractScheduled, Event]]:
    """Return the next time of each that has one."""
    now = state.time
    found = []
    event = scheduled[0][1]
    try:
        for observer, event in scheduled:
            time = observer.next_event_time(state, include_current_time)
            if type(time) is not float or time != time:  # noqa: PLR0124  # NaN
                time = checked_next_time(time, observer)
            if include_current_time and 0 < now - time <= observer.rounding(now, now):
                time = now
            if now < time < INFINITY or (include_current_time and time == now):
                found.append((time, observer, event))
    except Exception as error:
        error.add_note(f"while the next time of the event {event} was asked for")
        raise
    return found


def checked_next_time(time: Any, observer: AbstractEventObserver) -> float:
    """Return what a scheduled event says of its next time, as a float; it may be infinite.

    Raises
    ------
    EventTimeError
    """
    try:
        found = float(converted(time, FLOAT, (), "the next time"))
    except (ShapeError, TypeError):
        found = float("nan")
    if found != found:  # noqa: PLR0124  # NaN
        raise EventTimeError(
            f"{observer.name}: next_event_time() returns no time",
            "a number of seconds; infinity, if it does not take place any more",
            short_repr(time),
            "return math.inf where there is no next time",
        )
    return found
