"""Computed values that travel to workers: those of valid entries, and never a wrong one."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import Stage, State, Subsystem, System, cached, parameter, shared_results
from stagecache.sharing.function import origin_at
from stagecache.study.ensemble.computed import Computed, computed_values, restore_computed
from stagecache.study.ensemble.settings import Settings
from stagecache.study.ensemble.worker import Work
from tests.study.ensemble.models import MEADOW, MEADOWS, meadow

ENTRIES: dict[str, Any] = {
    name: getattr(MEADOW, name)
    for name in ("costly", "rounded", "light", "soil", "grass", "picked", "law", "end")
}


def payload(state: State) -> bytes:
    return Work(state, meadow, False, 0, 0, (), Settings.here()).to_payload()


def sent(state: State) -> State:
    return Work.of_payload(payload(state)).state


def paths(state: State) -> list[str]:
    return [computed.path for computed in computed_values(state)]


def started() -> State:
    """A State as `run_study` starts from."""
    state = MEADOWS.new_state()
    MEADOWS.realize(state, Stage.INSTANCE)
    return state


@pytest.mark.filterwarnings("error")
@given(
    read=st.lists(st.sampled_from([*ENTRIES])),
    before=st.lists(st.sampled_from([("size", 2.9), ("size", 3.0), ("shade", 2.0)])),
    after=st.lists(st.sampled_from([("size", 2.8), ("size", 1.5), ("shade", 3.0)])),
)
def test_values_are_those_of_members_in_this_process(
    read: list[str], before: list[tuple[str, float]], after: list[tuple[str, float]]
) -> None:
    state = started()
    for name in read:
        ENTRIES[name](state)
    for name, value in before:
        getattr(MEADOW, name).set(state, value)
    MEADOWS.realize(state, Stage.INSTANCE)
    here, there = state.copy(), sent(state).copy()
    for entry in ENTRIES.values():
        if entry is not MEADOW.law and entry is not MEADOW.picked:
            assert entry.is_valid(there) is entry.is_valid(here)
    for name, value in after:
        getattr(MEADOW, name).set(here, value)
        getattr(MEADOW, name).set(there, value)
    new = MEADOWS.new_state()  # in which nothing was computed before
    for name, value in (*before, *after):
        getattr(MEADOW, name).set(new, value)
    expected = meadow(new)
    for found in (meadow(here), meadow(there)):
        assert {k: np.asarray(v).tobytes() for k, v in found.items()} == {
            k: np.asarray(v).tobytes() for k, v in expected.items()
        }


def test_values_come_after_their_prerequisites() -> None:
    state = started()
    MEADOW.light(state)
    MEADOW.grass(state)
    found = paths(state)
    assert sorted(found) == [f"meadow.{n}" for n in ("costly", "grass", "light", "rounded")]
    assert found.index("meadow.light") > found.index("meadow.costly")
    assert found.index("meadow.light") > found.index("meadow.rounded")


def test_what_pickle_refuses_is_computed_again_and_what_depends_on_it_is_valid() -> None:
    state = started()
    MEADOW.end(state)
    assert MEADOW.law.is_valid(state)
    there = sent(state)
    assert not MEADOW.law.is_valid(there)
    assert MEADOW.end.is_valid(there)
    assert MEADOW.law(there)(2.0) == 6.0
    MEADOW.height.set(there, 1.0)
    assert MEADOW.end(there) == 3.0


def test_a_value_with_an_object_of_a_variable_is_computed_again() -> None:
    state = started()
    MEADOW.picked(state)
    assert paths(state) == []
    there = sent(state)
    assert MEADOW.picked(there)["flower"] is MEADOW.flower(there)


class Herd(Subsystem):
    """Entries with objects in common: with each other, and with the subsystem."""

    size = parameter(1.0)

    def __init__(self) -> None:
        self.leader = ["Dolly"]

    @cached(prerequisites=(size,))
    def names(self, state: State) -> list[Any]:
        return [["Shaun"], self.size(state)]

    @cached(prerequisites=(names,))
    def first(self, state: State) -> dict[str, Any]:
        return {"first": self.names(state)[0]}

    @cached(prerequisites=(size,))
    def led(self, state: State) -> tuple[Any, ...]:
        return (self.leader, self.size(state))

    @cached(prerequisites=(size,))
    def shepherd(self, state: State) -> list[Any]:
        return [self, self.size, self.size(state)]


def test_values_with_common_objects_are_computed_again() -> None:
    herd = Herd()
    system = System(herd)
    state = system.new_state()
    for entry in (herd.names, herd.first, herd.led, herd.shepherd):
        entry(state)
    assert paths(state) == ["herd.shepherd"]
    there = sent(state)
    assert herd.first(there)["first"] is herd.names(there)[0]
    assert herd.led(there)[0] is herd.leader
    assert herd.shepherd.is_valid(there)
    assert herd.shepherd(there) == [herd, herd.size, 1.0]


def test_an_update_value_takes_the_place_of_the_variable_as_in_this_process() -> None:
    state = started()
    MEADOW.last.update.set(state, 7.0)
    MEADOW.last.update.mark_valid(state)
    for member in (state.copy(), sent(state).copy()):
        member.auto_update_discrete_variables()
        assert MEADOW.last(member) == 7.0
    stale = started()
    MEADOW.last.update.set(stale, 7.0)  # not marked
    there = sent(stale)
    there.auto_update_discrete_variables()
    assert MEADOW.last(there) == 0.0


def test_a_shared_value_keeps_its_key() -> None:
    with shared_results() as results:
        state = started()
        MEADOW.soil(state)
        there = sent(state)
        node = MEADOW.soil._node
        origins = [origin_at(s._contents.realization.store, node) for s in (state, there)]
        assert origins[0] is not None
        assert origins[0] == origins[1]
        MEADOW.grass(state)
        MEADOW.grass(there)  # found, by the key of the soil
        assert (results.statistics.misses, results.statistics.hits) == (2, 1)
        assert "taken from shared results" in there.explain(MEADOW.soil).text


def test_a_value_that_a_worker_cannot_make_is_computed_there() -> None:
    state = started()
    MEADOW.costly(state)
    [found] = computed_values(state)
    there = started()
    no_pickle = Computed(found.path, b"not a pickle")
    restore_computed(there, [no_pickle, Computed("meadow.not_there", found.data)])
    assert not MEADOW.costly.is_valid(there)
    restore_computed(there, [found])
    assert MEADOW.costly.is_valid(there)
    before = MEADOW.costly(there)
    restore_computed(there, [found])  # it is valid: nothing is stored
    assert MEADOW.costly(there) is before


def test_a_value_whose_stage_is_not_reached_is_not_stored() -> None:
    state = started()
    MEADOWS.realize(state, Stage.ACCELERATION)
    MEADOW.end(state)
    there = MEADOWS.new_state()
    there.invalidate_all(Stage.MODEL)
    restore_computed(there, computed_values(state))
    assert not computed_values(there)
    MEADOWS.realize_model(there)
    assert MEADOW.end(there) == MEADOW.end(state)


def test_the_same_work_has_the_same_bytes() -> None:
    state = started()
    first = payload(state)
    assert payload(state) == first
    MEADOW.light(state)
    MEADOW.grass(state)
    with_values = payload(state)
    assert payload(state) == with_values
    assert with_values != first
