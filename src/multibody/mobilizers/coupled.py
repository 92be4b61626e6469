r"""Mobilizers whose origin and orientation move together: screw, bend-stretch, ellipsoid, beam.

::

    Screw          Rz(q)               at (0, 0, pitch q)
    BendStretch    Rz(q0)              at (q1 cos q0, q1 sin q0, 0): along x of M
    Ellipsoid      any R, as a Ball    at (a n_x, b n_y, c n_z), where n is z of M in F
    Beam           any R, as a Gimbal  at (2/3 L q1, -2/3 L q0, L - 4/15 L (q0^2 + q1^2))

They have the q and u of Simbody's mobilizers of the same names.
"""

from abc import abstractmethod
from collections.abc import Sequence
from math import cos, sin
from typing import Final, final

from stagecache.checks import require_number
from stagecache.multibody.checks import checked_array
from stagecache.multibody.geometry.orientation import (
    Pose,
    Rows,
    axes_of_angles,
    axes_rate_of_angles,
    pose_of_angles,
)
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer
from stagecache.multibody.mobilizers.orientations import Ball, EulerBall

BALL: Final = Ball()
EULER_BALL: Final = EulerBall()


@final
class Screw(AbstractMobilizer):
    """A screw: q is an angle about the common z axis of F and M [rad], along which M moves, too.

    Parameters
    ----------
    pitch : float
        The length by which it moves for an angle of 1 [m/rad].

    Raises
    ------
    NotANumberError, OutOfRangeError, ShapeError
    """

    nq = nu = 1
    default_q = (0.0,)

    def __init__(self, pitch: float) -> None:
        self.pitch = require_number(pitch, "the pitch of a Screw")

    def pose(self, q: Sequence[float]) -> Pose:
        """Return Rz(q), at (0, 0, pitch q)."""
        c, s = cos(q[0]), sin(q[0])
        return (c, -s, 0.0, 0.0, s, c, 0.0, 0.0, 0.0, 0.0, 1.0, self.pitch * q[0])

    def axes(self, q: Sequence[float]) -> Rows:  # noqa: ARG002  # they are constant
        """Return rotation about z with translation along it."""
        return [[0.0, 0.0, 1.0, 0.0, 0.0, self.pitch]]

    def __repr__(self) -> str:
        return f"Screw({self.pitch:g})"


@final
class BendStretch(AbstractMobilizer):
    """Bend, then stretch: q are an angle about z [rad], and a distance along x of M [m]."""

    nq = nu = 2
    default_q = (0.0, 0.0)
    has_constant_axes = False

    def pose(self, q: Sequence[float]) -> Pose:
        """Return Rz(q0), at a distance q1 along its x axis."""
        c, s = cos(q[0]), sin(q[0])
        return (c, -s, 0.0, q[1] * c, s, c, 0.0, q[1] * s, 0.0, 0.0, 1.0, 0.0)

    def axes(self, q: Sequence[float]) -> Rows:
        """Return rotation about z of F, and translation along x of M."""
        c, s = cos(q[0]), sin(q[0])
        return [[0.0, 0.0, 1.0, -q[1] * s, q[1] * c, 0.0], [0.0, 0.0, 0.0, c, s, 0.0]]

    def axes_rate(self, q: Sequence[float], u: Sequence[float]) -> Sequence[float]:
        """Return centripetal and Coriolis accelerations."""
        c, s = cos(q[0]), sin(q[0])
        inward, across = -q[1] * u[0] * u[0], 2.0 * u[0] * u[1]
        return (0.0, 0.0, 0.0, inward * c - across * s, inward * s + across * c, 0.0)


class AbstractEllipsoid(AbstractMobilizer):
    """An orientation whose z axis is the normal of an ellipsoid, on which the origin of M is.

    Attributes
    ----------
    radii : (float, float, float)
        The half axes of the ellipsoid, along the axes of F [m].
    """

    nu = 3
    has_constant_axes = False
    radii: tuple[float, float, float]

    @property
    @abstractmethod
    def ball(self) -> AbstractMobilizer:
        """The mobilizer of the same orientations about one point."""

    def pose(self, q: Sequence[float]) -> Pose:
        """Return the orientation, at its place on the ellipsoid."""
        xx, xy, xz, _, yx, yy, yz, _, zx, zy, zz, _ = self.ball.pose(q)
        a, b, c = self.radii
        return (xx, xy, xz, a * xz, yx, yy, yz, b * yz, zx, zy, zz, c * zz)

    def axes(self, q: Sequence[float]) -> Rows:
        """Return rotations about the axes of F, with the motions along the surface."""
        pose = self.ball.pose(q)
        x, y, z = pose[2], pose[6], pose[10]
        a, b, c = self.radii
        return [
            [1.0, 0.0, 0.0, 0.0, -b * z, c * y],
            [0.0, 1.0, 0.0, a * z, 0.0, -c * x],
            [0.0, 0.0, 1.0, -a * y, b * x, 0.0],
        ]

    def axes_rate(self, q: Sequence[float], u: Sequence[float]) -> Sequence[float]:
        """Return the change of the motions along the surface: of w x (w x n), by the radii."""
        pose = self.ball.pose(q)
        n = pose[2], pose[6], pose[10]
        along = sum(w * x for w, x in zip(u, n, strict=True))
        square = sum(w * w for w in u)
        turned = (w * along - square * x for w, x in zip(u, n, strict=True))
        return (0.0, 0.0, 0.0, *(r * t for r, t in zip(self.radii, turned, strict=True)))

    def n(self, q: Sequence[float]) -> Rows | None:
        """Return the matrix of the orientation."""
        return self.ball.n(q)

    def n_pinv(self, q: Sequence[float]) -> Rows | None:
        """Return the matrix of the orientation."""
        return self.ball.n_pinv(q)

    def n_rate(self, q: Sequence[float], qdot: Sequence[float]) -> Rows | None:
        """Return the matrix of the orientation."""
        return self.ball.n_rate(q, qdot)

    def n_pinv_rate(self, q: Sequence[float], qdot: Sequence[float]) -> Rows | None:
        """Return the matrix of the orientation."""
        return self.ball.n_pinv_rate(q, qdot)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.radii})"


