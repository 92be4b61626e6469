"""One ContinuousState: how it is made, its views, its elements, and what it refuses."""

import copy
import pickle
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from stagecache.errors import (
    MissingExtraError,
    NotANumberError,
    PartitionError,
    ReadOnlyError,
    ShapeError,
    StagecacheError,
    UnknownItemError,
    WrongTypeError,
)
from stagecache.state.continuous.continuous_state import (
    AbstractContinuousState,
    ContinuousState,
    DiagramContinuousState,
)

PARTS = ("q", "v", "z")
READ_ONLY = r"read-only|cannot be written"  # as NumPy says it, or as we do


def build() -> ContinuousState:
    return ContinuousState([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3, 2, 1)


def values(state: AbstractContinuousState) -> list[list[Any]]:
    """X, q, v and z."""
    views = (state.vector, state.q, state.v, state.z)
    return [np.asarray(view).tolist() for view in views]


def reversed_state() -> tuple[np.ndarray[Any, Any], ContinuousState]:
    """x is every second element of `memory`, backwards; z comes first, then v, and q is strided."""
    memory = np.arange(12.0)
    x = memory[::-2]  # 11 9 7 5 3 1
    return memory, ContinuousState.from_views(x, q=x[:1:-2], v=x[4:1:-2], z=x[:2])


# ------------------------------------------------------------------ made


def test_the_vector_is_stored_as_q_then_v_then_z() -> None:
    state = build()
    assert values(state) == [[1, 2, 3, 4, 5, 6], [1, 2, 3], [4, 5], [6]]
    assert (state.size, len(state)) == (6, 6)
    assert (state.num_q, state.num_v, state.num_z) == (3, 2, 1)


def test_without_sizes_all_is_z() -> None:
    state = ContinuousState([1.0, 2.0])
    assert values(state) == [[1, 2], [], [], [1, 2]]
    assert (state.num_q, state.num_v, state.num_z) == (0, 0, 2)


@pytest.mark.parametrize("arguments", [(), (None,), ([],), (None, 0, 0, 0)], ids=str)
def test_without_a_vector_there_are_no_elements(arguments: tuple[Any, ...]) -> None:
    state = ContinuousState(*arguments)
    assert values(state) == [[], [], [], []]
    assert (state.size, state.num_q, state.num_v, state.num_z) == (0, 0, 0, 0)
    assert state.dtype == np.float64
    assert state == ContinuousState() == state.clone()


@pytest.mark.parametrize("sizes", [(0, 0, 4), (1, 1, 2), (2, 2, 0), (3, 1, 0), (2, 1, 1)])
def test_any_sizes_that_drake_documents(sizes: tuple[int, int, int]) -> None:
    state = ContinuousState([1, 2, 3, 4], *map(int, sizes))
    assert (state.num_q, state.num_v, state.num_z) == sizes
    q, v, z = values(state)[1:]
    assert q + v + z == [1, 2, 3, 4]
    assert (len(q), len(v), len(z)) == sizes


def test_an_array_is_viewed_and_a_list_is_copied() -> None:
    array, numbers = np.array([1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]
    viewing, owning = ContinuousState(array, 1, 1, 1), ContinuousState(numbers, 1, 1, 1)
    array[0] = numbers[0] = 7.0
    assert (viewing[0], owning[0]) == (7, 1)
    viewing.upd_z()[:] = 8.0
    owning.upd_z()[:] = 8.0
    assert array.tolist() == [7, 2, 8]
    assert numbers == [7, 2, 3]


def test_a_view_of_another_continuous_state_is_viewed() -> None:
    whole = DiagramContinuousState([ContinuousState([1.0, 2.0], 1, 1, 0), ContinuousState([3.0])])
    state = ContinuousState(whole.upd_vector()[1:])
    state.set_from_vector([8.0, 9.0])
    assert values(whole)[0] == [1, 8, 9]
    with pytest.raises(ReadOnlyError):
        ContinuousState(whole.vector)[0] = 5.0
    assert values(whole)[0] == [1, 8, 9]


@pytest.mark.parametrize("step", [2, -1, -3])
def test_a_strided_array_is_viewed_too(step: int) -> None:
    memory = np.zeros(12)
    x = memory[::step]
    state = ContinuousState(x, 1, 1, len(x) - 2)
    state.set_from_vector(range(1, len(x) + 1))
    assert x.tolist() == list(range(1, len(x) + 1))
    assert np.count_nonzero(memory) == len(x)


def test_views_in_any_layout_are_shown_where_they_lie() -> None:
    memory, state = reversed_state()
    assert values(state) == [[11, 9, 7, 5, 3, 1], [1, 5], [3, 7], [11, 9]]
    state.upd_q()[:] = [-1, -2]
    state.upd_v()[1] = -3
    state.upd_z()[:] += 100
    assert memory.tolist() == [0, -1, 2, 3, 4, -2, 6, -3, 8, 109, 10, 111]
    memory[1] = 50
    assert state.q[0] == state[5] == 50


def test_a_view_may_go_backwards_to_the_second_element() -> None:
    x = np.arange(4.0)
    state = ContinuousState.from_views(x, x[:1], x[3:], x[2:0:-1])
    assert values(state) == [[0, 1, 2, 3], [0], [3], [2, 1]]


def test_views_of_one_element_each_and_of_none() -> None:
    x = np.array([1.0, 2.0])
    assert values(ContinuousState.from_views(x, x[1:], x[:1], x[:0])) == [[1, 2], [2], [1], []]
    assert values(ContinuousState.from_views(x, x[:0], x[:0], x[::-1])) == [[1, 2], [], [], [2, 1]]
    none = x[:0]
    assert ContinuousState.from_views(none, none, none, none) == ContinuousState()


# ------------------------------------------------------------------ views


@pytest.mark.parametrize("name", ["vector", *PARTS])
def test_reading_gives_views_that_cannot_be_written(name: str) -> None:
    for state in (build(), reversed_state()[1]):
        before = state.copy_to_vector()
        view, writable = getattr(state, name), getattr(state, f"upd_{name}")()
        with pytest.raises(ValueError, match=READ_ONLY):
            view[0] = 9.0
        with pytest.raises(ValueError, match=READ_ONLY):
            view += 1
        with pytest.raises(AttributeError):
            setattr(state, name, before)
        assert state.copy_to_vector().tolist() == before.tolist()
        writable[0] = 9.0
        assert view[0] == 9, "but it is a view"


@pytest.mark.parametrize(
    ("name", "first"), [("vector", 0), ("q", 0), ("v", 3), ("z", 5)], ids=["x", "q", "v", "z"]
)
def test_writing_goes_to_these_elements_only(name: str, first: int) -> None:
    state = build()
    expected = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    view = getattr(state, f"upd_{name}")()
    view[0] = expected[first] = 20.0
    assert list(state) == expected
    view += 1
    expected[first : first + len(view)] = [value + 1 for value in expected[first:][: len(view)]]
    assert list(state) == expected
    view[:] = 0
    assert list(state) == [
        0 if first <= i < first + len(view) else value for i, value in enumerate(expected)
    ]


# ------------------------------------------------------------------ elements


def test_elements_count_from_either_end() -> None:
    for state in (build(), reversed_state()[1]):
        listed = np.asarray(state.vector).tolist()
        assert [state[i] for i in range(6)] == listed
        assert [state[i] for i in range(-6, 0)] == listed
        assert state[np.int64(1)] == listed[1]
        assert list(state) == listed
        assert list(reversed(state)) == listed[::-1]
        assert listed[2] in state
        state[-1] = 50.0
        state[1] = 60
        assert list(state) == [listed[0], 60, *listed[2:5], 50]


@pytest.mark.parametrize(
    "key",
    [slice(None), slice(1, 4), slice(None, None, -1), slice(-2, 99), slice(4, 1), slice(0, 6, 2)],
    ids=str,
)
def test_slices_are_those_of_a_list(key: slice) -> None:
    for state in (build(), reversed_state()[1]):
        listed = list(state)
        taken = state[key]
        assert np.asarray(taken).tolist() == listed[key]
        new = [-float(i) for i in range(len(listed[key]))]
        state[key] = new
        for i, value in zip(range(6)[key], new, strict=True):
            listed[i] = value
        assert list(state) == listed
        assert np.asarray(taken).tolist() == new, "it is a view"
        state[key] = 5
        assert np.asarray(taken).tolist() == [5] * len(new)
        if new:
            with pytest.raises(ValueError, match=READ_ONLY):
                taken[0] = 1.0


def test_iterating_is_not_disturbed_by_writes() -> None:
    state = build()
    seen = []
    for value in state:
        state.set_from_vector(np.zeros(6))
        seen.append(value)
    assert seen == [1, 2, 3, 4, 5, 6]


# ------------------------------------------------------------------ whole values


def test_all_of_x_is_set_and_copied() -> None:
    for state in (build(), reversed_state()[1]):
        state.set_from_vector([6, 5, 4, 3, 2, 1])
        copied = state.copy_to_vector()
        assert isinstance(copied, np.ndarray)
        assert copied.tolist() == list(state) == [6, 5, 4, 3, 2, 1]
        copied[:] = 0
        assert list(state) == [6, 5, 4, 3, 2, 1]
        state.set_from_vector(state.upd_vector()[::-1])
        assert list(state) == [1, 2, 3, 4, 5, 6]


def test_set_from_goes_by_q_v_and_z_in_whatever_order_they_lie() -> None:
    memory, state = reversed_state()
    other = ContinuousState([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2, 2, 2)
    state.set_from(other)
    assert values(state)[1:] == [[1, 2], [3, 4], [5, 6]]
    assert list(state) == [5, 6, 4, 2, 3, 1]
    state.upd_vector()[:] += 1
    assert list(other) == [1, 2, 3, 4, 5, 6], "values are copied"
    other.set_from(state)
    assert list(other) == [2, 3, 4, 5, 6, 7]
    assert memory[::2].tolist() == [0, 2, 4, 6, 8, 10]


def test_set_from_itself_and_from_what_overlaps_it() -> None:
    x = np.array([1.0, 2.0])
    state = ContinuousState(x, 1, 1, 0)
    state.set_from(state)
    assert x.tolist() == [1, 2]
    state.set_from(ContinuousState(x[::-1], 1, 1, 0))
    assert x.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("target", "source"),
    [
        (np.float64, np.int64),
        (np.float64, np.float32),
        (np.float32, np.float64),
        (np.complex128, np.float64),
        (np.int64, np.int32),
        (np.float64, np.uint8),
        (object, np.float64),
        (object, np.complex128),
    ],
)
def test_set_from_converts_to_the_type_of_the_elements(target: Any, source: Any) -> None:
    state = ContinuousState(np.zeros(3, target), 1, 1, 1)
    state.set_from(ContinuousState(np.array([1, 2, 3], source), 1, 1, 1))
    assert list(state) == [1, 2, 3]
    assert state.dtype == target


def test_objects_that_are_numbers_become_floats() -> None:
    state = ContinuousState(np.zeros(2), 1, 1, 0)
    state.set_from(ContinuousState(np.array([Fraction(1, 2), 3], object), 1, 1, 0))
    assert list(state) == [0.5, 3]
    assert state.dtype == np.float64


def test_a_clone_owns_its_elements_and_keeps_their_order() -> None:
    memory, state = reversed_state()
    state.system_id = "plant"
    twin = state.clone()
    assert twin == state
    assert values(twin) == values(state)
    assert twin.system_id == "plant"
    for part, name in enumerate(PARTS, start=1):
        getattr(twin, f"upd_{name}")()[:] = -part
    assert values(state) == [[11, 9, 7, 5, 3, 1], [1, 5], [3, 7], [11, 9]]
    assert list(twin) == [-3, -3, -2, -1, -2, -1]
    memory[:] = 0
    assert list(twin) == [-3, -3, -2, -1, -2, -1]


def test_a_clone_can_have_elements_of_another_type() -> None:
    twin = build().clone(object)
    assert twin.dtype == object
    assert list(twin) == [1, 2, 3, 4, 5, 6]
    third: Any = Fraction(1, 3)
    twin.upd_q()[0] = third
    assert twin[0] is third


@pytest.mark.parametrize("duplicate", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy])
def test_what_is_pickled_or_copied_is_equal_and_apart(
    duplicate: Callable[[ContinuousState], ContinuousState],
) -> None:
    for state in (build(), reversed_state()[1], ContinuousState()):
        state.system_id = ("plant", 3)
        twin = duplicate(state)
        assert twin == state
        assert values(twin) == values(state)
        assert (type(twin), twin.system_id, twin.dtype) == (
            ContinuousState,
            ("plant", 3),
            state.dtype,
        )
        twin.upd_vector()[:] = 0
        assert (twin == state) == (len(state) == 0)
        assert all(len(view) for view in values(state)) or len(state) == 0


def test_the_system_id_is_none_until_it_is_set_and_not_compared() -> None:
    state = build()
    assert state.system_id is None
    state.system_id = 7
    assert state == build()


# ------------------------------------------------------------------ compared and shown


def test_two_are_equal_if_the_same_parts_have_equal_values() -> None:
    assert build() == build()
    assert build() == ContinuousState(np.arange(1, 7), 3, 2, 1), "whatever their type"
    assert build() != ContinuousState([1.0, 2.0, 3.0, 4.0, 5.0, 7.0], 3, 2, 1)
    assert build() != ContinuousState([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2, 2, 2)
    assert build() != ContinuousState([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    assert build() != ContinuousState()
    x = np.array([1.0, 2.0])
    assert ContinuousState(x, 1, 1, 0) != ContinuousState.from_views(x, x[1:], x[:1], x[:0])
    assert ContinuousState([float("nan")]) != ContinuousState([float("nan")])
    assert build() != [1, 2, 3, 4, 5, 6]
    with pytest.raises(TypeError, match="unhashable"):
        hash(build())


def test_repr_shows_the_parts() -> None:
    assert repr(build()) == "ContinuousState(q=[1. 2. 3.], v=[4. 5.], z=[6.])"
    assert repr(ContinuousState()) == "ContinuousState(q=[], v=[], z=[])"
    assert repr(reversed_state()[1]) == "ContinuousState(q=[1. 5.], v=[3. 7.], z=[11.  9.])"
    assert len(repr(ContinuousState(np.zeros(10_000)))) < 200


# ------------------------------------------------------------------ types of elements


def test_objects_pass_through() -> None:
    third: Any = Fraction(1, 3)
    state = ContinuousState(np.array([third, 2 * third, third], object), 1, 1, 1)
    assert state.dtype == object
    assert state.q[0] is third
    state.upd_q()[:] += third
    assert [type(value) for value in state] == [Fraction] * 3
    assert list(state) == [2 * third, 2 * third, third]
    state.set_from_vector([third, third, third])
    assert list(state) == [third] * 3
    state[0:2] = [2 * third, 5 * third]
    assert list(state) == [2 * third, 5 * third, third]
    twin = pickle.loads(pickle.dumps(state))
    assert twin == state.clone() == state
    assert "Fraction(2, 3)" in repr(state)


def test_an_object_that_is_written_to_an_element_is_that_element() -> None:
    state = ContinuousState(np.array([0, 0], object), 1, 1, 0)
    third: Any = Fraction(1, 3)
    state[0] = third
    state[-1] = 2.5
    assert state[0] is third
    assert [type(value) for value in state] == [Fraction, float]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.float32, np.complex128])
def test_elements_keep_their_type(dtype: Any) -> None:
    state = ContinuousState(np.array([1, 2, 3], dtype), 1, 1, 1)
    state.upd_q()[:] = 5
    state[1] = dtype(6)
    state[2:] = np.array([7], dtype)
    assert state.dtype == dtype
    assert list(state) == [5, 6, 7]
    assert state.clone().dtype == state.copy_to_vector().dtype == dtype
    assert type(state[0]) is dtype


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64])
def test_a_python_integer_fits_any_integer_type_that_holds_it(dtype: Any) -> None:
    state = ContinuousState(np.array([1, 2], dtype))
    state[0] = 100
    state[1:] = [3]
    assert list(state) == [100, 3]


