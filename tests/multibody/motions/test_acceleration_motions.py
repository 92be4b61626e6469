"""Motions that prescribe the udot of a joint, and leave its q and u free."""

from collections.abc import Sequence
from math import sin
from typing import Any

import numpy as np
import pytest
from scipy.integrate import simpson

from stagecache import Stage, State, simulate
from stagecache.errors import (
    InconsistentConstraintsError,
    MotionError,
    NotANumberError,
    OutOfRangeError,
    ShapeError,
    StageOutOfRangeError,
)
from stagecache.inspection import strict, verify
from stagecache.multibody import (
    AbstractAccelerationMotion,
    Ball,
    ConstantSpeedConstraint,
    CoordinateCouplerConstraint,
    DiscreteForces,
    Gimbal,
    Gravity,
    MobilityDamper,
    MobilizedBody,
    MultibodySystem,
    Pin,
    Sinusoid,
    SinusoidalAcceleration,
    SinusoidalSpeed,
    Slider,
    Transform,
    with_euler_angles,
)
from stagecache.study.linear.linearize import linearize
from stagecache.testing import check_coherence
from tests.profiles import examples

BAR: Any = {"mass": 2.0, "center": [0.0, -0.5, 0.0], "inertia": np.diag([1.0, 0.2, 1.0])}


class Damped(AbstractAccelerationMotion):
    """An oscillator; of a Ball, about its axes."""

    def udot(self, time: float, q: Sequence[float], u: Sequence[float]) -> list[float]:
        return [-4.0 * angle - 0.4 * speed for angle, speed in zip(q, u, strict=True)]


class Driven(AbstractAccelerationMotion):
    def udot(self, time: float, q: Sequence[float], u: Sequence[float]) -> list[float]:
        return [sin(3.0 * time) - 4.0 * q[0] - 0.4 * u[0] * abs(u[0])]


def machine(motion: Any, joint: Any = None) -> tuple[MultibodySystem, MobilizedBody, State]:
    """A driven crank, and a pendulum that hangs from it."""
    system = MultibodySystem()
    crank = system.matter.add_body(
        "crank", system.matter.ground, joint or Pin(), mass_properties=BAR, motion=motion
    )
    system.matter.add_body(
        "bob",
        crank,
        Pin(),
        inboard_frame=Transform(None, [0.3, 0.0, 0.0]),
        mass_properties=BAR,
    )
    system.add(Gravity(system.matter))
    return system, crank, system.new_state()


def test_u_is_the_integral_of_the_motion_and_q_that_of_u() -> None:
    motion = SinusoidalAcceleration(2.0, 3.0, 0.4, 0.5)
    system, crank, state = machine(motion, Slider())
    crank.q.set(state, [0.7])
    crank.u.set(state, [-0.2])
    rows = simulate(system, state, 2.0, accuracy=1e-9)
    t = rows.times
    start = -0.2 + 2.0 / 3.0 * np.cos(0.4)
    u = start + 0.5 * t - 2.0 / 3.0 * np.cos(3.0 * t + 0.4)
    q = 0.7 + start * t + 0.25 * t**2 - 2.0 / 9.0 * (np.sin(3.0 * t + 0.4) - np.sin(0.4))
    np.testing.assert_allclose(rows[crank.u][:, 0], u, atol=1e-7)
    np.testing.assert_allclose(rows[crank.q][:, 0], q, atol=1e-7)


def test_a_motion_of_q_and_u_is_an_oscillator_whatever_hangs_from_it() -> None:
    system, crank, state = machine(Damped())
    crank.q.set(state, [0.5])
    rows = simulate(system, state, 2.0, accuracy=1e-9)
    t, w = rows.times, np.sqrt(4.0 - 0.04)
    expected = 0.5 * np.exp(-0.2 * t) * (np.cos(w * t) + 0.2 / w * np.sin(w * t))
    np.testing.assert_allclose(rows[crank.q][:, 0], expected, atol=1e-7)


