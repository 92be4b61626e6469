"""A state without any cleverness: it walks everything, at every question.

Each change gets the tick of a clock that never goes back. Whether an entry is realized is decided
by comparing the tick of its mark with those of all that lies upstream of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TypeVar

from tests.oracle.grammar import (
    DYNAMICS,
    EMPTY,
    INFINITY,
    INSTANCE,
    MODEL,
    STAGES,
    TOPOLOGY,
    WHOLE,
    Block,
    Key,
    require,
)
from tests.oracle.model_items import (
    VECTORS,
    CacheEntry,
    DiscreteVariable,
    Pool,
    Subsystem,
)
from tests.oracle.quirks import Quirk

T = TypeVar("T")

INSTANCE_VECTORS = ("yerr", "qerrWeights", "uerrWeights", "udoterr", "multipliers", "triggers")


class ModelState:
    """One state. A subsystem is given by its index, the whole system by None.

    Parameters
    ----------
    quirks
        The departures of the real library that are on.
    clock
        A list of one item, the last tick, shared by all states of a model.
    """

    def __init__(self, quirks: frozenset[Quirk], clock: list[int]) -> None:
        self.quirks, self.clock = quirks, clock
        self.stage, self.time = EMPTY, math.nan
        self.subsystems: list[Subsystem] = []
        self.versions = [1] * len(STAGES)
        self.touched = [0] * len(STAGES)  # tick of the last change, whatever the stages then were
        self.value_versions = dict.fromkeys("quz", 1)
        self.changed = dict.fromkeys("quz", 0)  # ticks
        self.block_changed: dict[Block, int] = {}
        self.dependents: dict[str, list[Key]] = {v: [] for v in "quz"}
        self.vectors: dict[str, list[float]] = {}
        self.sizes: dict[Pool, int] = {}
        self.parts: dict[tuple[Pool, int], tuple[int, int]] = {}  # (start, size)

    def tick(self) -> int:
        self.clock[0] += 1
        return self.clock[0]

    # ------------------------------------------------------------------ graph

    def variable(self, key: Key) -> DiscreteVariable:
        return _at([s.variables for s in self.subsystems], key)

    def entry(self, key: Key) -> CacheEntry:
        return _at([s.entries for s in self.subsystems], key)

    def block_alloc(self, block: Block) -> int:
        """The stage that was being realized when a block was allocated; of a whole, 0."""
        v, sx, number = block
        require(v in ("q", "u", "z"), "Syntax")
        if number == WHOLE:
            require(0 <= sx < len(self.subsystems), "IndexOutOfRange")
            return 0
        return _at([s.pools[v] for s in self.subsystems], (sx, number))[0]

    def upstream(self, entry: CacheEntry) -> Iterable[CacheEntry]:
        """All entries it depends on, itself included."""
        found: dict[Key, CacheEntry] = {}
        todo = [entry]
        while todo:
            e = todo.pop()
            if e.key not in found:
                found[e.key] = e
                todo += [self.entry(key) for key in e.entries]
        return found.values()

    def register(self, entry: CacheEntry) -> None:
        """List an entry with all that it depends on directly, which must exist."""
        for block in entry.blocks:
            self.block_alloc(block)
        for v in entry.variables:
            self.dependents[v].append(entry.key)
        for key in entry.discrete:
            self.variable(key).dependents.append(entry.key)
        for key in entry.entries:
            self.entry(key).dependents.append(entry.key)

    def unregister(self, entry: CacheEntry) -> None:
        for v in entry.variables:
            self.dependents[v].remove(entry.key)
        for sx, index in entry.discrete:
            if index < len(self.subsystems[sx].variables):
                self.variable((sx, index)).dependents.remove(entry.key)
        for sx, index in entry.entries:
            if index < len(self.subsystems[sx].entries):
                self.entry((sx, index)).dependents.remove(entry.key)

    # ------------------------------------------------------------------ validity

    def is_valid(self, entry: CacheEntry) -> bool:
        sub, earliest = self.subsystems[entry.key[0]], entry.earliest
        if sub.stage < earliest:
            return False
        at_latest = sub.stage >= entry.latest
        since = max(entry.marked, sub.reached[entry.latest] if at_latest else 0)
        if since <= entry.allocated:
            return False
        above = list(self.upstream(entry))
        if Quirk.UPSTREAM_STAGE_IGNORED not in self.quirks and any(
            self.subsystems[e.key[0]].stage < e.earliest for e in above
        ):
            return False

        # The stage.
        if Quirk.COPY_RESURRECTS in self.quirks:
            if not at_latest and sub.versions[earliest] != entry.computed_version:
                return False
        elif sub.bumped[earliest] > since:
            return False
        if Quirk.EARLY_MARK_SURVIVES not in self.quirks and self.touched[earliest] > since:
            return False

        # What was written, and what was invalidated explicitly.
        written = [self.changed[v] for e in above for v in e.variables]
        written += [self.variable(key).changed for e in above for key in e.discrete]
        written += [self.block_changed.get(block, 0) for e in above for block in e.blocks]
        voided = [e.voided for e in above]
        if not (at_latest and Quirk.LATEST_HIDES_WRITE in self.quirks) and any(
            tick > since for tick in written
        ):
            return False
        return (at_latest and Quirk.LATEST_HIDES_UNMARK in self.quirks) or max(voided) <= since

    def mark(self, entry: CacheEntry) -> None:
        sub = self.subsystems[entry.key[0]]
        require(sub.stage >= entry.earliest - 1)
        entry.marked = self.tick()
        entry.computed_version = sub.versions[entry.earliest]

    def unmark(self, entry: CacheEntry) -> None:
        entry.voided = self.tick()
        self.count_invalidation(entry)

    def count_invalidation(self, entry: CacheEntry) -> None:
        """Change the numbers that the real library reports; validity goes by ticks."""
        entry.computed_version = 0
        entry.version += 1
        for key in entry.dependents:
            self.count_invalidation(self.entry(key))

    def note_write(self, v: str, blocks: list[Block] | None = None) -> None:
        """q, u or z was written: these blocks of it, or all."""
        self.value_versions[v] += 1
        self.note_change(v, blocks)

    def note_change(self, v: str, blocks: list[Block] | None = None) -> None:
        self.changed[v] = self.tick()
        for block in self.blocks(v) if blocks is None else blocks:
            self.block_changed[block] = self.changed[v]
        for key in self.dependents[v]:
            self.count_invalidation(self.entry(key))

    def blocks(self, v: str, subsystem: int | None = None) -> list[Block]:
        """The blocks of q, u or z, and the wholes of subsystems."""
        return [
            (v, sx, number)
            for sx, sub in enumerate(self.subsystems)
            if subsystem in (None, sx)
            for number in (WHOLE, *range(len(sub.pools[v])))
        ]

    # ------------------------------------------------------------------ stages

    def invalidate(self, g: int, is_write: bool) -> None:
        """Back every subsystem and the system up to g-1.

        A write counts as a change of the stages from g up even where they are not reached;
        an explicit invalidation of a stage that nobody has reached does nothing.
        """
        is_reached = self.stage >= g or any(s.stage >= g for s in self.subsystems)
        if is_write or is_reached:
            now = self.tick()
            self.touched[g:] = [now] * (len(STAGES) - g)
        self.invalidate_system(g)
        for sub in self.subsystems:
            self.back_up(sub, g - 1)
        if is_reached and Quirk.PENDING_SURVIVES not in self.quirks:
            for sub in self.subsystems:
                self.forget(sub, g - 1)

    def invalidate_system(self, g: int) -> None:
        if self.stage < g:
            return
        if self.stage >= INSTANCE >= g:
            for name in INSTANCE_VECTORS:
                self.vectors.pop(name, None)
            self.parts = {k: part for k, part in self.parts.items() if k[0] in ("q", "u", "z")}
        if self.stage >= MODEL >= g:
            self.vectors, self.parts, self.sizes = {}, {}, {}
            for v in "quz":
                self.note_write(v)
        if g <= TOPOLOGY:
            self.time = math.nan
        for h in range(g, self.stage + 1):
            self.versions[h] += 1
        self.stage = g - 1

    def back_up(self, sub: Subsystem, g: int) -> None:
        if sub.stage <= g:
            return
        now = self.tick()
        for h in range(g + 1, sub.stage + 1):
            sub.versions[h] += 1
            sub.bumped[h] = now
        self.forget(sub, g)
        sub.stage = g
        if g == EMPTY and Quirk.SS_VERSIONS_RESET in self.quirks:
            sub.versions = [1] * len(STAGES)

    def forget(self, sub: Subsystem, g: int) -> None:
        """Forget everything allocated while a stage above g was being realized."""
        while sub.entries and sub.entries[-1].alloc > g:
            self.unregister(sub.entries.pop())
        for stack in sub.pools.values():
            while stack and stack[-1][0] > g:
                stack.pop()
        while sub.variables and sub.variables[-1].alloc > g:
            sub.variables.pop()

    def check_reachable(self, g: int) -> None:
        """Refuse to advance to a stage that none can be at."""
        if Quirk.INFINITY_CAN_BE_REACHED not in self.quirks:
            require(g != INFINITY, "StageOutOfRange")

    def advance_subsystem(self, sx: int, g: int) -> None:
        self.check_reachable(g)
        sub = self.subsystems[sx]
        require(g != EMPTY and sub.stage == g - 1, "AssertAbort")
        sub.stage = g
        sub.reached[g] = self.tick()

    def advance_system(self, g: int) -> None:
        self.check_reachable(g)
        is_next = g != EMPTY and self.stage == g - 1
        require(is_next and all(s.stage >= g for s in self.subsystems), "AssertAbort")
        if g == TOPOLOGY:
            self.time = 0.0
        elif g == MODEL:
            self.lay_out("q", "u", "z")
            nq, nu, nz = (self.sizes[v] for v in "quz")
            y = [value for v in "quz" for s in self.subsystems for value in s.initial(v)]
            self.vectors |= {"y": y, "ydot": _nans(len(y)), "qdotdot": _nans(nq)}
            self.vectors |= {"uWeights": [1.0] * nu, "zWeights": [1.0] * nz}
            for v in "quz":
                self.note_change(v)  # they have values now
        elif g == INSTANCE:
            triggers = range(len(STAGES))
            self.lay_out("qerr", "uerr", "udoterr", *triggers)
            nqerr, nuerr, nudoterr = (self.sizes[name] for name in ("qerr", "uerr", "udoterr"))
            self.vectors |= {"qerrWeights": [1.0] * nqerr, "uerrWeights": [1.0] * nuerr}
            self.vectors |= {"yerr": _nans(nqerr + nuerr), "udoterr": _nans(nudoterr)}
            self.vectors |= {"multipliers": _nans(nudoterr)}
            self.vectors |= {"triggers": _nans(sum(self.sizes[h] for h in triggers))}
        self.stage = g

    def lay_out(self, *pools: Pool) -> None:
        """Say where in the shared vectors the part of each subsystem begins."""
        for pool in pools:
            self.sizes[pool] = 0
            for sx, sub in enumerate(self.subsystems):
                size = len(sub.initial(pool))
                self.parts[pool, sx] = (self.sizes[pool], size)
                self.sizes[pool] += size

    def advance_all(self, g: int) -> None:
        """Advance every subsystem that is at g-1, then the system; all or nothing."""
        self.check_reachable(g)
        is_next = g != EMPTY and self.stage == g - 1
        require(is_next and all(s.stage >= g - 1 for s in self.subsystems), "AssertAbort")
        for sx, sub in enumerate(self.subsystems):
            if sub.stage == g - 1:
                self.advance_subsystem(sx, g)
        self.advance_system(g)

    # ------------------------------------------------------------------ vectors

    def locate(self, name: str, subsystem: int | None) -> tuple[list[float], slice]:
        """The storage of a vector, and where in it the vector or a partition lies."""
        vector = VECTORS[name]
        storage = self.vectors.get(vector.storage, [])
        begin = 0
        if vector.begin:
            order = ("q", "u", "z") if vector.begin in ("q", "u", "z") else ("qerr", "uerr")
            begin = sum(self.sizes.get(v, 0) for v in order[: order.index(vector.begin)])
        if subsystem is None:
            size = self.sizes.get(vector.begin, 0) if vector.begin else len(storage)
            return storage, slice(begin, begin + size)
        start, size = self.parts.get((vector.partition, subsystem), (0, 0))
        return storage, slice(begin + start, begin + start + size)

    def check_vector(self, name: str, subsystem: int | None) -> None:
        require(name in VECTORS, "Syntax")
        require(subsystem is None or VECTORS[name].partition != "", "Syntax")

    def get(self, name: str, subsystem: int | None) -> list[float]:
        self.check_vector(name, subsystem)
        require(self.stage >= VECTORS[name].alloc)
        require(self.stage_of(subsystem) >= VECTORS[name].read)
        storage, where = self.locate(name, subsystem)
        return storage[where]

    def upd(self, name: str, subsystem: int | None) -> tuple[list[float], slice]:
        self.check_vector(name, subsystem)
        require(self.stage >= VECTORS[name].alloc)
        g = VECTORS[name].invalidates
        if g is not None:
            if name == "zWeights" and subsystem is None and Quirk.ZWEIGHTS_DYNAMICS in self.quirks:
                g = DYNAMICS
            self.invalidate(g, is_write=True)
            for v in "quz" if name == "y" else name if name in ("q", "u", "z") else "":
                self.note_write(v, None if subsystem is None else self.blocks(v, subsystem))
        return self.locate(name, subsystem)

    def set(self, name: str, subsystem: int | None, values: list[float]) -> None:
        self.check_vector(name, subsystem)
        if VECTORS[name].invalidates is not None:
            size = len(self.get(name, subsystem))
        else:
            storage, where = self.upd(name, subsystem)
            size = len(storage[where])
        require(size == len(values), "SizeMismatch")
        storage, where = self.upd(name, subsystem)
        storage[where] = values

    def stage_of(self, subsystem: int | None) -> int:
        return self.stage if subsystem is None else self.subsystems[subsystem].stage

    def locate_triggers(self, g: int, subsystem: int | None) -> tuple[list[float], slice]:
        begin = sum(self.sizes.get(h, 0) for h in range(g))
        start, size = 0, self.sizes.get(g, 0)
        if subsystem is not None:
            start, size = self.parts.get((g, subsystem), (0, 0))
        return self.vectors.get("triggers", []), slice(begin + start, begin + start + size)

    def get_triggers(self, g: int, subsystem: int | None) -> list[float]:
        if subsystem is not None or Quirk.TRIGGER_READ_EARLY not in self.quirks:
            require(self.stage >= INSTANCE)
        require(self.stage_of(subsystem) >= g)
        triggers, where = self.locate_triggers(g, subsystem)
        return triggers[where]

    # ------------------------------------------------------------------ discrete variables

    def upd_variable(self, key: Key) -> DiscreteVariable:
        variable = self.variable(key)
        self.invalidate(variable.invalidates, is_write=True)
        if variable.update >= 0:
            self.unmark(self.entry((key[0], variable.update)))
        variable.time = self.time
        self.note_variable(variable)
        return variable

    def note_variable(self, variable: DiscreteVariable) -> None:
        variable.version += 1
        variable.changed = self.tick()
        for key in variable.dependents:
            self.count_invalidation(self.entry(key))

    def update_entry(self, key: Key) -> CacheEntry:
        variable = self.variable(key)
        require(variable.update >= 0, "ErrorCheck")
        return self.entry((key[0], variable.update))

    def auto_update(self) -> None:
        """Swap each auto-update variable with its update entry, where that is realized."""
        pairs = [
            (variable, sub.entries[variable.update])
            for sub in self.subsystems
            for variable in sub.variables
            if variable.update >= 0
        ]
        for variable, entry in [pair for pair in pairs if self.is_valid(pair[1])]:
            if Quirk.SWAP_TIME_AT_EMPTY in self.quirks:
                require(self.stage >= TOPOLOGY)
            variable.value, entry.value = entry.value, variable.value
            variable.time = self.time
            if Quirk.SWAP_SILENT not in self.quirks:
                self.note_variable(variable)
            self.unmark(entry)


def _nans(count: int) -> list[float]:
    return [math.nan] * count


def _at(table: list[list[T]], key: Key) -> T:
    sx, index = key
    require(0 <= sx < len(table) and 0 <= index < len(table[sx]), "IndexOutOfRange")
    return table[sx][index]
