"""Why an entry is not valid: the error names what made it stale."""

import pytest

from stagecache import CacheEntry, DiscreteVariable, Stage, State, simbody
from stagecache.errors import CacheEntryOutOfDateError, StageTooLowError
from tests.state.realizing import realize, state_of

TOPOLOGY, INSTANCE, TIME, POSITION = Stage.TOPOLOGY, Stage.INSTANCE, Stage.TIME, Stage.POSITION
INFINITY = Stage.INFINITY


def build() -> State:
    state = state_of("arm")
    angle = state[0].allocate_q([1.0], name="angle")
    mass = state[0].allocate_discrete_variable(INSTANCE, 1.0, name="mass")
    tip = state[0].allocate_cache_entry_with_prerequisites(
        TOPOLOGY, INFINITY, (angle, mass), name="tip"
    )
    state[0].allocate_cache_entry_with_prerequisites(TIME, INFINITY, (tip,), name="pull")
    realize(state, POSITION)
    for entry in (0, 1):
        simbody.mark_cache_value_realized(state[0], entry)
    return state


def reason(state: State, entry: int = 1) -> str:
    with pytest.raises(CacheEntryOutOfDateError) as refused:
        simbody.get_cache_entry(state[0], entry)
    assert str(refused.value).startswith("cache entry 'pull' of subsystem 0 'arm': is not valid")
    return refused.value.got


def test_a_variable_that_was_written() -> None:
    state = build()
    state[0].upd_q()
    assert reason(state) == (
        "stale since a change of q block 'angle' of subsystem 0 'arm' (now version 2)"
    )
    state.copy()


def test_the_variable_written_first_and_the_one_written_later() -> None:
    state = build()
    simbody.set_discrete_variable(state[0], 0, 2.0)
    state.upd_q()
    realize(state, TIME)
    got = reason(state)
    assert "discrete variable 'mass' of subsystem 0 'arm' (now version 2)" in got
    assert "q block 'angle'" in got
    assert "stage Instance, invalidated by discrete variable 'mass'" in got


def test_a_stage_that_was_invalidated() -> None:
    state = build()
    state.time = 1.0
    realize(state, TIME)
    assert reason(state) == "stale since a change of stage Time, invalidated by time"
    state = build()
    state.invalidate_all(TIME)
    realize(state, TIME)
    assert reason(state) == (
        "stale since a change of stage Time, invalidated by invalidate_all(Time)"
    )


def test_an_entry_that_was_presumed_computed() -> None:
    state = state_of("arm")
    mass = state[0].allocate_discrete_variable(Stage.REPORT, 1.0, name="mass")
    state[0].allocate_cache_entry_with_prerequisites(POSITION, POSITION, (mass,), name="pull")
    realize(state, POSITION)
    mass.set(state, 2.0)
    assert reason(state, 0) == (
        "stale since a change of discrete variable 'mass' of subsystem 0 'arm' (now version 2)"
    )


def test_an_explicit_invalidation_upstream() -> None:
    state = build()
    simbody.mark_cache_value_not_realized(state[0], 0)
    assert reason(state) == (
        "it was not marked since it was allocated or invalidated, nor was cache entry 'tip' of "
        "subsystem 0 'arm'"
    )


def test_the_reason_is_the_same_in_a_deep_chain() -> None:
    state = state_of("arm")
    block = state[0].allocate_q([1.0], name="angle")
    bottom = state[0].allocate_cache_entry_with_prerequisites(
        TOPOLOGY, INFINITY, (block,), 1.0, name="pull"
    )
    above = bottom
    for _ in range(100):
        above = one_more(state, above)
    realize(state, INSTANCE)
    bottom.mark_valid(state)
    assert above(state) == 101.0
    block.upd(state)
    with pytest.raises(CacheEntryOutOfDateError, match="stale since a change of q block 'angle'"):
        above(state)
    assert "stale since" in reason(state, bottom.index)


def one_more(state: State, above: CacheEntry[float]) -> CacheEntry[float]:
    return state[0].allocate_cache_entry_with_prerequisites(
        TOPOLOGY, INFINITY, (above,), compute=lambda state: above(state) + 1
    )


def test_a_copy() -> None:
    twin = realize(build().copy(), TIME)
    assert "invalidated by the copy of the State" in reason(twin)


def test_a_stage_that_it_waits_for() -> None:
    state = build()
    state.invalidate_all(TIME)
    with pytest.raises(StageTooLowError) as refused:
        simbody.get_cache_entry(state[0], 1)
    assert str(refused.value) == (
        "cache entry 'pull' of subsystem 0 'arm': needs a later stage\n"
        "  expected: subsystem 0 'arm' at Time or later\n"
        "  got:      subsystem 0 'arm' at Instance\n"
        "  hint:     call system.realize(state, Stage.TIME) first; or, without a System, "
        "advance_to_stage(), stage by stage"
    )


