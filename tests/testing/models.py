"""A sound model and faulty ones, for the tests of the checks themselves."""

import numpy as np

from stagecache import Stage, State, Subsystem, System, cached, discrete, parameter, q_variable
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
