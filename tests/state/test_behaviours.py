"""What Simbody's own tests assert of its State, and of kinematics that are computed lazily."""

import numpy as np
import pytest

from stagecache import Stage, State, simbody
from stagecache.errors import (
    PrerequisiteStageError,
    StageOrderError,
    StageOutOfRangeError,
    StageTooHighError,
    StageTooLowError,
    UnknownItemError,
)
from tests.state.realizing import realize, state_of

INFINITY = Stage.INFINITY


def test_a_state_advances_subsystems_first_and_one_stage_at_a_time() -> None:
    state = state_of("a", "b")
    with pytest.raises(StageOrderError):
        state.advance_to_stage(Stage.TOPOLOGY)
    state[0].advance_to_stage(Stage.TOPOLOGY)
    with pytest.raises(StageOrderError, match="subsystem 1 'b' at Empty"):
        state.advance_to_stage(Stage.TOPOLOGY)
    with pytest.raises(StageOrderError, match="one stage at a time: Model"):
        state[0].advance_to_stage(Stage.INSTANCE)
    state[1].advance_to_stage(Stage.TOPOLOGY)
    state.advance_to_stage(Stage.TOPOLOGY)
    assert (state[0].stage, state[1].stage, state.stage) == (Stage.TOPOLOGY,) * 3
    with pytest.raises(StageOrderError):
        state.advance_to_stage(Stage.TOPOLOGY)


def test_a_discrete_variable_is_allocated_before_the_stage_that_it_invalidates() -> None:
    state = state_of("a")
    subsystem = state[0]
    for stage in (Stage.EMPTY, Stage.TOPOLOGY, Stage.INFINITY):
        with pytest.raises(StageOutOfRangeError):
            subsystem.allocate_discrete_variable(stage, 1)
    model = subsystem.allocate_discrete_variable(Stage.MODEL, 1)
    subsystem.advance_to_stage(Stage.TOPOLOGY)
    with pytest.raises(StageTooHighError):
        subsystem.allocate_discrete_variable(Stage.MODEL, 1)
    instance = subsystem.allocate_discrete_variable(Stage.INSTANCE, 2)
    subsystem.advance_to_stage(Stage.MODEL)
    with pytest.raises(StageTooHighError):
        subsystem.allocate_discrete_variable(Stage.INSTANCE, 2)
    assert (model.allocated_at, instance.allocated_at) == (Stage.EMPTY, Stage.TOPOLOGY)
    assert (model.index, instance.index) == (0, 1)


def test_an_entry_is_realized_between_its_earliest_and_latest_stage_only_if_marked() -> None:
    state = state_of("a")
    entry = state[0].allocate_cache_entry(Stage.POSITION, Stage.VELOCITY, 1.0)
    realize(state, Stage.TIME)
    with pytest.raises(StageTooLowError):
        simbody.get_cache_entry(state[0], entry)
    realize(state, Stage.POSITION)
    assert not entry.is_valid(state)
    entry.mark_valid(state)
    assert entry.is_valid(state)
    state.invalidate_all(Stage.POSITION)
    realize(state, Stage.POSITION)
    assert not entry.is_valid(state)
    realize(state, Stage.VELOCITY)
    assert entry.is_valid(state)  # presumed
    state.invalidate_all(Stage.VELOCITY)
    assert not entry.is_valid(state)  # which falls with the stage


@pytest.mark.parametrize("written", ["z", "discrete", "upstream", "q", "u"])
def test_prerequisites_of_other_subsystems_decide_and_nothing_else(written: str) -> None:
    state = state_of("a", "b")
    state[0].allocate_q([1.0])
    state[0].allocate_u([2.0])
    state[0].allocate_z([3.0])
    mass = state[1].allocate_discrete_variable(Stage.REPORT, 1.0)
    upstream = state[1].allocate_lazy_cache_entry(Stage.TOPOLOGY, 0.0)
    entry = state[0].allocate_cache_entry_with_prerequisites(
        Stage.TOPOLOGY, INFINITY, (state.variable("z"), mass, upstream), 0.0
    )
    realize(state, Stage.REPORT)
    upstream.mark_valid(state)
    entry.mark_valid(state)
    if written == "discrete":
        mass.set(state, 2.0)
    elif written == "upstream":
        upstream.invalidate(state)
    else:
        setattr(state, written, [5.0])
    assert entry.is_valid(state) == (written in ("q", "u"))


def test_a_prerequisite_with_a_later_earliest_stage_is_refused() -> None:
    state = state_of("a")
    velocity = state[0].allocate_lazy_cache_entry(Stage.VELOCITY)
    with pytest.raises(PrerequisiteStageError, match="depends on Velocity"):
        state[0].allocate_cache_entry_with_prerequisites(Stage.POSITION, INFINITY, (velocity,))
    assert velocity.dependents(state) == ()
    assert not simbody.has_cache_entry(state[0], 1)


