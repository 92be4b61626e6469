"""Events that subsystems declare at times, and at the beginning and the end of studies."""

from math import inf
from pickle import dumps, loads
from typing import Any

import numpy as np
import pytest

from stagecache import (
    EventAction,
    EventCause,
    Integrator,
    PeriodicEventHandler,
    Stage,
    State,
    StepStatus,
    Subsystem,
    System,
    TimeStepper,
    at_initialization,
    at_termination,
    discrete,
    event_trigger,
    parameter,
    periodic,
    scheduled,
    simulate,
    z_variable,
)
from stagecache.errors import (
    ComputeSignatureError,
    DeclarationError,
    EventHandlerError,
    EventTimeError,
    NotANumberError,
    OutOfRangeError,
    ReadOnlyError,
    StudyError,
)
from stagecache.system import (
    InitializationEventHandler,
    InitializationEventReporter,
    TerminationEventHandler,
    TerminationEventReporter,
)

LOG: list[tuple[Any, ...]] = []


@pytest.fixture(autouse=True)
def empty_log() -> None:
    LOG.clear()


def note(name: str, state: State, *more: Any) -> None:
    LOG.append((name, round(state.time, 9), *more))


class Tank(Subsystem):
    interval = parameter(0.25)
    alarm = discrete(0.6, invalidates=Stage.REPORT)
    level = z_variable(0.0)

    def realize_dynamics(self, state: State) -> None:
        state[self].upd_zdot()[0] = 1.0

    @periodic(interval)
    def sample(self, state: State) -> None:
        note("sample", state, round(self.level(state), 6))

    @scheduled(alarm)
    def ring(self, state: State) -> None:
        note("ring", state)
        self.interval.set(state, 0.1)

    @at_initialization
    def fill(self, state: State) -> None:
        note("fill", state)
        self.level.set(state, 5.0)

    @at_termination(report=True)
    def look(self, state: State) -> None:
        note("look", state, round(self.level(state), 6))


def made(kind: type[Subsystem] = Tank) -> tuple[System, Any, State]:
    system = System(tank=(tank := kind()))
    return system, tank, system.new_state()


EXPECTED = [
    ("fill", 0.0),
    *[("sample", t, 5.0 + t) for t in (0.0, 0.25, 0.5)],
    ("ring", 0.6),
    *[("sample", t, 5.0 + t) for t in (0.6, 0.7, 0.8, 0.9, 1.0)],
    ("look", 1.0, 6.0),
]


def test_a_simulation_calls_them_at_their_times() -> None:
    system, tank, state = made()
    trajectory = simulate(system, state, 1.0)
    assert LOG == EXPECTED
    assert tank.level(trajectory[0]) == 0.0
    assert tank.level(trajectory[1]) == 5.0


def test_a_time_stepper_calls_them_likewise() -> None:
    system, _, state = made()
    stepper = TimeStepper(system, Integrator(system, final_time=1.0))
    stepper.initialize(state)
    assert EXPECTED[:1] == LOG
    while stepper.step_to(inf) is not StepStatus.END_OF_SIMULATION:
        pass
    assert LOG == EXPECTED


def test_an_integrator_alone_raises_the_beginning_and_the_end_once() -> None:
    system, tank, state = made()
    integrator = Integrator(system, final_time=1.0)
    integrator.initialize(state)
    assert EXPECTED[:1] == LOG
    assert tank.level(integrator.state) == 5.0
    while integrator.step_to(0.5) is not StepStatus.REACHED_REPORT_TIME:
        pass
    assert EXPECTED[:1] == LOG
    while integrator.step_to(inf) is not StepStatus.END_OF_SIMULATION:
        pass
    assert [EXPECTED[0], EXPECTED[-1]] == LOG
    with pytest.raises(StudyError):
        integrator.step_to(inf)
    integrator.initialize(state)
    assert LOG[-1] == EXPECTED[0]