# ------------------------------------------------------------------ refused


def refused(error: type[StagecacheError], builtin: type[Exception], act: Any) -> str:
    """Return the message, after checks that it is complete."""
    with pytest.raises(error) as caught:
        act()
    assert isinstance(caught.value, builtin)
    assert caught.value.expected
    assert caught.value.got
    assert caught.value.hint
    return str(caught.value)


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((1, 1, 1), "add up to the 4 elements"),
        ((3, 2, 0), "add up to the 4 elements"),
        ((0, 0, 0), "add up to the 4 elements"),
        ((1, 2, 1), "no more v than q"),
        ((0, 2, 2), "no more v than q"),
        ((2, 0, 2), "q and v both, or neither"),
        ((-1, 1, 4), "no negative number"),
        ((2, -1, 3), "no negative number"),
        ((3, 2, -1), "no negative number"),
        ((2, 2, None), "three integers"),
        ((None, None, 4), "three integers"),
        ((2.0, 1.0, 1.0), "three integers"),
        (("2", 1, 1), "three integers"),
        ((True, 1, 2), "three integers"),
        ((np.array([2, 1]), 1, 1), "three integers"),
    ],
    ids=str,
)
def test_sizes_that_do_not_fit(sizes: tuple[Any, Any, Any], expected: str) -> None:
    message = refused(
        PartitionError, ValueError, lambda: ContinuousState([1.0, 2.0, 3.0, 4.0], *sizes)
    )
    assert expected in message
    assert all(f"num_{part}=" in message for part in PARTS)
    assert repr(sizes[1]) in message


