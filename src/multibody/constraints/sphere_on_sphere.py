r"""A contact of two spheres.

With the centers c1 and c2 = p + R s of the spheres in axes of body 1, and their radii::

    d = c2 - c1,  e = |d| - r1 - r2,  n = d / |d|
    c = c1 + r1 / (r1 + r2) d            x = n x i / |n x i|,  y = n x x

where i is the axis of body 1 along which n is least, so x and y jump where that changes.

Source: Simbody's `Constraint::SphereOnSphereContact`, whose x and y are the same where body 1 is
the ground.
"""

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from stagecache.decorations.decorations import AbstractDecoration
from stagecache.errors import KinematicsError
from stagecache.multibody.checks import checked_array
from stagecache.multibody.constraints.checks import (
    checked_length,
    checked_lengths_of,
    checked_points_of,
)
from stagecache.multibody.constraints.contact import AbstractContact, sphere
from stagecache.multibody.constraints.contact_batch import AbstractShapes, Touching, across
from stagecache.multibody.constraints.pair_batch import Poses
from stagecache.multibody.constraints.points import place_of, turned
from stagecache.multibody.geometry.spatial import Array, cross
from stagecache.multibody.matter.mobilized_body import MobilizedBody
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.declare.variables import discrete


@final
class SpheresOnSpheres(AbstractShapes):
    """Spheres of bodies 2 on spheres of bodies 1."""

    def __init__(self, contacts: Sequence[Any], state: State) -> None:
        self.contacts = tuple(contacts)
        self.first_centers = checked_points_of(contacts, "first_center", state)
        self.second_centers = checked_points_of(contacts, "second_center", state)
        self.first_radii = checked_lengths_of(contacts, "first_radius", state)
        self.reach = self.first_radii + checked_lengths_of(contacts, "second_radius", state)
        self.shares: Array = (self.first_radii / self.reach)[:, None]

    def separations(self, poses: Poses) -> Array:
        """Return the distances of the centers, minus both radii."""
        found: Array = np.linalg.norm(self._lines(poses), axis=-1)
        return found - self.reach

    def touching(self, poses: Poses) -> Touching:
        """Return points on the lines of centers, divided as the radii are.

        Raises
        ------
        KinematicsError
            Centers coincide.
        """
        lines = self._lines(poses)
        n = lines / self._distances(lines)
        x = cross(n, _least_axes(n))
        x /= np.linalg.norm(x, axis=-1, keepdims=True)
        return Touching(self.first_centers + self.shares * lines, np.stack([n, x, cross(n, x)], 1))

    def rates(self, poses: Poses, touching: Touching, rates: Array) -> Touching:
        """Return the velocities of the points, and the turning of the lines of centers."""
        n, x = touching.axes[:, 0], touching.axes[:, 1]
        moving = rates[:, 3:] + cross(rates[:, :3], turned(poses, self.second_centers))
        n_rate = across(n, moving) / self._distances(self._lines(poses))
        least = _least_axes(n)
        sines = np.linalg.norm(cross(n, least), axis=-1, keepdims=True)
        x_rate = across(x, cross(n_rate, least)) / sines
        y_rate = cross(n_rate, x) + cross(n, x_rate)
        return Touching(self.shares * moving, np.stack([n_rate, x_rate, y_rate], 1))

    def _lines(self, poses: Poses) -> Array:
        """Return the vectors from centers to centers, (k, 3)."""
        return place_of(poses, self.second_centers) - self.first_centers

    def _distances(self, lines: Array) -> Array:
        found: Array = np.linalg.norm(lines, axis=-1, keepdims=True)
        if not found.all():
            contact = self.contacts[int(np.argmin(found))]
            raise KinematicsError(
                f"{contact}: the centers of its spheres coincide, so it has no normal",
                "centers at some distance from each other",
                "a distance of 0",
                "give q for which they are apart, nearer to the sum of the radii",
            )
        return found


def _least_axes(n: Array) -> Array:
    """Return the axes along which unit vectors (k, 3) are least."""
    found: Array = np.eye(3)[np.argmin(np.abs(n), axis=-1)]
    return found


