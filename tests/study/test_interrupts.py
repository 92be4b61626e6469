"""A time stepper that an error cuts short goes on as if nothing had been.

Each event is handled once, each variable is updated once in a step, and the State comes out as it
does without the error.
"""

from functools import partial
from itertools import count
from pathlib import Path

import pytest

from stagecache import (
    Integrator,
    PeriodicEventReporter,
    ScheduledEventHandler,
    ScheduledEventReporter,
    Stage,
    State,
    StepStatus,
    Subsystem,
    System,
    TimeStepper,
    at_initialization,
    at_termination,
    auto_update,
    discrete,
    event_trigger,
    load_trajectory,
    q_variable,
    resume,
    simulate,
    u_variable,
    z_variable,
)
from stagecache.errors import ForeignStateError, ReadOnlyError, StudyError
from tests.interrupting import ignore_lost_strikes, plain_only, strikes, struck_at
from tests.study.streamed_models import Driven

NOTHING: tuple[str, ...] = ()


class Tank(Subsystem):
    """Fills, is emptied by a handler, and notes what happens; another handler answers the first."""

    level = z_variable(0.0)
    is_open = discrete(False, invalidates=Stage.DYNAMICS)
    notes = discrete(NOTHING, invalidates=Stage.REPORT)
    steps = auto_update(0, invalidates=Stage.REPORT, available_from=Stage.TIME)
    ends = discrete(0, invalidates=Stage.REPORT)

    @steps.update
    def next_steps(self, state: State) -> int:
        return self.steps(state) + 1

    def realize_dynamics(self, state: State) -> None:
        state[self].upd_zdot()[0] = -1.0 if self.is_open(state) else 1.0

    def handle_time_advanced(self, state: State) -> None:
        self.ends.set(state, self.ends(state) + 1)

    def note(self, what: str, state: State) -> None:
        self.notes.set(state, (*self.notes(state), f"{what} at {state.time:.3f}"))

    @event_trigger(stage=Stage.TIME, direction="rising")
    def full(self, state: State) -> float:
        return self.level(state) - 0.3

    @full.handler
    def empty(self, state: State) -> None:
        self.note("full", state)
        self.is_open.set(state, True)

    @event_trigger(stage=Stage.TIME, direction="rising")
    def opened(self, state: State) -> float:
        return self.is_open(state) - 0.5

    @opened.handler
    def count(self, state: State) -> None:
        self.note("opened", state)


tank = Tank()
system = System(tank)
system.has_time_advanced_events = True


def close(state: State) -> None:
    tank.note("closed", state)
    tank.is_open.set(state, False)


system.add_event_handler(ScheduledEventHandler(close, next_time=0.5))
system.add_event_reporter(PeriodicEventReporter(0.25, function=tank.level))


def prepare() -> TimeStepper:
    stepper = TimeStepper(
        system,
        Integrator(system, method="Euler", fixed_step=0.2, final_time=0.6),
    )
    stepper.initialize(system.realize_topology())
    return stepper


def run(stepper: TimeStepper) -> None:
    while stepper.step_to(0.6) is not StepStatus.END_OF_SIMULATION:
        pass


def outcome(stepper: TimeStepper) -> tuple[object, ...]:
    state = stepper.state
    level = round(tank.level(state), 3)
    return state.time, level, tank.notes(state), tank.steps(state), tank.ends(state)


AROUND_HANDLERS = frozenset({"_handle", "_handle_triggered", "_time_has_advanced"})


@plain_only
@ignore_lost_strikes
@pytest.mark.parametrize(
    ("every", "within"), [(397, frozenset()), (1, AROUND_HANDLERS)], ids=["all", "handlers"]
)
def test_a_simulation_that_is_cut_short_goes_on_as_if_nothing_had_been(
    every: int, within: frozenset[str]
) -> None:
    expected = prepare()
    run(expected)
    events = ("full at 0.300", "opened at 0.300", "closed at 0.500")
    assert outcome(expected) == (0.6, 0.2, events, 5, 4)
    for stepper, what in strikes(prepare, run, every, within):
        try:
            run(stepper)
            assert outcome(stepper) == outcome(expected)
        except BaseException as error:
            error.add_note(what)
            raise


class Valve(Subsystem):
    """Is shut by a handler, and notes when it opens, which it never does."""

    volume = z_variable(0.0)
    width = discrete(1.0, invalidates=Stage.TIME)
    notes = discrete(NOTHING, invalidates=Stage.REPORT)

    def realize_dynamics(self, state: State) -> None:
        state[self].upd_zdot()[0] = 1.0

    def note(self, what: str, state: State) -> None:
        self.notes.set(state, (*self.notes(state), what))

    @event_trigger(stage=Stage.TIME, direction="rising")
    def opens(self, state: State) -> float:
        return self.width(state) - 0.5

    @opens.handler
    def count(self, state: State) -> None:
        self.note("opened", state)


