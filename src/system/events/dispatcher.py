"""The dispatcher of events: it finds due events, and calls handlers and reporters.

::

    checkpoint  ->  handlers, by the id of their events  ->  prescribed motion, constraints
                                                         ->  reporters
        ^                                                        |
        +---------------------  any failure  <-------------------+

The table of events has a row for each::

    id   0            "kick"           a handler that was added
         1            "watch"          a reporter that was added
         2            "ball.bounce"    declared by a subsystem, by a trigger
         3            "clock.tick"     likewise, at times or at the beginning or end
         4 + row      "ball.trigger 1 of Position"    allocated by hand; without a handler
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any, Final, Protocol, TypeVar, final

from attrs import astuple, evolve, frozen

from stagecache.checks import require_bool, require_type
from stagecache.errors import (
    EventHandlerError,
    EventTimeError,
    ShapeError,
    StagecacheError,
    UnknownEventError,
    short_repr,
)
from stagecache.state.contents.contents import Contents
from stagecache.state.contents.guards import Guard
from stagecache.state.items.layout import Rows
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.state.vectors.conversion import FLOAT, converted
from stagecache.system.declare.subsystem import Subsystem
from stagecache.system.events.declared import DeclaredTimes, Timed, declared_events
from stagecache.system.events.default_subsystem import DefaultSystemSubsystem
from stagecache.system.events.events import Event, EventAction, EventCause, EventTriggerInfo
from stagecache.system.events.handlers import AbstractAtCause, AbstractScheduled
from stagecache.system.events.options import (
    HandleEventsOptions,
    HandleEventsResults,
    HandleEventsStatus,
)
from stagecache.system.events.triggers import TriggerDeclaration, TriggerOptions, takes_rows
from stagecache.system.motion.prescribing import motions
from stagecache.system.projection.options import ProjectOptions, ProjectResults
from stagecache.system.statistics import SystemStatistics

T = TypeVar("T")

INFINITY: Final = float("inf")
DEFAULT: Final = HandleEventsOptions()

REPORTING: Final = Guard(
    "a State that is given to what only looks at it: a reporter, a trigger or a schedule of events",
    "let a handler write it: add_event_handler() instead of add_event_reporter()",
)


@frozen(eq=False)
class EventTable:
    """The events of a topology.

    Attributes
    ----------
    events : tuple of Event
        By id.
    handlers, reporters : tuple of Event
        Those whose times are known in advance.
    triggers : dict
        By index of a subsystem and stage: the declarations of its triggers, with their events.
    by_cause : dict of EventCause to tuple of Event
        Those without a trigger and without a time: at initialization and termination, and the
        hooks that are called when time has advanced.
    """

    events: tuple[Event, ...]
    handlers: tuple[Event, ...]
    reporters: tuple[Event, ...]
    triggers: Mapping[tuple[int, Stage], Sequence[tuple[TriggerDeclaration, Event]]]
    by_cause: Mapping[EventCause, tuple[Event, ...]]

    @classmethod
    def of(cls, subsystems: Sequence[Subsystem]) -> "EventTable":
        """Return the table of a System with these subsystems. Cost O(declared items)."""
        default = subsystems[0]
        assert isinstance(default, DefaultSystemSubsystem)
        ids = count()
        by_cause: dict[EventCause, list[Event]] = {}
        events: dict[str, Event] = {}
        for name, listener in default._listeners.items():
            known_times = listener if isinstance(listener, AbstractScheduled) else None
            event = Event(
                next(ids), name, listener, listener.method, listener.is_report, times=known_times
            )
            events[name] = event
            if isinstance(listener, AbstractAtCause):
                by_cause.setdefault(listener.cause, []).append(event)
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
                    event = Event(
                        next(ids),
                        f"{subsystem.name}.{name}",
                        owner,
                        method,
                        takes_rows=bool(method) and takes_rows(getattr(type(subsystem), method)),
                    )
                    known.append(event)
                rows = triggers.setdefault((subsystem.index, declared.stage), [])
                rows.append((declared, event))
        for subsystem in subsystems:
            for name, of_class in declared_events(type(subsystem)):
                full = f"{subsystem.name}.{name}"
                is_scheduled = of_class.cause is EventCause.SCHEDULED
                times = DeclaredTimes(subsystem, full, of_class) if is_scheduled else None
                event = Event(next(ids), full, subsystem, name, of_class.is_report, times=times)
                known.append(event)
                if not is_scheduled:
                    by_cause.setdefault(of_class.cause, []).append(event)
        advanced = map(_time_advanced_in, filter(_wants_time_advanced, subsystems))
        by_cause[EventCause.TIME_ADVANCED] = [*advanced]
        return cls(
            tuple(known),
            tuple(event for event in known if event.times and not event.is_report),
            tuple(event for event in known if event.times and event.is_report),
            triggers,
            {cause: tuple(events) for cause, events in by_cause.items()},
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the events, by id; no two are the same."""
        return tuple(event.name for event in self.events)

    def infos(self, state: State) -> Iterator[EventTriggerInfo]:
        """Return the information on each row of a State's event triggers. Cost O(rows)."""
        layouts = state._contents.realization.layout.subsystems
        index = count()
        for stage in Stage:
            for x, layout in enumerate(layouts):
                declared = self.triggers.get((x, stage), ())
                stack = layout.triggers[stage]
                for (trigger, event), rows in zip(declared, stack, strict=False):
                    options = astuple(trigger.options)
                    for i, name in enumerate(_row_names(event.name, rows)):
                        of_row = evolve(event, rows=(i,))
                        yield EventTriggerInfo(of_row, name, next(index), *options)
                for rows in stack[len(declared) :]:  # allocated by hand
                    options = astuple(TriggerOptions(stage))
                    for k in range(rows.start, rows.start + rows.count):
                        row = next(index)
                        event = Event(
                            len(self.events) + row, f"{layout.name}.trigger {k} of {stage}"
                        )
                        yield EventTriggerInfo(event, event.name, row, *options)

    def has(self, event: Event) -> bool:
        """Return whether an event is in the table, or has no handler."""
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


