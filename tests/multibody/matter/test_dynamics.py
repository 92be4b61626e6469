"""Dynamics of trees: mass matrix, udot, locks, reactions; Simbody's own figures."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from scipy.spatial.transform import Rotation

from stagecache import Stage, State, discrete
from stagecache.errors import (
    AdoptionError,
    ConstraintError,
    MassMatrixError,
    NotANumberError,
    PrerequisiteStageError,
    ShapeError,
    WrongTypeError,
)
from stagecache.multibody import (
    AbstractForce,
    AbstractMobilizer,
    Ball,
    ForceSum,
    Free,
    Gravity,
    MatterSubsystem,
    MobilizedBody,
    MultibodySystem,
    Pin,
    RodConstraint,
    Slider,
    Transform,
    Translation,
    Weld,
    WeldConstraint,
    applied_from,
)
from stagecache.multibody.tree import layout
from stagecache.system.dynamics.dynamics import generalized_force
from stagecache.testing import check_coherence, check_precision, check_strict
from tests.multibody.trees import Tree, make_tree, random_mass, random_transform, trees
from tests.profiles import examples

some = examples(60)


def chain(links: int) -> tuple[MultibodySystem, State]:
    """Pins about z: links of 1 kg, their centers at their origins, joints half a metre from it."""
    system = MultibodySystem()
    body = system.matter.ground
    for i in range(links):
        body = system.matter.add_body(
            f"link {i}",
            body,
            Pin(),
            inboard_frame=Transform(None, [0.0, -0.5 if i else 0.0, 0.0]),
            outboard_frame=Transform(None, [0.0, 0.5, 0.0]),
            mass_properties={"mass": 1.0, "inertia": [0.1, 0.1, 0.1]},
        )
    system.add(Gravity(system.matter, (0.0, -9.8, 0.0)), "gravity")
    state = system.new_state()
    state.q = 0.3 + 0.01 * np.arange(links)
    state.u = 0.1 + 0.01 * np.arange(links)
    system.realize(state, Stage.ACCELERATION)
    return system, state


@pytest.mark.parametrize(
    ("links", "first", "last", "energy"),
    [
        (2, -0.735444427443336, -6.28850311299878, -18.0352546751055),
        (20, 6.14083259883327, -12.1653121371969, 149.035649387437),
    ],
)
def test_a_chain_has_the_accelerations_of_simbody(
    links: int, first: float, last: float, energy: float
) -> None:
    system, state = chain(links)
    np.testing.assert_allclose(state.udot[[0, -1]], [first, last], rtol=1e-12)
    assert system.calc_energy(state) == pytest.approx(energy, rel=1e-13)


def jacobians(tree: Tree) -> list[np.ndarray]:
    """By body: the Jacobian of its frame at its center of mass, (6, nu)."""
    return [
        body.frame_jacobian(tree.state, body.mass_properties.center) for body in tree.bodies[1:]
    ]


@some
@given(trees(has_mass=True))
def test_m_is_the_sum_of_the_kinetic_energies_of_all_bodies(tree: Tree) -> None:
    state, matter = tree.state, tree.system.matter
    wanted = np.zeros((state.nu, state.nu))
    for body, jacobian in zip(tree.bodies[1:], jacobians(tree), strict=True):
        mass, rotation = body.mass_properties, body.pose(state).rotation
        tensor = rotation @ mass.central_inertia @ rotation.T
        wanted += jacobian[:3].T @ tensor @ jacobian[:3]
        wanted += mass.mass * jacobian[3:].T @ jacobian[3:]
    found = matter.m_matrix(state)
    scale = max(1.0, np.abs(wanted).max(initial=0.0))
    np.testing.assert_allclose(found, wanted, atol=1e-12 * scale)
    np.testing.assert_allclose(
        matter.multiply_by_m(state, state.u), wanted @ state.u, atol=1e-11 * scale
    )
    energy = 0.5 * state.u @ wanted @ state.u
    assert matter.kinetic_energy(state) == pytest.approx(energy, rel=1e-12, abs=1e-300)


@some
@given(trees(has_mass=True))
def test_inverse_dynamics_is_the_inverse_of_forward_dynamics(tree: Tree) -> None:
    state, matter = tree.state, tree.system.matter
    tree.system.realize(state, Stage.ACCELERATION)
    acting = matter.bias_force(state) + matter.applied_force(state)
    scale = max(1.0, np.abs(acting).max(initial=0.0))
    left = matter.calc_inverse_dynamics(state, state.udot)
    np.testing.assert_allclose(left, 0.0, atol=1e-9 * scale)
    udot = tree.rng.normal(size=state.nu)
    taken = matter.calc_inverse_dynamics(state, udot)
    np.testing.assert_allclose(
        taken,
        matter.m_matrix(state) @ udot - acting,
        atol=1e-10 * scale + 1e-11 * abs(taken).max(initial=0),
    )


@some
@given(trees(has_mass=True))
def test_products_with_the_inverse_of_m_undo_products_with_m(tree: Tree) -> None:
    state, matter = tree.state, tree.system.matter
    udot = tree.rng.normal(size=state.nu)
    m = matter.m_matrix(state)
    back = matter.multiply_by_m_inv(state, matter.multiply_by_m(state, udot))
    tolerance = 1e-13 * (np.linalg.cond(m) if m.size else 1.0)
    np.testing.assert_allclose(back, udot, atol=max(tolerance, 1e-12))


def test_m_is_as_precise_far_from_the_origin() -> None:
    """Composite inertias are about their own centers, wherever the tree is."""
    kinds, parents = [Pin, Ball, Pin, Free, Pin], [0, 1, 2, 3, 4]
    near, far = (make_tree(kinds, parents, seed=4, has_mass=True) for _ in range(2))
    system = MultibodySystem()
    carrier = system.matter.add_body(
        "carrier", system.matter.ground, Weld(), inboard_frame=Transform(None, [1e5, -2e5, 3e5])
    )
    made = {0: carrier}
    for body in far.bodies[1:]:
        made[body.index] = system.matter.add_body(
            body.name,
            made[body.parent.index],
            body.mobilizer,
            inboard_frame=body.inboard_frame,
            outboard_frame=body.outboard_frame,
            mass_properties=body.mass_properties,
        )
    state = system.new_state()
    state.q = near.state.q
    wanted = near.system.matter.m_matrix(near.state)
    np.testing.assert_allclose(system.matter.m_matrix(state), wanted, atol=1e-9 * abs(wanted).max())


def test_momentum_is_that_of_all_bodies_about_their_center_of_mass() -> None:
    tree = make_tree([Free, Pin, Ball], [0, 1, 1], seed=2, has_mass=True)
    state, matter = tree.state, tree.system.matter
    mass = matter.calc_mass()
    assert mass == pytest.approx(sum(b.mass_properties.mass for b in tree.bodies))
    center, linear, angular = np.zeros(3), np.zeros(3), np.zeros(3)
    for body in tree.bodies[1:]:
        own = body.mass_properties
        center += own.mass * body.station_position(state, own.center) / mass
    for body in tree.bodies[1:]:
        own, rotation = body.mass_properties, body.pose(state).rotation
        momentum = own.mass * body.station_velocity(state, own.center)
        linear += momentum
        angular += np.cross(body.station_position(state, own.center) - center, momentum)
        angular += rotation @ own.central_inertia @ rotation.T @ body.velocity(state)[:3]
    np.testing.assert_allclose(matter.calc_center_of_mass(state), center, atol=1e-12)
    np.testing.assert_allclose(matter.calc_momentum(state), [*angular, *linear], rtol=1e-10)


# ---------------------------------------------------------------------- what is held


@some
@given(trees(has_mass=True, most=6))
def test_a_locked_joint_moves_as_a_weld(tree: Tree) -> None:
    """The others get the udot of a tree that has a Weld in its place, at the same pose."""
    state, system = tree.state, tree.system
    held = tree.bodies[int(tree.rng.integers(1, len(tree.bodies)))]
    held.lock(state)
    system.realize(state, Stage.TIME)
    system.prescribe(state)
    system.realize(state, Stage.ACCELERATION)
    other = MultibodySystem()
    made = {0: other.matter.ground}
    for body in tree.bodies[1:]:
        inboard = body.inboard_frame
        if body is held:
            across = np.eye(4)
            across[:3] = np.reshape(_form(tree, body).pose(body.q(state).tolist()), (3, 4))
            inboard = inboard @ Transform(across[:3, :3], across[:3, 3])
        made[body.index] = other.matter.add_body(
            body.name,
            made[body.parent.index],
            Weld() if body is held else body.mobilizer,
            inboard_frame=inboard,
            outboard_frame=body.outboard_frame,
            mass_properties=body.mass_properties,
        )
    other.add(Gravity(other.matter), "gravity")
    twin = other.new_state()
    if tree.system.matter.use_euler_angles(state):
        other.matter.use_euler_angles.set(twin, True)
        other.realize(twin, Stage.MODEL)
    for body in tree.bodies[1:]:
        if body is not held:
            made[body.index].q.set(twin, body.q(state))
            made[body.index].u.set(twin, body.u(state))
    other.realize(twin, Stage.ACCELERATION)
    m = other.matter.m_matrix(twin)
    tolerance = (
        1e-13 * (np.linalg.cond(m) if m.size else 1.0) * max(1.0, abs(twin.udot).max(initial=0))
    )
    for body in tree.bodies[1:]:
        own = state.udot[slice(*_bounds(body, state))]
        if body is held:
            np.testing.assert_array_equal(own, 0.0)
        else:
            wanted = twin.udot[slice(*_bounds(made[body.index], twin))]
            np.testing.assert_allclose(own, wanted, atol=max(1e-9, tolerance))


def _form(tree: Tree, body: MobilizedBody) -> AbstractMobilizer:
    mobilizer = body.mobilizer
    angles = tree.system.matter.use_euler_angles(tree.state)
    return mobilizer.with_euler_angles() if angles else mobilizer


def _bounds(body: MobilizedBody, state: State) -> tuple[int, int]:
    place = body.u.place(state)
    return place.start - state.nq, place.stop - state.nq


# ---------------------------------------------------------------------- reactions


Held = tuple[MultibodySystem, State, MobilizedBody]


def held_body(seed: int) -> list[Held]:
    """A pendulum with a body at its end, once welded and once free and held by a constraint."""
    rng = np.random.default_rng(seed)
    first, second = random_mass(rng), random_mass(rng)
    place, end = random_transform(rng), random_transform(rng)
    q, u = rng.normal(size=2), rng.normal(size=2)
    of_tool: dict[str, Any] = {"mass_properties": second}
    found = []
    for welded in (True, False):
        system = MultibodySystem()
        matter = system.matter
        arm = matter.add_body(
            "arm", matter.ground, Pin(), outboard_frame=place, mass_properties=first
        )
        fore = matter.add_body("fore", arm, Pin(), inboard_frame=end, mass_properties=first)
        if welded:
            tool = matter.add_body(
                "tool", fore, Weld(), inboard_frame=place, mass_properties=second
            )
        else:
            tool = matter.add_body("tool", matter.ground, Free(), **of_tool)
            system.add_constraint(WeldConstraint(fore, tool, first_frame=place), "weld")
        system.add(Gravity(matter), "gravity")
        state = system.new_state()
        arm.q.set(state, q[:1])
        fore.q.set(state, q[1:])
        arm.u.set(state, u[:1])
        fore.u.set(state, u[1:])
        found.append((system, state, tool))
    (one, state, tool), (other, twin, free) = found
    pose = tool.pose(state)
    x, y, z, w = Rotation.from_matrix(pose.rotation).as_quat()
    free.q.set(twin, [w, x, y, z, *pose.translation])
    free.u.set(twin, tool.velocity(state))
    for system, s in ((one, state), (other, twin)):
        system.realize(s, Stage.ACCELERATION)
    return found


@pytest.mark.parametrize("seed", range(3))
def test_the_reaction_of_a_weld_is_the_force_of_a_constraint_in_its_place(seed: int) -> None:
    (one, state, tool), (other, twin, free) = held_body(seed)
    np.testing.assert_allclose(state.udot, twin.udot[:2], atol=1e-9)
    wanted = one.calc_reaction_forces(state)
    found = other.calc_reaction_forces(twin)
    for body in (1, 2):  # both pins feel the same
        np.testing.assert_allclose(found[body], wanted[body], atol=1e-8)
    np.testing.assert_allclose(found[free.index], 0.0, atol=1e-8)  # a Free holds nothing
    weld = other.get(WeldConstraint)
    forces = weld.calc_body_forces(twin)
    np.testing.assert_allclose(forces[1], wanted[tool.index], atol=1e-8)
    np.testing.assert_array_equal(wanted[0], 0.0)


# ---------------------------------------------------------------------- what is computed again


def test_a_write_of_u_leaves_m_and_its_root_as_they_are() -> None:
    system, state = chain(4)
    matter = system.matter
    m = matter.m_matrix
    m(state)
    version = m.version(state)
    state.u = state.u + 1.0
    assert m.is_valid(state)
    system.realize(state, Stage.ACCELERATION)
    assert m.version(state) == version
    state.q = state.q + 0.1
    assert not m.is_valid(state)


# ---------------------------------------------------------------------- refusals


def test_a_tree_without_mass_leaves_udot_to_others() -> None:
    system = MultibodySystem()
    system.matter.add_body("arm", system.matter.ground, Pin())
    state = system.new_state()
    system.realize(state, Stage.ACCELERATION)
    assert np.isnan(state.udot).all()


def test_a_force_on_a_tree_of_another_system_is_refused() -> None:
    system, other = MultibodySystem(), MultibodySystem()
    with pytest.raises(AdoptionError, match="another System"):
        system.add(Gravity(other.matter))
    assert len(system.subsystems) == len(other.subsystems)


def test_reactions_of_a_second_tree_are_found_and_of_others_refused() -> None:
    system = MultibodySystem(one=MatterSubsystem(), two=MatterSubsystem())
    one, two = (s for s in system.subsystems if isinstance(s, MatterSubsystem))
    stone = two.add_body("stone", two.ground, Weld(), mass_properties={"mass": 2.0})
    system.add(Gravity(two))
    state = system.new_state()
    system.realize(state, Stage.ACCELERATION)
    found = system.calc_reaction_forces(state, two)
    np.testing.assert_allclose(found[stone.index], [0, 0, 0, 0, 2 * 9.81, 0], atol=1e-12)
    assert system.calc_reaction_forces(state).shape == system.calc_reaction_forces(state, one).shape
    with pytest.raises(WrongTypeError, match="not a matter of this System"):
        system.calc_reaction_forces(state, MatterSubsystem())


def test_a_joint_that_moves_no_mass_is_named() -> None:
    system = MultibodySystem()
    arm = system.matter.add_body(
        "arm", system.matter.ground, Pin(), mass_properties={"mass": 1.0, "center": [1.0, 0.0, 0.0]}
    )
    hand = system.matter.add_body("hand", arm, Pin(), mass_properties={"mass": 1.0})
    state = system.new_state()
    with pytest.raises(MassMatrixError, match=r"joint_u\[hand\]"):
        system.realize(state, Stage.ACCELERATION)
    hand.lock(state)
    system.realize(state, Stage.ACCELERATION)  # it is not asked to move


@pytest.mark.parametrize("k", range(12))
def test_a_point_mass_has_no_inertia_about_its_arm_however_it_is_turned(k: int) -> None:
    system = MultibodySystem()
    point = {"mass": 2.0, "center": [0.3, -0.7, 0.4]}
    ball = system.matter.add_body("bob", system.matter.ground, Ball(), mass_properties=point)
    rail = system.matter.add_body("rail", system.matter.ground, Slider())
    system.matter.add_body("stone", rail, Translation(), mass_properties={"mass": 2.0})
    system.add(Gravity(system.matter), "gravity")
    state = system.new_state()
    ball.q.set(state, [1.0, 0.01 * k, 0.02 * k, 0.013 * k])
    for free, name in ((ball, "bob"), (rail, "rail|stone")):
        for held in (ball, rail):
            held.unlock(state) if held is free else held.lock(state)
        system.realize(state, Stage.TIME)
        system.prescribe(state)
        with pytest.raises(MassMatrixError, match=name):
            system.realize(state, Stage.ACCELERATION)


def test_forces_on_a_tree_without_mass_are_refused() -> None:
    system = MultibodySystem()
    system.matter.add_body("arm", system.matter.ground, Pin())
    system.add(Gravity(system.matter), "gravity")
    state = system.new_state()
    with pytest.raises(MassMatrixError, match="mass_properties"):
        system.realize(state, Stage.ACCELERATION)


def test_what_is_no_constraint_on_its_bodies_is_refused_by_add_constraint() -> None:
    system, other = MultibodySystem(), MultibodySystem()
    body = other.matter.add_body("bob", other.matter.ground, Pin())
    with pytest.raises(WrongTypeError, match="not a constraint"):
        system.add_constraint(Gravity(system.matter))  # type: ignore[type-var]
    with pytest.raises(ConstraintError, match="another System"):
        system.add_constraint(RodConstraint(other.matter.ground, [0] * 3, body, [1, 0, 0], 1.0))
    assert len(system.subsystems) == len(MultibodySystem().subsystems)


def test_wrong_numbers_of_udot_are_refused() -> None:
    system, state = chain(2)
    for call in (
        system.matter.multiply_by_m,
        system.matter.multiply_by_m_inv,
        system.matter.calc_inverse_dynamics,
    ):
        with pytest.raises(ShapeError):
            call(state, [1.0])


# ---------------------------------------------------------------------- the solver without M


class Pushed(MatterSubsystem):
    """A tree with a force of its own on all u, beside those that are added."""

    @generalized_force(prerequisites=lambda self: (self.u,), exists=lambda _: True)
    def push(self, state: State) -> np.ndarray:
        return np.arange(1.0, len(self.u(state)) + 1.0)


class Weightless(MatterSubsystem):
    """A tree that replaces the forces that are added."""

    @generalized_force(prerequisites=lambda self: (self.u,), exists=lambda _: True)
    def applied_force(self, state: State) -> np.ndarray:
        return np.zeros(len(self.u(state)))


@pytest.mark.parametrize("kind", [MatterSubsystem, Pushed, Weightless])
def test_udot_is_that_of_m_and_all_declared_forces(kind: type[MatterSubsystem]) -> None:
    system = MultibodySystem(tree=kind())
    (matter,) = (s for s in system.subsystems if type(s) is kind and s.name == "tree")
    mass = {"mass": 1.0, "inertia": [0.1, 0.2, 0.2]}
    down = Transform(None, [0.0, 0.5, 0.0])
    arm = matter.add_body("arm", matter.ground, Pin(), outboard_frame=down, mass_properties=mass)
    matter.add_body("hand", arm, Ball(), outboard_frame=down, mass_properties=mass)
    system.add(Gravity(matter), "gravity")
    state = system.new_state()
    state.u = [1.0, -2.0, 0.5, 0.3]
    system.realize(state, Stage.ACCELERATION)
    acting = matter.bias_force(state) + matter.applied_force(state)
    if isinstance(matter, Pushed):
        acting += matter.push(state)
    found = np.linalg.solve(matter.m_matrix(state), acting)
    np.testing.assert_allclose(state.udot, found, rtol=1e-12)


def test_speeds_beyond_all_bounds_are_named_by_the_force_of_inertia() -> None:
    system, state = chain(2)
    state.u = [1e200, 1.0]
    found = pytest.raises(NotANumberError, match="bias_force")
    with np.errstate(all="ignore"), found:  # NumPy would warn, where there is no kernel
        system.realize(state, Stage.ACCELERATION)


def test_a_force_that_a_write_would_leave_as_it_is_is_refused() -> None:
    class Late(AbstractForce):
        size = discrete(1.0, invalidates=Stage.REPORT)
        applied = applied_from((size,))

        def calc_force(self, state: State, forces: ForceSum) -> None:
            forces.add_mobility_force(self.matter.bodies[1], 0, self.size(state))

    system, _ = chain(2)
    system.add(Late(system.matter))
    with pytest.raises(PrerequisiteStageError, match="would leave its values"):
        system.new_state()


@some
@given(trees(has_mass=True))
def test_reactions_of_the_kernel_are_those_of_numpy(tree: Tree) -> None:
    system, matter, state = tree.system, tree.system.matter, tree.state
    system.realize(state, Stage.ACCELERATION)
    found = system.calc_reaction_forces(state)
    layout = matter.layout(state)
    kernel, layout.kernel = layout.kernel, None
    expected = system.calc_reaction_forces(state)
    layout.kernel = kernel
    scale = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(found, expected, atol=1e-11 * scale)


@pytest.mark.parametrize("has_kernel", [True, False])
@pytest.mark.parametrize("check", [check_precision, check_strict, check_coherence])
def test_what_dynamics_declare_is_what_they_read_with_and_without_the_kernel(
    check: Any, has_kernel: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not has_kernel:
        monkeypatch.setattr("stagecache.multibody.tree.layout.kernel", None)
    elif not layout.has_kernel():
        pytest.skip("the kernel is not compiled")
    system = MultibodySystem()
    mass = {"mass": 2.0, "inertia": [0.1, 0.2, 0.25]}
    arm = system.matter.add_body("arm", system.matter.ground, Ball(), mass_properties=mass)
    offset = Transform(None, [0.0, 1.0, 0.0])
    system.matter.add_body("hand", arm, Pin(), outboard_frame=offset, mass_properties=mass)
    system.add(Gravity(system.matter), "gravity")
    assert check(system, settings=examples(10), seed=1).examples > 0