def test_listeners_of_a_system_are_called_at_the_beginning_and_the_end() -> None:
    system = System(tank=(tank := Tank()))
    system.add_event_handler(
        InitializationEventHandler(lambda state: tank.alarm.set(state, 0.3)), "set_alarm"
    )
    system.add_event_reporter(InitializationEventReporter(lambda state: note("begun", state)))
    system.add_event_handler(TerminationEventHandler(lambda state: tank.level.set(state, -1.0)))
    system.add_event_reporter(TerminationEventReporter(lambda state: note("ended", state)))
    assert next(h.name for h in system.event_handlers) == "set_alarm"
    trajectory = simulate(system, system.new_state(), 0.5)
    names = [entry[0] for entry in LOG]
    assert names[:2] == ["fill", "begun"]  # handlers come first
    assert ("ring", 0.3) in LOG
    assert names[-2:] == ["ended", "look"]
    assert tank.level(trajectory[-1]) == -1.0


def test_a_handler_may_end_a_simulation_before_it_begins() -> None:
    class Refuses(Tank):
        @at_initialization
        def fill(self, state: State) -> Any:
            return EventAction.TERMINATE

    system, _, state = made(Refuses)
    trajectory = simulate(system, state, 1.0)
    assert trajectory.times.tolist() == [0.0]


def test_an_error_at_the_beginning_names_the_event() -> None:
    class Fails(Tank):
        @at_initialization
        def fill(self, state: State) -> None:
            self.level.set(state, 9.0)
            raise ValueError("no water")

    system, _, state = made(Fails)
    integrator = Integrator(system)
    with pytest.raises(EventHandlerError, match=r"tank\.fill(.|\n)*no water"):
        integrator.initialize(state)
    with pytest.raises(EventHandlerError):
        simulate(system, state, 1.0)


def test_a_reporter_cannot_write() -> None:
    class Writes(Tank):
        @periodic(0.5, report=True)
        def sample(self, state: State) -> None:
            self.level.set(state, 0.0)

    system, _, state = made(Writes)
    with pytest.raises(ReadOnlyError):
        simulate(system, state, 1.0)


def test_a_subclass_overrides_by_the_name_and_removes_by_none() -> None:
    class Quiet(Tank):
        ring = None  # type: ignore[assignment]

        def sample(self, state: State) -> None:
            note("quiet", state)

    system, _, state = made(Quiet)
    simulate(system, state, 0.75)
    assert [entry[:2] for entry in LOG] == [
        ("fill", 0.0),
        *[("quiet", t) for t in (0.0, 0.25, 0.5, 0.75)],
        ("look", 0.75),
    ]


def test_a_decorator_of_the_beginning_is_written_with_parentheses_or_without() -> None:
    class Bare(Tank):
        @at_initialization()
        def fill(self, state: State) -> None:
            note("fill", state)

        @at_termination
        def look(self, state: State) -> None:
            note("look", state)

    system, _, state = made(Bare)
    simulate(system, state, 0.25)
    assert [entry[0] for entry in LOG] == ["fill", "sample", "sample", "look"]


def test_times_by_functions() -> None:
    def doubling(self: Any, state: State, include_current_time: bool) -> float:
        t = 0.1
        while t < state.time or (t == state.time and not include_current_time):
            t *= 2
        return t

    class Rings(Subsystem):
        level = z_variable(0.0)

        def realize_dynamics(self, state: State) -> None:
            state[self].upd_zdot()[0] = 1.0

        @scheduled(doubling)
        def ring(self, state: State) -> None:
            note("ring", state)

        @periodic(lambda self, state: 0.3, start=0.15)
        def tick(self, state: State) -> None:
            note("tick", state)

    system, _, state = made(Rings)
    simulate(system, state, 1.0)
    assert sorted(LOG, key=lambda entry: entry[1]) == [
        *[("ring", 0.1), ("tick", 0.15), ("ring", 0.2), ("ring", 0.4), ("tick", 0.45)],
        *[("tick", 0.75), ("ring", 0.8)],
    ]


def test_they_take_place_together_with_handlers_of_the_same_time() -> None:
    system = System(tank=Tank())
    system.add_event_handler(PeriodicEventHandler(0.5, lambda state: note("other", state)))
    simulate(system, system.new_state(), 0.5)
    at_half = [entry[0] for entry in LOG if entry[1] == 0.5]
    assert at_half == ["other", "sample", "look"]


