"""The conditions that every Assembler has: the position constraints of the System."""

from typing import final

import numpy as np

from stagecache.assembly.conditions.condition import AssemblyCondition
from stagecache.numerics.matrices import is_sparse
from stagecache.state.handles import Vector
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.constraints.jacobians import normalization_jacobian, position_jacobian
from stagecache.system.constraints.rows import row_names, table_of


@final
class SystemConstraints(AssemblyCondition):
    """Rows of qerr in the internal State: those that restrict motion, or those that normalize q.

    If a constraint that restricts motion does not declare its Jacobian, all of these are
    differentiated by differences. Rows that are 0 since dependent q are set are left out.

    Parameters
    ----------
    name : str
    is_normalization : bool
        True for the rows that only normalize q, as for quaternions. They must always be satisfied.
    """

    def __init__(self, name: str, *, is_normalization: bool = False) -> None:
        super().__init__(name)
        self.is_normalization = is_normalization
        self._rows = np.empty(0, np.intp)
        self._is_used = np.empty(0, bool)
        self._has_jacobian = False

    @property
    def num_rows(self) -> int:
        """Number of rows. Needs the Assembler to be initialized."""
        return len(self._rows)

    def initialize_condition(self) -> None:
        """Find the enabled rows."""
        table = table_of(self.assembler.internal_state)
        rows = table.normalization_rows if self.is_normalization else table.position_rows
        self._is_used = ~np.isin(rows, self._free.solved_rows)
        self._rows = rows[self._is_used]
        self._has_jacobian = all(
            "jacobian" in roles
            for constraint, roles in zip(table.constraints, table.roles, strict=True)
            if constraint.qerr is not None and not constraint.is_normalization
        )
        self.needs = Stage.POSITION if len(self._rows) else Stage.TIME

    def calc_errors(self, state: State) -> Vector:
        """Return these rows of qerr."""
        found: Vector = state.qerr[self._rows]
        return found

    def calc_error_jacobian(self, state: State) -> Vector | None:
        """Return the derivatives by the free q, if all are declared."""
        if not self.is_normalization:
            if not self._has_jacobian:
                return None
            return self.by_free_q(position_jacobian(state))[self._is_used]
        jacobian = normalization_jacobian(state)
        dense = jacobian.toarray() if is_sparse(jacobian) else jacobian
        found: Vector = dense[:, self._free.index]
        return found

    def error_names(self, state: State) -> list[str]:
        """Return the names of the constraints."""
        names = row_names(state, "qerr")
        return [names[row] for row in self._rows]
