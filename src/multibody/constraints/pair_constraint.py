r"""Constraints on the pose of one body relative to another one.

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
the acceleration (a, b) of body 2 relative to body 1 about the origin of the ground, and x2 = p2' its
velocity, the motion of body 2 and of its origin relative to body 1, in axes of body 1, is::

    R = R1' R2        p = R1' (p2 - p1)
    R1' w             angular velocity, which is R' R~ of body 2
    R1' (v + w x p2)  velocity; just the derivative of p
    R1' (a - w1 x w)  derivatives of these
    R1' (b + a x p2 + w x x2 - w1 x (v + w x p2))

In these coordinates body 1 does not move, so constraints are written as if it were the ground.
Forces (m, f) in body 1, with the power m.w + f.v, act on both bodies in opposite directions.

Source: derived from R1~ = w1 x R1; A. Jain, Robot and Multibody Dynamics (2011), chapter 2.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final, final

import numpy as np

from stagecache.multibody.constraints.batch import DENSE, AbstractBatch, Members
from stagecache.multibody.constraints.checks import checked_pair
from stagecache.multibody.constraints.constraint import AbstractConstraint, gives
from stagecache.multibody.constraints.derived import (
    check_at,
    default_pose,
    pose_bias,
    pose_bias_of_jacobian,
    pose_jacobian,
    poses_near,
    require_equal,
)
from stagecache.multibody.geometry.spatial import Array, cross, cross3, velocities_at
from stagecache.multibody.geometry.transform import Transform
from stagecache.multibody.matter.matter import MobilizedBody
from stagecache.multibody.tree.applied_forces import NO_FORCES, AppliedForces
from stagecache.multibody.tree.layout import TreeLayout
from stagecache.state.handles import CacheEntry
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.declare.cached import cached

_LAST_ROW: Final = (0.0, 0.0, 0.0, 1.0)  # of a homogeneous matrix


class AbstractPairConstraint(AbstractConstraint):
    """A constraint on two bodies. Write a subclass for one of your own.

    It has `num_errors` and `calc_error`; and `calc_jacobian` and `calc_bias`, which are derived
    from that if they are left out. All are pure functions of the motion of body 2 relative to
    body 1, in the axes of body 1; see `RodConstraint`. What is given is compared with differences
    when it is added to a System.

    Parameters
    ----------
    first, second : MobilizedBody
        Two bodies of one matter; either may be the ground.

    Raises
    ------
    UnknownBodyError, ConstraintError
    """

    def __init__(self, first: Any, second: Any) -> None:
        self.bodies = checked_pair(first, second, type(self).__name__)

    # ------------------------------------------------------------------ duties

    @abstractmethod
    def calc_error(self, pose: Transform) -> Any:
        """Return the position errors (m,), for the pose of body 2 in body 1."""

    def calc_jacobian(self, pose: Transform) -> Any:
        """Return the derivatives of velocity errors by the velocity of body 2, (m, 6).

        The velocity is (w, v): angular, then that of the origin of body 2. Rows are also the
        moments and forces on body 2, at its origin, that hold the constraint. By default, by 48
        calls of `calc_error`, or more.
        """
        return pose_jacobian(self.calc_error, pose, self._length)

    def calc_bias(self, pose: Transform, velocity: Array) -> Any:
        """Return the derivatives of velocity errors (m,) where (w, v) does not change.

        That is the change of `calc_jacobian` along the velocity (6,), times the velocity. By
        default, by differences of that; or of `calc_error`, if both are left out.
        """
        if gives(self, AbstractPairConstraint, "calc_jacobian"):
            return pose_bias_of_jacobian(self.calc_jacobian, pose, velocity, self._length)
        return pose_bias(self.calc_error, pose, velocity, self._length)

    @property
    def _length(self) -> float:
        return self.system.default_length_scale if self.is_adopted else 1.0

    def check_derivatives(self, length: float = 1.0) -> None:
        """Compare derivatives that are given with differences of errors near the default q."""
        if type(self).__module__.startswith("stagecache."):
            return  # its tests have done that
        one, two = map(default_pose, self.bodies)

        def check(pose: Transform, velocity: Array) -> None:
            if gives(self, AbstractPairConstraint, "calc_jacobian"):
                wanted = pose_jacobian(self.calc_error, pose, length)
                require_equal(self.calc_jacobian(pose), wanted, f"calc_jacobian of {self}")
            if gives(self, AbstractPairConstraint, "calc_bias"):
                wanted = pose_bias_of_jacobian(self.calc_jacobian, pose, velocity, length)
                require_equal(self.calc_bias(pose, velocity), wanted, f"calc_bias of {self}")

        check_at(partial(check, *near) for near in poses_near(one.inverse() @ two, length))

    # ------------------------------------------------------------------ in a State

    def new_batch(self) -> "PairBatch":
        """Return a batch with this constraint."""
        return PairBatch(self)

    @cached(prerequisites=lambda self: tuple(body.pose for body in self.bodies))
    def relative_pose(self, state: State) -> Transform:
        """The pose of body 2 in body 1."""
        return relative_pose(*(body.pose(state) for body in self.bodies))

    def calc_body_forces(self, state: State) -> AppliedForces:
        """Return its forces on both bodies: the rows of its Jacobian, times -multipliers."""
        batch: Any = self.batch
        number = batch.members(state).number_of(self)
        if number is None:
            return NO_FORCES
        force = -self.multipliers(state) @ batch.ground_jacobian(state)[number]
        layout = self.matter.layout(state)
        of_bodies = np.array([layout.rows[body.index] for body in self.bodies])
        return AppliedForces(of_bodies, np.array([-force, force]), NO_FORCES.u, NO_FORCES.values)

    # ------------------------------------------------------------------ pictures

    def _held_points(self) -> tuple[tuple[MobilizedBody, Array], ...]:
        """Return points of the bodies that it holds, in their frames [m], for lines to them."""
        return ()

    def calc_decorative_geometry_and_append(
        self, state: State, stage: Stage, geometry: list[Any]
    ) -> None:
        """Append lines to the points that it holds, if it is enabled, at stage Position.

        Bodies with decorations of their own do not get any.
        """
        if stage is Stage.POSITION and self.is_enabled(state):
            geometry += self.matter.calc_bones(state, self._held_points())


def relative_pose(one: Transform, two: Transform) -> Transform:
    """Return (R, p) of two poses in ground. Cost 4 us, half that of ``one.inverse() @ two``."""
    found = one.rotation.T @ two.matrix[:3]
    found[:, 3] -= one.translation @ one.rotation
    matrix = np.empty((4, 4))
    matrix[:3] = found
    matrix[3] = _LAST_ROW
    return Transform.of_matrix(matrix)


def relative_velocity(one: Transform, two: Transform, of_one: Array, of_two: Array) -> Array:
    """Return (w, v), (6,), of poses in ground and velocities of both bodies (6,)."""
    found = (of_two - of_one).reshape(2, 3)
    found[1] -= cross3(of_one[:3], two.translation - one.translation)
    return (found @ one.rotation).ravel()


# ---------------------------------------------------------------------- many at once


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


@final
class PairBatch(AbstractBatch):
    """Constraints of one class on pairs of bodies."""

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
        """Return the motions of bodies 2, minus those of bodies 1; about the origin of ground."""
        pairs, values = self.members(state), motions(state)
        found: Array = values[pairs.two] - values[pairs.one]
        return found

    @cached(prerequisites=lambda self: (self.where, self.local_jacobian))
    def ground_jacobian(self, state: State) -> Array:
        """Derivatives of errors by motions of bodies 2 about the origin of ground, (k, m, 6)."""
        where, found = self.where(state), self.local_jacobian(state)
        k, m, _ = found.shape
        turned = found.reshape(k, 2 * m, 3) @ where.first.swapaxes(1, 2)
        found = turned.reshape(k, m, 6)
        found[..., :3] += cross(where.origins[:, None], found[..., 3:])
        return found

    @property
    def needs_of_jacobian(self) -> tuple[Any, ...]:
        """The entries that `calc_jacobian` reads."""
        return self.members, self.ground_jacobian, self.matter.axes

    def calc_jacobian(self, state: State) -> Any:
        """Return the power by u (k m, nu): for u that move only one of the bodies."""
        signs, axes = self.members(state).signs, self.matter.axes(state)
        forces = self.ground_jacobian(state).reshape(-1, 6)
        if len(axes) <= DENSE:
            return forces @ axes.T * signs
        from scipy.sparse import csr_array  # noqa: PLC0415  # it takes a while

        rows, columns = np.nonzero(signs)
        values = np.einsum("ij,ij->i", forces[rows], axes[columns]) * signs[rows, columns]
        starts = np.searchsorted(rows, np.arange(len(forces) + 1))
        return csr_array((values, columns, starts), shape=signs.shape)
