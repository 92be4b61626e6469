r"""Constraints: the base of all, with the bodies that they tie, and a switch.

::

    AbstractConstraint
    +- AbstractPositionConstraint
    |  +- AbstractPairConstraint           of the pose of one body relative to another one
    |  +- AbstractCoordinateConstraint     of some q of joints, or the time
    |  +- AbstractContact                  of two surfaces; also of their velocities
    +- AbstractSpeedConstraint             of some u of joints, and q
    +- NoSlip1DConstraint                  of velocities of two bodies
    +- ConstantAccelerationConstraint      of a udot

Each constraint is a Subsystem, of its own name and graph. A System adopts it as any other:
``system.add(RodConstraint(...), "rod")``. All of one kind are computed together, by a `batch`; a
constraint has views of its own part::

    error, error_rate, jacobian, error_bias      entries, computed when they are read;
                                                 error_rate only for errors of positions
    multipliers(state)                           numbers of a vector of the State
    power                                        an entry, from stage Acceleration
    calc_body_forces, calc_mobility_forces       of a State at Acceleration
"""

from abc import ABC
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np

from stagecache.errors import ConstModelError, ConstraintError
from stagecache.multibody.constraints.batch import AbstractBatch
from stagecache.multibody.geometry.spatial import Array, cross3
from stagecache.multibody.matter.matter import MatterSubsystem
from stagecache.multibody.matter.mobilized_body import MobilizedBody
from stagecache.multibody.tree.applied_forces import NO_FORCES, AppliedForces
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.declare.cached import cached
from stagecache.system.declare.subsystem import Subsystem
from stagecache.system.declare.variables import parameter


