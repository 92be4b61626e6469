"""Joints that are moved by motions, and joints that are locked."""

import copy
import math
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from attrs.exceptions import FrozenInstanceError
from hypothesis import given
from hypothesis import strategies as st

from stagecache import Stage, State, simulate, strict
from stagecache.errors import (
    MotionError,
    NotANumberError,
    NotFiniteError,
    OutOfRangeError,
    ProjectionError,
    ShapeError,
    StagecacheError,
    StageOutOfRangeError,
    WrongTypeError,
)
from stagecache.multibody import (
    AbstractMotion,
    Ball,
    Free,
    MatterSubsystem,
    MobilizedBody,
    MultibodySystem,
    Pin,
    RodConstraint,
    Sinusoid,
    Slider,
    Steady,
    Transform,
    Weld,
    with_euler_angles,
    with_quaternions,
)
from stagecache.system.dynamics.dynamics import mass_matrix
from stagecache.system.motion.prescribing import prescribed_udot
from stagecache.testing import check_coherence
from tests.multibody.mobilizers.test_own_mobilizer import Screw
from tests.multibody.trees import (
    MOBILIZERS,
    Array,
    Tree,
    across,
    make_tree,
    poses,
    random_transform,
    spin,
)
from tests.profiles import examples

STEP = 1e-5


class Swing(AbstractMotion):
    """A motion of one's own, of as many q as it is told: c + t / 2 + t^3 / 9 [rad or m]."""

    def __init__(self, count: int) -> None:
        self.starts = [0.3 * (i + 1) for i in range(count)]

    def q(self, time: float) -> Sequence[float]:
        return [c + time / 2 + time**3 / 9 for c in self.starts]

    def qdot(self, time: float) -> Sequence[float]:
        return [0.5 + time**2 / 3] * len(self.starts)

    def qdotdot(self, time: float) -> Sequence[float]:
        return [2 * time / 3] * len(self.starts)


class Heavy(MatterSubsystem):
    """A matter with masses, on which no force acts: what is free moves steadily."""

    @mass_matrix(prerequisites=())
    def m_matrix(self, state: State) -> Array:
        return np.ones(state.nu)


def moved_tree(
    seed: int, count: int, *, use_euler_angles: bool, matter: MatterSubsystem | None = None
) -> Tree:
    """A random tree of which about every second joint has a motion."""
    rng = np.random.default_rng(seed)
    matter = matter or MatterSubsystem()
    system = MultibodySystem(matter=matter)
    for i in range(1, count + 1):
        kinds: list[Any] = [*MOBILIZERS[1:], Screw]
        mobilizer = kinds[rng.integers(0, len(kinds))]()
        n = mobilizer.with_euler_angles().nq
        motions: list[Any] = [
            Sinusoid(*(rng.uniform(-1, 1, n) for _ in range(4))),
            Steady(rng.uniform(-1, 1, n), 0.25),
            Swing(n),
        ]
        matter.add_body(
            f"body {i}",
            matter.bodies[rng.integers(0, i)],
            mobilizer,
            inboard_frame=random_transform(rng),
            outboard_frame=random_transform(rng),
            motion=motions[rng.integers(0, 3)] if rng.random() < 0.6 else None,
        )
    state = system.new_state()
    if use_euler_angles:
        matter.use_euler_angles.set(state, True)
        system.realize_model(state)
    state.q = rng.normal(size=state.nq)
    return Tree(system, state, rng)


def wanted_across(body: MobilizedBody, time: float) -> Array:
    """X_FM of a body that has a motion, by products of elementary matrices."""
    assert isinstance(body.motion, AbstractMotion)
    q = np.array(body.motion.q(time))
    if isinstance(body.mobilizer, Screw):
        return np.array([*body.mobilizer.pose(q.tolist()), 0, 0, 0, 1]).reshape(4, 4)
    return across(type(body.mobilizer), q, use_euler_angles=True)


def joint_pose(body: MobilizedBody, state: State) -> Array:
    """X_FM, from the poses of both bodies."""
    frame = body.parent.pose(state).matrix @ body.inboard_frame.matrix
    found: Array = np.linalg.inv(frame) @ body.pose(state).matrix @ body.outboard_frame.matrix
    return found


seeds = st.integers(0, 2**16)
times = st.floats(-2, 2, allow_nan=False)
moved_trees = st.builds(moved_tree, seeds, st.integers(1, 6), use_euler_angles=st.booleans())
heavy_trees = st.builds(
    lambda seed, count, angles: moved_tree(seed, count, use_euler_angles=angles, matter=Heavy()),
    *(seeds, st.integers(1, 6), st.booleans()),
)


