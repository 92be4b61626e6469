"""What errors of stages, subsystems and items expect, and how they say what to do instead."""

import pytest

from stagecache import Stage, State
from stagecache.errors import StageTooHighError, UnknownSubsystemError
from stagecache.state.refusals import MOST_LISTED
from tests.state.realizing import realize


def test_what_comes_too_late_is_told_the_latest_stage_and_how_to_go_back_to_it() -> None:
    state = State()
    tank = state[state.add_subsystem("tank")]
    realize(state, Stage.MODEL)
    with pytest.raises(StageTooHighError) as caught:
        tank.allocate_q([1.0])
    assert caught.value.expected.endswith("at Topology or earlier")
    assert "invalidate_all(Stage.MODEL)" in caught.value.hint


def test_nothing_is_earlier_than_empty() -> None:
    state = State()
    tank = state[state.add_subsystem("tank")]
    realize(state, Stage.TOPOLOGY)
    with pytest.raises(StageTooHighError) as caught:
        tank.allocate_discrete_variable(Stage.MODEL, 1)
    assert caught.value.expected.endswith("at Empty")
    assert "invalidate_all(Stage.TOPOLOGY)" in caught.value.hint


def test_an_unknown_subsystem_is_told_which_there_are() -> None:
    state = State()
    state.add_subsystem("tank")
    state.add_subsystem("")
    with pytest.raises(UnknownSubsystemError) as caught:
        state["pump"]
    assert caught.value.expected == "an index from 0 to 1, or a name that one subsystem has"
    assert caught.value.hint == "use one of 0 'tank', 1"


def test_of_many_subsystems_an_error_lists_the_first_ones() -> None:
    state = State()
    for _ in range(MOST_LISTED + 1):
        state.add_subsystem("")
    with pytest.raises(UnknownSubsystemError) as caught:
        state["pump"]
    assert caught.value.hint.endswith(f", {MOST_LISTED - 1}")


def test_a_state_without_subsystems_asks_for_one() -> None:
    with pytest.raises(UnknownSubsystemError) as caught:
        State()["pump"]
    assert caught.value.expected == "a State with subsystems"
    assert caught.value.hint == "call add_subsystem() first"
