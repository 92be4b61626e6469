r"""Formulas of orientations: of one joint on plain floats, and rotation vectors of many.

An operation with a 3-vector takes 1 us in numpy, and 0.1 us in floats. So formulas of one joint are
written out here. A pose is a tuple of 12 floats, [R p] by rows::

    [ R00 R01 R02 p0 | R10 R11 R12 p1 | R20 R21 R22 p2 ]

Angles (a, b, c) are body-fixed x-y-z: R = Rx(a) Ry(b) Rz(c). A quaternion is (w, x, y, z), of any
length but zero. N relates either of them to the angular velocity in F, the fixed frame: qdot = N w.

Rotation vectors are for many rotations at once, in NumPy. The rotation by t, from 0 to pi, about
the unit vector n has the vector p = t n: R = exp [p]. As the frame turns with angular velocity w,
so that R' = [w] R::

    p' = J(p) w        J = 1 - [p]/2 + c [p]^2        c = (1 - (t/2) cot(t/2)) / t^2

J is the inverse of the left Jacobian of SO(3). It is regular up to t = pi, where c = 1/pi^2, and at
0, where c = 1/12. At half a turn p jumps to -p, since both are the same rotation. For constant f
and a, the derivative of f J a along a change d of p is d N a::

    N = [f]/2 - c [f][p] - c [f x p] + p ([p]^2 f)' c'/t        c' = dc/dt

Source: Simbody's Rotation and MobilizedBody; P. E. Nikravesh, Computer-Aided Analysis of Mechanical
Systems (1988), chapter 6, for quaternions; S. W. Shepperd, Quaternion from Rotation Matrix,
J. Guidance and Control 1 (1978); T. D. Barfoot, State Estimation for Robotics (2017), chapter 7,
for rotation vectors.
"""

from collections.abc import Sequence
from math import atan2, cos, sin, sqrt
from typing import Final

import numpy as np

from stagecache.multibody.geometry.spatial import Array, cross_matrices

Pose = tuple[
    float, float, float, float, float, float, float, float, float, float, float, float
]  # fmt: skip
Rows = Sequence[Sequence[float]]

ROUNDING: Final = 1e-14
"""The largest number of a quaternion of length 1 that counts as 0."""

SHORTEST: Final = 1e-100
LONGEST: Final = 1e100
"""The range of lengths of a quaternion, for exact squares, is from SHORTEST to LONGEST."""


def pose_of_quaternion(q: Sequence[float], x: float, y: float, z: float) -> Pose:
    """Return the pose of a frame with that orientation and origin.

    Raises
    ------
    ValueError
        The quaternion is zero, or not finite, or its length is out of range.
    """
    e0, e1, e2, e3 = q
    square = e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3
    if not SHORTEST**2 < square < LONGEST**2:
        raise ValueError
    scale = 2.0 / square
    s1, s2, s3 = scale * e1, scale * e2, scale * e3
    xx, yy, zz = s1 * e1, s2 * e2, s3 * e3
    xy, xz, yz = s1 * e2, s1 * e3, s2 * e3
    wx, wy, wz = s1 * e0, s2 * e0, s3 * e0
    return (
        *(1.0 - yy - zz, xy - wz, xz + wy, x),
        *(xy + wz, 1.0 - xx - zz, yz - wx, y),
        *(xz - wy, yz + wx, 1.0 - xx - yy, z),
    )


def pose_of_angles(a: float, b: float, c: float, x: float, y: float, z: float) -> Pose:
    """Return the pose of a frame with those body-fixed x-y-z angles and that origin."""
    s1, c1, s2, c2, s3, c3 = sin(a), cos(a), sin(b), cos(b), sin(c), cos(c)
    return (
        *(c2 * c3, -c2 * s3, s2, x),
        *(c1 * s3 + s1 * s2 * c3, c1 * c3 - s1 * s2 * s3, -s1 * c2, y),
        *(s1 * s3 - c1 * s2 * c3, s1 * c3 + c1 * s2 * s3, c1 * c2, z),
    )


