r"""Integrators: a State is advanced through time, up to what somebody wants to see or to handle.

::

                         report time                       scheduled event, final time
    ....t_old...............|..........t......................|......
         \_______ a step of the method _/    no step goes beyond it
                            |           |
                 state: interpolated    advanced_state

For each thing that happens at or before the advanced time, `step_to` returns once, in this order:
reports before the end of the last step, a triggered event, the step itself if each is wanted, a
report at its end, a scheduled event there, the end of the simulation.

Source: the documentation of SimTK::Integrator, whose behaviour this is.
"""

from math import inf
from numbers import Real
from typing import Final, final

from stagecache.errors import NotANumberError, OutOfRangeError, StudyError, short_repr
from stagecache.state.stage import Stage, check_stage
from stagecache.state.state import State
from stagecache.study.integrate.abstract_integrator import AbstractIntegrator
from stagecache.study.integrate.advancer import Advancer
from stagecache.study.integrate.options import IntegratorOptions
from stagecache.study.integrate.refusals import endless
from stagecache.study.integrate.reported import REPORTED, InterpolatedState
from stagecache.study.integrate.step_status import StepStatus, TerminationReason
from stagecache.system.core.system import System
from stagecache.system.events.times import rounding

MOST_ROUNDS: Final = 1000
"""How often handlers may trigger the next ones at one time."""


