r"""Motions: the q of a joint as functions of the time.

::

    motion      q(t)   qdot(t)   qdotdot(t)        of the joint, orientations in angles
                  |       |           |
    State         q      u = B qdot   udot = B qdotdot + B' qdot        B = pinv(N)

A body gets one when it is added: ``add_body(..., motion=Sinusoid(0.5, 2.0))``. `prescribe` writes
q and u. Where `follows_motion` of the body is False in a State, or the body is locked, the
motion is not called.

**Orientations are body-fixed x-y-z angles**, whatever the State has: the q of a motion are those of
`with_euler_angles` of the mobilizer, 3 of a Ball and 6 of a Free. Functions of the time of a
quaternion would have to keep its length, which nobody wants to write. u and udot come from B, which
is regular also where the second angle is pi/2, so in quaternions nothing is special there.

One of your own is a subclass with the three methods below. They are pure functions: a motion knows
nothing of States, so one serves any number of joints. What describes it must not change.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence


class AbstractMotion(ABC):
    """How the q of a joint move with time.

    Each method returns as many floats as the joint has q, in Euler angles where there is an
    orientation; a single one stands for all of them. That the second and third are the derivatives
    of the one before is not checked.
    """

    @abstractmethod
    def q(self, time: float) -> Sequence[float]:
        """Return q [rad or m] at a time [s]."""

    @abstractmethod
    def qdot(self, time: float) -> Sequence[float]:
        """Return the first derivative of q [rad/s or m/s]."""

    @abstractmethod
    def qdotdot(self, time: float) -> Sequence[float]:
        """Return the second derivative of q [rad/s^2 or m/s^2]."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"
