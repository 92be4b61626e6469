"""What a write makes stale, what is computed again, and the checks of the testing kit."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import Stage, State, Subsystem, cached, strict, verify
from stagecache.errors import ConstModelError, DeclaredNameError
from stagecache.multibody import (
    Ball,
    Free,
    Gimbal,
    MatterSubsystem,
    MobilizedBody,
    MultibodySystem,
    Pin,
    Slider,
    Universal,
    Weld,
)
from stagecache.testing import (
    check_coherence,
    check_pickle,
    check_precision,
    check_strict,
    check_threads,
)
from tests.multibody.trees import Tree, make_tree, poses, random_transform, trees
from tests.profiles import examples


class Lamps(Subsystem):
    """One on each body, each with an entry that depends on the pose of that body alone."""

    def __init__(self, matter: MatterSubsystem) -> None:
        self.matter = matter

    @cached(
        count=lambda self: len(self.matter.bodies),
        prerequisites=lambda self, i: (self.matter.pose[i],),
    )
    def light(self, state: State, i: int) -> float:
        return float(self.matter.pose[i](state).translation.sum())

    @cached(
        count=lambda self: len(self.matter.bodies),
        prerequisites=lambda self, i: (self.matter.velocity[i],),
    )
    def blur(self, state: State, i: int) -> float:
        return float(self.matter.velocity[i](state).sum())


def with_lamps(tree: Tree) -> tuple[Lamps, State]:
    lamps = Lamps(tree.system.matter)
    tree.system.add(lamps)
    state = tree.system.new_state()
    state.q, state.u = tree.rng.normal(size=state.nq), tree.rng.normal(size=state.nu)
    return lamps, state


def outboard(body: MobilizedBody) -> set[int]:
    found = {body.index}
    for other in body.matter.bodies[body.index + 1 :]:
        if other.parent.index in found:
            found.add(other.index)
    return found


def computed(trace: Any) -> list[str]:
    return [e.entry for e in trace.events if type(e).__name__ == "ComputationEvent"]


def numbers(names: list[str], prefix: str) -> set[int]:
    return {int(n[len(prefix) + 1 : -1]) for n in names if n.startswith(f"{prefix}[")}


def read_all(lamps: Lamps, state: State) -> None:
    for i in range(len(lamps.matter.bodies)):
        lamps.light[i](state)
        lamps.blur[i](state)


@examples(40)
@given(trees(euler=False), st.data())
def test_a_write_of_q_recomputes_what_is_outboard(tree: Tree, data: st.DataObject) -> None:
    lamps, state = with_lamps(tree)
    matter = tree.system.matter
    read_all(lamps, state)
    body = data.draw(st.sampled_from(tree.bodies[1:]))
    q = body.q(state)
    body.q.set(state, q + tree.rng.normal(size=q.size))
    with state.trace() as trace:
        for light in lamps.light:
            light(state)
    moving = outboard(body) if q.size else set()
    assert numbers(computed(trace), "lamps.light") == moving
    layout = matter.layout(state)
    ranges = matter.tree_poses(state).moved
    moved = {layout.bodies[row] for start, end in ranges for row in range(start, end)}
    if q.size:
        assert moved == moving


@examples(30)
@given(trees(euler=False), st.data())
def test_a_write_of_u_recomputes_no_position(tree: Tree, data: st.DataObject) -> None:
    lamps, state = with_lamps(tree)
    read_all(lamps, state)
    body = data.draw(st.sampled_from(tree.bodies[1:]))
    before = tree.system.matter.tree_poses(state)
    body.u.set(state, body.u(state) + 1.0)
    with state.trace() as trace:
        read_all(lamps, state)
    names = computed(trace)
    assert not [n for n in names if "pose" in n or "axes" in n or "light" in n]
    assert tree.system.matter.tree_poses(state) is before
    moving = outboard(body) if body.u(state).size else set()
    assert numbers(names, "lamps.blur") <= moving


def test_writing_q_as_it_is_computes_no_pose() -> None:
    tree = make_tree([Pin, Ball], [0, 1], 0)
    lamps, state = with_lamps(tree)
    read_all(lamps, state)
    before = tree.system.matter.tree_poses(state)
    state.q = state.q.copy()
    with state.trace() as trace:
        read_all(lamps, state)
    assert tree.system.matter.tree_poses(state) is before
    assert not [n for n in computed(trace) if n.startswith("lamps")]


def test_two_writes_recompute_both_branches_and_nothing_else() -> None:
    """1 - 2 - 3, 1 - 4 - 5, 6: writes of 2 and 5."""
    tree = make_tree([Pin] * 6, [0, 1, 2, 1, 4, 0], 0)
    lamps, state = with_lamps(tree)
    read_all(lamps, state)
    for i in (2, 5):
        tree.bodies[i].q.set(state, [5.0])
    with state.trace() as trace:
        read_all(lamps, state)
    assert numbers(computed(trace), "lamps.light") == {2, 3, 5}


def test_what_is_outboard_of_two_writes_is_computed_once() -> None:
    tree = make_tree([Pin] * 4, [0, 1, 2, 3], 0)
    poses(tree, tree.state)
    for i in (2, 4):
        tree.bodies[i].q.set(tree.state, [5.0])
    assert tree.system.matter.tree_poses(tree.state).moved == ((2, 5),)


def test_poses_need_model_only_and_outlive_the_time() -> None:
    tree = make_tree([Pin], [0], 0)
    poses(tree, tree.state)
    tree.state.time = 3.0
    assert tree.state.stage == Stage.MODEL
    assert tree.bodies[1].pose.is_valid(tree.state)


def test_a_copy_of_a_state_starts_from_what_was_known() -> None:
    tree = make_tree([Pin] * 4, [0, 1, 2, 3], 0)
    matter = tree.system.matter
    matter.tree_poses(tree.state)
    twin = tree.state.copy()
    tree.bodies[4].q.set(twin, [2.0])
    assert matter.tree_poses(twin).moved == ((4, 5),)
    tree.bodies[1].q.set(tree.state, [2.0])
    assert matter.tree_poses(tree.state).moved == ((1, 5),)


def test_rollback_restores_poses_without_computing() -> None:
    tree = make_tree([Pin] * 3, [0, 1, 2], 0)
    before = poses(tree, tree.state)
    checkpoint = tree.state.checkpoint()
    tree.bodies[1].q.set(tree.state, [2.0])
    assert not np.array_equal(poses(tree, tree.state), before)
    tree.state.rollback(checkpoint)
    with tree.state.trace() as trace:
        np.testing.assert_array_equal(poses(tree, tree.state), before)
    assert computed(trace) == []


# ---------------------------------------------------------------------- the testing kit


def small_system() -> MultibodySystem:
    rng = np.random.default_rng(4)
    system = MultibodySystem()
    matter = system.matter
    root = matter.add_body("root", matter.ground, Free(), outboard_frame=random_transform(rng))
    arm = matter.add_body("arm", root, Universal(), inboard_frame=random_transform(rng))
    hand = matter.add_body("hand", arm, Ball())
    matter.add_body("lid", root, Gimbal())
    tip = matter.add_body("tip", hand, Weld(), inboard_frame=random_transform(rng))
    matter.add_stations("markers", [arm, tip, tip], rng.normal(size=(3, 3)))
    system.add(Lamps(matter))
    return system


@pytest.mark.parametrize(
    "check", [check_coherence, check_precision, check_strict, check_pickle, check_threads]
)
def test_a_small_tree_passes(check: Any) -> None:
    result = check(small_system(), settings=examples(20), seed=1)
    assert result.examples > 0


def test_strict_mode_passes_on_every_entry() -> None:
    system = small_system()
    state = system.new_state()
    state.q, state.u = np.linspace(0.3, 1.5, state.nq), np.linspace(-1, 1, state.nu)
    with strict() as log, verify(state):
        system.realize(state, Stage.VELOCITY)
        for family in ("pose", "velocity", "acceleration_bias"):
            for entry in getattr(system.matter, family):
                entry(state)
        group = system.matter.station_groups[0]
        for entry in (group.jacobian, group.velocities, group.acceleration_bias):
            entry(state)
        system.project(state, 1e-8)
        state.q = state.q + 0.1
        group.jacobian(state)
    assert log.undeclared == ()


# ---------------------------------------------------------------------- pickling, and const bodies


def test_a_system_and_its_state_can_be_pickled() -> None:
    system = small_system()
    state = system.new_state()
    state.q = np.linspace(0.3, 1.5, state.nq)
    matter = system.matter
    twin, tip, group = pickle.loads(
        pickle.dumps((state, matter.body("tip"), matter.station_groups[0]))
    )
    assert (twin.system, tip, group) == (system, matter.body("tip"), matter.station_groups[0])
    np.testing.assert_array_equal(tip.pose(twin).matrix, tip.pose(state).matrix)


def test_a_pickled_system_is_built_anew_where_it_is_not_known() -> None:
    system = small_system()
    state = system.new_state()
    state.q = np.linspace(0.3, 1.5, state.nq)
    expected = [body.pose(state).matrix for body in system.matter.bodies]
    taken = pickle.dumps((system.matter.body("tip"), system, state, system.matter.bodies))
    system.matter.add_body("more", system.matter.ground, Slider())  # that is another content now
    tip, other, twin, bodies = pickle.loads(taken)
    assert other is not system
    assert other.matter.bodies == bodies
    assert other.matter.body("tip") is tip is bodies[tip.index]
    assert tip.parent is bodies[tip.parent.index]
    np.testing.assert_array_equal([body.pose(twin).matrix for body in bodies], expected)


def test_a_matter_without_system_is_copied_with_its_bodies() -> None:
    matter = small_system().matter
    loose = MatterSubsystem()
    hinge = loose.add_body("hinge", loose.ground, Pin())
    twin = copy.deepcopy(loose)
    assert twin.body("hinge") is not hinge
    assert twin.body("hinge").matter is twin
    assert twin.body("hinge").parent is twin.ground
    assert copy.deepcopy(matter.body("tip")) is matter.body("tip")
    state = MultibodySystem(matter=twin).new_state()
    assert twin.body("hinge").pose(state).translation.tolist() == [0.0, 0.0, 0.0]


def test_bodies_are_const() -> None:
    matter = small_system().matter
    with pytest.raises(ConstModelError, match="name of body 'tip' of matter: cannot be assigned"):
        matter.body("tip").name = "top"
    with pytest.raises(ConstModelError, match=r"q of body 'tip'(.|\n)*body.q.set\(state, values"):
        matter.body("tip").q = 0.3  # type: ignore[misc, assignment]  # is refused
    with pytest.raises(ConstModelError, match="index of stations 'markers' of matter"):
        matter.station_groups[0].index = 3
    with pytest.raises(ConstModelError, match="bodies of stations 'markers' of matter"):
        del matter.station_groups[0].bodies
    with pytest.raises(DeclaredNameError):
        matter.axes = 3  # type: ignore[assignment]  # is refused