@final
class Integrator(AbstractIntegrator):
    """What advances a State of a System through time, by a numerical method.

    Parameters
    ----------
    system : System
    method : str
        "DOP853" (order 8), "RK45", "RK23", "Verlet" (order 2), "Euler" (order 1, semi-explicit);
        for stiff Systems "Radau", "BDF", and without constraints "LSODA".
    accuracy : float
        How large the error of a step may be: rtol = accuracy / 10, and atol = accuracy / (10
        weight) for each number of y; u and z have their weights in the State, q those of their u.
    constraint_tolerance : float, optional
        How large the norm of weighted constraint errors may be; accuracy / 10 by default.
    initial_step, min_step, max_step : float, optional
        Sizes of steps [s]. It is an error if the accuracy needs a step below the minimum.
    fixed_step : float, optional
        The size of all steps, whatever their error; not for Radau, BDF and LSODA.
    step_limit : int, optional
        After as many steps `step_to` returns.
    final_time : float
        The simulation ends there.
    allow_interpolation : bool
        Whether States at report times may be interpolated; if not, steps end there.
    project_interpolated_states : bool
        Whether those are projected onto constraints, if they are too far from them.
    project_every_step : bool
        Project onto constraints after each step, not only where they exceed the tolerance.
    return_every_step : bool
        Whether `step_to` returns after each step, with TIME_HAS_ADVANCED.
    use_infinity_norm : bool
        Errors are measured by the largest of them, not by the root of their mean square. Radau and
        BDF get 1/√ny of the tolerance then, which bounds the largest.

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
    ...     def realize_velocity(self, state: State) -> None:
    ...         state[self].upd_qdot()[0] = self.speed(state)
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
        accuracy: float = 1e-3,
        constraint_tolerance: float | None = None,
        initial_step: float | None = None,
        min_step: float | None = None,
        max_step: float | None = None,
        fixed_step: float | None = None,
        step_limit: int | None = None,
        final_time: float = inf,
        allow_interpolation: bool = True,
        project_interpolated_states: bool = True,
        project_every_step: bool = False,
        return_every_step: bool = False,
        use_infinity_norm: bool = False,
        name: str = "integrator",
        version: str = "",
    ) -> None:
        options = IntegratorOptions(
            accuracy=accuracy,
            constraint_tolerance=constraint_tolerance,
            initial_step=initial_step,
            min_step=min_step,
            max_step=max_step,
            fixed_step=fixed_step,
            step_limit=step_limit,
            final_time=final_time,
            allow_interpolation=allow_interpolation,
            project_interpolated_states=project_interpolated_states,
            project_every_step=project_every_step,
            return_every_step=return_every_step,
            use_infinity_norm=use_infinity_norm,
        )
        super().__init__(system, method, options, name, version)

    # ------------------------------------------------------------------ beginning

    def initialize(self, state: State) -> None:
        """Take over a copy of a State, from which to advance. It is projected if need be.

        Parameters
        ----------
        state : State
            Of this System.

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError
        ProjectionError
            The constraints are not met, and cannot be by projection.
        MethodError
            There are constraints, and the method cannot go on after a projection: LSODA.
        NotFiniteError, OutOfRangeError
            A derivative is not finite, a trigger NaN, a weight not positive.
        Exception
            Whatever a hook or an entry raises.
        """
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
            advancer = Advancer(self._system, state.copy(), self._method_class, options, statistics)
            advancer.check_derivatives()
        except Exception as error:
            error.add_note(f"while {self._name} was initialized, at t = {state.time:.9g}")
            raise
        self._advancer = advancer
        self._begin()
        statistics.num_initializations += 1
        self._count_realizations(advancer)

    def reinitialize(self, stage: Stage, should_terminate: bool = False) -> None:
        """Go on from an advanced State that was changed.

        Parameters
        ----------
        stage : Stage
            The lowest that was changed; Infinity: none was.
        should_terminate : bool
            Whether the simulation is to end here.

        Raises
        ------
        StudyError, StageOutOfRangeError
        ProjectionError, MethodError, NotFiniteError, OutOfRangeError
            As `initialize`.
        """
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
            self._starts, self._has_step = True, False
        if should_terminate:
            self._reason = TerminationReason.EVENT_HANDLER_REQUESTED_TERMINATION

    # ------------------------------------------------------------------ stepping

    def step_by(self, interval: float) -> StepStatus:
        """Step to the time of the State and an interval. As `step_to`."""
        self._initialized("step_by()")
        return self.step_to(self.time + _number(interval, "step_by(interval)"))

    def step_to(self, report_time: float, scheduled_event_time: float = inf) -> StepStatus:
        """Advance until there is something to report or to handle.

        Parameters
        ----------
        report_time : float
            The next time at which the State is to be seen. Beyond the final time, that one counts.
        scheduled_event_time : float
            The next time at which something may change the State; steps do not go beyond it.

        Returns
        -------
        StepStatus
            What has happened; its `hint` says what to do next.

        Raises
        ------
        StudyError
            It was not initialized; or the simulation is over; or the advanced State was changed,
            and `reinitialize` not called.
        TopologyVersionError
            The System was changed since it was initialized.
        NotANumberError, OutOfRangeError
            A time is none, or one that is passed already.
        StepSizeError, NotFiniteError, ProjectionError
            A step cannot be taken. The State is the one at its start.
        Exception
            Whatever a hook or an entry raises, likewise.
        """
        advancer = self._initialized("step_to()")
        self._system._require_own(advancer.state)
        if type(report_time) is not float or type(scheduled_event_time) is not float:
            report_time = _number(report_time, "step_to(report_time)")
            scheduled_event_time = _number(scheduled_event_time, "step_to(scheduled_event_time)")
        if not (report_time >= self.time and scheduled_event_time >= advancer.t):
            raise self._passed(report_time, scheduled_event_time)
        if self._is_told:
            raise self._over()
        if self._reason is None:
            self._require_unchanged()
            if self._starts:
                self._starts = False
                return StepStatus.START_OF_CONTINUOUS_INTERVAL
        contents = advancer.state._contents
        contents.guard = None
        self._has_failed = False
        self._untold = None
        try:
            if self._reason is not None:
                status = self._end(advancer)
            else:
                status = self._step_to(advancer, report_time, scheduled_event_time)
            self._count_realizations(advancer)
            contents.guard = REPORTED
        except BaseException:
            contents.guard = REPORTED
            self._is_interpolated = self._has_step = False
            self._has_failed = True
            if self._untold is not None:
                advancer.signs, self._events = self._untold
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
            if self._has_step and returns_each:
                self._has_step = False
                return StepStatus.TIME_HAS_ADVANCED
            self._has_step = False
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
            if count >= limit:
                return StepStatus.REACHED_STEP_LIMIT
            if not advancer.take_step(bound):
                continue
            self._rounds.clear()
            if advancer.has_updates:
                self._interpolated = None
            if self._first_step is None:
                self._first_step = advancer.t - advancer.t_old
            self._has_step = True
            count += 1
            if self._watch is not None:
                self._watch(advancer.t)

    def _at_events(self, advancer: Advancer, report: float) -> StepStatus | None:
        """Tell of events in the last step, or at its end; None if a report comes first."""
        window = advancer.signs.window
        assert window is not None
        if window.low < report < window.high:
            window = advancer.split_window(report)
        if report <= window.low < window.high:
            return None
        events = advancer.signs.watch.events(window)
        if window.low < window.high:
            self._interpolate(advancer, window.low)
        else:  # a write has triggered them
            if len(self._rounds) == MOST_ROUNDS:
                raise endless(advancer.state, self._rounds)
            self._rounds.append(events)
            self._is_interpolated = False
        self._untold = advancer.signs, self._events
        advancer.told()
        self._events = events
        self._event_window = (window.low, window.high)
        self._has_step = False
        return StepStatus.REACHED_EVENT_TRIGGER

    def _interpolate(self, advancer: Advancer, t: float) -> None:
        """Show the State of a time in the last step."""
        if self._interpolated is None:
            self._interpolated = InterpolatedState(
                self._system, advancer.state, self._options, self._statistics
            )
        try:
            self._interpolated.show(t, advancer.interpolate(t))
        except Exception as error:
            error.add_note(f"while the State was interpolated at t = {t:.9g}")
            raise
        self._is_interpolated = True
        self._shown_time = t

    def _end(self, advancer: Advancer) -> StepStatus:
        """End the simulation."""
        advancer.finish()
        self._is_told, self._is_interpolated = True, False
        return StepStatus.END_OF_SIMULATION


def _number(value: object, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise NotANumberError(
            f"{what}: is no time", "a number", short_repr(value), "write it as one"
        )
    return float(value)
