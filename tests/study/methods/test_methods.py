"""Numerical methods: their errors against known solutions, their orders, what they keep."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.integrate
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.linalg import expm

from stagecache import Stage, State, Subsystem, System, q_variable, u_variable
from stagecache.errors import OutOfRangeError
from stagecache.state.handles import Vector
from stagecache.study.integrate.integrator import Integrator
from stagecache.study.methods.tolerances import tolerances_of
from stagecache.system.constraints.quaternions import quaternion_kinematics
from tests.profiles import examples
from tests.study.integrating import (
    CONSTRAINED,
    FOR_COMPARISONS,
    METHODS,
    ONE_STEP,
    POWERS,
    integrating,
    run_to,
)
from tests.study.models import (
    REFERENCE_Q,
    REFERENCE_U,
    Decays,
    DoublePendulum,
    Oscillator,
    Rod,
    accelerations,
    state_of,
)

METHOD = pytest.mark.parametrize("method", METHODS)

# Of low order: their steps are many, and their errors add up.
COARSE = {"Euler": 1e-3, "ExplicitEuler": 1e-3, "Verlet": 1e-3}


def error_of(method: str, time: float = 3.0, **options: Any) -> float:
    """The largest error of the oscillator."""
    state = run_to(integrating(Oscillator(), method, **options), time)
    return float(np.abs(state.y - Oscillator.solution(time)).max())


# ---------------------------------------------------------------------- accuracy


@pytest.mark.parametrize("method", [*METHODS, *FOR_COMPARISONS])
def test_a_smaller_accuracy_gives_a_smaller_error(method: str) -> None:
    accuracies = [1e-2, 1e-3, 1e-4] if method in COARSE else [1e-3, 1e-5, 1e-7]
    errors = [error_of(method, accuracy=accuracy) for accuracy in accuracies]
    assert errors[0] > 2 * errors[1] > 4 * errors[2]
    power = POWERS.get(method, 1.0)
    assert all(error < 10 * a**power for error, a in zip(errors, accuracies, strict=True))


@pytest.mark.parametrize("method", ["DOP853", "RK45", "BDF"])
def test_the_double_pendulum_is_where_simbody_has_it(method: str) -> None:
    state = run_to(integrating(DoublePendulum(), method, accuracy=1e-6), 10.0)
    np.testing.assert_allclose(state.q, REFERENCE_Q, atol=1e-4)
    np.testing.assert_allclose(state.u, REFERENCE_U, atol=1e-4)


@pytest.mark.parametrize("method", ["RK23", "RK45", "DOP853", "Radau", "LSODA"])
def test_a_method_that_scipy_has_takes_the_steps_that_solve_ivp_takes(method: str) -> None:
    """With the same tolerances, and nothing in between."""

    def right_hand_side(_: float, y: Vector) -> Vector:
        q1, q2, u1, u2 = y.tolist()
        return np.array([u1, u2, *accelerations(q1, q2, u1, u2, 1.0, 0.1, 1.0, 9.8)])

    peer = scipy.integrate.solve_ivp(
        right_hand_side, (0, 2), [1, 0.5, 0, 0], method=method, rtol=1e-5, atol=1e-5
    )
    integrator = integrating(
        DoublePendulum(), method, accuracy=1e-4, final_time=2.0, initial_step=peer.t[1]
    )
    state = run_to(integrator, 2.0)
    np.testing.assert_allclose(state.y, peer.y[:, -1], atol=1e-6 if method != "LSODA" else 1e-3)
    if method != "LSODA":  # which chooses differently where the first step is given
        assert abs(integrator.statistics.num_steps_taken - (len(peer.t) - 1)) <= 1


@pytest.mark.parametrize("method", [*ONE_STEP, *FOR_COMPARISONS])
@pytest.mark.parametrize("infinity", [False, True])
def test_estimated_errors_decide_on_the_step(method: str, infinity: bool) -> None:
    """One variable of many needs small steps: smaller ones by the largest error than by the RMS."""
    fast = integrating(Decays(1.0, *[0.0] * 24), method, accuracy=1e-4, use_infinity_norm=infinity)
    run_to(fast, 20.0)
    alone = integrating(Decays(1.0), method, accuracy=1e-4)
    run_to(alone, 20.0)
    counts = fast.statistics.num_steps_taken, alone.statistics.num_steps_taken
    assert counts[0] >= counts[1] if infinity else counts[0] < counts[1]


# ---------------------------------------------------------------------- orders


ORDERS = {
    "Euler": 1,
    "ExplicitEuler": 1,
    "Verlet": 2,
    "RK23": 3,
    "Merson": 4,
    "RK45": 5,
    "Fehlberg": 5,
}


@pytest.mark.parametrize("method", ORDERS)
def test_halving_a_fixed_step_divides_the_error_by_two_to_the_order(method: str) -> None:
    steps = [1 / 32, 1 / 64, 1 / 128]
    errors = [error_of(method, time=2.0, fixed_step=step, accuracy=1e-9) for step in steps]
    orders = [math.log2(a / b) for a, b in pairwise(errors)]
    assert orders == pytest.approx([ORDERS[method]] * 2, abs=0.2)


class Turning(Subsystem):
    """A quaternion that turns about z with a rate that grows: N is not 1, and changes."""

    orientation = q_variable((1.0, 0.0, 0.0, 0.0))
    spin = u_variable((0.0, 0.0, 1.0))
    kinematics = quaternion_kinematics(orientation, spin)

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[:] = self.system.multiply_by_n(state, state.u)

    def realize_acceleration(self, state: State) -> None:
        state[self].upd_udot()[:] = 0.0, 0.0, state.time


@pytest.mark.parametrize(("method", "order"), [("Euler", 1), ("Verlet", 2)])
def test_our_methods_have_their_order_where_qdot_is_not_u(method: str, order: int) -> None:
    errors = []
    for step in (1 / 16, 1 / 32, 1 / 64):
        state = run_to(integrating(Turning(), method, fixed_step=step, accuracy=1e-9), 1.0)
        angle = 1.0 + 1 / 6
        expected = [math.cos(angle / 2), 0, 0, math.sin(angle / 2)]
        errors.append(np.abs(state.q - expected).max())
    orders = [math.log2(a / b) for a, b in pairwise(errors)]
    assert orders == pytest.approx([order] * 2, abs=0.3)


def test_verlet_keeps_the_energy_of_an_oscillation_for_long() -> None:
    """It oscillates with the step squared, but does not drift: 300 periods, 20 steps in each."""
    integrator = integrating(Oscillator(), "Verlet", fixed_step=math.pi / 20, accuracy=1e-9)
    energies = []
    for i in range(1, 31):
        place, speed = run_to(integrator, 10 * math.pi * i).y[:2].tolist()
        energies.append((2 * place) ** 2 + speed**2)
    assert 4 * 0.97 < min(energies) <= max(energies) < 4 * 1.03
    euler = integrating(Oscillator(), "RK23", fixed_step=math.pi / 20)
    place, speed = run_to(euler, 300 * math.pi).y[:2].tolist()
    assert (2 * place) ** 2 + speed**2 < 3  # which a method that is not symplectic does not


# ---------------------------------------------------------------------- the error of Verlet


class Clocked(Subsystem):
    """q' = cos(t), from 0."""

    place = q_variable(0.0)

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[0] = math.cos(state.time)


