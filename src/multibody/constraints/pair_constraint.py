r"""Constraints on the pose of one body relative to another one.

::

    bodies[0].pose   bodies[1].pose    velocity    acceleration_bias
             \        /                 |                |
           relative_pose ------> relative_velocity -> relative_acceleration_bias
             /         \                |                |
         error   relative_jacobian -----+                |
                        |    \          |                |
     matter.axes --> jacobian \---> error_rate     error_bias

All are declared entries. A write that moves neither body leaves position errors and the relative
Jacobian valid. Where u move both bodies, columns of the Jacobian are 0, exactly.

Body 1 has R1, p1, angular velocity w1, velocity v1 of its origin; body 2 likewise, all in ground.
The motion of body 2 and of its origin relative to body 1, in axes of body 1::

    R = R1' R2        p = R1' (p2 - p1)       d = p2 - p1
    w = R1' (w2 - w1)                         angular velocity, which is R' R~ of body 2
    v = R1' (v2 - v1 - w1 x d)                velocity; just the derivative of p
    w~ = R1' (a2 - a1 - w1 x (w2 - w1))       derivatives of these, with angular accelerations a
    v~ = R1' (b2 - b1 - a1 x d - w1 x (v2 - v1) - w1 x (v2 - v1 - w1 x d))     and linear ones b

In these coordinates body 1 does not move, so constraints are written as if it were the ground.
Forces (m, f) in body 1, with the power m.w + f.v, act on both bodies in opposite directions.

Source: derived from R1~ = w1 x R1; A. Jain, Robot and Multibody Dynamics (2011), chapter 2.
"""

from abc import abstractmethod
from functools import partial
from typing import Any, Final

import numpy as np

from stagecache.multibody.constraints.checks import checked_pair, checked_result
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
from stagecache.multibody.geometry.spatial import Array, cross, cross3
from stagecache.multibody.geometry.transform import Transform
from stagecache.multibody.matter.matter import MobilizedBody
from stagecache.multibody.tree.applied_forces import NO_FORCES, AppliedForces
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.constraints.errors import position_error
from stagecache.system.declare.cached import cached

DENSE: Final = 100
"""The largest number of u for which a Jacobian is dense."""

_LAST_ROW: Final = (0.0, 0.0, 0.0, 1.0)  # of a homogeneous matrix


