r"""Constraints linearised at one State: the shortest changes that remove their errors.

::

    errors r of their rows    r + A y           A: the Jacobian by y, each row times its weight
    y                         its length is the norm of the change
    y  --  from_norm = inv(R)  -->  du  --  along  -->  change of q, or of u

A change of q is dq = N du, and its norm \|Wq dq\| with Wq = N Wu pinv(N), which is \|N Wu du\|. N
is block diagonal. Where it is the identity this is \|Wu du\|; for the other blocks, N Wu = Q R with
orthonormal columns in Q, it is \|R du\|. So for y = R du it is the length of y.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Final, final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from stagecache.numerics.least_norm import LeastNorm, Matrix
from stagecache.state.handles import Vector
from stagecache.state.state import State
from stagecache.system.motion.operators import (
    KinematicBlock,
    kinematic_blocks,
    multiply_by_n_transpose,
)
from stagecache.system.motion.prescribing import free_q_index, free_u_index

MOST_DOUBT: Final = 0.1
CURVED: Final = 10.0
"""Turn of a row on the way to a constraint, as a multiple of its distance in the norm of changes:
rows that are nearer to dependent than that may be dependent on the constraints."""

Index = NDArray[np.intp]
Linear = Callable[[Vector], Vector]


@final
class ChangeNorm:
    """A norm of changes du of some of the u; the others do not change.

    Parameters
    ----------
    columns : (k,) int
        Indices of the u that change.
    to_norm, from_norm : (k,) or (k, k) float
        R, and its inverse; a vector is a diagonal matrix.
    num_u : int
        The number of all u.
    """

    def __init__(self, columns: Index, to_norm: Matrix, from_norm: Matrix, num_u: int) -> None:
        self.columns = columns
        self._to_norm = to_norm
        self._from_norm = from_norm
        self._num_u = num_u

    def jacobian_by_y(self, jacobian: Matrix) -> Matrix:
        """Convert a Jacobian by all u into one by y: (m, k), sparse if it is."""
        if len(self.columns) < self._num_u:
            jacobian = jacobian[:, self.columns]
        if self._from_norm.ndim > 1:
            return jacobian @ self._from_norm
        if issparse(jacobian):
            return csr_array(jacobian.multiply(self._from_norm[np.newaxis]))
        return jacobian * self._from_norm

    def change(self, y: Vector) -> Vector:
        """Return the change of all u that belongs to y, (nu,)."""
        du = np.zeros(self._num_u)
        is_diagonal = self._from_norm.ndim == 1
        du[self.columns] = self._from_norm * y if is_diagonal else self._from_norm @ y
        return du

    def of_change(self, du: Vector) -> Vector:
        """Return the y of a change of all u; u that must not change are ignored."""
        du = du[self.columns]
        return np.asarray(self._to_norm * du if self._to_norm.ndim == 1 else self._to_norm @ du)


def norm_of_u(state: State) -> ChangeNorm:
    r"""Return the norm \|Eu du\| of changes of the free u, Eu = min(Wu, 1/\|u\|)."""
    columns, u, weights = free_u_index(state), state.u, state.u_weights
    scales = (weights / np.maximum(1.0, weights * np.abs(u)))[columns]
    return ChangeNorm(columns, scales, 1 / scales, len(u))


def norm_of_q(state: State) -> ChangeNorm:
    r"""Return the norm \|Wq N du\| of changes along those u that move no prescribed q."""
    weights, blocks = state.u_weights, kinematic_blocks(state)
    num_u = len(weights)
    columns = _moving_no_prescribed_q(state, blocks)
    if not blocks:
        scales = weights[columns]
        return ChangeNorm(columns, scales, 1 / scales, num_u)
    place = np.full(num_u, -1)
    place[columns] = np.arange(len(columns))
    is_plain = place >= 0
    rows, cols, values, inverses = [], [], [], []
    for u, n in _stacks(blocks, place >= 0):
        r: Vector = np.linalg.qr(n * weights[u][:, np.newaxis, :])[1]
        k, size = u.shape
        rows.append(np.broadcast_to(place[u][:, :, np.newaxis], (k, size, size)).ravel())
        cols.append(np.broadcast_to(place[u][:, np.newaxis, :], (k, size, size)).ravel())
        values.append(r.ravel())
        inverses.append(np.linalg.inv(r).ravel())
    for block in blocks:
        is_plain[block.u] = False
    plain = place[is_plain]
    scales = weights[is_plain]
    at = np.concatenate([*rows, plain]), np.concatenate([*cols, plain])
    shape = (len(columns), len(columns))
    to_norm = csr_array((np.concatenate([*values, scales]), at), shape)
    from_norm = csr_array((np.concatenate([*inverses, 1 / scales]), at), shape)
    return ChangeNorm(columns, to_norm, from_norm, num_u)


def _moving_no_prescribed_q(state: State, blocks: Sequence[KinematicBlock]) -> Index:
    """Return the u whose column in N is zero in all rows of prescribed q."""
    free = free_q_index(state)
    num_u = state.nu
    if len(free) == state.nq:
        return np.arange(num_u)
    is_fixed = np.ones(state.nq, dtype=bool)
    is_fixed[free] = False
    plain = is_fixed.astype(float)
    for block in blocks:
        plain[block.q] = 0.0
    is_held = multiply_by_n_transpose(state, plain) != 0
    for block in blocks:
        is_held[block.u] |= (block.n[is_fixed[block.q]] != 0).any(axis=0)
    return np.flatnonzero(~is_held)


def _stacks(
    blocks: Sequence[KinematicBlock], is_movable: NDArray[np.bool_]
) -> Iterator[tuple[Index, Vector]]:
    """Yield the movable columns of blocks, grouped by shape.

    Yields
    ------
    (k, b) int, (k, a, b) float
        The u of k blocks of one shape, and the blocks.
    """
    found: dict[tuple[int, ...], list[tuple[Index, Vector]]] = defaultdict(list)
    for block in blocks:
        movable = is_movable[block.u]
        u, n = (block.u, block.n) if movable.all() else (block.u[movable], block.n[:, movable])
        if u.size:
            found[n.shape].append((u, n))
    for parts in found.values():
        yield np.array([u for u, _ in parts]), np.array([n for _, n in parts])


@final
class Tangent:
    """Constraints, linearised.

    Parameters
    ----------
    norm : ChangeNorm
        The norm of changes of u.
    jacobian : (len(rows), nu) float, dense or sparse
        The derivatives of weighted errors by u.
    rows, others : (k,) int
        Index of these errors; and rows that are left alone.
    off : (len(rows),) float
        Weighted position errors: distances to the constraints on q.
    along, back : callable
        Functions from a change of u to the change of q, or of u; and back.
    """

    def __init__(
        self,
        norm: ChangeNorm,
        jacobian: Matrix,
        rows: Index,
        others: Index,
        off: Vector,
        along: Linear,
        back: Linear,
    ) -> None:
        self._norm = norm
        self._solver = LeastNorm(norm.jacobian_by_y(jacobian))
        self._rows, self._others = rows, others
        self._along, self._back = along, back
        lengths = self._solver.row_lengths
        distances = np.abs(off[lengths > 0]) / lengths[lengths > 0]
        self._doubt = min(MOST_DOUBT, CURVED * float(np.max(distances, initial=0.0)))

    @property
    def has_freedom(self) -> bool:
        """True if any u can be changed."""
        return len(self._norm.columns) > 0

    def step(self, errors: Vector) -> tuple[Vector, float]:
        """Return the shortest change that minimizes weighted errors, and the errors left.

        Returns
        -------
        (n,) float
            The change of all q, or all u.
        float
            The root of the sum of squares of all errors that are left, to first order.
        """
        mine = errors[self._rows]
        y = -self._solver.solve(mine, doubt=self._doubt)
        left = np.linalg.norm(mine + self._solver.matrix @ y)
        return self._change(y), float(np.hypot(left, np.linalg.norm(errors[self._others])))

    def steepest(self, errors: Vector) -> tuple[Vector, float]:
        """Return the change down the gradient of their squares, to where these are least.

        Returns
        -------
        (n,) float
        float
            The part by which their squares fall, to first order; 0 if no change makes them smaller.
        """
        mine, matrix = errors[self._rows], self._solver.matrix
        slope = np.asarray(matrix.T @ mine)
        rise = matrix @ slope
        square = float(slope @ slope)
        if not square or not rise.any():
            return self._change(np.zeros(len(slope))), 0.0
        length = square / float(rise @ rise)
        return self._change(-length * slope), length * square / float(errors @ errors)

    def drift(self, change: Vector) -> Vector:
        """Return the part of a change of q, or u, that does not change the errors."""
        y = self._norm.of_change(self._back(change))
        return self._change(y - self._solver.part_in_rows(y, doubt=self._doubt))

    def normal_part(self, estimate: Vector) -> Vector:
        """Return the part of an error estimate that is normal to the constraints."""
        y = self._norm.of_change(self._back(estimate))
        return self._change(self._solver.part_in_rows(y, doubt=self._doubt))

    def _change(self, y: Vector) -> Vector:
        return self._along(self._norm.change(y))
