"""Gimbal: rotation about x, then the new y, then the new z."""

from collections.abc import Sequence
from math import cos, sin
from typing import final

from stagecache.multibody.geometry.orientation import Pose, Rows, axes_of_angles, pose_of_angles
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer


@final
class Gimbal(AbstractMobilizer):
    """Three hinges: q are body-fixed x-y-z angles [rad], and u their rates.

    Where the second is pi/2, the first and the third turn about one axis: a motion is lost. A Ball
    with Euler angles has the same q, but angular velocities as u.
    """

    nq = nu = 3
    default_q = (0.0, 0.0, 0.0)
    is_sequence = True
    has_constant_axes = False

    def pose(self, q: Sequence[float]) -> Pose:
        """Rx(q0) Ry(q1) Rz(q2)."""
        return pose_of_angles(q[0], q[1], q[2], 0.0, 0.0, 0.0)

    def axes(self, q: Sequence[float]) -> Rows:
        """Rotation about each axis, where the others have turned it."""
        x, y, z = axes_of_angles(q)
        return [[x[j], y[j], z[j], 0.0, 0.0, 0.0] for j in range(3)]

    def axes_rate(self, q: Sequence[float], u: Sequence[float]) -> Sequence[float]:
        """The second axis turns with the first, the third with both."""
        s1, c1, s2, c2 = sin(q[0]), cos(q[0]), sin(q[1]), cos(q[1])
        first, second, third = u[0] * u[1], u[0] * u[2], u[1] * u[2]
        return (
            c2 * third,
            -s1 * first - c1 * c2 * second + s1 * s2 * third,
            c1 * first - s1 * c2 * second - c1 * s2 * third,
            *(0.0, 0.0, 0.0),
        )
