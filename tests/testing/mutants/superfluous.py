"""Faults: a prerequisite is declared, and never read."""

import math

import numpy as np

from stagecache import State, cached
from tests.testing.mutants.models import (
    Beads,
    Brake,
    Pendulum,
    Springs,
    Thermostat,
    Vector,
)


class SuperfluousParameter(Pendulum):
    """The tip names the mass."""

    tip = cached(prerequisites=(Pendulum.angle, Pendulum.length, Pendulum.mass))(
        Pendulum.tip.compute
    )


class SuperfluousInOtherSubsystem(Brake):
    """The distance names the load of the wagon."""

    distance = cached(prerequisites=lambda self: (self.wagon.rear, self.wagon.load, self.margin))(
        Brake.distance.compute
    )


class SuperfluousMembers(Springs):
    """The force of each spring names the stiffness of all."""

    @cached(
        count=lambda self: self.count,
        prerequisites=lambda self, i: (self.place[i], self.place[i + 1], self.stiffness),
    )
    def force(self, state: State, i: int) -> float:
        return self.stiffness[i](state) * (self.place[i + 1](state) - self.place[i](state))


class SuperfluousVector(Beads):
    """The highest names u of the whole State."""

    highest = cached(prerequisites=lambda self: (self.system.q, self.system.u))(
        Beads.highest.compute
    )


class SuperfluousInUpdate(Thermostat):
    """The next value of an auto-update variable names the leak."""

    next_heating = Thermostat.heating.update(
        prerequisites=(Thermostat.temperature, Thermostat.leak)
    )(Thermostat.next_heating.compute)


class ReadsOtherState(Pendulum):
    """The tip reads the length in the State in which the topology was realized, not in its own."""

    def realize_topology(self, state: State) -> None:
        self.first = state

    @cached(prerequisites=(Pendulum.angle, Pendulum.length))
    def tip(self, state: State) -> Vector:
        angle = self.angle(state)
        return self.length(self.first) * np.array([math.sin(angle), -math.cos(angle)])
