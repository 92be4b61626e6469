r"""The shortest solution of linear equations in the least-squares sense, for any matrix.

Of all x for which \|A x - r\| is least, `LeastNorm` finds the one for which \|x\| is least. Rows
of A may be dependent, and there may be more or fewer of them than columns.

- A dense A: a complete orthogonal decomposition, from QR of A' with pivoting, for which rows are
  scaled to length 1; Golub and Van Loan, Matrix Computations, 4th ed., 5.4 and 5.5. A *pivot* is
  the sine of the angle between a row and all that were chosen before it.
- A sparse A: LU of A A' + delta with rows of length 1, which is sparse where constraints are
  between neighbours, and regular for every A. It solves a regularised problem; refinement with what
  is left of r removes that: Riley, MTAC 9 (1955). Lengths only matter where not all of r can be
  reached; then the same is tried with rows as they are, and of both what leaves less is taken.

Rows that are dependent only where the constraints are satisfied are nearly so close by. Then a
small part of r, of second order, would take a change as large as all the rest. So there is one rule
for *doubt*, a small number: rows with pivots below it need not count, as long as no more than that
part of r is left for the next step. (That is the discrepancy principle: Hansen, Rank-Deficient and
Discrete Ill-Posed Problems, 1998, 7.2.) Of a sparse A, LSQR goes as far as that, if a pivot of the
LU tells that there are such rows: Paige and Saunders, ACM TOMS 8 (1982).
"""

from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, solve_triangular
from scipy.sparse import csr_array, diags_array, issparse
from scipy.sparse.linalg import lsqr

from stagecache.checks import not_finite
from stagecache.errors import ShapeError
from stagecache.numerics.matrices import factors_of

Vector = NDArray[np.float64]
Matrix = Any
"""A dense array, or a sparse one of SciPy."""

TOLERANCE: Final = float(np.sqrt(np.finfo(float).eps))
"""Rows with a smaller pivot are dependent on others: declared Jacobians of redundant constraints
may be so on the constraints only, and numerical ones are so roughly."""

DELTA: Final = 1e-10
"""Square of the part, 1e-5, below which directions of a sparse matrix hardly count."""

ROUNDING: Final = float(4 * np.finfo(float).eps)
"""Parts of a row of length 1 that are smaller, times the size of the matrix, are rounding."""

REACHED: Final = 1e-6
"""Part of r up to which errors may be left; beyond it, rows contradict each other."""

MOST_REFINEMENTS: Final = 8
MOST_STEPS: Final = 50
DENSE, FEW = 0.2, 300
"""A sparse matrix with more than that part of its numbers, and up to so many rows or columns, is
made dense: its LU would be so, too."""


