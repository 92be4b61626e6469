"""Constraints on speeds, accelerations and time: derivatives, switches, forces and simulations."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from stagecache import Stage, simulate
from stagecache.errors import ConstraintError, ShapeError, StagecacheError, WrongTypeError
from stagecache.multibody import (
    AbstractConstraint,
    AbstractFunction,
    AbstractSpeedConstraint,
    Ball,
    ConstantAccelerationConstraint,
    ConstantSpeedConstraint,
    Linear,
    MultibodySystem,
    NoSlip1DConstraint,
    Pin,
    Polynomial,
    PrescribedMotionConstraint,
    Slider,
    SpeedCouplerConstraint,
)
from stagecache.system.constraints.jacobians import acceleration_bias, acceleration_jacobian
from stagecache.system.constraints.rows import row_names
from tests.multibody.constrained_trees import STEP, close, coordinates_in, tied
from tests.multibody.constraints.test_simbody import KINDS, OF_ANGLES, model
from tests.multibody.trees import Array, Tree, along, make_tree, trees
from tests.profiles import examples


class Whirl(AbstractSpeedConstraint):
    """A constraint of one's own, with its error alone."""

    num_errors = 2

    def calc_error(self, x: Array) -> Any:
        return [x[0] * x[1], np.sin(x).sum()]


def slip(tree: Tree) -> NoSlip1DConstraint:
    one, two = (tree.bodies[k] for k in tree.rng.permutation(len(tree.bodies))[:2])
    case = tree.bodies[tree.rng.integers(len(tree.bodies))]
    point, direction = tree.rng.normal(size=(2, 3))
    return NoSlip1DConstraint(case, point, direction, one, two)


def speeds_of(tree: Tree, kind: str, count: int) -> list[Any]:
    """Some of the q or u of a tree, each once."""
    every: list[Any] = coordinates_in(tree)
    if kind == "u":
        every = [(b, i) for b in tree.bodies for i in range(b.mobilizer.nu)]
    assume(len(every) >= count)
    return [every[k] for k in tree.rng.permutation(len(every))[:count]]


def constant(tree: Tree) -> ConstantSpeedConstraint:
    [(body, index)] = speeds_of(tree, "u", 1)
    return ConstantSpeedConstraint(body, tree.rng.normal(), index=index)


def whirl(tree: Tree) -> Whirl:
    return Whirl(speeds_of(tree, "u", 2), speeds_of(tree, "q", 2))


def coupled(tree: Tree) -> SpeedCouplerConstraint:
    return SpeedCouplerConstraint(
        speeds_of(tree, "u", 2),
        speeds_of(tree, "q", 2),
        function=lambda x: x[0] * np.cos(x[2]) + x[1] ** 2 - x[3],
        gradient=lambda x: [np.cos(x[2]), 2 * x[1], -x[0] * np.sin(x[2]), -1.0],
    )


@examples(40)
@given(trees(most=6), st.sampled_from([slip, constant, whirl, coupled]))
def test_derivatives_of_velocity_errors_are_differences(tree: Tree, kind: Any) -> None:
    constraint = kind(tree)
    tree = tied(tree, constraint)
    system, state = tree.system, tree.state
    udot = tree.rng.normal(size=state.nu)
    after, before = (constraint.error(along(tree, s, udot)) for s in (STEP, -STEP))
    system.realize(state, Stage.VELOCITY)
    np.testing.assert_array_equal(state.uerr, constraint.error(state))
    jacobian, bias = acceleration_jacobian(state), acceleration_bias(state)
    np.testing.assert_array_equal(jacobian, constraint.jacobian(state))
    np.testing.assert_array_equal(bias, constraint.error_bias(state))
    close(jacobian @ udot + bias, (after - before) / (2 * STEP), 1e-5)


@examples(20)
@given(trees(most=6))
def test_no_slip_is_the_difference_of_velocities_at_the_point(tree: Tree) -> None:
    constraint = slip(tree)
    tree = tied(tree, constraint)
    state = tree.state
    tree.system.realize(state, Stage.VELOCITY)
    pose = constraint.case.pose(state)
    point = pose.apply(constraint.point)

    def velocity(body: Any) -> Array:
        motion, origin = body.velocity(state), body.pose(state).translation
        found: Array = motion[3:] + np.cross(motion[:3], point - origin)
        return found

    wanted = velocity(constraint.second) - velocity(constraint.first)
    close(constraint.error(state), np.array([wanted @ pose.rotation @ constraint.direction]), 1e-12)


