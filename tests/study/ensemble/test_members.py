"""Members: lists, tables, designs."""

import pickle
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import full_factorial, latin_hypercube, sobol
from stagecache.errors import OutOfRangeError, ShapeError, UnknownItemError, WrongTypeError
from stagecache.study import Members
from stagecache.study.ensemble.members import members_of
from tests.profiles import examples

levels = st.dictionaries(
    st.text("abc.", min_size=1), st.lists(st.integers(), min_size=1, max_size=4), min_size=1
).filter(lambda found: np.prod([len(values) for values in found.values()]) < 500)


@given(levels)
@examples(60)
def test_a_full_factorial_has_each_combination_once_and_the_last_varies_fastest(
    found: dict[str, list[int]],
) -> None:
    members = full_factorial(found)
    expected = [dict(zip(found, values, strict=True)) for values in product(*found.values())]
    assert list(members) == expected
    assert members.levels == {path: tuple(values) for path, values in found.items()}


@given(st.integers(1, 40), st.integers(0, 5))
@examples(60)
def test_a_latin_hypercube_hits_each_part_of_a_range_once(n: int, seed: int) -> None:
    members = latin_hypercube({"a": (0.0, 1.0), "b": (-4.0, 4.0)}, n, seed=seed)
    for path, low, width in (("a", 0.0, 1.0), ("b", -4.0, 8.0)):
        parts = [int((value - low) / width * n) for value in members.column(path)]
        assert sorted(parts) == list(range(n))
    assert members == latin_hypercube({"a": (0.0, 1.0), "b": (-4.0, 4.0)}, n, seed=seed)


@given(st.integers(1, 60))
@examples(60)
def test_a_sobol_sequence_begins_with_the_same_points(n: int) -> None:
    bounds = {"a": (0.0, 1.0), "b": (-4.0, 4.0)}
    members = sobol(bounds, n, seed=3)
    assert len(members) == n
    assert list(members) == list(sobol(bounds, 64, seed=3))[:n]
    assert all(0.0 <= one["a"] <= 1.0 and -4.0 <= one["b"] <= 4.0 for one in members)


def test_another_seed_makes_other_members() -> None:
    bounds = {"a": (0.0, 1.0)}
    assert latin_hypercube(bounds, 5, seed=1) != latin_hypercube(bounds, 5, seed=2)
    assert sobol(bounds, 4, seed=1) != sobol(bounds, 4, seed=2)


def test_columns_of_any_table_become_numbers_of_python() -> None:
    columns = {"a": np.array([1.5, 2.5]), "b": [np.int64(1), np.array([1.0, 2.0])]}
    members = members_of(columns)
    assert type(members[0]["a"]) is float
    assert type(members[0]["b"]) is int
    assert members[1]["b"].tolist() == [1.0, 2.0]
    pandas = pytest.importorskip("pandas")
    assert list(members_of(pandas.DataFrame({"a": [1.5, 2.5]}))) == [{"a": 1.5}, {"a": 2.5}]


def test_members_cannot_be_changed_from_outside() -> None:
    values = np.array([[1.0, 2.0]])
    members = Members({"a": values})
    values[:] = 0.0
    assert members[0]["a"].tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        members[0]["a"][0] = 3.0
    members[0]["a"] = None
    members.levels["a"] = ()
    assert members[0]["a"] is not None
    assert members.levels == {}


def test_members_are_a_sequence_that_can_be_pickled() -> None:
    members = full_factorial({"a": [1, 2], "b": ["x", "y"]})
    assert members[-1] == {"a": 2, "b": "y"}
    assert list(members[1:3]) == [{"a": 1, "b": "y"}, {"a": 2, "b": "x"}]
    twin = pickle.loads(pickle.dumps(members))
    assert (twin, twin.levels) == (members, members.levels)
    assert repr(members) == "Members(4 of a, b)"
    assert members != 3


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: Members([1]), WrongTypeError, "not columns"),  # type: ignore[arg-type]  # is refused
        (lambda: Members({"a": [1], "b": [1, 2]}), ShapeError, "a: 1, b: 2"),
        (lambda: Members({"a": 3}), WrongTypeError, "'a' is not a column"),
        (lambda: Members({3: [1]}), WrongTypeError, "not a path"),  # type: ignore[dict-item]  # is refused
        (lambda: Members({"a": [1]})[1], UnknownItemError, "member 1"),
        (lambda: Members({"a": [1]})["a"], UnknownItemError, "member 'a'"),  # type: ignore[call-overload]  # is refused
        (lambda: Members({"a": [1]}).column("b"), UnknownItemError, "'b'"),
        (lambda: full_factorial({"a": []}), ShapeError, "no values"),
        (lambda: full_factorial({}), WrongTypeError, "not levels"),
        (lambda: sobol({}, 3), WrongTypeError, "not bounds"),
        (lambda: sobol({"a": (1.0, 1.0)}, 3), OutOfRangeError, "empty range"),
        (lambda: latin_hypercube({"a": (0.0,)}, 3), ShapeError, "no bounds"),  # type: ignore[dict-item]  # is refused
        (lambda: latin_hypercube({"a": (0.0, 1.0)}, 0), OutOfRangeError, "latin_hypercube"),
        (lambda: latin_hypercube({"a": (0.0, 1.0)}, 3, seed=-1), OutOfRangeError, "seed"),
        (lambda: members_of(3), WrongTypeError, "not members"),
        (lambda: members_of("ab"), WrongTypeError, "not members"),
    ],
)
def test_what_makes_no_members_is_refused(make: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        make()
