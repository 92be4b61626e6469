"""Simbody's tests of a matter: stations, Jacobians by hand, operators, reactions, and fits."""

from math import pi, sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from stagecache import Assembler, Stage, load_state
from stagecache.errors import StageOutOfRangeError
from stagecache.multibody import (
    Ball,
    ConstantAccelerationConstraint,
    ConstantSpeedConstraint,
    CustomForce,
    Cylinder,
    DiscreteForces,
    ForceSum,
    Free,
    Markers,
    MultibodySystem,
    Pin,
    RodConstraint,
    Slider,
    Transform,
)
from tests.multibody.trees import Tree, make_tree, trees
from tests.originals.chains import acceleration, close
from tests.profiles import examples

ORIGIN = (0.0, 0.0, 0.0)


def test_points_and_vectors_go_from_body_to_body() -> None:
    tree = make_tree([Free, Free], [0, 0], 4, has_mass=True)
    state, (_, one, two) = tree.state, tree.bodies
    tree.system.realize(state, Stage.ACCELERATION)
    point = np.array([0.5, 1.0, -1.5])
    pose, other = one.pose(state), two.pose(state)
    there = one.station_position(state, point)
    close(one.station_position(state, ORIGIN), pose.translation)
    close(pose.inverse().apply(there), point)
    close(other.inverse().apply(there), (other.inverse() @ pose).apply(point))
    apart = pose.translation - other.translation
    close(np.linalg.norm(other.inverse().apply(pose.translation)), np.linalg.norm(apart))
    center = two.mass_properties.center
    close(two.station_position(state, center), other.apply(center))
    close(there - pose.translation, pose.rotation @ point)
    close(one.station_velocity(state, ORIGIN), one.velocity(state)[3:])
    spin, turning = one.velocity(state)[:3], acceleration(one, state, ORIGIN)
    arm = pose.rotation @ point
    close(one.station_velocity(state, point), one.velocity(state)[3:] + np.cross(spin, arm))
    wanted = turning[3:] + np.cross(turning[:3], arm) + np.cross(spin, np.cross(spin, arm))
    close(acceleration(one, state, point)[3:], wanted)


@pytest.mark.parametrize(
    ("angle", "station", "speed"),
    [
        (0.0, ORIGIN, [0.0, -1.0, 0.0]),
        (pi / 2, ORIGIN, [1.0, 0.0, 0.0]),
        (pi / 4, [0.0, 1.0, 0.0], [0.0, -sqrt(2.0), 0.0]),
    ],
)
def test_jacobians_of_a_pendulum_are_those_by_hand(
    angle: float, station: list[float], speed: list[float]
) -> None:
    """A body on a pin, a metre to the left of it."""
    system = MultibodySystem()
    body = system.matter.add_body(
        "body", system.matter.ground, Pin(), outboard_frame=Transform(None, [1.0, 0.0, 0.0])
    )
    group = system.matter.add_stations("points", [body], [station])
    state = system.new_state()
    state.q = [angle]
    system.realize(state, Stage.VELOCITY)
    close(body.station_jacobian(state, station)[:, 0], speed)
    close(body.frame_jacobian(state, station)[:, 0], [0.0, 0.0, 1.0, *speed])
    close(group.jacobian(state).reshape(3), speed)
    state.u = [1.0]
    close(body.station_velocity(state, station), speed)


def test_the_diagonal_of_m_has_the_moments_of_all_that_is_outboard() -> None:
    """Two point masses of 3 kg, 1.5 m from the first pin, and 2 m from the second."""
    system = MultibodySystem()
    body = system.matter.ground
    for i, arm in enumerate((1.5, 2.0)):
        outboard = Transform(None, [arm, 0.0, 0.0])
        mass = {"mass": 3.0}
        body = system.matter.add_body(
            f"body {i}", body, Pin(), outboard_frame=outboard, mass_properties=mass
        )
    state = system.new_state()
    wanted = 3.0 * (1.5**2 + 3.5**2), 3.0 * 2.0**2
    close(np.diag(system.matter.m_matrix(state)), wanted)
    version = system.matter.m_matrix.version(state)
    body.q.set(state, [pi / 4])
    assert not system.matter.m_matrix.is_valid(state)
    changed = 3.0 * (1.5**2 + 1.5**2 + 2.0**2 + 2 * 1.5 * 2.0 * sqrt(0.5))
    close(np.diag(system.matter.m_matrix(state)), (changed, wanted[1]))
    assert system.matter.m_matrix.version(state) == version + 1


