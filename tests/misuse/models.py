"""Models whose States, graphs and files are misused."""

import numpy as np
from numpy.typing import NDArray

from stagecache import (
    AssemblyCondition,
    EventAction,
    Stage,
    State,
    Subsystem,
    System,
    auto_update,
    cached,
    discrete,
    event_trigger,
    input_port,
    modeling_option,
    parameter,
    position_error,
    q_variable,
    u_variable,
    z_variable,
)

Array = NDArray[np.float64]


class Cart(Subsystem):
    """A cart on a spring, with one declaration of each kind."""

    is_heavy = modeling_option(False)
    stiffness = parameter(4.0, unit="N/m")
    springs = parameter(factory=lambda _, i: 1.0 + i, count=2)
    label = discrete("cart", invalidates=Stage.REPORT)
    highest = auto_update(0.0, invalidates=Stage.REPORT, available_from=Stage.POSITION)
    place = q_variable(0.5, unit="m")
    pose = q_variable((0.1, 0.2))
    speed = u_variable(0.25, unit="m/s")
    rates = u_variable((0.0, 0.0))
    work = z_variable(0.0, unit="J")
    push = input_port(float, default=0.0, unit="N")

    @highest.update
    def next_highest(self, state: State) -> float:
        """Farthest place so far [m]."""
        return max(self.highest(state), self.place(state))

    @cached(prerequisites=(place, stiffness), unit="N")
    def force(self, state: State) -> float:
        """Force of the spring [N]."""
        return -self.stiffness(state) * self.place(state)

    @cached(count=2, prerequisites=lambda self, i: (self.springs[i],))
    def doubled(self, state: State, i: int) -> float:
        """Twice a parameter of the family."""
        return 2 * self.springs[i](state)

    @position_error(prerequisites=(pose,))
    def fixed(self, state: State) -> float:
        """The pose stays where it is."""
        return float(self.pose(state)[0]) - 0.1

    @fixed.velocity
    def fixed_velocity(self, state: State) -> float:
        """Its time derivative."""
        return float(self.rates(state)[0])

    @fixed.acceleration
    def fixed_acceleration(self, state: State) -> float:
        """And that of this one."""
        return float(state[self].udot[1])

    @event_trigger(stage=Stage.POSITION, direction="falling", prerequisites=(place,))
    def wall(self, state: State) -> float:
        """Distance from the wall [m]."""
        return self.place(state) + 2.0

    @wall.handler
    def bounce(self, state: State) -> EventAction | None:
        """Turn the speed."""
        self.speed.set(state, -self.speed(state))
        return None

    def realize_dynamics(self, state: State) -> None:
        """Note the power."""
        state[self].upd_zdot()[0] = self.force(state) * self.speed(state)

    def realize_acceleration(self, state: State) -> None:
        """Accelerate the cart."""
        state[self].upd_udot()[:] = [self.force(state), 0.0, 0.0]


class Reach(AssemblyCondition):
    """The place of a cart."""

    def __init__(self, cart: Cart, goal: float = 0.5) -> None:
        super().__init__("reach")
        self.cart = cart
        self.goal = goal

    def calc_errors(self, state: State) -> Array:
        """Distance from the goal [m]."""
        return np.array([self.cart.place(state) - self.goal])


def cart_system() -> System:
    """Return a System of one cart."""
    return System(Cart(), name="carts")
