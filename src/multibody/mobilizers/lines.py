r"""Mobilizers of lines: bodies without inertia about z of M, as of linear molecules.

They have two u for an orientation, the angular velocity (wx, wy) of M in F, in M. The third, wz, is
0. So M can have any orientation, but not by any path: a qdot that turns it about its own z axis is
not a motion by u (a nonholonomic constraint). With the angles (a, b, c) of R = Rx(a) Ry(b) Rz(c)::

    a' = (wx cos c - wy sin c) / cos b      b' = wx sin c + wy cos c      c' = -a' sin b

The axes are x and y of M, which turn with w; their change, times u, is w x w = 0.

They have the q and u of Simbody's mobilizers of the same names.
"""

from abc import abstractmethod
from collections.abc import Sequence
from math import cos, sin
from typing import Final, final

from stagecache.multibody.geometry.orientation import Pose, Rows
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer
from stagecache.multibody.mobilizers.orientations import Ball, EulerBall, EulerFree, Free

BALL: Final = Ball()
EULER_BALL: Final = EulerBall()
FREE: Final = Free()
EULER_FREE: Final = EulerFree()
MOVES: Final = tuple(tuple(float(i + 3 == j) for j in range(6)) for i in range(3))


class AbstractLine(AbstractMobilizer):
    """An orientation with two u; behind them, the velocity of the origin of M if it is free."""

    has_constant_axes = False

    @property
    @abstractmethod
    def whole(self) -> AbstractMobilizer:
        """The mobilizer of the same poses with three u for the orientation."""

    def pose(self, q: Sequence[float]) -> Pose:
        """Return the pose at the same q of a Ball or Free."""
        return self.whole.pose(q)

    def axes(self, q: Sequence[float]) -> Rows:
        """Return rotations about x and y of M, and translations along the axes of F."""
        xx, xy, _, _, yx, yy, _, _, zx, zy, _, _ = self.whole.pose(q)
        turns = [[xx, yx, zx, 0.0, 0.0, 0.0], [xy, yy, zy, 0.0, 0.0, 0.0]]
        return [*turns, *MOVES[: self.nu - 2]]

    # Below, numbers of the origin follow those of the orientation, with which they do not mix.

    def n(self, q: Sequence[float]) -> Rows:
        """Return the matrix of the orientation, and 1."""
        return self._with(self._n(q), 1.0)

    def n_pinv(self, q: Sequence[float]) -> Rows:
        """Return the pseudoinverse of the matrix of the orientation, and 1."""
        return self._with(self._n_pinv(q), 1.0)

    @abstractmethod
    def _n(self, q: Sequence[float]) -> Rows: ...

    @abstractmethod
    def _n_pinv(self, q: Sequence[float]) -> Rows: ...

    def _with(self, block: Rows, value: float) -> Rows:
        """Return the block of the orientation, and below it a multiple of 1 for the origin."""
        count, width = self.nu - 2, len(block[0])
        return [
            *([*row, *[0.0] * count] for row in block),
            *([0.0] * width + [value * (i == j) for j in range(count)] for i in range(count)),
        ]


class AbstractQuaternionLine(AbstractLine):
    """A line whose orientation is a quaternion (w, x, y, z)."""

    quaternion_start = 0

    def _n(self, q: Sequence[float]) -> Rows:
        w, x, y, z = q[0] / 2, q[1] / 2, q[2] / 2, q[3] / 2
        return [[-x, -y], [w, -z], [z, w], [-y, x]]

    def _n_pinv(self, q: Sequence[float]) -> Rows:
        scale = 2.0 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
        w, x, y, z = scale * q[0], scale * q[1], scale * q[2], scale * q[3]
        return [[-x, w, z, -y], [-y, -z, w, x]]

    def n_rate(self, q: Sequence[float], qdot: Sequence[float]) -> Rows:  # noqa: ARG002  # N is linear
        """Return N of the rate of the quaternion, and 0."""
        return self._with(self._n(qdot), 0.0)

    def euler_angles_of(self, q: Sequence[float]) -> Sequence[float]:
        """Return the angles of the quaternion."""
        return self.whole.euler_angles_of(q)

    def quaternions_of(self, q: Sequence[float]) -> Sequence[float]:
        """Return the quaternion of the angles."""
        return self.whole.quaternions_of(q)


