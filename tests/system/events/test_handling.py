"""Handling and reporting events: what handlers change, what is refused, and what is restored."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    auto_update,
    parameter,
    position_error,
    q_variable,
    strict,
    u_variable,
    velocity_error,
)
from stagecache.errors import (
    ConstModelError,
    EventHandlerError,
    EventTimeError,
    ForeignStateError,
    NotANumberError,
    OutOfRangeError,
    ProjectionError,
    ReadOnlyError,
    StagecacheError,
    StageTooLowError,
    TopologyVersionError,
    UnknownEventError,
    WrongTypeError,
)
from stagecache.system.events.events import Event, EventAction, EventCause
from stagecache.system.events.handlers import (
    PeriodicEventHandler,
    PeriodicEventReporter,
    TriggeredEventHandler,
    TriggeredEventReporter,
)
from stagecache.system.events.options import (
    HandleEventsOptions,
    HandleEventsResults,
    HandleEventsStatus,
)
from tests.system.event_models import Ball, events_of, scheduled, started
from tests.system.projection_models import Bob

MODEL, INSTANCE, TIME, POSITION = Stage.MODEL, Stage.INSTANCE, Stage.TIME, Stage.POSITION
VELOCITY, DYNAMICS, ACCELERATION = Stage.VELOCITY, Stage.DYNAMICS, Stage.ACCELERATION
REPORT, INFINITY = Stage.REPORT, Stage.INFINITY
SCHEDULED, TRIGGERED = EventCause.SCHEDULED, EventCause.TRIGGERED

Act = Callable[[Any, State], object]


def handled(
    subsystem: Subsystem, act: Act, *, stage: Stage = ACCELERATION, **options: Any
) -> tuple[HandleEventsResults, State]:
    """What comes of an event that is handled so."""
    system = System(subsystem)

    def handle(state: State) -> EventAction | None:
        found = act(subsystem, state)
        return found if isinstance(found, EventAction) else None

    system.add_event_handler(PeriodicEventHandler(1.0, handle), "act")
    state = system.new_state()
    system.realize(state, stage)
    events = scheduled(system, state)
    return system.handle_events(state, SCHEDULED, events, HandleEventsOptions(**options)), state


# ---------------------------------------------------------------------- what was modified

WRITES: dict[str, tuple[Stage, Act]] = {
    "option": (MODEL, lambda b, s: b.is_round.set(s, False)),
    "parameter": (INSTANCE, lambda b, s: b.mass.set(s, 3.0)),
    "of time": (TIME, lambda b, s: b.wind.set(s, 1.0)),
    "q": (POSITION, lambda b, s: b.height.set(s, 3.0)),
    "all q": (POSITION, lambda b, s: setattr(s, "q", [2.0])),
    "y": (POSITION, lambda b, s: s.upd_y()),
    "u": (VELOCITY, lambda b, s: b.speed.set(s, 3.0)),
    "upd u": (VELOCITY, lambda b, s: s[b].upd_u()),
    "z": (DYNAMICS, lambda b, s: b.heat.set(s, 3.0)),
    "of dynamics": (DYNAMICS, lambda b, s: b.drag.set(s, 3.0)),
    "of report": (REPORT, lambda b, s: b.kicks.set(s, 3)),
    "weights": (REPORT, lambda b, s: setattr(s, "u_weights", [2.0])),
    "same value": (VELOCITY, lambda b, s: b.speed.set(s, b.speed(s))),
    "stage": (DYNAMICS, lambda b, s: s.invalidate_all(DYNAMICS)),
    "nothing": (INFINITY, lambda b, s: b.energy(s)),
}


@given(
    st.lists(st.sampled_from(sorted(WRITES)), max_size=4),
    st.lists(st.sampled_from([INSTANCE, POSITION, VELOCITY, ACCELERATION, REPORT]), max_size=2),
    st.sampled_from([MODEL, INSTANCE, TIME, VELOCITY, ACCELERATION, REPORT]),
)
def test_the_lowest_modified_stage_is_that_of_the_lowest_write(
    names: list[str], realized: list[Stage], stage: Stage
) -> None:
    """Also if the handler realizes again, in between and at the end."""

    def act(ball: Ball, state: State) -> None:
        for name in names:
            if name == "stage" and state.stage < DYNAMICS:
                return  # nobody is there, so nothing is invalidated
            if name == "nothing" and state.stage < VELOCITY:
                continue
            if state.stage < MODEL:
                state.system.realize_model(state)
            WRITES[name][1](ball, state)
            done.append(name)
            for target in realized:
                state.system.realize(state, target)

    done: list[str] = []
    results, state = handled(Ball(), act, stage=stage)
    lowest = min([WRITES[name][0] for name in done], default=INFINITY)
    assert results.exit_status is HandleEventsStatus.SUCCEEDED
    assert results.lowest_modified_stage is lowest
    assert results.any_change_made is (lowest < INFINITY)
    counts = state.system.statistics
    assert counts.num_handler_calls_that_changed_stage(lowest) == 1
    assert counts.num_handle_event_calls == 1


@pytest.mark.parametrize("is_realized_again", [True, False])
@pytest.mark.parametrize("name", sorted(WRITES))
def test_each_write_alone_is_a_change_from_its_stage_on(
    name: str,
    is_realized_again: bool,  # a parameter of a test
) -> None:
    lowest, write = WRITES[name]

    def act(ball: Ball, state: State) -> None:
        write(ball, state)
        if is_realized_again:
            state.system.realize(state)

    results, _ = handled(Ball(), act)
    assert results.lowest_modified_stage is lowest
    assert results.any_change_made is (lowest < INFINITY)


class Clock(Subsystem):
    ticks = auto_update(1, invalidates=REPORT, available_from=TIME)

    @ticks.update
    def next_ticks(self, state: State) -> int:
        return self.ticks(state) + 1


def test_an_automatic_update_is_a_change_that_modifies_no_stage() -> None:
    clock = Clock()

    def act(_: Clock, state: State) -> None:
        clock.next_ticks(state)
        state.auto_update_discrete_variables()

    results, state = handled(clock, act)
    assert clock.ticks(state) == 2
    assert (results.any_change_made, results.lowest_modified_stage) == (True, INFINITY)


def test_a_handler_may_try_and_roll_back() -> None:
    def act(ball: Ball, state: State) -> None:
        mark = state.checkpoint()
        ball.height.set(state, 7.0)
        state.system.realize(state)
        state.rollback(mark)
        ball.heat.set(state, 1.0)

    results, state = handled(Ball(), act)
    assert list(state.y) == [1.0, -0.5, 1.0]
    assert results.lowest_modified_stage <= DYNAMICS  # what was tried may count


def test_a_handler_may_assign_another_state() -> None:
    def act(ball: Ball, state: State) -> None:
        other = state.copy()
        ball.height.set(other, 7.0)
        state.assign(other)

    results, state = handled(Ball(), act)
    assert state.q == 7.0
    assert results.lowest_modified_stage is MODEL


# ---------------------------------------------------------------------- who is called


class Noting(Ball):
    def __init__(self, log: list[str]) -> None:
        self.log = log

    def bounce(self, state: State) -> None:
        self.log.append(f"{self.name}.bounce")

    def stop(self, state: State) -> EventAction:
        self.log.append(f"{self.name}.stop")
        return EventAction.TERMINATE

    def handle_time_advanced(self, state: State) -> None:
        self.log.append(f"{self.name}.advanced")
        self.heat.set(state, state.time)


@given(st.data())
def test_handlers_are_called_once_each_in_the_order_of_ids_and_reporters_last(
    data: st.DataObject,
) -> None:
    log: list[str] = []
    system = System(one=Noting(log), two=Noting(log))

    def noting(name: str) -> Callable[[State], None]:
        return lambda state: log.append(name)

    system.add_event_reporter(TriggeredEventReporter(POSITION, lambda s: 1.0, noting("r")), "r")
    system.add_event_handler(TriggeredEventHandler(POSITION, lambda s: 1.0, noting("h")), "h")
    state = system.new_state()
    system.realize(state, INSTANCE)
    known = events_of(system, state)
    chosen = data.draw(st.lists(st.sampled_from(sorted(known)), max_size=12))
    results = system.handle_events(state, TRIGGERED, [known[name] for name in chosen])
    order = {
        "h": "h",
        "one.ground": "one.bounce",
        "one.top": "one.stop",
        "two.ground": "two.bounce",
        "two.top": "two.stop",
        "r": "r",
    }
    assert log == [text for name, text in order.items() if name in chosen]
    has_ended = "one.top" in chosen or "two.top" in chosen
    assert results.should_terminate is has_ended
    for name in ("one.top", "two.top"):
        assert (name in results.message) is (name in chosen)


def test_events_that_nobody_handles_change_nothing() -> None:
    system, state = started(Ball())
    limits = events_of(system, state)["ball.limits"]
    assert limits.handled_by is None
    results = system.handle_events(state, TRIGGERED, [limits])
    assert results == HandleEventsResults(HandleEventsStatus.SUCCEEDED)
    assert state.stage == ACCELERATION


def test_a_handler_ends_the_simulation_and_keeps_its_changes() -> None:
    def act(ball: Ball, state: State) -> EventAction:
        ball.speed.set(state, 0.0)
        return EventAction.TERMINATE

    results, state = handled(Ball(), act)
    assert results.exit_status is HandleEventsStatus.SHOULD_TERMINATE
    assert results.message == "act asked for the simulation to end, at time 0"
    assert str(results).startswith("should terminate, changed from Velocity on: act asked")
    assert results.any_change_made
    assert list(state.u) == [0.0]
    assert results.exit_status.hint


@pytest.mark.parametrize("is_wanted", [True, False])
def test_time_advanced_events_are_handled_if_the_system_says_so(
    is_wanted: bool,  # a parameter of a test
) -> None:
    log: list[str] = []
    plain = Ball()
    system = System(one=Noting(log), plain=plain, two=Noting(log))
    system.has_time_advanced_events = is_wanted
    state = system.new_state()
    state.time = 2.0
    system.realize(state, ACCELERATION)
    for cause in EventCause:
        results = system.handle_events(state, cause)
        has_changed = is_wanted and cause is EventCause.TIME_ADVANCED
        assert results.any_change_made is has_changed
        assert results.lowest_modified_stage is (DYNAMICS if has_changed else INFINITY)
    assert log == (["one.advanced", "two.advanced"] if is_wanted else [])
    assert list(state.z) == ([2.0, 0.25, 2.0] if is_wanted else [0.25] * 3)
    top = events_of(system, state)["plain.ground"]
    system.handle_events(state, EventCause.TIME_ADVANCED, [top])
    assert plain.kicks(state) == 1


def test_scaling_u_in_a_handler_scales_the_kinetic_energy() -> None:
    ball = Ball()

    def scale(state: State) -> None:
        state.u = state.u * np.sqrt(1.5)

    system = System(ball)
    system.add_event_handler(PeriodicEventHandler(1.0, scale))
    state = system.new_state()
    ball.height.set(state, 0.0)
    system.realize(state, VELOCITY)
    before = ball.energy(state)
    system.handle_events(state, SCHEDULED, scheduled(system, state))
    system.realize(state, VELOCITY)
    assert ball.energy(state) == pytest.approx(1.5 * before, rel=1e-14)


# ---------------------------------------------------------------------- what fails


class OopsError(Exception):
    """What a handler raises."""


def snapshot(state: State) -> Any:
    """All that a failed handler must leave."""
    versions = state.variable("q").version(state), state.variable("u").version(state)
    return state.stage, state.stage_versions, list(state.y), state.time, versions


def raising(ball: Ball, state: State) -> None:
    raise OopsError("oops")


def replacing(ball: Ball, state: State) -> None:
    state.assign(state.copy())
    raise OopsError("oops")


def refused(ball: Ball, state: State) -> None:
    ball.height.set(state, "high")  # type: ignore[arg-type]  # is refused


FAILURES: dict[str, tuple[type[StagecacheError], str, Act]] = {
    "raises": (EventHandlerError, "act: its handler raised OopsError, at time 0", raising),
    "is refused": (NotANumberError, "'height' of subsystem 1 'ball'", refused),
    "time": (EventTimeError, "changed the time", lambda b, s: setattr(s, "time", 1.5)),
    "topology": (
        TopologyVersionError,
        "another topology",
        lambda b, s: s.invalidate_all(Stage.TOPOLOGY),
    ),
    "clear": (ForeignStateError, "act", lambda b, s: s.clear()),
    "assign": (EventHandlerError, "act", replacing),
    "reads too early": (StageTooLowError, "qdot", lambda b, s: s.qdot),
}


@given(
    st.sampled_from(sorted(FAILURES)),
    st.lists(st.sampled_from(sorted(set(WRITES) - {"nothing", "option"})), max_size=3),
    st.booleans(),
    st.booleans(),
)
def test_a_handler_that_fails_is_named_and_the_state_is_as_it_was(
    failure: str,
    names: list[str],
    realizes: bool,  # drawn
    dont_raise: bool,  # drawn
) -> None:
    error, text, act = FAILURES[failure]
    ball = Ball()
    system = System(ball)

    def write(state: State) -> None:
        for name in ["y", *names]:
            WRITES[name][1](ball, state)
        if realizes:
            system.realize(state, TIME)

    system.add_event_handler(PeriodicEventHandler(1.0, write), "first")
    system.add_event_handler(
        PeriodicEventHandler(1.0, lambda state: act(ball, state)),  # type: ignore[arg-type,return-value]  # returns nothing
        "act",
    )
    state = system.new_state()
    system.realize(state, REPORT)
    before = snapshot(state)
    energy = ball.energy(state)
    events = scheduled(system, state)
    options = HandleEventsOptions(dont_raise=dont_raise)
    if dont_raise:
        results = system.handle_events(state, SCHEDULED, events, options)
        assert (results.exit_status, results.any_change_made) == (HandleEventsStatus.FAILED, False)
        assert results.lowest_modified_stage is INFINITY
        message = results.message
        assert "hint:" in message
    else:
        with pytest.raises(error) as caught:
            system.handle_events(state, SCHEDULED, events, options)
        message = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    assert text in message
    assert "act" in message
    assert snapshot(state) == before
    assert ball.energy.is_valid(state)
    assert ball.energy(state) == energy
    state.time = 0.5  # can be written again


def test_an_error_of_ones_own_is_the_cause_of_what_is_raised() -> None:
    with pytest.raises(EventHandlerError) as caught:
        handled(Ball(), raising)
    assert isinstance(caught.value.__cause__, OopsError)


def test_a_handler_that_returns_no_action_is_refused() -> None:
    system = System(Ball())
    system.add_event_handler(PeriodicEventHandler(1.0, lambda state: True), "act")  # type: ignore[arg-type,return-value]  # is refused
    state = system.new_state()
    with pytest.raises(EventHandlerError, match="invalid action") as caught:
        system.handle_events(state, SCHEDULED, scheduled(system, state))
    assert "EventAction.TERMINATE" in caught.value.hint


def test_what_is_no_state_event_or_option_of_the_system_is_refused() -> None:
    system, state = started(Ball())
    events = list(events_of(system, state).values())
    other, foreign = started(Ball())
    with pytest.raises(ForeignStateError):
        system.handle_events(foreign, TRIGGERED, events)
    with pytest.raises(UnknownEventError, match="not an event of this System"):
        other.handle_events(foreign, TRIGGERED, events[:1])
    with pytest.raises(UnknownEventError, match="not an event of this System"):
        system.handle_events(state, TRIGGERED, [Event(99, "x", system["ball"], "bounce")])
    with pytest.raises(UnknownEventError, match="not an event of this System"):
        system.report_events(state, TRIGGERED, [3])  # type: ignore[list-item]  # is refused
    with pytest.raises(UnknownEventError, match="cannot handle"):
        system.handle_events(state, TRIGGERED, events[0])  # type: ignore[arg-type]  # is refused
    with pytest.raises(WrongTypeError, match="not a cause"):
        system.handle_events(state, "triggered", events)  # type: ignore[arg-type]  # is refused
    with pytest.raises(WrongTypeError, match="not a cause"):
        system.report_events(state, "triggered", [])  # type: ignore[arg-type]  # is refused
    empty = state.copy()
    empty.invalidate_all(MODEL)
    with pytest.raises(StageTooLowError, match=r"handle_events\(\)"):
        system.handle_events(empty, TRIGGERED, [])
    with pytest.raises(WrongTypeError, match="options"):
        system.handle_events(state, TRIGGERED, events, 1e-4)  # type: ignore[arg-type]  # is refused
    with pytest.raises(ReadOnlyError):
        system.handle_events(system.default_state, TRIGGERED, [])
    with pytest.raises(UnknownEventError, match="is not reported"):
        system.report_events(state, TRIGGERED, events[:1])
    assert system.statistics.num_report_event_calls == 0
    assert list(state.y) == [1.0, -0.5, 0.25]


@pytest.mark.parametrize(
    ("error", "arguments"),
    [
        (OutOfRangeError, {"accuracy": 0.0}),
        (OutOfRangeError, {"accuracy": float("nan")}),
        (OutOfRangeError, {"constraint_tolerance": -1.0}),
        (NotANumberError, {"accuracy": "high"}),
        (NotANumberError, {"use_infinity_norm": 1}),
        (NotANumberError, {"dont_raise": None}),
    ],
)
def test_options_that_make_no_sense_are_refused(
    error: type[StagecacheError], arguments: dict[str, Any]
) -> None:
    with pytest.raises(error, match=next(iter(arguments))):
        HandleEventsOptions(**arguments)


def test_the_constraint_tolerance_is_a_tenth_of_the_accuracy_unless_it_is_given() -> None:
    assert HandleEventsOptions().constraint_tolerance == pytest.approx(1e-5)
    assert HandleEventsOptions(1e-6).constraint_tolerance == pytest.approx(1e-7)
    assert HandleEventsOptions(1e-6, constraint_tolerance=0.5).constraint_tolerance == 0.5


# ---------------------------------------------------------------------- constraints


def moved(x: float, vx: float) -> Act:
    def act(bob: Bob, state: State) -> None:
        bob.x.set(state, x)
        bob.vx.set(state, vx)

    return act


@given(st.floats(0.3, 1.5), st.floats(-2, 2), st.sampled_from([1e-3, 1e-6]))
@example(0.6, 0.5996, 1e-3)
def test_what_a_handler_leaves_is_projected_onto_the_constraints(
    x: float, vx: float, accuracy: float
) -> None:
    results, state = handled(Bob(), moved(x, vx), accuracy=accuracy, use_infinity_norm=True)
    assert results.lowest_modified_stage is POSITION
    state.system.realize(state, VELOCITY)
    assert np.abs(state.qerr).max() <= accuracy / 10
    weight = state.system.default_time_scale  # of the derivative of a qerr with the weight 1
    assert np.abs(state.uerr).max() * weight <= accuracy / 10


def test_what_is_within_the_tolerance_is_left_as_it_is() -> None:
    x = np.sqrt(1 - 0.81) + 1e-7
    vx = 0.4 * 0.9 / x
    results, state = handled(Bob(), moved(x, vx), accuracy=1e-3)
    assert (state.q[0], state.u[0]) == (x, vx)
    assert state.system.statistics.num_q_projections == 0
    results, state = handled(Bob(), moved(x, vx), accuracy=1e-8)
    assert state.q[0] != x
    assert state.system.statistics.num_q_projections == 1
    assert results.any_change_made


def test_a_projection_of_u_alone_modifies_velocity() -> None:
    def act(bob: Bob, state: State) -> None:
        bob.vx.set(state, 2.0)

    bob = Bob()
    system = System(bob)
    system.add_event_handler(PeriodicEventHandler(1.0, lambda state: act(bob, state)))
    state = system.new_state()
    system.project(state, 1e-10)
    q = list(state.q)
    results = system.handle_events(state, SCHEDULED, scheduled(system, state))
    assert results.lowest_modified_stage is VELOCITY
    assert list(state.q) == q
    system.realize(state, VELOCITY)
    assert abs(state.uerr[0]) <= 1e-5


class Pair(Subsystem):
    """Two speeds that have to be equal, wherever they lead."""

    x = q_variable(0.0)
    vx = u_variable(0.0)
    vy = u_variable(0.0)

    @velocity_error()
    def slip(self, state: State) -> float:
        return self.vx(state) - self.vy(state)

    @slip.jacobian
    def slip_jacobian(self, state: State) -> Any:  # linear in u
        return {self.vx: [[1.0]], self.vy: [[-1.0]]}


def test_u_is_projected_where_only_velocities_are_constrained() -> None:
    results, state = handled(Pair(), moved(3.0, 2.0))
    assert results.lowest_modified_stage is POSITION
    assert state.q[0] == 3.0
    assert state.u[0] == pytest.approx(state.u[1], abs=1e-5)


def test_constraints_are_not_looked_at_if_nothing_was_written() -> None:
    results, state = handled(Bob(), lambda bob, state: None, stage=MODEL)
    assert not results.any_change_made
    assert str(results) == "succeeded, no change"
    assert state.stage == MODEL


class Torn(Subsystem):
    """A constraint that no x satisfies, once it is torn."""

    is_torn = parameter(False)
    x = q_variable(0.0)
    v = u_variable(0.0)

    @position_error()
    def here(self, state: State) -> float:
        return self.x(state) ** 2 + (1.0 if self.is_torn(state) else 0.0)

    @here.velocity
    def here_rate(self, state: State) -> float:
        return 2 * self.x(state) * self.v(state)

    @here.jacobian
    def here_jacobian(self, state: State) -> Any:
        return {self.v: [[2 * self.x(state)]]}


@pytest.mark.parametrize("dont_raise", [True, False])
def test_what_cannot_be_projected_is_refused_and_the_state_is_as_it_was(
    dont_raise: bool,  # a parameter of a test
) -> None:
    torn = Torn()
    system = System(torn)
    system.add_event_handler(PeriodicEventHandler(1.0, lambda s: torn.is_torn.set(s, True)), "tear")
    state = system.new_state()
    system.realize(state, VELOCITY)
    events = scheduled(system, state)
    if dont_raise:
        options = HandleEventsOptions(dont_raise=True)
        results = system.handle_events(state, SCHEDULED, events, options)
        assert results.exit_status is HandleEventsStatus.FAILED
        assert not results.has_succeeded
        message = results.message
    else:
        with pytest.raises(ProjectionError) as caught:
            system.handle_events(state, SCHEDULED, events)
        message = "\n".join([str(caught.value), *caught.value.__notes__])
    assert "torn.here" in message
    assert "after the handlers of these events, at time 0: tear" in message
    assert list(state.q) == [0.0]
    assert state.stage == VELOCITY
    assert system.statistics.num_handler_calls_that_changed_stage(POSITION) == 0


def test_a_model_that_cannot_be_realized_after_the_handlers_is_an_error_that_names_them() -> None:
    class Fragile(Bob):
        def realize_time(self, state: State) -> None:
            if self.length(state) < 0:
                raise OopsError("a negative length")

    fragile = Fragile()
    system = System(fragile)
    system.add_event_handler(
        PeriodicEventHandler(1.0, lambda s: fragile.length.set(s, -1.0)), "cut"
    )
    state = system.new_state()
    system.realize(state, VELOCITY)
    with pytest.raises(OopsError) as caught:
        system.handle_events(state, SCHEDULED, scheduled(system, state))
    assert caught.value.__notes__ == ["after the handlers of these events, at time 0: cut"]
    assert (fragile.length(state), state.stage) == (1.0, VELOCITY)


class Driven(Subsystem):
    angle = q_variable(0.0)
    rate = u_variable(0.0)

    @angle.prescribed
    def drive(self, state: State) -> float:
        return 2 * state.time

    @rate.prescribed
    def drive_rate(self, state: State) -> float:
        return 2.0


def test_prescribed_motion_is_set_after_the_handlers() -> None:
    def act(driven: Driven, state: State) -> None:
        driven.angle.set(state, 7.0)
        driven.rate.set(state, 7.0)

    results, state = handled(Driven(), act)
    assert list(state.y) == [0.0, 2.0]
    assert results.lowest_modified_stage is POSITION


# ---------------------------------------------------------------------- reporters


def reported(report: Callable[[State], object], *, stage: Stage = ACCELERATION) -> State:
    """A State at which a reporter has looked."""
    system = System(Ball())
    system.add_event_reporter(PeriodicEventReporter(1.0, report), "look")
    state = system.new_state()
    system.realize(state, stage)
    system.report_events(state, SCHEDULED, system.calc_time_of_next_scheduled_report(state)[1])
    return state


def test_a_reporter_looks_and_may_realize() -> None:
    seen: list[float] = []

    def look(state: State) -> None:
        state.system.realize(state, ACCELERATION)
        seen.append(float(state.udot[0]))

    state = reported(look, stage=TIME)
    assert seen == [-9.8]
    assert state.stage == ACCELERATION
    assert state.system.statistics.num_report_event_calls == 1
    assert state.system.statistics.num_handler_calls_that_changed_stage(REPORT) == 1


@pytest.mark.parametrize("name", [*sorted(set(WRITES) - {"nothing"}), "time", "update", "assign"])
def test_a_reporter_cannot_write(name: str) -> None:
    more: dict[str, Act] = {
        "time": lambda b, s: setattr(s, "time", 1.0),
        "update": lambda b, s: s.auto_update_discrete_variables(),
        "assign": lambda b, s: s.assign(s.copy()),
    }
    act = more[name] if name in more else WRITES[name][1]
    system = System(Ball())
    system.add_event_reporter(
        PeriodicEventReporter(1.0, lambda state: act(system["ball"], state)), "look"
    )
    state = system.new_state()
    system.realize(state, REPORT)
    before = snapshot(state)
    events = system.calc_time_of_next_scheduled_report(state)[1]
    with pytest.raises(ReadOnlyError) as caught:
        system.report_events(state, SCHEDULED, events)
    assert "add_event_handler" in caught.value.hint
    assert caught.value.__notes__ == ["in the reporter of the event look, at time 0"]
    assert snapshot(state) == before
    state.time = 0.5  # can be written again


def test_a_reporter_that_raises_is_named_with_the_time() -> None:
    def fail(state: State) -> None:
        raise OopsError

    with pytest.raises(EventHandlerError, match="look: its reporter raised OopsError, at time 0"):
        reported(fail)


def test_a_copy_that_a_reporter_makes_can_be_written() -> None:
    copies: list[State] = []
    state = reported(lambda state: copies.append(state.copy()))
    copies[0].time = 3.0
    assert (state.time, copies[0].time) == (0.0, 3.0)


def test_reporters_among_handled_events_see_what_the_handlers_left_and_cannot_write() -> None:
    bob = Bob()
    system = System(bob)
    seen: list[float] = []

    def look(state: State) -> None:
        system.realize(state, POSITION)
        seen.append(abs(state.qerr[0]))
        if len(seen) > 1:
            state.time = 1.0

    system.add_event_reporter(TriggeredEventReporter(POSITION, lambda s: 1.0, look), "look")
    system.add_event_handler(
        TriggeredEventHandler(POSITION, lambda s: 1.0, lambda s: moved(0.9, 1.0)(bob, s)),  # type: ignore[arg-type,return-value]  # returns nothing
        "move",
    )
    state = system.new_state()
    system.realize(state, INSTANCE)
    events = list(events_of(system, state).values())
    system.handle_events(state, TRIGGERED, events)
    assert seen[0] <= 1e-5
    before = list(state.y)
    with pytest.raises(ReadOnlyError):
        system.handle_events(state, TRIGGERED, events)
    assert list(state.y) == before


def test_a_frozen_state_can_be_reported() -> None:
    seen: list[float] = []
    system = System(Ball())
    system.add_event_reporter(PeriodicEventReporter(1.0, lambda s: seen.append(s.time)))
    state = system.new_state().frozen()
    system.report_events(state, SCHEDULED, system.calc_time_of_next_scheduled_report(state)[1])
    assert seen == [0.0]
    assert state.is_frozen


# ---------------------------------------------------------------------- with all the rest


def test_a_handler_cannot_change_the_model() -> None:
    def act(ball: Ball, state: State) -> None:
        ball.heat.set(state, 5.0)
        ball.label = "kicked"  # type: ignore[attr-defined]  # is refused

    ball = Ball()
    system = System(ball)
    system.add_event_handler(PeriodicEventHandler(1.0, lambda state: act(ball, state)), "act")
    state = system.new_state()
    with pytest.raises(ConstModelError) as caught:
        system.handle_events(state, SCHEDULED, scheduled(system, state))
    assert "discrete variable" in caught.value.hint
    assert caught.value.__notes__ == ["in the handler of the event act, at time 0"]
    assert list(state.z) == [0.25]
    assert system.topology_has_been_realized
    ball.label = "kicked"  # type: ignore[attr-defined]  # afterwards it can be changed
    assert not system.topology_has_been_realized


def test_checkpoints_of_the_caller_outlast_the_handling() -> None:
    ball = Ball()
    system, state = started(ball)
    events = [events_of(system, state)["ball.ground"]]
    mark = state.checkpoint()
    system.handle_events(state, TRIGGERED, events)
    system.handle_events(state, TRIGGERED, events)
    assert (ball.kicks(state), ball.speed(state)) == (2, -0.5)
    state.rollback(mark)
    assert (ball.kicks(state), state.stage) == (0, ACCELERATION)


def test_events_are_handled_in_strict_mode_and_while_a_state_is_traced() -> None:
    ball = Ball()
    system, state = started(ball)
    events = [events_of(system, state)["ball.ground"]]
    with strict(), state.trace() as trace:
        results = system.handle_events(state, TRIGGERED, events)
        system.realize(state)
    assert results.lowest_modified_stage is VELOCITY
    assert ball.speed(state) == 0.5
    assert trace.summary().computed


def test_threads_handle_events_of_states_of_their_own() -> None:
    ball = Ball()
    system, state = started(ball)
    events = [events_of(system, state)["ball.ground"]]

    def bounced(_: int) -> tuple[int, float, int]:
        own = state.copy()
        for _ in range(50):
            system.realize(own, ACCELERATION)
            system.handle_events(own, TRIGGERED, events)
        return ball.kicks(own), ball.speed(own), len(system.calc_event_trigger_info(own))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(bounced, range(8))) == [(50, -0.5, 4)] * 8
    system.has_time_advanced_events = True  # nobody is left who handles events


def test_an_event_may_be_handled_within_a_handler() -> None:
    ball = Ball()
    system = System(ball)
    known: dict[str, Event] = {}

    def kick(state: State) -> None:
        system.handle_events(state, TRIGGERED, [known["ball.ground"]])
        with pytest.raises(ConstModelError):
            system.has_time_advanced_events = True  # it is still being handled

    system.add_event_handler(PeriodicEventHandler(1.0, kick), "kick")
    state = system.new_state()
    system.realize(state, ACCELERATION)
    known.update(events_of(system, state))
    results = system.handle_events(state, SCHEDULED, scheduled(system, state))
    assert (ball.kicks(state), results.lowest_modified_stage) == (1, VELOCITY)


def test_statistics_count_what_is_handled_and_reported_and_forget_it() -> None:
    system, state = started(Ball())
    events = [events_of(system, state)["ball.ground"]]
    system.handle_events(state, TRIGGERED, events)
    system.handle_events(state, EventCause.INITIALIZATION)
    system.report_events(state, SCHEDULED)
    counts = system.statistics
    assert (counts.num_handle_event_calls, counts.num_report_event_calls) == (2, 1)
    changed = [counts.num_handler_calls_that_changed_stage(stage) for stage in Stage]
    assert changed == [stage in (VELOCITY, REPORT, INFINITY) for stage in Stage]
    assert "1  handler calls that changed Velocity" in str(counts)
    counts.reset()
    assert counts.num_handle_event_calls == 0
    assert counts.num_handler_calls_that_changed_stage(VELOCITY) == 0
    for _ in range(2):
        system.report_events(state, SCHEDULED)
    assert counts.num_report_event_calls == 2
