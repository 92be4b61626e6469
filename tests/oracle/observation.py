"""All that can be asked of a `stagecache.State` at once, as the model's snapshot has it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from stagecache import CacheEntry, Stage, State, SubsystemState, simbody
from stagecache.errors import StageTooLowError
from tests.oracle.grammar import STAGES, Json, list_keys

# What the names in the commands are in our State.
ATTRIBUTES = {
    **{name: name for name in ("y", "q", "u", "z")},
    "uWeights": "u_weights",
    "zWeights": "z_weights",
    "qerrWeights": "qerr_weights",
    "uerrWeights": "uerr_weights",
}
DIMENSIONS = {
    **{name: name for name in ("nq", "nu", "nz", "nqerr", "nuerr", "nudoterr")},
    "qstart": "q_start",
    "ustart": "u_start",
    "zstart": "z_start",
    "qerrstart": "qerr_start",
    "uerrstart": "uerr_start",
    "nmultipliers": "nudoterr",
}
SYSTEM_DIMENSIONS = {
    **DIMENSIONS,
    "ny": "ny",
    "nyerr": "nyerr",
    "neventtriggers": "num_event_triggers",
}
SUBSYSTEM_DIMENSIONS = {
    **DIMENSIONS,
    "udoterrstart": "udoterr_start",
    "multipliersstart": "udoterr_start",
}


def reals(values: Iterable[float]) -> Json:
    return [*map(float, values)]


def keys(entries: Iterable[CacheEntry[Any]]) -> list[Json]:
    found = []
    for entry in entries:
        assert entry.subsystem is not None
        found.append((entry.subsystem, entry.index))
    return list_keys(found)


def or_none(ask: Callable[[], Json]) -> Json:
    """The answer, or None if the stage is too low for it."""
    try:
        return ask()
    except StageTooLowError:
        return None


def system_dimensions(state: State) -> dict[str, Json]:
    return _dimensions(state, SYSTEM_DIMENSIONS)


def subsystem_dimensions(part: SubsystemState) -> dict[str, Json]:
    return _dimensions(part, SUBSYSTEM_DIMENSIONS)


def ask(owner: State | SubsystemState, name: str) -> Json:
    """A member of the owner; of those that it has not, what the facade says."""
    answer: Json = getattr(owner, name) if hasattr(type(owner), name) else facade(name)(owner)
    return answer


def nyerr(owner: State | SubsystemState) -> int:
    return owner.nqerr + owner.nuerr


def facade(name: str) -> Callable[[State | SubsystemState], Json]:
    return nyerr if name == "nyerr" else getattr(simbody, name)


def _dimensions(owner: State | SubsystemState, names: dict[str, str]) -> dict[str, Json]:
    result = {key: or_none(partial(ask, owner, name)) for key, name in names.items()}
    sizes, starts = simbody.num_event_triggers_by_stage, simbody.event_trigger_start_by_stage
    result["triggers_by_stage"] = [or_none(partial(sizes, owner, g)) for g in Stage]
    result["trigger_start_by_stage"] = [or_none(partial(starts, owner, g)) for g in Stage]
    return result


def observe(state: State, *, is_full: bool) -> dict[str, Json]:
    """The result of `observe`, or `observe_full`."""
    result: dict[str, Json] = {
        "system_stage": STAGES[state.stage],
        "t": or_none(lambda: float(state.time)),
        "value_versions": [state.variable(name).version(state) for name in ("q", "u", "z")],
        "dims": system_dimensions(state),
    }
    if is_full:
        result["system_stage_versions"] = [*state.stage_versions]
        for name, attribute in ATTRIBUTES.items():
            if name != "y":
                result[name] = or_none(partial(_read, state, attribute))
        for name in ("q", "u", "z"):
            result[f"{name}_dependents"] = keys(state.variable(name).dependents(state))
    parts = [state[sx] for sx in range(state.num_subsystems)]
    return result | {"subsystems": [_part(state, part, is_full) for part in parts]}


def _read(state: State, attribute: str) -> Json:
    return reals(getattr(state, attribute))


def _part(state: State, part: SubsystemState, is_full: bool) -> Json:
    result: dict[str, Json] = {"name": part.name, "stage": STAGES[part.stage]}
    result["dims"] = subsystem_dimensions(part)
    if is_full:
        result["stage_versions"] = [*part.stage_versions]
    variables: list[Json] = []
    while simbody.has_discrete_variable(part, len(variables)):
        variables.append(_variable(state, part, len(variables), is_full))
    entries: list[Json] = []
    while simbody.has_cache_entry(part, len(entries)):
        entries.append(_entry(state, part, len(entries), is_full))
    return result | {"dv": variables, "ce": entries}


def _variable(state: State, part: SubsystemState, index: int, is_full: bool) -> Json:
    variable = simbody.discrete_variable_info(part, index)
    result: dict[str, Json] = {
        "value": float(simbody.get_discrete_variable(part, variable)),
        "last_update": float(simbody.discrete_variable_last_update_time(part, variable)),
        "version": variable.version(state),
        "allocation": STAGES[variable.allocated_at],
        "invalidates": STAGES[variable.invalidates],
        "update_ce": -1 if variable.update is None else variable.update.index,
    }
    return result | {"dependents": keys(variable.dependents(state))} if is_full else result


def _entry(state: State, part: SubsystemState, index: int, is_full: bool) -> Json:
    entry = simbody.cache_entry_info(part, index)
    result: dict[str, Json] = {
        "allocation": STAGES[entry.allocated_at],
        "depends_on": STAGES[entry.available_from],
        "computed_by": STAGES[entry.computed_by],
        "realized": entry.is_valid(state),
    }
    if is_full:
        result |= {"value": raw_value(state, entry), "version": 0, "computed_version": 0}
        result["dependents"] = keys(entry.dependents(state))
    return result


def raw_value(state: State, entry: CacheEntry[Any]) -> float:
    """The value of an entry, whether it is realized or not."""
    return float(state._contents.realization.store.values[entry._node])
