"""The conditions that every Assembler has: the position constraints of the System."""

from typing import Any

import numpy as np

from stagecache.assembly.conditions.condition import AssemblyCondition
from stagecache.numerics.matrices import is_sparse
from stagecache.state.handles import Vector
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.constraints.jacobians import normalization_jacobian, position_jacobian
from stagecache.system.constraints.rows import (
    row_names,
    table_of,
)


class AbstractConstraintRows(AssemblyCondition):
    """Rows of qerr in the internal State."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._rows = np.empty(0, np.intp)

    def find_rows(self, state: State) -> Any:
        """Return the rows of qerr."""
        raise NotImplementedError

    @property
    def num_rows(self) -> int:
        """Number of rows. Needs the Assembler to be initialized."""
        return len(self._rows)

    def initialize_condition(self) -> None:
        """Find the enabled rows."""
        self._rows = self.find_rows(self.assembler.internal_state)
        self.needs = Stage.POSITION if len(self._rows) else Stage.TIME

    def calc_errors(self, state: State) -> Vector:
        """Return these rows of qerr."""
        found: Vector = state.qerr[self._rows]
        return found

    def error_names(self, state: State) -> list[str]:
        """Return the names of the constraints."""
        names = row_names(state, "qerr")
        return [names[row] for row in self._rows]


class SystemConstraints(AbstractConstraintRows):
    """The position errors of the System, but those that only normalize q.

    If any of them does not declare its Jacobian, all are differentiated by differences.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._has_jacobian = False

    def find_rows(self, state: State) -> Any:
        """Return all rows that restrict motion."""
        table = table_of(state)
        self._has_jacobian = all(
            "jacobian" in roles
            for constraint, roles in zip(table.constraints, table.roles, strict=True)
            if constraint.qerr is not None and not constraint.is_normalization
        )
        return table_of(state).position_rows

    def calc_error_jacobian(self, state: State) -> Vector | None:
        """Return the derivatives by the free q, if all are declared."""
        return self.by_free_q(position_jacobian(state)) if self._has_jacobian else None


class Normalization(AbstractConstraintRows):
    """The errors that only normalize q, as of quaternions. They must always be satisfied."""

    def find_rows(self, state: State) -> Any:
        """Return all rows that do not restrict motion."""
        return table_of(state).normalization_rows

    def calc_error_jacobian(self, state: State) -> Vector:
        """Return the derivatives by the free q, as they are declared."""
        jacobian = normalization_jacobian(state)
        dense = jacobian.toarray() if is_sparse(jacobian) else jacobian
        found: Vector = dense[:, self._free.index]
        return found
