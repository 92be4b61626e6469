r"""Drives: locks and motions of joints, and the numbers that they prescribe.

::

    body.lock(state)                            q as they are, u = 0, udot = 0
    body.lock(state, [0.3])                     q = 0.3, once `prescribe` has written it
    body.lock(state, level=Stage.VELOCITY)      u as they are, udot = 0; q is free
    body.lock(state, level=Stage.ACCELERATION)  udot = 0; q and u are free
    body.lock(state, [0.3], coordinate=1)       one q of a joint alone, whose qdot is its u
    body.unlock(state)

A motion of speeds has u and udot itself; q is free. A motion of accelerations has udot, of the q
and u of the State, which are both free, as under a lock of udot. Such joints come last, so that the
u of the others are at the same places in `u` and in `udot`.

A lock is a value in the State. Writing it invalidates stage Instance, as it decides which q and u
are free, and changes no q or u. Entries that name their prerequisites, as poses and Jacobians do,
stay valid. A lock takes precedence over a motion, which is followed again when the lock is removed.

The u and udot of a motion, whose q are in Euler angles, are::

    u = B qdot                     B = u_by_qdot, at the q of the motion: pinv(N) mostly
    udot = B qdotdot + B' qdot     B': its change along qdot

Where N is 1, B is 1, and B' is 0.
"""

from collections.abc import Callable, Iterable, Sequence
from math import hypot
from typing import Any, Final, Self, final

import numpy as np
from attrs import evolve, frozen

from stagecache.errors import OutOfRangeError, short_repr
from stagecache.multibody.checks import checked_array
from stagecache.multibody.geometry.orientation import Rows, with_leading_positive
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer
from stagecache.multibody.motions.motion import (
    AbstractAccelerationMotion,
    AbstractMotion,
    AbstractSpeedMotion,
    AnyMotion,
    numbers_at,
)
from stagecache.multibody.tree.joints import Joint
from stagecache.state.stage import Stage
from stagecache.system.motion.prescribing import PrescribedVariable

TOLERANCE: Final = 1e-12
"""The deviation from 1 up to which the length of a quaternion is not corrected."""


@final
@frozen
class JointLock:
    """The values at which a joint is held.

    Attributes
    ----------
    level : Stage
        Position: its q are held. Velocity: its u. Acceleration: its udot.
    values : tuple of float
        The q, u, or udot.
    uses_euler_angles : bool
        The form of the q; they are converted where the State has the other one.
    coordinates : tuple of int or None
        The indices of the q that are held, ascending; None for the whole joint.
    """

    level: Stage
    values: tuple[float, ...]
    uses_euler_angles: bool
    coordinates: tuple[int, ...] | None = None

    @property
    def holds_q(self) -> bool:
        """True if q are held, and not only u."""
        return self.level is Stage.POSITION

    @property
    def holds_u(self) -> bool:
        """True if u are held, and not udot alone."""
        return self.level is not Stage.ACCELERATION

    def with_coordinate(self, i: int, value: float) -> "JointLock":
        """Return the lock that holds one coordinate, too, or holds it at another value."""
        held = dict(zip(self.coordinates or (), self.values, strict=True)) | {i: value}
        chosen = tuple(sorted(held))
        return evolve(self, values=tuple(held[k] for k in chosen), coordinates=chosen)

    def without_coordinate(self, i: int) -> "JointLock | None":
        """Return the lock without one coordinate; None if it holds no other."""
        held = dict(zip(self.coordinates or (), self.values, strict=True))
        held.pop(i, None)
        if not held:
            return None
        return evolve(self, values=tuple(held.values()), coordinates=tuple(held))

    def q_for(self, mobilizer: AbstractMobilizer, *, use_euler_angles: bool) -> list[float]:
        """Return the q in the form of a State; `mobilizer` is the mobilizer of the body."""
        if use_euler_angles == self.uses_euler_angles:
            return [*self.values]
        if use_euler_angles:
            return [*mobilizer.euler_angles_of(self.values)]
        found = mobilizer.quaternions_of(self.values)
        return with_leading_positive(found, mobilizer.quaternion_start)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


