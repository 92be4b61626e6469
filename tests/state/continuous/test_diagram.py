"""Several continuous states as one.

::

    root [ a (2,1,1)   b (1,1,2)   c (0,0,1) ]

    x   1 2 3 4   5 6 7 8   9
        q q v z   q v z z   z
"""

import copy
import pickle
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from stagecache.errors import (
    NotANumberError,
    PartitionError,
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

X = [1, 2, 3, 4, 5, 6, 7, 8, 9]


def leaves() -> tuple[ContinuousState, ContinuousState, ContinuousState]:
    return (
        ContinuousState([1.0, 2.0, 3.0, 4.0], 2, 1, 1),
        ContinuousState([5.0, 6.0, 7.0, 8.0], 1, 1, 2),
        ContinuousState([9.0]),
    )


def flat() -> DiagramContinuousState:
    return DiagramContinuousState(leaves())


def nested() -> DiagramContinuousState:
    """[[a] [] [b c]]: the same leaves in the same order."""
    a, b, c = leaves()
    return DiagramContinuousState(
        [
            DiagramContinuousState([a]),
            DiagramContinuousState([]),
            DiagramContinuousState([b, ContinuousState(), c]),
        ]
    )


def values(state: AbstractContinuousState) -> list[list[Any]]:
    """X, q, v and z."""
    views = (state.vector, state.q, state.v, state.z)
    return [np.asarray(view).tolist() for view in views]


def every_leaf(state: AbstractContinuousState) -> Iterator[ContinuousState]:
    if isinstance(state, DiagramContinuousState):
        for i in range(state.num_substates):
            yield from every_leaf(state.substate(i))
    else:
        assert isinstance(state, ContinuousState)
        yield state


def refused(error: type[StagecacheError], builtin: type[Exception], act: Any) -> str:
    """Return the message, after checks that it is complete."""
    with pytest.raises(error) as caught:
        act()
    assert isinstance(caught.value, builtin)
    assert caught.value.expected
    assert caught.value.got
    assert caught.value.hint
    return str(caught.value)


both = pytest.mark.parametrize("build", [flat, nested])
Build = Callable[[], DiagramContinuousState]


# ------------------------------------------------------------------ order and sizes


@both
def test_x_goes_by_substate_and_q_v_z_are_grouped(build: Build) -> None:
    state = build()
    assert values(state) == [X, [1, 2, 5], [3, 6], [4, 7, 8, 9]]
    assert (state.size, len(state)) == (9, 9)
    assert (state.num_q, state.num_v, state.num_z) == (3, 2, 4)
    assert list(state) == state.copy_to_vector().tolist() == X
    assert [state[i] for i in range(-9, 9)] == X + X
    assert np.asarray(state[7:1:-2]).tolist() == X[7:1:-2]
    assert repr(state) == "DiagramContinuousState(q=[1. 2. 5.], v=[3. 6.], z=[4. 7. 8. 9.])"


def test_substates_are_the_ones_given() -> None:
    given = leaves()
    state = DiagramContinuousState(iter(given))
    assert state.num_substates == 3
    assert all(state.substate(i) is given[i] for i in range(3))
    assert state.substate(int(np.int64(2))) is given[2]
    outer = DiagramContinuousState([state, ContinuousState()])
    assert outer.num_substates == 2
    assert outer.substate(0) is state


def test_substates_may_lie_anywhere() -> None:
    x = np.arange(5.0)[::-1]  # 4 3 2 1 0
    a = ContinuousState.from_views(x, q=x[3:], v=x[:1], z=x[1:3])
    b = ContinuousState([5.0, 6.0], 1, 1, 0)
    state = DiagramContinuousState([b, a])
    assert values(state) == [[5, 6, 4, 3, 2, 1, 0], [5, 1, 0], [6, 4], [3, 2]]
    state.upd_q()[:] = [-1, -2, -3]
    assert x.tolist() == [4, 3, 2, -2, -3]
    assert list(b) == [-1, 6]


def test_an_empty_diagram() -> None:
    for state in (
        DiagramContinuousState([]),
        DiagramContinuousState([ContinuousState(), DiagramContinuousState([])]),
    ):
        assert values(state) == [[], [], [], []]
        assert (state.size, state.num_q, state.num_v, state.num_z) == (0, 0, 0, 0)
        assert list(state) == []
        assert state.vector.dtype == float
        state.set_from_vector([])
        state.set_from(state.clone())
        state.upd_vector()[:] = 0
        assert state == state.clone() == pickle.loads(pickle.dumps(state))
        assert repr(state) == "DiagramContinuousState(q=[], v=[], z=[])"
        refused(UnknownItemError, IndexError, lambda s=state: s[0])
    assert DiagramContinuousState([]).num_substates == 0


def test_one_substate() -> None:
    (a, *_) = leaves()
    state = DiagramContinuousState([a])
    assert values(state) == values(a)
    state[0] = 20.0
    state.upd_z()[:] = 40.0
    a.upd_v()[:] = 30.0
    assert values(state) == values(a) == [[20, 2, 30, 40], [20, 2], [30], [40]]
    assert state != a, "a leaf is no diagram"


# ------------------------------------------------------------------ writes


@both
@pytest.mark.parametrize("name", ["vector", "q", "v", "z"])
def test_writes_through_the_diagram_are_seen_in_its_leaves(build: Build, name: str) -> None:
    state = build()
    chosen = np.asarray(getattr(state, name)).astype(int) - 1  # x is 1..9
    expected = np.array(X, float)
    writes: list[tuple[Callable[[Any], Any], Callable[[Any], Any]]] = [
        (
            lambda view: view.__setitem__(slice(None), -np.arange(len(view))),
            lambda x: -np.arange(len(x)),
        ),
        (lambda view: view.__iadd__(10), lambda x: x + 10),
        (lambda view: view.__imul__(np.arange(len(view))), lambda x: x * np.arange(len(x))),
        (lambda view: view.__setitem__(slice(None), 3), lambda x: np.full(len(x), 3)),
    ]
    for write, new in writes:
        write(getattr(state, f"upd_{name}")())
        expected[chosen] = new(expected[chosen])
        assert list(state) == expected.tolist()
        assert [x for leaf in every_leaf(state) for x in leaf] == expected.tolist()


@both
def test_writes_in_the_leaves_are_seen_through_the_diagram(build: Build) -> None:
    state = build()
    views = (state.vector, state.q, state.v, state.z)
    for leaf in every_leaf(state):
        leaf.upd_vector()[:] = -np.asarray(leaf.vector)
    assert [np.asarray(view).tolist() for view in views] == [
        [-x for x in X],
        [-1, -2, -5],
        [-3, -6],
        [-4, -7, -8, -9],
    ]
    assert values(state) == [np.asarray(view).tolist() for view in views]


@both
def test_elements_and_slices_are_written_where_they_lie(build: Build) -> None:
    state = build()
    a, b, c = (leaf for leaf in every_leaf(state) if len(leaf))
    state[-1] = 90.0
    state[3] = 40
    state[4:8:3] = [50.0, 80.0]
    state[1:3] = 0
    assert (list(a), list(b), list(c)) == ([1, 0, 0, 40], [50, 6, 7, 80], [90])
    state.set_from_vector(X[::-1])
    assert (list(a), list(b), list(c)) == ([9, 8, 7, 6], [5, 4, 3, 2], [1])
    state.set_from_vector(state.vector[::-1])
    assert list(state) == X


@both
@pytest.mark.parametrize("name", ["vector", "q", "v", "z"])
def test_reading_gives_views_that_cannot_be_written(build: Build, name: str) -> None:
    state = build()
    view = getattr(state, name)
    acts: list[Callable[[], Any]] = [
        lambda: view.__setitem__(0, 9.0),
        lambda: view.__setitem__(slice(None), 9.0),
        lambda: view[:1].__setitem__(0, 9.0),
        lambda: view.__iadd__(1),
    ]
    for act in acts:
        with pytest.raises(ValueError, match=r"read-only|cannot be written"):
            act()
    assert list(state) == X


def test_views_of_several_arrays_do_what_arrays_do() -> None:
    """Each of them does the same to a JoinedView, to a SelectedView and to an array."""
    mask = np.array([True, False, True, False])
    acts: list[Callable[[Any], Any]] = [
        lambda x: x[1],
        lambda x: x[-1],
        lambda x: x[1:3],
        lambda x: x[::-1][:2],
        lambda x: x[[3, 0]],
        lambda x: x[mask],
        lambda x: x[[[0, 1], [2, 3]]],
        lambda x: x[:, np.newaxis],
        lambda x: x[...],
        lambda x: (x.shape, x.size, x.ndim, x.dtype, len(x)),
        lambda x: x + 1,
        lambda x: 1 - x,
        lambda x: x @ x,
        lambda x: x == x[::-1],
        np.sin,
        np.add.reduce,
        lambda x: np.concatenate([x, x]),
        np.linalg.norm,
        lambda x: np.asarray(x, dtype=int),
        lambda x: x.__setitem__([0, 2], [7, 8]),
        lambda x: x.__setitem__(mask, 6),
        lambda x: x.__setitem__(slice(None), x[::-1]),
        lambda x: x[1:].__setitem__(0, 5),
        lambda x: x[1:].__iadd__(x[:-1]),
        lambda x: np.add(x, 1, out=x).__getitem__(0),
        lambda x: np.add(x, 1, out=x, where=mask).__getitem__(0),
        lambda x: np.add.at(x, [0, 0, 1], 1),
    ]
    for act in acts:
        array = np.array([4.0, 7.0, 8.0, 9.0])
        a, b = ContinuousState([4.0, 7.0]), ContinuousState([8.0, 9.0])
        joined = DiagramContinuousState([a, b]).upd_vector()
        selected = flat().upd_z()
        expected = act(array)
        for view in (joined, selected):
            found = act(view)
            if isinstance(expected, np.ndarray):
                assert np.array_equal(np.asarray(found), expected)
            else:
                assert found is expected is None or found == expected
            assert np.asarray(view).tolist() == array.tolist()
        assert [*a, *b] == array.tolist()


def test_views_refuse_what_arrays_refuse() -> None:
    acts: list[tuple[type[Exception], Callable[[Any], Any]]] = [
        (IndexError, lambda x: x[99]),
        (IndexError, lambda x: x[-5]),
        (IndexError, lambda x: x["a"]),
        (IndexError, lambda x: x.__setitem__(4, 0.0)),
        (IndexError, lambda x: x.__setitem__([0, 4], 0.0)),
        (ValueError, lambda x: x.__setitem__(slice(None), [1.0, 2.0])),
        (ValueError, lambda x: x.__iadd__([1.0, 2.0])),
        (TypeError, lambda x: x.__iadd__(1j)),
        (TypeError, lambda x: x.__setitem__(0, 1j)),
    ]
    for error, act in acts:
        halves = DiagramContinuousState([ContinuousState([4.0, 7.0]), ContinuousState([8.0, 9.0])])
        for view in (halves.upd_vector(), flat().upd_z()):
            before = np.asarray(view).tolist()
            with pytest.raises(error):
                act(view)
            assert np.asarray(view).tolist() == before


# ------------------------------------------------------------------ whole values


@both
def test_a_clone_owns_all_its_elements_and_keeps_the_structure(build: Build) -> None:
    state = build()
    state.system_id = "diagram"
    state.substate(0).system_id = "first"
    twin = state.clone()
    assert twin == state
    assert values(twin) == values(state)
    assert (twin.system_id, twin.substate(0).system_id) == ("diagram", "first")
    assert twin.num_substates == state.num_substates
    assert [type(leaf) for leaf in every_leaf(twin)] == [type(leaf) for leaf in every_leaf(state)]
    for i in range(state.num_substates):
        assert twin.substate(i) == state.substate(i)
        assert twin.substate(i) is not state.substate(i)
    twin.upd_vector()[:] = 0
    assert list(state) == X
    state.upd_q()[:] = 5
    assert list(twin) == [0] * 9
    twin.substate(0)[0] = 3
    assert twin[0] == 3


@both
def test_what_is_pickled_or_copied_is_equal_and_apart(build: Build) -> None:
    state = build()
    state.system_id = "diagram"
    for twin in (pickle.loads(pickle.dumps(state)), copy.deepcopy(state)):
        assert twin == state
        assert values(twin) == values(state)
        assert twin.system_id == "diagram"
        twin.upd_q()[0] = 20.0
        assert twin.substate(0)[0] == 20
        twin.substate(0)[1] = 30.0
        assert twin[1] == 30
        assert list(state) == X


def test_a_diagram_that_is_pickled_with_its_leaf_keeps_viewing_it() -> None:
    state = flat()
    twin, leaf = pickle.loads(pickle.dumps((state, state.substate(1))))
    leaf[0] = 50.0
    assert twin[4] == 50


@both
def test_set_from_goes_substate_by_substate(build: Build) -> None:
    state, other = build(), build()
    other.upd_vector()[:] *= -1
    state.set_from(other)
    assert state == other
    assert list(state) == [-x for x in X]
    other.upd_vector()[:] = 0
    assert list(state) == [-x for x in X]
    state.set_from(build().clone(int))
    assert list(state) == X
    state.set_from(state)
    assert list(state) == X


def test_set_from_goes_by_q_v_and_z_in_whatever_order_they_lie() -> None:
    x = np.zeros(4)
    a = ContinuousState.from_views(x, q=x[:1:-1], v=x[1:2], z=x[:1])
    state = DiagramContinuousState([a, *leaves()[1:]])
    state.set_from(flat())
    assert x.tolist() == [4, 3, 2, 1]
    assert values(state)[1:] == values(flat())[1:]
    other = flat()
    other.set_from(state)
    assert list(other) == X
    assert state != other, "x is in another order"


@both
def test_set_from_refuses_another_structure_and_changes_nothing(build: Build) -> None:
    state = build()
    zeros = np.zeros
    a, b, c = (
        ContinuousState(zeros(len(leaf)), leaf.num_q, leaf.num_v, leaf.num_z) for leaf in leaves()
    )
    others: list[AbstractContinuousState] = [
        ContinuousState(zeros(9), 3, 2, 4),  # a leaf of the same totals
        DiagramContinuousState([ContinuousState(zeros(9), 3, 2, 4)]),
        DiagramContinuousState([b, a, c]),
        DiagramContinuousState([DiagramContinuousState([a, b]), c]),
        DiagramContinuousState([a, b, c, ContinuousState()]),
        DiagramContinuousState([a, b]),
        DiagramContinuousState([]),
    ]
    for other in others:
        message = refused(PartitionError, ValueError, lambda o=other: state.set_from(o))
        assert "[2, 1, 1]" in message
        assert repr(other) in message
        assert list(state) == X
        before = list(other)
        refused(PartitionError, ValueError, lambda o=other: o.set_from(state))
        assert list(other) == before


def test_objects_pass_through() -> None:
    third: Any = Fraction(1, 3)
    a, b = (ContinuousState(np.array([third] * 3, object), 1, 1, 1) for _ in range(2))
    state = DiagramContinuousState([a, b])
    state.upd_q()[:] *= 3
    state[-1] = 2 * third
    state[1:3] = [third, 5 * third]
    assert state.dtype == object
    assert [type(x) for x in state] == [Fraction] * 6
    assert (list(a), list(b)) == ([1, third, 5 * third], [1, third, 2 * third])
    assert state.clone() == state == pickle.loads(pickle.dumps(state))


def test_substates_of_different_types_are_converted_for_reading() -> None:
    state = DiagramContinuousState([ContinuousState([1, 2], 1, 1, 0), ContinuousState([1.5])])
    assert state.dtype == np.float64
    assert values(state) == [[1, 2, 1.5], [1], [2], [1.5]]
    twin = state.clone()
    assert [twin.substate(i).dtype for i in range(2)] == [np.int64, np.float64]


def test_a_value_that_a_substate_cannot_hold_is_refused_through_the_diagram_too() -> None:
    integers, floats = ContinuousState([1, 2], 1, 1, 0), ContinuousState([3.0])
    state = DiagramContinuousState([integers, floats])
    writes: list[Callable[[], Any]] = [
        lambda: state.__setitem__(0, 1.5),
        lambda: state.__setitem__(slice(0, 1), [1.5]),
        lambda: state.set_from_vector([1.5, 2.5, 3.5]),
        lambda: state.upd_q().__setitem__(0, 1.5),
        lambda: state.upd_vector().__iadd__(0.5),
        lambda: state.set_from(
            DiagramContinuousState([ContinuousState([1.5, 2.5], 1, 1, 0), ContinuousState([3.5])])
        ),
    ]
    for write in writes:
        with pytest.raises(TypeError):
            write()
        assert (list(integers), list(floats)) == ([1, 2], [3])


def test_a_substate_that_cannot_be_written_keeps_the_others_from_it() -> None:
    array = np.array([2.0])
    array.flags.writeable = False
    state = DiagramContinuousState([ContinuousState([1.0]), ContinuousState(array)])
    with pytest.raises(ValueError, match=r"read-only|cannot be written"):
        state.set_from_vector([5.0, 6.0])
    assert list(state) == [1, 2]


# ------------------------------------------------------------------ refused


@both
@pytest.mark.parametrize("index", [9, 99, -10, 2**80])
def test_an_index_out_of_range_in_either_direction(build: Build, index: int) -> None:
    state = build()
    for act in (lambda: state[index], lambda: state.__setitem__(index, 1.0)):
        message = refused(UnknownItemError, IndexError, act)
        assert "from -9 to 8" in message
        assert list(state) == X


@pytest.mark.parametrize("index", [3, 99, -1, 2**80, True, 1.0, "a", None], ids=str)
def test_a_substate_that_does_not_exist(index: Any) -> None:
    message = refused(UnknownItemError, IndexError, lambda: flat().substate(index))
    assert "from 0 to 2" in message
    assert repr(index) in message or "..." in message
    refused(UnknownItemError, IndexError, lambda: DiagramContinuousState([]).substate(index))


@pytest.mark.parametrize("given", [[1.0], X + X, [], [X], 5.0, None], ids=str)
def test_a_vector_of_wrong_length_or_rank_is_not_taken(given: Any) -> None:
    state = flat()
    assert "(9,)" in refused(ShapeError, ValueError, lambda: state.set_from_vector(given))
    assert list(state) == X


def test_a_value_of_wrong_type_is_not_taken() -> None:
    state = flat()
    for given in ([1j] * 9, ["a"] * 9, [1.0] * 8 + [1j]):
        refused(NotANumberError, TypeError, lambda g=given: state.set_from_vector(g))
        assert list(state) == X


@pytest.mark.parametrize(
    "substates", [None, 5, [1.0, 2.0], [None], "ab", np.zeros(2), [[ContinuousState()]]], ids=str
)
def test_what_is_no_continuous_state_is_no_substate(substates: Any) -> None:
    refused(WrongTypeError, TypeError, lambda: DiagramContinuousState(substates))


def test_one_state_alone_is_no_list_of_them() -> None:
    for state in (ContinuousState([1.0]), flat()):
        message = refused(
            WrongTypeError,
            TypeError,
            lambda s=state: DiagramContinuousState(s),
        )
        assert "DiagramContinuousState([" in message


def test_the_same_substate_twice() -> None:
    a, b, _ = leaves()
    message = refused(PartitionError, ValueError, lambda: DiagramContinuousState([a, b, a]))
    assert "more than once" in message
    inner = DiagramContinuousState([a])
    refused(PartitionError, ValueError, lambda: DiagramContinuousState([inner, inner]))
    assert DiagramContinuousState([a, a.clone()]).num_substates == 2
    assert DiagramContinuousState([ContinuousState(), ContinuousState()]).size == 0


def test_the_same_substate_twice_at_different_depths() -> None:
    a, b, _ = leaves()
    inner = DiagramContinuousState([b, a])
    refused(PartitionError, ValueError, lambda: DiagramContinuousState([a, inner]))


def test_set_from_changes_nothing_if_only_a_later_part_is_refused() -> None:
    state = DiagramContinuousState([ContinuousState([1.0, 2.0], 1, 1, 0), ContinuousState([3])])
    other = DiagramContinuousState([ContinuousState([7.0, 8.0], 1, 1, 0), ContinuousState([1.5])])
    refused(NotANumberError, TypeError, lambda: state.set_from(other))
    assert list(state) == [1, 2, 3]


def test_a_diagram_of_one_array_hands_out_that_array() -> None:
    x = np.ones(2)
    diagram = DiagramContinuousState([ContinuousState.from_views(x, x[:0], x[:0], x)])
    assert np.shares_memory(diagram.upd_vector(), x)
