r"""Forces on a tree: the base class of all, and the sum that a force adds its parts to.

::

    stiffness, body.pose, ...  -->  applied            potential_energy
                                        |                     |
         is_enabled, of all forces -> matter.applied_forces   matter.potential_energy
                                        |
                                   applied_force -> udot

Each force is a Subsystem, of its own name and graph. A System adopts it as any other:
``system.add(Gravity(system.matter), "gravity")``.
"""

from abc import ABC, abstractmethod
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from stagecache.checks import require_number, require_type
from stagecache.errors import ConstModelError, UnknownBodyError, short_repr
from stagecache.multibody.checks import checked_array
from stagecache.multibody.geometry.spatial import Array, cross3
from stagecache.multibody.matter.matter import MatterSubsystem
from stagecache.multibody.matter.mobilized_body import MobilizedBody
from stagecache.multibody.tree.applied_forces import NO_FIELD, NO_FORCES, AppliedForces, Vector
from stagecache.multibody.tree.layout import Indices, TreeLayout
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.declare.cached import CachedDeclaration, cached
from stagecache.system.declare.declaration import Prerequisites, check_prerequisites
from stagecache.system.declare.subsystem import Subsystem
from stagecache.system.declare.variables import parameter


@final
class ForceSum:
    """The parts of a force, which its `calc_force` adds, one after another."""

    __slots__ = ("_field", "_layout", "_matter", "_rows", "_spatial", "_state", "_u", "_values")

    def __init__(self, matter: MatterSubsystem, state: State) -> None:
        self._matter = matter
        self._state = state
        self._layout: TreeLayout = matter.layout(state)
        self._rows: list[Indices] = []
        self._spatial: list[Array] = []
        self._u: list[int] = []
        self._values: list[float] = []
        self._field: Vector = NO_FIELD

    def add_force(self, body: MobilizedBody, station: ArrayLike, force: ArrayLike) -> None:
        """Add a force at a point of a body. Reads the pose of the body.

        Parameters
        ----------
        body : MobilizedBody
        station : (3,) array_like
            In the frame of the body [m].
        force : (3,) array_like
            In ground [N].

        Raises
        ------
        UnknownBodyError, ShapeError, NotANumberError, OutOfRangeError
        """
        self._require_own(body)
        pose = body.pose(self._state).matrix
        point = pose[:3, :3] @ checked_array(station, (3,), "the station of a force") + pose[:3, 3]
        vector = checked_array(force, (3,), f"a force on {body}")
        self._add(body, cross3(point, vector), vector)

    def add_moment(self, body: MobilizedBody, moment: ArrayLike) -> None:
        """Add a moment on a body (3,), in ground [N m].

        Raises
        ------
        UnknownBodyError, ShapeError, NotANumberError, OutOfRangeError
        """
        self._require_own(body)
        self._add(body, checked_array(moment, (3,), f"a moment on {body}"), np.zeros(3))

    def add_between(
        self, first: MobilizedBody, second: MobilizedBody, point: ArrayLike, force: ArrayLike
    ) -> None:
        """Add a force on the second body at a point, and the opposite one on the first one.

        Parameters
        ----------
        first, second : MobilizedBody
        point : (3,) array_like
            In ground [m].
        force : (3,) array_like
            In ground [N].

        Raises
        ------
        UnknownBodyError, ShapeError, NotANumberError, OutOfRangeError
        """
        for body in (first, second):
            self._require_own(body)
        force = checked_array(force, (3,), f"a force between {first} and {second}")
        moment = cross3(checked_array(point, (3,), "the point of a force"), force)
        self._add(first, -moment, -force)
        self._add(second, moment, force)

    def _add_field(self, acceleration: Array) -> None:
        """Add a force on all masses, by mass, (3,)."""
        x, y, z = (a + b for a, b in zip(self._field, acceleration.tolist(), strict=True))
        self._field = x, y, z

    def add_mobility_force(self, body: MobilizedBody, u: int | str, force: float) -> None:
        """Add a force on one u of the joint of a body: a torque [N m], or a force [N].

        Parameters
        ----------
        body : MobilizedBody
        u : int or str
            Its index in the joint, or the name of the coordinate.
        force : float

        Raises
        ------
        UnknownBodyError, OutOfRangeError, UnknownItemError, NotANumberError
        """
        self._require_own(body)
        place = body._checked_coordinate(u)
        value = require_number(force, f"a force on u {place} of {body}")
        self._u.append(self._layout.joints[self._layout.rows[body.index]].u.start + place)
        self._values.append(value)

    def result(self) -> AppliedForces:
        """Return all that was added."""
        return AppliedForces(
            np.concatenate([NO_FORCES.rows, *self._rows]),
            np.concatenate([NO_FORCES.spatial, *self._spatial]),
            np.array(self._u, np.intp),
            np.array(self._values),
            self._field,
        )

    def _add(self, body: MobilizedBody, moment: Array, force: Array) -> None:
        self._rows.append(np.array([self._layout.rows[body.index]]))
        self._spatial.append(np.concatenate([moment, force])[None])

    def _add_rows(self, rows: Indices, spatial: Array) -> None:
        """Add spatial forces on bodies by row, about the origin of the ground."""
        self._rows.append(rows)
        self._spatial.append(spatial)

    def _require_own(self, body: Any) -> None:
        if getattr(body, "matter", None) is not self._matter:
            raise UnknownBodyError(
                f"a force: acts on something that is not a body of {self._matter.name}",
                "a body of the matter that the force was made for",
                f"{body}" if hasattr(body, "matter") else short_repr(body),
                "make a force for each matter",
            )


