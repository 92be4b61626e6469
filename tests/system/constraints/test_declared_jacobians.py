"""The Jacobians that constraints declare: dense, sparse, or in blocks by handles."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from stagecache import (
    Stage,
    State,
    Subsystem,
    modeling_option,
    position_error,
    u_variable,
)
from stagecache.errors import (
    DeclarationError,
    NotANumberError,
    NoValueError,
    ShapeError,
)
from tests.system.models import state_of

Matrix = NDArray[np.float64]
INSTANCE = Stage.INSTANCE


class Wheel(Subsystem):
    """Has u of all kinds, for constraints of another subsystem."""

    count = modeling_option(2)
    spin = u_variable(1.0)
    slide = u_variable(factory=lambda self, state: np.ones(self.count(state)))
    spokes = u_variable([1.0, 2.0], count=2)


class Axle(Subsystem):
    """Its Jacobian is whatever it is told to be."""

    own = u_variable([1.0, 2.0])

    def __init__(self, wheel: Wheel, jacobian: Any, size: int = 2) -> None:
        self.wheel, self.jacobian, self.size = wheel, jacobian, size

    @position_error(size=lambda self, state: self.size)
    def join(self, state: State) -> Matrix:
        return np.zeros(self.size)

    @join.jacobian(prerequisites=())
    def join_jacobian(self, state: State) -> Any:
        return self.jacobian(self, state)


def jacobian_of(function: Any, size: int = 2, count: int = 2) -> Any:
    wheel = Wheel()
    axle = Axle(wheel, function, size)
    state = state_of(axle, wheel)
    wheel.count.set(state, count)
    state.system.realize(state, INSTANCE)
    return axle.join_jacobian(state)


def blocks(self: Axle, state: State) -> Any:
    return {
        self.wheel.slide: np.arange(2.0 * self.wheel.count(state)).reshape(2, -1),
        self.own: csr_array([[0.0, 7.0], [8.0, 0.0]]),
        self.wheel.spokes[1]: [[1, 2], [3, 4]],
        self.wheel.spin: [5, 6],
    }


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_blocks_by_handles_go_to_their_columns(count: int) -> None:
    found = jacobian_of(blocks, count=count)
    wanted = np.zeros((2, 7 + count))
    wanted[:, :2] = [[0, 7], [8, 0]]
    wanted[:, 2] = [5, 6]
    wanted[:, 3 : 3 + count] = np.arange(2 * count).reshape(2, count)
    wanted[:, -2:] = [[1, 2], [3, 4]]
    assert isinstance(found, np.ndarray)
    assert found.tolist() == wanted.tolist()
    assert not found.flags.writeable


def test_blocks_of_many_columns_make_a_sparse_matrix_that_is_the_same() -> None:
    found = jacobian_of(blocks, count=200)
    assert isinstance(found, csr_array)
    dense = found.toarray()
    assert dense[:, :3].tolist() == [[0, 7, 5], [8, 0, 6]]
    assert dense[:, 3:203].tolist() == np.arange(400).reshape(2, 200).tolist()
    assert dense[:, 203:].tolist() == [[0, 0, 1, 2], [0, 0, 3, 4]]
    with pytest.raises(ValueError, match="read-only"):
        found.data[0] = 1.0


def test_a_whole_and_an_empty_dict_are_blocks_too() -> None:
    whole = jacobian_of(lambda self, state: {self.wheel.u: np.ones((2, 7))})
    assert whole.tolist() == np.hstack([np.zeros((2, 2)), np.ones((2, 7))]).tolist()
    assert (
        jacobian_of(lambda self, state: {self.system.u: np.ones((2, 9))}).tolist() == [[1] * 9] * 2
    )
    assert jacobian_of(lambda self, state: {}).tolist() == [[0] * 9] * 2
    assert jacobian_of(lambda self, state: {}, count=200).nnz == 0
    assert jacobian_of(lambda self, state: {self.own: [3, 4]}, size=1).tolist() == [
        [3, 4] + [0] * 7
    ]


def test_a_sparse_jacobian_stays_sparse() -> None:
    found = jacobian_of(lambda self, state: coo_array(([1, 2], ([0, 0], [3, 3])), shape=(2, 9)))
    assert isinstance(found, csr_array)
    assert (found.dtype, found.nnz, found[0, 3]) == (np.float64, 1, 3.0)


BAD: list[tuple[type[Exception], Any]] = [
    (ShapeError, lambda self, state: np.ones((2, 8))),
    (ShapeError, lambda self, state: csr_array(np.ones((1, 9)))),
    (ShapeError, lambda self, state: {self.own: np.ones((2, 3))}),
    (ShapeError, lambda self, state: {self.own: [1.0, 2.0]}),
    (ShapeError, lambda self, state: {self.own: csr_array(np.ones((1, 2)))}),
    (NotANumberError, lambda self, state: {self.own: [["a", "b"], ["c", "d"]]}),
    (DeclarationError, lambda self, state: {"own": np.ones((2, 2))}),
    (DeclarationError, lambda self, state: {self.q: np.ones((2, 0))}),
    (DeclarationError, lambda self, state: {self.join: np.ones((2, 0))}),
    (DeclarationError, lambda self, state: {self.own: np.ones((2, 2)), self.u: np.ones((2, 2))}),
    (NoValueError, lambda self, state: None),
]


@pytest.mark.parametrize(("error", "function"), BAD)
def test_what_is_no_jacobian_is_refused_by_name(error: type[Exception], function: Any) -> None:
    with pytest.raises(error, match=r"axle\.join_jacobian"):
        jacobian_of(function)


def test_a_block_of_another_shape_is_refused_with_what_its_columns_are() -> None:
    with pytest.raises(ShapeError) as caught:
        jacobian_of(lambda self, state: {self.own: np.ones((2, 3))})
    assert caught.value.expected == "shape (2, 2): errors by the numbers of axle.own"
    assert caught.value.hint.endswith("a column for each of these numbers")
    with pytest.raises(ShapeError) as caught:
        jacobian_of(lambda self, state: np.ones((2, 8)))
    assert "a column for each u of the whole State" in caught.value.hint
