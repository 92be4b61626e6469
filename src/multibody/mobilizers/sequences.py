"""Mobilizers whose q are a sequence of lengths and angles, and u their rates."""

from collections.abc import Sequence
from math import cos, sin
from typing import Final, final

from stagecache.multibody.geometry.orientation import Pose, Rows, axes_of_angles, pose_of_angles
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer


@final
class Weld(AbstractMobilizer):
    """M is F: no q, no u."""

    nq = nu = 0
    default_q = ()
    is_sequence = True

    def pose(self, q: Sequence[float]) -> Pose:  # noqa: ARG002  # it has no q
        """Return no motion."""
        return (1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0)

    def axes(self, q: Sequence[float]) -> Rows:  # noqa: ARG002  # likewise
        """Return no rows."""
        return []


@final
class Pin(AbstractMobilizer):
    """A hinge: q is an angle about the common z axis of F and M [rad]."""

    nq = nu = 1
    default_q = (0.0,)
    is_sequence = True

    def pose(self, q: Sequence[float]) -> Pose:
        """Return Rz(q)."""
        c, s = cos(q[0]), sin(q[0])
        return (c, -s, 0.0, 0.0, s, c, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0)

    def axes(self, q: Sequence[float]) -> Rows:  # noqa: ARG002  # they are constant
        """Return rotation about z."""
        return [[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]]


@final
class Slider(AbstractMobilizer):
    """A prismatic joint: q is a distance along the common x axis of F and M [m]."""

    nq = nu = 1
    default_q = (0.0,)
    is_sequence = True

    def pose(self, q: Sequence[float]) -> Pose:
        """Return the translation by (q, 0, 0)."""
        return (1.0, 0.0, 0.0, q[0], 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0)

    def axes(self, q: Sequence[float]) -> Rows:  # noqa: ARG002  # they are constant
        """Return translation along x."""
        return [[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]]


@final
class Cylinder(AbstractMobilizer):
    """A cylindrical joint: q are an angle about z [rad], and a distance along it [m]."""

    nq = nu = 2
    default_q = (0.0, 0.0)
    is_sequence = True

    def pose(self, q: Sequence[float]) -> Pose:
        """Return Rz(q0), at (0, 0, q1)."""
        c, s = cos(q[0]), sin(q[0])
        return (c, -s, 0.0, 0.0, s, c, 0.0, 0.0, 0.0, 0.0, 1.0, q[1])

    def axes(self, q: Sequence[float]) -> Rows:  # noqa: ARG002  # they are constant
        """Return rotation about z, translation along z."""
        return [[0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]]


@final
class Planar(AbstractMobilizer):
    """Motion in a plane: q are an angle about z [rad], and x and y of the origin of M in F [m]."""

    nq = nu = 3
    default_q = (0.0, 0.0, 0.0)
    is_sequence = True

    def pose(self, q: Sequence[float]) -> Pose:
        """Return Rz(q0), at (q1, q2, 0)."""
        c, s = cos(q[0]), sin(q[0])
        return (c, -s, 0.0, q[1], s, c, 0.0, q[2], 0.0, 0.0, 1.0, 0.0)

    def axes(self, q: Sequence[float]) -> Rows:  # noqa: ARG002  # they are constant
        """Return rotation about z, translation along x and y of F."""
        return [
            [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
        ]


@final
class Translation(AbstractMobilizer):
    """No rotation: q is the origin of M in F [m]."""

    nq = nu = 3
    default_q = (0.0, 0.0, 0.0)
    is_sequence = True

    def pose(self, q: Sequence[float]) -> Pose:
        """Return the translation by q."""
        return (1.0, 0.0, 0.0, q[0], 0.0, 1.0, 0.0, q[1], 0.0, 0.0, 1.0, q[2])

    def axes(self, q: Sequence[float]) -> Rows:  # noqa: ARG002  # they are constant
        """Return translation along the axes of F."""
        return [[float(j == 3 + i) for j in range(6)] for i in range(3)]


@final
class Universal(AbstractMobilizer):
    """A Hooke joint: q are angles about x of F, and about y of M [rad]. R = Rx(q0) Ry(q1)."""

    nq = nu = 2
    default_q = (0.0, 0.0)
    is_sequence = True
    has_constant_axes = False

    def pose(self, q: Sequence[float]) -> Pose:
        """Return Rx Ry."""
        s1, c1, s2, c2 = sin(q[0]), cos(q[0]), sin(q[1]), cos(q[1])
        return (c2, 0.0, s2, 0.0, s1 * s2, c1, -s1 * c2, 0.0, -c1 * s2, s1, c1 * c2, 0.0)

    def axes(self, q: Sequence[float]) -> Rows:
        """Return rotation about x of F, and about y of M."""
        return [[1.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, cos(q[0]), sin(q[0]), 0.0, 0.0, 0.0]]

    def axes_rate(self, q: Sequence[float], u: Sequence[float]) -> Sequence[float]:
        """Return the change of the second axis, which turns about the first."""
        rate = u[0] * u[1]
        return (0.0, -sin(q[0]) * rate, cos(q[0]) * rate, 0.0, 0.0, 0.0)


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
        """Return Rx(q0) Ry(q1) Rz(q2)."""
        return pose_of_angles(q[0], q[1], q[2], 0.0, 0.0, 0.0)

    def axes(self, q: Sequence[float]) -> Rows:
        """Return rotation about each axis, where the others have turned it."""
        x, y, z = axes_of_angles(q)
        return [[x[j], y[j], z[j], 0.0, 0.0, 0.0] for j in range(3)]

    def axes_rate(self, q: Sequence[float], u: Sequence[float]) -> Sequence[float]:
        """Return the change of the second axis, and of the third, which turns with both."""
        s1, c1, s2, c2 = sin(q[0]), cos(q[0]), sin(q[1]), cos(q[1])
        first, second, third = u[0] * u[1], u[0] * u[2], u[1] * u[2]
        return (
            c2 * third,
            -s1 * first - c1 * c2 * second + s1 * s2 * third,
            c1 * first - s1 * c2 * second - c1 * s2 * third,
            *(0.0, 0.0, 0.0),
        )


@final
class Bushing(AbstractMobilizer):
    """Any motion: q are body-fixed x-y-z angles [rad], then the origin of M in F [m].

    u are their rates. (A Free with Euler angles has the same q, but velocities as u.) For small
    angles, as in an elastic bushing; where the second is pi/2, a motion is lost.
    """

    nq = nu = 6
    default_q = (0.0,) * 6
    is_sequence = True
    has_constant_axes = False

    def pose(self, q: Sequence[float]) -> Pose:
        """Return Rx(q0) Ry(q1) Rz(q2), at (q3, q4, q5)."""
        return pose_of_angles(q[0], q[1], q[2], q[3], q[4], q[5])

    def axes(self, q: Sequence[float]) -> Rows:
        """Return the rotations of a Gimbal, and translations along the axes of F."""
        return [*GIMBAL.axes(q[:3]), *TRANSLATION.axes(q[3:])]

    def axes_rate(self, q: Sequence[float], u: Sequence[float]) -> Sequence[float]:
        """Return the change of the rotations."""
        return GIMBAL.axes_rate(q, u)


GIMBAL: Final = Gimbal()
TRANSLATION: Final = Translation()
