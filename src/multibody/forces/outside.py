"""Forces that are set from outside, and forces by a function."""

from collections.abc import Callable
from typing import Any, final

from numpy.typing import ArrayLike

from stagecache.checks import require_callable, require_number
from stagecache.multibody.checks import checked_array
from stagecache.multibody.forces.force import AbstractForce, ForceSum, applied_from, energy_from
from stagecache.multibody.matter.matter import MatterSubsystem, MobilizedBody
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.declare.variables import discrete

OnU = tuple[tuple[int, int, float], ...]
OnBodies = tuple[tuple[int, tuple[float, ...]], ...]


def _none_on_u(self: Any) -> OnU:  # noqa: ARG001  # of a fixed form
    return ()


def _none_on_bodies(self: Any) -> OnBodies:  # noqa: ARG001  # likewise
    return ()


@final
class DiscreteForces(AbstractForce):
    """Forces on bodies and joints that are set in a State, and act until they are set anew.

    A write invalidates Dynamics: as for a controller that sets torques between steps.

    Parameters
    ----------
    matter : MatterSubsystem

    Raises
    ------
    WrongTypeError

    Examples
    --------
    >>> from stagecache import Stage
    >>> from stagecache.multibody import DiscreteForces, MultibodySystem, Slider
    >>> system = MultibodySystem()
    >>> cart = system.matter.add_body(
    ...     "cart", system.matter.ground, Slider(), mass_properties={"mass": 2.0}
    ... )
    >>> push = system.add(DiscreteForces(system.matter), "push")
    >>> state = system.new_state()
    >>> push.set_mobility_force(state, cart, 0, 3.0)
    >>> system.realize(state, Stage.ACCELERATION)
    >>> state.udot
    array([1.5])
    """

    mobility_forces = discrete(factory=_none_on_u, invalidates=Stage.DYNAMICS)
    """Triples: the index of a body, the index of a u of its joint, and the force on it."""

    body_forces = discrete(factory=_none_on_bodies, invalidates=Stage.DYNAMICS)
    """Pairs: the index of a body; and a moment [N m] and a force at its origin [N], in ground."""

    def set_mobility_force(
        self, state: State, body: MobilizedBody, u: int | str, force: float
    ) -> None:
        """Set the force on a u of the joint of a body [N m or N].

        Parameters
        ----------
        state : State
        body : MobilizedBody
        u : int or str
            Its index in the joint, or the name of the coordinate.
        force : float

        Raises
        ------
        UnknownBodyError, OutOfRangeError, UnknownItemError, NotANumberError
        StageTooLowError, WrongTypeError, ForeignNodeError, ReadOnlyError
        """
        self.matter._checked_own(body, f"the body of a force of {self.name}")
        place = body._checked_coordinate(u)
        value = require_number(force, f"a force of {self.name} on {body}")
        others = [f for f in self.mobility_forces(state) if f[:2] != (body.index, place)]
        self.mobility_forces.set(state, (*others, (body.index, place, value)))

    def set_body_force(self, state: State, body: MobilizedBody, force: ArrayLike) -> None:
        """Set the moment and the force at the origin of a body, (6,) in ground [N m, N].

        Raises
        ------
        UnknownBodyError, ShapeError, NotANumberError, OutOfRangeError
        StageTooLowError, WrongTypeError, ForeignNodeError, ReadOnlyError
        """
        self.matter._checked_own(body, f"the body of a force of {self.name}")
        values = tuple(checked_array(force, (6,), f"a force of {self.name} on {body}").tolist())
        others = [f for f in self.body_forces(state) if f[0] != body.index]
        self.body_forces.set(state, (*others, (body.index, values)))

    def clear(self, state: State) -> None:
        """Take all forces away. Writes only what differs."""
        if self.mobility_forces(state):
            self.mobility_forces.set(state, ())
        if self.body_forces(state):
            self.body_forces.set(state, ())

    def calc_force(self, state: State, forces: ForceSum) -> None:
        """Add all forces that are set."""
        bodies = self.matter.bodies
        for index, u, force in self.mobility_forces(state):
            forces.add_mobility_force(bodies[index], u, force)
        for index, values in self.body_forces(state):
            forces.add_moment(bodies[index], values[:3])
            forces.add_force(bodies[index], (0.0, 0.0, 0.0), values[3:])

    applied = applied_from(lambda self: (self.mobility_forces, self.body_forces, *self.matter.pose))
    potential_energy = energy_from(())


@final
class CustomForce(AbstractForce):
    """A force by functions; for one with parameters, write a subclass of `AbstractForce`.

    It depends on all of stage Dynamics, and so does its energy.

    Parameters
    ----------
    matter : MatterSubsystem
    force : callable
        Function ``(state, forces)`` that adds the parts of the force to a `ForceSum`.
    potential_energy : callable, optional
        Function ``(state)``; the default is 0 [J].

    Raises
    ------
    WrongTypeError

    Examples
    --------
    >>> from stagecache import Stage
    >>> from stagecache.multibody import CustomForce, MultibodySystem, Slider
    >>> system = MultibodySystem()
    >>> cart = system.matter.add_body(
    ...     "cart", system.matter.ground, Slider(), mass_properties={"mass": 2.0}
    ... )
    >>> def drag(state, forces):
    ...     speed = cart.u(state)[0]
    ...     forces.add_mobility_force(cart, 0, -0.5 * speed * abs(speed))
    >>> _ = system.add(CustomForce(system.matter, drag), "drag")
    >>> state = system.new_state()
    >>> cart.u.set(state, [4.0])
    >>> system.realize(state, Stage.ACCELERATION)
    >>> state.udot
    array([-4.])
    """

    def __init__(
        self,
        matter: MatterSubsystem,
        force: Callable[[State, ForceSum], Any],
        potential_energy: Callable[[State], float] | None = None,
    ) -> None:
        super().__init__(matter)
        self._force = require_callable(
            force,
            "CustomForce(force=...)",
            "a function of a State and a ForceSum",
            "write def force(state, forces): forces.add_force(body, station, vector)",
        )
        self._energy = potential_energy
        if potential_energy is not None:
            require_callable(
                potential_energy,
                "CustomForce(potential_energy=...)",
                "a function of a State that returns joules",
                "leave it out for a force without an energy",
            )

    def calc_force(self, state: State, forces: ForceSum) -> None:
        """Call the function."""
        self._force(state, forces)

    def calc_potential_energy(self, state: State) -> float:
        """Call the function of the energy, if there is one."""
        return 0.0 if self._energy is None else self._energy(state)