# ---------------------------------------------------------------------- motions


@examples(60)
@given(moved_trees, times)
def test_joints_with_a_motion_are_where_it_says_and_others_are_free(
    tree: Tree, time: float
) -> None:
    state, system = tree.state, tree.system
    before = {body.index: body.q(state).copy() for body in tree.bodies}
    state.time = time
    system.prescribe(state)
    free_q: list[int] = []
    free_u: list[int] = []
    for body in tree.bodies:
        places = body.q.place(state), body.u.place(state)
        if body.motion is None:
            assert body.q(state).tolist() == before[body.index].tolist()
            free_q += range(places[0].start, places[0].stop)
            free_u += range(places[1].start - state.u_start, places[1].stop - state.u_start)
        else:
            np.testing.assert_allclose(
                joint_pose(body, state), wanted_across(body, time), atol=1e-12
            )
    assert system.free_q_index(state).tolist() == free_q
    assert system.free_u_index(state).tolist() == free_u


@examples(60)
@given(moved_trees, times)
def test_velocities_and_accelerations_are_derivatives_along_the_motion(
    tree: Tree, time: float
) -> None:
    state, system = tree.state, tree.system
    state.u = np.zeros(state.nu)

    def at(now: float) -> State:
        state.time = now
        system.prescribe(state)
        return state.copy()

    after, before, now = at(time + STEP), at(time - STEP), at(time)
    rates = (poses(tree, after) - poses(tree, before)) / (2 * STEP)
    system.realize(now, Stage.VELOCITY)
    for body, rate in zip(tree.bodies, rates, strict=True):
        velocity = body.velocity(now)
        turning = spin(body.pose(now).rotation, rate[:3, :3])
        np.testing.assert_allclose(velocity[:3], turning, atol=1e-7)
        np.testing.assert_allclose(velocity[3:], rate[:3, 3], atol=1e-7)
    driven, udot = prescribed_udot(now)
    np.testing.assert_allclose(udot, ((after.u - before.u) / (2 * STEP))[driven], atol=1e-7)


@examples(100)
@given(moved_trees | heavy_trees, times, st.data())
def test_udot_and_qdotdot_of_driven_joints_are_derivatives_along_the_motion(
    tree: Tree, time: float, data: Any
) -> None:
    """How they move is known without masses; how the others do is not: NaN."""
    state, system = tree.state, tree.system
    state.u = tree.rng.normal(size=state.nu)
    state.time = time
    system.prescribe(state)
    levels = st.sampled_from([None, None, Stage.POSITION, Stage.VELOCITY])
    held = {body: data.draw(levels) for body in tree.bodies[1:]}
    for body, level in held.items():
        if level is not None:
            body.lock(state, level=level)
    system.realize(state, Stage.VELOCITY)
    q, qdot = state.q.copy(), state.qdot.copy()

    def after(step: float) -> State:
        state.time = time + step
        state.q = q + step * qdot
        system.prescribe(state)
        system.realize(state, Stage.ACCELERATION)
        return state.copy(keep_cache=True)

    one, other, now = after(STEP), after(-STEP), after(0.0)
    udot, qdotdot = (one.u - other.u) / (2 * STEP), (one.qdot - other.qdot) / (2 * STEP)
    for body, level in held.items():
        of_q, of_u = body.q.place(now), _of_u(body, now)
        if body.motion is None and level is None and isinstance(tree.system.matter, Heavy):
            udot[of_u] = 0.0
        elif body.motion is None and level is None:
            udot[of_u] = qdotdot[of_q] = np.nan
    np.testing.assert_allclose(now.udot, udot, atol=1e-7)
    scale = 1 + np.nanmax(np.abs(now.qdotdot), initial=0.0)
    np.testing.assert_allclose(now.qdotdot, qdotdot, atol=1e-6 * scale)


def test_udot_of_a_joint_is_forgotten_when_it_is_not_driven_any_more() -> None:
    system = MultibodySystem()
    arm = system.matter.add_body("arm", system.matter.ground, Pin(), motion=Sinusoid(1.5, 1.1))
    hand = system.matter.add_body("hand", arm, Slider())
    state = system.new_state()
    state.time = 0.3
    hand.lock(state)
    system.prescribe(state)
    system.realize(state, Stage.ACCELERATION)
    assert state.udot.tolist() == pytest.approx([-1.5 * 1.1**2 * math.sin(0.33), 0.0])
    arm.follows_motion.set(state, False)
    hand.unlock(state)
    system.realize(state, Stage.ACCELERATION)
    assert np.isnan(state.udot).all()


