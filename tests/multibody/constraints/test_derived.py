"""Derivatives that the author of a constraint leaves out, and those that are wrong."""

from typing import Any

import numpy as np
import pytest

from stagecache import Stage, State
from stagecache.errors import ConstraintError
from stagecache.multibody import (
    AbstractCoordinateConstraint,
    AbstractPairConstraint,
    BallConstraint,
    ConstantOrientationConstraint,
    CoordinateCouplerConstraint,
    Free,
    MultibodySystem,
    Pin,
    PointOnLineConstraint,
    RodConstraint,
    Slider,
    Transform,
    WeldConstraint,
)
from tests.multibody.trees import random_transform


def two_bodies() -> tuple[MultibodySystem, State]:
    system = MultibodySystem()
    for name in ("one", "two"):
        system.matter.add_body(name, system.matter.ground, Free())
    state = system.new_state()
    rng = np.random.default_rng(3)
    state.q = rng.normal(size=state.nq)
    state.u = rng.normal(size=state.nu)
    return system, state


READY: list[Any] = [
    lambda a, b: RodConstraint(a, [0.1, 0.2, 0.3], b, [1.0, 0.5, -0.3], 0.7),
    lambda a, b: BallConstraint(a, [0.1, 0.2, 0.3], b, [1.0, 0.5, -0.3]),
    lambda a, b: PointOnLineConstraint(a, [0.1, 0.2, 0.3], [1, 2, 3], b, [1.0, 0.5, -0.3]),
    ConstantOrientationConstraint,
    lambda a, b: WeldConstraint(a, b, second_frame=random_transform(np.random.default_rng(1))),
]


@pytest.mark.parametrize("ready", range(len(READY)))
@pytest.mark.parametrize("keeps_jacobian", [True, False])
def test_derived_ones_are_those_of_the_constraints_that_are_ready(
    ready: int, keeps_jacobian: bool
) -> None:
    system, state = two_bodies()
    one, two = system.matter.bodies[1:]
    constraint = READY[ready](one, two)

    class Derived(AbstractPairConstraint):
        num_errors = constraint.num_errors

        def calc_error(self, pose: Transform) -> Any:
            return constraint.calc_error(pose)

    if keeps_jacobian:
        Derived.calc_jacobian = lambda _, pose: constraint.calc_jacobian(pose)  # type: ignore[assignment, method-assign]
    system.add_constraint(constraint, "given")
    derived = system.add_constraint(Derived(one, two), "derived")
    state, before = system.new_state(), state
    state.q, state.u = before.q, before.u
    system.realize(state, Stage.VELOCITY)
    np.testing.assert_allclose(derived.jacobian(state), constraint.jacobian(state), atol=1e-10)
    np.testing.assert_allclose(derived.error_bias(state), constraint.error_bias(state), atol=1e-8)


def test_at_rest_derived_biases_are_zero() -> None:
    system, _ = two_bodies()
    one, two = system.matter.bodies[1:]
    rod = RodConstraint(one, [0, 0, 0], two, [1, 0, 0], 0.5)

    class Distance(AbstractPairConstraint):
        num_errors = 1

        def calc_error(self, pose: Transform) -> Any:
            return rod.calc_error(pose)

    distance = system.add_constraint(Distance(one, two), "distance")
    state = system.new_state()
    system.realize(state, Stage.VELOCITY)
    np.testing.assert_array_equal(distance.error_bias(state), [0.0])


class Wrong(AbstractPairConstraint):
    """A distance whose derivatives are wrong, or right, as one says."""

    num_errors = 1
    jacobian_is = bias_is = 1.0

    def calc_error(self, pose: Transform) -> Any:
        x, y, _ = pose.translation
        return [x * x + y * y - 1.0]

    def calc_jacobian(self, pose: Transform) -> Any:
        x, y, _ = pose.translation
        return self.jacobian_is * np.array([[0, 0, 0, 2 * x, 2 * y, 0]])

    def calc_bias(self, pose: Transform, velocity: Any) -> Any:
        return [self.bias_is * 2 * (velocity[3] ** 2 + velocity[4] ** 2)]


@pytest.mark.parametrize(
    ("jacobian_is", "bias_is", "text"),
    [(1.01, 1.0, "calc_jacobian"), (1.0, 1.01, "calc_bias"), (1.0, 1.0, None)],
)
def test_wrong_derivatives_are_refused_when_it_is_added(
    jacobian_is: float, bias_is: float, text: str | None
) -> None:
    system, _ = two_bodies()
    constraint = Wrong(*system.matter.bodies[1:])
    constraint.jacobian_is, constraint.bias_is = jacobian_is, bias_is
    if text is None:
        system.add(constraint, "wrong")
        return
    with pytest.raises(ConstraintError, match=f"{text} of wrong"):
        system.add(constraint, "wrong")
    assert not constraint.is_adopted
    assert [s.name for s in system.subsystems] == [s.name for s in MultibodySystem().subsystems]


