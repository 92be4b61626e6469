"""Constraints on the pose of one body relative to another one.

They are written as if body 1 were the ground: all formulas are of the motion of body 2 in its axes.
`pair_batch` has the entries, and brings the results to the ground.
"""

from abc import abstractmethod
from functools import partial
from typing import Any, Final

import numpy as np

from stagecache.multibody.constraints.batch import require_same_for_many
from stagecache.multibody.constraints.checks import checked_pair
from stagecache.multibody.constraints.constraint import AbstractPositionConstraint, gives
from stagecache.multibody.constraints.derived import (
    check_at,
    default_pose,
    pose_bias,
    pose_bias_of_jacobian,
    pose_jacobian,
    poses_near,
    require_equal,
)
from stagecache.multibody.constraints.pair_batch import PairBatch, Poses
from stagecache.multibody.geometry.spatial import Array, cross3
from stagecache.multibody.geometry.transform import Transform
from stagecache.multibody.matter.mobilized_body import MobilizedBody
from stagecache.multibody.tree.applied_forces import NO_FORCES, AppliedForces
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.declare.cached import cached

_LAST_ROW: Final = (0.0, 0.0, 0.0, 1.0)  # of a homogeneous matrix


class AbstractPairConstraint(AbstractPositionConstraint):
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

    _batch_type = PairBatch

    def __init__(self, first: Any, second: Any) -> None:
        self.bodies = checked_pair(first, second, type(self).__name__)

    # ------------------------------------------------------------------ duties

    @abstractmethod
    def calc_error(self, pose: Transform) -> Any:
        """Return the position errors (m,), for the pose of body 2 in body 1."""

    def calc_jacobian(self, pose: Transform) -> Any:
        """Return the derivatives of velocity errors by the velocity of body 2, (m, 6).

        The velocity is (w, v): angular, then of the origin of body 2. Rows are also the
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
            m, poses = self.num_errors, Poses.relative(np.array([pose.matrix] * 2))
            moving = (poses, np.array([velocity] * 2))
            require_same_for_many(self, "calc_error", (m,), (pose,), (poses,))
            require_same_for_many(self, "calc_jacobian", (m, 6), (pose,), (poses,))
            require_same_for_many(self, "calc_bias", (m,), (pose, velocity), moving)
            if gives(self, AbstractPairConstraint, "calc_jacobian"):
                wanted = pose_jacobian(self.calc_error, pose, length)
                require_equal(self.calc_jacobian(pose), wanted, f"calc_jacobian of {self}")
            if gives(self, AbstractPairConstraint, "calc_bias"):
                wanted = pose_bias_of_jacobian(self.calc_jacobian, pose, velocity, length)
                require_equal(self.calc_bias(pose, velocity), wanted, f"calc_bias of {self}")

        check_at(partial(check, *near) for near in poses_near(one.inverse() @ two, length))

    # ------------------------------------------------------------------ in a State

    @cached(prerequisites=lambda self: tuple(body.pose for body in self.bodies))
    def relative_pose(self, state: State) -> Transform:
        """The pose of body 2 in body 1."""
        return relative_pose(*(body.pose(state) for body in self.bodies))

    def _acting(self, state: State) -> AppliedForces:
        """Return its forces on both bodies: the rows of its Jacobian, times -multipliers."""
        batch: Any = self._batch
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
    """Return (R, p) of two poses in ground. Cost 4 us, half of ``one.inverse() @ two``."""
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
