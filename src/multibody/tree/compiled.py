r"""The tree in the kernel, `kernel.c`: what Python calls of it, where it was built.

Here are the arrays that the kernel writes into, and what only Python can compute: the poses, axes
and N of mobilizers that a user wrote. Kinematics are in NumPy, too, in the other files of this
folder: that is used where there is no kernel, and is the model that the kernel is tested against.
"""

from collections.abc import Sequence
from math import isfinite
from typing import Any, Final, NoReturn, final

import numpy as np

from stagecache.errors import MassMatrixError, NotANumberError
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer
from stagecache.multibody.mobilizers.orientations import Ball, EulerBall, EulerFree, Free
from stagecache.multibody.mobilizers.sequences import (
    Cylinder,
    Gimbal,
    Pin,
    Planar,
    Slider,
    Translation,
    Universal,
    Weld,
)
from stagecache.multibody.tree.joints import Joint

kernel: Any
try:
    from stagecache.multibody.tree import kernel
except ImportError:  # it was not built: see setup.py
    kernel = None

GIVEN: Final = 0
"""The kind of a mobilizer that Python computes."""

KINDS: Final[dict[type[AbstractMobilizer], int]] = {
    Weld: 1,
    Pin: 2,
    Slider: 3,
    Cylinder: 4,
    Planar: 5,
    Translation: 6,
    Universal: 7,
    Gimbal: 8,
    Ball: 9,
    Free: 10,
    EulerBall: 11,
    EulerFree: 12,
}
"""Kinds of mobilizers in the kernel, which has their formulas as well; by their exact types."""

Positions = tuple[Array, Array, Array, Array]
"""q; and by row, X_MpM, X_GM and X_GB."""
Inertias = tuple[Array, Array, Array]
"""Masses, centers of mass, and central inertias by row, in the frames of the bodies."""


