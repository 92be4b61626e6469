"""Views that were handed out for writing are sealed as soon as something is computed from them."""

import weakref
from collections.abc import Callable

import numpy as np
import pytest

from stagecache import Stage, State, simbody
from tests.state.realizing import realize, state_of, upd


def build() -> State:
    state = state_of("a", "b")
    state[0].allocate_q([1.0, 2.0], name="angles")
    state[1].allocate_q([3.0])
    state[1].allocate_qerr(1)
    state[0].allocate_discrete_variable(Stage.INSTANCE, np.zeros(2), name="masses")
    state[0].allocate_lazy_cache_entry(Stage.TOPOLOGY, np.zeros(2))
    state[0].allocate_lazy_cache_entry(Stage.TOPOLOGY)
    return realize(state, Stage.TIME)


def sealed(view: np.ndarray) -> bool:
    try:
        view[...] = 7.0
    except ValueError:
        return True
    return False


COMPUTATIONS: dict[str, Callable[[State], object]] = {
    "advancing a subsystem": lambda state: state[0].advance_to_stage(state.stage.next()),
    "marking an entry": lambda state: simbody.mark_cache_value_realized(state[0], 0),
}
WRITES: dict[str, Callable[[State], np.ndarray]] = {
    "all": lambda state: state.upd_q(),
    "a partition": lambda state: state[1].upd_q(),
    "a block": lambda state: state[0].variable("q").upd(state),
    "weights": lambda state: state.upd_qerr_weights(),
    "a discrete variable": lambda state: simbody.upd_discrete_variable(state[0], 0),
}


@pytest.mark.parametrize("computation", COMPUTATIONS.values(), ids=COMPUTATIONS)
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_variable_is_sealed_by(
    write: Callable[[State], np.ndarray],
    computation: Callable[[State], object],
) -> None:
    state = build()
    view = write(state)
    assert not sealed(view)
    computation(state)
    assert sealed(view)
    assert not sealed(write(state))


def test_a_computation_seals_what_it_may_have_read() -> None:
    state = state_of("a")
    block = state[0].allocate_q([1.0])
    entry = state[0].allocate_cache_entry_with_prerequisites(
        Stage.TOPOLOGY, Stage.INFINITY, (block,), compute=lambda state: block(state).sum()
    )
    realize(state, Stage.TIME)
    view = block.upd(state)
    assert entry(state) == 1.0
    assert sealed(view)


def test_the_same_view_is_handed_out_until_it_is_sealed() -> None:
    state = build()
    first = state.upd_q()
    assert state.upd_q() is first
    realize(state, Stage.POSITION)
    assert state.upd_q() is not first


def test_a_block_without_items_is_not_handed_out_in_place_of_the_subsystems_q() -> None:
    state = state_of("a")
    empty, _ = state[0].allocate_q([]), state[0].allocate_q([1.0])
    realize(state, Stage.MODEL)
    assert empty.upd(state).size == 0
    state[0].upd_q()[:] = 2.0
    assert state.q.tolist() == [2.0]


def test_a_cache_is_sealed_when_the_stage_is_reached_at_which_it_is_read() -> None:
    state = build()
    whole, part = state.upd_qerr(), state[1].upd_qerr()
    simbody.mark_cache_value_realized(state[0], 0)
    assert not sealed(part)
    state[0].advance_to_stage(Stage.POSITION)
    assert not sealed(part)
    assert sealed(whole), "it overlaps what can be read"
    state[1].advance_to_stage(Stage.POSITION)
    assert sealed(part)


def test_a_vector_of_several_parts_is_sealed_when_one_of_them_can_be_read() -> None:
    state = realize(build(), Stage.POSITION)
    ydot = simbody.upd_ydot(state)
    realize(state, Stage.VELOCITY)
    assert sealed(ydot)


def test_a_cache_that_can_be_read_is_sealed_by_the_next_computation() -> None:
    state = realize(build(), Stage.POSITION)
    view = state.upd_qerr()
    assert not sealed(view)
    simbody.mark_cache_value_realized(state[0], 0)
    assert sealed(view)


def test_an_entrys_array_is_sealed_when_the_entry_is_marked() -> None:
    state = build()
    array = simbody.upd_cache_entry(state[0], 0)
    array[:] = 3
    assert simbody.upd_cache_entry(state[0], 0) is array
    simbody.mark_cache_value_realized(state[0], 0)
    assert sealed(array)
    assert list(simbody.get_cache_entry(state[0], 0)) == [3, 3]
    array = simbody.upd_cache_entry(state[0], 0)
    assert not sealed(array)
    state[0].advance_to_stage(Stage.POSITION)
    assert sealed(array), "it may be presumed computed"


def test_filling_an_entry_may_take_other_computations() -> None:
    state = build()
    array = simbody.upd_cache_entry(state[0], 0)
    state[1].upd_q()
    simbody.mark_cache_value_realized(state[0], 1)
    assert not sealed(array)


def test_views_of_vectors_that_are_dropped_are_sealed_and_detached() -> None:
    state = build()
    q, qerr, old = state.upd_q(), state.upd_qerr(), state.q
    state.invalidate_all(Stage.MODEL)
    assert sealed(q)
    assert sealed(qerr)
    realize(state, Stage.MODEL)
    state.q = [9, 9, 9]
    assert list(old) == [1, 2, 3]