# ---------------------------------------------------------------------- the dispatcher


class EventfulSystem(Protocol):
    """A System, as far as its dispatcher knows it."""

    @property
    def statistics(self) -> SystemStatistics:
        """Counters of events."""

    @property
    def subsystems(self) -> tuple[Subsystem, ...]:
        """All subsystems, the default one first."""

    has_time_advanced_events: Any

    def realize(self, state: State, stage: Stage) -> None:
        """Realize all stages up to one."""

    def prescribe_q(self, state: State) -> bool:
        """Set prescribed q."""

    def prescribe_u(self, state: State) -> bool:
        """Set prescribed u."""

    def project_q(self, state: State, *, options: ProjectOptions) -> ProjectResults:
        """Move free q onto the position constraints."""

    def project_u(self, state: State, *, options: ProjectOptions) -> ProjectResults:
        """Move free u onto the velocity constraints."""

    def _require_own(self, state: State) -> State:
        """Return a State of the System; refuse others."""


@final
class EventDispatcher:
    """The part of a System that handles events.

    Attributes
    ----------
    handling : set of int
        The ids of the States that handlers and reporters have now.
    """

    __slots__ = ("_infos", "_system", "_table", "handling")

    def __init__(self, system: EventfulSystem) -> None:
        self._system = system
        self._table: EventTable | None = None
        # Triggers of the State that was asked for last, and the sizes of its layout.
        self._infos: tuple[object, tuple[EventTriggerInfo, ...]] = (None, ())
        self.handling: set[int] = set()

    def forget(self) -> None:
        """Forget the events, since the topology has changed."""
        self._table = None
        self._infos = (None, ())

    @property
    def table(self) -> EventTable:
        """The events of the topology; made when they are first needed."""
        if self._table is None:
            self._table = EventTable.of(self._system.subsystems)
        return self._table

    # ------------------------------------------------------------------ what comes next

    def trigger_info(self, state: State) -> tuple[EventTriggerInfo, ...]:
        """Return the information on each trigger; see `System.calc_event_trigger_info`."""
        state._contents.require_stage(Stage.INSTANCE, None, "calc_event_trigger_info()")
        sizes, infos = self._infos
        if sizes is not state._contents.realization.layout.sizes:
            sizes, infos = state._contents.realization.layout.sizes, tuple(self.table.infos(state))
            self._infos = sizes, infos
        return infos

    def next_event(self, state: State, include: Any) -> tuple[float, tuple[Event, ...]]:
        """Return the next scheduled events; see `System.calc_time_of_next_scheduled_event`."""
        what = "calc_time_of_next_scheduled_event(include_current_time=...)"
        return next_scheduled(state, self.table.handlers, require_bool(include, what))

    def next_report(self, state: State, include: Any) -> tuple[float, tuple[Event, ...]]:
        """Return the next scheduled reports; see `System.calc_time_of_next_scheduled_report`."""
        what = "calc_time_of_next_scheduled_report(include_current_time=...)"
        return next_scheduled(state, self.table.reporters, require_bool(include, what))

    # ------------------------------------------------------------------ events take place

    def handle(
        self, state: State, cause: Any, events: Any, options: HandleEventsOptions | None
    ) -> HandleEventsResults:
        """Call the handlers of events; see `System.handle_events`."""
        what = "handle_events()"
        _check_cause(cause, what)
        options = DEFAULT if options is None else options
        require_type(
            options,
            HandleEventsOptions,
            f"{what}: invalid options",
            "a HandleEventsOptions",
            "write HandleEventsOptions(1e-6), for instance",
        )
        found = _checked_events(self.table, events, what)
        if cause is not EventCause.TIME_ADVANCED or self._system.has_time_advanced_events:
            found += self.table.by_cause.get(cause, ())
        statistics = self._system.statistics
        statistics.num_handle_event_calls += 1
        results = self._handle_found(state, found, options)
        statistics._count_change_by_handlers(results.lowest_modified_stage)
        return results

    def report(self, state: State, cause: Any, events: Any) -> None:
        """Call the reporters of events; see `System.report_events`."""
        what = "report_events()"
        _check_cause(cause, what)
        found = _checked_events(self.table, events, what)
        handled = [event for event in found if not event.is_report]
        if handled:
            raise UnknownEventError(
                f"{what}: {handled[0]} is not reported",
                "events of reporters",
                "one of a handler, which may change the State",
                "pass it to handle_events()",
            )
        statistics = self._system.statistics
        statistics.num_report_event_calls += 1
        statistics._count_change_by_handlers(Stage.REPORT)
        self._lend(state, partial(_report, state, found))

    def _handle_found(
        self, state: State, events: Sequence[Event], options: HandleEventsOptions
    ) -> HandleEventsResults:
        contents = state._contents
        contents.require_unguarded("handle_events()")
        contents.require_stage(Stage.MODEL, None, "handle_events()")
        if not events:
            return HandleEventsResults(HandleEventsStatus.SUCCEEDED)
        try:
            with state.checkpoint():
                return self._lend(state, partial(_handled, self._system, state, events, options))
        except StagecacheError as error:
            if not options.dont_raise:
                raise
            notes = getattr(error, "__notes__", [])
            message = "\n".join([str(error), *notes])
            return HandleEventsResults(HandleEventsStatus.FAILED, message=message)

    def _lend(self, state: State, call: Callable[[], T]) -> T:
        """Call listeners with a State; the topology cannot change meanwhile."""
        handling = self.handling
        is_first = id(state) not in handling
        try:
            handling.add(id(state))
            found = call()
            if is_first:
                handling.discard(id(state))
        except BaseException:
            if is_first:
                handling.discard(id(state))
            raise
        return found