def _poses(self: Any) -> tuple[Any, ...]:
    return (self.bodies[0].pose, self.bodies[1].pose)


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

    # ------------------------------------------------------------------ relative motion

    @cached(prerequisites=_poses)
    def relative_pose(self, state: State) -> Transform:
        """The pose of body 2 in body 1."""
        return relative_pose(*self._poses(state))

    @cached(prerequisites=lambda self: (*_poses(self), *(body.velocity for body in self.bodies)))
    def relative_velocity(self, state: State) -> Array:
        """The velocity (w, v) of body 2 in body 1, (6,)."""
        of_one, of_two = (body.velocity(state) for body in self.bodies)
        return relative_velocity(*self._poses(state), of_one, of_two)

    @cached(
        prerequisites=lambda self: (
            *_poses(self),
            *(body.velocity for body in self.bodies),
            *(body.acceleration_bias for body in self.bodies),
        )
    )
    def relative_acceleration_bias(self, state: State) -> Array:
        """The derivatives of (w, v) where udot is 0, (6,)."""
        one, two = self.bodies
        return relative_acceleration(
            *self._poses(state),
            (one.velocity(state), two.velocity(state)),
            (one.acceleration_bias(state), two.acceleration_bias(state)),
        )

    @cached(prerequisites=(relative_pose,))
    def relative_jacobian(self, state: State) -> Array:
        """The result of `calc_jacobian`, (m, 6)."""
        found = self.calc_jacobian(self.relative_pose(state))
        return checked_result(found, (self.num_errors, 6), f"calc_jacobian of {self}")

    # ------------------------------------------------------------------ errors

    @position_error(
        size=lambda self, _: self.num_errors,
        prerequisites=(relative_pose,),
        enabled=AbstractConstraint.is_enabled,
    )
    def error(self, state: State) -> Any:
        """The position errors, (m,)."""
        return self.calc_error(self.relative_pose(state))

    @error.velocity(prerequisites=(relative_jacobian, relative_velocity))
    def error_rate(self, state: State) -> Array:
        """Their derivatives along qdot = N u."""
        found: Array = self.relative_jacobian(state) @ self.relative_velocity(state)
        return found

    @error.jacobian(
        prerequisites=lambda self: (
            *(self.relative_jacobian, *_poses(self)),
            *(self.matter.axes, self.matter.use_euler_angles),
        )
    )
    def jacobian(self, state: State) -> dict[Any, Any]:
        """The derivatives of `error_rate` by the u of the matter. Cost 20 us."""
        matter = self.matter
        forces = forces_in_ground(*self._poses(state), self.relative_jacobian(state))
        layout, axes = matter.layout(state), matter.axes(state)
        rows = np.array([layout.rows[body.index] for body in self.bodies])
        one, two = layout.moves(rows).astype(float)
        return {matter.u: _block(forces, axes, two - one)}

    @error.bias(
        prerequisites=(
            *(relative_pose, relative_jacobian),
            *(relative_velocity, relative_acceleration_bias),
        )
    )
    def error_bias(self, state: State) -> Array:
        """The derivatives of `error_rate` where udot is 0."""
        bias = self.calc_bias(self.relative_pose(state), self.relative_velocity(state))
        found = checked_result(bias, (self.num_errors,), f"calc_bias of {self}")
        return found + self.relative_jacobian(state) @ self.relative_acceleration_bias(state)

    def calc_body_forces(self, state: State) -> AppliedForces:
        """Return its forces on both bodies: the rows of `relative_jacobian`, times -multipliers."""
        if not self.is_enabled(state):
            return NO_FORCES
        rows = forces_in_ground(*self._poses(state), self.relative_jacobian(state))
        force = -state[self].multipliers @ rows
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

    def _poses(self, state: State) -> tuple[Transform, Transform]:
        one, two = self.bodies
        return one.pose(state), two.pose(state)


def _block(forces: Array, axes: Array, signs: Array) -> Any:
    """Return the power of forces (m, 6) by u (m, nu): for u that move only one of the bodies."""
    if len(axes) <= DENSE:
        return forces @ axes.T * signs
    from scipy.sparse import csr_array  # noqa: PLC0415  # it takes a while

    columns = np.flatnonzero(signs)
    values = forces @ axes[columns].T * signs[columns]
    starts = np.arange(len(forces) + 1) * len(columns)
    there = (values.ravel(), np.tile(columns, len(forces)), starts)
    return csr_array(there, shape=(len(forces), len(axes)))


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


def relative_acceleration(
    one: Transform,
    two: Transform,
    velocities: tuple[Array, Array],
    accelerations: tuple[Array, Array],
) -> Array:
    """Return the derivatives of (w, v), (6,), of velocities and accelerations of both bodies."""
    arm = two.translation - one.translation
    w1, a1 = velocities[0][:3], accelerations[0][:3]
    between = velocities[1] - velocities[0]
    found = (accelerations[1] - accelerations[0]).reshape(2, 3)
    found[0] -= cross3(w1, between[:3])
    found[1] -= cross3(a1, arm) + cross3(w1, 2.0 * between[3:] - cross3(w1, arm))
    return (found @ one.rotation).ravel()


def forces_in_ground(one: Transform, two: Transform, forces: Array) -> Array:
    """Return forces on body 2 in the axes of body 1, (m, 6), in ground and about its origin."""
    found: Array = (forces.reshape(-1, 2, 3) @ one.rotation.T).reshape(-1, 6)
    linear = found[:, 3:]
    found[:, :3] += cross(two.translation[None], linear)
    return found