def test_an_entry_that_is_being_computed() -> None:
    state = state_of("arm")

    def compute(state: State) -> object:
        return simbody.get_cache_entry(state[0], 0)

    entry = state[0].allocate_lazy_cache_entry(TOPOLOGY, compute=compute, name="pull")
    realize(state, INSTANCE)
    with pytest.raises(CacheEntryOutOfDateError, match="it is being computed"):
        entry(state)


def test_an_entry_that_was_never_marked_and_those_above_it_that_were_not_either() -> None:
    state = state_of("arm")
    tip = state[0].allocate_lazy_cache_entry(TOPOLOGY, name="tip")
    pull = state[0].allocate_cache_entry_with_prerequisites(TOPOLOGY, INFINITY, (tip,), name="pull")
    realize(state, INSTANCE)
    alone = "it was not marked since it was allocated or invalidated"
    with pytest.raises(CacheEntryOutOfDateError) as refused:
        tip(state)
    assert refused.value.got == alone
    with pytest.raises(CacheEntryOutOfDateError) as refused:
        pull(state)
    assert refused.value.got == f"{alone}, nor was cache entry 'tip' of subsystem 0 'arm'"


def test_the_subsystem_of_an_entry_far_upstream_is_the_one_that_it_waits_for() -> None:
    state = state_of("arm", "motor")
    heat = state[1].allocate_cache_entry_with_prerequisites(TIME, INFINITY, (), name="heat")
    torque = state[1].allocate_cache_entry_with_prerequisites(TIME, INFINITY, (heat,))
    pull = state[0].allocate_cache_entry_with_prerequisites(
        TIME, INFINITY, (torque,), compute=torque, name="pull"
    )
    above = state[0].allocate_cache_entry_with_prerequisites(TIME, INFINITY, (pull,))
    realize(state, INSTANCE)
    state[0].advance_to_stage(TIME)
    for entry in (pull, above):
        with pytest.raises(StageTooLowError) as refused:
            entry(state)
        assert refused.value.expected == "subsystem 1 'motor' at Time or later"
        assert refused.value.got == "subsystem 1 'motor' at Instance"


def presumed(computed_by: Stage) -> tuple[State, DiscreteVariable[float], CacheEntry[float]]:
    """A State with an entry of subsystem 1 that is presumed computed at a stage."""
    state = state_of("motor", "arm")
    mass = state[1].allocate_discrete_variable(Stage.REPORT, 1.0, name="mass")
    pull = state[1].allocate_cache_entry_with_prerequisites(
        TOPOLOGY, computed_by, (mass,), name="pull"
    )
    return realize(state, TIME), mass, pull


NEVER_MARKED = "it was not marked since it was allocated or invalidated"


def got(state: State, entry: CacheEntry[float]) -> str:
    with pytest.raises(CacheEntryOutOfDateError) as refused:
        entry(state)
    return refused.value.got


def test_an_entry_is_presumed_computed_where_its_own_subsystem_is() -> None:
    state, mass, pull = presumed(POSITION)
    assert got(state, pull) == NEVER_MARKED
    state[1].advance_to_stage(POSITION)
    mass.set(state, 2.0)
    assert got(state, pull) == (
        "stale since a change of discrete variable 'mass' of subsystem 1 'arm' (now version 2)"
    )
    state.invalidate_all(POSITION)
    assert got(state, pull) == NEVER_MARKED, "it is presumed computed from Position on only"


def test_an_entry_that_was_allocated_at_the_stage_that_computes_it_was_not_computed() -> None:
    state = state_of("arm")
    mass = state[0].allocate_discrete_variable(Stage.REPORT, 1.0, name="mass")
    realize(state, Stage.MODEL)
    pull, marked = [
        state[0].allocate_cache_entry_with_prerequisites(TOPOLOGY, Stage.MODEL, (mass,))
        for _ in range(2)
    ]
    marked.mark_valid(state)
    mass.set(state, 2.0)
    assert got(state, pull) == NEVER_MARKED
    assert got(state, marked).startswith("stale since a change of discrete variable 'mass'")


def test_a_change_above_a_compared_entry_is_named_until_a_read_has_looked_into_it() -> None:
    state = state_of("arm")
    mass = state[0].allocate_discrete_variable(INSTANCE, 1.0, name="mass")
    allocate = state[0].allocate_cache_entry_with_prerequisites
    side = allocate(TOPOLOGY, INFINITY, (mass,), compute=lambda state: 1.0, equal=True)
    pull = allocate(TOPOLOGY, INFINITY, (side,))
    realize(state, INSTANCE)
    side(state)
    pull.mark_valid(state)
    mass.set(state, 2.0)
    realize(state, INSTANCE)
    assert side(state) == 1.0
    assert got(state, pull) == (
        "stale since a change of discrete variable 'mass' of subsystem 0 'arm' (now version 2)"
    )
