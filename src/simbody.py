"""Simbody's view of a State: items by index, and members that handles or a State do better.

A documented member of Simbody's `State` that is not a member of `State` here is a function of this
module, under the member's name in Python. ``part`` is a State or, where Simbody takes the index of
a subsystem, its partition ``state[subsystem]``; an item is given by its handle, or by its index
among the items of its kind in the subsystem, in the order of allocation.
docs/coming_from/simbody.csv lists all documented members with their names here.

>>> from stagecache import Stage, State, simbody
>>> state = State()
>>> part = state[state.add_subsystem("pendulum")]
>>> mass = part.allocate_discrete_variable(Stage.DYNAMICS, 2.0)
>>> simbody.set_discrete_variable(part, 0, 3.0)
>>> mass(state), simbody.discrete_variable_info(part, 0) is mass
(3.0, True)
"""

from collections.abc import Sequence
from typing import Any, SupportsIndex, TypeVar

from stagecache.checks import require_count, require_type, whole_number
from stagecache.errors import NoUpdateEntryError, StageTooLowError, short_repr
from stagecache.state.handles import AbstractHandle, CacheEntry, DiscreteVariable, Vector
from stagecache.state.partition import AbstractPartition
from stagecache.state.refusals import check_index
from stagecache.state.stage import Stage, check_stage
from stagecache.state.state import State, require_state
from stagecache.state.subsystem_state import SubsystemState
from stagecache.state.vectors.vectors import (
    EVENT_TRIGGERS,
    YDOT,
    YERR,
)

H = TypeVar("H", bound=AbstractHandle)
Index = SupportsIndex | AbstractHandle

# ------------------------------------------------------------------ the State as a whole


def set_num_subsystems(state: State, count: int) -> None:
    """Forget everything, and add that many subsystems without names.

    Raises
    ------
    OutOfRangeError
    """
    state = require_state(state)
    count = require_count(count, 0, "the number of subsystems")
    state.clear()
    for _ in range(count):
        state.add_subsystem()


def initialize_subsystem(state: State, index: int, name: str, version: str) -> None:
    """Give a subsystem a name and a version.

    Raises
    ------
    UnknownSubsystemError
    """
    require_state(state)._rename_subsystem(index, name, version)


def is_consistent(state: State, other: State) -> bool:
    """Compare the numbers of items of two States, in all and in each subsystem.

    Raises
    ------
    StageTooLowError
        The numbers are not known yet in one of them.
    """
    if len(require_state(state)) != len(require_state(other)):
        return False
    one, two = state._contents, other._contents
    same_sizes = all(
        one.size(part, x) == two.size(part, x)
        for part in ("q", "u", "z", "qerr", "uerr", "udoterr")
        for x in (None, *range(len(state)))
    )
    return same_sizes and one.pools.trigger_starts == two.pools.trigger_starts


def invalidate_all_cache_at_or_above(state: State, stage: Stage) -> None:
    """Invalidate Instance or a later stage, at which no variable is lost.

    Raises
    ------
    StageTooLowError
        The stage comes before Instance.
    """
    what = "invalidate_all_cache_at_or_above()"
    stage = check_stage(stage, Stage.EMPTY, Stage.INFINITY, what)
    if stage < Stage.INSTANCE:
        raise StageTooLowError(
            f"{what}: would lose variables",
            f"{Stage.INSTANCE} or a later stage",
            f"{stage}",
            f"call invalidate_all(Stage.{stage.name}) if that is meant",
        )
    require_state(state).invalidate_all(stage)


# ------------------------------------------------------------------ vectors


def qerr_start(part: AbstractPartition) -> int:
    """Return the start of qerr in yerr; for a subsystem, in the system's qerr."""
    part = _any_part(part)
    return part._contents.start("qerr", part._index)


def uerr_start(part: AbstractPartition) -> int:
    """Return the start of uerr in yerr; for a subsystem, in the system's uerr."""
    part = _any_part(part)
    return part._contents.start("uerr", part._index)