@examples(20)
@given(trees(has_mass=True, most=7))
def test_operators_on_udot_and_forces_are_those_of_the_matrices(tree: Tree) -> None:
    state, matter, system = tree.state, tree.system.matter, tree.system
    rng, nu = tree.rng, state.nu
    system.realize(state, Stage.ACCELERATION)
    m = matter.m_matrix(state)
    scale = max(1.0, np.abs(m).max(initial=0.0))
    inverse = np.array([matter.multiply_by_m_inv(state, unit) for unit in np.eye(nu)])
    if nu:
        close(inverse.reshape(nu, nu) @ m, np.eye(nu), 1e-12 * max(1.0, np.linalg.cond(m)))
    # What is left of forces and known udot is what has to be added for that udot.
    udot = rng.normal(size=nu)
    left = matter.calc_inverse_dynamics(state, udot)
    acting = matter.bias_force(state) + matter.applied_force(state)
    close(left, m @ udot - acting, 1e-10 * scale * max(1.0, np.abs(acting).max(initial=0.0)))
    # Velocity alone makes accelerations, without any udot, and forces of inertia.
    for body in tree.bodies[1:]:
        jacobian = body.frame_jacobian(state)
        close(jacobian @ state.u, body.velocity(state), 1e-10)


@examples(20)
@given(trees(euler=False, has_mass=True, most=6))
def test_forces_that_inverse_dynamics_asks_for_make_that_udot(tree: Tree) -> None:
    system, matter, rng = tree.system, tree.system.matter, tree.rng
    added = system.add(DiscreteForces(matter))
    state = system.new_state()
    state.q, state.u = tree.state.q, tree.state.u
    for body in matter.bodies[1:]:
        added.set_body_force(state, body, rng.normal(size=6))
    system.realize(state, Stage.ACCELERATION)
    udot = rng.normal(size=state.nu)
    left = iter(matter.calc_inverse_dynamics(state, udot))
    for body in matter.bodies[1:]:
        for i in range(body.u(state).size):
            added.set_mobility_force(state, body, i, next(left))
    system.realize(state, Stage.ACCELERATION)
    m = matter.m_matrix(state)
    close(state.udot, udot, 1e-12 * max(1.0, np.linalg.cond(m) if m.size else 1.0))


@examples(20)
@given(trees(has_mass=True, most=6))
def test_forces_on_each_body_are_the_change_of_its_momentum(tree: Tree) -> None:
    """Newton's and Euler's laws, with gravity and the reactions of all its joints."""
    system, state = tree.system, tree.state
    system.realize(state, Stage.ACCELERATION)
    reactions = system.calc_reaction_forces(state)
    scale = max(1.0, float(np.abs(reactions).max()))
    for body in tree.bodies[1:]:
        own, pose = body.mass_properties, body.pose(state)
        center = body.station_position(state, own.center)
        total = np.zeros(6)
        for joint in tree.bodies[1:]:
            if body not in (joint, joint.parent):
                continue
            at = joint.pose(state).apply(joint.outboard_frame.translation)
            force = reactions[joint.index] * (1.0 if joint is body else -1.0)
            total[:3] += force[:3] + np.cross(at - center, force[3:])
            total[3:] += force[3:]
        total[3:] += own.mass * np.array([0.0, -9.81, 0.0])
        change = acceleration(body, state, own.center)
        tensor = pose.rotation @ own.central_inertia @ pose.rotation.T
        spin = body.velocity(state)[:3]
        wanted = [*(tensor @ change[:3] + np.cross(spin, tensor @ spin)), *(own.mass * change[3:])]
        close(total, wanted, 1e-8 * scale)


def test_all_forces_and_constraints_leave_nothing_for_given_udot() -> None:
    """M udot + G' multipliers = f, with constraints of all three levels and forces of one's own."""
    rng = np.random.default_rng(6)
    tree = make_tree([Ball, Pin, Cylinder, Slider], [0, 1, 1, 3], 6, has_mass=True)
    system, matter = tree.system, tree.system.matter
    _, one, two, three, four = matter.bodies
    pushes = rng.normal(size=(4, 6))

    def push(_: object, forces: ForceSum) -> None:
        for body, values in zip((one, two, three, four), pushes, strict=True):
            forces.add_moment(body, values[:3])
            forces.add_force(body, ORIGIN, values[3:])
        forces.add_mobility_force(two, 0, 3.0)

    system.add(CustomForce(matter, push))
    for constraint in (
        RodConstraint(four, ORIGIN, two, ORIGIN, 1.0),
        ConstantSpeedConstraint(three, -3.0),
        ConstantAccelerationConstraint(one, 0.01, index=2),
    ):
        system.add_constraint(constraint)
    state = system.new_state()
    state.q, state.u = rng.normal(size=state.nq), rng.normal(size=state.nu)
    system.realize(state, Stage.ACCELERATION)
    g = system.calc_g(state)
    assert g.shape == (3, state.nu)
    forces = system.multiply_by_g_transpose(state, state.multipliers)
    close(matter.calc_inverse_dynamics(state, state.udot) + forces, 0, 1e-9)
    close(system.multiply_by_g(state, state.udot), g @ state.udot)
    close(system.calc_constraint_acceleration_errors(state, state.udot), state.udoterr)
    close(state.udoterr, 0, 1e-9)