def test_a_prescribed_coordinate_follows_the_time() -> None:
    tree = make_tree([Ball, Pin], [0, 1], 3, use_euler_angles=True)
    motor = PrescribedMotionConstraint(tree.bodies[1].coordinate(2), Polynomial([0.1, 0.2, 0.3]))
    tree = tied(tree, motor)
    tree.system.realize(tree.state, Stage.VELOCITY)
    udot = tree.rng.normal(size=tree.state.nu)
    errors, rates = [], []
    for step in (STEP, -STEP):
        moved = along(tree, step, udot)
        moved.time = tree.state.time + step
        errors.append(motor.error(moved))
        rates.append(motor.error_rate(moved))
    state = tree.state
    close(motor.error_rate(state), (errors[0] - errors[1]) / (2 * STEP))
    found = motor.jacobian(state) @ udot + motor.error_bias(state)
    close(found, (rates[0] - rates[1]) / (2 * STEP), 1e-5)
    u_matters = state.impact(tree.system.matter.u)
    assert not any("where" in str(entry) for entry in u_matters.entries)


@pytest.mark.parametrize("use_euler_angles", [False, True])
def test_all_kinds_together_are_each_by_itself(*, use_euler_angles: bool) -> None:
    kinds = [kind for kind in KINDS if use_euler_angles or kind not in OF_ANGLES]
    system, state = model(*kinds, use_euler_angles=use_euler_angles, stage=Stage.VELOCITY)
    assert [n.removesuffix(".error") for n in row_names(state, "udoterr")] == kinds
    jacobian, bias = acceleration_jacobian(state), acceleration_bias(state)
    for row, kind in enumerate(kinds):
        _, alone = model(kind, use_euler_angles=use_euler_angles)
        close(jacobian[row], acceleration_jacobian(alone)[0], 1e-13)
        close(bias[row], acceleration_bias(alone)[0], 1e-13)
    for subsystem in system.subsystems:
        if isinstance(subsystem, AbstractConstraint):
            subsystem.is_enabled.set(state, False)
    system.realize(state, Stage.ACCELERATION)
    assert state.nuerr == state.nudoterr == 0
    _, free = model(use_euler_angles=use_euler_angles)
    close(state.udot, free.udot, 1e-12)


def test_forces_of_no_slip_on_bodies_are_its_jacobian_times_multipliers() -> None:
    system, state = model("NoSlip1D")
    contact: Any = system.subsystem("NoSlip1D")
    forces = contact.calc_body_forces(state)
    motions = np.array([body.velocity(state) for body in contact.bodies])
    power = float((motions * forces).sum())
    wanted = -float(contact.multipliers(state) @ contact.error(state))
    np.testing.assert_allclose(power, wanted, rtol=1e-12)
    contact.is_enabled.set(state, False)
    system.realize(state, Stage.ACCELERATION)
    assert not contact.calc_body_forces(state).any()


def test_many_speeds_of_a_large_tree_have_a_sparse_jacobian() -> None:
    system = MultibodySystem()
    body = system.matter.ground
    for k in range(120):
        body = system.matter.add_body(f"body {k}", body, Pin(), mass_properties={"mass": 1.0})
        system.add(ConstantSpeedConstraint(body, 1.0 + k), f"speed {k}")
    state = system.new_state()
    system.realize(state, Stage.VELOCITY)
    np.testing.assert_array_equal(state.uerr, -1.0 - np.arange(120))
    jacobian: Any = acceleration_jacobian(state)
    assert jacobian.nnz == 120
    np.testing.assert_array_equal(jacobian.toarray(), np.eye(120))
    system.project(state, 1e-10)
    np.testing.assert_allclose(state.u, 1.0 + np.arange(120))


