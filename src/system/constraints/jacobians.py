"""Constraints as linear conditions: Jacobians, and acceleration errors at udot = 0.

Declared ones are read, the others are computed by differences. Rows of the Jacobians::

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
from stagecache.state.vectors.vectors import QERR, UDOT, UDOTERR, UERR, VectorKind
from stagecache.system.constraints.rows import ConstraintTable, table_of
from stagecache.system.motion.differences import (
    Read,
    by_differences,
    derivative_along,
    known_qdotdot,
    numerical_jacobian,
    second_derivative_along,
)
from stagecache.system.motion.operators import multiply_by_n

MANY_ROWS = 100
"""A matrix of as many rows is sparse."""

Place = tuple[slice, CacheEntry[Vector]]
"""Rows of a vector, and the entry of their values."""

Source = tuple[int, slice, CacheEntry[Vector] | None]
"""Start of a constraint's rows in a matrix, its rows of errors, and their entry."""


def position_jacobian(state: Any) -> Matrix:
    """Return the derivatives of position errors along qdot = N u, by u. Shape (m, nu).

    Rows are those of `position_rows`. Needs Position. As all Jacobians here, it is a new dense
    array, or a csr_array if it has 100 rows or more; and where none is declared it costs 2 nu
    realizations of copies of the State, of the level at which the constraints begin.

    Raises
    ------
    StageTooLowError
    KinematicsError
        A Jacobian has to be computed by differences, but N is not known.
    """
    state._contents.require_stage(Stage.POSITION, None, "the Jacobian of position errors")
    table = table_of(state)
    return jacobian_of(state, table, QERR, table.position_rows)


def velocity_jacobian(state: Any) -> Matrix:
    """Return the derivatives of velocity errors by u. Shape (nuerr, nu). Needs Velocity.

    Raises
    ------
    StageTooLowError, KinematicsError
    """
    state._contents.require_stage(Stage.VELOCITY, None, "the Jacobian of velocity errors")
    return jacobian_of(state, table_of(state), UERR)


def acceleration_jacobian(state: Any) -> Matrix:
    """Return the derivatives of acceleration errors by udot. Shape (nudoterr, nu). Needs Velocity.

    Rows that a hook fills are NaN.

    Raises
    ------
    StageTooLowError, KinematicsError
    """
    state._contents.require_stage(Stage.VELOCITY, None, "the Jacobian of acceleration errors")
    return jacobian_of(state, table_of(state), UDOTERR)


def normalization_jacobian(state: Any) -> Matrix:
    """Return the derivatives of normalizing conditions by q. Shape (k, nq). Needs Position.

    Raises
    ------
    StageTooLowError
    """
    state._contents.require_stage(Stage.POSITION, None, "the Jacobian of normalizing conditions")
    table = table_of(state)
    return jacobian_of(state, table, QERR, table.normalization_rows, by="q")


def jacobian_of(
    state: Any,
    table: ConstraintTable,
    kind: VectorKind,
    rows: NDArray[np.intp] | None = None,
    by: str = "u",
) -> Matrix:
    """Return the Jacobian of some rows of a vector of errors, in order; by default of all."""
    return _stacked(*parts_of(state, table, kind, rows, by))


def parts_of(
    state: Any,
    table: ConstraintTable,
    kind: VectorKind,
    rows: NDArray[np.intp] | None = None,
    by: str = "u",
) -> tuple[list[tuple[int, Matrix]], tuple[int, int]]:
    """Return the parts of that Jacobian, each with its first row in it, and its shape."""
    whole = state._contents.pools.whole
    if rows is None:
        rows = np.arange(len(whole[kind.name]))
    parts: list[tuple[int, Matrix]] = []  # first row, and matrix
    others: dict[VectorKind, list[Source]] = {}  # by the level whose errors are differentiated
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
    return parts, (len(rows), len(whole[by]))


