r"""The shortest of the vectors that solve linear equations best, for any matrix.

Of all x for which \|A x - r\| is least, `LeastNorm` finds the one for which \|x\| is least. Rows
of A may be dependent, and there may be more or fewer of them than columns.

- A dense A: its singular values and vectors; Golub and Van Loan, Matrix Computations, 4th ed., 5.5.
- A sparse A: LU of A A' + delta, which is sparse where constraints are between neighbours, and
  regular for every A. It solves a regularised problem; refinement with what is left of r removes
  that: Riley, MTAC 9 (1955).

Rows that are dependent only where the constraints are satisfied are nearly so close by. Then a
small part of r, of second order, would take a change as large as all the rest. With *slack*,
`solve` leaves such a part for the next step if that makes x shorter, by a truncated sum over the
singular values of a dense A. Of a sparse one, a small pivot tells that rows may be so; then x is
what LSQR has found when little enough is left: Paige and Saunders, ACM TOMS 8 (1982).
"""

from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import svd
from scipy.sparse import csr_array, diags_array, issparse
from scipy.sparse.linalg import lsqr, splu

from stagecache.errors import NotANumberError, ShapeError

Vector = NDArray[np.float64]
Matrix = Any
"""A dense array, or a sparse one of SciPy."""

TOLERANCE: Final = float(np.sqrt(np.finfo(float).eps))
"""Singular values below that part of the largest one count as 0: declared Jacobians of redundant
constraints may be dependent on the constraints only, and numerical ones are so roughly."""

DELTA: Final = 1e-10
"""Of a sparse matrix, directions with a smaller part than its root, 1e-5, hardly count."""

MOST_REFINEMENTS: Final = 8
DENSE, FEW = 0.2, 300
"""A sparse matrix with more than that part of its numbers, and up to so many rows or columns, is
made dense: its LU would be so, too."""
DOUBTFUL: Final = 1e-3
"""If of the square of a row's length less is left as pivot, it may depend on others."""

MOST_STEPS: Final = 50
SHORTER: Final = 0.999
COARSE, HALF = 0.1, 0.5
LARGE: Final = 0.1
"""What belongs to singular values above that part of the largest is never left."""


