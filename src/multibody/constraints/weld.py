"""Weld: two frames coincide."""

from typing import ClassVar, final

import numpy as np

from stagecache.multibody.constraints.orientation_errors import (
    orientation_bias,
    orientation_error,
    orientation_jacobian,
)
from stagecache.multibody.constraints.pair_constraint import AbstractPairConstraint
from stagecache.multibody.constraints.point_motion import place_of, point_bias, point_jacobian
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.geometry.transform import Transform, checked_frame
from stagecache.multibody.matter.matter import MobilizedBody


@final
class WeldConstraint(AbstractPairConstraint):
    """A weld that closes a loop. Six errors: three as of ConstantOrientation, three as of Ball.

    The first are about axes of body 1 [rad]; the last are from origin 1 to 2, in these axes [m].

    Parameters
    ----------
    first, second : MobilizedBody
    first_frame, second_frame : Transform, optional
        Which are to coincide. The defaults are the frames of the bodies.

    Raises
    ------
    UnknownBodyError, ConstraintError, WrongTypeError
    """

    num_errors: ClassVar[int] = 6

    def __init__(
        self,
        first: MobilizedBody,
        second: MobilizedBody,
        *,
        first_frame: Transform | None = None,
        second_frame: Transform | None = None,
    ) -> None:
        super().__init__(first, second)
        self.first_frame = checked_frame(first_frame, f"the first frame of {self}")
        self.second_frame = checked_frame(second_frame, f"the second frame of {self}")

    def _held_points(self) -> tuple[tuple[MobilizedBody, Array], ...]:
        one, two = self.bodies
        return (one, self.first_frame.translation), (two, self.second_frame.translation)

    def calc_error(self, pose: Transform) -> Array:
        """The angle along its axis, and from origin to origin."""
        offset = place_of(pose, self.second_frame.translation) - self.first_frame.translation
        return np.concatenate([orientation_error(self._turned(pose)), offset])

    def calc_jacobian(self, pose: Transform) -> Array:
        """That of the angle, and of the second origin."""
        found = np.zeros((6, 6))
        found[:3, :3] = orientation_jacobian(self._turned(pose))
        found[3:] = point_jacobian(pose, self.second_frame.translation, np.eye(3))
        return found

    def calc_bias(self, pose: Transform, velocity: Array) -> Array:
        """The second derivative of the angle, and centripetal acceleration."""
        turning = orientation_bias(self._turned(pose), velocity[:3])
        moving = point_bias(pose, self.second_frame.translation, velocity)
        return np.concatenate([turning, moving])

    def _turned(self, pose: Transform) -> Array:
        """The rotation that takes the axes of frame 1 to those of frame 2, in body 1."""
        found: Array = pose.rotation @ self.second_frame.rotation @ self.first_frame.rotation.T
        return found
