r"""Products with the Jacobians of constraints, constraint by constraint; no whole matrix is formed.

::

    udot  --  G   -->  acceleration errors - bias        power is the same on both sides:
    f_u  <--  G'  --   multipliers                       multipliers . G u = f_u . u

    P     rows of qerr that restrict motion, by u       from Position on
    V     all rows of uerr, by u                        from Velocity on; rows of P among them
    G     all rows of udoterr, by udot                  from Velocity on; rows of V among them
    Pq    rows of P by q: P pinv(N)

Source: the operators of Simbody's `SimbodyMatterSubsystem`.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stagecache.numerics.matrices import Matrix, is_sparse
from stagecache.state.handles import Vector
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.state.vectors.vectors import QERR, UDOTERR, UERR
from stagecache.system.constraints.jacobians import bias_of, parts_of
from stagecache.system.constraints.rows import table_of
from stagecache.system.motion.operators import (
    checked_rows,
    multiply_by_n_pinv,
    multiply_by_n_pinv_transpose,
)

Parts = list[tuple[int, Matrix]]

LEVELS = {
    "p": (Stage.POSITION, QERR),
    "v": (Stage.VELOCITY, UERR),
    "g": (Stage.VELOCITY, UDOTERR),
}
"""The stages that matrices need, and the errors whose rows they have, by lower-case letter."""


def multiply(state: State, letter: str, values: ArrayLike) -> Vector:
    """Return the product of P, V or G with an array (nu,) or (nu, k); empty for zeros.

    Raises
    ------
    WrongTypeError, StageTooLowError, ShapeError, NotANumberError, KinematicsError
    """
    parts, (count, nu) = _parts(state, letter)
    x = checked_rows(values, nu, "u", f"multiply_by_{letter}(u)")
    found = np.zeros((count, *x.shape[1:]))
    with np.errstate(invalid="ignore"):  # where x is infinite
        for start, part in parts if x.size else ():
            found[start : start + part.shape[0]] = part @ x
    return found


def multiply_transpose(state: State, letter: str, values: ArrayLike) -> Vector:
    """Return the product of the transpose with an array (rows,) or (rows, k); as `multiply`."""
    parts, (count, nu) = _parts(state, letter)
    what = f"multiply_by_{letter}_transpose(multipliers)"
    x = checked_rows(values, count, "rows of errors", what)
    found = np.zeros((nu, *x.shape[1:]))
    with np.errstate(invalid="ignore"):
        for start, part in parts if x.size else ():
            found += part.T @ x[start : start + part.shape[0]]
    return found


def dense(state: State, letter: str) -> Vector:
    """Return P, V or G as a dense array."""
    parts, shape = _parts(state, letter)
    found = np.zeros(shape)
    for start, part in parts:
        found[start : start + part.shape[0]] = part.toarray() if is_sparse(part) else part
    return found


def multiply_pq(state: State, values: ArrayLike) -> Vector:
    """Return the product of Pq with an array (nq,) or (nq, k), as `multiply`."""
    _require_stage(state, "p")
    x = checked_rows(values, len(state.q), "q", "multiply_by_pq(qdot)")
    return multiply(state, "p", multiply_by_n_pinv(state, x))


def multiply_pq_transpose(state: State, values: ArrayLike) -> Vector:
    """Return the product of the transpose with an array (rows,) or (rows, k), as `multiply`."""
    return multiply_by_n_pinv_transpose(state, multiply_transpose(state, "p", values))


def calc_pq(state: State) -> Vector:
    """Return P pinv(N) as a dense array."""
    return multiply_by_n_pinv_transpose(state, dense(state, "p").T).T


def acceleration_errors(state: State, udot: ArrayLike) -> Vector:
    """Return G udot + bias. Shape (nudoterr,), or (nudoterr, k) for udot of shape (nu, k)."""
    found = multiply(state, "g", udot)
    bias = bias_of(state, table_of(state))
    return found + (bias[:, None] if found.ndim == 2 else bias)


def _parts(state: Any, letter: str) -> tuple[Parts, tuple[int, int]]:
    """Return the parts of a matrix, each with its first row, and its shape."""
    _require_stage(state, letter)
    kind = LEVELS[letter][1]
    table = table_of(state)
    return parts_of(state, table, kind, table.position_rows if kind is QERR else None)


def _require_stage(state: Any, letter: str) -> None:
    what = f"the matrix {letter.upper()} of constraints"
    state._contents.require_stage(LEVELS[letter][0], None, what)
