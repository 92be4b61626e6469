r"""Constraints on a point of body 2, seen from body 1: ball, rod, line and plane.

Errors are components of the position of the point in body 1; the rod is along its direction::

    e = D (p + R s)              D (m, 3): directions; s: the point, in body 2; r = R s
    e' = D (v + w x r)           so the Jacobian is [r x D, D], row by row
    e'' = D (v' + w' x r + w x (w x r))
"""

from typing import Any, ClassVar, Final, final

import numpy as np
from numpy.typing import ArrayLike

from stagecache.checks import require_number
from stagecache.decorations.decorations import DecorativeLine
from stagecache.errors import KinematicsError
from stagecache.multibody.checks import checked_array, checked_direction
from stagecache.multibody.constraints.pair_batch import Poses
from stagecache.multibody.constraints.pair_constraint import AbstractPairConstraint
from stagecache.multibody.geometry.spatial import Array, cross, cross3
from stagecache.multibody.geometry.transform import Transform
from stagecache.multibody.matter.mobilized_body import MobilizedBody
from stagecache.state.stage import Stage
from stagecache.state.state import State

ROD_WIDTH: Final = 1.5
"""The width of the line of a rod in pictures."""


AnyPose = Transform | Poses
"""The pose of a body 2 in a body 1, or of many."""


def place_of(pose: AnyPose, station: Array) -> Array:
    """Return the position in body 1 of a point of body 2, (..., 3)."""
    return turned(pose, station) + pose.translation


def turned(pose: AnyPose, vector: Array) -> Array:
    """Return a vector of body 2 in the axes of body 1, (..., 3)."""
    found: Array = (pose.rotation @ vector[..., None])[..., 0]
    return found


def parts_along(directions: Array, vector: Array) -> Array:
    """Return the components of a vector (..., 3) in m directions (..., m, 3): (..., m)."""
    found: Array = (directions @ vector[..., None])[..., 0]
    return found


def point_jacobian(pose: Transform, station: Array, directions: Array) -> Array:
    """Return the derivatives of its components in m directions by (w, v): (..., m, 6)."""
    arm = turned(pose, station)[..., None, :]
    directions = np.broadcast_to(directions, (*arm.shape[:-2], *directions.shape[-2:]))
    return np.concatenate([cross(arm, directions), directions], axis=-1)


def point_bias(pose: Transform, station: Array, velocity: Array) -> Array:
    """Return the acceleration of the point where (w, v) does not change, (..., 3)."""
    turning = velocity[..., :3]
    return cross(turning, cross(turning, turned(pose, station)))


@final
class BallConstraint(AbstractPairConstraint):
    """A ball joint that closes a loop. Three errors: from point 1 to 2, in axes of body 1 [m].

    Parameters
    ----------
    first : MobilizedBody
    first_station : (3,) array_like
        In body 1 [m].
    second : MobilizedBody
    second_station : (3,) array_like
        In body 2 [m].

    Raises
    ------
    UnknownBodyError, ConstraintError, ShapeError, NotANumberError, OutOfRangeError
    """

    num_errors: ClassVar[int] = 3
    stacked = ("first_station", "second_station")

    def __init__(
        self,
        first: MobilizedBody,
        first_station: ArrayLike,
        second: MobilizedBody,
        second_station: ArrayLike,
    ) -> None:
        super().__init__(first, second)
        self.first_station = checked_array(first_station, (3,), f"the first station of {self}")
        self.second_station = checked_array(second_station, (3,), f"the second station of {self}")

    def _held_points(self) -> tuple[tuple[MobilizedBody, Array], ...]:
        one, two = self.bodies
        return (one, self.first_station), (two, self.second_station)

    def calc_error(self, pose: Transform) -> Array:
        """Return the vector from point 1 to point 2."""
        return place_of(pose, self.second_station) - self.first_station

    def calc_jacobian(self, pose: Transform) -> Array:
        """Return the Jacobian of point 2."""
        return point_jacobian(pose, self.second_station, np.eye(3))

    def calc_bias(self, pose: Transform, velocity: Array) -> Array:
        """Return the centripetal acceleration of point 2."""
        return point_bias(pose, self.second_station, velocity)


