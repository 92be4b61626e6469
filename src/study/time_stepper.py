"""Time steppers: an integrator advances a State, and events are handled and reported on the way.

::

          next report, next scheduled event
                      v
    +---->  integrator.step_to()  ->  what has happened
    |                                   | a report:   reporters
    |                                   | an event:   handlers, then integrator.reinitialize()
    +-----------------------------------+ the requested time: return

Source: the documentation of SimTK::TimeStepper. Unlike there, events that are scheduled for the
requested time are handled before it returns, not when it goes on.
"""

from collections.abc import Callable
from math import inf, isnan
from typing import final

from attrs import evolve

from stagecache.checks import require_bool, require_type
from stagecache.errors import ForeignStateError, StudyError, short_repr
from stagecache.files.values import bad_file
from stagecache.progress import Progress, ProgressBar, check_progress
from stagecache.state.state import State
from stagecache.state.vectors.conversion import FLOAT, converted
from stagecache.study.integrate.handled import Handled
from stagecache.study.integrate.integrator import Integrator, passed
from stagecache.study.integrate.step_status import StepStatus
from stagecache.study.restart import Restart
from stagecache.study.study import Study
from stagecache.system.core.system import System
from stagecache.system.events.events import Event, EventCause
from stagecache.system.events.times import rounding

REPORT, END = StepStatus.REACHED_REPORT_TIME, StepStatus.END_OF_SIMULATION
START, STEP = StepStatus.START_OF_CONTINUOUS_INTERVAL, StepStatus.TIME_HAS_ADVANCED
TRIGGER, SCHEDULED = StepStatus.REACHED_EVENT_TRIGGER, StepStatus.REACHED_SCHEDULED_EVENT
LIMIT = StepStatus.REACHED_STEP_LIMIT
NextTime = Callable[[State, bool], tuple[float, tuple[Event, ...]]]