def test_speeds_and_accelerations_are_held_in_a_simulation() -> None:
    system = MultibodySystem()
    ground, masses = system.matter.ground, {"mass_properties": {"mass": 1.0}}
    carts = [system.matter.add_body(n, ground, Slider(), **masses) for n in "abcd"]  # type: ignore[arg-type]
    system.add(ConstantSpeedConstraint(carts[0], 2.0), "steady")
    system.add(ConstantAccelerationConstraint(carts[1], 3.0), "pushed")
    system.add(SpeedCouplerConstraint([(carts[0], 0), (carts[2], 0)], function=_difference), "rope")
    system.add(PrescribedMotionConstraint(carts[3], Linear(0.5)), "motor")
    copy = pickle.loads(pickle.dumps(system))
    for one in (system, copy):
        state = one.new_state()
        one.realize(state, Stage.POSITION)
        one.project(state, 1e-10)
        final = simulate(one, state, 1.0)[-1]
        np.testing.assert_allclose(final.u, [2.0, 3.0, 4.0, 0.5], atol=1e-6)
        np.testing.assert_allclose(final.q, [2.0, 1.5, 4.0, 0.5], atol=1e-6)


def _difference(x: Array) -> float:
    return float(x[1] - 2 * x[0])


class Wrong(AbstractSpeedConstraint):
    """Its Jacobian is not that of its error."""

    num_errors = 1

    def calc_error(self, x: Array) -> Any:
        return x[0] ** 2

    def calc_jacobian(self, x: Array) -> Any:
        return [[x[0]]]


def anything(value: object) -> Any:
    return value


@pytest.mark.parametrize(
    ("error", "pattern", "make"),
    [
        (ConstraintError, "a speed that", lambda a, _: ConstantSpeedConstraint(a, 0, index=1)),
        (ConstraintError, "a speed that", lambda _, b: ConstantSpeedConstraint(b, 0, index=3)),
        (
            ConstraintError,
            "a speed that",
            lambda a, _: ConstantAccelerationConstraint(a, 0, index=-1),
        ),
        (ShapeError, "speeds of", lambda *_: SpeedCouplerConstraint([], function=_difference)),
        (
            ShapeError,
            "coordinates of",
            lambda a, _: SpeedCouplerConstraint([(a, 0)], anything(3), function=_difference),
        ),
        (
            WrongTypeError,
            "function of",
            lambda a, _: SpeedCouplerConstraint([(a, 0)], function=anything(3)),
        ),
        (
            WrongTypeError,
            "gradient of",
            lambda a, _: SpeedCouplerConstraint(
                [(a, 0)], function=_difference, gradient=anything(3)
            ),
        ),
        (
            WrongTypeError,
            "function of",
            lambda a, _: PrescribedMotionConstraint(a, anything(np.sin)),
        ),
        (
            ConstraintError,
            "ties a body to itself",
            lambda a, b: NoSlip1DConstraint(b, [0, 0, 0], [1, 0, 0], a, a),
        ),
        (
            ConstraintError,
            "differs from differences",
            lambda a, _: a.matter.system.add(Wrong([(a, 0)]), "wrong"),
        ),
    ],
)
def test_wrong_speeds_are_refused(error: type[StagecacheError], pattern: str, make: Any) -> None:
    tree = make_tree([Pin, Ball], [0, 1], 0)
    with pytest.raises(error, match=pattern) as caught:
        make(*tree.bodies[1:])
    assert caught.value.hint


def test_a_function_of_ones_own_needs_its_value_only() -> None:
    class Square(AbstractFunction):
        def value(self, x: float) -> float:
            return x * x

    system = MultibodySystem()
    body = system.matter.add_body("body", system.matter.ground, Pin())
    motor = system.add(PrescribedMotionConstraint(body, Square()), "motor")
    state = system.new_state()
    state.time = 2.0
    system.realize(state, Stage.VELOCITY)
    np.testing.assert_allclose(motor.error(state), [-4.0])
    np.testing.assert_allclose(motor.error_rate(state), [-4.0])
    np.testing.assert_allclose(motor.error_bias(state), [-2.0], rtol=1e-8)


def test_a_disabled_constraint_has_an_empty_jacobian() -> None:
    system = MultibodySystem()
    arm = system.matter.add_body("arm", system.matter.ground, Pin())
    constraints = [ConstantSpeedConstraint(arm, 1.0), ConstantAccelerationConstraint(arm, 1.0)]
    for constraint in constraints:
        system.add(constraint)
    state = system.new_state()
    for constraint in constraints:
        constraint.is_enabled.set(state, False)
    system.realize(state, Stage.VELOCITY)
    assert [constraint.jacobian(state).shape for constraint in constraints] == [(0, 1), (0, 1)]
