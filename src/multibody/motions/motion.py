r"""Motions: the q of a joint, or its u, as functions of time.

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

A motion of speeds has the u of the joint and their derivatives. q is free, and follows from u. A
motion of accelerations has the udot of the joint, of the time and of its own q and u, which are
both free: they are integrated, and `prescribe` writes nothing.

For one of your own, write a subclass with the methods below. They are pure functions: a motion does
not know States, so one motion serves any number of joints. It must not change.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from stagecache.checks import type_text
from stagecache.errors import MotionError, ShapeError
from stagecache.multibody.checks import checked_array
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer
from stagecache.state.vectors.conversion import ANY, array_of


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
        """Return the second derivative of q [rad/s² or m/s²]."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class AbstractSpeedMotion(ABC):
    """The u of a joint as functions of time. Its q are free, and follow from u.

    Each method returns as many floats as the joint has u; a single one stands for all of them.
    """

    @abstractmethod
    def u(self, time: float) -> Sequence[float]:
        """Return u [rad/s or m/s] at a time [s]."""

    @abstractmethod
    def udot(self, time: float) -> Sequence[float]:
        """Return the derivative of u [rad/s² or m/s²]."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class AbstractAccelerationMotion(ABC):
    """The udot of a joint, as a function of the time and of its own q and u, which are free.

    The forces on its u are those that this udot takes, whatever acts on the joint.
    """

    @abstractmethod
    def udot(self, time: float, q: Sequence[float], u: Sequence[float]) -> Sequence[float]:
        """Return udot [rad/s² or m/s²]: one for each u, or a single one for all of them.

        Parameters
        ----------
        time : float
            [s]
        q : sequence of float
            The q of the joint, in Euler angles where there is an orientation.
        u : sequence of float
            The u of the joint.
        """

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


AnyMotion = AbstractMotion | AbstractSpeedMotion | AbstractAccelerationMotion


# ---------------------------------------------------------------------- checks


Numbers = float | Sequence[float] | np.ndarray[Any, Any]
LEVELS = ("q", "qdot", "qdotdot")
SPEED_LEVELS = ("u", "udot")


def checked_numbers(values: Any, what: str) -> tuple[float, ...]:
    """Return one number, or some, as floats.

    Raises
    ------
    ShapeError, NotANumberError, OutOfRangeError
    """
    array = array_of(values, what)
    is_one = array is not None and array.ndim == 0
    found = checked_array(values, () if is_one else (ANY,), what)
    return tuple(np.atleast_1d(found).tolist())


def of_equal_length(values: list[tuple[float, ...]], what: str) -> list[tuple[float, ...]]:
    """Return the same numbers, with single ones repeated to the length of the others.

    Raises
    ------
    ShapeError
        The others have different lengths, or none.
    """
    lengths = {len(v) for v in values}
    others = lengths - {1}
    if len(others) > 1 or 0 in others:
        raise ShapeError(
            f"the numbers of {what}: do not fit each other",
            "single numbers, or one for each q of the joint",
            "as many as " + ", ".join(str(len(v)) for v in values),
            "give as many of each as the joint has q",
        )
    count = max(lengths)
    return [v * count if len(v) == 1 else v for v in values]


def check_motion(motion: object, mobilizer: AbstractMobilizer, name: str) -> None:
    """Refuse other objects, and motions that do not fit the mobilizer at time 0.

    Parameters
    ----------
    motion : object
    mobilizer : AbstractMobilizer
        The mobilizer of the joint.
    name : str
        The name of the body, for errors.

    Raises
    ------
    MotionError
        The motion is not one, or the joint has no q.
    ShapeError, NotANumberError, OutOfRangeError
        A method returns a wrong number of floats, or some that are not finite.
    """
    if not isinstance(motion, AnyMotion):
        raise MotionError(
            f"the motion of body {name!r}: not a motion",
            "an instance of a motion, as Sinusoid(0.5, 2.0)",
            type_text(motion),
            "pass Sinusoid(...), SteadySpeed(...) or an instance of a subclass of AbstractMotion",
        )
    count = mobilizer.with_euler_angles().nq
    if not count:
        raise MotionError(
            f"the motion of body {name!r}: has nothing to move",
            "a joint that has q",
            f"{mobilizer!r}",
            "leave the motion out, or give another mobilizer",
        )
    if isinstance(motion, AbstractAccelerationMotion):
        own = list(mobilizer.with_euler_angles().default_q), [0.0] * mobilizer.nu
        numbers_at(motion, "udot", 0.0, mobilizer, name, *own)
        return
    for level in LEVELS if isinstance(motion, AbstractMotion) else SPEED_LEVELS:
        numbers_at(motion, level, 0.0, mobilizer, name)


def numbers_at(
    motion: AnyMotion,
    level: str,
    time: float,
    mobilizer: AbstractMobilizer,
    name: str,
    *own: Sequence[float],
) -> list[float]:
    """Return the result of a method of a motion, for each q of a joint in Euler angles, or each u.

    Parameters
    ----------
    motion : AbstractMotion, AbstractSpeedMotion or AbstractAccelerationMotion
    level : str
        "q", "qdot" or "qdotdot"; "u" or "udot".
    time : float
        [s]
    mobilizer : AbstractMobilizer
    name : str
        The name of the body, for errors.
    *own : sequence of float
        The q and u of the joint, for a motion of accelerations.

    Raises
    ------
    ShapeError, NotANumberError, OutOfRangeError
    Exception
        Any error of the method, with a note.
    """
    of_speed = level in SPEED_LEVELS
    count = mobilizer.nu if of_speed else mobilizer.with_euler_angles().nq
    what = f"{level} of the motion {motion!r} of body {name!r} at time {time:g}"
    try:
        values: Any = getattr(motion, level)(time, *own)
    except Exception as error:
        error.add_note(f"while {what} was computed")
        raise
    found = checked_numbers(values, what)
    if len(found) not in (1, count):
        raise ShapeError(
            f"{what}: not as many as its joint has",
            f"{count} of them for a {mobilizer!r}, or a single one",
            f"{len(found)} of them",
            "return one for each u"
            if of_speed
            else "return one for each q; orientations are three angles in any State",
        )
    return [*found] * (count // len(found))