class Damped(Subsystem):
    """An oscillator whose force depends on its speed, too."""

    place = q_variable(1.0)
    speed = u_variable(0.3)

    def __init__(self, frequency: float = 5.0, damping: float = 0.6) -> None:
        self.frequency, self.damping = frequency, damping  # rad/s; 1 is critical

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[0] = self.speed(state)

    def realize_acceleration(self, state: State) -> None:
        w, drag = self.frequency, 2 * self.damping * self.frequency
        state[self].upd_udot()[0] = -(w**2) * self.place(state) - drag * self.speed(state)

    def matrix(self) -> Vector:
        """That of its derivatives: ydot = matrix y."""
        w, drag = self.frequency, 2 * self.damping * self.frequency
        return np.array([[0.0, 1.0], [-(w**2), -drag]])


@pytest.mark.parametrize("model", [Oscillator, Damped, DoublePendulum, Turning, Clocked])
def test_the_estimated_error_of_verlet_is_that_of_the_step(model: type[Subsystem]) -> None:
    """To first order; in a first step, which knows nothing of any before, up to a factor of 3."""
    h = 0.01
    integrator = integrating(model(), "Verlet", fixed_step=h, accuracy=1e-9)
    advancer = integrator._initialized("the test")
    for ratios in ((0.3, 3.2), (0.9, 1.1), (0.9, 1.1)):
        advancer.take_step(1.0)
        method, t, y = advancer.method, advancer.t, advancer.y
        if ratios[0] < 0.5:
            method.begin(t, y, 1.0)
        found = method.attempt(t + h, h)  # type: ignore[attr-defined]  # of one-step methods
        _, state = state_of(model())
        state.time, state.y = t, y
        exact = run_to(integrating(model(), state=state, accuracy=1e-12), t + h).y
        true, estimated = np.linalg.norm(exact - found.y), np.linalg.norm(found.errors)
        assert ratios[0] * true < estimated < ratios[1] * true


