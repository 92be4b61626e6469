"""Orientation sensors: rotation vectors, and sensors on bodies."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from stagecache import Assembler, DecorativeFrame
from stagecache.errors import OutOfRangeError
from stagecache.multibody import Ball, OrientationSensors, Pin
from stagecache.multibody.geometry.orientation import (
    rotation_vector_bends,
    rotation_vector_jacobians,
    rotation_vectors,
)
from tests.multibody.observed_trees import with_sensors
from tests.multibody.trees import Array, Tree, make_tree, trees
from tests.profiles import examples

few = examples(40)
ANGLES = [0.0, 1e-300, 1e-160, 1e-12, 1e-8, 1.9e-4, 2.1e-4, 0.01, 1.0, 3.0, 3.14159, np.pi - 1e-9]


def directions(count: int) -> Array:
    found = np.random.default_rng(5).normal(size=(count, 3))
    found[:3] = np.eye(3)  # of which two numbers are 0
    found /= np.linalg.norm(found, axis=1)[:, None]
    return found


@pytest.mark.parametrize("angle", ANGLES)
def test_a_rotation_vector_is_the_angle_times_the_axis(angle: float) -> None:
    vectors = angle * directions(50)
    found = rotation_vectors(Rotation.from_rotvec(vectors).as_matrix())
    np.testing.assert_allclose(found, vectors, atol=1e-14)


def test_half_a_turn_is_about_either_of_two_axes() -> None:
    axes = directions(50)
    matrices = 2 * axes[:, :, None] * axes[:, None, :] - np.eye(3)
    found = rotation_vectors(matrices)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), np.pi, rtol=1e-14)
    along = np.abs(np.einsum("ij,ij->i", found, axes))
    np.testing.assert_allclose(along, np.pi, rtol=1e-14)
    assert np.isfinite(rotation_vector_jacobians(found)).all()


@pytest.mark.parametrize("angle", ANGLES[:-1])
def test_the_jacobian_of_a_rotation_vector_is_that_of_differences(angle: float) -> None:
    vectors, step = angle * directions(20), 1e-6 if angle < 3.1 else 1e-7
    rotations = Rotation.from_rotvec(vectors).as_matrix()
    jacobians = rotation_vector_jacobians(vectors)
    for axis in np.eye(3):
        ahead, back = (Rotation.from_rotvec(sign * step * axis).as_matrix() for sign in (1, -1))
        expected = rotation_vectors(ahead @ rotations) - rotation_vectors(back @ rotations)
        np.testing.assert_allclose(jacobians @ axis, expected / (2 * step), atol=2e-8)


@pytest.mark.parametrize("angle", [0.0, 1e-3, 0.019, 0.021, 0.5, 2.0, 3.1])
def test_the_derivative_of_the_jacobian_of_a_rotation_vector_is_that_of_differences(
    angle: float,
) -> None:
    """On both sides of the angle where a series takes over."""
    vectors, step = angle * directions(20), 1e-6
    factors, other = directions(40)[20:], directions(60)[40:]
    bends = rotation_vector_bends(vectors, factors)
    for way in np.eye(3):
        ahead, back = (rotation_vector_jacobians(vectors + s * step * way) for s in (1, -1))
        change = (ahead - back) / (2 * step)
        expected = np.einsum("ki,kij,kj->k", factors, change, other)
        found = np.einsum("i,kij,kj->k", way, bends, other)
        np.testing.assert_allclose(found, expected, atol=3e-9)


@pytest.mark.parametrize("angle", ANGLES)
def test_the_jacobian_is_the_inverse_of_the_mean_of_rotations(angle: float) -> None:
    """Of exp(s [p]) for s from 0 to 1, which is a block of an exponential."""
    vectors = angle * directions(20)
    for vector, jacobian in zip(vectors, rotation_vector_jacobians(vectors), strict=True):
        matrix = np.zeros((6, 6))
        matrix[:3, :3] = np.cross(np.eye(3), vector)
        matrix[:3, 3:] = np.eye(3)
        mean = expm(matrix)[:3, 3:]
        np.testing.assert_allclose(jacobian @ mean, np.eye(3), atol=1e-13)


def test_the_jacobian_is_regular_up_to_half_a_turn() -> None:
    found = rotation_vector_jacobians(np.pi * directions(20))
    assert np.linalg.cond(found).max() < 2


@few
@given(trees(), st.integers(1, 6))
def test_sensors_turn_with_their_bodies(tree: Tree, count: int) -> None:
    sensors = with_sensors(tree, count)
    found = sensors.current_orientations(tree.state)
    for sensor, rotation in zip(sensors.sensors, found, strict=True):
        expected = sensor.body.pose(tree.state).rotation @ sensor.rotation
        np.testing.assert_allclose(rotation, expected, atol=1e-12)
    between = Rotation.from_matrix(found @ sensors.observations.swapaxes(1, 2))
    np.testing.assert_allclose(sensors.current_errors(tree.state), between.magnitude(), atol=1e-12)


@few
@given(trees(most=5))
def test_observations_of_orientations_are_met_from_near_them(tree: Tree) -> None:
    sensors = OrientationSensors()
    for body in tree.bodies:
        sensors.add_sensor(body, Rotation.random(random_state=tree.rng).as_matrix())
    seen = sensors.current_orientations(tree.state)
    sensors.move_all_observations(seen)
    state = tree.state.copy()
    state.q = state.q + 1e-3 * tree.rng.normal(size=state.nq)
    if not state.nu:
        return
    assembler = Assembler(tree.system, accuracy=1e-9)
    assembler.add_goal(sensors)
    assembler.assemble(state)
    np.testing.assert_allclose(sensors.current_orientations(state), seen, atol=1e-6)


def test_sensors_are_met_as_errors_from_afar() -> None:
    tree = make_tree([Ball], [0], 3)
    sensors = OrientationSensors()
    sensors.add_sensor(tree.bodies[1])
    wanted = Rotation.from_rotvec([0.0, 2.5, 1.0]).as_matrix()
    sensors.move_all_observations([wanted])
    assembler = Assembler(tree.system)
    assembler.add_error(sensors)
    state = tree.state.copy()
    assembler.assemble(state)
    np.testing.assert_allclose(sensors.current_orientations(state)[0], wanted, atol=2e-4)


def test_an_observation_of_few_digits_is_taken() -> None:
    tree = make_tree([Ball], [0], 3)
    sensors = OrientationSensors()
    sensors.add_sensor(tree.bodies[1])
    rotation = sensors.current_orientations(tree.state)[0]
    sensors.move_all_observations([rotation.round(7)])
    assert sensors.current_errors(tree.state)[0] < 1e-6


def test_what_is_no_rotation_is_refused() -> None:
    tree = make_tree([Pin], [0], 3)
    sensors = OrientationSensors()
    for wrong in (np.zeros((3, 3)), 1.1 * np.eye(3), -np.eye(3)):
        with pytest.raises(OutOfRangeError, match="the rotation of sensor 'sensor 0'"):
            sensors.add_sensor(tree.bodies[1], wrong)
    for name in ("hip", "knee"):
        sensors.add_sensor(tree.bodies[1], name=name)
    mirrored, huge = np.diag([1.0, 1.0, -1.0]), 1e200 * np.array([[1, -1, 0], [1, 1, 0], [0, 0, 1]])
    for wrong in (np.zeros((3, 3)), 1.1 * np.eye(3), -np.eye(3), mirrored, huge):
        with pytest.raises(OutOfRangeError, match=r"observation 1 \(sensor 'knee'\)"):
            sensors.move_all_observations([np.eye(3), wrong])
        with pytest.raises(OutOfRangeError, match=r"observation 1 \(sensor 'knee'\)"):
            sensors.move_one_observation(1, wrong)
    assert np.isnan(sensors.observations).all()


def test_a_sensor_is_named_by_itself_its_name_or_its_index() -> None:
    tree = make_tree([Pin], [0], 0)
    sensors = OrientationSensors()
    hip = sensors.add_sensor(tree.bodies[1], None, 0.5, "hip")
    for which in (hip, "hip", 0):
        assert sensors.sensor(which) is hip
        assert sensors.weight(which) == 0.5
    assert sensors.sensors == (hip,)
    assert sensors.add_sensor(tree.bodies[1]).name == "sensor 1"
    assert f"{hip}" == "sensor 'hip'"


def test_sensors_are_drawn_as_axes_and_what_they_told_paler() -> None:
    tree = make_tree([Pin], [0], 0)
    sensors = OrientationSensors()
    assert sensors.calc_decorations(tree.state) == []
    for _ in range(2):
        sensors.add_sensor(tree.bodies[1], Rotation.from_rotvec([1, 2, 3]).as_matrix())
    sensors.define_observation_order([None, 1, 0])
    sensors.move_all_observations([np.eye(3), np.eye(3), np.full((3, 3), np.nan)])
    shown = sensors.calc_decorations(tree.state, axis_length=0.2)
    assert all(isinstance(frame, DecorativeFrame) for frame in shown)
    assert [frame.label for frame in shown] == ["sensor 0", "sensor 1", ""]
    origin = tree.bodies[1].pose(tree.state).translation
    for frame in shown:
        np.testing.assert_allclose(frame.translation, origin, atol=1e-14)
    found = sensors.current_orientations(tree.state)
    np.testing.assert_allclose(shown[0].rotation, found[0], atol=1e-14)
    np.testing.assert_array_equal(shown[2].rotation, np.eye(3))
