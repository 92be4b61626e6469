"""Slider: translation along x."""

from collections.abc import Sequence
from typing import final

from stagecache.multibody.geometry.orientation import Pose, Rows
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer


@final
class Slider(AbstractMobilizer):
    """A prismatic joint: q is a distance along the common x axis of F and M [m]."""

    nq = nu = 1
    default_q = (0.0,)
    is_sequence = True

    def pose(self, q: Sequence[float]) -> Pose:
        """At (q, 0, 0)."""
        return (1.0, 0.0, 0.0, q[0], 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0)

    def axes(self, q: Sequence[float]) -> Rows:  # noqa: ARG002  # they are constant
        """Translation along x."""
        return [[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]]