@final
class LeastNorm:
    """A matrix, prepared for shortest solutions of equations with it.

    Cost: dense O(m² n) for m <= n, and O(m n) for a solution; sparse about O(nonzeros), if they
    lie as in a chain or a tree.

    Parameters
    ----------
    matrix : (m, n) float, ndarray or sparse array
        Finite.

    Attributes
    ----------
    matrix : (m, n)
        The same; it must not be changed.
    row_lengths : (m,) float

    Raises
    ------
    ShapeError
        It is not a matrix.
    NotANumberError
        Not all of it is finite.
    """

    def __init__(self, matrix: Matrix) -> None:
        if matrix.ndim != 2:
            raise ShapeError(
                "LeastNorm: not a matrix",
                "shape (m, n)",
                f"shape {matrix.shape}",
                "reshape it: a row is of shape (1, n)",
            )
        values = matrix.data if issparse(matrix) else matrix
        if not np.isfinite(values).all():
            raise not_finite("LeastNorm(matrix)", values, "look at the Jacobian in that State")
        m, n = matrix.shape
        self.matrix = matrix
        squares = matrix.multiply(matrix) if issparse(matrix) else matrix**2
        self.row_lengths: Vector = np.sqrt(np.asarray(squares.sum(axis=1)))
        self._factors: _Dense | _Sparse | None = None
        if values.size and np.any(values):
            if issparse(matrix) and matrix.nnz > DENSE * m * n and min(m, n) <= FEW:
                matrix = matrix.toarray()
            factors = _Sparse if issparse(matrix) else _Dense
            self._factors = factors(matrix, self.row_lengths)

    @property
    def rank(self) -> int | None:
        """The rank, by a tolerance of 1.5e-8; None for a sparse matrix, whose is not found."""
        if self._factors is None:
            return 0
        return self._factors.rank

    def solve(self, r: Vector, *, doubt: float = 0.0) -> Vector:
        """Return the shortest x for which A x is nearest to r.

        Parameters
        ----------
        r : (m,) float
            Finite.
        doubt : float
            Rows with a smaller pivot count only where more than that part of r were left without
            them, of what can be reached.

        Returns
        -------
        (n,) float

        Raises
        ------
        ShapeError
        """
        m, n = self.matrix.shape
        if r.shape != (m,):
            raise ShapeError(
                "LeastNorm.solve(): is given a right-hand side of another shape",
                f"shape ({m},)",
                f"shape {r.shape}",
                "give a number for each row of the matrix",
            )
        if self._factors is None:
            return np.zeros(n)
        return self._factors.solve(r, doubt)

    def part_in_rows(self, x: Vector, *, doubt: float = 0.0) -> Vector:
        """Return the part of x that lies in the span of the rows; A has no effect on the rest.

        Parameters
        ----------
        x : (n,) float
        doubt : float
            Rows of a dense A with a smaller pivot do not count. Of a sparse one, singular values
            below 1e-5 of the largest never do.

        Returns
        -------
        (n,) float
        """
        if self._factors is None:
            return np.zeros(len(x))
        return self._factors.part_in_rows(x, doubt)

    def __repr__(self) -> str:
        m, n = self.matrix.shape
        rank = "sparse" if self.rank is None else f"rank {self.rank}"
        return f"LeastNorm({m} by {n}, {rank})"


class _Dense:
    """A = L Q', where Q has orthonormal columns and L is lower triangular, with rows in any order.

    L = U T is needed where rows are dependent, and not all of r can be reached. Rows of L come in
    the order of their lengths, so that small ones are not rounded off by large ones: Cox and
    Higham, BIT 38 (1998).
    """

    def __init__(self, matrix: Matrix, lengths: Vector) -> None:
        lengths = np.where(lengths > 0, lengths, 1.0)
        scaled = (matrix / lengths[:, np.newaxis]).T
        q, r, order = qr(scaled, mode="economic", pivoting=True, check_finite=False)
        r[np.abs(r) < max(matrix.shape) * ROUNDING] = 0.0  # or long rows would blur short ones
        pivots = np.abs(np.diagonal(r))
        self.rank = rank = int(np.count_nonzero(pivots > TOLERANCE))
        self._pivots, self._q = pivots[:rank], q[:, :rank]
        lengths = lengths[order]
        by_length = np.argsort(-lengths, kind="stable")
        lower = (lengths * r[:rank]).T[by_length]
        self._order = order[by_length]
        self._lower = lower
        self._u, self._t = qr(lower, mode="economic", check_finite=False)

    def solve(self, r: Vector, doubt: float) -> Vector:
        """Return the solution."""
        r = r[self._order]
        parts = r @ self._u
        rank = self.rank
        if doubt:
            left = np.append(np.cumsum(parts[::-1] ** 2)[::-1], 0.0)  # by rank, from 0 on
            least = int(np.count_nonzero(self._pivots >= doubt))
            rank = least + int(np.argmax(left[least:] <= doubt**2 * left[0]))
        lower, u, t = self._lower[:, :rank], self._u[:, :rank], self._t[:rank, :rank]
        y = np.zeros(rank)
        for _ in range(2):  # once more, for what short rows lost by rounding
            y += solve_triangular(t, (r - lower @ y) @ u, check_finite=False)
        return np.asarray(self._q[:, :rank] @ y)

    def part_in_rows(self, x: Vector, doubt: float) -> Vector:
        """Return the part."""
        q = self._q[:, self._pivots >= doubt]
        return np.asarray(q @ (x @ q))


