"""Models and functions of studies, which workers in other processes import."""

import math
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    auto_update,
    cached,
    discrete,
    modeling_option,
    parameter,
    q_variable,
    u_variable,
    z_variable,
)
from stagecache.errors import StagecacheError
from stagecache.study import Member


class Spring(Subsystem):
    """A mass on a spring."""

    stiffness = parameter(100.0, unit="N/m")
    mass = parameter(1.0, unit="kg")
    weights = parameter(np.array([1.0, 2.0, 3.0]))
    label = parameter("one")
    is_stiff = parameter(False)
    pair = parameter((1.0, 2.0))
    anything: Any = discrete(None, invalidates=Stage.REPORT)
    place = q_variable(0.1, unit="m")
    others = q_variable((0.0, 0.0))
    speed = u_variable(0.0)

    @cached(prerequisites=(place, stiffness), unit="J")
    def energy(self, state: State) -> float:
        return self.stiffness(state) * self.place(state) ** 2 / 2

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[:] = self.speed(state), 0.0, 0.0

    def realize_acceleration(self, state: State) -> None:
        force = -self.stiffness(state) * self.place(state)
        state[self].upd_udot()[:] = force / self.mass(state)


class Chain(Subsystem):
    """As many q as an option says."""

    links = modeling_option(2)
    angles = q_variable(factory=lambda self, state: np.zeros(self.links(state)))


class Slope(Subsystem):
    """A number that grows."""

    height = z_variable(0.0)

    def realize_dynamics(self, state: State) -> None:
        state[self].upd_zdot()[:] = 1.0


class Table(Subsystem):
    """Arrays of several types."""

    counts = parameter(np.array([1, 2, 3]))
    small = parameter(np.array([1, 2], np.uint8))
    names = parameter(np.array(["abc", "de"]))
    flags = parameter(np.array([True, False]))
    lengths = parameter(np.array([1.0, 2.0]))
    places = z_variable([0.5, 0.6])
    others = z_variable(0.7)


class Meadow(Subsystem):
    """Entries of several kinds that depend on parameters, and tell the process that computes."""

    size = parameter(3.0)
    shade = parameter(1.0)
    flower = discrete(["daisy"], invalidates=Stage.REPORT)
    last = auto_update(0.0, invalidates=Stage.REPORT, available_from=Stage.INSTANCE)
    height = q_variable(0.3)

    @cached(prerequisites=(size,))
    def costly(self, state: State) -> dict[str, Any]:
        return {"process": os.getpid(), "table": np.sin(np.arange(9.0) * self.size(state))}

    @cached(prerequisites=(size,), equal=True)
    def rounded(self, state: State) -> float:
        return float(round(self.size(state)))

    @cached(prerequisites=(costly, rounded, shade))
    def light(self, state: State) -> Any:
        return self.costly(state)["table"] * self.shade(state) / self.rounded(state)

    @cached(prerequisites=(size,), shared=True)
    def soil(self, state: State) -> float:
        return math.sqrt(self.size(state))

    @cached(prerequisites=(soil, shade), shared=True)
    def grass(self, state: State) -> float:
        return self.soil(state) / self.shade(state)

    @cached(prerequisites=(flower,))
    def picked(self, state: State) -> dict[str, Any]:
        return {"flower": self.flower(state), "process": os.getpid()}

    @cached(prerequisites=(size,))
    def law(self, state: State) -> Any:
        size = self.size(state)
        return lambda x: x * size

    @cached(prerequisites=(law, height))
    def end(self, state: State) -> float:
        return float(self.law(state)(self.height(state)))


SPRING = Spring()
SYSTEM = System(SPRING, name="spring")
MEADOW = Meadow()
MEADOWS = System(MEADOW)

TABLE = {
    "spring.stiffness": [float(k) for k in range(1, 25)],
    "spring.place": [0.1 * (k % 5) for k in range(24)],
}


def spring(state: State) -> Spring:
    """The spring of the System to which a State belongs, in any process."""
    found: Spring = state.system.get(Spring)
    return found


def energy(state: State) -> float:
    return spring(state).energy(state)


def everything(state: State, member: Member) -> dict[str, Any]:
    """A result of each kind, and one member that fails."""
    if member.index == 5:
        raise StagecacheError("a member", "one that works", f"member {member.index}", "none")
    noise = member.rng().normal(size=3)
    return {
        "energy": spring(state).energy(state),
        "noise": noise,
        "table": noise[:, np.newaxis] * np.ones(2),
        "index": member.index,
        "is_even": member.index % 2 == 0,
        "name": "x" * (member.index % 3),
        "spin": complex(member.index, 1.0),
    }


def meadow(state: State) -> dict[str, Any]:
    """All that a meadow has, and what an update and a write change."""
    found: Meadow = state.system.get(Meadow)
    before = {
        "light": found.light(state),
        "table": found.costly(state)["table"],
        "soil": found.soil(state),
        "grass": found.grass(state),
        "end": found.end(state),
        "is_picked": found.picked(state)["flower"] is found.flower(state),
    }
    state.system.realize(state, Stage.INSTANCE)
    state.auto_update_discrete_variables()
    found.size.set(state, found.size(state) * 1.01)
    return {**before, "last": found.last(state), "after": found.light(state)}


def processes(state: State) -> dict[str, int]:
    """The processes that have computed entries of a meadow."""
    found: Meadow = state.system.get(Meadow)
    picked = found.picked(state)["process"]
    return {"costly": found.costly(state)["process"], "picked": picked, "here": os.getpid()}


def slow(state: State, member: Member) -> float:
    """Sleep a little."""
    time.sleep(0.02)
    return float(member.rng().normal())


def deadly(state: State, member: Member) -> int:
    """End the process at one member."""
    if member.index == 3:
        os._exit(1)
    return member.index


def process(state: State) -> int:
    return os.getpid()


class Counted:
    """Counts how often each member has run, in files of a folder; fails at first."""

    def __init__(self, folder: Path, failures: int = 0) -> None:
        self.folder = folder
        self.failures = failures

    def __call__(self, state: State, member: Member) -> int:
        """Return the number of the attempt."""
        path = self.folder / f"{member.index}"
        with path.open("a") as file:
            file.write("x")
        count = len(path.read_text())
        if count <= self.failures:
            raise ValueError(f"attempt {count}")
        return count
