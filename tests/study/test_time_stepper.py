"""Time steppers: what is handled and reported when, and what is refused."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    discrete,
    modeling_option,
    q_variable,
    u_variable,
)
from stagecache.errors import (
    EventHandlerError,
    EventTimeError,
    ForeignStateError,
    NotANumberError,
    OutOfRangeError,
    ReadOnlyError,
    StagecacheError,
    StepSizeError,
    StudyError,
    WrongTypeError,
)
from stagecache.study.integrate.integrator import Integrator
from stagecache.study.integrate.step_status import StepStatus, TerminationReason
from stagecache.study.time_stepper import TimeStepper
from stagecache.system.events.events import Event, EventAction, EventCause
from stagecache.system.events.handlers import (
    PeriodicEventHandler,
    PeriodicEventReporter,
    ScheduledEventHandler,
    ScheduledEventReporter,
    TriggeredEventHandler,
    TriggeredEventReporter,
)
from stagecache.system.events.options import HandleEventsOptions, HandleEventsResults
from tests.profiles import examples
from tests.study.integrating import METHODS
from tests.study.models import Oscillator, Rod

REPORT, END = StepStatus.REACHED_REPORT_TIME, StepStatus.END_OF_SIMULATION


NOTHING: tuple[str, ...] = ()


class Faller(Subsystem):
    """Falls from 1 with g = 2, so it is on the ground at t = 1."""

    log = discrete(NOTHING, invalidates=Stage.REPORT)
    height = q_variable(1.0)
    speed = u_variable(0.0)

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[0] = self.speed(state)

    def realize_acceleration(self, state: State) -> None:
        state[self].upd_udot()[0] = -2.0

    def note(self, state: State, what: str) -> None:
        """Write into the State what has happened."""
        self.log.set(state, (*self.log(state), what))


def stepping(system: System, **options: Any) -> TimeStepper:
    """A time stepper at the beginning."""
    each = options.pop("each", False)
    stepper = TimeStepper(
        system,
        Integrator(system, **options),
        report_all_significant_states=each,
        progress=False,
    )
    stepper.initialize(system.realize_topology())
    return stepper


def do_nothing(state: State) -> None:
    pass


# ---------------------------------------------------------------------- the order of events


def test_at_one_time_reports_come_first_and_scheduled_events_last() -> None:
    faller = Faller()
    system = System(faller)
    order: list[str] = []
    system.add_event_handler(ScheduledEventHandler(lambda s: order.append("scheduled"), 0.5))
    system.add_event_reporter(ScheduledEventReporter(lambda s: order.append("report"), 0.5))
    stepping(system).step_to(0.5)
    assert order == ["report", "scheduled"]


def test_a_triggered_event_is_handled_just_after_it_has_happened() -> None:
    faller = Faller()
    system = System(faller)
    heights: list[float] = []

    def bounce(state: State) -> None:
        heights.append(faller.height(state))
        faller.speed.set(state, -faller.speed(state))

    system.add_event_handler(
        TriggeredEventHandler(Stage.POSITION, faller.height, bounce, "falling")
    )
    stepper = stepping(system, accuracy=1e-6)
    stepper.step_to(2.0)
    assert len(heights) == 1
    assert -1e-5 < heights[0] <= 0
    assert faller.height(stepper.state) == pytest.approx(1.0, abs=1e-5)


def test_a_triggered_reporter_sees_what_the_handlers_have_made() -> None:
    faller = Faller()
    system = System(faller)
    seen: list[float] = []
    system.add_event_reporter(
        TriggeredEventReporter(
            Stage.POSITION, faller.height, lambda s: seen.append(faller.speed(s))
        )
    )
    system.add_event_handler(
        TriggeredEventHandler(Stage.POSITION, faller.height, lambda s: faller.speed.set(s, 0.25))
    )
    stepping(system).step_to(1.1)
    assert seen[0] == 0.25


def test_a_handler_may_schedule_the_next_event_by_the_state() -> None:
    class Doubling(Subsystem):
        due = discrete(0.5, invalidates=Stage.REPORT)

    model = Doubling()
    system = System(model)
    times: list[float] = []

    def handle(state: State) -> None:
        times.append(state.time)
        model.due.set(state, 2 * state.time)

    system.add_event_handler(
        ScheduledEventHandler(handle, lambda state, include_current_time: model.due(state))
    )
    stepping(system).step_to(10.0)
    assert times == [0.5, 1.0, 2.0, 4.0, 8.0]


def test_an_event_at_the_end_is_handled_once_and_before_the_return() -> None:
    faller = Faller()
    system = System(faller)
    system.add_event_handler(PeriodicEventHandler(0.5, lambda s: faller.note(s, f"{s.time}")))
    stepper = stepping(system)
    assert stepper.step_to(1.0) is REPORT
    assert faller.log(stepper.state) == ("0.0", "0.5", "1.0")
    assert stepper.step_to(1.0) is REPORT
    assert stepper.step_to(1.25) is REPORT
    assert faller.log(stepper.state) == ("0.0", "0.5", "1.0")


@pytest.mark.parametrize("end", [0.3, sum([0.1] * 8), 1.0, 2.3, sum([0.1] * 97)])
@pytest.mark.parametrize("final", [False, True])
def test_an_event_that_differs_from_the_end_by_rounding_belongs_to_it(
    end: float, final: bool
) -> None:
    system = System(Faller())
    handled: list[float] = []
    reported: list[float] = []
    system.add_event_handler(PeriodicEventHandler(0.1, lambda s: handled.append(s.time)))
    system.add_event_reporter(PeriodicEventReporter(0.1, lambda s: reported.append(s.time)))
    stepper = stepping(system, final_time=end if final else math.inf)
    assert stepper.step_to(end) is (END if final else REPORT)
    assert stepper.time == end
    assert len(handled) == len(reported) == round(end / 0.1) + 1
    assert handled[-1] == reported[-1] == end
    if not final:
        stepper.step_to(end + 0.05)
        assert len(handled) == len(reported) == round(end / 0.1) + 1


def test_time_advanced_events_follow_each_step_and_each_triggered_event() -> None:
    class Advanced(Faller):
        def handle_time_advanced(self, state: State) -> None:
            self.note(state, "step")

    faller = Advanced()
    system = System(faller)
    system.has_time_advanced_events = True
    system.add_event_handler(
        TriggeredEventHandler(Stage.POSITION, faller.height, lambda s: faller.note(s, "ground"))
    )
    stepper = stepping(system, fixed_step=0.25, method="RK23")
    stepper.step_to(0.75)
    assert faller.log(stepper.state) == ("step",) * 3
    stepper.step_to(1.1)
    log = faller.log(stepper.state)
    assert log[log.index("ground") + 1] == "step"
    assert log.count("ground") == 1


def test_a_handler_ends_the_simulation() -> None:
    faller = Faller()
    system = System(faller)
    system.add_event_handler(
        TriggeredEventHandler(Stage.POSITION, faller.height, lambda s: EventAction.TERMINATE)
    )
    late: list[float] = []
    system.add_event_reporter(PeriodicEventReporter(0.4, lambda s: late.append(s.time)))
    stepper = stepping(system)
    for _ in range(2):
        assert stepper.step_to(5.0) is END
        assert stepper.time == pytest.approx(1.0, abs=1e-3)
    reason = stepper.integrator.termination_reason
    assert reason is TerminationReason.EVENT_HANDLER_REQUESTED_TERMINATION
    assert late == [0.0, 0.4, 0.8]


def test_the_system_hears_of_the_beginning_and_of_the_end_once() -> None:
    causes: list[EventCause] = []

    class Listening(System):
        def handle_events(
            self,
            state: State,
            cause: EventCause,
            events: Any = (),
            options: HandleEventsOptions | None = None,
        ) -> HandleEventsResults:
            causes.append(cause)
            assert options == HandleEventsOptions(1e-5)
            return super().handle_events(state, cause, events, options)

    system = Listening(Faller())
    system.add_event_handler(ScheduledEventHandler(do_nothing, 0.5))
    stepper = stepping(system, final_time=1.0, accuracy=1e-5)
    for _ in range(3):
        stepper.step_to(1.0)
    assert causes == [EventCause.INITIALIZATION, EventCause.SCHEDULED, EventCause.TERMINATION]


def test_what_a_handler_moves_off_the_constraints_is_projected() -> None:
    rod = Rod()
    system = System(rod)
    system.add_event_handler(ScheduledEventHandler(lambda s: rod.speed.set(s, [3.0, -2.0]), 0.5))
    stepper = stepping(system, accuracy=1e-6)
    stepper.step_to(0.5)
    system.realize(stepper.state, Stage.VELOCITY)
    assert abs(rod.rod_rate(stepper.state)) < 1e-6
    assert abs(rod.speed(stepper.state)[0]) > 0.1


def test_a_step_limit_does_not_keep_it_from_going_on() -> None:
    system = System(Oscillator())
    stepper = stepping(system, step_limit=1, max_step=0.1)
    assert stepper.step_to(2.0) is REPORT
    assert stepper.integrator.statistics.num_steps_taken >= 20
    each = stepping(system, step_limit=1, max_step=0.1, each=True)
    statuses = [each.step_to(2.0) for _ in range(5)]
    assert statuses.count(StepStatus.REACHED_STEP_LIMIT) >= 3


def test_steps_do_not_depend_on_reports() -> None:
    alone = stepping(System(Oscillator()))
    alone.step_to(3.0)
    system = System(Oscillator())
    system.add_event_reporter(PeriodicEventReporter(0.01, do_nothing))
    reported = stepping(system)
    reported.step_to(3.0)
    assert (reported.state.y == alone.state.y).all()
    counts = [s.integrator.statistics.num_steps_taken for s in (alone, reported)]
    assert counts[0] == counts[1] > 0


def test_it_can_be_initialized_again() -> None:
    faller = Faller()
    system = System(faller)
    system.add_event_handler(PeriodicEventHandler(0.5, lambda s: faller.note(s, "x")))
    stepper = stepping(system, final_time=1.0)
    heights = []
    for _ in range(2):
        stepper.initialize(system.default_state)
        assert stepper.step_to(1.0) is END
        assert faller.log(stepper.state) == ("x",) * 3
        heights.append(faller.height(stepper.state))
    assert heights[0] == heights[1]


# ---------------------------------------------------------------------- what can go wrong


def test_a_handler_that_raises_is_named_and_the_state_is_the_last_good_one() -> None:
    faller = Faller()
    system = System(faller)
    is_bad = True

    def handle(state: State) -> None:
        faller.height.set(state, 7.0)
        if is_bad:
            raise ZeroDivisionError("division by zero")

    system.add_event_handler(ScheduledEventHandler(handle, 0.5), "kick")
    stepper = stepping(system)
    with pytest.raises(EventHandlerError, match=r"kick.*raised ZeroDivisionError, at time 0.5"):
        stepper.step_to(1.0)
    assert stepper.time == 0.5
    assert faller.height(stepper.state) == pytest.approx(0.75)
    is_bad = False
    assert stepper.step_to(0.5) is REPORT
    assert faller.height(stepper.state) == 7.0


def nan_speed(faller: Faller, state: State) -> None:
    faller.speed.set(state, math.nan)


def bad_weight(_: Faller, state: State) -> None:
    state.u_weights = np.array([-1.0])


@pytest.mark.parametrize("leave", [nan_speed, bad_weight])
def test_what_a_handler_leaves_and_cannot_be_integrated_is_undone(
    leave: Callable[[Faller, State], None],
) -> None:
    faller = Faller()
    system = System(faller)
    is_bad = True

    def kick(state: State) -> None:
        if is_bad:
            leave(faller, state)

    system.add_event_handler(ScheduledEventHandler(kick, 0.5))
    stepper = stepping(system)
    for _ in range(2):
        with pytest.raises(OutOfRangeError, match=r"faller\.(speed|height)") as caught:
            stepper.step_to(0.8)
        assert any("after the handlers of kick" in note for note in caught.value.__notes__)
        assert stepper.time == 0.5
        assert stepper.state.u_weights.tolist() == [1.0]
        assert stepper.state.y.tolist() == pytest.approx([0.75, -1.0])
    is_bad = False
    assert stepper.step_to(0.8) is REPORT
    assert stepper.state.y.tolist() == pytest.approx([1 - 0.64, -1.6])


def test_what_a_handler_leaves_and_cannot_be_realized_is_undone() -> None:
    class Fragile(Faller):
        load = discrete(0.0, invalidates=Stage.DYNAMICS)

        def realize_dynamics(self, state: State) -> None:
            if self.load(state) > 1.0:
                raise ZeroDivisionError("broken")

    faller = Fragile()
    system = System(faller)
    load = 2.0

    def put(state: State) -> None:
        faller.load.set(state, load)

    def weight(state: State) -> float:
        return 2.5 + float(state[faller].udot[0])  # which is -2

    system.add_event_handler(ScheduledEventHandler(put, 0.5))
    system.add_event_handler(TriggeredEventHandler(Stage.ACCELERATION, weight, put))
    stepper = stepping(system)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError, match="broken") as caught:
            stepper.step_to(0.8)
        assert any("after the handlers of put" in note for note in caught.value.__notes__)
        assert (stepper.time, faller.load(stepper.state)) == (0.5, 0.0)
    load = 1.0
    assert stepper.step_to(0.8) is REPORT
    assert faller.load(stepper.state) == 1.0
    assert stepper.state.y.tolist() == pytest.approx([1 - 0.64, -1.6])


@pytest.mark.parametrize("each", [False, True])
def test_a_triggered_event_whose_handler_raises_is_handled_when_it_goes_on(each: bool) -> None:
    faller = Faller()
    system = System(faller)
    is_bad = True

    def bounce(state: State) -> None:
        faller.speed.set(state, 2.0)
        if is_bad:
            raise ValueError("no")

    system.add_event_handler(
        TriggeredEventHandler(Stage.POSITION, faller.height, bounce, "falling")
    )
    stepper = stepping(system, each=each)
    if each:
        stepper.step_to(1.5)
    for _ in range(2):
        with pytest.raises(EventHandlerError, match="bounce"):
            stepper.step_to(1.5)
        assert stepper.time == pytest.approx(1.0, abs=1e-3)
        assert faller.speed(stepper.state) == pytest.approx(-2.0, abs=1e-3)
    is_bad = False
    status = stepper.step_to(1.5)
    assert status is (StepStatus.REACHED_EVENT_TRIGGER if each else REPORT)
    while stepper.time < 1.5:
        stepper.step_to(1.5)
    assert faller.height(stepper.state) == pytest.approx(2 * 0.5 - 0.25, abs=1e-3)


def test_a_reporter_that_raises_is_named_and_is_asked_again() -> None:
    faller = Faller()
    system = System(faller)
    seen: list[float] = []

    def report(state: State) -> None:
        seen.append(state.time)
        if len(seen) == 2:
            raise KeyError("tip")

    system.add_event_reporter(PeriodicEventReporter(0.5, report), "log")
    stepper = stepping(system)
    with pytest.raises(EventHandlerError, match=r"log.*raised KeyError, at time 0.5"):
        stepper.step_to(1.0)
    assert stepper.time == 0.5
    assert faller.height(stepper.state) == pytest.approx(0.75)
    stepper.step_to(1.0)
    assert seen == [0.0, 0.5, 0.5, 1.0]


def test_a_reporter_cannot_write() -> None:
    faller = Faller()
    system = System(faller)
    system.add_event_reporter(PeriodicEventReporter(0.5, lambda s: faller.height.set(s, 0.0)))
    stepper = stepping(system)
    with pytest.raises(ReadOnlyError, match="reporter") as caught:
        stepper.step_to(1.0)
    assert "let an event handler write it" in caught.value.hint
    assert faller.height(stepper.state) == 1.0


def test_a_handler_cannot_change_the_time() -> None:
    faller = Faller()
    system = System(faller)

    def handle(state: State) -> None:
        state.time = 3.0

    system.add_event_handler(ScheduledEventHandler(handle, 0.25), "jump")
    stepper = stepping(system)
    with pytest.raises(EventTimeError, match="jump"):
        stepper.step_to(1.0)
    assert stepper.time == stepper.state.time == 0.25


def test_the_state_that_is_shown_is_only_for_reading() -> None:
    faller = Faller()
    system = System(faller)
    system.add_event_handler(ScheduledEventHandler(lambda s: faller.note(s, "x"), 0.5))
    stepper = stepping(system)
    for time in (0.0, 0.25, 0.5):
        stepper.step_to(time)
        with pytest.raises(ReadOnlyError, match="reports"):
            faller.height.set(stepper.state, 0.0)


@pytest.mark.parametrize("time", [0.25, -math.inf, math.nan])
def test_a_time_that_has_passed_is_refused(time: float) -> None:
    stepper = stepping(System(Faller()))
    stepper.step_to(0.5)
    with pytest.raises(
        OutOfRangeError, match=r"must not lie in the past\n.*0\.5, which is the time now"
    ):
        stepper.step_to(time)
    assert stepper.time == 0.5


@pytest.mark.parametrize("time", ["soon", None, 1j])
def test_what_is_no_time_is_refused(time: Any) -> None:
    stepper = stepping(System(Faller()))
    with pytest.raises(NotANumberError, match="step_to"):
        stepper.step_to(time)


def test_integers_are_times() -> None:
    stepper = stepping(System(Faller()))
    assert stepper.step_to(1) is REPORT
    assert stepper.time == 1.0


def test_nothing_can_be_asked_before_it_is_initialized() -> None:
    system = System(Faller())
    stepper = TimeStepper(system, Integrator(system))
    asked = (lambda: stepper.step_to(1.0), lambda: stepper.state, lambda: stepper.time)
    for ask in asked:
        with pytest.raises(StudyError, match=r"call initialize\(state\) first"):
            ask()
    assert repr(stepper) == "<TimeStepper 'time stepper' of 'system', not initialized>"
    stepper.initialize(system.realize_topology())
    assert repr(stepper) == "<TimeStepper 'time stepper' of 'system', t = 0>"


def test_a_state_that_cannot_be_integrated_leaves_it_not_initialized() -> None:
    system = System(Faller())
    stepper = TimeStepper(system, Integrator(system))
    with pytest.raises(ForeignStateError):
        stepper.initialize(System(Faller()).realize_topology())
    with pytest.raises(StudyError, match="initialize"):
        stepper.step_to(1.0)


def test_it_takes_an_integrator_of_its_system() -> None:
    system = System(Faller())
    wrong: list[tuple[tuple[Any, ...], dict[str, Any], type[StagecacheError]]] = [
        (("system", Integrator(system)), {}, WrongTypeError),
        ((system, Integrator), {}, WrongTypeError),
        ((system, "RK45"), {}, WrongTypeError),
        ((system, Integrator(System(Faller()))), {}, ForeignStateError),
        ((system, Integrator(system)), {"progress": 2}, NotANumberError),
        ((system, Integrator(system)), {"report_all_significant_states": 1}, NotANumberError),
    ]
    for arguments, options, error in wrong:
        with pytest.raises(error) as caught:
            TimeStepper(*arguments, **options)
        assert caught.value.hint


def test_it_says_what_it_works_with() -> None:
    system = System(Faller())
    integrator = Integrator(system)
    stepper = TimeStepper(system, integrator, name="fall", version="2")
    assert (stepper.name, stepper.version) == ("fall", "2")
    assert stepper.system is system
    assert stepper.integrator is integrator
    assert stepper.report_all_significant_states is False
    stepper.report_all_significant_states = True
    assert stepper.report_all_significant_states is True


def test_an_event_that_nobody_handles_stops_nobody() -> None:
    class Watched(Subsystem):
        place = q_variable(-1.0)

        def realize_topology(self, state: State) -> None:
            self.trigger = state[self].allocate_event_trigger(Stage.POSITION, 1)

        def realize_position(self, state: State) -> None:
            state[self].upd_event_triggers_by_stage(Stage.POSITION)[0] = self.place(state)

        def realize_velocity(self, state: State) -> None:
            state[self].upd_qdot()[0] = 1.0

    watched = Watched()
    stepper = stepping(System(watched), each=True)
    statuses = [stepper.step_to(2.0) for _ in range(3)]
    assert statuses[1] is StepStatus.REACHED_EVENT_TRIGGER
    assert statuses[2] is REPORT
    assert watched.place(stepper.state) == pytest.approx(1.0)
    events = [e.info.event for e in stepper.integrator.triggered_events]
    assert isinstance(events[0], Event)
    assert events[0].handled_by is None


# ---------------------------------------------------------------------- against a sorted list

EIGHTHS = st.integers(0, 16).map(lambda k: k / 8)


class Clockwork(Subsystem):
    """Its place is the time."""

    place = q_variable(0.0)

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[0] = 1.0


def times_of(times: set[float]) -> Callable[[State, bool], float]:
    """The next of these times."""

    def following(state: State, include_current_time: bool) -> float:
        now = state.time
        later = [t for t in times if t > now or (include_current_time and t == now)]
        return min(later, default=math.inf)

    return following


@examples(150)
@given(
    handled=st.sets(EIGHTHS, max_size=4),
    reported=st.sets(EIGHTHS, max_size=4),
    triggered=st.sets(st.integers(0, 15), max_size=3),
    targets=st.lists(EIGHTHS, min_size=1, max_size=5),
    method=st.sampled_from(["RK23", "DOP853", "BDF", "Euler"]),
    each=st.booleans(),
    every_step=st.booleans(),
    interpolates=st.booleans(),
    writes=st.booleans(),
    final=st.none() | EIGHTHS,
)
def test_everything_happens_once_and_in_order_whatever_steps_there_are(
    handled: set[float],
    reported: set[float],
    triggered: set[int],
    targets: list[float],
    method: str,
    each: bool,
    every_step: bool,
    interpolates: bool,
    writes: bool,
    final: float | None,
) -> None:
    model = Clockwork()
    system = System(model)
    log: list[tuple[float, str]] = []

    def handle(state: State) -> None:
        log.append((state.time, "event"))
        if writes:
            model.place.set(state, state.time)

    def report(state: State) -> None:
        log.append((state.time, "report"))
        assert model.place(state) == pytest.approx(state.time, abs=1e-6)

    def cross(state: State) -> None:
        log.append((round(16 * state.time) / 16, "trigger"))
        assert abs(round(16 * state.time) / 16 - state.time) < 1e-3

    system.add_event_handler(ScheduledEventHandler(handle, times_of(handled)))
    system.add_event_reporter(ScheduledEventReporter(report, times_of(reported)))
    for k in triggered:

        def witness(state: State, k: int = k) -> float:
            return model.place(state) - (2 * k + 1) / 16

        system.add_event_handler(TriggeredEventHandler(Stage.POSITION, witness, cross))
    end = math.inf if final is None else final
    stepper = stepping(
        system,
        method=method,
        each=each,
        return_every_step=every_step,
        allow_interpolation=interpolates,
        final_time=end,
    )
    for target in sorted(targets):
        last = END if target >= end else REPORT
        status = stepper.step_to(target)
        while status is not last or stepper.time < min(target, end):
            assert each
            status = stepper.step_to(target)
        reached = min(target, end)
        assert stepper.time == reached
        assert model.place(stepper.state) == pytest.approx(reached, abs=1e-6)
        expected = [(t, "0 report") for t in reported] + [(t, "2 event") for t in handled]
        expected += [((2 * k + 1) / 16, "1 trigger") for k in triggered]
        assert log == [(t, what[2:]) for t, what in sorted(expected) if t <= reached]


class Chain(Subsystem):
    """Numbers that decay; how many is a modeling option."""

    size = modeling_option(1)
    numbers = q_variable(factory=lambda self, state: np.ones(self.size(state)))

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[:] = -self.numbers(state)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("sizes", [(1, 3), (2, 0), (0, 2), (2, 0, 1)])
def test_a_handler_may_change_how_many_variables_there_are(
    method: str, sizes: tuple[int, ...]
) -> None:
    chain = Chain()
    system = System(chain)

    def resize(state: State) -> None:
        chain.size.set(state, sizes[round(state.time / 0.25)])

    last = 0.25 * (len(sizes) - 1)
    times = PeriodicEventHandler(0.25, lambda state: resize(state) if state.time <= last else None)
    system.add_event_handler(times, "resize")
    stepper = TimeStepper(system, Integrator(system, method))
    stepper.initialize(system.realize_topology())
    assert stepper.step_to(last + 1.0) is REPORT
    assert stepper.state.y.tolist() == pytest.approx([math.exp(-1)] * sizes[-1], rel=1e-2)


def test_time_without_variables_goes_on_only_to_what_comes() -> None:
    chain = Chain()
    system = System(chain)
    state = system.new_state()
    chain.size.set(state, 0)
    stepper = TimeStepper(system, Integrator(system))
    stepper.initialize(state)
    with pytest.raises(StepSizeError, match="cannot go on from t = 0"):
        stepper.step_to(math.inf)
    assert stepper.step_to(2.0) is REPORT


def test_it_cannot_be_stepped_by_what_it_calls() -> None:
    system = System(Faller())

    def look(_: State) -> None:
        stepper.step_to(2.0)

    system.add_event_reporter(ScheduledEventReporter(look, 0.25))
    stepper = stepping(system)
    for _ in range(2):
        with pytest.raises(StudyError, match="while it advances the State"):
            stepper.step_to(0.5)
    assert stepper.time == 0.25


def test_a_trigger_that_raises_is_named_and_the_state_is_the_last_good_one() -> None:
    system = System(Faller())

    def nowhere(state: State) -> float:
        return {True: 1.0}[state.time < 0.5]

    def nothing(_: State) -> None:
        raise AssertionError

    system.add_event_handler(TriggeredEventHandler(Stage.TIME, nowhere, nothing), "watch")
    stepper = stepping(system)
    with pytest.raises(KeyError) as caught:
        stepper.step_to(5.0)
    assert any("in the value of the trigger watch" in note for note in caught.value.__notes__)
    assert stepper.time < 0.5
    assert stepper.state.y.tolist() == pytest.approx([1 - stepper.time**2, -2 * stepper.time])


@pytest.mark.parametrize("method", ["RK45", "Euler"])
def test_a_report_at_the_end_that_has_failed_is_made_when_it_is_tried_again(method: str) -> None:
    class Cart(Subsystem):
        place = q_variable(0.0)

        def realize_velocity(self, state: State) -> None:
            state[self].upd_qdot()[0] = 1.0

    found: list[float] = []
    failing = [1.0]

    def report(state: State) -> None:
        if state.time in failing:
            failing.clear()
            raise ValueError("once")
        found.append(state.time)

    system = System(Cart())
    system.add_event_reporter(PeriodicEventReporter(0.5, report))
    stepper = TimeStepper(system, Integrator(system, method=method, final_time=1.0))
    stepper.initialize(system.realize_topology())
    with pytest.raises(EventHandlerError):
        stepper.step_to(1.0)
    assert stepper.step_to(1.0) is StepStatus.END_OF_SIMULATION
    assert found == [0.0, 0.5, 1.0]
