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
    """Some rows of qerr, as the State that is assembled has them."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._rows = np.empty(0, np.intp)

    def find_rows(self, state: State) -> Any:
        """Which rows of qerr they are."""
        raise NotImplementedError

    @property
    def num_rows(self) -> int:
        """How many there are. Needs the Assembler to be initialized."""
        return len(self._rows)

    def initialize_condition(self) -> None:
        """Find out which rows are enabled."""
        self._rows = self.find_rows(self.assembler.internal_state)
        self.needs = Stage.POSITION if len(self._rows) else Stage.TIME

    def calc_errors(self, state: State) -> Vector:
        """These rows of qerr."""
        found: Vector = state.qerr[self._rows]
        return found

    def error_names(self, state: State) -> list[str]:
        """Those of the constraints."""
        names = row_names(state, "qerr")
        return [names[row] for row in self._rows]


class SystemConstraints(AbstractConstraintRows):
    """The position errors of the System, but those that only normalize q.

    Where one of them does not declare its Jacobian, all are differentiated by differences.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._has_jacobian = False

    def find_rows(self, state: State) -> Any:
        """All that restrict motion."""
        table = table_of(state)
        self._has_jacobian = all(
            "jacobian" in roles
            for constraint, roles in zip(table.constraints, table.roles, strict=True)
            if constraint.qerr is not None and not constraint.is_normalization
        )
        return table_of(state).position_rows

    def calc_error_jacobian(self, state: State) -> Vector | None:
        """The derivatives by the free q, if all are declared."""
        return self.by_free_q(position_jacobian(state)) if self._has_jacobian else None


class Normalization(AbstractConstraintRows):
    """The errors that only normalize q, as quaternions do. They are satisfied always."""

    def find_rows(self, state: State) -> Any:
        """All that restrict no motion."""
        return table_of(state).normalization_rows

    def calc_error_jacobian(self, state: State) -> Vector:
        """The derivatives by the free q, as they are declared."""
        jacobian = normalization_jacobian(state)
        dense = jacobian.toarray() if is_sparse(jacobian) else jacobian
        found: Vector = dense[:, self._free.index]
        return found