def test_a_copy_knows_the_dependents_and_invalidates_its_own() -> None:
    state = state_of("a", "b")
    mass = state[0].allocate_discrete_variable(Stage.INSTANCE, 1.0)
    first = state[0].allocate_lazy_cache_entry(Stage.TOPOLOGY)
    z = state.variable("z")
    allocate = state[1].allocate_cache_entry_with_prerequisites
    entries = [allocate(Stage.TOPOLOGY, INFINITY, (z, mass, first)) for _ in range(2)]
    realize(state, Stage.INSTANCE)
    for entry in (first, *entries):
        entry.mark_valid(state)
    twin = state.copy()
    assert (
        twin.variable("z").dependents(twin)
        == mass.dependents(twin)
        == first.dependents(twin)
        == tuple(entries)
    )
    mass.set(twin, 2.0)
    assert [e.is_valid(twin) for e in entries] == [False, False]
    assert [e.is_valid(state) for e in entries] == [True, True]


def test_backing_up_forgets_what_was_allocated_and_unregisters_it() -> None:
    state = state_of("a")
    subsystem = state[0]
    q = state.variable("q")
    stays = subsystem.allocate_cache_entry_with_prerequisites(Stage.TOPOLOGY, INFINITY, (q,))
    realize(state, Stage.TOPOLOGY)
    goes = subsystem.allocate_cache_entry_with_prerequisites(Stage.TOPOLOGY, INFINITY, (q, stays))
    variable = subsystem.allocate_discrete_variable(Stage.INSTANCE, 1)
    realize(state, Stage.INSTANCE)
    assert (state.variable("q").dependents(state), stays.dependents(state)) == (
        (stays, goes),
        (goes,),
    )
    state.invalidate_all(Stage.MODEL)
    assert (state.variable("q").dependents(state), stays.dependents(state)) == ((stays,), ())
    assert not simbody.has_cache_entry(subsystem, 1)
    assert not simbody.has_discrete_variable(subsystem, variable)
    with pytest.raises(UnknownItemError):
        simbody.get_discrete_variable(subsystem, 0)


def test_states_are_consistent_if_all_numbers_of_items_are_equal() -> None:
    def build(sizes: list[int]) -> State:
        state = state_of(*"ab"[: len(sizes)])
        for subsystem, size in zip(state, sizes, strict=True):
            subsystem.allocate_q(np.zeros(size))
            subsystem.allocate_qerr(size)
        return state

    state = realize(build([1, 2]), Stage.INSTANCE)
    assert simbody.is_consistent(state, state.copy())
    assert simbody.is_consistent(state, realize(build([1, 2]), Stage.REPORT))
    assert not simbody.is_consistent(state, realize(build([2, 1]), Stage.INSTANCE))
    assert not simbody.is_consistent(state, build([3]))
    with pytest.raises(StageTooLowError):
        simbody.is_consistent(state, build([1, 2]))


@pytest.fixture
def kinematics() -> State:
    """Position kinematics (entry 0) that depend on q, velocity kinematics (1) on them and on u."""
    state = state_of("matter")
    matter = state[0]
    matter.allocate_q([0.0])
    matter.allocate_u([0.0])
    position = matter.allocate_cache_entry_with_prerequisites(
        Stage.TIME, Stage.POSITION, (state.variable("q"),)
    )
    matter.allocate_cache_entry_with_prerequisites(
        Stage.TIME, Stage.VELOCITY, (state.variable("u"), position)
    )
    return realize(state, Stage.VELOCITY)


def realized(state: State) -> list[bool]:
    return [simbody.is_cache_value_realized(state[0], i) for i in (0, 1)]


def test_a_write_of_q_kills_position_and_velocity_kinematics(kinematics: State) -> None:
    assert realized(kinematics) == [True, True]
    kinematics.upd_q()
    assert realized(kinematics) == [False, False]


def test_a_write_of_u_kills_velocity_kinematics_only(kinematics: State) -> None:
    kinematics.upd_u()
    assert realized(kinematics) == [True, False]


def test_realizing_positions_again_does_not_revive_velocity_kinematics(kinematics: State) -> None:
    kinematics.upd_q()
    realize(kinematics, Stage.POSITION)
    assert realized(kinematics) == [True, False]
    realize(kinematics, Stage.VELOCITY)
    assert realized(kinematics) == [True, True]


def test_kinematics_can_be_computed_before_their_stage_is_realized(kinematics: State) -> None:
    kinematics.upd_q()
    simbody.mark_cache_value_realized(kinematics[0], 0)
    assert realized(kinematics) == [True, False]
    simbody.mark_cache_value_realized(kinematics[0], 1)
    assert (realized(kinematics), kinematics.stage) == ([True, True], Stage.TIME)
