"""Gravity: the same acceleration for all masses."""

from collections.abc import Iterable
from typing import final

import numpy as np

from stagecache.checks import require_each, require_number
from stagecache.multibody.checks import checked_array
from stagecache.multibody.forces.force import AbstractForce, ForceSum, applied_from, energy_from
from stagecache.multibody.geometry.spatial import Array, forces_about_origin
from stagecache.multibody.matter.matter import MatterSubsystem
from stagecache.multibody.matter.mobilized_body import MobilizedBody
from stagecache.multibody.tree.applied_forces import Vector
from stagecache.state.state import State
from stagecache.system.declare.variables import parameter


@final
class Gravity(AbstractForce):
    """Uniform gravity. Its energy is 0 where the center of mass is at the ground's origin.

    Parameters of the State are `acceleration`, (3,) in ground [m/s²], and `zero_height` [m], by
    which centers of mass are above that origin where their energy is 0.

    Parameters
    ----------
    matter : MatterSubsystem
    acceleration : (3,) array_like, optional
        Its initial value. The default is the gravity of the earth, along -y.
    zero_height : float, optional
        Its initial value.
    excluded : iterable of MobilizedBody, optional
        Bodies of the matter without weight. It is const. If there are any, the force depends on the
        poses of the others, instead of being computed once.

    Raises
    ------
    WrongTypeError, ShapeError, NotANumberError, OutOfRangeError
    UnknownBodyError
        A body of another matter is excluded.

    Examples
    --------
    >>> from stagecache import Stage
    >>> from stagecache.multibody import Gravity, MultibodySystem, Translation
    >>> system = MultibodySystem()
    >>> stone = system.matter.add_body(
    ...     "stone", system.matter.ground, Translation(), mass_properties={"mass": 2.0}
    ... )
    >>> gravity = system.add(Gravity(system.matter), "gravity")
    >>> state = system.new_state()
    >>> stone.q.set(state, [0.0, 10.0, 0.0])
    >>> system.realize(state, Stage.ACCELERATION)
    >>> state.udot
    array([ 0.  , -9.81,  0.  ])
    >>> round(gravity.potential_energy(state), 6)
    196.2
    """

    acceleration = parameter(factory=lambda self: self._initial[0], unit="m/s²")
    zero_height = parameter(factory=lambda self: self._initial[1], unit="m")

    def __init__(
        self,
        matter: MatterSubsystem,
        acceleration: Vector | Array = (0.0, -9.81, 0.0),
        *,
        zero_height: float = 0.0,
        excluded: Iterable[MobilizedBody] = (),
    ) -> None:
        super().__init__(matter)
        what = "the acceleration of gravity"
        first: Vector = tuple(checked_array(acceleration, (3,), what).tolist())
        self._initial = first, require_number(zero_height, "the zero height of gravity")
        what, hint = "the excluded bodies of gravity", "pass a list of bodies: excluded=[balloon]"
        bodies = require_each(excluded, MobilizedBody, what, hint)
        self.excluded = tuple([matter._checked_own(body, what) for body in bodies])

    def calc_force(self, state: State, forces: ForceSum) -> None:
        """Add it to all masses."""
        acceleration = self._acceleration(state)
        if self.excluded:
            masses, centers = self._masses(), self.matter.tree_centers(state)
            rows = np.flatnonzero(masses)
            weights = masses[rows, None] * acceleration
            forces._add_rows(rows, forces_about_origin(centers[rows], weights))
        else:
            forces._add_field(acceleration)

    def calc_potential_energy(self, state: State) -> float:
        """Return the negative product of acceleration and all masses at their places."""
        masses, acceleration = self._masses(), self._acceleration(state)
        found = -float(masses @ self.matter.tree_centers(state) @ acceleration)
        height = require_number(self.zero_height(state), f"{self.zero_height}")
        return found - height * float(masses.sum() * np.linalg.norm(acceleration))

    applied = applied_from(
        lambda self: (self.acceleration, *([self.matter.tree_centers] * bool(self.excluded)))
    )
    potential_energy = energy_from(
        lambda self: (self.acceleration, self.zero_height, self.matter.tree_centers)
    )

    def _acceleration(self, state: State) -> Array:
        return checked_array(self.acceleration(state), (3,), f"{self.acceleration}")

    def _masses(self) -> Array:
        """Return the masses of all bodies, by row: 0 for those that are excluded."""
        masses = self.matter.tree_masses
        if self.excluded:
            masses = masses.copy()
            masses[self.matter.rows_of(self.excluded)] = 0.0
        return masses
