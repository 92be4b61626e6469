r"""The layout of a tree of bodies in arrays: constant tables, made once for a topology.

Bodies are numbered as they were added; in arrays they have *rows*, depth first, so that a body and
all outboard of it are one slice::

    0 ground           row   0 1 2 3 4           outboard of body 1: rows 1 to 4
    +- 1               body  0 1 3 4 2           outboard of body 3: rows 2 to 4
    |  +- 3 -- 4       end   5 4 4 4 5
    +- 2

Sums along paths from the ground are computed by doubling, in log2(depth) steps for all bodies at
once: after step k, each row has the sum over itself and the 2^k - 1 rows inboard of it.
"""

from collections.abc import Sequence
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.tree.compiled import CompiledTree, kernel
from stagecache.multibody.tree.joints import AnyBody, Joint

Indices = NDArray[np.intp]
GROUND: Final = 0


def has_kernel() -> bool:
    """Return whether trees have a kernel, which reads other entries than NumPy does."""
    return kernel is not None


@final
class TreeLayout:
    """The tables of a tree, for one form of orientations. It is const.

    Attributes
    ----------
    use_euler_angles : bool
        The form of orientations.
    rows : list of int
        By body, its row.
    bodies : list of int
        By row, the body.
    parents : list of int
        By row, the row of the parent; of the ground, 0.
    ends : ndarray of int, (rows,)
        By row, the end of the rows that are outboard of it.
    joints : list of Joint
        By row. The first is the joint of the ground.
    joint_of_q : ndarray of int, (nq,)
        By q, the row of its joint.
    joint_of_u : ndarray of int, (nu,)
    inboard : ndarray of shape (rows, 4, 4)
        X_MF: from frame M of the parent's joint to frame F of this joint.
    outboard : ndarray of shape (rows, 4, 4) or None
        X_MB; None if all are 1.
    most_u : int
        The largest number of u of a joint.
    constant_axes : ndarray of shape (nu, 2, 3)
        The axes of mobilizers that have constant ones.
    varying : list of Joint
        Joints with other axes.
    related : list of Joint
        Joints whose N is not 1.
    n_places, n_pinv_places : tuple of two ndarrays of int
        Rows and columns of the numbers in N, and in its pseudoinverse: first the ones of other
        joints, then the blocks of `related`, row by row.
    num_ones : int
        Number of ones among these.
    normalized : list of Joint
        Joints with a quaternion.
    kernel : CompiledTree or None
        The same tree in compiled form, if there is one: it computes what the functions of this
        folder compute.
    """

    def __init__(self, bodies: Sequence[AnyBody], *, use_euler_angles: bool) -> None:
        self.use_euler_angles = use_euler_angles
        self._number_rows(bodies)
        mobilizers = [
            b.mobilizer.with_euler_angles() if use_euler_angles else b.mobilizer for b in bodies
        ]
        joints, q, u = [], 0, 0
        for body, m in zip(bodies, mobilizers, strict=True):
            row = self.rows[body.index]
            joints.append(Joint(body, row, m, slice(q, q + m.nq), slice(u, u + m.nu)))
            q, u = q + m.nq, u + m.nu
        self.nq, self.nu = q, u
        self.most_u = max(joint.mobilizer.nu for joint in joints)
        self.joint_of_q = np.array([j.row for j in joints for _ in range(j.mobilizer.nq)], np.intp)
        self.joint_of_u = np.array([j.row for j in joints for _ in range(j.mobilizer.nu)], np.intp)
        self._first_u = np.array(
            [j.u.start for j in joints for _ in range(j.mobilizer.nu)], np.intp
        )
        self.joints = [joints[body] for body in self.bodies]
        self.varying = [j for j in joints if not j.mobilizer.has_constant_axes]
        self.related = [j for j in joints if j.mobilizer.n(j.mobilizer.default_q) is not None]
        related = [(j.q, j.u) for j in self.related]
        others = [(j.q, j.u) for j in joints if j not in self.related]
        self.n_places = _places(others, related)
        self.num_ones = sum(q.stop - q.start for q, _ in others)
        self.n_pinv_places = _places([x[::-1] for x in others], [x[::-1] for x in related])
        self.normalized = [j for j in joints if j.mobilizer.quaternion_start is not None]
        self.constant_axes = np.zeros((u, 6))
        for joint in joints:
            if joint.mobilizer.has_constant_axes and joint.mobilizer.nu:
                self.constant_axes[joint.u] = joint.mobilizer.axes(joint.mobilizer.default_q)
        self._place_frames(bodies)
        self.kernel: CompiledTree | None = None
        if kernel is not None:
            frames = self.inboard, self.outboard
            tables = self.joints, self.parents, self.ends.tolist(), self.related
            self.kernel = CompiledTree(*tables, *frames, self.constant_axes)

    def _number_rows(self, bodies: Sequence[AnyBody]) -> None:
        n = len(bodies)
        children: list[list[int]] = [[] for _ in bodies]
        for body in bodies[1:]:
            children[body.parent.index].append(body.index)
        self.bodies: list[int] = []
        stack = [GROUND]
        while stack:
            index = stack.pop()
            self.bodies.append(index)
            stack += reversed(children[index])
        self.rows = [0] * n
        for row, index in enumerate(self.bodies):
            self.rows[index] = row
        self.parents = [0, *(self.rows[bodies[b].parent.index] for b in self.bodies[1:])]
        ends = list(range(1, n + 1))
        for row in range(n - 1, 0, -1):
            parent = self.parents[row]
            ends[parent] = max(ends[parent], ends[row])
        self.ends: Indices = np.array(ends)
        self.jumps: list[Indices] = []
        jump: Indices = np.array(self.parents)
        while jump.any():
            self.jumps.append(jump)
            jump = jump[jump]

    def _place_frames(self, bodies: Sequence[AnyBody]) -> None:
        self.inboard = np.empty((len(bodies), 4, 4))
        self.outboard: Array | None = np.empty((len(bodies), 4, 4))
        self.inboard[0] = self.outboard[0] = np.eye(4)
        for row, index in enumerate(self.bodies[1:], 1):
            body = bodies[index]
            to_body = body.outboard_frame.inverse().matrix
            self.outboard[row] = to_body
            self.inboard[row] = self.outboard[self.parents[row]] @ body.inboard_frame.matrix
        if (self.outboard == np.eye(4)).all():
            self.outboard = None

    def __repr__(self) -> str:
        return f"<layout of {len(self.joints)} bodies with {self.nq} q and {self.nu} u>"

    # ------------------------------------------------------------------ along paths

    def sum_from_ground(self, values: Array) -> Array:
        """Return sums of values (rows, n): for each row, over itself and all rows inboard of it.

        The values of the ground have to be 0. Cost O(rows log(depth)).
        """
        for jump in self.jumps:
            values = values + values[jump]
        return values

    def sum_to_ground(self, values: Array) -> Array:
        """Return sums over itself and all rows outboard of it, for each row: the transpose.

        The sum of the ground has no meaning.
        """
        for jump in reversed(self.jumps):
            sums = values.copy()
            np.add.at(sums, jump, values)
            values = sums
        return values

    def moves(self, rows: Indices) -> NDArray[np.bool_]:
        """Return a mask (k, nu), True where a u moves the body of a row, (k,)."""
        joints = self.joint_of_u
        found: NDArray[np.bool_] = (joints <= rows[:, None]) & (rows[:, None] < self.ends[joints])
        return found

    def are_whole_joints(self, mask: NDArray[np.bool_]) -> bool:
        """Tell whether a mask of u, (nu,), has all or none of the u of each joint."""
        return bool((mask == mask[self._first_u]).all())

    @property
    def bent(self) -> list[Joint]:
        """The joints whose q are not a sequence, but that know the bends of their axes."""
        return [
            joint
            for joint in self.joints
            if not joint.mobilizer.is_sequence
            and joint.mobilizer.n(joint.mobilizer.default_q) is None
            and joint.mobilizer.bends(joint.mobilizer.default_q) is not None
        ]

    def turns(self) -> NDArray[np.bool_] | None:
        """Return a mask (nq, nq), True where the first q turns the axis of the second one.

        An angle turns itself, the angles after it in its joint, and all joints outboard. Joints
        that are `bent` turn all joints outboard; what they do to themselves is left out. None if
        there are other joints than these. Cost O(nq²).
        """
        bent = self.bent
        if not all(joint.mobilizer.is_sequence or joint in bent for joint in self.joints):
            return None
        is_angle = np.zeros(self.nq, bool)
        is_bent = np.zeros(self.nq, bool)
        for joint in self.joints[1:]:
            mobilizer = joint.mobilizer
            if joint in bent:
                is_angle[joint.q] = is_bent[joint.q] = True
                continue
            axes = np.array(mobilizer.axes(mobilizer.default_q)).reshape(-1, 6)
            by_u = mobilizer.n_pinv(mobilizer.default_q)
            by_q = axes if by_u is None else np.array(by_u).T @ axes
            is_angle[joint.q] = by_q[:, :3].any(axis=1)
        rows, q = self.joint_of_q, np.arange(self.nq)
        is_inboard = (rows[:, None] < rows) & (rows < self.ends[rows][:, None])
        is_before = (rows[:, None] == rows) & (q[:, None] <= q) & is_angle & ~is_bent
        found: NDArray[np.bool_] = (is_inboard | is_before) & is_angle[:, None]
        return found


def _places(
    ones: list[tuple[slice, slice]], blocks: list[tuple[slice, slice]]
) -> tuple[Indices, Indices]:
    """Return rows and columns of the ones of square blocks, and of all numbers of others."""
    rows: list[int] = []
    columns: list[int] = []
    for down, across in ones:
        rows += range(down.start, down.stop)
        columns += range(across.start, across.stop)
    for down, across in blocks:
        for row in range(down.start, down.stop):
            rows += [row] * (across.stop - across.start)
            columns += range(across.start, across.stop)
    return np.array(rows, np.intp), np.array(columns, np.intp)
