"""What the states of the model consist of: variables, entries, subsystems, shared vectors."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TypeAlias

from tests.oracle.grammar import (
    ACCELERATION,
    DYNAMICS,
    EMPTY,
    INSTANCE,
    MODEL,
    POSITION,
    REPORT,
    STAGES,
    VELOCITY,
    Block,
    Key,
)

Pool: TypeAlias = str | int  # q, u, z, qerr, uerr, udoterr; or the stage of event triggers
POOLS: tuple[Pool, ...] = ("q", "u", "z", "qerr", "uerr", "udoterr", *range(len(STAGES)))


@dataclass
class DiscreteVariable:
    """A discrete variable; `update` is the index of its update entry, -1 if it has none."""

    alloc: int  # the stage that was being realized when it was allocated
    invalidates: int
    value: float
    update: int = -1
    version: int = 1
    time: float = math.nan  # of the last write
    changed: int = 0  # tick of the last write
    dependents: list[Key] = field(default_factory=list)


@dataclass
class CacheEntry:
    """A cache entry and its explicit prerequisites."""

    key: Key
    alloc: int
    earliest: int
    latest: int
    value: float
    variables: list[str] = field(default_factory=list)  # of q, u and z
    discrete: list[Key] = field(default_factory=list)
    entries: list[Key] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    allocated: int = 0  # tick
    marked: int = 0  # tick of the last mark, 0 for never
    voided: int = 0  # tick of the last explicit invalidation of this very entry
    version: int = 1
    computed_version: int = 0  # version of the earliest stage when it was marked, 0 if invalidated
    dependents: list[Key] = field(default_factory=list)


@dataclass
class Subsystem:
    """What is allocated in a subsystem, stacked, and the stage that it has reached."""

    name: str = ""
    version: str = ""
    stage: int = EMPTY
    versions: list[int] = field(default_factory=lambda: [1] * len(STAGES))
    reached: list[int] = field(default_factory=lambda: [0] * len(STAGES))  # ticks
    bumped: list[int] = field(default_factory=lambda: [0] * len(STAGES))  # ticks: valid, then not
    # Each allocation is (alloc, initial values).
    pools: dict[Pool, list[tuple[int, list[float]]]] = field(
        default_factory=lambda: {pool: [] for pool in POOLS}
    )
    variables: list[DiscreteVariable] = field(default_factory=list)
    entries: list[CacheEntry] = field(default_factory=list)

    def initial(self, pool: Pool) -> list[float]:
        """Initial values of all that is allocated in a pool."""
        return [value for _, values in self.pools[pool] for value in values]


@dataclass(frozen=True)
class Vector:
    """A vector that all subsystems share, or a part of one."""

    storage: str
    begin: str = ""  # where in the storage it begins: at its start, or at q, u, z, qerr or uerr
    partition: str = ""  # the pool by which it is partitioned, "" if it is not
    read: int = MODEL  # the stage that a reader needs
    alloc: int = MODEL  # the stage with which it comes to be
    invalidates: int | None = None  # what a write invalidates, None for a cache


VECTORS = {
    "y": Vector("y", invalidates=POSITION),
    "q": Vector("y", "q", "q", invalidates=POSITION),
    "u": Vector("y", "u", "u", invalidates=VELOCITY),
    "z": Vector("y", "z", "z", invalidates=DYNAMICS),
    "uWeights": Vector("uWeights", "", "u", invalidates=REPORT),
    "zWeights": Vector("zWeights", "", "z", invalidates=REPORT),
    "qerrWeights": Vector("qerrWeights", "", "qerr", INSTANCE, INSTANCE, POSITION),
    "uerrWeights": Vector("uerrWeights", "", "uerr", INSTANCE, INSTANCE, VELOCITY),
    "ydot": Vector("ydot", read=ACCELERATION),
    "qdot": Vector("ydot", "q", "q", VELOCITY),
    "udot": Vector("ydot", "u", "u", ACCELERATION),
    "zdot": Vector("ydot", "z", "z", DYNAMICS),
    "qdotdot": Vector("qdotdot", "", "q", ACCELERATION),
    "yerr": Vector("yerr", read=VELOCITY, alloc=INSTANCE),
    "qerr": Vector("yerr", "qerr", "qerr", POSITION, INSTANCE),
    "uerr": Vector("yerr", "uerr", "uerr", VELOCITY, INSTANCE),
    "udoterr": Vector("udoterr", "", "udoterr", ACCELERATION, INSTANCE),
    "multipliers": Vector("multipliers", "", "udoterr", ACCELERATION, INSTANCE),
}
