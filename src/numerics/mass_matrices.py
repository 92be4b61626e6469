r"""Mass matrices M, or their inverses: checks, roots, and blocks along the diagonal.

A matrix of n rows has one of three forms::

    diagonal   (n,)         M_ii alone
    dense      (n, n)
    sparse     csr_array    of at least 100 rows; a smaller one is made dense

A matrix R with R' R = inv(M), the *inverse root*, makes least squares of M plain ones: it turns
accelerations a into x = inv(R') a, and a' M a = x' x. With M = L L' (Cholesky) it is inv(L); with
inv(M) = L L' it is L'. Golub and Van Loan, Matrix Computations, 4th ed., 4.2 and 6.1.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from stagecache.errors import MassMatrixError, ShapeError, short_repr
from stagecache.numerics.matrices import factors_of, floats_of, is_sparse
from stagecache.state.handles import Vector

Matrix = Any
"""An ndarray of one or two dimensions, or a csr_array; read-only."""

Index = NDArray[np.intp]

MANY: Final = 100
"""A sparse matrix of fewer rows is made dense."""

ASYMMETRY: Final = 1e-8  # the largest difference of M and M', as a part of the largest number
EPS: Final = float(np.finfo(np.float64).eps)
FACTOR: Final = 4.0  # an eigenvalue within this times n EPS may be 0


def checked_mass(values: Any, n: int, what: object) -> Matrix:
    """Return a symmetric matrix in one of the three forms, that shares nothing and is read-only.

    Cost O(numbers given).

    Raises
    ------
    ShapeError, NotANumberError
    MassMatrixError
        It is not finite, or not symmetric.
    """
    found, numbers = _in_form(values, n, what)
    if not np.isfinite(numbers).all():
        raise MassMatrixError(
            f"{what}: a number of the mass matrix is not finite",
            "finite numbers",
            short_repr(numbers),
            "look at what it is computed from: parameters, and divisions by 0",
        )
    if found.ndim == 2:
        difference = abs(found - found.T)
        worst = float(difference.max()) if n else 0.0
        if worst > ASYMMETRY * float(abs(found).max() if n else 0.0):
            raise MassMatrixError(
                f"{what}: the mass matrix is not symmetric",
                "M = M'",
                f"numbers that differ from those across the diagonal by up to {worst:.3g}",
                "mend the formula; or return (M + M') / 2, if it is only inaccurate",
            )
        if worst:
            found = (found + found.T) / 2
    parts = (found.data, found.indices, found.indptr) if is_sparse(found) else (found,)
    for part in parts:
        part.flags.writeable = False
    return found


def _in_form(values: Any, n: int, what: object) -> tuple[Matrix, Vector]:
    """Return a matrix in one of the forms, and its numbers."""
    shape = values.shape if is_sparse(values) else None
    if shape is None:
        array = floats_of(values, what)
        if n == 1 and array.ndim == 0:
            array = array.reshape(1)
        shape = array.shape
    if shape not in ((n,), (n, n)):
        raise ShapeError(
            f"{what}: its computation returned a mass matrix of another shape",
            f"shape ({n}, {n}), or ({n},) for a diagonal one",
            f"shape {shape}",
            "give a row and a column for each u that is named in the decorator, or of the "
            "subsystem if none is",
        )
    if not is_sparse(values):
        array = array.copy()
        return array, array
    from scipy.sparse import csr_array  # noqa: PLC0415  # it is there already

    found = csr_array(values, copy=True)
    found.sum_duplicates()
    found.data = floats_of(found.data, what)
    if n < MANY:
        dense: Vector = found.toarray()
        return dense, dense
    return found, found.data


# ---------------------------------------------------------------------- positive definite


def inverse_root(
    matrix: Matrix,
    what: object,
    *,
    is_inverse: bool,
    name: Callable[[int], str] = "number {}".format,
) -> Matrix:
    """Return R with R' R = inv(M): a diagonal or a triangle, or a sparse matrix as it is.

    Cost O(n) for a diagonal, O(n³) dense, one LU decomposition for a sparse matrix.

    Parameters
    ----------
    matrix : (n,), (n, n) or csr_array
        As returned by `checked_mass`.
    what : str
        Its name in messages.
    is_inverse : bool
        True if the matrix is inv(M).
    name : callable, optional
        The function from a row to its name in messages.

    Raises
    ------
    MassMatrixError
        It is not positive definite.
    """
    if is_sparse(matrix):
        _check_sparse(matrix, what, name)
        return matrix
    if matrix.ndim == 1:
        _check_diagonal(matrix, what, name)
        roots = np.sqrt(matrix)
        return roots if is_inverse else 1 / roots
    n = len(matrix)
    if n == 0:
        return matrix
    diagonal = matrix.diagonal()
    lower: Vector | None = None
    if diagonal.min() > 0:
        try:
            lower = np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            lower = None
    root = None
    if lower is not None:
        from scipy.linalg.lapack import dtrtri  # noqa: PLC0415  # it takes a while

        root = dtrtri(lower.T)[0].T
    # The trace of the inverse, where M is scaled to a diagonal of 1: it is at least the reciprocal
    # of the least eigenvalue.
    if root is None or float(np.sum(root * root * diagonal)) * FACTOR * n * EPS >= 1.0:
        values, vectors = np.linalg.eigh(matrix)
        most = name(int(np.argmax(np.abs(vectors[:, 0]))))
        raise _not_positive(what, f"{values[0]:.6g} as its smallest eigenvalue, mostly of {most}")
    if is_inverse and lower is not None:
        return np.ascontiguousarray(lower.T)
    return root


def _check_diagonal(diagonal: Vector, what: object, name: Callable[[int], str]) -> None:
    """Refuse a diagonal with a number that is not positive."""
    if diagonal.size and not diagonal.min() > 0:
        worst = int(np.argmin(diagonal))
        raise _not_positive(what, f"{diagonal[worst]:.6g} on the diagonal, of {name(worst)}")


def _check_sparse(matrix: Matrix, what: object, name: Callable[[int], str]) -> None:
    """Refuse a sparse matrix that is not positive definite, by the signs of its pivots."""
    _check_diagonal(matrix.diagonal(), what, name)
    try:
        factors = factors_of(matrix)
    except RuntimeError:  # a pivot is exactly 0
        raise _not_positive(what, "a singular one") from None
    pivots: NDArray[np.float64] = factors.U.diagonal()
    if not np.array_equal(factors.perm_r, factors.perm_c) or not pivots.min() > 0:
        raise _not_positive(what, f"{pivots.min():.6g} as its smallest pivot")


def _not_positive(what: object, got: str) -> MassMatrixError:
    return MassMatrixError(
        f"{what}: the mass matrix is not positive definite",
        "a' M a > 0 for all accelerations a, so that each u has inertia",
        got,
        "give each u that it covers a mass; leave out a u that is only prescribed",
    )


# ---------------------------------------------------------------------- blocks along the diagonal


@frozen(eq=False)
class MassBlock:
    """The mass matrix of some of the numbers, or its inverse.

    Attributes
    ----------
    rows : ndarray of int
        The numbers of the block.
    matrix : (k,), (k, k) or csr_array
        As returned by `checked_mass`.
    root : (k,), (k, k) or csr_array
        As returned by `inverse_root`.
    is_inverse : bool
    """

    rows: Index
    matrix: Matrix
    root: Matrix
    is_inverse: bool


def free_accelerations(blocks: Sequence[MassBlock], forces: Vector) -> Vector:
    """Return inv(M) f. Blocks cover all numbers, each once. Cost O(numbers in the blocks)."""
    found = np.zeros(len(forces))
    for block in blocks:
        f = forces[block.rows]
        if isinstance(block.matrix, np.ndarray):
            found[block.rows] = times_root(block.root, times_root(block.root, f), transpose=True)
        elif block.is_inverse:
            found[block.rows] = block.matrix @ f
        else:
            found[block.rows] = factors_of(block.matrix).solve(f)
    return found


def times_root(root: Vector, values: Vector, *, transpose: bool = False) -> Vector:
    """Multiply R or R' by a vector or a matrix, R being given by its diagonal or whole."""
    if root.ndim == 1:
        return root * values if values.ndim == 1 else root[:, np.newaxis] * values
    found: Vector = (root.T if transpose else root) @ values
    return found


