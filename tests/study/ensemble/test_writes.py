"""Values of members become values of variables; what does not fit is refused before it runs."""

from typing import Any

import numpy as np
import pytest

from stagecache import System, run_study
from stagecache.errors import (
    DuplicateNameError,
    NodeKindError,
    NotANumberError,
    OutOfRangeError,
    ShapeError,
    StagecacheError,
    UnknownPathError,
    WrongTypeError,
)
from stagecache.study.ensemble.writes import Writes
from tests.study.ensemble.models import SPRING, SYSTEM, Chain, Table, energy, spring


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


TABLE = Table()
TABLES = System(TABLE)


@pytest.mark.parametrize(
    ("path", "value", "error"),
    [
        ("table.counts", [0.5, 1.5, 2.5], OutOfRangeError),
        ("table.counts", [1, 2, 2**70], NotANumberError),
        ("table.counts", [1j, 1, 1], NotANumberError),
        ("table.counts", [True, False, True], NotANumberError),
        ("table.counts", ["1", "2", "3"], NotANumberError),
        ("table.counts", np.array([2**63, 0, 0], np.uint64), OutOfRangeError),
        ("table.counts", [float("nan"), 0.0, 0.0], OutOfRangeError),
        ("table.counts[0]", 0.5, OutOfRangeError),
        ("table.counts[0]", "1", NotANumberError),
        ("table.counts[0]", True, NotANumberError),
        ("table.counts[0]", [1], NotANumberError),
        ("table.small", [1, 256], OutOfRangeError),
        ("table.small", [1, -1], OutOfRangeError),
        ("table.small[1]", 256, OutOfRangeError),
        ("table.names", [1, "a"], WrongTypeError),
        ("table.names", [1, 2], WrongTypeError),
        ("table.names[0]", 1, WrongTypeError),
        ("table.flags", [1, 0], WrongTypeError),
        ("table.flags[0]", 1, WrongTypeError),
        ("table.lengths", [1 + 2j, 1.0], NotANumberError),
        ("table.lengths", ["1", "2"], NotANumberError),
        ("table.lengths", [2**53 + 1, 0], OutOfRangeError),
        ("table.lengths", np.ma.array([1.0, 2.0], mask=[True, False]), NotANumberError),
        ("table.places", [2**53 + 1, 0], OutOfRangeError),
        ("table.places", ["1", "2"], NotANumberError),
        ("table.places[0]", 2**53 + 1, OutOfRangeError),
        ("table.others", 2**53 + 1, OutOfRangeError),
        ("time", 2**53 + 1, OutOfRangeError),
    ],
)
def test_a_value_that_the_variable_would_change_is_refused(
    path: str, value: Any, error: type[Exception]
) -> None:
    with pytest.raises(error, match=path.replace("[", r"\[")):
        run_study(TABLES, [{path: value}], lambda state: 1.0)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("table.counts", [4.0, 5.0, 6.0]),
        ("table.counts[1]", 7.0),
        ("table.small", [0, 255]),
        ("table.names", ["abcdef", "x"]),
        ("table.names[1]", "abcdef"),
        ("table.flags", [False, False]),
        ("table.flags[1]", True),
        ("table.lengths", [1, 2**53]),
        ("table.lengths", [float("nan"), np.inf]),
        ("table.places", [1, 2]),
        ("table.places[1]", 3),
    ],
)
def test_a_value_that_fits_arrives_and_is_recorded_exactly(path: str, value: Any) -> None:
    name, bracket, _ = path.partition("[")
    variable = getattr(TABLE, name.removeprefix("table."))
    results = run_study(TABLES, [{path: value}, {}], variable)
    arrived, recorded = results[0].values["result"], results[0].parameters[path]
    there = arrived[1] if bracket else arrived
    assert np.array_equal(there, value, equal_nan=not isinstance(np.ravel(value)[0], str))
    assert np.array_equal(recorded, there, equal_nan=not isinstance(np.ravel(value)[0], str))
    assert getattr(recorded, "dtype", None) == (None if bracket else arrived.dtype)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("table.lengths", "table.lengths[0]"),
        ("table.places[1]", "table.places[01]"),
        ("table.z", "table.places"),
        ("z", "table.others"),
        ("z[2]", "table.others"),
        ("table.lengths", "table/lengths"),
    ],
)
def test_two_paths_of_one_variable_are_refused(one: str, other: str) -> None:
    start = TABLES.new_state()
    TABLES.realize_model(start)
    values = {path: Writes(start).base(path) for path in (one, other)}
    for members in (
        [values],
        [{one: values[one]}, {other: values[other]}],
        [{other: values[other]}, {one: values[one]}],
    ):
        with pytest.raises(DuplicateNameError, match="paths of the same variable"):
            run_study(TABLES, members, lambda state: 1.0)


def test_elements_of_one_variable_are_two_paths() -> None:
    members = [{"table.lengths[0]": 5.0}, {"table.lengths[1]": 6.0}, {"table.others": 1.0}]
    results = run_study(TABLES, members, TABLE.lengths)
    assert [list(result.parameters.values()) for result in results] == [
        [5.0, 2.0, 0.7],
        [1.0, 6.0, 0.7],
        [1.0, 2.0, 1.0],
    ]


def test_the_recorded_values_are_those_that_a_modeling_option_has_left() -> None:
    chain = Chain()
    system = System(chain)
    start = system.new_state()
    system.realize_model(start)
    chain.angles.set(start, [0.7, 0.8])
    members: list[dict[str, Any]] = [
        {"chain.links": 3},
        {"chain.angles[1]": 0.5},
        {},
        {"chain.links": 2},
        {"chain.links": 1},
    ]
    results = run_study(system, members, chain.angles, state=start)
    for result in results:
        ran = result.values["result"]
        assert result.parameters["chain.links"] == len(ran)
        assert result.parameters.get("chain.angles[1]") == (ran[1] if len(ran) > 1 else None)
    assert results[0].parameters["chain.angles[1]"] == 0.0
    assert results[2].parameters["chain.angles[1]"] == 0.8


def test_each_member_is_checked_against_the_state_and_not_against_others() -> None:
    members = [{"spring.anything": value} for value in ("a", 1.0, np.ones(2), np.ones(3), (1,), 2)]
    results = run_study(SYSTEM, members, lambda state: str(SPRING.anything(state)))
    assert [result.status for result in results] == ["ok"] * 6
    assert results[3].values["result"] == "[1. 1. 1.]"


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
        ({"spring.is_stiff": 1}, WrongTypeError, "True or False"),
        ({"spring.label": 1}, WrongTypeError, "a text"),
        ({"spring.pair": 1.0}, WrongTypeError, "a tuple"),
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
