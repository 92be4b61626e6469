"""Errors of constraints against plain geometry, and derivatives against differences."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from stagecache import Assembler, Stage
from stagecache.errors import KinematicsError
from stagecache.multibody import (
    Ball,
    ConstantCoordinateConstraint,
    ConstantOrientationConstraint,
    CoordinateCouplerConstraint,
    Free,
    Linear,
    MultibodySystem,
    Pin,
    PrescribedMotionConstraint,
    Slider,
    SpeedCouplerConstraint,
    Transform,
    with_euler_angles,
)
from tests.multibody.constrained_trees import PAIRS, STEP, close, constrained, tied
from tests.multibody.trees import (
    Array,
    Tree,
    along,
    make_tree,
    plain_poses,
    trees,
)
from tests.profiles import examples

few = examples(25)


@few
@given(trees(most=6), st.sampled_from(PAIRS))
def test_errors_are_those_of_plain_geometry(tree: Tree, kind: Any) -> None:
    one, two = (int(i) for i in tree.rng.permutation(len(tree.bodies))[:2])
    constraint, geometry = kind((tree.bodies[one], tree.bodies[two]), tree.rng)
    tree = tied(tree, constraint)
    tree.system.realize(tree.state, Stage.POSITION)
    poses = plain_poses(tree)
    wanted = geometry(poses[one], poses[two])
    assert wanted.shape == (constraint.num_errors,)
    np.testing.assert_allclose(constraint.error(tree.state), wanted, atol=1e-11)
    np.testing.assert_array_equal(tree.state.qerr[-len(wanted) :], constraint.error(tree.state))


@few
@given(constrained())
def test_velocity_errors_are_derivatives_along_n_u(case: tuple[Tree, Any]) -> None:
    tree, constraint = case
    after, before = (constraint.error(along(tree, s)) for s in (STEP, -STEP))
    close(constraint.error_rate(tree.state), (after - before) / (2 * STEP))


@few
@given(constrained())
def test_the_jacobian_has_the_derivatives_of_velocity_errors_by_u(case: tuple[Tree, Any]) -> None:
    tree, constraint = case
    state, jacobian = tree.state, constraint.jacobian(tree.state)
    close(jacobian @ state.u, constraint.error_rate(state), 1e-12)
    for unit in np.eye(state.nu):
        state.u = unit
        close(jacobian @ unit, constraint.error_rate(state), 1e-12)


@few
@given(constrained())
def test_derivatives_by_q_are_the_jacobian_times_the_pseudoinverse_of_n(
    case: tuple[Tree, Any],
) -> None:
    tree, constraint = case
    system, state = tree.system, tree.state
    found = np.zeros((constraint.num_errors, state.nq))
    for k in range(state.nq):
        values = []
        for step in (STEP, -STEP):
            moved = state.copy()
            moved.q = state.q + step * np.eye(state.nq)[k]
            values.append(constraint.error(moved))
        found[:, k] = (values[0] - values[1]) / (2 * STEP)
    system.realize(state, Stage.POSITION)
    n_pinv = system.multiply_by_n_pinv(state, np.eye(state.nq))
    close(found, constraint.jacobian(state) @ n_pinv, 1e-5)


@few
@given(constrained())
def test_jacobian_times_udot_plus_bias_is_the_derivative_of_velocity_errors(
    case: tuple[Tree, Any],
) -> None:
    tree, constraint = case
    for udot in (np.zeros(tree.state.nu), tree.rng.normal(size=tree.state.nu)):
        after, before = (constraint.error_rate(along(tree, s, udot)) for s in (STEP, -STEP))
        found = constraint.jacobian(tree.state) @ udot + constraint.error_bias(tree.state)
        close(found, (after - before) / (2 * STEP), 1e-5)


@pytest.mark.parametrize("about", [*np.eye(3), *-np.eye(3), np.ones(3), np.array([-2.0, 1.0, 0.5])])
def test_orientation_errors_are_the_angle_about_any_axis_up_to_half_a_turn(about: Array) -> None:
    system = MultibodySystem()
    body = system.matter.add_body("body", system.matter.ground, Ball())
    constraint = ConstantOrientationConstraint(system.matter.ground, body)
    axis = about / np.linalg.norm(about)
    for turn in (0.0, 1e-9, 0.5, 2.0, 3.0, np.pi - 1e-6):
        pose = Transform(Rotation.from_rotvec(axis * turn).as_matrix())
        close(constraint.calc_error(pose), 2 * np.sin(turn / 2) * axis, 1e-14)


@pytest.mark.parametrize("use_euler_angles", [False, True])
def test_a_coordinate_is_held_at_a_value(*, use_euler_angles: bool) -> None:
    tree = make_tree([Free, Pin], [0, 1], 5, use_euler_angles=use_euler_angles)
    for k in range(0 if use_euler_angles else 3, 6):
        constraint = ConstantCoordinateConstraint(tree.bodies[1].coordinate(k), 0.25)
        tree = tied(tree, constraint, f"held{k}")
        index = k if use_euler_angles else k + 1
        q, qdot = tree.state.q, along(tree, 1.0).q - tree.state.q
        np.testing.assert_array_equal(constraint.error(tree.state), [q[index] - 0.25])
        np.testing.assert_allclose(constraint.error_rate(tree.state), [qdot[index]])
        close(constraint.jacobian(tree.state) @ tree.state.u, qdot[index : index + 1], 1e-14)
        after, before = (constraint.error_rate(along(tree, step)) for step in (STEP, -STEP))
        close(constraint.error_bias(tree.state), (after - before) / (2 * STEP), 1e-8)
        has_bias = bool(abs(constraint.error_bias(tree.state)[0]) > 1e-3)
        assert has_bias == (index < len(q) - 4)  # those of the orientation


def test_a_coordinate_is_the_same_q_in_both_forms_of_orientations() -> None:
    system = MultibodySystem()
    matter = system.matter
    names = ["rx", "ry", "rz", "tx", "ty", "tz"]
    body = matter.add_body("body", matter.ground, Free(), coordinates=names)
    probe = matter.add_body("probe", matter.ground, Slider())
    ty, u = matter.coordinate("ty"), matter.coordinate("ry")
    ties = [
        CoordinateCouplerConstraint([ty], function=lambda x: x[0], dependent=(probe, 0)),
        CoordinateCouplerConstraint([ty, (probe, 0)], function=lambda x: x[1] - x[0]),
        ConstantCoordinateConstraint(ty, 0.2),
        PrescribedMotionConstraint(ty, Linear(0.0, 0.2)),
    ]
    speed = SpeedCouplerConstraint([u], [ty], function=lambda x: x[0] + x[1])
    for tie in (*ties, speed):
        system.add_constraint(tie)
    quaternions = system.new_state()
    body.q.set(quaternions, [1.0, 0.0, 0.0, 0.0, 0.1, 0.2, 0.3])
    probe.q.set(quaternions, [0.2])
    for state in (quaternions, with_euler_angles(matter, quaternions)):
        body.u.set(state, [0.0, -0.2, 0.0, 0.0, 0.5, 0.0])
        system.realize(state, Stage.VELOCITY)
        for tie in ties:
            np.testing.assert_array_equal(tie.error(state), [0.0])
            np.testing.assert_allclose(np.abs(tie.error_rate(state)), [0.5])
        np.testing.assert_array_equal(speed.error(state), [0.0])
        np.testing.assert_allclose(speed.error_bias(state), [0.5])


def test_an_angle_behind_a_quaternion_is_refused_in_that_state() -> None:
    system = MultibodySystem()
    ball = system.matter.add_body("ball", system.matter.ground, Ball())
    constraint = system.add(ConstantCoordinateConstraint(ball.coordinate(1), 0.3))
    state = system.new_state()
    with pytest.raises(KinematicsError, match=r"coordinate 'ball\[1\]' .*no q of its own"):
        system.realize(state, Stage.POSITION)
    state = with_euler_angles(system.matter, system.new_state())
    system.realize(state, Stage.POSITION)
    np.testing.assert_array_equal(constraint.error(state), [-0.3])


def test_an_assembler_ties_the_coordinate_that_a_state_has() -> None:
    system = MultibodySystem()
    body = system.matter.add_body("body", system.matter.ground, Free())
    system.add(ConstantCoordinateConstraint(body.coordinate(4), 0.7), "held")
    state = system.new_state()
    Assembler(system).assemble(state)
    np.testing.assert_allclose(body.q(state), [1, 0, 0, 0, 0, 0.7, 0], atol=1e-9)