@examples(30)
@given(seeds, times)
def test_a_motion_is_the_same_in_quaternions_and_in_angles(seed: int, time: float) -> None:
    one, two = (moved_tree(seed, 4, use_euler_angles=angles) for angles in (False, True))
    for tree in (one, two):
        tree.state.q = np.zeros(tree.state.nq)
        for body in tree.bodies:
            body.q.set(tree.state, _default_q(body, tree.state))
        tree.state.time = time
        tree.system.prescribe(tree.state)
        tree.system.realize(tree.state, Stage.VELOCITY)
    np.testing.assert_allclose(poses(one, one.state), poses(two, two.state), atol=1e-12)
    np.testing.assert_allclose(one.state.u, two.state.u, atol=1e-12)
    np.testing.assert_allclose(prescribed_udot(one.state)[1], prescribed_udot(two.state)[1])


def _default_q(body: MobilizedBody, state: State) -> tuple[float, ...]:
    form = body.mobilizer
    return (form.with_euler_angles() if len(body.q(state)) < form.nq else form).default_q


def test_in_quaternions_a_motion_passes_where_angles_are_singular() -> None:
    system = MultibodySystem()
    ball = system.matter.add_body(
        "ball", system.matter.ground, Ball(), motion=Steady([1.0, 1.0, 1.0], [0, np.pi / 2, 0])
    )
    state = system.new_state()
    found = []
    for time in (-STEP, STEP, 0.0):
        state.time = time
        system.prescribe(state)
        found.append((ball.pose(state).rotation.copy(), state.u.copy()))
    rate = (found[1][0] - found[0][0]) / (2 * STEP)
    np.testing.assert_allclose(found[2][1], spin(found[2][0], rate), atol=1e-8)
    system.realize(state, Stage.VELOCITY)
    udot = (found[1][1] - found[0][1]) / (2 * STEP)
    np.testing.assert_allclose(prescribed_udot(state)[1], udot, atol=1e-8)


def test_a_motion_is_switched_off_and_on_in_a_state() -> None:
    system = MultibodySystem()
    arm = system.matter.add_body("arm", system.matter.ground, Pin(), motion=Steady(2.0))
    state = system.new_state()
    other = state.copy()
    arm.follows_motion.set(state, False)
    state.time = other.time = 0.5
    assert not system.prescribe(state)
    assert system.free_q_index(state).tolist() == [0]
    assert system.prescribe(other)
    assert (arm.q(other)[0], arm.u(other)[0]) == (1.0, 2.0)
    arm.follows_motion.set(state, True)
    assert system.prescribe(state)
    assert arm.q(state)[0] == 1.0


def test_a_copy_of_what_is_driven_does_not_copy_the_tree() -> None:
    system = MultibodySystem()
    system.matter.add_body("crank", system.matter.ground, Pin(), motion=Steady(1.0))
    driven = system.matter.driven_joints(system.new_state())
    assert len(driven.joints) == 1
    assert copy.deepcopy(driven) is driven


def test_joints_of_two_matters_are_driven_in_one_system() -> None:
    left, right = MatterSubsystem(), MatterSubsystem()
    bodies = [
        matter.add_body(f"arm {i}", matter.ground, Pin(), motion=motion)
        for matter in (left, right)
        for i, motion in enumerate([Sinusoid(0.5, 2.0), None, Sinusoid(0.25, 3.0)])
    ]
    system = MultibodySystem(left=left, right=right)
    state = system.new_state()
    state.time = 0.75
    bodies[1].lock(state, [0.5])
    bodies[3].follows_motion.set(state, False)
    system.prescribe(state)
    first, second = 0.5 * math.sin(1.5), 0.25 * math.sin(2.25)
    assert state.q.tolist() == [first, 0.5, second, 0.0, 0.0, second]
    system.realize(state, Stage.VELOCITY)
    driven, udot = prescribed_udot(state)
    assert driven.tolist() == [0, 1, 2, 5]
    assert udot == pytest.approx([-4 * first, 0.0, -9 * second, -9 * second], rel=1e-14)


def test_a_matter_without_motions_does_not_ask_for_the_time() -> None:
    system = MultibodySystem()
    arm = system.matter.add_body("arm", system.matter.ground, Pin())
    state = system.new_state()
    arm.lock(state, [0.25])
    system.prescribe(state)
    state.time = 3.0
    assert system.matter.driven_q.is_valid(state)
    assert not system.prescribe(state)
    assert arm.q(state)[0] == 0.25


