"""Forces and power of every constraint, against the Jacobian, the energy, and each other."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from stagecache import Stage, simulate
from stagecache.errors import (
    InconsistentConstraintsError,
    KinematicsError,
    ProjectionError,
    StageTooLowError,
)
from stagecache.measures import Integral
from stagecache.multibody import (
    AbstractConstraint,
    ConstantAccelerationConstraint,
    ConstantSpeedConstraint,
    Gravity,
    Linear,
    MobilizedBody,
    MultibodySystem,
    NoSlip1DConstraint,
    Pin,
    PrescribedMotionConstraint,
    RodConstraint,
    SpeedCouplerConstraint,
    Transform,
)
from stagecache.system.constraints.jacobians import acceleration_jacobian
from tests.multibody.constrained_trees import PAIRS, coupler, tied
from tests.multibody.constraints import contacting
from tests.multibody.constraints.test_simbody import Wave
from tests.multibody.trees import Tree, trees
from tests.profiles import examples


def of_pairs(kind: Any) -> Callable[[Tree], AbstractConstraint]:
    def make(tree: Tree) -> AbstractConstraint:
        one, two = tree.rng.permutation(len(tree.bodies))[:2]
        constraint: AbstractConstraint = kind((tree.bodies[one], tree.bodies[two]), tree.rng)[0]
        return constraint

    return make


def rolling(kind: contacting.Make) -> Callable[[Tree], AbstractConstraint]:
    return of_pairs(lambda pair, rng: kind(pair, rng, True))


def with_u(tree: Tree) -> MobilizedBody:
    """A body whose joint has a u, or the last one."""
    bodies = [body for body in tree.bodies[1:] if body.mobilizer.nu]
    return bodies[int(tree.rng.integers(len(bodies)))]


def no_slip(tree: Tree) -> AbstractConstraint:
    case, one, two = (int(i) for i in tree.rng.integers(len(tree.bodies), size=3))
    two = two if one != two else (one + 1) % len(tree.bodies)
    bodies = tree.bodies
    point, direction = tree.rng.normal(size=(2, 3))
    return NoSlip1DConstraint(bodies[case], point, direction, bodies[one], bodies[two])


EVERY: dict[str, Callable[[Tree], AbstractConstraint]] = {
    **{kind.__name__: of_pairs(kind) for kind in PAIRS},
    **{f"contact of {kind.__name__}": rolling(kind) for kind in contacting.KINDS},
    "coupler": coupler,
    "speed": lambda tree: ConstantSpeedConstraint(with_u(tree), 0.7),
    "acceleration": lambda tree: ConstantAccelerationConstraint(with_u(tree), 0.7),
    "speeds": lambda tree: SpeedCouplerConstraint(
        [(with_u(tree), 0), (with_u(tree), 0)], function=lambda x: x[0] + x[1] ** 2
    ),
    "no slip": no_slip,
}


@examples(60)
@given(trees(most=5, has_mass=True), st.lists(st.sampled_from([*EVERY]), min_size=1, max_size=3))
def test_power_and_forces_are_the_jacobian_times_multipliers(tree: Tree, names: list[str]) -> None:
    assume(tree.state.nu)
    constraints: list[Any] = []
    for k, name in enumerate(names):
        constraints.append(EVERY[name](tree))
        tree = tied(tree, constraints[-1], f"tie {k}")
    system, state = tree.system, tree.state
    try:
        system.realize(state, Stage.ACCELERATION)
    except (InconsistentConstraintsError, KinematicsError):
        assume(False)
    jacobian, multipliers = acceleration_jacobian(state), state.multipliers.copy()
    scale = 1e-11 * (1 + np.abs(jacobian).sum() * np.abs(multipliers).max())
    total = sum(constraint.power(state) for constraint in constraints)
    assert total == pytest.approx(-multipliers @ jacobian @ state.u, abs=scale)
    forces = [(c.bodies, c.calc_body_forces(state)) for c in constraints]
    on_u = sum(c.calc_mobility_forces(state) for c in constraints)
    other = state.copy()
    other.u = tree.rng.normal(size=state.nu)
    power = float(on_u @ other.u)
    for bodies, spatial in forces:
        assert spatial.shape == (len(bodies), 6)
        power += sum(body.velocity(other) @ f for body, f in zip(bodies, spatial, strict=True))
    assert power == pytest.approx(-multipliers @ jacobian @ other.u, abs=3 * scale)


def arms() -> tuple[MultibodySystem, MobilizedBody, MobilizedBody]:
    """A double pendulum."""
    system = MultibodySystem()
    end = Transform(None, [0.0, 1.0, 0.0])
    solid: Any = {"mass": 2.0}
    upper = system.matter.add_body(
        "upper", system.matter.ground, Pin(), outboard_frame=end, mass_properties=solid
    )
    lower = system.matter.add_body("lower", upper, Pin(), outboard_frame=end, mass_properties=solid)
    system.add(Gravity(system.matter), "gravity")
    return system, upper, lower


@pytest.mark.parametrize("name", ["speed", "motion", "quick"])
def test_energy_grows_by_the_work_of_what_drives_a_body(name: str) -> None:
    system, upper, _ = arms()
    motor: AbstractConstraint
    if name == "speed":
        motor = ConstantSpeedConstraint(upper, 1.5)
    else:
        motor = PrescribedMotionConstraint(upper, Wave() if name == "motion" else Linear(1.5))
    system.add(motor, "motor")
    work = system.add(Integral(motor.power), "work")
    state = system.new_state()
    state.u = [1.5, -0.5]
    system.realize(state, Stage.VELOCITY)
    system.project(state, 1e-10)
    energy = system.calc_energy(state)
    last = simulate(system, state, 1.0, accuracy=1e-7)[-1]
    system.realize(last, Stage.ACCELERATION)
    change = system.calc_energy(last) - energy
    assert abs(change) > 0.3
    assert work.value(last)[0] == pytest.approx(change, abs=1e-4)
    np.testing.assert_array_equal(np.shape(motor.calc_body_forces(last)), (1, 6))


def test_a_motor_has_the_power_of_its_torque() -> None:
    system, upper, _ = arms()
    motor = system.add(ConstantSpeedConstraint(upper, 1.5), "motor")
    state = system.new_state()
    state.q, state.u = [0.5, 0.2], [1.5, 0.0]
    system.realize(state, Stage.ACCELERATION)
    torque = motor.calc_mobility_forces(state)
    np.testing.assert_allclose(torque, [-motor.multipliers(state)[0], 0.0])
    assert motor.power(state) == pytest.approx(1.5 * torque[0])
    reaction = system.calc_reaction_forces(state)[upper.index]
    assert reaction[2] == pytest.approx(torque[0])  # the joint transmits it
    assert not motor.calc_body_forces(state).any()


@examples(15)
@given(trees(most=5, has_mass=True), st.sampled_from([*PAIRS, *contacting.KINDS]))
def test_a_constraint_that_is_satisfied_does_not_work(tree: Tree, kind: Any) -> None:
    make = rolling(kind) if kind in contacting.KINDS else of_pairs(kind)
    constraint: Any = make(tree)
    tree = tied(tree, constraint)
    system, state = tree.system, tree.state
    try:
        system.realize(state, Stage.VELOCITY)
        system.project(state, 1e-9)
    except (KinematicsError, ProjectionError):
        assume(False)
    system.realize(state, Stage.ACCELERATION)
    size = 1 + np.abs(state.multipliers).max(initial=0.0)
    assert constraint.power(state) == pytest.approx(0.0, abs=1e-7 * size)


def test_power_is_known_from_acceleration_on() -> None:
    system, _, lower = arms()
    rod = RodConstraint(system.matter.ground, [1, 0, 0], lower, [0, 0, 0], 1.0)
    system.add(rod, "rod")
    state = system.new_state()
    system.realize(state, Stage.VELOCITY)
    with pytest.raises(StageTooLowError):
        rod.power(state)
    with pytest.raises(StageTooLowError):
        rod.calc_body_forces(state)
    rod.is_enabled.set(state, False)
    system.realize(state, Stage.ACCELERATION)
    assert rod.power(state) == 0.0
    assert system.units["rod.power"] == "W"
