"""Point in plane: a point of one body stays in a plane of the other."""

from typing import Any, ClassVar, final

from numpy.typing import ArrayLike

from stagecache.multibody.checks import checked_array
from stagecache.multibody.constraints.checks import checked_direction, checked_number
from stagecache.multibody.constraints.pair_constraint import AbstractPairConstraint
from stagecache.multibody.constraints.point_motion import place_of, point_bias, point_jacobian
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.geometry.transform import Transform
from stagecache.multibody.matter.matter import MobilizedBody


@final
class PointInPlaneConstraint(AbstractPairConstraint):
    """A plane of body 1, a point of body 2. One error: height of the point above the plane [m].

    Parameters
    ----------
    first : MobilizedBody
    normal : (3,) array_like
        Of the plane, in body 1; of any length but 0.
    height : float
        Of the plane above the origin of body 1, along the normal [m].
    second : MobilizedBody
    station : (3,) array_like
        The point, in body 2 [m].

    Raises
    ------
    UnknownBodyError, ConstraintError, ShapeError, NotANumberError, OutOfRangeError
    """

    num_errors: ClassVar[int] = 1

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
        self.height = checked_number(height, f"the height of {self}")
        self.station = checked_array(station, (3,), f"the station of {self}")

    def _held_points(self) -> tuple[tuple[MobilizedBody, Array], ...]:
        return ((self.bodies[1], self.station),)

    def calc_error(self, pose: Transform) -> Any:
        """The height above the plane."""
        return self.normal @ place_of(pose, self.station) - self.height

    def calc_jacobian(self, pose: Transform) -> Array:
        """Along the normal."""
        return point_jacobian(pose, self.station, self.normal[None])

    def calc_bias(self, pose: Transform, velocity: Array) -> Any:
        """Centripetal acceleration along the normal."""
        return self.normal[None] @ point_bias(pose, self.station, velocity)