@examples(30)
@given(
    frequency=st.floats(0.2, 30.0),
    damping=st.floats(0.0, 1.0),
    accuracy=st.floats(1e-5, 1e-2),
)
@example(frequency=2.0, damping=0.0, accuracy=1e-5)
def test_verlet_is_as_accurate_as_its_steps_let_it_be(
    frequency: float, damping: float, accuracy: float
) -> None:
    """After two periods of any oscillator: of the order accuracy^(2/3), of what y is at most.

    That is 10 accuracy at 1e-3, and 46 accuracy at 1e-5.
    """
    model, time = Damped(frequency, damping), 4 * math.pi / frequency
    integrator = integrating(model, "Verlet", accuracy=accuracy)
    y = run_to(integrator, time).y
    error = np.abs(y - expm(model.matrix() * time) @ [1.0, 0.3]) / [1.0, max(1.0, frequency)]
    assert error.max() <= accuracy ** (2 / 3)


def test_steps_of_verlet_are_as_many_as_its_order_asks_for() -> None:
    """A thousandth of the accuracy takes ten times the steps, and free fall hardly any."""
    counts = []
    for accuracy in (1e-3, 1e-6):
        integrator = integrating(Oscillator(), "Verlet", accuracy=accuracy)
        run_to(integrator, 10.0)
        counts.append(integrator.statistics.num_steps_taken)
    assert counts[1] == pytest.approx(10 * counts[0], rel=0.05)

    class Falling(Subsystem):
        height = q_variable(0.0)
        speed = u_variable(0.0)

        def realize_velocity(self, state: State) -> None:
            state[self].upd_qdot()[0] = self.speed(state)

        def realize_acceleration(self, state: State) -> None:
            state[self].upd_udot()[0] = -9.81

    integrator = integrating(Falling(), "Verlet", accuracy=1e-6)
    assert run_to(integrator, 2.0).q[0] == pytest.approx(-2 * 9.81)
    assert integrator.statistics.num_steps_taken < 10


# ---------------------------------------------------------------------- weights


@METHOD
def test_what_has_a_larger_weight_is_computed_more_exactly(method: str) -> None:
    """Of two that do not know of each other, the step follows the one that counts."""
    counts = []
    for weights in ([1e4, 1.0], [1.0, 1.0], [1e-4, 1.0]):
        model = Decays(3.0, 0.01)
        _, state = state_of(model)
        state.z_weights = weights
        integrator = integrating(model, method, state, accuracy=1e-2)
        run_to(integrator, 10.0)
        counts.append(integrator.statistics.num_steps_taken)
    # rtol does not know of weights, so small ones change little
    assert counts[0] > counts[1] >= counts[2]


