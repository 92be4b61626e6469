"""Targets of coordinates: one condition for the tasks of all coordinates, which costs as one.

::

    residuals  sqrt(w_i) (q_i - value_i)          derivatives are constant, and bends are 0
"""

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from stagecache.assembly import AssemblyCondition
from stagecache.multibody import JointCoordinate
from stagecache.multibody.checks import checked_array
from stagecache.multibody.geometry.spatial import Array
from stagecache.state.stage import Stage
from stagecache.state.state import State


@final
class CoordinateTargets(AssemblyCondition):
    """The goal that some coordinates are near their values: 1/2 sum of w (q - value)^2.

    Parameters
    ----------
    coordinates : sequence of JointCoordinate
        Of the System that is assembled.
    weights : (n,) float
    values : (n,) float
        The values at first [rad or m].
    """

    needs = Stage.TIME

    def __init__(
        self, coordinates: Sequence[JointCoordinate], weights: Array, values: Array
    ) -> None:
        super().__init__("coordinate tasks")
        self._coordinates_of = tuple(coordinates)
        self._roots = np.sqrt(weights)
        self._values = values

    def move_all_observations(self, observations: Any) -> None:
        """Take the values (n,) of a frame."""
        count = len(self._coordinates_of)
        self._values = checked_array(observations, (count,), "the values of coordinate tasks")

    def initialize_condition(self) -> None:
        """Find the rows of the q, and the constant derivatives."""
        state = self.assembler.internal_state
        rows = [c.body.q.place(state).start + c.index for c in self._coordinates_of]
        self._rows = np.array(rows, np.intp)
        self._jacobian = np.zeros((len(rows), self.num_free_qs))
        for i, row in enumerate(rows):
            free = self.free_q_index_of_q(row)
            if free is not None:
                self._jacobian[i, free] = self._roots[i]
        self._jacobian.flags.writeable = False
        self._flat = np.zeros((self.num_free_qs, self.num_free_qs))

    def calc_goal_residuals(self, state: State) -> Array:
        """Return the differences times the roots of the weights, (n,)."""
        found: Array = self._roots * (state.q[self._rows] - self._values)
        return found

    def calc_goal_residual_jacobian(self, state: State) -> Array:  # noqa: ARG002  # it is constant
        """Return the roots of the weights, (n, num_free_qs)."""
        return self._jacobian

    def calc_goal_residual_curvature(self, state: State, factors: Array) -> Array:  # noqa: ARG002  # linear
        """Return 0."""
        return self._flat