def udoterr_start(part: AbstractPartition) -> int:
    """Return the start of udoterr, and so of the multipliers, in the system's."""
    part = _any_part(part)
    return part._contents.start("udoterr", part._index)


def num_event_triggers_by_stage(part: AbstractPartition, stage: Stage) -> int:
    """Count the event triggers of a stage. Needs the system at Instance."""
    part = _any_part(part)
    return part._contents.num_triggers(stage, part._index)


def event_trigger_start_by_stage(part: AbstractPartition, stage: Stage) -> int:
    """Return the start of the event triggers of a stage.

    The system's start among all triggers, a subsystem's among the triggers of that stage.
    """
    part = _any_part(part)
    return part._contents.trigger_start(stage, part._index)


def upd_ydot(state: State) -> Vector:
    """Return the writable `State.ydot`; sealed when it can be read. Invalidates nothing."""
    return require_state(state)._contents.upd(YDOT, None)


def upd_yerr(state: State) -> Vector:
    """Return the writable `State.yerr`; sealed when it can be read. Invalidates nothing."""
    return require_state(state)._contents.upd(YERR, None)


def upd_event_triggers(state: State) -> Vector:
    """Return the writable `State.event_triggers`; sealed when they can be read."""
    return require_state(state)._contents.upd(EVENT_TRIGGERS, None)


# ------------------------------------------------------------------ discrete variables


def has_discrete_variable(part: SubsystemState, index: Index) -> bool:
    """Return True if there is a discrete variable of that index, or with that handle."""
    part = _part(part)
    return _is_item(index, part._layout.discrete)


def discrete_variable_info(part: SubsystemState, index: Index) -> DiscreteVariable[Any]:
    """Return the handle of a discrete variable.

    Raises
    ------
    UnknownItemError
    """
    part = _part(part)
    return _item(part, index, DiscreteVariable, part._layout.discrete, "discrete variable")


def discrete_variable_last_update_time(part: SubsystemState, index: Index) -> float:
    """Return the time of the last write or exchange; NaN before the first.

    Raises
    ------
    UnknownItemError
    """
    part = _part(part)
    return part._contents.update_time(discrete_variable_info(part, index))


def get_discrete_variable(part: SubsystemState, index: Index) -> Any:
    """Return the value, at any stage.

    Raises
    ------
    UnknownItemError
    """
    part = _part(part)
    return part._contents.get_discrete(discrete_variable_info(part, index))


def set_discrete_variable(part: SubsystemState, index: Index, value: object) -> None:
    """Replace the value: `DiscreteVariable.set`.

    Raises
    ------
    UnknownItemError
    """
    part = _part(part)
    part._contents.set_discrete(discrete_variable_info(part, index), value)


def upd_discrete_variable(part: SubsystemState, index: Index) -> Any:
    """Return the value to be changed in place: `DiscreteVariable.upd`.

    Raises
    ------
    UnknownItemError
    """
    part = _part(part)
    return part._contents.upd_discrete(discrete_variable_info(part, index))


def discrete_variable_update_index(part: SubsystemState, index: Index) -> int | None:
    """Return the index of the update entry, or None.

    Raises
    ------
    UnknownItemError
    """
    part = _part(part)
    update = discrete_variable_info(part, index).update
    return None if update is None else update.index


def get_discrete_variable_update_value(part: SubsystemState, index: Index) -> Any:
    """Return the value of the update entry, which must be valid.

    Raises
    ------
    UnknownItemError
    NoUpdateEntryError, CacheEntryOutOfDateError, StageTooLowError
    """
    part = _part(part)
    return part._contents.get_entry(_update_entry(part, index))


def upd_discrete_variable_update_value(part: SubsystemState, index: Index) -> Any:
    """Return the value of the update entry, to be changed in place.

    Raises
    ------
    UnknownItemError
    """
    part = _part(part)
    return part._contents.upd_entry(_update_entry(part, index))


