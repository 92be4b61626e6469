"""Planar: rotation about z, and translation along x and y."""

from collections.abc import Sequence
from math import cos, sin
from typing import final

from stagecache.multibody.geometry.orientation import Pose, Rows
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer


@final
class Planar(AbstractMobilizer):
    """Motion in a plane: q are an angle about z [rad], and x and y of the origin of M in F [m]."""

    nq = nu = 3
    default_q = (0.0, 0.0, 0.0)
    is_sequence = True

    def pose(self, q: Sequence[float]) -> Pose:
        """Rz(q0), at (q1, q2, 0)."""
        c, s = cos(q[0]), sin(q[0])
        return (c, -s, 0.0, q[1], s, c, 0.0, q[2], 0.0, 0.0, 1.0, 0.0)

    def axes(self, q: Sequence[float]) -> Rows:  # noqa: ARG002  # they are constant
        """Rotation about z, translation along x and y of F."""
        return [
            [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
        ]
