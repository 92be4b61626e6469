"""Steady: at constant rates."""

from collections.abc import Sequence
from typing import final

from attrs import frozen

from stagecache.multibody.motions.checks import Numbers, checked_numbers, of_equal_length
from stagecache.multibody.motions.motion import AbstractMotion


@final
@frozen(init=False)
class Steady(AbstractMotion):
    """q = start + rate t.

    Of a Ball, these are rates of its angles; only about one axis is that a steady rotation.

    Parameters
    ----------
    rate : float or sequence of float
        [rad/s or m/s]. A single number is for all q of the joint; so below.
    start : float or sequence of float, optional
        q at time 0 [rad or m].

    Raises
    ------
    ShapeError, NotANumberError, OutOfRangeError
    """

    rate: tuple[float, ...]
    start: tuple[float, ...]

    def __init__(self, rate: Numbers, start: Numbers = 0.0) -> None:
        found = [
            checked_numbers(rate, "the rate of a Steady"),
            checked_numbers(start, "the start of a Steady"),
        ]
        self.__attrs_init__(*of_equal_length(found, "a Steady"))

    def q(self, time: float) -> Sequence[float]:
        """In proportion to the time."""
        return [s + r * time for s, r in zip(self.start, self.rate, strict=True)]

    def qdot(self, time: float) -> Sequence[float]:  # noqa: ARG002  # it is constant
        """The rates."""
        return self.rate

    def qdotdot(self, time: float) -> Sequence[float]:  # noqa: ARG002  # of a fixed form
        """Zero."""
        return (0.0,) * len(self.rate)
