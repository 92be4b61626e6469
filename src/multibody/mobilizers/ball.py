"""Ball: any rotation."""

from collections.abc import Sequence
from typing import final

from stagecache.multibody.geometry.orientation import (
    Pose,
    Rows,
    angles_of_pose,
    axes_of_angles,
    axes_rate_of_angles,
    n_of_angles,
    n_of_quaternion,
    n_pinv_of_quaternion,
    n_rate_of_angles,
    pose_of_angles,
    pose_of_quaternion,
    quaternion_of_angles,
)
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer

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
        """The rotation of the quaternion."""
        return pose_of_quaternion(q, 0.0, 0.0, 0.0)

    def axes(self, q: Sequence[float]) -> Rows:  # noqa: ARG002  # they are constant
        """Rotation about the axes of F."""
        return _ROTATIONS

    def n(self, q: Sequence[float]) -> Rows:
        """Of a quaternion."""
        return n_of_quaternion(q)

    def n_pinv(self, q: Sequence[float]) -> Rows:
        """Of a quaternion."""
        return n_pinv_of_quaternion(q)

    def n_rate(self, q: Sequence[float], qdot: Sequence[float]) -> Rows:  # noqa: ARG002  # N is linear
        """N of qdot."""
        return n_of_quaternion(qdot)

    def with_euler_angles(self) -> AbstractMobilizer:
        """The same in angles."""
        return EulerBall()

    def euler_angles_of(self, q: Sequence[float]) -> Sequence[float]:
        """The angles of the quaternion."""
        return angles_of_pose(self.pose(q))

    def quaternions_of(self, q: Sequence[float]) -> Sequence[float]:
        """The quaternion of the angles."""
        return quaternion_of_angles(q)


@final
class EulerBall(AbstractMobilizer):
    """A Ball whose q are body-fixed x-y-z angles [rad]; N is singular where the second is pi/2."""

    nq = nu = 3
    default_q = (0.0, 0.0, 0.0)
    is_sequence = True

    def pose(self, q: Sequence[float]) -> Pose:
        """Rx(q0) Ry(q1) Rz(q2)."""
        return pose_of_angles(q[0], q[1], q[2], 0.0, 0.0, 0.0)

    def axes(self, q: Sequence[float]) -> Rows:  # noqa: ARG002  # they are constant
        """Rotation about the axes of F."""
        return _ROTATIONS

    def n(self, q: Sequence[float]) -> Rows:
        """Of angles."""
        return n_of_angles(q)

    def n_pinv(self, q: Sequence[float]) -> Rows:
        """Of angles."""
        return axes_of_angles(q)

    def n_rate(self, q: Sequence[float], qdot: Sequence[float]) -> Rows:
        """Of angles."""
        return n_rate_of_angles(q, qdot)

    def n_pinv_rate(self, q: Sequence[float], qdot: Sequence[float]) -> Rows:
        """Of angles."""
        return axes_rate_of_angles(q, qdot)
