r"""Poses of all bodies of a tree: one value, from which the next one is computed.

::

    X_GM = X_GMp X_MpF X_FM(q)      p: the parent.  X_MpF is constant, X_FM is of the mobilizer
           ----- -----------
           dot     one batch        X_GB = X_GM X_MB, one batch, where X_MB is not 1

After a write to some q, only poses outboard of these joints are computed again; the others are
taken from the value before. So the whole tree is *one* cache entry. Beside it, an entry for each
body keeps its dependents valid while that body does not move (early cutoff).

Why not an entry for each body, with its joint's q and its parent's pose as prerequisites? Both were
measured with Pins, in plain CPython 3.11, in us, with the write of q (`entries`: an entry for each;
`floats`: one entry, products written out in floats; `here`: one entry, as here, in NumPy; `kernel`:
the same, where `kernel.c` is compiled):

========================  ========  ====  =====  =====  ======
a write of                read      n=10     30    100    1000
========================  ========  ====  =====  =====  ======
all q                     entries     43    124    410    4200
..                        floats      25     65    210    2000
..                        here        30     58    155    1350
..                        kernel      12     11     19     104
the middle of a chain     entries     22     62    200    2060
..                        floats      14     32     93     880
..                        here        24     30     53     350
..                        kernel      11     10     13      26
the last joint            entries      7     10     19     135
..                        floats       7      8     12      60
..                        here        21     21     23      47
..                        kernel      11      9     11      23
the last joint, then all  entries      7     10     19     135
bodies by their entries   here        45     85    230    2050
..                        kernel      41     80    254    2830
========================  ========  ====  =====  =====  ======

An entry for each body costs 2 us in the framework, and pays in the last lines only. But an
assembler or a Jacobian of markers needs all poses, so it reads the one entry, and writes all q. A
product of poses is a `numpy.dot` of two 4x4 matrices, 0.5 us, where floats take 2 us. The kernel
takes 25 ns for a body; poses that are taken from before are copied, in 8 ns each, so that a write
of the last of 1,000 joints costs a third of all of them there.
"""

from collections.abc import Sequence
from math import isfinite
from typing import Any, Final, NoReturn, final

import numpy as np

from stagecache.errors import KinematicsError
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.geometry.transform import Transform
from stagecache.multibody.tree.joints import Joint
from stagecache.multibody.tree.layout import TreeLayout

_SHOWN: Final = 7  # numbers of q
_LAST_ROW: Final = (0.0, 0.0, 0.0, 1.0)  # of a homogeneous matrix


@final
class TreePoses:
    """The poses in ground of all frames of a tree. They are const.

    Attributes
    ----------
    q : ndarray of shape (nq,)
        The q of the poses.
    relative : ndarray of shape (rows, 4, 4)
        X_MpM: frames M in the frames M of the parents.
    joints : ndarray of shape (rows, 4, 4)
        X_GM.
    bodies : ndarray of shape (rows, 4, 4)
        X_GB.
    moved : tuple of (int, int)
        Ranges of rows that were computed; the others are from the value before.
    """

    __slots__ = ("_transforms", "bodies", "joints", "moved", "q", "relative")

    def __init__(
        self,
        q: Array,
        relative: Array,
        joints: Array,
        bodies: Array,
        moved: tuple[tuple[int, int], ...] = (),
        before: "TreePoses | None" = None,
    ) -> None:
        for array in (q, relative, joints, bodies):
            array.setflags(write=False)
        self.q = q
        self.relative = relative
        self.joints = joints
        self.bodies = bodies
        self.moved = moved
        self._transforms: list[Transform | None]
        if before is None or moved == ((1, len(bodies)),):
            self._transforms = [None] * len(bodies)
        else:
            self._transforms = before._transforms.copy()
            for start, end in moved:
                self._transforms[start:end] = [None] * (end - start)

    @property
    def arrays(self) -> tuple[Array, Array, Array, Array]:
        """The arrays of q, relative poses, poses of joints and of bodies."""
        return self.q, self.relative, self.joints, self.bodies

    def transform(self, row: int) -> Transform:
        """Return X_GB of a body: the same object as before if it has not moved.

        It is made on demand, and shares no memory with the arrays, which it would keep alive.
        """
        found = self._transforms[row]
        if found is None:
            found = self._transforms[row] = Transform.of_matrix(self.bodies[row].copy())
        return found

    def __copy__(self) -> "TreePoses":
        return self

    def __deepcopy__(self, memo: object) -> "TreePoses":
        return self

    def __reduce__(self) -> Any:
        """Leave out the transforms, which are made on demand."""
        return TreePoses, (self.q, self.relative, self.joints, self.bodies)

    def __repr__(self) -> str:
        return f"<poses of {len(self.bodies)} bodies at {len(self.q)} q>"


