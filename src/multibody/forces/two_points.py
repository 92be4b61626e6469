r"""Forces along the line between two points of two bodies: spring and damper.

::

    p1, p2      the points in ground; d = |p2 - p1|, e = (p2 - p1) / d
    spring      tension k (d - l)         k (d - l)² / 2
    damper      tension c d'              d' = e.(v2 - v1)

A tension t pulls body 1 by t e at p1, and body 2 by -t e at p2.
"""

from abc import abstractmethod
from typing import Any, Final, final

import numpy as np
from numpy.typing import ArrayLike

from stagecache.checks import require_number
from stagecache.errors import ConstraintError, KinematicsError
from stagecache.multibody.checks import checked_array
from stagecache.multibody.forces.force import (
    AbstractForce,
    ForceSum,
    applied_from,
    checked_body,
    energy_from,
)
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.matter.mobilized_body import MobilizedBody
from stagecache.state.state import State
from stagecache.system.declare.variables import parameter

SHORTEST: Final = 1e-100
"""The distance below which a line has no direction [m]."""


def _poses(self: Any) -> tuple[Any, ...]:
    return (self.bodies[0].pose, self.bodies[1].pose)


class AbstractTwoPointForce(AbstractForce):
    """A force along the line between a point of each of two bodies.

    Parameters
    ----------
    first : MobilizedBody
    first_station : (3,) array_like
        In body 1 [m].
    second : MobilizedBody
    second_station : (3,) array_like
        In body 2 [m].

    Raises
    ------
    UnknownBodyError, ShapeError, NotANumberError, OutOfRangeError
    ConstraintError
        The bodies are of different matters, or the same one.

    Attributes
    ----------
    bodies : tuple of two MobilizedBody
    stations : tuple of two ndarrays, (3,)
    """

    bodies: tuple[MobilizedBody, MobilizedBody]
    stations: tuple[Array, Array]

    def __init__(
        self,
        first: MobilizedBody,
        first_station: ArrayLike,
        second: MobilizedBody,
        second_station: ArrayLike,
    ) -> None:
        self.bodies = checked_two(first, second, type(self).__name__)
        super().__init__(self.bodies[0].matter)
        self.stations = (
            checked_array(first_station, (3,), f"the first station of {self}"),
            checked_array(second_station, (3,), f"the second station of {self}"),
        )

    def calc_force(self, state: State, forces: ForceSum) -> None:
        """Add the tension."""
        tension = self.calc_tension(state)
        if tension != 0.0:
            _, end = self._ends(state)
            forces.add_between(*self.bodies, end, -tension * self._direction(state))

    @abstractmethod
    def calc_tension(self, state: State) -> float:
        """Return the force by which it pulls the points together [N]."""

    def calc_length(self, state: State) -> float:
        """Return the distance of the points [m]. Reads the poses of the bodies."""
        one, two = self._ends(state)
        return float(np.linalg.norm(two - one))

    def _direction(self, state: State) -> Array:
        one, two = self._ends(state)
        line = two - one
        length = float(np.linalg.norm(line))
        if length < SHORTEST:
            raise KinematicsError(
                f"{self}: its points are at the same place, so its direction is not known",
                "points that are apart",
                f"a distance of {length:.3g} m",
                "move a body, or a station",
            )
        return line / length

    def _ends(self, state: State) -> tuple[Array, Array]:
        one, two = (
            body.station_position(state, station)
            for body, station in zip(self.bodies, self.stations, strict=True)
        )
        return one, two


def checked_two(first: Any, second: Any, what: str) -> tuple[MobilizedBody, MobilizedBody]:
    """Return two different bodies of one matter.

    Raises
    ------
    UnknownBodyError, ConstraintError
    """
    one, two = checked_body(first, what), checked_body(second, what)
    if one.matter is not two.matter:
        raise ConstraintError(
            f"{what}: acts between bodies of different matters",
            f"a body of the same matter as {one}",
            f"{two} of another one",
            "give bodies of one matter",
        )
    if one is two:
        raise ConstraintError(
            f"{what}: acts between a body and itself",
            "two different bodies",
            f"{one}, twice",
            "to fix an end in the ground, give matter.ground",
        )
    return one, two


