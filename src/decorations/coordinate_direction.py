"""The six directions along the axes of a frame."""

from enum import Enum

import numpy as np

from stagecache.state.handles import Vector


class CoordinateDirection(Enum):
    """A direction along an axis, by its sign and the name of the axis."""

    X = "+X"
    Y = "+Y"
    Z = "+Z"
    NEGATIVE_X = "-X"
    NEGATIVE_Y = "-Y"
    NEGATIVE_Z = "-Z"

    @property
    def vector(self) -> Vector:
        """The unit vector. Shape (3,)."""
        vector = np.zeros(3)
        vector["XYZ".index(self.value[1])] = 1.0 if self.value[0] == "+" else -1.0
        return vector

    def __str__(self) -> str:
        return self.value
