"""The Jacobians of all constraints of a State: as declared, and by differences where they are not.

Which rows they have::

    position_jacobian, normalization_jacobian     position_rows, normalization_rows of qerr
    velocity_jacobian, acceleration_jacobian      all of uerr, all of udoterr
"""

from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stagecache.numerics.matrices import Matrix, is_sparse
from stagecache.state.handles import CacheEntry, Vector
from stagecache.state.stage import Stage
from stagecache.state.vectors.vectors import QERR, UDOTERR, UERR, VectorKind
from stagecache.system.constraints.entry_rows import reader, spread
from stagecache.system.constraints.rows import normalization_rows, position_rows, table_of
from stagecache.system.constraints.values_at_udot import jacobian_by_udot
from stagecache.system.motion.differences import by_differences, numerical_jacobian

MANY_ROWS = 100
"""A matrix of as many rows is sparse."""

Source = tuple[int, slice, CacheEntry[Vector] | None]
"""Where the rows of a constraint start in a matrix, which rows of errors they are, of what."""


def position_jacobian(state: Any) -> Matrix:
    """Return the derivatives of position errors along qdot = N u, by u. Shape (m, nu).

    Rows are those of `position_rows`. Needs Position. As all Jacobians here, it is a new dense
    array, or a csr_array if it has 100 rows or more; and where none is declared it costs 2 nu
    realizations of copies of the State, of the level at which the constraints begin.

    Raises
    ------
    StageTooLowError
    KinematicsError
        One has to be computed by differences, but N is not known.
    """
    state._contents.require_stage(Stage.POSITION, None, "the Jacobian of position errors")
    return _jacobian(state, QERR, position_rows(state))


def velocity_jacobian(state: Any) -> Matrix:
    """Return the derivatives of velocity errors by u. Shape (nuerr, nu). Needs Velocity.

    Raises
    ------
    StageTooLowError, KinematicsError
    """
    state._contents.require_stage(Stage.VELOCITY, None, "the Jacobian of velocity errors")
    return _jacobian(state, UERR, np.arange(state.nuerr))


def acceleration_jacobian(state: Any) -> Matrix:
    """Return the derivatives of acceleration errors by udot. Shape (nudoterr, nu). Needs Velocity.

    Rows that a hook fills are NaN.

    Raises
    ------
    StageTooLowError, KinematicsError
    """
    state._contents.require_stage(Stage.VELOCITY, None, "the Jacobian of acceleration errors")
    return _jacobian(state, UDOTERR, np.arange(state.nudoterr))


def normalization_jacobian(state: Any) -> Matrix:
    """Return the derivatives of normalizing conditions by q. Shape (k, nq). Needs Position.

    Raises
    ------
    StageTooLowError
    """
    state._contents.require_stage(Stage.POSITION, None, "the Jacobian of normalizing conditions")
    return _jacobian(state, QERR, normalization_rows(state), by="q")


def _jacobian(state: Any, kind: VectorKind, rows: NDArray[np.intp], by: str = "u") -> Matrix:
    """The Jacobian of these rows of a vector of errors, which are in order."""
    table = table_of(state)
    parts: list[tuple[int, Matrix]] = []  # where its rows start, and these
    others: dict[VectorKind, list[Source]] = {}  # by what is to be differentiated
    for constraint, roles in zip(table.constraints, table.roles, strict=True):
        own: slice | None = getattr(constraint, kind.name)
        if own is None or (kind is QERR and constraint.is_normalization != (by == "q")):
            continue
        start = int(np.searchsorted(rows, own.start))
        if "jacobian" in roles:
            parts.append((start, roles["jacobian"](state)))
            continue
        first = next(k for k in (QERR, UERR, UDOTERR) if getattr(constraint, k.name) is not None)
        source = (start, getattr(constraint, first.name), constraint.handle)
        others.setdefault(first, []).append(source)
    for first, sources in others.items():
        with by_differences("a Jacobian of constraints", "declare it with @name.jacobian"):
            numerical = _numerical(state, first, sources)
        at = 0
        for start, place, _ in sources:
            count = place.stop - place.start
            parts.append((start, numerical[at : at + count]))
            at += count
    return _stacked(parts, (len(rows), state._contents.size(by, None)))


def _numerical(state: Any, kind: VectorKind, sources: list[Source]) -> Vector:
    """The Jacobian of rows of a level, by differences."""
    rows = np.concatenate([np.arange(place.start, place.stop) for _, place, _ in sources])
    if kind is not UDOTERR:
        return numerical_jacobian(state.system, state, kind, rows)
    found = np.full((state.nudoterr, state.nu), np.nan)
    entries = [(place, handle) for _, place, handle in sources if handle is not None]
    if entries:
        spread(found, entries, jacobian_by_udot(state.system, state, reader(entries)))
    numerical: Vector = found[rows]
    return numerical


def _stacked(parts: list[tuple[int, Matrix]], shape: tuple[int, int]) -> Matrix:
    """The matrix that has these rows, each part from its start on. Cost O(numbers in them)."""
    if shape[0] < MANY_ROWS:
        dense: Vector = np.zeros(shape)
        for start, part in parts:
            values = part.toarray() if is_sparse(part) else part
            dense[start : start + len(values)] = values
        return dense
    from scipy.sparse import csr_array  # noqa: PLC0415  # it takes a while

    data: list[Vector] = []
    columns: list[NDArray[np.intp]] = []
    counts = np.zeros(shape[0] + 1, dtype=np.intp)
    for start, part in sorted(parts, key=itemgetter(0)):
        if is_sparse(part):
            data.append(part.data)
            columns.append(part.indices)
            per_row = np.diff(part.indptr)
        else:
            at = np.nonzero(part)
            data.append(part[at])
            columns.append(at[1])
            per_row = np.bincount(at[0], minlength=len(part))
        counts[start + 1 : start + 1 + len(per_row)] = per_row
    there = (np.concatenate([np.empty(0), *data]), np.concatenate([np.empty(0, np.intp), *columns]))
    return csr_array((*there, np.cumsum(counts)), shape=shape)
