r"""Constraints as seen from one State: the errors, and the shortest change that removes them.

::

    errors  --  Tangent.step  -->  change of q, or of u  --  move_to  -->  new errors
"""

from abc import ABC, abstractmethod
from typing import Protocol, final

import numpy as np

from stagecache.state.handles import Vector
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.change_norm import ChangeNorm, norm_of_q, norm_of_u
from stagecache.system.constraint_rows import (
    normalization_jacobian,
    normalization_rows,
    position_jacobian,
    position_rows,
    velocity_jacobian,
    velocity_weights,
)
from stagecache.system.kinematic_operators import multiply_by_n, multiply_by_n_pinv
from stagecache.system.least_norm import LeastNorm, Matrix
from stagecache.system.prescribing import free_q_index
from stagecache.system.statistics import SystemStatistics

SLACK = 0.1
"""Such a part of the errors a step may leave, if that makes it shorter; 10 times their size, where
that is less: no more than what is left by the curvature of the constraints."""


class ConstrainedSystem(Protocol):
    """A System, as far as projection knows it."""

    @property
    def statistics(self) -> SystemStatistics:
        """What it has done so far."""

    def realize(self, state: State, stage: Stage) -> None:
        """Realize all stages up to one."""

    def prescribe_q(self, state: State) -> bool:
        """Set prescribed q."""

    def prescribe_u(self, state: State) -> bool:
        """Set prescribed u."""


class AbstractTangent(ABC):
    """The linearised constraints at one State.

    Weighted errors r become r + A y with a change y, whose length is its norm.

    Attributes
    ----------
    has_freedom : bool
        Whether there is anything that can be changed.
    """

    has_freedom: bool

    @abstractmethod
    def step(self, errors: Vector) -> tuple[Vector, float]:
        """Return the shortest change that makes weighted errors least, and what is left of them.

        Returns
        -------
        (n,) float
            Of all q, or all u.
        float
            The root of the sum of squares of the errors that are left, to first order.
        """

    @abstractmethod
    def steepest(self, errors: Vector) -> tuple[Vector, float]:
        """Return the change down the gradient of their squares, to where these are least.

        Returns
        -------
        (n,) float
        float
            By which part they fall, to first order; 0 where no change makes them smaller.
        """

    @abstractmethod
    def drift(self, change: Vector, errors: Vector) -> Vector:
        """Return the part of a change of q, or u, that does not change the errors."""

    @abstractmethod
    def normal_part(self, estimate: Vector, errors: Vector) -> Vector:
        """Return the part of an error estimate that is normal to the constraints.

        Errors tell here, as for the drift, how far dependent rows may seem to be independent.
        """


class AbstractManifold(ABC):
    """Constraints of one level, and a State that is to satisfy them.

    Attributes
    ----------
    state : State
    weights : (m,) float
        Those of the errors.
    level : str
        "position" or "velocity".
    kind : str
        Which errors: "qerr" or "uerr".
    variable : str
        What is moved: "q" or "u".
    stage : Stage
        The one at which the errors are known.
    """

    level: str
    kind: str
    variable: str
    stage: Stage

    def __init__(self, system: ConstrainedSystem, state: State) -> None:
        self._system = system
        self.state = state
        self.weights = self._find_weights()

    def normalize(self, enough: float) -> bool:  # noqa: ARG002  # of positions
        """Move on to what is normalized, up to so large weighted errors; tell whether it was not.

        Conditions that only normalize have no part in the norm of changes. But other errors may
        feel that, and so it is done first.
        """
        return False

    @abstractmethod
    def _find_weights(self) -> Vector: ...

    @property
    def errors(self) -> Vector:
        """Those of the State now, without weights."""
        found: Vector = getattr(self.state, self.kind)
        return found.copy()

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
    def tangent(self) -> AbstractTangent:
        """Return the constraints linearised at the State as it is."""


# ---------------------------------------------------------------------- velocities


@final
class VelocityManifold(AbstractManifold):
    """The constraints on u."""

    level = "velocity"
    kind = "uerr"
    variable = "u"
    stage = Stage.VELOCITY

    def __init__(self, system: ConstrainedSystem, state: State) -> None:
        super().__init__(system, state)
        self._norm: ChangeNorm | None = None  # with the relative accuracy of the u at the start

    def _find_weights(self) -> Vector:
        return velocity_weights(self.state)

    def tangent(self) -> AbstractTangent:
        """Return the constraints linearised; the norm is that of the first one."""
        if self._norm is None:
            self._norm = norm_of_u(self.state)
        weighted = _by_row(self.weights, velocity_jacobian(self.state))
        return VelocityTangent(self._norm, weighted)


