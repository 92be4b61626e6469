"""Joints of a tree: bodies as the tree sees them, with the places of their q and u."""

from collections.abc import Sequence
from typing import Protocol, final

import numpy as np

from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.geometry.transform import Transform
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer


class AnyBody(Protocol):
    """A body of a layout; see `MobilizedBody`."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def index(self) -> int: ...  # noqa: D102
    @property
    def parent(self) -> "AnyBody": ...  # noqa: D102
    @property
    def mobilizer(self) -> AbstractMobilizer: ...  # noqa: D102
    @property
    def inboard_frame(self) -> Transform: ...  # noqa: D102
    @property
    def outboard_frame(self) -> Transform: ...  # noqa: D102


@final
class Joint:
    """The mobilizer of one body, and the places of its q and u in the matter."""

    __slots__ = ("body", "mobilizer", "pose", "q", "row", "u")

    def __init__(
        self, body: AnyBody, row: int, mobilizer: AbstractMobilizer, q: slice, u: slice
    ) -> None:
        self.body = body
        self.row = row
        self.mobilizer = mobilizer
        self.pose = mobilizer.pose
        self.q = q
        self.u = u

    def qdotdot(
        self, q: Sequence[float], qdot: Sequence[float], u: Array, udot: Array
    ) -> Array | float:
        """Return N udot + dN/dt u of its own q and qdot, for its N is not 1; NaN as udot is."""
        own = udot[self.u]
        if not np.isfinite(own).all():
            return np.nan
        n, rate = self.mobilizer.n(q), self.mobilizer.n_rate(q, qdot)
        found: Array = np.array(n) @ own + np.array(rate) @ u[self.u]
        return found
