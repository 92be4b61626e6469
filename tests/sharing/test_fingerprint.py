from copy import deepcopy
from enum import Enum
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache.errors import UnsharableError
from stagecache.sharing.fingerprint import fingerprint
from stagecache.state.values.sameness import same
from tests.profiles import examples


class Color(Enum):
    RED = 1
    BLUE = 2


@attrs.frozen
class Material:
    name: str
    density: float


DIFFERENT: list[Any] = [
    *(0, 0.0, -0.0, False, None, "", b"", (), [], {}, 1, 1.0, True, 1 + 0j, "1", 2**70),
    *((1, 2), [1, 2], {1: 2}, {1, 2}, frozenset({1, 2}), ("ab", "c"), ("a", "bc")),
    *([[1], 2], [1, [2]], float("nan"), float("inf"), Color.RED, Color.BLUE),
    *(np.float32(1), np.float64(1), np.int64(1), np.int32(1)),
    *(np.zeros(4), np.zeros(4, np.float32), np.zeros((2, 2)), np.zeros((4, 1))),
    *(np.zeros(0), np.zeros((0, 3)), np.zeros(4, np.int64), np.array([True])),
    *(np.array(["a"]), np.array(["a"], object)),
    *(Material("oak", 700.0), Material("oak", 701.0), ("oak", 700.0)),
]


def test_values_that_differ_in_type_or_content_have_other_fingerprints() -> None:
    found = [fingerprint(value, "x") for value in DIFFERENT]
    assert len(set(found)) == len(DIFFERENT)
    assert {len(one) for one in found} == {32}


def test_the_whole_of_an_array_counts() -> None:
    whole = np.zeros(1_000_000)
    other = whole.copy()
    other[567_891] = 5e-324
    assert fingerprint(whole, "x") != fingerprint(other, "x")
    assert fingerprint(whole, "x") == fingerprint(whole.copy(), "x")


def test_the_order_in_memory_does_not_count() -> None:
    array = np.arange(12.0).reshape(3, 4)
    assert fingerprint(array, "x") == fingerprint(np.asfortranarray(array), "x")
    assert fingerprint(array, "x") == fingerprint(np.vstack([array, array])[:3], "x")


VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-3, 3),
        st.floats(),
        st.text(max_size=2),
        st.lists(st.integers(-1, 1), max_size=3).map(np.array),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple),
    max_leaves=6,
)


@examples(400)
@given(VALUES, VALUES)
def test_fingerprints_are_equal_only_for_the_same_values(one: Any, other: Any) -> None:
    assert fingerprint(one, "x") == fingerprint(deepcopy(one), "x")
    if fingerprint(one, "x") == fingerprint(other, "x"):
        assert same(one, other)
        assert repr(one) == repr(other)


def test_what_has_no_fingerprint_is_refused_by_path() -> None:
    with pytest.raises(UnsharableError, match=r"room\.data\['f'\]: is a prerequisite") as caught:
        fingerprint({"f": lambda: 1}, "room.data")
    assert "register_value" in caught.value.hint


def test_the_code_of_the_class_of_a_value_counts() -> None:
    found = []
    for result in (1, 2):
        space: dict[str, Any] = {"__name__": __name__, "attrs": attrs}
        exec(  # as a module that was changed between two sessions
            f"@attrs.frozen\nclass Rule:\n    x: int\n    def apply(self): return {result}", space
        )
        globals()["Rule"] = space["Rule"]
        found.append(fingerprint(space["Rule"](1), "x"))
    del globals()["Rule"]
    assert found[0] != found[1]