def checked_body(body: Any, what: str) -> MobilizedBody:
    """Return a body.

    Raises
    ------
    UnknownBodyError
    """
    if isinstance(body, MobilizedBody):
        return body
    raise UnknownBodyError(
        f"{what}: acts on something that is not a body",
        "a body that add_body() has returned, or the ground of a matter",
        short_repr(body),
        "by its name, a body is matter.body(name)",
    )


class AbstractForce(Subsystem, ABC):
    """A force on bodies and u of one matter. Write a subclass for one of your own.

    It has `calc_force`, and `calc_potential_energy` if it has an energy. They depend on all of
    stage Dynamics: on time, q, u, z, and all variables but those of Acceleration and Report. To
    have them called only where certain things have changed, declare the entries anew, with
    prerequisites: ``applied = applied_from(...)``, ``potential_energy = energy_from(...)``.

    Parameters
    ----------
    matter : MatterSubsystem
        The tree on which it acts.

    Raises
    ------
    WrongTypeError
    """

    matter: MatterSubsystem

    is_enabled = parameter(True)
    """True if it acts. A write invalidates Instance, and leaves poses valid."""

    def __init__(self, matter: MatterSubsystem) -> None:
        self.matter = require_type(
            matter,
            MatterSubsystem,
            f"{type(self).__name__}: for something that is not a matter",
            "a MatterSubsystem",
            "give system.matter, or body.matter",
        )

    # ------------------------------------------------------------------ duties

    @abstractmethod
    def calc_force(self, state: State, forces: ForceSum) -> None:
        """Add all parts of the force to `forces`."""

    def calc_potential_energy(self, state: State) -> float:  # noqa: ARG002  # others need it
        """Return its potential energy [J]; 0 for a force without one."""
        return 0.0

    @property
    def acts_on(self) -> MatterSubsystem:
        """The matter, which finds its forces by this."""
        return self.matter

    # ------------------------------------------------------------------ entries

    @cached(available_from=Stage.DYNAMICS)
    def applied(self, state: State) -> AppliedForces:
        """The forces on bodies and u that it applies, also where it is not enabled."""
        return self._applied(state)

    @cached(available_from=Stage.DYNAMICS, unit="J")
    def potential_energy(self, state: State) -> float:
        """The potential energy [J], also where the force is not enabled."""
        return self._potential_energy(state)

    def calc_power(self, state: State) -> float:
        """Return the power that it has [W]: negative where it takes energy from the bodies.

        Reads `applied`, `matter.tree_inertias`, `matter.tree_motions`, `matter.u`.

        Raises
        ------
        StageTooLowError, WrongTypeError
        """
        if not self.is_enabled(state):
            return 0.0
        matter = self.matter
        inertias, motions = matter.tree_inertias(state), matter.tree_motions(state)
        return self.applied(state).power(inertias, motions, matter.u(state))

    def _applied(self, state: State) -> AppliedForces:
        forces = ForceSum(self.matter, state)
        self.calc_force(state, forces)
        return forces.result()

    def _potential_energy(self, state: State) -> float:
        return require_number(
            self.calc_potential_energy(state), f"calc_potential_energy of {self.name}"
        )

    def _refuse_change(self, name: str, how: str) -> None:
        super()._refuse_change(name, how)
        if name in self.__dict__ and not name.startswith("_"):
            raise ConstModelError(
                f"{self}.{name}: cannot be {how}",
                "a force that is const",
                "another value for it",
                "make another force; what varies, as is_enabled, is in a State",
            )

    def __str__(self) -> str:
        return f"force {self.name!r}"


def applied_from(prerequisites: Prerequisites) -> CachedDeclaration[AppliedForces]:
    """Declare `applied` of a class of forces that depend on certain items only.

    Parameters
    ----------
    prerequisites : tuple or callable
        All that `calc_force` reads; same as for `cached`.

    Raises
    ------
    DeclarationError, WrongTypeError
    """
    named: Any = check_prerequisites(prerequisites, "applied_from()")

    def with_form(self: Any) -> tuple[Any, ...]:  # which decides the places of u
        own = named(self) if callable(named) else named
        return (*own, self.matter.use_euler_angles)

    given = None if named is None else with_form
    return cached(prerequisites=given)(AbstractForce._applied)


def energy_from(prerequisites: Prerequisites) -> CachedDeclaration[float]:
    """Declare `potential_energy` of a class of forces, as `applied_from`; ``()`` if it is 0.

    Raises
    ------
    DeclarationError, WrongTypeError
    """
    return cached(prerequisites=prerequisites, unit="J")(AbstractForce._potential_energy)
