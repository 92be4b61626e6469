r"""N of qdot = N w, for quaternions q = (w, x, y, z) and angular velocities in the fixed frame.

Numbers may be floats, for one quaternion, or arrays of one shape, for as many. A quaternion may
have any length but zero.

Source: P. E. Nikravesh, Computer-Aided Analysis of Mechanical Systems (1988), chapter 6.
"""

from collections.abc import Sequence
from typing import Any


def n_of_quaternion(q: Sequence[Any]) -> list[list[Any]]:
    """Return N, 4 rows of 3."""
    w, x, y, z = q[0] / 2, q[1] / 2, q[2] / 2, q[3] / 2
    return [[-x, -y, -z], [w, z, -y], [-z, w, x], [y, -x, w]]


def n_pinv_of_quaternion(q: Sequence[Any]) -> list[list[Any]]:
    """Return the pseudoinverse of N, 3 rows of 4: 4 N' / |q|^2."""
    scale = 2.0 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    w, x, y, z = scale * q[0], scale * q[1], scale * q[2], scale * q[3]
    return [[-x, w, -z, y], [-y, z, w, -x], [-z, -y, x, w]]
