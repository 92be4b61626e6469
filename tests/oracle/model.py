"""A brute-force model of `SimTK::State`, and of our contract for it.

One command in, one result line out::

    model = Model(ALL)             answers as Simbody 3.7 does (built without NDEBUG)
    model = Model()                answers as the contract says
    model.run("realize Time")      "ok"
"""

from __future__ import annotations

import copy

from tests.oracle.grammar import (
    EMPTY,
    INFINITY,
    INSTANCE,
    MODEL,
    REPORT,
    STAGES,
    TIME,
    TOPOLOGY,
    WHOLE,
    Json,
    Refusal,
    read_key,
    read_slot,
    read_stage,
    require,
)
from tests.oracle.model_allocation import AbstractModel
from tests.oracle.model_copies import copy_state, is_consistent
from tests.oracle.model_items import VECTORS, CacheEntry, DiscreteVariable, Subsystem
from tests.oracle.model_state import ModelState
from tests.oracle.quirks import NONE, Quirk
from tests.oracle.snapshot import (
    allocation_stage,
    dependents,
    snapshot,
    subsystem_dimensions,
    system_dimensions,
)


class Model(AbstractModel):
    """The current state, the slots and the saved versions."""

    def __init__(self, quirks: frozenset[Quirk] = NONE) -> None:
        self.quirks = quirks
        self.do_reset_all()

    def who(self, word: str) -> int | None:
        return None if word == "*" else self.subsystem_index(word)

    def variable(self, sx: str, dx: str) -> DiscreteVariable:
        return self.current.variable(read_key(sx, dx))

    def entry(self, sx: str, cx: str) -> CacheEntry:
        return self.current.entry(read_key(sx, cx))

    # ------------------------------------------------------------------ life cycle

    def do_reset_all(self) -> None:
        self.clock = [0]
        self.current = ModelState(self.quirks, self.clock)
        self.slots: dict[int, ModelState] = {}
        self.saved: dict[int, list[int]] = {}
        self.checkpoints: dict[int, ModelState] = {}

    def do_new(self) -> None:
        self.current = ModelState(self.quirks, self.clock)

    def do_clear(self) -> None:
        before, self.current = self.current, ModelState(self.quirks, self.clock)
        if not self.has(Quirk.CLEAR_RESTARTS_VERSIONS):
            self.current.versions = [1, *(n + 1 for n in before.versions[1:])]
            self.current.value_versions = {v: n + 1 for v, n in before.value_versions.items()}

    def do_set_num_subsystems(self, count: str) -> None:
        require(int(count) >= 0, "AssertAbort")
        if not self.has(Quirk.SET_NUM_KEEPS_SYSTEM):
            self.do_clear()
        self.current.subsystems = [Subsystem() for _ in range(int(count))]

    def do_init_subsystem(self, sx: str, name: str, version: str) -> None:
        sub = self.subsystem(sx)
        sub.name, sub.version = name, version

    def do_add_subsystem(self, name: str, version: str) -> Json:
        if not self.has(Quirk.ADD_SUBSYSTEM_ANY_STAGE):
            require(self.current.stage == EMPTY, "StageTooHigh")
        self.current.subsystems.append(Subsystem(name, version))
        return len(self.current.subsystems) - 1

    def do_num_subsystems(self) -> Json:
        return len(self.current.subsystems)

    def do_subsystem_name(self, sx: str) -> Json:
        return [self.subsystem(sx).name, self.subsystem(sx).version]

    # ------------------------------------------------------------------ stages

    def do_advance_subsystem(self, sx: str, g: str) -> None:
        self.current.advance_subsystem(self.subsystem_index(sx), read_stage(g))

    def do_advance_system(self, g: str) -> None:
        self.current.advance_system(read_stage(g))

    def do_advance_all(self, g: str) -> None:
        self.current.advance_all(read_stage(g))

    def do_realize(self, g: str) -> None:
        while self.current.stage < read_stage(g):
            self.current.advance_all(self.current.stage + 1)

    def do_invalidate_all(self, g: str) -> None:
        require(read_stage(g) != EMPTY, "AssertAbort")
        self.current.invalidate(read_stage(g), is_write=False)

    def do_invalidate_all_cache_at_or_above(self, g: str) -> None:
        require(read_stage(g) >= INSTANCE)
        self.current.invalidate(read_stage(g), is_write=False)

    def do_system_stage(self) -> Json:
        return STAGES[self.current.stage]

    def do_subsystem_stage(self, sx: str) -> Json:
        return STAGES[self.subsystem(sx).stage]

    # ------------------------------------------------------------------ vectors and time

    def do_get(self, name: str, who: str) -> Json:
        return [*self.current.get(name, self.who(who))]

    def do_upd(self, name: str, who: str) -> None:
        self.current.upd(name, self.who(who))

    def do_set(self, name: str, who: str, *values: str) -> None:
        self.current.set(name, self.who(who), [*map(float, values)])

    def do_upd_block(self, name: str, sx: str, number: str) -> None:
        block = (name, int(sx), int(number))
        self.current.block_alloc(block)
        require(self.current.stage >= MODEL)
        g = VECTORS[name].invalidates
        assert g is not None
        self.current.invalidate(g, is_write=True)
        self.current.note_write(name, [block, (name, int(sx), WHOLE)])

    def do_get_t(self) -> Json:
        require(self.current.stage >= TOPOLOGY)
        return self.current.time

    def do_set_t(self, value: str) -> None:
        self.do_upd_t()
        self.current.time = float(value)

    def do_upd_t(self) -> None:
        require(self.current.stage >= TOPOLOGY)
        self.current.invalidate(TIME, is_write=True)

    def do_get_triggers(self, who: str, g: str) -> Json:
        return [*self.current.get_triggers(read_stage(g), self.who(who))]

    def do_set_triggers(self, who: str, g: str, *values: str) -> None:
        x = self.who(who)
        require(self.current.stage >= INSTANCE)
        triggers, where = self.current.locate_triggers(read_stage(g), x)
        require(len(triggers[where]) == len(values), "SizeMismatch")
        triggers[where] = map(float, values)

    def do_get_all_triggers(self) -> Json:
        require(self.current.stage >= REPORT - 1)
        return [*self.current.vectors["triggers"]]

    # ------------------------------------------------------------------ discrete variables

    def do_has_dv(self, sx: str, dx: str) -> Json:
        return read_key(sx, dx)[1] < len(self.subsystem(sx).variables)

    def do_get_dv(self, sx: str, dx: str) -> Json:
        return self.variable(sx, dx).value

    def do_set_dv(self, sx: str, dx: str, value: str) -> None:
        self.current.upd_variable(read_key(sx, dx)).value = float(value)

    def do_upd_dv(self, sx: str, dx: str) -> None:
        self.current.upd_variable(read_key(sx, dx))

    def do_dv_last_update(self, sx: str, dx: str) -> Json:
        return self.variable(sx, dx).time

    def do_dv_version(self, sx: str, dx: str) -> Json:
        return self.variable(sx, dx).version

    def do_dv_alloc_stage(self, sx: str, dx: str) -> Json:
        return allocation_stage(self.current, self.variable(sx, dx))

    def do_dv_invalidates(self, sx: str, dx: str) -> Json:
        return STAGES[self.variable(sx, dx).invalidates]

    def do_dv_update_index(self, sx: str, dx: str) -> Json:
        return self.variable(sx, dx).update

    def do_dv_update_get(self, sx: str, dx: str) -> Json:
        return self.read(self.current.update_entry(read_key(sx, dx)))

    def do_dv_update_set(self, sx: str, dx: str, value: str) -> None:
        self.current.update_entry(read_key(sx, dx)).value = float(value)

    def do_dv_update_is_realized(self, sx: str, dx: str) -> Json:
        return self.current.is_valid(self.current.update_entry(read_key(sx, dx)))

    def do_dv_update_mark(self, sx: str, dx: str) -> None:
        self.current.mark(self.current.update_entry(read_key(sx, dx)))

    def do_auto_update(self) -> None:
        self.current.auto_update()

    # ------------------------------------------------------------------ cache entries

    def read(self, entry: CacheEntry) -> float:
        if self.current.is_valid(entry):
            return entry.value
        is_contract = not self.has(Quirk.UPSTREAM_STAGE_IGNORED)
        for above in self.current.upstream(entry) if is_contract else [entry]:
            require(self.current.subsystems[above.key[0]].stage >= above.earliest)
        raise Refusal("ErrorCheck")

    def do_has_ce(self, sx: str, cx: str) -> Json:
        return read_key(sx, cx)[1] < len(self.subsystem(sx).entries)

    def do_get_ce(self, sx: str, cx: str) -> Json:
        return self.read(self.entry(sx, cx))

    def do_set_ce(self, sx: str, cx: str, value: str) -> None:
        self.entry(sx, cx).value = float(value)

    def do_raw_ce(self, sx: str, cx: str) -> Json:
        return self.entry(sx, cx).value

    def do_ce_is_realized(self, sx: str, cx: str) -> Json:
        return self.current.is_valid(self.entry(sx, cx))

    def do_ce_mark(self, sx: str, cx: str) -> None:
        self.current.mark(self.entry(sx, cx))

    def do_ce_unmark(self, sx: str, cx: str) -> None:
        self.current.unmark(self.entry(sx, cx))

    def do_ce_version(self, sx: str, cx: str) -> Json:
        return self.entry(sx, cx).version

    def do_ce_alloc_stage(self, sx: str, cx: str) -> Json:
        return allocation_stage(self.current, self.entry(sx, cx))

    def do_ce_depends_on(self, sx: str, cx: str) -> Json:
        return STAGES[self.entry(sx, cx).earliest]

    def do_ce_computed_by(self, sx: str, cx: str) -> Json:
        return STAGES[self.entry(sx, cx).latest]

    # ------------------------------------------------------------------ copies

    def slot(self, word: str) -> int:
        slot = read_slot(word)
        require(slot in self.slots, "NoSlot")
        return slot

    def do_copy(self) -> None:
        self.current = copy_state(self.current)

    def do_copy_assign(self) -> None:
        self.current = copy_state(self.current, ModelState(self.quirks, self.clock))

    def do_save(self, k: str) -> None:
        self.slots[read_slot(k)] = copy_state(self.current)

    def do_swap(self, k: str) -> None:
        slot = self.slot(k)
        self.current, self.slots[slot] = self.slots[slot], self.current

    def do_assign_from(self, k: str) -> None:
        self.current = copy_state(self.slots[self.slot(k)], self.current)

    def do_is_consistent(self, k: str) -> Json:
        return is_consistent(self.current, self.slots[self.slot(k)])

    def do_checkpoint(self, k: str) -> None:
        shared = {id(self.clock): self.clock}
        self.checkpoints[read_slot(k)] = copy.deepcopy(self.current, shared)

    def do_rollback(self, k: str) -> None:
        require(read_slot(k) in self.checkpoints, "NoSlot")
        shared = {id(self.clock): self.clock}
        self.current = copy.deepcopy(self.checkpoints[read_slot(k)], shared)

    # ------------------------------------------------------------------ versions, dependents

    def do_sysver_save(self, k: str) -> Json:
        self.saved[read_slot(k)] = self.current.versions[: self.current.stage + 1]
        return [*self.saved[read_slot(k)]]

    def do_lowest_diff(self, k: str) -> Json:
        require(read_slot(k) in self.saved, "NoSlot")
        before = self.saved[read_slot(k)]
        now = self.current.versions[: self.current.stage + 1]
        for g in range(1, min(len(before), len(now))):
            if before[g] != now[g]:
                return STAGES[g]
        # At Infinity on both sides, the real library steps to the stage after it.
        require(min(len(before), len(now)) <= INFINITY, "AssertAbort")
        return STAGES[INFINITY if len(now) >= len(before) else len(now)]

    def do_topology_version(self) -> Json:
        return self.current.versions[TOPOLOGY]

    def do_set_topology_version(self, version: str) -> None:
        require(int(version) > 0, "AssertAbort")
        self.current.versions[TOPOLOGY] = int(version)

    def do_ss_versions(self, sx: str) -> Json:
        return [*self.subsystem(sx).versions]

    def do_value_versions(self) -> Json:
        return [self.current.value_versions[v] for v in "quz"]

    def do_q_dependents(self) -> Json:
        return dependents(self.current, self.current.dependents["q"])

    def do_u_dependents(self) -> Json:
        return dependents(self.current, self.current.dependents["u"])

    def do_z_dependents(self) -> Json:
        return dependents(self.current, self.current.dependents["z"])

    def do_dv_dependents(self, sx: str, dx: str) -> Json:
        return dependents(self.current, self.variable(sx, dx).dependents)

    def do_ce_dependents(self, sx: str, cx: str) -> Json:
        return dependents(self.current, self.entry(sx, cx).dependents)

    # ------------------------------------------------------------------ everything at once

    def do_dims(self) -> Json:
        return system_dimensions(self.current)

    def do_dims_ss(self, sx: str) -> Json:
        return subsystem_dimensions(self.current, self.subsystem_index(sx))

    def do_observe(self) -> Json:
        return snapshot(self.current, is_full=False)

    def do_observe_full(self) -> Json:
        return snapshot(self.current, is_full=True)
