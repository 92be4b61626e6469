"""A System of rigid bodies."""

import numpy as np

from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.matter.matter import MatterSubsystem
from stagecache.multibody.matter.orientation_option import q_of_other_form, with_euler_angles
from stagecache.state.handles import ContinuousVariable
from stagecache.state.state import State
from stagecache.system.core.system import System
from stagecache.system.declare.subsystem import Subsystem


class MultibodySystem(System):
    """A System with a tree of rigid bodies, and what other subsystems add to it.

    Parameters
    ----------
    *subsystems, **named : Subsystem
        As for `System`. A MatterSubsystem is made, as subsystem "matter", if none is among them.
    name, version : str
        As for `System`.

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

    def __init__(
        self, *subsystems: Subsystem, name: str = "system", version: str = "", **named: Subsystem
    ) -> None:
        given = (*subsystems, *named.values())
        if not any(isinstance(subsystem, MatterSubsystem) for subsystem in given):
            named = {"matter": MatterSubsystem(), **named}
        super().__init__(*subsystems, name=name, version=version, **named)

    @property
    def matter(self) -> MatterSubsystem:
        """The tree of bodies; the first one if there are several."""
        return self._matters[0]

    # ------------------------------------------------------------------ for an Assembler

    @property
    def mobilizers(self) -> dict[str, ContinuousVariable]:
        """The handles of the q of all bodies but the ground, by the names of the bodies.

        Bodies of a second matter have its name in front: "matter2.arm".
        """
        found: dict[str, ContinuousVariable] = {}
        for matter in self._matters:
            start = "" if matter is self.matter else f"{matter.name}."
            found |= {start + body.name: body.q for body in matter.bodies[1:]}
        return found

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

    def axes_by_subsystem(self, state: State) -> list[tuple[MatterSubsystem, Array]]:
        """Return the matters, each with the motion of bodies for its u, (nu, 6)."""
        return [(matter, matter.axes(state)) for matter in self._matters]

    @property
    def _matters(self) -> list[MatterSubsystem]:
        """All trees of bodies."""
        return [s for s in self.subsystems if isinstance(s, MatterSubsystem)]
