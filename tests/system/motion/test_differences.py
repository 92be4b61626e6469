"""Derivatives by differences agree with those that are declared."""

import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    acceleration_error,
    position_error,
    q_variable,
    strict,
    u_variable,
    velocity_error,
)
from stagecache.errors import KinematicsError
from stagecache.state.vectors.vectors import QERR
from stagecache.system.constraints.errors import entry_of
from stagecache.system.constraints.jacobians import (
    acceleration_bias,
    acceleration_jacobian,
    position_jacobian,
    velocity_jacobian,
)
from stagecache.system.motion.differences import (
    derivative_along,
    numerical_jacobian,
    second_derivative_along,
)
from stagecache.system.motion.kinematics import kinematics
from stagecache.system.motion.operators import multiply_by_n
from stagecache.testing import check_coherence
from tests.profiles import examples
from tests.system.models import state_of

Matrix = NDArray[np.float64]
VELOCITY, ACCELERATION = Stage.VELOCITY, Stage.ACCELERATION


class Joint(Subsystem):
    """q and u with a full matrix N(q) of more rows than columns."""

    x = q_variable(factory=lambda self, state: self.numbers.normal(self.nu + 1))
    v = u_variable(factory=lambda self, state: self.numbers.normal(self.nu))

    def __init__(self, seed: int, nu: int) -> None:
        self.seed, self.nu = seed, nu

    @property
    def numbers(self) -> "Numbers":
        return Numbers(self.seed)

    @kinematics(x, v)
    def n(self, state: State) -> Any:
        shape = (self.nu + 1, self.nu)
        return np.eye(*shape) + 0.3 * np.sin(self.x(state)[0]) * self.numbers.normal(shape)

    def ndot_v(self, state: State) -> Matrix:
        rate = np.cos(self.x(state)[0]) * (self.n(state) @ self.v(state))[0]
        slope: Matrix = 0.3 * rate * self.numbers.normal((self.nu + 1, self.nu)) @ self.v(state)
        return slope

    def realize_acceleration(self, state: State) -> None:
        state[self].upd_udot()[:] = self.numbers.normal(self.nu) + self.v(state)