# ---------------------------------------------------------------------- steps of it


def _only_looking(contents: Contents, look: Callable[[], T]) -> T:
    """Call a function while the State refuses writes, and return its result."""
    found: T = contents.guarded(contents.guard or REPORTING, look)
    return found


def _report(state: State, events: Sequence[Event]) -> None:
    """Call the reporters among the listeners to these events."""
    _only_looking(state._contents, partial(_call_each, state, [e for e in events if e.is_report]))


def _call_each(state: State, events: Sequence[Event]) -> None:
    for event in events:
        _call(state, event)


def _handled(
    system: EventfulSystem, state: State, events: Sequence[Event], options: HandleEventsOptions
) -> HandleEventsResults:
    handlers = [event for event in events if not event.is_report]
    changes = StateChanges(state)
    ended_by = [event.name for event in handlers if _has_ended(system, state, event)]
    time = state.time
    if changes.any:
        names = ", ".join(event.name for event in handlers)
        _satisfy_constraints(system, state, options, names)
    lowest = changes.lowest_stage
    any_change = lowest < Stage.INFINITY or changes.any
    _report(state, events)
    if not ended_by:
        return HandleEventsResults(HandleEventsStatus.SUCCEEDED, any_change, lowest)
    return HandleEventsResults(
        HandleEventsStatus.SHOULD_TERMINATE,
        any_change,
        lowest,
        f"{', '.join(ended_by)} asked for the simulation to end, at time {time:g}",
    )


