"""Constraints in the graph, switched, projected, and one of one's own."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import Stage, State, Subsystem, cached, strict
from stagecache.errors import (
    ShapeError,
)
from stagecache.multibody import (
    AbstractPairConstraint,
    Ball,
    BallConstraint,
    ConstantCoordinateConstraint,
    ConstantOrientationConstraint,
    Free,
    MatterSubsystem,
    MultibodySystem,
    Pin,
    RodConstraint,
    Transform,
    Translation,
)
from stagecache.system.constraints.jacobians import acceleration_jacobian, position_jacobian
from stagecache.testing import check_coherence, check_pickle, check_precision, check_strict
from tests.multibody.constrained_trees import (
    PAIRS,
    STEP,
    ball,
    close,
    closed,
    tied,
    weld,
)
from tests.multibody.trees import (
    Array,
    Tree,
    along,
    make_tree,
    trees,
)
from tests.profiles import examples


def test_u_that_move_both_bodies_have_columns_of_exact_zeros() -> None:
    tree = make_tree([Free, Ball, Ball, Pin], [0, 1, 1, 3], 1)
    constraint, _ = weld((tree.bodies[2], tree.bodies[3]), tree.rng)
    tree = tied(tree, constraint)
    jacobian = constraint.jacobian(tree.state)
    moving = jacobian.any(axis=0)
    np.testing.assert_array_equal(moving, [False] * 6 + [True] * 6 + [False])


def test_the_jacobian_of_many_u_is_sparse_and_the_same() -> None:
    n = 120
    tree = make_tree([Pin] * n, [*range(60), 0, *range(61, n)], 2, plain=True)
    one, two = tree.bodies[60], tree.bodies[n]
    constraint, _ = ball((one, two), tree.rng)
    tree = tied(tree, constraint)
    found = constraint.jacobian(tree.state)
    assert found.nnz <= 3 * n
    dense = found.toarray()
    scale = np.abs(dense).max()
    state = tree.state
    for j in (0, 30, 59, 60, 90, n - 1):
        state.u = np.eye(n)[j]
        np.testing.assert_allclose(dense[:, j], constraint.error_rate(state), atol=1e-13 * scale)


class Watch(Subsystem):
    """An entry that counts how often the position errors of a constraint change."""

    def __init__(self, constraint: AbstractPairConstraint) -> None:
        self.constraint = constraint
        self.seen: list[Array] = []

    @cached(prerequisites=lambda self: (self.constraint.relative_pose,))
    def look(self, state: State) -> Array:
        error: Array = self.constraint.calc_error(self.constraint.relative_pose(state))
        self.seen.append(error)
        return error


def test_what_moves_none_of_both_bodies_leaves_position_errors_valid() -> None:
    tree = make_tree([Pin, Pin, Pin], [0, 1, 0], 3)
    constraint = BallConstraint(tree.bodies[0], [0, 0, 0], tree.bodies[1], [0, 0, 0])
    tree = tied(tree, constraint)
    watch = Watch(constraint)
    tree = tied(tree, watch)
    state = tree.state
    watch.look(state)
    tree.bodies[2].q.set(state, [0.7])
    tree.bodies[3].q.set(state, [0.7])
    state.u = np.ones(3)
    watch.look(state)
    assert len(watch.seen) == 1
    tree.bodies[1].q.set(state, [0.7])
    watch.look(state)
    assert len(watch.seen) == 2


def loop() -> MultibodySystem:
    """Two arms from the ground whose ends a rod joins, beside a coupler of their joints."""
    system = MultibodySystem()
    matter = system.matter
    left = matter.add_body("left", matter.ground, Ball())
    right = matter.add_body(
        "right", matter.ground, Pin(), inboard_frame=Transform(None, [2.0, 0.0, 0.0])
    )
    system.add(RodConstraint(left, [0, 1, 0], right, [0, 1, 0], 1.5), "rod")
    system.add(ConstantOrientationConstraint(left, right), "parallel")
    system.add(ConstantCoordinateConstraint(right, 0.3), "held")
    return system


def test_the_checks_of_the_testing_kit_have_nothing_to_say() -> None:
    system = loop()
    for check in (check_coherence, check_strict, check_precision, check_pickle):
        check(system, settings=examples(5), seed=0)
    state = system.new_state()
    with strict(state):
        state.u = np.ones(state.nu)
        system.realize(state, Stage.VELOCITY)


def test_a_system_with_constraints_is_pickled() -> None:
    system = loop()
    twin = pickle.loads(pickle.dumps(system))
    states = [s.new_state() for s in (system, twin)]
    for one, state in zip((system, twin), states, strict=True):
        one.realize(state, Stage.POSITION)
    np.testing.assert_array_equal(states[0].qerr, states[1].qerr)
    assert twin.subsystem("rod").bodies[0] is twin.matter.bodies[1]


def test_a_disabled_constraint_has_no_rows() -> None:
    tree = make_tree([Translation], [0], 0)
    constraint = RodConstraint(tree.bodies[0], [0, 0, 0], tree.bodies[1], [0, 0, 0], 1.0)
    tree = tied(tree, constraint)
    state, system = tree.state, tree.system
    assert constraint.is_enabled(state)
    system.realize(state, Stage.VELOCITY)
    assert (state.nqerr, state.nuerr, state.nudoterr) == (1, 1, 1)
    constraint.is_enabled.set(state, False)
    assert state.stage < Stage.INSTANCE
    system.realize(state, Stage.VELOCITY)
    assert (state.nqerr, state.nuerr, state.nudoterr) == (0, 0, 0)
    assert constraint.jacobian(state).shape == (0, 3)
    constraint.is_enabled.set(state, True)
    system.realize(state, Stage.VELOCITY)
    assert state.nqerr == 1
    assert state.qerr[0] == constraint.error(state)[0]


@examples(15)
@given(trees(most=6), st.lists(st.sampled_from(PAIRS), min_size=1, max_size=2))
def test_random_loops_are_closed_by_projection(tree: Tree, kinds: list[Any]) -> None:
    constraints = []
    for kind in kinds:
        one, two = tree.rng.permutation(len(tree.bodies))[:2]
        constraints.append(closed(kind, tree.bodies[one], tree.bodies[two], tree))
    for k, constraint in enumerate(constraints):
        tree = tied(tree, constraint, f"loop{k}")
    system, state = tree.system, tree.state
    state.q = state.q + 0.1 * tree.rng.normal(size=state.nq)
    system.realize(state, Stage.VELOCITY)
    system.project(state, 1e-9)
    for constraint in constraints:
        assert np.abs(constraint.error(state)).max() < 1e-7
        assert np.abs(constraint.error_rate(state)).max() < 1e-6


def test_the_jacobian_of_a_system_has_the_blocks_of_its_constraints_in_their_columns() -> None:
    """Two matters, three constraints of which one is disabled: against uerr for unit u."""
    tree = make_tree([Ball, Pin, Translation], [0, 1, 0], 6)
    other = MatterSubsystem()
    links = [other.add_body(f"link {i}", other.ground, Free()) for i in range(2)]
    constraints = (
        ball((tree.bodies[2], tree.bodies[3]), tree.rng)[0],
        ball((tree.bodies[0], tree.bodies[1]), tree.rng)[0],
        weld((links[0], links[1]), tree.rng)[0],
        ConstantCoordinateConstraint(links[1].coordinate(5), 0.5),
    )
    tree.system.add(other, "other")
    for k, constraint in enumerate(constraints):
        tree.system.add(constraint, f"tie{k}")
    system = tree.system
    state = system.new_state()
    constraints[1].is_enabled.set(state, False)
    system.realize(state, Stage.MODEL)
    state.q = tree.rng.normal(size=state.nq)
    system.realize(state, Stage.VELOCITY)
    found, by_udot = position_jacobian(state), acceleration_jacobian(state)
    assert found.shape == by_udot.shape == (3 + 6 + 1, 7 + 12)
    columns = []
    for unit in np.eye(state.nu):
        state.u = unit
        system.realize(state, Stage.VELOCITY)
        columns.append(state.uerr.copy())
    np.testing.assert_allclose(found, np.transpose(columns), atol=1e-12)
    np.testing.assert_allclose(by_udot, found, atol=1e-12)


class Hover(AbstractPairConstraint):
    """The distance of origins, squared, is 4 m^2: as a user would write it."""

    num_errors = 1

    def calc_error(self, pose: Transform) -> Any:
        return pose.translation @ pose.translation - 4.0

    def calc_jacobian(self, pose: Transform) -> Any:
        return [[0.0, 0.0, 0.0, *(2.0 * pose.translation)]]

    def calc_bias(self, pose: Transform, velocity: Array) -> Any:
        return [2.0 * velocity[3:] @ velocity[3:]]


class Wrong(Hover):
    """Its Jacobian has another shape."""

    def calc_jacobian(self, pose: Transform) -> Any:
        return pose.translation


def test_a_constraint_of_ones_own_is_a_small_class() -> None:
    tree = make_tree([Free, Pin, Ball], [0, 1, 0], 4)
    hover = Hover(tree.bodies[2], tree.bodies[3])
    tree = tied(tree, hover)
    state = tree.state
    after, before = (hover.error_rate(along(tree, s)) for s in (STEP, -STEP))
    close(hover.error_bias(state), (after - before) / (2 * STEP))
    close(hover.jacobian(state) @ state.u, hover.error_rate(state), 1e-12)
    tree.system.realize(state, Stage.VELOCITY)
    tree.system.project(state, 1e-10)
    distance = tree.bodies[2].pose(state).translation - tree.bodies[3].pose(state).translation
    assert np.linalg.norm(distance) == pytest.approx(2.0)


def test_a_jacobian_of_another_shape_is_refused_with_the_names_of_the_bodies() -> None:
    tree = make_tree([Pin, Pin], [0, 0], 4)
    wrong = Wrong(tree.bodies[1], tree.bodies[2])
    tree = tied(tree, wrong)
    with pytest.raises(ShapeError, match="wrong of body 'body 1' and body 'body 2'"):
        wrong.jacobian(tree.state)
