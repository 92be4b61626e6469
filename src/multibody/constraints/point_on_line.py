"""Point on line: a point of one body stays on a line of the other."""

from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from stagecache.multibody.checks import checked_array
from stagecache.multibody.constraints.checks import checked_direction
from stagecache.multibody.constraints.pair_constraint import AbstractPairConstraint
from stagecache.multibody.constraints.point_motion import place_of, point_bias, point_jacobian
from stagecache.multibody.geometry.spatial import Array, cross3
from stagecache.multibody.geometry.transform import Transform
from stagecache.multibody.matter.matter import MobilizedBody


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
        Of the line, in body 1; of any length but 0.
    second : MobilizedBody
    station : (3,) array_like
        The point, in body 2 [m].

    Raises
    ------
    UnknownBodyError, ConstraintError, ShapeError, NotANumberError, OutOfRangeError
    """

    num_errors: ClassVar[int] = 2

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
        """From the line to the point."""
        found: Array = self.normals @ (place_of(pose, self.station) - self.origin)
        return found

    def calc_jacobian(self, pose: Transform) -> Array:
        """Along both normals."""
        return point_jacobian(pose, self.station, self.normals)

    def calc_bias(self, pose: Transform, velocity: Array) -> Array:
        """Centripetal acceleration along both normals."""
        found: Array = self.normals @ point_bias(pose, self.station, velocity)
        return found


def normals_to(direction: Array) -> Array:
    """Two unit vectors (2, 3) that make a right-handed frame with a unit vector, the last one."""
    first = cross3(direction, np.eye(3)[np.argmin(np.abs(direction))])
    first /= np.linalg.norm(first)
    found = np.array([first, cross3(direction, first)])
    found.flags.writeable = False
    return found
