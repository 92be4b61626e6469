"""Manifolds: constraints on q, or on u, with the State to be moved onto them.

::

    Position   qerr [ position errors      ]   moved along N; the norm is the norm of N du
                    [ normalizing errors   ]   moved by themselves, which costs nothing in it
    Velocity   uerr [ all velocity errors  ]   moved as they are
"""

from abc import ABC, abstractmethod
from functools import partial
from typing import Protocol, final

import numpy as np

from stagecache.errors import NotANumberError
from stagecache.numerics.least_norm import LeastNorm, Matrix
from stagecache.state.handles import Vector
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.constraints.jacobians import (
    normalization_jacobian,
    position_jacobian,
    velocity_jacobian,
)
from stagecache.system.constraints.rows import (
    row_names,
    table_of,
    velocity_weights,
)
from stagecache.system.motion.operators import multiply_by_n, multiply_by_n_pinv
from stagecache.system.motion.prescribing import free_q_index
from stagecache.system.projection.tangents import ChangeNorm, Index, Tangent, norm_of_q, norm_of_u
from stagecache.system.statistics import SystemStatistics


class ConstrainedSystem(Protocol):
    """A System, as far as projection knows it."""

    @property
    def statistics(self) -> SystemStatistics:
        """Counts of its operations so far."""

    def realize(self, state: State, stage: Stage) -> None:
        """Realize all stages up to one."""

    def prescribe_q(self, state: State) -> bool:
        """Set prescribed q."""

    def prescribe_u(self, state: State) -> bool:
        """Set prescribed u."""


class AbstractManifold(ABC):
    """Constraints of one level, and the State to be moved onto them.

    Attributes
    ----------
    state : State
        At `stage`; prescribed variables may still have to be set.
    weights : (m,) float
        Weights of the errors.
    level : str
        "position" or "velocity".
    kind : str
        The vector of errors: "qerr" or "uerr".
    variable : str
        The vector that is moved: "q" or "u".
    stage : Stage
        The stage at which the errors are known.
    """

    level: str
    kind: str
    variable: str
    stage: Stage

    def __init__(self, system: ConstrainedSystem, state: State) -> None:
        self._system = system
        self.state = state
        self.weights = self._find_weights()

    @property
    def errors(self) -> Vector:
        """Errors of the State now, without weights; a copy."""
        found: Vector = getattr(self.state, self.kind)
        return found.copy()

    @property
    def weighted_errors(self) -> Vector:
        """Errors of the State now, each times its weight."""
        found: Vector = getattr(self.state, self.kind)
        return found * self.weights

    @property
    def values(self) -> Vector:
        """All q, or all u; a copy."""
        found: Vector = getattr(self.state, self.variable)
        return found.copy()

    def move_to(self, values: Vector) -> None:
        """Write all q, or all u, and realize the stage at which errors are known."""
        setattr(self.state, self.variable, values)
        self._system.realize(self.state, self.stage)

    @abstractmethod
    def prescribe(self) -> None:
        """Set prescribed variables, which needs the stage before."""

    @abstractmethod
    def tangent(self) -> Tangent:
        """Return the constraints linearised at the State as it is."""

    @abstractmethod
    def normalize(self, enough: float) -> bool:
        """Satisfy conditions that only normalize, up to a size of weighted errors; tell if q moved.

        That costs nothing in the norm of changes, but other errors may feel it; so it is done
        before each step.
        """

    @abstractmethod
    def normal_part(self, tangent: Tangent, estimate: Vector) -> Vector:
        """Return the part of an error estimate that is normal to the constraints."""

    @property
    @abstractmethod
    def can_be_normalized(self) -> bool:
        """True if anything can be moved to normalize."""

    @abstractmethod
    def weight_of(self, row: int) -> tuple[str, int]:
        """Return the place of the weight of an error: a vector of the State by name, and a row."""

    @abstractmethod
    def _find_weights(self) -> Vector: ...

    def _weighted(self, jacobian: Matrix, rows: Index) -> Matrix:
        """Return the Jacobian of these errors, each row times its weight."""
        weights = self.weights[rows, np.newaxis]
        if isinstance(jacobian, np.ndarray):
            found = values = jacobian * weights
        else:
            found = jacobian.multiply(weights).tocsr()
            values = found.data
        if np.isfinite(values).all():
            return found
        is_bad = ~np.isfinite(found.sum(axis=1))
        name = row_names(self.state, self.kind)[rows[int(np.argmax(is_bad))]]
        raise NotANumberError(
            f"{name}: its Jacobian is not finite",
            "finite numbers",
            f"{np.count_nonzero(~np.isfinite(values))} that are not, in all rows of {self.kind}",
            "look at what its computation, or the computation of the errors, reads in that State",
        )


