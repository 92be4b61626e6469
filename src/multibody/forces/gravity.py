"""Gravity: the same acceleration for all masses."""

from typing import final

from stagecache.multibody.checks import checked_array
from stagecache.multibody.forces.force import AbstractForce, ForceSum, applied_from, energy_from
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.matter.matter import MatterSubsystem
from stagecache.multibody.tree.applied_forces import Vector
from stagecache.state.state import State
from stagecache.system.declare.variables import parameter


@final
class Gravity(AbstractForce):
    """Uniform gravity. Its energy is 0 where the center of mass is at the ground's origin.

    `acceleration`, (3,) in ground [m/s²], is a parameter of the State.

    Parameters
    ----------
    matter : MatterSubsystem
    acceleration : (3,) array_like, optional
        Its initial value. The default is the gravity of the earth, along -y.

    Raises
    ------
    WrongTypeError, ShapeError, NotANumberError, OutOfRangeError

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

    acceleration = parameter(factory=lambda self: self._initial, unit="m/s²")

    def __init__(
        self, matter: MatterSubsystem, acceleration: Vector | Array = (0.0, -9.81, 0.0)
    ) -> None:
        super().__init__(matter)
        what = "the acceleration of gravity"
        self._initial: Vector = tuple(checked_array(acceleration, (3,), what).tolist())

    def calc_force(self, state: State, forces: ForceSum) -> None:
        """Add it to all masses."""
        forces._add_field(self._acceleration(state))

    def calc_potential_energy(self, state: State) -> float:
        """Return the negative product of acceleration and all masses at their places."""
        centers = self.matter.tree_centers(state)
        return -float(self.matter.tree_masses @ centers @ self._acceleration(state))

    applied = applied_from((acceleration,))
    potential_energy = energy_from(lambda self: (self.acceleration, self.matter.tree_centers))

    def _acceleration(self, state: State) -> Array:
        return checked_array(self.acceleration(state), (3,), f"{self.acceleration}")
