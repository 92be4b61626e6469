"""Constraints of one kind together: the same as each by itself, under its own name."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from stagecache import Stage, System
from stagecache.errors import (
    AdoptionError,
    ConstraintError,
    DuplicateNameError,
    KinematicsError,
    ShapeError,
)
from stagecache.multibody import (
    AbstractPairConstraint,
    ConstantCoordinateConstraint,
    CoordinateCouplerConstraint,
    Free,
    MatterSubsystem,
    MultibodySystem,
    Pin,
    RodConstraint,
    Transform,
    Translation,
)
from stagecache.system.constraints.jacobians import acceleration_bias, position_jacobian
from stagecache.system.constraints.rows import row_names
from tests.multibody.constrained_trees import PAIRS, close, coordinates_in, coupler, tied
from tests.multibody.trees import Array, Tree, make_tree, trees
from tests.profiles import examples


class Rung(AbstractPairConstraint):
    """A constraint of one's own, with its error alone: a ladder's rung of length 1."""

    num_errors = 1

    def calc_error(self, pose: Transform) -> Any:
        return pose.translation @ pose.translation - 1.0


def rung(pair: Any, _: Any) -> tuple[AbstractPairConstraint, Any]:
    return Rung(*pair), None


def held(tree: Tree) -> ConstantCoordinateConstraint:
    every = coordinates_in(tree)
    assume(every)
    return ConstantCoordinateConstraint(every[tree.rng.integers(len(every))], tree.rng.normal())


@examples(20)
@given(
    trees(most=6),
    st.lists(st.sampled_from([*PAIRS, rung, coupler, held]), min_size=1, max_size=3, unique=True),
    st.integers(1, 3),
)
def test_a_batch_has_what_each_constraint_has_by_itself(
    tree: Tree, kinds: list[Any], count: int
) -> None:
    made = []
    for kind in kinds * count:
        if kind in (coupler, held):
            if not tree.state.nq:
                continue
            made.append(kind(tree))
        else:
            one, two = tree.rng.permutation(len(tree.bodies))[:2]
            made.append(kind((tree.bodies[one], tree.bodies[two]), tree.rng)[0])
    for k, constraint in enumerate(made):
        tree = tied(tree, constraint, f"tie{k}")
    system, state = tree.system, tree.state
    for constraint in made:
        constraint.is_enabled.set(state, bool(tree.rng.random() < 0.7))
    try:
        system.realize(state, Stage.VELOCITY)
    except KinematicsError:  # at a singular angle
        return
    alone = state.copy()
    for other in made:
        other.is_enabled.set(alone, False)
    names = [name for name in row_names(state, "qerr") if name.startswith("tie")]
    found = [row_names(state, kind) for kind in ("uerr", "udoterr")]
    assert found == [names, names]
    jacobian, bias = position_jacobian(state), acceleration_bias(state)
    for constraint in made:
        rows = [k for k, n in enumerate(names) if n.partition("[")[0] == f"{constraint.name}.error"]
        if not constraint.is_enabled(state):
            assert not rows
            assert not len(constraint.error(state))
            continue
        constraint.is_enabled.set(alone, True)
        system.realize(alone, Stage.VELOCITY)
        start = state.nqerr - len(names)
        close(state.qerr[start:][rows], alone.qerr[start:], 1e-13)
        close(state.uerr[rows], alone.uerr, 1e-13)
        close(jacobian[rows], position_jacobian(alone), 1e-13)
        close(bias[rows], acceleration_bias(alone), 1e-7 if isinstance(constraint, Rung) else 1e-12)
        np.testing.assert_array_equal(constraint.error(state), state.qerr[start:][rows])
        np.testing.assert_array_equal(constraint.error_rate(state), state.uerr[rows])
        np.testing.assert_array_equal(constraint.jacobian(state), jacobian[rows])
        np.testing.assert_array_equal(constraint.error_bias(state), bias[rows])
        if isinstance(constraint, AbstractPairConstraint):
            single = constraint.calc_error(constraint.relative_pose(state))
            close(np.ravel(single), constraint.error(state), 1e-12)
        constraint.is_enabled.set(alone, False)


def ladder(count: int = 3) -> tuple[MultibodySystem, list[RodConstraint]]:
    system = MultibodySystem()
    ground = system.matter.ground
    rods = []
    for k in range(count):
        body = system.matter.add_body(
            f"body {k}", ground, Translation(), mass_properties={"mass": 1.0}
        )
        rods.append(system.add(RodConstraint(ground, [0, 0, 0], body, [0, 0, 0], 1.0), f"rod {k}"))
    return system, rods


def test_impact_names_the_constraints_that_are_computed_together() -> None:
    system, rods = ladder()
    state = system.new_state()
    state.q = np.ones(state.nq)
    rods[1].is_enabled.set(state, False)
    system.realize(state, Stage.POSITION)
    found = state.impact(system.matter.body("body 0").q)
    assert found.constraints == ("rod 0", "rod 2")
    assert "so those of constraints: rod 0, rod 2" in str(found)
    assert "rod 2" in found._repr_html_()
    assert "rod 2" in found.as_dict()["constraints"]
    rods[0].error(state)
    system.matter.body("body 0").q.set(state, [1.0, 1.0, 2.0])
    assert str(state.explain(rods[0].error)).startswith(
        "rod 0.error is stale: matter.q (now version 3, as matter.joint_q[body 0])"
    )


def test_a_constraint_has_its_own_multipliers_and_forces() -> None:
    system, rods = ladder()
    state = system.new_state()
    state.q = np.eye(3).ravel()
    state.u = [0, 1, 0, 0, 0, 2, 3, 0, 0]
    rods[1].is_enabled.set(state, False)
    system.realize(state, Stage.ACCELERATION)
    np.testing.assert_allclose(rods[0].multipliers(state), [1.0])  # m v² / r
    np.testing.assert_allclose(rods[2].multipliers(state), [9.0])
    assert rods[1].multipliers(state).shape == (0,)
    assert not rods[1].calc_body_forces(state).any()
    np.testing.assert_allclose(rods[2].calc_body_forces(state)[1, 3:], [0, 0, -9.0])


def test_constraints_of_two_matters_or_of_other_sizes_are_batches_of_their_own() -> None:
    tree = make_tree([Pin, Pin, Pin], [0, 0, 0], 0)
    other = tree.system.add(MatterSubsystem(), "other")
    link = other.add_body("link", other.ground, Free())
    a, b, c = ((body, 0) for body in tree.bodies[1:])
    ties = [
        RodConstraint(tree.bodies[1], [0, 0, 0], tree.bodies[2], [1, 2, 0], 1.0),
        RodConstraint(other.ground, [0, 0, 0], link, [1, 2, 0], 1.0),
        CoordinateCouplerConstraint([a, b], function=lambda x: x[0] - x[1]),
        CoordinateCouplerConstraint([a, b, c], function=lambda x: x[0] - x[1] + x[2]),
        CoordinateCouplerConstraint([a, c], function=lambda x: x[0] - x[1]),
    ]
    for tie in ties:
        tree.system.add_constraint(tie)
    batches = [tie.batch for tie in ties]
    assert batches[2] is batches[4]
    assert len(set(map(id, batches))) == 4
    assert [batch.name for batch in batches[:4]] == [
        *("rod_constraints", "rod_constraints_2"),
        *("coordinate_coupler_constraints", "coordinate_coupler_constraints_2"),
    ]
    tree.system.realize(tree.system.new_state(), Stage.POSITION)


def test_a_batch_takes_what_is_added_later_and_what_a_plain_system_is_given() -> None:
    matter = MatterSubsystem()
    body = matter.add_body("body", matter.ground, Translation())
    rods = [RodConstraint(matter.ground, [0, 0, 0], body, [0, 0, k], 1.0) for k in (1, 2)]
    system = System(matter=matter, first=rods[0])
    assert system.new_state().system.num_subsystems == 4
    system.add(rods[1], "second")
    state = system.new_state()
    system.realize(state, Stage.POSITION)
    assert row_names(state, "qerr") == ["first.error", "second.error"]
    np.testing.assert_array_equal(state.qerr, [0.0, 1.0])


def test_a_system_that_is_pickled_and_one_that_failed_leave_constraints_usable() -> None:
    system, rods = ladder(2)
    twin = pickle.loads(pickle.dumps(system))
    twin.add_constraint(
        RodConstraint(twin.matter.ground, [0, 0, 0], twin.matter.bodies[1], [1, 0, 0], 2.0), "third"
    )
    state = twin.new_state()
    twin.realize(state, Stage.POSITION)
    assert row_names(state, "qerr") == ["rod 0.error", "rod 1.error", "third.error"]
    loose = RodConstraint(system.matter.ground, [0, 0, 0], system.matter.bodies[1], [1, 0, 0], 2.0)
    with pytest.raises(DuplicateNameError):
        system.add(loose, "rod 0")
    assert not loose.is_adopted
    system.add(loose, "rod 2")
    assert loose.batch is rods[0].batch


class Uneven(AbstractPairConstraint):
    """It has two errors for the second body, where it says one."""

    num_errors = 1

    def calc_error(self, pose: Transform) -> Any:
        return pose.translation[: self.bodies[1].index]


def test_an_error_of_one_in_a_batch_names_that_one() -> None:
    tree = make_tree([Translation, Translation], [0, 0], 0, plain=True)
    ground, *bodies = tree.bodies
    for k, body in enumerate(bodies):
        place = body.inboard_frame.translation
        rod = RodConstraint(ground, place, body, [0, 0, 0], 1.0)
        tree = tied(tree, rod, f"rod{k}")
    tree.state.q = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    with pytest.raises(KinematicsError, match="rod1 of body 'ground' and body 'body 2'"):
        rod._batch.jacobian(tree.state)
    for k, body in enumerate(bodies):
        tree = tied(tree, Uneven(ground, body), f"uneven{k}")
    with pytest.raises(ShapeError, match="calc_error of uneven1 of body 'ground'"):
        tree.system.realize(tree.state, Stage.POSITION)


def test_the_jacobian_of_many_u_is_the_same_in_a_batch() -> None:
    """Sparse, of rods and couplers: against columns by unit u."""
    n = 110
    tree = make_tree([Pin] * n, [*range(n)], 2, plain=True)
    bodies, rng = tree.bodies, np.random.default_rng(0)
    for k in range(3):
        one, two = (int(i) for i in rng.permutation(n)[:2])
        ends: Array = rng.normal(size=(2, 3))
        tree.system.add(RodConstraint(bodies[one], ends[0], bodies[two], ends[1], 1.0), f"rod{k}")
        pairs = [(bodies[one + 1], 0), (bodies[two + 1], 0), (bodies[one + 1], 0)]
        tree.system.add(
            CoordinateCouplerConstraint(pairs, function=lambda x: np.sin(x[0]) + x[1] * x[2]),
            f"coupler{k}",
        )
    state = tree.system.new_state()
    state.q = rng.normal(size=n)
    tree.system.realize(state, Stage.VELOCITY)
    found = position_jacobian(state)
    assert found.shape == (6, n)
    for unit in np.eye(n)[::10]:
        state.u = unit
        tree.system.realize(state, Stage.VELOCITY)
        close(found @ unit, state.uerr, 1e-9)


def test_a_constraint_has_no_batch_before_it_has_a_system() -> None:
    tree = make_tree([Pin], [0], 0)
    loose = RodConstraint(tree.bodies[0], [0, 0, 0], tree.bodies[1], [1, 0, 0], 2.0)
    with pytest.raises(AdoptionError, match="has no System"):
        _ = loose.batch


class Above(AbstractPairConstraint):
    """Body 2 is at a height, by formulas for many at once."""

    num_errors = 1
    stacked = ("height",)

    def __init__(self, pair: Any, height: float) -> None:
        super().__init__(*pair)
        self.height = height

    def calc_error(self, pose: Transform) -> Any:
        return pose.translation[..., 2] - self.height

    def calc_jacobian(self, pose: Transform) -> Any:
        found = np.zeros((*pose.translation.shape[:-1], 1, 6))
        found[..., 5] = 1.0
        return found

    def calc_bias(self, pose: Transform, velocity: Array) -> Any:  # it is linear
        return np.zeros((*pose.translation.shape[:-1], 1))


class Below(Above):
    """Another formula, for one only: it does not say `stacked` again."""

    def calc_error(self, pose: Transform) -> Any:
        return [self.height - pose.translation[2]]

    def calc_jacobian(self, pose: Transform) -> Any:
        return -super().calc_jacobian(pose)


class OfOneOnly(Above):
    """It says that its formulas are for many, and they are not."""

    stacked = ("height",)

    def calc_error(self, pose: Transform) -> Any:
        return pose.translation[2] - self.height


def test_formulas_of_ones_own_are_evaluated_for_many_at_once_if_they_can_be() -> None:
    tree = make_tree([Free, Free, Free], [0, 1, 1], 3)
    pairs = [(tree.bodies[0], tree.bodies[2]), (tree.bodies[3], tree.bodies[1])]
    made = [kind(pair, 0.3 * k) for kind in (Above, Below) for k, pair in enumerate(pairs)]
    for k, constraint in enumerate(made):
        tree = tied(tree, constraint, f"tie{k}")
    tree.system.realize(tree.state, Stage.VELOCITY)
    for k, (one, two) in enumerate(pairs):
        height = (one.pose(tree.state).inverse() @ two.pose(tree.state)).translation[2] - 0.3 * k
        close(made[k].error(tree.state), np.array([height]), 1e-12)
        close(made[k + 2].error(tree.state), np.array([-height]), 1e-12)
        close(made[k + 2].error_rate(tree.state), -made[k].error_rate(tree.state), 1e-12)


def test_formulas_that_are_for_one_only_are_refused_where_they_say_otherwise() -> None:
    tree = make_tree([Free], [0], 3)
    with pytest.raises(ConstraintError, match="not the same for two equal constraints"):
        tree.system.add(OfOneOnly(tree.bodies, 0.1), "tie")
    assert tree.system.topology_has_been_realized


class Sum(Above):
    """The height is the sum of numbers, of which each constraint may have another count."""

    stacked = ("heights",)

    def __init__(self, pair: Any, heights: list[float]) -> None:
        super().__init__(pair, 0.0)
        self.heights = np.array(heights)

    def calc_error(self, pose: Transform) -> Any:
        return (pose.translation[..., 2] - self.heights.sum(axis=-1))[..., None]


def test_stacked_attributes_of_other_shapes_are_evaluated_one_after_the_other() -> None:
    system = MultibodySystem()
    ground = system.matter.ground
    bodies = [system.matter.add_body(name, ground, Translation()) for name in "ab"]
    one = system.add_constraint(Sum((ground, bodies[0]), [0.1, 0.2]), "one")
    two = system.add_constraint(Sum((ground, bodies[1]), [0.1, 0.2, 0.4]), "two")
    state = system.new_state()
    system.realize(state, Stage.POSITION)
    assert (one.error(state)[0], two.error(state)[0]) == pytest.approx((-0.3, -0.7))