class AbstractEulerLine(AbstractLine):
    """A line whose orientation is in angles; N is singular where the second one is pi/2."""

    def _n(self, q: Sequence[float]) -> Rows:
        s2, c2, s3, c3 = sin(q[1]), cos(q[1]), sin(q[2]), cos(q[2])
        if abs(c2) < 1e-12:
            raise ZeroDivisionError
        x, y = c3 / c2, -s3 / c2
        return [[x, y], [s3, c3], [-s2 * x, -s2 * y]]

    def _n_pinv(self, q: Sequence[float]) -> Rows:
        s2, c2, s3, c3 = sin(q[1]), cos(q[1]), sin(q[2]), cos(q[2])
        part = c2 / (1.0 + s2 * s2)
        return [[c3 * part, s3, -s2 * c3 * part], [-s3 * part, c3, s2 * s3 * part]]

    def n_rate(self, q: Sequence[float], qdot: Sequence[float]) -> Rows:
        """Return the change of the matrix of the orientation, and 0."""
        s2, c2, s3, c3 = sin(q[1]), cos(q[1]), sin(q[2]), cos(q[2])
        if abs(c2) < 1e-12:
            raise ZeroDivisionError
        _, db, dc = qdot[:3]
        x, y, bent = c3 / c2, -s3 / c2, s2 / c2 * db
        dx, dy = bent * x + y * dc, bent * y - x * dc
        last = [-s2 * dx - c2 * db * x, -s2 * dy - c2 * db * y]
        return self._with([[dx, dy], [c3 * dc, -s3 * dc], last], 0.0)

    def u_by_qdot(self, q: Sequence[float]) -> Rows:
        """Return the angular velocity for rates of angles, without its part along z of M."""
        c2, s3, c3 = cos(q[1]), sin(q[2]), cos(q[2])
        return self._with([[c2 * c3, s3, 0.0], [-c2 * s3, c3, 0.0]], 1.0)

    def u_by_qdot_rate(self, q: Sequence[float], qdot: Sequence[float]) -> Rows:
        """Return the change of that, where M does not turn about its own z axis."""
        s2, c2, s3, c3 = sin(q[1]), cos(q[1]), sin(q[2]), cos(q[2])
        da, db, _ = qdot[:3]
        turn = -s2 * da  # c', less all of wz = c' + a' sin b
        x = -s2 * c3 * db - c2 * s3 * turn
        y = s2 * s3 * db - c2 * c3 * turn
        return self._with([[x, c3 * turn, 0.0], [y, -s3 * turn, 0.0]], 0.0)


@final
class LineOrientation(AbstractQuaternionLine):
    """A Ball of a line along z of M: u are wx and wy, the angular velocity of M in F, in M [rad/s].

    q is a quaternion (w, x, y, z), or body-fixed x-y-z angles [rad], as of a Ball. The body needs
    no inertia about z, about which u does not turn it. An Assembler does not turn it about z,
    either: markers on it belong on that axis. A motion of q may, but only points on that axis have
    its velocities then. Reversed, all of this is about z of F, which no line of the body is: give
    motions and observations in which it does not turn about that.
    """

    nq, nu = 4, 2
    default_q = (1.0, 0.0, 0.0, 0.0)
    whole = BALL

    def with_euler_angles(self) -> AbstractMobilizer:
        """Return the same joint in angles."""
        return EulerLineOrientation()


@final
class EulerLineOrientation(AbstractEulerLine):
    """A LineOrientation whose q are body-fixed x-y-z angles [rad]."""

    nq, nu = 3, 2
    default_q = (0.0, 0.0, 0.0)
    whole = EULER_BALL


@final
class FreeLine(AbstractQuaternionLine):
    """A Free of a line along z of M: u are wx and wy, in M [rad/s], then the velocity in F [m/s].

    q is a quaternion or angles, as of a `LineOrientation`, then the origin of M in F [m].
    """

    nq, nu = 7, 5
    default_q = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    whole = FREE

    def with_euler_angles(self) -> AbstractMobilizer:
        """Return the same joint in angles."""
        return EulerFreeLine()


@final
class EulerFreeLine(AbstractEulerLine):
    """A FreeLine whose orientation is in body-fixed x-y-z angles [rad]."""

    nq, nu = 6, 5
    default_q = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    whole = EULER_FREE
