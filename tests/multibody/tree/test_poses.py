"""Poses, against a plain recursion with 4x4 matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache.multibody import AbstractMobilizer, Pin, Weld
from tests.multibody.trees import MOBILIZERS, Tree, make_tree, plain_poses, poses, trees
from tests.profiles import examples

few = examples(60)


@few
@given(trees())
def test_poses_are_those_of_a_plain_recursion(tree: Tree) -> None:
    np.testing.assert_allclose(poses(tree, tree.state), plain_poses(tree), atol=1e-12)


@few
@given(trees(), st.data())
def test_poses_after_a_write_are_those_of_a_new_state(tree: Tree, data: st.DataObject) -> None:
    """To the last bit: what was taken from before is what would be computed."""
    poses(tree, tree.state)
    for _ in range(3):
        body = data.draw(st.sampled_from(tree.bodies))
        body.q.set(tree.state, tree.rng.normal(size=body.q(tree.state).size))
        if data.draw(st.booleans()):
            poses(tree, tree.state)
    fresh = tree.system.new_state()
    tree.system.matter.use_euler_angles.set(fresh, tree.system.matter.use_euler_angles(tree.state))
    tree.system.realize_model(fresh)
    fresh.q = tree.state.q
    assert poses(tree, tree.state).tobytes() == poses(tree, fresh).tobytes()


@few
@given(trees())
def test_a_station_is_where_the_pose_puts_it(tree: Tree) -> None:
    stations = tree.rng.normal(size=(4, 3))
    for body, pose in zip(tree.bodies, plain_poses(tree), strict=True):
        found = body.station_position(tree.state, stations)
        expected = np.array([pose[:3, :3] @ s + pose[:3, 3] for s in stations])
        np.testing.assert_allclose(found, expected, atol=1e-12)
        np.testing.assert_allclose(body.station_position(tree.state, stations[0]), expected[0])


@pytest.mark.parametrize("kind", MOBILIZERS)
@pytest.mark.parametrize("euler", [False, True])
def test_every_mobilizer_starts_where_its_parent_is(
    kind: type[AbstractMobilizer], euler: bool
) -> None:
    tree = make_tree([kind], [0], 0, use_euler_angles=euler, plain=True)
    fresh = tree.system.new_state()
    tree.system.matter.use_euler_angles.set(fresh, euler)
    tree.system.realize_model(fresh)
    np.testing.assert_array_equal(poses(tree, fresh)[1], tree.bodies[1].inboard_frame.matrix)


def test_a_chain_of_a_thousand_bodies_has_poses() -> None:
    tree = make_tree([Pin] * 1000, list(range(1000)), 3)
    expected = plain_poses(tree)[-1]
    found = tree.bodies[-1].pose(tree.state).matrix
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, atol=1e-11 * scale)


def test_a_tree_without_joints_has_poses() -> None:
    tree = make_tree([Weld], [0], 1)
    assert tree.state.nq == tree.state.nu == 0
    np.testing.assert_allclose(poses(tree, tree.state), plain_poses(tree), atol=1e-14)
    assert tree.bodies[1].station_jacobian(tree.state, [1.0, 2.0, 3.0]).shape == (3, 0)
