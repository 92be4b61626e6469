"""The same State with orientations in quaternions, or in Euler angles.

The modeling option of a matter decides on its sizes of q, so a write of it starts all q, u and z
anew. These functions keep what they stand for.
"""

from typing import Any

import numpy as np

from stagecache.errors import WrongTypeError, short_repr
from stagecache.multibody.geometry.orientation import with_leading_positive
from stagecache.multibody.matter.matter import MatterSubsystem
from stagecache.state.stage import Stage
from stagecache.state.state import State


def with_euler_angles(matter: MatterSubsystem, state: State) -> State:
    """A copy of a State, at Model, whose orientations are in body-fixed x-y-z angles.

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
    """A copy of a State, at Model, whose orientations are in quaternions of length 1.

    As `with_euler_angles`. Of the two quaternions of an orientation, the first number that is not 0
    is positive: w, or of half a turn x, y or z. Such a quaternion comes back from angles as it was.
    (Motions, and an Assembler that tracks, choose the one that continues the movement instead.)
    """
    return _converted(matter, state, use_euler_angles=False)


def _converted(matter: MatterSubsystem, state: State, *, use_euler_angles: bool) -> State:
    if not isinstance(matter, MatterSubsystem):
        raise WrongTypeError(
            f"{short_repr(matter)}: has no bodies whose orientations could be converted",
            "a MatterSubsystem",
            f"an object of type {type(matter).__name__}",
            "give that of a System, system.matter",
        )
    system: Any = matter.system
    system._require_own(state)
    q = matter.q(state).tolist()  # needs Model
    if matter.use_euler_angles(state) == use_euler_angles:
        return state.copy()
    matter.tree_poses(state)  # refuses q that stand for no pose
    before = matter.layout(state)
    twin = state.copy()
    matter.use_euler_angles.set(twin, use_euler_angles)
    system.realize(twin, Stage.MODEL)
    found: list[float] = []
    for body in matter.bodies:
        own, mobilizer = q[before.joints[before.rows[body.index]].q], body.mobilizer
        if use_euler_angles:
            found += mobilizer.euler_angles_of(own)
        else:
            found += with_leading_positive(
                mobilizer.quaternions_of(own), mobilizer.quaternion_start
            )
    twin.time = state.time
    for subsystem in system.subsystems:
        if subsystem is not matter:
            twin[subsystem].q = state[subsystem].q
    matter.q.set(twin, np.array(found))
    twin.u = state.u
    twin.z = state.z
    twin.u_weights = state.u_weights
    twin.z_weights = state.z_weights
    return twin
