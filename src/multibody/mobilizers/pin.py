"""Pin: rotation about z."""

from collections.abc import Sequence
from math import cos, sin
from typing import final

from stagecache.multibody.geometry.orientation import Pose, Rows
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer


@final
class Pin(AbstractMobilizer):
    """A hinge: q is an angle about the common z axis of F and M [rad]."""

    nq = nu = 1
    default_q = (0.0,)
    is_sequence = True

    def pose(self, q: Sequence[float]) -> Pose:
        """Rz(q)."""
        c, s = cos(q[0]), sin(q[0])
        return (c, -s, 0.0, 0.0, s, c, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0)

    def axes(self, q: Sequence[float]) -> Rows:  # noqa: ARG002  # they are constant
        """Rotation about z."""
        return [[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]]