class Numbers:
    """The same numbers for the same seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def normal(self, shape: Any) -> Any:
        return np.random.default_rng(self.seed).normal(size=shape)


class Plain(Subsystem):
    """Some q and u with N = 1, and constraints between all q and u; nothing else is declared."""

    y = q_variable([0.3, -1.2])
    w = u_variable([0.7, 0.2])

    def __init__(self, joint: Joint, rows: int) -> None:
        self.joint, self.rows = joint, rows

    def phase(self, state: State) -> Matrix:
        phase: Matrix = state.q + 2 * state.time
        return phase

    def a(self, state: State) -> Any:
        return Numbers(5).normal((self.rows, state.nq))

    def b(self, state: State) -> Any:
        return Numbers(6).normal((2, state.nu))

    @position_error(size=lambda self, state: self.rows)
    def waves(self, state: State) -> Matrix:
        waves: Matrix = self.a(state) @ np.sin(self.phase(state))
        return waves

    @velocity_error(size=2)
    def drag(self, state: State) -> Matrix:
        drag: Matrix = self.b(state) @ state.u * np.cos(state.q[0] + state.time)
        return drag

    @acceleration_error()
    def push(self, state: State) -> Any:
        udot = state._contents.pools.whole["udot"]
        return Numbers(7).normal((1, state.nu)) @ udot * (1 + state.u[0] ** 2) - state.time

    def realize_acceleration(self, state: State) -> None:
        state[self].upd_udot()[:] = [1.5, -0.5]


class Analytic(Plain):
    """The same with all derivatives."""

    def qdot(self, state: State) -> Matrix:
        return multiply_by_n(state, state.u)

    @Plain.waves.velocity
    def waves_velocity(self, state: State) -> Any:
        speeds = np.cos(self.phase(state)) * (self.qdot(state) + 2)
        return self.a(state) @ speeds

    @Plain.waves.jacobian
    def waves_jacobian(self, state: State) -> Matrix:
        return multiply_n_right(state, self.a(state) * np.cos(self.phase(state)))

    @Plain.waves.bias
    def waves_bias(self, state: State) -> Any:
        bent = np.zeros(state.nq)
        start = self.joint.x.place(state).start
        bent[start : start + self.joint.nu + 1] = self.joint.ndot_v(state)
        square = (self.qdot(state) + 2) ** 2
        return self.a(state) @ (
            np.cos(self.phase(state)) * bent - np.sin(self.phase(state)) * square
        )

    @Plain.drag.jacobian
    def drag_jacobian(self, state: State) -> Any:
        return self.b(state) * np.cos(state.q[0] + state.time)

    @Plain.drag.bias
    def drag_bias(self, state: State) -> Any:
        rate = -np.sin(state.q[0] + state.time) * (self.qdot(state)[0] + 1)
        return self.b(state) @ state.u * rate

    @Plain.push.jacobian(prerequisites=lambda self: (self.system.u,))
    def push_jacobian(self, state: State) -> Any:
        return Numbers(7).normal((1, state.nu)) * (1 + state.u[0] ** 2)

    @Plain.push.bias
    def push_bias(self, state: State) -> float:
        return -state.time


def multiply_n_right(state: State, matrix: Matrix) -> Matrix:
    """The product with N from the right."""
    return matrix @ multiply_by_n(state, np.eye(state.nu))


def close(found: Any, wanted: Any, by: float) -> bool:
    scale = max(1.0, float(np.abs(wanted).max(initial=0)))
    return np.allclose(found, wanted, rtol=0, atol=by * scale)


@examples(25)
@given(
    seed=st.integers(0, 1000),
    nu=st.integers(1, 4),
    rows=st.integers(1, 3),
    time=st.floats(-2, 2),
    scale=st.sampled_from([0.0, 1e-3, 1.0, 10.0]),
)
def test_derivatives_by_differences_are_those_of_formulas(
    seed: int, nu: int, rows: int, time: float, scale: float
) -> None:
    states = []
    for kind in (Plain, Analytic):
        joint = Joint(seed, nu)
        state = state_of(joint, kind(joint, rows))
        state.time = time
        state.u = scale * np.array(state.u)
        state.system.realize(state, ACCELERATION)
        states.append(state)
    found, wanted = states
    assert np.array_equal(found.qerr, wanted.qerr)
    assert close(found.uerr, wanted.uerr, 1e-7)
    assert close(found.udoterr, wanted.udoterr, 1e-5)
    for jacobian in (position_jacobian, velocity_jacobian, acceleration_jacobian):
        assert close(jacobian(found), jacobian(wanted), 1e-7)
    bias = acceleration_bias(wanted)
    assert close(acceleration_bias(found), bias, 1e-5)
    udot = found.udot
    assert close(acceleration_jacobian(wanted) @ udot + bias, wanted.udoterr, 1e-9)
    along = derivative_along(
        wanted.system,
        wanted,
        lambda twin: twin.uerr,
        stage=VELOCITY,
        qdot=multiply_by_n(wanted, wanted.u),
        udot=udot,
        time=1.0,
    )
    assert close(along, wanted.udoterr[: wanted.nuerr], 1e-6)


def test_the_state_at_hand_is_left_as_it_is() -> None:
    joint = Joint(3, 2)
    state = state_of(joint, Plain(joint, 2), stage=ACCELERATION)
    before = (state.stage, state.y.tolist(), state.time, joint.x.version(state), state.udoterr[0])
    position_jacobian(state)
    acceleration_bias(state)
    assert before == (
        state.stage,
        state.y.tolist(),
        state.time,
        joint.x.version(state),
        state.udoterr[0],
    )


def test_frozen_states_and_strict_ones_can_be_differentiated() -> None:
    joint = Joint(3, 2)
    state = state_of(joint, Plain(joint, 2), stage=ACCELERATION)
    wanted = position_jacobian(state)
    assert np.array_equal(position_jacobian(state.frozen()), wanted)
    with strict(state):
        state.q = state.q
        state.system.realize(state, ACCELERATION)
        assert np.array_equal(position_jacobian(state), wanted)


def test_large_and_small_values_are_moved_by_steps_of_their_size() -> None:
    class Parabola(Subsystem):
        x = q_variable([1e6, 1e-9])
        v = u_variable([1.0, 1.0])

        @position_error()
        def bowl(self, state: State) -> float:
            return float(self.x(state) @ self.x(state))

    state = state_of(Parabola(), stage=VELOCITY)
    jacobian = numerical_jacobian(state.system, state, QERR, slice(None))
    assert np.allclose(jacobian, [[2e6, 0]], rtol=1e-8, atol=1e-2)
    still = derivative_along(state.system, state, lambda twin: twin.qerr, stage=Stage.POSITION)
    assert still.tolist() == [0.0]
    tiny = np.array([5e-324, 0.0])
    moved = derivative_along(
        state.system, state, lambda twin: twin.qerr, stage=Stage.POSITION, qdot=tiny, time=1.0
    )
    assert moved.tolist() == [0.0]


def test_a_second_derivative_is_exact_for_a_parabola_in_time() -> None:
    class Fall(Subsystem):
        x = q_variable(2.0)
        v = u_variable(3.0)

        @position_error()
        def above(self, state: State) -> float:
            return self.x(state) ** 2 + state.time**2

    fall = Fall()
    state = state_of(fall, stage=VELOCITY)
    found = second_derivative_along(
        state.system, state, fall.above, qdot=np.array([3.0]), qdotdot=np.array([-9.81])
    )
    assert found == pytest.approx([2 * 9 - 4 * 9.81 + 2], rel=1e-7)


@pytest.mark.parametrize("tiny", [5e-324, 1e-200, 0.0])
def test_a_motion_that_hardly_bends_has_a_second_derivative(tiny: float) -> None:
    state = state_of(Joint(1, 2), stage=VELOCITY)
    still = np.zeros(state.nq)
    bend = np.full(state.nq, tiny)
    found = second_derivative_along(
        state.system, state, lambda twin: twin.q, stage=Stage.POSITION, qdot=still, qdotdot=bend
    )
    np.testing.assert_allclose(found, 0, atol=1e-9)


def test_derivatives_of_many_subsystems_cost_one_pair_of_copies() -> None:
    class Bob(Subsystem):
        place = q_variable([0.6, -0.8])
        speed = u_variable([0.4, 0.3])

        @position_error()
        def rod(self, state: State) -> float:
            return float(self.place(state) @ self.place(state))

        def realize_acceleration(self, state: State) -> None:
            state[self].upd_udot()[:] = [self.index, 1.0]

    bobs = [Bob() for _ in range(20)]
    system = System()
    for i, bob in enumerate(bobs):
        system.add(bob, f"bob{i}")
    state = system.new_state()
    system.realize(state, Stage.POSITION)
    before = system.statistics.num_realize_calls
    system.realize(state, ACCELERATION)
    assert system.statistics.num_realize_calls - before == 1 + 2 + 5
    wanted = [0.5 + 1.2 * bob.index - 1.6 for bob in bobs]
    assert np.allclose(state.udoterr, wanted, rtol=0, atol=1e-5)
    bobs[3].speed.set(state, [1.0, 0.0])
    system.realize(state, ACCELERATION)
    assert np.allclose(state.uerr[2:5], [0, 1.2, 0], rtol=0, atol=1e-8)
    mark = state.checkpoint()
    bobs[3].speed.set(state, [0.0, 1.0])
    system.realize(state, VELOCITY)
    state.rollback(mark)
    bobs[3].speed.set(state, [0.5, 0.0])
    system.realize(state, VELOCITY)
    assert np.allclose(state.uerr[2:5], [0, 0.6, 0], rtol=0, atol=1e-8)


# ---------------------------------------------------------------------- what is not known


class Loose(Subsystem):
    """q without u: nobody says how it changes."""

    x = q_variable(1.0)

    @position_error()
    def bound(self, state: State) -> float:
        return self.x(state) ** 2


def test_rows_are_nan_where_nobody_says_n_and_a_jacobian_is_refused() -> None:
    class Split(Loose):
        v = u_variable([1.0, 2.0])

    state = state_of(Split(), stage=ACCELERATION)
    assert np.isnan([*state.uerr, *state.udoterr]).all()
    with pytest.raises(KinematicsError):
        position_jacobian(state)


def test_an_exception_at_a_moved_state_says_where_it_comes_from() -> None:
    class Narrow(Subsystem):
        x = q_variable(1.0)
        v = u_variable(1.0)

        @position_error()
        def gap(self, state: State) -> float:
            return math.sqrt(1 - self.x(state))

    narrow = Narrow()
    system = System(narrow)
    state = system.new_state()
    with pytest.raises(ValueError, match=r"math domain|nonnegative") as caught:
        system.realize(state, VELOCITY)
    assert "while narrow.gap.velocity was computed by differences" in caught.value.__notes__[-1]
    assert "@gap.velocity" in caught.value.__notes__[-1]
    assert state.stage is Stage.POSITION
    with pytest.raises(ValueError, match=r"math domain|nonnegative") as caught:
        position_jacobian(state)
    assert "@name.jacobian" in caught.value.__notes__[-1]


def test_where_hooks_compute_qdot_that_is_taken() -> None:
    class Driven(Loose):
        v = u_variable([1.0, 2.0])

        def realize_velocity(self, state: State) -> None:
            state[self].upd_qdot()[:] = self.v(state).sum()

        def realize_acceleration(self, state: State) -> None:
            state[self].upd_udot()[:] = [1.0, 1.0]
            state[self].upd_qdotdot()[:] = 2.0

    state = state_of(Driven(), stage=ACCELERATION)
    assert state.uerr == pytest.approx([6.0], rel=1e-8)
    assert state.udoterr == pytest.approx([22.0], rel=1e-6)


def test_errors_of_accelerations_are_nan_where_nobody_computes_udot() -> None:
    class Bead(Loose):
        v = u_variable(1.0)

    state = state_of(Bead(), stage=ACCELERATION)
    assert state.uerr == pytest.approx([2.0], rel=1e-8)
    assert np.isnan(state.udoterr).all()
    assert acceleration_bias(state) == pytest.approx([2.0], rel=1e-6)


def test_udot_of_subsystems_that_are_realized_later_is_there() -> None:
    class First(Subsystem):
        def __init__(self, second: Subsystem) -> None:
            self.second: Any = second

        @position_error()
        def held(self, state: State) -> float:
            return float(self.second.x(state)) ** 2

    class Second(Subsystem):
        x = q_variable(1.0)
        v = u_variable(2.0)

        def realize_acceleration(self, state: State) -> None:
            state[self].upd_udot()[:] = 3.0

    second = Second()
    state = state_of(First(second), second, stage=ACCELERATION)
    assert state.udoterr == pytest.approx([2 * 4 + 2 * 3], rel=1e-6)


def test_a_declared_derivative_of_a_subclass_replaces_the_difference() -> None:
    class Bead(Loose):
        v = u_variable(1.0)

    class Finished(Bead):
        @Bead.bound.velocity
        def bound_velocity(self, state: State) -> float:
            return 17.0

    bead, finished = Bead(), Finished()
    state = state_of(bead, finished, stage=VELOCITY)
    assert state.uerr == pytest.approx([2.0, 17.0], rel=1e-8)
    assert "bound.velocity" in Bead.declarations
    assert "bound.velocity" not in Finished.declarations


def test_a_state_with_what_is_not_declared_is_pickled() -> None:
    joint = Joint(3, 2)
    state = state_of(joint, Plain(joint, 2), stage=ACCELERATION)
    handle = entry_of(state.system["plain"], "waves.velocity")
    twin, entry = pickle.loads(pickle.dumps((state, handle)))
    twin.system.realize(twin, ACCELERATION)
    assert np.array_equal(entry(twin), handle(state))
    assert np.array_equal(twin.udoterr, state.udoterr)


def test_the_coherence_check_has_nothing_to_say() -> None:
    joint = Joint(3, 2)
    system = System(joint, Plain(joint, 2))
    check_coherence(system, settings=examples(15), seed=0)