@final
class RodConstraint(AbstractPairConstraint):
    """A massless rod between a point of each body. One error: distance minus length [m].

    With the unit vector e along the rod, from body 1 to body 2, e.(v + w x r) is its rate.

    Parameters
    ----------
    first : MobilizedBody
    first_station : (3,) array_like
        In body 1 [m].
    second : MobilizedBody
    second_station : (3,) array_like
        In body 2 [m].
    length : float
        More than 0 [m].

    Raises
    ------
    UnknownBodyError, ConstraintError, ShapeError, NotANumberError, OutOfRangeError

    Examples
    --------
    >>> from stagecache import Stage
    >>> from stagecache.multibody import MultibodySystem, RodConstraint, Translation
    >>> system = MultibodySystem()
    >>> ground = system.matter.ground
    >>> bob = system.matter.add_body("bob", ground, Translation())
    >>> rod = RodConstraint(ground, [0, 0, 0], bob, [0, 0, 0], 2.0)
    >>> _ = system.add(rod, "rod")
    >>> state = system.new_state()
    >>> bob.q.set(state, [3, 0, 4])
    >>> system.realize(state, Stage.POSITION)
    >>> rod.error(state), rod.jacobian(state).round(3)
    (array([3.]), array([[0.6, 0. , 0.8]]))
    >>> system.project(state, 1e-10)
    >>> bob.q(state).round(6)
    array([1.2, 0. , 1.6])
    """

    num_errors: ClassVar[int] = 1
    stacked = ("first_station", "second_station", "length")

    def __init__(
        self,
        first: MobilizedBody,
        first_station: ArrayLike,
        second: MobilizedBody,
        second_station: ArrayLike,
        length: float,
    ) -> None:
        super().__init__(first, second)
        self.first_station = checked_array(first_station, (3,), f"the first station of {self}")
        self.second_station = checked_array(second_station, (3,), f"the second station of {self}")
        hint = "give more than 0; to hold points together, take a BallConstraint"
        self.length = require_number(length, f"the length of {self}", above=0.0, hint=hint)

    def _held_points(self) -> tuple[tuple[MobilizedBody, Array], ...]:
        one, two = self.bodies
        return (one, self.first_station), (two, self.second_station)

    def calc_error(self, pose: Transform) -> Any:
        """Return distance minus length."""
        return np.linalg.norm(self._arrow(pose), axis=-1) - self.length

    def calc_jacobian(self, pose: Transform) -> Array:
        """Return the Jacobian of the point along the rod.

        Raises
        ------
        KinematicsError
            The points coincide.
        """
        along = self._along(pose)[0]
        return point_jacobian(pose, self.second_station, along[..., None, :])

    def calc_bias(self, pose: Transform, velocity: Array) -> Any:
        """Return the centripetal acceleration, of the point and of the rod itself."""
        along, distance = self._along(pose)
        arm = turned(pose, self.second_station)
        moving = velocity[..., 3:] + cross(velocity[..., :3], arm)
        across = moving - (along * moving).sum(-1, keepdims=True) * along
        turning = point_bias(pose, self.second_station, velocity)
        return (across * across / distance + along * turning).sum(-1, keepdims=True)

    def calc_decorative_geometry_and_append(
        self, state: State, stage: Stage, geometry: list[Any]
    ) -> None:
        """Append a line from point to point as well, if it is enabled, at stage Position."""
        super().calc_decorative_geometry_and_append(state, stage, geometry)
        if stage is Stage.POSITION and self.is_enabled(state):
            one, two = self.bodies
            ends = (
                one.station_position(state, self.first_station),
                two.station_position(state, self.second_station),
            )
            geometry.append(DecorativeLine(*ends, line_width=ROD_WIDTH))

    def _arrow(self, pose: Transform) -> Array:
        """Return the vector from the first to the second point, in body 1."""
        return place_of(pose, self.second_station) - self.first_station

    def _along(self, pose: Transform) -> tuple[Array, Array]:
        """Return the direction of the rod, (..., 3), and the distance, (..., 1)."""
        arrow = self._arrow(pose)
        distance = np.linalg.norm(arrow, axis=-1, keepdims=True)
        if not distance.all():
            raise KinematicsError(
                f"{self}: its points coincide, so the rod has no direction",
                "points at some distance from each other",
                "a distance of 0",
                "give q for which they are apart, nearer to the length",
            )
        return arrow / distance, distance


