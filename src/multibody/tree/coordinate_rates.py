r"""Rates of coordinates of a tree: N of qdot = N u, qdotdot, and the lengths of quaternions.

N has a block for each joint, which is 1 unless its mobilizer has another one. It is dense for small
trees, and sparse for large ones.
"""

from collections.abc import Callable, Sequence
from math import hypot
from typing import Any, Final

import numpy as np

from stagecache.errors import KinematicsError
from stagecache.multibody.geometry.orientation import LONGEST, SHORTEST, Rows
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.tree.joints import Joint
from stagecache.multibody.tree.layout import Indices, TreeLayout
from stagecache.multibody.tree.poses import refuse_q
from stagecache.numerics.matrices import placed

LARGE: Final = 64
"""The largest nu for which matrices are dense."""


def n_of(layout: TreeLayout, q: list[float]) -> Any:
    """Return N, (nq, nu): an array, or a csr_array.

    Raises
    ------
    KinematicsError
        N is singular at the angles.
    """
    blocks = _blocks(layout, q, lambda joint, own: joint.mobilizer.n(own))
    return _matrix(blocks, layout.n_places, (layout.nq, layout.nu))


def u_by_qdot_of(layout: TreeLayout, q: list[float]) -> Any:
    """Return the u for a qdot, (nu, nq), in the form of the pseudoinverse."""
    blocks = _blocks(layout, q, lambda joint, own: joint.mobilizer.u_by_qdot(own))
    return _matrix(blocks, layout.n_pinv_places, (layout.nu, layout.nq))


def n_pinv_of(layout: TreeLayout, q: list[float]) -> Any:
    """Return the pseudoinverse of N, (nu, nq), in the same form."""
    blocks = _blocks(layout, q, lambda joint, own: joint.mobilizer.n_pinv(own))
    return _matrix(blocks, layout.n_pinv_places, (layout.nu, layout.nq))


def qdot_of(layout: TreeLayout, q: Array, u: Array) -> Array:
    """Return N u, (nq,).

    Raises
    ------
    KinematicsError
        N is singular at the angles.
    """
    found = None if layout.kernel is None else layout.kernel.qdot(q, u)
    if found is None:
        found = n_of(layout, q.tolist()) @ u
    return found


def qdotdot_of(layout: TreeLayout, q: Array, qdot: Array, u: Array, udot: Array) -> Array:
    """Return N udot + dN/dt u, (nq,); NaN for joints with a udot that is NaN. Cost O(nq)."""
    if layout.kernel is not None:
        compiled = layout.kernel.qdotdot(q, qdot, u, udot)
        if compiled is not None:
            return compiled
    found = np.full(layout.nq, np.nan)
    rows, columns = (places[: layout.num_ones] for places in layout.n_places)
    found[rows] = udot[columns]
    values, rates = q.tolist(), qdot.tolist()
    for joint in layout.related:
        found[joint.q] = joint.qdotdot(values[joint.q], rates[joint.q], u, udot)
    return found


def lengths_of(layout: TreeLayout, q: Sequence[float]) -> Array:
    """Return the lengths of all quaternions.

    Raises
    ------
    KinematicsError
        One is zero, or of a length out of range.
    """
    lengths = [hypot(*q[start : start + 4]) for start in _starts(layout)]
    for joint, length in zip(layout.normalized, lengths, strict=True):
        if not SHORTEST < length < LONGEST:
            refuse_q(joint, q)
    return np.array(lengths)


def normals_of(layout: TreeLayout, q: Sequence[float], start: int, size: int) -> Any:
    """Return the derivatives of the lengths by all q of a System, (quaternions, size).

    Parameters
    ----------
    layout : TreeLayout
    q : sequence of float
    start, size : int
        The place of the first q of the matter, and the number of q of the System.

    Raises
    ------
    KinematicsError
        A quaternion is zero.
    """
    places = [first + x for first in _starts(layout) for x in range(4)]
    rows = np.repeat(np.arange(len(layout.normalized)), 4)
    columns = start + np.array(places, np.intp)
    values = np.array([q[place] for place in places]) / lengths_of(layout, q)[rows]
    shape = len(layout.normalized), size
    return placed(values, (rows, columns), shape, sparse=size > LARGE)


def _starts(layout: TreeLayout) -> list[int]:
    """Return the places in q where quaternions begin."""
    return [
        joint.q.start + start
        for joint in layout.normalized
        if (start := joint.mobilizer.quaternion_start) is not None
    ]


def _blocks(
    layout: TreeLayout,
    q: list[float],
    block_of: Callable[[Joint, list[float]], Rows | None],
) -> list[float]:
    """Return the numbers of the blocks that are not 1, row by row."""
    found: list[float] = []
    for joint in layout.related:
        try:
            block = block_of(joint, q[joint.q])
        except ZeroDivisionError:
            if joint.mobilizer.quaternion_start is not None:
                refuse_q(joint, q)
            raise KinematicsError(
                f"{joint.body}: its {joint.mobilizer!r} is where N is singular",
                "Euler angles whose second is not pi/2",
                f"q = {q[joint.q]}",
                "use quaternions: set use_euler_angles of the matter to False",
            ) from None
        assert block is not None
        for row in block:
            found.extend(row)
    return found


def _matrix(blocks: list[float], places: tuple[Indices, Indices], shape: tuple[int, int]) -> Any:
    """Return the matrix with numbers of blocks at the last places, and 1 at the others."""
    values = np.ones(len(places[0]))
    values[len(values) - len(blocks) :] = blocks
    is_large = min(shape) > LARGE
    found = placed(values, places, shape, sparse=is_large)
    return found.tocsr() if is_large else found
