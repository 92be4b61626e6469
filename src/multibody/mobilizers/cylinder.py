"""Cylinder: rotation about z, and translation along it."""

from collections.abc import Sequence
from math import cos, sin
from typing import final

from stagecache.multibody.geometry.orientation import Pose, Rows
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer


@final
class Cylinder(AbstractMobilizer):
    """A cylindrical joint: q are an angle about z [rad], and a distance along it [m]."""

    nq = nu = 2
    default_q = (0.0, 0.0)
    is_sequence = True

    def pose(self, q: Sequence[float]) -> Pose:
        """Rz(q0), at (0, 0, q1)."""
        c, s = cos(q[0]), sin(q[0])
        return (c, -s, 0.0, 0.0, s, c, 0.0, 0.0, 0.0, 0.0, 1.0, q[1])

    def axes(self, q: Sequence[float]) -> Rows:  # noqa: ARG002  # they are constant
        """Rotation about z, translation along z."""
        return [[0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]]
