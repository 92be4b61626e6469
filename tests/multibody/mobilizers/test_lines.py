"""Lines, which have fewer u than they have angles, and the end of a bent beam."""

from collections.abc import Sequence
from math import cos, pi, sin
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from stagecache import Stage, simulate
from stagecache.assembly.assembler import Assembler
from stagecache.errors import KinematicsError, MobilizerError, OutOfRangeError
from stagecache.multibody import (
    AbstractMotion,
    Ball,
    CantileverFreeBeam,
    Ellipsoid,
    FreeLine,
    Gravity,
    LineOrientation,
    Markers,
    MultibodySystem,
    Pin,
    Slider,
    Transform,
    with_euler_angles,
    with_quaternions,
)
from stagecache.multibody.geometry.orientation import Rows
from stagecache.multibody.mobilizers.lines import EulerLineOrientation
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer
from tests.multibody.trees import Tree, along, make_tree, poses, spin
from tests.profiles import examples

STEP = 1e-5
ROD: Any = {"mass": 2.0, "inertia": [0.3, 0.3, 0.0]}
BAR: Any = {"mass": 2.0, "inertia": [0.3, 0.3, 0.2]}
LINES = (LineOrientation, FreeLine)


def beam() -> CantileverFreeBeam:
    return CantileverFreeBeam(0.7)


KINDS: Any = (LineOrientation, FreeLine, beam, Pin, Slider, Ball)


@st.composite
def line_trees(draw: Any) -> Tree:
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=6))
    parents = [draw(st.integers(0, i)) for i in range(len(kinds))]
    seed, angles = draw(st.integers(0, 2**16)), draw(st.booleans())
    return make_tree(kinds, parents, seed, use_euler_angles=angles, has_mass=True)


@examples(40)
@given(line_trees())
def test_velocities_and_accelerations_are_derivatives_along_n_u(tree: Tree) -> None:
    state = tree.state
    tree.system.realize(state, Stage.ACCELERATION)
    udot = state.udot.copy()
    states = [along(tree, step, udot) for step in (STEP, -STEP)]
    tree.system.realize(state, Stage.ACCELERATION)
    after, before = (poses(tree, each) for each in states)
    rates = (after - before) / (2 * STEP)
    for body, rate in zip(tree.bodies, rates, strict=True):
        velocity, acceleration = body.velocity(state), body.acceleration(state)
        scale = 1 + np.abs(velocity).max()
        turning = spin(body.pose(state).rotation, rate[:3, :3])
        found = np.concatenate([turning, rate[:3, 3]])
        np.testing.assert_allclose(velocity, found, atol=1e-6 * scale)
        after, before = (body.velocity(each) for each in states)
        scale = 1 + np.abs(acceleration).max()
        np.testing.assert_allclose(acceleration, (after - before) / (2 * STEP), atol=1e-5 * scale)


@examples(40)
@given(line_trees())
def test_dynamics_satisfy_the_mass_matrix_and_do_not_depend_on_the_form(tree: Tree) -> None:
    matter, state = tree.system.matter, tree.state
    convert = with_quaternions if matter.use_euler_angles(state) else with_euler_angles
    twin = convert(matter, state)
    for each in (state, twin):
        tree.system.realize(each, Stage.ACCELERATION)
    m, forces = matter.m_matrix(state), matter.bias_force(state) + matter.applied_force(state)
    scale = 1 + np.abs(forces).max()
    np.testing.assert_allclose(m @ state.udot, forces, atol=1e-9 * scale)
    np.testing.assert_allclose(matter.multiply_by_m(state, state.udot), forces, atol=1e-9 * scale)
    scale = 1 + np.abs(state.udot).max()
    np.testing.assert_allclose(twin.udot, state.udot, atol=1e-8 * scale)
    for body in tree.bodies:
        np.testing.assert_allclose(body.velocity(twin), body.velocity(state), atol=1e-8)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("kind", LINES)
