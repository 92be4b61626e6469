"""Programs: lists of operations that fit a System.

A *sweep* writes all variables in any order, each while everything is realized. A *walk* is of any
operations. *Turns* realize two States in turn.

Half of the walks first draw the kinds of operations and the variables that they have (*swarm
testing*; Groce and others, 2012). A fault may need that something does not happen: an invalidation
of Model, for instance, makes stale what would have been wrong.

Hypothesis draws the values. What is done with them is chosen by random numbers that follow from
these: of the programs that Hypothesis draws, most are an earlier one in which one part is the copy
of another, and so would differ from it by one write only.
"""

from collections.abc import Callable
from random import Random
from typing import Any, Final

from attrs import evolve, frozen
from hypothesis import strategies as st

from stagecache.state.stage import Stage
from stagecache.state.vectors.vectors import CONTINUOUS
from stagecache.testing.items import TIME, Item
from stagecache.testing.programs.files import SaveAndLoad
from stagecache.testing.programs.interrupts import Interrupt
from stagecache.testing.programs.inventory import Inventory
from stagecache.testing.programs.operation import (
    AbstractOperation,
    AutoUpdate,
    Copy,
    Invalidate,
    MakeMark,
    ReadAll,
    ReadEntry,
    Realize,
    RollBack,
)
from stagecache.testing.programs.threads import ReadInThreads
from stagecache.testing.programs.writes import (
    NEAR,
    PRESENT,
    Related,
    SetTime,
    SetVariable,
    SetVector,
)

Program = list[AbstractOperation]

MOST_STEPS: Final = 30
MOST_SWEPT: Final = 12
MOST_TURNS: Final = 8
MOST_BLOCKS: Final = 4  # of a vector that one write changes
MOST_SEEDS: Final = 2**32
NUM_VALUES: Final = 2  # of a variable, for one program
BACKWARDS: Final = 0.3  # how often entries are read in the opposite order
READ_BEFORE: Final = 0.5  # how often a sweep reads right after a write
INTERRUPTED: Final = 0.5  # how often an interrupted computation follows in a sweep
UPDATED_FIRST: Final = 0.5
WITH_ALL: Final = 0.5  # how often a walk has all kinds of operations, and all variables
COSTLY: Final = 0.3  # how often a program writes a costly variable, where there are some
SCALARS: Final = (bool, int, float, str, Related)
STATES: Final = (0, 0, 0, 1, 2)  # most often the first
MOST_PLACES: Final = 12  # where an interrupt strikes at the latest
MOST_PLACES_OF_READ: Final = 5
REALIZED: Final = (
    *(Stage.REPORT, Stage.ACCELERATION, Stage.REPORT, Stage.VELOCITY, Stage.POSITION),
    *(Stage.DYNAMICS, Stage.TIME, Stage.INSTANCE, Stage.MODEL),
)
INVALIDATED: Final = tuple(Stage)[Stage.MODEL : Stage.INFINITY]
ALL_KINDS: Final = frozenset(
    {
        *("invalidate", "copy", "mark", "go_back", "variable", "related", "vector", "weights"),
        *("update", "time", "read_all", "read_one", "realize", "realize_and_read"),
        *("save_and_load", "interrupt", "read_in_threads"),
    }
)


