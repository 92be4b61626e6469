"""Universal: rotation about x, then about the new y."""

from collections.abc import Sequence
from math import cos, sin
from typing import final

from stagecache.multibody.geometry.orientation import Pose, Rows
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer


@final
class Universal(AbstractMobilizer):
    """A Hooke joint: q are angles about x of F, and about y of M [rad]. R = Rx(q0) Ry(q1)."""

    nq = nu = 2
    default_q = (0.0, 0.0)
    is_sequence = True
    has_constant_axes = False

    def pose(self, q: Sequence[float]) -> Pose:
        """Rx Ry."""
        s1, c1, s2, c2 = sin(q[0]), cos(q[0]), sin(q[1]), cos(q[1])
        return (c2, 0.0, s2, 0.0, s1 * s2, c1, -s1 * c2, 0.0, -c1 * s2, s1, c1 * c2, 0.0)

    def axes(self, q: Sequence[float]) -> Rows:
        """Rotation about x of F, and about y of M."""
        return [[1.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, cos(q[0]), sin(q[0]), 0.0, 0.0, 0.0]]

    def axes_rate(self, q: Sequence[float], u: Sequence[float]) -> Sequence[float]:
        """The second axis turns about the first."""
        rate = u[0] * u[1]
        return (0.0, -sin(q[0]) * rate, cos(q[0]) * rate, 0.0, 0.0, 0.0)
