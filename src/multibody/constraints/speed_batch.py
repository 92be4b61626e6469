r"""Constraints of one class on u of joints, computed together; and on udot.

::

    u, q, members
          |
        where ---> errors                          of the batch
          |
    local_jacobian ---> jacobian
          |
    qdot -+----------> error_bias

The numbers x of a constraint are its u, then its q; a change of q along qdot is its bias.
"""

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from stagecache.multibody.constraints.batch import AbstractBatch, Members, products
from stagecache.multibody.constraints.coordinate_batch import Coordinates, scattered
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.tree.layout import Indices, TreeLayout
from stagecache.state.state import State
from stagecache.system.constraints.errors import acceleration_error, velocity_error
from stagecache.system.declare.cached import cached


@final
class Speeds(Members):
    """Constraints on u that are enabled, and the places of these in a layout.

    Attributes
    ----------
    index : (k, n) ndarray of int
        The u of each constraint.
    coordinates : Coordinates
        The q of each.
    """

    def __init__(self, constraints: Sequence[Any], layout: TreeLayout) -> None:
        speeds = [constraint.speeds for constraint in constraints]
        index = [[_u_of(layout, body, i) for body, i in pairs] for pairs in speeds]
        count = len(speeds[0]) if speeds else 1
        self.index: Indices = np.array(index, np.intp).reshape(len(speeds), count)
        self.coordinates = Coordinates(constraints, layout)
        super().__init__(constraints, count + self.coordinates.index.shape[1])
        self.nu = layout.nu

    def jacobian(self, local: Array) -> Any:
        """Return the derivatives by all u, (k m, nu), of those by x, (k, m, n)."""
        k, n = self.index.shape
        values = local[:, :, :n].swapaxes(1, 2).reshape(k * n, local.shape[1])
        return scattered(
            values, np.repeat(np.arange(k), n), self.index.ravel(), (*local.shape[:2], self.nu)
        )


def _u_of(layout: TreeLayout, body: Any, i: int) -> int:
    return int(layout.joints[layout.rows[body.index]].u.start) + i


@final
class SpeedBatch(AbstractBatch):
    """Constraints of one class on as many u and q."""

    def calc_members(self, enabled: Sequence[Any], layout: TreeLayout) -> Speeds:
        """Return what evaluates some of the constraints."""
        return Speeds(enabled, layout)

    @cached(
        prerequisites=lambda self: (
            *(self.members, self.matter.u),
            *((self.matter.q,) if self.constraints[0].coordinates else ()),
        )
    )
    def where(self, state: State) -> Array:
        """The numbers x, (k, n): u, then q."""
        members = self.members(state)
        found: Array = self.matter.u(state)[members.index]
        if not members.coordinates.index.size:
            return found
        return np.hstack([found, self.matter.q(state)[members.coordinates.index]])

    @cached(prerequisites=lambda self: (self.members, self.where))
    def local_jacobian(self, state: State) -> Array:
        """The results of `calc_jacobian` of each, (k, m, n)."""
        members = self.members(state)
        found: Array = members.evaluate("calc_jacobian", members.shape, self.where(state))
        return found

    @velocity_error(
        size=lambda self, state: self.members(state).size,
        prerequisites=lambda self: (self.members, self.where),
        parts=lambda self, state: self.members(state).parts(),
    )
    def errors(self, state: State) -> Array:
        """The velocity errors of all, one constraint after another."""
        members = self.members(state)
        found: Array = members.evaluate("calc_error", members.shape[:1], self.where(state))
        return found.ravel()

    @errors.jacobian(prerequisites=lambda self: (self.members, self.local_jacobian))
    def jacobian(self, state: State) -> Any:
        """The derivatives of the errors by the u of the matter."""
        return {self.matter.u: self.members(state).jacobian(self.local_jacobian(state))}

    @errors.bias(
        prerequisites=lambda self: (
            *(self.members, self.local_jacobian),
            *((self.matter.q, self.matter.u) if self.constraints[0].coordinates else ()),
        )
    )
    def error_bias(self, state: State) -> Array:
        """The derivatives of the errors where udot is 0."""
        members = self.members(state)
        coordinates = members.coordinates
        if not coordinates.index.size:
            return np.zeros(members.size)
        numbers = coordinates.numbers_of_n(self.matter.q(state))
        rates = coordinates.rates(numbers, self.matter.u(state))
        return products(self.local_jacobian(state)[:, :, members.index.shape[1] :], rates)


@final
class AccelerationBatch(AbstractBatch):
    """Constraints of one class on udot."""

    def calc_members(self, enabled: Sequence[Any], layout: TreeLayout) -> Speeds:
        """Return what evaluates some of the constraints."""
        return Speeds(enabled, layout)

    @acceleration_error(
        size=lambda self, state: self.members(state).size,
        parts=lambda self, state: self.members(state).parts(),
    )
    def errors(self, state: State) -> Array:
        """The acceleration errors of all, one constraint after another."""
        members = self.members(state)
        return self._errors_at(members, state[self.matter].udot[members.index])

    @errors.jacobian(prerequisites=lambda self: (self.members,))
    def jacobian(self, state: State) -> Any:
        """The derivatives of the errors by the udot of the matter."""
        members = self.members(state)
        local = members.evaluate("calc_jacobian", members.shape, np.zeros(members.index.shape))
        return {self.matter.u: members.jacobian(local)}

    @errors.bias(prerequisites=lambda self: (self.members,))
    def error_bias(self, state: State) -> Array:
        """The errors where udot is 0."""
        members = self.members(state)
        return self._errors_at(members, np.zeros(members.index.shape))

    def _errors_at(self, members: Speeds, udot: Array) -> Array:
        found: Array = members.evaluate("calc_error", members.shape[:1], udot)
        return found.ravel()
