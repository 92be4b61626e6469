r"""Constraints on the orientation of body 2 in body 1: angles, parallel axes, welds.

A rotation by t about the unit vector n, with A' = [w] A, has the quaternion (c, s n), c = cos(t/2),
s = sin(t/2), of which c is taken positive, so t is up to pi. The errors are the angle along the
axis, as good as::

    e = 2 s n                            e = t n - O(t^3);  |e| = 2 at t = pi
    e' = (c - [s n]) w                   det = c: singular at t = pi only
    e'' = (c - [s n]) w' - |w|^2 e / 4

Products of axes, as x1.y2, which Simbody takes, are zero also after half a turn, and singular at a
quarter of one.

Source: derived from the rate of a quaternion, w q / 2; the quaternion of a rotation is by
S. W. Shepperd, Quaternion from Rotation Matrix, J. Guidance and Control 1 (1978).
"""

from math import pi
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from stagecache.checks import require_number
from stagecache.multibody.checks import checked_direction
from stagecache.multibody.constraints.pair_constraint import AbstractPairConstraint
from stagecache.multibody.constraints.points import (
    place_of,
    point_bias,
    point_jacobian,
    turned,
)
from stagecache.multibody.geometry.spatial import Array, cross
from stagecache.multibody.geometry.transform import Transform, checked_frame
from stagecache.multibody.matter.matter import MobilizedBody


def orientation_error(rotation: Array) -> Array:
    """Return the errors e (..., 3) of a rotation (..., 3, 3)."""
    return 2.0 * _quaternion(rotation)[..., 1:]


def orientation_jacobian(rotation: Array) -> Array:
    """Return the derivatives of the errors by (w, v), (..., 3, 6)."""
    w, x, y, z = np.moveaxis(_quaternion(rotation), -1, 0)
    found = np.zeros((*rotation.shape[:-2], 3, 6))
    by_turning = np.array([[w, z, -y], [-z, w, x], [y, -x, w]])
    found[..., :3] = np.moveaxis(by_turning, (0, 1), (-2, -1))
    return found


def orientation_bias(rotation: Array, turning: Array) -> Array:
    """Return the second derivatives of the errors for a constant angular velocity (..., 3)."""
    square = (turning * turning).sum(-1, keepdims=True)
    found: Array = -0.25 * square * orientation_error(rotation)
    return found


def _quaternion(rotation: Array) -> Array:
    """Return the quaternion (w, x, y, z) of a rotation, with w >= 0, from its largest number."""
    (a, b, c), (d, e, f), (g, h, i) = np.moveaxis(rotation, (-2, -1), (0, 1))
    wx, wy, wz, xy, xz, yz = h - f, c - g, d - b, b + d, c + g, f + h
    squares = 1 + a + e + i, 1 + a - e - i, 1 - a + e - i, 1 - a - e + i
    largest = np.argmax(squares, axis=0)
    w, x, y, z = squares
    products = np.array([[w, wx, wy, wz], [wx, x, xy, xz], [wy, xy, y, yz], [wz, xz, yz, z]])
    found: Array = np.moveaxis(np.take_along_axis(products, largest[None, None], 0)[0], 0, -1)
    found = np.where(found[..., :1] < 0.0, -found, found)
    found /= np.linalg.norm(found, axis=-1, keepdims=True)
    return found


