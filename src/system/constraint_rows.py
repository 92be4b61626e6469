"""What numerical methods ask of the constraints of a State: names, weights, Jacobians, biases.

Jacobians are as declared, and by differences where they are not. Which rows they have::

    position_jacobian, normalization_jacobian     position_rows, normalization_rows of qerr
    velocity_jacobian, acceleration_jacobian      all of uerr, all of udoterr
"""

from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stagecache.errors import UnknownItemError, brief
from stagecache.state.handles import CacheEntry, Vector
from stagecache.state.layout import ERRORS
from stagecache.state.stage import Stage
from stagecache.state.vectors import QERR, QERR_WEIGHTS, UDOTERR, UERR, UERR_WEIGHTS, VectorKind
from stagecache.system.constraint_jacobians import Matrix, is_sparse
from stagecache.system.constraint_table import (
    ConstraintRows,
    ConstraintTable,
    constraint_table,
)
from stagecache.system.differences import (
    Read,
    by_differences,
    derivative_along,
    jacobian_by_udot,
    known_qdotdot,
    numerical_jacobian,
    second_derivative_along,
    values_at_udot,
)
from stagecache.system.kinematic_operators import multiply_by_n

MANY_ROWS = 100
"""A matrix of as many rows is sparse."""

Place = tuple[slice, CacheEntry[Vector]]
"""Rows of a vector, and what has their values."""

Source = tuple[int, slice, CacheEntry[Vector] | None]
"""Where the rows of a constraint start in a matrix, which rows of errors they are, of what."""


def constraint_rows(state: Any) -> tuple[ConstraintRows, ...]:
    """Return the constraints that have rows in a State, those of each subsystem as declared.

    Rows that hooks allocated come after the declared ones of their subsystem. Needs Instance. Cost
    O(constraints).

    Raises
    ------
    StageTooLowError
    """
    return _table(state).constraints


def _table(state: Any) -> ConstraintTable:
    contents = state._contents
    contents.require_stage(Stage.INSTANCE, None, "the constraints of the State")
    return constraint_table(contents)


def row_names(state: Any, kind: str) -> list[str]:
    """Name every row of a vector of errors: "rope.rod", or "rope.rod[1]" if it has several.

    Parameters
    ----------
    state : State
        At Instance or above.
    kind : str
        "qerr", "uerr" or "udoterr".

    Raises
    ------
    StageTooLowError, UnknownItemError
    """
    if kind not in ERRORS:
        raise UnknownItemError(
            f"rows of {brief(kind)}: do not exist",
            "one of " + ", ".join(ERRORS),
            brief(kind),
            "name a vector of errors",
        )
    names = [""] * state._contents.size(kind, None)
    for constraint in constraint_rows(state):
        rows = getattr(constraint, kind)
        if rows is not None:
            count = rows.stop - rows.start
            for i in range(count):
                names[rows.start + i] = constraint.name + (f"[{i}]" if count > 1 else "")
    return names


def position_rows(state: Any) -> NDArray[np.intp]:
    """Return which rows of qerr restrict motion: all but those that only normalize q.

    In order; read-only.
    """
    return _table(state).position_rows


def normalization_rows(state: Any) -> NDArray[np.intp]:
    """Return which rows of qerr only normalize q. In order; read-only."""
    return _table(state).normalization_rows


def velocity_weights(state: Any) -> Vector:
    """Return the weights by which velocity errors are to be multiplied. Shape (nuerr,).

    Where a row is the derivative of a row of qerr, that row's weight times the default time scale
    of the System [s]; else the row's weight of uerr.
    """
    contents, table = state._contents, _table(state)
    found: Vector = np.array(contents.view(UERR_WEIGHTS, None))
    if table.derived.size:
        of_qerr = contents.view(QERR_WEIGHTS, None)[table.sources]
        found[table.derived] = state.system.default_time_scale * of_qerr
    return found


# ---------------------------------------------------------------------- Jacobians


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


def acceleration_bias(state: Any) -> Vector:
    """Return the acceleration errors at udot = 0. Shape (nudoterr,). Needs Velocity.

    Where no bias is declared, it is the derivative of the velocity errors along qdot = N u and
    time, by differences: two realizations of Velocity, or five of Position where these are not
    declared either. Rows that a hook fills are NaN.

    Raises
    ------
    StageTooLowError, KinematicsError
    """
    contents = state._contents
    contents.require_stage(Stage.VELOCITY, None, "the acceleration errors at udot = 0")
    found = np.full(contents.size("udoterr", None), np.nan)
    own, first, second = _without_bias(state, found)
    with by_differences("the bias of constraints", "declare it with @name.bias"):
        _fill_by_differences(state, found, own, first, second)
    return found


def _fill_by_differences(
    state: Any, found: Vector, own: list[Place], first: list[Place], second: list[Place]
) -> None:
    """Put the acceleration errors at udot = 0 into their rows."""
    contents, system = state._contents, state.system
    zero = np.zeros(contents.size("u", None))
    qdot = multiply_by_n(state, contents.pools.whole["u"]) if first or second else zero
    if first:
        values = derivative_along(
            system, state, _reader(first), stage=Stage.VELOCITY, qdot=qdot, time=1.0
        )
        _spread(found, first, values)
    if second:
        qdotdot = known_qdotdot(system, state, zero)
        if qdotdot is not None:
            values = second_derivative_along(
                system, state, _reader(second), stage=Stage.POSITION, qdot=qdot, qdotdot=qdotdot
            )
            _spread(found, second, values)
    if own:
        _spread(found, own, values_at_udot(system, state, _reader(own), zero[None])[0])


def _without_bias(state: Any, found: Vector) -> tuple[list[Place], list[Place], list[Place]]:
    """Put declared biases into their rows; for the others, what to read, and how often to derive.

    Returns
    -------
    three lists
        Rows of udoterr and the entries to be read at udot = 0, to be differentiated, and to be
        differentiated twice.
    """
    own: list[Place] = []
    first: list[Place] = []
    second: list[Place] = []
    table = _table(state)
    for constraint, roles in zip(table.constraints, table.roles, strict=True):
        rows, handle = constraint.udoterr, constraint.handle
        if rows is None or handle is None:
            continue
        if "bias" in roles:
            found[rows] = roles["bias"](state)
        elif constraint.uerr is None:
            own.append((rows, handle))
        elif constraint.qerr is None:
            first.append((rows, handle))
        elif "velocity" in roles:
            first.append((rows, roles["velocity"]))
        else:
            second.append((rows, handle))
    return own, first, second


def _jacobian(state: Any, kind: VectorKind, rows: NDArray[np.intp], by: str = "u") -> Matrix:
    """The Jacobian of these rows of a vector of errors, which are in order."""
    table = _table(state)
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
        _spread(found, entries, jacobian_by_udot(state.system, state, _reader(entries)))
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


# ---------------------------------------------------------------------- values end to end


def _reader(entries: list[Place]) -> Read:
    """A function that reads the values of entries, end to end."""
    return lambda state: np.concatenate([entry(state) for _, entry in entries])


def _spread(found: Vector, entries: list[Place], values: Vector) -> None:
    """Put values that were read end to end into their rows."""
    at = 0
    for rows, _ in entries:
        count = rows.stop - rows.start
        found[rows] = values[at : at + count]
        at += count
