"""Simbody's TestCustomConstraints: couplers and motors, by what they hold and the work they do."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from stagecache import Stage, State, simulate
from stagecache.measures import Integral
from stagecache.multibody import (
    AbstractConstraint,
    Ball,
    ConstantOrientationConstraint,
    ConstantSpeedConstraint,
    CoordinateCouplerConstraint,
    Cylinder,
    Gimbal,
    Linear,
    MultibodySystem,
    Polynomial,
    PrescribedMotionConstraint,
    SpeedCouplerConstraint,
)
from tests.originals.chains import Array, chain, close, settled

G = (0.5, -2.0, -3.0)
SKEW = (0.1, 0.2, 0.3)


def plain(x: Array) -> float:
    return float(x[0])


def weighted(x: Array) -> float:
    return float(x[0] + 2 * x[1] + 3 * x[2])


def of_plain(_: Array) -> list[float]:
    return [1.0]


def of_weighted(_: Array) -> list[float]:
    return [1.0, 2.0, 3.0]


def same(one: State, other: State, names: Sequence[str]) -> None:
    for name in names:
        close(getattr(one, name), getattr(other, name), 1e-7)


def test_three_couplers_of_angles_hold_as_a_constant_orientation() -> None:
    coupled = chain(Gimbal, gravity=G)
    link = coupled.matter.bodies[1]
    for k in range(3):
        coupled.add_constraint(
            CoordinateCouplerConstraint([link.coordinate(k)], function=plain, gradient=of_plain)
        )
    held = chain(Gimbal, gravity=G)
    ground, first = held.matter.bodies[:2]
    held.add_constraint(ConstantOrientationConstraint(ground, first))
    one = settled(coupled)
    same(one, settled(held, q=one.q, u=one.u), ("q", "u", "qdot", "udot", "qdotdot"))


def test_a_coupler_of_one_speed_holds_as_a_constant_speed() -> None:
    coupled, held = (chain(Gimbal, gravity=G) for _ in range(2))
    coupled.add_constraint(
        SpeedCouplerConstraint([(coupled.matter.bodies[1], 2)], function=plain, gradient=of_plain)
    )
    held.add_constraint(ConstantSpeedConstraint(held.matter.bodies[1], 0.0, index=2))
    one = settled(coupled)
    same(one, settled(held, q=one.q, u=one.u), ("q", "u", "qdot", "udot", "qdotdot"))


Tie = Callable[[MultibodySystem], list[AbstractConstraint]]


def ball_coupler(system: MultibodySystem) -> list[AbstractConstraint]:
    return [
        CoordinateCouplerConstraint(
            [system.matter.bodies[1].coordinate(k) for k in range(3)],
            function=weighted,
            gradient=of_weighted,
        )
    ]


def coordinate_coupler(system: MultibodySystem) -> list[AbstractConstraint]:
    one, third = system.matter.bodies[1], system.matter.bodies[3]
    places = [one.coordinate(0), one.coordinate(1), third.coordinate(1)]
    return [CoordinateCouplerConstraint(places, function=weighted, gradient=of_weighted)]


def speed_coupler(system: MultibodySystem) -> list[AbstractConstraint]:
    speeds = [(system.matter.bodies[k], i) for k, i in ((1, 0), (2, 0), (3, 1))]
    return [SpeedCouplerConstraint(speeds, function=weighted, gradient=of_weighted)]


def of_speeds_and_a_place(system: MultibodySystem) -> list[AbstractConstraint]:
    one, two, three = system.matter.bodies[1:]
    return [
        SpeedCouplerConstraint(
            [(one, 0), (two, 1)],
            [three.coordinate(1)],
            function=weighted,
            gradient=of_weighted,
        )
    ]


def one_motor(system: MultibodySystem) -> list[AbstractConstraint]:
    return [PrescribedMotionConstraint(system.matter.bodies[1].coordinate(1), Linear(0.1))]


def two_motors(system: MultibodySystem) -> list[AbstractConstraint]:
    body = system.matter.bodies[2]
    return [
        PrescribedMotionConstraint(body.coordinate(1), Linear(0.1)),
        PrescribedMotionConstraint(body.coordinate(0), Polynomial([1.1, -0.2, 0.5])),
    ]


@pytest.mark.parametrize(
    ("mobilizer", "tie", "is_workless"),
    [
        (Cylinder, coordinate_coupler, True),
        (Gimbal, speed_coupler, True),
        (Cylinder, of_speeds_and_a_place, False),
        (Cylinder, one_motor, False),
        (Cylinder, two_motors, False),
    ],
)
def test_energy_changes_by_the_work_of_a_constraint(
    mobilizer: Callable[[], Any], tie: Tie, is_workless: bool
) -> None:
    system = chain(mobilizer, 3, inboard=SKEW, gravity=G)
    constraints = tie(system)
    works = []
    for constraint in constraints:
        system.add_constraint(constraint)
        works.append(system.add(Integral(constraint.power)))
    start = settled(system)
    for work in works:
        work.value.set(start, [0.0])
    system.realize(start, Stage.ACCELERATION)
    before = system.calc_energy(start)
    trajectory = simulate(system, start, 1.0, accuracy=1e-7, every=0.25)
    powers = []
    for state in trajectory:
        system.realize(state, Stage.ACCELERATION)
        close(np.concatenate([constraint.error(state) for constraint in constraints]), 0, 1e-7)
        done = sum(float(work.value(state)[0]) for work in works)
        assert system.calc_energy(state) - done == pytest.approx(before, abs=1e-4)
        powers.append([abs(constraint.power(state)) for constraint in constraints])
    assert (np.max(powers) < 1e-5) == is_workless


def test_a_coupler_of_the_angles_of_a_ball_keeps_energy() -> None:
    """In quaternions too it ties angles, which are not its q: a State has to be in angles."""
    system = chain(Ball, 3, inboard=SKEW, gravity=G)
    [coupler] = ball_coupler(system)
    system.add_constraint(coupler)
    start = system.new_state()
    system.matter.use_euler_angles.set(start, True)
    system.realize(start, Stage.MODEL)
    start.q = np.linspace(0.1, 0.5, start.nq)
    start.u = np.linspace(0.3, -0.3, start.nu)
    system.realize(start, Stage.TIME)
    system.project(start, 1e-11)
    system.realize(start, Stage.ACCELERATION)
    before = system.calc_energy(start)
    for state in simulate(system, start, 1.0, accuracy=1e-7, every=0.25):
        system.realize(state, Stage.VELOCITY)
        close(coupler.error(state), 0, 1e-7)
        assert system.calc_energy(state) == pytest.approx(before, abs=1e-4)
