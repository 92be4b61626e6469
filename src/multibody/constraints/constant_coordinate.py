"""Constant coordinate: one q of a joint keeps its value."""

from typing import Any, ClassVar, final

import numpy as np

from stagecache.multibody.constraints.checks import checked_number
from stagecache.multibody.constraints.coordinate_constraint import AbstractCoordinateConstraint
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.matter.matter import MobilizedBody


@final
class ConstantCoordinateConstraint(AbstractCoordinateConstraint):
    """One q of a joint has a value. One error: q minus value [rad or m].

    Parameters
    ----------
    body : MobilizedBody
        Whose joint it is.
    value : float
        [rad or m]
    index : int, optional
        Which of its q, from 0.

    Raises
    ------
    UnknownBodyError, ConstraintError, ShapeError, NotANumberError, OutOfRangeError
    """

    num_errors: ClassVar[int] = 1

    def __init__(self, body: MobilizedBody, value: float, *, index: int = 0) -> None:
        super().__init__([(body, index)])
        self.value = checked_number(value, f"the value of {self}")

    def calc_error(self, x: Array) -> Array:
        """The difference."""
        return x - self.value

    def calc_jacobian(self, x: Array) -> Any:  # noqa: ARG002  # of a fixed form
        """One."""
        return [[1.0]]

    def calc_bias(self, x: Array, rates: Array) -> Any:  # noqa: ARG002  # of a fixed form
        """None."""
        return np.zeros(1)