def test_the_others_move_as_under_motions_of_q_and_u() -> None:
    """All prescribe the same udot, so what hangs from the crank swings alike."""
    found = []
    for motion in (
        SinusoidalAcceleration(-6.0, 3.0),
        SinusoidalSpeed(2.0, 3.0, np.pi / 2),
        Sinusoid(2.0 / 3.0, 3.0),
    ):
        system, crank, state = machine(motion)
        crank.u.set(state, [2.0])
        system.prescribe(state)
        found.append(simulate(system, state, 1.5, accuracy=1e-9)[-1].y)
    np.testing.assert_allclose(found[0], found[2], atol=1e-6)
    np.testing.assert_allclose(found[1], found[2], atol=1e-6)


def test_the_forces_of_a_motion_give_its_udot_where_a_motor_applies_them() -> None:
    system, crank, state = machine(Driven())
    motor = system.add(DiscreteForces(system.matter), "motor")
    state = system.new_state()
    state.time, state.q, state.u = 0.3, [0.5, 0.2], [1.0, -2.0]
    system.realize(state, Stage.ACCELERATION)
    udot, forces = state.udot.copy(), system.calc_motion_forces(state)
    assert system.calc_motion_power(state) == pytest.approx(forces[0] * 1.0)
    assert forces[1] == 0.0
    crank.follows_motion.set(state, False)
    motor.set_mobility_force(state, crank, 0, forces[0])
    system.realize(state, Stage.ACCELERATION)
    np.testing.assert_allclose(state.udot, udot, atol=1e-12)
    np.testing.assert_array_equal(system.calc_motion_forces(state), 0.0)


@pytest.mark.parametrize(
    "motion", [Driven(), SinusoidalSpeed(1.0, 3.0), Sinusoid([0.5], 2.0)], ids=["udot", "u", "q"]
)
def test_power_of_motions_and_of_dampers_is_the_change_of_energy(motion: Any) -> None:
    system, _, state = machine(motion)
    damper = system.add(MobilityDamper(system.matter.body("bob"), 0, 0.3), "damper")
    state = system.new_state()
    state.q, state.u = [0.5, 0.2], [0.3, -2.0]
    system.prescribe(state)
    rows = simulate(system, state, 2.0, accuracy=1e-10, every=0.005)
    states = list(rows.states(Stage.ACCELERATION))
    power = [system.calc_motion_power(row) + damper.calc_power(row) for row in states]
    change = system.calc_energy(states[-1]) - system.calc_energy(states[0])
    assert abs(change) > 0.1
    assert simpson(power, x=rows.times) == pytest.approx(change, abs=1e-6)


def test_angles_are_given_for_a_quaternion() -> None:
    system, ball, state = machine(Damped(), Ball())
    state.q = [*system.matter.body("crank").mobilizer.quaternions_of([0.3, -0.4, 0.5]), 0.1]
    state.u = [1.0, 2.0, -1.0, 0.5]
    twin = with_euler_angles(system.matter, state)
    for each in (state, twin):
        system.realize(each, Stage.ACCELERATION)
    expected = [-1.2 - 0.4, 1.6 - 0.8, -2.0 + 0.4]
    np.testing.assert_allclose(ball.udot(state), expected, atol=1e-12)
    np.testing.assert_allclose(state.udot, twin.udot, atol=1e-12)


def test_prescribe_writes_nothing_and_locks_and_switches_count_as_ever() -> None:
    system, crank, state = machine(Driven())
    state.q, state.u = [0.3, 0.1], [0.2, 0.4]
    system.realize(state, Stage.TIME)
    assert system.free_q_index(state).tolist() == [0, 1]
    assert system.free_u_index(state).tolist() == [0, 1]
    assert not system.prescribe(state)
    crank.lock(state)
    system.realize(state, Stage.TIME)
    assert system.prescribe(state)
    system.realize(state, Stage.ACCELERATION)
    assert crank.u(state).tolist() == crank.udot(state).tolist() == [0.0]
    crank.unlock(state)
    system.realize(state, Stage.ACCELERATION)
    assert crank.udot(state)[0] == pytest.approx(-1.2)
    crank.follows_motion.set(state, False)
    system.realize(state, Stage.ACCELERATION)
    assert crank.udot(state)[0] != pytest.approx(-1.2)


