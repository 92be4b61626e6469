"""Random mass properties of the bodies of a tree, and its dynamics by dense formulas in NumPy.

M = sum of J' I J      forces = M udot + sum of J' (I A + velocity terms) - sum of J' applied
"""

import numpy as np
from attrs import frozen

from stagecache.multibody.geometry.spatial import cross
from stagecache.multibody.tree.compiled import CompiledTree, Inertias, Positions
from stagecache.multibody.tree.layout import TreeLayout
from stagecache.multibody.tree.motions import axes_in_ground, motion_bias, motions
from stagecache.multibody.tree.poses import TreePoses, poses_at
from stagecache.multibody.tree.stations import StationTable
from tests.multibody.trees import Array, Tree


@frozen
class Massive:
    """A tree with masses, by row, at the q and u of its State."""

    layout: TreeLayout
    poses: TreePoses
    inertias: Inertias
    u: Array
    udot: Array
    forces: Array

    @property
    def kernel(self) -> CompiledTree:
        assert self.layout.kernel is not None
        return self.layout.kernel

    @property
    def positions(self) -> Positions:
        return self.poses.arrays


def massive(tree: Tree, *, massless: float = 0.0) -> Massive:
    """Inertias are random; a part of the bodies that are not leaves is massless."""
    rng, matter, state = tree.rng, tree.system.matter, tree.state
    layout = matter.layout(state)
    rows = len(layout.joints)
    masses = rng.uniform(0.5, 3.0, rows)
    is_leaf = layout.ends == np.arange(1, rows + 1)
    masses[~is_leaf & (rng.random(rows) < massless)] = 0.0
    halves = tree.length * rng.normal(size=(rows, 3, 3))
    inertias = masses[:, None, None] * (halves @ halves.swapaxes(1, 2))
    centers = tree.length * rng.normal(size=(rows, 3))
    u, udot = matter.u(state).copy(), rng.normal(size=layout.nu)
    forces = rng.normal(size=(rows, 6))
    poses = poses_at(layout, matter.q(state).copy(), None)
    return Massive(layout, poses, (masses, centers, inertias), u, udot, forces)


def dense(m: Massive) -> tuple[Array, Array]:
    """The mass matrix, and the generalized forces at udot = 0 without any applied force."""
    layout, poses = m.layout, m.poses
    masses, centers, inertias = m.inertias
    axes = axes_in_ground(layout, poses)
    velocity = motions(layout, axes, m.u)
    rates = motion_bias(layout, poses, axes, velocity, m.u)
    table = table_of(m, centers)
    places = table.positions(poses.bodies)
    jacobian = table.frame_jacobian(places, axes)
    rotations = poses.bodies[:, :3, :3]
    turned = rotations @ inertias @ rotations.swapaxes(1, 2)
    weighted = np.empty_like(jacobian)
    weighted[:, :3] = turned @ jacobian[:, :3]
    weighted[:, 3:] = masses[:, None, None] * jacobian[:, 3:]
    matrix = np.einsum("kij,kil->jl", jacobian, weighted)
    spin = velocity[:, :3]
    of_turning = (turned @ rates[:, :3, None])[:, :, 0]
    of_turning += cross(spin, (turned @ spin[:, :, None])[:, :, 0])
    of_moving = masses[:, None] * table.accelerations(places, velocity, rates)
    both = np.concatenate([of_turning, of_moving], axis=1)
    return matrix, np.einsum("kij,ki->j", jacobian, both)


def applied(m: Massive) -> Array:
    """The generalized forces of the forces on the origins of bodies."""
    table = table_of(m, np.zeros((len(m.layout.joints), 3)))
    axes = axes_in_ground(m.layout, m.poses)
    jacobian = table.frame_jacobian(table.positions(m.poses.bodies), axes)
    found: Array = np.einsum("kij,ki->j", jacobian, m.forces)
    return found


def table_of(m: Massive, points: Array) -> StationTable:
    return StationTable(m.layout, [joint.body for joint in m.layout.joints], points)
