r"""Constraints on the pose of one body relative to another one.

::

    bodies[0].pose   bodies[1].pose    velocity    acceleration_bias
             \        /                 |                |
           relative_pose ------> relative_velocity -> relative_acceleration_bias
             /         \                |                |
         error   relative_jacobian -----+                |
                        |    \          |                |
     matter.axes --> jacobian \---> error_rate     error_bias

All are declared entries. A write that moves none of both bodies leaves position errors and the
relative Jacobian valid. Where u move both bodies, columns of the Jacobian are 0, exactly.
"""

from abc import abstractmethod
from typing import Any, Final

import numpy as np

from stagecache.multibody.constraints.checks import checked_pair, checked_result
from stagecache.multibody.constraints.constraint import AbstractConstraint
from stagecache.multibody.constraints.relative_motion import (
    forces_in_ground,
    relative_acceleration,
    relative_pose,
    relative_velocity,
)
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.geometry.transform import Transform
from stagecache.multibody.matter.matter import MobilizedBody
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.constraints.errors import position_error
from stagecache.system.declare.cached import cached

DENSE: Final = 100
"""Up to as many u, a Jacobian is dense."""


def _poses(self: Any) -> tuple[Any, ...]:
    return (self.bodies[0].pose, self.bodies[1].pose)


class AbstractPairConstraint(AbstractConstraint):
    """A constraint on two bodies; one of your own is a subclass, as all that there are.

    It says `num_errors` and has the three methods below. They are pure functions of how body 2
    moves relative to body 1, in the axes of that, which does not move then; see `RodConstraint`.

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
        """The position errors (m,), for the pose of body 2 in body 1."""

    @abstractmethod
    def calc_jacobian(self, pose: Transform) -> Any:
        """What takes a velocity of body 2 to velocity errors, (m, 6).

        The velocity is (w, v): angular, then that of the origin of body 2. Rows are also the
        moments and forces on body 2, at its origin, that hold the constraint.
        """

    @abstractmethod
    def calc_bias(self, pose: Transform, velocity: Array) -> Any:
        """The velocity errors' derivatives (m,), where (w, v) does not change.

        That is the change of `calc_jacobian` along the velocity (6,), times the velocity.
        """

    # ------------------------------------------------------------------ relative motion

    @cached(prerequisites=_poses)
    def relative_pose(self, state: State) -> Transform:
        """The pose of body 2 in body 1."""
        return relative_pose(*self._poses(state))

    @cached(prerequisites=lambda self: (*_poses(self), *(body.velocity for body in self.bodies)))
    def relative_velocity(self, state: State) -> Array:
        """(w, v) of body 2 in body 1, (6,)."""
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
        """What `calc_jacobian` returns, (m, 6)."""
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

    # ------------------------------------------------------------------ pictures

    def _held_points(self) -> tuple[tuple[MobilizedBody, Array], ...]:
        """Points of the bodies that it holds, in their frames [m]; of no others are there lines."""
        return ()

    def calc_decorative_geometry_and_append(
        self, state: State, stage: Stage, geometry: list[Any]
    ) -> None:
        """Append lines to the points that it holds, where it is enabled, at stage Position.

        There are none in bodies with decorations of their own.
        """
        if stage is Stage.POSITION and self.is_enabled(state):
            geometry += self.matter.calc_bones(state, self._held_points())

    def _poses(self, state: State) -> tuple[Transform, Transform]:
        one, two = self.bodies
        return one.pose(state), two.pose(state)


def _block(forces: Array, axes: Array, signs: Array) -> Any:
    """The power of forces (m, 6) by u (m, nu): for u that move body 2 only, or body 1 only."""
    if len(axes) <= DENSE:
        return forces @ axes.T * signs
    from scipy.sparse import csr_array  # noqa: PLC0415  # it takes a while

    columns = np.flatnonzero(signs)
    values = forces @ axes[columns].T * signs[columns]
    starts = np.arange(len(forces) + 1) * len(columns)
    there = (values.ravel(), np.tile(columns, len(forces)), starts)
    return csr_array(there, shape=(len(forces), len(axes)))