@final
class Ellipsoid(AbstractEllipsoid):
    """M slides on an ellipsoid that is fixed to F, its z axis along the normal there.

    (It is the normal of the unit sphere whose points the half axes scale, as Simbody has it.) q is
    a quaternion, or body-fixed x-y-z angles, as of a Ball; u is the angular velocity of M in F.

    Parameters
    ----------
    radii : (3,) array_like
        The half axes, along x, y and z of F [m].

    Raises
    ------
    ShapeError, NotANumberError, OutOfRangeError
    """

    nq = 4
    default_q = (1.0, 0.0, 0.0, 0.0)
    quaternion_start = 0
    ball = BALL

    def __init__(self, radii: Sequence[float]) -> None:
        a, b, c = checked_array(radii, (3,), "the radii of an Ellipsoid").tolist()
        for radius in (a, b, c):
            require_number(radius, "a radius of an Ellipsoid", least=0.0)
        self.radii = a, b, c

    def with_euler_angles(self) -> AbstractMobilizer:
        """Return the same joint in angles."""
        return EulerEllipsoid(self.radii)

    def euler_angles_of(self, q: Sequence[float]) -> Sequence[float]:
        """Return the angles of the quaternion."""
        return BALL.euler_angles_of(q)

    def quaternions_of(self, q: Sequence[float]) -> Sequence[float]:
        """Return the quaternion of the angles."""
        return BALL.quaternions_of(q)


@final
class EulerEllipsoid(AbstractEllipsoid):
    """An Ellipsoid whose q are body-fixed x-y-z angles [rad]."""

    nq = 3
    default_q = (0.0, 0.0, 0.0)
    ball = EULER_BALL

    def __init__(self, radii: tuple[float, float, float]) -> None:
        self.radii = radii


@final
class CantileverFreeBeam(AbstractMobilizer):
    r"""The free end of a beam that is clamped in F, along its z axis, and bent by a force there.

    q are body-fixed x-y-z angles of the end [rad]; u are their rates. The default pose is not the
    identity: M is at (0, 0, length). By the theory of slender beams with a force at the end, where
    EI y" is its moment, the slope t at the end comes with a deflection and a shortening::

        y' = t (2 s - s^2)      y(L) = 2/3 L t       integral of y'^2 / 2 = 4/15 L t^2     s = z / L

    The slopes q0 and q1 deflect M along -y and x of F. It stands for small angles, is defined for
    any, and has no stiffness by itself: springs on its q add that.

    Parameters
    ----------
    length : float
        The length of the beam, at least 0 [m].

    Raises
    ------
    NotANumberError, OutOfRangeError, ShapeError
    """

    nq = nu = 3
    default_q = (0.0, 0.0, 0.0)
    has_constant_axes = False

    def __init__(self, length: float) -> None:
        self.length = require_number(length, "the length of a CantileverFreeBeam", least=0.0)
        self._deflection = 2.0 / 3.0 * self.length
        self._shortening = 4.0 / 15.0 * self.length

    def pose(self, q: Sequence[float]) -> Pose:
        """Return Rx(q0) Ry(q1) Rz(q2), at the end of the bent beam."""
        a, b, c = q
        z = self.length - self._shortening * (a**2 + b**2)  # raises where that is infinite
        return pose_of_angles(a, b, c, self._deflection * b, -self._deflection * a, z)

    def axes(self, q: Sequence[float]) -> Rows:
        """Return rotations about the axes of the angles, with the motions of the end."""
        x, y, z = zip(*axes_of_angles(q), strict=True)
        shorter = -2.0 * self._shortening
        return [
            [*x, 0.0, -self._deflection, shorter * q[0]],
            [*y, self._deflection, 0.0, shorter * q[1]],
            [*z, 0.0, 0.0, 0.0],
        ]

    def axes_rate(self, q: Sequence[float], u: Sequence[float]) -> Sequence[float]:
        """Return the change of these, times u."""
        a, b, c = u
        turning = (x * a + y * b + z * c for x, y, z in axes_rate_of_angles(q, u))
        return (*turning, 0.0, 0.0, -2.0 * self._shortening * (a * a + b * b))

    def __repr__(self) -> str:
        return f"CantileverFreeBeam({self.length:g})"