class Walls(Subsystem):
    """Three numbers that move at different rates, and bounce at 1."""

    places = z_variable([0.0, 0.0, 0.0])
    rates = discrete(np.array([1.0, 2.0, 1.0]), invalidates=Stage.DYNAMICS)

    def realize_dynamics(self, state: State) -> None:
        state[self].upd_zdot()[:] = self.rates(state)

    @event_trigger(stage=Stage.POSITION, size=3, direction="rising")
    def beyond(self, state: State) -> Any:
        return self.places(state) - 1.0

    @beyond.handler
    def turn(self, state: State, rows: tuple[int, ...]) -> None:
        note("turn", state, rows)
        rates = self.rates(state).copy()
        rates[list(rows)] *= -1.0
        self.rates.set(state, rates)


def test_a_handler_is_told_which_rows_have_changed_their_sign() -> None:
    system, walls, state = made(Walls)
    last = simulate(system, state, 1.2)[-1]
    assert [(name, round(t, 3), rows) for name, t, rows in LOG] == [
        ("turn", 0.5, (1,)),
        ("turn", 1.0, (0, 2)),
    ]
    np.testing.assert_allclose(walls.places(last), [0.8, -0.4, 0.8], atol=1e-3)


def test_events_of_rows_are_equal_and_know_their_row() -> None:
    system, _, state = made(Walls)
    system.realize(state, Stage.POSITION)
    infos = system.calc_event_trigger_info(state)
    assert [info.event.rows for info in infos] == [(0,), (1,), (2,)]
    assert len({info.event for info in infos}) == 1
    system.handle_events(state, EventCause.TRIGGERED, [infos[2].event, infos[0].event])
    assert LOG == [("turn", 0.0, (0, 2))]


def test_they_survive_a_pickle_of_the_system() -> None:
    system, _, _ = made()
    again = loads(dumps(system))
    simulate(again, again.new_state(), 1.0)
    assert LOG == EXPECTED


def test_an_interval_that_is_not_positive_is_named() -> None:
    system, tank, state = made()
    tank.interval.set(state, 0.0)
    with pytest.raises(EventTimeError, match=r"tank\.sample"):
        simulate(system, state, 1.0)


def test_a_variable_of_another_class_is_refused() -> None:
    class Other(Subsystem):
        @periodic(Tank.__dict__["interval"])
        def tick(self, state: State) -> None: ...

    system = System(Other())
    with pytest.raises(DeclarationError, match="another class"):
        simulate(system, system.new_state(), 1.0)


@pytest.mark.parametrize(
    ("declare", "error"),
    [
        (lambda: periodic(0.0), OutOfRangeError),
        (lambda: periodic("often"), NotANumberError),
        (lambda: periodic(0.1, start=np.nan), EventTimeError),
        (lambda: periodic(0.1, report="yes"), NotANumberError),  # type: ignore[arg-type]
        (lambda: periodic(lambda state: 1.0), ComputeSignatureError),
        (lambda: scheduled(inf), EventTimeError),
        (lambda: scheduled(lambda self, state: 1.0), ComputeSignatureError),
        (lambda: periodic(1.0)(lambda state: None), ComputeSignatureError),
        (lambda: at_initialization(lambda state: None), ComputeSignatureError),
        (lambda: at_termination(report="no"), NotANumberError),  # type: ignore[call-overload]
    ],
)
def test_wrong_declarations(declare: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        declare()


def test_a_method_is_one_event() -> None:
    """A mark on the function would change the class from which it comes, too."""
    for decorate in (periodic(0.25), at_initialization):
        with pytest.raises(DeclarationError, match="an event already"):
            decorate(Tank.sample)
    system, _, state = made()
    simulate(system, state, 0.25)
    assert [entry[1] for entry in LOG if entry[0] == "sample"] == [0.0, 0.25]


def test_a_study_that_failed_to_begin_is_not_initialized() -> None:
    class Fails(Tank):
        @at_initialization
        def fill(self, state: State) -> None:
            raise ValueError("no water")

    system, _, state = made(Fails)
    integrator = Integrator(system)
    stepper = TimeStepper(system, Integrator(system))
    for study in (integrator, stepper):
        with pytest.raises(EventHandlerError):
            study.initialize(state)
        with pytest.raises(StudyError, match="initialized"):
            study.step_to(1.0)
