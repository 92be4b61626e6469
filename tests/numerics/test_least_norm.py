"""`LeastNorm` against the pseudoinverse, for matrices of any shape and rank."""

from typing import Any

import numpy as np
import pytest
import scipy.linalg
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array, issparse

from stagecache.errors import NotANumberError, ShapeError
from stagecache.numerics import least_norm
from stagecache.numerics.least_norm import LeastNorm
from stagecache.state.handles import Vector

SMALL = st.integers(-3, 3).map(float)
SCALES = st.integers(-3, 3).map(lambda exponent: 10.0**exponent)


@st.composite
def problems(draw: st.DrawFn) -> tuple[Vector, Vector]:
    """A matrix of any rank from 0 on, and a right-hand side."""
    m, n, most = draw(st.integers(0, 6)), draw(st.integers(0, 6)), draw(st.integers(0, 6))
    left = draw(arrays(float, (m, most), elements=SMALL))
    right = draw(arrays(float, (most, n), elements=SMALL))
    scale = draw(SCALES)
    return scale * left @ right, draw(arrays(float, m, elements=SMALL))


def both(matrix: Vector) -> list[LeastNorm]:
    """Solved as a dense one, and as a sparse one however dense it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(least_norm, "FEW", -1)
        return [LeastNorm(matrix), LeastNorm(csr_array(matrix))]


def chain(count: int, *, repeated: int = 0) -> Any:
    """A bidiagonal matrix, as of a chain, some of whose rows are there twice."""
    matrix = np.eye(count, count + 1) - 0.5 * np.eye(count, count + 1, 1)
    return csr_array(np.concatenate([matrix, matrix[:repeated]]))


@given(problems())
@example((np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([1.0, 2.0])))
def test_the_solution_is_that_of_the_pseudoinverse(problem: tuple[Vector, Vector]) -> None:
    matrix, r = problem
    expected = scipy.linalg.pinv(matrix, rtol=1e-9) @ r
    for solver in both(matrix):
        found = solver.solve(r)
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, atol=1e-8 * np.max(np.abs(expected), initial=1))


@given(problems())
def test_the_rank_is_that_of_the_matrix(problem: tuple[Vector, Vector]) -> None:
    matrix, _ = problem
    dense, sparse = both(matrix)
    rank = np.linalg.matrix_rank(matrix, rtol=1e-9) if matrix.size else 0
    assert dense.rank == rank
    assert sparse.rank == (None if rank else 0)


@given(problems(), st.data())
def test_a_vector_is_divided_into_what_the_matrix_sees_and_what_it_does_not(
    problem: tuple[Vector, Vector], data: st.DataObject
) -> None:
    matrix, _ = problem
    x = data.draw(arrays(float, matrix.shape[1], elements=SMALL))
    size = np.max(np.abs(matrix), initial=1)
    for solver in both(matrix):
        part = solver.part_in_rows(x)
        np.testing.assert_allclose(matrix @ (x - part), 0, atol=1e-8 * size)
        assert part @ (x - part) == pytest.approx(0, abs=1e-7)


@pytest.mark.parametrize("repeated", [0, 50])
def test_a_long_sparse_matrix_is_solved_as_well_as_a_dense_one(repeated: int) -> None:
    matrix = chain(300, repeated=repeated)
    r = matrix @ np.sin(np.arange(301))
    found = LeastNorm(matrix).solve(r)
    np.testing.assert_allclose(found, LeastNorm(matrix.toarray()).solve(r), atol=1e-9)
    np.testing.assert_allclose(matrix @ found, r, atol=1e-12)


def test_rows_that_contradict_each_other_are_met_halfway() -> None:
    matrix = chain(120, repeated=1)
    r = np.zeros(121)
    r[0], r[-1] = 1.0, 3.0
    for solver in (LeastNorm(matrix), LeastNorm(matrix.toarray())):
        left = r - matrix @ solver.solve(r)
        np.testing.assert_allclose(left[[0, -1]], [-1, 1], atol=1e-9)
        np.testing.assert_allclose(left[1:-1], 0, atol=1e-9)


def test_rows_that_are_nearly_dependent_count_as_dependent() -> None:
    matrix = np.array([[1.0, 0.0], [1.0, 1e-10]])
    solver = LeastNorm(matrix)
    assert solver.rank == 1
    np.testing.assert_allclose(solver.solve(np.array([1.0, 2.0])), [1.5, 0.0], atol=1e-9)


@given(problems(), st.lists(st.integers(-9, 9), min_size=6, max_size=6))
@example((np.array([[0.0, 1], [-1, 0], [-1, 1]])[:, ::-1], np.zeros(3)), [-1, 9, -1])
@example((np.array([[0.0, 0, 1], [-1, 0, 0], [-1, 1, 0]]), np.zeros(3)), [-1, 9, -1])
@example((np.array([[1.0, 1], [1, 0], [1, 1]]), np.zeros(3)), [6, -7, 6])
def test_rows_of_very_different_lengths_are_all_satisfied(
    problem: tuple[Vector, Vector], exponents: list[int]
) -> None:
    matrix, _ = problem
    weights = np.arange(1.0, len(matrix) + 1)
    x, size = matrix.T @ weights, np.max(np.abs(matrix).T @ weights, initial=0.0)
    scales = 10.0 ** np.array(exponents[: len(matrix)])
    for solver in both(scales[:, np.newaxis] * matrix):
        found = solver.solve(scales * (matrix @ x))
        np.testing.assert_allclose(found, x, atol=1e-6 * size)


def test_of_rows_that_contradict_each_other_the_heavier_one_is_satisfied() -> None:
    matrix = np.array([[1e9, 0.0], [1e-9, 0.0], [0.0, 1e-9]])
    dense, sparse = both(matrix)
    r = np.array([1e9, 2e-9, 3e-9])
    np.testing.assert_allclose(dense.solve(r), [1, 3])
    np.testing.assert_allclose(sparse.solve(r)[0], 1)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_row_in_doubt_counts_only_where_much_would_be_left_without_it(*, is_sparse: bool) -> None:
    matrix = np.array([[1.0, 0.0], [1.0, 1e-3]])
    solver = both(matrix)[is_sparse]
    little, much = np.array([1.0, 1.001]), np.array([1.0, 2.0])
    np.testing.assert_allclose(solver.solve(little), [1, 1], atol=1e-6)
    np.testing.assert_allclose(solver.solve(little, doubt=0.01), [1, 0], atol=0.002)
    np.testing.assert_allclose(solver.solve(much, doubt=0.01), [1, 1000], rtol=1e-4)
    np.testing.assert_allclose(solver.part_in_rows(np.array([2.0, 3.0])), [2, 3], atol=1e-6)
    if not is_sparse:
        found = solver.part_in_rows(np.array([2.0, 3.0]), doubt=0.01)
        np.testing.assert_allclose(found, [2, 0], atol=0.01)


def test_a_matrix_that_is_no_matrix_is_refused() -> None:
    with pytest.raises(ShapeError, match=r"shape \(3,\)"):
        LeastNorm(np.zeros(3))
    with pytest.raises(ShapeError, match=r"shape \(2,\)"):
        LeastNorm(np.ones((3, 2))).solve(np.zeros(2))


@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_matrix_with_nan_is_refused(*, is_sparse: bool) -> None:
    matrix = np.array([[1.0, np.nan], [np.inf, 0.0]])
    with pytest.raises(NotANumberError, match="not finite"):
        LeastNorm(csr_array(matrix) if is_sparse else matrix)


def test_it_shows_its_shape_and_rank() -> None:
    assert repr(LeastNorm(np.ones((3, 2)))) == "LeastNorm(3 by 2, rank 1)"
    assert repr(LeastNorm(csr_array(np.eye(6)))) == "LeastNorm(6 by 6, sparse)"
    assert repr(LeastNorm(csr_array(np.ones((3, 2))))) == "LeastNorm(3 by 2, rank 1)"
    assert issparse(LeastNorm(csr_array((0, 2))).matrix)
