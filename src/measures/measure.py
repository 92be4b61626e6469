r"""The base of measures: a source, whose values they follow.

::

    source, an entry or a variable of another subsystem
       |
    memory in the State:  z (Integral), an auto-update variable (Extreme, Delay, Derivative),
       |                  a discrete variable (SampleAndHold)
    value

A measure is added to a System beside what it measures:
``system.add(Integral(motor.power), "work")``. Its memory is part of each State, so it goes with
copies, checkpoints and files. Memories of auto-update variables change at the end of each step;
call `auto_update_discrete_variables` where no integrator does.
"""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from stagecache.checks import type_text
from stagecache.errors import NotANumberError, WrongTypeError, short_repr
from stagecache.state.handles import AbstractHandle
from stagecache.state.state import State
from stagecache.system.declare.subsystem import Subsystem

Array = NDArray[np.float64]

NOTHING: Final[Array] = np.empty(0)
"""The memory of a measure before its first value."""


class AbstractMeasure(Subsystem):
    """A subsystem that measures a source: a number, or an array of a fixed shape.

    Parameters
    ----------
    source : handle
        An entry or a variable of another subsystem of the same System, as ``motor.power``.

    Raises
    ------
    WrongTypeError
    """

    source: Callable[[State], Any]

    def __init__(self, source: Callable[[State], Any]) -> None:
        if not isinstance(source, AbstractHandle):
            raise WrongTypeError(
                f"{type(self).__name__}(source): cannot be measured",
                "the handle of an entry or a variable, as motor.power",
                type_text(source),
                "declare a computation by @cached in a Subsystem, and give its handle",
            )
        self.source = source

    def measured(self, state: State) -> Array:
        """Return the present numbers of the source, in one dimension.

        Raises
        ------
        NotANumberError
            They are not numbers, or not finite.
        """
        value = self.source(state)
        try:
            found = np.asarray(value, dtype=np.float64).ravel()
        except (TypeError, ValueError):
            found = np.array([np.nan])
        if np.isfinite(found).all():
            return found
        raise NotANumberError(
            f"{self.name}: cannot measure {self.source}",
            "a finite number, or an array of such",
            short_repr(value),
            "measure an entry that returns numbers",
        )

    def shaped(self, state: State, numbers: Array) -> Any:
        """Return numbers in the form of the source: a float, or an array."""
        shape = np.shape(self.source(state))
        return numbers.reshape(shape) if shape else float(numbers[0])
