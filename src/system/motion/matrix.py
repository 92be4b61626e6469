r"""Matrices N of blocks of kinematics: checks, products and pseudoinverses, in three forms.

A matrix of n rows and m columns has one of three forms::

    dense    (n, m)              any block
    stack    (k, n / k, m / k)   k blocks of one shape along the diagonal:   [ # . . ]
    sparse   csr_array           anything else that is large                 [ . # . ]
                                                                             [ . . # ]

Operations cost O(numbers in the blocks); zeros outside of blocks are never touched.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from stagecache.errors import KinematicsError, ShapeError, short_repr
from stagecache.numerics.matrices import Matrix, csr_of, floats_of, is_sparse, read_only
from stagecache.state.handles import Vector

Part = tuple[NDArray[np.intp], NDArray[np.intp], Vector]
"""A dense block of a matrix: its rows, columns and numbers."""

CLOSE: Final = 1e-6  # largest difference from the identity


def checked_matrix(values: Any, shape: tuple[int, int], what: object) -> Matrix:
    """Return a matrix in one of the three forms, that shares nothing and is read-only.

    Raises
    ------
    ShapeError, NotANumberError
    KinematicsError
        A value is not finite.
    """
    if is_sparse(values):
        found = csr_of(values, what)
        fits = found.shape == shape
    else:
        found = floats_of(values, what)
        fits = found.shape == shape
        if found.ndim == 3:
            k, n, m = found.shape
            fits = (k * n, k * m) == shape
    if not fits:
        raise ShapeError(
            f"{what}: its computation returned a matrix of another shape",
            f"shape {shape}, or blocks along its diagonal, of shape (k, {shape[0]} / k, "
            f"{shape[1]} / k)",
            f"shape {found.shape}",
            "give N a row for each q and a column for each u of the block; pinv(N) the other way",
        )
    numbers = found.data if is_sparse(found) else found
    if not np.isfinite(numbers).all():
        raise KinematicsError(
            f"{what}: a value of the matrix is not finite",
            "finite numbers",
            short_repr(numbers),
            "keep away from where these coordinates are singular, or take others, as quaternions",
        )
    return read_only(found if is_sparse(values) else found.copy())


def product(matrix: Matrix, values: Vector) -> Vector:
    """Return the product with an array of shape (m,) or (m, k)."""
    if matrix.ndim == 2:
        return matrix @ values  # type: ignore[no-any-return]  # an array
    k, n, m = matrix.shape
    columns = values.shape[1:]
    width = columns[0] if columns else 1
    found: Vector = matrix @ values.reshape(k, m, width)
    return found.reshape(k * n, *columns)


def transposed(matrix: Matrix) -> Matrix:
    """Return the transpose, in the same form; a view."""
    return matrix.T if matrix.ndim == 2 else matrix.swapaxes(1, 2)


def pinv(matrix: Matrix, what: object) -> Matrix:
    """Return the pseudoinverse, in the same form, of a matrix with full column rank.

    It is found by singular values, block by block; a sparse matrix is divided into its blocks.

    Raises
    ------
    KinematicsError
        The rank is lower.
    """
    if is_sparse(matrix):
        return _sparse_pinv(matrix, what)
    n, m = matrix.shape[-2:]
    if n < m:
        raise _deficient(what, f"{n} rows, {m} columns")
    if matrix.size == 0:
        return np.swapaxes(matrix, -2, -1).copy()
    left, sizes, right = np.linalg.svd(matrix, full_matrices=False)
    least = np.finfo(float).eps * n * sizes[..., :1]
    if np.any(sizes <= least):
        raise _deficient(what, f"singular values from {sizes.min():.3g} to {sizes.max():.3g}")
    found: Vector = np.swapaxes(right, -2, -1) / sizes[..., None, :] @ np.swapaxes(left, -2, -1)
    return found


def _deficient(what: object, got: str) -> KinematicsError:
    return KinematicsError(
        f"{what}: N does not have full column rank",
        "u that follow from qdot = N u: pinv(N) N = 1",
        got,
        "keep away from where these coordinates are singular, or take others, as quaternions",
    )


def _sparse_pinv(matrix: Matrix, what: object) -> Matrix:
    from scipy.sparse import coo_array, csr_array  # noqa: PLC0415  # it is there already

    rows, columns, values = [], [], []
    for block_rows, block_columns, block in diagonal_blocks(matrix):
        n, m = block.shape
        rows.append(np.repeat(block_columns, n))
        columns.append(np.tile(block_rows, m))
        values.append(pinv(block, what).ravel())
    if not values:
        return csr_array(matrix.T)
    place = (np.concatenate(rows), np.concatenate(columns))
    return csr_array(coo_array((np.concatenate(values), place), shape=matrix.shape[::-1]))


def check_pinv(found: Matrix, matrix: Matrix, what: object) -> None:
    """Refuse a matrix that is not the pseudoinverse of one of full column rank.

    The pseudoinverse is the one matrix P for which P N = 1 and N P is symmetric (Moore, Penrose).

    Raises
    ------
    ShapeError
        They have different forms.
    KinematicsError
    """
    forms = [(is_sparse(m), m.ndim, m.shape[0] if m.ndim == 3 else 1) for m in (found, matrix)]
    if forms[0] != forms[1]:
        raise ShapeError(
            f"{what}: has another form than N",
            "both dense, or both sparse, or both as many blocks along the diagonal",
            f"shape {found.shape} where N has {matrix.shape}"
            + (", and one of them is sparse" if forms[0][0] != forms[1][0] else ""),
            "return it in the form of N",
        )
    one, other = found @ matrix, matrix @ found
    identity = np.eye(one.shape[-1])
    if is_sparse(one):
        from scipy.sparse import diags_array  # noqa: PLC0415  # it is there already

        identity = diags_array(np.ones(one.shape[-1]))
    for text, difference in (
        ("P N - 1", one - identity),
        ("N P - (N P)'", other - transposed(other)),
    ):
        largest = abs(difference).max() if 0 not in difference.shape else 0.0
        if not largest <= CLOSE:
            raise KinematicsError(
                f"{what}: is not the pseudoinverse P of N",
                "P N = 1, and N P symmetric: P = inv(N' N) N'",
                f"{largest:.3g} as the largest of {text}",
                "mend the formula; or leave it out, to have it computed by singular values",
            )


def diagonal_blocks(matrix: Matrix) -> list[Part]:
    """Divide a matrix into dense blocks that have no row or column in common.

    A dense matrix is one block; a sparse one is divided into the smallest blocks. Cost O(n).
    """
    if not is_sparse(matrix):
        stack: Vector = matrix if matrix.ndim == 3 else matrix[None]
        k, n, m = stack.shape
        return [
            (np.arange(x * n, x * n + n), np.arange(x * m, x * m + m), stack[x]) for x in range(k)
        ]
    from scipy.sparse import coo_array  # noqa: PLC0415  # it is there already
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    n, m = matrix.shape
    if n + m == 0:
        return []
    entries = coo_array(matrix)
    i, j, values = entries.row, entries.col, entries.data
    graph = coo_array((np.ones(len(values)), (i, n + j)), shape=(n + m, n + m))
    count, labels = connected_components(graph, directed=False)
    rows, rows_within = _divided(labels[:n], count)
    columns, columns_within = _divided(labels[n:], count)
    found = [(r, c, np.zeros((len(r), len(c)))) for r, c in zip(rows, columns, strict=True)]
    nonzeros, _ = _divided(labels[i], count)
    for (_, _, block), k in zip(found, nonzeros, strict=True):
        block[rows_within[i[k]], columns_within[j[k]]] = values[k]
    return found


def _divided(
    labels: NDArray[np.intp], count: int
) -> tuple[list[NDArray[np.intp]], NDArray[np.intp]]:
    """Return the items of each label; and for each item, its place among those of its label."""
    order = np.argsort(labels, kind="stable")
    ends = np.searchsorted(labels[order], np.arange(count + 1))
    within = np.empty(len(labels), np.intp)
    within[order] = np.arange(len(labels)) - ends[labels[order]]
    return [order[ends[x] : ends[x + 1]] for x in range(count)], within
