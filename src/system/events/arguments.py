"""What is passed to a System about events, and refused if it makes no sense."""

import re
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from stagecache.errors import (
    InvalidNameError,
    NotANumberError,
    UnknownEventError,
    WrongTypeError,
    short_repr,
)
from stagecache.system.declare.subsystem import Subsystem, snake_case
from stagecache.system.events.events import Event, EventCause
from stagecache.system.events.observers import AbstractEventObserver
from stagecache.system.events.options import HandleEventsOptions
from stagecache.system.events.table import EventTable

DEFAULT: Final = HandleEventsOptions()


def checked_events(table: EventTable, events: Any, what: str) -> list[Event]:
    """Return events that are handled by somebody, each once, by their ids.

    Raises
    ------
    UnknownEventError
    """
    if not isinstance(events, Sequence):
        raise UnknownEventError(
            f"{what}: cannot handle {short_repr(events)}",
            "a sequence of Event",
            f"an object of type {type(events).__name__}",
            "pass what calc_time_of_next_scheduled_event() or calc_event_trigger_info() tell",
        )
    for event in events:
        if not isinstance(event, Event) or not table.has(event):
            raise UnknownEventError(
                f"{what}: {short_repr(event)} is no event of this System",
                "an Event of its present topology",
                f"an object of type {type(event).__name__}"
                if not isinstance(event, Event)
                else "one of another System, or of a topology of before",
                "pass what calc_time_of_next_scheduled_event() or calc_event_trigger_info() tell",
            )
    found = {event.id: event for event in events if event.method}
    return [found[x] for x in sorted(found)]


def check_cause(cause: Any, what: str) -> EventCause:
    """Refuse what is no cause.

    Raises
    ------
    UnknownEventError
    """
    if isinstance(cause, EventCause):
        return cause
    raise UnknownEventError(
        f"{what}: there is no such cause",
        "one of " + ", ".join(c.name for c in EventCause),
        short_repr(cause),
        "write EventCause.TRIGGERED, for instance",
    )


def check_flag(flag: Any, what: str) -> bool:
    """Refuse what is no truth value.

    Raises
    ------
    NotANumberError
    """
    if isinstance(flag, bool | np.bool_):
        return bool(flag)
    raise NotANumberError(
        f"{what}: is no truth value", "a bool", short_repr(flag), "write True or False"
    )


def checked_options(options: Any, what: str) -> HandleEventsOptions:
    """Return options, the default ones for None.

    Raises
    ------
    UnknownEventError
    """
    if options is None:
        return DEFAULT
    if isinstance(options, HandleEventsOptions):
        return options
    raise UnknownEventError(
        f"{what}: its options are none",
        "a HandleEventsOptions",
        short_repr(options),
        "write HandleEventsOptions(1e-6), for instance",
    )


# ---------------------------------------------------------------------- what is added


def refusal_of(observer: object, who: str) -> WrongTypeError:
    """The error of what is added as a handler or reporter and is none."""
    kinds = ", ".join(f"{kind}Event{who.capitalize()}" for kind in ("Scheduled", "Periodic"))
    other = "reporter" if who == "handler" else "handler"
    is_other = isinstance(observer, AbstractEventObserver)
    return WrongTypeError(
        f"{short_repr(observer)}: cannot be added as an event {who}",
        f"an instance of {kinds} or TriggeredEvent{who.capitalize()}",
        "a class; an instance of it is needed"
        if isinstance(observer, type)
        else f"an object of type {type(observer).__name__}",
        f"call add_event_{other}()" if is_other else f"pass PeriodicEvent{who.capitalize()}(...)",
    )


def checked_name(name: object, who: str) -> str:
    """Return the name that is given to a handler or reporter, unless it cannot have it.

    Raises
    ------
    InvalidNameError
    """
    what = f"the name of an event {who}"
    if not isinstance(name, str) or not name:
        raise InvalidNameError(f"{what}: is no name", "a string", short_repr(name), "write a text")
    if "." in name:
        raise InvalidNameError(
            f"{what}: has a dot in it",
            "a name without: those of declared events have one",
            short_repr(name),
            f"write {name.replace('.', '_')!r}",
        )
    if name.startswith("_") or hasattr(Subsystem, name):
        raise InvalidNameError(
            f"{what}: is taken by the subsystem that has it",
            "a name that no Subsystem has for something else",
            short_repr(name),
            f"give it another name, for instance {name.strip('_')}_event",
        )
    return name


def default_name(observer: Any, who: str, known: Any) -> str:
    """That of the class, or of the function; and if it is taken, with a number."""
    name = snake_case(type(observer).__name__)
    if re.fullmatch("(scheduled|periodic|triggered)_event_(handler|reporter)", name):
        function = getattr(observer, f"_{'handle' if who == 'handler' else 'report'}", None)
        name = getattr(function, "__name__", "<")
    if not name.isidentifier() or name.startswith("_") or hasattr(Subsystem, name):
        count = sum(o.is_report is observer.is_report for o in known.values())
        name = f"{who} {count + 1}"
    base, number = name, 2
    while name in known:
        name = f"{base} {number}"
        number += 1
    return name