def checked_held(values: Any, count: int, quaternion_start: int | None, what: str) -> list[float]:
    """Return the numbers at which a joint is to be held; a quaternion with length 1.

    Parameters
    ----------
    values : array_like
    count : int
        The expected number of values.
    quaternion_start : int or None
        The index at which a quaternion begins, if there is one.
    what : str
        The name of the values in errors.

    Raises
    ------
    ShapeError, NotANumberError, OutOfRangeError
    """
    found: list[float] = checked_array(values, (count,), what).tolist()
    if quaternion_start is None:
        return found
    place = slice(quaternion_start, quaternion_start + 4)
    quaternion = found[place]
    largest = max(map(abs, quaternion))
    if largest == 0.0:
        raise OutOfRangeError(
            f"{what}: have a quaternion that stands for no orientation",
            "a quaternion (w, x, y, z) of any length but zero",
            short_repr(values),
            "give [1, 0, 0, 0] for no rotation",
        )
    if abs(hypot(*quaternion) - 1.0) > TOLERANCE:
        scaled = [value / largest for value in quaternion]  # so that its length is not infinite
        found[place] = [value / hypot(*scaled) for value in scaled]
    return found


Driver = JointLock | AnyMotion


@final
@frozen(eq=False)
class DrivenJoint:
    """A joint whose udot, mostly its u, and often its q are prescribed in a State.

    Attributes
    ----------
    joint : Joint
    driver : JointLock or motion
    q_part, u_part : slice
        The places of its numbers among those of all driven joints.
    """

    joint: Joint
    driver: Driver
    q_part: slice
    u_part: slice

    @property
    def coordinates(self) -> tuple[int, ...] | None:
        """The indices of its q and u that are driven; None for all."""
        return self.driver.coordinates if isinstance(self.driver, JointLock) else None

    @property
    def num_u(self) -> int:
        """Number of u or udot that are driven."""
        count: int = self.u_part.stop - self.u_part.start
        return count

    @property
    def drives_q(self) -> bool:
        """True if its q are prescribed."""
        if isinstance(self.driver, JointLock):
            return self.driver.holds_q
        return isinstance(self.driver, AbstractMotion)

    @property
    def drives_u(self) -> bool:
        """True if its u are prescribed, and not its udot alone."""
        return not _gives_udot_alone(self.driver)

    def accelerations_at(
        self,
        motion: AbstractAccelerationMotion,
        time: float,
        q: Sequence[float],
        u: Sequence[float],
        *,
        use_euler_angles: bool,
    ) -> list[float]:
        """Return udot of a motion of accelerations, for the q and u of all joints."""
        body, own = self.joint.body, q[self.joint.q]
        if not use_euler_angles:
            own = body.mobilizer.euler_angles_of(own)
        of_joint = own, u[self.joint.u]
        return numbers_at(motion, "udot", time, body.mobilizer, body.name, *of_joint)

    def speeds_at(self, motion: AbstractSpeedMotion, level: str, time: float) -> list[float]:
        """Return u or udot of a motion of speeds."""
        body = self.joint.body
        return numbers_at(motion, level, time, body.mobilizer, body.name)

    def motion_at(
        self, motion: AbstractMotion, time: float
    ) -> tuple[AbstractMobilizer, list[float], list[float]]:
        """Return the Euler-angle form of the mobilizer, and the motion's q and qdot in it."""
        form, name = self.joint.body.mobilizer.with_euler_angles(), self.joint.body.name
        q, qdot = (numbers_at(motion, level, time, form, name) for level in ("q", "qdot"))
        return form, q, qdot


