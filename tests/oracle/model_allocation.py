"""The model's commands that allocate, with all that is refused."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from tests.oracle.grammar import (
    EMPTY,
    INFINITY,
    INSTANCE,
    MODEL,
    REPORT,
    TIME,
    TOPOLOGY,
    AbstractInterpreter,
    Block,
    Json,
    Key,
    read_blocks,
    read_keys,
    read_stage,
    require,
)
from tests.oracle.model_items import CacheEntry, DiscreteVariable, Pool, Subsystem
from tests.oracle.model_state import ModelState
from tests.oracle.quirks import Quirk


@dataclass
class Prerequisites:
    """What an entry is to depend on explicitly."""

    variables: list[str] = field(default_factory=list)  # of q, u and z
    discrete: list[Key] = field(default_factory=list)
    entries: list[Key] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)

    def are_repeated(self) -> bool:
        lists = (self.discrete, self.entries, self.blocks)
        return any(len(set(keys)) < len(keys) for keys in lists)


class AbstractModel(AbstractInterpreter):
    """A model with a current state, in which it can allocate."""

    quirks: frozenset[Quirk]
    current: ModelState

    def has(self, quirk: Quirk) -> bool:
        return quirk in self.quirks

    def subsystem_index(self, word: str) -> int:
        require(0 <= int(word) < len(self.current.subsystems), "IndexOutOfRange")
        return int(word)

    def subsystem(self, word: str) -> Subsystem:
        return self.current.subsystems[self.subsystem_index(word)]

    # ------------------------------------------------------------------ shared vectors

    def allocate(self, pool: Pool, sx: str, values: list[float], below: int) -> Json:
        """Stack an allocation; remembered is the stage that is being realized."""
        sub = self.subsystem(sx)
        require(sub.stage < below, "StageTooHigh")
        start = len(sub.initial(pool))
        sub.pools[pool].append((sub.stage + 1, values))
        return start

    def do_alloc_q(self, sx: str, *values: str) -> Json:
        return self.allocate("q", sx, [*map(float, values)], MODEL)

    def do_alloc_u(self, sx: str, *values: str) -> Json:
        return self.allocate("u", sx, [*map(float, values)], MODEL)

    def do_alloc_z(self, sx: str, *values: str) -> Json:
        return self.allocate("z", sx, [*map(float, values)], MODEL)

    def allocate_errors(self, pool: str, sx: str, count: str) -> Json:
        self.subsystem_index(sx)
        require(int(count) >= 0, "AssertAbort")
        return self.allocate(pool, sx, [math.nan] * int(count), INSTANCE)

    def do_alloc_qerr(self, sx: str, count: str) -> Json:
        return self.allocate_errors("qerr", sx, count)

    def do_alloc_uerr(self, sx: str, count: str) -> Json:
        return self.allocate_errors("uerr", sx, count)

    def do_alloc_udoterr(self, sx: str, count: str) -> Json:
        return self.allocate_errors("udoterr", sx, count)

    def do_alloc_event_trigger(self, sx: str, g: str, count: str) -> Json:
        sub, stage = self.subsystem(sx), read_stage(g)
        if self.has(Quirk.TRIGGER_ANY_STAGE):
            require(sub.stage < INSTANCE, "StageTooHigh")
        require(int(count) > 0, "AssertAbort")
        if not self.has(Quirk.TRIGGER_ANY_STAGE):
            require(TOPOLOGY <= stage <= REPORT, "StageOutOfRange")
        return self.allocate(stage, sx, [math.nan] * int(count), INSTANCE)

    # ------------------------------------------------------------------ discrete variables

    def check_variable(self, sx: str, invalidates: int) -> None:
        stage, lowest = self.subsystem(sx).stage, MODEL
        if self.has(Quirk.TOPOLOGY_DV_ASSERTS):
            lowest = TOPOLOGY
            require(invalidates != TOPOLOGY or stage != EMPTY, "AssertAbort")
        require(lowest <= invalidates <= REPORT, "StageOutOfRange")
        require(stage <= (EMPTY if invalidates <= MODEL else TOPOLOGY), "StageTooHigh")

    def do_alloc_dv(self, sx: str, invalidates: str, value: str) -> Json:
        sub, g = self.subsystem(sx), read_stage(invalidates)
        self.check_variable(sx, g)
        sub.variables.append(DiscreteVariable(sub.stage + 1, g, float(value)))
        return len(sub.variables) - 1

    def do_alloc_auto_dv(self, sx: str, invalidates: str, update: str, value: str) -> Json:
        sub = self.subsystem(sx)
        if not self.has(Quirk.AUTO_DV_ANY_STAGE):
            require(read_stage(invalidates) > TIME, "StageOutOfRange")
        if not self.has(Quirk.AUTO_DV_NOT_ATOMIC):
            self.check_variable(sx, read_stage(invalidates))
            self.check_entry(sx, read_stage(update), INFINITY)
        index = self.do_alloc_dv(sx, invalidates, value)
        self.do_alloc_lazy_ce(sx, update, value)
        sub.variables[-1].update = len(sub.entries) - 1
        return index

    # ------------------------------------------------------------------ cache entries

    def check_entry(self, sx: str, earliest: int, latest: int) -> None:
        require(TOPOLOGY <= earliest <= REPORT, "StageOutOfRange")
        require(earliest <= latest <= INFINITY, "StageOutOfRange")
        require(self.subsystem(sx).stage < INSTANCE, "StageTooHigh")

    def do_alloc_ce(self, sx: str, earliest: str, latest: str, value: str) -> Json:
        x, sub = self.subsystem_index(sx), self.subsystem(sx)
        stages = read_stage(earliest), read_stage(latest)
        self.check_entry(sx, *stages)
        entry = CacheEntry((x, len(sub.entries)), sub.stage + 1, *stages, float(value))
        sub.entries.append(entry)
        if not self.has(Quirk.PRESUMED_AT_ALLOCATION):
            entry.allocated = self.current.tick()
        return entry.key[1]

    def do_alloc_lazy_ce(self, sx: str, earliest: str, value: str) -> Json:
        return self.do_alloc_ce(sx, earliest, "Infinity", value)

    def do_alloc_ce_pre(self, *words: str) -> Json:
        sx, earliest, latest, q, u, z, discrete, entries, value = words
        above = Prerequisites(
            variables=[v for v, word in zip("quz", (q, u, z), strict=True) if word == "1"],
            discrete=read_keys(discrete),
            entries=read_keys(entries),
        )
        self.check_prerequisites(sx, read_stage(earliest), read_stage(latest), above)
        index = self.do_alloc_ce(sx, earliest, latest, value)
        self.connect(sx, above)
        return index

    def do_alloc_ce_blocks(self, *words: str) -> Json:
        sx, earliest, latest, blocks, entries, value = words
        above = Prerequisites(blocks=read_blocks(blocks), entries=read_keys(entries))
        self.check_prerequisites(sx, read_stage(earliest), read_stage(latest), above)
        index = self.do_alloc_ce(sx, earliest, latest, value)
        self.connect(sx, above)
        return index

    def connect(self, sx: str, above: Prerequisites) -> None:
        entry = self.subsystem(sx).entries[-1]
        entry.variables, entry.blocks = above.variables, above.blocks
        entry.discrete, entry.entries = above.discrete, above.entries
        self.current.register(entry)

    def check_prerequisites(
        self, sx: str, earliest: int, latest: int, above: Prerequisites
    ) -> None:
        """Refuse, in the contract's order or in that of the real library."""
        state, stage = self.current, self.subsystem(sx).stage
        if self.has(Quirk.KEYS_CHECKED_LATE):
            for key in above.entries:
                require(state.entry(key).earliest <= earliest, "ErrorCheck")
            self.check_entry(sx, earliest, latest)
            require(not above.are_repeated(), "Assert")
        allocs = [state.variable(key).alloc for key in above.discrete]
        allocs += [state.entry(key).alloc for key in above.entries]
        allocs += [state.block_alloc(block) for block in above.blocks]
        require(not above.are_repeated(), "Assert")
        self.check_entry(sx, earliest, latest)
        for key in above.entries:
            require(state.entry(key).earliest <= earliest, "ErrorCheck")
        if not self.has(Quirk.PREREQUISITE_MAY_GO_FIRST):
            require(max(allocs, default=0) <= stage + 1, "ErrorCheck")
