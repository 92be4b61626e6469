"""Blocks of a mass matrix along the diagonal, and what is left of them by prescribed motion."""

from collections.abc import Sequence

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from stagecache.numerics.mass_matrices import Matrix, inverse_root
from stagecache.numerics.matrices import factors_of, is_sparse
from stagecache.state.handles import Vector

Index = NDArray[np.intp]


@frozen(eq=False)
class MassBlock:
    """The mass matrix of some of the numbers, or its inverse.

    Attributes
    ----------
    rows : ndarray of int
        Which numbers.
    matrix : (k,), (k, k) or csr_array
        As `checked_mass` returns it.
    root : (k,), (k, k) or csr_array
        As `inverse_root` does.
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
        if not is_sparse(block.matrix):
            found[block.rows] = times_root(block.root, times_root(block.root, f), transpose=True)
        elif block.is_inverse:
            found[block.rows] = block.matrix @ f
        else:
            found[block.rows] = factors_of(block.matrix).solve(f)
    return found


def times_root(root: Vector, values: Vector, *, transpose: bool = False) -> Vector:
    """R or R' times a vector or a matrix, R being given by its diagonal or whole."""
    if root.ndim == 1:
        return root * values if values.ndim == 1 else root[:, np.newaxis] * values
    found: Vector = (root.T if transpose else root) @ values
    return found


@frozen(eq=False)
class FreePart:
    """What of a block of M belongs to u that are free.

    Attributes
    ----------
    matrix, root : (k,), (k, k) or csr_array
        M of these, and its inverse root.
    force : (k,) float
        What it takes of them that the others have the udot that is prescribed.
    """

    matrix: Matrix
    root: Matrix
    force: Vector


def free_part(
    matrix: Matrix, is_free: NDArray[np.bool_], udot: Vector, what: str, *, is_inverse: bool
) -> FreePart:
    """Return what of a block belongs to u that are free, where some but not all are.

    Cost O(n³), that of `inverse_root`: it is not kept. Where inv(M) is given and is no diagonal, M
    is made of it, dense.

    Parameters
    ----------
    matrix : (n,), (n, n) or csr_array
    is_free : (n,) bool
    udot : (n,) float
        Of u that are free, anything.
    what : str
        What messages call it.
    is_inverse : bool

    Raises
    ------
    MassMatrixError
    """
    if matrix.ndim == 1:
        mass: Matrix = (1 / matrix if is_inverse else matrix)[is_free]
        root = inverse_root(mass, what, is_inverse=False)
        return FreePart(mass, root, np.zeros(np.count_nonzero(is_free)))
    if is_inverse:
        matrix = np.linalg.inv(matrix.toarray() if is_sparse(matrix) else matrix)
        matrix = (matrix + matrix.T) / 2
    free, driven = np.flatnonzero(is_free), np.flatnonzero(~is_free)
    of_free: Matrix = matrix[free]
    mass = of_free[:, free]
    root = inverse_root(mass, what, is_inverse=False)
    return FreePart(mass, root, np.asarray(of_free[:, driven] @ udot[driven]))