def test_sizes_without_a_vector() -> None:
    message = refused(PartitionError, ValueError, lambda: ContinuousState(None, 1, 1, 0))
    assert "0 elements" in message


@pytest.mark.parametrize(
    "vector",
    [5, 5.0, [[1.0, 2.0]], np.zeros((2, 1)), np.array(1.0), [1, [2]], "ab", {1: 2}],
    ids=str,
)
def test_a_vector_of_wrong_rank(vector: Any) -> None:
    message = refused(ShapeError, ValueError, lambda: ContinuousState(vector))
    assert "one dimension" in message
    is_ragged = isinstance(vector, list) and vector[0] == 1
    assert ("of lists of different lengths" if is_ragged else "of shape") in message


@pytest.mark.parametrize("vector", [["a"], [b"a"], [True], np.array(["2020-01-01"], "M8")], ids=str)
def test_a_vector_of_what_is_no_number(vector: Any) -> None:
    assert "type" in refused(NotANumberError, TypeError, lambda: ContinuousState(vector))


@pytest.mark.parametrize("index", [6, 99, -7, 2**80, -(2**80), np.int64(6), True], ids=str)
def test_an_index_out_of_range_in_either_direction(index: Any) -> None:
    def write() -> None:
        state[index] = 9.0

    for state in (build(), reversed_state()[1]):
        before = list(state)
        for act in (lambda s=state: s[index], write):
            message = refused(UnknownItemError, IndexError, act)
            assert "from -6 to 5" in message
            assert list(state) == before


