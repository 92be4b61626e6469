"""Mobilizers with any orientation: a quaternion, or body-fixed x-y-z angles.

u is the angular velocity of M in F, expressed in F; of a Free, the velocity of its origin, too.
"""

from collections.abc import Sequence
from typing import final

from stagecache.multibody.geometry.orientation import (
    Pose,
    Rows,
    angles_of_pose,
    axes_of_angles,
    axes_rate_of_angles,
    n_of_angles,
    n_rate_of_angles,
    pose_of_angles,
    pose_of_quaternion,
    quaternion_of_angles,
)
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer
from stagecache.numerics.quaternions import n_of_quaternion, n_pinv_of_quaternion

_ROTATIONS = tuple(tuple(float(i == j) for j in range(6)) for i in range(3))


@final
class Ball(AbstractMobilizer):
    """A spherical joint: u is the angular velocity of M in F, expressed in F [rad/s].

    q is a quaternion (w, x, y, z); of another length than 1 it stands for the same orientation. By
    the modeling option of the matter they are body-fixed x-y-z angles [rad] instead.
    """

    nq, nu = 4, 3
    default_q = (1.0, 0.0, 0.0, 0.0)
    quaternion_start = 0

    def pose(self, q: Sequence[float]) -> Pose:
        """Return the rotation of the quaternion."""
        return pose_of_quaternion(q, 0.0, 0.0, 0.0)

    def axes(self, q: Sequence[float]) -> Rows:  # noqa: ARG002  # they are constant
        """Return rotations about the axes of F."""
        return _ROTATIONS

    def n(self, q: Sequence[float]) -> Rows:
        """Return the matrix of a quaternion."""
        return n_of_quaternion(q)

    def n_pinv(self, q: Sequence[float]) -> Rows:
        """Return the matrix of a quaternion."""
        return n_pinv_of_quaternion(q)

    def n_rate(self, q: Sequence[float], qdot: Sequence[float]) -> Rows:  # noqa: ARG002  # N is linear
        """Return N of qdot."""
        return n_of_quaternion(qdot)

    def with_euler_angles(self) -> AbstractMobilizer:
        """Return the same joint in angles."""
        return EulerBall()

    def euler_angles_of(self, q: Sequence[float]) -> Sequence[float]:
        """Return the angles of the quaternion."""
        return angles_of_pose(self.pose(q))

    def quaternions_of(self, q: Sequence[float]) -> Sequence[float]:
        """Return the quaternion of the angles."""
        return quaternion_of_angles(q)


@final
class EulerBall(AbstractMobilizer):
    """A Ball whose q are body-fixed x-y-z angles [rad]; N is singular where the second is pi/2."""

    nq = nu = 3
    default_q = (0.0, 0.0, 0.0)
    is_sequence = True

    def pose(self, q: Sequence[float]) -> Pose:
        """Return Rx(q0) Ry(q1) Rz(q2)."""
        return pose_of_angles(q[0], q[1], q[2], 0.0, 0.0, 0.0)

    def axes(self, q: Sequence[float]) -> Rows:  # noqa: ARG002  # they are constant
        """Return rotations about the axes of F."""
        return _ROTATIONS

    def n(self, q: Sequence[float]) -> Rows:
        """Return the matrix of angles."""
        return n_of_angles(q)

    def n_pinv(self, q: Sequence[float]) -> Rows:
        """Return the matrix of angles."""
        return axes_of_angles(q)

    def n_rate(self, q: Sequence[float], qdot: Sequence[float]) -> Rows:
        """Return the matrix of angles."""
        return n_rate_of_angles(q, qdot)

    def n_pinv_rate(self, q: Sequence[float], qdot: Sequence[float]) -> Rows:
        """Return the matrix of angles."""
        return axes_rate_of_angles(q, qdot)


_MOTIONS = tuple(tuple(float(i == j) for j in range(6)) for i in range(6))


@final
class Free(AbstractMobilizer):
    """Any motion: u is the angular velocity of M in F [rad/s], and its linear velocity [m/s].

    q is a quaternion (w, x, y, z), then the origin of M in F [m]. By the modeling option of the
    matter the orientation is in body-fixed x-y-z angles [rad] instead.
    """

    nq, nu = 7, 6
    default_q = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    quaternion_start = 0

    def pose(self, q: Sequence[float]) -> Pose:
        """Return the rotation of the quaternion, at the origin."""
        return pose_of_quaternion(q[:4], q[4], q[5], q[6])

    def axes(self, q: Sequence[float]) -> Rows:  # noqa: ARG002  # they are constant
        """Return rotations about the axes of F, and translations along them."""
        return _MOTIONS

    def n(self, q: Sequence[float]) -> Rows:
        """Return the matrix of a quaternion, and 1."""
        return _with(n_of_quaternion(q), 1.0)

    def n_pinv(self, q: Sequence[float]) -> Rows:
        """Return the matrix of a quaternion, and 1."""
        return _with(n_pinv_of_quaternion(q), 1.0)

    def n_rate(self, q: Sequence[float], qdot: Sequence[float]) -> Rows:  # noqa: ARG002  # N is linear
        """Return N of the rate of the quaternion, and 0."""
        return _with(n_of_quaternion(qdot), 0.0)

    def with_euler_angles(self) -> AbstractMobilizer:
        """Return the same joint in angles."""
        return EulerFree()

    def euler_angles_of(self, q: Sequence[float]) -> Sequence[float]:
        """Return the angles of the quaternion."""
        return [*angles_of_pose(self.pose(q)), *q[4:]]

    def quaternions_of(self, q: Sequence[float]) -> Sequence[float]:
        """Return the quaternion of the angles."""
        return [*quaternion_of_angles(q[:3]), *q[3:]]


@final
class EulerFree(AbstractMobilizer):
    """A Free whose orientation is in body-fixed x-y-z angles [rad]."""

    nq = nu = 6
    default_q = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    is_sequence = True

    def pose(self, q: Sequence[float]) -> Pose:
        """Return Rx(q0) Ry(q1) Rz(q2), at the origin."""
        return pose_of_angles(q[0], q[1], q[2], q[3], q[4], q[5])

    def axes(self, q: Sequence[float]) -> Rows:  # noqa: ARG002  # they are constant
        """Return rotations about the axes of F, and translations along them."""
        return _MOTIONS

    def n(self, q: Sequence[float]) -> Rows:
        """Return the matrix of angles, and 1."""
        return _with(n_of_angles(q[:3]), 1.0)

    def n_pinv(self, q: Sequence[float]) -> Rows:
        """Return the matrix of angles, and 1."""
        return _with(axes_of_angles(q[:3]), 1.0)

    def n_rate(self, q: Sequence[float], qdot: Sequence[float]) -> Rows:
        """Return the matrix of angles, and 0."""
        return _with(n_rate_of_angles(q[:3], qdot[:3]), 0.0)

    def n_pinv_rate(self, q: Sequence[float], qdot: Sequence[float]) -> Rows:
        """Return the matrix of angles, and 0."""
        return _with(axes_rate_of_angles(q[:3], qdot[:3]), 0.0)


def _with(block: Rows, value: float) -> Rows:
    """Return the block for the orientation, and below it a multiple of 1 for the origin."""
    width = len(block[0])
    return [
        *([*row, 0.0, 0.0, 0.0] for row in block),
        *([0.0] * width + [value * (i == j) for j in range(3)] for i in range(3)),
    ]