def test_the_variables_stay_where_instance_is_invalidated() -> None:
    state = build()
    q, qerr = state.upd_q(), state.upd_qerr()
    state.invalidate_all(Stage.INSTANCE)
    assert sealed(qerr)
    q[:] = 5
    assert list(state.q) == [5, 5, 5]
    realize(state, Stage.INSTANCE)
    assert sealed(q)


def test_a_stage_that_could_not_be_reached_leaves_nothing_behind() -> None:
    state = state_of("a")
    state[0].allocate_qerr(3)
    realize(state, Stage.MODEL)
    state[0].allocate_uerr(2**60)
    state[0].advance_to_stage(Stage.INSTANCE)
    with pytest.raises((ValueError, MemoryError)):
        state.advance_to_stage(Stage.INSTANCE)
    assert state.stage == Stage.MODEL
    state.invalidate_all(Stage.INSTANCE)
    state[0].allocate_qerr(2)
    realize(state, Stage.REPORT)
    assert (state.nqerr, state.qerr_weights.shape) == (5, (5,))


def test_assign_writes_in_place_and_seals() -> None:
    state, other = build(), build()
    other.q = [7, 8, 9]
    seen, written = state.q, state.upd_q()
    state.assign(other)
    assert list(seen) == [7, 8, 9]
    assert sealed(written)
    other.q = [0, 0, 0]
    assert list(seen) == [7, 8, 9]


def test_vectors_of_instance_begin_anew_in_place_if_no_size_has_changed() -> None:
    state = build()
    state.upd_qerr()[:] = 7.0
    state.qerr_weights = [5.0]
    before = realize(state, Stage.POSITION).qerr
    state.invalidate_all(Stage.INSTANCE)
    realize(state, Stage.POSITION)
    assert np.isnan(state.qerr).all()
    assert list(state.qerr_weights) == [1.0]
    assert np.shares_memory(before, state.qerr)


def test_vectors_of_instance_are_made_anew_if_a_size_has_changed() -> None:
    state = realize(build(), Stage.POSITION)
    before = state.qerr
    state.invalidate_all(Stage.INSTANCE)
    state[0].allocate_qerr(2)
    realize(state, Stage.POSITION)
    assert (before.shape, state.qerr.shape, state.qerr_weights.shape) == ((1,), (3,), (3,))
    assert np.isnan(state.qerr).all()


@pytest.mark.parametrize("name", ["qdot", "qdotdot", "ydot"])
def test_who_gets_write_access_to_rates_is_noted_so_that_no_system_derives_them(name: str) -> None:
    state = build()
    assert not state._contents.pools.own_rates
    upd(state, name)
    assert state._contents.pools.own_rates == {None}


def test_a_copy_has_computed_vectors_of_nan_unless_it_keeps_caches() -> None:
    state = build()
    state.upd_qdot()[:] = 7.0
    realize(state, Stage.VELOCITY)
    assert np.isnan(realize(state.copy(), Stage.VELOCITY).qdot).all()
    assert list(state.copy(keep_cache=True).qdot) == [7.0, 7.0, 7.0]


def test_a_whole_cache_is_sealed_when_the_system_follows_its_subsystems() -> None:
    state = build()
    for part in state:
        part.advance_to_stage(Stage.POSITION)
    view = state.upd_qerr()
    assert not sealed(view)
    state.advance_to_stage(Stage.POSITION)
    assert sealed(view)


@pytest.mark.parametrize("where", ["vector", "triggers"])
def test_a_view_from_before_its_stage_is_not_sealed_as_one_from_after_it_is(where: str) -> None:
    state = state_of("a")
    state[0].allocate_qerr(1)
    state[0].allocate_event_trigger(Stage.POSITION, 1)
    entry = state[0].allocate_lazy_cache_entry(Stage.TOPOLOGY)
    writes: dict[str, Callable[[], np.ndarray]] = {
        "vector": state.upd_qerr,
        "triggers": lambda: state.upd_event_triggers_by_stage(Stage.POSITION),
    }
    realize(state, Stage.POSITION)
    late = writes[where]()
    state.invalidate_all(Stage.POSITION)
    early = writes[where]()
    entry.mark_valid(state)
    assert sealed(late)
    assert not sealed(early), "it is yet to be filled"
    realize(state, Stage.POSITION)
    assert sealed(early)


def test_a_view_of_what_stays_is_still_to_be_sealed_when_others_are_dropped() -> None:
    state = build()
    stays, dropped = upd(state, "qdot"), state.upd_qerr()
    state.invalidate_all(Stage.INSTANCE)
    assert sealed(dropped)
    assert not sealed(stays)
    realize(state, Stage.VELOCITY)
    assert sealed(stays)


def test_mending_a_state_at_instance_leaves_views_open() -> None:
    state = build()
    state.invalidate_all(Stage.TIME)
    view = state.upd_qerr()
    state._contents.realization.is_torn = True
    assert state.stage is Stage.INSTANCE
    assert not sealed(view)


def test_an_array_that_was_replaced_is_kept_nowhere() -> None:
    state = build()
    entry = simbody.cache_entry_info(state[0], 0)
    array = weakref.ref(entry.upd(state))
    realize(state, Stage.POSITION)
    entry.set(state, np.ones(2))
    assert array() is None
