"""Constant angle: a direction of each body keep their angle."""

from math import cos, pi
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from stagecache.multibody.constraints.checks import checked_direction, checked_number
from stagecache.multibody.constraints.pair_constraint import AbstractPairConstraint
from stagecache.multibody.geometry.spatial import Array, cross3
from stagecache.multibody.geometry.transform import Transform
from stagecache.multibody.matter.matter import MobilizedBody


@final
class ConstantAngleConstraint(AbstractPairConstraint):
    """Two directions at a given angle. One error: cosine of the angle, minus what it should be.

    With a fixed to body 1 and b to body 2: a.b - cos(angle), whose rate is w.(b x a).

    Parameters
    ----------
    first : MobilizedBody
    first_direction : (3,) array_like
        In body 1, of any length but 0.
    second : MobilizedBody
    second_direction : (3,) array_like
        In body 2, of any length but 0.
    angle : float
        Between 0 and pi, not included [rad]. At its ends the Jacobian is 0.

    Raises
    ------
    UnknownBodyError, ConstraintError, ShapeError, NotANumberError, OutOfRangeError
    """

    num_errors: ClassVar[int] = 1

    def __init__(
        self,
        first: MobilizedBody,
        first_direction: ArrayLike,
        second: MobilizedBody,
        second_direction: ArrayLike,
        angle: float = pi / 2,
    ) -> None:
        super().__init__(first, second)
        self.first_direction = checked_direction(first_direction, f"the first direction of {self}")
        self.second_direction = checked_direction(
            second_direction, f"the second direction of {self}"
        )
        hint = "give an angle in between, in rad; parallel directions are two constraints, not one"
        self.angle = checked_number(angle, f"the angle of {self}", above=0.0, below=pi, hint=hint)

    def calc_error(self, pose: Transform) -> Any:
        """The cosine, minus what it should be."""
        return self.first_direction @ (pose.rotation @ self.second_direction) - cos(self.angle)

    def calc_jacobian(self, pose: Transform) -> Array:
        """About the normal to both directions."""
        found = np.zeros((1, 6))
        found[0, :3] = cross3(pose.rotation @ self.second_direction, self.first_direction)
        return found

    def calc_bias(self, pose: Transform, velocity: Array) -> Any:
        """What comes of turning of b."""
        turning = velocity[:3]
        direction = pose.rotation @ self.second_direction
        return [self.first_direction @ cross3(turning, cross3(turning, direction))]
