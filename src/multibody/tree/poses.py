r"""Poses of all bodies of a tree: one value, from which the next one is computed.

::

    X_GM = X_GMp X_MpF X_FM(q)      p: the parent.  X_MpF is constant, X_FM is of the mobilizer
           ----- -----------
           dot     one batch        X_GB = X_GM X_MB, one batch, where X_MB is not 1

After a write to some q, only poses outboard of these joints are computed again. The others are
poses of a value before, the *base*, in which all rows are there; they are copied where somebody
asks for an array of all, and not before. So the whole tree is *one* cache entry. Beside it, an
entry for each body keeps its dependents valid while that body does not move (early cutoff).

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
..                        kernel       8     10     13      62
the middle of a chain     entries     22     62    200    2060
..                        floats      14     32     93     880
..                        here        24     30     53     350
..                        kernel       8      8      8      12
the last joint            entries      7     10     19     135
..                        floats       7      8     12      60
..                        here        21     21     23      47
..                        kernel       8      8      8       9
the last joint, then all  entries      7     10     19     135
bodies by their entries   here        45     85    230    2050
..                        kernel      37     80    250    2240
========================  ========  ====  =====  =====  ======

An entry for each body costs 2 us in the framework, and pays in the last lines only. But an
assembler or a Jacobian of markers needs all poses, so it reads the one entry, and writes all q. A
product of poses is a `numpy.dot` of two 4x4 matrices, 0.5 us, where floats take 2 us. The kernel
takes 25 ns for a body. Of the 9 us for the last of 1,000 joints, 8 are the write and the cache, as
in a small tree; a read of an array of all poses takes 6 more, which copy them.
"""

from collections.abc import Sequence
from math import isfinite
from typing import Any, Final, NoReturn, final

import numpy as np

from stagecache.errors import KinematicsError
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.geometry.transform import Transform
from stagecache.multibody.tree.joints import Joint
from stagecache.multibody.tree.layout import GROUND, TreeLayout

_SHOWN: Final = 7  # numbers of q
_LAST_ROW: Final = (0.0, 0.0, 0.0, 1.0)  # of a homogeneous matrix


Ranges = list[tuple[int, int]]


@final
class TreePoses:
    """The poses in ground of all frames of a tree. They are const.

    Poses that did not move belong to a base, which it refers to: they are copied, all at once,
    where somebody asks for an array of all.

    Parameters
    ----------
    q : ndarray of shape (nq,)
    computed : ndarray of shape (k, m, 4, 4)
        Relative poses, poses of joints, and unless these are the same, of bodies: k is 2 or 3.
    moved : list of (int, int)
        The m rows; all others are rows of the base.
    base : TreePoses or None
        None if all rows are there, the ground among them.

    Attributes
    ----------
    q : ndarray of shape (nq,)
        The q of the poses.
    moved : tuple of (int, int)
        Ranges of rows that are not taken from another value.
    """

    __slots__ = ("_arrays", "_rows", "_transforms", "moved", "q")

    def __init__(
        self, q: Array, computed: Array, moved: Ranges, base: "TreePoses | None" = None
    ) -> None:
        q.setflags(write=False)
        computed.setflags(write=False)
        self.q = q
        self.moved = tuple(moved)
        self._rows = computed, base  # as one, since other threads may read while they change
        self._arrays: tuple[Array, Array, Array, Array] | None = None
        self._transforms: dict[int, Transform] = {}

    @property
    def base(self) -> "TreePoses":
        """Poses with all rows: these, or those from which rows are taken."""
        return self._rows[1] or self

    def put_together(self) -> Array:
        """Return relative poses, poses of joints and of bodies, of all rows: (k, rows, 4, 4)."""
        computed, base = self._rows
        if base is None:
            return computed
        whole, at = base.put_together().copy(), 0
        for start, end in self.moved:
            whole[:, start:end] = computed[:, at : at + end - start]
            at += end - start
        whole.setflags(write=False)
        self._rows = whole, None
        return whole

    @property
    def arrays(self) -> tuple[Array, Array, Array, Array]:
        """The arrays of q, relative poses, poses of joints and of bodies."""
        found = self._arrays
        if found is None:
            block = self.put_together()
            found = self._arrays = self.q, block[0], block[1], block[-1]
        return found

    @property
    def relative(self) -> Array:
        """X_MpM: frames M in the frames M of the parents, (rows, 4, 4)."""
        return self.arrays[1]

    @property
    def joints(self) -> Array:
        """X_GM, (rows, 4, 4)."""
        return self.arrays[2]

    @property
    def bodies(self) -> Array:
        """X_GB, (rows, 4, 4)."""
        return self.arrays[3]

    def transform(self, row: int) -> Transform:
        """Return X_GB of a body, which is made on demand, and shares no memory with the arrays."""
        found = self._transforms.get(row)
        if found is None:
            computed, base = self._rows
            place = row
            if base is not None:
                at = self._place_of(row)
                if at is None:
                    return base.transform(row)
                place = at
            found = self._transforms[row] = Transform.of_matrix(computed[-1, place].copy())
        return found

    def _place_of(self, row: int) -> int | None:
        """Return the place of a row among those that were computed."""
        at = 0
        for start, end in self.moved:
            if start <= row < end:
                return at + row - start
            at += end - start
        return None

    def __copy__(self) -> "TreePoses":
        return self

    def __deepcopy__(self, memo: object) -> "TreePoses":
        return self

    def __reduce__(self) -> Any:
        """Leave out the transforms, which are made on demand."""
        return TreePoses, (self.q, self.put_together(), [])

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
        Poses of the same layout: those that did not move are taken from there, or from the base of
        these. The numbers are the same as if all were computed, to the last bit but the signs of
        zeros.

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
    count = len(layout.joints)
    every = [(1, count)]
    if before is None:
        return TreePoses(q, _computed(layout, q, [(GROUND, count)], count, None), every)
    base = before.base
    ranges = _moved(layout, q, base.q)
    if ranges == every:
        return TreePoses(q, _computed(layout, q, [(GROUND, count)], count, base), every)
    rows = _rows_in(ranges)
    if base is not before and 2 * rows > count:
        before.put_together()  # once, so that its rows are not computed again and again
        base = before
        ranges = _moved(layout, q, base.q)
        rows = _rows_in(ranges)
    if not ranges:
        return base
    return TreePoses(q, _computed(layout, q, ranges, rows, base), ranges, base)


