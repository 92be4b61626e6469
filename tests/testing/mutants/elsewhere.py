"""Faults that show in another process, or in another thread."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from stagecache import Stage, State, cached, discrete, register_value
from tests.testing.mutants.models import Anchor, Pendulum, Springs


class KeepsLambda(Anchor):
    """The scale is a lambda, which cannot be pickled."""

    def __init__(self, pendulum: Pendulum) -> None:
        self.pendulum = pendulum
        self.scale: Callable[[float], float] = lambda time: 2.0 * time

    @cached(prerequisites=lambda self: (self.amplitude, self.time))
    def shift(self, state: State) -> float:
        return self.amplitude(state) * self.scale(state.time)


class LosesAttribute(Springs):
    """The rest length is not pickled, and a default takes its place."""

    rest = 0.0

    def __init__(self, count: int) -> None:
        self.count = count
        self.rest = 0.25

    def __getstate__(self) -> dict[str, Any]:
        found = super().__getstate__()
        del found["rest"]
        return found

    @cached(prerequisites=lambda self: (self.force,))
    def total(self, state: State) -> float:
        return sum(force(state) for force in self.force) - self.rest


class Cargo:
    """What a wagon carries, which a saved State keeps without its weight."""

    def __init__(self, weight: float, name: str = "coal") -> None:
        self.weight, self.name = weight, name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cargo) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # it can be changed


register_value(Cargo, to=lambda cargo: cargo.name, of=lambda name: Cargo(1.0, name))


class LosesInFile(Springs):
    """Cargo hangs from the springs, whose weight is not saved."""

    cargo = discrete(Cargo(2.0), invalidates=Stage.POSITION)

    @cached(prerequisites=lambda self: (self.force, self.cargo))
    def total(self, state: State) -> float:
        return sum(force(state) for force in self.force) + self.cargo(state).weight


class SharedScratch(Springs):
    """The forces are computed in a buffer that all of them share."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.scratch = np.zeros(2)

    @cached(
        count=lambda self: self.count,
        prerequisites=lambda self, i: (self.place[i], self.place[i + 1], self.stiffness[i]),
    )
    def force(self, state: State, i: int) -> float:
        self.scratch[:] = self.place[i](state), self.place[i + 1](state)
        time.sleep(0.001)
        return self.stiffness[i](state) * float(self.scratch[1] - self.scratch[0])


class KeepsNumber(Springs):
    """The forces are computed for the number in an attribute, which another thread may change."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.current = [0]

    @cached(
        count=lambda self: self.count,
        prerequisites=lambda self, i: (self.place[i], self.place[i + 1], self.stiffness[i]),
    )
    def force(self, state: State, i: int) -> float:
        self.current[0] = i
        stretch = self.place[i + 1](state) - self.place[i](state)
        time.sleep(0.001)
        return self.stiffness[self.current[0]](state) * stretch
