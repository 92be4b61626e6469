"""Cart and pole: a sampled controller with a gain by SciPy, and a push.

Run it: python -m stagecache.examples.cart_pole [OUTPUT FOLDER]

The controller reads the state fifty times a second and holds its force in between. It is compared
with one that acts five times a second, which lets the pole fall. It writes a plot of both.
"""

import math
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_continuous_are

from stagecache import (
    EventAction,
    PeriodicEventHandler,
    ScheduledEventHandler,
    Stage,
    State,
    Subsystem,
    System,
    Trajectory,
    cached,
    discrete,
    event_trigger,
    linearize,
    parameter,
    q_variable,
    simulate,
    u_variable,
)
from stagecache.errors import MissingExtraError
from stagecache.study import Linearization

Vector = NDArray[np.float64]


class CartPole(Subsystem):
    """A cart on a rail, and a pole on it: a mass at the end of a light rod."""

    cart = parameter(1.0, unit="kg")
    bob = parameter(0.1, unit="kg")
    length = parameter(0.5, unit="m")
    gravity = parameter(9.81, unit="m/s²")
    gain = parameter((0.0, 0.0, 0.0, 0.0))  # N/m, N, N s/m, N s
    force = discrete(0.0, invalidates=Stage.ACCELERATION, unit="N")  # on the cart
    position = q_variable((0.0, 0.1))  # m; rad, from straight up
    velocity = u_variable((0.0, 0.0))  # m/s, rad/s

    @cached(prerequisites=(position, cart, bob, length))
    def mass_matrix(self, state: State) -> Vector:
        """Mass matrix, (2, 2)."""
        length, bob = self.length(state), self.bob(state)
        coupling = bob * length * math.cos(self.position(state)[1])
        return np.array([[self.cart(state) + bob, coupling], [coupling, bob * length**2]])

    @cached(prerequisites=(position, velocity, bob, length, mass_matrix, gravity), unit="J")
    def energy(self, state: State) -> float:
        """Kinetic and potential energy [J]."""
        velocity = self.velocity(state)
        height = self.length(state) * math.cos(self.position(state)[1])
        kinetic = velocity @ self.mass_matrix(state) @ velocity / 2
        return float(kinetic + self.bob(state) * self.gravity(state) * height)

    def realize_acceleration(self, state: State) -> None:
        """Newton's law."""
        angle, rate = self.position(state)[1], self.velocity(state)[1]
        lever = self.bob(state) * self.length(state) * math.sin(angle)
        forces = [self.force(state) + lever * rate**2, lever * self.gravity(state)]
        state[self].upd_udot()[:] = np.linalg.solve(self.mass_matrix(state), forces)

    @event_trigger(stage=Stage.POSITION)
    def above_rail(self, state: State) -> float:
        """Height of the bob [m]."""
        return self.length(state) * math.cos(self.position(state)[1])

    @above_rail.handler
    def fall(self, _state: State) -> EventAction:
        """End the simulation."""
        return EventAction.TERMINATE

    def control(self, state: State) -> None:
        """Read the state, and set the force until the next time."""
        self.force.set(state, float(-np.dot(self.gain(state), state.y)))

    def push(self, state: State) -> None:
        """Push the cart: it moves faster at once."""
        self.velocity.set(state, self.velocity(state) + np.array([0.5, 0.0]))


def make_system(interval: float) -> System:
    """Return a cart with a controller that acts at an interval [s], and is pushed after 3 s."""
    cart_pole = CartPole()
    system = System(cart_pole, name="cart and pole")
    system.add_event_handler(PeriodicEventHandler(interval, cart_pole.control), "control")
    system.add_event_handler(ScheduledEventHandler(cart_pole.push, next_time=3.0), "push")
    return system


def linearized(system: System, state: State) -> Linearization:
    """Linearize the System where the pole is upright and nothing moves."""
    upright = state.copy()
    upright.y = np.zeros(4)
    return linearize(system, upright, ("cart_pole.force",), differences="central")


def lqr_gain(model: Linearization) -> Vector:
    """Return the gain that minimizes the integral of y Q y + R force²."""
    cost = np.diag([10.0, 100.0, 1.0, 1.0])
    riccati = solve_continuous_are(model.A, model.B, cost, np.eye(1))
    gain: Vector = (model.B.T @ riccati)[0]
    return gain


def balance(interval: float) -> Trajectory:
    """Simulate six seconds, with a gain for the upright pole."""
    system = make_system(interval)
    start = system.new_state()
    gain = lqr_gain(linearized(system, start))
    system.get(CartPole).gain.set(start, tuple(gain))
    return simulate(system, start, 6.0, method="RK45", accuracy=1e-6)


def plot(fast: Trajectory, slow: Trajectory, path: Path) -> None:
    """Draw the angles of both, and under them the forces."""
    upper = fast.plot("cart_pole.position[1]")
    figure = upper.figure
    figure.set_size_inches(7, 4)
    upper.set_position((0.1, 0.55, 0.87, 0.42))
    slow.plot("cart_pole.position[1]", ax=upper)
    upper.set(xlabel="", ylabel="angle [rad]", ylim=(-0.5, 0.5))
    upper.legend(["50 Hz", "5 Hz"])
    lower = figure.add_axes((0.1, 0.12, 0.87, 0.35), sharex=upper)
    fast.plot("cart_pole.force", ax=lower)
    slow.plot("cart_pole.force", ax=lower)
    lower.set(ylabel="force [N]", ylim=(-8.0, 8.0))
    lower.get_legend().remove()
    figure.savefig(path)


def main() -> None:
    """Balance the pole at two rates."""
    system = make_system(0.02)
    model = linearized(system, system.new_state())
    gain = lqr_gain(model)
    print("gain:", gain.round(3))
    closed_loop = model.A - np.outer(model.B, gain)
    print("poles of the closed loop:", np.linalg.eigvals(closed_loop).round(2))
    fast, slow = balance(0.02), balance(0.2)
    for name, run in (("50 Hz", fast), ("5 Hz", slow)):
        print(f"{name}: angle {run.q[-1, 1]:.4f} rad at t = {run.times[-1]:.2f} s")
    energy = fast.calc("cart_pole.energy")
    print(f"energy: {energy[0]:.4f} J at first, {energy[-1]:.4f} J at last")

    path = Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "cart_pole.png"
    try:
        plot(fast, slow, path)
    except MissingExtraError as error:
        print(error)
    else:
        print("wrote", path.name)


if __name__ == "__main__":
    main()