def _rows_in(ranges: Ranges) -> int:
    return sum([end - start for start, end in ranges])


def _computed(
    layout: TreeLayout, q: Array, ranges: Ranges, count: int, base: TreePoses | None
) -> Array:
    """Return the poses of the rows in ranges; poses of joints with the same q are taken over."""
    found = np.empty((2 if layout.outboard is None else 3, count, 4, 4))
    if layout.kernel is not None:
        before = (None, None) if base is None else (base.q, base.put_together())
        if layout.kernel.positions(q, ranges, found, *before):
            return found
    at = 0
    for start, end in ranges:
        own = found[:, at : at + end - start]
        _place(layout, q, start, own[0], base)
        _compose(layout, start, own, base)
        at += end - start
    return found


def _moved(layout: TreeLayout, q: Array, before: Array) -> Ranges:
    """Return the rows outboard of joints with other q, as ranges in order. NaN always differs."""
    if layout.kernel is not None:
        return layout.kernel.moved(q, before)
    rows = layout.joint_of_q[(q != before).nonzero()[0]]
    found: Ranges = []
    for row in sorted(set(rows.tolist())):
        if not found or row >= found[-1][1]:
            found.append((row, int(layout.ends[row])))
    return found


def _place(
    layout: TreeLayout, q: Array, start: int, relative: Array, base: TreePoses | None
) -> None:
    """Compute X_MpM = X_MpF X_FM of a range of joints, or take it if their q are the same."""
    values: list[float] = q.tolist()
    joints = layout.joints[start : start + len(relative)]
    if base is not None:
        relative[:] = base.relative[start : start + len(relative)]
        before: list[float] = base.q.tolist()
        joints = [joint for joint in joints if values[joint.q] != before[joint.q]]
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
    if len(joints) == len(relative):
        np.matmul(layout.inboard[start : start + len(relative)], across, relative)
    else:  # where it is called for one joint mostly, and indexing by a list takes longer
        for joint, matrix in zip(joints, across, strict=True):
            np.matmul(layout.inboard[joint.row], matrix, relative[joint.row - start])


def _compose(layout: TreeLayout, start: int, own: Array, base: TreePoses | None) -> None:
    """Compute X_GM and X_GB of a range of rows, whose relative poses are there."""
    parents, dot = layout.parents, np.dot
    # Views are made once for each matrix: indexing takes a fifth of the time of a product.
    steps, frames = list(own[0]), list(own[1])
    for i, frame in enumerate(frames):
        parent = parents[start + i] - start
        if start + i == GROUND:
            frame[:] = steps[i]
        elif parent >= 0:
            dot(frames[parent], steps[i], frame)
        else:
            assert base is not None
            dot(base.joints[parent + start], steps[i], frame)
    if layout.outboard is not None:
        np.matmul(own[1], layout.outboard[start : start + len(frames)], own[2])


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
