"""A trace in the Trace Event Format of Chrome, which Perfetto and Speedscope read, too.

What takes time is a "complete event" (X), all else an "instant event" (i) of its thread. A State is
shown as a process.
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


def chrome_events(events: Iterable[AbstractTraceEvent]) -> list[dict[str, Any]]:
    """The events as the Trace Event Format has them; times are in microseconds."""
    found: list[dict[str, Any]] = []
    lanes = set()
    told: dict[str, Any]
    common: dict[str, Any]
    for event in events:
        lanes.add((event.state, event.thread))
        common = {"pid": event.state, "tid": event.thread, "ts": event.time * 1e6}
        if isinstance(event, ComputationEvent):
            told = {"reads": list(event.reads), "changed": event.changed, "error": event.error}
            told["is_unchanged"] = event.is_unchanged
            found.append(_complete(event.entry, "computation", event.seconds, told, common))
        elif isinstance(event, StageEvent):
            told = {"before": str(event.before), "after": str(event.after), "cause": event.cause}
            name = f"{event.subsystem or 'system'} to {event.after}"
            found.append(_complete(name, "stage", event.seconds, told, common))
        elif isinstance(event, WriteEvent):
            told = {"before": event.before, "after": event.after}
            told |= {"place": f"{event.file}:{event.line}"}
            found.append(_instant(event.variable, "write", told, common))
        elif isinstance(event, InvalidationEvent):
            found.append(_instant(event.entry, "invalidation", {"cause": event.cause}, common))
        elif isinstance(event, HitEvent):
            found.append(_instant(event.entry, "hit", {"reader": event.reader}, common))
    states = sorted({state for state, _ in lanes})
    found += [_named("process_name", f"State {s}", s, 0) for s in states]
    found += [_named("thread_name", f"thread {t}", s, t) for s, t in sorted(lanes)]
    return found


def _named(kind: str, name: str, state: int, thread: int) -> dict[str, Any]:
    return {"name": kind, "ph": "M", "pid": state, "tid": thread, "args": {"name": name}}


def _complete(
    name: str, kind: str, seconds: float, told: dict[str, Any], common: dict[str, Any]
) -> dict[str, Any]:
    return {"name": name, "cat": kind, "ph": "X", "dur": seconds * 1e6, "args": told, **common}


def _instant(name: str, kind: str, told: dict[str, Any], common: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "cat": kind, "ph": "i", "s": "t", "args": told, **common}
