"""A trace in the Trace Event Format of Chrome, which Perfetto and Speedscope read, too.

::

    State 0          thread 0   |------ anchor.torque ------|  |- pendulum.tip (needless) -|
                                  |- pendulum.tip -| ' hit
    State 1, a copy  thread 0   ' write

What takes time is a "complete event" (X), all else an "instant event" (i) of its thread. A State is
shown as a process. A viewer colours and sums events by their names: so a computation that was in
vain has another name.
"""

from collections.abc import Iterable
from typing import Any

from stagecache.inspection.trace.events import (
    AbstractTraceEvent,
    ComputationEvent,
    HitEvent,
    InvalidationEvent,
    StageEvent,
    WriteEvent,
)


def chrome_events(events: Iterable[AbstractTraceEvent], num_given: int) -> list[dict[str, Any]]:
    """Return the events as the Trace Event Format has them; times are in microseconds.

    Parameters
    ----------
    events : iterable of AbstractTraceEvent
    num_given : int
        Number of States that are not copies; they come first.
    """
    found: list[dict[str, Any]] = []
    lanes = set()
    told: dict[str, Any]
    common: dict[str, Any]
    for event in events:
        lanes.add((event.state, event.thread))
        common = {"pid": event.state, "tid": event.thread, "ts": event.time * 1e6}
        if isinstance(event, ComputationEvent):
            told = {"reads": list(event.reads), "changed": event.changed, "error": event.error}
            told |= {"is_unchanged": event.is_unchanged, "own_seconds": event.own_seconds}
            name, category = _named_by_result(event)
            found.append(_complete(name, category, event.seconds, told, common))
        elif isinstance(event, StageEvent):
            told = {"before": str(event.before), "after": str(event.after), "cause": event.cause}
            name = f"{event.subsystem or 'system'} to {event.after}"
            found.append(_complete(name, "stage", event.seconds, told, common))
        elif isinstance(event, WriteEvent):
            told = {"before": event.before, "after": event.after}
            told |= {"place": f"{event.file}:{event.line}" if event.file else ""}
            found.append(_instant(f"write {event.variable}", "write", told, common))
        elif isinstance(event, InvalidationEvent):
            found.append(
                _instant(f"stale {event.entry}", "invalidation", {"cause": event.cause}, common)
            )
        elif isinstance(event, HitEvent):
            found.append(_instant(f"hit {event.entry}", "hit", {"reader": event.reader}, common))
    states = sorted({state for state, _ in lanes})
    for state in states:
        title = f"State {state}" if state < num_given else f"State {state}, a copy"
        found.append(_row("process_name", {"name": title}, state, 0))
        found.append(_row("process_sort_index", {"sort_index": state}, state, 0))
    for state, thread in sorted(lanes):
        found.append(_row("thread_name", {"name": f"thread {thread}"}, state, thread))
        found.append(_row("thread_sort_index", {"sort_index": thread}, state, thread))
    return found


def _named_by_result(event: ComputationEvent) -> tuple[str, str]:
    """Return the name and the category of a computation, by what came of it."""
    if event.error:
        return f"{event.entry} (raised {event.error})", "computation,failed"
    if event.is_found:
        return f"{event.entry} (shared)", "shared"
    if event.is_needless:
        return f"{event.entry} (needless)", "computation,needless"
    if event.is_unchanged:
        return f"{event.entry} (unchanged)", "computation,unchanged"
    return event.entry, "computation"


def _row(kind: str, told: dict[str, Any], state: int, thread: int) -> dict[str, Any]:
    return {"name": kind, "ph": "M", "pid": state, "tid": thread, "args": told}


def _complete(
    name: str, kind: str, seconds: float, told: dict[str, Any], common: dict[str, Any]
) -> dict[str, Any]:
    return {"name": name, "cat": kind, "ph": "X", "dur": seconds * 1e6, "args": told, **common}


def _instant(name: str, kind: str, told: dict[str, Any], common: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "cat": kind, "ph": "i", "s": "t", "args": told, **common}
