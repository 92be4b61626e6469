"""A MultibodySystem in coordinates for an Assembler, and back."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from stagecache import Stage, State, Subsystem, parameter, q_variable, u_variable
from stagecache.errors import (
    ForeignStateError,
    KinematicsError,
    ReadOnlyError,
    StagecacheError,
    WrongTypeError,
)
from stagecache.multibody import (
    Ball,
    Free,
    MatterSubsystem,
    MultibodySystem,
    Pin,
    Sinusoid,
    Weld,
    with_euler_angles,
)
from tests.multibody.constrained_trees import ball, tied
from tests.multibody.trees import Tree, make_tree, poses, trees
from tests.profiles import examples

few = examples(60)


class Cart(Subsystem):
    """Something else that has q."""

    place = q_variable([0.5, 0.25])
    speed = u_variable([0.1, 0.2])
    size = parameter(1.0)


def same_poses(tree: Tree, one: State, two: State) -> None:
    np.testing.assert_allclose(poses(tree, one), poses(tree, two), rtol=0, atol=1e-12 * size(tree))


def size(tree: Tree) -> float:
    """Of the tree, in which errors of angles become those of places."""
    return 1 + float(np.abs(poses(tree, tree.state)).max())


@few
@given(trees())
def test_poses_are_the_same_there_and_back(tree: Tree) -> None:
    system, state = tree.system, tree.state
    state.time = 0.75
    internal = system.in_assembly_coordinates(state)
    assert system.matter.use_euler_angles(internal)
    assert internal.nq == internal.nu == state.nu
    assert internal.time == 0.75
    np.testing.assert_array_equal(internal.u, state.u)
    same_poses(tree, internal, state)
    internal.q = tree.rng.normal(size=internal.nq)
    before, stages = state.u.copy(), state.nq
    system.set_q_from_assembly(internal, state)
    same_poses(tree, internal, state)
    assert state.nq == stages
    np.testing.assert_array_equal(state.u, before)


@few
@given(trees(), st.floats(-1e-7, 1e-7))
def test_near_the_singularity_poses_are_the_same(tree: Tree, gap: float) -> None:
    system = tree.system
    internal = system.in_assembly_coordinates(tree.state)
    for body in tree.bodies:
        if isinstance(body.mobilizer, Ball | Free):
            angles = body.q(internal).copy()
            angles[1] = np.pi / 2 + gap
            body.q.set(internal, angles)
    system.set_q_from_assembly(internal, tree.state)
    same_poses(tree, internal, tree.state)
    again = system.in_assembly_coordinates(tree.state)
    # Of the sine of an angle near pi/2, the last bit is 1e-8 of the angle.
    np.testing.assert_allclose(poses(tree, again), poses(tree, internal), atol=1e-7 * size(tree))


@few
@given(trees())
def test_what_has_not_moved_keeps_its_q_to_the_last_bit(tree: Tree) -> None:
    system, state = tree.system, tree.state
    before = state.q.copy()  # of quaternions whose lengths are not 1
    internal = system.in_assembly_coordinates(state)
    version = system.q.version(state)
    system.set_q_from_assembly(internal, state)
    np.testing.assert_array_equal(state.q, before)
    assert system.q.version(state) == version
    moved = [body for body in tree.bodies if body.mobilizer.nu][:1]
    for body in moved:
        body.q.set(internal, body.q(internal) + 0.125)
    system.set_q_from_assembly(internal, state)
    for body in tree.bodies:
        if body not in moved:
            np.testing.assert_array_equal(body.q(state), before[body.q.place(state)])


@pytest.mark.parametrize("kind", [Ball, Free])
def test_a_quaternion_keeps_its_sign_along_a_full_turn(kind: Any) -> None:
    tree = make_tree([kind], [0], 0)
    body, state = tree.bodies[1], tree.state
    axis = np.array([0.6, 0.0, 0.8])
    body.q.set(state, [1, 0, 0, 0, *[0] * (kind.nq - 4)])
    seen = [body.q(state)[:4].copy()]
    for angle in np.linspace(0, 4 * np.pi, 100)[1:]:
        internal = tree.system.in_assembly_coordinates(state)
        angles = Rotation.from_rotvec(angle * axis).as_euler("XYZ")
        body.q.set(internal, [*angles, *[0] * (kind.nq - 4)])
        tree.system.set_q_from_assembly(internal, state)
        seen.append(body.q(state)[:4].copy())
    assert np.abs(np.diff(seen, axis=0)).max() < 0.07
    np.testing.assert_allclose(seen[-1], [1, 0, 0, 0], atol=1e-12)  # after two turns
    np.testing.assert_allclose(seen[49] @ seen[-1], np.cos(49 / 99 * 2 * np.pi), atol=1e-12)


@few
@given(trees(euler=True))
def test_a_state_in_angles_is_copied(tree: Tree) -> None:
    internal = tree.system.in_assembly_coordinates(tree.state)
    assert internal is not tree.state
    np.testing.assert_array_equal(internal.q, tree.state.q)
    internal.q = tree.rng.normal(size=internal.nq)
    tree.system.set_q_from_assembly(internal, tree.state)
    np.testing.assert_array_equal(internal.q, tree.state.q)


@few
@given(trees(euler=False))
def test_q_in_quaternions_are_written_into_a_state_in_angles(tree: Tree) -> None:
    target = with_euler_angles(tree.system.matter, tree.state)
    source = tree.state.copy()
    source.q = tree.rng.normal(size=source.nq)
    tree.system.set_q_from_assembly(source, target)
    same_poses(tree, source, target)


def test_all_trees_and_other_subsystems_take_part() -> None:
    first, second, cart = MatterSubsystem(), MatterSubsystem(), Cart()
    system = MultibodySystem(cart=cart, first=first, second=second)
    for matter, name in ((first, "arm"), (second, "leg")):
        matter.add_body(name, matter.ground, Free())
        matter.add_body("weld", matter.bodies[1], Weld())
    state = system.new_state()
    rng = np.random.default_rng(3)
    state.q = rng.normal(size=state.nq)
    second.use_euler_angles.set(state, True)
    system.realize_model(state)
    state.q = rng.normal(size=state.nq)
    cart.size.set(state, 7.0)
    internal = system.in_assembly_coordinates(state)
    assert (state.nq, internal.nq) == (2 + 7 + 6, 2 + 6 + 6)
    assert cart.size(internal) == 7.0
    np.testing.assert_array_equal(cart.place(internal), cart.place(state))
    internal.q = rng.normal(size=internal.nq)
    system.set_q_from_assembly(internal, state)
    np.testing.assert_array_equal(cart.place(internal), cart.place(state))
    for matter in (first, second):
        for body in matter.bodies:
            one, two = body.pose(internal).matrix, body.pose(state).matrix
            np.testing.assert_allclose(one, two, rtol=0, atol=1e-12)
    assert list(system.mobilizers) == ["arm", "weld", "second.leg", "second.weld"]
    assert system.mobilizers["second.leg"] is second.bodies[1].q


def test_constraints_have_the_same_errors() -> None:
    tree = make_tree([Ball, Free, Pin], [0, 1, 2], 4)
    constraint, _ = ball((tree.bodies[1], tree.bodies[3]), tree.rng)
    tree = tied(tree, constraint)
    internal = tree.system.in_assembly_coordinates(tree.state)
    for state in (tree.state, internal):
        tree.system.realize(state, Stage.POSITION)
    np.testing.assert_allclose(constraint.error(internal), constraint.error(tree.state), atol=1e-12)
    constraint.is_enabled.set(tree.state, False)
    internal = tree.system.in_assembly_coordinates(tree.state)
    assert not constraint.is_enabled(internal)
    tree.system.realize(internal, Stage.INSTANCE)
    assert internal.nqerr == 0


def test_locks_and_motions_hold_in_both() -> None:
    system = MultibodySystem()
    matter = system.matter
    driven = matter.add_body("driven", matter.ground, Ball(), motion=Sinusoid(0.5, 2.0, 0.3))
    held = matter.add_body("held", driven, Free())
    still = matter.add_body("still", held, Ball(), motion=Sinusoid(0.5, 2.0))
    state = system.new_state()
    rng = np.random.default_rng(0)
    state.q = rng.normal(size=state.nq)
    state.time = 0.3
    held.lock(state)
    still.follows_motion.set(state, False)
    internal = system.in_assembly_coordinates(state)
    for each in (state, internal):
        system.realize(each, Stage.TIME)
        system.prescribe_q(each)
    assert held.is_locked(internal)
    assert len(system.free_q_index(internal)) == 3
    for body in matter.bodies:
        one, two = body.pose(internal).matrix, body.pose(state).matrix
        np.testing.assert_allclose(one, two, rtol=0, atol=1e-12)


def test_states_that_are_none_are_refused() -> None:
    tree, other = make_tree([Ball], [0], 0), make_tree([Ball], [0], 0)
    system, internal = tree.system, tree.system.in_assembly_coordinates(tree.state)
    with pytest.raises(ForeignStateError):
        system.in_assembly_coordinates(other.state)
    with pytest.raises(WrongTypeError):
        system.in_assembly_coordinates("state")  # type: ignore[arg-type]  # refused
    for one, two in ((other.state, tree.state), (internal, other.state)):
        with pytest.raises(ForeignStateError):
            system.set_q_from_assembly(one, two)
    with pytest.raises(ReadOnlyError):
        system.set_q_from_assembly(internal, system.default_state)


def test_q_that_stand_for_no_pose_are_refused() -> None:
    tree = make_tree([Ball, Pin], [0, 1], 0)
    source, target = tree.state.copy(), with_euler_angles(tree.system.matter, tree.state)
    before = target.q.copy()
    tree.bodies[1].q.set(source, [0, 0, 0, 0])
    with pytest.raises(KinematicsError, match="body 1"):
        tree.system.in_assembly_coordinates(source)
    with pytest.raises(KinematicsError, match="body 1"):
        tree.system.set_q_from_assembly(source, target)
    np.testing.assert_array_equal(target.q, before)
    internal = tree.system.in_assembly_coordinates(tree.state)
    tree.system.set_q_from_assembly(internal, source)  # where there was no pose, now there is one
    same_poses(tree, internal, source)
    internal.q = np.full(internal.nq, np.inf)
    with pytest.raises(StagecacheError):
        tree.system.set_q_from_assembly(internal, source)
