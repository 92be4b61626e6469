r"""Rotation vectors of many rotations at once, and their derivatives.

The rotation by t, from 0 to pi, about the unit vector n has the vector p = t n: R = exp [p]. As the
frame turns with angular velocity w, so that R' = [w] R::

    p' = J(p) w        J = 1 - [p]/2 + c [p]^2        c = (1 - (t/2) cot(t/2)) / t^2

J is the inverse of the left Jacobian of SO(3). It is regular up to t = pi, where c = 1/pi^2, and at
0, where c = 1/12. At half a turn p jumps to -p, as both are the same rotation. For constant f and
a, the derivative of f J a along a change d of p is d N a::

    N = [f]/2 - c [f][p] - c [f x p] + p ([p]^2 f)' c'/t        c' = dc/dt

Source: T. D. Barfoot, State Estimation for Robotics (2017), chapter 7; quaternions are by
S. W. Shepperd, Quaternion from Rotation Matrix, J. Guidance and Control 1 (1978), as in
`constraints.orientations` for a single one.
"""

from typing import Final

import numpy as np

from stagecache.multibody.geometry.spatial import Array, cross_matrices

# 4 q q' of a quaternion is linear in its rotation matrix: rows are w, x, y, z; letters, by rows.
_OUTER: Final = (
    ("a+e+i", "h-f", "c-g", "d-b"),
    ("h-f", "a-e-i", "b+d", "c+g"),
    ("c-g", "b+d", "e-a-i", "f+h"),
    ("d-b", "c+g", "f+h", "i-a-e"),
)
_ONES: Final = np.eye(4).ravel()  # the constant part
_ONE: Final = np.eye(3)
_SKEW: Final = -np.cross(np.eye(3)[:, None], np.eye(3)).reshape(3, 9)  # [p] is linear in p
_SMALL_BEND: Final = 1e-2  # a half angle below which c and its slope are series
_SMALL: Final = 1e-4  # a half angle below which c is 1/12, as [p]^2 makes up for the difference


def _linear() -> Array:
    """Return the matrix (9, 16) of `_OUTER`."""
    found = np.zeros((9, 16))
    for column, terms in enumerate(term for row in _OUTER for term in row):
        for sign, letter in zip("+" + terms[1::2], terms[::2], strict=True):
            found["abcdefghi".index(letter), column] = 1.0 if sign == "+" else -1.0
    return found


_LINEAR: Final = _linear()


def rotation_vectors(rotations: Array) -> Array:
    """Return the vectors (k, 3) of rotations (k, 3, 3) [rad]. Cost some 25 us for any few."""
    outer = (rotations.reshape(-1, 9) @ _LINEAR + _ONES).reshape(-1, 4, 4)
    largest = outer.diagonal(axis1=1, axis2=2).argmax(axis=1)
    q = outer[np.arange(len(outer)), largest]
    q *= np.where(q[:, :1] < 0.0, -1.0, 1.0)
    sines = np.sqrt(np.einsum("ij,ij->i", q[:, 1:], q[:, 1:]))  # times some positive number
    halves = np.arctan2(sines, q[:, 0])
    factors = 2.0 / q[:, 0].clip(min=np.finfo(float).tiny)  # where the angle is 0
    np.divide(2.0 * halves, sines, out=factors, where=sines > 0.0)
    found: Array = q[:, 1:] * factors[:, None]
    return found


def rotation_vector_jacobians(vectors: Array) -> Array:
    """Return J (k, 3, 3) of vectors (k, 3), where the derivative of a vector is J w."""
    squares = np.einsum("ij,ij->i", vectors, vectors)
    halves = np.sqrt(squares) / 2.0
    is_small = halves < _SMALL
    safe = np.where(is_small, 1.0, halves)
    c = (1.0 - safe / np.tan(safe)) / (4.0 * safe * safe)
    c = np.where(is_small, 1.0 / 12.0, c)[:, None, None]
    skew = (vectors @ _SKEW).reshape(-1, 3, 3)
    found: Array = c * (skew @ skew)
    found -= 0.5 * skew
    found += _ONE
    return found


def rotation_vector_bends(vectors: Array, factors: Array) -> Array:
    """Return N (k, 3, 3) of vectors p and factors f (k, 3), for the derivatives of f J(p) a."""
    squares = np.einsum("ij,ij->i", vectors, vectors)
    halves = np.sqrt(squares) / 2.0
    is_small = halves < _SMALL_BEND
    safe = np.where(is_small, 1.0, halves)
    cotangents = 1.0 / np.tan(safe)
    c = (1.0 - safe * cotangents) / (4.0 * safe * safe)
    slope = (safe / np.sin(safe) ** 2 - cotangents) / (16.0 * safe**3) - c / (2.0 * safe**2)
    c = np.where(is_small, 1.0 / 12.0 + squares / 720.0, c)[:, None, None]
    slope = np.where(is_small, 1.0 / 360.0 + squares / 7560.0, slope)[:, None, None]
    p, f = cross_matrices(vectors), cross_matrices(factors)
    both = f @ p
    found: Array = 0.5 * f - c * (2.0 * both - both.swapaxes(1, 2))
    found += slope * vectors[:, :, None] * (p @ p @ factors[:, :, None]).swapaxes(1, 2)
    return found
