r"""Inertias of all bodies of a tree: momenta, forces of inertia, and the mass matrix.

Motions and forces are about the origin of the ground (see `spatial`). A body with mass m, center of
mass c and central inertia I, both in ground, that moves by V = (w, v), V' = (a, b)::

    momentum            p = m v_c            about the ground's origin   (I w + c x p, p)
    force of inertia    f = m a_c            (I a + w x I w + c x f, f)
    kinetic energy      (w.I w + m v_c.v_c) / 2

All that is outboard of a joint moves as one body for its u, the *composite* body. So the element of
the mass matrix of two u, i inboard of j or of the same joint, is the power of the momentum of the
composite body of j, moving by the axis S_j, along S_i::

    M_ij = S_i . (I w_j + c x p_j, p_j)        p_j = m (v_j + w_j x c)

Inertias of composite bodies are about their own centers of mass, so distances from the origin of
the ground count once in the rounding of M, not squared.

Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), chapters 2, 5 and 6.
"""

from collections.abc import Sequence
from typing import final

import numpy as np
from attrs import frozen

from stagecache.multibody.geometry.spatial import Array, accelerations_at, cross, velocities_at
from stagecache.multibody.tree.layout import TreeLayout
from stagecache.multibody.tree.mass_properties import MassProperties
from stagecache.multibody.tree.motions import generalized_forces, motions
from stagecache.multibody.tree.poses import TreePoses

Numbers = tuple[float, float, float, float, float, float, float, float, float, float]
"""A mass; x, y, z of its center; xx, yy, zz, xy, xz, yz of its central inertia."""


@final
@frozen(eq=False)
class Inertias:
    """Masses, centers of mass and central inertias of bodies, by row of the layout. Const.

    Attributes
    ----------
    masses : ndarray of shape (rows,)
        [kg]; 0 of the ground.
    centers : ndarray of shape (rows, 3)
        [m]
    inertias : ndarray of shape (rows, 3, 3)
        About the centers [kg m^2].
    """

    masses: Array
    centers: Array
    inertias: Array

    @property
    def arrays(self) -> tuple[Array, Array, Array]:
        """All three, as the kernel takes them."""
        return self.masses, self.centers, self.inertias

    def momenta(self, motions: Array) -> Array:
        """Return the spatial momenta (rows, 6) of bodies with these motions, (rows, 6)."""
        linear = self.masses[:, None] * velocities_at(self.centers, motions)
        return self._about_origin(self._turned(motions[:, :3]), linear)

    def forces(self, motions: Array, rates: Array) -> Array:
        """Return the spatial forces (rows, 6) that the motions and their rates take."""
        turning = motions[:, :3]
        linear = self.masses[:, None] * accelerations_at(self.centers, motions, rates)
        angular = self._turned(rates[:, :3]) + cross(turning, self._turned(turning))
        return self._about_origin(angular, linear)

    def kinetic_energy(self, motions: Array) -> float:
        """Return the kinetic energy [J]."""
        turning, moving = motions[:, :3], velocities_at(self.centers, motions)
        of_turning = float(np.vdot(turning, self._turned(turning)))
        return 0.5 * (of_turning + float(self.masses @ (moving * moving).sum(axis=1)))

    def total(self) -> tuple[float, Array]:
        """Return the mass of all bodies, and their center of mass; NaN if there is no mass."""
        mass = float(self.masses.sum())
        if mass == 0.0:
            return mass, np.full(3, np.nan)
        found: Array = self.masses @ self.centers / mass
        return mass, found

    def _turned(self, turning: Array) -> Array:
        found: Array = (self.inertias @ turning[:, :, None])[:, :, 0]
        return found

    def _about_origin(self, angular: Array, linear: Array) -> Array:
        return np.concatenate([angular + cross(self.centers, linear), linear], axis=1)


def inertias_of(layout: TreeLayout, properties: Sequence[MassProperties]) -> Inertias:
    """Return the inertias of bodies in their own frames, for mass properties by body."""
    own = [properties[body] for body in layout.bodies]
    return Inertias(
        np.array([one.mass for one in own]),
        np.array([one.center for one in own]),
        np.array([one.central_inertia for one in own]),
    )


def centers_in_ground(own: Inertias, poses: TreePoses) -> Array:
    """Return the centers of mass of bodies in ground, (rows, 3)."""
    found: Array = (poses.bodies[:, :3, :3] @ own.centers[:, :, None])[:, :, 0]
    found += poses.bodies[:, :3, 3]
    return found


def inertias_in_ground(own: Inertias, poses: TreePoses, centers: Array) -> Inertias:
    """Return inertias of bodies in ground."""
    rotations = poses.bodies[:, :3, :3]
    return Inertias(own.masses, centers, rotations @ own.inertias @ rotations.swapaxes(1, 2))


def composites(layout: TreeLayout, inertias: Inertias) -> Inertias:
    """Return the inertia of each body with all that is outboard of it, as one rigid body.

    Cost O(rows), in floats: 4 us each.
    """
    found = _as_numbers(inertias)
    for row in range(len(found) - 1, 0, -1):
        parent = layout.parents[row]
        if parent and found[row][0]:
            found[parent] = _together(found[parent], found[row])
    numbers = np.array(found)
    tensors = numbers[:, [4, 7, 8, 7, 5, 9, 8, 9, 6]].reshape(-1, 3, 3)
    return Inertias(numbers[:, 0], numbers[:, 1:4], tensors)


def mass_matrix_of(layout: TreeLayout, axes: Array, inertias: Inertias) -> Array:
    """Return M, (nu, nu), for axes in ground and inertias of bodies there."""
    rows = layout.joint_of_u
    outboard = composites(layout, inertias)
    of_u = Inertias(outboard.masses[rows], outboard.centers[rows], outboard.inertias[rows])
    found = of_u.momenta(axes) @ axes.T  # of the composite body of the row, along the column
    is_inboard = layout.moves(rows)  # the u of the column moves the joint of the row
    return np.where(is_inboard, found, found.T * is_inboard.T)


def times_mass_matrix(layout: TreeLayout, axes: Array, inertias: Inertias, values: Array) -> Array:
    """Return M times values (nu,), without M. Cost O(rows log(depth))."""
    momenta = inertias.momenta(motions(layout, axes, values))
    return generalized_forces(layout, axes, momenta)


def _as_numbers(inertias: Inertias) -> list[Numbers]:
    tensors = inertias.inertias.reshape(-1, 9)[:, [0, 4, 8, 1, 2, 5]]
    table = np.concatenate([inertias.masses[:, None], inertias.centers, tensors], axis=1)
    return [tuple(row) for row in table.tolist()]


def _together(one: Numbers, other: Numbers) -> Numbers:
    """Return the inertia of two bodies as one, by Steiner's theorem; the other one has mass."""
    m1, x1, y1, z1, xx1, yy1, zz1, xy1, xz1, yz1 = one
    m2, x2, y2, z2, xx2, yy2, zz2, xy2, xz2, yz2 = other
    mass = m1 + m2
    part = m2 / mass
    dx, dy, dz = x2 - x1, y2 - y1, z2 - z1
    reduced = m1 * part
    return (
        mass,
        x1 + part * dx,
        y1 + part * dy,
        z1 + part * dz,
        xx1 + xx2 + reduced * (dy * dy + dz * dz),
        yy1 + yy2 + reduced * (dx * dx + dz * dz),
        zz1 + zz2 + reduced * (dx * dx + dy * dy),
        xy1 + xy2 - reduced * dx * dy,
        xz1 + xz2 - reduced * dx * dz,
        yz1 + yz2 - reduced * dy * dz,
    )