@pytest.mark.parametrize("index", [0, -1])
def test_no_index_is_in_the_range_of_no_elements(index: int) -> None:
    empty = ContinuousState()
    refused(UnknownItemError, IndexError, lambda: empty[index])
    refused(UnknownItemError, IndexError, lambda: empty.__setitem__(index, 1.0))
    assert list(empty) == []


@pytest.mark.parametrize("index", [1.0, "q", None, (0, 1), [0, 1], np.array([0, 1])], ids=str)
def test_an_index_that_is_no_integer(index: Any) -> None:
    state = build()
    for act in (lambda: state[index], lambda: state.__setitem__(index, 9.0)):
        with pytest.raises(StagecacheError) as caught:
            act()
        assert isinstance(caught.value, IndexError | TypeError)
    assert state == build()


WRONG_SHAPES = [[1.0], [1.0] * 7, [], [[1.0] * 6], np.zeros((6, 1)), 5.0, [1, [2]] * 3, None]


@pytest.mark.parametrize("given", WRONG_SHAPES, ids=str)
def test_a_vector_of_wrong_length_or_rank_is_not_taken(given: Any) -> None:
    state = build()
    message = refused(ShapeError, ValueError, lambda: state.set_from_vector(given))
    assert "(6,)" in message
    assert "of shape" in message
    assert state == build()


