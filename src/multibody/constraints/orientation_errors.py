r"""By how much one frame is turned out of another one, as three errors that are zero only once.

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

import numpy as np

from stagecache.multibody.geometry.spatial import Array


def orientation_error(rotation: Array) -> Array:
    """The errors e (3,) of a rotation (3, 3)."""
    return 2.0 * _quaternion(rotation)[1:]


def orientation_jacobian(rotation: Array) -> Array:
    """What takes an angular velocity to the derivatives of the errors, (3, 3)."""
    w, x, y, z = _quaternion(rotation).tolist()
    return np.array([[w, z, -y], [-z, w, x], [y, -x, w]])


def orientation_bias(rotation: Array, turning: Array) -> Array:
    """The second derivatives of the errors where the angular velocity (3,) does not change."""
    found: Array = (-0.25 * (turning @ turning)) * orientation_error(rotation)
    return found


def _quaternion(rotation: Array) -> Array:
    """The quaternion (w, x, y, z) of a rotation, with w >= 0: found from its largest number."""
    (a, b, c), (d, e, f), (g, h, i) = rotation.tolist()
    largest = max(range(4), key=(a + e + i, a, e, i).__getitem__)
    if largest == 0:
        q = (1 + a + e + i, h - f, c - g, d - b)
    elif largest == 1:
        q = (h - f, 1 + a - e - i, b + d, c + g)
    elif largest == 2:
        q = (c - g, b + d, 1 - a + e - i, f + h)
    else:
        q = (d - b, c + g, f + h, 1 - a - e + i)
    found = np.array(q if q[0] >= 0.0 else [-value for value in q])
    found /= np.sqrt(found @ found)
    return found
