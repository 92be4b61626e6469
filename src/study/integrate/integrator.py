r"""Integrators: a State is advanced through time, up to the next report or event.

::

                         report time                       scheduled event, final time
    ....t_old...............|..........t......................|......
         \_______ a step of the method _/    no step goes beyond it
                            |           |
                 state: interpolated    advanced_state

For each report or event at or before the advanced time, `step_to` returns once, in this order:
reports before the end of the last step, a triggered event, the step itself if each is wanted, a
report at its end, a scheduled event there, the end of the simulation.

Source: the documentation of SimTK::Integrator, whose behaviour this is.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from math import inf
from typing import Any, Final, final

from attrs import evolve

from stagecache.checks import require_bool, require_number
from stagecache.errors import EventLoopError, OutOfRangeError, StudyError, short_repr
from stagecache.files.values import bad_file
from stagecache.state.contents.guards import Guard
from stagecache.state.handles import Vector
from stagecache.state.stage import Stage, check_stage
from stagecache.state.state import State
from stagecache.study.integrate.advancer import Advancer
from stagecache.study.integrate.constraint_keeper import ConstraintKeeper
from stagecache.study.integrate.handled import Handled
from stagecache.study.integrate.localization import TriggeredEvent
from stagecache.study.integrate.options import IntegratorOptions, require_options
from stagecache.study.integrate.record import IntegratorRecord
from stagecache.study.integrate.signs import Signs
from stagecache.study.integrate.statistics import IntegratorStatistics
from stagecache.study.integrate.step_status import StepStatus, TerminationReason
from stagecache.study.methods.derivatives import Derivatives
from stagecache.study.methods.methods import method_of
from stagecache.study.study import Study
from stagecache.system.core.system import System
from stagecache.system.events.events import Event, EventCause
from stagecache.system.events.options import HandleEventsOptions, HandleEventsResults
from stagecache.system.events.times import rounding

REPORTED: Final = Guard(
    "a State that a Study reports, which is only for reading",
    "let an event handler write it, not a reporter; or write into a copy; or, without a time "
    "stepper, into advanced_state of the integrator, and call reinitialize()",
)


@final
class InterpolatedState:
    """A copy of the advanced State, at an earlier time.

    Parameters
    ----------
    system : System
    advanced : State
        At Instance or further.
    options : IntegratorOptions
    statistics : IntegratorStatistics
    """

    def __init__(
        self,
        system: System,
        advanced: State,
        options: IntegratorOptions,
        statistics: IntegratorStatistics,
    ) -> None:
        self.state = advanced.copy()
        system.realize(self.state, Stage.INSTANCE)
        self._derivatives = Derivatives(system, self.state)
        self._statistics = statistics
        self._keeper: ConstraintKeeper | None = None
        keeper = ConstraintKeeper(system, options, statistics)
        if keeper.look(self.state) and options.project_interpolated_states:
            self._keeper = keeper

    def show(self, t: float, y: Vector) -> None:
        """Write a time and y, set prescribed motion, and project onto constraints.

        Raises
        ------
        ProjectionError
        Exception
            Any exception of a hook or an entry.
        """
        state = self.state
        state._contents.guard = None
        try:
            needed = Stage.TIME if self._keeper is None else Stage.VELOCITY
            self._derivatives.settle(t, y, needed)
            if self._keeper is not None and self._keeper.keep(state):
                self._derivatives.y = None
        finally:
            state._contents.guard = REPORTED
            self._statistics.num_realizations += self._derivatives.count
            self._derivatives.count = 0


MOST_ROUNDS: Final = 1000
"""Rounds of handlers that trigger the next ones at one time."""


@final
class Integrator(Study):
    """A Study that advances a State of a System through time, by a numerical method.

    Parameters
    ----------
    system : System
    method : str
        "DOP853" (order 8), "RK45", "RK23", "Verlet" (order 2), "Euler" (order 1, semi-explicit),
        and to compare with others "Merson", "Fehlberg" and "ExplicitEuler";
        for stiff Systems "Radau", "BDF", and without constraints "LSODA".
    name, version : str
    **options
        Options of `IntegratorOptions`, by name: accuracy, final_time and others.

    Raises
    ------
    WrongTypeError, UnknownChoiceError, NotANumberError, OutOfRangeError, StepSizeError

    Examples
    --------
    >>> from stagecache import State, Subsystem, System, q_variable, u_variable
    >>> from stagecache.study.integrate.integrator import Integrator
    >>> class Oscillator(Subsystem):
    ...     place = q_variable(1.0)
    ...     speed = u_variable(0.0)
    ...
    ...     def realize_acceleration(self, state: State) -> None:
    ...         state[self].upd_udot()[0] = -self.place(state)
    >>> oscillator = Oscillator()
    >>> system = System(oscillator)
    >>> integrator = Integrator(system, accuracy=1e-6)
    >>> integrator.initialize(system.realize_topology())
    >>> integrator.step_to(3.0)
    StepStatus.START_OF_CONTINUOUS_INTERVAL
    >>> integrator.step_to(3.0)
    StepStatus.REACHED_REPORT_TIME
    >>> integrator.time, round(oscillator.place(integrator.state), 5)
    (3.0, -0.98999)
    """

    def __init__(
        self,
        system: System,
        method: str = "DOP853",
        *,
        name: str = "integrator",
        version: str = "",
        **options: Any,
    ) -> None:
        require_options(options, "Integrator", ("method",))
        super().__init__(system, name, version)
        self._options = IntegratorOptions(**options)
        self._method_class = method_of(method, self._options.fixed_step)
        self._statistics = IntegratorStatistics()
        self._advancer: Advancer | None = None
        self._watch: Callable[[float], object] | None = None  # called after each step
        self._shows_windows = True  # an interpolated State at the beginning of a window of events
        self._pauses = False  # before the next step, for a record
        self._raises_events = True  # those of initialization and termination; not for a TimeStepper
        self._begin()

    def _begin(self) -> None:
        """Forget all that happened before."""
        self._interpolated: InterpolatedState | None = None
        self._is_interpolated = False
        self._starts = True  # a continuous interval, which is not reported yet
        self._shown_time = 0.0
        self._num_reported = 0  # steps
        self._has_end = False  # the report at the final time
        self._events: tuple[TriggeredEvent, ...] = ()
        self._handled = Handled()
        # Signs and events before events were reported in this call of step_to.
        self._unreported: tuple[Signs, tuple[TriggeredEvent, ...]] | None = None
        # Events triggered by writes at this time.
        self._rounds: list[tuple[TriggeredEvent, ...]] = []
        self._event_window: tuple[float, float] | None = None
        self._reason: TerminationReason | None = None
        self._has_failed = False
        self._end_is_reported = False  # the end of the simulation is reported
        self._handed_out: tuple[int, ...] | None = None
        self._first_step: float | None = None
        self._event_options: HandleEventsOptions | None = None

    # ------------------------------------------------------------------ beginning

    def initialize(self, state: State) -> None:
        """Begin with a copy of a State, which is projected if needed.

        Events of initialization are handled, and reported.

        Parameters
        ----------
        state : State
            State of this System.

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError
        ProjectionError
            Projection cannot satisfy the constraints.
        MethodError
            There are constraints, and the method cannot continue after a projection: LSODA.
        NotFiniteError, OutOfRangeError
            A derivative is not finite, a trigger NaN, a weight not positive.
        EventHandlerError, EventTimeError, ReadOnlyError
            A handler or reporter has failed.
        Exception
            Any exception of a hook or an entry.
        """
        before = self._advancer
        try:
            self._initialize(state)
            self._raises_events = True
            self._raise(EventCause.INITIALIZATION)
        except BaseException:
            if self._advancer is not before:
                self._advancer = None
            raise

    def _initialize(self, state: State) -> None:
        """Begin with a copy of a State, without events, which are left to a TimeStepper."""
        self._system._require_own(state)
        options, statistics = self._options, self._statistics
        if state.time > options.final_time:
            raise OutOfRangeError(
                f"{self._name}: the State is later than the final time",
                f"a time of at most {options.final_time:g}",
                f"{state.time:g}",
                "set state.time, or give a later final_time",
            )
        try:
            advanced = state.copy()
            advancer = Advancer(self._system, advanced, self._method_class, options, statistics)
            advancer.check_derivatives()
        except Exception as error:
            error.add_note(f"while {self._name} was initialized, at t = {state.time:.9g}")
            raise
        self._advancer = None  # until nothing is left of what happened before
        self._begin()
        self._raises_events = False
        advanced._contents.guard = REPORTED
        self._advancer = advancer
        statistics.num_initializations += 1
        self._count_realizations(advancer)

    def _raise(self, cause: EventCause, handled: Handled | None = None) -> None:
        """Handle the events of the beginning, or of the end, if there are any."""
        if cause in self._system._events.table.by_cause:
            self._handle(cause, handled=handled)

    def _handle(
        self, cause: EventCause, events: tuple[Event, ...] = (), handled: Handled | None = None
    ) -> HandleEventsResults:
        """Handle events, go on from the changed State, and note what was handled.

        All of it happens; or an error leaves everything as it was before.
        """
        state, reason, before = self.advanced_state, self._reason, self._handled
        advancer = self._initialized("the advanced State")
        signs = advancer.signs
        results: HandleEventsResults | None = None
        if self._event_options is None:
            self._event_options = HandleEventsOptions(
                self.accuracy_in_use,
                constraint_tolerance=self.constraint_tolerance_in_use,
                use_infinity_norm=self._options.use_infinity_norm,
            )
        mark = state.checkpoint()
        try:
            results = self._system.handle_events(state, cause, events, self._event_options)
            self.reinitialize(results.lowest_modified_stage, results.should_terminate)
            is_changed = results.any_change_made or cause is EventCause.SCHEDULED
            self._handled = evolve(handled or before, num_changes=before.num_changes + is_changed)
        except BaseException as error:
            # Not by `advanced_state`, which would first realize what the handlers have left.
            state._contents.guard = None
            state.rollback(mark)
            self._reason, advancer.signs = reason, signs
            self.reinitialize(Stage.MODEL)
            if results is not None:
                names = ", ".join(map(str, events)) or str(cause)
                error.add_note(f"after the handlers of {names}; the State is as it was before them")
            raise
        finally:
            mark.release()
        return results

    def reinitialize(self, stage: Stage, should_terminate: bool = False) -> None:
        """Go on from an advanced State that was changed.

        Parameters
        ----------
        stage : Stage
            Lowest stage that was changed; Infinity if nothing was.
        should_terminate : bool
            True to end the simulation here.

        Raises
        ------
        StudyError, StageOutOfRangeError
        ProjectionError, MethodError, NotFiniteError, OutOfRangeError
            See `initialize`.
        """
        is_last = require_bool(should_terminate, "reinitialize(should_terminate=...)")
        advancer = self._initialized("reinitialize()")
        stage = check_stage(stage, Stage.EMPTY, Stage.INFINITY, "reinitialize()")
        if stage <= Stage.REPORT:
            self._system._require_own(advancer.state)
            advancer.state._contents.guard = None
            if advancer.state.time != advancer.t:
                raise StudyError(
                    f"{self._name}: the time of the advanced State was changed",
                    f"t = {advancer.t!r}",
                    f"{advancer.state.time!r}",
                    "let handlers keep the time; initialize() begins at another one",
                )
            try:
                advancer.restart()
            except Exception as error:
                error.add_note(f"while {self._name} was reinitialized, at t = {advancer.t:.9g}")
                raise
            finally:
                self._count_realizations(advancer)
        self._interpolated = self._handed_out = None
        advancer.state._contents.guard = REPORTED
        self._is_interpolated = False
        if stage < Stage.REPORT:
            self._starts, self._num_reported = True, advancer.num_steps
        if is_last:
            self._reason = TerminationReason.EVENT_HANDLER_REQUESTED_TERMINATION

    # ------------------------------------------------------------------ stepping

    def step_by(self, interval: float) -> StepStatus:
        """Step by an interval from the time of `state`. Otherwise as `step_to`."""
        self._initialized("step_by()")
        interval = require_number(interval, "step_by(interval)", may_be_infinite=True)
        return self.step_to(self.time + interval)

    def step_to(self, report_time: float, scheduled_event_time: float = inf) -> StepStatus:
        """Advance to the next report or event.

        Parameters
        ----------
        report_time : float
            Time of the next report; at most the final time counts.
        scheduled_event_time : float
            Time of the next scheduled event; steps do not go beyond it.

        Returns
        -------
        StepStatus
            The reason why it returns; its `hint` says what to do next.

        Raises
        ------
        StudyError
            The integrator was not initialized; or the simulation is over; or the advanced State was
            changed, and `reinitialize` not called.
        TopologyVersionError
            The System was changed since it was initialized.
        NotANumberError, OutOfRangeError
            A time is not a number, or lies in the past.
        StepSizeError, NotFiniteError, ProjectionError
            A step cannot be taken. The State is the one at its start.
        Exception
            Any exception of a hook or an entry, likewise.
        """
        advancer = self._initialized("step_to()")
        self._system._require_own(advancer.state)
        if type(report_time) is not float or type(scheduled_event_time) is not float:
            what = "step_to(report_time)"
            report_time = require_number(report_time, what, may_be_infinite=True)
            what = "step_to(scheduled_event_time)"
            scheduled_event_time = require_number(scheduled_event_time, what, may_be_infinite=True)
        time = self._shown_time if self._is_interpolated else advancer.t
        if not report_time >= time:
            raise passed("step_to(report_time)", time, report_time)
        if not scheduled_event_time >= advancer.t:
            raise passed("step_to(scheduled_event_time)", advancer.t, scheduled_event_time)
        if self._end_is_reported and self._reason is not None:
            raise StudyError(
                f"{self._name}: the simulation is over",
                "an integrator that has not come to the end",
                f"one that ended at t = {advancer.t:g}: {self._reason.message}",
                "call initialize() to begin another one",
            )
        if self._reason is None:
            self._require_unchanged()
            if self._starts:
                self._starts = False
                return StepStatus.START_OF_CONTINUOUS_INTERVAL
        contents = advancer.state._contents
        self._has_failed = False
        self._unreported = None
        num_reported, has_end = self._num_reported, self._has_end
        try:
            contents.guard = None
            if self._reason is not None:
                status = self._end(advancer)
            else:
                status = self._step_to(advancer, report_time, scheduled_event_time)
            self._count_realizations(advancer)
            contents.guard = REPORTED
        except BaseException:
            contents.guard = REPORTED
            # If a step has gone beyond the report, that is still to come: the State is before it.
            self._is_interpolated = report_time < advancer.t
            self._shown_time = max(time, advancer.t_old)
            self._interpolated = None
            self._num_reported, self._has_end = num_reported, has_end
            self._has_failed = True
            if self._unreported is not None:
                advancer.signs, self._events = self._unreported
            self._count_realizations(advancer)
            raise
        return status

    def _step_to(self, advancer: Advancer, report: float, scheduled: float) -> StepStatus:
        options = self._options
        final = options.final_time
        bound = min(scheduled, final)
        if not options.allow_interpolation or not advancer.state.ny:
            bound = min(bound, report)
        returns_each = options.return_every_step or self._system.has_time_advanced_events
        limit = options.step_limit or inf
        count = 0
        while True:
            if advancer.signs.window is not None:
                status = self._at_events(advancer, report)
                if status is not None:
                    return status
            if report < advancer.t:
                self._interpolate(advancer, report)
                return StepStatus.REACHED_REPORT_TIME
            self._is_interpolated = False
            if returns_each and self._num_reported < advancer.num_steps:
                self._num_reported = advancer.num_steps
                return StepStatus.TIME_HAS_ADVANCED
            if report == advancer.t and not self._has_end:
                self._has_end = report == final
                return StepStatus.REACHED_REPORT_TIME
            if scheduled == advancer.t:
                return StepStatus.REACHED_SCHEDULED_EVENT
            if advancer.t >= final:
                self._reason = TerminationReason.REACHED_FINAL_TIME
                return self._end(advancer)
            if bound - advancer.t <= rounding(advancer.t, advancer.t):  # no step is as short
                advancer.shift(bound)
                continue
            if count >= limit or self._is_pausing:
                return StepStatus.REACHED_STEP_LIMIT
            if not advancer.take_step(bound):
                continue
            self._rounds.clear()
            if advancer.has_updates:
                self._interpolated = None
            if self._first_step is None:
                self._first_step = advancer.t - advancer.t_old
            count += 1
            if self._watch is not None:
                self._watch(advancer.t)

    def _at_events(self, advancer: Advancer, report: float) -> StepStatus | None:
        """Report events in the last step, or at its end; None if a report comes first."""
        window = advancer.signs.window
        assert window is not None
        if window.low < report < window.high:
            window = advancer.split_window(report)
        if report <= window.low < window.high:
            return None
        events = advancer.signs.watch.events(window)
        if window.low < window.high:
            if self._shows_windows:
                self._interpolate(advancer, window.low)
        else:  # a write has triggered them
            if len(self._rounds) == MOST_ROUNDS:
                raise _endless(advancer.state, self._rounds)
            self._rounds.append(events)
            self._is_interpolated = False
        self._unreported = advancer.signs, self._events
        advancer.report_window()
        self._events = events
        self._event_window = (window.low, window.high)
        self._num_reported = advancer.num_steps
        return StepStatus.REACHED_EVENT_TRIGGER

    def _interpolate(self, advancer: Advancer, t: float) -> None:
        """Show the State at a time in the last step."""
        found = self._interpolated or InterpolatedState(
            self._system, advancer.state, self._options, self._statistics
        )
        self._interpolated = None  # until it is at that time
        try:
            found.show(t, advancer.interpolate(t))
        except Exception as error:
            error.add_note(f"while the State was interpolated at t = {t:.9g}")
            raise
        self._interpolated = found
        self._is_interpolated = True
        self._shown_time = t

    def _show_again(self) -> None:
        """Show the State at the time that was shown before an error."""
        self._interpolate(self._initialized("the State"), self._shown_time)

    def _end(self, advancer: Advancer) -> StepStatus:
        """End the simulation."""
        advancer.finish()
        self._is_interpolated = False
        if self._raises_events and not self._handled.has_ended:
            self._raise(EventCause.TERMINATION, evolve(self._handled, has_ended=True))
        self._end_is_reported = True
        return StepStatus.END_OF_SIMULATION

    # ------------------------------------------------------------------ State and time

    @property
    def state(self) -> State:
        """The State to report now, interpolated or advanced; only for reading.

        Realize it as far as you need. The next step changes it; copy it to keep it.

        Raises
        ------
        StudyError
            The integrator was not initialized.
        """
        advancer = self._initialized("the State")
        if self._is_interpolated:
            if self._interpolated is None:  # an error has struck since
                advancer.state._contents.guarded(None, self._show_again)
            assert self._interpolated is not None
            return self._interpolated.state
        advancer.settle()
        return advancer.state

    @property
    def advanced_state(self) -> State:
        """The State at the end of the last step, at Acceleration; handlers may change it.

        Call `reinitialize` after a change.
        """
        advancer = self._initialized("the advanced State")
        advancer.settle(Stage.ACCELERATION)
        if self._handed_out is None:
            advancer.state._contents.guard = None
            self._handed_out = advancer.state.stage_versions
        return advancer.state

    @property
    def time(self) -> float:
        """Time of `state`."""
        advancer = self._initialized("the time")
        return self._shown_time if self._is_interpolated else advancer.t

    @property
    def advanced_time(self) -> float:
        """Time of `advanced_state`."""
        return self._initialized("the advanced time").t

    @property
    def is_state_interpolated(self) -> bool:
        """True if `state` is interpolated, at an earlier time than `advanced_state`."""
        self._initialized("the State")
        return self._is_interpolated

    # ------------------------------------------------------------------ events

    @property
    def triggered_events(self) -> tuple[TriggeredEvent, ...]:
        """Events of the last REACHED_EVENT_TRIGGER, the earliest first."""
        self._initialized("the triggered events")
        return self._events

    @property
    def event_window(self) -> tuple[float, float]:
        """Times between which these events lie: times of `state` and `advanced_state` then.

        Raises
        ------
        StudyError
            No event was triggered yet.
        """
        self._initialized("the event window")
        if self._event_window is None:
            raise StudyError(
                f"the event window of {self._name}: does not exist",
                "an integrator that has returned REACHED_EVENT_TRIGGER",
                "one that has met no event since it was initialized",
                "look at what step_to() returns",
            )
        return self._event_window

    # ------------------------------------------------------------------ the end

    @property
    def is_simulation_over(self) -> bool:
        """True once the final time is reached, or a handler has ended the simulation."""
        self._initialized("the end of the simulation")
        return self._reason is not None

    @property
    def termination_reason(self) -> TerminationReason | None:
        """Reason of the end, or the failure of the last step; None while it goes on."""
        self._initialized("the end of the simulation")
        if self._has_failed:
            return TerminationReason.AN_UNRECOVERABLE_ERROR_OCCURRED
        return self._reason

    # ------------------------------------------------------------------ method and options

    @property
    def options(self) -> IntegratorOptions:
        """Options, as they were given."""
        return self._options

    @property
    def accuracy_in_use(self) -> float:
        """Accuracy of the options."""
        return self._options.accuracy

    @property
    def constraint_tolerance_in_use(self) -> float:
        """Largest norm of weighted constraint errors that is accepted."""
        return self._options.tolerance

    @property
    def method_name(self) -> str:
        """Name of the method."""
        return self._method_class.name

    @property
    def method_min_order(self) -> int:
        """Lowest order of the method."""
        return self._method_class.min_order

    @property
    def method_max_order(self) -> int:
        """Highest order of the method."""
        return self._method_class.max_order

    @property
    def method_has_error_control(self) -> bool:
        """True if the method chooses steps by their error; all do, unless steps are fixed."""
        return self._options.fixed_step is None

    @property
    def statistics(self) -> IntegratorStatistics:
        """Counters since the integrator was made, or since they were reset."""
        return self._statistics

    @property
    def actual_initial_step(self) -> float | None:
        """Size of the first step after `initialize` [s]; None before it."""
        self._initialized("the initial step")
        return self._first_step

    @property
    def previous_step(self) -> float | None:
        """Size of the last step [s]; None before the first one after a start."""
        advancer = self._initialized("the previous step")
        return None if advancer.t == advancer.t_old else advancer.t - advancer.t_old

    @property
    def next_step(self) -> float | None:
        """Size of the step to be tried next [s]; None if the method has yet to choose."""
        return self._initialized("the next step").method.step_size

    # ------------------------------------------------------------------ refusals

    def _initialized(self, what: str) -> Advancer:
        if self._advancer is None:
            raise self._not_initialized(what)
        return self._advancer

    def _require_unchanged(self) -> None:
        """Refuse an advanced State that was changed without `reinitialize`."""
        if self._handed_out is None or self._advancer is None:
            return
        changed = self._advancer.state.lowest_stage_difference(self._handed_out)
        if changed <= Stage.REPORT:
            raise StudyError(
                f"{self._name}: the advanced State was changed from {changed} on",
                "a State as the last step has left it",
                "one that was written since",
                f"call reinitialize(Stage.{changed.name}) after a change",
            )
        self._handed_out = None

    # ------------------------------------------------------------------ for a time stepper

    def _put_back(self, time: float) -> bool:
        """Shift the time of the advanced State by a rounding error, unless events come first.

        Return True if the time was shifted.
        """
        advancer = self._initialized("the advanced State")
        if advancer.signs.window is not None:
            return False
        advancer.shift(time)
        return True

    @property
    def _is_pausing(self) -> bool:
        """True if it returns before the next step, and a record can be taken there."""
        return self._pauses and not self._initialized("a pause").is_updated

    def _record(self) -> IntegratorRecord:
        """Return a record of the advanced State, from which `_go_on` goes on.

        A pause is the moment for it: all that was due is reported, and a step would be next.

        Raises
        ------
        UnsavableValueError
        """
        advancer = self._initialized("a record")
        advancer.settle()
        self._count_realizations(advancer)
        return advancer.record()

    def _go_on(self, record: IntegratorRecord) -> None:
        """Go on from a record, in the place of `initialize`; the State stays where it is.

        Raises
        ------
        FileFormatError, LayoutMismatchError
        """
        state: State = State.from_bytes(record.state, self._system)
        fits = state.stage >= Stage.MODEL and len(record.y) == state.ny
        start = record.last_start
        if not fits or state.time > self._options.final_time or (start and start[0] >= state.time):
            raise bad_file(f"the restart of {self._name}", "a State that it fits", repr(state))
        counts = self._statistics = IntegratorStatistics(**record.statistics)
        self._advancer = Advancer(
            self._system, state, self._method_class, self._options, counts, record
        )
        if self._advancer.signs.after.shape != (state.num_event_triggers,):
            raise bad_file(f"the restart of {self._name}", "signs of all triggers", repr(state))
        self._begin()
        self._starts = False
        state._contents.guard = REPORTED

    def _count_realizations(self, advancer: Advancer) -> None:
        self._statistics.num_realizations += advancer.derivatives.count
        advancer.derivatives.count = 0

    def __repr__(self) -> str:
        where = "not initialized" if self._advancer is None else f"t={self.time:g}"
        return f"Integrator({self._system.name!r}, {self.method_name!r}, {where})"


def passed(what: str, now: float, got: object) -> OutOfRangeError:
    """Return the error of a time that has passed already."""
    return OutOfRangeError(
        f"{what}: must not lie in the past",
        f"{float(now)!r}, which is the time now, or later",
        short_repr(got),
        "ask for the earliest time first; or initialize() anew",
    )


def _endless(state: State, rounds: Sequence[Sequence[TriggeredEvent]]) -> EventLoopError:
    """Return the error of handlers that trigger each other again and again, at one time."""
    counts = Counter(event.info.name for events in rounds for event in events)
    often = ", ".join(f"{name} ({n} times)" for name, n in counts.most_common(8) if n > 1)
    return EventLoopError(
        f"{state.system.name}: events trigger each other without end at t = {state.time:.9g}",
        f"handlers after which signs stay the same, after {len(rounds)} rounds at most",
        often or ", ".join(counts),
        "let handlers keep the signs that trigger each other; or name the direction of the "
        "triggers that count. The State is as the last of these handlers left it",
    )