@pytest.mark.parametrize("given", [[1.0], [1.0] * 3, [], [[1.0, 2.0]], [[1], [1, 2]]], ids=str)
def test_a_slice_takes_as_many_values_as_it_has(given: Any) -> None:
    state = build()
    message = refused(ShapeError, ValueError, lambda: state.__setitem__(slice(1, 3), given))
    assert "(2,)" in message
    assert state == build()


@pytest.mark.parametrize("given", [[1.0], [1.0, 2.0], [[1], [1, 2]], np.zeros((1, 1))], ids=str)
@pytest.mark.parametrize("dtype", [float, object])
def test_an_element_takes_one_value(given: Any, dtype: type) -> None:
    state = build().clone(dtype)
    refused(ShapeError, ValueError, lambda: state.__setitem__(1, given))
    assert state == build()


@pytest.mark.parametrize(
    ("dtype", "given"),
    [
        (float, 1j),
        (float, "1"),
        (float, None),
        (float, np.datetime64("2020-01-01")),
        (float, 10**400),
        (float, np.array("x", object)),
        (np.int64, 1.5),
        (np.int64, Fraction(1, 2)),
        (np.int64, 2**100),
        (np.int8, 300),
        (np.uint8, -1),
    ],
    ids=str,
)
def test_a_value_that_the_elements_cannot_hold(dtype: Any, given: Any) -> None:
    state = build().clone(dtype)
    writes: list[Callable[[], Any]] = [
        lambda: state.__setitem__(1, given),
        lambda: state.__setitem__(slice(1, 2), [given]),
        lambda: state.set_from_vector([given] * 6),
    ]
    for write in writes:
        message = refused(NotANumberError, TypeError, write)
        assert np.dtype(dtype).name in message
        assert list(state) == [1, 2, 3, 4, 5, 6]


