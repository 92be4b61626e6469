"""Models and functions of studies, which workers in other processes import."""

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


SPRING = Spring()
SYSTEM = System(SPRING, name="spring")

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
