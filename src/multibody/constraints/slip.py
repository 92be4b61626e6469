r"""A constraint on the relative velocity of two bodies at a point, along a direction.

With the case C, which has the point p and the direction d, and motions (w, v) about the origin of
the ground::

    e  = d.(v2 - v1 + (w2 - w1) x p)              so the Jacobian is [p x d, d] of body 2 minus 1
    e' = d.(v' + w' x p + w x p') + d'.(v + w x p)    with p' and d' of C

Source: Simbody's `Constraint::NoSlip1D`.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from stagecache.multibody.checks import checked_array, checked_direction
from stagecache.multibody.constraints.batch import AbstractBatch, Members
from stagecache.multibody.constraints.checks import checked_bodies, checked_pair
from stagecache.multibody.constraints.constraint import AbstractConstraint
from stagecache.multibody.constraints.pair_batch import power_by_u
from stagecache.multibody.geometry.spatial import Array, cross, velocities_at
from stagecache.multibody.matter.mobilized_body import MobilizedBody
from stagecache.multibody.tree.applied_forces import NO_FORCES, AppliedForces
from stagecache.multibody.tree.layout import TreeLayout
from stagecache.state.state import State
from stagecache.system.constraints.errors import velocity_error
from stagecache.system.declare.cached import cached


@final
class Slips(Members):
    """Constraints that are enabled, with the rows of their bodies in the layout."""

    def __init__(self, constraints: Sequence[Any], layout: TreeLayout) -> None:
        super().__init__(constraints, num_rates=6)
        bodies = [(c.case, c.first, c.second) for c in constraints]
        rows = [[layout.rows[body.index] for body in three] for three in bodies]
        self.case, self.one, self.two = np.array(rows, np.intp).reshape(-1, 3).T
        self.signs: Array = layout.moves(self.two).astype(float) - layout.moves(self.one)
        self.points = np.array([c.point for c in constraints]).reshape(-1, 3)
        self.directions = np.array([c.direction for c in constraints]).reshape(-1, 3)


@final
class SlipBatch(AbstractBatch):
    """All constraints of slip on a matter."""

    def calc_members(self, enabled: Sequence[Any], layout: TreeLayout) -> Slips:
        """Return what evaluates some of the constraints."""
        return Slips(enabled, layout)

    @cached(prerequisites=lambda self: (self.members, self.matter.tree_poses))
    def where(self, state: State) -> Array:
        """The points, and the directions, in ground, (k, 2, 3)."""
        members = self.members(state)
        poses = self.matter.tree_poses(state).bodies[members.case]
        both = np.stack([members.points, members.directions], axis=1)
        found: Array = both @ poses[:, :3, :3].swapaxes(1, 2)
        found[:, 0] += poses[:, :3, 3]
        return found

    @cached(prerequisites=lambda self: (self.where,))
    def ground_jacobian(self, state: State) -> Array:
        """Derivatives of errors by motions of bodies 2 about the origin of ground, (k, 6)."""
        where = self.where(state)
        return np.hstack([cross(where[:, 0], where[:, 1]), where[:, 1]])

    @velocity_error(
        size=lambda self, state: self.members(state).size,
        prerequisites=lambda self: (self.members, self.ground_jacobian, self.matter.tree_motions),
        parts=lambda self, state: self.members(state).parts(),
    )
    def errors(self, state: State) -> Array:
        """The velocity errors of all, one constraint after another."""
        return self._along(state, self.matter.tree_motions(state))

    @errors.jacobian(
        prerequisites=lambda self: (self.members, self.ground_jacobian, self.matter.axes)
    )
    def jacobian(self, state: State) -> Any:
        """The derivatives of the errors by the u of the matter."""
        signs, axes = self.members(state).signs, self.matter.axes(state)
        return {self.matter.u: power_by_u(self.ground_jacobian(state), axes, signs)}

    @errors.bias(
        prerequisites=lambda self: (
            *(self.members, self.where, self.ground_jacobian),
            *(self.matter.tree_motions, self.matter.tree_bias),
        )
    )
    def error_bias(self, state: State) -> Array:
        """The derivatives of the errors where udot is 0."""
        members, where, motions = (
            self.members(state),
            self.where(state),
            self.matter.tree_motions(state),
        )
        points, directions = where[:, 0], where[:, 1]
        of_case, between = motions[members.case], motions[members.two] - motions[members.one]
        moving = cross(between[:, :3], velocities_at(points, of_case))
        turning = cross(of_case[:, :3], directions)
        own = directions * moving + turning * velocities_at(points, between)
        found: Array = self._along(state, self.matter.tree_bias(state)) + own.sum(1)
        return found

    def _along(self, state: State, motions: Array) -> Array:
        """Return the motions of bodies 2 relative to bodies 1, at the points along directions."""
        members = self.members(state)
        between = motions[members.two] - motions[members.one]
        found: Array = (self.ground_jacobian(state) * between).sum(1)
        return found


@final
class NoSlip1DConstraint(AbstractConstraint):
    """Two bodies do not slip at a point of a case, along a direction of it. One error [m/s].

    It is the velocity of body 2 there, relative to body 1, along the direction. The point is one
    of contact, as of two gears, of which the case has the axes.

    Parameters
    ----------
    case : MobilizedBody
        The body that has the point and the direction; it may be one of the others.
    point : (3,) array_like
        In the case [m].
    direction : (3,) array_like
        In the case; of any length but 0.
    first, second : MobilizedBody
        The bodies that do not slip.

    Raises
    ------
    UnknownBodyError, ConstraintError, ShapeError, NotANumberError, OutOfRangeError

    Examples
    --------
    Wheels of radius 1 and 2, with axes along z, touch each other:

    >>> from stagecache import Stage
    >>> from stagecache.multibody import MultibodySystem, NoSlip1DConstraint, Pin, Transform
    >>> system = MultibodySystem()
    >>> ground = system.matter.ground
    >>> one = system.matter.add_body("one", ground, Pin())
    >>> there = Transform(translation=[3, 0, 0])
    >>> two = system.matter.add_body("two", ground, Pin(), inboard_frame=there)
    >>> _ = system.add(NoSlip1DConstraint(ground, [1, 0, 0], [0, 1, 0], one, two), "contact")
    >>> state = system.new_state()
    >>> one.u.set(state, [1.0])
    >>> system.realize(state, Stage.VELOCITY)
    >>> system.project(state, 1e-10)
    >>> state.uerr.round(9)
    array([0.])
    """

    _batch_type = SlipBatch
    num_errors: ClassVar[int] = 1

    def __init__(
        self,
        case: MobilizedBody,
        point: ArrayLike,
        direction: ArrayLike,
        first: MobilizedBody,
        second: MobilizedBody,
    ) -> None:
        what = type(self).__name__
        self.first, self.second = checked_pair(first, second, what)
        self.bodies = tuple(dict.fromkeys(checked_bodies((case, first, second), what)))
        self.case = case
        self.point = checked_array(point, (3,), f"the point of {self}")
        self.direction = checked_direction(direction, f"the direction of {self}")

    def _acting(self, state: State) -> AppliedForces:
        """Return its forces on bodies 1 and 2: the rows of its Jacobian, times -multipliers."""
        batch: Any = self._batch
        number = batch.members(state).number_of(self)
        if number is None:
            return NO_FORCES
        force = -self.multipliers(state)[0] * batch.ground_jacobian(state)[number]
        layout = self.matter.layout(state)
        rows = np.array([layout.rows[body.index] for body in (self.first, self.second)])
        return AppliedForces(rows, np.array([-force, force]), NO_FORCES.u, NO_FORCES.values)