def is_discrete_variable_update_value_realized(part: SubsystemState, index: Index) -> bool:
    """Return True if the update entry is valid, so that an automatic update would take place.

    Raises
    ------
    UnknownItemError
    """
    part = _part(part)
    return part._contents.is_valid(_update_entry(part, index))


def mark_discrete_variable_update_value_realized(part: SubsystemState, index: Index) -> None:
    """Count the value of the update entry as computed now.

    Raises
    ------
    UnknownItemError
    """
    part = _part(part)
    part._contents.mark(_update_entry(part, index))


def _update_entry(part: SubsystemState, index: Index) -> CacheEntry[Any]:
    variable = discrete_variable_info(part, index)
    if variable.update is None:
        raise NoUpdateEntryError(
            f"{part._contents.realization.layout.path(variable)}: has no update value",
            "an auto-update discrete variable",
            "a plain one",
            "allocate it by allocate_auto_update_discrete_variable()",
        )
    return variable.update


# ------------------------------------------------------------------ cache entries


def has_cache_entry(part: SubsystemState, index: Index) -> bool:
    """Return True if there is a cache entry of that index, or with that handle."""
    part = _part(part)
    return _is_item(index, part._layout.entries)


def cache_entry_info(part: SubsystemState, index: Index) -> CacheEntry[Any]:
    """Return the handle of a cache entry.

    Raises
    ------
    UnknownItemError
    """
    part = _part(part)
    return _item(part, index, CacheEntry, part._layout.entries, "cache entry")


def get_cache_entry(part: SubsystemState, index: Index) -> Any:
    """Return the value, which must be valid; never compute it.

    Raises
    ------
    UnknownItemError
    CacheEntryOutOfDateError
        The message names what made it stale.
    StageTooLowError
    """
    part = _part(part)
    return part._contents.get_entry(cache_entry_info(part, index))


def upd_cache_entry(part: SubsystemState, index: Index) -> Any:
    """Return the value to be changed in place: `CacheEntry.upd`.

    Raises
    ------
    UnknownItemError
    """
    part = _part(part)
    return part._contents.upd_entry(cache_entry_info(part, index))


def is_cache_value_realized(part: SubsystemState, index: Index) -> bool:
    """Return True if the value is valid. Cost O(1).

    Raises
    ------
    UnknownItemError
    """
    part = _part(part)
    return part._contents.is_valid(cache_entry_info(part, index))


def mark_cache_value_realized(part: SubsystemState, index: Index) -> None:
    """Count the value as computed now: `CacheEntry.mark_valid`.

    Raises
    ------
    UnknownItemError
    """
    part = _part(part)
    part._contents.mark(cache_entry_info(part, index))


def mark_cache_value_not_realized(part: SubsystemState, index: Index) -> None:
    """Make the entry stale, and all that depends on it: `CacheEntry.invalidate`.

    Raises
    ------
    UnknownItemError
    """
    part = _part(part)
    part._contents.unmark(cache_entry_info(part, index))


# ------------------------------------------------------------------ what is passed


def _part(part: SubsystemState) -> SubsystemState:
    what, hint = f"{short_repr(part)}: not of a subsystem", "pass state[subsystem]"
    return require_type(part, SubsystemState, what, "the partition of a subsystem", hint)


def _any_part(part: AbstractPartition) -> AbstractPartition:
    return part if isinstance(part, SubsystemState) else require_state(part)


# ------------------------------------------------------------------ items by handle or index


def _is_item(item: object, items: Sequence[AbstractHandle]) -> bool:
    """Return True if there is an item of that index, or with that handle."""
    if isinstance(item, AbstractHandle):
        return item.index < len(items) and items[item.index] is item
    number = whole_number(item)
    return number is not None and 0 <= number < len(items)


def _item(part: SubsystemState, index: Index, cls: type[H], items: Sequence[H], kind: str) -> H:
    """Return the handle of an item of a subsystem, given by itself or by its index."""
    if isinstance(index, cls):
        part._contents.require_of(index, part.index)
        return index
    return items[check_index(index, len(items), kind, part._contents.who(part.index))]
