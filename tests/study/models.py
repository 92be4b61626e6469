"""Models whose motion is known, or can be computed by other means."""

import math
from typing import Any

import numpy as np

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    cached,
    parameter,
    position_error,
    q_variable,
    u_variable,
    z_variable,
)
from stagecache.state.handles import Vector

# ---------------------------------------------------------------------- the double pendulum

REFERENCE_Q = (0.712059607099954, 1.33472997257815)
REFERENCE_U = (0.851039412755437, -0.310459936805187)
"""The double pendulum at 10 s, by Simbody 3.7 at accuracy 1e-11."""


class DoublePendulum(Subsystem):
    """Two links on pins: masses 1, inertias 0.1 about centres, links 1 long, centres in the middle.

    Angles are relative to the link before, 0 hanging down.
    """

    mass = parameter(1.0)
    inertia = parameter(0.1)
    length = parameter(1.0)
    gravity = parameter(9.8)
    angles = q_variable((1.0, 0.5))
    rates = u_variable((0.0, 0.0))

    @cached(prerequisites=(angles, rates, mass, inertia, length, gravity))
    def energy(self, state: State) -> float:
        m, j, length, g = self._parameters(state)
        q1, q2 = self.angles(state).tolist()
        u1, u2 = self.rates(state).tolist()
        a, w2 = length / 2, u1 + u2
        speed1 = (a * u1) ** 2
        speed2 = (length * u1) ** 2 + (a * w2) ** 2 + 2 * length * a * u1 * w2 * math.cos(q2)
        kinetic = (m * (speed1 + speed2) + j * (u1**2 + w2**2)) / 2
        height = -a * math.cos(q1) - length * math.cos(q1) - a * math.cos(q1 + q2)
        return float(kinetic + m * g * height)

    def _parameters(self, state: State) -> tuple[float, float, float, float]:
        return self.mass(state), self.inertia(state), self.length(state), self.gravity(state)

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[:] = self.rates(state)

    def realize_acceleration(self, state: State) -> None:
        q1, q2 = self.angles(state).tolist()
        u1, u2 = self.rates(state).tolist()
        state[self].upd_udot()[:] = accelerations(q1, q2, u1, u2, *self._parameters(state))


def accelerations(
    q1: float, q2: float, u1: float, u2: float, m: float, j: float, length: float, g: float
) -> tuple[float, float]:
    """udot of the double pendulum, from M udot = f in closed form."""
    a = length / 2
    c, s = math.cos(q2), math.sin(q2)
    m22 = j + m * a * a
    m12 = m22 + m * length * a * c
    m11 = j + m * a * a + m * (length * length + a * a + 2 * length * a * c) + j
    h = m * length * a * s
    outer = m * g * a * math.sin(q1 + q2)
    f1 = h * (2 * u1 * u2 + u2 * u2) - m * g * (a + length) * math.sin(q1) - outer
    f2 = -h * u1 * u1 - outer
    det = m11 * m22 - m12 * m12
    return (m22 * f1 - m12 * f2) / det, (m11 * f2 - m12 * f1) / det


# ---------------------------------------------------------------------- known solutions


class Oscillator(Subsystem):
    """place = cos(w t) from (1, 0), with a z that decays at its own rate."""

    frequency = parameter(2.0)
    decay = parameter(0.5)
    place = q_variable(1.0)
    speed = u_variable(0.0)
    heat = z_variable(1.0)

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[0] = self.speed(state)

    def realize_dynamics(self, state: State) -> None:
        state[self].upd_zdot()[0] = -self.decay(state) * self.heat(state)

    def realize_acceleration(self, state: State) -> None:
        state[self].upd_udot()[0] = -(self.frequency(state) ** 2) * self.place(state)

    @staticmethod
    def solution(t: float) -> Vector:
        """y at a time."""
        return np.array([math.cos(2 * t), -2 * math.sin(2 * t), math.exp(-t / 2)])


class Decays(Subsystem):
    """z' = -rate z, from 1, for some rates."""

    z_values = z_variable(factory=lambda self, state: np.ones(len(self.rates)))

    def __init__(self, *rates: float) -> None:
        self.rates = np.array(rates)

    def realize_dynamics(self, state: State) -> None:
        state[self].upd_zdot()[:] = -self.rates * state[self].z


# ---------------------------------------------------------------------- constraints


class Rod(Subsystem):
    """A point on a rod, in Cartesian coordinates: x² + y² = length², with gravity along -y."""

    length = parameter(1.0)
    gravity = parameter(9.8)
    place = q_variable((1.0, 0.0))
    speed = u_variable((0.0, 0.0))

    @position_error()
    def rod(self, state: State) -> float:
        x, y = self.place(state).tolist()
        return float(x * x + y * y - self.length(state) ** 2)

    @rod.velocity
    def rod_rate(self, state: State) -> float:
        return 2 * float(self.place(state) @ self.speed(state))

    @rod.acceleration
    def rod_acceleration(self, state: State) -> float:
        speed, udot = self.speed(state), state[self].udot
        return 2 * float(speed @ speed + self.place(state) @ udot)

    @rod.jacobian
    def rod_jacobian(self, state: State) -> Any:
        return 2 * self.place(state)[np.newaxis]

    @cached(prerequisites=(place, speed, gravity))
    def energy(self, state: State) -> float:
        speed = self.speed(state)
        return float(speed @ speed) / 2 + self.gravity(state) * float(self.place(state)[1])

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[:] = self.speed(state)

    def realize_acceleration(self, state: State) -> None:
        (x, y), (vx, vy), g = self.place(state), self.speed(state), self.gravity(state)
        pull = (vx * vx + vy * vy - g * y) / (x * x + y * y)
        state[self].upd_udot()[:] = -pull * x, -pull * y - g


def state_of(*subsystems: Subsystem, stage: Stage = Stage.MODEL) -> tuple[System, State]:
    """A new System of these, and a State of it."""
    system = System(*subsystems)
    state = system.new_state()
    system.realize(state, stage)
    return system, state
