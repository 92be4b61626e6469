"""Runs the commands on `stagecache.State`, and answers as the model does.

Versions of entries are answered with 0: ours count values, those of the real library invalidations.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from stagecache import (
    Stage,
    State,
    SubsystemState,
    simbody,
)
from stagecache.errors import (
    CacheEntryOutOfDateError,
    DuplicatePrerequisiteError,
    NoUpdateEntryError,
    OutOfRangeError,
    PrerequisiteStageError,
    ShapeError,
    StagecacheError,
    StageOrderError,
    StageOutOfRangeError,
    StageTooHighError,
    StageTooLowError,
    UnknownItemError,
    UnknownSubsystemError,
)
from tests.oracle.grammar import (
    STAGES,
    Json,
    Refusal,
    read_key,
    read_slot,
    read_stage,
    require,
)
from tests.oracle.interpreter_allocation import AbstractStateInterpreter, Held, stage
from tests.oracle.observation import (
    ATTRIBUTES,
    keys,
    observe,
    raw_value,
    reals,
    subsystem_dimensions,
    system_dimensions,
)
from tests.state.realizing import upd

KINDS: dict[type[StagecacheError], str] = {
    StageTooLowError: "StageTooLow",
    StageTooHighError: "StageTooHigh",
    StageOutOfRangeError: "StageOutOfRange",
    CacheEntryOutOfDateError: "ErrorCheck",
    NoUpdateEntryError: "ErrorCheck",
    PrerequisiteStageError: "ErrorCheck",
    UnknownSubsystemError: "IndexOutOfRange",
    UnknownItemError: "IndexOutOfRange",
    DuplicatePrerequisiteError: "Assert",
    ShapeError: "SizeMismatch",
    StageOrderError: "AssertAbort",
    OutOfRangeError: "AssertAbort",
}
CACHES = (
    "ydot",
    "qdot",
    "udot",
    "zdot",
    "qdotdot",
    "yerr",
    "qerr",
    "uerr",
    "udoterr",
    "multipliers",
)
UNPARTITIONED = ("y", "ydot", "yerr")


class Interpreter(AbstractStateInterpreter):
    """The current state, the slots and the saved versions."""

    def __init__(self) -> None:
        self.do_reset_all()

    def run(self, line: str) -> str:
        """Run one command; an exception that stands for no kind is answered with its name."""
        try:
            return super().run(line)
        except StagecacheError as error:
            return f"error {KINDS.get(type(error), type(error).__name__)}"

    # ------------------------------------------------------------------ life cycle

    def do_reset_all(self) -> None:
        self.held = Held(State())
        self.slots: dict[int, Held] = {}
        self.saved: dict[int, tuple[int, ...]] = {}

    def do_new(self) -> None:
        self.held = Held(State())

    def do_clear(self) -> None:
        self.state.clear()
        self.held.blocks.clear()

    def do_set_num_subsystems(self, count: str) -> None:
        simbody.set_num_subsystems(self.state, int(count))
        self.held.blocks.clear()

    def do_init_subsystem(self, sx: str, name: str, version: str) -> None:
        simbody.initialize_subsystem(self.state, int(sx), name, version)

    def do_add_subsystem(self, name: str, version: str) -> Json:
        return self.state.add_subsystem(name, version)

    def do_num_subsystems(self) -> Json:
        return self.state.num_subsystems

    def do_subsystem_name(self, sx: str) -> Json:
        return [self.part(sx).name, self.part(sx).version]

    # ------------------------------------------------------------------ stages

    def do_advance_subsystem(self, sx: str, g: str) -> None:
        self.part(sx).advance_to_stage(stage(g))

    def do_advance_system(self, g: str) -> None:
        self.state.advance_to_stage(stage(g))

    def do_advance_all(self, g: str) -> None:
        self.advance_all(read_stage(g))

    def advance_all(self, g: int) -> None:
        """Advance every subsystem that is at g-1, then the system; all or nothing."""
        parts = self.parts()
        is_next = g > 0 and self.state.stage == g - 1
        require(is_next and all(part.stage >= g - 1 for part in parts), "AssertAbort")
        for part in parts:
            if part.stage == g - 1:
                part.advance_to_stage(Stage(g))
        self.state.advance_to_stage(Stage(g))

    def do_realize(self, g: str) -> None:
        while self.state.stage < read_stage(g):
            self.advance_all(self.state.stage + 1)

    def do_invalidate_all(self, g: str) -> None:
        self.state.invalidate_all(stage(g))

    def do_invalidate_all_cache_at_or_above(self, g: str) -> None:
        simbody.invalidate_all_cache_at_or_above(self.state, stage(g))

    def do_system_stage(self) -> Json:
        return STAGES[self.state.stage]

    def do_subsystem_stage(self, sx: str) -> Json:
        return STAGES[self.part(sx).stage]

    # ------------------------------------------------------------------ vectors and time

    def vector_owner(self, name: str, who: str) -> State | SubsystemState:
        require(name in ATTRIBUTES or name in CACHES, "Syntax")
        require(who == "*" or name not in UNPARTITIONED, "Syntax")
        return self.who(who)

    def do_get(self, name: str, who: str) -> Json:
        owner = self.vector_owner(name, who)
        return reals(getattr(owner, ATTRIBUTES.get(name, name)))

    def do_upd(self, name: str, who: str) -> None:
        self.upd(name, who)

    def upd(self, name: str, who: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        owner = self.vector_owner(name, who)
        return upd(owner, ATTRIBUTES.get(name, name))

    def do_set(self, name: str, who: str, *values: str) -> None:
        numbers = [*map(float, values)]
        if name in ATTRIBUTES:
            setattr(self.vector_owner(name, who), ATTRIBUTES[name], numbers)
            return
        view = self.upd(name, who)
        require(len(view) == len(numbers), "SizeMismatch")
        view[:] = numbers

    def do_upd_block(self, name: str, sx: str, number: str) -> None:
        self.block((name, int(sx), int(number))).upd(self.state)

    def do_get_t(self) -> Json:
        return float(self.state.time)

    def do_set_t(self, value: str) -> None:
        self.state.time = float(value)

    def do_upd_t(self) -> None:
        self.state.time = self.state.time

    def do_get_triggers(self, who: str, g: str) -> Json:
        return reals(self.who(who).event_triggers_by_stage(stage(g)))

    def do_set_triggers(self, who: str, g: str, *values: str) -> None:
        view = self.who(who).upd_event_triggers_by_stage(stage(g))
        require(len(view) == len(values), "SizeMismatch")
        view[:] = [*map(float, values)]

    def do_get_all_triggers(self) -> Json:
        return reals(self.state.event_triggers)

    # ------------------------------------------------------------------ discrete variables

    def do_has_dv(self, sx: str, dx: str) -> Json:
        return simbody.has_discrete_variable(self.part(sx), read_key(sx, dx)[1])

    def do_get_dv(self, sx: str, dx: str) -> Json:
        return float(self.variable(read_key(sx, dx))(self.state))

    def do_set_dv(self, sx: str, dx: str, value: str) -> None:
        simbody.set_discrete_variable(self.part(sx), int(dx), float(value))

    def do_upd_dv(self, sx: str, dx: str) -> None:
        simbody.upd_discrete_variable(self.part(sx), int(dx))

    def do_dv_last_update(self, sx: str, dx: str) -> Json:
        return float(simbody.discrete_variable_last_update_time(self.part(sx), int(dx)))

    def do_dv_version(self, sx: str, dx: str) -> Json:
        return self.variable(read_key(sx, dx)).version(self.state)

    def do_dv_alloc_stage(self, sx: str, dx: str) -> Json:
        return STAGES[simbody.discrete_variable_info(self.part(sx), int(dx)).allocated_at]

    def do_dv_invalidates(self, sx: str, dx: str) -> Json:
        return STAGES[simbody.discrete_variable_info(self.part(sx), int(dx)).invalidates]

    def do_dv_update_index(self, sx: str, dx: str) -> Json:
        index = simbody.discrete_variable_update_index(self.part(sx), int(dx))
        return -1 if index is None else index

    def do_dv_update_get(self, sx: str, dx: str) -> Json:
        return float(simbody.get_discrete_variable_update_value(self.part(sx), int(dx)))

    def do_dv_update_set(self, sx: str, dx: str, value: str) -> None:
        simbody.upd_discrete_variable_update_value(self.part(sx), int(dx))  # raises if none
        update = simbody.discrete_variable_info(self.part(sx), int(dx)).update
        assert update is not None
        update.set(self.state, float(value))

    def do_dv_update_is_realized(self, sx: str, dx: str) -> Json:
        return simbody.is_discrete_variable_update_value_realized(self.part(sx), int(dx))

    def do_dv_update_mark(self, sx: str, dx: str) -> None:
        simbody.mark_discrete_variable_update_value_realized(self.part(sx), int(dx))

    def do_auto_update(self) -> None:
        self.state.auto_update_discrete_variables()

    # ------------------------------------------------------------------ cache entries

    def do_has_ce(self, sx: str, cx: str) -> Json:
        return simbody.has_cache_entry(self.part(sx), read_key(sx, cx)[1])

    def do_get_ce(self, sx: str, cx: str) -> Json:
        return float(simbody.get_cache_entry(self.part(sx), int(cx)))

    def do_set_ce(self, sx: str, cx: str, value: str) -> None:
        simbody.cache_entry_info(self.part(sx), int(cx)).set(self.state, float(value))

    def do_raw_ce(self, sx: str, cx: str) -> Json:
        return raw_value(self.state, self.entry(read_key(sx, cx)))

    def do_ce_is_realized(self, sx: str, cx: str) -> Json:
        return simbody.is_cache_value_realized(self.part(sx), int(cx))

    def do_ce_mark(self, sx: str, cx: str) -> None:
        simbody.mark_cache_value_realized(self.part(sx), int(cx))

    def do_ce_unmark(self, sx: str, cx: str) -> None:
        simbody.mark_cache_value_not_realized(self.part(sx), int(cx))

    def do_ce_version(self, sx: str, cx: str) -> Json:
        return 0 * self.entry(read_key(sx, cx)).index

    def do_ce_alloc_stage(self, sx: str, cx: str) -> Json:
        return STAGES[simbody.cache_entry_info(self.part(sx), int(cx)).allocated_at]

    def do_ce_depends_on(self, sx: str, cx: str) -> Json:
        return STAGES[self.entry(read_key(sx, cx)).available_from]

    def do_ce_computed_by(self, sx: str, cx: str) -> Json:
        return STAGES[self.entry(read_key(sx, cx)).computed_by]

    # ------------------------------------------------------------------ copies

    def slot(self, word: str) -> int:
        slot = read_slot(word)
        require(slot in self.slots, "NoSlot")
        return slot

    def do_copy(self) -> None:
        with refusing_what_dangles():
            self.held = self.held.copied(self.state.copy())

    def do_copy_assign(self) -> None:
        state = State()
        with refusing_what_dangles():
            state.assign(self.state)
        self.held = self.held.copied(state)

    def do_save(self, k: str) -> None:
        slot = read_slot(k)
        with refusing_what_dangles():
            self.slots[slot] = self.held.copied(self.state.copy())

    def do_swap(self, k: str) -> None:
        slot = self.slot(k)
        self.held, self.slots[slot] = self.slots[slot], self.held

    def do_assign_from(self, k: str) -> None:
        source = self.slots[self.slot(k)]
        with refusing_what_dangles():
            self.state.assign(source.state)
        self.held.blocks = source.copied_blocks()

    def do_is_consistent(self, k: str) -> Json:
        return simbody.is_consistent(self.state, self.slots[self.slot(k)].state)

    def do_checkpoint(self, k: str) -> None:
        self.held.marks[read_slot(k)] = (self.state.checkpoint(), self.held.copied_blocks())

    def do_rollback(self, k: str) -> None:
        require(read_slot(k) in self.held.marks, "NoSlot")
        mark, blocks = self.held.marks[read_slot(k)]
        self.state.rollback(mark)
        self.held.blocks = {key: handles[:] for key, handles in blocks.items()}

    # ------------------------------------------------------------------ versions, dependents

    def do_sysver_save(self, k: str) -> Json:
        self.saved[read_slot(k)] = self.state.stage_versions
        return [*self.state.stage_versions]

    def do_lowest_diff(self, k: str) -> Json:
        require(read_slot(k) in self.saved, "NoSlot")
        return STAGES[self.state.lowest_stage_difference(self.saved[read_slot(k)])]

    def do_topology_version(self) -> Json:
        return self.state.topology_version

    def do_set_topology_version(self, version: str) -> None:
        self.state.topology_version = int(version)

    def do_ss_versions(self, sx: str) -> Json:
        return [*self.part(sx).stage_versions]

    def do_value_versions(self) -> Json:
        return [self.state.variable(name).version(self.state) for name in ("q", "u", "z")]

    def do_q_dependents(self) -> Json:
        return keys(self.state.variable("q").dependents(self.state))

    def do_u_dependents(self) -> Json:
        return keys(self.state.variable("u").dependents(self.state))

    def do_z_dependents(self) -> Json:
        return keys(self.state.variable("z").dependents(self.state))

    def do_dv_dependents(self, sx: str, dx: str) -> Json:
        return keys(self.variable(read_key(sx, dx)).dependents(self.state))

    def do_ce_dependents(self, sx: str, cx: str) -> Json:
        return keys(self.entry(read_key(sx, cx)).dependents(self.state))

    # ------------------------------------------------------------------ everything at once

    def do_dims(self) -> Json:
        return system_dimensions(self.state)

    def do_dims_ss(self, sx: str) -> Json:
        return subsystem_dimensions(self.part(sx))

    def do_observe(self) -> Json:
        return observe(self.state, is_full=False)

    def do_observe_full(self) -> Json:
        return observe(self.state, is_full=True)


@contextmanager
def refusing_what_dangles() -> Iterator[None]:
    """In a copy, a prerequisite that would be left out is one that does not exist."""
    try:
        yield
    except PrerequisiteStageError as error:
        raise Refusal("IndexOutOfRange") from error
