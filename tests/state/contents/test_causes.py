"""What an explanation says of a State in which an error has cut an operation short."""

from collections.abc import Sequence
from functools import partial
from itertools import count
from typing import Any

import pytest

from stagecache import Stage
from stagecache.graph.observing import Act
from stagecache.state.contents.observer import Observer, observe
from tests.interrupting import ignore_lost_strikes, plain_only, struck_at
from tests.state.realizing import realize, state_of


class Striking(Observer):
    """Strikes before an entry is discarded."""

    def write(self, cause: object, nodes: Sequence[int], act: Act) -> Any:
        if getattr(cause, "update", None) is not None and len(nodes) == 1:
            raise KeyboardInterrupt
        return act()


def test_a_write_that_was_cut_short_is_not_to_blame_for_what_it_has_not_discarded() -> None:
    state = state_of("a")
    mode = state[0].allocate_auto_update_discrete_variable(Stage.REPORT, 1.0, Stage.TIME)
    other = state[0].allocate_lazy_cache_entry(Stage.TOPOLOGY, compute=lambda state: 2.0)
    realize(state, Stage.TIME)
    other(state)
    observe(state._contents, Striking())
    with pytest.raises(KeyboardInterrupt):
        mode.set(state, 2.0)
    observe(state._contents)
    other.invalidate(state)
    assert "discrete variable" not in str(state.explain(other))
    mode.update.set(state, 3.0)
    mode.update.mark_valid(state)
    mode.set(state, 4.0)
    assert "discrete variable 0" in str(state.explain(mode.update))


@plain_only
@ignore_lost_strikes
def test_the_cause_of_a_change_that_was_cut_short_is_not_made_up() -> None:
    for at in count():
        state = state_of("a")
        entry = state[0].allocate_cache_entry_with_prerequisites(
            Stage.TOPOLOGY, Stage.INFINITY, (state[0].allocate_q([1.0]),), compute=lambda _: 1.0
        )
        realize(state, Stage.TIME)
        entry(state)
        place = struck_at(at, partial(state.invalidate_all, Stage.MODEL), KeyboardInterrupt)
        if not place:
            break
        text = str(state.explain(entry))
        assert ("is valid" in text) == entry.is_valid(state), place
        assert entry.is_valid(state) or "changed" in text or "waits" in text, place


def test_another_variable_that_was_written_later_is_no_cause() -> None:
    state = state_of("a")
    first, second = (state[0].allocate_q([1.0], name=name) for name in ("first", "second"))
    mass, load = (
        state[0].allocate_discrete_variable(Stage.POSITION, 1.0, name=name)
        for name in ("mass", "load")
    )
    allocate = state[0].allocate_cache_entry_with_prerequisites
    entries = [
        allocate(Stage.TOPOLOGY, Stage.INFINITY, (above,), compute=lambda _: 1.0)
        for above in (second, mass)
    ]
    realize(state, Stage.TIME)
    for entry in entries:
        entry(state)
    second.set(state, [2.0])
    first.set(state, [2.0])
    assert str(state.explain(entries[0]).cause) == (
        "a.second (now version 2) has changed since it was computed"
    )
    mass.set(state, 2.0)
    load.set(state, 2.0)
    assert str(state.explain(entries[1]).cause) == (
        "a.mass (now version 2) has changed since it was computed"
    )
    for entry in entries:
        entry(state)
    mass.set(state, 2.0)
    cause = state.explain(entries[1]).cause
    assert cause is not None
    assert cause.written_as == "a.mass"


def test_a_value_stored_by_hand_while_an_entry_was_presumed_computed_is_no_cause() -> None:
    state = state_of("a")
    load = state[0].allocate_discrete_variable(Stage.REPORT, 1.0, name="load")
    allocate = state[0].allocate_cache_entry_with_prerequisites
    side = allocate(Stage.TOPOLOGY, Stage.INFINITY, (), compute=lambda _: 1.0, equal=True)
    pull = allocate(Stage.TOPOLOGY, Stage.POSITION, (side, load), name="pull")
    realize(state, Stage.TIME)
    side(state)
    realize(state, Stage.POSITION)
    assert pull.is_valid(state)
    side.set(state, 5.0)
    load.set(state, 2.0)
    assert state.explain(pull).path == ("a.load", "a.pull")


def test_an_entry_was_not_computed_by_what_was_presumed_of_one_that_is_forgotten() -> None:
    state = state_of("a")
    load = state[0].allocate_discrete_variable(Stage.POSITION, 1.0)
    realize(state, Stage.TOPOLOGY)
    allocate = state[0].allocate_cache_entry_with_prerequisites
    allocate(Stage.TIME, Stage.TIME, (load,))
    realize(state, Stage.POSITION)
    load.set(state, 2.0)
    state.invalidate_all(Stage.MODEL)
    first, second = (allocate(Stage.TIME, Stage.TIME, (load,), compute=load) for _ in range(2))
    realize(state, Stage.POSITION)
    second(state)
    load.set(state, 3.0)
    assert "no call has computed it" in str(state.explain(first))


def test_of_several_paths_the_shortest_is_told() -> None:
    state = state_of("a", "b")
    allocate = state[0].allocate_cache_entry_with_prerequisites
    top = state[1].allocate_cache_entry_with_prerequisites(
        Stage.TIME, Stage.INFINITY, (), compute=lambda _: 1.0, name="top"
    )
    side = allocate(Stage.TIME, Stage.INFINITY, (top,), compute=top, name="side")
    entry = allocate(Stage.TIME, Stage.INFINITY, (top, side), compute=top, name="entry")
    realize(state, Stage.INSTANCE)
    state[0].advance_to_stage(Stage.TIME)
    assert state.explain(entry).path == ("stage Time", "b.top", "a.entry")
    realize(state, Stage.TIME)
    entry(state)
    state.invalidate_all(Stage.TIME)
    realize(state, Stage.TIME)
    assert state.explain(entry).path == ("stage Time", "a.entry")
