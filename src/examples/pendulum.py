"""A pendulum on an anchor: two subsystems, of which one reads entries of the other.

Run it: python -m stagecache.examples.pendulum
"""

import math

import numpy as np
from numpy.typing import NDArray

from stagecache import Stage, State, Subsystem, System, cached, parameter, q_variable, u_variable


class Pendulum(Subsystem):
    """A point mass on a rod."""

    length = parameter(1.0, unit="m")
    mass = parameter(2.0, unit="kg")
    gravity = parameter(9.81, unit="m/s²")
    angle = q_variable(0.1, unit="rad")  # from straight down
    rate = u_variable(0.5, unit="rad/s")

    @cached(prerequisites=(angle, length), unit="m")
    def tip(self, state: State) -> NDArray[np.float64]:
        """Position of the mass, from the pivot [m]."""
        angle = self.angle(state)
        return self.length(state) * np.array([math.sin(angle), -math.cos(angle)])

    @cached(prerequisites=(mass, gravity), unit="N")
    def weight(self, state: State) -> float:
        """Weight of the mass [N]."""
        return self.mass(state) * self.gravity(state)

    @cached(available_from=Stage.VELOCITY, unit="J")
    def kinetic_energy(self, state: State) -> float:
        """Kinetic energy of the mass [J]."""
        return self.mass(state) * (self.length(state) * self.rate(state)) ** 2 / 2

    def realize_acceleration(self, state: State) -> None:
        """The torque of the weight changes the rate."""
        torque = -self.weight(state) * float(self.tip(state)[0])
        state[self].upd_udot()[0] = torque / (self.mass(state) * self.length(state) ** 2)


class Anchor(Subsystem):
    """Anchor of the pendulum."""

    def __init__(self, pendulum: Pendulum) -> None:
        self.pendulum = pendulum

    @cached(prerequisites=lambda self: (self.pendulum.tip, self.pendulum.weight), unit="N m")
    def torque(self, state: State) -> float:
        """Torque of the weight about the pivot [N m]."""
        return -self.pendulum.weight(state) * float(self.pendulum.tip(state)[0])


def system() -> System:
    """The model, for `stagecache graph stagecache.examples.pendulum:system -o pendulum.html`."""
    pendulum = Pendulum()
    return System(pendulum, anchor=Anchor(pendulum), name="pendulum")


def main() -> None:
    """Read, write, and read again."""
    pendulum = Pendulum()
    anchor = Anchor(pendulum)
    system = System(pendulum, anchor=anchor)
    state = system.new_state()

    print("tip:", pendulum.tip(state), "torque:", anchor.torque(state))
    pendulum.angle.set(state, 0.3)
    for entry in (pendulum.tip, pendulum.weight, anchor.torque, pendulum.kinetic_energy):
        print(entry, "is valid:", entry.is_valid(state))
    system.realize(state, Stage.ACCELERATION)
    print("qdot:", state.qdot, "udot:", state.udot)
    print("kinetic energy:", pendulum.kinetic_energy(state))
    print(system.statistics)


if __name__ == "__main__":
    main()