@plain_only
@ignore_lost_strikes
def test_what_is_taken_back_from_a_handler_triggers_nothing() -> None:
    valve = Valve()
    system = System(valve)

    def shut(state: State) -> None:
        valve.note("shut", state)
        valve.width.set(state, 0.0)

    system.add_event_handler(ScheduledEventHandler(shut, next_time=0.5))

    def prepare() -> TimeStepper:
        stepper = TimeStepper(
            system, Integrator(system, method="Euler", fixed_step=0.5, final_time=1.0)
        )
        stepper.initialize(system.realize_topology())
        return stepper

    def run(stepper: TimeStepper) -> None:
        while stepper.step_to(1.0) is not StepStatus.END_OF_SIMULATION:
            pass

    within = frozenset({"_handle", "reinitialize", "restart"})
    for at in count():
        stepper = prepare()
        place = struck_at(at, partial(run, stepper), KeyboardInterrupt, within)
        run(stepper)
        assert valve.notes(stepper.state) == ("shut",), place
        if not place:
            break


class Falling(Subsystem):
    """Falls through some reports in each step."""

    height = z_variable(1.0)

    def realize_dynamics(self, state: State) -> None:
        state[self].upd_zdot()[0] = -state.time


falling = Falling()
fall = System(falling)
TIMES = [0.0, 0.25, 0.5, 0.75, 1.0]


def step_to_each(integrator: Integrator, found: list[list[float]]) -> None:
    """Step to the times that are not found yet, and note each with the time and height shown.

    An error may strike when `step_to` has returned a report at the end; the next status is the end.
    """
    reached = StepStatus.REACHED_REPORT_TIME, StepStatus.END_OF_SIMULATION
    while True:
        if found and len(found[-1]) == 1:  # reached, but not read yet
            found[-1] += integrator.time, round(falling.height(integrator.state), 9)
        if len(found) == len(TIMES):
            return
        time = TIMES[len(found)]
        if integrator.step_to(time) in reached:
            found.append([time])


@plain_only
@ignore_lost_strikes
def test_an_integrator_that_is_cut_short_between_a_step_and_a_report_in_it_reports_later() -> None:
    def prepare() -> tuple[Integrator, list[list[float]]]:
        integrator = Integrator(fall, method="RK45", final_time=1.0, initial_step=0.6)
        integrator.initialize(fall.realize_topology())
        return integrator, []

    expected = [[t, t, round(1 - t**2 / 2, 9)] for t in TIMES]
    for (integrator, found), what in strikes(prepare, lambda s: step_to_each(*s), every=97):
        try:
            step_to_each(integrator, found)
            assert found == expected
        except BaseException as error:
            error.add_note(what)
            raise


@plain_only
@ignore_lost_strikes
def test_a_state_between_steps_whose_reading_is_cut_short_is_read_at_its_time() -> None:
    def prepare() -> Integrator:
        """Return an integrator that an error has struck between a step and a report in it."""
        integrator = Integrator(fall, method="RK45", final_time=1.0, initial_step=0.6)
        integrator.initialize(fall.realize_topology())
        integrator.step_to(0.25)
        report = partial(integrator.step_to, 0.25)
        assert struck_at(0, report, KeyboardInterrupt, frozenset({"_interpolate"}))
        assert integrator.is_state_interpolated
        return integrator

    for at in count():
        integrator = prepare()
        read = partial(getattr, integrator, "state")
        place = struck_at(at, read, KeyboardInterrupt, frozenset({"_interpolate", "show"}))
        state = integrator.state
        assert state.time == integrator.time, place
        assert falling.height(state) == pytest.approx(1 - state.time**2 / 2), place
        if not place:
            break


@plain_only
@ignore_lost_strikes
def test_prescribed_motion_is_set_in_the_state_that_an_error_leaves() -> None:
    driven = Driven()
    system = System(driven)

    def prepare() -> Integrator:
        integrator = Integrator(system, method="DOP853", initial_step=0.6)
        integrator.initialize(system.realize_topology())
        while integrator.step_to(0.5) is not StepStatus.REACHED_REPORT_TIME:
            pass
        assert integrator.is_state_interpolated  # so its State has seen other times since
        return integrator

    def read(integrator: Integrator) -> State:
        return integrator.advanced_state

    within = frozenset({"put", "settle", "drive", "prescribe_q", "prescribe_u"})
    for at in count():
        integrator = prepare()
        place = struck_at(at, partial(read, integrator), KeyboardInterrupt, within)
        state = read(integrator)
        found = driven.driven(state), driven.pace(state)
        assert found == pytest.approx((state.time**2, 2 * state.time)), place
        if not place:
            break


class Marked(Subsystem):
    """Notes the beginning and the end."""

    level = z_variable(0.0)
    notes = discrete(NOTHING, invalidates=Stage.REPORT)

    def realize_dynamics(self, state: State) -> None:
        state[self].upd_zdot()[0] = state.time

    def note(self, what: str, state: State) -> None:
        self.notes.set(state, (*self.notes(state), what))

    @at_initialization
    def begin(self, state: State) -> None:
        self.note("begin", state)

    @at_termination
    def end(self, state: State) -> None:
        self.note("end", state)


