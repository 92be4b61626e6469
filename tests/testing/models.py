"""A sound model and faulty ones, for the tests of the checks themselves."""

import numpy as np

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    auto_update,
    cached,
    discrete,
    parameter,
    q_variable,
    z_variable,
)
from stagecache.state.handles import Vector


class Lever(Subsystem):
    """A load on a lever, with nothing wrong."""

    length = parameter(1.0)
    mass = parameter(2.0)
    angle = q_variable(0.25)
    notes = discrete(factory=lambda _: ["new"], invalidates=Stage.REPORT)

    @cached(prerequisites=(angle, length))
    def end(self, state: State) -> Vector:
        return self.length(state) * np.array([self.angle(state), 1.0])

    @cached(prerequisites=(end, mass))
    def moment(self, state: State) -> float:
        return self.mass(state) * float(self.end(state)[0])


class Forgetful(Lever):
    """The end does not name the length."""

    end = cached(prerequisites=(Lever.angle,))(Lever.end.compute)


class Excessive(Lever):
    """The end names the mass as well."""

    end = cached(prerequisites=(Lever.angle, Lever.length, Lever.mass))(Lever.end.compute)


class Hooked(Lever):
    """The hook of Position reads what only Report depends on."""

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[0] = len(self.notes(state))


class Appending(Lever):
    """A computation changes a variable in place."""

    @cached(prerequisites=(Lever.notes,))
    def text(self, state: State) -> str:
        notes = self.notes(state)
        notes.append("read")
        return " ".join(notes)


class Fragile(Lever):
    """A computation fails where the length is 0, as computations may."""

    @cached(prerequisites=(Lever.length,))
    def curvature(self, state: State) -> float:
        return 1 / self.length(state)

    def realize_acceleration(self, state: State) -> None:
        state[self].upd_udot()[:] = 1 / self.mass(state)


def system_of(subsystem: Subsystem) -> System:
    """A System in which the subsystem is called "lever"."""
    return System(lever=subsystem)


class Hasty(Lever):
    """The hook of Time uses what is only known from Dynamics on."""

    level = z_variable(1.0)

    def realize_time(self, state: State) -> None:
        state[self].upd_zdot()[0] = self.length(state) * self.level(state)


class Switched(Lever):
    """A hook uses a variable that is exchanged without a write."""

    level = z_variable(1.0)
    on = auto_update(0.0, invalidates=Stage.DYNAMICS, available_from=Stage.TIME)

    @on.update(prerequisites=())
    def next_on(self, state: State) -> float:  # the same each time
        return 1.0

    def realize_dynamics(self, state: State) -> None:
        state[self].upd_zdot()[0] = self.on(state)


class Lucky(Lever):
    """A hook raises unless somebody has read an entry before."""

    def realize_velocity(self, state: State) -> None:
        if not self.end.is_valid(state):
            raise ValueError("the end is not known")
