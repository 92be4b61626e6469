r"""Models that tests of the Assembler share.

::

        b ______ c          four bars: the ground a-d, crank a-b, coupler b-c, rocker d-c
         /      \           closure (2 rows of qerr): where the coupler ends minus where
        /        \          the rocker does
    a  /__________\ d
"""

import numpy as np
from numpy.typing import NDArray

from stagecache import (
    AssemblyCondition,
    State,
    Subsystem,
    System,
    parameter,
    position_error,
    q_variable,
    u_variable,
)

Array = NDArray[np.float64]


class FourBar(Subsystem):
    """A planar linkage, each bar with its angle from the x axis [rad]."""

    ground = parameter(2.0)  # m
    crank_length = parameter(0.5)  # m
    coupler_length = parameter(2.0)  # m
    rocker_length = parameter(1.5)  # m
    is_closed = parameter(True)
    is_driven = parameter(False)
    speed = parameter(1.0)  # rad/s
    crank = q_variable(0.4)
    coupler = q_variable(0.5)
    rocker = q_variable(1.4)
    rates = u_variable((0.0, 0.0, 0.0))

    @crank.prescribed(prerequisites=lambda self: (self.time, self.speed), enabled=is_driven)
    def drive(self, state: State) -> float:
        """The angle of the crank, where it is driven."""
        return self.speed(state) * state.time

    @position_error(size=2, enabled=is_closed)
    def closure(self, state: State) -> Array:
        """The gap between coupler and rocker [m]."""
        crank, coupler, rocker = self.crank(state), self.coupler(state), self.rocker(state)
        tip = self.crank_length(state) * direction(crank)
        tip = tip + self.coupler_length(state) * direction(coupler)
        other = np.array([self.ground(state), 0.0])
        other = other + self.rocker_length(state) * direction(rocker)
        return np.asarray(tip - other)

    @closure.jacobian
    def closure_by_u(self, state: State) -> dict[object, Array]:
        """By the rates, which are those of the angles."""
        columns = [
            self.crank_length(state) * across(self.crank(state)),
            self.coupler_length(state) * across(self.coupler(state)),
            -self.rocker_length(state) * across(self.rocker(state)),
        ]
        return {self.rates: np.stack(columns, axis=1)}


class Arm(Subsystem):
    """Some bars in a row, whose angles are one variable; no constraints, and no u."""

    angles = q_variable((0.3, 0.4, 0.5))  # rad

    def tip(self, state: State) -> Array:
        """Where its end is [m]; each bar is 1 m long."""
        return np.asarray(sum(direction(angle) for angle in np.cumsum(self.angles(state))))


class Reach(AssemblyCondition):
    """The tip of an arm is to be at a place."""

    def __init__(self, arm: Arm, place: tuple[float, float], name: str = "reach") -> None:
        super().__init__(name)
        self.arm = arm
        self.place = np.array(place)

    def calc_errors(self, state: State) -> Array:
        """The way from there [m]."""
        found: Array = self.arm.tip(state) - self.place
        return found


class ReachWithJacobian(Reach):
    """The same, with derivatives."""

    def calc_error_jacobian(self, state: State) -> Array:
        """By the free angles."""
        turned = np.cumsum(self.arm.angles(state))
        columns = [sum(across(a) for a in turned[i:]) for i in range(len(turned))]
        free = [i for i in range(len(turned)) if self.free_q_index_of_q(i) is not None]
        return np.stack([np.asarray(columns[i]) for i in free], axis=1)


class Bend(AssemblyCondition):
    """A goal that is no sum of squares: the cosines of an arm's angles, from above."""

    def __init__(self, arm: Arm) -> None:
        super().__init__("bend")
        self.arm = arm

    def calc_goal(self, state: State) -> float:
        """Zero where all angles are."""
        return float(np.sum(1.0 - np.cos(self.arm.angles(state))))


class BendWithGradient(Bend):
    """The same, with derivatives."""

    def calc_goal_gradient(self, state: State) -> Array:
        """By the free angles."""
        slope: Array = np.sin(self.arm.angles(state))
        free = [i for i in range(len(slope)) if self.free_q_index_of_q(i) is not None]
        return slope[free]


def direction(angle: float) -> Array:
    """The unit vector at an angle."""
    return np.array([np.cos(angle), np.sin(angle)])


def across(angle: float) -> Array:
    """Its derivative."""
    return np.array([-np.sin(angle), np.cos(angle)])


def four_bar() -> tuple[FourBar, System, State]:
    """A linkage, its System, and a State roughly closed."""
    linkage = FourBar()
    system = System(linkage, name="four bar")
    return linkage, system, system.new_state()


def arm() -> tuple[Arm, System, State]:
    """An arm, its System and a State."""
    found = Arm()
    system = System(found, name="arm")
    return found, system, system.new_state()