@final
class Drives:
    """The driven joints of a State, and the numbers that drive them, end to end. It is const.

    Each method raises ShapeError, NotANumberError or OutOfRangeError for invalid numbers of a
    motion.

    Parameters
    ----------
    drivers : iterable of (Joint, JointLock or motion)
    use_euler_angles : bool
        The form of orientations in the State.
    prescribed : callable
        Makes each PrescribedVariable of a joint for "q" or "u".

    Attributes
    ----------
    joints : list of DrivenJoint
    variables : dict of str to tuple of PrescribedVariable
        By "q", "u" and "udot"; for "udot" only variables of free u.
    """

    def __init__(
        self,
        drivers: Iterable[tuple[Joint, Driver]],
        *,
        use_euler_angles: bool,
        prescribed: Callable[[DrivenJoint, str], Iterable[PrescribedVariable]],
    ) -> None:
        self.joints: list[DrivenJoint] = []
        self.use_euler_angles = use_euler_angles
        q = u = 0
        for joint, driver in sorted(drivers, key=lambda pair: _gives_udot_alone(pair[1])):
            nq, nu = joint.mobilizer.nq, joint.mobilizer.nu
            if isinstance(driver, JointLock) and driver.coordinates is not None:
                nq = nu = len(driver.coordinates)
            new = DrivenJoint(joint, driver, slice(q, q + nq), slice(u, u + nu))
            self.joints.append(new)
            q, u = q + nq * new.drives_q, u + nu
        self.variables = {
            "q": tuple(v for d in self.joints if d.drives_q for v in prescribed(d, "q")),
            "u": tuple(v for d in self.joints if d.drives_u for v in prescribed(d, "u")),
            "udot": tuple(v for d in self.joints if not d.drives_u for v in prescribed(d, "udot")),
        }

    def q(self, time: float) -> Array:
        """Return the q of joints whose q are driven."""
        found: list[float] = []
        for driven in self.joints:
            body, driver = driven.joint.body, driven.driver
            if isinstance(driver, AbstractMotion):
                q = numbers_at(driver, "q", time, body.mobilizer, body.name)
                found += driven.joint.mobilizer.quaternions_of(q)  # its sign follows the angles
            elif isinstance(driver, JointLock) and driver.holds_q:
                found += driver.q_for(body.mobilizer, use_euler_angles=self.use_euler_angles)
        return np.array(found, float)

    def u(self, time: float) -> Array:
        """Return the u of joints whose u are driven."""
        found: list[float] = []
        for driven in self.joints:
            driver = driven.driver
            if isinstance(driver, JointLock):
                if driver.holds_u:
                    found += [0.0] * driven.num_u if driver.holds_q else driver.values
            elif isinstance(driver, AbstractSpeedMotion):
                found += driven.speeds_at(driver, "u", time)
            elif isinstance(driver, AbstractMotion):
                form, q, qdot = driven.motion_at(driver, time)
                found += _product(form.u_by_qdot(q), qdot)
        return np.array(found, float)

    def udot(self, time: float, q: Sequence[float], u: Sequence[float]) -> Array:
        """Return the udot of all driven joints, at the q and u of all joints.

        These may be empty where no joint has a motion of accelerations.
        """
        found: list[float] = []
        for driven in self.joints:
            driver, name = driven.driver, driven.joint.body.name
            if isinstance(driver, JointLock):
                found += [0.0] * driven.num_u if driver.holds_u else driver.values
                continue
            if isinstance(driver, AbstractSpeedMotion):
                found += driven.speeds_at(driver, "udot", time)
                continue
            if isinstance(driver, AbstractAccelerationMotion):
                angles = self.use_euler_angles
                found += driven.accelerations_at(driver, time, q, u, use_euler_angles=angles)
                continue
            form, own, qdot = driven.motion_at(driver, time)
            udot = _product(form.u_by_qdot(own), numbers_at(driver, "qdotdot", time, form, name))
            rate = form.u_by_qdot_rate(own, qdot)
            if rate is not None:
                udot = [a + b for a, b in zip(udot, _product(rate, qdot), strict=True)]
            found += udot
        return np.array(found, float)

    def __deepcopy__(self, memo: object) -> Self:
        """Return itself: checks would copy and compare the tree to which it refers."""
        return self


def _gives_udot_alone(driver: Driver) -> bool:
    if isinstance(driver, JointLock):
        return not driver.holds_u
    return isinstance(driver, AbstractAccelerationMotion)


def _product(rows: Rows | None, values: Sequence[float]) -> list[float]:
    """Multiply a matrix by a vector; None stands for 1."""
    if rows is None:
        return [*values]
    return [sum(a * b for a, b in zip(row, values, strict=True)) for row in rows]
