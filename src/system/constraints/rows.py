"""Rows of constraints in a State: names, places and weights; found once for each Instance.

A subsystem may compute many constraints together. Their rows then have one Jacobian and one bias,
and names of their own.

::

    qerr       [ rod | stop | quaternion ]            position rows: rod, stop
    uerr       [ slip | rod | stop ]                  normalization rows: quaternion
    udoterr    [ slip | rod | stop | push ]

A row of uerr is the time derivative of a row of qerr, where the constraint has one.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from stagecache.errors import UnknownItemError, short_repr
from stagecache.state.handles import CacheEntry, Vector
from stagecache.state.items.layout import ERRORS
from stagecache.state.stage import Stage
from stagecache.state.vectors.vectors import QERR_WEIGHTS, UERR_WEIGHTS
from stagecache.system.constraints.errors import ErrorDeclaration, entry_of, roles_of

Entry = CacheEntry[Any]


@frozen
class ConstraintRows:
    """Places of the rows of a constraint in a State.

    Attributes
    ----------
    name : str
        Its name in messages: "rope.rod"; for rows that a hook allocated, their place: "qerr 2 of
        rope".
    handle : CacheEntry or None
        The handle of its errors of the first level; None for rows that a hook allocated.
    qerr, uerr, udoterr : slice or None
        Its rows of the whole vectors.
    is_normalization : bool
        True if it only normalizes q.
    """

    name: str
    handle: CacheEntry[Vector] | None
    qerr: slice | None
    uerr: slice | None
    udoterr: slice | None
    is_normalization: bool

    def name_of(self, kind: str, row: int) -> str:
        """Name one of its rows for messages: "rope.rod", or "rope.rod[1]" if it has several."""
        rows: slice = getattr(self, kind)
        return self.name if rows.stop - rows.start == 1 else f"{self.name}[{row - rows.start}]"


@frozen(eq=False)
class ConstraintTable:
    """The constraints of a State, as numerical methods need them.

    Attributes
    ----------
    constraints : tuple of ConstraintRows
        Those that are computed together are one.
    parts : tuple of ConstraintRows
        Each constraint, under its own name.
    roles : tuple of dict of str to CacheEntry
        Handles of the declared "velocity", "acceleration", "jacobian" and "bias", by constraint.
    position_rows, normalization_rows : ndarray of int
        Rows of qerr that restrict motion, and those that only normalize q; in order.
    derived : ndarray of int
        Rows of uerr that are derivatives of rows of qerr.
    sources : ndarray of int
        Rows of qerr whose derivatives these are.
    twice_derived, twice_sources : ndarray of int
        Rows of udoterr that are second derivatives of rows of qerr, and these.
    last_derived, last_sources : ndarray of int
        Rows of udoterr that are derivatives of rows of uerr, and these.
    """

    constraints: tuple[ConstraintRows, ...]
    parts: tuple[ConstraintRows, ...]
    roles: tuple[dict[str, Entry], ...]
    position_rows: NDArray[np.intp]
    normalization_rows: NDArray[np.intp]
    derived: NDArray[np.intp]
    sources: NDArray[np.intp]
    twice_derived: NDArray[np.intp]
    twice_sources: NDArray[np.intp]
    last_derived: NDArray[np.intp]
    last_sources: NDArray[np.intp]


def constraint_table(state: Any) -> ConstraintTable:
    """Return the table at Instance or above. Cost O(constraints), once for each Instance."""
    pools = state._contents.pools
    found = pools.constraints
    if found is None:
        found = pools.constraints = _table_of(state)
    assert isinstance(found, ConstraintTable)
    return found


def _table_of(state: Any) -> ConstraintTable:
    of_class: dict[tuple[type, str], dict[str, str]] = {}
    constraints: list[ConstraintRows] = []
    contents = state._contents
    for x in range(len(contents.realization.machine.stages)):
        constraints += _of_subsystem(contents, x)
    return ConstraintTable(
        tuple(constraints),
        tuple(part for constraint in constraints for part in _parts_of(constraint, state)),
        tuple(_roles(constraint, of_class) for constraint in constraints),
        _rows([c.qerr for c in constraints if not c.is_normalization]),
        _rows([c.qerr for c in constraints if c.is_normalization]),
        _rows([c.uerr for c in constraints if c.qerr is not None]),
        _rows([c.qerr for c in constraints if c.uerr is not None]),
        _rows([c.udoterr for c in constraints if c.qerr is not None]),
        _rows([c.qerr for c in constraints if c.udoterr is not None]),
        _rows([c.udoterr for c in constraints if c.uerr is not None]),
        _rows([c.uerr for c in constraints if c.udoterr is not None]),
    )


def _parts_of(constraint: ConstraintRows, state: Any) -> Iterator[ConstraintRows]:
    """Yield the constraints that are computed as one."""
    declared = None
    if constraint.handle is not None:
        owner = constraint.handle._owner
        declared = type(owner).declarations[constraint.handle._declared_as]
    if not isinstance(declared, ErrorDeclaration) or declared.parts is None:
        yield constraint
        return
    places = (constraint.qerr, constraint.uerr, constraint.udoterr)
    at = 0
    for handle, count in declared.parts(owner, state):
        qerr, uerr, udoterr = (p and slice(p.start + at, p.start + at + count) for p in places)
        name, kind = str(handle), constraint.is_normalization
        yield ConstraintRows(name, handle, qerr, uerr, udoterr, is_normalization=kind)
        at += count


def _rows(places: list[slice | None]) -> NDArray[np.intp]:
    """Return the rows of all these places, read-only."""
    there = [np.arange(p.start, p.stop, dtype=np.intp) for p in places if p is not None]
    found: NDArray[np.intp] = np.concatenate([np.empty(0, np.intp), *there])
    found.flags.writeable = False
    return found


def _roles(
    constraint: ConstraintRows, of_class: dict[tuple[type, str], dict[str, str]]
) -> dict[str, Entry]:
    """Return the entries of a constraint by role, but for those computed by differences."""
    handle = constraint.handle
    if handle is None:
        return {}
    owner = handle._owner
    key = (type(owner), handle._declared_as)
    names = of_class.get(key)
    if names is None:
        declarations = type(owner).declarations
        errors = declarations[handle._declared_as]
        assert isinstance(errors, ErrorDeclaration)
        names = of_class[key] = {
            role: declared.name
            for role, declared in roles_of(errors, declarations).items()
            if "." not in declared.name or role == "jacobian"
        }
    return {role: entry_of(owner, name) for role, name in names.items()}


def _of_subsystem(contents: Any, x: int) -> list[ConstraintRows]:
    """Return the constraints of one subsystem."""
    stacks = contents.realization.layout.subsystems[x].rows
    starts = contents.pools.starts
    taken = dict.fromkeys(ERRORS, 0)  # how many of a stack are declared
    found = []
    system = contents.system
    subsystem = None if system is None else system.subsystems[x]
    for declared in () if subsystem is None else type(subsystem).declarations.values():
        if not isinstance(declared, ErrorDeclaration):
            continue
        places: dict[str, slice | None] = dict.fromkeys(ERRORS)
        for kind in declared.kinds:
            rows = stacks[kind.name][taken[kind.name]]
            taken[kind.name] += 1
            if rows.count:
                start = starts[kind.name][x] + rows.start
                places[kind.name] = slice(start, start + rows.count)
        if any(places.values()):
            handle: Any = declared.bound(subsystem)
            found.append(
                ConstraintRows(
                    str(handle),
                    handle,
                    places["qerr"],
                    places["uerr"],
                    places["udoterr"],
                    declared.is_normalization,
                )
            )
    owner = subsystem.name if subsystem is not None else contents.who(x)
    for part in ERRORS:
        for rows in stacks[part][taken[part] :]:
            start = starts[part][x] + rows.start
            place = slice(start, start + rows.count)
            name = f"{part} {rows.start} of {owner}"
            qerr, uerr, udoterr = (place if part == other else None for other in ERRORS)
            found.append(ConstraintRows(name, None, qerr, uerr, udoterr, is_normalization=False))
    return found


# ---------------------------------------------------------------------- of a State


def constraint_rows(state: Any) -> tuple[ConstraintRows, ...]:
    """Return the constraints that have rows in a State, by subsystem, in declared order.

    Those that are computed together are listed one by one.

    Rows that hooks allocated come after the declared ones of their subsystem. Needs Instance. Cost
    O(constraints).

    Raises
    ------
    StageTooLowError
    """
    return table_of(state).parts


def table_of(state: Any) -> ConstraintTable:
    """Return the table of a State, which must have reached Instance."""
    state._contents.require_stage(Stage.INSTANCE, None, "the constraints of the State")
    return constraint_table(state)


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
            f"rows of {short_repr(kind)}: do not exist",
            "one of " + ", ".join(ERRORS),
            short_repr(kind),
            "name a vector of errors",
        )
    names = [""] * state._contents.size(kind, None)
    for constraint in constraint_rows(state):
        rows = getattr(constraint, kind)
        if rows is not None:
            for row in range(rows.start, rows.stop):
                names[row] = constraint.name_of(kind, row)
    return names


def velocity_weights(state: Any) -> Vector:
    """Return the weights of velocity errors. Shape (nuerr,).

    For the derivative of a row of qerr, that row's weight times the default time scale
    of the System [s]; else the row's weight of uerr.
    """
    contents = state._contents
    table = table_of(state)
    derived, sources = table.derived, table.sources
    found: Vector = np.array(contents.view(UERR_WEIGHTS, None))
    if derived.size:
        of_qerr = contents.view(QERR_WEIGHTS, None)[sources]
        found[derived] = state.system.default_time_scale * of_qerr
    return found
