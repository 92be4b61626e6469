"""Contacts against plain geometry, differences and formulas of textbooks."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from stagecache import (
    Assembler,
    Stage,
    State,
    Subsystem,
    event_trigger,
    load_state,
    simulate,
    strict,
)
from stagecache.errors import (
    ConstModelError,
    ConstraintError,
    KinematicsError,
    NotANumberError,
    OutOfRangeError,
    ShapeError,
    WrongTypeError,
)
from stagecache.multibody import (
    Ball,
    Free,
    Gravity,
    LineOnLineContact,
    MassProperties,
    MultibodySystem,
    SphereOnPlaneContact,
    SphereOnSphereContact,
    Transform,
    Translation,
)
from stagecache.system.constraints.jacobians import acceleration_bias, acceleration_jacobian
from stagecache.system.constraints.rows import row_names
from stagecache.testing import check_coherence, check_precision
from tests.multibody.constrained_trees import STEP, Geometry, close
from tests.multibody.constraints.contacting import contacting
from tests.multibody.mobilizers.test_simbody import rotation
from tests.multibody.trees import Array, Tree, along, plain_poses
from tests.profiles import examples

few = examples(40)
Case = tuple[Tree, Any, Geometry]
ORIGIN = (0.0, 0.0, 0.0)


@few
@given(contacting())
def test_separations_are_those_of_plain_geometry(case: Case) -> None:
    tree, contact, geometry = case
    poses = plain_poses(tree)
    wanted = geometry(*(poses[body.index] for body in contact.bodies))
    tree.system.realize(tree.state, Stage.VELOCITY)
    np.testing.assert_allclose(contact.error(tree.state), wanted, atol=1e-10)
    np.testing.assert_array_equal(contact.separation(tree.state), contact.error(tree.state)[0])
    np.testing.assert_array_equal(tree.state.qerr[-1:], contact.error(tree.state))
    assert tree.state.nuerr == (3 if contact.enforce_rolling else 1)
    if contact.enforce_rolling:
        np.testing.assert_array_equal(tree.state.uerr[-2:], contact.slip(tree.state))


@few
@given(contacting())
def test_rates_are_those_of_the_points_of_both_bodies_at_the_contact(case: Case) -> None:
    tree, contact, _ = case
    state = tree.state
    frame = contact.contact_frame(state)
    np.testing.assert_allclose(frame.rotation.T @ frame.rotation, np.eye(3), atol=1e-12)
    assert np.linalg.det(frame.rotation) > 0
    one, two = (
        body.station_velocity(state, body.pose(state).inverse().apply(frame.translation))
        for body in contact.bodies
    )
    x, y, normal = frame.rotation.T @ (two - one)
    close(contact.slip(state), np.array([x, y]), 1e-11)
    close(contact.error_rate(state), np.array([normal]), 1e-11)
    after, before = (contact.error(along(tree, s)) for s in (STEP, -STEP))
    close(contact.error_rate(state), (after - before) / (2 * STEP), 1e-5)


@few
@given(contacting())
def test_jacobians_and_biases_are_derivatives_of_rates(case: Case) -> None:
    tree, contact, _ = case
    state = tree.state
    udot = tree.rng.normal(size=state.nu)
    after, before = (rates(contact, along(tree, s, udot)) for s in (STEP, -STEP))
    tree.system.realize(state, Stage.VELOCITY)
    jacobian, bias = acceleration_jacobian(state), acceleration_bias(state)
    assert len(jacobian) == len(after)
    close(jacobian @ state.u, rates(contact, state), 1e-11)
    close(jacobian @ udot + bias, (after - before) / (2 * STEP), 3e-5)
    np.testing.assert_array_equal(contact.jacobian(state), jacobian[:1])
    np.testing.assert_array_equal(contact.error_bias(state), bias[:1])


def rates(contact: Any, state: State) -> Array:
    """All that is zero of the velocities."""
    slip = contact.slip(state) if contact.enforce_rolling else ()
    return np.array([*contact.error_rate(state), *slip])


# ---------------------------------------------------------------------- formulas of textbooks


def ball_system(mass: float = 2.0, radius: float = 0.1) -> tuple[MultibodySystem, Any]:
    system = MultibodySystem()
    solid = MassProperties(mass, inertia=[0.4 * mass * radius**2] * 3)
    ball = system.matter.add_body("ball", system.matter.ground, Free(), mass_properties=solid)
    system.add(Gravity(system.matter, (0.0, 0.0, -10.0)), "gravity")
    return system, ball


@pytest.mark.parametrize("rolls", [True, False])
def test_a_ball_rolls_down_a_slope_by_five_sevenths_of_what_it_slides(rolls: bool) -> None:
    system, ball = ball_system()
    angle = 0.4
    slope = Transform(rotation(1, angle), [0.0, 0.0, 0.3])
    contact = SphereOnPlaneContact(
        system.matter.ground, slope, ball, ORIGIN, 0.1, enforce_rolling=rolls
    )
    system.add(contact, "contact")
    state = system.new_state()
    ball.q.set(state, [1, 0, 0, 0, *slope.apply([0, 0, 0.1])])
    system.realize(state, Stage.ACCELERATION)
    pull = 10.0 * np.sin(angle)
    rate = pull * (5 / 7 if rolls else 1)
    np.testing.assert_allclose(slope.rotation.T @ state.udot[3:], [rate, 0, 0], atol=1e-12)
    np.testing.assert_allclose(contact.multipliers(state), [-20 * np.cos(angle)])  # it is pushed
    held = [2 / 7 * 2.0 * pull, 0.0]  # m g sin, of which 2/7 turn the ball
    np.testing.assert_allclose(contact.slip_multipliers(state), held if rolls else [], atol=1e-12)
    in_slope = slope.rotation.T @ contact.calc_force(state)
    friction = -held[0] if rolls else 0.0
    np.testing.assert_allclose(in_slope, [friction, 0, 20 * np.cos(angle)], atol=1e-12)
    energy = system.calc_energy(state)
    last = simulate(system, state, 1.0, accuracy=1e-8)[-1]
    system.realize(last, Stage.ACCELERATION)
    moved = slope.inverse().apply(ball.pose(last).translation)
    np.testing.assert_allclose(moved, [rate / 2, 0, 0.1], atol=1e-6)
    assert system.calc_energy(last) == pytest.approx(energy, abs=1e-6)
    assert contact.power(last) == pytest.approx(0.0, abs=1e-6)


def test_a_ball_rolls_on_another_one_by_the_formula_of_the_textbook() -> None:
    """A ball of radius r on a fixed one of radius R: theta'' = 5 g sin(theta) / (7 (R + r))."""
    system, ball = ball_system()
    contact = SphereOnSphereContact(
        system.matter.ground, ORIGIN, 0.9, ball, ORIGIN, 0.1, enforce_rolling=True
    )
    system.add(contact, "contact")
    state = system.new_state()
    angle = 0.3
    normal = np.array([np.sin(angle), 0.0, np.cos(angle)])
    ball.q.set(state, [1, 0, 0, 0, *normal])
    system.realize(state, Stage.ACCELERATION)
    downhill = np.array([np.cos(angle), 0.0, -np.sin(angle)])
    rate = 5 / 7 * 10 * np.sin(angle)
    np.testing.assert_allclose(state.udot[3:], rate * downhill, atol=1e-12)
    np.testing.assert_allclose(state.udot[:3], [0, rate / 0.1, 0], atol=1e-10)
    np.testing.assert_allclose(contact.multipliers(state), [-20 * np.cos(angle)])
    energy = system.calc_energy(state)
    last = simulate(system, state, 0.5, accuracy=1e-8)[-1]
    system.realize(last, Stage.VELOCITY)
    assert np.linalg.norm(ball.pose(last).translation) == pytest.approx(1.0, abs=1e-7)
    assert system.calc_energy(last) == pytest.approx(energy, abs=1e-6)
    drop = np.cos(angle) - ball.pose(last).translation[2]
    speed = np.linalg.norm(last.u[3:])
    assert speed**2 == pytest.approx(10 / 7 * 10 * drop, abs=1e-5)  # 7/10 m v² = m g h


class LetGo(Subsystem):
    """Switches a contact off where it would pull."""

    def __init__(self, contact: Any) -> None:
        self.contact = contact

    @event_trigger(stage=Stage.ACCELERATION, direction="rising")
    def pull(self, state: State) -> float:
        multipliers = self.contact.multipliers(state)
        return float(multipliers[0]) if len(multipliers) else -1.0

    @pull.handler
    def let_go(self, state: State) -> None:
        self.contact.is_enabled.set(state, False)


def test_a_ball_that_rolls_over_another_one_leaves_it_at_ten_seventeenths() -> None:
    system, ball = ball_system()
    contact = SphereOnSphereContact(
        system.matter.ground, ORIGIN, 0.9, ball, ORIGIN, 0.1, enforce_rolling=True
    )
    system.add(contact, "contact")
    system.add(LetGo(contact), "let_go")
    state = system.new_state()
    ball.q.set(state, [1, 0, 0, 0, np.sin(0.2), 0, np.cos(0.2)])
    run = simulate(system, state, 1.0, accuracy=1e-7)
    free = next(s for s in run.states(Stage.POSITION) if not contact.is_enabled(s))
    assert ball.pose(free).translation[2] == pytest.approx(10 / 17 * np.cos(0.2), abs=1e-7)
    assert contact.separation(run[-1]) > 0.01


def test_an_edge_carries_an_edge_that_crosses_it() -> None:
    system, box = ball_system()
    contact = LineOnLineContact(
        *(system.matter.ground, Transform(), 1.0),
        *(box, Transform(rotation(2, np.pi / 2) @ rotation(0, np.pi), [0, 0, -0.2]), 1.0),
        enforce_rolling=True,
    )
    system.add(contact, "contact")
    state = system.new_state()
    box.q.set(state, [1, 0, 0, 0, 0.3, 0.0, 0.2])
    system.realize(state, Stage.ACCELERATION)
    np.testing.assert_allclose(contact.error(state), 0.0, atol=1e-15)
    frame = contact.contact_frame(state)
    np.testing.assert_allclose(frame.matrix, Transform(None, [0.3, 0, 0]).matrix, atol=1e-12)
    np.testing.assert_allclose(state.udot, 0.0, atol=1e-12)  # it balances on the edge
    np.testing.assert_allclose(contact.calc_force(state), [0, 0, 20], atol=1e-12)
    np.testing.assert_allclose(contact.multipliers(state), [-20.0])
    box.u.set(state, [0.0, 0.5, 0.0, 0.1, 0.0, 0.0])  # it turns about edge 2, as a pendulum
    system.realize(state, Stage.VELOCITY)
    energy = system.calc_energy(state)
    assert energy == pytest.approx(4.0 + 0.5 * (0.008 + 2.0 * 0.2**2) * 0.5**2)
    last = simulate(system, state, 0.5, accuracy=1e-8)[-1]
    system.realize(last, Stage.VELOCITY)
    np.testing.assert_allclose([*contact.error(last), *contact.slip(last)], 0.0, atol=1e-6)
    assert system.calc_energy(last) == pytest.approx(energy, abs=1e-6)
    angle = np.arctan2(*(box.pose(last).translation - [0.3, 0, 0])[[0, 2]])
    assert angle > 0.3
    turning = 0.5 * (0.008 + 2.0 * 0.2**2) * last.u[1] ** 2
    assert turning + 4.0 * np.cos(angle) == pytest.approx(energy, abs=1e-6)


# ---------------------------------------------------------------------- where there is no normal


def test_centers_that_coincide_have_an_error_and_no_normal() -> None:
    system = MultibodySystem()
    ground = system.matter.ground
    ball = system.matter.add_body("ball", ground, Translation())
    contact = SphereOnSphereContact(ground, [1, 0, 0], 1.0, ball, ORIGIN, 0.5)
    system.add(contact, "contact")
    state = system.new_state()
    ball.q.set(state, [1.0, 0.0, 0.0])
    system.realize(state, Stage.POSITION)
    np.testing.assert_array_equal(contact.error(state), [-1.5])
    with pytest.raises(KinematicsError, match="centers of its spheres coincide"):
        system.realize(state, Stage.VELOCITY)
    with pytest.raises(KinematicsError, match=r"contact of body 'ground' and body 'ball'"):
        contact.contact_frame(state)
    ball.q.set(state, [1.0, 0.0, 0.2])
    system.realize(state, Stage.VELOCITY)
    np.testing.assert_allclose(contact.jacobian(state), [[0, 0, 1]], atol=1e-15)


@pytest.mark.parametrize("turn", [0.0, np.pi, 1e-10])
def test_parallel_lines_have_no_error(turn: float) -> None:
    system = MultibodySystem()
    ground = system.matter.ground
    box = system.matter.add_body("box", ground, Translation())
    frame = Transform(rotation(2, turn))
    contact = LineOnLineContact(ground, Transform(), 1.0, box, frame, 1.0)
    system.add(contact, "contact")
    state = system.new_state()
    box.q.set(state, [0.0, 0.0, 0.1])
    with pytest.raises(KinematicsError, match="its lines are parallel"):
        system.realize(state, Stage.POSITION)
    contact.second_frame.set(state, Transform(rotation(2, 1.0)))
    system.realize(state, Stage.POSITION)
    np.testing.assert_allclose(contact.error(state), [0.1])


# ---------------------------------------------------------------------- in a State


def two_contacts() -> tuple[MultibodySystem, Any, Any]:
    """A ball on a plane and on a sphere, and another one on the plane."""
    system, ball = ball_system()
    ground = system.matter.ground
    other = system.matter.add_body(
        "other", ground, Free(), mass_properties=MassProperties(1.0, inertia=[0.01] * 3)
    )
    floor = Transform(None, [0, 0, 0.1])
    contacts = [
        SphereOnPlaneContact(ground, floor, body, ORIGIN, radius, enforce_rolling=True)
        for body, radius in ((ball, 0.1), (other, 0.2))
    ]
    for name, contact in zip(("one", "two"), contacts, strict=True):
        system.add(contact, name)
    pair = SphereOnSphereContact(ball, ORIGIN, 0.1, other, ORIGIN, 0.2)
    system.add(pair, "pair")
    return system, contacts, pair


def two_balls() -> tuple[MultibodySystem, State, Any, Any]:
    system, contacts, pair = two_contacts()
    state = system.new_state()
    state.q = [1, 0, 0, 0, 0, 0, 0.25, 1, 0, 0, 0, 0.3, 0.1, 0.35]
    state.u = np.linspace(-1, 1, state.nu)
    return system, state, contacts, pair


def test_rows_have_names_and_a_disabled_contact_has_none() -> None:
    system, state, contacts, pair = two_balls()
    system.realize(state, Stage.ACCELERATION)
    names = ["one.error", "two.error", "one.slip[0]", "one.slip[1]", "two.slip[0]", "two.slip[1]"]
    assert row_names(state, "udoterr") == [*names, "pair.error"]
    assert row_names(state, "qerr")[2:] == ["one.error", "two.error", "pair.error"]
    jacobian = acceleration_jacobian(state)
    np.testing.assert_array_equal(contacts[1].jacobian(state), jacobian[1:2])
    np.testing.assert_array_equal(contacts[1].multipliers(state), state.multipliers[1:2])
    np.testing.assert_array_equal(contacts[1].slip_multipliers(state), state.multipliers[4:6])
    frame, separation = contacts[0].contact_frame(state), contacts[0].separation(state)
    contacts[0].is_enabled.set(state, False)
    system.realize(state, Stage.ACCELERATION)
    assert row_names(state, "uerr") == ["two.error", "two.slip[0]", "two.slip[1]", "pair.error"]
    assert contacts[0].contact_frame(state) == frame
    assert contacts[0].separation(state) == separation
    assert contacts[0].error(state).shape == contacts[0].slip(state).shape == (0,)
    np.testing.assert_array_equal(contacts[0].calc_force(state), 0.0)
    np.testing.assert_array_equal(contacts[0].calc_body_forces(state), np.zeros((2, 6)))
    np.testing.assert_array_equal(contacts[1].slip_multipliers(state), state.multipliers[1:3])
    for contact in (contacts[1], pair):
        contact.is_enabled.set(state, False)
    system.realize(state, Stage.ACCELERATION)
    assert state.nuerr == 0


def test_a_contact_is_disabled_alone_when_it_is_the_only_one() -> None:
    system, ball = ball_system()
    contact = SphereOnPlaneContact(
        system.matter.ground, Transform(), ball, ORIGIN, 0.1, enforce_rolling=True
    )
    system.add(contact, "contact")
    state = system.new_state()
    contact.is_enabled.set(state, False)
    system.realize(state, Stage.ACCELERATION)
    np.testing.assert_allclose(state.udot, [0, 0, 0, 0, 0, -10])
    assert contact.power(state) == 0.0


def test_a_write_of_a_shape_invalidates_position_and_another_shape_is_used() -> None:
    system, state, contacts, _ = two_balls()
    system.realize(state, Stage.POSITION)
    before = contacts[0].error(state)
    contacts[0].radius.set(state, 0.15)
    assert state.stage == Stage.TIME
    system.realize(state, Stage.POSITION)
    np.testing.assert_allclose(contacts[0].error(state), before - 0.05, atol=1e-15)
    contacts[0].plane_frame.set(state, Transform(None, [0, 0, 0.5]))
    contacts[0].center.set(state, [0, 0, 1.0])
    np.testing.assert_allclose(contacts[0].error(state), before - 0.05 + 0.6)
    other = system.new_state()
    system.realize(other, Stage.POSITION)
    assert contacts[0].radius(other) == 0.1


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("radius", 0.0, OutOfRangeError),
        ("radius", "wide", NotANumberError),
        ("center", [0, 0], ShapeError),
        ("plane_frame", 3, WrongTypeError),
    ],
)
def test_a_shape_that_is_none_is_refused_where_it_is_read(
    name: str, value: Any, error: type[Exception]
) -> None:
    system, state, contacts, _ = two_balls()
    getattr(contacts[1], name).set(state, value)
    with pytest.raises(error, match=rf"two\.{name}"):
        system.realize(state, Stage.POSITION)


def test_what_is_given_is_checked() -> None:
    system, ball = ball_system()
    ground = system.matter.ground
    with pytest.raises(OutOfRangeError, match="radius"):
        SphereOnPlaneContact(ground, Transform(), ball, ORIGIN, -1.0)
    with pytest.raises(NotANumberError, match="enforce_rolling"):
        SphereOnPlaneContact(ground, Transform(), ball, ORIGIN, 1.0, enforce_rolling=2)  # type: ignore[arg-type]
    with pytest.raises(ConstraintError, match="ties a body to itself"):
        SphereOnSphereContact(ball, ORIGIN, 1.0, ball, ORIGIN, 1.0)
    with pytest.raises(WrongTypeError, match="second frame"):
        LineOnLineContact(ground, Transform(), 1.0, ball, ORIGIN, 1.0)  # type: ignore[arg-type]
    contact = SphereOnPlaneContact(ground, Transform(), ball, ORIGIN, 1.0)
    with pytest.raises(ConstModelError):
        contact.enforce_rolling = True


def test_the_checks_of_the_testing_kit_have_nothing_to_say() -> None:
    system, ball = ball_system()
    ground = system.matter.ground
    system.add(SphereOnPlaneContact(ground, Transform(), ball, ORIGIN, 1.0, enforce_rolling=True))
    system.add(SphereOnSphereContact(ground, [1, 2, 3], 1.0, ball, ORIGIN, 1.0))
    check_coherence(system, settings=examples(2), seed=0)
    check_precision(system, settings=examples(5), seed=0)


def test_a_copy_of_a_state_shares_the_shapes_and_has_its_own_values() -> None:
    system, state, contacts, _ = two_balls()
    system.realize(state, Stage.ACCELERATION)
    batch, twin = contacts[0].batch, state.copy()
    assert batch.shapes(twin) is batch.shapes(state)
    assert batch.touching(state.copy()) is batch.touching(state)
    contacts[0].radius.set(twin, 0.3)
    assert contacts[0].separation(twin) != contacts[0].separation(state)
    np.testing.assert_array_equal(batch.shapes(state).radii, [0.1, 0.2])


def test_an_assembler_brings_surfaces_together() -> None:
    system, ball = ball_system()
    tilted = Transform(rotation(0, 0.5), [0.0, 0.0, 1.0])
    contact = SphereOnPlaneContact(system.matter.ground, tilted, ball, [0.1, 0, 0], 0.2)
    system.add(contact, "contact")
    state = system.new_state()
    Assembler(system).assemble(state)
    assert contact.separation(state) == pytest.approx(0.0, abs=1e-6)


def test_strict_mode_finds_no_undeclared_read() -> None:
    system, state, contacts, pair = two_balls()
    with strict(state):
        system.realize(state, Stage.ACCELERATION)
        for contact in (*contacts, pair):
            for read in (contact.contact_frame, contact.separation, contact.slip, contact.power):
                read(state)


def test_a_system_with_contacts_is_pickled() -> None:
    system, state, _, _ = two_balls()
    twin = pickle.loads(pickle.dumps(system))
    other = twin.new_state()
    other.q, other.u = state.q, state.u
    for one, s in ((system, state), (twin, other)):
        one.realize(s, Stage.ACCELERATION)
    np.testing.assert_array_equal(state.multipliers, other.multipliers)


def test_a_state_is_saved_with_the_shapes_of_its_contacts(tmp_path: Path) -> None:
    system, state, contacts, _ = two_balls()
    frame = Transform(rotation(0, 0.3) @ rotation(1, 0.1), [0.1, 0.2, 0.3])
    contacts[0].plane_frame.set(state, frame)
    contacts[1].radius.set(state, 0.7)
    state.save(tmp_path / "balls.state")
    loaded = load_state(tmp_path / "balls.state", system)
    assert contacts[0].plane_frame(loaded) == frame
    assert contacts[1].radius(loaded) == 0.7
    for s in (state, loaded):
        system.realize(s, Stage.ACCELERATION)
    np.testing.assert_array_equal(state.multipliers, loaded.multipliers)


def test_projection_brings_surfaces_together_and_stops_the_slip() -> None:
    system = MultibodySystem()
    matter, ground = system.matter, system.matter.ground
    arm = matter.add_body("arm", ground, Ball(), inboard_frame=Transform(None, [0, 0, 1.5]))
    ball = matter.add_body("ball", ground, Free())
    frame = Transform(rotation(1, 0.7), [0.2, 0.1, 0.0])
    contacts = [
        SphereOnSphereContact(arm, [0.3, 0, -1], 0.2, ball, ORIGIN, 0.3, enforce_rolling=True),
        SphereOnPlaneContact(ground, Transform(), ball, ORIGIN, 0.3, enforce_rolling=True),
    ]
    edges = LineOnLineContact(ground, frame, 1.0, arm, Transform(rotation(2, 1.0)), 1.0)
    for k, contact in enumerate((*contacts, edges)):
        system.add(contact, f"contact {k}")
    state = system.new_state()
    state.q = [1, 0.1, 0.2, 0.1, 1, 0, 0, 0, 0.5, 0.1, 0.4]
    state.u = np.linspace(0.5, -0.5, state.nu)
    system.realize(state, Stage.VELOCITY)
    system.project(state, 1e-9)
    np.testing.assert_allclose(state.qerr, 0.0, atol=1e-7)
    np.testing.assert_allclose(state.uerr, 0.0, atol=1e-7)


def test_many_contacts_of_a_large_tree_have_sparse_jacobians() -> None:
    system = MultibodySystem()
    ground = system.matter.ground
    contacts: list[Any] = []
    for k in range(20):
        ball = system.matter.add_body(f"ball {k}", ground, Free())
        contact = SphereOnPlaneContact(
            ground, Transform(), ball, ORIGIN, 0.1 + 0.01 * k, enforce_rolling=True
        )
        contacts.append(system.add(contact, f"contact {k}"))
    state = system.new_state()
    state.u = np.linspace(-1, 1, state.nu)
    system.realize(state, Stage.VELOCITY)
    batch = contacts[0].batch
    for found in (batch.jacobian(state), batch.slip_jacobian(state)):
        assert found.nnz <= found.shape[0] * 6
    np.testing.assert_allclose((found @ state.u)[14:16], contacts[7].slip(state))


def test_pictures_have_the_spheres_and_the_edges_of_contacts() -> None:
    system, ball = ball_system()
    ground = system.matter.ground
    system.add(SphereOnPlaneContact(ground, Transform(), ball, [0, 0, 1], 0.1), "plane")
    spheres = system.add(SphereOnSphereContact(ground, ORIGIN, 1.0, ball, ORIGIN, 0.3), "spheres")
    edge = Transform(rotation(2, 1.0), [0, 0, 0.5])
    system.add(LineOnLineContact(ground, edge, 2.0, ball, Transform(), 1.0), "lines")
    state = system.new_state()
    ball.q.set(state, [1, 0, 0, 0, 0, 0, 2])
    system.realize(state, Stage.POSITION)
    geometry: list[Any] = []
    for contact in ("plane", "spheres", "lines"):
        subsystem: Any = system.subsystem(contact)
        subsystem.calc_decorative_geometry_and_append(state, Stage.POSITION, geometry)
    balls, lines = geometry[:3], geometry[3:]
    assert [one.radius for one in balls] == [0.1, 1.0, 0.3]
    np.testing.assert_allclose([one.translation[2] for one in balls], [3, 0, 2])
    np.testing.assert_allclose(lines[0].point2 - lines[0].point1, 4 * edge.rotation[:, 0])
    np.testing.assert_allclose(lines[1].rotation @ lines[1].point1, [-1, 0, 0])
    spheres.is_enabled.set(state, False)
    system.realize(state, Stage.POSITION)
    before = len(geometry)
    spheres.calc_decorative_geometry_and_append(state, Stage.POSITION, geometry)
    assert len(geometry) == before
