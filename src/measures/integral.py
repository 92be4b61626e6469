"""The integral of a quantity over the time."""

from collections.abc import Callable
from numbers import Real
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from stagecache.checks import require_number
from stagecache.errors import ShapeError, StageOutOfRangeError
from stagecache.measures.measure import AbstractMeasure, Array
from stagecache.state.continuous.continuous_state import vector_of
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.state.vectors.conversion import FLOAT, converted
from stagecache.system.declare.variables import z_variable


def _initial(measure: Any, state: Any) -> Array:  # noqa: ARG001  # of a fixed form
    found: Array = measure.initial
    return found


@final
class Integral(AbstractMeasure):
    """The integral of a source over the time, as z: `value`, of shape (n,).

    Parameters
    ----------
    source : handle
        Of n numbers, which can be computed at stage Acceleration. All variables on which it
        depends have to invalidate Dynamics, or an earlier stage.
    initial : float or (n,) array_like
        The integral in the default State; as many numbers as the source has.

    Raises
    ------
    WrongTypeError, ShapeError, NotANumberError, OutOfRangeError
    StageOutOfRangeError
        The source is a variable that invalidates a later stage.

    Examples
    --------
    >>> from stagecache import Subsystem, System, cached, simulate
    >>> from stagecache.measures import Integral
    >>> class Motor(Subsystem):
    ...     @cached(prerequisites=lambda self: (self.time,))
    ...     def power(self, state):
    ...         return 3.0 * state.time**2
    >>> system = System(motor := Motor())
    >>> work = system.add(Integral(motor.power), "work")
    >>> last = simulate(system, system.new_state(), 2.0)[-1]
    >>> work.value(last).round(6)
    array([8.])
    """

    value = z_variable(factory=_initial)

    def __init__(self, source: Callable[[State], Any], initial: ArrayLike = 0.0) -> None:
        super().__init__(source)
        late = getattr(source, "invalidates", Stage.DYNAMICS)
        if late > Stage.DYNAMICS:
            raise StageOutOfRangeError(
                f"Integral(source): {source} does not change zdot",
                "a variable whose write invalidates Dynamics, or an earlier stage",
                f"one that invalidates {late}",
                "declare it with invalidates=Stage.DYNAMICS",
            )
        what = "the initial value of an Integral"
        is_one = (
            np.ndim(initial) == 0 if isinstance(initial, np.ndarray) else isinstance(initial, Real)
        )
        numbers: Any = [initial] if is_one else initial
        vector = vector_of(numbers, what)
        self.initial: Array = converted(vector, FLOAT, (len(vector),), what).copy()
        if not len(vector):
            raise ShapeError(what, "a number, or several", "none", "give as many as the source has")
        for number in self.initial.tolist():
            require_number(number, what)

    def realize_dynamics(self, state: State) -> None:
        """Write the source as zdot; or NaN, if only Acceleration computes it."""
        is_early = getattr(self.source, "available_from", Stage.MODEL) <= Stage.DYNAMICS
        state[self].upd_zdot()[:] = self._rates(state) if is_early else np.nan

    def realize_acceleration(self, state: State) -> None:
        """Write the source as zdot, if Dynamics could not.

        Raises
        ------
        ShapeError
            The source does not have as many numbers as the initial value.
        """
        if getattr(self.source, "available_from", Stage.MODEL) > Stage.DYNAMICS:
            state[self].upd_zdot()[:] = self._rates(state)

    def _rates(self, state: State) -> Array:
        found = self.measured(state)
        if len(found) != len(self.initial):
            raise ShapeError(
                f"{self.name}: does not have as many numbers as its source",
                f"{len(self.initial)}, as the initial value",
                f"{len(found)} of {self.source}",
                "give initial=, with as many numbers as the source",
            )
        return found
