"""The rows of constraints in a State, for numerical methods: where they are, names, weights."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stagecache.errors import UnknownItemError, short_repr
from stagecache.state.handles import Vector
from stagecache.state.items.layout import ERRORS
from stagecache.state.stage import Stage
from stagecache.state.vectors.vectors import QERR_WEIGHTS, UERR_WEIGHTS
from stagecache.system.constraints.table import ConstraintRows, ConstraintTable, constraint_table


def constraint_rows(state: Any) -> tuple[ConstraintRows, ...]:
    """Return the constraints that have rows in a State, those of each subsystem as declared.

    Rows that hooks allocated come after the declared ones of their subsystem. Needs Instance. Cost
    O(constraints).

    Raises
    ------
    StageTooLowError
    """
    return table_of(state).constraints


def table_of(state: Any) -> ConstraintTable:
    """The table of a State, which must have reached Instance."""
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


def position_rows(state: Any) -> NDArray[np.intp]:
    """Return which rows of qerr restrict motion: all but those that only normalize q.

    In order; read-only.
    """
    return table_of(state).position_rows


def normalization_rows(state: Any) -> NDArray[np.intp]:
    """Return which rows of qerr only normalize q. In order; read-only."""
    return table_of(state).normalization_rows


def derivative_rows(state: Any) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return which rows of uerr are derivatives of rows of qerr, and of which of these."""
    table = table_of(state)
    return table.derived, table.sources


def velocity_weights(state: Any) -> Vector:
    """Return the weights by which velocity errors are to be multiplied. Shape (nuerr,).

    Where a row is the derivative of a row of qerr, that row's weight times the default time scale
    of the System [s]; else the row's weight of uerr.
    """
    contents = state._contents
    derived, sources = derivative_rows(state)
    found: Vector = np.array(contents.view(UERR_WEIGHTS, None))
    if derived.size:
        of_qerr = contents.view(QERR_WEIGHTS, None)[sources]
        found[derived] = state.system.default_time_scale * of_qerr
    return found