@final
class ConstantAngleConstraint(AbstractPairConstraint):
    """Two directions at a given angle. One error: cosine of the angle, minus its wanted value.

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
    stacked = ("first_direction", "second_direction", "angle")

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
        self.angle = require_number(angle, f"the angle of {self}", above=0.0, below=pi, hint=hint)

    def calc_error(self, pose: Transform) -> Any:
        """Return the cosine, minus its wanted value."""
        along = (self.first_direction * turned(pose, self.second_direction)).sum(-1)
        return along - np.cos(self.angle)

    def calc_jacobian(self, pose: Transform) -> Array:
        """Return the Jacobian, about the normal to both directions."""
        normal = cross(turned(pose, self.second_direction), self.first_direction)
        return np.concatenate([normal, np.zeros_like(normal)], axis=-1)[..., None, :]

    def calc_bias(self, pose: Transform, velocity: Array) -> Any:
        """Return the centripetal acceleration of b along a."""
        bias = point_bias(pose, self.second_direction, velocity)
        return (self.first_direction * bias).sum(-1, keepdims=True)


class AbstractFrameConstraint(AbstractPairConstraint):
    """A constraint on the orientation of a frame of body 2 in a frame of body 1."""

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
        self._turn = self.second_frame.rotation @ self.first_frame.rotation.T
        self._origins = np.array([self.first_frame.translation, self.second_frame.translation])

    def _turned(self, pose: Transform) -> Array:
        """Return the rotation that takes the axes of frame 1 to those of frame 2, in body 1."""
        found: Array = pose.rotation @ self._turn
        return found


@final
class ConstantOrientationConstraint(AbstractFrameConstraint):
    """Parallel axes of a frame of each body. Three errors: about axes of body 1 [rad].

    They are 2 sin(t / 2) along the axis of the rotation by t that takes frame 1 to frame 2: the
    angle, as long as that is small; zero for parallel axes only (see above).

    Parameters
    ----------
    first, second : MobilizedBody
    first_frame, second_frame : Transform, optional
        The frames with parallel axes. The defaults are the frames of the bodies.

    Raises
    ------
    UnknownBodyError, ConstraintError, WrongTypeError
    """

    num_errors: ClassVar[int] = 3
    stacked = ("_turn",)

    def calc_error(self, pose: Transform) -> Array:
        """Return the angle along its axis."""
        return orientation_error(self._turned(pose))

    def calc_jacobian(self, pose: Transform) -> Array:
        """Return the Jacobian of the angle."""
        return orientation_jacobian(self._turned(pose))

    def calc_bias(self, pose: Transform, velocity: Array) -> Array:
        """Return the second derivative of the angle where w is constant."""
        return orientation_bias(self._turned(pose), velocity[..., :3])


@final
class WeldConstraint(AbstractFrameConstraint):
    """A weld that closes a loop. Six errors: three like ConstantOrientation, three like Ball.

    The first are about axes of body 1 [rad]; the last are from origin 1 to 2, in these axes [m].

    Parameters
    ----------
    first, second : MobilizedBody
    first_frame, second_frame : Transform, optional
        The frames that coincide. The defaults are the frames of the bodies.

    Raises
    ------
    UnknownBodyError, ConstraintError, WrongTypeError
    """

    num_errors: ClassVar[int] = 6
    stacked = ("_turn", "_origins")

    def _held_points(self) -> tuple[tuple[MobilizedBody, Array], ...]:
        one, two = self.bodies
        return (one, self.first_frame.translation), (two, self.second_frame.translation)

    def calc_error(self, pose: Transform) -> Array:
        """Return the angle along its axis, and the vector from origin to origin."""
        offset = place_of(pose, self._origins[..., 1, :]) - self._origins[..., 0, :]
        return np.concatenate([orientation_error(self._turned(pose)), offset], axis=-1)

    def calc_jacobian(self, pose: Transform) -> Array:
        """Return the Jacobians of the angle, and of the second origin."""
        moving = point_jacobian(pose, self._origins[..., 1, :], np.eye(3))
        return np.concatenate([orientation_jacobian(self._turned(pose)), moving], axis=-2)

    def calc_bias(self, pose: Transform, velocity: Array) -> Array:
        """Return the second derivative of the angle, and the centripetal acceleration."""
        turning = orientation_bias(self._turned(pose), velocity[..., :3])
        moving = point_bias(pose, self._origins[..., 1, :], velocity)
        return np.concatenate([turning, moving], axis=-1)