def test_a_lock_holds_udot_of_a_joint_or_of_one_coordinate() -> None:
    system, crank, state = machine(Driven())
    state.u = [0.2, 0.4]
    crank.lock(state, [1.5], level=Stage.ACCELERATION)
    assert crank.is_locked(state)
    assert not system.prescribe(state)
    last = simulate(system, state, 2.0, accuracy=1e-8)[-1]
    assert crank.u(last)[0] == pytest.approx(3.2)
    assert crank.q(last)[0] == pytest.approx(0.4 + 3.0)
    crank.lock(state, level=Stage.ACCELERATION)
    system.realize(state, Stage.ACCELERATION)
    assert crank.udot(state).tolist() == [0.0]
    gimbal = MultibodySystem()
    head = gimbal.matter.add_body("head", gimbal.matter.ground, Gimbal(), mass_properties=BAR)
    gimbal.add(Gravity(gimbal.matter))
    state = gimbal.new_state()
    state.q = [0.5, 0.2, 0.3]
    head.lock(state, 2.0, level=Stage.ACCELERATION, coordinate=1)
    gimbal.realize(state, Stage.ACCELERATION)
    assert head.udot(state)[1] == pytest.approx(2.0)
    assert head.udot(state)[0] != 0.0
    forces = gimbal.calc_motion_forces(state)
    assert [force != 0.0 for force in forces] == [False, True, False]
    with pytest.raises(StageOutOfRangeError, match="nothing is held"):
        head.lock(state, level=Stage.DYNAMICS)


def test_motions_of_all_levels_go_together_in_any_order() -> None:
    system = MultibodySystem()
    motions = [
        SinusoidalAcceleration(1.0, 2.0),
        None,
        Sinusoid(0.3, 2.0),
        Damped(),
        SinusoidalSpeed(0.4, 2.0),
    ]
    link = system.matter.ground
    for i, motion in enumerate(motions):
        link = system.matter.add_body(f"{i}", link, Pin(), mass_properties=BAR, motion=motion)
    state = system.new_state()
    state.time, state.q = 0.4, np.full(5, 0.1)
    system.matter.bodies[2].lock(state)
    system.prescribe(state)
    system.realize(state, Stage.ACCELERATION)
    s, c = np.sin(0.8), np.cos(0.8)
    np.testing.assert_allclose(state.q, [0.1, 0.1, 0.3 * s, 0.1, 0.1], atol=1e-15)
    np.testing.assert_allclose(state.u, [0.0, 0.0, 0.6 * c, 0.0, 0.4 * s], atol=1e-15)
    np.testing.assert_allclose(state.udot, [s, 0.0, -1.2 * s, -0.4, 0.8 * c], atol=1e-12)


def test_bodies_without_mass_move_by_it_as_well() -> None:
    system = MultibodySystem()
    hand = system.matter.add_body("hand", system.matter.ground, Pin(), motion=Damped())
    state = system.new_state()
    hand.q.set(state, [0.5])
    system.realize(state, Stage.ACCELERATION)
    assert (state.udot[0], state.qdotdot[0]) == (-2.0, -2.0)
    assert system.calc_motion_forces(state).tolist() == [0.0]
    assert simulate(system, state, 1.0)[-1].q[0] < 0.0


def test_forces_of_motions_are_refused_where_some_udot_is_not_known() -> None:
    system = MultibodySystem()
    hand = system.matter.add_body("hand", system.matter.ground, Pin(), motion=Damped())
    system.matter.add_body("finger", hand, Pin())
    state = system.new_state()
    system.realize(state, Stage.ACCELERATION)
    for ask in (system.calc_motion_forces, system.calc_motion_power):
        with pytest.raises(NotANumberError, match="the udot of body 'finger'"):
            ask(state)


