r"""Constraints of one class on pairs of bodies, computed together.

::

    tree_poses      tree_motions, tree_bias        of the matter
        |                |            |
      where -------->  rates        drift          of the batch: relative motion
      /    \             |            |
  errors  local_jacobian-+------------+
                |         \            \
    axes -> jacobian   error_rates   error_bias

All are declared entries. A write of u leaves position errors and the local Jacobian valid. Where u
move both bodies, columns of the Jacobian are 0, exactly.

Body 1 has R1, p1, angular velocity w1; body 2 likewise, all in ground. With the motion (w, v) and
the acceleration (a, b) of body 2 relative to body 1, about the origin of the ground, and the
velocity x2 of p2, the motion of body 2 and of its origin in axes of body 1 is::

    R = R1' R2        p = R1' (p2 - p1)
    R1' w             angular velocity, which is R' R~ of body 2
    R1' (v + w x p2)  velocity; just the derivative of p
    R1' (a - w1 x w)  derivatives of these
    R1' (b + a x p2 + w x x2 - w1 x (v + w x p2))

In these coordinates body 1 does not move, so constraints are written as if it were the ground.
Forces (m, f) in body 1, with the power m.w + f.v, act on both bodies in opposite directions.

Source: derived from R1~ = w1 x R1; A. Jain, Robot and Multibody Dynamics (2011), chapter 2.
"""

from collections.abc import Iterator, Sequence
from typing import Any, final

import numpy as np

from stagecache.multibody.constraints.batch import (
    DENSE,
    AbstractBatch,
    AbstractPositionBatch,
    Members,
)
from stagecache.multibody.geometry.spatial import Array, cross, velocities_at
from stagecache.multibody.geometry.transform import Transform
from stagecache.multibody.tree.layout import TreeLayout
from stagecache.state.handles import CacheEntry
from stagecache.state.state import State
from stagecache.system.declare.cached import cached


@final
class Poses:
    """The poses of bodies 2 in bodies 1, by pair. They are const.

    Attributes
    ----------
    first : (k, 3, 3) ndarray
        The rotations R1 of bodies 1 in ground.
    origins : (k, 3) ndarray
        The origins p2 of bodies 2, in ground.
    rotation, translation : (k, 3, 3) and (k, 3) ndarray
        R and p, as of a Transform.
    """

    __slots__ = ("first", "origins", "rotation", "translation")

    def __init__(self, one: Array, two: Array) -> None:
        self.first, self.origins = one[:, :3, :3], two[:, :3, 3]
        both = self.first.swapaxes(1, 2) @ two[:, :3]
        self.rotation = both[:, :, :3]
        self.translation = both[:, :, 3] - in_axes(self.first, one[:, :3, 3])

    @classmethod
    def relative(cls, poses: Array) -> "Poses":
        """Return given poses of bodies 2, (k, 4, 4), where bodies 1 are as the ground."""
        return cls(np.broadcast_to(np.eye(4), poses.shape), poses)

    def __iter__(self) -> Iterator[Transform]:
        """Yield the pose of each pair."""
        for rotation, translation in zip(self.rotation, self.translation, strict=True):
            matrix = np.eye(4)
            matrix[:3, :3], matrix[:3, 3] = rotation, translation
            yield Transform.of_matrix(matrix)

    def __copy__(self) -> "Poses":
        return self

    def __deepcopy__(self, memo: object) -> "Poses":
        return self