def poses_at(layout: TreeLayout, q: Array, before: TreePoses | None) -> TreePoses:
    """Return the poses at some q.

    Parameters
    ----------
    layout : TreeLayout
    q : ndarray of shape (nq,)
        The array is kept, and made read-only.
    before : TreePoses or None
        Poses of the same layout: those that did not move are taken from there. The numbers are the
        same as if all were computed, to the last bit but the signs of zeros.

    Returns
    -------
    TreePoses
        `before` itself if the q are the same. Cost some 10 us, and 1.3 us for each body (in the
        kernel 3 us and 0.03 us); with `before`, for each body outboard of a joint with other q.

    Raises
    ------
    KinematicsError
        A mobilizer has no pose at its q: its quaternion is zero, or a q is NaN, for example.
    """
    if layout.kernel is not None:
        found = layout.kernel.positions(q, before and before.arrays)
        if found is not None:
            relative, joints, bodies, computed = found
            if before is not None and not computed:
                return before
            return TreePoses(q, relative, joints, bodies, tuple(computed), before)
    if before is None:
        n = len(layout.joints)
        changed, ranges = layout.joints[1:], [(1, n)]
        relative, joints = np.empty((n, 4, 4)), np.empty((n, 4, 4))
        relative[0] = joints[0] = np.eye(4)
        bodies = joints if layout.outboard is None else np.empty((n, 4, 4))
        bodies[0] = joints[0]
    else:
        changed = _changed(layout, q, before.q)
        if not changed:
            return before
        ranges = _outboard(layout, changed)
        relative, joints = before.relative.copy(), before.joints.copy()
        bodies = joints if layout.outboard is None else before.bodies.copy()
    _place(layout, q, changed, relative)
    parents, dot = layout.parents, np.dot
    for start, end in ranges:
        # Views are made once for each matrix: indexing takes a fifth of the time of a product.
        steps = list(relative[start:end])
        frames = list(joints[start:end])
        for i, frame in enumerate(frames):
            parent = parents[start + i] - start
            dot(frames[parent] if parent >= 0 else joints[parent + start], steps[i], frame)
        if layout.outboard is not None:
            np.matmul(joints[start:end], layout.outboard[start:end], bodies[start:end])
    return TreePoses(q, relative, joints, bodies, tuple(ranges), before)


def _changed(layout: TreeLayout, q: Array, before: Array) -> list[Joint]:
    """Return the joints with other q, by their rows. NaN always differs."""
    rows = layout.joint_of_q[(q != before).nonzero()[0]]
    return [layout.joints[row] for row in sorted(set(rows.tolist()))]


def _outboard(layout: TreeLayout, joints: Sequence[Joint]) -> list[tuple[int, int]]:
    """Return the rows outboard of some joints, as ranges in order that do not overlap."""
    found: list[tuple[int, int]] = []
    for joint in joints:
        if not found or joint.row >= found[-1][1]:
            found.append((joint.row, int(layout.ends[joint.row])))
    return found


def _place(layout: TreeLayout, q: Array, joints: Sequence[Joint], relative: Array) -> None:
    """Compute X_MpM = X_MpF X_FM of some joints."""
    values: list[float] = q.tolist()
    if not isfinite(sum(values)):  # or they are huge
        for joint in joints:
            if not all(map(isfinite, values[joint.q])):
                refuse_q(joint, values)
    numbers: list[float] = []
    for joint in joints:
        try:
            numbers.extend(joint.pose(values[joint.q]))  # not +=, which would add to an ndarray
        except (ValueError, ZeroDivisionError, OverflowError):
            refuse_q(joint, values)
        numbers += _LAST_ROW
    across = np.array(numbers).reshape(-1, 4, 4)
    if len(joints) == len(relative) - 1:
        np.matmul(layout.inboard[1:], across, relative[1:])
    else:  # where it is called for one joint mostly, and indexing by a list takes longer
        for joint, matrix in zip(joints, across, strict=True):
            np.matmul(layout.inboard[joint.row], matrix, relative[joint.row])


def refuse_q(joint: Joint, q: Sequence[float]) -> NoReturn:
    """Raise the error of a joint that has no pose at its q."""
    own = list(q[joint.q])
    start = joint.mobilizer.quaternion_start
    is_zero = start is not None and not any(own[start : start + 4])
    raise KinematicsError(
        f"{joint.body}: its {joint.mobilizer!r} has no pose at these q"
        + (", as its quaternion is zero" if is_zero else ""),
        "a quaternion that stands for a rotation" if is_zero else "finite q of moderate size",
        f"q = {own[:_SHOWN]}",
        f"set the q of {joint.body}, to {joint.mobilizer.default_q} for one",
    ) from None


@final
class LastPoses:
    """The memory that a State has of the poses computed last. It is not one of its values.

    It saves time, and never changes a result. So any two memories are equal in comparisons, none is
    pickled, and a copy of a State gets its own.
    """

    __slots__ = ("layout", "poses")

    def __init__(self) -> None:
        self.layout: TreeLayout | None = None
        self.poses: TreePoses | None = None

    def poses_at(self, layout: TreeLayout, q: Array) -> TreePoses:
        """Return the poses at some q, and remember them."""
        before = self.poses if self.layout is layout else None
        self.poses = poses_at(layout, q, before)
        self.layout = layout
        return self.poses

    def __repr__(self) -> str:
        return f"<the last poses: {self.poses}>"

    def __deepcopy__(self, memo: object) -> "LastPoses":
        twin = LastPoses()
        twin.layout, twin.poses = self.layout, self.poses
        return twin

    def __reduce__(self) -> Any:
        return LastPoses, ()