# ---------------------------------------------------------------------- locks


@examples(60)
@given(moved_trees, times, st.data())
def test_a_locked_joint_stays_where_it_is_to_the_last_bit(
    tree: Tree, time: float, data: Any
) -> None:
    state, system = tree.state, tree.system
    state.time = time
    system.project(state, 1e-10)  # quaternions have length 1
    body = data.draw(st.sampled_from(tree.bodies[1:]))
    q, pose = body.q(state).copy(), joint_pose(body, state)
    body.lock(state)
    state.time = time + 1.0
    state.u = tree.rng.normal(size=state.nu)
    system.prescribe(state)
    assert body.q(state).tolist() == q.tolist()
    np.testing.assert_allclose(joint_pose(body, state), pose, atol=1e-12)
    assert not body.u(state).any()
    system.realize(state, Stage.VELOCITY)
    np.testing.assert_array_equal(state.qdot[body.q.place(state)], 0.0)
    driven, udot = prescribed_udot(state)
    own = np.arange(state.nu)[_of_u(body, state)]
    assert not udot[np.isin(driven, own)].any()
    assert set(own) <= set(driven)
    assert not set(range(*body.q.place(state).indices(state.nq))) & set(system.free_q_index(state))
    body.unlock(state)
    if body.motion is not None:
        system.prescribe(state)
        np.testing.assert_allclose(
            joint_pose(body, state), wanted_across(body, time + 1.0), atol=1e-12
        )


def _of_u(body: MobilizedBody, state: State) -> slice:
    place = body.u.place(state)
    return slice(place.start - state.u_start, place.stop - state.u_start)


def test_poses_are_the_same_to_the_last_bit_after_locking() -> None:
    tree = make_tree([Pin, Ball, Free, Slider], [0, 1, 2, 2], 5)
    tree.system.project(tree.state, 1e-12)
    before = poses(tree, tree.state)
    for body in tree.bodies:
        body.lock(tree.state)
    assert tree.system.prescribe(tree.state)  # u
    assert poses(tree, tree.state).tobytes() == before.tobytes()
    assert not tree.state.u.any()
    assert tree.system.free_q_index(tree.state).size == 0


def test_locking_is_a_write_of_instance_and_nothing_else() -> None:
    tree = make_tree([Pin, Ball, Free], [0, 1, 2], 6)
    matter, body, state = tree.system.matter, tree.bodies[2], tree.state
    tree.system.project(state, 1e-12)
    entries = [
        *(matter.tree_poses, matter.axes, matter.tree_motions, matter.n_matrix),
        *(entry[i] for entry in (matter.pose, matter.velocity) for i in range(4)),
    ]
    for entry in entries:
        entry(state)
    computed = (
        [one.q.version(state) for one in tree.bodies],
        [one.u.version(state) for one in tree.bodies],
    )
    others = [matter.joint_lock[i].version(state) for i in (0, 1, 3)]
    body.lock(state)
    stage: Any = state.stage
    assert stage is Stage.MODEL
    assert all(entry.is_valid(state) for entry in entries)
    assert (
        [one.q.version(state) for one in tree.bodies],
        [one.u.version(state) for one in tree.bodies],
    ) == computed
    assert [matter.joint_lock[i].version(state) for i in (0, 1, 3)] == others
    tree.system.realize(state, Stage.POSITION)
    assert not tree.system.prescribe_q(state)
    assert all(entry.is_valid(state) for entry in entries)
    version = matter.joint_lock[2].version(state)
    body.lock(state)  # as it is locked already
    assert matter.joint_lock[2].version(state) == version
    assert state.stage is Stage.POSITION
    assert not tree.bodies[1].is_locked(state)
    tree.bodies[1].unlock(state)  # which it is
    assert state.stage is Stage.POSITION


def test_a_joint_is_locked_at_given_q_once_they_are_prescribed() -> None:
    tree = make_tree([Pin, Ball], [0, 1], 7)
    pin, ball, state = *tree.bodies[1:], tree.state
    q = state.q.copy()
    pin.lock(state, [0.5])
    for scale in (1.0, 1e-300, 1e300):
        ball.lock(state, np.multiply(scale, [0.0, 3.0, 0.0, 4.0]))
        assert state.q.tolist() == q.tolist()
        wanted = state.copy()
        tree.system.prescribe(wanted)
        assert wanted.q == pytest.approx([0.5, 0.0, 0.6, 0.0, 0.8], abs=1e-15)
    tree.system.prescribe(state)
    copy = state.copy()
    assert ball.is_locked(copy)
    ball.unlock(copy)
    tree.system.realize(copy, Stage.INSTANCE)
    assert (ball.is_locked(state), ball.is_locked(copy)) == (True, False)
    assert tree.system.free_q_index(copy).tolist() == [1, 2, 3, 4]