class _Sparse:
    """A with rows scaled to length 1; and as it is, where its rows contradict each other."""

    rank = None

    def __init__(self, matrix: Matrix, lengths: Vector) -> None:
        self._a = csr_array(matrix)
        self._lengths = np.where(lengths > 0, lengths, 1.0)
        self._scaled = _Regularized(csr_array(diags_array(1 / self._lengths) @ self._a))
        self._own: _Regularized | None = None

    def solve(self, r: Vector, doubt: float) -> Vector:
        """Return the solution."""
        size, scaled = float(np.linalg.norm(r)), r / self._lengths
        if self._scaled.least_pivot < doubt:
            rough = lsqr(self._scaled.a, scaled, atol=0.0, btol=doubt, iter_lim=MOST_STEPS)[0]
            if self._left(rough, r) <= doubt * size:
                return np.asarray(rough)
        x = self._scaled.shortest(scaled)
        if self._left(x, r) <= REACHED * size:
            return x
        if self._own is None:
            longest = float(self._lengths.max())
            self._own = _Regularized(self._a / longest, longest)
        other = self._own.shortest(r)
        return x if self._left(x, r) <= self._left(other, r) else other

    def part_in_rows(self, x: Vector, _: float) -> Vector:
        """Return the part."""
        return self._scaled.shortest(np.asarray(self._scaled.a @ x))

    def _left(self, x: Vector, r: Vector) -> float:
        return float(np.linalg.norm(r - self._a @ x))


class _Regularized:
    """The LU of A A' + delta, where the longest row of A has length 1.

    Attributes
    ----------
    a : csr_array
        A.
    least_pivot : float
        The root of the least pivot of the LU, as a part of the length of its row.
    """

    def __init__(self, matrix: Matrix, scale: float = 1.0) -> None:
        self.a = matrix
        self._scale = scale
        self._at = matrix.T.tocsr()
        square = (matrix @ self._at + DELTA * diags_array(np.ones(matrix.shape[0]))).tocsc()
        self._lu = factors_of(square)
        pivots = np.abs(self._lu.U.diagonal()[self._lu.perm_c])
        self.least_pivot = float(np.sqrt(np.min(pivots / square.diagonal())))

    def shortest(self, r: Vector) -> Vector:
        """Return the shortest x for which A x is nearest to r, divided by the scale."""
        x = np.zeros(self.a.shape[1])
        goal = self._reachable(r / self._scale)
        left, size = goal, float(np.linalg.norm(goal))
        enough = 1e-14 * size
        for _ in range(MOST_REFINEMENTS):
            if size <= enough:
                break
            x = x + self._at @ self._multipliers(left)
            left = goal - self.a @ x
            before, size = size, float(np.linalg.norm(left))
            if size > 0.9 * before:
                break
        return x

    def _reachable(self, r: Vector) -> Vector:
        """Return the part of r that is A x for some x.

        The rest would make multipliers as large as 1 / delta, in which all else is rounded off.
        """
        size = float(np.linalg.norm(r))
        rest = DELTA * self._multipliers(r)
        if np.linalg.norm(rest) <= 1e-5 * size:
            return r
        for _ in range(2):  # what is reachable of it becomes ever smaller, the rest does not
            rest = DELTA * self._multipliers(rest)
        return r - rest

    def _multipliers(self, r: Vector) -> Vector:
        """Return the solution of (A A' + delta) y = r."""
        return np.asarray(self._lu.solve(r))