@final
class VelocityTangent(AbstractTangent):
    """The constraints on u, linearised."""

    def __init__(self, norm: ChangeNorm, jacobian: Matrix) -> None:
        self._norm = norm
        self._solver = LeastNorm(norm.jacobian_by_y(jacobian))
        self.has_freedom = len(norm.columns) > 0

    def step(self, errors: Vector) -> tuple[Vector, float]:
        """Return the shortest change of u."""
        y = -self._solver.solve(errors, slack=_slack(errors))
        left = errors + self._solver.matrix @ y
        return self._norm.change(y), float(np.linalg.norm(left))

    def steepest(self, errors: Vector) -> tuple[Vector, float]:
        """Return a change of u."""
        y, gain = _steepest(self._solver.matrix, errors)
        return self._norm.change(y), gain

    def drift(self, change: Vector, errors: Vector) -> Vector:
        """Return the part of a change of u that does not change the errors."""
        y = self._norm.of_change(change)
        return self._norm.change(y - self._solver.part_in_rows(y, floor=_floor(errors)))

    def normal_part(self, estimate: Vector, errors: Vector) -> Vector:
        """Return the part of an estimate of the error of u that is normal to the constraints."""
        y = self._norm.of_change(estimate)
        return self._norm.change(self._solver.part_in_rows(y, floor=_floor(errors)))


# ---------------------------------------------------------------------- positions


@final
class PositionManifold(AbstractManifold):
    """The constraints on q, normalizations among them."""

    level = "position"
    kind = "qerr"
    variable = "q"
    stage = Stage.POSITION

    def _find_weights(self) -> Vector:
        return self.state.qerr_weights

    def normalize(self, enough: float) -> bool:
        """Make what normalizations say true, by the shortest change of free q."""
        rows = normalization_rows(self.state)
        if not len(rows):
            return False
        size, has_moved = np.inf, False
        while True:
            errors = (self.errors * self.weights)[rows]
            before, size = size, float(np.max(np.abs(errors)))
            if not enough < size < before / 2:
                return has_moved
            free = free_q_index(self.state)
            jacobian = _by_row(self.weights[rows], normalization_jacobian(self.state))
            values = self.values
            values[free] -= LeastNorm(jacobian[:, free]).solve(errors)
            if np.array_equal(values, self.values):
                return has_moved
            self.move_to(values)
            has_moved = True

    def tangent(self) -> AbstractTangent:
        """Return the constraints linearised."""
        return PositionTangent(self.state, self.weights)


@final
class PositionTangent(AbstractTangent):
    """The constraints on q, linearised. What normalizes q is not removed by its steps."""

    def __init__(self, state: State, weights: Vector) -> None:
        self._state = state
        self._rows, self._normalizations = position_rows(state), normalization_rows(state)
        self._norm = norm_of_q(state)
        jacobian = _by_row(weights[self._rows], position_jacobian(state))
        self._solver = LeastNorm(self._norm.jacobian_by_y(jacobian))
        self._free = free_q_index(state)
        self._normalizer: LeastNorm | None = None
        if len(self._normalizations):
            by_q = _by_row(weights[self._normalizations], normalization_jacobian(state))
            self._normalizer = LeastNorm(by_q[:, self._free])
        moves_along = self._normalizer is not None and len(self._free) > 0
        self.has_freedom = len(self._norm.columns) > 0 or moves_along

    def step(self, errors: Vector) -> tuple[Vector, float]:
        """Return the change of q."""
        mine = errors[self._rows]
        y = -self._solver.solve(mine, slack=_slack(mine))
        change = multiply_by_n(self._state, self._norm.change(y))
        left = np.linalg.norm(mine + self._solver.matrix @ y)
        return change, float(np.hypot(left, np.linalg.norm(errors[self._normalizations])))

    def steepest(self, errors: Vector) -> tuple[Vector, float]:
        """Return a change of q."""
        y, gain = _steepest(self._solver.matrix, errors[self._rows])
        return multiply_by_n(self._state, self._norm.change(y)), gain

    def drift(self, change: Vector, errors: Vector) -> Vector:
        """Return the part of a change of q, along N, that does not change the errors."""
        y = self._norm.of_change(multiply_by_n_pinv(self._state, change))
        y -= self._solver.part_in_rows(y, floor=_floor(errors[self._rows]))
        return multiply_by_n(self._state, self._norm.change(y))

    def normal_part(self, estimate: Vector, errors: Vector) -> Vector:
        """Return the part of an estimate of the error of q that is normal to the constraints."""
        y = self._norm.of_change(multiply_by_n_pinv(self._state, estimate))
        y = self._solver.part_in_rows(y, floor=_floor(errors[self._rows]))
        part = multiply_by_n(self._state, self._norm.change(y))
        if self._normalizer is not None:
            part[self._free] += self._normalizer.part_in_rows(estimate[self._free])
        return part


def _floor(errors: Vector) -> float:
    """Up to which singular value rows may be dependent, but for errors as large as these."""
    return 10 * float(np.linalg.norm(errors))


def _slack(errors: Vector) -> float:
    return min(SLACK, 10 * float(np.linalg.norm(errors)))


def _steepest(matrix: Matrix, errors: Vector) -> tuple[Vector, float]:
    """The minimum of |r + A y| along y = -t A' r; and which part of |r|^2 is gone there."""
    slope = np.asarray(matrix.T @ errors)
    rise = matrix @ slope
    square = float(slope @ slope)
    if not square or not rise.any():
        return np.zeros(len(slope)), 0.0
    length = square / float(rise @ rise)
    return -length * slope, length * square / float(errors @ errors)


def _by_row(weights: Vector, matrix: Matrix) -> Matrix:
    """The matrix with each row multiplied by its weight."""
    if isinstance(matrix, np.ndarray):
        return matrix * weights[:, np.newaxis]
    return matrix.multiply(weights[:, np.newaxis]).tocsr()