def _numerical(state: Any, kind: VectorKind, sources: list[Source]) -> Vector:
    """Return the Jacobian of rows of a level, by differences."""
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
    """Stack parts of a matrix, each from its first row on. Cost O(numbers in them)."""
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


# ---------------------------------------------------------------------- at udot = 0


def acceleration_bias(state: Any) -> Vector:
    """Return the acceleration errors at udot = 0. Shape (nudoterr,). Needs Velocity.

    Without a declared bias, it is the derivative of the velocity errors along qdot = N u and
    time, by differences: two realizations of Velocity, or five of Position where these are not
    declared either. Rows that a hook fills are NaN.

    Raises
    ------
    StageTooLowError, KinematicsError
    """
    state._contents.require_stage(Stage.VELOCITY, None, "the acceleration errors at udot = 0")
    return bias_of(state, table_of(state))


def bias_of(state: Any, table: ConstraintTable) -> Vector:
    """Return the acceleration errors at udot = 0, given the table of a State at Velocity."""
    found = np.full(len(state._contents.pools.whole["udoterr"]), np.nan)
    own, first, second = _without_bias(state, table, found)
    if own or first or second:
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
            system, state, reader(first), stage=Stage.VELOCITY, qdot=qdot, time=1.0
        )
        spread(found, first, values)
    if second:
        qdotdot = known_qdotdot(system, state, zero)
        if qdotdot is not None:
            values = second_derivative_along(
                system, state, reader(second), stage=Stage.POSITION, qdot=qdot, qdotdot=qdotdot
            )
            spread(found, second, values)
    if own:
        spread(found, own, values_at_udot(system, state, reader(own), zero[None])[0])


def _without_bias(
    state: Any, table: ConstraintTable, found: Vector
) -> tuple[list[Place], list[Place], list[Place]]:
    """Put declared biases into their rows, and return the other entries by the way to their bias.

    Returns
    -------
    three lists
        Rows of udoterr and the entries to be read at udot = 0, to be differentiated, and to be
        differentiated twice.
    """
    own: list[Place] = []
    first: list[Place] = []
    second: list[Place] = []
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


# ---------------------------------------------------------------------- for given udot


def values_at_udot(system: Any, state: Any, read: Read, udots: Vector) -> Vector:
    """Compute values of Acceleration for some udot, without its hooks. The State is not changed.

    Parameters
    ----------
    system : System
    state : State
        A State of that System, at Velocity or above.
    read : callable
        The function of the values, called with a copy of the State.
    udots : (k, nu) float

    Returns
    -------
    (k, n) float

    Notes
    -----
    Costs one realization of Dynamics, and k computations of the values.
    """
    twin = state.copy()
    system.realize(twin, Stage.DYNAMICS)
    contents = twin._contents
    found = []
    for udot in udots:
        twin.invalidate_all(Stage.ACCELERATION)
        contents.pools.write(UDOT, None, udot)
        for x in range(len(contents.realization.machine.stages)):
            contents.advance(Stage.ACCELERATION, x)
        contents.advance(Stage.ACCELERATION, None)
        found.append(np.array(read(twin), dtype=np.float64))
    return np.array(found)


def jacobian_by_udot(system: Any, state: Any, read: Read) -> Vector:
    """Return the derivatives of values that are linear in udot, (n, nu), by unit steps."""
    nu = state._contents.size("u", None)
    values = values_at_udot(system, state, read, np.vstack([np.zeros((1, nu)), np.eye(nu)]))
    jacobian: Vector = (values[1:] - values[0]).T
    return jacobian


def reader(entries: list[Place]) -> Read:
    """Return a function that reads the values of entries, end to end."""
    return lambda state: np.concatenate([entry(state) for _, entry in entries])


def spread(found: Vector, entries: list[Place], values: Vector) -> None:
    """Put values that were read end to end into their rows."""
    at = 0
    for rows, _ in entries:
        count = rows.stop - rows.start
        found[rows] = values[at : at + count]
        at += count
