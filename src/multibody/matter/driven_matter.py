r"""Locks and motions of the joints of a matter, as entries of the graph.

::

    joint_lock[i]=   follows_motion[k]=   use_euler_angles
             \              |              /
              +---->  driven_joints  <----+       time
                        /   |   \                 /
               driven_q  driven_u  driven_udot <-+

What is driven is one entry for each level, not one for each joint: few joints are driven in most
States, and a family would take three more entries for each body, and as many calls at each time.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import frozen

from stagecache.errors import MotionError, short_repr
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.matter.abstract_matter import AbstractMatter
from stagecache.multibody.matter.driven_joints import (
    DrivenJoint,
    Driver,
    driven_joints,
    driven_q,
    driven_u,
    driven_udot,
)
from stagecache.multibody.matter.joint_lock import JointLock
from stagecache.multibody.motions.motion import AbstractMotion
from stagecache.state.state import State
from stagecache.system.declare.cached import cached
from stagecache.system.declare.variables import parameter
from stagecache.system.motion.prescribing import AbstractMover, PrescribedVariable


@frozen(eq=False)
class DrivenTable:
    """The joints that are driven in a State.

    Attributes
    ----------
    joints : tuple of DrivenJoint
    variables : dict of str to tuple of PrescribedVariable
        By "q" and "u": the same, for `prescribe`.
    """

    joints: tuple[DrivenJoint, ...]
    variables: dict[str, tuple[PrescribedVariable, ...]]

    def __deepcopy__(self, memo: object) -> "DrivenTable":
        """Return itself: it is const, and checks would copy and compare the tree it refers to."""
        return self


def _no_lock(matter: Any, i: int) -> JointLock | None:  # noqa: ARG001  # of a fixed form
    return None


def _sources(matter: Any) -> tuple[Any, ...]:
    """What numbers depend on: where nothing has a motion, not on the time."""
    return (matter.driven_joints, matter.time) if matter.moving else (matter.driven_joints,)


class AbstractDrivenMatter(AbstractMatter, AbstractMover):
    """A matter whose joints can be locked, and moved by motions."""

    joint_lock = parameter(factory=_no_lock, count=lambda self: len(self.bodies))
    """At what the joint of a body is held; None if it is not. See `MobilizedBody.lock`."""

    follows_motion = parameter(True, count=lambda self: len(self.moving))
    """Whether bodies that have a motion follow it. See `MobilizedBody.follows_motion`."""

    @property
    def moving(self) -> Sequence[tuple[int, AbstractMotion]]:
        """The bodies that have a motion, by index, and these."""
        raise NotImplementedError

    @cached(prerequisites=(joint_lock, follows_motion, AbstractMatter.use_euler_angles))
    def driven_joints(self, state: State) -> DrivenTable:
        """Which joints are driven. Cost O(bodies)."""
        drivers: dict[int, Driver] = {
            body: motion
            for (body, motion), follows in zip(self.moving, self.follows_motion, strict=True)
            if self._checked_switch(follows(state), body)
        }
        for body, lock in enumerate(self.joint_lock):
            held = lock(state)
            if held is not None:
                drivers[body] = self._checked_lock(held, body)
        layout = self.layout(state)
        joints = driven_joints(
            (layout.joints[layout.rows[body]], drivers[body]) for body in sorted(drivers)
        )
        of_q = (joint for joint in joints if joint.drives_q)
        return DrivenTable(
            joints,
            {"q": tuple(map(self._variable_q, of_q)), "u": tuple(map(self._variable_u, joints))},
        )

    @cached(prerequisites=lambda self: (*_sources(self), self.use_euler_angles))
    def driven_q(self, state: State) -> Array:
        """The q of joints whose q are driven, end to end."""
        angles = bool(self.use_euler_angles(state))
        joints = self.driven_joints(state).joints
        return driven_q(joints, self._time(state), use_euler_angles=angles)

    @cached(prerequisites=_sources)
    def driven_u(self, state: State) -> Array:
        """The u of driven joints, end to end."""
        return driven_u(self.driven_joints(state).joints, self._time(state))

    @cached(prerequisites=_sources)
    def driven_udot(self, state: State) -> Array:
        """Their udot, end to end."""
        return driven_udot(self.driven_joints(state).joints, self._time(state))

    def prescribed_variables(self, state: State, kind: str) -> Sequence[PrescribedVariable]:
        """The q, or u, of driven joints. Cost O(1) until a lock or a switch is written."""
        return self.driven_joints(state).variables[kind]

    def _variable_q(self, driven: DrivenJoint) -> PrescribedVariable:
        q = self.joint_q[driven.joint.body.index]
        return PrescribedVariable(q, self.driven_q, None, driven.q_part)

    def _variable_u(self, driven: DrivenJoint) -> PrescribedVariable:
        u = self.joint_u[driven.joint.body.index]
        return PrescribedVariable(u, self.driven_u, self.driven_udot, driven.u_part)

    def _time(self, state: State) -> float:
        """The time, which is not read where nothing depends on it."""
        return state.time if self.moving else 0.0

    def _checked_switch(self, value: object, body: int) -> bool:
        if isinstance(value, bool | np.bool_):
            return bool(value)
        raise MotionError(
            f"follows_motion of body {self.bodies[body].name!r}: is no truth value",
            "True or False",
            short_repr(value),
            "set it to one of these",
        )

    def _checked_lock(self, lock: object, body: int) -> JointLock:
        if isinstance(lock, JointLock):
            return lock
        raise MotionError(
            f"the lock of body {self.bodies[body].name!r}: is none",
            "what body.lock(state) writes, or None",
            short_repr(lock),
            "call body.lock(state) or body.unlock(state)",
        )
