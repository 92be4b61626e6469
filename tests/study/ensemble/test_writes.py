"""Values of members become values of variables; what does not fit is refused before it runs."""

from typing import Any

import numpy as np
import pytest

from stagecache import System, run_study
from stagecache.errors import (
    NodeKindError,
    NotANumberError,
    ShapeError,
    StagecacheError,
    UnknownPathError,
    WrongTypeError,
)
from stagecache.study.ensemble.writes import Writes
from tests.study.ensemble.models import SPRING, SYSTEM, Chain, energy, spring


def test_each_kind_of_variable_takes_its_value() -> None:
    base = SYSTEM.new_state()
    state = Writes(base).apply(
        {
            "spring.stiffness": 5,
            "spring.weights": [4.0, 5.0, 6.0],
            "spring.label": "two",
            "spring.is_stiff": True,
            "spring.pair": [3.0, 4.0],
            "spring.anything": {"a": 1},
            "spring.place": 0.5,
            "spring.others[1]": 0.25,
            "spring.speed": np.float64(2.0),
            "time": 3.0,
        }
    )
    assert SPRING.stiffness(state) == 5
    assert SPRING.weights(state).tolist() == [4.0, 5.0, 6.0]
    assert SPRING.label(state) == "two"
    assert SPRING.is_stiff(state) is True
    assert SPRING.pair(state) == (3.0, 4.0)
    assert SPRING.anything(state) == {"a": 1}
    assert state.q.tolist() == [0.5, 0.0, 0.25]
    assert state.u.tolist() == [2.0]
    assert state.time == 3.0
    assert base.q.tolist() == [0.1, 0.0, 0.0]


def test_one_number_of_an_array_is_written_alone() -> None:
    state = Writes(SYSTEM.new_state()).apply({"spring.weights[1]": 7.0})
    assert SPRING.weights(state).tolist() == [1.0, 7.0, 3.0]


def test_modeling_options_are_written_first() -> None:
    chain = Chain()
    system = System(chain)
    state = Writes(system.new_state()).apply({"chain.angles": [1.0, 2.0, 3.0], "chain.links": 3})
    assert chain.angles(state).tolist() == [1.0, 2.0, 3.0]
    members = [{"chain.links": n, "chain.angles": np.ones(n)} for n in (1, 4)]
    results = run_study(system, members, lambda state: state.q.sum())
    assert [result.values["result"] for result in results] == [1.0, 4.0]


def test_a_path_that_a_member_does_not_name_has_the_value_of_the_state() -> None:
    start = SYSTEM.new_state()
    SPRING.stiffness.set(start, 30.0)
    results = run_study(
        SYSTEM, [{"spring.place": 1.0}, {"spring.stiffness": 2.0}], energy, state=start
    )
    assert [result.values["result"] for result in results] == [15.0, 2.0 * 0.1**2 / 2]
    assert results[0].parameters == {"spring.place": 1.0, "spring.stiffness": 30.0}
    assert results[1].parameters == {"spring.place": 0.1, "spring.stiffness": 2.0}


@pytest.mark.parametrize(
    ("values", "error", "words"),
    [
        ({"spring.stifness": 1.0}, UnknownPathError, "did you mean 'spring.stiffness'"),
        ({"spring.others[2]": 1.0}, UnknownPathError, "spring.others"),
        ({"spring.stiffness[0]": 1.0}, UnknownPathError, "spring.stiffness"),
        ({"spring.energy": 1.0}, NodeKindError, "a cache entry"),
        ({"stage Position": 1.0}, NodeKindError, "a stage, or weights"),
        ({"spring.stiffness": "stiff"}, NotANumberError, "a number"),
        ({"spring.stiffness": True}, NotANumberError, "a number"),
        ({"spring.stiffness": float("nan")}, NotANumberError, "not NaN"),
        ({"spring.is_stiff": 1}, NotANumberError, "True or False"),
        ({"spring.label": 1}, NotANumberError, "a text"),
        ({"spring.pair": 1.0}, NotANumberError, "a tuple"),
        ({"spring.weights": [1.0]}, ShapeError, r"shape \(3,\)"),
        ({"spring.weights": "abc"}, NotANumberError, "an array of float64"),
        ({"spring.weights[0]": "a"}, NotANumberError, "a number"),
        ({"spring.others": [1.0]}, ShapeError, r"shape \(2,\)"),
        ({"time": "now"}, StagecacheError, "'time'"),
        ({3: 1.0}, WrongTypeError, "not a path"),
        (3, WrongTypeError, "not a dict"),
    ],
)
def test_a_wrong_value_is_refused_by_member_and_path_before_anything_runs(
    values: Any, error: type[Exception], words: str
) -> None:
    has_run = []

    def study(state: Any) -> float:
        has_run.append(spring(state))
        return 1.0

    with pytest.raises(error, match=words) as caught:
        run_study(SYSTEM, [{"spring.place": 1.0}, {}, values], study)
    assert "member 2" in str(caught.value)
    assert not has_run
