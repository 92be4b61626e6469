"""Faults: a value depends on what is not in the State, or changes what is, behind its back."""

import random
from weakref import WeakKeyDictionary

import numpy as np

from stagecache import State, cached
from tests.testing.mutants.models import Pendulum, Timetable, Vector

CLIMATE = {"factor": 1.0}


class ReadsGlobal(Pendulum):
    """The weight depends on a global, which a hook changes."""

    @cached(prerequisites=(Pendulum.mass, Pendulum.gravity))
    def weight(self, state: State) -> float:
        return CLIMATE["factor"] + self.mass(state) * self.gravity(state)

    def realize_time(self, state: State) -> None:
        CLIMATE["factor"] += 1.0


class Counts(Pendulum):
    """The weight depends on how often it was computed."""

    def __init__(self) -> None:
        self.calls: list[float] = []

    @cached(prerequisites=(Pendulum.mass, Pendulum.gravity))
    def weight(self, state: State) -> float:
        self.calls.append(self.mass(state) * self.gravity(state))
        return self.calls[-1] + len(self.calls)


class RemembersByState(Pendulum):
    """The tip is kept for each State, and not computed again after a write."""

    def __init__(self) -> None:
        self.known: WeakKeyDictionary[State, Vector] = WeakKeyDictionary()

    @cached(prerequisites=(Pendulum.angle, Pendulum.length))
    def tip(self, state: State) -> Vector:
        if state not in self.known:
            self.known[state] = Pendulum.tip.compute(self, state)
        return self.known[state]


class RemembersByAngle(Pendulum):
    """The tip is kept for each angle, whatever the length is."""

    def __init__(self) -> None:
        self.known: dict[float, Vector] = {}

    @cached(prerequisites=(Pendulum.angle, Pendulum.length))
    def tip(self, state: State) -> Vector:
        angle = self.angle(state)
        if angle not in self.known:
            self.known[angle] = Pendulum.tip.compute(self, state)
        return self.known[angle]


class KeepsFirst(Pendulum):
    """The weight is computed with the mass that it found when it was computed first."""

    def __init__(self) -> None:
        self.found: dict[str, float] = {}

    @cached(prerequisites=(Pendulum.mass, Pendulum.gravity))
    def weight(self, state: State) -> float:
        return self.found.setdefault("mass", self.mass(state)) * self.gravity(state)


class RandomNumber(Pendulum):
    """The weight has random noise."""

    @cached(prerequisites=(Pendulum.mass, Pendulum.gravity))
    def weight(self, state: State) -> float:
        return self.mass(state) * self.gravity(state) + random.random()


class Identity(Pendulum):
    """The weight depends on where the State is in memory."""

    @cached(prerequisites=(Pendulum.mass, Pendulum.gravity))
    def weight(self, state: State) -> float:
        return self.mass(state) * self.gravity(state) + id(state) // 64 % 1009


class Accumulates(Pendulum):
    """The tip is added to a kept array, which is not cleared."""

    def __init__(self) -> None:
        self.sum = np.zeros(2)

    @cached(prerequisites=(Pendulum.angle, Pendulum.length))
    def tip(self, state: State) -> Vector:
        np.add(self.sum, Pendulum.tip.compute(self, state), out=self.sum)
        return self.sum.copy()


class StaysBusy(Pendulum):
    """The potential energy is 0 while it is computed, and for ever after an interrupt."""

    def __init__(self) -> None:
        self.busy: list[bool] = []

    @cached(prerequisites=(Pendulum.tip, Pendulum.weight))
    def potential_energy(self, state: State) -> float:
        if self.busy:
            return 0.0
        self.busy.append(True)
        value = self.weight(state) * float(self.tip(state)[1])
        self.busy.clear()
        return value


class EmptiedByInstance(Pendulum):
    """The tip is kept with others, and from the fifth on it is an old one, until Instance."""

    def __init__(self) -> None:
        self.kept: list[Vector] = []

    @cached(prerequisites=(Pendulum.angle, Pendulum.length))
    def tip(self, state: State) -> Vector:
        if len(self.kept) < 4:
            self.kept.append(Pendulum.tip.compute(self, state))
        return self.kept[-1]

    def realize_instance(self, state: State) -> None:
        self.kept.clear()


class MutatesCachedList(Timetable):
    """What is delayed appends to the list of another entry."""

    @cached(prerequisites=(Timetable.in_order, Timetable.delay))
    def delayed(self, state: State) -> list[float]:
        times = self.in_order(state)
        times.append(self.delay(state))
        return list(times)


class MutatesCachedDict(Timetable):
    """The latest puts an item into the dict of another entry."""

    @cached(prerequisites=(Timetable.departures, Timetable.delay))
    def latest(self, state: State) -> float:
        departures = self.departures(state)
        departures["delay"] = self.delay(state)
        return max(departures.values())


class MutatesVariable(Timetable):
    """The order is made in the variable itself, without `upd`."""

    @cached(prerequisites=(Timetable.times,))
    def in_order(self, state: State) -> list[float]:
        times = self.times(state)
        times.sort()
        return times.copy()


class AppendsToVariable(Timetable):
    """The order appends to the variable from which it is made, without `upd`."""

    @cached(prerequisites=(Timetable.times,))
    def in_order(self, state: State) -> list[float]:
        self.times(state).append(0.0)
        return sorted(self.times(state))
