"""Copies that keep the cache: all stays realized, and a write in one does not touch the other."""

from typing import Any

import numpy as np
import pytest

from stagecache import CacheEntry, Stage, State, Subsystem, System
from stagecache.errors import ReadOnlyError
from stagecache.state.handles import Vector
from tests.oracle.observation import observe
from tests.state.realizing import realize, state_of
from tests.state.test_checkpoint import Pendulum

FOREVER = (Stage.TOPOLOGY, Stage.INFINITY)


def test_all_that_is_realized_stays_so_in_both_and_nothing_is_computed() -> None:
    p = Pendulum()
    p.tip(p.state)
    p.force.mark_valid(p.state)
    p.state.upd_qdot()[:] = 3.0
    realize(p.state, Stage.VELOCITY)
    twin = p.state.copy(keep_cache=True)
    for state in (p.state, twin):
        assert state.stage == state[0].stage == Stage.VELOCITY
        assert p.tip.is_valid(state)
        assert p.force.is_valid(state)
        assert p.tip(state) == 1.0
        assert state.qdot.tolist() == [3.0]
        assert state.stage_versions == p.state.stage_versions
        assert state[0].stage_versions == p.state[0].stage_versions
    assert p.calls == 1


def test_a_copy_is_in_the_same_state_as_far_as_anybody_can_ask() -> None:
    state = state_of("a", "b")
    for part in state:
        variable = part.allocate_discrete_variable(Stage.TIME, 1.0)
        entry = part.allocate_cache_entry_with_prerequisites(*FOREVER, (variable,), 0.0)
        late = part.allocate_cache_entry(Stage.TIME, Stage.POSITION, 1.0)
        part.advance_to_stage(Stage.TOPOLOGY)
        entry.mark_valid(state)
        part.allocate_q([1.0])  # not advanced over
    for stage in range(5):
        twin = state.copy(keep_cache=True)
        assert repr(observe(twin, is_full=True)) == repr(observe(state, is_full=True))
        realize(state, Stage(stage + 1))
        if stage == 4:
            late.invalidate(state)
    twin = state.copy(keep_cache=True)
    assert repr(observe(twin, is_full=True)) == repr(observe(state, is_full=True))


def write_length(p: Pendulum, state: State) -> None:
    p.length.set(state, 9.0)


def write_q(p: Pendulum, state: State) -> None:
    state.upd_q()[:] = 9.0


def write_cache(p: Pendulum, state: State) -> None:
    state.upd_qdot()[:] = 9.0
    p.force.upd(state)[:] = 9.0


def write_weights(p: Pendulum, state: State) -> None:
    state.u_weights = [9.0]
    state.time = 9.0


def invalidate(p: Pendulum, state: State) -> None:
    p.tip.invalidate(state)
    state.invalidate_all(Stage.MODEL)


def allocate(p: Pendulum, state: State) -> None:
    state.invalidate_all(Stage.MODEL)
    state[0].allocate_q([9.0])
    realize(state, Stage.REPORT)


def mark(p: Pendulum, state: State) -> None:
    p.force.mark_valid(state)
    p.tip(state)


def roll_back(p: Pendulum, state: State) -> None:
    before = state.checkpoint()
    allocate(p, state)
    state.rollback(before)


CHANGES = [write_length, write_q, write_cache, write_weights, invalidate, allocate, mark, roll_back]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("which", [0, 1])
def test_a_change_in_one_does_not_touch_the_other(change: Any, which: int) -> None:
    p = Pendulum()
    p.tip(p.state)
    p.state.upd_qdot()[:] = 3.0
    first = p.state
    both = [first, first.copy(keep_cache=True)]

    def seen() -> str:
        p.state = both[1 - which]
        return repr(p.observe())

    before = seen()
    change(p, both[which])
    assert seen() == before
    assert p.tip(both[1 - which]) == 1.0


def shared(value: Any) -> tuple[State, State, CacheEntry[Any]]:
    """A State with a computed entry of that value, and a copy."""
    state = state_of("a")
    entry = state[0].allocate_lazy_cache_entry(Stage.TOPOLOGY, compute=lambda state: value())
    realize(state, Stage.INSTANCE)
    entry(state)
    return state, state.copy(keep_cache=True), entry


@pytest.mark.parametrize("value", [list, dict, object, lambda: np.zeros(2)])
def test_computed_values_are_shared(value: Any) -> None:
    state, twin, entry = shared(value)
    assert entry(twin) is entry(state)
    assert entry(twin.copy(keep_cache=True)) is entry(state)