def test_a_lock_of_velocity_leaves_q_free() -> None:
    tree = make_tree([Pin, Pin], [0, 1], 8)
    body, state = tree.bodies[1], tree.state
    body.lock(state, level=Stage.VELOCITY)
    number: Any = int(Stage.VELOCITY)
    tree.bodies[2].lock(state, [4.0], level=number)
    held = body.u(state)[0]
    state.u = [9.0, 9.0]
    state.q = [1.0, 2.0]
    tree.system.prescribe(state)
    assert state.u.tolist() == [held, 4.0]
    assert state.q.tolist() == [1.0, 2.0]
    tree.system.realize(state, Stage.VELOCITY)
    assert prescribed_udot(state)[1].tolist() == [0.0, 0.0]
    assert tree.system.free_q_index(state).tolist() == [0, 1]
    assert tree.system.free_u_index(state).size == 0


def test_a_lock_goes_before_the_motion_at_either_level() -> None:
    system = MultibodySystem()
    arm = system.matter.add_body("arm", system.matter.ground, Pin(), motion=Steady(2.0))
    state = system.new_state()
    arm.lock(state, [0.1])
    state.time = 5.0
    system.prescribe(state)
    assert (arm.q(state)[0], arm.u(state)[0]) == (0.1, 0.0)
    arm.lock(state, [0.7], level=Stage.VELOCITY)
    system.prescribe(state)
    assert (arm.q(state)[0], arm.u(state)[0]) == (0.1, 0.7)
    arm.unlock(state)
    system.prescribe(state)
    assert (arm.q(state)[0], arm.u(state)[0]) == (10.0, 2.0)


@examples(30)
@given(seeds)
def test_a_lock_holds_the_same_pose_after_conversion_of_orientations(seed: int) -> None:
    tree = make_tree([Ball, Free, Pin], [0, 1, 2], seed)
    matter, state = tree.system.matter, tree.state
    tree.system.project(state, 1e-12)
    for body in tree.bodies:
        body.lock(state)
    wanted = poses(tree, state)
    angles = with_euler_angles(matter, state)
    angles.q = np.zeros(angles.nq)
    tree.system.prescribe(angles)
    np.testing.assert_allclose(poses(tree, angles), wanted, atol=1e-12)
    back = with_quaternions(matter, angles)
    back.q = np.arange(1.0, 1 + back.nq)
    tree.system.prescribe(back)
    np.testing.assert_array_equal(back.q, state.q)


Command = st.tuples(
    st.sampled_from(["lock", "lock at", "lock u", "unlock", "follow", "time", "write", "copy"]),
    st.integers(1, 3),
    st.floats(-2, 2, allow_nan=False),
)


@examples(60)
@given(st.lists(Command, max_size=12))
def test_any_sequence_of_locks_and_switches_gives_what_a_plain_model_gives(
    commands: list[tuple[str, int, float]],
) -> None:
    """Three pins, of which the first two have motions q = k t."""
    system = MultibodySystem()
    matter = system.matter
    for k in (1, 2, 3):
        matter.add_body(
            f"pin {k}", matter.bodies[k - 1], Pin(), motion=Steady(float(k)) if k < 3 else None
        )
    state = system.new_state()
    time, q, u = 0.0, [0.0] * 4, [0.0] * 4
    follows = [False, True, True, False]
    locks: list[tuple[str, float] | None] = [None] * 4
    for what, k, value in commands:
        body = matter.bodies[k]
        if what == "lock":
            body.lock(state)
            locks[k] = ("q", q[k])
        elif what == "lock at":
            body.lock(state, [value])
            locks[k] = ("q", value)
        elif what == "lock u":
            body.lock(state, level=Stage.VELOCITY)
            locks[k] = ("u", u[k])
        elif what == "unlock":
            body.unlock(state)
            locks[k] = None
        elif what == "follow" and k < 3:
            body.follows_motion.set(state, value > 0)
            follows[k] = value > 0
        elif what == "time":
            state.time = time = value
        elif what == "write":
            body.q.set(state, [value])
            body.u.set(state, [-value])
            q[k], u[k] = value, -value
        elif what == "copy":
            state = state.copy()
            system.realize(state, Stage.MODEL)
        for j in (1, 2, 3):
            held = locks[j]
            if held is not None and held[0] == "q":
                q[j], u[j] = held[1], 0.0
            elif held is not None:
                u[j] = held[1]
            elif follows[j]:
                q[j], u[j] = j * time, float(j)
        system.prescribe(state)
        assert state.q.tolist() == q[1:]
        assert state.u.tolist() == u[1:]
        assert [body.is_locked(state) for body in matter.bodies] == [x is not None for x in locks]


