"""Forces on the bodies and the u of a tree, few of them at a time, and their sum."""

from collections.abc import Sequence
from typing import Final, Protocol, final

import numpy as np
from attrs import frozen

from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.tree.layout import Indices, TreeLayout
from stagecache.state.handles import CacheEntry, DiscreteVariable


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
    """

    rows: Indices
    spatial: Array
    u: Indices
    values: Array

    def power(self, motions: Array, speeds: Array) -> float:
        """Return the power [W] at motions of bodies by row, and at the u of the matter."""
        on_bodies = float(np.vdot(self.spatial, motions[self.rows]))
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
    on_bodies : ndarray of shape (rows, 6)
        Spatial forces, by row.
    on_u : ndarray of shape (nu,)
    """

    on_bodies: Array
    on_u: Array


def sum_of(layout: TreeLayout, forces: Sequence[AppliedForces]) -> TreeForces:
    """Return the sum of forces."""
    on_bodies, on_u = np.zeros((len(layout.joints), 6)), np.zeros(layout.nu)
    for force in forces:
        np.add.at(on_bodies, force.rows, force.spatial)
        np.add.at(on_u, force.u, force.values)
    return TreeForces(on_bodies, on_u)
