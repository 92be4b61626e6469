"""Strategies of values, programs, States, Systems, structures and graphs."""

from enum import Enum
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stagecache import (
    Graph,
    Stage,
    State,
    System,
)
from stagecache.graph import (
    Structure,
)
from stagecache.testing import (
    Run,
    check_coherence,
    check_pickle,
    check_strict,
    check_threads,
    graphs,
    operations,
    states,
    structures,
    systems,
)
from stagecache.testing.programs.interrupts import interrupted
from stagecache.testing.programs.inventory import like, options_like
from stagecache.testing.programs.operation import Invalidate, ReadAll
from tests.graph.check_structure import check_structure
from tests.testing.models import Lever, system_of

LEVER = system_of(Lever())
TINY = settings(max_examples=3)
slow = settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=30)


class Gear(Enum):
    LOW = "low"
    HIGH = "high"


@pytest.mark.parametrize(
    "first",
    [
        True,
        3,
        2.5,
        1e9,
        1 + 2j,
        "mode",
        (1, 2.0),
        [1.0],
        {"a": 1},
        {1, 2},
        Gear.LOW,
        np.arange(3.0),
        np.arange(4, dtype=np.uint8),
        np.array([True]),
        np.ones((2, 2), dtype=np.float32),
        np.float64(2.0),
    ],
    ids=repr,
)
@given(st.data())
def test_values_are_of_the_type_of_the_first_one(first: Any, data: st.DataObject) -> None:
    value: Any = data.draw(like(first))
    assert type(value) is type(first)
    if isinstance(first, np.ndarray):
        assert (value.dtype, value.shape) == (first.dtype, first.shape)
        assert np.isfinite(value).all()
    if isinstance(first, float):
        assert np.isfinite(value)
    if isinstance(first, dict):
        assert value.keys() == first.keys()


@given(st.data(), st.integers(0, 5))
def test_options_that_may_be_sizes_stay_small(data: st.DataObject, first: int) -> None:
    assert 0 <= data.draw(options_like(first)) <= first + 2


@pytest.mark.parametrize("first", [None, object(), Structure()])
def test_a_value_of_unknown_type_is_kept(first: object) -> None:
    @given(like(first))
    def is_kept(value: object) -> None:
        assert value is first

    is_kept()


@slow
@given(operations(LEVER, max_steps=5))
def test_operations_are_performed_and_written_as_code(program: list[Any]) -> None:
    run = Run(LEVER)
    count = run.perform(program)
    assert count <= len(program)
    state = LEVER.new_state()
    names: dict[str, Any] = {
        "system": LEVER,
        "state": state,
        "lever": LEVER["lever"],
        "Stage": Stage,
        "np": np,
    }
    names |= {"State": State, "interrupted": interrupted}
    exec("\n".join(run.lines), names)
    state = names["state"]  # it may have been loaded
    assert state.stage == run.states[0].stage
    if state.stage >= Stage.MODEL:
        assert np.array_equal(state.y, run.states[0].y)


def test_an_operation_that_has_nothing_to_read_is_no_line() -> None:
    run = Run(LEVER)
    assert run.perform([Invalidate(Stage.MODEL), ReadAll()]) == 2
    assert run.lines == ["state.invalidate_all(Stage.MODEL)"]


@slow
@given(states(LEVER, max_writes=3))
def test_states_are_of_the_system(state: State) -> None:
    assert state.system is LEVER
    assert state.stage >= Stage.MODEL


@slow
@given(systems(max_subsystems=2, max_items=8), st.integers(0, 99))
def test_random_systems_are_coherent(system: System, seed: int) -> None:
    assert 2 <= len(system) <= 3
    for check in (check_coherence, check_strict, check_pickle, check_threads):
        check(system, settings=TINY, seed=seed)


@given(structures(max_nodes=8, max_prerequisites=2))
def test_structures_are_consistent(structure: Structure) -> None:
    check_structure(structure)
    assert len(structure) <= 8
    assert all(len(structure.prerequisites[n]) <= 2 for n in structure)


@given(graphs(max_variables=3, max_entries=4), st.integers(-5, 5))
def test_graphs_compute_what_a_new_graph_computes(graph: Graph, value: int) -> None:
    assert len(graph) <= 7
    values = [node() for node in graph]
    first: Any = graph["v0"]
    before = first()
    first.set(value)
    changed = [node() for node in graph]
    first.set(before)
    assert [node() for node in graph] == values
    first.set(value)
    assert [node() for node in graph] == changed
