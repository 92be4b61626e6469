"""Constant orientation: two bodies do not turn relative to each other."""

from typing import ClassVar, final

import numpy as np

from stagecache.multibody.constraints.orientation_errors import (
    orientation_bias,
    orientation_error,
    orientation_jacobian,
)
from stagecache.multibody.constraints.pair_constraint import AbstractPairConstraint
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.geometry.transform import Transform, checked_frame
from stagecache.multibody.matter.matter import MobilizedBody


@final
class ConstantOrientationConstraint(AbstractPairConstraint):
    """A frame of each body keep parallel axes. Three errors: about axes of body 1 [rad].

    They are 2 sin(t / 2) along the axis of the rotation by t that takes frame 1 to frame 2: the
    angle, as long as that is small; zero for parallel axes only (see `orientation_errors`).

    Parameters
    ----------
    first, second : MobilizedBody
    first_frame, second_frame : Transform, optional
        Whose axes are to be parallel. The defaults are the frames of the bodies.

    Raises
    ------
    UnknownBodyError, ConstraintError, WrongTypeError
    """

    num_errors: ClassVar[int] = 3

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

    def calc_error(self, pose: Transform) -> Array:
        """The angle along its axis."""
        return orientation_error(self._turned(pose))

    def calc_jacobian(self, pose: Transform) -> Array:
        """That of the angle."""
        found = np.zeros((3, 6))
        found[:, :3] = orientation_jacobian(self._turned(pose))
        return found

    def calc_bias(self, pose: Transform, velocity: Array) -> Array:
        """The second derivative of the angle where w is constant."""
        return orientation_bias(self._turned(pose), velocity[:3])

    def _turned(self, pose: Transform) -> Array:
        """The rotation that takes the axes of frame 1 to those of frame 2, in body 1."""
        found: Array = pose.rotation @ self.second_frame.rotation @ self.first_frame.rotation.T
        return found
