"""Discrete variables and cache entries of a subsystem."""

import math

import numpy as np
import pytest

from stagecache import Stage, State, simbody
from stagecache.errors import (
    CacheEntryOutOfDateError,
    NoUpdateEntryError,
    StageTooLowError,
    UnknownItemError,
    UnknownSubsystemError,
)
from tests.state.realizing import realize, state_of

TOPOLOGY, INSTANCE, TIME, POSITION = Stage.TOPOLOGY, Stage.INSTANCE, Stage.TIME, Stage.POSITION
VELOCITY, REPORT, INFINITY = Stage.VELOCITY, Stage.REPORT, Stage.INFINITY


def test_a_discrete_variable_is_written_at_any_stage() -> None:
    state = state_of("a")
    mass = state[0].allocate_discrete_variable(POSITION, 1.0)
    assert (mass(state), mass.version(state)) == (1.0, 1)
    mass.set(state, 2.0)
    assert (mass(state), mass.version(state), state[0].stage) == (2.0, 2, Stage.EMPTY)
    assert math.isnan(simbody.discrete_variable_last_update_time(state[0], mass))
    realize(state, REPORT)
    state.time = 3.0
    realize(state, REPORT)
    simbody.set_discrete_variable(state[0], mass, 4.0)
    assert (mass(state), mass.version(state), state.stage) == (4.0, 3, TIME)
    assert simbody.discrete_variable_last_update_time(state[0], 0) == 3.0


def test_a_write_below_its_stage_changes_no_version_of_a_stage() -> None:
    state = realize_with_mass(TIME)
    saved = state.stage_versions
    simbody.set_discrete_variable(state[0], 0, 2.0)
    assert (state.stage, state.stage_versions) == (TIME, saved)
    assert state.lowest_stage_difference(saved) is INFINITY


def realize_with_mass(stage: Stage) -> State:
    state = state_of("a")
    state[0].allocate_discrete_variable(POSITION, 1.0)
    return realize(state, stage)


