"""Formulas of orientations against SciPy's and against differences, at singular places too."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from stagecache.multibody.geometry.orientation import (
    LONGEST,
    SHORTEST,
    Pose,
    angles_of_pose,
    axes_of_angles,
    axes_rate_of_angles,
    n_of_angles,
    n_rate_of_angles,
    pose_of_angles,
    pose_of_quaternion,
    quaternion_of_angles,
    rotation_vector_bends,
    rotation_vector_jacobians,
    rotation_vectors,
    with_leading_positive,
)
from stagecache.multibody.geometry.spatial import Array
from stagecache.numerics.quaternions import n_of_quaternion, n_pinv_of_quaternion
from tests.profiles import examples

ROUNDING = 4e-15
ANGLE = st.floats(-7.0, 7.0)
SEED = st.integers(0, 2**32 - 1)

# Distances to a singular place: none, those that squares round off, and those that they do not.
CLOSE = st.one_of(st.just(0.0), st.floats(-17.0, -0.5).map(lambda exponent: 10.0**exponent))


def rotation_of(pose: Pose) -> Array:
    return np.reshape(pose, (3, 4))[:, :3]


def close(found: Any, wanted: Any, tolerance: float = ROUNDING) -> None:
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance)


def matrix(function: Any, *numbers: Array) -> Array:
    """Rows that a function of sequences returns."""
    return np.array(function(*(one.tolist() for one in numbers)), float)


def unit(rng: np.random.Generator) -> Array:
    found = rng.normal(size=3)
    return np.asarray(found / np.linalg.norm(found))


def exp(vector: Array) -> Array:
    """The rotation of a vector, by the formula of Rodrigues, exact near 0 and half a turn."""
    angle = float(np.linalg.norm(vector))
    if not angle:
        return np.eye(3)
    x, y, z = vector / angle
    k = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + math.sin(angle) * k + 2 * math.sin(angle / 2) ** 2 * (k @ k))


# ---------------------------------------------------------------------- conversions


@examples(200)
@given(seed=SEED, exponent=st.floats(-95, 95))
def test_a_quaternion_of_any_length_is_the_rotation_that_scipy_has(
    seed: int, exponent: float
) -> None:
    q = np.random.default_rng(seed).normal(size=4)
    q /= np.linalg.norm(q)
    pose = pose_of_quaternion((q * 10.0**exponent).tolist(), 1.0, 2.0, 3.0)
    close(rotation_of(pose), Rotation.from_quat(q[[1, 2, 3, 0]]).as_matrix())
    assert pose[3::4] == (1.0, 2.0, 3.0)


@pytest.mark.parametrize("size", [0.0, SHORTEST / 2, LONGEST * 2, math.inf, math.nan])
def test_a_quaternion_without_a_direction_is_refused(size: float) -> None:
    with pytest.raises(ValueError, match=r"^$"):
        pose_of_quaternion([size, 0.0, 0.0, 0.0], 0.0, 0.0, 0.0)


@examples(200)
@given(a=ANGLE, b=ANGLE, c=ANGLE)
def test_angles_are_the_rotation_and_the_quaternion_that_scipy_has(
    a: float, b: float, c: float
) -> None:
    wanted = Rotation.from_euler("XYZ", [a, b, c])
    close(rotation_of(pose_of_angles(a, b, c, 0.0, 0.0, 0.0)), wanted.as_matrix())
    w, x, y, z = quaternion_of_angles([a, b, c])
    q = wanted.as_quat()
    close([x, y, z, w], q if np.dot(q, [x, y, z, w]) > 0 else -q)


@examples(200)
@given(a=ANGLE, off=CLOSE, c=ANGLE, side=st.sampled_from([-1.0, 1.0]), at_lock=st.booleans())
def test_angles_come_back_as_the_same_rotation_at_gimbal_lock_too(
    a: float, off: float, c: float, side: float, *, at_lock: bool
) -> None:
    b = side * (math.pi / 2 - off if at_lock else off)
    pose = pose_of_angles(a, b, c, 0.0, 0.0, 0.0)
    first, second, third = found = angles_of_pose(pose)
    close(rotation_of(pose_of_angles(first, second, third, 0.0, 0.0, 0.0)), rotation_of(pose))
    assert abs(second) <= math.pi / 2
    if not at_lock:  # the angles themselves are well defined there
        turns = (np.array(found) - [a, b, c]) / (2 * math.pi)
        close(turns - np.round(turns), 0.0)


@examples(200)
@given(seed=SEED, first=st.integers(0, 3), sign=st.sampled_from([-1.0, 1.0]))
def test_the_first_number_of_a_quaternion_becomes_positive(
    seed: int, first: int, sign: float
) -> None:
    q = sign * np.random.default_rng(seed).normal(size=4)
    q /= np.linalg.norm(q[first:])
    q[:first] = np.copysign(1e-15, q[:first])  # rounding
    found = with_leading_positive([7.0, *q, -1.0], 1)
    assert found[1 + first] > 0.0
    assert found in ([7.0, *q, -1.0], [7.0, *-q, -1.0])


@examples(300)
@given(seed=SEED, off=CLOSE, is_half_a_turn=st.booleans())
def test_rotation_vectors_are_logarithms_near_0_and_near_half_a_turn_too(
    seed: int, off: float, *, is_half_a_turn: bool
) -> None:
    axis = unit(np.random.default_rng(seed))
    vector = axis * (math.pi - off if is_half_a_turn else off)
    found = rotation_vectors(exp(vector)[np.newaxis])[0]
    if is_half_a_turn and off < ROUNDING:  # both ways are the same rotation
        found = found if found @ axis > 0 else -found
    close(found, vector)
    assert np.linalg.norm(found) <= math.pi * (1 + ROUNDING)


@examples(100)
@given(seed=SEED)
def test_rotation_vectors_are_those_of_scipy(seed: int) -> None:
    rotations = Rotation.random(20, random_state=seed)
    close(rotation_vectors(rotations.as_matrix()), rotations.as_rotvec(), 1e-14)


# ---------------------------------------------------------------------- rates

STEP = 1e-4


def derivative(function: Any) -> Array:
    """The derivative by t at 0, to some 1e-13 of what it depends on."""
    near, far = (np.asarray(function(h) - function(-h)) / (2 * h) for h in (STEP, 2 * STEP))
    return np.asarray((4 * near - far) / 3)


@examples(100)
@given(seed=SEED, exponent=st.floats(-3, 3))
def test_n_of_a_quaternion_is_its_rate_as_the_frame_turns(seed: int, exponent: float) -> None:
    rng = np.random.default_rng(seed)
    length = 10.0**exponent
    q, w = rng.normal(size=4), rng.normal(size=3)
    q *= length / np.linalg.norm(q)

    def turned(t: float) -> Array:
        now = Rotation.from_rotvec(t * w) * Rotation.from_quat(q[[1, 2, 3, 0]])
        found = now.as_quat()[[3, 0, 1, 2]]
        return np.asarray(length * (found if found @ q > 0 else -found))

    n = np.array(n_of_quaternion(q.tolist()))
    close(n @ w / length, derivative(turned) / length, 1e-11)
    close(np.array(n_pinv_of_quaternion(q.tolist())) @ n, np.eye(3))
    # Of a quaternion that gets longer meanwhile, the angular velocity stays.
    close(np.array(n_pinv_of_quaternion(q.tolist())) @ (n @ w + 3 * q), w, 1e-13)


@examples(100)
@given(a=ANGLE, c=ANGLE, off=st.floats(-6, -0.01).map(lambda exponent: 10.0**exponent), seed=SEED)
def test_n_of_angles_and_its_inverse_are_their_rates_as_the_frame_turns(
    a: float, c: float, off: float, seed: int
) -> None:
    """Up to 1e-6 rad from gimbal lock, where N is as large as a million."""
    angles = np.array([a, math.pi / 2 - off, c])
    w = np.random.default_rng(seed).normal(size=3)
    axes = matrix(axes_of_angles, angles)
    rates = matrix(n_of_angles, angles) @ w
    close(axes @ rates, w, 1e-15 / off)
    # Axes: the angular velocity is that of R' R^T, along rates of the angles of size 1.
    along = rates / np.linalg.norm(rates)

    def rotation(t: float) -> Array:
        return np.asarray(Rotation.from_euler("XYZ", angles + t * along).as_matrix())

    skew = derivative(rotation) @ rotation(0.0).T
    close(axes @ along, [skew[2, 1], skew[0, 2], skew[1, 0]], 1e-10)


@examples(100)
@given(a=ANGLE, b=st.floats(-1.2, 1.2), c=ANGLE, seed=SEED)
def test_rates_of_n_of_angles_and_of_its_inverse_are_their_derivatives(
    a: float, b: float, c: float, seed: int
) -> None:
    angles, rates = np.array([a, b, c]), np.random.default_rng(seed).normal(size=3)
    size = 1e-10 / math.cos(b) ** 6
    for function, rate in ((n_of_angles, n_rate_of_angles), (axes_of_angles, axes_rate_of_angles)):

        def along(t: float, function: Any = function) -> Array:
            return matrix(function, angles + t * rates)

        close(matrix(rate, angles, rates), derivative(along), size)


@pytest.mark.parametrize("b", [math.pi / 2, -math.pi / 2, 3 * math.pi / 2])
def test_n_of_angles_is_refused_where_it_is_infinite(b: float) -> None:
    for function in (n_of_angles, lambda q: n_rate_of_angles(q, [1.0, 2.0, 3.0])):
        with pytest.raises(ZeroDivisionError):
            function([0.3, b, -2.0])


# ---------------------------------------------------------------------- rates of vectors


@examples(200)
@given(
    seed=SEED,
    size=st.one_of(
        st.floats(0.0, 3.1),
        st.floats(-12.0, 0.0).map(lambda exponent: 10.0**exponent),
        st.sampled_from([2e-4, 2.0001e-4, 1.9999e-4, 1.9999e-2, 2.0001e-2]),  # ends of series
    ),
)
def test_rates_of_a_rotation_vector_and_their_bends_are_derivatives(seed: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    vector, w, factors = size * unit(rng), unit(rng), rng.normal(size=3)

    def logarithm(t: float) -> Array:
        now = Rotation.from_rotvec(t * w) * Rotation.from_rotvec(vector)
        return np.asarray(now.as_rotvec())

    jacobian = rotation_vector_jacobians(vector[np.newaxis])[0]
    close(jacobian @ w, derivative(logarithm), 1e-10)
    direction = rng.normal(size=3)

    def slope(t: float) -> Array:
        moved = (vector + t * direction)[np.newaxis]
        return np.asarray(factors @ rotation_vector_jacobians(moved)[0])

    bend = rotation_vector_bends(vector[np.newaxis], factors[np.newaxis])[0]
    close(direction @ bend, derivative(slope), 1e-9)


@pytest.mark.parametrize("off", [0.0, 1e-15, 1e-9, 1e-3])
def test_the_jacobian_of_a_rotation_vector_is_regular_at_half_a_turn(off: float) -> None:
    """Along the axis, a turn adds to the angle; across, J is (t/2) cot(t/2) and t/2."""
    axis = unit(np.random.default_rng(1))
    size = math.pi - off
    jacobian = rotation_vector_jacobians(size * axis[np.newaxis])[0]
    close(jacobian @ axis, axis)
    across = np.cross(axis, [1.0, 2.0, 3.0])
    across /= np.linalg.norm(across)
    half = size / 2
    wanted = half / math.tan(half) * across - half * np.cross(axis, across)
    close(jacobian @ across, wanted)
