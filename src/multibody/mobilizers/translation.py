"""Translation: along x, y and z."""

from collections.abc import Sequence
from typing import final

from stagecache.multibody.geometry.orientation import Pose, Rows
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer


@final
class Translation(AbstractMobilizer):
    """No rotation: q is the origin of M in F [m]."""

    nq = nu = 3
    default_q = (0.0, 0.0, 0.0)
    is_sequence = True

    def pose(self, q: Sequence[float]) -> Pose:
        """At q."""
        return (1.0, 0.0, 0.0, q[0], 0.0, 1.0, 0.0, q[1], 0.0, 0.0, 1.0, q[2])

    def axes(self, q: Sequence[float]) -> Rows:  # noqa: ARG002  # they are constant
        """Translation along the axes of F."""
        return [[float(j == 3 + i) for j in range(6)] for i in range(3)]
