"""Copies of the model's states, and comparing two states."""

from __future__ import annotations

import copy
import math

from tests.oracle.grammar import INSTANCE, MODEL, STAGES, TIME, TOPOLOGY, require
from tests.oracle.model_items import Subsystem
from tests.oracle.model_state import ModelState
from tests.oracle.quirks import Quirk

CACHES = ("ydot", "qdotdot", "yerr", "udoterr", "multipliers", "triggers")


def copy_state(source: ModelState, target: ModelState | None = None) -> ModelState:
    """Return a copy; of the state that is assigned to, the target, only the versions matter.

    It is refused if an item that is copied depends on one that is not.
    """
    quirks = source.quirks
    result = ModelState(quirks, source.clock)
    now = source.tick()
    result.stage = min(source.stage, INSTANCE)
    result.time = source.time
    result.touched = source.touched[:]
    result.changed, result.block_changed = source.changed.copy(), source.block_changed.copy()
    result.sizes, result.parts = source.sizes.copy(), source.parts.copy()
    result.vectors = {name: values[:] for name, values in source.vectors.items()}
    for name in set(CACHES) & set(result.vectors):
        result.vectors[name] = [math.nan] * len(result.vectors[name])

    result.subsystems = [_copy_subsystem(s, quirks) for s in source.subsystems]
    for sub in result.subsystems:
        for entry in sub.entries:
            result.register(entry)
            has_prerequisites = entry.variables or entry.discrete or entry.entries
            if has_prerequisites and Quirk.COPY_DROPS_MARKS in quirks:
                entry.voided = now
    _set_versions(result, source, target)
    if Quirk.COPY_RESURRECTS not in quirks:  # all above Instance is unrealized in a copy
        for h in range(TIME, len(STAGES)):
            result.touched[h] = now
            for sub in result.subsystems:
                sub.bumped[h] = now
    return result


def _copy_subsystem(source: Subsystem, quirks: frozenset[Quirk]) -> Subsystem:
    result = copy.deepcopy(source)
    result.stage = g = min(source.stage, INSTANCE)
    # What is allocated, but not advanced over, is not copied.
    result.variables = [v for v in result.variables if v.alloc <= g]
    result.entries = [e for e in result.entries if e.alloc <= g]
    for pool, stack in result.pools.items():
        result.pools[pool] = [allocated for allocated in stack if allocated[0] <= g]
    for variable in result.variables:
        variable.dependents = []  # registered anew
    for entry in result.entries:
        entry.dependents = []
    for h in range(result.stage + 1, len(STAGES)):
        result.versions[h] += 1
        if h > source.stage and Quirk.COPY_VERSIONS in quirks:
            result.versions[h] = 1
    return result


def _set_versions(result: ModelState, source: ModelState, target: ModelState | None) -> None:
    stages = range(1, len(STAGES))
    if Quirk.COPY_VERSIONS in source.quirks:
        if target is not None:
            target.invalidate_system(TOPOLOGY)
            result.versions = target.versions[:]
        for g in range(1, source.stage + 1):
            result.versions[g] = source.versions[g] + (g > result.stage)
        bump = source.stage < MODEL
        result.value_versions = {v: n + bump for v, n in source.value_versions.items()}
    elif target is None:
        result.versions = [1, *(source.versions[g] + (g > result.stage) for g in stages)]
        result.value_versions = source.value_versions.copy()
    else:
        result.versions = [1, *(max(target.versions[g], source.versions[g]) + 1 for g in stages)]
        # It is that of the same system; where it is not realized, the next, as in a copy.
        result.versions[TOPOLOGY] = source.versions[TOPOLOGY] + (source.stage < TOPOLOGY)
        result.value_versions = {
            v: max(n, source.value_versions[v]) + 1 for v, n in target.value_versions.items()
        }


def is_consistent(state: ModelState, other: ModelState) -> bool:
    """Whether two states have the same dimensions, in total and in every subsystem."""
    if len(state.subsystems) != len(other.subsystems):
        return False
    for pool in ("q", "u", "z", "qerr", "uerr", "udoterr"):
        alloc = MODEL if pool in ("q", "u", "z") else INSTANCE
        require(state.stage >= alloc and other.stage >= alloc)
        if state.sizes[pool] != other.sizes[pool]:
            return False
    # Where a subsystem was added late it has no part.
    keys = {*state.parts, *other.parts}
    none = (0, 0)
    return all(state.parts.get(k, none)[1] == other.parts.get(k, none)[1] for k in keys)
