"""Bodies with mass that move: pendulums, a loop, a falling body, a motor that holds."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from stagecache import Assembler, Stage, State, simulate
from stagecache.multibody import (
    BallConstraint,
    Free,
    Gravity,
    MobilityConstantForce,
    MultibodySystem,
    Pin,
    Steady,
    Transform,
)
from tests.profiles import is_nightly

G = 9.81


def bar(mass: float, length: float) -> dict[str, object]:
    """A thin bar from the origin of its body along -y."""
    moment = mass * length**2 / 3
    return {"mass": mass, "center": [0, -length / 2, 0], "inertia": [moment, 0, moment]}


def pendulums(lengths: tuple[float, ...]) -> tuple[MultibodySystem, State]:
    system = MultibodySystem()
    body, end = system.matter.ground, 0.0
    for i, length in enumerate(lengths):
        body = system.matter.add_body(
            f"bar {i}",
            body,
            Pin(),
            inboard_frame=Transform(None, [0, -end, 0]),
            mass_properties=bar(1.5, length),
        )
        end = length
    system.add(Gravity(system.matter), "gravity")
    return system, system.new_state()


def test_a_pendulum_swings_as_its_equation_says() -> None:
    system, state = pendulums((0.8,))
    state.q = [1.0]
    trajectory = simulate(system, state, 3.0, accuracy=1e-9, every=0.5)
    rate = 1.5 * G / 0.8  # of a bar: m g l/2 over m l²/3
    wanted = solve_ivp(
        lambda _, y: [y[1], -rate * np.sin(y[0])],
        (0.0, 3.0),
        [1.0, 0.0],
        t_eval=trajectory.times,
        rtol=1e-11,
        atol=1e-12,
    )
    np.testing.assert_allclose(trajectory.q[:, 0], wanted.y[0], atol=1e-6)


def test_a_double_pendulum_keeps_its_energy() -> None:
    system, state = pendulums((0.8, 0.6))
    state.q = [2.0, -0.5]
    system.realize(state, Stage.VELOCITY)
    before = system.calc_energy(state)
    duration = 10.0 if is_nightly() else 2.0
    after = simulate(system, state, duration, accuracy=1e-8)[-1]
    system.realize(after, Stage.VELOCITY)
    assert system.calc_kinetic_energy(after) > 0.1
    assert system.calc_energy(after) == pytest.approx(before, rel=1e-6)


def loop(*, motor: bool = False) -> tuple[MultibodySystem, State]:
    """Crank, coupler and rocker, whose end is held by a pivot; an assembled State."""
    system = MultibodySystem()
    matter = system.matter
    turn = Steady(2.0) if motor else None
    crank = matter.add_body("crank", matter.ground, Pin(), mass_properties=bar(1, 0.5), motion=turn)
    here = Transform(None, [0, -0.5, 0])
    coupler = matter.add_body(
        "coupler", crank, Pin(), inboard_frame=here, mass_properties=bar(2, 1.2)
    )
    here = Transform(None, [0, -1.2, 0])
    rocker = matter.add_body(
        "rocker", coupler, Pin(), inboard_frame=here, mass_properties=bar(1, 1)
    )
    system.add_constraint(BallConstraint(matter.ground, [1.3, 0, 0], rocker, [0, -1, 0]), "pivot")
    system.add(Gravity(matter), "gravity")
    state = system.new_state()
    state.q = [0.4, 1.2, 1.5]
    if motor:
        system.realize(state, Stage.TIME)
        system.prescribe(state)
    Assembler(system).assemble(state)
    system.project(state, 1e-10)
    return system, state


def test_a_four_bar_linkage_swings_under_gravity() -> None:
    system, state = loop()
    system.realize(state, Stage.VELOCITY)
    before = system.calc_energy(state)
    trajectory = simulate(system, state, 1.0, accuracy=1e-7, every=0.1)
    assert np.ptp(trajectory.q[:, 0]) > 0.1
    for there in trajectory.states(Stage.VELOCITY):
        assert np.abs(there.qerr).max() < 1e-6
        assert system.calc_energy(there) == pytest.approx(before, abs=1e-4)


def test_a_loop_with_a_driven_crank_follows_it() -> None:
    """One of three joints is driven, and the constraint gives the others, whatever gravity does."""
    system, state = loop(motor=True)
    crank = system.matter.body("crank")
    trajectory = simulate(system, state, 0.5, accuracy=1e-7, every=0.1)
    for there in trajectory.states(Stage.ACCELERATION):
        assert crank.u(there) == pytest.approx([2.0])
        assert np.abs(there.qerr).max() < 1e-6
        np.testing.assert_allclose(there.udoterr, 0.0, atol=1e-8)


def test_a_free_body_falls_and_keeps_its_momentum() -> None:
    system = MultibodySystem()
    mass = {"mass": 2.0, "center": [0.1, 0.2, 0.0], "inertia": [0.4, 0.3, 0.5]}
    stone = system.matter.add_body("stone", system.matter.ground, Free(), mass_properties=mass)
    system.add(Gravity(system.matter), "gravity")
    state = system.new_state()
    stone.u.set(state, [0.3, 2.0, 0.1, 1.0, 3.0, 0.0])
    matter = system.matter
    start, momentum = matter.calc_center_of_mass(state), matter.calc_momentum(state)
    after = simulate(system, state, 1.5, accuracy=1e-8)[-1]
    fallen = start + momentum[3:] / 2.0 * 1.5 - [0, G * 1.5**2 / 2, 0]
    np.testing.assert_allclose(matter.calc_center_of_mass(after), fallen, atol=1e-6)
    np.testing.assert_allclose(matter.calc_momentum(after)[:3], momentum[:3], atol=1e-6)
    assert np.abs(after.q[:4] - state.q[:4]).max() > 0.1  # it has turned


def test_a_torque_by_inverse_dynamics_holds_an_arm() -> None:
    system, state = pendulums((0.8,))
    arm = system.matter.bodies[1]
    state.q = [0.7]
    torque = system.matter.calc_inverse_dynamics(state, [0.0])
    assert torque == pytest.approx([1.5 * G * 0.4 * np.sin(0.7)])
    motor = system.add(MobilityConstantForce(arm, 0, float(torque[0])), "motor")
    state = system.new_state()
    state.q = [0.7]
    after = simulate(system, state, 1.0)[-1]
    assert after.q == pytest.approx([0.7], abs=1e-9)
    assert motor.calc_power(after) == pytest.approx(0.0, abs=1e-9)
