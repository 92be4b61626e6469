"""Matrices that models return: dense, or of scipy.sparse, which is imported only if needed."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stagecache.errors import NoValueError, ShapeError, short_repr
from stagecache.state.vectors.conversion import FLOAT, converted

Matrix = Any
"""An ndarray, or a csr_array of SciPy, whose types are not known without importing it."""


class _ValuesOf:
    """Name of the values of a thing in errors; formatted when it is shown."""

    __slots__ = ("_what",)

    def __init__(self, what: object) -> None:
        self._what = what

    def __str__(self) -> str:
        return f"the values of {self._what}"


def floats_of(values: object, what: object) -> NDArray[np.float64]:
    """Return the values that a computation returned as an array of floats, a new one or their own.

    Raises
    ------
    ShapeError, NotANumberError
        They are not numbers.
    NoValueError
        They are None.
    """
    if type(values) is np.ndarray and values.dtype is FLOAT:
        return values
    if values is None:
        raise refused_none(str(what))
    found: NDArray[np.float64] = converted(values, FLOAT, None, _ValuesOf(what))
    return found


def vector_of(
    values: object, count: int, what: object, size_of: object, hint: str
) -> NDArray[np.float64]:
    """Return the values that a computation returned as a vector of a given size.

    Raises
    ------
    ShapeError, NotANumberError, NoValueError
    """
    vector = floats_of(values, what)
    if vector.size == count and vector.ndim < 2:
        return vector.reshape(count)
    raise ShapeError(
        f"{what}: its computation returned values of another shape",
        f"{count} of them, as many as {size_of}",
        f"{short_repr(values)}, of shape {vector.shape}",
        hint,
    )


def refused_none(what: str, hint: str = "return it") -> NoValueError:
    """Return the error of a computation that returned None."""
    return NoValueError(
        f"{what}: its computation returned None",
        "a value",
        "None, as from a function without return",
        hint,
    )


def is_sparse(matrix: object) -> bool:
    """Return True for a matrix or array of scipy.sparse, without importing scipy.sparse."""
    return hasattr(matrix, "tocsr")


def csr_of(values: Any, what: object) -> Matrix:
    """Return a sparse matrix as a csr_array of floats that shares nothing and is read-only.

    Raises
    ------
    NotANumberError
        It holds something else.
    """
    from scipy.sparse import csr_array  # noqa: PLC0415  # it is there already

    found = csr_array(values, copy=True)
    found.data = floats_of(found.data, what)
    found.sum_duplicates()
    return read_only(found)


def read_only(matrix: Matrix) -> Matrix:
    """Make a matrix read-only that nobody else holds, and return it."""
    arrays = (matrix.data, matrix.indices, matrix.indptr) if is_sparse(matrix) else (matrix,)
    for array in arrays:
        array.flags.writeable = False
    return matrix


def placed(
    values: NDArray[np.float64],
    places: tuple[NDArray[np.intp], NDArray[np.intp]],
    shape: tuple[int, int],
    *,
    sparse: bool,
) -> Matrix:
    """Return the matrix with these values at rows and columns, and zeros elsewhere."""
    if sparse:
        from scipy.sparse import coo_array  # noqa: PLC0415  # it takes a while

        return coo_array((values, places), shape=shape)
    found = np.zeros(shape)
    found[places] = values
    return found


def factors_of(matrix: Matrix) -> Any:
    """Return the LU of a symmetric sparse matrix, with pivots from its diagonal."""
    from scipy.sparse.linalg import splu  # noqa: PLC0415  # it takes a while

    return splu(
        matrix.tocsc(),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
