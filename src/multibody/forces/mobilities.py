r"""Forces on one coordinate of a joint: spring, damper, constant force, stop.

::

    spring      f = -k (q - q0)                     k (q - q0)² / 2
    damper      f = -c u
    constant    f
    stop        f = -k x (1 + d x')                 k x² / 2

The stop acts where q is beyond a bound, by x; it only pushes back. Its dissipation d is taken from
K. H. Hunt and F. R. E. Crossley, Coefficient of restitution interpreted as damping in vibroimpact
(1975).

All numbers are parameters of the State. Where a q is not the integral of its u, as in a Ball, there
is no such spring.
"""

from abc import abstractmethod
from typing import Any, final

from stagecache.checks import require_number
from stagecache.errors import KinematicsError
from stagecache.multibody.forces.force import (
    AbstractForce,
    ForceSum,
    applied_from,
    checked_body,
    energy_from,
)
from stagecache.multibody.matter.mobilized_body import MobilizedBody
from stagecache.state.state import State
from stagecache.system.declare.variables import parameter


class AbstractMobilityForce(AbstractForce):
    """A force on one u of a joint.

    Parameters
    ----------
    body : MobilizedBody
        The body of the joint.
    coordinate : int or str
        The index of the u, counted from 0 in the joint; or the name of the coordinate.

    Raises
    ------
    UnknownBodyError, OutOfRangeError, UnknownItemError

    Attributes
    ----------
    body : MobilizedBody
    coordinate : int
    """

    body: MobilizedBody
    coordinate: int

    def __init__(self, body: MobilizedBody, coordinate: int | str) -> None:
        what = type(self).__name__
        self.body = checked_body(body, what)
        super().__init__(self.body.matter)
        self.coordinate = self.body._checked_coordinate(coordinate)

    def calc_force(self, state: State, forces: ForceSum) -> None:
        """Add `calc_mobility_force`."""
        forces.add_mobility_force(self.body, self.coordinate, self.calc_mobility_force(state))

    @abstractmethod
    def calc_mobility_force(self, state: State) -> float:
        """Return the force on the u [N m or N]."""

    def _q(self, state: State) -> float:
        return float(self.body.q(state)[self.coordinate])

    def _u(self, state: State) -> float:
        return float(self.body.u(state)[self.coordinate])


def _checked_paired(body: MobilizedBody, what: str) -> None:
    """Refuse a joint whose qdot is not u."""
    mobilizer = body.mobilizer
    if mobilizer.n(mobilizer.default_q) is not None:
        raise KinematicsError(
            f"{what} on {body}: its q are not the integrals of its u",
            "a joint whose qdot is u, as Pin, Slider or Gimbal",
            f"a {mobilizer!r}",
            "use a LinearBushing for the orientation of a body, or a Gimbal as the joint",
        )


def _of_spring(self: Any) -> tuple[Any, ...]:
    return (self.stiffness, self.rest, self.body.q)


def _of_stop(self: Any) -> tuple[Any, ...]:
    return (self.stiffness, self.bounds, self.body.q)


@final
class MobilitySpring(AbstractMobilityForce):
    """A spring at a joint. `stiffness` [N m/rad or N/m] and `rest` [rad or m] are parameters.

    Parameters
    ----------
    body : MobilizedBody
    coordinate : int or str
    stiffness : float
        The initial value.
    rest : float, optional
        The initial q at which it has no force.

    Raises
    ------
    UnknownBodyError, OutOfRangeError, UnknownItemError, NotANumberError
    KinematicsError
        The qdot of the joint are not its u.

    Examples
    --------
    >>> from stagecache import Stage
    >>> from stagecache.multibody import MobilitySpring, MultibodySystem, Slider
    >>> system = MultibodySystem()
    >>> cart = system.matter.add_body(
    ...     "cart", system.matter.ground, Slider(), mass_properties={"mass": 2.0}
    ... )
    >>> spring = system.add(MobilitySpring(cart, 0, 8.0), "spring")
    >>> state = system.new_state()
    >>> cart.q.set(state, [0.5])
    >>> system.realize(state, Stage.ACCELERATION)
    >>> state.udot, spring.potential_energy(state)
    (array([-2.]), 1.0)
    """

    stiffness = parameter(factory=lambda self: self._initial[0])
    rest = parameter(factory=lambda self: self._initial[1])

    def __init__(
        self, body: MobilizedBody, coordinate: int | str, stiffness: float, rest: float = 0.0
    ) -> None:
        super().__init__(body, coordinate)
        _checked_paired(self.body, "MobilitySpring")
        self._initial = (
            require_number(stiffness, f"the stiffness of a spring on {body}", least=0.0),
            require_number(rest, f"the rest of a spring on {body}"),
        )

    def calc_mobility_force(self, state: State) -> float:
        """Return the force of the spring."""
        return -float(self.stiffness(state)) * self._stretch(state)

    def calc_potential_energy(self, state: State) -> float:
        """Return the energy of the spring."""
        return 0.5 * float(self.stiffness(state)) * self._stretch(state) ** 2

    applied = applied_from(_of_spring)
    potential_energy = energy_from(_of_spring)

    def _stretch(self, state: State) -> float:
        return self._q(state) - float(self.rest(state))