def test_set_from_refuses_other_sizes_and_changes_nothing() -> None:
    for sizes in [(2, 2, 2), (3, 3, 0), (0, 0, 6), (4, 2, 0)]:
        state = build()
        other = ContinuousState(np.zeros(6), *sizes)
        message = refused(PartitionError, ValueError, lambda s=state, o=other: s.set_from(o))
        assert "[3, 2, 1]" in message
        assert str(list(sizes)) in message
        assert state == build()
    refused(PartitionError, ValueError, lambda: build().set_from(ContinuousState()))
    refused(PartitionError, ValueError, lambda: ContinuousState().set_from(build()))


@pytest.mark.parametrize(
    ("target", "source"),
    [
        (np.float64, np.array([1j, 2j, 3j])),
        (np.int64, np.array([1.0, 2.0, 3.0])),
        (np.float64, np.array([1.0, 2.0, 1j], object)),
        (np.int64, np.array([1, 2, Fraction(1, 2)], object)),
    ],
    ids=str,
)
def test_set_from_refuses_what_would_be_lost_and_changes_nothing(target: Any, source: Any) -> None:
    state = ContinuousState(np.array([7, 8, 9], target), 1, 1, 1)
    other = ContinuousState(source, 1, 1, 1)
    message = refused(NotANumberError, TypeError, lambda: state.set_from(other))
    assert np.dtype(target).name in message
    assert list(state) == [7, 8, 9]


@pytest.mark.parametrize("other", [None, [1, 2, 3, 4, 5, 6], np.zeros(6), 5, "x"], ids=str)
def test_set_from_takes_continuous_states_only(other: Any) -> None:
    state = build()
    message = refused(WrongTypeError, TypeError, lambda: state.set_from(other))
    assert type(other).__name__ in message
    assert state == build()


def views(x: Any) -> dict[str, tuple[Any, Any, Any]]:
    """q, v and z that do not share out x, which has four elements."""
    return {
        "too few": (x[:1], x[1:2], x[2:3]),
        "one twice": (x[:2], x[1:2], x[2:]),
        "all twice": (x, x, x[:0]),
        "a copy": (x[:1].copy(), x[1:2], x[2:]),
        "a list": ([1.0], x[1:2], x[2:]),
        "other memory": (np.zeros(4)[:1], x[1:2], x[2:]),
        "another type": (x.view(np.int64)[1:2], x[:1], x[2:]),
        "between the elements": (x.view(np.float32)[1:2], x[1:2], x[2:]),
        "more v than q": (x[:1], x[1:3], x[3:]),
        "no v": (x[:1], x[:0], x[1:]),
    }


