r"""Which joints of a State are driven, by a lock or a motion, and by which numbers.

::

    u = B qdot                     B = pinv(N), at the q of the motion, in Euler angles
    udot = B qdotdot + B' qdot     B': its change along qdot

Where N is 1, B is 1, and B' is 0.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from attrs import frozen

from stagecache.multibody.geometry.orientation import Rows
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.matter.joint_lock import JointLock
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer
from stagecache.multibody.motions.checks import numbers_at
from stagecache.multibody.motions.motion import AbstractMotion
from stagecache.multibody.tree.layout import Joint

Driver = JointLock | AbstractMotion


@frozen(eq=False)
class DrivenJoint:
    """A joint whose u, and mostly its q, are prescribed in a State.

    Attributes
    ----------
    joint : Joint
    driver : JointLock or AbstractMotion
    q_part, u_part : slice
        Where its numbers are among those of all driven joints.
    """

    joint: Joint
    driver: Driver
    q_part: slice
    u_part: slice

    @property
    def drives_q(self) -> bool:
        """Whether its q are prescribed."""
        return not isinstance(self.driver, JointLock) or self.driver.holds_q


def driven_joints(found: Iterable[tuple[Joint, Driver]]) -> tuple[DrivenJoint, ...]:
    """Lay out the numbers of driven joints, one after the other."""
    driven: list[DrivenJoint] = []
    q = u = 0
    for joint, driver in found:
        nq, nu = joint.mobilizer.nq, joint.mobilizer.nu
        new = DrivenJoint(joint, driver, slice(q, q + nq), slice(u, u + nu))
        driven.append(new)
        q, u = q + nq * new.drives_q, u + nu
    return tuple(driven)


def driven_q(driven: Sequence[DrivenJoint], time: float, *, use_euler_angles: bool) -> Array:
    """The q of those whose q are driven, end to end.

    Raises
    ------
    ShapeError, NotANumberError, OutOfRangeError
        Of what a motion returns.
    """
    found: list[float] = []
    for one in driven:
        body, driver = one.joint.body, one.driver
        if not isinstance(driver, JointLock):
            q = numbers_at(driver, "q", time, body.mobilizer, body.name)
            found += one.joint.mobilizer.quaternions_of(q)  # its sign follows the angles
        elif driver.holds_q:
            found += driver.q_for(body.mobilizer, use_euler_angles=use_euler_angles)
    return np.array(found, float)


def driven_u(driven: Sequence[DrivenJoint], time: float) -> Array:
    """Their u, end to end. Raises as `driven_q`."""
    found: list[float] = []
    for one in driven:
        driver, nu = one.driver, one.joint.mobilizer.nu
        if isinstance(driver, JointLock):
            found += [0.0] * nu if driver.holds_q else driver.values
        else:
            form, q, qdot = _motion_at(one.joint, driver, time)
            found += _product(form.n_pinv(q), qdot)
    return np.array(found, float)


def driven_udot(driven: Sequence[DrivenJoint], time: float) -> Array:
    """Their udot, end to end. Raises as `driven_q`."""
    found: list[float] = []
    for one in driven:
        driver, body = one.driver, one.joint.body
        if isinstance(driver, JointLock):
            found += [0.0] * one.joint.mobilizer.nu
            continue
        form, q, qdot = _motion_at(one.joint, driver, time)
        udot = _product(form.n_pinv(q), numbers_at(driver, "qdotdot", time, form, body.name))
        rate = form.n_pinv_rate(q, qdot)
        if rate is not None:
            udot = [a + b for a, b in zip(udot, _product(rate, qdot), strict=True)]
        found += udot
    return np.array(found, float)


def _motion_at(
    joint: Joint, motion: AbstractMotion, time: float
) -> tuple[AbstractMobilizer, list[float], list[float]]:
    """The mobilizer in whose q the motion is, these, and their rates."""
    form, name = joint.body.mobilizer.with_euler_angles(), joint.body.name
    q, qdot = (numbers_at(motion, level, time, form, name) for level in ("q", "qdot"))
    return form, q, qdot


def _product(rows: Rows | None, values: Sequence[float]) -> list[float]:
    """A matrix times a vector; None stands for 1."""
    if rows is None:
        return [*values]
    return [sum(a * b for a, b in zip(row, values, strict=True)) for row in rows]
