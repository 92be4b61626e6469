"""Locks: a joint is held where it is, in one State.

::

    body.lock(state)                            q as they are, u = 0, udot = 0
    body.lock(state, [0.3])                     q = 0.3, once `prescribe` has written it
    body.lock(state, level=Stage.VELOCITY)      u as they are, udot = 0; q is free
    body.unlock(state)

A lock is a value in the State. Writing it invalidates stage Instance, as it decides which q and u
are free, and changes no q or u. Entries that name their prerequisites, as poses and Jacobians do,
stay valid. It goes before a motion, which is followed again when the lock is gone.
"""

from math import hypot
from typing import Any, Self

from attrs import frozen

from stagecache.errors import OutOfRangeError, short_repr
from stagecache.multibody.checks import checked_array
from stagecache.multibody.geometry.orientation import with_leading_positive
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer
from stagecache.state.stage import Stage

TOLERANCE = 1e-12
"""Up to this deviation from 1 the length of a quaternion is left as it is."""


@frozen
class JointLock:
    """At what a joint is held.

    Attributes
    ----------
    level : Stage
        Position: its q are held. Velocity: its u.
    values : tuple of float
        The q, or the u.
    uses_euler_angles : bool
        In which form the q are; they are converted where the State has the other one.
    """

    level: Stage
    values: tuple[float, ...]
    uses_euler_angles: bool

    @property
    def holds_q(self) -> bool:
        """Whether q are held, and not only u."""
        return self.level is Stage.POSITION

    def q_for(self, mobilizer: AbstractMobilizer, *, use_euler_angles: bool) -> list[float]:
        """The q in the form of a State, as it is converted; `mobilizer` is that of the body."""
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
        How many there have to be.
    quaternion_start : int or None
        Where a quaternion is among them.
    what : str
        What is held, to be named in errors.

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
        scaled = [value / largest for value in quaternion]  # so that its length is no infinity
        found[place] = [value / hypot(*scaled) for value in scaled]
    return found