class AbstractConstraint(Subsystem, ABC):
    """A constraint on bodies of one matter. What describes it is const.

    `power` is an entry: the power of its forces [W], in a State at Acceleration; more than 0 where
    it adds energy.

    Attributes
    ----------
    num_errors : int
        The number of errors that are zero where it is enabled.
    bodies : tuple of MobilizedBody
        The bodies that it ties, each once.
    """

    num_errors: ClassVar[int]
    bodies: tuple[MobilizedBody, ...]

    _batch_type: type[AbstractBatch]

    stacked: ClassVar[tuple[str, ...]] = ()
    """Attributes with which its formulas can be evaluated for many at once; see `batch`."""

    _batch: AbstractBatch

    is_enabled = parameter(True)
    """True if the bodies are tied; otherwise it does not have rows of errors."""

    @property
    def matter(self) -> MatterSubsystem:
        """The matter that has the bodies."""
        return self.bodies[0].matter

    @property
    def kind(self) -> tuple[Any, ...]:
        """Things that constraints have in common which are computed together."""
        return type(self), self.matter, self.num_errors

    @property
    def batch(self) -> Subsystem:
        """The Subsystem of its System that computes it.

        Raises
        ------
        AdoptionError
            It has no System.
        """
        _ = self.system  # raises without one
        return self._batch

    def _joined(self) -> None:
        """Join the batch of its kind, which the System takes with the first one."""
        for subsystem in self.system.subsystems:
            if isinstance(subsystem, AbstractBatch) and subsystem.constraints[0].kind == self.kind:
                subsystem.constraints = (*subsystem.constraints, self)
                self._batch = subsystem
                return
        self._batch = self.system.add(self._batch_type(self))

    # ------------------------------------------------------------------ its part

    def rows(self, state: State) -> slice:
        """Return its part of the rows of its batch: empty where it is not enabled."""
        number = self._batch.members(state).number_of(self)
        return (
            slice(0)
            if number is None
            else slice(number * self.num_errors, (number + 1) * self.num_errors)
        )

    @cached(
        prerequisites=lambda self: (self._batch.members, self._batch.errors), equal=np.array_equal
    )
    def error(self, state: State) -> Array:
        """The errors, (m,): of positions, velocities or accelerations."""
        return self._batch.errors(state)[self.rows(state)]

    @cached(prerequisites=lambda self: (self._batch.members, self._batch.jacobian))
    def jacobian(self, state: State) -> Any:
        """The derivatives of the velocity errors by all u, (m, nu); or of others, by udot."""
        return self._batch.jacobian(state)[self.rows(state)]

    @cached(prerequisites=lambda self: (self._batch.members, self._batch.error_bias))
    def error_bias(self, state: State) -> Array:
        """The acceleration errors where udot is 0."""
        return self._batch.error_bias(state)[self.rows(state)]

    def multipliers(self, state: State) -> Array:
        """Return the multipliers of its errors, (m,): the size of the forces that hold it.

        Raises
        ------
        StageTooLowError, WrongTypeError
        """
        rows = self.rows(state)  # refuses what is not a State
        return state[self._batch].multipliers[rows]

    # ------------------------------------------------------------------ forces and power

    def calc_body_forces(self, state: State) -> Array:
        """Return the forces by which it acts on `bodies`: 0 if it acts on u of joints only.

        Parameters
        ----------
        state : State
            At Acceleration.

        Returns
        -------
        ndarray
            A row of 6 for each body, at the origin of its frame, in ground: moment [N m], then
            force [N].

        Raises
        ------
        StageTooLowError, WrongTypeError
        """
        acting, layout = self._acting(state), self.matter.layout(state)
        found = np.zeros((len(self.bodies), 6))
        for k, body in enumerate(self.bodies):
            found[k] = acting.spatial[acting.rows == layout.rows[body.index]].sum(axis=0)
            found[k, :3] -= cross3(body.pose(state).translation, found[k, 3:])
        return found

    def calc_mobility_forces(self, state: State) -> Array:
        """Return the forces by which it acts on u of the matter, (nu,); else as above.

        They are 0 if it acts on bodies.
        """
        acting = self._acting(state)
        found = np.zeros(len(self.matter.u(state)))
        found[acting.u] = acting.values
        return found

    @cached(available_from=Stage.ACCELERATION, unit="W")
    def power(self, state: State) -> float:
        """The power of its forces: negative where it takes energy from the bodies.

        It is -multipliers @ jacobian @ u: 0 where it is satisfied and does not depend on time. The
        power of what drives bodies, as of a ConstantSpeedConstraint, is what the motor has.
        """
        acting, matter = self._acting(state), self.matter
        on_bodies = float(np.vdot(acting.spatial, matter.tree_motions(state)[acting.rows]))
        return on_bodies + float(acting.values @ matter.u(state)[acting.u])

    def _acting(self, state: State) -> AppliedForces:
        """Return all of its forces: on u of joints, -multipliers times the rows of its Jacobian."""
        multipliers = self.multipliers(state)
        if not len(multipliers):
            return NO_FORCES
        forces = -(multipliers @ self.jacobian(state))  # of all u of the System
        u = np.flatnonzero(forces)
        of_matter = u - state[self.matter].u_start
        return AppliedForces(NO_FORCES.rows, NO_FORCES.spatial, of_matter, forces[u])

    def check_derivatives(self, length: float = 1.0) -> None:
        """Compare derivatives that are given with differences of errors near the default q.

        `MultibodySystem.add` does so.

        Parameters
        ----------
        length : float, optional
            The scale of lengths of the model [m].

        Raises
        ------
        ConstraintError
            They differ at most of some places.
        """

    if not TYPE_CHECKING:  # for which there would be any name, then

        def __getattr__(self, name: str) -> NoReturn:
            """Name the attribute that a subclass has forgotten; only called for missing ones."""
            if name not in ("num_errors", "bodies"):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            raise ConstraintError(
                f"{self}: a {type(self).__name__} has no {name}",
                "its number of errors, said by the class"
                if name == "num_errors"
                else "the bodies that it ties, noted by the __init__ of its base",
                "neither an attribute of the class nor of the instance",
                "write num_errors = 1, or how many there are, in the class"
                if name == "num_errors"
                else "call super().__init__(...) first in its __init__",
            )

    def _refuse_change(self, name: str, how: str) -> None:
        super()._refuse_change(name, how)
        if name in self.__dict__ and not name.startswith("_"):
            raise ConstModelError(
                f"{self}.{name}: cannot be {how}",
                "a constraint that is const",
                "another value for it",
                "make another constraint; what varies, as is_enabled, is in a State",
            )

    def __str__(self) -> str:
        bodies: tuple[MobilizedBody, ...] = self.__dict__.get("bodies", ())
        return f"{self.name} of {' and '.join(f'body {body.name!r}' for body in bodies)}"


class AbstractPositionConstraint(AbstractConstraint):
    """A constraint whose errors are of positions; it has rows in qerr, uerr and udoterr."""

    @cached(prerequisites=lambda self: (self._batch.members, self._batch.error_rates))
    def error_rate(self, state: State) -> Array:
        """The derivatives of the errors along qdot = N u, and time."""
        return self._batch.error_rates(state)[self.rows(state)]


def gives(constraint: AbstractConstraint, base: type[AbstractConstraint], name: str) -> bool:
    """Return whether its class overrides a method of a base."""
    return getattr(type(constraint), name) is not getattr(base, name)