def angles_of_pose(pose: Pose) -> list[float]:
    """Return the body-fixed x-y-z angles of the rotation of a pose: b is from -pi/2 to pi/2.

    Near b = pi/2 only a + c counts: c makes up for any error of a.
    """
    r00, r01, r02, _, r10, r11, r12, _, r20, r21, r22, _ = pose
    a = atan2(-r12, r22)
    s, c = sin(a), cos(a)
    return [a, atan2(r02, sqrt(r00 * r00 + r01 * r01)), atan2(c * r10 + s * r20, c * r11 + s * r21)]


def quaternion_of_angles(angles: Sequence[float]) -> list[float]:
    """Return the quaternion, of length 1, of body-fixed x-y-z angles."""
    a, b, c = angles
    s1, c1, s2, c2 = sin(a / 2), cos(a / 2), sin(b / 2), cos(b / 2)
    s3, c3 = sin(c / 2), cos(c / 2)
    return [
        c1 * c2 * c3 - s1 * s2 * s3,
        s1 * c2 * c3 + c1 * s2 * s3,
        c1 * s2 * c3 - s1 * c2 * s3,
        c1 * c2 * s3 + s1 * s2 * c3,
    ]


def with_leading_positive(q: Sequence[float], start: int | None) -> list[float]:
    """Return the same q, with a quaternion whose first number that is not 0 is positive.

    A quaternion and its negative stand for the same orientation.

    Parameters
    ----------
    q : sequence of float
    start : int or None
        The index of a quaternion of length 1, if there is one.
    """
    found = [*q]
    if start is not None:
        there = slice(start, start + 4)
        if next((v for v in found[there] if abs(v) > ROUNDING), 1.0) < 0.0:
            found[there] = [0.0 - v for v in found[there]]
    return found


def n_of_angles(angles: Sequence[float]) -> Rows:
    """Return N, of shape (3, 3). It is singular where cos b = 0, which is a division by zero."""
    a, b, _ = angles
    s1, c1, s2, c2 = sin(a), cos(a), sin(b), cos(b)
    if abs(c2) < 1e-12:
        raise ZeroDivisionError
    return [
        [1.0, s1 * s2 / c2, -c1 * s2 / c2],
        [0.0, c1, s1],
        [0.0, -s1 / c2, c1 / c2],
    ]


def axes_of_angles(angles: Sequence[float]) -> Rows:
    """Return the axes about which the angles turn, in F, as columns (3, 3): the inverse of N."""
    a, b, _ = angles
    s1, c1, s2, c2 = sin(a), cos(a), sin(b), cos(b)
    return [[1.0, 0.0, s2], [0.0, c1, -s1 * c2], [0.0, s1, c1 * c2]]


def n_rate_of_angles(angles: Sequence[float], rates: Sequence[float]) -> Rows:
    """Return the change of N along rates of the angles, (3, 3). It is singular where N is."""
    a, b, _ = angles
    da, db, _ = rates
    s1, c1, s2, c2 = sin(a), cos(a), sin(b), cos(b)
    if abs(c2) < 1e-12:
        raise ZeroDivisionError
    t2, e2 = s2 / c2, 1.0 / (c2 * c2)
    return [
        [0.0, c1 * t2 * da + s1 * e2 * db, s1 * t2 * da - c1 * e2 * db],
        [0.0, -s1 * da, c1 * da],
        [0.0, -(c1 * da + s1 * t2 * db) / c2, -(s1 * da - c1 * t2 * db) / c2],
    ]


def axes_rate_of_angles(angles: Sequence[float], rates: Sequence[float]) -> Rows:
    """Return the change of `axes_of_angles` along rates of the angles, (3, 3)."""
    a, b, _ = angles
    da, db, _ = rates
    s1, c1, s2, c2 = sin(a), cos(a), sin(b), cos(b)
    return [
        [0.0, 0.0, c2 * db],
        [0.0, -s1 * da, s1 * s2 * db - c1 * c2 * da],
        [0.0, c1 * da, -c1 * s2 * db - s1 * c2 * da],
    ]


# ---------------------------------------------------------------------- rotation vectors


