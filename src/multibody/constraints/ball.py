"""Ball: two points coincide."""

from typing import ClassVar, Final, final

import numpy as np
from numpy.typing import ArrayLike

from stagecache.multibody.checks import checked_array
from stagecache.multibody.constraints.pair_constraint import AbstractPairConstraint
from stagecache.multibody.constraints.point_motion import place_of, point_bias, point_jacobian
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.geometry.transform import Transform
from stagecache.multibody.matter.matter import MobilizedBody

ALL: Final = np.eye(3)


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
        """From point 1 to point 2."""
        return place_of(pose, self.second_station) - self.first_station

    def calc_jacobian(self, pose: Transform) -> Array:
        """That of point 2."""
        return point_jacobian(pose, self.second_station, ALL)

    def calc_bias(self, pose: Transform, velocity: Array) -> Array:
        """Centripetal acceleration of point 2."""
        return point_bias(pose, self.second_station, velocity)
