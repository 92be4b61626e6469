r"""Formulas of orientations, for one joint at a time, on plain floats.

An operation with a 3-vector takes 1 us in numpy, and 0.1 us in floats. So formulas of one joint are
written out here. A pose is a tuple of 12 floats, [R p] by
rows::

    [ R00 R01 R02 p0 | R10 R11 R12 p1 | R20 R21 R22 p2 ]

Angles (a, b, c) are body-fixed x-y-z: R = Rx(a) Ry(b) Rz(c). A quaternion is (w, x, y, z), of any
length but zero. N relates either of them to the angular velocity in F, the fixed frame: qdot = N w.

Source: Simbody's Rotation and MobilizedBody; P. E. Nikravesh, Computer-Aided Analysis of Mechanical
Systems (1988), chapter 6, for quaternions.
"""

from collections.abc import Sequence
from math import atan2, cos, sin, sqrt
from typing import Final

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
