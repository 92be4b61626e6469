"""The State that is measured for cost, with entries below q or u and at stages Position or Time.

::

    q        u        z         Time - Position - Velocity - Dynamics - ...
    |        |        |          |        |
    e, e...  e, e...  beside     e, e...  e, e...

A write of q invalidates Position, and with it what is below q, what is at Position and what is at
any later stage. What is below u or at Time stays valid. (It would not at Dynamics, which a write of
z invalidates, since Dynamics comes after Position.)

`simbody/state.cpp` does the same to Simbody's State; the two read alike.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, final

import numpy as np

from benchmarks.errors import WrongValidityError
from stagecache import Stage, State
from stagecache.state import CacheEntry

THREE: Final = (1.0, 1.0, 1.0)
Entries = list[CacheEntry[Any]]


@final
class Subject:
    """A State of one subsystem, and its entries in the order in which they are marked.

    Attributes
    ----------
    state : State
    subsystem : SubsystemState
    discrete : DiscreteVariable
        Invalidates Position.
    beside : CacheEntry
        Below z.
    others, dependents : list of CacheEntry
        What a write of q leaves valid, and what it makes invalid.
    """

    def __init__(self) -> None:
        self.state = State()
        self.subsystem = self.state[self.state.add_subsystem()]
        self.subsystem.allocate_q(THREE)
        self.subsystem.allocate_u(THREE)
        self.subsystem.allocate_z(THREE)
        self.discrete = self.subsystem.allocate_discrete_variable(Stage.POSITION, 1.0)
        self.others: Entries = []
        self.dependents: Entries = []
        self.beside = self.below("z")

    def below(self, variable: str) -> CacheEntry[Any]:
        """Allocate an entry that has q, u or z as its prerequisite, and needs no stage."""
        prerequisites = (self.state.variable(variable),)
        return self.subsystem.allocate_cache_entry_with_prerequisites(
            Stage.TOPOLOGY, Stage.INFINITY, prerequisites, 0.0
        )

    def lazy(self, stage: Stage) -> CacheEntry[Any]:
        """Allocate an entry that depends on a stage."""
        return self.subsystem.allocate_lazy_cache_entry(stage, 0.0)

    def fill_below(self, size: int, below_q: int) -> None:
        """Allocate entries below q or u, of which the first so many are below q."""
        self.dependents += [self.below("q") for _ in range(below_q)]
        self.others += [self.below("u") for _ in range(below_q, size)]

    def fill_lazy(self, size: int, at_position: int) -> None:
        """Allocate lazy entries at Position or Time, of which the first so many are at Position."""
        self.dependents += [self.lazy(Stage.POSITION) for _ in range(at_position)]
        self.others += [self.lazy(Stage.TIME) for _ in range(at_position, size)]

    def realize(self, up_to: Stage = Stage.REPORT) -> None:
        """Let the subsystem and the State reach that stage, one after the other."""
        for stage in list(Stage)[self.state.stage + 1 : up_to + 1]:
            if self.subsystem.stage < stage:
                self.subsystem.advance_to_stage(stage)
            self.state.advance_to_stage(stage)

    def mark_all(self) -> None:
        """Realize Report, and mark all entries: those that a write of q makes invalid last."""
        self.realize()
        state = self.state
        for entry in self.others:
            entry.mark_valid(state)
        for entry in self.dependents:
            entry.mark_valid(state)

    def write_beside(self) -> None:
        """Write z some times, realizing and marking what depends on it: nothing here does."""
        for _ in range(20):
            self.state.upd_z()
            self.realize()
            self.beside.mark_valid(self.state)

    def require(self, entries: Sequence[CacheEntry[Any]], valid: bool, where: str) -> None:
        """Raise `WrongValidityError` unless all of these entries are valid, or none of them is."""
        found = sum(entry.is_valid(self.state) for entry in entries)
        expected = len(entries) if valid else 0
        if found != expected:
            all_of_them = f"of {len(entries):,} entries"
            raise WrongValidityError(
                where, f"{expected:,} {all_of_them}", f"{found:,} {all_of_them}"
            )


def writing(
    size: int, dependents: int, *, cold: bool = False, assigned: bool = False
) -> tuple[Callable[[int], object], Callable[[int], object]]:
    """Return what prepares a write of q, and what writes it, in a State of twice `size` entries.

    So many of those below q or u are below q, and as many of the lazy ones at Position. All
    are marked before the write, however many depend on q: that sweeps the processor's cache alike.
    Then z is written some times, unless the write is to be cold, so that what is measured is the
    write, and not the wait for memory that all these marks swept from the cache. Where assigned,
    q is written by `state.q = q`, and by `upd_q()` otherwise.
    """
    subject = Subject()
    subject.fill_below(size, dependents)
    subject.fill_lazy(size, dependents)
    state, q = subject.state, np.array(THREE)
    upd_q = state.upd_q

    def prepare(_number: int) -> None:
        subject.mark_all()
        if not cold:
            subject.write_beside()

    def update(_number: int) -> None:
        upd_q()

    def assign(_number: int) -> None:
        state.q = q

    write = assign if assigned else update
    prepare(0)
    subject.require(subject.others, True, "before a write of q")
    subject.require(subject.dependents, True, "before a write of q")
    write(0)
    subject.require(subject.others, True, "after a write of q")
    subject.require(subject.dependents, False, "after a write of q")
    return prepare, write


def going_back(size: int) -> Callable[[], object]:
    """Return what makes a checkpoint, writes q, and goes back: so many entries are valid again."""
    subject = Subject()
    subject.fill_below(size, size)
    subject.mark_all()
    state = subject.state

    def go_back() -> None:
        mark = state.checkpoint()
        state.upd_q()
        state.rollback(mark)
        mark.release()

    go_back()
    subject.require(subject.dependents, True, "after going back")
    return go_back


def copying(
    size: int, *, keep_cache: bool = False
) -> tuple[Callable[[int], object], Callable[[int], object]]:
    """Return what marks so many entries below q, and what copies their State then.

    The copy is kept until the next is prepared, so that freeing it is not measured.
    """
    subject = Subject()
    subject.fill_below(size, size)
    twins: list[State] = []

    def prepare(_number: int) -> None:
        twins.clear()
        subject.mark_all()

    def copy(_number: int) -> None:
        twins.append(subject.state.copy(keep_cache=keep_cache))

    return prepare, copy


def allocating(size: int) -> tuple[Callable[[int], object], Callable[[int], object]]:
    """Return what makes a State, and what allocates so many entries below q in it."""
    subjects: list[Subject] = []

    def prepare(_number: int) -> None:
        subjects[:] = [Subject()]

    def allocate(_number: int) -> None:
        (subject,) = subjects
        allocate_entry = subject.subsystem.allocate_cache_entry_with_prerequisites
        q = subject.state.variable("q")
        topology, infinity = Stage.TOPOLOGY, Stage.INFINITY  # slow to look up, in Python 3.11
        for _ in range(size):
            allocate_entry(topology, infinity, (q,), 0.0)

    return prepare, allocate


def advancing(subsystems: int) -> tuple[Callable[[int], object], Callable[[int], object]]:
    """Return what goes back to Time, and what advances each subsystem to Position.

    Each has an entry at Position. There are many of them since a single advance is too short to
    be timed.
    """
    state = State()
    partitions = [state[state.add_subsystem()] for _ in range(subsystems)]
    for partition in partitions:
        partition.allocate_lazy_cache_entry(Stage.POSITION, 0.0)
    for stage in list(Stage)[Stage.TOPOLOGY : Stage.POSITION + 1]:
        for partition in partitions:
            partition.advance_to_stage(stage)
        state.advance_to_stage(stage)

    def prepare(_number: int) -> None:
        state.invalidate_all(Stage.POSITION)

    def advance(_number: int) -> None:
        for partition in partitions:
            partition.advance_to_stage(Stage.POSITION)

    return prepare, advance
