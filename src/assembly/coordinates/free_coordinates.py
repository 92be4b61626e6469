r"""Free q of an Assembler, in its internal State; and derivatives by them.

::

    q  [ free | locked | prescribed ]      only free q are moved, all at once
    d/dq = d/du P                          P (nu, nq) is pinv(N) of qdot = N u; where N is 1,
                                           this only selects columns

    free q  [ x | dependent ]              what methods see: independent ones, by their scales
    d/dx = d/dq T                          see `dependent`; conditions have no part in it
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from stagecache.assembly.coordinates.dependent import DEPENDENT, Dependents
from stagecache.assembly.coordinates.restrictions import Restrictions
from stagecache.checks import require_index, require_type
from stagecache.errors import ShapeError, UnknownItemError, short_repr
from stagecache.numerics.matrices import Matrix, is_sparse
from stagecache.state.handles import Vector
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.state.vectors.conversion import FLOAT, converted
from stagecache.system.declare.subsystem import Subsystem
from stagecache.system.motion.rows import indices, pairs_of

Index = NDArray[np.intp]

N_PINV: Final = "calc_n_pinv"
"""Optional method of a subsystem: ``(state) -> matrix``, pinv(N) of all its q; None if N is 1."""

ROUNDING: Final = 1e-14
"""Part of the terms of sums in a row below which these count as zero."""


@final
class FreeCoordinates:
    """The free q of a State: all but locked and prescribed ones.

    Parameters
    ----------
    system : System
    state : State
        It is moved. Its prescribed q are set now.
    restrictions : Restrictions
    sets_dependent : bool
        True to set the q that are functions of others, now and with each change of these.

    Attributes
    ----------
    index : (n,) int
        Rows of the free q in q, ascending.
    independent : (m,) int
        Indices of those free q that are not functions of others.
    solved_rows : ndarray of int
        Rows of qerr that are 0 since dependent q are set.
    lower, upper : (n,) float
        Bounds of the free q.
    has_bounds : bool
        True if any bound is finite.
    scales : (m,) float, or None
        Natural change of each independent q, in its unit: methods see these divided by it. None
        where all are 1.
    scales_are_known : bool
        True once they were found.
    undefined : int or None
        The row of a dependent q that has no finite value where the others are. None is set then.
    written : (m,) float, or None
        The array that was written last; None if anything else was written since.

    Raises
    ------
    UnknownItemError, OutOfRangeError
        See `Restrictions.is_locked` and `Restrictions.bounds_of`.
    """

    def __init__(
        self, system: Any, state: State, restrictions: Restrictions, *, sets_dependent: bool = False
    ) -> None:
        self.system = system
        self.state = state
        state._contents.guarded(None, self._prescribe)
        is_free = np.zeros(state.nq, bool)
        is_free[system.free_q_index(state)] = True
        self._is_prescribed = not is_free.all()
        self.index: Index
        index = self.index = np.flatnonzero(is_free & ~restrictions.is_locked(state))
        lower, upper = restrictions.bounds_of(state)
        self.lower, self.upper = lower[index], upper[index]
        self.has_bounds = bool(np.isfinite(self.lower).any() or np.isfinite(self.upper).any())
        self._q = np.array(state.q)
        self._free_of_q = np.full(len(self._q), -1, np.intp)
        self._free_of_q[index] = np.arange(len(index))
        self._t: tuple[Vector, list[Vector]] | None = None  # where the q are, if that is known
        self._relation: _Relation | None = None
        self._p: Matrix = None  # of the relation where the q are, if that is known
        self._is_known = False
        self.written: Vector | None = None
        self.scales: Vector | None = None
        self.scales_are_known = False
        may_depend = np.isneginf(lower) & np.isposinf(upper) & (self._free_of_q >= 0)
        offered = getattr(system, DEPENDENT, None) if sets_dependent else None
        self._dependents = Dependents(
            () if offered is None else offered(state), self._free_of_q, may_depend
        )
        self.solved_rows = self._dependents.qerr
        self._has_dependents = len(self.solved_rows) > 0
        self.independent: Index = np.delete(np.arange(len(index)), self._dependents.index)
        self._moved = index[self.independent]  # rows of q
        self._are_all_moved = len(self._moved) == len(self._q)
        self._set_dependent()

    @property
    def bounds(self) -> tuple[Vector, Vector]:
        """The bounds of the independent q, two of shape (m,)."""
        return self.lower[self.independent], self.upper[self.independent]

    @property
    def x(self) -> Vector:
        """The values of the independent q, within their bounds; a copy."""
        found: Vector = self._q[self._moved]
        return np.clip(found, *self.bounds) if self.has_bounds else found

    @property
    def q(self) -> Vector:
        """All q; a copy."""
        return self._q.copy()

    def free_index_of(self, q: int) -> int | None:
        """Return the index of a q among the free q; None if it is not free.

        Raises
        ------
        UnknownItemError
        """
        hint = "count the q of the State from 0"
        q = require_index(q, len(self._free_of_q), UnknownItemError, f"q {short_repr(q)}", hint)
        found = int(self._free_of_q[q])
        return None if found < 0 else found

    def set_scales(self, scales: Vector) -> None:
        """Divide the independent q by these scales from now on."""
        self.scales = None if (scales == 1.0).all() else scales
        self.scales_are_known = True
        self.written = self._t = None

    def write(self, x: Vector) -> None:
        """Move the independent q to x times their scales, and set the dependent ones.

        Where one of these has no finite value, all of them stay, and `undefined` is its row.

        Invalidates Position, as any write of q does.

        The State may be guarded against all other writes.
        """
        values = x
        if self.scales is not None:
            values = np.clip(x * self.scales, *self.bounds)
        if self._are_all_moved:
            self._q = values.copy()
        else:
            self._q[self._moved] = values
            self.undefined = self._dependents.set_in(self._q)
        self._write_q()
        self.written = x

    def write_all(self, q: Vector) -> None:
        """Write all q."""
        self._q = q.copy()
        self._write_q()
        self.written = None
        self.undefined = self._dependents.set_in(q.copy())

    def move_within_bounds(self) -> bool:
        """Move free q that are beyond their bounds to these; return True if there were any."""
        if not self.has_bounds:
            return False
        x = self.x
        if np.array_equal(x, self._q[self._moved]):
            return False
        self.write(x if self.scales is None else x / self.scales)
        return True

    def go_to(self, time: float) -> None:
        """Write another time, with prescribed q."""
        if time != self.state.time:
            self.state._contents.guarded(None, partial(self._go_to, time))

    def restore(self, time: float, q: Vector) -> None:
        """Write an earlier time and q, including the q that are prescribed at that time."""
        if self.state.time != time:
            self.state._contents.guarded(None, partial(self._write_time, time))
        self.write_all(q)

    def _go_to(self, time: float) -> None:
        self._write_time(time)
        if self._is_prescribed and self.system.prescribe_q(self.state):
            self._q = np.array(self.state.q)
            self.written, self._is_known, self._t = None, False, None
            self._set_dependent()

    def _write_time(self, time: float) -> None:
        self.state.time = time
        self.system.realize(self.state, Stage.TIME)

    def _prescribe(self) -> None:
        self.system.realize(self.state, Stage.TIME)
        self.system.prescribe_q(self.state)

    def _write_q(self) -> None:
        self.state._contents.guarded(None, self._assign_q)
        self._is_known, self._t = False, None

    def _assign_q(self) -> None:
        self.state.q = self._q

    def _set_dependent(self) -> None:
        """Set the dependent q where the others are, if any has another value."""
        q = self._q.copy()
        self.undefined = self._dependents.set_in(q)
        if not np.array_equal(q, self._q):
            self.write_all(q)

    # ------------------------------------------------------------------ derivatives

    def by_x(self, jacobian: Vector) -> Vector:
        """Turn derivatives by the free q (..., n) into derivatives by x, (..., m)."""
        if self._has_dependents:
            found: Vector = jacobian @ self._chain()[0][:-1]
            return found
        return jacobian if self.scales is None else jacobian * self.scales

    def errors_by_x(self, jacobian: Vector) -> Vector:
        """Turn derivatives of errors as `by_x` does, and make those 0 that are only rounding.

        So rows that follow from couplers are 0, and do not keep anything from moving.
        """
        found = self.by_x(jacobian)
        if self._has_dependents:
            sizes = (np.abs(jacobian) @ np.abs(self._chain()[0][:-1])).max(axis=1, initial=0.0)
            found = np.where(np.abs(found) <= ROUNDING * sizes[:, None], 0.0, found)
        return found

    def curvature_by_x(self, curvature: Vector, gradient: Callable[[], Vector]) -> Vector:
        """Turn second derivatives by the free q (n, n) into those by x, (m, m).

        Parameters
        ----------
        curvature : (n, n) float
        gradient : callable
            The function that returns the first derivatives of the same (n,), if they are needed.
        """
        if self._has_dependents:
            t, gradients = self._chain()
            along: Vector = t[:-1].T @ curvature @ t[:-1]
            return along + self._dependents.curvature(gradient(), t, gradients, self._q)
        scales = self.scales
        return curvature if scales is None else curvature * scales * scales[:, None]

    def _chain(self) -> tuple[Vector, list[Vector]]:
        """Return T (n + 1, m) times the scales, with a last row of 0; and gradients."""
        if self._t is None:
            m = len(self.independent)
            t = np.zeros((len(self.index) + 1, m))
            t[self.independent, np.arange(m)] = 1.0 if self.scales is None else self.scales
            self._t = t, self._dependents.gradients(self._q)
            self._dependents.complete(*self._t)
        return self._t

    def by_free_q(self, jacobian: Matrix, subsystem: Any = None) -> Vector:
        """Turn derivatives by u into derivatives by the free q.

        Parameters
        ----------
        jacobian : (..., nu) float
            By u of the State, or of one subsystem.
        subsystem : Subsystem, optional
            Owner of these u; the whole State by default.

        Returns
        -------
        (..., n) float
            A new array, or the Jacobian itself if there is nothing to change.

        Raises
        ------
        KinematicsError
            N is singular there.
        ShapeError, NotANumberError, WrongTypeError
        """
        what = "by_free_q(jacobian_by_u)"
        if is_sparse(jacobian):
            jacobian = jacobian.toarray()
        elif not isinstance(jacobian, np.ndarray):
            jacobian = converted(jacobian, FLOAT, None, what)
        if self._relation is None:
            self._relation = _Relation(self.state, self.index, self._free_of_q)
        if not self._is_known:
            self._p, self._is_known = self._relation.matrix(self.state), True
        place = slice(None)
        if subsystem is not None:
            require_type(subsystem, Subsystem, what, "a Subsystem", "pass the owner of these u")
            starts = self.state._contents.pools.starts["u"]
            place = slice(starts[subsystem.index], starts[subsystem.index + 1])
        nu = len(range(*place.indices(self.state.nu)))
        if jacobian.ndim < 1 or jacobian.shape[-1] != nu:
            shape = f"shape (..., {nu})"
            hint = "give a column for each u, or name the subsystem"
            raise ShapeError(f"{what}: wrong shape", shape, f"shape {jacobian.shape}", hint)
        if self._p is None:
            return self._relation.selected(jacobian, place)
        found: Vector = jacobian @ self._p[place]
        return found


@final
class _Relation:
    """Relation of u to derivatives of the free q, as far as it is the same for all q."""

    def __init__(self, state: State, index: Index, free_of_q: Index) -> None:
        self._nu = state._contents.pools.size("u", None)
        self._blocks: list[_Block] = []
        self._u_of_free = np.full(len(index), -1, np.intp)  # where N can be 1
        for q, u, block in pairs_of(state._contents):
            q_rows, u_rows = indices(q), indices(u)
            is_free = free_of_q[q_rows] >= 0
            columns = free_of_q[q_rows[is_free]]
            if len(q_rows) == len(u_rows):
                self._u_of_free[columns] = u_rows[is_free]
            if block is None:
                continue
            place = np.ix_(u_rows, columns)
            is_all = len(u_rows) == self._nu and np.array_equal(q_rows, index)
            owner: Any = block.n._owner
            is_whole = block.q == (owner.q,)
            calc = getattr(owner, N_PINV, block.n_pinv) if is_whole else block.n_pinv
            self._blocks.append(_Block(calc, place, is_free, is_all=is_all))

    def matrix(self, state: State) -> Vector | None:
        """Return P, (nu, n); None where N is 1."""
        found: Vector | None = None
        for block in self._blocks:
            values = block.calc(state)
            if values is None:
                continue
            if block.is_all:
                return _dense(values)
            if found is None:
                found = self._with_ones()
            found[block.place] = _dense(values)[:, block.is_free]
        return found

    def _with_ones(self) -> Vector:
        """Return P where N is 1 in all blocks."""
        found = np.zeros((self._nu, len(self._u_of_free)))
        columns = np.flatnonzero(self._u_of_free >= 0)
        found[self._u_of_free[columns], columns] = 1.0
        return found

    def selected(self, jacobian: Vector, place: slice) -> Vector:
        """Return derivatives by the free q where N is 1, from those by the u of a slice.

        A u that no free q moves is left out; a free q that moves none of these has zeros.
        """
        first, end, _ = place.indices(self._nu)
        columns = self._u_of_free
        if len(columns) == end - first and np.array_equal(columns, np.arange(first, end)):
            return jacobian
        has_any = (columns >= first) & (columns < end)
        found = np.zeros((*jacobian.shape[:-1], len(columns)))
        found[..., has_any] = jacobian[..., columns[has_any] - first]
        return found


@final
@frozen(eq=False)
class _Block:
    """A block of kinematics, and its place in P."""

    calc: Any
    place: Any
    is_free: NDArray[np.bool_]
    is_all: bool


def _dense(matrix: Matrix) -> Vector:
    """Return the matrix of a block of kinematics, given in any form, as a dense one."""
    if is_sparse(matrix):
        found: Vector = matrix.toarray()
        return found
    if matrix.ndim == 2:
        return np.asarray(matrix)
    k, n, m = matrix.shape
    across = np.zeros((k, n, k, m))
    which = np.arange(k)
    across[which, :, which, :] = matrix
    return across.reshape(k * n, k * m)
