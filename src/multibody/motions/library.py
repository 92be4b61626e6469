"""Motions that are ready: sinusoids of q, u or udot, and constant rates of q or u."""

from collections.abc import Sequence
from math import cos, sin
from typing import final

from attrs import frozen

from stagecache.multibody.motions.motion import (
    AbstractAccelerationMotion,
    AbstractMotion,
    AbstractSpeedMotion,
    Numbers,
    checked_numbers,
    of_equal_length,
)


@final
@frozen(init=False)
class Sinusoid(AbstractMotion):
    """q = offset + amplitude sin(rate t + phase).

    Parameters
    ----------
    amplitude : float or sequence of float
        [rad or m]. A single number is for all q of the joint; so below.
    rate : float or sequence of float
        [rad/s]
    phase : float or sequence of float, optional
        [rad]
    offset : float or sequence of float, optional
        [rad or m]

    Raises
    ------
    ShapeError, NotANumberError, OutOfRangeError

    Examples
    --------
    >>> from stagecache.multibody import MultibodySystem, Pin, Sinusoid
    >>> system = MultibodySystem()
    >>> pump = system.matter.add_body(
    ...     "pump", system.matter.ground, Pin(), motion=Sinusoid(0.5, 2.0)
    ... )
    >>> state = system.new_state()
    >>> state.time = 0.25
    >>> system.prescribe(state)
    True
    >>> pump.q(state).round(4), pump.u(state).round(4)
    (array([0.2397]), array([0.8776]))
    """

    amplitude: tuple[float, ...]
    rate: tuple[float, ...]
    phase: tuple[float, ...]
    offset: tuple[float, ...]

    def __init__(
        self, amplitude: Numbers, rate: Numbers, phase: Numbers = 0.0, offset: Numbers = 0.0
    ) -> None:
        named = {"amplitude": amplitude, "rate": rate, "phase": phase, "offset": offset}
        found = [checked_numbers(v, f"the {name} of a Sinusoid") for name, v in named.items()]
        self.__attrs_init__(*of_equal_length(found, "a Sinusoid"))

    def q(self, time: float) -> Sequence[float]:
        """Return q at a time."""
        return [o + a * sin(w * time + p) for a, w, p, o in self._rows()]

    def qdot(self, time: float) -> Sequence[float]:
        """Return qdot at a time."""
        return [a * w * cos(w * time + p) for a, w, p, _ in self._rows()]

    def qdotdot(self, time: float) -> Sequence[float]:
        """Return qdotdot at a time."""
        return [-a * w * w * sin(w * time + p) for a, w, p, _ in self._rows()]

    def _rows(self) -> "zip[tuple[float, float, float, float]]":
        return zip(self.amplitude, self.rate, self.phase, self.offset, strict=True)


