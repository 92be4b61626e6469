r"""Motions: the q of a joint as functions of time.

::

    motion      q(t)   qdot(t)   qdotdot(t)        of the joint, orientations in angles
                  |       |           |
    State         q      u = B qdot   udot = B qdotdot + B' qdot        B = pinv(N)

A body gets one when it is added: ``add_body(..., motion=Sinusoid(0.5, 2.0))``. `prescribe` writes
q and u. Where `follows_motion` of the body is False in a State, or the body is locked, the
motion is not called.

**Orientations are body-fixed x-y-z angles** in any State: a motion has the q of the mobilizer
`with_euler_angles`, 3 for a Ball and 6 for a Free. Functions of time for a quaternion would have to
keep its length, which nobody wants to write. u and udot come from B, which
is regular also where the second angle is pi/2, so nothing is special there in quaternions.

For one of your own, write a subclass with the three methods below. They are pure functions: a
motion does not know States, so one motion serves any number of joints. It must not change.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence


class AbstractMotion(ABC):
    """The q of a joint as functions of time.

    Each method returns as many floats as the joint has q, in Euler angles where there is an
    orientation; a single one stands for all of them. Derivatives are not compared with the methods
    before.
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