def test_a_rod_swings_with_constant_energy_and_its_normalized_quaternion(
    kind: type[AbstractMobilizer], reverse: bool
) -> None:
    system = MultibodySystem()
    rod = system.matter.add_body(
        "rod",
        system.matter.ground,
        kind(),
        mass_properties=BAR if reverse else ROD,  # z of F is another axis of the body
        outboard_frame=Transform(None, [0.0, 0.0, 0.5]),
        reverse=reverse,
    )
    system.add(Gravity(system.matter))
    state = system.new_state()
    state.u = np.linspace(1.0, -2.0, state.nu)
    system.realize(state, Stage.VELOCITY)
    before = system.calc_energy(state)
    last = simulate(system, state, 1.0, accuracy=1e-8)[-1]
    system.realize(last, Stage.VELOCITY)
    assert system.calc_energy(last) == pytest.approx(before, abs=1e-5)
    assert np.linalg.norm(rod.q(last)[:4]) == pytest.approx(1.0, abs=1e-8)


def test_a_free_line_turns_in_a_plane_and_never_about_itself() -> None:
    system = MultibodySystem()
    rod = system.matter.add_body("rod", system.matter.ground, FreeLine(), mass_properties=ROD)
    state = system.new_state()
    state.u = [0.6, -0.8, 1.0, 2.0, 3.0]
    for row in simulate(system, state, 3.0, accuracy=1e-10).states(Stage.VELOCITY):
        pose, t = rod.pose(row), row.time
        axis = np.array([-0.8, -0.6, 0.0])  # w x z at the start
        expected = cos(t) * np.array([0.0, 0.0, 1.0]) + sin(t) * axis
        np.testing.assert_allclose(pose.rotation[:, 2], expected, atol=1e-7)
        np.testing.assert_allclose(pose.translation, t * np.array([1.0, 2.0, 3.0]), atol=1e-8)
        assert rod.velocity(row)[:3] @ pose.rotation[:, 2] == pytest.approx(0.0, abs=1e-12)


class Wave(AbstractMotion):
    def q(self, time: float) -> Sequence[float]:
        return (0.3 * sin(time), 0.5 * cos(time), 0.8 * time)

    def qdot(self, time: float) -> Sequence[float]:
        return (0.3 * cos(time), -0.5 * sin(time), 0.8)

    def qdotdot(self, time: float) -> Sequence[float]:
        return (-0.3 * sin(time), -0.5 * cos(time), 0.0)


@pytest.mark.parametrize("angles", [False, True])
def test_a_motion_of_q_moves_points_of_the_line_as_its_derivatives_say(angles: bool) -> None:
    system = MultibodySystem()
    rod = system.matter.add_body(
        "rod", system.matter.ground, LineOrientation(), mass_properties=ROD, motion=Wave()
    )
    state = system.new_state()
    system.matter.use_euler_angles.set(state, angles)
    system.realize(state, Stage.MODEL)
    places = []
    for time in (0.7 - 1e-4, 0.7 + 1e-4, 0.7):
        state.time = time
        system.prescribe(state)
        places.append(rod.station_position(state, [0, 0, 1]))
    system.realize(state, Stage.ACCELERATION)
    before, after, now = places
    found = rod.station_velocity(state, [0, 0, 1])
    np.testing.assert_allclose(found, (after - before) / 2e-4, atol=1e-7)
    found = rod.station_acceleration(state, [0, 0, 1])
    np.testing.assert_allclose(found, (after - 2 * now + before) / 1e-8, atol=1e-6)


@pytest.mark.parametrize("kind", LINES)
def test_an_assembler_finds_markers_on_the_line(kind: type[AbstractMobilizer]) -> None:
    system = MultibodySystem()
    rod = system.matter.add_body("rod", system.matter.ground, kind())
    tip = system.matter.add_body(
        "tip", rod, Pin(), inboard_frame=Transform(None, [0, 0, 0.5]), mass_properties=ROD
    )
    markers = Markers()
    for x in (0.2, 0.5):
        markers.add_marker(rod, [0.0, 0.0, x])
    markers.add_marker(tip, [0.3, 0.0, 0.0])
    system.realize_topology()
    assembler = Assembler(system, accuracy=1e-8)
    assembler.add_goal(markers)
    goal = system.new_state()
    rod.set_q_to_fit_rotation(goal, rotation := Transform(_turn(0.6, 0.9)).rotation)
    tip.q.set(goal, [0.4])
    assembler.initialize(system.new_state())
    observed = [rotation @ [0, 0, 0.2], rotation @ [0, 0, 0.5]]
    observed.append(tip.station_position(goal, [0.3, 0.0, 0.0]))
    markers.move_all_observations(observed)
    result = assembler.assemble()
    assert result.goal < 1e-10


