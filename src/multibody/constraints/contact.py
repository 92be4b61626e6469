r"""The base of contacts: a separation that is zero, and a slip that may be.

::

    AbstractPositionConstraint
    +- AbstractContact
       +- SphereOnPlaneContact
       +- SphereOnSphereContact
       +- LineOnLineContact

A contact holds bodies together as well as apart; it does not open. Its shape is in variables of the
State, whose writes invalidate Position. `contact_batch` has the formulas that all share.

Source: Simbody's `Constraint::SphereOnPlaneContact`, `SphereOnSphereContact`, `LineOnLineContact`.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from stagecache.checks import require_bool
from stagecache.decorations.decorations import AbstractDecoration, DecorativeSphere
from stagecache.multibody.constraints.checks import checked_pair
from stagecache.multibody.constraints.constraint import AbstractPositionConstraint
from stagecache.multibody.constraints.contact_batch import (
    AbstractContactBatch,
    AbstractShapes,
    RollingBatch,
    SlidingBatch,
)
from stagecache.multibody.constraints.pair_batch import Poses
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.geometry.transform import Transform
from stagecache.multibody.matter.mobilized_body import MobilizedBody
from stagecache.multibody.tree.applied_forces import NO_FORCES, AppliedForces
from stagecache.state.handles import AbstractHandle
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.declare.cached import cached


def _shape_and_poses(contact: Any) -> tuple[AbstractHandle, ...]:
    return (*contact.shape, *(body.pose for body in contact.bodies))


def _poses(contact: Any, state: State) -> Poses:
    one, two = (body.pose(state).matrix[None] for body in contact.bodies)
    return Poses(one, two)


class AbstractContact(AbstractPositionConstraint):
    """A contact of a surface of body 2 with one of body 1. One error: the separation [m].

    If it rolls, the slip is an error as well, of velocities, with rows of its own: `error`,
    `error_rate`, `jacobian`, `error_bias` and `multipliers` are of the separation, `slip` and
    `slip_multipliers` of the slip.

    Attributes
    ----------
    enforce_rolling : bool
        True if it rolls.
    shape : tuple of handles
        The variables of a State that are its shape.
    """

    _batch: AbstractContactBatch
    num_errors: ClassVar[int] = 1

    shapes_type: ClassVar[type[AbstractShapes]]
    shape_names: ClassVar[tuple[str, ...]]

    def __init__(self, first: Any, second: Any, *, enforce_rolling: bool) -> None:
        what = type(self).__name__
        self.bodies = checked_pair(first, second, what)
        hint = "write enforce_rolling=True for one that does not slip"
        self.enforce_rolling = require_bool(enforce_rolling, f"{what}(enforce_rolling)", hint)
        self._batch_type = RollingBatch if self.enforce_rolling else SlidingBatch

    # ------------------------------------------------------------------ in a State

    @property
    def kind(self) -> tuple[Any, ...]:
        """Things that constraints have in common which are computed together."""
        return *super().kind, self.enforce_rolling

    @property
    def shape(self) -> tuple[AbstractHandle, ...]:
        """The variables of a State that are its shape."""
        return tuple(getattr(self, name) for name in self.shape_names)

    @cached(prerequisites=_shape_and_poses, unit="m")
    def separation(self, state: State) -> float:
        """The distance of the surfaces, less than 0 where they overlap; also if it is disabled."""
        poses = _poses(self, state)
        return float(self.shapes_type((self,), state).separations(poses)[0])

    @cached(prerequisites=_shape_and_poses)
    def contact_frame(self, state: State) -> Transform:
        """The frame C of the contact in ground; also if it is disabled.

        Its origin is the point of contact, z the normal, from body 1 to body 2. Slips and forces
        across it are along x and y.
        """
        poses = _poses(self, state)
        found = self.shapes_type((self,), state).touching(poses)
        point = found.points[0] - poses.translation[0]
        matrix = np.eye(4)
        matrix[:3, :3] = poses.first[0] @ found.axes[0][[1, 2, 0]].T
        matrix[:3, 3] = poses.origins[0] + poses.first[0] @ point
        return Transform.of_matrix(matrix)

    @cached(prerequisites=lambda self: (self._batch.members, self._batch.velocities))
    def slip(self, state: State) -> Array:
        """The velocity of body 2 at the contact relative to body 1, along x and y, (2,) [m/s]."""
        return self._batch.velocities(state)[self._of_batch(state), 1:].ravel()

    def slip_multipliers(self, state: State) -> Array:
        """Return the multipliers of its slip along x and y, (2,); (0,) if it may slip.

        Raises
        ------
        StageTooLowError, WrongTypeError
        """
        place, after = self._of_batch(state), self._batch.members(state).size
        of_slip = state[self._batch].multipliers[after:].reshape(-1, 2)
        found: Array = of_slip[place].ravel()
        return found

    def calc_force(self, state: State) -> Array:
        """Return the force on body 2 at the contact, in ground, (3,) [N]; body 1 has the opposite.

        Parameters
        ----------
        state : State
            At Acceleration.

        Raises
        ------
        StageTooLowError, WrongTypeError
        """
        found: Array = self._spatial(state).sum(axis=0)[3:]
        return found

    # ------------------------------------------------------------------ pictures

    @abstractmethod
    def calc_decorations(self, state: State) -> Sequence[tuple[MobilizedBody, AbstractDecoration]]:
        """Return what it touches: bodies, with decorations in their frames."""

    def calc_decorative_geometry_and_append(
        self, state: State, stage: Stage, geometry: list[Any]
    ) -> None:
        """Append what it touches, if it is enabled, at stage Position.

        Bodies with decorations of their own do not get any.
        """
        if stage is Stage.POSITION and self.is_enabled(state):
            geometry += self.matter.calc_in_ground(state, self.calc_decorations(state))

    # ------------------------------------------------------------------ forces

    def _acting(self, state: State) -> AppliedForces:
        force = self._spatial(state)
        layout = self.matter.layout(state)
        of_bodies = np.array([layout.rows[body.index] for body in self.bodies])
        rows, spatial = of_bodies.repeat(len(force)), np.concatenate([-force, force])
        return AppliedForces(rows, spatial, NO_FORCES.u, NO_FORCES.values)

    def _spatial(self, state: State) -> Array:
        """Return its spatial forces on body 2 about the origin of the ground, (1, 6) or (0, 6)."""
        multipliers = [self.multipliers(state), self.slip_multipliers(state)]
        sizes = -np.concatenate(multipliers)[None]
        axes = self._batch.ground_jacobian(state)[self._of_batch(state), : sizes.size]
        found: Array = sizes @ axes.reshape(-1, 6)
        return found[: len(axes)]

    def _of_batch(self, state: State) -> slice:
        """Return its place among the members of the batch."""
        number = self._batch.members(state).number_of(self)
        return slice(0) if number is None else slice(number, number + 1)


def sphere(radius: float, center: Array) -> DecorativeSphere:
    """Return a sphere, half transparent."""
    return DecorativeSphere(radius, translation=center, opacity=0.5)
