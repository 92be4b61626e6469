"""Coordinates for an Assembler: no quaternions, so that no q depends on other ones.

Who assembles works with a State in these, and writes what it finds into a State of any form.
`MultibodySystem` has both as methods.
"""

from collections.abc import Sequence

import numpy as np

from stagecache.multibody.matter.matter import MatterSubsystem
from stagecache.multibody.matter.orientation_option import with_euler_angles
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer
from stagecache.state.state import State


def in_assembly_coordinates(matters: Sequence[MatterSubsystem], state: State) -> State:
    """A copy of a State, with the orientations of all matters in Euler angles. Cost O(n)."""
    twin = state.copy()
    for matter in matters:
        if not matter.use_euler_angles(twin):
            twin = with_euler_angles(matter, twin)
    return twin


def set_q_from_assembly(matters: Sequence[MatterSubsystem], internal: State, state: State) -> None:
    """Write the q of one State into another one, in the form of that. Cost O(n)."""
    found = [partition.q for partition in internal]
    for matter in matters:
        if bool(matter.use_euler_angles(internal)) != bool(matter.use_euler_angles(state)):
            found[matter.index] = np.array(_converted(matter, internal, state))
    q = np.concatenate(found)
    if q.tobytes() != state.q.tobytes():
        state.q = q


def _converted(matter: MatterSubsystem, internal: State, state: State) -> list[float]:
    """The q of `internal` in the form of `state`."""
    matter.tree_poses(internal)  # refuses q that stand for no pose
    given, present = matter.q(internal).tolist(), matter.q(state).tolist()
    inside, outside = matter.layout(internal), matter.layout(state)
    to_quaternions = not matter.use_euler_angles(state)
    found: list[float] = []
    for body in matter.bodies:
        row = inside.rows[body.index]
        own, old = given[inside.joints[row].q], present[outside.joints[row].q]
        if to_quaternions:
            found += _quaternions_near(body.mobilizer, own, old)
        else:
            found.extend(body.mobilizer.euler_angles_of(own))
    return found


def _quaternions_near(
    mobilizer: AbstractMobilizer, angles: list[float], old: list[float]
) -> Sequence[float]:
    """The q of the pose at these angles: the old ones, if they are of that pose.

    Of both quaternions that stand for an orientation, it is the one nearer to that of the old q.
    """
    start = mobilizer.quaternion_start
    if start is None:
        return mobilizer.quaternions_of(angles)
    there = slice(start, start + 4)
    if any(old[there]) and [*mobilizer.euler_angles_of(old)] == angles:
        return old
    found = [*mobilizer.quaternions_of(angles)]
    if sum(a * b for a, b in zip(found[there], old[there], strict=True)) < 0.0:
        found[there] = [-value for value in found[there]]
    return found
