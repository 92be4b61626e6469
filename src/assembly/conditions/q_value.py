"""A condition on the value of one q."""

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from stagecache.assembly.conditions.condition import AssemblyCondition
from stagecache.assembly.coordinates.mobilizers import (
    Handle,
    Mobilizer,
    handle_of,
    key_of,
    name_of_q,
)
from stagecache.checks import require_number
from stagecache.state.handles import Vector
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.state.vectors.conversion import array_of


@final
class QValue(AssemblyCondition):
    """The value of one q: error q - value, goal 1/2 (q - value)^2.

    Parameters
    ----------
    mobilizer : handle of q, object with a handle as its `q`, or str
        Same as for `Assembler.lock_q`; looked up when it is added to an Assembler.
    index : int
        Index of the q in the mobilizer, as the Assembler counts them; of a coordinate, 0.
    value : float
        In the unit of the q. It can be changed between two frames.
    name : str

    Raises
    ------
    InvalidNameError, ShapeError, NotANumberError, OutOfRangeError

    Examples
    --------
    >>> from stagecache import Assembler, QValue, Subsystem, System, q_variable
    >>> class Crank(Subsystem):
    ...     angle = q_variable(0.0)
    >>> crank = Crank()
    >>> assembler = Assembler(System(crank))
    >>> target = assembler.add_goal(QValue(crank.angle, 0, 0.5))
    >>> result = assembler.assemble()
    >>> round(crank.angle(assembler.internal_state), 6)
    0.5
    """

    needs = Stage.TIME

    def __init__(
        self, mobilizer: Mobilizer, index: int, value: float, name: str = "QValue"
    ) -> None:
        super().__init__(name)
        self._mobilizer = mobilizer
        self._index = index
        self._handle: Handle | None = None
        self._row = 0
        self._jacobian = np.empty((1, 0))
        self.value = value

    @property
    def value(self) -> float:
        """Value that the q has to reach. Setting it does not uninitialize."""
        return self._value

    @value.setter
    def value(self, value: float) -> None:
        hint = "give the condition weight 0 to have it ignored"
        self._value = require_number(value, f"the value of condition {self.name!r}", hint)

    def move_all_observations(self, observations: ArrayLike) -> None:
        """Take over a value, as a number or an array of shape () or (1,)."""
        array: Any = array_of(observations, f"the value of condition {self.name!r}")
        is_row = array is not None and array.shape == (1,)
        value: Any = array.item() if is_row else observations
        self.value = value

    # ------------------------------------------------------------------ duties

    def check_system(self, system: Any) -> None:
        """Look the q up.

        Raises
        ------
        UnknownMobilizerError, ForeignNodeError
        """
        what = f"the mobilizer of condition {self.name!r}"
        self._handle = handle_of(self._mobilizer, system.default_state, what)

    def initialize_condition(self) -> None:
        """Find the row of the q.

        Raises
        ------
        UnknownItemError
        """
        assert self._handle is not None
        state = self.assembler.internal_state
        handle, index = key_of(self._handle, self._index, state, f"condition {self.name!r}")
        self._row = handle.place(state).start + index
        self._jacobian = np.zeros((1, self.num_free_qs))
        free = self.free_q_index_of_q(self._row)
        if free is not None:
            self._jacobian[0, free] = 1.0
        self._jacobian.flags.writeable = False

    def calc_errors(self, state: State) -> Vector:
        """Return the q minus the value. Shape (1,)."""
        return state.q[self._row : self._row + 1] - self._value

    def calc_error_jacobian(self, state: State) -> Vector:  # noqa: ARG002  # it is constant
        """Return 1 for the q, if it is free. Shape (1, num_free_qs)."""
        return self._jacobian

    def calc_error_curvature(self, state: State, factors: Vector) -> Vector:  # noqa: ARG002  # linear
        """Return 0, as the error is linear."""
        return np.zeros((self.num_free_qs, self.num_free_qs))

    def error_names(self, state: State) -> list[str]:
        """Return the name of the q and the value."""
        return [f"{name_of_q(self._row, state)} - {self._value:.6g}"]

    # Without the factor of other conditions, sqrt(2): the goal is half the square of the error.
    calc_goal_residuals = calc_errors
    calc_goal_residual_jacobian = calc_error_jacobian
    calc_goal_residual_curvature = calc_error_curvature
