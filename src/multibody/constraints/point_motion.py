r"""Errors that are components of where a point of body 2 is in body 1.

::

    e = D (p + R s)              D (m, 3): directions; s: the point, in body 2; r = R s
    e' = D (v + w x r)           so the Jacobian is [r x D, D], row by row
    e'' = D (v' + w' x r + w x (w x r))
"""

import numpy as np

from stagecache.multibody.geometry.spatial import Array, cross, cross3
from stagecache.multibody.geometry.transform import Transform


def place_of(pose: Transform, station: Array) -> Array:
    """Where a point of body 2 is in body 1, (3,)."""
    found: Array = pose.rotation @ station + pose.translation
    return found


def point_jacobian(pose: Transform, station: Array, directions: Array) -> Array:
    """The derivatives of its components in m directions by (w, v): (m, 6)."""
    arm = pose.rotation @ station
    found = np.empty((len(directions), 6))
    found[:, :3] = cross(arm[None], directions)
    found[:, 3:] = directions
    return found


def point_bias(pose: Transform, station: Array, velocity: Array) -> Array:
    """How the point accelerates where (w, v) does not change, (3,)."""
    turning = velocity[:3]
    return cross3(turning, cross3(turning, pose.rotation @ station))