@pytest.mark.parametrize("name", views(np.zeros(4)))
def test_views_that_do_not_share_out_the_vector(name: str) -> None:
    x = np.arange(4.0)
    message = refused(
        PartitionError, ValueError, lambda: ContinuousState.from_views(x, *views(x)[name])
    )
    assert "got" in message
    assert x.tolist() == [0, 1, 2, 3]


def test_views_of_another_type_or_rank() -> None:
    x = np.arange(4.0) + 0j
    none = x[:0]
    for q, v in ((x.real[:2], x.real[2:]), (x.view(np.int64)[:4:2], x.view(np.int64)[4::2])):
        with pytest.raises(StagecacheError):
            ContinuousState.from_views(x, q, v, none)
    square = x.reshape(2, 2)
    refused(ShapeError, ValueError, lambda: ContinuousState.from_views(square, x, none, none))
    refused(ShapeError, ValueError, lambda: ContinuousState.from_views(x, square, none, none))


def test_views_that_are_not_arrays_have_no_place_in_an_array() -> None:
    whole = DiagramContinuousState([ContinuousState([1.0]), ContinuousState([2.0])]).upd_vector()
    x = np.arange(2.0)
    for vector, z in ((whole, whole), (x, whole)):
        refused(
            PartitionError,
            ValueError,
            partial(ContinuousState.from_views, vector, x[:0], x[:0], z),
        )


def test_an_array_that_cannot_be_written_is_not() -> None:
    array = np.array([1.0, 2.0])
    array.flags.writeable = False
    state = ContinuousState(array, 1, 1, 0)
    writes: list[Callable[[], Any]] = [
        lambda: state.__setitem__(0, 5.0),
        lambda: state.set_from_vector([5.0, 6.0]),
    ]
    for write in writes:
        with pytest.raises(ValueError, match=READ_ONLY):
            write()
    assert list(state) == [1, 2]
    twin = state.clone()
    twin[0] = 5.0
    assert list(twin) == [5, 2]


# ------------------------------------------------------------------ by names


def test_labels_say_part_and_number() -> None:
    pytest.importorskip("xarray", reason="needs xarray, of the extra labels")
    labeled = reversed_state()[1].to_labeled()
    assert labeled.coords["x"].values.tolist() == ["z0", "z1", "v1", "q1", "v0", "q0"]
    assert labeled.coords["part"].values.tolist() == ["z", "z", "v", "q", "v", "q"]
    assert labeled.values.tolist() == [11, 9, 7, 5, 3, 1]


def test_labels_need_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xarray", None)
    assert "labels" in refused(MissingExtraError, ImportError, build().to_labeled)


def test_views_that_leave_out_an_element_or_have_one_twice_or_from_elsewhere_are_refused() -> None:
    x, other = np.array([1.0, 2.0]), np.ones(1)
    for parts in (
        (x[:1], other, x[:0]),
        (x, x[:1], x[:0]),
        (x[:1], x[:1], x[:0]),
        (x[:1],) * 2 + (x,),
    ):
        with pytest.raises(PartitionError):
            ContinuousState.from_views(x, *parts)


def test_more_than_twelve_numbers_are_shown_in_part_with_six_digits() -> None:
    assert "..." not in repr(ContinuousState(np.ones(12)))
    assert "..." in repr(ContinuousState(np.ones(13)))
    assert "0.333333]" in repr(ContinuousState([1 / 3]))


def test_numbers_in_equal_steps_are_a_view_and_others_a_copy() -> None:
    x = np.arange(6.0)
    for q, v in ((x[1:], x[:1]), (x[::2], x[1::2]), (x[::-2], x[::2]), (x[3:], x[2::-1])):
        state = ContinuousState.from_views(x, q, v, x[:0])
        assert (list(state.q), list(state.v)) == (list(q), list(v))
        assert np.shares_memory(state.q, x)