@frozen(eq=False)
class Composer:
    """Makes operations.

    Attributes
    ----------
    has : Inventory
    random : random.Random
        Source of choices.
    value : callable
        Returns a value for an item.
    variables : list of Item
        Variables to write.
    writes_time : bool
        False if the time is costly, and another variable is the one that is written.
    swarm : frozenset of str
        Kinds of operations, by the names of methods, that a walk has; others if it has none of
        these.
    """

    has: Inventory
    random: Random
    value: Callable[[Item], Any]
    variables: list[Item]
    writes_time: bool = True
    swarm: frozenset[str] = ALL_KINDS

    # ------------------------------------------------------------------ single operations

    def change(self) -> Program:
        """Kinds of operations that change a State, repeated by their use."""
        where = self.random.choice(STATES)
        kinds: list[Callable[[int], Program]] = [
            self.invalidate,
            self.copy,
            self.mark,
            self.go_back,
        ]
        kinds += [self.variable] * 8 + [self.related] * 2 if self.variables else []
        kinds += [self.vector] * 2 if self.has.vectors and self.variables else []
        kinds += [self.weights] if self.has.weights else []
        kinds += [self.update] * 2 if self.has.has_auto_update else []
        kinds += [self.save_and_load] if self.has.can_be_saved else []
        return self._one_of([*kinds, self.time])(where)

    def look(self) -> Program:
        """Kinds of operations that compute something in a State."""
        where = self.random.choice(STATES)
        kinds: list[Callable[[int], Program]] = [self.read_all] * 4
        kinds += [self.read_one] * 4 if self.has.entries else []
        kinds += [self.realize, self.realize, self.realize_and_read]
        kinds += [self.read_in_threads] * 2 if self.has.reads_in_threads else []
        return self._one_of([*kinds, self.interrupt, self.interrupt])(where)

    def _one_of(self, kinds: list[Callable[[int], Program]]) -> Callable[[int], Program]:
        """Choose one of the kinds that the swarm has, or of all if it has none of them."""
        return self.random.choice([k for k in kinds if k.__name__ in self.swarm] or kinds)

    def read_all(self, where: int) -> Program:
        """Read all entries."""
        return [ReadAll(where=where, backwards=self._chance(BACKWARDS))]

    def read_one(self, where: int) -> Program:
        """Read one entry."""
        return [ReadEntry(self.random.choice(self.has.entries), where=where)]

    def realize(self, where: int) -> Program:
        """Realize a stage."""
        return [Realize(self.random.choice(REALIZED), where=where)]

    def realize_and_read(self, where: int) -> Program:
        """Realize a stage, and read all entries."""
        return [*self.realize(where), *self.read_all(where)]

    def variable(self, where: int) -> Program:
        """Write a variable."""
        return self.write(self.random.choice(self.variables), where)

    def write(self, item: Item, where: int) -> Program:
        """Write a certain variable."""
        value = self.value(item)
        in_place = item.kind != "discrete" or not isinstance(value, SCALARS)
        return [SetVariable(item, value, in_place and self._chance(0.5), where=where)]

    def related(self, where: int) -> Program:
        """Write the value again that a variable has, or one that is near to it."""
        item = self.random.choice(self.variables)
        is_kept = item in self.has.given or item in self.has.costly
        value = PRESENT if is_kept else self.random.choice((PRESENT, NEAR))
        return [SetVariable(item, value, where=where)]

    def vector(self, where: int) -> Program:
        """Write some blocks of a vector of variables."""
        name, x = self.random.choice(self.has.vectors)
        kinds = tuple(CONTINUOUS) if name == "y" else (name,)
        items = [i for i in self.variables if i.kind in kinds and x in (None, i.subsystem)]
        chosen = self.random.sample(items, min(len(items), self.random.randint(0, MOST_BLOCKS)))
        blocks = tuple((item, self.value(item)) for item in chosen)
        return [SetVector(name, x, blocks=blocks, in_place=self._chance(0.5), where=where)]

    def weights(self, where: int) -> Program:
        """Write some weights."""
        return self.weights_of(*self.random.choice(self.has.weights), where)

    def weights_of(self, name: str, subsystem: int | None, where: int) -> Program:
        """Write certain weights; none where each of them would be computed with at a high cost."""
        if self.has.costly:
            return []
        count = self.random.randint(1, 3)
        values = tuple(round(self.random.uniform(0, 10), 2) for _ in range(count))
        in_place = self._chance(0.5)
        return [SetVector(name, subsystem, values=values, in_place=in_place, where=where)]

    def time(self, where: int) -> Program:
        """Write the time."""
        if not self.writes_time:
            return []
        return [SetTime(float(self.value(TIME)), self._chance(0.5), where=where)]

    def update(self, where: int) -> Program:
        """Exchange auto-update variables."""
        return [AutoUpdate(where=where)]

    def invalidate(self, where: int) -> Program:
        """Take a State back to before a stage."""
        return [Invalidate(self.random.choice(INVALIDATED), where=where)]

    def copy(self, where: int) -> Program:
        """Copy a State."""
        return [Copy(self._chance(0.5), where=where)]

    def mark(self, where: int) -> Program:
        """Make a checkpoint."""
        return [MakeMark(where=where)]

    def go_back(self, where: int) -> Program:
        """Go back to a checkpoint."""
        return [RollBack(where=where)]

    def save_and_load(self, where: int) -> Program:
        """Save a State, and go on with what is loaded, or with both."""
        return [SaveAndLoad(self._chance(0.5), self._chance(0.5), where=where)]

    def interrupt(self, where: int) -> Program:
        """Cut a read or a realization short; none where that may cost an expensive computation."""
        if self.has.costly:
            return []
        if self.has.entries and self._chance(0.5):
            read = ReadEntry(self.random.choice(self.has.entries), where=where)
            return [Interrupt(read, self.random.randint(0, MOST_PLACES_OF_READ))]
        realize = Realize(self.random.choice(REALIZED), where=where)
        return [Interrupt(realize, self.random.randint(0, MOST_PLACES))]

    def read_in_threads(self, where: int) -> Program:
        """Read all entries in threads."""
        return [ReadInThreads(where=where)]

    def _chance(self, probability: float) -> bool:
        return self.random.random() < probability

    # ------------------------------------------------------------------ programs

    def program(self, max_steps: int) -> Program:
        """Return a sweep, a walk or turns."""
        return self.random.choice((self.sweep, self.walk, self.turns))(max_steps)

    def sweep(self, max_steps: int) -> Program:
        """Return all that can be written, in any order, and each while everything is realized."""
        items = self.variables[:max_steps]
        if items:
            items += self.random.choices(items, k=min(MOST_SWEPT, max_steps) - len(items))
        writes = [self.write(item, 0) for item in items] + [self.time(0)]
        writes += [self.vector(0)] if self.has.vectors and items else []
        writes += [self.related(0) for _ in range(3 if items else 0)]
        writes += [self.weights_of(*weights, 0) for weights in self.has.weights[:MOST_SWEPT]]
        updates = [self.update(0)] if self.has.has_auto_update else []
        writes += updates * 3
        self.random.shuffle(writes)
        found: Program = []
        for write in [*(updates if self._chance(UPDATED_FIRST) else []), *writes]:
            found += [Realize(), *self.read_all(0), *write]
            found += self.interrupt(0) if self._chance(INTERRUPTED) else []
            found += [ReadAll()] if self._chance(READ_BEFORE) else []
        return [*found, ReadAll()]

    def walk(self, max_steps: int) -> Program:
        """Operations of any State: what changes something, and what computes, in turn."""
        one = self._swarming()
        found: Program = [Realize(), ReadAll()] if self._chance(0.5) else []
        for _ in range(self.random.randint(max_steps // 3, max_steps)):
            found += [*one.change(), *one.look()]
        return found

    def _swarming(self) -> "Composer":
        """Choose the kinds of operations and the variables of a walk; at times, it has all."""
        if self._chance(WITH_ALL):
            return self
        kinds = frozenset(kind for kind in sorted(ALL_KINDS) if self._chance(0.5))
        count = self.random.randint(min(1, len(self.variables)), len(self.variables))
        return evolve(self, swarm=kinds, variables=self.random.sample(self.variables, count))

    def turns(self, max_steps: int) -> Program:
        """Two States in turn, with other variables: nothing of one may get into the other."""
        found: Program = [Realize(), Copy()]
        for _ in range(self.random.randint(2, max(2, min(MOST_TURNS, max_steps // 2)))):
            for where in (1, 0):
                write = self.variable if self.variables else self.time
                found += [*write(where), Realize(where=where)]
        return found

    def scout(self, entry: Item, others: list[Item]) -> Program:
        """Write all variables at once on which an entry must not depend: it is not computed again.

        So one computation, in a fresh State, judges them all.
        """
        writes = [self.write(item, 0) if item != TIME else self.time(0) for item in others]
        look = [Realize(), ReadEntry(entry)]
        return [*look, *(operation for write in writes for operation in write), *look]


@st.composite
def programs(draw: st.DrawFn, has: Inventory, max_steps: int = MOST_STEPS) -> Program:
    """Return programs for a System."""
    if has.scout is not None:
        entry, others = has.scout
        values = {item: has.other_value(item, draw) for item in others}
        return Composer(has, Random(0), values.__getitem__, others).scout(entry, others)
    choice = Random(draw(st.integers(0, MOST_SEEDS)))
    cheap = [item for item in has.variables if item not in has.costly]
    chosen = choice.sample(cheap, min(len(cheap), MOST_SWEPT))
    stock = {item: [draw(has.values[item]) for _ in range(NUM_VALUES)] for item in (TIME, *chosen)}
    writes_time = TIME not in has.costly
    if has.costly and has.writes_costly and (not chosen or choice.random() < COSTLY):
        costly = choice.choice(sorted(has.costly, key=str))
        stock[costly] = [has.costly_value(costly, draw)]
        writes_time = writes_time or costly == TIME
        chosen += [costly] if costly != TIME else []
    random = Random(repr(stock))
    composer = Composer(has, random, lambda item: random.choice(stock[item]), chosen, writes_time)
    return composer.program(max_steps)


@st.composite
def steps(draw: st.DrawFn, has: Inventory, *, changing: bool) -> Program:
    """Draw an operation that changes a State, or that computes something in one."""
    random = draw(st.randoms(use_true_random=False))
    composer = Composer(has, random, lambda item: draw(has.values[item]), has.variables)
    return composer.change() if changing else composer.look()