def test_values_stored_by_hand_are_shared_only_if_nobody_can_change_them() -> None:
    state = state_of("a")
    part = state[0]
    array: CacheEntry[Vector] = part.allocate_cache_entry(Stage.TOPOLOGY, value=np.zeros(2))
    items: CacheEntry[list[int]] = part.allocate_cache_entry(Stage.TOPOLOGY, value=[1])
    variable = part.allocate_discrete_variable(Stage.INSTANCE, [1])
    realize(state, Stage.INSTANCE)
    array.mark_valid(state)
    items.mark_valid(state)
    twin = state.copy(keep_cache=True)
    assert array(twin) is array(state)
    assert items(twin) is not items(state)
    assert variable(twin) is not variable(state)


@pytest.mark.parametrize("which", [0, 1])
def test_a_shared_list_that_is_changed_in_place_is_copied_first(which: int) -> None:
    state, twin, entry = shared(lambda: [1])
    one, other = [(state, twin), (twin, state)][which]
    changed = entry.upd(one)
    changed.append(2)
    assert entry.upd(one) is changed
    assert entry(one) == [1, 2]
    assert entry(other) == [1]
    third = one.copy(keep_cache=True)
    changed.append(3)
    assert entry(third) == [1, 2]


def test_an_array_that_was_handed_out_is_not_shared() -> None:
    state, _, entry = shared(lambda: np.zeros(2))
    part = entry.upd(state)[:1]
    twin = state.copy(keep_cache=True)
    part[0] = 7.0
    assert entry(twin).tolist() == [0.0, 0.0]
    assert entry(state).tolist() == [7.0, 0.0]


def test_each_computes_with_its_own_state() -> None:
    p = Pendulum()
    twin = p.state.copy(keep_cache=True)
    p.length.set(twin, 4.0)
    assert (p.tip(p.state), p.tip(twin)) == (1.0, 2.0)


def test_a_copy_of_a_copy_that_forgets_still_has_its_items() -> None:
    p = Pendulum()
    twin = p.state.copy(keep_cache=True)
    p.state.invalidate_all(Stage.TOPOLOGY)
    assert twin.copy(keep_cache=True).q.tolist() == [0.5]


def test_a_state_without_subsystems_is_copied_too() -> None:
    assert len(State().copy(keep_cache=True)) == 0


def test_without_its_cache_a_copy_is_at_instance() -> None:
    assert Pendulum().state.copy().stage == Stage.INSTANCE


def test_a_frozen_state_has_free_copies() -> None:
    p = Pendulum()
    p.tip(p.state)
    frozen = p.state.frozen()
    for twin in (frozen.copy(keep_cache=True), frozen.copy()):
        assert not twin.is_frozen
        p.length.set(twin, 4.0)
        realize(twin, Stage.POSITION)
        assert p.tip(twin) == 2.0
    with pytest.raises(ReadOnlyError):
        p.length.set(frozen, 4.0)


# ---------------------------------------------------------------------- in place


def test_a_state_is_frozen_in_place_and_free_again() -> None:
    p = Pendulum()
    tip = p.tip(p.state)
    view = p.state.upd_q()
    p.tip(p.state)
    p.state.freeze()
    p.state.freeze()
    assert p.state.is_frozen
    assert not view.flags.writeable
    assert not p.state.copy(keep_cache=True).is_frozen
    with pytest.raises(ReadOnlyError, match=r"state\.unfreeze"):
        p.length.set(p.state, 4.0)
    assert p.tip(p.state) == tip
    p.state.unfreeze()
    p.state.unfreeze()
    p.length.set(p.state, 4.0)
    assert p.tip(p.state) != tip


def test_a_value_that_was_handed_out_is_detached_by_freezing() -> None:
    state = State()
    state.add_subsystem()
    value = state[0].allocate_discrete_variable(Stage.REPORT, [1.0])
    handed = value.upd(state)
    state.freeze()
    handed.append(2.0)
    assert value(state) == [1.0]


def test_unfreezing_does_not_free_the_default_state() -> None:
    system = System(Subsystem())
    default = system.realize_topology()
    with pytest.raises(ReadOnlyError):
        default.freeze()
    default.unfreeze()
    with pytest.raises(ReadOnlyError):
        default.discard_cache()


def test_one_call_makes_all_stale_that_can_be_computed() -> None:
    p = Pendulum()
    tip, length = p.tip(p.state), p.length(p.state)
    version = p.length.version(p.state)
    p.state.discard_cache()
    assert p.state.stage == Stage.MODEL
    assert not p.tip.is_valid(p.state)
    assert (p.length(p.state), p.length.version(p.state)) == (length, version)
    realize(p.state, Stage.POSITION)
    assert p.tip(p.state) == tip
    assert p.calls == 2
    p.state.freeze()
    with pytest.raises(ReadOnlyError):
        p.state.discard_cache()