# ---------------------------------------------------------------------- with constraints


def four_bar() -> tuple[MultibodySystem, list[MobilizedBody]]:
    """Crank 1, coupler 2, rocker 2.5, ground 2 [m]; a rod of length 1.2 would not close it."""
    system = MultibodySystem()
    matter = system.matter
    ground = matter.ground
    crank = matter.add_body("crank", ground, Pin(), motion=Steady(2.0, 0.5))
    coupler = matter.add_body("coupler", crank, Pin(), inboard_frame=Transform(None, [1, 0, 0]))
    rocker = matter.add_body("rocker", ground, Pin(), inboard_frame=Transform(None, [2, 0, 0]))
    rod = RodConstraint(coupler, [2, 0, 0], rocker, [0, 2.5, 0], 0.5)
    system.add(rod, "rod")
    return system, [crank, coupler, rocker]


def test_a_closed_loop_follows_the_joint_that_is_driven() -> None:
    system, (crank, coupler, rocker) = four_bar()
    state = system.new_state()
    state.q = [0.0, 0.8, -0.2]
    for time in np.linspace(0.0, np.pi, 40):
        state.time = float(time)
        system.project(state, 1e-10)
        assert crank.q(state)[0] == 0.5 + 2.0 * float(time)
        assert crank.u(state)[0] == 2.0
        gap = coupler.station_position(state, [2, 0, 0]) - rocker.station_position(
            state, [0, 2.5, 0]
        )
        assert abs(np.linalg.norm(gap) - 0.5) < 1e-9
        assert system.free_q_index(state).tolist() == [1, 2]
        assert abs(state.uerr[0]) < 1e-9


def test_a_locked_crank_leaves_projection_to_the_other_joints() -> None:
    system, (crank, coupler, rocker) = four_bar()
    state = system.new_state()
    state.q = [0.3, 0.8, 0.1]
    crank.lock(state)
    rocker.lock(state)
    system.project(state, 1e-10)
    assert [crank.q(state)[0], rocker.q(state)[0]] == [0.3, 0.1]
    coupler.lock(state)
    system.project(state, 1e-10)
    crank.lock(state, [1.0])
    before = state.q.copy()
    with pytest.raises(ProjectionError, match=r"rod\.error of body 'coupler' and body 'rocker'"):
        system.project(state, 1e-10)
    assert state.q.tolist() == before.tolist()


# ---------------------------------------------------------------------- the rest of the library


def test_a_simulation_moves_joints_of_which_all_are_driven() -> None:
    """Without forces there is no other one: who moves freely has no udot, and that is an error."""
    system = MultibodySystem()
    matter = system.matter
    swing = Sinusoid([0.3, 0.4, 0.5], [1.0, 2.0, 3.0], 0.2, 0.1)
    arm = matter.add_body("arm", matter.ground, Pin(), motion=Sinusoid(0.5, 2.0))
    hand = matter.add_body("hand", arm, Ball(), motion=swing)
    held = matter.add_body("held", hand, Slider())
    state = system.new_state()
    with pytest.raises(NotFiniteError, match=r"matter\.joint_u\[held\]"):
        simulate(system, state.copy(), 1.0)
    held.lock(state, [0.25])
    end = simulate(system, state, 1.0, every=0.125).state(-1)
    assert end.time == 1.0
    assert (arm.q(end)[0], held.q(end)[0]) == (0.5 * math.sin(2.0), 0.25)
    assert arm.u(end)[0] == pytest.approx(math.cos(2.0), abs=1e-15)
    wanted = across(Ball, np.array(swing.q(1.0)), use_euler_angles=True)
    np.testing.assert_allclose(joint_pose(hand, end), wanted, atol=1e-12)
    system.realize(end, Stage.ACCELERATION)
    assert np.isfinite(end.ydot).all()
    assert end.udot[0] == pytest.approx(-2.0 * math.sin(2.0), abs=1e-14)


def test_strict_mode_and_the_coherence_check_have_nothing_to_say() -> None:
    system, (crank, _, rocker) = four_bar()
    state = system.new_state()
    with strict(state):
        for time in (0.0, 0.1):
            state.time = time
            system.prescribe(state)
            system.realize(state, Stage.ACCELERATION)
            assert crank.q(state)[0] == 0.5 + 2 * time
            rocker.lock(state)
    check_coherence(system, settings=examples(10), seed=0)