def _has_ended(system: EventfulSystem, state: State, event: Event) -> bool:
    """Call a handler, and return whether it ends the simulation."""
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
            "leave the time to the integrator; to do something later, schedule another event",
        )
    if answer is None or isinstance(answer, EventAction):
        return answer is EventAction.TERMINATE
    raise EventHandlerError(
        f"{event}: its handler returned an invalid action, at time {time:g}",
        "None, or an EventAction",
        short_repr(answer),
        "return EventAction.TERMINATE to end the simulation, and nothing to go on",
    )


def _call(state: State, event: Event) -> Any:
    """Call the listener to an event."""
    time = state._contents.time
    who = "reporter" if event.is_report else "handler"
    try:
        listener = getattr(event.handled_by, event.method)
        if event.takes_rows:
            listener = partial(_with_rows, listener, event.rows)
        return state._contents.system._hooks.call(state, event, listener)
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


def _with_rows(listener: Callable[..., Any], rows: tuple[int, ...], state: State) -> Any:
    return listener(state, rows)


def _satisfy_constraints(
    system: EventfulSystem, state: State, options: HandleEventsOptions, names: str
) -> None:
    """Set prescribed motion, and project q and u if their errors are too large.

    A State without prescribed motion and constraints is only realized to Instance.
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


@final
class StateChanges:
    """The writes to a State since a moment, also where it was realized again since.

    Each write raises the version of the stage which it invalidates, reached or not, and of the
    variable; these never go back. Only automatic updates invalidate no stage, and change discrete
    variables. Cost O(discrete variables).
    """

    __slots__ = ("_stages", "_state", "_variables", "_versions")

    def __init__(self, state: State) -> None:
        self._state = state
        self._stages = self._versions_of_stages()
        self._variables = self._versions_of_variables()
        self._versions = state.stage_versions

    @property
    def any(self) -> bool:
        """True if anything was written."""
        return (
            self._stages != self._versions_of_stages()
            or self._variables != self._versions_of_variables()
            or self.lowest_stage < Stage.INFINITY
        )

    @property
    def lowest_stage(self) -> Stage:
        """The lowest stage that was invalidated; Infinity if none was."""
        left = max(Stage.MODEL, self._state.lowest_stage_difference(self._versions))
        now = self._versions_of_stages()
        for stage in range(Stage.MODEL, left):
            if now[stage] != self._stages[stage]:
                return Stage(stage)
        return left

    def _versions_of_stages(self) -> dict[int, int]:
        realization = self._state._contents.realization
        nodes, versions = realization.layout.stages, realization.store.versions
        return {stage: versions[nodes[stage]] for stage in range(Stage.MODEL, Stage.INFINITY)}

    def _versions_of_variables(self) -> list[int]:
        realization = self._state._contents.realization
        versions = realization.store.versions
        return [versions[v._node] for s in realization.layout.subsystems for v in s.discrete]


# ---------------------------------------------------------------------- the schedule


def next_scheduled(
    state: State, scheduled: Sequence[Event], include_current: bool
) -> tuple[float, tuple[Event, ...]]:
    """Return the next time that is known in advance, and the events at that time.

    Times that differ by rounding only are one time. Its number is taken from an event which is not
    periodic, the latest if there are several: its handler may compare times to the bit.
    """
    if not scheduled:
        return INFINITY, ()
    found = _only_looking(state._contents, partial(_due, state, scheduled, include_current))
    if not found:
        return INFINITY, ()
    if len(found) == 1:
        return found[0][0], (found[0][1],)
    first, earliest = min(found, key=lambda due: due[0])
    close = earliest.times.rounding(first, first)
    due = [d for d in found if d[0] - first <= max(close, d[1].times.rounding(first, first))]
    exact = [time for time, event in due if not event.times.is_periodic]
    return max(exact, default=first), tuple(event for _, event in due)


def _due(
    state: State, scheduled: Sequence[Event], include_current: bool
) -> list[tuple[float, Event]]:
    """Return the next time of each event that has one."""
    now = state.time
    found = []
    event = scheduled[0]
    try:
        for event in scheduled:
            listener: Timed = event.times
            time = listener.next_event_time(state, include_current)
            if type(time) is not float or time != time:  # noqa: PLR0124  # NaN
                time = _checked_next_time(time, listener)
            if include_current and 0 < now - time <= listener.rounding(now, now):
                time = now
            if now < time < INFINITY or (include_current and time == now):
                found.append((time, event))
    except Exception as error:
        error.add_note(f"while the next time of the event {event} was asked for")
        raise
    return found


def _checked_next_time(time: Any, listener: Timed) -> float:
    """Return the next time of a scheduled event as a float; it may be infinite.

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
            f"{listener.name}: next_event_time() returned an invalid time",
            "a number of seconds; infinity, if the event does not take place any more",
            short_repr(time),
            "return math.inf where there is no next time",
        )
    return found