class Cam(AbstractCoordinateConstraint):
    """A follower of a cam: x1 = sin x0."""

    num_errors = 1

    def calc_error(self, x: Any) -> Any:
        return [x[1] - np.sin(x[0])]


def pins() -> tuple[MultibodySystem, list[Any]]:
    system = MultibodySystem()
    ground = system.matter.ground
    return system, [(system.matter.add_body(n, ground, Pin()), 0) for n in ("cam", "follower")]


def test_a_constraint_of_coordinates_needs_its_error_only() -> None:
    system, coordinates = pins()
    cam = system.add_constraint(Cam(coordinates), "cam")
    state = system.new_state()
    state.q, state.u = [0.4, 0.1], [2.0, 3.0]
    system.realize(state, Stage.VELOCITY)
    np.testing.assert_allclose(cam.jacobian(state), [[-np.cos(0.4), 1.0]], atol=1e-11)
    np.testing.assert_allclose(cam.error_bias(state), [np.sin(0.4) * 4.0], atol=1e-8)


def test_a_coupler_needs_its_function_only_and_is_checked() -> None:
    variants: tuple[dict[str, Any], ...] = ({}, {"gradient": lambda x: [2 * x[0], 1.0]})
    for given in variants:
        system, coordinates = pins()
        coupler = CoordinateCouplerConstraint(
            coordinates, function=lambda x: x[0] ** 2 + x[1], **given
        )
        system.add_constraint(coupler, "coupler")
        state = system.new_state()
        state.q, state.u = [0.4, 0.1], [2.0, 3.0]
        system.realize(state, Stage.VELOCITY)
        np.testing.assert_allclose(coupler.jacobian(state), [[0.8, 1.0]], atol=1e-11)
        np.testing.assert_allclose(coupler.error_bias(state), [8.0], atol=1e-8)
    system, coordinates = pins()
    wrong = CoordinateCouplerConstraint(
        coordinates, function=lambda x: x[0] ** 2 + x[1], gradient=lambda x: [x[0], 1.0]
    )
    with pytest.raises(ConstraintError, match="calc_jacobian"):
        system.add_constraint(wrong, "wrong")


def test_an_error_that_is_not_defined_everywhere_is_checked_where_it_is() -> None:
    system, coordinates = pins()
    system.add_constraint(
        CoordinateCouplerConstraint(
            coordinates,
            function=lambda x: np.sqrt(x[0]) - x[1] if x[0] > 0 else float("nan"),
            gradient=lambda x: [0.5 / np.sqrt(abs(x[0])), -1.0],
        ),
        "root",
    )


@pytest.mark.parametrize("length", [1e-3, 1e-1, 1.0, 1e3])
def test_derived_ones_are_precise_in_models_of_any_size(length: float) -> None:
    """In a System that does not say its scale of lengths."""

    class Rod(AbstractPairConstraint):
        num_errors = 1

        def calc_error(self, pose: Transform) -> Any:
            return np.linalg.norm(pose.translation) - length

    system = MultibodySystem()
    ground = system.matter.ground
    bob = system.matter.add_body("bob", ground, Free())
    derived = system.add_constraint(Rod(ground, bob), "derived")
    given = RodConstraint(ground, [0, 0, 0], bob, [0, 0, 0], length)
    system.add_constraint(given, "given")
    state = system.new_state()
    bob.q.set(state, [1.0, 0.2, 0.3, 0.4, *(length * np.array([0.6, 0.48, 0.64]))])
    bob.u.set(state, [1.0, 2.0, 3.0, *(length * np.array([0.3, -0.5, 0.2]))])
    system.realize(state, Stage.VELOCITY)
    np.testing.assert_allclose(derived.jacobian(state), given.jacobian(state), atol=1e-9)
    np.testing.assert_allclose(derived.error_bias(state), given.error_bias(state), rtol=1e-7)


def test_derivatives_of_lengths_and_angles_have_steps_of_their_own() -> None:
    """A nut of a millimetre of pitch: its coordinates are an angle, and a small length."""
    pitch = 1e-3
    system = MultibodySystem()
    ground = system.matter.ground
    nut = system.matter.add_body("nut", ground, Slider())
    bolt = system.matter.add_body("bolt", ground, Pin())
    variants: tuple[dict[str, Any], ...]
    variants = ({}, {"gradient": lambda x: [1.0, -np.cos(x[1] / pitch)]})
    for given in variants:
        coupler = CoordinateCouplerConstraint(
            [(nut, 0), (bolt, 0)], function=lambda x: x[0] - pitch * np.sin(x[1] / pitch), **given
        )
        system.add_constraint(coupler)
        state = system.new_state()
        state.q = [0.1, 0.3]
        system.realize(state, Stage.VELOCITY)
        wanted = [[1.0, -np.cos(0.3 / pitch)]]
        np.testing.assert_allclose(coupler.jacobian(state), wanted, atol=1e-6)