@final
class TwoPointSpring(AbstractTwoPointForce):
    """A spring between two points. `stiffness` [N/m] and `length` [m] are parameters.

    Parameters
    ----------
    first, first_station, second, second_station
        Same as for `AbstractTwoPointForce`.
    stiffness : float
        The initial value.
    length : float, optional
        The initial length without tension.

    Raises
    ------
    UnknownBodyError, ConstraintError, ShapeError, NotANumberError, OutOfRangeError

    Examples
    --------
    >>> from stagecache import Stage
    >>> from stagecache.multibody import MultibodySystem, Translation, TwoPointSpring
    >>> system = MultibodySystem()
    >>> ground = system.matter.ground
    >>> bob = system.matter.add_body("bob", ground, Translation(), mass_properties={"mass": 2.0})
    >>> spring = system.add(TwoPointSpring(ground, [0, 0, 0], bob, [0, 0, 0], 4.0, 1.0), "spring")
    >>> state = system.new_state()
    >>> bob.q.set(state, [3.0, 0.0, 0.0])
    >>> system.realize(state, Stage.ACCELERATION)
    >>> state.udot + 0.0, spring.potential_energy(state)
    (array([-4.,  0.,  0.]), 8.0)
    """

    stiffness = parameter(factory=lambda self: self._initial[0])
    length = parameter(factory=lambda self: self._initial[1])

    def __init__(
        self,
        first: MobilizedBody,
        first_station: ArrayLike,
        second: MobilizedBody,
        second_station: ArrayLike,
        stiffness: float,
        length: float = 0.0,
    ) -> None:
        super().__init__(first, first_station, second, second_station)
        self._initial = (
            require_number(stiffness, f"the stiffness of {self}", least=0.0),
            require_number(length, f"the length of {self}", least=0.0),
        )

    def calc_tension(self, state: State) -> float:
        """Return the tension; 0 at its own length."""
        return float(self.stiffness(state)) * self._stretch(state)

    def calc_potential_energy(self, state: State) -> float:
        """Return the energy of the spring."""
        return 0.5 * float(self.stiffness(state)) * self._stretch(state) ** 2

    applied = applied_from(lambda self: (self.stiffness, self.length, *_poses(self)))
    potential_energy = energy_from(lambda self: (self.stiffness, self.length, *_poses(self)))

    def _stretch(self, state: State) -> float:
        return self.calc_length(state) - float(self.length(state))


@final
class TwoPointDamper(AbstractTwoPointForce):
    """A damper between two points. `damping` [N s/m] is a parameter.

    Parameters
    ----------
    first, first_station, second, second_station
        Same as for `AbstractTwoPointForce`.
    damping : float
        The initial value.

    Raises
    ------
    UnknownBodyError, ConstraintError, ShapeError, NotANumberError, OutOfRangeError
    """

    damping = parameter(factory=lambda self: self._initial)

    def __init__(
        self,
        first: MobilizedBody,
        first_station: ArrayLike,
        second: MobilizedBody,
        second_station: ArrayLike,
        damping: float,
    ) -> None:
        super().__init__(first, first_station, second, second_station)
        self._initial = require_number(damping, f"the damping of {self}", least=0.0)

    def calc_tension(self, state: State) -> float:
        """Return the damping times the rate of the length."""
        one, two = (
            body.station_velocity(state, station)
            for body, station in zip(self.bodies, self.stations, strict=True)
        )
        relative = two - one
        if not relative.any():
            return 0.0
        return float(self.damping(state)) * float(self._direction(state) @ relative)

    applied = applied_from(
        lambda self: (
            *(self.damping, *_poses(self)),
            *(body.velocity for body in self.bodies),
        )
    )
    potential_energy = energy_from(())
