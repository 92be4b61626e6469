r"""Contacts of one class between two bodies, computed together.

::

    tree_poses    variables of each    tree_motions, tree_bias     of the matter
        |             |                    |            |
      where        shapes                rates        drift        of the batch, as for other pairs
        |   \      /     \                 |            |
        |   errors      touching           |            |
        |                  |               |            |
        +----------> local_jacobian -------+------------+
                     |           \         |            |
            jacobian, slip_jacobian   velocities      biases
                                      /      \        /     \
                             error_rates   slips  error_bias  slip_bias

In axes of body 1, which does not move: bodies touch at a point c, with the unit vectors n along the
normal, from body 1 to body 2, and x, y across it. The point of body 2 that is there moves by
v + w x (c - p), with components ::

    n.(v + w x a)       a = c - p; the rate of the separation, as c is on the normal of both
    x.(v + w x a)       the slip, (2,), which is zero where the contact rolls
    y.(v + w x a)

so the Jacobian is [a x n, n], and likewise for x and y. Its change along (w, v), times (w, v), is
n'.(v + w x a) + n.(w x a') with a' = c' - v. A shape knows c, n, x, y, and their derivatives.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self, final

import numpy as np
from attrs import frozen

from stagecache.multibody.constraints.batch import products
from stagecache.multibody.constraints.pair_batch import (
    AbstractRelativeBatch,
    Poses,
    jacobian_in_ground,
    power_by_u,
)
from stagecache.multibody.geometry.spatial import Array, cross
from stagecache.state.state import State
from stagecache.system.constraints.errors import position_error, velocity_error
from stagecache.system.declare.cached import cached


@final
@frozen(eq=False)
class Touching:
    """Places at which bodies touch, in axes of bodies 1. Const.

    Attributes
    ----------
    points : (k, 3) ndarray
    axes : (k, 3, 3) ndarray
        The rows are n, x and y.
    """

    points: Array
    axes: Array

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self


class AbstractShapes(ABC):
    """The shapes of k contacts of one class, from the variables of a State. Const.

    Parameters
    ----------
    contacts : sequence of AbstractContact
    state : State

    Raises
    ------
    WrongTypeError, ShapeError, NotANumberError, OutOfRangeError
        A variable has a value that is not a shape.
    """

    @abstractmethod
    def __init__(self, contacts: Sequence[Any], state: State) -> None: ...

    @abstractmethod
    def separations(self, poses: Poses) -> Array:
        """Return the distances of the surfaces, (k,): less than 0 where they overlap [m]."""

    @abstractmethod
    def touching(self, poses: Poses) -> Touching:
        """Return the places of contact.

        Raises
        ------
        KinematicsError
            One of them has no normal.
        """

    @abstractmethod
    def rates(self, poses: Poses, touching: Touching, rates: Array) -> Touching:
        """Return the derivatives of points and axes where bodies 2 move by (w, v), (k, 6)."""

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self


def across(units: Array, vectors: Array) -> Array:
    """Return the parts of vectors (k, 3) that are normal to unit vectors."""
    found: Array = vectors - (units * vectors).sum(-1, keepdims=True) * units
    return found


class AbstractContactBatch(AbstractRelativeBatch):
    """Contacts of one class."""

    @cached(
        prerequisites=lambda self: (
            self.members,
            *(variable for contact in self.constraints for variable in contact.shape),
        )
    )
    def shapes(self, state: State) -> Any:
        """The shapes: `AbstractShapes`."""
        return self.constraints[0].shapes_type(self.members(state).constraints, state)

    @cached(prerequisites=lambda self: (self.where, self.shapes))
    def touching(self, state: State) -> Touching:
        """The places of contact."""
        found: Touching = self.shapes(state).touching(self.where(state))
        return found

    @cached(prerequisites=lambda self: (self.where, self.touching))
    def local_jacobian(self, state: State) -> Array:
        """Derivatives by (w, v) of the velocities along n, x and y, (k, 3, 6)."""
        touching = self.touching(state)
        arms = (touching.points - self.where(state).translation)[:, None]
        return np.concatenate([cross(arms, touching.axes), touching.axes], axis=-1)

    @cached(prerequisites=lambda self: (self.where, self.local_jacobian))
    def ground_jacobian(self, state: State) -> Array:
        """The same by motions of bodies 2 about the origin of ground, (k, 3, 6)."""
        return jacobian_in_ground(self.where(state), self.local_jacobian(state))

    @cached(prerequisites=lambda self: (self.local_jacobian, self.rates))
    def velocities(self, state: State) -> Array:
        """The velocities along n, x and y of bodies 2 where they touch, (k, 3)."""
        return products(self.local_jacobian(state), self.rates(state)).reshape(-1, 3)

    @cached(
        prerequisites=lambda self: (
            *(self.where, self.shapes, self.touching),
            *(self.local_jacobian, self.rates, self.drift),
        )
    )
    def biases(self, state: State) -> Array:
        """The derivatives of the velocities where udot is 0, (k, 3)."""
        where, touching, rates = self.where(state), self.touching(state), self.rates(state)
        changes = self.shapes(state).rates(where, touching, rates)
        turning, moving = rates[:, :3], rates[:, 3:]
        at_point = moving + cross(turning, touching.points - where.translation)
        own = products(changes.axes, at_point)
        own += products(touching.axes, cross(turning, changes.points - moving))
        drift = products(self.local_jacobian(state), self.drift(state))
        return (own + drift).reshape(-1, 3)

    # ------------------------------------------------------------------ separation

    @position_error(
        size=lambda self, state: self.members(state).size,
        prerequisites=lambda self: (self.where, self.shapes),
        parts=lambda self, state: self.members(state).parts(),
    )
    def errors(self, state: State) -> Array:
        """The separations of all, one after another."""
        found: Array = self.shapes(state).separations(self.where(state))
        return found

    @errors.velocity(prerequisites=lambda self: (self.velocities,))
    def error_rates(self, state: State) -> Array:
        """Derivatives of the errors along qdot = N u."""
        return self.velocities(state)[:, 0]

    @errors.jacobian(
        prerequisites=lambda self: (self.members, self.ground_jacobian, self.matter.axes)
    )
    def jacobian(self, state: State) -> Any:
        """The derivatives of the rates by the u of the matter."""
        signs, axes = self.members(state).signs, self.matter.axes(state)
        return {self.matter.u: power_by_u(self.ground_jacobian(state)[:, 0], axes, signs)}

    @errors.bias(prerequisites=lambda self: (self.biases,))
    def error_bias(self, state: State) -> Array:
        """The derivatives of the rates where udot is 0."""
        return self.biases(state)[:, 0]


@final
class SlidingBatch(AbstractContactBatch):
    """Contacts of one class that may slip."""


@final
class RollingBatch(AbstractContactBatch):
    """Contacts of one class that may not."""

    @velocity_error(
        size=lambda self, state: 2 * self.members(state).size,
        prerequisites=lambda self: (self.velocities,),
        parts=lambda self, state: ((c.slip, 2) for c in self.members(state).constraints),
    )
    def slips(self, state: State) -> Array:
        """The slips of all, one after another."""
        return self.velocities(state)[:, 1:].ravel()

    @slips.jacobian(
        prerequisites=lambda self: (self.members, self.ground_jacobian, self.matter.axes)
    )
    def slip_jacobian(self, state: State) -> Any:
        """The derivatives of the slips by the u of the matter."""
        signs, axes = self.members(state).signs.repeat(2, 0), self.matter.axes(state)
        forces = self.ground_jacobian(state)[:, 1:].reshape(-1, 6)
        return {self.matter.u: power_by_u(forces, axes, signs)}

    @slips.bias(prerequisites=lambda self: (self.biases,))
    def slip_bias(self, state: State) -> Array:
        """The derivatives of the slips where udot is 0."""
        return self.biases(state)[:, 1:].ravel()