@final
class MobilityDamper(AbstractMobilityForce):
    """A damper at a joint. `damping` [N m s/rad or N s/m] is a parameter.

    Parameters
    ----------
    body : MobilizedBody
    coordinate : int or str
    damping : float
        The initial value.

    Raises
    ------
    UnknownBodyError, OutOfRangeError, UnknownItemError, NotANumberError
    """

    damping = parameter(factory=lambda self: self._initial)

    def __init__(self, body: MobilizedBody, coordinate: int | str, damping: float) -> None:
        super().__init__(body, coordinate)
        self._initial = require_number(damping, f"the damping of a damper on {body}", least=0.0)

    def calc_mobility_force(self, state: State) -> float:
        """Return the force of the damper."""
        return -float(self.damping(state)) * self._u(state)

    applied = applied_from(lambda self: (self.damping, self.body.u))
    potential_energy = energy_from(())


@final
class MobilityConstantForce(AbstractMobilityForce):
    """A force at a joint, such as the force of a motor. `force` [N m or N] is a parameter.

    Parameters
    ----------
    body : MobilizedBody
    coordinate : int or str
    force : float
        The initial value.

    Raises
    ------
    UnknownBodyError, OutOfRangeError, UnknownItemError, NotANumberError
    """

    force = parameter(factory=lambda self: self._initial)

    def __init__(self, body: MobilizedBody, coordinate: int | str, force: float) -> None:
        super().__init__(body, coordinate)
        self._initial = require_number(force, f"the force on {body}")

    def calc_mobility_force(self, state: State) -> float:
        """Return the force."""
        return float(self.force(state))

    applied = applied_from((force,))
    potential_energy = energy_from(())


@final
class MobilityStop(AbstractMobilityForce):
    """Soft bounds of a coordinate, which push back where it is beyond them.

    `stiffness` [N m/rad or N/m], `dissipation` [s/rad or s/m] and `bounds` are parameters.

    Parameters
    ----------
    body : MobilizedBody
    coordinate : int or str
    stiffness : float
    low, high : float
        The bounds of q [rad or m]; either may be infinite.
    dissipation : float, optional

    Raises
    ------
    UnknownBodyError, OutOfRangeError, UnknownItemError, NotANumberError
    KinematicsError
        The qdot of the joint are not its u.
    """

    stiffness = parameter(factory=lambda self: self._initial[0])
    dissipation = parameter(factory=lambda self: self._initial[1])
    bounds = parameter(factory=lambda self: self._initial[2])

    def __init__(
        self,
        body: MobilizedBody,
        coordinate: int | str,
        stiffness: float,
        low: float,
        high: float,
        dissipation: float = 0.0,
    ) -> None:
        super().__init__(body, coordinate)
        _checked_paired(self.body, "MobilityStop")
        what = f"of a stop on {body}"
        low = require_number(low, f"the lower bound {what}", may_be_infinite=True)
        high = require_number(high, f"the upper bound {what}", least=low, may_be_infinite=True)
        self._initial = (
            require_number(stiffness, f"the stiffness {what}", least=0.0),
            require_number(dissipation, f"the dissipation {what}", least=0.0),
            (low, high),
        )

    def calc_mobility_force(self, state: State) -> float:
        """Return the force; 0 within the bounds."""
        x, rate = self._excess(state), self._u(state)
        along = 1.0 if x > 0.0 else -1.0
        stiffness, dissipation = float(self.stiffness(state)), float(self.dissipation(state))
        return -stiffness * x * max(0.0, 1.0 + dissipation * along * rate)

    def calc_potential_energy(self, state: State) -> float:
        """Return the energy of its spring."""
        return 0.5 * float(self.stiffness(state)) * self._excess(state) ** 2

    applied = applied_from(lambda self: (*_of_stop(self), self.dissipation, self.body.u))
    potential_energy = energy_from(_of_stop)

    def _excess(self, state: State) -> float:
        """Return by how much q is beyond a bound: negative below, 0 between them."""
        q = self._q(state)
        low, high = self.bounds(state)
        return max(q - float(high), 0.0) + min(q - float(low), 0.0)
