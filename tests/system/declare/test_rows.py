"""Declared errors of constraints and event triggers: their values land in their rows."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    TriggerDirection,
    acceleration_error,
    auto_update,
    cached,
    discrete,
    event_trigger,
    modeling_option,
    parameter,
    position_error,
    q_variable,
    u_variable,
    velocity_error,
)
from stagecache.errors import PrerequisiteStageError, ShapeError, StageTooLowError
from stagecache.state.handles import AbstractHandle, Vector
from tests.system.models import state_of

MODEL, INSTANCE, TIME, POSITION = Stage.MODEL, Stage.INSTANCE, Stage.TIME, Stage.POSITION
VELOCITY, ACCELERATION = Stage.VELOCITY, Stage.ACCELERATION


class Linkage(Subsystem):
    """Errors of each kind; the numbers tell the function from which they come."""

    x = q_variable(0.0)
    v = u_variable(0.0)

    @velocity_error(size=1)
    def slip(self, state: State) -> float:
        return 40 + self.v(state)

    @position_error(size=2)
    def rod(self, state: State) -> list[float]:
        return [10 + self.x(state), 11.0]

    @position_error()
    def stop(self, state: State) -> float:
        return 20 + self.x(state)

    @acceleration_error(size=1)
    def push(self, state: State) -> float:
        return 60.0

    @rod.velocity
    def rod_rate(self, state: State) -> Vector:
        return np.array([12 + self.v(state), 13.0])

    @stop.acceleration
    def stop_acceleration(self, state: State) -> float:
        return 24.0

    @slip.acceleration
    def slip_acceleration(self, state: State) -> float:
        return 44.0

    @rod.acceleration
    def rod_acceleration(self, state: State) -> tuple[float, float]:
        return (14.0, 15.0)

    @rod.jacobian
    def rod_jacobian(self, state: State) -> Vector:
        return np.full((2, state.nu), self.x(state))

    @push.jacobian(prerequisites=())
    def push_jacobian(self, state: State) -> Vector:
        return np.ones((1, state.nu))


def same(found: Vector, wanted: list[float]) -> bool:
    return np.array_equal(found, wanted, equal_nan=True)


NAN = float("nan")


def test_errors_land_in_their_rows_level_by_level() -> None:
    linkage = Linkage()
    state = state_of(linkage, stage=INSTANCE)
    system = state.system
    assert (state.nqerr, state.nuerr, state.nudoterr) == (3, 4, 5)
    system.realize(state, POSITION)
    assert list(state.qerr) == [10, 11, 20]
    system.realize(state, VELOCITY)
    assert list(state.uerr) == [40, 12, 13, 0]
    assert list(state.yerr) == [10, 11, 20, 40, 12, 13, 0]
    system.realize(state, ACCELERATION)
    assert same(state.udoterr, [44, 14, 15, 24, 60])
    assert same(state[linkage].udoterr, list(state.udoterr))


def test_errors_of_several_subsystems_stand_one_after_the_other() -> None:
    one, two = Linkage(), Linkage()
    system = System(one=one, two=two)
    state = system.new_state()
    one.x.set(state, 1.0)
    two.x.set(state, 2.0)
    two.v.set(state, 3.0)
    system.realize(state)
    assert list(state.qerr) == [11, 11, 21, 12, 11, 22]
    assert np.allclose(state.uerr, [40, 12, 13, 0, 43, 15, 13, 3], rtol=1e-8)
    assert list(state[two].qerr) == [12, 11, 22]
    assert same(state.udoterr, [44, 14, 15, 24, 60] * 2)
    assert two.rod_jacobian(state).tolist() == [[2.0, 2.0], [2.0, 2.0]]
    assert one.push_jacobian(state).tolist() == [[1.0, 1.0]]


def test_errors_are_computed_anew_after_a_write_and_only_then() -> None:
    linkage = Linkage()
    state = state_of(linkage, stage=ACCELERATION)
    counted = [h.version(state) for h in (linkage.rod, linkage.rod_rate, linkage.rod_acceleration)]
    linkage.v.set(state, 1.0)
    state.system.realize(state)
    assert list(state.qerr) == [10, 11, 20]
    assert np.allclose(state.uerr, [41, 13, 13, 1], rtol=1e-8)
    now = [h.version(state) for h in (linkage.rod, linkage.rod_rate, linkage.rod_acceleration)]
    assert [b - a for a, b in zip(counted, now, strict=True)] == [0, 1, 1]
    linkage.x.set(state, 5.0)
    state.system.realize(state)
    assert list(state.qerr) == [15, 11, 25]
    assert linkage.rod_jacobian(state).tolist() == [[5.0], [5.0]]


def test_the_values_of_errors_are_read_by_their_handles_too() -> None:
    linkage = Linkage()
    state = state_of(linkage, stage=TIME)
    with pytest.raises(StageTooLowError):
        linkage.rod(state)
    state.system.realize(state, POSITION)
    assert list(linkage.rod(state)) == [10, 11]
    assert list(linkage.stop(state)) == [20]
    with pytest.raises(ValueError, match="read-only"):
        linkage.rod(state)[0] = 1
    assert (linkage.rod.available_from, linkage.rod.computed_by) == (POSITION, POSITION)
    assert (linkage.rod_rate.computed_by, linkage.slip.computed_by) == (VELOCITY, VELOCITY)
    assert linkage.push.computed_by is ACCELERATION
    assert linkage.rod_jacobian.available_from is POSITION


def test_errors_with_prerequisites_are_kept_while_those_do_not_change() -> None:
    class Rods(Subsystem):
        x = q_variable(1.0)
        y = q_variable(2.0)

        @position_error(prerequisites=(x,))
        def first(self, state: State) -> float:
            return 10 * self.x(state)

        @position_error(prerequisites=lambda self: (self.y,))
        def second(self, state: State) -> float:
            return 10 * self.y(state)

    rods = Rods()
    state = state_of(rods, stage=POSITION)
    before = (rods.first.version(state), rods.second.version(state))
    rods.y.set(state, 3.0)
    state.system.realize(state)
    assert list(state.qerr) == [10.0, 30.0]
    assert (rods.first.version(state), rods.second.version(state)) == (before[0], before[1] + 1)


def test_values_are_in_place_where_vectors_were_dropped_and_nothing_else_changed() -> None:
    """The entry may be up to date while the vector that shows it is new."""

    class Rod(Subsystem):
        p = parameter(1.0)

        @position_error(prerequisites=())
        def constant(self, state: State) -> float:
            return 7.0

        @event_trigger(stage=TIME, prerequisites=())
        def bell(self, state: State) -> float:
            return 8.0

    rod = Rod()
    state = state_of(rod, stage=POSITION)
    rod.p.set(state, 2.0)
    twin = state.copy()
    for s in (state, twin):
        s.system.realize(s)
        assert (list(s.qerr), list(s.event_triggers)) == ([7.0], [8.0])


def test_rows_that_hooks_allocate_come_after_declared_ones() -> None:
    class Mixed(Subsystem):
        count = modeling_option(1)

        extra = parameter(0)

        @position_error(size=lambda self, state: self.count(state) + self.extra(state))
        def declared(self, state: State) -> Vector:
            return np.full(self.count(state) + self.extra(state), 1.0)

        @event_trigger(stage=POSITION)
        def bell(self, state: State) -> float:
            return 5.0

        def realize_instance(self, state: State) -> None:
            self.noted.append(state[self].allocate_qerr(2))
            state[self].allocate_event_trigger(POSITION, 1)

        def realize_position(self, state: State) -> None:
            state[self].upd_qerr()[-2:] = [8.0, 9.0]
            state[self].upd_event_triggers_by_stage(POSITION)[-1] = 6.0

        def __init__(self) -> None:
            self.noted: list[int] = []

    one, two = Mixed(), Mixed()
    system = System(one=one, two=two)
    state = system.new_state()
    one.count.set(state, 3)
    system.realize(state)
    assert list(state.qerr) == [1, 1, 1, 8, 9, 1, 8, 9]
    assert list(state.event_triggers) == [5, 6, 5, 6]
    assert (one.noted, two.noted) == ([3], [1])
    one.extra.set(state, 1)
    system.realize(state, INSTANCE)
    assert (one.noted, state.nqerr) == ([3, 4], 9)


def test_rows_by_hand_are_refused_where_the_number_of_declared_ones_is_not_known_yet() -> None:
    class Early(Subsystem):
        @position_error(size=lambda self, state: 1)
        def declared(self, state: State) -> float:
            return 1.0

        def realize_model(self, state: State) -> None:
            state[self].allocate_qerr(2)

    with pytest.raises(StageTooLowError, match="parameters decide") as caught:
        System(Early()).realize_topology()
    assert "realize_instance()" in caught.value.hint

    class Late(Subsystem):
        @position_error(size=lambda self, state: 1)
        def declared(self, state: State) -> float:
            return 1.0

    late = Late()
    state = System(late).new_state()
    with pytest.raises(StageTooLowError, match="parameters decide"):
        state[late].allocate_qerr(2)


def test_an_override_of_errors_keeps_their_rows() -> None:
    class Stiff(Linkage):
        @position_error(size=3)
        def rod(self, state: State) -> list[float]:
            return [1.0, 2.0, 3.0]

        def realize_report(self, state: State) -> None:
            pass

    class StiffRates(Stiff):
        @Stiff.rod.velocity
        def rod_rate(self, state: State) -> list[float]:
            return [4.0, 5.0, 6.0]

        @Stiff.rod.acceleration
        def rod_acceleration(self, state: State) -> list[float]:
            return [7.0, 8.0, 9.0]

    stiff = StiffRates()
    state = state_of(stiff, stage=ACCELERATION)
    assert list(state.qerr) == [1, 2, 3, 20]
    assert list(state.uerr) == [40, 4, 5, 6, 0]
    assert same(state.udoterr, [44, 7, 8, 9, 24, 60])
    with pytest.raises(ShapeError, match=r"stiff\.rod_rate"):
        state_of(Stiff(), stage=VELOCITY)


def test_errors_of_a_wrong_number_are_refused_when_they_are_computed() -> None:
    class Wrong(Subsystem):
        @position_error(size=2)
        def rod(self, state: State) -> list[float]:
            return [1.0, 2.0, 3.0]

    wrong = Wrong()
    system = System(wrong)
    state = system.new_state()
    with pytest.raises(ShapeError, match=r"wrong\.rod") as caught:
        system.realize(state)
    assert isinstance(caught.value, ValueError)
    assert state.stage is TIME


@pytest.mark.parametrize("values", [[[1.0]], [1.0, 2.0], [[1.0], [2.0]], 1.0, [[1.0, 2.0, 3.0]]])
def test_a_jacobian_of_another_shape_is_refused(values: ArrayLike) -> None:
    class Rod(Subsystem):
        v = u_variable([0.0, 0.0])

        @position_error()
        def rod(self, state: State) -> float:
            return 1.0

        @rod.jacobian
        def slope(self, state: State) -> ArrayLike:
            return values

    rod = Rod()
    with pytest.raises(ShapeError, match=r"rod\.slope") as caught:
        rod.slope(state_of(rod, stage=POSITION))
    assert "(1, 2)" in caught.value.expected


def test_a_jacobian_is_a_matrix_of_its_own() -> None:
    class Rod(Subsystem):
        v = u_variable([0.0, 0.0])

        @position_error()
        def rod(self, state: State) -> float:
            return 1.0

        @rod.jacobian
        def slope(self, state: State) -> ArrayLike:
            return [[1, 2]]

    rod = Rod()
    found = rod.slope(state_of(rod, stage=POSITION))
    assert isinstance(found, np.ndarray)
    assert found.dtype == np.float64
    assert (found.tolist(), found.flags.writeable) == ([[1.0, 2.0]], False)


class Source(Subsystem):
    """What is written without taking Position back, though the entries can be read at Position."""

    knob = parameter(1.0)
    late = discrete(1.0, invalidates=Stage.REPORT)
    speed = u_variable(1.0)
    mode = auto_update(1.0, invalidates=POSITION, available_from=Stage.TIME)

    @cached(prerequisites=(mode,))
    def of_mode(self, state: State) -> float:
        return self.mode(state)

    @cached(prerequisites=(late,))
    def of_late(self, state: State) -> float:
        return self.late(state)

    @cached(prerequisites=(of_late, knob))
    def further(self, state: State) -> float:
        return self.of_late(state)


LATE: dict[str, Callable[[Source], AbstractHandle]] = {
    "late": lambda source: source.late,
    "u": lambda source: source.speed,
    "whole u": lambda source: source.u,
    "u of the system": lambda source: source.system.u,
    "an entry": lambda source: source.of_late,
    "an entry of an entry": lambda source: source.further,
    "auto update": lambda source: source.mode,  # whose exchange leaves no stage
    "an entry of an auto update": lambda source: source.of_mode,
}


@pytest.mark.parametrize("name", LATE)
def test_a_prerequisite_that_would_not_take_the_stage_back_is_refused(name: str) -> None:
    """Else the vector would show an old value, though it may be read."""
    source = Source()

    class Fine(Subsystem):
        @velocity_error(prerequisites=lambda self: (source.speed, source.knob))
        def slip(self, state: State) -> float:
            return source.speed(state)

    class TooLate(Subsystem):
        @position_error(prerequisites=lambda self: (LATE[name](source),))
        def rod(self, state: State) -> float:
            return 1.0

    system = System(source, Fine())
    assert system.realize_topology().stage is MODEL
    system.add(TooLate())
    with pytest.raises(PrerequisiteStageError, match=r"too_late\.rod") as caught:
        system.realize_topology()
    assert isinstance(caught.value, ValueError)


def test_a_trigger_of_time_does_not_depend_on_q() -> None:
    class Bell(Subsystem):
        x = q_variable(1.0)

        @event_trigger(stage=TIME, prerequisites=(x,))
        def bell(self, state: State) -> float:
            return self.x(state)

    with pytest.raises(PrerequisiteStageError, match=r"bell\.bell") as caught:
        System(Bell()).realize_topology()
    assert "bell.x, which invalidates Position" in caught.value.got


# ---------------------------------------------------------------------- event triggers


class Bells(Subsystem):
    t = q_variable(1.0)

    @event_trigger(stage=VELOCITY, direction=TriggerDirection.FALLING, size=2)
    def pair(self, state: State) -> list[float]:
        return [30 + self.t(state), 32.0]

    @event_trigger(stage=TIME, direction="rising")
    def alarm(self, state: State) -> float:
        return 10 + self.time(state)

    @event_trigger(stage=VELOCITY)
    def last(self, state: State) -> float:
        return 33.0

    @alarm.handler
    def ring(self, state: State) -> None:
        self.t.set(state, 99.0)


def test_triggers_land_in_their_places_by_stage_and_then_by_subsystem() -> None:
    one, two = Bells(), Bells()
    system = System(one=one, two=two)
    state = system.new_state()
    two.t.set(state, 2.0)
    state.time = 5.0
    system.realize(state, INSTANCE)
    assert state.num_event_triggers == 8
    system.realize(state, TIME)
    assert list(state.event_triggers_by_stage(TIME)) == [15, 15]
    system.realize(state, ACCELERATION)
    assert list(state.event_triggers_by_stage(VELOCITY)) == [31, 32, 33, 32, 32, 33]
    assert list(state[two].event_triggers_by_stage(VELOCITY)) == [32, 32, 33]
    assert list(state.event_triggers) == [15, 15, 31, 32, 33, 32, 32, 33]
    assert list(one.pair(state)) == [31, 32]


def test_a_trigger_knows_its_stage_direction_and_handler() -> None:
    declared = Bells.alarm
    assert (declared.stage, declared.direction) == (TIME, TriggerDirection.RISING)
    assert declared.handler_name == "ring"
    assert Bells.pair.direction is TriggerDirection.FALLING
    assert (Bells.last.direction, Bells.last.handler_name) == (TriggerDirection.ANY, "")


def test_a_handler_is_a_method_that_writes() -> None:
    bells = Bells()
    state = state_of(bells, stage=ACCELERATION)
    bells.ring(state)
    assert (bells.t(state), state.stage) == (99.0, TIME)


@pytest.mark.parametrize(
    "declare",
    [position_error, velocity_error, acceleration_error, partial(event_trigger, stage=POSITION)],
)
def test_where_there_are_no_rows_the_function_is_not_called(
    declare: Callable[..., Callable[[Callable[..., Any]], Any]],
) -> None:
    calls = []

    class Chain(Subsystem):
        links = parameter(0)

        @declare(size=lambda self, state: self.links(state))
        def straight(self, state: State) -> Vector:
            calls.append(1)
            return np.ones(max(1, self.links(state)))

    chain = Chain()
    state = state_of(chain, stage=Stage.REPORT)
    assert chain.straight(state).shape == (0,)
    assert not calls
    chain.links.set(state, 2)
    state.system.realize(state)
    assert chain.straight(state).tolist() == [1.0, 1.0]
    assert calls