def test_a_constraint_acts_on_the_others_and_moves_q_and_u_in_projections() -> None:
    system, crank, state = machine(Damped())
    bob = system.matter.body("bob")
    sum_of_both = CoordinateCouplerConstraint(
        [(crank, 0), (bob, 0)], function=lambda q: q[0] + q[1]
    )
    system.add_constraint(sum_of_both)
    state = system.new_state()
    state.q, state.u = [0.5, 0.1], [1.0, 0.0]
    system.project(state, 1e-10)
    np.testing.assert_allclose(state.q, [0.2, -0.2], atol=1e-9)
    np.testing.assert_allclose(state.u, [0.5, -0.5], atol=1e-9)
    system.realize(state, Stage.ACCELERATION)
    np.testing.assert_allclose(state.udot, [-1.0, 1.0], atol=1e-5)
    udot, motor = state.udot.copy(), system.calc_motion_forces(state)[0]
    twin = system.matter.calc_inverse_dynamics(state, udot)
    assert motor == pytest.approx(twin[0] - twin[1])  # the coupler acts on both alike


def test_a_constraint_on_the_same_u_contradicts_it() -> None:
    system, crank, _ = machine(Damped())
    system.add_constraint(ConstantSpeedConstraint(crank, 0.0))
    state = system.new_state()
    state.q = [0.5, 0.0]
    with pytest.raises(InconsistentConstraintsError):
        system.realize(state, Stage.ACCELERATION)


def test_a_linearization_has_its_derivatives() -> None:
    system, _, state = machine(Damped())
    state.q = [0.5, 0.2]
    found = linearize(system, state)
    np.testing.assert_allclose(found.A[2], [-4.0, 0.0, -0.4, 0.0], atol=1e-6)


def test_strict_mode_and_the_kit_find_nothing() -> None:
    system, crank, state = machine(Driven())
    with strict() as log, verify(state):
        for time in (0.2, 0.4):
            state.time = time
            state.q = state.q + 0.1
            system.realize(state, Stage.ACCELERATION)
            crank.acceleration(state)
    assert log.undeclared == ()
    assert check_coherence(system, settings=examples(8), seed=1).examples > 0
    assert "driven_udot" in f"{state.impact(crank.q)}"


def test_one_of_your_own_is_shown_by_its_name() -> None:
    assert repr(Damped()) == "Damped()"
    assert repr(SinusoidalAcceleration(1.0, 2.0)).startswith("SinusoidalAcceleration(")


class TooMany(Damped):
    def udot(self, time: float, q: Sequence[float], u: Sequence[float]) -> list[float]:
        return [1.0, 2.0]


class Undefined(Damped):
    def udot(self, time: float, q: Sequence[float], u: Sequence[float]) -> list[float]:
        return [float("nan")]


class Failing(Damped):
    def udot(self, time: float, q: Sequence[float], u: Sequence[float]) -> list[float]:
        return [1.0 / q[0]]


@pytest.mark.parametrize(
    ("motion", "error"),
    [(TooMany(), ShapeError), (Undefined(), OutOfRangeError), (Failing(), ZeroDivisionError)],
)
def test_wrong_motions(motion: Any, error: type[Exception]) -> None:
    system = MultibodySystem()
    with pytest.raises(error) as found:
        system.matter.add_body("a", system.matter.ground, Pin(), motion=motion)
    notes = getattr(found.value, "__notes__", [])
    assert "body 'a'" in f"{found.value} {notes}"
    assert len(system.matter.bodies) == 1


def test_a_motion_needs_its_method() -> None:
    system = MultibodySystem()
    with pytest.raises(MotionError, match="not a motion"):
        system.matter.add_body("a", system.matter.ground, Pin(), motion=Damped)  # type: ignore[arg-type]  # a class
