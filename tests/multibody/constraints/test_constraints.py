"""Errors of constraints against plain geometry, and derivatives against differences."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from stagecache import Stage
from stagecache.multibody import (
    Ball,
    ConstantCoordinateConstraint,
    ConstantOrientationConstraint,
    CoordinateCouplerConstraint,
    Free,
    MultibodySystem,
    Pin,
    Transform,
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
    # A function of the numbers of a quaternion sees its length, too.
    assume(state.nq == state.nu or not isinstance(constraint, CoordinateCouplerConstraint))
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
    for index in range(6):
        constraint = ConstantCoordinateConstraint(tree.bodies[1], 0.25, index=index)
        tree = tied(tree, constraint, f"held{index}")
        q, qdot = tree.state.q, along(tree, 1.0).q - tree.state.q
        np.testing.assert_array_equal(constraint.error(tree.state), [q[index] - 0.25])
        np.testing.assert_allclose(constraint.error_rate(tree.state), [qdot[index]])
        close(constraint.jacobian(tree.state) @ tree.state.u, qdot[index : index + 1], 1e-14)
        after, before = (constraint.error_rate(along(tree, step)) for step in (STEP, -STEP))
        close(constraint.error_bias(tree.state), (after - before) / (2 * STEP), 1e-8)
        has_bias = bool(abs(constraint.error_bias(tree.state)[0]) > 1e-3)
        assert has_bias == (index < len(q) - 4)  # those of the orientation
