"""A System of rigid bodies."""

from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.matter.matter import MatterSubsystem
from stagecache.multibody.observers.assembly_coordinates import (
    in_assembly_coordinates,
    set_q_from_assembly,
)
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

        Those of a second matter have its name before that of the body: "matter2.arm".
        """
        found: dict[str, ContinuousVariable] = {}
        for matter in self._matters:
            start = "" if matter is self.matter else f"{matter.name}."
            found |= {start + body.name: body.q for body in matter.bodies[1:]}
        return found

    def in_assembly_coordinates(self, state: State) -> State:
        """A copy of a State, in which no q depends on others: all orientations are in Euler angles.

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
        return in_assembly_coordinates(self._matters, state)

    def set_q_from_assembly(self, internal: State, state: State) -> None:
        """Write the q of one State into another one, in the form that this one uses.

        Poses are those of `internal`; nothing else is written. Of both quaternions that stand for
        an orientation, it is the one nearer to that which `state` had. A joint that has not moved
        keeps its q to the last bit, and if none has, nothing is written. Else it invalidates
        Position. Cost O(n).

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
            The q of `internal` stand for no pose.
        """
        self._require_own(internal)
        self._require_own(state)
        set_q_from_assembly(self._matters, internal, state)

    def axes_by_subsystem(self, state: State) -> list[tuple[MatterSubsystem, Array]]:
        """The matters, each with the motion of bodies for its u, (nu, 6): angular, then linear."""
        return [(matter, matter.axes(state)) for matter in self._matters]

    @property
    def _matters(self) -> list[MatterSubsystem]:
        """All trees of bodies."""
        return [s for s in self.subsystems if isinstance(s, MatterSubsystem)]
