"""Models whose States have values of all kinds: for fixtures, mutations and killed programs.

Files of format version 1 in `data` were saved by these classes: never change a class that is here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, Flag, auto
from fractions import Fraction
from pathlib import Path
from typing import Final

import numpy as np
from attrs import frozen

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    Trajectory,
    auto_update,
    cached,
    discrete,
    modeling_option,
    parameter,
    position_error,
    q_variable,
    register_value,
    u_variable,
    z_variable,
)
from stagecache.state.handles import Vector
from stagecache.study.trajectory.rows import Rows
from stagecache.study.trajectory.stream import TrajectoryWriter


class Colour(Enum):
    """An enum in a file."""

    RED = "red"
    BLUE = "blue"


class Side(Flag):
    """A flag in a file."""

    LEFT = auto()
    RIGHT = auto()


@frozen
class Material:
    """A frozen class of attrs, with others in it."""

    name: str
    density: float
    colours: tuple[Colour, ...] = ()


@dataclass(frozen=True)
class Part:
    """A frozen dataclass with an attrs class in it."""

    material: Material
    sizes: list[int]


def register() -> None:
    """Register the class of the values that need it."""
    register_value(Fraction, to=_terms, of=lambda terms: Fraction(*terms))


def _terms(fraction: Fraction) -> tuple[int, int]:
    return fraction.numerator, fraction.denominator


OAK: Final = Material("oak", 700.0, (Colour.RED, Colour.BLUE))


def _objects() -> object:
    objects = np.empty((2, 2), object)
    objects[:] = [[1, "two"], [None, (3.0, 4)]]
    return objects


class Values(Subsystem):
    """Values of each kind that can be saved."""

    number = parameter(1.5)
    whole = parameter(3)
    huge = parameter(2**70)
    nan = parameter(float("nan"))
    infinite = parameter(float("-inf"))
    turn = parameter(1.0 - 2.0j)
    is_on = parameter(True)
    text = parameter("naïve ☃ \x00 \U0001f600")
    half = parameter("\ud800")
    raw = parameter(b"\x00\xff")
    nothing = parameter(None)
    colour = parameter(Colour.BLUE)
    sides = parameter(Side.LEFT | Side.RIGHT)
    material = parameter(OAK)
    part = parameter(Part(OAK, [1, 2]))
    third = parameter(Fraction(1, 3))
    items = parameter([1, [2.5, "three"], (None,), {4, 5}, frozenset({6})])
    table = parameter({"a": 1, 2: (3, 4), (5, 6): {"b": OAK}})
    matrix = parameter(np.arange(6.0).reshape(2, 3))
    counts = parameter(np.array([1, 2, 2**62], np.uint64))
    small = parameter(np.array([0.5, np.inf], np.float16))
    turns = parameter(np.array([1 + 2j, -0.0], np.complex128))
    names = parameter(np.array(["ä", "longer"]))
    empty = parameter(np.empty((0, 3)))
    scalar = parameter(np.float32(0.1))
    when = parameter(np.datetime64("2026-11-23T07:00", "s"))
    record = parameter(
        np.array([(1, [0.5, 1.5], "x")], [("n", "<i4"), ("v", "<f8", (2,)), ("s", "<U1")])
    )
    objects = parameter(_objects())
    matrix_of_option = modeling_option(np.eye(2))


class Chain(Subsystem):
    """As many links as an option says, with rates, errors, an auto-update variable and a cache."""

    version = "2"

    num_links = modeling_option(3)
    start = parameter(1.0, unit="rad")
    mode = discrete("slow", invalidates=Stage.DYNAMICS)
    angles = q_variable(factory=lambda self, state: np.full(self.few_links(state), 0.5))
    twist = q_variable(0.25, unit="rad")
    rates = u_variable((0.5, -0.5))
    heat = z_variable(0.125)

    def few_links(self, state: State) -> int:
        """Refuse numbers for which memory would not suffice, as a careful model does."""
        count = self.num_links(state)
        if count > 1000:
            raise ValueError(f"{count} links")
        return count

    @position_error(size=lambda self, state: self.few_links(state))
    def gaps(self, state: State) -> Vector:
        return self.angles(state) - self.start(state)

    @gaps.velocity
    def gap_rates(self, state: State) -> Vector:
        return 2 * self.angles(state)

    farthest = auto_update(0.0, invalidates=Stage.DYNAMICS, available_from=Stage.POSITION)

    @farthest.update(prerequisites=(angles,))
    def next_farthest(self, state: State) -> float:
        return float(self.angles(state).max())

    @cached(prerequisites=(angles, twist))
    def total(self, state: State) -> float:
        return float(self.angles(state).sum() + self.twist(state))


class Rod(Subsystem):
    """Two numbers and an angle."""

    length = parameter(1.0, unit="m")
    mass = parameter(2.0, unit="kg")
    angle = q_variable(0.1, unit="rad")


class Springs(Subsystem):
    """Families of parameters and coordinates."""

    stiffness = parameter(factory=lambda self, i: 10.0 * (i + 1), count=4)
    place = q_variable(0.5, count=5)


def values_state() -> State:
    """Return a State with values of all kinds."""
    register()
    system = System(Values(), name="values")
    state = system.new_state()
    system.realize(state, Stage.INSTANCE)
    return state


def chain_state() -> State:
    """Return a State in which all was written, with weights, versions and a valid cache."""
    chain, other = Chain(), Rod()
    system = System(chain, other, name="chain", version="1.4")
    state = system.new_state()
    system.realize_topology()
    chain.num_links.set(state, 4)
    system.realize_model(state)
    state.time = 0.75
    chain.start.set(state, 1.25)
    chain.mode.set(state, "fast")
    chain.angles.set(state, [0.1, -0.0, 1e-300, 4.0])
    other.angle.set(state, 2.5)
    system.realize(state, Stage.INSTANCE)
    state.u_weights = [2.0, 3.0]
    state.qerr_weights = [1.0, 2.0, 1.0, 1.0]
    system.realize(state, Stage.ACCELERATION)
    chain.total(state)
    return state


def rod_state() -> State:
    """Return a small State before Model, that was never realized."""
    rod = Rod()
    state = System(rod, name="rod").new_state()
    rod.length.set(state, 0.5)
    return state


def springs_state() -> State:
    """Return a State of families and of two subsystems of one class."""
    first, second = Springs(), Springs()
    system = System(first, second, name="springs")
    state = system.new_state()
    system.realize(state, Stage.POSITION)
    second.stiffness[2].set(state, -1.0)
    return state


RECORD: Final = ("chain.total", "chain.gaps")
"""Entries in the trajectory."""


def chain_trajectory(first: int = 0, rows: int = 8) -> Trajectory:
    """Return rows in which all that can change between rows does."""
    state = chain_state()
    assert state.system is not None
    chain = state.system.subsystem("chain")
    assert isinstance(chain, Chain)
    trajectory = Trajectory(state, RECORD)
    for row in range(first, first + rows):
        state.time = 0.75 + row / 8
        chain.angles.set(state, [row / 4, -0.0, 1e-300, 4.0])
        chain.start.set(state, 1.5 + row // 5)
        chain.mode.set(state, ("fast", "slow")[row % 3 == 0])
        trajectory.append(state)
    return trajectory


def write_trajectory(path: Path) -> None:
    """Write a file of three batches of rows; after the second, a run could go on."""
    writer = TrajectoryWriter(path, RECORD, {"about": "a fixture"})
    for batch in range(3):
        rows = chain_trajectory(8 * batch)._kept
        assert isinstance(rows, Rows)
        writer.write(rows, b"restart" if batch == 1 else None)
    writer.close()


STATES: Final[dict[str, Callable[[], State]]] = {
    "values": values_state,
    "chain": chain_state,
    "rod": rod_state,
    "springs": springs_state,
}
"""Functions that make a State, by the name of their fixture."""
