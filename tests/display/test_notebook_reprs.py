"""Outputs in notebooks: they name what they show, are bounded, and change nothing."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    cached,
    load_trajectory,
    parameter,
    q_variable,
    run_study,
    simulate,
)
from stagecache.assembly import AssemblyResult
from stagecache.display.html import MOST_ROWS
from stagecache.display.words import counted
from stagecache.examples import pendulum as example
from stagecache.graph import Graph
from stagecache.inspection import compare
from stagecache.system import profile
from stagecache.testing.strategies.graph import graphs
from stagecache.testing.strategies.random_systems import systems
from tests.display.outputs import rows_of, text_of
from tests.state.realizing import realize, state_of

NASTY = ("<b>&\"'", "a\nb", "</td></table>", "x" * 10_000)


def snapshot(state: State) -> Any:
    """Return validity and version of all nodes, stages, and the clock."""
    store = state._contents.realization.store
    nodes = range(len(store.versions))
    return (
        [store.is_valid(node) for node in nodes],
        list(store.versions),
        store.clock,
        state.stage,
        list(state._contents.realization.machine.stages),
    )


@settings(max_examples=50)
@given(systems(), st.sampled_from(list(Stage)[Stage.MODEL : Stage.INFINITY]), st.booleans())
def test_outputs_of_a_system_and_its_states_name_all_items_and_change_nothing(
    system: System, stage: Stage, is_read: bool
) -> None:
    number = len(system.subsystems)
    assert f"{system.name}: {counted(number, 'subsystem')}, topology not" in text_of(system)
    assert not system.topology_has_been_realized
    state = system.new_state()
    system.realize(state, stage)
    with state.trace() as trace:
        before, events = snapshot(state), len(trace.events)
        shown = text_of(state)
        for subsystem in system.subsystems:
            shown_part = text_of(state[subsystem])
            layout = state._contents.realization.layout.subsystems[subsystem.index]
            for item in (*layout.discrete, *layout.entries):
                assert item.name in shown
                assert item.name in shown_part
        assert (snapshot(state), len(trace.events)) == (before, events)
        shown = text_of(system)
        for subsystem in system.subsystems:
            assert subsystem.name in shown
            assert type(subsystem).__name__ in shown
        text_of(trace)
        if is_read:
            state.time += 1.0
            system.realize(state)
        text_of(trace)
        text_of(state)


@settings(max_examples=50)
@given(graphs(), st.booleans())
def test_the_output_of_a_graph_names_its_nodes_and_changes_nothing(
    graph: Graph, is_read: bool
) -> None:
    names = [node.name for node in graph]
    if is_read:
        graph[names[-1]]()
    store = graph._handles.store
    before = [store.is_valid(n) for n in graph._structure], list(store.versions), store.clock
    rows = [row for row in rows_of(graph) if row[0] != "node"]
    assert [row[0] for row in rows] == names
    after = [store.is_valid(n) for n in graph._structure], list(store.versions), store.clock
    assert before == after


@pytest.mark.parametrize("name", NASTY)
def test_names_are_shown_and_never_markup(name: str) -> None:
    graph = Graph(name)
    graph.variable(name, name)
    assert name[:100] in text_of(graph)
    state = state_of(name)
    state[0].allocate_discrete_variable(Stage.INSTANCE, name, name=name)
    assert name[:100] in text_of(realize(state, Stage.TIME))
    result = AssemblyResult(
        0.0, 0.0, name, 1, has_converged=False, time=0.0, independent_goals=(name,)
    )
    assert name[:100] in text_of(result)


class Failing:
    def __repr__(self) -> str:
        raise ValueError("no repr")


def test_values_that_cannot_be_shown_do_not_hide_the_others() -> None:
    graph = Graph()
    graph.variable("bad", Failing())
    graph.variable("good", 2.5)
    assert rows_of(graph)[2][:3] == ["good", "variable", "2.5"]


@pytest.mark.parametrize("stage", list(Stage)[:10])
def test_a_state_is_shown_at_every_stage(stage: Stage) -> None:
    state = state_of("arm")
    state[0].allocate_q([0.5, 1.5], name="angles")
    state[0].allocate_cache_entry(Stage.TIME, Stage.POSITION, 3.5, name="tip")
    rows = rows_of(realize(state, stage))
    values = {row[0]: row[2:] for row in rows if len(row) == 4}
    assert values["angles"][0] == ("[0.5 1.5]" if stage >= Stage.MODEL else "")
    is_valid = stage >= Stage.POSITION
    assert values["tip"] == (["3.5", "● valid"] if is_valid else ["", "○ not computed"])


class Wide(Subsystem):
    size = q_variable(0.0, count=2_000)
    many = parameter(0.0, count=2_000)

    @cached(count=2_000, prerequisites=(many,))
    def entries(self, state: State, i: int) -> float:
        return 2.0 * self.many[i](state)


def test_a_large_state_is_shown_in_part_and_counted() -> None:
    wide = Wide()
    system = System(wide)
    state = system.new_state()
    system.realize(state)
    shown = text_of(state)
    assert "q 2000, 2000 discrete variables, 0 of 2000 cache entries valid" in shown
    assert "cache entries more" in shown
    assert "size[0]" in shown
    assert "entries[0]" in shown
    assert "more rows" in shown
    assert len(text_of(state[wide])) < 10_000
    text_of(system)


@pytest.mark.parametrize(
    ("counts", "shown", "rest"),
    [
        ((60, 60, 60), (60, 60, 60), ""),
        ((0, 3, 300), (0, 3, 195), "105 cache entries"),
        ((30, 300, 3), (30, 165, 3), "135 variables"),
        ((60, 60, 150), (60, 39, 99), "21 variables and 51 cache entries"),
        ((150, 60, 150), (99, 0, 99), "111 variables and 51 cache entries"),
    ],
)
def test_of_many_items_the_first_are_shown_half_of_them_entries(
    counts: tuple[int, int, int], shown: tuple[int, int, int], rest: str
) -> None:
    state = state_of("a")
    for i in range(counts[0]):
        state[0].allocate_q([0.0], name=f"q {i}")
    for i in range(counts[1]):
        state[0].allocate_discrete_variable(Stage.TIME, 1.0, name=f"discrete {i}")
    for i in range(counts[2]):
        state[0].allocate_lazy_cache_entry(Stage.TIME, name=f"entry {i}")
    names = [row[0] for row in rows_of(state)]
    for kind, count in zip(("q", "discrete", "entry"), shown, strict=True):
        assert [n for n in names if n.startswith(f"{kind} ")] == [
            f"{kind} {i}" for i in range(count)
        ]
    said = [f"... and {rest} more"] if rest else []
    assert [name for name in names if name.startswith("...")] == said


@pytest.mark.parametrize("number", [2, MOST_ROWS, MOST_ROWS + 1])
def test_subsystems_and_nodes_beyond_the_largest_number_of_rows_are_counted(number: int) -> None:
    graph = Graph()
    for i in range(number):
        graph.variable(f"v{i}", i)
    system = System(*[Subsystem() for _ in range(number - 1)])  # and the default one
    rest = f"... and {number - MOST_ROWS} more"
    for shown, what in ((graph, "nodes"), (system, "subsystems")):
        text = text_of(shown)
        assert text.count("... and") == (number > MOST_ROWS)
        assert (f"{rest} {what}" in text) == (number > MOST_ROWS)


def test_a_subsystem_without_items_is_shown_by_its_name_and_stage() -> None:
    assert rows_of(state_of("a"))[1] == ["0 a, at Empty"]


def test_a_system_is_shown_with_its_items_as_soon_as_it_has_them() -> None:
    system = example.system()
    name, kind, *items = rows_of(system)[2]
    assert (name, kind, items) == ("pendulum", "Pendulum", ["", ""])
    system.realize_topology()
    variables, entries = rows_of(system)[2][2:]
    assert "angle" in variables
    assert "energy" in entries


def test_a_state_of_a_changed_topology_is_shown() -> None:
    system = example.system()
    state = system.new_state()
    system.realize(state)
    system.add(Wide())
    assert "angle" in text_of(state)
    assert text_of(system)


def test_a_partition_of_a_subsystem_that_is_gone_is_shown() -> None:
    state = state_of("a", "b")
    part = state[1]
    state.clear()
    assert "not in the State any more" in text_of(part)


def test_trajectories_are_shown_in_part(tmp_path: Any) -> None:
    system = example.system()
    state = system.new_state()
    trajectory = simulate(system, state, 1.0, every=0.01)
    assert len(rows_of(trajectory)) == 1 + 5 + 1 + 5
    assert "Trajectory" in text_of(trajectory[:0])
    trajectory.save(tmp_path / "swings")
    assert text_of(load_trajectory(tmp_path / "swings", system)) == text_of(trajectory)


def test_an_explanation_shows_its_text_and_its_tree_with_marks() -> None:
    system = example.system()
    state = system.new_state()
    tip = system.get(example.Pendulum).tip
    assert "○ not computed" in text_of(state.explain(tip))
    system.realize(state)
    tip(state)
    system.get(example.Pendulum).angle.set(state, 0.5)
    shown = text_of(state.explain(tip))
    assert "◐ stale" in shown
    assert "pendulum.angle: changed, now version 2" in shown


def test_an_impact_shows_a_row_for_each_entry() -> None:
    system = example.system()
    state = system.new_state()
    system.realize(state)
    impact = state.impact("pendulum.angle")
    own = [[path, "by its own change"] for path in impact.entries]
    through_hooks = [[path, "through hooks"] for path in impact.through_hooks]
    assert own
    assert through_hooks
    assert rows_of(impact)[1:] == own + through_hooks
    assert "no entry stale" in text_of(state.impact("time"))


def test_a_comparison_a_profile_and_an_empty_trace_are_shown() -> None:
    system = example.system()
    state = system.new_state()
    with state.trace() as trace:
        pass
    assert "no entry was read" in text_of(trace)
    assert "no difference" in text_of(compare(state, state.copy()))
    assert "What costs most" in text_of(profile(system, system.get(example.Pendulum).tip))
    assert "no entry was read" in text_of(profile(system, lambda _: None))


def test_the_result_of_an_assembly_shows_all_its_numbers() -> None:
    result = AssemblyResult(0.25, 1e-9, "Gauss-Newton", 3, has_converged=False, time=2.0)
    assert rows_of(result) == [
        ["goal", "0.25"],
        ["error norm", "1e-09"],
        ["time", "2"],
        ["method", "Gauss-Newton"],
        ["iterations", "3"],
        ["converged", "no"],
    ]


def test_results_of_a_study_are_shown_with_failures_and_in_part() -> None:
    system = example.system()
    pendulum = system.get(example.Pendulum)

    def swing(state: State) -> float:
        if pendulum.length(state) > 1.5:
            raise ValueError("too long")
        return float(np.sqrt(pendulum.length(state)))

    lengths = np.linspace(1.0, 2.0, 120).tolist()
    results = run_study(system, {"pendulum.length": lengths}, swing)
    rows = rows_of(results)
    assert rows[0] == ["member", "pendulum.length [m]", "status", "result"]
    assert rows[1] == ["0", "1.0", "ok", "1.0"]
    assert "... and 70 more members" in text_of(results)
