"""What an integrator knows of itself, and tells: where it is, what it has met, how it works."""

from collections.abc import Callable

from stagecache.errors import OutOfRangeError, StudyError
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.study.integrate.advancer import Advancer
from stagecache.study.integrate.localization import TriggeredEvent
from stagecache.study.integrate.options import IntegratorOptions
from stagecache.study.integrate.reported import InterpolatedState
from stagecache.study.integrate.signs import Signs
from stagecache.study.integrate.statistics import IntegratorStatistics
from stagecache.study.integrate.step_status import TerminationReason
from stagecache.study.methods.methods import method_of
from stagecache.study.study import Study
from stagecache.system.core.system import System


class AbstractIntegrator(Study):
    """An integrator, as far as it is looked at.

    Parameters
    ----------
    system : System
    method : str
    options : IntegratorOptions
    name, version : str

    Raises
    ------
    WrongTypeError, UnknownChoiceError, OutOfRangeError, InvalidNameError
    """

    def __init__(
        self, system: System, method: str, options: IntegratorOptions, name: str, version: str
    ) -> None:
        super().__init__(system, name, version)
        self._method_class = method_of(method, options.fixed_step)
        self._options = options
        self._statistics = IntegratorStatistics()
        self._advancer: Advancer | None = None
        self._watch: Callable[[float], object] | None = None  # told of each step
        self._begin()

    def _begin(self) -> None:
        """Forget what has happened before."""
        self._interpolated: InterpolatedState | None = None
        self._is_interpolated = False
        self._starts = True  # a continuous interval, which nobody was told of yet
        self._shown_time = 0.0
        self._has_step = False  # one that nobody was told of yet
        self._has_end = False  # the report at the final time
        self._events: tuple[TriggeredEvent, ...] = ()
        # Of before somebody was told of events in this call of step_to.
        self._untold: tuple[Signs, tuple[TriggeredEvent, ...]] | None = None
        self._rounds: list[tuple[TriggeredEvent, ...]] = []  # that writes have triggered now
        self._event_window: tuple[float, float] | None = None
        self._reason: TerminationReason | None = None
        self._has_failed = False
        self._is_told = False  # that the simulation is over
        self._handed_out: tuple[int, ...] | None = None
        self._first_step: float | None = None

    # ------------------------------------------------------------------ where it is

    @property
    def state(self) -> State:
        """The State to be seen now, interpolated or advanced; it is only for reading.

        Realize it as far as you need. The next step changes it; copy it to keep it.

        Raises
        ------
        StudyError
            It was not initialized.
        """
        advancer = self._initialized("the State of the integrator")
        if self._is_interpolated:
            assert self._interpolated is not None
            return self._interpolated.state
        advancer.settle()
        return advancer.state

    @property
    def advanced_state(self) -> State:
        """The State to which the integration has come, at Acceleration; to be changed by handlers.

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
        """The time of `state`."""
        advancer = self._initialized("the time of the integrator")
        return self._shown_time if self._is_interpolated else advancer.t

    @property
    def advanced_time(self) -> float:
        """The time of `advanced_state`."""
        return self._initialized("the advanced time").t

    @property
    def is_state_interpolated(self) -> bool:
        """Whether `state` is an earlier one than `advanced_state`."""
        self._initialized("the State of the integrator")
        return self._is_interpolated

    # ------------------------------------------------------------------ events

    @property
    def triggered_events(self) -> tuple[TriggeredEvent, ...]:
        """The events of the last REACHED_EVENT_TRIGGER, the earliest first."""
        self._initialized("the triggered events")
        return self._events

    @property
    def event_window(self) -> tuple[float, float]:
        """The times between which they have happened: of `state` then, and of `advanced_state`.

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
        """Whether the final time is reached, or a handler has ended it; do not step on then."""
        self._initialized("the end of the simulation")
        return self._reason is not None

    @property
    def termination_reason(self) -> TerminationReason | None:
        """Why the simulation is over; or that the last step has raised. None if it goes on."""
        self._initialized("the end of the simulation")
        if self._has_failed:
            return TerminationReason.AN_UNRECOVERABLE_ERROR_OCCURRED
        return self._reason

    # ------------------------------------------------------------------ what it works with

    @property
    def options(self) -> IntegratorOptions:
        """What it was asked for."""
        return self._options

    @property
    def accuracy_in_use(self) -> float:
        """The accuracy."""
        return float(self._options.accuracy)

    @property
    def constraint_tolerance_in_use(self) -> float:
        """How large the norm of weighted constraint errors may be."""
        return self._options.tolerance

    @property
    def method_name(self) -> str:
        """The name of the method."""
        return self._method_class.name

    @property
    def method_min_order(self) -> int:
        """The lowest order that the method uses."""
        return self._method_class.min_order

    @property
    def method_max_order(self) -> int:
        """The highest order that the method uses."""
        return self._method_class.max_order

    @property
    def method_has_error_control(self) -> bool:
        """Whether the method chooses steps by their error; all do, unless steps are fixed."""
        return self._options.fixed_step is None

    @property
    def statistics(self) -> IntegratorStatistics:
        """Counters of what it has done since it was made, or since they were reset."""
        return self._statistics

    @property
    def actual_initial_step(self) -> float | None:
        """The size of the first step after `initialize`; None before it [s]."""
        self._initialized("the initial step")
        return self._first_step

    @property
    def previous_step(self) -> float | None:
        """The size of the last step; None before the first one after a start [s]."""
        advancer = self._initialized("the previous step")
        return None if advancer.t == advancer.t_old else advancer.t - advancer.t_old

    @property
    def next_step(self) -> float | None:
        """What will be tried next; None if the method has yet to choose [s]."""
        return self._initialized("the next step").method.step_size

    # ------------------------------------------------------------------ refusals

    def _initialized(self, what: str) -> Advancer:
        if self._advancer is not None:
            return self._advancer
        raise StudyError(
            f"{what} of {self._name}: needs a State to begin with",
            "an integrator that was initialized",
            "a new one",
            "call integrator.initialize(state) first",
        )

    def _require_unchanged(self) -> None:
        """Refuse an advanced State that was changed without a word."""
        if self._handed_out is None or self._advancer is None:
            return
        changed = self._advancer.state.lowest_stage_difference(self._handed_out)
        if changed <= Stage.REPORT:
            raise StudyError(
                f"{self._name}: the advanced State was changed from {changed} on",
                "a State that is as the last step has left it",
                "one that was written since",
                f"call reinitialize(Stage.{changed.name}) after a change",
            )
        self._handed_out = None

    def _over(self) -> StudyError:
        assert self._reason is not None
        return StudyError(
            f"{self._name}: the simulation is over",
            "an integrator that has not come to the end",
            f"one that ended at t = {self.advanced_time:g}: {self._reason.message}",
            "call initialize() to begin another one",
        )

    def _passed(self, report_time: float, scheduled_event_time: float) -> OutOfRangeError:
        is_report = not report_time >= self.time
        which = "report_time" if is_report else "scheduled_event_time"
        known = self.time if is_report else self.advanced_time
        return OutOfRangeError(
            f"step_to({which}): is no time to come",
            f"{known!r} or later, which is the {'' if is_report else 'advanced '}time now",
            f"{report_time if is_report else scheduled_event_time!r}",
            "an integrator goes forwards only: ask for the earliest time first; or initialize() "
            "it anew",
        )

    # ------------------------------------------------------------------ for a time stepper

    def _put_back(self, time: float) -> bool:
        """Let the advanced State have a time that is equal to its own but for rounding.

        Return whether it has; not if events have to be told of first.
        """
        advancer = self._initialized("its advanced State")
        if advancer.signs.window is not None:
            return False
        advancer.shift(time)
        return True

    def _count_realizations(self, advancer: Advancer) -> None:
        self._statistics.num_realizations += advancer.derivatives.count
        advancer.derivatives.count = 0

    def __repr__(self) -> str:
        where = "not initialized" if self._advancer is None else f"t={self.time:g}"
        return f"Integrator({self._system.name!r}, {self.method_name!r}, {where})"
