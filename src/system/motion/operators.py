r"""Products with N of qdot = N u, in O(n): block by block; the rest of N is 1.

::

    u   --  N      -->  qdot         f_q . qdot = f_u . u: power is the same on both sides
    u  <--  P      --   qdot
    f_u <-- N'     --   f_q          P = pinv(N), so that P N = 1
    f_u --  P'     -->  f_q
"""

from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike, NDArray

from stagecache.errors import KinematicsError, ShapeError, short_repr
from stagecache.numerics.matrices import Matrix
from stagecache.state.handles import CacheEntry, Vector, contents_of
from stagecache.state.refusals import too_low
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.state.vectors.conversion import FLOAT, converted
from stagecache.system.motion.matrix import diagonal_blocks, product, transposed
from stagecache.system.motion.rows import BoundKinematics, indices, pairs_of


@frozen(eq=False)
class KinematicBlock:
    """A part of N that is not 1, and shares no row or column with any other.

    Attributes
    ----------
    q : ndarray of shape (m,)
        Rows of the whole q.
    u : ndarray of shape (n,)
        Rows of the whole u.
    n : ndarray of shape (m, n)
    n_pinv : ndarray of shape (n, m)
        The pseudoinverse of n.
    """

    q: NDArray[np.intp]
    u: NDArray[np.intp]
    n: Vector
    n_pinv: Vector


def kinematic_blocks(state: State) -> tuple[KinematicBlock, ...]:
    """Return the blocks of N that subsystems declare, divided as far as they can be. Cost O(n).

    Parameters
    ----------
    state : State
        Realized to Instance or further; to the stages on which the matrices depend.

    Raises
    ------
    WrongTypeError, StageTooLowError, KinematicsError
    """
    contents = _contents(state, Stage.INSTANCE, "the blocks of N")
    found = []
    for q, u, block in pairs_of(contents):
        if block is None:
            continue
        q_rows, u_rows = indices(q), indices(u)
        inverse = block.n_pinv(state)
        for i, (rows, columns, n) in enumerate(diagonal_blocks(block.n(state))):
            if inverse.ndim == 3:
                n_pinv = inverse[i]
            else:
                n_pinv = inverse[columns][:, rows]
                n_pinv = n_pinv.toarray() if hasattr(n_pinv, "toarray") else n_pinv
            found.append(KinematicBlock(q_rows[rows], u_rows[columns], n, n_pinv))
    return tuple(found)


def multiply_by_n(state: State, u: ArrayLike) -> Vector:
    """Return N u: qdot, if u are the generalized speeds.

    Cost O(n), as measured: some 20 us, and for each u 1 ns where N = 1, 40 ns in quaternions that
    are one variable or family, and 15 us for each subsystem that declares kinematics.

    Parameters
    ----------
    state : State
        At Position or further.
    u : array_like of shape (nu,), (nu, k) or (0,)
        Empty stands for zeros.

    Returns
    -------
    ndarray of shape (nq,) or (nq, k)
        A new one. Units of q per second, for u in theirs.

    Raises
    ------
    WrongTypeError, StageTooLowError, ShapeError, NotANumberError
    KinematicsError
        Numbers of q and u differ where nothing is declared, or N is not finite.
    """
    return _multiply(state, u, "multiply_by_n(u)", from_u=True, is_pinv=False)


def multiply_by_n_transpose(state: State, fq: ArrayLike) -> Vector:
    """Return N' fq: the forces on u that do the work of the forces fq on q. As `multiply_by_n`."""
    return _multiply(state, fq, "multiply_by_n_transpose(fq)", from_u=False, is_pinv=False)


def multiply_by_n_pinv(state: State, qdot: ArrayLike) -> Vector:
    """Return pinv(N) qdot: the u for which N u is qdot, or closest to it.

    Errors are as in `multiply_by_n`; and KinematicsError if N does not have full column rank.
    """
    return _multiply(state, qdot, "multiply_by_n_pinv(qdot)", from_u=False, is_pinv=True)


def multiply_by_n_pinv_transpose(state: State, fu: ArrayLike) -> Vector:
    """Return pinv(N)' fu: the smallest forces on q that do the work of fu.

    See `multiply_by_n_pinv`.
    """
    return _multiply(state, fu, "multiply_by_n_pinv_transpose(fu)", from_u=True, is_pinv=True)


def _multiply(state: State, values: ArrayLike, what: str, *, from_u: bool, is_pinv: bool) -> Vector:
    contents = _contents(state, Stage.POSITION, what)
    source, target = ("u", "q") if from_u else ("q", "u")
    x = checked_rows(values, contents.size(source, None), source, what)
    found = np.zeros((contents.size(target, None), *x.shape[1:]))
    pairs = list(pairs_of(contents))  # all of them, before x is found to be empty
    if x.size == 0:
        return found
    for q, u, block in pairs:
        rows, goal = (u, q) if from_u else (q, u)
        if block is None:
            found[goal] = x[rows]
        else:
            matrix: Matrix = _entry(block, is_pinv=is_pinv)(state)
            if is_pinv == from_u:
                matrix = transposed(matrix)
            with np.errstate(invalid="ignore"):  # where x is infinite
                found[goal] = product(matrix, x[rows])
    return found


def _entry(block: BoundKinematics, *, is_pinv: bool) -> CacheEntry[Matrix]:
    entry = block.n_pinv if is_pinv else block.n
    if entry.available_from > Stage.POSITION:
        raise KinematicsError(
            f"{entry}: is not known at Position",
            "an N that depends on q, the time and parameters",
            f"one that depends on {entry.available_from}",
            "leave out of its prerequisites what is computed later",
        )
    return entry


def _contents(state: State, needed: Stage, what: str) -> Any:
    contents: Any = contents_of(state)
    at = contents.realization.machine.stage
    if at < needed:
        raise too_low(what, needed, "the system", at)
    return contents


def checked_rows(values: ArrayLike, count: int, kind: str, what: str) -> Vector:
    """Return the values as an array of floats, whose first dimension has the size of that kind."""
    array: Vector = converted(values, FLOAT, None, what)
    if array.ndim not in (1, 2) or len(array) not in (0, count):
        raise ShapeError(
            f"{what}: has another shape than {kind}",
            f"shape ({count},), or ({count}, k), or (0,) for zeros",
            f"{short_repr(values)}, of shape {array.shape}",
            f"give a number, or a row, for each of the {count} {kind} of the State",
        )
    return array


def weights_of_q(system: Any, state: State) -> Vector:
    r"""Return the weights of the q, (nq,): by block of N, the norm of N Wu pinv(N).

    Where N is 1, they are the `u_weights`. If all `u_weights` are 1, all are 1; else Position is
    realized.

    Raises
    ------
    KinematicsError
        Weights are not 1, and it is not known how q follow from u.
    """
    weights = state.u_weights
    if not state.nq or (weights == 1).all():
        return np.ones(state.nq)
    system.realize(state, Stage.POSITION)
    found = multiply_by_n(state, weights)  # the weights where N is 1
    for block in kinematic_blocks(state):
        found[block.q] = np.linalg.norm((block.n * weights[block.u]) @ block.n_pinv, 2)
    return found
