r"""How one body moves relative to another one, seen from the first.

Body 1 has R1, p1, angular velocity w1, velocity v1 of its origin; body 2 likewise, all in ground.
What body 1 sees, in its own axes, of body 2, and of the origin of that::

    R = R1' R2        p = R1' (p2 - p1)       d = p2 - p1
    w = R1' (w2 - w1)                         angular velocity, which is R' R~ of body 2
    v = R1' (v2 - v1 - w1 x d)                velocity; just the derivative of p
    w~ = R1' (a2 - a1 - w1 x (w2 - w1))       derivatives of these, with angular accelerations a
    v~ = R1' (b2 - b1 - a1 x d - w1 x (v2 - v1) - w1 x (v2 - v1 - w1 x d))     and linear ones b

In these coordinates body 1 does not move, so constraints are written as if it were the ground. The
forces (m, f) in body 1 of which m.w + f.v is the power act on both bodies, opposite to each other.

Source: derived from R1~ = w1 x R1; A. Jain, Robot and Multibody Dynamics (2011), chapter 2.
"""

from typing import Final

import numpy as np

from stagecache.multibody.geometry.spatial import Array, cross, cross3
from stagecache.multibody.geometry.transform import Transform

_LAST_ROW: Final = (0.0, 0.0, 0.0, 1.0)  # of a homogeneous matrix


def relative_pose(one: Transform, two: Transform) -> Transform:
    """(R, p), of two poses in ground. Cost 4 us, half that of ``one.inverse() @ two``."""
    found = one.rotation.T @ two.matrix[:3]
    found[:, 3] -= one.translation @ one.rotation
    matrix = np.empty((4, 4))
    matrix[:3] = found
    matrix[3] = _LAST_ROW
    return Transform.of_matrix(matrix)


def relative_velocity(one: Transform, two: Transform, of_one: Array, of_two: Array) -> Array:
    """(w, v), (6,), of poses in ground and velocities of both bodies (6,)."""
    found = (of_two - of_one).reshape(2, 3)
    found[1] -= cross3(of_one[:3], two.translation - one.translation)
    return (found @ one.rotation).ravel()


def relative_acceleration(
    one: Transform,
    two: Transform,
    velocities: tuple[Array, Array],
    accelerations: tuple[Array, Array],
) -> Array:
    """The derivatives of (w, v), (6,), for the velocities and accelerations of both bodies."""
    arm = two.translation - one.translation
    w1, a1 = velocities[0][:3], accelerations[0][:3]
    between = velocities[1] - velocities[0]
    found = (accelerations[1] - accelerations[0]).reshape(2, 3)
    found[0] -= cross3(w1, between[:3])
    found[1] -= cross3(a1, arm) + cross3(w1, 2.0 * between[3:] - cross3(w1, arm))
    return (found @ one.rotation).ravel()


def forces_in_ground(one: Transform, two: Transform, forces: Array) -> Array:
    """Forces on body 2 in the axes of body 1, (m, 6), in ground and about its origin."""
    found: Array = (forces.reshape(-1, 2, 3) @ one.rotation.T).reshape(-1, 6)
    linear = found[:, 3:]
    found[:, :3] += cross(two.translation[None], linear)
    return found