def test_motions_and_locks_are_pickled_with_the_state() -> None:
    system, (crank, _, rocker) = four_bar()
    state = system.new_state()
    rocker.lock(state, [0.75])
    crank.follows_motion.set(state, False)
    twin = pickle.loads(pickle.dumps(state))
    bodies = twin.system.matter.bodies
    assert bodies[3].is_locked(twin)
    assert not bodies[1].follows_motion(twin)
    twin.system.prescribe(twin)
    assert bodies[3].q(twin)[0] == 0.75
    assert bodies[1].motion == Steady(2.0, 0.5)


def test_a_single_number_stands_for_all_q_of_a_joint() -> None:
    system = MultibodySystem()
    free = system.matter.add_body("free", system.matter.ground, Free(), motion=Sinusoid(0.5, 1.0))
    state = with_euler_angles(system.matter, system.realize_topology())
    state.time = 0.75
    system.prescribe(state)
    assert free.q(state).tolist() == [0.5 * np.sin(0.75)] * 6


class Single(AbstractMotion):
    """Each method returns a single number, in some form."""

    def __init__(self, form: Any) -> None:
        self.form = form

    def q(self, time: float) -> Any:
        return self.form(time)

    def qdot(self, time: float) -> Any:  # it is constant
        return self.form(1.0)

    def qdotdot(self, time: float) -> Any:  # likewise
        return self.form(0.0)


@pytest.mark.parametrize("form", [float, lambda x: (x,), lambda x: np.array([x]), np.float32])
def test_a_single_number_of_a_motion_of_ones_own_may_have_any_form(form: Any) -> None:
    system = MultibodySystem()
    free = system.matter.add_body("free", system.matter.ground, Free(), motion=Single(form))
    state = with_euler_angles(system.matter, system.realize_topology())
    state.time = 0.75
    system.prescribe(state)
    assert free.q(state).tolist() == [0.75] * 6


def test_a_motion_is_not_changed_once_it_is_made() -> None:
    motion: Any = Sinusoid(0.5, 1.0)
    with pytest.raises(FrozenInstanceError):
        motion.rate = (2.0,)
    assert motion == Sinusoid(0.5, 1.0)


# ---------------------------------------------------------------------- rates of N


@examples(60)
@given(st.sampled_from([*MOBILIZERS, Screw]), st.booleans(), seeds)
def test_rates_of_n_are_central_differences(kind: Any, angles: bool, seed: int) -> None:
    mobilizer = kind().with_euler_angles() if angles else kind()
    rng = np.random.default_rng(seed)
    q, qdot = rng.uniform(-1, 1, (2, mobilizer.nq))
    for matrix, rate in (
        (mobilizer.n, mobilizer.n_rate),
        (mobilizer.n_pinv, mobilizer.n_pinv_rate),
    ):
        found = rate(q.tolist(), qdot.tolist())
        if matrix(q.tolist()) is None:
            assert found is None
            continue
        after, before = (np.array(matrix((q + s * STEP * qdot).tolist())) for s in (1, -1))
        np.testing.assert_allclose(found, (after - before) / (2 * STEP), rtol=1e-5, atol=1e-7)


# ---------------------------------------------------------------------- bad input


class Broken(AbstractMotion):
    """Its methods return what they are told, from a time on; before, they are right."""

    def __init__(self, level: str, value: Any, start: float = 0.0) -> None:
        self.level, self.value, self.start = level, value, start

    def _at(self, level: str, time: float) -> Any:
        return self.value if level == self.level and time >= self.start else [0.0]

    def q(self, time: float) -> Any:
        return self._at("q", time)

    def qdot(self, time: float) -> Any:
        return self._at("qdot", time)

    def qdotdot(self, time: float) -> Any:
        return self._at("qdotdot", time)


@pytest.mark.parametrize(
    ("error", "message", "motion"),
    [
        (MotionError, "the motion of body 'new': not a motion", 3.0),
        (MotionError, "the class Swing; an instance", Swing),
        (ShapeError, "q of the motion Swing.* of body 'new'", Swing(2)),
        (ShapeError, "qdot of the motion Broken", Broken("qdot", [1.0, 2.0])),
        (ShapeError, "q of the motion Broken", Broken("q", [[1.0], [2.0, 3.0]])),
        (OutOfRangeError, "qdotdot of the motion Broken", Broken("qdotdot", [np.nan])),
        (NotANumberError, "q of the motion Broken", Broken("q", None)),
        (NotANumberError, "q of the motion Broken", Broken("q", "x")),
    ],
)
def test_a_motion_that_does_not_fit_is_refused_and_no_body_is_added(
    error: type[StagecacheError], message: str, motion: Any
) -> None:
    matter = MultibodySystem().matter
    with pytest.raises(error, match=message):
        matter.add_body("new", matter.ground, Pin(), motion=motion)
    assert len(matter.bodies) == 1