def to_the_end(study: Integrator | TimeStepper) -> None:
    while study.step_to(1.0) is not StepStatus.END_OF_SIMULATION:
        pass


@plain_only
@ignore_lost_strikes
@pytest.mark.parametrize("is_stepper", [False, True], ids=["integrator", "stepper"])
@pytest.mark.parametrize("is_over", [False, True], ids=["begun", "over"])
def test_an_initialization_that_is_cut_short_mixes_no_two_simulations(
    is_stepper: bool, is_over: bool
) -> None:
    marked = Marked()
    system = System(marked)
    first = system.new_state()
    second = first.copy()
    marked.level.set(second, 7.0)

    def prepare() -> Integrator | TimeStepper:
        integrator = Integrator(system, method="RK45", final_time=1.0)
        study = TimeStepper(system, integrator, progress=False) if is_stepper else integrator
        study.initialize(first)
        while study.time < 0.4:
            study.step_to(0.4)
        if is_over:
            to_the_end(study)
        return study

    within = frozenset({"initialize", "_initialize", "_begin", "_start"})
    for at in count():
        study = prepare()
        place = struck_at(at, lambda: study.initialize(second), KeyboardInterrupt, within)  # noqa: B023
        refused = ""
        try:
            to_the_end(study)
        except StudyError as error:
            refused = str(error)
        if refused:
            assert place
            assert "that is initialized" in refused or is_over, place
        else:
            assert round(marked.level(study.state), 6) in ((0.5, 7.5) if place else (7.5,)), place
            assert marked.notes(study.state) == ("begin", "end"), place
        if not place:
            break


def test_an_initialization_that_is_refused_leaves_the_simulation_before_it() -> None:
    marked = Marked()
    system = System(marked)
    integrator = Integrator(system, method="RK45", final_time=1.0)
    integrator.initialize(system.new_state())
    with pytest.raises(ForeignStateError):
        integrator.initialize(fall.new_state())
    to_the_end(integrator)
    assert marked.notes(integrator.state) == ("begin", "end")


@plain_only
@ignore_lost_strikes
def test_rows_whose_writing_is_cut_short_are_in_the_file_once(tmp_path: Path) -> None:
    def run(path: Path) -> None:
        start = fall.new_state()
        simulate(fall, start, 1.0, every=0.125, into=path, batch=4, progress=False)

    for at in count():
        path = tmp_path / f"{at}.arrows"
        place = struck_at(at, partial(run, path), KeyboardInterrupt, frozenset({"_write"}))
        if path.exists():
            times = load_trajectory(path).times.tolist()
            assert times == [row / 8 for row in range(len(times))], place
            if len(times) > 1:  # else it was struck before its first restart
                assert len(resume(path, fall, progress=False)) == 9, place
        if not place:
            break


@plain_only
@ignore_lost_strikes
def test_a_reported_state_is_only_for_reading_wherever_an_error_strikes() -> None:
    for at in count():
        integrator = Integrator(fall, method="RK45", allow_interpolation=False)
        integrator.initialize(fall.realize_topology())
        while integrator.step_to(0.25) is not StepStatus.REACHED_REPORT_TIME:
            pass
        step = partial(integrator.step_to, 0.5)
        place = struck_at(at, step, KeyboardInterrupt, frozenset({"step_to"}))
        with pytest.raises(ReadOnlyError):
            falling.height.set(integrator.state, 2.0)
        if not place:
            break


class Swing(Subsystem):
    """Swings, and crosses a place about 0.5236, somewhere in a wide window."""

    place = q_variable(1.0)
    speed = u_variable(0.0)

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[0] = self.speed(state)

    def realize_acceleration(self, state: State) -> None:
        state[self].upd_udot()[0] = -4 * self.place(state)

    @event_trigger(stage=Stage.POSITION, localization_window=1e5)
    def crosses(self, state: State) -> float:
        return self.place(state) - 0.5

    @crosses.handler
    def look(self, state: State) -> None:
        pass


@plain_only
@ignore_lost_strikes
def test_a_step_that_is_cut_at_a_report_begins_anew_there_wherever_an_error_strikes() -> None:
    swing = Swing()
    system = System(swing)
    reports: dict[float, float] = {}

    def report(state: State) -> None:
        reports[state.time] = swing.place(state)

    for time in (0.525, 0.57):  # in the window, and in the step that begins at the first of them
        system.add_event_reporter(ScheduledEventReporter(report, next_time=time))

    def prepare() -> TimeStepper:
        integrator = Integrator(system, method="RK45", max_step=0.3)
        stepper = TimeStepper(system, integrator, progress=False)
        stepper.initialize(system.realize_topology())
        return stepper

    def run(stepper: TimeStepper) -> None:
        stepper.step_to(0.8)

    run(prepare())
    expected = dict(reports)
    for at in count():
        stepper = prepare()
        within = frozenset({"_cut", "split_window"})
        place = struck_at(at, partial(run, stepper), KeyboardInterrupt, within)
        run(stepper)
        assert reports == pytest.approx(expected, abs=1e-12), place
        if not place:
            break