@final
class LeastNorm:
    """A matrix, prepared for shortest solutions of equations with it.

    Cost: dense O(m² n) for m <= n, and O(m n) for a solution; sparse about O(nonzeros), if they
    lie as those of a chain or a tree.

    Parameters
    ----------
    matrix : (m, n) float, ndarray or sparse array
        Finite.

    Attributes
    ----------
    matrix : (m, n)
        The same; it must not be changed.

    Raises
    ------
    ShapeError
        It is no matrix.
    NotANumberError
        Not all of it is finite.
    """

    def __init__(self, matrix: Matrix) -> None:
        if matrix.ndim != 2:
            raise ShapeError(
                "LeastNorm: is given no matrix",
                "shape (m, n)",
                f"shape {matrix.shape}",
                "reshape it: a row is of shape (1, n)",
            )
        values = matrix.data if issparse(matrix) else matrix
        if not np.isfinite(values).all():
            raise NotANumberError(
                "LeastNorm: is given a matrix that is not finite",
                "finite numbers",
                f"{np.count_nonzero(~np.isfinite(values))} that are not",
                "look at the Jacobian in that State",
            )
        m, n = matrix.shape
        self.matrix = matrix
        self._factors: _Dense | _Sparse | None = None
        if values.size and np.any(values):
            if issparse(matrix) and matrix.nnz > DENSE * m * n and min(m, n) <= FEW:
                matrix = matrix.toarray()
            self._factors = _Sparse(matrix) if issparse(matrix) else _Dense(matrix)

    @property
    def rank(self) -> int | None:
        """The rank, by a tolerance of 1.5e-8; None for a sparse matrix, whose is not found."""
        if self._factors is None:
            return 0
        return self._factors.rank

    def solve(self, r: Vector, *, slack: float = 0.0) -> Vector:
        """Return the shortest x for which A x is nearest to r.

        Parameters
        ----------
        r : (m,) float
            Finite.
        slack : float
            If this is not 0, and rows may be dependent: an x that is shorter by a factor of 0.999
            and leaves no more than that part of r, or by 0.5 and leaves no more than 0.1, is
            returned instead.

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
        return self._factors.solve(r, slack)

    def part_in_rows(self, x: Vector, *, floor: float = 0.0) -> Vector:
        """Return the part of x that lies in the span of the rows; A has no effect on the rest.

        Parameters
        ----------
        x : (n,) float
        floor : float
            Singular values of a dense A do not count if they are less than that, and less than a
            hundredth of the largest. Of a sparse one, those below 1e-5 of it never do.

        Returns
        -------
        (n,) float
        """
        if self._factors is None:
            return np.zeros(len(x))
        return self._factors.part_in_rows(x, floor)

    def __repr__(self) -> str:
        m, n = self.matrix.shape
        rank = "sparse" if self.rank is None else f"rank {self.rank}"
        return f"LeastNorm({m} by {n}, {rank})"


class _Dense:
    """A = U S V', with singular values in falling order, as far as they count."""

    def __init__(self, matrix: Matrix) -> None:
        u, s, vt = svd(matrix, full_matrices=False, check_finite=False)
        self.rank = rank = int(np.count_nonzero(s > TOLERANCE * s[0]))
        self._ut, self._s, self._vt = u[:, :rank].T, s[:rank], vt[:rank]

    def solve(self, r: Vector, slack: float) -> Vector:
        """Return the solution."""
        parts = self._ut @ r
        along = parts / self._s
        if slack:
            # By rank, from 0 on: how much of r is left, and how long x is, as squares.
            left = np.append(np.cumsum(parts[::-1] ** 2)[::-1], 0.0)
            length = np.append(0.0, np.cumsum(along**2))
            least = int(np.count_nonzero(self._s > LARGE * self._s[0]))
            for part, factor in ((COARSE, HALF), (slack, SHORTER)):
                rank = max(least, int(np.argmax(left <= part**2 * left[0])))
                if length[rank] < factor**2 * length[-1]:
                    along[rank:] = 0.0
                    break
        return np.asarray(along @ self._vt)

    def part_in_rows(self, x: Vector, floor: float) -> Vector:
        """Return the part."""
        vt = self._vt[self._s >= min(floor, self._s[0] / 100)]
        return np.asarray((vt @ x) @ vt)


class _Sparse:
    """The LU of the regularised square; A is scaled so that its longest row has length 1."""

    rank = None

    def __init__(self, matrix: Matrix) -> None:
        matrix = csr_array(matrix)
        self._scale = float(np.sqrt(matrix.multiply(matrix).sum(axis=1).max()))
        self._a = matrix / self._scale
        self._at = self._a.T.tocsr()
        square = (self._a @ self._at + DELTA * diags_array(np.ones(matrix.shape[0]))).tocsc()
        self._lu = splu(
            square,
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
        pivots = np.abs(self._lu.U.diagonal()[self._lu.perm_c])
        self._is_doubtful = bool(np.min(pivots / square.diagonal()) < DOUBTFUL)

    def part_in_rows(self, x: Vector, _: float) -> Vector:
        """Return the part."""
        return self._shortest(np.asarray(self._a @ x) * self._scale)

    def solve(self, r: Vector, slack: float) -> Vector:
        """Return the solution."""
        x = self._shortest(r)
        for part, factor in ((COARSE, HALF), (slack, SHORTER)):
            if not slack or not self._is_doubtful:
                break
            found = lsqr(self._a, r / self._scale, atol=0.0, btol=part, iter_lim=MOST_STEPS)
            is_enough = found[1] in (0, 1)
            if is_enough and np.linalg.norm(found[0]) < factor * np.linalg.norm(x):
                return np.asarray(found[0])
        return x

    def _shortest(self, r: Vector) -> Vector:
        x = np.zeros(self._a.shape[1])
        goal = self._reachable(r / self._scale)
        left, size = goal, float(np.linalg.norm(goal))
        enough = 1e-14 * size
        for _ in range(MOST_REFINEMENTS):
            if size <= enough:
                break
            x = x + self._at @ self._multipliers(left)
            left = goal - self._a @ x
            before, size = size, float(np.linalg.norm(left))
            if size > 0.9 * before:
                break
        return x

    def _reachable(self, r: Vector) -> Vector:
        """Return what of r is A x for some x.

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
