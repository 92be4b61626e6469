"""Weld: no motion."""

from collections.abc import Sequence
from typing import final

from stagecache.multibody.geometry.orientation import Pose, Rows
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer


@final
class Weld(AbstractMobilizer):
    """M is F: no q, no u."""

    nq = nu = 0
    default_q = ()
    is_sequence = True

    def pose(self, q: Sequence[float]) -> Pose:  # noqa: ARG002  # there are none
        """F itself."""
        return (1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0)

    def axes(self, q: Sequence[float]) -> Rows:  # noqa: ARG002  # likewise
        """None."""
        return []
