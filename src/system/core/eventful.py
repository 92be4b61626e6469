"""What a System does with events: who handles them, when they are due, and their handling."""

from collections.abc import Sequence
from typing import Any, TypeVar

from stagecache.errors import (
    AdoptionError,
    DuplicateNameError,
    UnknownEventError,
)
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.core.constrained import AbstractConstrainedSystem
from stagecache.system.declare.subsystem import DefaultSystemSubsystem, Subsystem
from stagecache.system.events.arguments import (
    check_cause,
    check_flag,
    checked_events,
    checked_name,
    checked_options,
    default_name,
    refusal_of,
)
from stagecache.system.events.events import Event, EventCause, EventTriggerInfo
from stagecache.system.events.handlers import AbstractEventHandler
from stagecache.system.events.handling import handle_events, report_events
from stagecache.system.events.observers import (
    AbstractScheduled,
    AbstractTriggered,
)
from stagecache.system.events.options import HandleEventsOptions, HandleEventsResults
from stagecache.system.events.reporters import AbstractEventReporter
from stagecache.system.events.schedule import next_scheduled
from stagecache.system.events.table import EventTable

H = TypeVar("H", bound=AbstractEventHandler)
R = TypeVar("R", bound=AbstractEventReporter)


class AbstractEventfulSystem(AbstractConstrainedSystem):
    """A System, as far as it is discrete: events happen, and handlers change the State.

    ::

        calc_event_trigger_info              who integrates looks out for signs of triggers, ...
        calc_time_of_next_scheduled_event    ... does not step beyond that time, ...
        handle_events, report_events         ... and calls these
    """

    _events: EventTable | None
    _handling: set[int]

    # ------------------------------------------------------------------ handlers and reporters

    def add_event_handler(self, handler: H, name: str | None = None) -> H:
        """Let a handler change States when an event takes place. A change of topology.

        The values of a trigger get a row among the event triggers of the default subsystem.

        Parameters
        ----------
        handler : ScheduledEventHandler, PeriodicEventHandler or TriggeredEventHandler
            It belongs to one System.
        name : str, optional
            What messages call it. The default is that of its class in snake case, or of the
            function that it was given; else "handler 1" and so on.

        Returns
        -------
        the handler

        Raises
        ------
        WrongTypeError, AdoptionError, DuplicateNameError, InvalidNameError
        ConstModelError
            A State is being realized, an entry computed, or an event handled.
        """
        self._add_observer(handler, name, AbstractEventHandler, "handler")
        return handler

    def add_event_reporter(self, reporter: R, name: str | None = None) -> R:
        """Let a reporter look at States when an event takes place. As `add_event_handler`."""
        self._add_observer(reporter, name, AbstractEventReporter, "reporter")
        return reporter

    @property
    def event_handlers(self) -> tuple[AbstractEventHandler, ...]:
        """The handlers that were added, in that order."""
        known = self.default_subsystem._observers.values()
        return tuple(o for o in known if isinstance(o, AbstractEventHandler))

    @property
    def event_reporters(self) -> tuple[AbstractEventReporter, ...]:
        """The reporters that were added, in that order."""
        known = self.default_subsystem._observers.values()
        return tuple(o for o in known if isinstance(o, AbstractEventReporter))

    def _add_observer(self, observer: Any, name: Any, kind: type, who: str) -> None:
        is_whole = isinstance(observer, AbstractScheduled | AbstractTriggered)
        if not isinstance(observer, kind) or not is_whole:
            raise refusal_of(observer, who)
        if observer.is_adopted:  # type: ignore[attr-defined]  # it is of that kind
            raise AdoptionError(
                f"{observer!r}: cannot be added to {self!r}",
                f"a {who} without a System",
                "one that has been added already",
                "make another instance",
            )
        known = self.default_subsystem._observers
        name = default_name(observer, who, known) if name is None else checked_name(name, who)
        if name in known:
            raise DuplicateNameError(
                f"event {who} {name!r}: the name is taken",
                "a name for each handler and reporter of its own",
                f"that of {known[name]!r}",
                f"give it another one: add_event_{who}(..., 'name')",
            )
        self._require_idle(f"the event {who}s of {self.name}")
        self._refuse_in_hook(f"add_event_{who}()")
        self.default_subsystem._observe(observer, name)  # type: ignore[arg-type]  # it is one
        self._topology_changed(f"the event {who} {name} was added")

    # ------------------------------------------------------------------ what is to be expected

    def calc_event_trigger_info(self, state: State) -> tuple[EventTriggerInfo, ...]:
        """Return how to look out for a change of sign of each of `State.event_triggers`.

        Those that were allocated by hand are there, too: any direction counts, and nobody handles
        their events. Cost O(rows).

        Parameters
        ----------
        state : State
            Realized to Instance or further.

        Returns
        -------
        tuple of EventTriggerInfo
            One for each row, in that order.

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError, StageTooLowError
        """
        self._require_own(state)
        state._contents.require_stage(Stage.INSTANCE, None, "calc_event_trigger_info()")
        return tuple(self._event_table().infos(state))

    def calc_time_of_next_scheduled_event(
        self,
        state: State,
        include_current_time: bool = True,  # as the original
    ) -> tuple[float, tuple[Event, ...]]:
        """Return when the next scheduled events are to be handled, and which.

        What a handler says of the past is not looked at. Times that differ by rounding are one
        time, if one of them is of a periodic event. Cost O(scheduled handlers).

        Parameters
        ----------
        state : State
        include_current_time : bool
            Whether it may be the present time; or else only later ones count.

        Returns
        -------
        time : float
            [s]; infinite, if there is none.
        events : tuple of Event
            By id.

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError, NotANumberError
        EventTimeError
            A handler returns no time.
        """
        return self._next("event", state, include_current_time)

    def calc_time_of_next_scheduled_report(
        self,
        state: State,
        include_current_time: bool = True,  # as the original
    ) -> tuple[float, tuple[Event, ...]]:
        """Return the same of events that are to be reported by `report_events`."""
        return self._next("report", state, include_current_time)

    def _next(
        self,
        what: str,
        state: State,
        include_current_time: bool,  # it is passed on
    ) -> tuple[float, tuple[Event, ...]]:
        self._require_own(state)
        name = f"calc_time_of_next_scheduled_{what}(include_current_time=...)"
        include = check_flag(include_current_time, name)
        table = self._event_table()
        scheduled = table.handlers if what == "event" else table.reporters
        return next_scheduled(state, scheduled, include_current_time=include)

    # ------------------------------------------------------------------ events take place

    def handle_events(
        self,
        state: State,
        cause: EventCause,
        events: Sequence[Event] = (),
        options: HandleEventsOptions | None = None,
    ) -> HandleEventsResults:
        """Call who handles these events, and see to the constraints afterwards.

        The handlers are called by the ids of the events, each once. With the cause TIME_ADVANCED,
        and if `has_time_advanced_events` says so, the hooks `handle_time_advanced` of subsystems
        follow. If anything was written, prescribed motion is set, and the State is projected where
        the norm of constraint errors exceeds the tolerance. Reporters among them come last.

        Parameters
        ----------
        state : State
            At Model or further. It is written, but for its time.
        cause : EventCause
        events : sequence of Event
            As `calc_time_of_next_scheduled_event` and `calc_event_trigger_info` tell them.
        options : HandleEventsOptions, optional

        Returns
        -------
        HandleEventsResults
            With the lowest stage that was modified: so much has to be computed anew.

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError, StageTooLowError, ReadOnlyError
        UnknownEventError
        EventHandlerError
            A handler raised. The State is as it was before all of them; so it is for what follows.
        EventTimeError
            A handler changed the time.
        ProjectionError
            What the handlers left cannot be projected.
        StagecacheError
            What a handler raised itself.
        """
        what = "handle_events()"
        self._require_own(state)
        cause = check_cause(cause, what)
        asked = checked_options(options, what)
        table = self._event_table()
        found = checked_events(table, events, what)
        if cause is EventCause.TIME_ADVANCED and self.has_time_advanced_events:
            found += table.time_advanced
        self.statistics.num_handle_event_calls += 1
        results = handle_events(self, state, found, asked, self._handling)
        self.statistics._count_change_by_handlers(results.lowest_modified_stage)
        return results

    def report_events(self, state: State, cause: EventCause, events: Sequence[Event] = ()) -> None:
        """Call who reports these events, by the ids of the events, each once.

        Parameters
        ----------
        state : State
            Reporters can realize it, but not write it.
        cause : EventCause
        events : sequence of Event
            As `calc_time_of_next_scheduled_report` tells them.

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError
        UnknownEventError
            Also of an event that is not reported, but handled.
        EventHandlerError
            A reporter raised.
        ReadOnlyError
            A reporter tried to write the State.
        StagecacheError
            What a reporter raised itself.
        """
        what = "report_events()"
        self._require_own(state)
        check_cause(cause, what)
        found = checked_events(self._event_table(), events, what)
        handled = [event for event in found if not event.is_report]
        if handled:
            raise UnknownEventError(
                f"{what}: {handled[0]} is not reported",
                "events of reporters",
                "one of a handler, which may change the State",
                "pass it to handle_events()",
            )
        self.statistics.num_report_event_calls += 1
        self.statistics._count_change_by_handlers(Stage.REPORT)
        report_events(state, found, self._handling)

    def _event_table(self) -> EventTable:
        table = self._events
        if table is None:
            table = self._events = EventTable.of(self.subsystems)
        return table

    # ------------------------------------------------------------------ what others bring

    @property
    def subsystems(self) -> tuple[Subsystem, ...]:
        """All subsystems, the default one first."""
        raise NotImplementedError

    @property
    def default_subsystem(self) -> DefaultSystemSubsystem:
        """The subsystem of index 0."""
        raise NotImplementedError

    def _refuse_in_hook(self, what: str) -> None:
        """Refuse what is called while the topology is realized."""
        raise NotImplementedError
