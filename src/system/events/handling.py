"""Handling events: the handlers are called, and what they leave is checked.

::

    checkpoint  ->  handlers, by the id of their events  ->  prescribed motion, constraints
                                                         ->  reporters
        ^                                                        |
        +---------------  whatever fails  <----------------------+
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from stagecache.errors import (
    EventHandlerError,
    EventTimeError,
    StagecacheError,
    short_repr,
)
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.core.constrained import AbstractConstrainedSystem
from stagecache.system.events.events import Event, EventAction
from stagecache.system.events.only_looking import only_looking
from stagecache.system.events.options import (
    HandleEventsOptions,
    HandleEventsResults,
    HandleEventsStatus,
)
from stagecache.system.events.state_changes import StateChanges
from stagecache.system.motion.prescribing import motions
from stagecache.system.projection.options import ProjectOptions

T = TypeVar("T")


def handle_events(
    system: AbstractConstrainedSystem,
    state: State,
    events: Sequence[Event],
    options: HandleEventsOptions,
    handling: set[int],
) -> HandleEventsResults:
    """Call who handles these events, and see to the constraints; as `System.handle_events` says."""
    contents = state._contents
    contents.require_unguarded("handle_events()")
    contents.require_stage(Stage.MODEL, None, "handle_events()")
    if not events:
        return HandleEventsResults(HandleEventsStatus.SUCCEEDED)
    try:
        with state.checkpoint():
            return _noted(state, handling, partial(_handled, system, state, events, options))
    except StagecacheError as error:
        if not options.dont_raise:
            raise
        notes = getattr(error, "__notes__", [])
        message = "\n".join([str(error), *notes])
        return HandleEventsResults(HandleEventsStatus.FAILED, message=message)


def report_events(state: State, events: Sequence[Event], handling: set[int]) -> None:
    """Let reporters look at a State."""
    _noted(state, handling, partial(_report, state, events))


def _noted(state: State, handling: set[int], give: Callable[[], T]) -> T:
    """Call what gives a State to others, while the System knows, so its topology cannot change."""
    is_first = id(state) not in handling
    try:
        handling.add(id(state))
        found = give()
        if is_first:
            handling.discard(id(state))
    except BaseException:
        if is_first:
            handling.discard(id(state))
        raise
    return found


# ---------------------------------------------------------------------- steps of it


def _report(state: State, events: Sequence[Event]) -> None:
    """Call who reports, of these events, those that are reported."""
    only_looking(state._contents, partial(_call_each, state, [e for e in events if e.is_report]))


def _call_each(state: State, events: Sequence[Event]) -> None:
    for event in events:
        _call(state, event)


def _handled(
    system: AbstractConstrainedSystem,
    state: State,
    events: Sequence[Event],
    options: HandleEventsOptions,
) -> HandleEventsResults:
    handlers = [event for event in events if not event.is_report]
    changes = StateChanges(state)
    ended_by = [event.name for event in handlers if _has_ended(system, state, event)]
    time = state.time
    if changes.any:
        names = ", ".join(event.name for event in handlers)
        _satisfy_constraints(system, state, options, names)
    any_change, lowest = changes.any, changes.lowest_stage
    _report(state, events)
    if not ended_by:
        return HandleEventsResults(HandleEventsStatus.SUCCEEDED, any_change, lowest)
    return HandleEventsResults(
        HandleEventsStatus.SHOULD_TERMINATE,
        any_change,
        lowest,
        f"{', '.join(ended_by)} asked for the simulation to end, at time {time:g}",
    )


def _has_ended(system: AbstractConstrainedSystem, state: State, event: Event) -> bool:
    """Call a handler, and tell whether it wants the simulation to end."""
    contents = state._contents
    time = contents.time
    answer = _call(state, event)
    try:
        system._require_own(state)
    except StagecacheError as error:
        error.add_note(f"after the handler of the event {event}, at time {time:g}")
        raise
    if contents.time != time:
        raise EventTimeError(
            f"{event}: its handler changed the time",
            f"a State at time {time:g}",
            f"one at {contents.time:g}",
            "leave the time to who integrates; to do something later, schedule another event",
        )
    if answer is None or isinstance(answer, EventAction):
        return answer is EventAction.TERMINATE
    raise EventHandlerError(
        f"{event}: its handler returned what is no action, at time {time:g}",
        "None, or an EventAction",
        short_repr(answer),
        "return EventAction.TERMINATE to end the simulation, and nothing to go on",
    )


def _call(state: State, event: Event) -> Any:
    """Call who handles or reports an event."""
    time = state._contents.time
    who = "reporter" if event.is_report else "handler"
    try:
        return getattr(event.handled_by, event.method)(state)
    except StagecacheError as error:
        error.add_note(f"in the {who} of the event {event}, at time {time:g}")
        raise
    except Exception as error:
        raise EventHandlerError(
            f"{event}: its {who} raised {type(error).__name__}, at time {time:g}",
            f"a {who} that returns",
            short_repr(error),
            "see the error from which this one comes; the State is as it was before",
        ) from error


def _satisfy_constraints(
    system: AbstractConstrainedSystem, state: State, options: HandleEventsOptions, names: str
) -> None:
    """Set prescribed motion, and project q and u if their errors are too large.

    A State without either is not realized for that.
    """
    system.realize(state, Stage.INSTANCE)
    moves = [any(True for _ in motions(state, kind)) for kind in ("q", "u")]
    if not (state.nqerr or state.nuerr or any(moves)):
        return
    asked = ProjectOptions(
        options.constraint_tolerance, use_infinity_norm=options.use_infinity_norm
    )
    try:
        system.realize(state, Stage.TIME)
        system.prescribe_q(state)
        system.realize(state, Stage.POSITION)
        if state.nqerr:
            system.project_q(state, options=asked)
        system.prescribe_u(state)
        if state.nuerr:
            system.realize(state, Stage.VELOCITY)
            system.project_u(state, options=asked)
    except Exception as error:
        error.add_note(f"after the handlers of these events, at time {state.time:g}: {names}")
        raise