@frozen(eq=False)
class FreePart:
    """The part of a block of M that belongs to free u.

    Attributes
    ----------
    matrix, root : (k,), (k, k) or csr_array
        M of these, and its inverse root.
    force : (k,) float
        The force on them that the prescribed udot of the others takes.
    """

    matrix: Matrix
    root: Matrix
    force: Vector


def free_part(
    matrix: Matrix,
    is_free: NDArray[np.bool_],
    udot: Vector,
    what: object,
    *,
    is_inverse: bool,
    name: Callable[[int], str] = "number {}".format,
) -> FreePart:
    """Return the part of a block that belongs to free u, where some but not all are free.

    Cost O(n³), the cost of `inverse_root`. If inv(M) is given and is not diagonal, it is inverted,
    dense.

    Parameters
    ----------
    matrix : (n,), (n, n) or csr_array
    is_free : (n,) bool
    udot : (n,) float
        Prescribed values; anything for free u.
    what : str
        Its name in messages.
    is_inverse : bool
    name : callable, optional
        The function from a free row to its name in messages.

    Raises
    ------
    MassMatrixError
    """
    if matrix.ndim == 1:
        mass: Matrix = (1 / matrix if is_inverse else matrix)[is_free]
        root = inverse_root(mass, what, is_inverse=False, name=name)
        return FreePart(mass, root, np.zeros(np.count_nonzero(is_free)))
    if is_inverse:
        matrix = np.linalg.inv(matrix.toarray() if is_sparse(matrix) else matrix)
        matrix = (matrix + matrix.T) / 2
    free, driven = np.flatnonzero(is_free), np.flatnonzero(~is_free)
    of_free: Matrix = matrix[free]
    mass = of_free[:, free]
    root = inverse_root(mass, what, is_inverse=False, name=name)
    return FreePart(mass, root, np.asarray(of_free[:, driven] @ udot[driven]))