@final
class SphereOnSphereContact(AbstractContact):
    """A sphere of body 2 on one of body 1, which slides on it or rolls. One error [m].

    The error is the distance of the spheres, less than 0 where they overlap. If they roll, the
    velocity of sphere 2 at the contact, relative to sphere 1, is zero across the line of centers as
    well: two errors more, of uerr.

    The contact does not open: it pulls the spheres together where that is needed. `first_center`,
    `first_radius`, `second_center` and `second_radius` [m] are variables of the State, whose writes
    invalidate Position. Where the centers coincide, there is an error, and no Jacobian.

    `separation` [m], `contact_frame` (a Transform in ground) and `slip` (2,) [m/s] are entries; the
    first two also where it is disabled.

    Parameters
    ----------
    first : MobilizedBody
    first_center : (3,) array_like
        The center of sphere 1 in body 1, initially [m].
    first_radius : float
        More than 0, initially [m].
    second : MobilizedBody
    second_center : (3,) array_like
        The center of sphere 2 in body 2, initially [m].
    second_radius : float
        More than 0, initially [m].
    enforce_rolling : bool, optional
        True for spheres that do not slip. False by default.

    Raises
    ------
    UnknownBodyError, ConstraintError, ShapeError, NotANumberError, OutOfRangeError

    Examples
    --------
    >>> from stagecache import Stage
    >>> from stagecache.multibody import MultibodySystem, SphereOnSphereContact, Translation
    >>> system = MultibodySystem()
    >>> ground = system.matter.ground
    >>> ball = system.matter.add_body("ball", ground, Translation())
    >>> contact = SphereOnSphereContact(ground, [0, 0, 0], 1.0, ball, [0, 0, 0], 0.5)
    >>> _ = system.add(contact, "contact")
    >>> state = system.new_state()
    >>> ball.q.set(state, [0, 0, 2])
    >>> system.realize(state, Stage.POSITION)
    >>> contact.error(state), contact.contact_frame(state).translation.round(3)
    (array([0.5]), array([0.   , 0.   , 1.333]))
    >>> contact.second_radius.set(state, 1.0)
    >>> contact.error(state)
    array([0.])
    """

    shapes_type = SpheresOnSpheres
    shape_names = ("first_center", "first_radius", "second_center", "second_radius")

    first_center = discrete(
        factory=lambda self: self._initial[0], invalidates=Stage.POSITION, unit="m"
    )
    """The center of sphere 1 in body 1, (3,)."""

    first_radius = discrete(
        factory=lambda self: self._initial[1], invalidates=Stage.POSITION, unit="m"
    )
    """The radius of sphere 1, more than 0."""

    second_center = discrete(
        factory=lambda self: self._initial[2], invalidates=Stage.POSITION, unit="m"
    )
    """The center of sphere 2 in body 2, (3,)."""

    second_radius = discrete(
        factory=lambda self: self._initial[3], invalidates=Stage.POSITION, unit="m"
    )
    """The radius of sphere 2, more than 0."""

    def __init__(
        self,
        first: MobilizedBody,
        first_center: ArrayLike,
        first_radius: float,
        second: MobilizedBody,
        second_center: ArrayLike,
        second_radius: float,
        *,
        enforce_rolling: bool = False,
    ) -> None:
        super().__init__(first, second, enforce_rolling=enforce_rolling)
        self._initial = (
            checked_array(first_center, (3,), f"the first center of {self}"),
            checked_length(first_radius, f"the first radius of {self}"),
            checked_array(second_center, (3,), f"the second center of {self}"),
            checked_length(second_radius, f"the second radius of {self}"),
        )

    def calc_decorations(self, state: State) -> Sequence[tuple[MobilizedBody, AbstractDecoration]]:
        """Return both spheres."""
        one, two = self.bodies
        return (
            (one, sphere(self.first_radius(state), self.first_center(state))),
            (two, sphere(self.second_radius(state), self.second_center(state))),
        )