@examples(25)
@given(st.floats(1e-3, 1e3), st.floats(1e-3, 1e3), st.floats(1e-9, 1e-1))
def test_tolerances_are_those_that_are_documented(u: float, z: float, accuracy: float) -> None:
    system, state = state_of(Oscillator())
    state.u_weights, state.z_weights = [u], [z]
    found = tolerances_of(system, state, accuracy, use_infinity_norm=False)
    assert found.rtol == accuracy / 10
    np.testing.assert_allclose(found.atol, accuracy / 10 / np.array([u, u, z]))


def test_the_weight_of_q_is_the_largest_that_its_u_can_bring_about() -> None:
    system, state = state_of(Turning())
    state.u_weights = [1.0, 2.0, 5.0]
    found = tolerances_of(system, state, 1e-3, use_infinity_norm=False)
    np.testing.assert_allclose(1e-4 / found.atol, [5.0] * 4 + [1.0, 2.0, 5.0])
    state.u_weights = [3.0] * 3
    found = tolerances_of(system, state, 1e-3, use_infinity_norm=False)
    np.testing.assert_allclose(1e-4 / found.atol, [3.0] * 7)


@pytest.mark.parametrize("weight", [0.0, -1.0, math.inf, math.nan])
def test_a_weight_that_is_not_positive_is_refused_by_the_name_of_its_variable(
    weight: float,
) -> None:
    system, state = state_of(Oscillator())
    state.z_weights = [weight]
    integrator = Integrator(system)
    with pytest.raises(OutOfRangeError, match=r"the weight of oscillator\.heat") as caught:
        integrator.initialize(state)
    assert "z_weights" in caught.value.hint


# ---------------------------------------------------------------------- interpolation


@METHOD
@examples(5)
@given(times=st.lists(st.floats(0.0, 3.0), min_size=1, max_size=20))
def test_interpolated_states_are_as_exact_as_the_others(method: str, times: list[float]) -> None:
    accuracy = 1e-3 if method in COARSE else 1e-5
    integrator = integrating(Oscillator(), method, accuracy=accuracy)
    for time in sorted(times):
        state = run_to(integrator, time)
        assert state.time == time
        factor = 100 if method == "Euler" else 20
        np.testing.assert_allclose(state.y, Oscillator.solution(time), atol=factor * accuracy)


@METHOD
@pytest.mark.parametrize("has_constraints", [True, False])
def test_the_dense_output_is_continuous(method: str, has_constraints: bool) -> None:
    """At both ends of a step it is what y is there, after a projection, too."""
    model = Rod() if has_constraints and method in CONSTRAINED else DoublePendulum()
    integrator = integrating(model, method, accuracy=1e-3, project_every_step=has_constraints)
    advancer = integrator._initialized("the test")
    advancer.state._contents.guard = None
    y = advancer.y
    while advancer.t < 1.0:
        advancer.take_step(1.0)
        for time, expected in ((advancer.t_old, y), (advancer.t, advancer.y)):
            np.testing.assert_allclose(advancer.interpolate(time), expected, rtol=0, atol=1e-14)
        y = advancer.y


def test_a_system_without_continuous_variables_goes_on_in_time() -> None:
    system = System()
    integrator = Integrator(system, final_time=5.0)
    integrator.initialize(system.realize_topology())
    assert run_to(integrator, 2.0).time == 2.0
    assert integrator.advanced_time == 2.0
    assert run_to(integrator, 5.0).stage >= Stage.INSTANCE


@METHOD
def test_steps_are_short_enough_for_what_depends_on_the_time_only(method: str) -> None:
    state = run_to(integrating(Clocked(), method, accuracy=1e-4), 10.0)
    assert state.q[0] == pytest.approx(math.sin(10.0), abs=2e-2 if method == "Euler" else 1e-3)