@final
class PointOnLineConstraint(AbstractPairConstraint):
    """A line of body 1, a point of body 2. Two errors: from the line to the point [m].

    They are along two directions, normal to the line and to each other: `normals`, (2, 3).

    Parameters
    ----------
    first : MobilizedBody
    origin : (3,) array_like
        A point of the line, in body 1 [m].
    direction : (3,) array_like
        Direction of the line, in body 1; of any length but 0.
    second : MobilizedBody
    station : (3,) array_like
        The point, in body 2 [m].

    Raises
    ------
    UnknownBodyError, ConstraintError, ShapeError, NotANumberError, OutOfRangeError
    """

    num_errors: ClassVar[int] = 2
    stacked = ("origin", "normals", "station")

    def __init__(
        self,
        first: MobilizedBody,
        origin: ArrayLike,
        direction: ArrayLike,
        second: MobilizedBody,
        station: ArrayLike,
    ) -> None:
        super().__init__(first, second)
        self.origin = checked_array(origin, (3,), f"the origin of {self}")
        self.direction = checked_direction(direction, f"the direction of {self}")
        self.station = checked_array(station, (3,), f"the station of {self}")
        self.normals = normals_to(self.direction)

    def _held_points(self) -> tuple[tuple[MobilizedBody, Array], ...]:
        return ((self.bodies[1], self.station),)

    def calc_error(self, pose: Transform) -> Array:
        """Return the components of the vector from the line to the point."""
        return parts_along(self.normals, place_of(pose, self.station) - self.origin)

    def calc_jacobian(self, pose: Transform) -> Array:
        """Return the Jacobian of the point along both normals."""
        return point_jacobian(pose, self.station, self.normals)

    def calc_bias(self, pose: Transform, velocity: Array) -> Array:
        """Return the centripetal acceleration along both normals."""
        return parts_along(self.normals, point_bias(pose, self.station, velocity))


def normals_to(direction: Array) -> Array:
    """Return two unit vectors (2, 3) that, with a third one, make a right-handed frame."""
    first = cross3(direction, np.eye(3)[np.argmin(np.abs(direction))])
    first /= np.linalg.norm(first)
    found = np.array([first, cross3(direction, first)])
    found.flags.writeable = False
    return found


@final
class PointInPlaneConstraint(AbstractPairConstraint):
    """A plane of body 1, a point of body 2. One error: height of the point above the plane [m].

    Parameters
    ----------
    first : MobilizedBody
    normal : (3,) array_like
        Normal of the plane, in body 1; of any length but 0.
    height : float
        Height of the plane above the origin of body 1, along the normal [m].
    second : MobilizedBody
    station : (3,) array_like
        The point, in body 2 [m].

    Raises
    ------
    UnknownBodyError, ConstraintError, ShapeError, NotANumberError, OutOfRangeError
    """

    num_errors: ClassVar[int] = 1
    stacked = ("normal", "height", "station")

    def __init__(
        self,
        first: MobilizedBody,
        normal: ArrayLike,
        height: float,
        second: MobilizedBody,
        station: ArrayLike,
    ) -> None:
        super().__init__(first, second)
        self.normal = checked_direction(normal, f"the normal of {self}")
        self.height = require_number(height, f"the height of {self}")
        self.station = checked_array(station, (3,), f"the station of {self}")

    def _held_points(self) -> tuple[tuple[MobilizedBody, Array], ...]:
        return ((self.bodies[1], self.station),)

    def calc_error(self, pose: Transform) -> Any:
        """Return the height above the plane."""
        return (self.normal * place_of(pose, self.station)).sum(-1) - self.height

    def calc_jacobian(self, pose: Transform) -> Array:
        """Return the Jacobian of the point along the normal."""
        return point_jacobian(pose, self.station, self.normal[..., None, :])

    def calc_bias(self, pose: Transform, velocity: Array) -> Any:
        """Return the centripetal acceleration along the normal."""
        return (self.normal * point_bias(pose, self.station, velocity)).sum(-1, keepdims=True)