# ---------------------------------------------------------------------- arguments


def _checked_events(table: EventTable, events: Any, what: str) -> list[Event]:
    """Return the events that have a listener, each once, in the order of ids.

    Raises
    ------
    UnknownEventError
    """
    hint = "pass the events of calc_time_of_next_scheduled_event() or calc_event_trigger_info()"
    if not isinstance(events, Sequence):
        raise UnknownEventError(
            f"{what}: cannot handle {short_repr(events)}",
            "a sequence of Event",
            f"an object of type {type(events).__name__}",
            hint,
        )
    for event in events:
        if not isinstance(event, Event) or not table.has(event):
            raise UnknownEventError(
                f"{what}: {short_repr(event)} is not an event of this System",
                "an Event of its present topology",
                f"an object of type {type(event).__name__}"
                if not isinstance(event, Event)
                else "one of another System, or of an earlier topology",
                hint,
            )
    found: dict[int, Event] = {}
    for event in events:
        if event.method:
            rows = {*event.rows, *(found[event.id].rows if event.id in found else ())}
            found[event.id] = evolve(event, rows=tuple(sorted(rows)))
    return [found[x] for x in sorted(found)]


def _check_cause(cause: Any, what: str) -> None:
    hint = "write EventCause.TRIGGERED, for instance"
    causes = "one of " + ", ".join(c.name for c in EventCause)
    require_type(cause, EventCause, f"{what}: not a cause", causes, hint)
