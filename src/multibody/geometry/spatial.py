r"""Spatial vectors about the origin of the ground, many at a time.

A motion is (w, v): angular velocity, and velocity of that point of the body which is at the origin
O of the ground, both in its axes. All motions are about one point, so they add along a tree without
being shifted, and any point p of the body moves by

    v_p = v + w x p                            velocity of a station
    a_p = v' + w' x p + w x v_p                its acceleration; (w', v') are just the derivatives

A force is (m, f), with its moment about O: m = p x f. Power is m.w + f.v.

Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), chapter 2.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_NEXT = np.array([1, 2, 0])
_LAST = np.array([2, 0, 1])


def cross(a: Array, b: Array) -> Array:
    """Return the cross products of rows, (..., 3). `numpy.cross` takes three times as long."""
    found: Array = a.take(_NEXT, -1) * b.take(_LAST, -1)
    found -= a.take(_LAST, -1) * b.take(_NEXT, -1)
    return found


def cross3(a: Array, b: Array) -> Array:
    """Return the cross product of two vectors (3,). In floats: 1 us, `numpy.cross` takes 15."""
    a0, a1, a2 = a.tolist()
    b0, b1, b2 = b.tolist()
    return np.array([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0])


def cross_matrices(a: Array) -> Array:
    """Return the matrices (n, 3, 3) of the cross products by rows of a, (n, 3)."""
    found = np.zeros((len(a), 3, 3))
    x, y, z = a.T
    found[:, 0, 1], found[:, 0, 2] = -z, y
    found[:, 1, 0], found[:, 1, 2] = z, -x
    found[:, 2, 0], found[:, 2, 1] = -y, x
    return found


def velocities_at(points: Array, motions: Array) -> Array:
    """Return the velocities (n, 3) of points (n, 3) of bodies with these motions (n, 6)."""
    return motions[:, 3:] + cross(motions[:, :3], points)


def accelerations_at(points: Array, motions: Array, rates: Array) -> Array:
    """Return the accelerations (n, 3) of points, for motions and their derivatives (n, 6)."""
    linear = cross(motions[:, :3], velocities_at(points, motions))
    return velocities_at(points, rates) + linear


def forces_about_origin(points: Array, forces: Array) -> Array:
    """Return the spatial forces (n, 6) of forces (n, 3) at points (n, 3)."""
    return np.concatenate([cross(points, forces), forces], axis=1)


def velocity_maps(points: Array) -> Array:
    """Return the matrices (n, 3, 6) that take motions to velocities of points (n, 3)."""
    maps = np.zeros((len(points), 3, 6))
    x, y, z = points.T
    maps[:, 0, 1] = z
    maps[:, 1, 0] = -z
    maps[:, 2, 0] = y
    maps[:, 0, 2] = -y
    maps[:, 1, 2] = x
    maps[:, 2, 1] = -x
    maps[:, (0, 1, 2), (3, 4, 5)] = 1.0
    return maps
