r"""Accelerations under constraints, by linear algebra alone.

::

    M udot + G' multipliers = f          equations of motion
    G udot + bias           = 0          constraints

By the principle of least constraint, the solution is the one of all udot that satisfy the
constraints for which (udot - inv(M) f)' M (udot - inv(M) f) is least (Gauss, Journal für die reine
und angewandte Mathematik 4, 1829; Udwadia and Kalaba, Proc. R. Soc. A 439, 1992). Rows of G may be
redundant. Then udot is the same for all multipliers that solve the equations, and these are the
shortest.

- Dense, with R' R = inv(M): by QR of R G' with column pivoting, which tells how many rows are
  independent: Golub and Van Loan, Matrix Computations, 4th ed., 5.4.2 and 5.5.
- Sparse, from 100 rows on: by LU of ``[M G'; G -delta]``, which is regular for every G (Vanderbei,
  SIAM J. Optim. 5, 1995), with refinement that removes what delta does.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import qr, solve_triangular
from scipy.sparse import block_array, coo_array, csr_array, diags_array

from stagecache.checks import not_finite, require_bool
from stagecache.errors import InconsistentConstraintsError, ShapeError
from stagecache.numerics.least_norm import TOLERANCE, LeastNorm
from stagecache.numerics.mass_matrices import (
    MassBlock,
    checked_mass,
    free_accelerations,
    inverse_root,
    times_root,
)
from stagecache.numerics.matrices import factors_of, is_sparse
from stagecache.state.handles import Vector
from stagecache.state.vectors.conversion import FLOAT, converted

Matrix = Any
"""A dense array, or a csr_array."""

MANY_ROWS: Final = 100
"""A problem of as many constraints is solved as a sparse one, unless M is full."""

MOST_FULL: Final = 0.1
DELTA: Final = 1e-13
"""Square of 3e-7: shorter combinations of rows of length 1 hardly count."""
MOST_REFINEMENTS: Final = 20
CONTRADICTION: Final = 1e-5
"""Rows contradict each other if that part of an error is left; numerical biases are less exact."""

EXACT: Final = 1e-10
"""Part of errors that is left where they could be 0."""

UNNOTICED: Final = 1e-7
"""Errors that accelerations of this size would remove do not count [SI]."""


def solve_constrained(
    mass: Matrix,
    jacobian: Matrix,
    forces: ArrayLike,
    bias: ArrayLike,
    *,
    is_inverse: bool = False,
) -> tuple[Vector, Vector]:
    """Return the accelerations and the multipliers of a constrained system.

    Cost: dense O(n³ + m² n); sparse about O(nonzeros), if they lie as in a chain or a tree.

    Parameters
    ----------
    mass : (n, n), (n,) or sparse array, float
        M, symmetric and positive definite; of shape (n,) its diagonal. Units of mass for the
        units of the accelerations.
    jacobian : (m, n) float, ndarray or sparse array
        G. Rows may depend on others.
    forces : (n,) float
    bias : (m,) float
        The value of ``G udot + bias`` for udot = 0.
    is_inverse : bool
        True if `mass` is the inverse of M.

    Returns
    -------
    udot : ndarray of shape (n,)
    multipliers : ndarray of shape (m,)
        The shortest, if several solve ``M udot + G' multipliers = forces``. In a row whose error is
        a length, the multiplier is a force.

    Raises
    ------
    NoValueError
    ShapeError, NotANumberError
    MassMatrixError
        M is not symmetric and positive definite.
    InconsistentConstraintsError
        No accelerations satisfy all rows.

    Examples
    --------
    A mass of 2 kg that hangs still on a rod along y, whose error is its length minus 1 m:

    >>> import numpy as np
    >>> from stagecache.numerics.constrained_dynamics import solve_constrained
    >>> udot, multipliers = solve_constrained([2.0, 2.0], [[0.0, -1.0]], [0.0, -19.6], [0.0])
    >>> np.abs(udot), multipliers
    (array([0., 0.]), array([19.6]))
    """
    what = "solve_constrained()"
    f = _vector(forces, None, f"the forces of {what}")
    b = _vector(bias, None, f"the bias of {what}")
    is_inverse = require_bool(is_inverse, "solve_constrained(is_inverse=...)")
    matrix = checked_mass(mass, len(f), f"the mass of {what}")
    root = inverse_root(matrix, f"the mass of {what}", is_inverse=is_inverse)
    g = jacobian if is_sparse(jacobian) else converted(jacobian, FLOAT, None, f"G of {what}")
    if g.shape != (len(b), len(f)):
        raise ShapeError(
            f"{what}: G has another shape than the bias and the forces",
            f"shape ({len(b)}, {len(f)})",
            f"shape {g.shape}",
            "give a row for each number of the bias, and a column for each of the forces",
        )
    g = csr_array(g, dtype=np.float64) if is_sparse(g) else g
    if not np.isfinite(g.data if is_sparse(g) else g).all():
        raise not_finite(f"G of {what}", g, "look at what computed it")
    block = MassBlock(np.arange(len(f)), matrix, root, is_inverse)
    udot, multipliers = solve_blocks([block], g, f, b)
    check_consistent(g, udot, b, free_accelerations([block], f), "row {}".format)
    return udot, multipliers


def _vector(values: ArrayLike, size: int | None, what: str) -> Vector:
    vector: Vector = converted(values, FLOAT, None, what)
    if vector.ndim != 1 or size not in (None, len(vector)):
        wanted = "(n,)" if size is None else f"({size},)"
        raise ShapeError(
            f"{what}: not a vector", f"shape {wanted}", f"shape {vector.shape}", "flatten it"
        )
    if not np.isfinite(vector).all():
        raise not_finite(what, vector, "look at what computed it")
    return vector


def solve_blocks(
    blocks: Sequence[MassBlock],
    jacobian: Matrix,
    forces: Vector,
    bias: Vector,
    cut: float = TOLERANCE,
) -> tuple[Vector, Vector]:
    """Return accelerations and multipliers, where M consists of blocks; as `solve_constrained`.

    Errors that no accelerations can remove are left: see `check_consistent`. A row of length 1
    counts as redundant if less than `cut` of it is not in the others.
    """
    m, n = jacobian.shape
    if m == 0 or n == 0:
        return free_accelerations(blocks, forces), np.zeros(m)
    for block in blocks:
        if not isinstance(block.matrix, np.ndarray):
            return _sparse(blocks, csr_array(jacobian), forces, bias, cut)
    if m >= MANY_ROWS and sum(block.matrix.size for block in blocks) <= MOST_FULL * n * n:
        return _sparse(blocks, csr_array(jacobian), forces, bias, cut)
    dense = jacobian if isinstance(jacobian, np.ndarray) else jacobian.toarray()
    return _dense(blocks, dense, forces, bias, cut)


# ---------------------------------------------------------------------- dense


def _dense(
    blocks: Sequence[MassBlock], g: Vector, forces: Vector, bias: Vector, cut: float
) -> tuple[Vector, Vector]:
    """Solve by QR of the scaled columns of R G': with udot = R' (R f + x), x becomes shortest."""
    m, n = g.shape
    free = np.zeros(n)  # R f, and then R f + x
    columns = np.zeros((n, m))  # R G'
    for block in blocks:
        free[block.rows] = times_root(block.root, forces[block.rows])
        columns[block.rows] = times_root(block.root, g[:, block.rows].T)
    lengths = np.linalg.norm(columns, axis=0)
    scale = 1 / np.where(lengths > 0, lengths, 1.0)
    scaled = columns * scale
    q, r, order = qr(scaled, mode="economic", pivoting=True, check_finite=False)
    diagonal = np.abs(r.diagonal())
    rank = int(np.count_nonzero(diagonal > cut)) if diagonal.size else 0
    goal = -(scale * bias + free @ scaled)[order[:rank]]
    q, independent = q[:, :rank], r[:rank, :rank]
    y = solve_triangular(independent, goal, trans="T", check_finite=False)
    x = q @ y
    multipliers = np.zeros(m)
    multipliers[order[:rank]] = solve_triangular(independent, -y, check_finite=False)
    multipliers *= scale
    if rank < m:  # any combination of rows that is 0 could be added
        nothing = np.zeros((m, m - rank))
        nothing[order[:rank]] = -solve_triangular(independent, r[:rank, rank:], check_finite=False)
        nothing[order[rank:]] = np.eye(m - rank)
        nothing *= scale[:, np.newaxis]
        basis = np.linalg.qr(nothing)[0]
        multipliers -= basis @ (basis.T @ multipliers)
    udot = np.zeros(n)
    for block in blocks:
        total = (free + x)[block.rows]
        udot[block.rows] = times_root(block.root, total, transpose=True)
    return udot, multipliers


# ---------------------------------------------------------------------- sparse


def _sparse(
    blocks: Sequence[MassBlock], g: Matrix, forces: Vector, bias: Vector, cut: float
) -> tuple[Vector, Vector]:
    """Solve by LU of ``[M G'; G -delta]``, scaled to a diagonal of 1 and rows of length 1.

    If W = inv(M) is given, udot = W y, and y solves the same with W, G W and W f.
    """
    n = g.shape[1]
    mass = _assembled(blocks, n)
    given, factor = g, None
    if any(block.is_inverse for block in blocks):
        factor = _assembled(blocks, n, with_inverses_only=True)
        g, forces = csr_array(g @ factor), factor @ forces
    of_columns = 1 / np.sqrt(mass.diagonal())
    columns = diags_array(of_columns)
    lengths = np.sqrt(np.asarray((g @ columns).power(2).sum(axis=1))).ravel()
    of_rows = 1 / np.where(lengths > 0, lengths, 1.0)
    scaled = csr_array(diags_array(of_rows) @ g @ columns)
    problem = _Augmented(csr_array(columns @ mass @ columns), scaled, max(DELTA, cut**2))
    y, along = problem.solve(of_columns * forces, -of_rows * bias)
    multipliers = of_rows * along
    if problem.has_dependent_rows():
        multipliers = _shortest(multipliers, given)
    udot = of_columns * y
    return (udot if factor is None else factor @ udot), multipliers


def _assembled(blocks: Sequence[MassBlock], n: int, *, with_inverses_only: bool = False) -> Matrix:
    """Return the matrix of these blocks; or with 1 in place of blocks that are not inverses."""
    data, rows, columns = [], [], []
    for block in blocks:
        matrix, index = block.matrix, block.rows
        if with_inverses_only and not block.is_inverse:
            matrix = np.ones(len(index))
        if is_sparse(matrix):
            entries = coo_array(matrix)
            data.append(entries.data)
            rows.append(index[entries.row])
            columns.append(index[entries.col])
        elif matrix.ndim == 1:
            data.append(matrix)
            rows.append(index)
            columns.append(index)
        else:
            data.append(matrix.ravel())
            rows.append(np.repeat(index, len(index)))
            columns.append(np.tile(index, len(index)))
    places = (np.concatenate(rows), np.concatenate(columns))
    return csr_array(coo_array((np.concatenate(data), places), shape=(n, n)))


def _shortest(multipliers: Vector, g: Matrix) -> Vector:
    """Return the shortest multipliers with the same G' multipliers."""
    lengths = np.sqrt(np.asarray(g.power(2).sum(axis=0))).ravel()
    effects = csr_array(diags_array(1 / np.where(lengths > 0, lengths, 1.0)) @ g.T)
    return LeastNorm(effects).solve(effects @ multipliers)


class _Augmented:
    """The matrix ``[M G'; G -delta]``, prepared for solutions with delta = 0."""

    def __init__(self, mass: Matrix, g: Matrix, delta: float) -> None:
        self._mass, self._g, self._gt = mass, g, csr_array(g.T)
        self._delta = delta
        m = g.shape[0]
        corner = diags_array(np.full(m, -delta))
        self._lu = factors_of(block_array([[mass, self._gt], [g, corner]]))

    def solve(self, f: Vector, goal: Vector) -> tuple[Vector, Vector]:
        """Return y and multipliers with M y + G' multipliers = f and, where there are, G y = goal.

        The refinement is the method of multipliers: Bertsekas, Constrained Optimization and
        Lagrange Multiplier Methods, 1982, chapter 2.
        """
        y, multipliers = np.zeros(len(f)), np.zeros(len(goal))
        size = np.linalg.norm(f) + np.linalg.norm(goal)
        before = np.inf
        for _ in range(MOST_REFINEMENTS):
            of_motion = f - self._mass @ y - self._gt @ multipliers
            of_rows = self._reachable(goal - self._g @ y)
            left = float(np.linalg.norm(of_motion) + np.linalg.norm(of_rows))
            if left <= 1e-15 * size or left > 0.9 * before:
                break
            before = left
            dy, change = self._regularized(of_motion, of_rows)
            y, multipliers = y + dy, multipliers + change
        return y, multipliers

    def has_dependent_rows(self) -> bool:
        """Tell whether some rows seem to follow from others."""
        probe = np.random.default_rng(0).standard_normal(self._g.shape[0])
        return float(np.linalg.norm(self._unreachable(probe))) > 1e-6 * float(np.linalg.norm(probe))

    def _reachable(self, goal: Vector) -> Vector:
        """Return the part of a goal that G y can reach; the rest would take huge multipliers."""
        return goal - self._unreachable(goal)

    def _unreachable(self, goal: Vector) -> Vector:
        for _ in range(3):  # each leaves the part delta / (s² + delta) of what belongs to s > 0
            goal = -self._delta * self._regularized(np.zeros(self._mass.shape[0]), goal)[1]
        return goal

    def _regularized(self, f: Vector, goal: Vector) -> tuple[Vector, Vector]:
        found = self._lu.solve(np.concatenate([f, goal]))
        return found[: len(f)], found[len(f) :]


# ---------------------------------------------------------------------- contradictions


def excess_of(
    jacobian: Matrix,
    udot: Vector,
    bias: Vector,
    free: Vector,
    slack: Vector | float,
    part: float = EXACT,
    floor: float = 0.0,
) -> Vector:
    """Return by how many times acceleration errors are larger than they may be. Shape (m,).

    They may be as large as `slack`, that `part` of what is in the row, and what accelerations of
    the size `floor` make of it.
    """
    sizes = abs(jacobian)
    scale = np.abs(bias) + sizes @ (np.abs(udot) + np.abs(free))
    allowed = slack + part * scale + floor * np.asarray(sizes.sum(axis=1)).ravel()
    return np.asarray(
        np.abs(jacobian @ udot + bias) / np.maximum(allowed, np.finfo(np.float64).tiny)
    )


def check_consistent(
    jacobian: Matrix,
    udot: Vector,
    bias: Vector,
    free: Vector,
    name: Callable[[int], str],
    slack: Vector | float = 0.0,
) -> None:
    """Refuse accelerations that do not satisfy all rows of ``G udot + bias = 0``.

    Parameters
    ----------
    jacobian : (m, n) float
    udot : (n,) float
    bias : (m,) float
    free : (n,) float
        The accelerations without constraints, which tell what is small.
    name : callable
        The function from a row to its name.
    slack : (m,) float
        Errors that may be left.

    Raises
    ------
    InconsistentConstraintsError
        It names the row whose error is the largest part of what is in it.
    """
    excess = excess_of(jacobian, udot, bias, free, slack, CONTRADICTION, UNNOTICED)
    if np.all(excess <= 1):
        return
    worst = int(np.argmax(excess))
    left = abs(float((jacobian @ udot + bias)[worst]))
    raise InconsistentConstraintsError(
        f"{name(worst)}: contradicts other constraints, or prescribed motion",
        "accelerations for which all acceleration errors are 0",
        f"an acceleration error of {left:.6g} that remains in it, among {len(bias)} rows",
        "take it away, or what it contradicts; or disable it by its enabled= variable. If only its "
        "Jacobian or bias is wrong, mend these",
    )