def _turn(a: float, b: float) -> Any:
    return [[cos(b), 0, sin(b)], [sin(a) * sin(b), cos(a), -sin(a) * cos(b)],
            [-cos(a) * sin(b), sin(a), cos(a) * cos(b)]]  # fmt: skip


@pytest.mark.parametrize("joint", [LineOrientation(), Ellipsoid((1.0, 1.0, 1.0))])
def test_n_is_refused_where_angles_are_singular(joint: AbstractMobilizer) -> None:
    system = MultibodySystem()
    rod = system.matter.add_body("rod", system.matter.ground, joint)
    state = system.new_state()
    system.matter.use_euler_angles.set(state, True)
    system.realize(state, Stage.MODEL)
    rod.q.set(state, [0.1, pi / 2, 0.0])
    with pytest.raises(KinematicsError, match="singular"):
        system.realize(state, Stage.VELOCITY)


def test_coordinates_of_a_line_have_no_names_and_a_lock_holds_all_of_them() -> None:
    system = MultibodySystem()
    rod = system.matter.add_body("rod", system.matter.ground, LineOrientation())
    with pytest.raises(KinematicsError, match="cannot have names"):
        system.matter.add_body("b", rod, LineOrientation(), coordinates=["x", "y"])
    state = system.new_state()
    rod.q.set(state, [1.0, 0.2, 0.3, 0.1])
    rod.lock(state)
    system.prescribe(state)
    assert system.free_q_index(state).size == system.free_u_index(state).size == 0


class Wrong(LineOrientation):  # type: ignore[misc]  # it is final
    def u_by_qdot(self, q: Sequence[float]) -> Rows:
        return [[2.0 * x for x in row] for row in self.n_pinv(q)]


class WrongRate(EulerLineOrientation):  # type: ignore[misc]  # it is final
    def u_by_qdot_rate(self, q: Sequence[float], qdot: Sequence[float]) -> Rows:
        return [[0.1, 0.0, 0.0], [0.0, 0.0, 0.0]]


@pytest.mark.parametrize(("kind", "what"), [(Wrong, "u_by_qdot"), (WrongRate, "u_by_qdot_rate")])
def test_a_wrong_inverse_is_refused(kind: type[AbstractMobilizer], what: str) -> None:
    system = MultibodySystem()
    with pytest.raises(MobilizerError, match=what):
        system.matter.add_body("rod", system.matter.ground, kind())


@pytest.mark.parametrize("slopes", [(0.0, 0.0), (0.2, 0.0), (0.1, -0.3)])
def test_the_end_of_a_beam_is_where_integrals_of_its_slope_are(slopes: tuple[float, float]) -> None:
    length = 0.7
    system = MultibodySystem()
    end = system.matter.add_body("end", system.matter.ground, CantileverFreeBeam(length))
    state = system.new_state()
    end.q.set(state, [*slopes, 0.4])
    found = end.pose(state).translation

    def shape(s: float) -> float:
        return 2.0 * s - s * s

    deflection = length * quad(shape, 0.0, 1.0)[0]
    shortening = length * quad(lambda s: shape(s) ** 2 / 2.0, 0.0, 1.0)[0]
    square = slopes[0] ** 2 + slopes[1] ** 2
    expected = [deflection * slopes[1], -deflection * slopes[0], length - shortening * square]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_a_beam_has_no_negative_length() -> None:
    with pytest.raises(OutOfRangeError):
        CantileverFreeBeam(-1.0)
    assert repr(CantileverFreeBeam(0.7)) == "CantileverFreeBeam(0.7)"
