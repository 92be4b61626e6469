import numpy as np
import pytest

from stagecache import Stage, State, simbody
from stagecache.display.html import MOST_ROWS
from stagecache.state.display import MOST_SHOWN
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


def test_the_time_is_shown_from_topology_and_values_of_blocks_from_model_on() -> None:
    state = build(Stage.TOPOLOGY)
    assert repr(state) == "State(at Topology: 2 subsystems, t=0, 0 of 1 cache entry valid)"
    assert "  angles" in str(state).splitlines()
    realize(state, Stage.MODEL)
    assert "t=0, nq=2, nu=0, nz=0, " in repr(state)
    assert "  angles = [0.5 1.5]" in str(state).splitlines()
    assert ">[0.5 1.5]<" in state._repr_html_()


def test_versions_of_subsystems_and_kinds_of_variables_and_entries_are_shown() -> None:
    state = State()
    state.add_subsystem("arm", "2.0")
    state[0].allocate_auto_update_discrete_variable(Stage.REPORT, 1.0, Stage.TIME, name="mode")
    state[0].allocate_q([1.0, 2.0])
    mass = state[0].allocate_discrete_variable(Stage.REPORT, 2.0, name="mass")
    state[0].allocate_discrete_variable(Stage.REPORT, 2.0)
    tip = state[0].allocate_cache_entry_with_prerequisites(
        Stage.TOPOLOGY, Stage.INFINITY, (mass,), name="tip"
    )
    realize(state, Stage.TIME)
    tip.mark_valid(state)
    mass.set(state, 3.0)
    lines = str(state).splitlines()
    assert "subsystem 0 'arm', version 2.0, at Time" in lines
    assert "  mode = 1.0 (version 1, invalidates Report, auto-update)" in lines
    assert "  mass = 3.0 (version 2, invalidates Report)" in lines
    lines = state.cache_to_string().splitlines()
    assert "  tip = stale (depends on Topology, mass of subsystem 0)" in lines
    assert "  update of mode = not computed (depends on Time)" in lines
    html = state[0]._repr_html_()
    for kind, times in [("auto-update", 1), ("discrete", 2), ("entry", 2)]:
        assert html.count(f">{kind}<") == times
    assert "0 arm, at Time: q 2, 3 discrete variables, 0 of 2 cache entries valid" in html
    assert (html.count("stale"), html.count("not computed")) == (1, 1)


def test_a_single_subsystem_that_is_left_out_is_counted() -> None:
    state = state_of(*[""] * (MOST_SHOWN + 1))
    assert str(state).splitlines()[-1] == "... and 1 subsystem more"
    assert "more" not in str(state_of(*[""] * MOST_SHOWN))


def test_numbers_are_shown_with_six_digits_and_thirteen_of_them_in_part() -> None:
    state = state_of("a")
    state[0].allocate_q(np.full(13, 1 / 3))
    state[0].allocate_u(np.full(12, 1 / 3))
    lines = str(realize(state, Stage.MODEL)).splitlines()
    assert "q = [0.333333 0.333333 0.333333 ... 0.333333 0.333333 0.333333]" in lines
    assert f"u = [{' '.join(['0.333333'] * 12)}]" in lines


def test_without_items_there_is_no_table() -> None:
    assert "<table" not in State()._repr_html_()
    assert "<table" not in state_of("a")[0]._repr_html_()


def test_of_a_subsystem_with_many_items_as_many_as_fit_are_shown_and_the_others_counted() -> None:
    state = state_of("a")
    for _ in range(MOST_ROWS + 5):
        state[0].allocate_lazy_cache_entry(Stage.TOPOLOGY)
    html = state[0]._repr_html_()
    assert html.count(">entry<") == MOST_ROWS - 1
    assert "... and 6 cache entries more" in html


def test_a_part_that_is_gone_is_shown_as_such() -> None:
    state = state_of("a", "b")
    part = state[1]
    state.assign(state_of("a"))
    assert "which is not in the State any more" in part._repr_html_()


def test_the_update_of_a_variable_without_a_name_has_none_either() -> None:
    state = state_of("a")
    state[0].allocate_auto_update_discrete_variable(Stage.REPORT, 1.0, Stage.TIME)
    assert "update of" not in state.cache_to_string()