def test_an_array_is_kept_as_a_private_read_only_copy() -> None:
    state = state_of("a")
    array = np.array([1.0, 2.0])
    variable = state[0].allocate_discrete_variable(REPORT, array)
    array[0] = 9
    assert list(variable(state)) == [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        variable(state)[0] = 9
    held = variable(state)
    variable.upd(state)[0] = 5
    assert (list(held), list(variable(state))) == ([1, 2], [5, 2])


def test_a_mutable_value_is_changed_in_place_and_an_immutable_one_returned() -> None:
    state = state_of("a")
    names = state[0].allocate_discrete_variable(REPORT, ["x"])
    mass = state[0].allocate_discrete_variable(REPORT, 1.0)
    names.upd(state).append("y")
    assert names(state) == ["x", "y"]
    assert (mass.upd(state), mass.version(state)) == (1.0, 2)


def auto() -> State:
    """A State at Velocity, whose auto-update variable 0 has an explicit dependent, entry 1."""
    state = state_of("a")
    variable = state[0].allocate_auto_update_discrete_variable(POSITION, 1.0, VELOCITY)
    for upstream in (variable, simbody.cache_entry_info(state[0], 0)):
        state[0].allocate_cache_entry_with_prerequisites(VELOCITY, INFINITY, (upstream,))
    state[0].allocate_discrete_variable(REPORT, 7)
    realize(state, VELOCITY)
    for entry in (1, 2):
        simbody.mark_cache_value_realized(state[0], entry)
    return state


def test_the_update_value_is_not_the_value() -> None:
    state = state_of("a")
    variable = state[0].allocate_auto_update_discrete_variable(POSITION, [1], VELOCITY)
    simbody.upd_discrete_variable_update_value(state[0], variable).append(2)
    assert (variable(state), variable.version(state)) == ([1], 1)


def test_an_automatic_update_exchanges_the_values_and_leaves_stages_alone() -> None:
    state = auto()
    subsystem = state[0]
    simbody.upd_discrete_variable_update_value(subsystem, 0)
    simbody.cache_entry_info(subsystem, 0).set(state, 2.0)
    assert not simbody.is_discrete_variable_update_value_realized(subsystem, 0)
    state.auto_update_discrete_variables()
    assert simbody.get_discrete_variable(subsystem, 0) == 1.0
    simbody.mark_discrete_variable_update_value_realized(subsystem, 0)
    assert simbody.get_discrete_variable_update_value(subsystem, 0) == 2.0
    assert [simbody.is_cache_value_realized(subsystem, i) for i in (0, 1, 2)] == [True, True, True]
    saved = state.stage_versions
    state.auto_update_discrete_variables()
    assert (simbody.get_discrete_variable(subsystem, 0), state.stage_versions) == (2.0, saved)
    assert simbody.discrete_variable_info(subsystem, 0).version(state) == 2
    assert simbody.discrete_variable_last_update_time(subsystem, 0) == 0.0
    assert [simbody.is_cache_value_realized(subsystem, i) for i in (0, 1, 2)] == [
        False,
        False,
        False,
    ]
    with pytest.raises(CacheEntryOutOfDateError):
        simbody.get_discrete_variable_update_value(subsystem, 0)


def test_a_write_makes_the_update_value_unrealized_even_where_the_stage_stays() -> None:
    state = auto()
    simbody.mark_discrete_variable_update_value_realized(state[0], 0)
    simbody.set_discrete_variable(state[0], 0, 5.0)
    realize(state, VELOCITY)
    assert not simbody.is_discrete_variable_update_value_realized(state[0], 0)


def test_one_exchange_does_not_stop_another() -> None:
    """What is exchanged is decided before the first exchange."""
    state = state_of("a")
    first = state[0].allocate_auto_update_discrete_variable(POSITION, 1, TIME)
    second = state[0].allocate_auto_update_discrete_variable(POSITION, 10, TIME)
    state[0].allocate_cache_entry_with_prerequisites(TIME, INFINITY, (first,))
    realize(state, TIME)
    for variable, value in ((first, 2), (second, 20)):
        variable.update.set(state, value)
        variable.update.mark_valid(state)
    state.auto_update_discrete_variables()
    assert (first(state), second(state)) == (2, 20)


def test_a_plain_variable_has_no_update_value() -> None:
    state = auto()
    assert simbody.discrete_variable_update_index(state[0], 1) is None
    assert simbody.discrete_variable_update_index(state[0], 0) == 0
    for call in (
        simbody.get_discrete_variable_update_value,
        simbody.upd_discrete_variable_update_value,
        simbody.is_discrete_variable_update_value_realized,
        simbody.mark_discrete_variable_update_value_realized,
    ):
        with pytest.raises(NoUpdateEntryError, match="discrete variable 1 of subsystem 0 'a'"):
            call(state[0], 1)


def test_an_entry_is_marked_no_earlier_where_another_subsystem_is_ahead() -> None:
    state = realize(state_of("ahead", "behind"), INSTANCE)
    state.invalidate_all(Stage.MODEL)
    entry = state[1].allocate_lazy_cache_entry(POSITION, 1)
    for stage in (Stage.MODEL, INSTANCE, TIME):
        state[0].advance_to_stage(stage)
    with pytest.raises(StageTooLowError, match="subsystem 1 'behind' at Time or later"):
        entry.mark_valid(state)


def test_an_entry_can_be_marked_one_stage_early_and_is_void_if_something_changes() -> None:
    state = state_of("a")
    entry = state[0].allocate_lazy_cache_entry(POSITION, 1)
    realize(state, INSTANCE)
    with pytest.raises(StageTooLowError, match="Time or later"):
        entry.mark_valid(state)
    realize(state, TIME)
    entry.mark_valid(state)
    assert not entry.is_valid(state)
    realize(state, POSITION)
    assert entry.is_valid(state)
    state.invalidate_all(TIME)
    realize(state, TIME)
    entry.mark_valid(state)
    state.time = 1.0
    realize(state, POSITION)
    assert not entry.is_valid(state)


def test_a_change_or_an_invalidation_shows_even_where_the_latest_stage_is_reached() -> None:
    state = state_of("a")
    z = state.variable("z")
    state[0].allocate_z([1.0])
    entry = state[0].allocate_cache_entry_with_prerequisites(TIME, VELOCITY, (z,), 1)
    realize(state, VELOCITY)
    assert entry.is_valid(state)
    z.set(state, [2.0])
    assert (state.stage, entry.is_valid(state)) == (VELOCITY, False)
    entry.mark_valid(state)
    entry.invalidate(state)
    assert not entry.is_valid(state)
    state.invalidate_all(VELOCITY)
    assert not entry.is_valid(state)
    realize(state, VELOCITY)
    assert entry.is_valid(state)


def test_an_entry_waits_for_the_subsystem_of_an_entry_upstream() -> None:
    state = state_of("upper", "lower")
    upstream = state[1].allocate_lazy_cache_entry(POSITION)
    entry = state[0].allocate_cache_entry_with_prerequisites(POSITION, INFINITY, (upstream,))
    realize(state, TIME)
    state[0].advance_to_stage(POSITION)
    entry.mark_valid(state)
    with pytest.raises(StageTooLowError, match="which depends on cache entry 0 of subsystem 1"):
        simbody.get_cache_entry(state[0], entry)
    state[1].advance_to_stage(POSITION)
    assert entry.is_valid(state)


def test_writing_a_block_leaves_what_depends_on_others() -> None:
    state = state_of("a", "b")
    blocks = [s.allocate_q([1.0]) for s in state] + [state[1].allocate_q([2.0, 3.0])]
    aggregates = [state.variable("q"), state[0].variable("q"), state[1].variable("q")]
    allocate = state[0].allocate_cache_entry_with_prerequisites
    entries = [allocate(TOPOLOGY, INFINITY, (p,)) for p in [*blocks, *aggregates]]
    realize(state, INSTANCE)

    def stale_after(variable: int) -> list[int]:
        for entry in entries:
            entry.mark_valid(state)
        [*blocks, *aggregates][variable].upd(state)
        return [i for i, entry in enumerate(entries) if not entry.is_valid(state)]

    assert stale_after(0) == [0, 3, 4]
    assert stale_after(1) == [1, 3, 5]
    assert stale_after(2) == [2, 3, 5]
    assert stale_after(3) == [0, 1, 2, 3, 4, 5]
    assert stale_after(4) == [0, 3, 4]
    assert stale_after(5) == [1, 2, 3, 5]
    blocks[2].set(state, [8.0, 9.0])
    assert [list(b(state)) for b in blocks] == [[1], [1], [8, 9]]
    assert list(state[1].q) == [1, 8, 9]
    assert [v.version(state) for v in blocks] == [4, 4, 5]
    assert state.variable("q").version(state) == 8


def test_items_are_found_by_index_and_by_handle() -> None:
    state = auto()
    entry = simbody.cache_entry_info(state[0], np.int64(1))
    assert simbody.cache_entry_info(state[0], entry) is entry
    assert simbody.has_cache_entry(state[0], entry)
    assert not simbody.has_cache_entry(state[0], 3)
    assert (entry.available_from, entry.computed_by) == (VELOCITY, INFINITY)
    assert simbody.cache_entry_info(state[0], 1).allocated_at is Stage.EMPTY
    assert simbody.discrete_variable_info(state[0], 0).allocated_at is Stage.EMPTY
    assert simbody.discrete_variable_info(state[0], 0).invalidates is POSITION
    assert not simbody.has_cache_entry(state[0], "x")  # type: ignore[arg-type]  # is none
    for bad in (-1, 3, 1.5, "x", None, True, np.array([0])):
        with pytest.raises(UnknownItemError, match="subsystem 0 'a'"):
            simbody.get_cache_entry(state[0], bad)  # type: ignore[arg-type]  # is refused
    for missing in (-1, 1, "nobody", int, np.array([0])):
        with pytest.raises(UnknownSubsystemError):
            state[missing]  # type: ignore[index]  # is refused