@final
class VelocityManifold(AbstractManifold):
    """The constraints on u."""

    level = "velocity"
    kind = "uerr"
    variable = "u"
    stage = Stage.VELOCITY
    can_be_normalized = False

    def __init__(self, system: ConstrainedSystem, state: State) -> None:
        super().__init__(system, state)
        self._norm: ChangeNorm | None = None  # relative to u at the start

    def weight_of(self, row: int) -> tuple[str, int]:
        """Return the place of a weight; a derivative has the weight of its position error."""
        table = table_of(self.state)
        sources = table.sources[table.derived == row]
        return ("qerr_weights", int(sources[0])) if sources.size else ("uerr_weights", row)

    def _find_weights(self) -> Vector:
        return velocity_weights(self.state)

    def prescribe(self) -> None:
        """Set prescribed u."""
        self._system.prescribe_u(self.state)

    def tangent(self) -> Tangent:
        """Return the constraints linearised; the norm is kept from the first call."""
        if self._norm is None:
            self._norm = norm_of_u(self.state)
        rows = np.arange(len(self.weights))
        jacobian = self._weighted(velocity_jacobian(self.state), rows)
        off = np.zeros(len(rows))
        table = table_of(self.state)
        off[table.derived] = self.weights[table.derived] * self.state.qerr[table.sources]
        return Tangent(self._norm, jacobian, rows, rows[:0], off, np.asarray, np.asarray)

    def normalize(self, _: float) -> bool:
        """Do nothing."""
        return False

    def normal_part(self, tangent: Tangent, estimate: Vector) -> Vector:
        """Return the part of an error estimate of u."""
        return tangent.normal_part(estimate)


@final
class PositionManifold(AbstractManifold):
    """The constraints on q."""

    level = "position"
    kind = "qerr"
    variable = "q"
    stage = Stage.POSITION

    def weight_of(self, row: int) -> tuple[str, int]:
        """Return the place of a weight."""
        return "qerr_weights", row

    def _find_weights(self) -> Vector:
        return self.state.qerr_weights

    def prescribe(self) -> None:
        """Set prescribed q."""
        self._system.prescribe_q(self.state)

    def tangent(self) -> Tangent:
        """Return the constraints linearised, but those that only normalize."""
        state = self.state
        table = table_of(state)
        rows = table.position_rows
        return Tangent(
            norm_of_q(state),
            self._weighted(position_jacobian(state), rows),
            rows,
            table.normalization_rows,
            self.weighted_errors[rows],
            partial(multiply_by_n, state),
            partial(multiply_by_n_pinv, state),
        )

    def normalize(self, enough: float) -> bool:
        """Satisfy conditions that only normalize by the shortest changes of free q."""
        rows = table_of(self.state).normalization_rows
        if not len(rows):
            return False
        size, has_moved = np.inf, False
        while True:
            errors = self.weighted_errors[rows]
            before, size = size, float(np.max(np.abs(errors)))
            if not enough < size < before / 2:
                return has_moved
            values = self.values
            values[free_q_index(self.state)] -= self._normalizer().solve(errors)
            if np.array_equal(values, self.values):
                return has_moved
            self.move_to(values)
            has_moved = True

    def normal_part(self, tangent: Tangent, estimate: Vector) -> Vector:
        """Return the normal part of an error estimate of q; with changes that denormalize it."""
        part = tangent.normal_part(estimate)
        if len(table_of(self.state).normalization_rows):
            free = free_q_index(self.state)
            part[free] += self._normalizer().part_in_rows(estimate[free])
        return part

    @property
    def can_be_normalized(self) -> bool:
        """True if any q is free, and there are conditions that normalize."""
        return (
            len(table_of(self.state).normalization_rows) > 0 and len(free_q_index(self.state)) > 0
        )

    def _normalizer(self) -> LeastNorm:
        """Return the derivatives of weighted normalizing errors by the free q."""
        rows = table_of(self.state).normalization_rows
        jacobian = self._weighted(normalization_jacobian(self.state), rows)
        return LeastNorm(jacobian[:, free_q_index(self.state)])
