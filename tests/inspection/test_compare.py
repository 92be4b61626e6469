"""What differs between two States."""

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import Stage, State, System, compare
from stagecache.errors import WrongTypeError
from tests.profiles import examples
from tests.state.asking import random_systems, realized, steps
from tests.state.realizing import realize, state_of
from tests.system.models import Crane


def crane() -> tuple[Crane, State]:
    system = Crane()
    state = system.state_at(Stage.VELOCITY)
    system.load.work(state)
    return system, state


def test_a_state_is_like_a_copy_that_keeps_its_cache() -> None:
    _, state = crane()
    comparison = compare(state, state.copy(keep_cache=True))
    assert not comparison
    assert str(comparison) == "no difference"
    assert comparison.as_dict() == {"differences": []}


def test_versions_are_not_compared() -> None:
    system, state = crane()
    twin = state.copy(keep_cache=True)
    system.load.pull.set(twin, system.load.pull(twin))
    system.load.work(twin)
    assert not compare(state, twin)


def test_values_validity_and_stages_differ() -> None:
    system, state = crane()
    twin = state.copy(keep_cache=True)
    system.joint.length.set(twin, 9.0)
    comparison = compare(state, twin)
    assert [(d.path, d.first, d.second) for d in comparison.of("value")] == [
        ("joint.length", "2.0", "9.0")
    ]
    assert {d.path for d in comparison.of("validity")} == realized(state) - realized(twin)
    assert ("system", "Velocity", "Model") in [
        (d.path, d.first, d.second) for d in comparison.of("stage")
    ]
    system.realize(twin, Stage.VELOCITY)
    system.load.work(twin)
    assert {d.path for d in compare(state, twin).of("value")} >= {"joint.tip", "load.work"}


def test_a_subsystem_may_be_called_system() -> None:
    state = state_of("system")
    state[0].advance_to_stage(Stage.TOPOLOGY)
    other = state.copy(keep_cache=True)
    other.advance_to_stage(Stage.TOPOLOGY)
    stages = [(d.path, d.first, d.second) for d in compare(state, other).of("stage")]
    assert stages == [("system", "Empty", "Topology")]


def test_it_prints_as_a_table() -> None:
    system, state = crane()
    twin = state.copy(keep_cache=True)
    system.load.pull.set(twin, 7.0)
    comparison = compare(state, twin)
    assert str(comparison) == (
        "item       what      first  second\n"
        "load.pull  value     10.0   7.0\n"
        "load.work  validity  valid  not valid"
    )
    assert repr(comparison) == "Comparison(2 differences)"
    assert ">load.pull</td>" in comparison._repr_html_()
    assert len(comparison) == len(list(comparison)) == 2


def test_computed_vectors_and_weights_are_compared_and_nan_is_like_nan() -> None:
    state = state_of("a")
    state[0].allocate_q([1.0])
    state[0].allocate_u([1.0])
    realize(state, Stage.VELOCITY)
    twin = state.copy(keep_cache=True)
    assert not compare(state, twin)
    twin.upd_qdot()[:] = 3.0
    assert [d.path for d in compare(state, twin)] == ["qdot"]
    twin.u_weights = [2.0]
    assert "u_weights" in [d.path for d in compare(state, twin)]


def test_what_only_one_of_them_has_is_named() -> None:
    one, other = state_of("a", "b"), state_of("a")
    other[0].allocate_discrete_variable(Stage.TIME, 1.0, name="x")
    found = [(d.path, d.what, d.first, d.second) for d in compare(one, other)]
    assert found == [("b", "presence", "Empty", "-"), ("a.x", "presence", "-", "there")]


def test_arrays_are_compared_by_their_elements() -> None:
    state = state_of("a")
    variable = state[0].allocate_discrete_variable(Stage.TIME, np.zeros(2), name="x")
    twin = state_of("a")
    twin[0].allocate_discrete_variable(Stage.TIME, np.zeros(2), name="x")
    assert not compare(state, twin)
    variable.set(state, np.ones(2))
    assert [(d.first, d.second) for d in compare(state, twin)] == [
        ("array([1., 1.])", "array([0., 0.])")
    ]


@pytest.mark.parametrize("other", [None, "state", 3])
def test_what_is_no_state_is_refused(other: Any) -> None:
    with pytest.raises(WrongTypeError):
        compare(state_of("a"), other)
    with pytest.raises(WrongTypeError):
        compare(state_of("a")[0], other)  # type: ignore[arg-type]  # is refused


@examples(50)
@given(random_systems(), st.data())
def test_a_comparison_says_what_a_program_has_changed(system: System, data: st.DataObject) -> None:
    for step in steps(system, data):
        before = step.state.copy(keep_cache=True)
        assert not compare(before, step.state)
        valid = realized(before)
        step.do()
        comparison = compare(before, step.state)
        assert {d.path for d in comparison.of("validity")} == valid ^ realized(step.state)
        assert bool(comparison.of("stage")) == (
            before.stage != step.state.stage
            or [s.stage for s in before] != [s.stage for s in step.state]
        )


def test_a_deep_copy_is_a_copy() -> None:
    _, state = crane()
    assert not compare(state.copy(), copy.deepcopy(state))