def test_a_weld_has_nothing_to_move() -> None:
    matter = MultibodySystem().matter
    with pytest.raises(MotionError, match="body 'new': has nothing to move"):
        matter.add_body("new", matter.ground, Weld(), motion=Steady(1.0))


def test_a_motion_that_breaks_later_is_named_and_the_state_is_as_it_was() -> None:
    system = MultibodySystem()
    body = system.matter.add_body(
        "arm", system.matter.ground, Pin(), motion=Broken("q", [np.inf], start=1.0)
    )
    state = system.new_state()
    state.time = 2.0
    with pytest.raises(OutOfRangeError, match="of body 'arm' at time 2"):
        system.prescribe(state)
    assert body.q(state).tolist() == [0.0]
    body.lock(state)
    assert not system.prescribe(state)


@pytest.mark.parametrize(
    ("error", "make"),
    [
        (ShapeError, lambda: Sinusoid([1.0, 2.0], [1.0, 2.0, 3.0])),
        (ShapeError, lambda: Sinusoid([], 1.0)),
        (ShapeError, lambda: Sinusoid([1.0, [2.0, 3.0]], 1.0)),  # type: ignore[list-item]  # likewise
        (ShapeError, lambda: Steady(np.ones((1, 1)))),
        (NotANumberError, lambda: Steady("fast")),  # type: ignore[arg-type]  # which is the point
        (OutOfRangeError, lambda: Steady(np.nan)),
        (OutOfRangeError, lambda: Sinusoid(1.0, 1.0, phase=np.inf)),
    ],
)
def test_numbers_of_motions_that_are_none_are_refused(
    error: type[StagecacheError], make: Any
) -> None:
    with pytest.raises(error, match="of a S"):
        make()


@pytest.mark.parametrize(
    ("error", "message", "arguments", "named"),
    [
        (ShapeError, "the q of the lock of body 'body 1'", ([1.0, 2.0],), {}),
        (ShapeError, "the u of the lock", ([1.0] * 4,), {"level": Stage.VELOCITY}),
        (OutOfRangeError, "the q of the lock", ([np.nan, 0, 0, 0],), {}),
        (OutOfRangeError, "stands for no orientation", ([0.0] * 4,), {}),
        (NotANumberError, "the q of the lock", (["a", "b", "c", "d"],), {}),
        (ShapeError, "the udot of the lock", ([1.0] * 4,), {"level": Stage.ACCELERATION}),
        (StageOutOfRangeError, "the level of the lock", (), {"level": Stage.DYNAMICS}),
        (StageOutOfRangeError, "the level of the lock", (), {"level": "position"}),
    ],
)
def test_locks_that_are_none_are_refused_and_nothing_is_locked(
    error: type[StagecacheError], message: str, arguments: Any, named: Any
) -> None:
    tree = make_tree([Ball], [0], 9)
    tree.system.realize(tree.state, Stage.POSITION)
    with pytest.raises(error, match=message):
        tree.bodies[1].lock(tree.state, *arguments, **named)
    assert not tree.bodies[1].is_locked(tree.state)
    assert tree.state.stage is Stage.POSITION


def test_other_misuse_is_named() -> None:
    system = MultibodySystem()
    matter = system.matter
    body = matter.add_body("body 1", matter.ground, Pin())
    matter.add_body("body 2", matter.ground, Pin(), motion=Steady(0.0))
    state = system.new_state()
    with pytest.raises(MotionError, match="body 'body 1' of matter: has no motion to follow"):
        _ = body.follows_motion
    no_state: Any = 3
    for method in (body.lock, body.unlock, body.is_locked):
        with pytest.raises(WrongTypeError):
            method(no_state)
    for family, value, message in (
        (matter.joint_lock, 0.5, "the lock of body 'body 1': not a lock"),
        (matter.follows_motion, 3, "follows_motion of body 'body 2'"),
    ):
        handle: Any = family[min(1, len(family) - 1)]
        before = handle(state)
        handle.set(state, value)
        with pytest.raises(MotionError, match=message):
            system.prescribe(state)
        handle.set(state, before)
    assert not system.prescribe(state)
