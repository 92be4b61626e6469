"""All that can be asked of a state of the model at once."""

from __future__ import annotations

from tests.oracle.grammar import INSTANCE, MODEL, STAGES, TOPOLOGY, Json, Key, Refusal, list_keys
from tests.oracle.model_items import CacheEntry, DiscreteVariable, Pool
from tests.oracle.model_state import ModelState
from tests.oracle.quirks import Quirk

NOWHERE = -1111111111  # where what a late subsystem does not have begins
SYSTEM_DIMENSIONS = (
    *("ny", "nq", "nu", "nz", "qstart", "ustart", "zstart"),
    *("nyerr", "nqerr", "nuerr", "qerrstart", "uerrstart"),
    *("nudoterr", "nmultipliers", "neventtriggers"),
)
ERRORS = ("qerr", "uerr", "udoterr")
VARIABLES = ("q", "u", "z", "uWeights", "zWeights", "qerrWeights", "uerrWeights")


def system_dimensions(state: ModelState) -> dict[str, Json]:
    """Sizes and beginnings in the whole state; None where they cannot be asked for."""
    sizes = state.sizes
    result: dict[str, Json] = dict.fromkeys(SYSTEM_DIMENSIONS)
    if state.stage >= MODEL:
        nq, nu, nz = (sizes[v] for v in "quz")
        result |= {"ny": nq + nu + nz, "nq": nq, "nu": nu, "nz": nz}
        result |= {"qstart": 0, "ustart": nq, "zstart": nq + nu}
    stages = range(len(STAGES))
    triggers: list[Json] = [None for _ in stages]
    starts: list[Json] = [None for _ in stages]
    if state.stage >= INSTANCE:
        nqerr, nuerr, nudoterr = (sizes[name] for name in ERRORS)
        result |= {"nyerr": nqerr + nuerr, "nqerr": nqerr, "nuerr": nuerr}
        result |= {"qerrstart": 0, "uerrstart": nqerr}
        result |= {"nudoterr": nudoterr, "nmultipliers": nudoterr}
        result["neventtriggers"] = sum(sizes[g] for g in stages)
        triggers = [sizes[g] for g in stages]
        starts = [sum(sizes[h] for h in range(g)) for g in stages]
    return result | {"triggers_by_stage": triggers, "trigger_start_by_stage": starts}


def subsystem_dimensions(state: ModelState, sx: int) -> dict[str, Json]:
    """Sizes and beginnings in one subsystem."""

    def part(pool: Pool, which: int) -> Json:
        alloc = MODEL if pool in ("q", "u", "z") else INSTANCE
        return state.parts.get((pool, sx), (NOWHERE, 0))[which] if state.stage >= alloc else None

    result: dict[str, Json] = {f"n{v}": part(v, 1) for v in "quz"}
    result |= {f"{v}start": part(v, 0) for v in "quz"}
    result |= {f"n{name}": part(name, 1) for name in ERRORS}
    result["nmultipliers"] = part("udoterr", 1)
    result |= {f"{name}start": part(name, 0) for name in ERRORS}
    result["multipliersstart"] = part("udoterr", 0)
    result["triggers_by_stage"] = [part(g, 1) for g in range(len(STAGES))]
    result["trigger_start_by_stage"] = [part(g, 0) for g in range(len(STAGES))]
    return result


def allocation_stage(state: ModelState, item: DiscreteVariable | CacheEntry) -> str:
    return STAGES[item.alloc - (Quirk.ALLOC_STAGE_NEXT not in state.quirks)]


def dependents(state: ModelState, keys: list[Key]) -> list[Json]:
    return list_keys(keys if Quirk.DEPENDENTS_AS_REGISTERED in state.quirks else sorted(keys))


def snapshot(state: ModelState, is_full: bool) -> dict[str, Json]:
    """The result of `observe`, or `observe_full`."""
    result: dict[str, Json] = {
        "system_stage": STAGES[state.stage],
        "t": state.time if state.stage >= TOPOLOGY else None,
        "value_versions": [state.value_versions[v] for v in "quz"],
        "dims": system_dimensions(state),
    }
    if is_full:
        result["system_stage_versions"] = [*state.versions[: state.stage + 1]]
        result |= {name: _get_or_none(state, name) for name in VARIABLES}
        result |= {f"{v}_dependents": dependents(state, state.dependents[v]) for v in "quz"}
    subsystems: list[Json] = []
    for sx, sub in enumerate(state.subsystems):
        part: dict[str, Json] = {"name": sub.name, "stage": STAGES[sub.stage]}
        part["dims"] = subsystem_dimensions(state, sx)
        if is_full:
            part["stage_versions"] = [*sub.versions]
        part["dv"] = [_variable(state, variable, is_full) for variable in sub.variables]
        part["ce"] = [_entry(state, entry, is_full) for entry in sub.entries]
        subsystems.append(part)
    return result | {"subsystems": subsystems}


def _get_or_none(state: ModelState, name: str) -> Json:
    try:
        return [*state.get(name, None)]
    except Refusal:
        return None


def _variable(state: ModelState, variable: DiscreteVariable, is_full: bool) -> Json:
    result: dict[str, Json] = {
        "value": variable.value,
        "last_update": variable.time,
        "version": variable.version,
        "allocation": allocation_stage(state, variable),
        "invalidates": STAGES[variable.invalidates],
        "update_ce": variable.update,
    }
    return result | {"dependents": dependents(state, variable.dependents)} if is_full else result


def _entry(state: ModelState, entry: CacheEntry, is_full: bool) -> Json:
    result: dict[str, Json] = {
        "allocation": allocation_stage(state, entry),
        "depends_on": STAGES[entry.earliest],
        "computed_by": STAGES[entry.latest],
        "realized": state.is_valid(entry),
    }
    if is_full:
        result |= {"value": entry.value, "version": entry.version}
        result["computed_version"] = entry.computed_version
        result["dependents"] = dependents(state, entry.dependents)
    return result
