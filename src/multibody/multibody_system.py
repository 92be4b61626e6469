"""A System of rigid bodies, and copies of its States with orientations in the other form.

A write of the modeling option of a matter changes the number of q, so it resets all q, u and z.
`with_quaternions` and `with_euler_angles` keep the poses and velocities.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from stagecache.assembly.coordinates.dependent import DependentCoordinate
from stagecache.checks import require_type
from stagecache.errors import (
    AdoptionError,
    ConstraintError,
    NotANumberError,
    WrongTypeError,
    listed,
    short_repr,
)
from stagecache.multibody.constraints.constraint import AbstractConstraint
from stagecache.multibody.constraints.coordinates import CoordinateCouplerConstraint
from stagecache.multibody.geometry.orientation import with_leading_positive
from stagecache.multibody.geometry.spatial import Array, cross
from stagecache.multibody.matter.matter import MatterSubsystem
from stagecache.multibody.matter.mobilized_body import MobilizedBody
from stagecache.multibody.tree.applied_forces import sum_of
from stagecache.multibody.tree.motions import motions
from stagecache.state.handles import ContinuousElement, ContinuousVariable
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.constraints.rows import constraint_rows
from stagecache.system.core.system import System
from stagecache.system.declare.subsystem import Subsystem
from stagecache.system.events.default_subsystem import DefaultSystemSubsystem

Part = TypeVar("Part", bound=Subsystem)
Tied = TypeVar("Tied", bound=AbstractConstraint)


def with_euler_angles(matter: MatterSubsystem, state: State) -> State:
    """Return a copy of a State, at Model, with orientations in body-fixed x-y-z angles.

    The poses of all bodies are the same; so are u, z and their weights, the time, and all other
    variables. Weights of errors are 1. Cost O(n).

    Parameters
    ----------
    matter : MatterSubsystem
    state : State
        At Model or further.

    Raises
    ------
    WrongTypeError
        `matter` is not a MatterSubsystem.
    WrongTypeError, ForeignStateError, TopologyVersionError, StageTooLowError
    KinematicsError
        A quaternion is zero.
    """
    return _converted(matter, state, use_euler_angles=True)


def with_quaternions(matter: MatterSubsystem, state: State) -> State:
    """Return a copy of a State, at Model, with orientations in quaternions of length 1.

    As `with_euler_angles`. Of the two quaternions of an orientation, the first number that is not 0
    is positive: w, or of half a turn x, y or z. Such a quaternion comes back from angles as it was.
    (Motions, and an Assembler that tracks, choose the one that continues the movement instead.)
    """
    return _converted(matter, state, use_euler_angles=False)


def q_of_other_form(matter: MatterSubsystem, other: State, state: State) -> list[float]:
    """Return the q of a State with the other form of orientations, in the form of `state`.

    Of both quaternions of an orientation, it is the one nearer to the present q of `state`. A joint
    that has not moved keeps its q to the last bit.
    """
    present: list[float] = matter.q(state).tolist()
    layout = matter.layout(state)

    def near(body: MobilizedBody, angles: list[float]) -> Sequence[float]:
        mobilizer, start = body.mobilizer, body.mobilizer.quaternion_start
        if start is None:
            return mobilizer.quaternions_of(angles)
        old = present[layout.joints[layout.rows[body.index]].q]
        there = slice(start, start + 4)
        if any(old[there]) and [*mobilizer.euler_angles_of(old)] == angles:
            return old
        found = [*mobilizer.quaternions_of(angles)]
        if sum(a * b for a, b in zip(found[there], old[there], strict=True)) < 0.0:
            found[there] = [-value for value in found[there]]
        return found

    return _converted_q(matter, other, near)


def _converted_q(
    matter: MatterSubsystem,
    state: State,
    quaternions: Callable[[MobilizedBody, list[float]], Sequence[float]],
) -> list[float]:
    """Return the q of a State in the other form: quaternions by a function, or Euler angles."""
    matter.tree_poses(state)  # refuses q that have no pose
    layout, q = matter.layout(state), matter.q(state).tolist()
    found: list[float] = []
    for body in matter.bodies:
        own = q[layout.joints[layout.rows[body.index]].q]
        if layout.use_euler_angles:
            found += quaternions(body, own)
        else:
            found += body.mobilizer.euler_angles_of(own)
    return found


def _leading_positive(body: MobilizedBody, angles: list[float]) -> Sequence[float]:
    mobilizer = body.mobilizer
    return with_leading_positive(mobilizer.quaternions_of(angles), mobilizer.quaternion_start)


def _converted(matter: MatterSubsystem, state: State, *, use_euler_angles: bool) -> State:
    require_type(
        matter,
        MatterSubsystem,
        f"{short_repr(matter)}: has no bodies with orientations to convert",
        "a MatterSubsystem",
        "give the matter of a System, system.matter",
    )
    system: Any = matter.system
    system._require_own(state)
    if matter.use_euler_angles(state) == use_euler_angles:
        return state.copy()
    q = _converted_q(matter, state, _leading_positive)
    twin = state.copy()
    matter.use_euler_angles.set(twin, use_euler_angles)
    system.realize(twin, Stage.MODEL)
    twin.time = state.time
    for subsystem in system.subsystems:
        if subsystem is not matter:
            twin[subsystem].q = state[subsystem].q
    matter.q.set(twin, np.array(q))
    twin.u = state.u
    twin.z = state.z
    twin.u_weights = state.u_weights
    twin.z_weights = state.z_weights
    return twin


class MultibodySystem(System):
    """A System with a tree of rigid bodies, and what other subsystems add to it.

    Parameters
    ----------
    *subsystems, **named : Subsystem
        Same as for `System`. If none of them is a MatterSubsystem, one is made, named
        "matter".
    name, version : str
        Same as for `System`.

    Raises
    ------
    WrongTypeError, AdoptionError, DuplicateNameError, InvalidNameError

    Examples
    --------
    >>> from stagecache.multibody import Ball, MultibodySystem
    >>> system = MultibodySystem()
    >>> head = system.matter.add_body("head", system.matter.ground, Ball())
    >>> state = system.new_state()
    >>> state.nq, state.nu
    (4, 3)
    >>> system.matter.use_euler_angles.set(state, True)
    >>> system.realize_model(state)
    >>> state.nq, state.nu
    (3, 3)
    """

    _coming: tuple[Subsystem, ...] = ()  # beside those that are there: given to the constructor

    def __init__(
        self, *subsystems: Subsystem, name: str = "system", version: str = "", **named: Subsystem
    ) -> None:
        given = (*subsystems, *named.values())
        if not any(isinstance(subsystem, MatterSubsystem) for subsystem in given):
            named = {"matter": MatterSubsystem(), **named}
        self._coming = given
        super().__init__(*subsystems, name=name, version=version, **named)
        self._coming = ()

    @property
    def matter(self) -> MatterSubsystem:
        """The tree of bodies; the first one if there are several."""
        return self._matters[0]

    def add(self, subsystem: Part, name: str | None = None) -> Part:
        """Make a subsystem part of the System, as `System.add` does.

        The derivatives that a constraint of your own gives are compared with differences.

        Raises
        ------
        ConstraintError
            A constraint ties bodies of another System; or derivatives that one of your own gives
            differ from the derivatives of its errors.
        WrongTypeError, AdoptionError, DuplicateNameError, InvalidNameError
        """
        acts_on = getattr(subsystem, "acts_on", None)
        if acts_on is not None and acts_on not in self._matters:
            raise AdoptionError(
                f"{subsystem!r}: acts on a matter of another System",
                "a force on " + listed(matter.name for matter in self._matters) + " of this one",
                f"one on {acts_on!r}",
                "make it for the matter of this System",
            )
        if isinstance(subsystem, AbstractConstraint):
            self._require_own_bodies(subsystem)
            _ = subsystem.kind  # refuses one that has forgotten a duty
            subsystem.check_derivatives(self.default_length_scale)
        return super().add(subsystem, name)

    def add_constraint(self, constraint: Tied, name: str | None = None) -> Tied:
        """Add a constraint on bodies, as `add` does, and return it. A change of topology.

        Raises
        ------
        WrongTypeError
            It is not one.
        ConstraintError
            Its bodies belong to another System.
        AdoptionError, DuplicateNameError, InvalidNameError
        """
        require_type(
            constraint,
            AbstractConstraint,
            f"{short_repr(constraint)}: not a constraint on bodies",
            "a RodConstraint, or another AbstractConstraint",
            "other subsystems are added by add()",
        )
        return self.add(constraint, name)

    def _require_own_bodies(self, constraint: AbstractConstraint) -> None:
        if constraint.matter not in (*self._matters, *self._coming):
            raise ConstraintError(
                f"{constraint}: ties bodies of another System",
                f"bodies of {self.matter.name} of this one",
                ", ".join(f"{body}" for body in constraint.bodies),
                "add the constraint to the System of its bodies",
            )

    # ------------------------------------------------------------------ energy and reactions

    def calc_kinetic_energy(self, state: State) -> float:
        """Return the kinetic energy of all bodies [J]. Reads `kinetic_energy` of the matters.

        Raises
        ------
        StageTooLowError, WrongTypeError, ForeignStateError
        """
        return sum(matter.kinetic_energy(state) for matter in self._matters)

    def calc_potential_energy(self, state: State) -> float:
        """Return the potential energy of all forces on bodies [J]; else as above."""
        return sum(matter.potential_energy(state) for matter in self._matters)

    def calc_energy(self, state: State) -> float:
        """Return the sum of both [J]."""
        return self.calc_kinetic_energy(state) + self.calc_potential_energy(state)

    def calc_reaction_forces(self, state: State, matter: MatterSubsystem | None = None) -> Array:
        """Return what each joint of a matter transmits to its body: constraint forces and all else.

        That is all that the mobilizer does to the body: it holds the body in the joint, and
        transmits the forces on its u, of springs and motors for instance. The parent feels the
        opposite. Source: Newton's and Euler's laws for all that is outboard of the joint.

        Parameters
        ----------
        state : State
            At Acceleration.
        matter : MatterSubsystem, optional
            The default is the first one.

        Returns
        -------
        ndarray
            A row of 6 by index of the body, at the origin of its frame M, in ground: moment [N m],
            then force [N]. 0 for the ground.

        Raises
        ------
        StageTooLowError, WrongTypeError, ForeignStateError

        Examples
        --------
        >>> from stagecache import Stage
        >>> from stagecache.multibody import Gravity, MultibodySystem, Pin, Transform
        >>> system = MultibodySystem()
        >>> bob = system.matter.add_body(
        ...     "bob",
        ...     system.matter.ground,
        ...     Pin(),
        ...     outboard_frame=Transform(None, [0.0, 1.0, 0.0]),
        ...     mass_properties={"mass": 2.0},
        ... )
        >>> _ = system.add(Gravity(system.matter), "gravity")
        >>> state = system.new_state()
        >>> bob.u.set(state, [3.0])
        >>> system.realize(state, Stage.ACCELERATION)
        >>> system.calc_reaction_forces(state)[bob.index].round(2) + 0.0  # 2 (9.81 + 3²) N
        array([ 0.  ,  0.  ,  0.  ,  0.  , 37.62,  0.  ])
        """
        matter = self._checked_matter(state, matter, "calc_reaction_forces")
        udot = state[matter].udot
        layout, poses, inertias = matter.layout(state), matter.tree_poses(state), matter._inertias
        by_constraints = [
            subsystem._acting(state)
            for subsystem in self.subsystems
            if isinstance(subsystem, AbstractConstraint) and subsystem.matter is matter
        ]
        acting = sum_of(layout, by_constraints, matter.applied_forces(state))
        if layout.kernel is not None:
            outboard = np.empty((len(layout.joints), 6))
            layout.kernel.inverse_dynamics(
                *(poses.arrays, inertias.arrays, matter.u(state), udot, acting.about_bodies(poses)),
                field=acting.field,
                reactions=outboard,
            )
        else:
            axes, motion = matter.axes(state), matter.tree_motions(state)
            rates = matter.tree_bias(state) + motions(layout, axes, udot)
            taken = matter.tree_inertias(state).forces(motion, rates)
            by_forces = acting.spatial(inertias.masses, matter.tree_centers(state))
            outboard = layout.sum_to_ground(taken - by_forces)
            outboard[:, :3] -= cross(poses.joints[:, :3, 3], outboard[:, 3:])
        outboard[0] = 0.0
        found: Array = outboard[layout.rows]
        return found

    def calc_motion_forces(self, state: State, matter: MatterSubsystem | None = None) -> Array:
        """Return the forces on u (nu,) by which motions and locks give their joints their udot.

        They act beside all other forces and constraints, as if a motor applied them: with them,
        M udot is the sum of all forces. They are 0 for u that are free.

        Parameters
        ----------
        state : State
            At Acceleration.
        matter : MatterSubsystem, optional
            The default is the first one.

        Returns
        -------
        ndarray
            [N m or N]

        Raises
        ------
        StageTooLowError, WrongTypeError, ForeignStateError
        NotANumberError
            Some udot is not known, in a tree where bodies without mass are free.

        Examples
        --------
        >>> from stagecache import Stage
        >>> from stagecache.multibody import MultibodySystem, SinusoidalAcceleration, Slider
        >>> system = MultibodySystem()
        >>> push = SinusoidalAcceleration(2.0, 1.0)
        >>> cart = system.matter.add_body(
        ...     "cart", system.matter.ground, Slider(), mass_properties={"mass": 3.0}, motion=push
        ... )
        >>> state = system.new_state()
        >>> state.time = 0.5
        >>> system.realize(state, Stage.ACCELERATION)
        >>> cart.udot(state).round(3), system.calc_motion_forces(state).round(3)
        (array([0.959]), array([2.877]))
        """
        matter = self._checked_matter(state, matter, "calc_motion_forces")
        udot, place = state[matter].udot, matter.u.place(state)
        unknown = np.isnan(udot)
        if unknown.any():
            joint = next(j for j in matter.layout(state).joints if unknown[j.u].any())
            raise NotANumberError(
                f"calc_motion_forces: the udot of {joint.body} is not known",
                "a number for each u of the tree",
                f"udot = {udot[joint.u].tolist()}",
                "give the bodies mass; or give each joint a motion, or lock it",
            )
        total = matter.calc_inverse_dynamics(state, udot)
        if state.nudoterr:
            start = state.nq
            by_constraints = self.multiply_by_g_transpose(state, state.multipliers)
            total += by_constraints[place.start - start : place.stop - start]
        found = np.zeros(len(total))
        for kind in ("u", "udot"):
            for variable in matter._prescribed_variables(state, kind):
                rows = variable.rows(state)
                own = slice(rows.start - place.start, rows.stop - place.start)
                found[own] = total[own]
        return found

    def calc_motion_power(self, state: State) -> float:
        """Return the power of motions and locks [W]: `calc_motion_forces` at the u. Else as there.

        It is the change of the energy, where no other force takes or gives any.
        """
        self._require_own(state)
        return sum(
            float(self.calc_motion_forces(state, matter) @ matter.u(state))
            for matter in self._matters
        )

    def _checked_matter(
        self, state: State, matter: MatterSubsystem | None, what: str
    ) -> MatterSubsystem:
        self._require_own(state)
        matter = self.matter if matter is None else matter
        if matter not in self._matters:
            raise WrongTypeError(
                f"{what}(matter): not a matter of this System",
                "one of " + listed(own.name for own in self._matters),
                short_repr(matter),
                "leave it out for the first one",
            )
        return matter

    def _why_it_stays(self, state: State) -> str:
        """Return why a simulation would move nothing; "" if it may."""
        known = (MatterSubsystem, AbstractConstraint, DefaultSystemSubsystem)
        others = [s for s in self.subsystems if not isinstance(s, known)]
        has_motion = any(matter.moving for matter in self._matters)
        if (
            others
            or has_motion
            or self.event_handlers
            or state.u.any()
            or len(self.matter.bodies) == 1
        ):
            return ""
        bodies = listed(body.name for matter in self._matters for body in matter.bodies[1:])
        return (
            f"nothing moves {bodies}: there is no force, no motion, and all u are 0; add a force, "
            'as system.add(Gravity(system.matter), "gravity"), or give some u'
        )

    # ------------------------------------------------------------------ for an Assembler

    @property
    def mobilizers(self) -> dict[str, ContinuousVariable | ContinuousElement]:
        """The handles of q by name, of all bodies but the ground, and of named coordinates.

        Those of a second matter have its name in front: "matter2.arm". A name that a body and a
        coordinate of another body have is left out: it could mean both.
        """
        found: dict[str, ContinuousVariable | ContinuousElement] = {}
        for matter in self._matters:
            start = "" if matter is self.matter else f"{matter.name}."
            found |= {
                start + coordinate.name: coordinate.q_in_angles for coordinate in matter.coordinates
            }
            found |= {start + body.name: body.q for body in matter.bodies[1:]}
        for name in self.ambiguous_mobilizers:
            del found[name]
        return found

    @property
    def ambiguous_mobilizers(self) -> frozenset[str]:
        """The names that a coordinate and another body have."""
        found = set()
        for matter in self._matters:
            start = "" if matter is self.matter else f"{matter.name}."
            bodies = {body.name: body for body in matter.bodies[1:]}
            for coordinate in matter.coordinates:
                body = bodies.get(coordinate.name)
                if body is not None and (body is not coordinate.body or body.mobilizer.nu > 1):
                    found.add(start + coordinate.name)
        return frozenset(found)

    @property
    def clamped_ranges(self) -> dict[ContinuousElement, tuple[float, float]]:
        """The ranges of clamped coordinates, as an Assembler starts with them."""
        found = [c for matter in self._matters for c in matter.coordinates if c.is_clamped]
        return {coordinate.q_in_angles: coordinate.range for coordinate in found}

    def in_assembly_coordinates(self, state: State) -> State:
        """Return a copy of a State with all orientations in Euler angles: no q depends on others.

        Poses, time, u, z and all other variables are the same. Cost O(n).

        Parameters
        ----------
        state : State
            At Model or further.

        Returns
        -------
        State
            At Model or further.

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError, StageTooLowError
        KinematicsError
            A quaternion is zero.
        """
        self._require_own(state)
        twin = state.copy()
        for matter in self._matters:
            if not matter.use_euler_angles(twin):
                twin = with_euler_angles(matter, twin)
        return twin

    def set_q_from_assembly(self, internal: State, state: State) -> None:
        """Write the q of one State into another one, in the form that this one uses.

        Poses are then as in `internal`; nothing else is written. Of both quaternions of an
        orientation, it is the one nearer to the present one of `state`. A joint that has not moved
        keeps its q to the last bit, and if no joint has, nothing is written. Otherwise it
        invalidates Position. Cost O(n).

        Parameters
        ----------
        internal : State
            As `in_assembly_coordinates` makes it, or with orientations in any form.
        state : State
            At Model or further.

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError, StageTooLowError, ReadOnlyError
        KinematicsError
            The q of `internal` have no pose.
        """
        self._require_own(internal)
        self._require_own(state)
        found = [partition.q for partition in internal]
        for matter in self._matters:
            if bool(matter.use_euler_angles(internal)) != bool(matter.use_euler_angles(state)):
                found[matter.index] = np.array(q_of_other_form(matter, internal, state))
        q = np.concatenate(found)
        if q.tobytes() != state.q.tobytes():
            state.q = q

    def _dependent_coordinates(self, state: State) -> list[DependentCoordinate]:
        """Return the coordinates that couplers which are enabled give as functions of others."""
        found = []
        for part in constraint_rows(state):
            owner = None if part.handle is None else part.handle._owner
            if isinstance(owner, CoordinateCouplerConstraint) and owner.has_dependent:
                assert part.qerr is not None
                found.append(owner._dependent_coordinate(state, part.qerr.start))
        return found

    def axes_by_subsystem(self, state: State) -> list[tuple[MatterSubsystem, Array]]:
        """Return the matters, each with the motion of bodies for its u, (nu, 6)."""
        return [(matter, matter.axes(state)) for matter in self._matters]

    @property
    def _matters(self) -> list[MatterSubsystem]:
        """All trees of bodies."""
        return [s for s in self.subsystems if isinstance(s, MatterSubsystem)]