@final
@frozen(init=False)
class Steady(AbstractMotion):
    """q = start + rate t.

    For a Ball, these are rates of its angles; that is a steady rotation only about one axis.

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
        """Return q at a time."""
        return [s + r * time for s, r in zip(self.start, self.rate, strict=True)]

    def qdot(self, time: float) -> Sequence[float]:  # noqa: ARG002  # it is constant
        """Return the constant rates."""
        return self.rate

    def qdotdot(self, time: float) -> Sequence[float]:  # noqa: ARG002  # of a fixed form
        """Return zeros."""
        return (0.0,) * len(self.rate)


@final
@frozen(init=False)
class SteadySpeed(AbstractSpeedMotion):
    """u = rate, as of Simbody's Motion::Steady. q is free: it goes on from where it is.

    Parameters
    ----------
    rate : float or sequence of float
        [rad/s or m/s]. A single number is for all u of the joint.

    Raises
    ------
    ShapeError, NotANumberError, OutOfRangeError

    Examples
    --------
    >>> from stagecache import simulate
    >>> from stagecache.multibody import MultibodySystem, Pin, SteadySpeed
    >>> system = MultibodySystem()
    >>> wheel = system.matter.add_body(
    ...     "wheel", system.matter.ground, Pin(), motion=SteadySpeed(2.0)
    ... )
    >>> state = system.new_state()
    >>> wheel.q.set(state, [0.5])
    >>> last = simulate(system, state, 3.0)[-1]
    >>> wheel.q(last).round(6), wheel.u(last)
    (array([6.5]), array([2.]))
    """

    rate: tuple[float, ...]

    def __init__(self, rate: Numbers) -> None:
        found = checked_numbers(rate, "the rate of a SteadySpeed")
        self.__attrs_init__(*of_equal_length([found], "a SteadySpeed"))

    def u(self, time: float) -> Sequence[float]:  # noqa: ARG002  # it is constant
        """Return the constant rates."""
        return self.rate

    def udot(self, time: float) -> Sequence[float]:  # noqa: ARG002  # of a fixed form
        """Return zeros."""
        return (0.0,) * len(self.rate)


@final
@frozen(init=False)
class SinusoidalSpeed(AbstractSpeedMotion):
    """u = offset + amplitude sin(rate t + phase). q is free.

    Parameters
    ----------
    amplitude : float or sequence of float
        [rad/s or m/s]. A single number is for all u of the joint; so below.
    rate : float or sequence of float
        [rad/s]
    phase : float or sequence of float, optional
        [rad]
    offset : float or sequence of float, optional
        [rad/s or m/s]

    Raises
    ------
    ShapeError, NotANumberError, OutOfRangeError
    """

    sinusoid: Sinusoid

    def __init__(
        self, amplitude: Numbers, rate: Numbers, phase: Numbers = 0.0, offset: Numbers = 0.0
    ) -> None:
        self.__attrs_init__(Sinusoid(amplitude, rate, phase, offset))

    def u(self, time: float) -> Sequence[float]:
        """Return u at a time."""
        return self.sinusoid.q(time)

    def udot(self, time: float) -> Sequence[float]:
        """Return udot at a time."""
        return self.sinusoid.qdot(time)


@final
@frozen(init=False)
class SinusoidalAcceleration(AbstractAccelerationMotion):
    """udot = offset + amplitude sin(rate t + phase). q and u are free.

    Parameters
    ----------
    amplitude : float or sequence of float
        [rad/s² or m/s²]. A single number is for all u of the joint; so below.
    rate : float or sequence of float
        [rad/s]
    phase : float or sequence of float, optional
        [rad]
    offset : float or sequence of float, optional
        [rad/s² or m/s²]

    Raises
    ------
    ShapeError, NotANumberError, OutOfRangeError

    Examples
    --------
    >>> from stagecache import simulate
    >>> from stagecache.multibody import MultibodySystem, SinusoidalAcceleration, Slider
    >>> system = MultibodySystem()
    >>> rocket = system.matter.add_body(
    ...     "rocket",
    ...     system.matter.ground,
    ...     Slider(),
    ...     motion=SinusoidalAcceleration(0.0, 1.0, offset=2.0),
    ... )
    >>> state = system.new_state()
    >>> rocket.u.set(state, [0.5])
    >>> last = simulate(system, state, 3.0)[-1]
    >>> rocket.q(last).round(6), rocket.u(last).round(6)
    (array([10.5]), array([6.5]))
    """

    sinusoid: Sinusoid

    def __init__(
        self, amplitude: Numbers, rate: Numbers, phase: Numbers = 0.0, offset: Numbers = 0.0
    ) -> None:
        self.__attrs_init__(Sinusoid(amplitude, rate, phase, offset))

    def udot(
        self,
        time: float,
        q: Sequence[float],  # noqa: ARG002  # of a fixed form
        u: Sequence[float],  # noqa: ARG002  # likewise
    ) -> Sequence[float]:
        """Return udot at a time."""
        return self.sinusoid.q(time)