@final
class CompiledTree:
    """The tree of a layout in the kernel. It is const.

    Parameters
    ----------
    joints : sequence of Joint
        By row.
    parents, ends : sequence of int
        By row, the row of the parent, and the end of the rows outboard.
    related : sequence of Joint
        Joints whose N is not 1.
    inboard, outboard : ndarray of shape (rows, 4, 4)
        X_MpF, and X_MB, which is None if all are 1.
    axes : ndarray of shape (nu, 6)
        Constant axes of mobilizers in F.

    Attributes
    ----------
    tree : kernel.Tree
    given : list of Joint
        Joints whose mobilizers Python computes, by row.
    """

    def __init__(
        self,
        joints: Sequence[Joint],
        parents: Sequence[int],
        ends: Sequence[int],
        related: Sequence[Joint],
        inboard: Array,
        outboard: Array | None,
        axes: Array,
    ) -> None:
        kinds = [KINDS.get(type(joint.mobilizer), GIVEN) for joint in joints]
        table = [
            (parent, end, kind, j.q.start, j.mobilizer.nq, j.u.start, j.mobilizer.nu)
            for j, parent, end, kind in zip(joints, parents, ends, kinds, strict=True)
        ]
        self.nq, self.nu = sum(joint.mobilizer.nq for joint in joints), len(axes)
        self.tree = kernel.Tree(np.array(table, np.intp), self.nq, inboard, outboard, axes)
        self.given = [joint for joint, kind in zip(joints, kinds, strict=True) if kind == GIVEN]
        self._joints = joints
        self._axes = axes
        self._varying = [joint for joint in self.given if not joint.mobilizer.has_constant_axes]
        self._related = [joint for joint in self.given if joint in related]

    # ------------------------------------------------------------------ positions

    def moved(self, q: Array, before: Array) -> list[tuple[int, int]]:
        """Return the rows that are outboard of joints with other q, as ranges in order."""
        found: list[tuple[int, int]] = self.tree.moved(q, before)
        return found

    def positions(
        self,
        q: Array,
        ranges: list[tuple[int, int]],
        found: Array,
        q_before: Array | None,
        before: Array | None,
    ) -> bool:
        """Compute X_MpM, X_GM, and X_GB unless all X_MB are 1, of the rows in ranges.

        The others are in `before`, (k, rows, 4, 4), where k is 2 or 3. Return False if a joint has
        no pose.
        """
        given = None
        if self.given:
            given = self._poses(q.tolist(), None if q_before is None else q_before.tolist())
            if given is None:
                return False
        is_placed: bool = self.tree.positions(q, given, ranges, found, q_before, before)
        return is_placed

    def _poses(self, q: list[float], before: list[float] | None) -> Array | None:
        """Return [R p] of given joints with other q; None if one has no pose."""
        found = np.empty((len(self.given), 12))
        for row, joint in zip(found, self.given, strict=True):
            own = q[joint.q]
            if before is not None and own == before[joint.q]:
                continue
            if not all(map(isfinite, own)):
                return None
            try:
                row[:] = joint.pose(own)
            except (ValueError, ZeroDivisionError, OverflowError):
                return None
        return found

    # ------------------------------------------------------------------ motions

    def axes(self, q: Array, joints: Array) -> Array:
        """Return the axes about the origin of the ground, (nu, 6)."""
        found = np.empty((self.nu, 6))
        self.tree.axes(q, joints, self.given_axes(q), found)
        return found

    def given_axes(self, q: Array) -> Array | None:
        """Return axes in F, (nu, 6), with the axes of given joints that are not constant."""
        if not self._varying:
            return None
        found, values = self._axes.copy(), q.tolist()
        for joint in self._varying:
            found[joint.u] = joint.mobilizer.axes(values[joint.q])
        return found

    def given_rates(self, q: Array, u: Array) -> Array | None:
        """Return the changes of these axes, times u: (given joints, 6)."""
        if not self._varying:
            return None
        found, values, speeds = np.zeros((len(self.given), 6)), q.tolist(), u.tolist()
        for row, joint in zip(found, self.given, strict=True):
            row[:] = joint.mobilizer.axes_rate(values[joint.q], speeds[joint.u])
        return found

    def motions(self, axes: Array, u: Array) -> Array:
        """Return the motions about the origin of the ground, (rows, 6)."""
        found = np.empty((len(self._joints), 6))
        self.tree.motions(axes, u, found)
        return found

    def bias(self, q: Array, joints: Array, axes: Array, motions: Array, u: Array) -> Array:
        """Return their derivatives where udot is 0, (rows, 6)."""
        found = np.empty((len(self._joints), 6))
        self.tree.bias(q, joints, axes, motions, u, self.given_rates(q, u), found)
        return found

    def generalized_forces(self, axes: Array, forces: Array) -> Array:
        """Return the forces on u of forces (rows, 6) about the origin of the ground."""
        found = np.empty(self.nu)
        self.tree.generalized_forces(axes, forces, found)
        return found

    # ------------------------------------------------------------------ rates of q

    def qdot(self, q: Array, u: Array) -> Array | None:
        """Return N u; None where N is singular."""
        found = np.empty(self.nq)
        if self.tree.qdot(q, u, found):
            return None
        values = q.tolist() if self._related else []
        for joint in self._related:
            try:
                found[joint.q] = np.array(joint.mobilizer.n(values[joint.q])) @ u[joint.u]
            except ZeroDivisionError:
                return None
        return found

    def qdotdot(self, q: Array, qdot: Array, u: Array, udot: Array) -> Array | None:
        """Return N udot + dN/dt u, NaN for joints with a udot that is NaN; None likewise."""
        found = np.empty(self.nq)
        if self.tree.qdotdot(q, qdot, u, udot, found):
            return None
        if self._related:
            values, rates = q.tolist(), qdot.tolist()
            for joint in self._related:
                found[joint.q] = joint.qdotdot(values[joint.q], rates[joint.q], u, udot)
        return found

    # ------------------------------------------------------------------ dynamics

    def mass_matrix(self, poses: Positions, inertias: Inertias) -> Array:
        """Return the mass matrix (nu, nu). Cost O(nu depth), and nu^2 for its zeros."""
        found = np.empty((self.nu, self.nu))
        self.tree.mass_matrix(*self._model(poses, inertias), found)
        return found

    def inverse_dynamics(
        self,
        poses: Positions,
        inertias: Inertias,
        u: Array,
        udot: Array,
        forces: Array | None = None,
        *,
        field: Array | None = None,
        reactions: Array | None = None,
    ) -> Array:
        """Return the generalized forces (nu,) that give udot, beside forces on bodies. Cost O(n).

        Parameters
        ----------
        poses : tuple of arrays
            q, X_MpM, X_GM, X_GB.
        inertias : tuple of arrays
            By row: masses (rows,) [kg], centers of mass (rows, 3) [m] and central inertias
            (rows, 3, 3) [kg m^2], in the frames of the bodies.
        u, udot : ndarray of shape (nu,)
        forces : ndarray of shape (rows, 6), optional
            Moments and forces on the bodies about their origins, in the axes of the ground.
        field : ndarray of shape (3,), optional
            The force on all masses beside these, by mass, as of gravity.
        reactions : ndarray of shape (rows, 6), optional
            Filled with the moment and force through each joint on its body, about the origin of M.
        """
        found = np.empty(self.nu)
        rates = self.given_rates(poses[0], u)
        model = self._model(poses, inertias)
        self.tree.inverse_dynamics(*model, rates, u, udot, forces, field, found, reactions)
        return found

    def forward_dynamics(
        self,
        poses: Positions,
        inertias: Inertias,
        u: Array,
        generalized: Array,
        forces: Array | None = None,
        *,
        field: Array | None = None,
        known: Array | None = None,
    ) -> Array:
        """Return the udot (nu,) that generalized forces and forces on bodies give. Cost O(n).

        Parameters
        ----------
        poses, inertias, u, forces, field
            As for `inverse_dynamics`.
        generalized : ndarray of shape (nu,)
        known : ndarray of shape (nu,), optional
            The udot of joints that are prescribed, NaN for the u of others.

        Raises
        ------
        MassMatrixError
            Some udot would need no force.
        NotANumberError
            Some udot would not be finite.
        """
        q, relative, joints, _ = poses
        axes = rates = None
        if self._varying:
            axes, rates = self.given_axes(q), self.given_rates(q, u)
        found = np.empty(self.nu)
        model, acting = (q, relative, joints, axes, *inertias), (generalized, forces, field)
        row = self.tree.forward_dynamics(*model, rates, u, *acting, known, found)
        if row > 0:
            refuse_massless(self._joints[row])
        if row:
            refuse_numbers()
        return found

    def multiply_by_m_inv(
        self, poses: Positions, inertias: Inertias, forces: Array, *, known: Array | None = None
    ) -> Array:
        """Return M^-1 f for rows f of forces, (k, nu), without M. Cost O(n) for each.

        With `known`, only joints that are not prescribed move; else as `forward_dynamics`.
        """
        found = np.empty(forces.shape)
        row = self.tree.multiply_by_m_inv(*self._model(poses, inertias), known, forces, found)
        if row:
            refuse_massless(self._joints[row])
        return found

    def _model(self, poses: Positions, inertias: Inertias) -> tuple[Array | None, ...]:
        return (*poses[:3], self.given_axes(poses[0]), *inertias)


def refuse_massless(joint: Joint) -> NoReturn:
    """Raise the error of a joint that moves no mass, with all that is outboard free to move."""
    raise MassMatrixError(
        f"{joint.body}: its {joint.mobilizer!r} moves without any force",
        "mass, or inertia about each axis, outboard of each joint",
        "some u of it that moves neither",
        "give mass_properties to the last bodies of the tree, or join them by a Weld",
    )


def refuse_numbers() -> NoReturn:
    """Raise the error of udot that are not finite."""
    raise NotANumberError(
        "forward dynamics: numbers that are not finite",
        "finite u, forces and poses of moderate size",
        "udot that are infinite, or NaN",
        "look at what was written to q and u, and at the forces",
    )