def in_axes(rotations: Array, vectors: Array) -> Array:
    """Return vectors (k, 3n) in the axes of rotations, (k, 3, 3)."""
    k, size = vectors.shape
    found: Array = (vectors.reshape(k, size // 3, 3) @ rotations).reshape(k, size)
    return found


@final
class Pairs(Members):
    """Pair constraints that are enabled, with the rows of their bodies in the layout."""

    def __init__(self, constraints: Sequence[Any], layout: TreeLayout) -> None:
        super().__init__(constraints, num_rates=6)
        rows = [[layout.rows[body.index] for body in c.bodies] for c in constraints]
        self.one, self.two = np.array(rows, np.intp).reshape(-1, 2).T
        signs = layout.moves(self.two).astype(float) - layout.moves(self.one)
        self.signs: Array = signs.repeat(self.num_errors, 0)
        """(k m, nu): 0 for u that move both bodies, or none."""


class AbstractRelativeBatch(AbstractBatch):
    """Constraints that depend on the motions of bodies 2 relative to bodies 1."""

    def calc_members(self, enabled: Sequence[Any], layout: TreeLayout) -> Pairs:
        """Return what evaluates some of the constraints."""
        return Pairs(enabled, layout)

    @cached(prerequisites=lambda self: (self.members, self.matter.tree_poses))
    def where(self, state: State) -> Poses:
        """The relative poses."""
        pairs, bodies = self.members(state), self.matter.tree_poses(state).bodies
        return Poses(bodies[pairs.one], bodies[pairs.two])

    @cached(prerequisites=lambda self: (self.members, self.where, self.matter.tree_motions))
    def rates(self, state: State) -> Array:
        """The relative velocities (w, v), (k, 6)."""
        found, where = self._between(state, self.matter.tree_motions), self.where(state)
        found[:, 3:] += cross(found[:, :3], where.origins)
        return in_axes(where.first, found)

    @cached(
        prerequisites=lambda self: (
            *(self.members, self.where),
            *(self.matter.tree_motions, self.matter.tree_bias),
        )
    )
    def drift(self, state: State) -> Array:
        """The derivatives of (w, v) where udot is 0, (k, 6)."""
        pairs, where = self.members(state), self.where(state)
        motions = self.matter.tree_motions(state)
        one, two = motions[pairs.one], motions[pairs.two]
        w, moving = two[:, :3] - one[:, :3], velocities_at(where.origins, two)
        v = moving - velocities_at(where.origins, one)
        found = self._between(state, self.matter.tree_bias)
        found[:, 3:] += cross(found[:, :3], where.origins) + cross(w, moving) - cross(one[:, :3], v)
        found[:, :3] -= cross(one[:, :3], w)
        return in_axes(where.first, found)

    def _between(self, state: State, motions: CacheEntry[Array]) -> Array:
        """Return the motions of bodies 2 relative to bodies 1, about the origin of ground."""
        pairs, values = self.members(state), motions(state)
        found: Array = values[pairs.two] - values[pairs.one]
        return found


@final
class PairBatch(AbstractRelativeBatch, AbstractPositionBatch):
    """Constraints of one class on pairs of bodies."""

    @cached(prerequisites=lambda self: (self.where, self.local_jacobian))
    def ground_jacobian(self, state: State) -> Array:
        """Derivatives of errors by motions of bodies 2 about the origin of ground, (k, m, 6)."""
        return jacobian_in_ground(self.where(state), self.local_jacobian(state))

    @property
    def needs_of_jacobian(self) -> tuple[Any, ...]:
        """The entries that `calc_jacobian` reads."""
        return self.members, self.ground_jacobian, self.matter.axes

    def calc_jacobian(self, state: State) -> Any:
        """Return the power by u (k m, nu): for u that move only one of the bodies."""
        signs, axes = self.members(state).signs, self.matter.axes(state)
        return power_by_u(self.ground_jacobian(state).reshape(-1, 6), axes, signs)


def jacobian_in_ground(where: Poses, local: Array) -> Array:
    """Return derivatives by motions of bodies 2 about the origin of ground, (k, m, 6).

    Parameters
    ----------
    where : Poses
    local : (k, m, 6) float
        Derivatives by (w, v) of bodies 2, in bodies 1.
    """
    k, m, _ = local.shape
    found: Array = (local.reshape(k, 2 * m, 3) @ where.first.swapaxes(1, 2)).reshape(k, m, 6)
    found[..., :3] += cross(where.origins[:, None], found[..., 3:])
    return found


def power_by_u(forces: Array, axes: Array, signs: Array) -> Any:
    """Return the power by u of forces on bodies 2 and -forces on bodies 1, (rows, nu).

    Parameters
    ----------
    forces : (rows, 6) float
        Moments and forces, about the origin of the ground.
    axes : (nu, 6) float
    signs : (rows, nu) float
        1 for u that move only body 2, -1 for those that move only body 1, else 0.
    """
    if len(axes) <= DENSE:
        return forces @ axes.T * signs
    from scipy.sparse import csr_array  # noqa: PLC0415  # it takes a while

    rows, columns = np.nonzero(signs)
    values = np.einsum("ij,ij->i", forces[rows], axes[columns]) * signs[rows, columns]
    starts = np.searchsorted(rows, np.arange(len(forces) + 1))
    return csr_array((values, columns, starts), shape=signs.shape)
