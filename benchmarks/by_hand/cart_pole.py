"""Six seconds of a cart and pole, whose controller samples fifty times a second.

The System is the example `stagecache.examples.cart_pole`. By hand, each sample is followed by a run
of `solve_ivp`.
"""

from math import cos, sin
from typing import Final, final

import numpy as np

from benchmarks.by_hand.run import HandRun, SystemRun, Vector
from stagecache import PeriodicEventHandler, System
from stagecache.examples.cart_pole import CartPole

UNTIL: Final = 6.0  # s
RATE: Final = 50  # samples in a second
METHOD: Final = "RK45"
ACCURACY: Final = 1e-6
GAIN: Final = (-3.16, -39.61, -4.42, -8.48)
START: Final = np.array([0.0, 0.1, 0.0, 0.0])
CART, BOB, LENGTH, GRAVITY = 1.0, 0.1, 0.5, 9.81


def run() -> SystemRun:
    """Return the run of the System."""
    cart_pole = CartPole()
    system = System(cart_pole)
    system.add_event_handler(PeriodicEventHandler(1 / RATE, cart_pole.control))
    state = system.new_state()
    cart_pole.gain.set(state, GAIN)
    return SystemRun(system, state, UNTIL, METHOD, ACCURACY)


@final
class CartPoleByHand(HandRun):
    """The same by a loop over the samples."""

    def __init__(self) -> None:
        super().__init__(START, UNTIL, METHOD, ACCURACY)
        self._gain = np.array(GAIN)
        self._force = 0.0

    def simulate(self) -> None:
        """Go on from sample to sample."""
        for sample in range(round(UNTIL * RATE)):
            self._force = float(-self._gain @ self.y)
            self.go_on(sample / RATE, (sample + 1) / RATE)

    def ydot(self, _: float, y: Vector) -> Vector:
        """Return the rates of the position and the angle, and of their rates."""
        _x, angle, speed, rate = y.tolist()
        lever = BOB * LENGTH
        coupling = lever * cos(angle)
        matrix = np.array([[CART + BOB, coupling], [coupling, lever * LENGTH]])
        pull = lever * sin(angle)
        forces = np.array([self._force + pull * rate**2, pull * GRAVITY])
        return np.array([speed, rate, *np.linalg.solve(matrix, forces)])
