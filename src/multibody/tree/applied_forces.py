"""Forces on the bodies and the u of a tree, few of them at a time, and their sum."""

from collections.abc import Sequence
from typing import Final, Protocol, final

import numpy as np
from attrs import frozen

from stagecache.multibody.geometry.spatial import Array, cross, forces_about_origin
from stagecache.multibody.tree.inertias import Inertias
from stagecache.multibody.tree.layout import Indices, TreeLayout
from stagecache.multibody.tree.poses import TreePoses
from stagecache.state.handles import CacheEntry, DiscreteVariable

Vector = tuple[float, float, float]
NO_FIELD: Final = (0.0, 0.0, 0.0)


@final
@frozen(eq=False)
class AppliedForces:
    """Spatial forces on bodies, and forces on u. A body or a u may occur repeatedly. Const.

    Attributes
    ----------
    rows : ndarray of int, (k,)
        The rows of the bodies.
    spatial : ndarray of shape (k, 6)
        Moment about the origin of the ground [N m], then force [N], in ground.
    u : ndarray of int, (m,)
        Places in the u of the matter.
    values : ndarray of shape (m,)
        Forces on these u.
    field : tuple of three floats
        A force on all masses beside these, by mass [m/s²].
    """

    rows: Indices
    spatial: Array
    u: Indices
    values: Array
    field: Vector = NO_FIELD

    def power(self, inertias: Inertias, motions: Array, speeds: Array) -> float:
        """Return the power [W] at motions of bodies by row, and at the u of the matter."""
        on_bodies = float(np.vdot(self.spatial, motions[self.rows]))
        if any(self.field):
            on_bodies += float(inertias.momenta(motions)[:, 3:].sum(axis=0) @ self.field)
        return on_bodies + float(self.values @ speeds[self.u])


class AnyForce(Protocol):
    """A force of a System on its matter; see `AbstractForce`."""

    @property
    def is_enabled(self) -> DiscreteVariable[bool]: ...  # noqa: D102
    @property
    def applied(self) -> CacheEntry[AppliedForces]: ...  # noqa: D102
    @property
    def potential_energy(self) -> CacheEntry[float]: ...  # noqa: D102


NO_FORCES: Final = AppliedForces(
    np.empty(0, np.intp), np.empty((0, 6)), np.empty(0, np.intp), np.empty(0)
)


@final
@frozen(eq=False)
class TreeForces:
    """The sums of forces on all bodies and u of a tree. Const.

    Attributes
    ----------
    on_bodies : ndarray of shape (rows, 6), or None
        Spatial forces, by row; None if there are none.
    on_u : ndarray of shape (nu,)
    field : ndarray of shape (3,)
        The force on all masses beside these, by mass [m/s²].
    """

    on_bodies: Array | None
    on_u: Array
    field: Array

    def spatial(self, masses: Array, centers: Array) -> Array:
        """Return the spatial forces on all bodies, (rows, 6); `centers` are in ground."""
        found = forces_about_origin(centers, masses[:, None] * self.field)
        return found if self.on_bodies is None else found + self.on_bodies

    def about_bodies(self, poses: TreePoses) -> Array | None:
        """Return `on_bodies` about the origins of the bodies instead."""
        if self.on_bodies is None:
            return None
        found = self.on_bodies.copy()
        found[:, :3] -= cross(poses.bodies[:, :3, 3], found[:, 3:])
        return found


def sum_of(
    layout: TreeLayout, forces: Sequence[AppliedForces], others: TreeForces | None = None
) -> TreeForces:
    """Return the sum of forces, and of a sum of others."""
    on_bodies, on_u, field = None, np.zeros(layout.nu), np.zeros(3)
    if others is not None:
        on_bodies = None if others.on_bodies is None else others.on_bodies.copy()
        on_u += others.on_u
        field += others.field
    for force in forces:
        if len(force.rows):
            on_bodies = np.zeros((len(layout.joints), 6)) if on_bodies is None else on_bodies
            np.add.at(on_bodies, force.rows, force.spatial)
        if len(force.u):
            np.add.at(on_u, force.u, force.values)
        field += force.field
    return TreeForces(on_bodies, on_u, field)
