"""Simbody's tests of forces, gravity and bushings, and of a particle that is driven."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from stagecache import Stage, State, Subsystem, cached, simulate
from stagecache.measures import Integral
from stagecache.multibody import (
    AbstractForce,
    AbstractMobilizer,
    Bushing,
    CustomForce,
    DiscreteForces,
    ForceSum,
    Free,
    Gimbal,
    Gravity,
    LinearBushing,
    MobilityConstantForce,
    MobilityDamper,
    MobilitySpring,
    MobilizedBody,
    MultibodySystem,
    Sinusoid,
    SinusoidalAcceleration,
    SinusoidalSpeed,
    Slider,
    Transform,
    Translation,
    TwoPointDamper,
    TwoPointSpring,
)
from tests.multibody.trees import random_mass, random_transform
from tests.originals.chains import Array, acceleration, chain, close

ORIGIN = (0.0, 0.0, 0.0)
MASS = {"mass": 1.0, "inertia": [1.0, 1.0, 1.0]}


def pair() -> tuple[MultibodySystem, MobilizedBody, MobilizedBody]:
    """Two bodies on Free joints, whose u are the motions of their origins in ground."""
    system = MultibodySystem()
    ground = system.matter.ground
    one = system.matter.add_body("one", ground, Free(), mass_properties=MASS)
    return system, one, system.matter.add_body("two", ground, Free(), mass_properties=MASS)


def scattered(system: MultibodySystem, seed: int = 1) -> State:
    rng = np.random.default_rng(seed)
    state = system.new_state()
    state.q, state.u = rng.normal(size=state.nq), rng.normal(size=state.nu)
    return state


def test_each_force_is_that_of_its_formula() -> None:
    system, one, two = pair()
    matter = system.matter

    def steady_pull(state: State, forces: ForceSum) -> None:
        apart = two.pose(state).translation - one.pose(state).translation
        pull = -2.0 * apart / np.linalg.norm(apart)
        forces.add_force(one, ORIGIN, pull)
        forces.add_force(two, ORIGIN, -pull)

    def drag(state: State, forces: ForceSum) -> None:
        for body in (one, two):
            for k, speed in enumerate(body.u(state).tolist()):
                forces.add_mobility_force(body, k, -2.0 * speed)

    discrete = DiscreteForces(matter)
    kinds: dict[str, AbstractForce] = {
        "constant": discrete,
        "steady pull": CustomForce(matter, steady_pull),
        "drag": CustomForce(matter, drag),
        "motor": MobilityConstantForce(one, 1, 2.0),
        "damper": MobilityDamper(one, 4, 2.0),
        "spring": TwoPointSpring(one, ORIGIN, two, ORIGIN, 2.0, 0.5),
        "strut": TwoPointDamper(one, ORIGIN, two, ORIGIN, 2.0),
        "gravity": Gravity(matter, (0.0, -2.0, 0.0)),
    }
    for name, force in kinds.items():
        system.add(force, name.replace(" ", "_"))
    state = scattered(system)
    discrete.set_body_force(state, one, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    apart = two.pose(state).translation - one.pose(state).translation
    length = float(np.linalg.norm(apart))
    along = apart / length
    rate = float((two.velocity(state) - one.velocity(state))[3:] @ along)
    unit = np.eye(12)
    between = np.array([*np.zeros(3), *along, *np.zeros(3), *-along])
    wanted = {
        "constant": np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, *np.zeros(6)]),
        "steady pull": -2.0 * between,
        "drag": -2.0 * state.u,
        "motor": 2.0 * unit[1],
        "damper": -2.0 * state.u[4] * unit[4],
        "spring": 2.0 * (length - 0.5) * between,
        "strut": 2.0 * rate * between,
        "gravity": -2.0 * (unit[4] + unit[10]),
    }
    for name, force in kinds.items():
        for other in kinds.values():
            other.is_enabled.set(state, other is force)
        system.realize(state, Stage.DYNAMICS)
        close(matter.applied_force(state), wanted[name])
        close(force.calc_power(state), wanted[name] @ state.u)
    for force in kinds.values():
        force.is_enabled.set(state, force is not kinds["drag"])
    system.realize(state, Stage.DYNAMICS)
    close(matter.applied_force(state), sum(wanted.values()) - wanted["drag"])


def test_springs_and_gravity_keep_the_energy_of_a_chain() -> None:
    system = chain(Gimbal, 4, gravity=(0.0, -1.0, 0.0))
    first, last = system.matter.bodies[1], system.matter.bodies[-1]
    system.add(MobilitySpring(first, 1, 0.1, 1.0))
    system.add(TwoPointSpring(first, ORIGIN, last, ORIGIN, 1.0, 4.0))
    state = scattered(system)
    system.realize(state, Stage.DYNAMICS)
    before = system.calc_energy(state)
    end = simulate(system, state, 2.0, accuracy=1e-6)[-1]
    system.realize(end, Stage.DYNAMICS)
    assert system.calc_kinetic_energy(end) != pytest.approx(system.calc_kinetic_energy(state))
    assert system.calc_energy(end) == pytest.approx(before, rel=1e-4)


def test_energies_and_forces_are_those_of_what_is_switched_on() -> None:
    system, one, two = pair()
    spring = system.add(TwoPointSpring(one, ORIGIN, two, ORIGIN, 2.0, 0.5), "spring")
    gravity = system.add(Gravity(system.matter, (0.0, -2.0, 0.0)), "gravity")
    state = system.new_state()
    one.set_q_to_fit_translation(state, [0.0, 1.0, 0.0])
    two.set_q_to_fit_translation(state, [1.0, 1.0, 0.0])
    for is_sprung, is_heavy in product([True, False], repeat=2):
        spring.is_enabled.set(state, is_sprung)
        gravity.is_enabled.set(state, is_heavy)
        system.realize(state, Stage.DYNAMICS)
        assert (spring.is_enabled(state), gravity.is_enabled(state)) == (is_sprung, is_heavy)
        assert system.calc_energy(state) == pytest.approx(0.25 * is_sprung + 4.0 * is_heavy)
        on_one = system.matter.applied_force(state)[3:6]
        close(on_one, [1.0 * is_sprung, -2.0 * is_heavy, 0.0])


def test_gravity_acts_at_centers_of_mass_and_its_acceleration_is_a_parameter() -> None:
    rng = np.random.default_rng(3)
    system = MultibodySystem()
    bodies = [
        system.matter.add_body(name, system.matter.ground, Free(), mass_properties=random_mass(rng))
        for name in ("one", "two")
    ]
    gravity = system.add(Gravity(system.matter, (0.0, 0.0, -50.0)), "gravity")
    state = scattered(system)
    for given in ((0.0, 0.0, -50.0), (1.0, 2.0, 3.0)):
        gravity.acceleration.set(state, given)
        system.realize(state, Stage.DYNAMICS)
        wanted, energy = [], 0.0
        for body in bodies:
            own = body.mass_properties
            force = own.mass * np.array(given)
            wanted += [*np.cross(body.pose(state).rotation @ own.center, force), *force]
            energy -= float(force @ body.station_position(state, own.center))
        close(system.matter.applied_force(state), wanted)
        assert gravity.potential_energy(state) == pytest.approx(energy)
        assert system.calc_potential_energy(state) == pytest.approx(energy)


def test_bodies_are_left_out_of_a_gravity_and_its_energy_has_a_zero_height() -> None:
    """The parameters are those of a State; another force, of other bodies, can be switched on."""
    system = chain(Gimbal, 4)
    matter = system.matter
    bodies = matter.bodies[1:]
    down, strength = np.array([0.6, 0.0, -0.8]), 50.0
    whole = system.add(Gravity(matter, strength * down, zero_height=17.0), "whole")
    left_out = [matter.ground, bodies[1]]
    some = system.add(Gravity(matter, strength * down, zero_height=10.3, excluded=left_out), "some")
    assert (whole.excluded, some.excluded) == ((), tuple(left_out))
    state = scattered(system)
    assert (whole.zero_height(state), some.zero_height(state)) == (17.0, 10.3)
    for force, without, height in ((whole, 0, 17.0), (whole, 0, 1.25), (some, bodies[1], 10.3)):
        whole.is_enabled.set(state, force is whole)
        some.is_enabled.set(state, force is some)
        force.zero_height.set(state, height)
        system.realize(state, Stage.ACCELERATION)
        on_u, energy = np.zeros(state.nu), 0.0
        for body in bodies:
            if body is not without:
                own = body.mass_properties
                on_u += body.station_jacobian(state, own.center).T @ (own.mass * strength * down)
                above = -float(body.station_position(state, own.center) @ down)
                energy += own.mass * strength * (above - height)
        close(matter.applied_force(state), on_u)
        assert force.potential_energy(state) == pytest.approx(energy)
        assert system.calc_potential_energy(state) == pytest.approx(energy)
        on_all = matter.multiply_by_m(state, state.udot) - matter.bias_force(state)
        close(on_all, on_u, 1e-7)


# ---------------------------------------------------------------------- bushings


STIFF, DAMPED = np.array([1.0, 2.0, 1.0, 10.0, 5.0, 8.0]), np.array([0.1, 0.2, 0.1, 1.0, 0.5, 0.8])


class Dissipation(Subsystem):
    """What a force takes from the bodies and does not store [W]."""

    def __init__(self, force: AbstractForce) -> None:
        self.force = force

    @cached(prerequisites=lambda self: (self.system.u,), available_from=Stage.DYNAMICS)
    def power(self, state: State) -> float:
        stiff = -STIFF * self.force.calc_coordinates(state)  # type: ignore[attr-defined]
        return float(stiff @ state[self.force.matter].u[6:]) - self.force.calc_power(state)


def test_a_bushing_has_the_coordinates_of_a_joint_and_all_energy_is_accounted_for() -> None:
    rng = np.random.default_rng(4)
    on_one, on_two = random_transform(rng), random_transform(rng)
    system = MultibodySystem()
    one = system.matter.add_body(
        "one", system.matter.ground, Free(), mass_properties=random_mass(rng)
    )
    two = system.matter.add_body(
        *("two", one, Bushing()),
        inboard_frame=on_one,
        outboard_frame=on_two,
        mass_properties=random_mass(rng),
    )
    system.add(TwoPointSpring(system.matter.ground, ORIGIN, one, [0.1, 0.0, 0.0], 10.0, 0.0))
    bushing = LinearBushing(one, two, STIFF, DAMPED, first_frame=on_one, second_frame=on_two)
    system.add(bushing, "bushing")
    lost = system.add(Integral(system.add(Dissipation(bushing)).power), "lost")
    state = system.new_state()
    assert bushing.stiffness(state) == tuple(STIFF)
    one.q.set(state, [0.9, 0.1, 0.3, -0.2, 0.5, 0.6, 0.7])
    two.q.set(state, rng.uniform(-0.4, 0.4, 6))
    state.u = rng.uniform(-0.5, 0.5, state.nu)
    energies = []
    for row in (state, simulate(system, state, 1.0, accuracy=1e-7)[-1]):
        system.realize(row, Stage.ACCELERATION)
        close(bushing.calc_coordinates(row), two.q(row))
        power = -(STIFF * two.q(row) + DAMPED * two.u(row)) @ two.u(row)
        assert bushing.calc_power(row) == pytest.approx(power)
        energies.append(system.calc_energy(row) + float(lost.value(row)[0]))
    assert lost.value(row)[0] > 1e-2
    assert energies[1] == pytest.approx(energies[0], abs=1e-5)


def test_a_bushing_from_a_moving_frame_is_a_reversed_joint_with_springs() -> None:
    """The body is free in one model, and on six springs and dampers of a joint in the other."""
    attached, pillar = Transform(None, [0.5, 0.0, 0.0]), Transform(None, [1.0, 1.0, 1.0])
    mass = random_mass(np.random.default_rng(5))
    found: list[list[Array]] = []
    pose: Any = None
    velocity: Any = None
    for is_free in (False, True):
        system = MultibodySystem()
        ground = system.matter.ground
        joint: AbstractMobilizer = Free() if is_free else Bushing()
        frames: dict[str, Any] = {} if is_free else {"inboard_frame": pillar}
        body = system.matter.add_body(
            *("body", ground, joint),
            outboard_frame=attached,
            mass_properties=mass,
            reverse=not is_free,
            **frames,
        )
        if is_free:
            frames = {"first_frame": attached, "second_frame": pillar}
            system.add(LinearBushing(body, ground, STIFF, DAMPED, **frames))
        else:
            for k in range(6):
                system.add(MobilitySpring(body, k, STIFF[k]))
                system.add(MobilityDamper(body, k, DAMPED[k]))
        state = system.new_state()
        if is_free:
            body.set_q_to_fit_transform(state, pose @ attached)
            at = pose.rotation @ attached.translation
            body.set_u_to_fit_velocity(
                state, [*velocity[:3], *(velocity[3:] + np.cross(velocity[:3], at))]
            )
        else:
            body.q.set(state, [0.2, -0.3, 0.4, 0.5, -0.6, 0.7])
            body.u.set(state, [0.3, 0.2, 0.1, -0.1, -0.2, -0.3])
        pose, velocity = body.pose(state), body.velocity(state).copy()
        system.realize(state, Stage.ACCELERATION)
        found.append([pose.matrix, velocity, acceleration(body, state, ORIGIN)])
    for one, other in zip(*found, strict=True):
        close(one, other, 1e-6)


# ---------------------------------------------------------------------- a particle


PHASES = [0.1, 0.2, 0.3]
ALONG = [
    Rotation.identity(),
    Rotation.from_euler("z", np.pi / 2),
    Rotation.from_euler("y", -np.pi / 2),
]


@pytest.mark.parametrize("kind", [None, Sinusoid, SinusoidalSpeed, SinusoidalAcceleration])
def test_a_particle_moves_alike_on_one_joint_and_on_three(kind: Any) -> None:
    """Driven or free, on a spring: its reactions are what its acceleration needs."""
    system = MultibodySystem()
    body = ground = system.matter.ground
    motion = kind and kind(1.5, 1.1, PHASES)
    one = system.matter.add_body("one", ground, Translation(), mass_properties=MASS, motion=motion)
    for k, turn in enumerate(ALONG):
        frame = Transform(turn.as_matrix())
        body = system.matter.add_body(
            *(f"slide {k}", body, Slider()),
            inboard_frame=frame,
            outboard_frame=frame,
            mass_properties=MASS if k == 2 else None,
            motion=kind and kind(1.5, 1.1, PHASES[k]),
        )
    for each in (one, body):
        system.add(TwoPointSpring(ground, [1.0, -2.0, 0.5], each, [0.2, 0.1, -0.3], 1.0, 0.7))
    system.add(Gravity(system.matter, (1.1, 1.2, 1.3)))
    state = system.new_state()
    one.set_q_to_fit_translation(state, [0.5, 0.6, -0.7])
    one.u.set(state, [0.1, -0.2, 0.3])
    for k in range(3):
        slide = system.matter.bodies[2 + k]
        slide.q.set(state, one.q(state)[k : k + 1])
        slide.u.set(state, one.u(state)[k : k + 1])
    state.time = 0.3
    system.realize(state, Stage.TIME)
    system.prescribe(state)
    system.realize(state, Stage.ACCELERATION)
    close(one.pose(state).matrix, body.pose(state).matrix)
    close(one.velocity(state), body.velocity(state))
    change = acceleration(one, state, ORIGIN)
    close(change, acceleration(body, state, ORIGIN))
    reactions = system.calc_reaction_forces(state)
    acting = system.matter.applied_force(state)[:3]
    close(reactions[one.index][3:], change[3:] - acting)
    if kind is None:
        close(reactions[one.index][3:], 0)
