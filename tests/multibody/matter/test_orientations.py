"""Quaternions and Euler angles: conversion, normalisation, and where they are singular."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import Stage
from stagecache.errors import KinematicsError, NotANumberError
from stagecache.multibody import (
    Ball,
    Free,
    MatterSubsystem,
    MultibodySystem,
    Pin,
    Steady,
    with_euler_angles,
    with_quaternions,
)
from stagecache.system.constraints.jacobians import normalization_jacobian
from tests.multibody.trees import Array, Tree, make_tree, poses, trees
from tests.profiles import examples

few = examples(40)


@few
@given(trees())
def test_conversion_keeps_poses_and_velocities(tree: Tree) -> None:
    matter, state = tree.system.matter, tree.state
    state.time = 3.0
    for convert in (with_euler_angles, with_quaternions, with_euler_angles):
        twin = convert(matter, state)
        assert matter.use_euler_angles(twin) == (convert is with_euler_angles)
        np.testing.assert_allclose(poses(tree, twin), poses(tree, tree.state), atol=1e-11)
        for body in tree.bodies:
            np.testing.assert_allclose(
                body.velocity(twin), body.velocity(tree.state), rtol=1e-9, atol=1e-10
            )
        assert twin.time == 3.0
        state = twin


quaternions = st.builds(
    lambda numbers, dim: np.array(numbers) * np.array(dim),
    st.lists(st.floats(0.01, 1) | st.floats(-1, -0.01), min_size=4, max_size=4),
    st.lists(st.sampled_from([0.0, 1e-17, 1e-9, 1e-4, 1.0]), min_size=4, max_size=4),
).filter(lambda q: np.linalg.norm(q) > 0.01)


@given(st.sampled_from([Ball, Free]), quaternions)
@examples(300)
def test_quaternions_come_back_from_angles_with_the_sign_that_makes_w_positive(
    kind: Any, quaternion: Array
) -> None:
    """Where w is 0, up to rounding, it is x that is positive; then y, then z."""
    tree = make_tree([kind], [0], 0)
    body, matter = tree.bodies[1], tree.system.matter
    quaternion /= np.linalg.norm(quaternion)
    body.q.set(tree.state, [*quaternion, *tree.rng.normal(size=kind.nq - 4)])
    back = with_quaternions(matter, with_euler_angles(matter, tree.state))
    leading = quaternion[np.abs(quaternion) > 1e-14][0]
    np.testing.assert_allclose(body.q(back)[:4], np.sign(leading) * quaternion, atol=1e-12)
    np.testing.assert_array_equal(body.q(back)[4:], body.q(tree.state)[4:])


def test_a_lock_in_angles_holds_the_quaternion_to_which_the_state_was_converted() -> None:
    tree = make_tree([Ball], [0], 0, use_euler_angles=True)
    body, matter = tree.bodies[1], tree.system.matter
    body.q.set(tree.state, [3.0, 0.1, 3.0])  # of half the angles, w is negative
    body.lock(tree.state)
    there = with_quaternions(matter, tree.state)
    assert body.q(there)[0] >= 0
    before = body.q(there).copy()
    tree.system.prescribe(there)
    np.testing.assert_array_equal(body.q(there), before)


def test_the_quaternion_of_a_motion_changes_its_sign_nowhere() -> None:
    """It goes on where w becomes negative, as the solution of qdot = N u does."""
    system = MultibodySystem()
    turn = Steady([1.0, 0.0, 0.0])
    body = system.matter.add_body("body", system.matter.ground, Ball(), motion=turn)
    state = system.new_state()
    seen = []
    for state.time in np.linspace(0, 4 * np.pi, 100):
        system.prescribe(state)
        seen.append(body.q(state).copy())
    assert np.min(seen) < -0.9
    assert np.abs(np.diff(seen, axis=0)).max() < 0.07


@given(st.floats(-7, 7), st.floats(-1e-9, 1e-9) | st.just(0.0), st.sampled_from([-1, 1]))
@examples(60)
def test_conversion_keeps_poses_where_angles_are_singular(a: float, off: float, side: int) -> None:
    tree = make_tree([Ball], [0], 0, use_euler_angles=True, plain=True)
    matter = tree.system.matter
    tree.bodies[1].q.set(tree.state, [a, side * np.pi / 2 + off, 0.4])
    there = with_quaternions(matter, tree.state)
    back = with_euler_angles(matter, there)
    np.testing.assert_allclose(poses(tree, back), poses(tree, tree.state), atol=1e-12)


@pytest.mark.parametrize("length", [1e-99, 1e-9, 1e9, 1e99])
def test_the_length_of_a_quaternion_does_not_count(length: float) -> None:
    tree = make_tree([Ball], [0], 0)
    expected = poses(tree, tree.state)
    tree.state.q = tree.state.q * (length / np.linalg.norm(tree.state.q))
    np.testing.assert_allclose(poses(tree, tree.state), expected, atol=1e-14)
    tree.system.realize(tree.state, Stage.POSITION)
    np.testing.assert_allclose(tree.state.qerr, [length - 1.0])


def test_conversion_keeps_weights_of_u_and_z() -> None:
    tree = make_tree([Ball, Pin], [0, 1], 7)
    tree.state.u_weights = np.arange(1.0, 5.0)
    twin = with_euler_angles(tree.system.matter, tree.state)
    np.testing.assert_array_equal(twin.u_weights, tree.state.u_weights)


def test_conversion_leaves_the_state_and_other_subsystems_as_they_are() -> None:
    tree = make_tree([Ball, Pin, Free], [0, 1, 2], 7)
    other = MatterSubsystem()
    hinge = other.add_body("hinge", other.ground, Pin())
    tree.system.add(other, "other")
    state = tree.system.new_state()
    state.q, state.u = tree.rng.normal(size=state.nq), tree.rng.normal(size=state.nu)
    before = state.y.copy()
    twin = with_euler_angles(tree.system.matter, state)
    np.testing.assert_array_equal(state.y, before)
    np.testing.assert_array_equal(hinge.q(twin), hinge.q(state))
    np.testing.assert_array_equal(twin.u, state.u)
    assert twin.nq == state.nq - 2
    tree.bodies[1].q.set(state, np.zeros(4))
    with pytest.raises(KinematicsError, match=r"body 'body 1' of matter: .* quaternion is zero"):
        with_euler_angles(tree.system.matter, state)


@few
@given(trees(euler=False))
def test_quaternions_have_rows_of_qerr_which_projection_satisfies(tree: Tree) -> None:
    system, state = tree.system, tree.state
    before = poses(tree, state)
    joints = [b for b in tree.bodies if isinstance(b.mobilizer, Ball | Free)]
    system.realize(state, Stage.VELOCITY)
    assert state.nqerr == len(joints)
    assert state.nuerr == 0
    lengths = [np.linalg.norm(body.q(state)[:4]) for body in joints]
    np.testing.assert_allclose(state.qerr, np.array(lengths) - 1.0, atol=1e-14)
    system.project(state, 1e-10)
    for body in joints:
        assert abs(np.linalg.norm(body.q(state)[:4]) - 1.0) < 1e-9
    np.testing.assert_allclose(poses(tree, state), before, atol=1e-9)


def test_two_matters_in_one_system_have_their_own_rows() -> None:
    tree = make_tree([Ball, Pin], [0, 1], 7)
    other = MatterSubsystem()
    head = other.add_body("head", other.ground, Free())
    tree.system.add(other, "other")
    state = tree.system.new_state()
    state.q, state.u = tree.rng.normal(size=state.nq), tree.rng.normal(size=state.nu)
    tree.system.realize(state, Stage.VELOCITY)
    assert state.nqerr == 2
    before = head.pose(state)
    np.testing.assert_allclose(head.velocity(state), state.u[-6:], atol=1e-13)
    tree.system.project(state, 1e-10)
    np.testing.assert_allclose(state.qerr, 0.0, atol=1e-9)
    np.testing.assert_allclose(head.pose(state).matrix, before.matrix, atol=1e-9)


@few
@given(trees(euler=False))
def test_the_jacobian_of_lengths_has_their_derivatives_by_q(tree: Tree) -> None:
    system, state = tree.system, tree.state
    system.realize(state, Stage.POSITION)
    found = normalization_jacobian(state)
    assert found.shape == (state.nqerr, state.nq)
    for k, unit in enumerate(np.eye(state.nq)):
        lengths = []
        for step in (1e-6, -1e-6):
            moved = state.copy()
            moved.q = state.q + step * unit
            lengths.append(system.matter.quaternion_lengths(moved))
        np.testing.assert_allclose(found[:, k], (lengths[0] - lengths[1]) / 2e-6, atol=1e-8)


def test_euler_angles_have_no_rows_of_qerr() -> None:
    tree = make_tree([Ball, Free], [0, 1], 1, use_euler_angles=True)
    tree.system.realize(tree.state, Stage.POSITION)
    assert (tree.state.nq, tree.state.nu, tree.state.nqerr) == (9, 9, 0)


def test_a_form_of_orientations_that_is_no_truth_value_is_refused() -> None:
    tree = make_tree([Ball], [0], 1)
    matter, state = tree.system.matter, tree.state
    given: Any = "no"
    matter.use_euler_angles.set(state, given)
    with pytest.raises(NotANumberError, match=r"matter\.use_euler_angles: not a bool"):
        tree.system.realize_model(state)
    matter.use_euler_angles.set(state, False)
    tree.system.realize_model(state)
    assert state.nq == 4


def test_n_of_a_large_tree_is_sparse_and_the_same() -> None:
    kinds = [Ball, Pin, Free] * 12
    tree = make_tree(kinds, list(range(len(kinds))), 2)
    system, state = tree.system, tree.state
    system.realize(state, Stage.VELOCITY)
    assert hasattr(system.matter.n_matrix(state), "tocsr")
    np.testing.assert_allclose(
        system.multiply_by_n_pinv(state, state.qdot), state.u, rtol=1e-12, atol=1e-12
    )
    system.project(state, 1e-9)
    assert np.abs(state.qerr).max() < 1e-9


def test_singular_angles_are_refused_by_n_and_not_by_poses() -> None:
    tree = make_tree([Ball], [0], 0, use_euler_angles=True)
    tree.bodies[1].q.set(tree.state, [0.3, np.pi / 2, 0.4])
    poses(tree, tree.state)
    with pytest.raises(KinematicsError, match=r"body 'body 1' of matter: .* N is singular"):
        tree.system.realize(tree.state, Stage.VELOCITY)
    assert tree.state.stage == Stage.POSITION