@final
class TimeStepper(Study):
    """A Study that advances a State through time, with all events on the way.

    At one time, reports come first; then triggered events; then scheduled ones.

    Parameters
    ----------
    system : System
    integrator : Integrator
        Integrator of the same System. If it has a step limit, it is called again.
    report_all_significant_states : bool
        True if `step_to` returns at each significant State: events, after they were handled, the
        beginning of each continuous part, reports, steps if the integrator returns these.
    progress : bool or rich.console.Console, optional
        By default, `step_to` shows a bar on a terminal if it takes longer than a second. False:
        never; True: at once; a Console: there.

    Raises
    ------
    WrongTypeError, ForeignStateError, NotANumberError, InvalidNameError

    Examples
    --------
    >>> from stagecache import State, Subsystem, System, parameter, q_variable
    >>> from stagecache.study.integrate.integrator import Integrator
    >>> from stagecache.study.time_stepper import TimeStepper
    >>> from stagecache.system.events.handlers import PeriodicEventReporter
    >>> class Cart(Subsystem):
    ...     place = q_variable(0.0)
    ...     speed = parameter(2.0)
    ...
    ...     def realize_velocity(self, state: State) -> None:
    ...         state[self].upd_qdot()[0] = self.speed(state)
    >>> cart = Cart()
    >>> system = System(cart)
    >>> def show(state: State) -> None:
    ...     print(f"{cart.place(state):.3f} at {state.time}")
    >>> _ = system.add_event_reporter(PeriodicEventReporter(0.5, show))
    >>> stepper = TimeStepper(system, Integrator(system))
    >>> stepper.initialize(system.realize_topology())
    >>> stepper.step_to(1.0)
    0.000 at 0.0
    1.000 at 0.5
    2.000 at 1.0
    StepStatus.REACHED_REPORT_TIME
    """

    def __init__(
        self,
        system: System,
        integrator: Integrator,
        *,
        report_all_significant_states: bool = False,
        progress: Progress = None,
        name: str = "time stepper",
        version: str = "",
    ) -> None:
        super().__init__(system, name, version)
        hint = "write TimeStepper(system, Integrator(system))"
        what = f"{name}: has no integrator"
        self._integrator = require_type(integrator, Integrator, what, "an Integrator", hint)
        if integrator.system is not system:
            raise ForeignStateError(
                f"{name}: its integrator advances States of another System",
                f"an Integrator of {system!r}",
                f"one of {integrator.system!r}",
                "write TimeStepper(system, Integrator(system)), with the same System",
            )
        check_progress(progress)
        self.report_all_significant_states = report_all_significant_states
        self._progress = progress
        self._is_initialized = self._is_stepping = False
        # Called after each step, and before and after events: with the State, and True if after.
        self._see: Callable[[State, bool], object] | None = None

    @property
    def integrator(self) -> Integrator:
        """Integrator that advances the State."""
        return self._integrator

    @property
    def report_all_significant_states(self) -> bool:
        """True if `step_to` returns at each significant State."""
        return self._reports_all

    @report_all_significant_states.setter
    def report_all_significant_states(self, value: bool) -> None:
        what = f"report_all_significant_states of {self._name}"
        self._reports_all = require_bool(value, what)

    # ------------------------------------------------------------------ beginning

    def initialize(self, state: State) -> None:
        """Begin with a copy of a State.

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError
        ProjectionError, MethodError, NotFiniteError, OutOfRangeError, Exception
            See `Integrator.initialize`.
        """
        integrator = self._integrator
        before = integrator._advancer
        try:
            integrator._initialize(state)
            self._start(state.time)
            self._handle(EventCause.INITIALIZATION)
        except BaseException:
            if integrator._advancer is not before:
                self._is_initialized = False
            raise

    def _start(self, begin: float) -> None:
        """Forget all that happened before."""
        self._begin = begin
        self._reported: dict[int, float] = {}
        self._last_seen = -inf
        self._looked_at = -inf  # the advanced time at which the next event was looked for
        self._num_changes = 0  # made by handlers until then
        self._next_event = inf
        self._due_events: tuple[Event, ...] = ()
        self._is_initialized = True

    def _pause(self, *, is_wanted: bool) -> None:
        """Let `_step_to` return before the next step, with REACHED_STEP_LIMIT, or go on."""
        self._integrator._pauses = is_wanted

    def _restart(self) -> Restart:
        """Return all that `_go_on` needs; only where `_step_to` has returned for a pause.

        Raises
        ------
        UnsavableValueError
        """
        names = self._system._events.table.names
        return Restart(
            integrator=self._integrator._record(),
            begin=self._begin,
            last_seen=self._last_seen,
            handled={names[x]: t for x, t in self._integrator._handled.scheduled.items()},
            reported={names[x]: t for x, t in self._reported.items()},
        )

    def _go_on(self, restart: Restart) -> None:
        """Go on from a restart, in the place of `initialize`; nothing is handled again.

        Raises
        ------
        FileFormatError, LayoutMismatchError
        """
        self._integrator._go_on(restart.integrator)
        self._start(restart.begin)
        ids = {name: x for x, name in enumerate(self._system._events.table.names)}
        if not ids.keys() >= {*restart.handled, *restart.reported}:
            what = f"the restart of {self._name}"
            raise bad_file(what, "events of the model", short_repr([*restart.handled]))
        scheduled = {ids[name]: t for name, t in restart.handled.items()}
        self._integrator._handled = Handled(scheduled=scheduled)
        self._reported = {ids[name]: t for name, t in restart.reported.items()}
        self._last_seen = restart.last_seen

    # ------------------------------------------------------------------ stepping

    def step_to(self, time: float) -> StepStatus:
        """Advance to a time; handle and report all events until then, and at it.

        Parameters
        ----------
        time : float
            Beyond the final time of the integrator, that one counts; it may be infinite, if
            something ends the simulation. Times of events that are equal to it but for rounding are
            this time.

        Returns
        -------
        StepStatus
            REACHED_REPORT_TIME at that time; END_OF_SIMULATION if that is the final time or a later
            one, or if a handler has ended the simulation; others for each significant State, if
            these are reported.

        Raises
        ------
        StudyError
            It was not initialized; or one of its handlers or reporters calls it.
        NotANumberError, ShapeError, OutOfRangeError
            The time is not a number, or lies in the past.
        EventHandlerError, EventTimeError, ReadOnlyError, ProjectionError
            A handler or reporter has failed. The State is as it was before it.
        EventLoopError
            Handlers trigger each other without end. The State is as the last of them left it.
        StepSizeError, NotFiniteError, Exception
            A step cannot be taken, as in `Integrator.step_to`. The State is the one at its start.
        """
        integrator = self._started("step_to()")
        if type(time) is not float:
            time = float(converted(time, FLOAT, (), "step_to(time)"))
        if 0 < integrator.time - time <= rounding(integrator.time, self._begin):
            time = integrator.time
        if isnan(time) or (time < integrator.time and not integrator.is_simulation_over):
            raise passed(f"step_to(time) of {self._name}", integrator.time, time)
        final = integrator.options.final_time
        if final < inf and abs(time - final) <= rounding(final, self._begin):
            time = final
        end = min(time, final)
        with ProgressBar(self._system.name, integrator.time, end, self._progress) as bar:
            return self._step_to(time, bar.show)

    def _step_to(self, time: float, show: Callable[[float], object]) -> StepStatus:
        integrator = self._integrator
        if self._is_stepping:
            raise StudyError(
                f"step_to() of {self._name}: is called while it advances the State",
                "a call from outside, one at a time",
                "one from a handler, a reporter or another thread",
                "let each thread have an Integrator and a TimeStepper; in a handler, use others "
                "with a copy of the State",
            )
        status: StepStatus | None = None
        try:
            self._is_stepping, integrator._watch = True, show
            integrator._shows_windows = self._see is not None or self._reports_all
            while status is None and not integrator._handled.has_ended:
                status = self._advance(time)
                show(integrator.time)
            self._is_stepping, integrator._watch = False, None
            integrator._shows_windows = True
        except BaseException:
            self._is_stepping, integrator._watch = False, None
            integrator._shows_windows = True
            raise
        return END if status is None else status

    def _advance(self, time: float) -> StepStatus | None:
        """Go on to the next report or event; return None unless the caller has to see it."""
        integrator = self._integrator
        if integrator.is_simulation_over:
            if not integrator._end_is_reported:
                integrator.step_to(inf)
            return self._end()
        if integrator.triggered_events is not integrator._handled.triggered:  # it failed last time
            return self._handle_triggered()
        self._time_has_advanced()  # if that failed last time
        final = integrator.options.final_time
        self._look_for_events()
        event = self._as_one(self._next_event, self._due_events, time, final)
        if event < integrator.advanced_time and not integrator._put_back(event):
            event = self._next_event
        self._next_event = event
        report, reports = self._next(
            self._system.calc_time_of_next_scheduled_report, integrator.state, self._reported
        )
        report = self._as_one(report, reports, time, event, final)
        is_last = event > time
        has_end = integrator._has_end
        try:
            status = integrator.step_to(min(time, report) if is_last else report, event)
            now = integrator.time
            if status is REPORT and reports and now >= report:
                self._system.report_events(integrator.state, EventCause.SCHEDULED, reports)
                self._reported |= {e.id: now for e in reports}
        except BaseException:
            integrator._has_end = has_end  # a report at the end is still to come
            raise
        if status is REPORT:
            if now >= time:
                is_last = is_last and (now < final or self._reports_all)
                return status if is_last else None
        elif status is START:
            self._show()
        elif status is TRIGGER:
            return self._handle_triggered()
        elif status is SCHEDULED:
            if not self._handle_scheduled():
                return None
        elif status is STEP:
            self._show()
            self._time_has_advanced()
        elif status is END:
            return self._end()
        elif status is LIMIT and integrator._is_pausing:
            return status
        return status if self._reports_all else None

    def _look_for_events(self) -> None:
        """Find the next scheduled event, unless nothing has changed since that was done.

        An event that is due now is known already; its schedule might take it for a past one by
        rounding.
        """
        advancer = self._integrator._initialized("the advanced State")
        handled = self._integrator._handled
        if handled.num_changes == self._num_changes and (
            advancer.t == self._looked_at or (advancer.t == self._next_event and self._due_events)
        ):
            return
        advancer.settle()
        self._next_event, self._due_events = self._next(
            self._system.calc_time_of_next_scheduled_event, advancer.state, handled.scheduled
        )
        self._looked_at, self._num_changes = advancer.t, handled.num_changes

    def _next(
        self, next_time: NextTime, state: State, done: dict[int, float]
    ) -> tuple[float, tuple[Event, ...]]:
        """Return the next scheduled time, and its events that were not done yet.

        All may be done already, if the time equals the present one but for rounding. Step there
        nevertheless: the schedule may not account for rounding.
        """
        time, events = next_time(state, True)
        left = self._left(time, events, done)
        if events and not left:
            time, events = next_time(state, False)
            left = self._left(time, events, done)
        return time, left

    def _left(
        self, time: float, events: tuple[Event, ...], done: dict[int, float]
    ) -> tuple[Event, ...]:
        return tuple(
            e
            for e in events
            if abs(done.get(e.id, inf) - time) > e.times.rounding(time, self._begin)
        )

    def _as_one(self, time: float, events: tuple[Event, ...], *others: float) -> float:
        """Return the first of other times that equals the time of events; else this time."""
        for other in others if events else ():
            if abs(time - other) < inf:  # else nothing happens then
                close = min(e.times.rounding(other, self._begin) for e in events)
                if abs(time - other) <= close < inf:
                    return other
        return time

    # ------------------------------------------------------------------ events

    def _handle(
        self, cause: EventCause, events: tuple[Event, ...] = (), handled: Handled | None = None
    ) -> None:
        """Handle events, and let the integrator go on from the changed State.

        All of it happens, and is noted in the record of what was handled; or an error leaves
        everything as it was before.
        """
        self._show()
        results = self._integrator._handle(cause, events, handled)
        if results.any_change_made:
            self._show(is_new=True)

    def _handle_triggered(self) -> StepStatus | None:
        found = self._integrator.triggered_events
        events = tuple(e.event for e in found)
        handled = evolve(self._integrator._handled, triggered=found)
        self._handle(EventCause.TRIGGERED, events, handled)
        self._time_has_advanced()
        return TRIGGER if self._reports_all else None

    def _handle_scheduled(self) -> bool:
        """Handle scheduled events; return True if there are any."""
        events, handled = self._due_events, self._integrator._handled
        if events:
            times = {e.id: self._integrator.advanced_time for e in events}
            handled = evolve(handled, scheduled=handled.scheduled | times)
            self._handle(EventCause.SCHEDULED, events, handled)
        else:
            self._looked_at = -inf
        return bool(events)

    def _time_has_advanced(self) -> None:
        """Handle the time-advanced events of the last step, unless that was done."""
        integrator = self._integrator
        num_steps, handled = integrator._num_reported, integrator._handled
        if not self._system.has_time_advanced_events or integrator.is_simulation_over:
            return
        if num_steps > handled.num_steps:
            self._handle(EventCause.TIME_ADVANCED, handled=evolve(handled, num_steps=num_steps))

    def _end(self) -> StepStatus:
        has_updates = self._integrator._initialized("the advanced State").has_updates
        self._show(is_new=has_updates)
        handled = evolve(self._integrator._handled, has_ended=True)
        self._handle(EventCause.TERMINATION, handled=handled)
        return END

    def _show(self, *, is_new: bool = False) -> None:
        """Show the State to the watcher, unless it is the last one again."""
        if self._see is not None and (is_new or self._integrator.time > self._last_seen):
            self._last_seen = self._integrator.time
            self._see(self._integrator.state, is_new)

    # ------------------------------------------------------------------ State and time

    @property
    def state(self) -> State:
        """The State at the time to which it has come; only for reading, until the next step."""
        return self._started("the State").state

    @property
    def time(self) -> float:
        """The time of `state`."""
        return self._started("the time").time

    def _started(self, what: str) -> Integrator:
        if not self._is_initialized:
            raise self._not_initialized(what)
        return self._integrator

    def __repr__(self) -> str:
        where = f", t = {self.time:g}" if self._is_initialized else ", not initialized"
        return f"<{type(self).__name__} {self._name!r} of {self._system.name!r}{where}>"
