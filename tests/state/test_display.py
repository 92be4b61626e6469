import numpy as np
import pytest

from stagecache import Stage, State, simbody
from tests.state.realizing import realize, state_of


def build(stage: Stage) -> State:
    state = state_of("arm <1>", "")
    state[0].allocate_q([0.5, 1.5], name="angles")
    state[0].allocate_discrete_variable(Stage.INSTANCE, 2.5, name="mass")
    state[0].allocate_cache_entry(Stage.TIME, Stage.POSITION, 3.5, name="tip")
    state[1].allocate_qerr(1)
    return realize(state, stage)


def test_repr_says_stage_sizes_and_how_much_is_realized() -> None:
    assert repr(State()) == "State(at Empty: 0 subsystems, 0 of 0 cache entries valid)"
    assert repr(build(Stage.POSITION)) == (
        "State(at Position: 2 subsystems, t=0, nq=2, nu=0, nz=0, 1 of 1 cache entry valid)"
    )
    assert repr(build(Stage.TIME)[0]) == (
        "SubsystemState(subsystem 0 'arm <1>' at Time: 1 discrete variable, 1 cache entry)"
    )


def test_the_variables_as_text() -> None:
    state = build(Stage.POSITION)
    assert str(state).splitlines()[1:] == [
        "q = [0.5 1.5]",
        "qerr_weights = [1.]",
        "subsystem 0 'arm <1>', at Position",
        "  angles = [0.5 1.5]",
        "  mass = 2.5 (version 1, invalidates Instance)",
        "subsystem 1, at Position",
    ]


def test_the_cache_as_text() -> None:
    state = build(Stage.POSITION)
    state.upd_qerr()[:] = 0.25
    assert state.cache_to_string().splitlines()[1:] == [
        "qerr = [0.25]",
        "subsystem 0 'arm <1>', at Position",
        "  tip = 3.5 (depends on Time to Position)",
        "subsystem 1, at Position",
    ]
    state.invalidate_all(Stage.POSITION)
    assert "  tip = not computed (depends on Time to Position)" in state.cache_to_string()


@pytest.mark.parametrize("stage", list(Stage)[:10])
def test_a_state_can_be_shown_at_every_stage(stage: Stage) -> None:
    state = build(stage)
    for text in (repr(state), str(state), state.cache_to_string()):
        assert str(stage) in text
    html = state._repr_html_()
    assert "arm &lt;1&gt;" in html
    assert f">1, at {stage}" in html


def test_a_subsystem_without_items_is_shown_by_its_stage() -> None:
    assert ">0, at Empty</th>" in state_of("")._repr_html_()
    assert ">0, at Topology: 1 cache entry" not in build(Stage.TOPOLOGY)._repr_html_()


def test_of_many_subsystems_the_first_are_shown() -> None:
    state = State()
    simbody.set_num_subsystems(state, 1_000)
    for shown in (str(state), state.cache_to_string(), state._repr_html_()):
        assert "... and 950 subsystems more" in shown
        assert len(shown) < 20_000


def test_long_vectors_are_shortened() -> None:
    state = state_of("a")
    state[0].allocate_q(np.zeros(10_000))
    assert len(str(realize(state, Stage.MODEL))) < 1_000