# 4 q q' of a quaternion is linear in its rotation matrix: rows are w, x, y, z; letters, by rows.
_OUTER: Final = (
    ("a+e+i", "h-f", "c-g", "d-b"),
    ("h-f", "a-e-i", "b+d", "c+g"),
    ("c-g", "b+d", "e-a-i", "f+h"),
    ("d-b", "c+g", "f+h", "i-a-e"),
)
_ONES: Final = np.eye(4).ravel()  # the constant part
_ONE: Final = np.eye(3)
_SKEW: Final = -np.cross(np.eye(3)[:, None], np.eye(3)).reshape(3, 9)  # [p] is linear in p
_SMALL_BEND: Final = 1e-2  # a half angle below which c and its slope are series
_SMALL: Final = 1e-4  # a half angle below which c is 1/12, as [p]^2 makes up for the difference


def _linear() -> Array:
    """Return the matrix (9, 16) of `_OUTER`."""
    found = np.zeros((9, 16))
    for column, terms in enumerate(term for row in _OUTER for term in row):
        for sign, letter in zip("+" + terms[1::2], terms[::2], strict=True):
            found["abcdefghi".index(letter), column] = 1.0 if sign == "+" else -1.0
    return found


_LINEAR: Final = _linear()


def rotation_vectors(rotations: Array) -> Array:
    """Return the vectors (k, 3) of rotations (k, 3, 3) [rad]. Cost some 25 us for any few."""
    outer = (rotations.reshape(-1, 9) @ _LINEAR + _ONES).reshape(-1, 4, 4)
    largest = outer.diagonal(axis1=1, axis2=2).argmax(axis=1)
    q = outer[np.arange(len(outer)), largest]
    q *= np.where(q[:, :1] < 0.0, -1.0, 1.0)
    sines = np.sqrt(np.einsum("ij,ij->i", q[:, 1:], q[:, 1:]))  # times some positive number
    halves = np.arctan2(sines, q[:, 0])
    factors = 2.0 / q[:, 0].clip(min=np.finfo(float).tiny)  # where the angle is 0
    np.divide(2.0 * halves, sines, out=factors, where=sines > 0.0)
    found: Array = q[:, 1:] * factors[:, None]
    return found


def rotation_vector_jacobians(vectors: Array) -> Array:
    """Return J (k, 3, 3) of vectors (k, 3), where the derivative of a vector is J w."""
    squares = np.einsum("ij,ij->i", vectors, vectors)
    halves = np.sqrt(squares) / 2.0
    is_small = halves < _SMALL
    safe = np.where(is_small, 1.0, halves)
    c = (1.0 - safe / np.tan(safe)) / (4.0 * safe * safe)
    c = np.where(is_small, 1.0 / 12.0, c)[:, None, None]
    skew = (vectors @ _SKEW).reshape(-1, 3, 3)
    found: Array = c * (skew @ skew)
    found -= 0.5 * skew
    found += _ONE
    return found


def rotation_vector_bends(vectors: Array, factors: Array) -> Array:
    """Return N (k, 3, 3) of vectors p and factors f (k, 3), for the derivatives of f J(p) a."""
    squares = np.einsum("ij,ij->i", vectors, vectors)
    halves = np.sqrt(squares) / 2.0
    is_small = halves < _SMALL_BEND
    safe = np.where(is_small, 1.0, halves)
    cotangents = 1.0 / np.tan(safe)
    c = (1.0 - safe * cotangents) / (4.0 * safe * safe)
    slope = (safe / np.sin(safe) ** 2 - cotangents) / (16.0 * safe**3) - c / (2.0 * safe**2)
    c = np.where(is_small, 1.0 / 12.0 + squares / 720.0, c)[:, None, None]
    slope = np.where(is_small, 1.0 / 360.0 + squares / 7560.0, slope)[:, None, None]
    p, f = cross_matrices(vectors), cross_matrices(factors)
    both = f @ p
    found: Array = 0.5 * f - c * (2.0 * both - both.swapaxes(1, 2))
    found += slope * vectors[:, :, None] * (p @ p @ factors[:, :, None]).swapaxes(1, 2)
    return found
