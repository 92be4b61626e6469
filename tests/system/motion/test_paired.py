"""Default rates: qdot = u and qdotdot = udot where nothing else is declared or written."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from stagecache import Stage, State, Subsystem, System, kinematics, q_variable, u_variable
from stagecache.study.simulate import simulate
from stagecache.system.motion.operators import multiply_by_n

ACCELERATION, DYNAMICS, POSITION, VELOCITY = (
    Stage.ACCELERATION,
    Stage.DYNAMICS,
    Stage.POSITION,
    Stage.VELOCITY,
)


class Mover(Subsystem):
    """A body along one axis: only udot is written, -x."""

    x = q_variable(1.0)
    v = u_variable(2.0)

    def realize_acceleration(self, state: State) -> None:
        state[self].upd_udot()[0] = -self.x(state)


class Twice(Mover):
    """The same, with another qdot."""

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[0] = 2 * self.v(state)


class Own(Mover):
    """The same as Mover, with a qdotdot of its own."""

    def realize_acceleration(self, state: State) -> None:
        super().realize_acceleration(state)
        state[self].upd_qdotdot()[0] = 7.0


class Lonely(Subsystem):
    """More q than u: nothing is known of them."""

    x = q_variable((1.0, 2.0))
    v = u_variable(2.0)


class Turner(Subsystem):
    """A block with declared kinematics between two variables that are paired."""

    x = q_variable((1.0, 1.0))
    direction = q_variable((0.6, 0.8))
    y = q_variable(5.0)
    v = u_variable((3.0, 4.0))
    turn = u_variable(10.0)
    w = u_variable(6.0)

    @kinematics(direction, turn)
    def turning(self, state: State) -> np.ndarray:
        c, s = self.direction(state)
        return np.array([[-s], [c]])

    def realize_acceleration(self, state: State) -> None:
        state[self].upd_udot()[:] = [1.0, 2.0, 3.0, 4.0]


CLASSES = (Mover, Twice, Own, Lonely, Turner)


def expected(part: Any, kind: type) -> tuple[list[float], list[float]]:
    """The qdot and qdotdot of a subsystem by its class."""
    u, nan = part.u.tolist(), np.nan
    acceleration = [-part.q[0]]
    if kind is Mover:
        return u, acceleration
    if kind is Twice:
        return [2 * u[0]], [nan]
    if kind is Own:
        return u, [7.0]
    if kind is Lonely:
        return [nan, nan], [nan, nan]
    return [u[0], u[1], nan, nan, u[3]], [1.0, 2.0, nan, nan, 4.0]


@given(
    st.lists(st.sampled_from(CLASSES), min_size=1, max_size=5),
    st.lists(
        st.tuples(st.sampled_from("qu"), st.floats(-9, 9), st.sampled_from(Stage)), max_size=6
    ),
)
def test_rates_that_nobody_writes_follow_u_and_udot(
    kinds: list[type[Subsystem]], writes: list[tuple[str, float, Stage]]
) -> None:
    parts = [kind() for kind in kinds]
    system = System(*parts)
    state = system.new_state()
    for kind, value, stage in writes:
        setattr(state, kind, getattr(state, kind) * 0 + value)
        system.realize(state, min(stage, Stage.REPORT))
        state = state.copy() if value > 5 else state
    system.realize(state, ACCELERATION)
    for part, which in zip(parts, kinds, strict=True):
        qdot, qdotdot = expected(state[part], which)
        assert_array_equal(state[part].qdot, qdot)
        assert_array_equal(state[part].qdotdot, qdotdot)


@given(st.lists(st.sampled_from((Mover, Own)), min_size=1, max_size=5))
def test_the_default_is_what_multiply_by_n_says(kinds: list[type[Subsystem]]) -> None:
    system = System(*[kind() for kind in kinds])
    state = system.new_state()
    state.u = np.arange(1.0, len(kinds) + 1)
    system.realize(state, VELOCITY)
    assert_array_equal(state.qdot, multiply_by_n(state, state.u))


@pytest.mark.parametrize("stage", [Stage.INSTANCE, Stage.TIME, POSITION])
def test_a_qdot_that_an_earlier_hook_writes_is_kept(stage: Stage) -> None:
    def write(self: Mover, state: State) -> None:
        state[self].upd_qdot()[0] = 5.0

    early = type("Early", (Mover,), {f"realize_{stage.name.lower()}": write})
    system = System(early(), early(), Mover())
    state = system.new_state()
    for speed in (1.0, 2.0):
        state.u = [speed] * 3
        system.realize(state, ACCELERATION)
        assert state.qdot.tolist() == [5.0, 5.0, speed]
        assert np.isnan(state.qdotdot[:2]).all()
        state = state if stage == Stage.INSTANCE else state.copy()


def test_a_copy_keeps_each_qdot_that_an_earlier_hook_wrote() -> None:
    class Early(Mover):
        def realize_time(self, state: State) -> None:
            state[self].upd_qdot()[0] = 5.0

    system = System(Early(), Early(), Mover())
    state = system.new_state()
    system.realize(state, Stage.TIME)
    for twin in (state.copy(keep_cache=True), state):
        system.realize(twin, VELOCITY)
        assert twin.qdot.tolist() == [5.0, 5.0, 2.0]


def test_a_qdot_that_is_written_by_hand_at_position_is_kept() -> None:
    system = System(Mover())
    state = system.new_state()
    system.realize(state, POSITION)
    state.upd_qdot()[0] = 5.0
    system.realize(state, VELOCITY)
    assert state.qdot.tolist() == [5.0]


def test_a_hook_reads_the_default_and_changes_a_part_of_it() -> None:
    class Half(Subsystem):
        x = q_variable((0.0, 0.0))
        v = u_variable((1.0, 2.0))

        def realize_velocity(self, state: State) -> None:
            state[self].upd_qdot()[0] += 10.0

    system = System(Half())
    state = system.new_state()
    for _ in range(2):
        system.realize(state, VELOCITY)
        assert state.qdot.tolist() == [11.0, 2.0]
        state.u = (1.0, 2.0)


def test_a_later_hook_reads_qdotdot_of_an_earlier_subsystem() -> None:
    seen = []

    class Reader(Subsystem):
        def __init__(self, mover: Mover) -> None:
            self.mover = mover

        def realize_acceleration(self, state: State) -> None:
            seen.append(float(state[self.mover].qdotdot[0]))

    mover = Mover()
    system = System(mover, Reader(mover))
    state = system.new_state()
    for x in (1.0, 2.0):
        mover.x.set(state, x)
        system.realize(state, ACCELERATION)
    assert seen == [-1.0, -2.0]


def test_a_udot_that_is_written_by_hand_later_leaves_qdotdot_however_that_is_read() -> None:
    mover = Mover()
    system = System(mover)
    state = system.new_state()
    system.realize(state, ACCELERATION)
    state.upd_udot()[0] = 5.0
    assert state[mover].qdotdot.tolist() == state.qdotdot.tolist() == [-1.0]


def test_after_an_error_in_a_hook_what_other_hooks_wrote_stays() -> None:
    class Breaking(Mover):
        def realize_velocity(self, state: State) -> None:
            if self.v(state) < 0:
                raise ArithmeticError

    twice, breaking = Twice(), Breaking()
    system = System(twice, breaking)
    state = system.new_state()
    system.realize(state, POSITION)
    breaking.v.set(state, -1.0)
    with pytest.raises(ArithmeticError):
        system.realize(state, VELOCITY)
    breaking.v.set(state, 1.0)
    system.realize(state, VELOCITY)
    assert state.qdot.tolist() == [4.0, 1.0]


def test_a_mover_without_a_velocity_hook_can_be_simulated() -> None:
    mover = Mover()
    system = System(mover)
    trajectory = simulate(system, system.new_state(), until=1.0, accuracy=1e-8)
    assert trajectory[-1].q[0] == pytest.approx(np.cos(1.0) + 2 * np.sin(1.0), abs=1e-6)