# ---------------------------------------------------------------------- points that are observed


@pytest.mark.parametrize("is_tied", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_observed_points_of_a_random_tree_are_fitted(seed: int, is_tied: bool) -> None:
    rng = np.random.default_rng(seed)
    kinds = [(Cylinder, Slider, Ball, Pin)[k] for k in rng.integers(0, 4, 8)]
    bodies_of = [int(rng.integers(max(0, i - 2), i + 1)) for i in range(8)]
    system = MultibodySystem()
    for i, (kind, parent) in enumerate(zip(kinds, bodies_of, strict=True), 1):
        outboard = Transform(None, [0.0, 0.5, 0.0])
        bodies = system.matter.bodies
        system.matter.add_body(f"body {i}", bodies[parent], kind(), outboard_frame=outboard)
    bodies = system.matter.bodies
    wanted = system.new_state()
    system.matter.use_euler_angles.set(wanted, True)
    system.realize(wanted, Stage.MODEL)
    wanted.q = rng.uniform(0.0, 1.2, wanted.nq)
    stations = [(body, rng.uniform(-1.0, 1.0, 3)) for body in bodies[1:] for _ in range(3)]
    targets = np.array([body.station_position(wanted, station) for body, station in stations])
    distance = float(
        np.linalg.norm(bodies[1].pose(wanted).translation - bodies[-1].pose(wanted).translation)
    )
    if is_tied:
        system.add_constraint(RodConstraint(bodies[1], ORIGIN, bodies[-1], ORIGIN, distance))
    for noise in (0.0, 0.15):
        observed = targets + rng.normal(scale=noise, size=targets.shape)
        state = system.new_state()
        system.matter.use_euler_angles.set(state, True)
        system.realize(state, Stage.MODEL)
        assembler = Assembler(system, accuracy=1e-6)
        markers = assembler.add_goal(Markers())
        for body, station in stations:
            markers.add_marker(body, station)
        markers.move_all_observations(observed)
        result = assembler.assemble(state)
        there = np.array([body.station_position(state, station) for body, station in stations])
        deviations = ((there - observed) ** 2).sum(axis=1)
        assert result.goal == pytest.approx(deviations.mean() / 2, abs=1e-12)
        error = sqrt(deviations.mean())
        assert (error < 1e-4) if noise == 0.0 else (0.1 < error < 0.3)
        if is_tied:
            ends = bodies[1].pose(state).translation, bodies[-1].pose(state).translation
            assert np.linalg.norm(ends[0] - ends[1]) == pytest.approx(distance, abs=1e-6)


def test_the_level_of_a_lock_goes_into_a_file(tmp_path: Path) -> None:
    tree = make_tree([Pin, Slider], [0, 1], 1, has_mass=True)
    _, pin, slider = tree.bodies
    for level in (Stage.ACCELERATION, Stage.VELOCITY, Stage.POSITION):
        pin.lock(tree.state, [0.3], level=level)
        tree.state.save(tmp_path / level.name)
        loaded = load_state(tmp_path / level.name, tree.system)
        assert (pin.is_locked(loaded), slider.is_locked(loaded)) == (True, False)
        tree.system.realize(loaded, Stage.INSTANCE)
        assert tree.system.free_q_index(loaded).tolist() == [0, 1][level is Stage.POSITION :]
        assert tree.system.free_u_index(loaded).tolist() == [0, 1][level < Stage.ACCELERATION :]
        tree.system.realize(loaded, Stage.TIME)
        tree.system.prescribe(loaded)
        tree.system.realize(loaded, Stage.ACCELERATION)
        held = {Stage.POSITION: pin.q, Stage.VELOCITY: pin.u, Stage.ACCELERATION: pin.udot}
        close(held[level](loaded), [0.3])
    with pytest.raises(StageOutOfRangeError):
        pin.lock(tree.state, level=Stage.DYNAMICS)
