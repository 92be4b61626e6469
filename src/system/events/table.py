"""The events of a System, and the rows of `State.event_triggers` that belong to them.

::

    id   0            "kick"           a handler that was added
         1            "watch"          a reporter that was added
         2            "ball.bounce"    declared by a subsystem
         3 + row      "ball.trigger 1 of Position"    allocated by hand; without a handler
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Final

from attrs import astuple, frozen

from stagecache.state.items.layout import Rows
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.declare.subsystem import Subsystem
from stagecache.system.events.default_subsystem import DefaultSystemSubsystem
from stagecache.system.events.events import Event, EventTriggerInfo
from stagecache.system.events.handlers import AbstractScheduled
from stagecache.system.events.triggers import TriggerDeclaration, TriggerOptions


@frozen(eq=False)
class EventTable:
    """The events of a topology.

    Attributes
    ----------
    events : tuple of Event
        By id.
    handlers, reporters : tuple of (AbstractScheduled, Event)
        The listeners to events whose times are known in advance.
    triggers : dict
        By index of a subsystem and stage: the declarations of its triggers, with their events.
    time_advanced : tuple of Event
        The hooks that are called when time has advanced.
    """

    events: tuple[Event, ...]
    handlers: tuple[tuple[AbstractScheduled[Any], Event], ...]
    reporters: tuple[tuple[AbstractScheduled[Any], Event], ...]
    triggers: Mapping[tuple[int, Stage], Sequence[tuple[TriggerDeclaration, Event]]]
    time_advanced: tuple[Event, ...]

    @classmethod
    def of(cls, subsystems: Sequence[Subsystem]) -> "EventTable":
        """Return the table of a System with these subsystems. Cost O(declared items)."""
        default = subsystems[0]
        assert isinstance(default, DefaultSystemSubsystem)
        ids = count()
        scheduled: list[tuple[AbstractScheduled[Any], Event]] = []
        events: dict[str, Event] = {}
        for name, listener in default._listeners.items():
            event = Event(next(ids), name, listener, listener.method, listener.is_report)
            events[name] = event
            if isinstance(listener, AbstractScheduled):
                scheduled.append((listener, event))
        known = list(events.values())
        triggers: dict[tuple[int, Stage], list[tuple[TriggerDeclaration, Event]]] = {}
        for subsystem in subsystems:
            for name, declared in subsystem.declarations.items():
                if not isinstance(declared, TriggerDeclaration):
                    continue
                if subsystem is default:
                    event = events[name]
                else:
                    method = declared.handled_in(subsystem)
                    owner = subsystem if method else None
                    event = Event(next(ids), f"{subsystem.name}.{name}", owner, method)
                    known.append(event)
                rows = triggers.setdefault((subsystem.index, declared.stage), [])
                rows.append((declared, event))
        return cls(
            tuple(known),
            tuple(pair for pair in scheduled if not pair[1].is_report),
            tuple(pair for pair in scheduled if pair[1].is_report),
            triggers,
            tuple(map(_time_advanced_in, filter(_wants_time_advanced, subsystems))),
        )

    def infos(self, state: State) -> Iterator[EventTriggerInfo]:
        """Return the information on each row of a State's event triggers. Cost O(rows)."""
        layouts = state._contents.realization.layout.subsystems
        index = count()
        for stage in Stage:
            for x, layout in enumerate(layouts):
                declared = self.triggers.get((x, stage), ())
                stack = layout.triggers[stage]
                for (trigger, event), rows in zip(declared, stack, strict=False):
                    options = astuple(trigger.options, recurse=False)
                    for name in _row_names(event.name, rows):
                        yield EventTriggerInfo(event, name, next(index), *options)
                for rows in stack[len(declared) :]:  # allocated by hand
                    options = astuple(TriggerOptions(stage), recurse=False)
                    for k in range(rows.start, rows.start + rows.count):
                        row = next(index)
                        event = Event(
                            len(self.events) + row, f"{layout.name}.trigger {k} of {stage}"
                        )
                        yield EventTriggerInfo(event, event.name, row, *options)

    def has(self, event: Event) -> bool:
        """Return whether it is one of these, or an event without a handler."""
        if event.id < len(self.events):
            return event.id >= 0 and self.events[event.id] == event
        return event.handled_by is None


def _row_names(name: str, rows: Rows) -> list[str]:
    return [name] if rows.count == 1 else [f"{name}[{i}]" for i in range(rows.count)]


HOOK: Final = "handle_time_advanced"


def _wants_time_advanced(subsystem: Subsystem) -> bool:
    hook = getattr(subsystem, HOOK)
    return getattr(hook, "__func__", hook) is not Subsystem.handle_time_advanced


def _time_advanced_in(subsystem: Subsystem) -> Event:
    return Event(-1, f"{subsystem.name}.{HOOK}", subsystem, HOOK)
