"""The derivative of a quantity by the time, from its last values."""

from collections.abc import Callable
from typing import Any, final

import numpy as np

from stagecache.measures.measure import NOTHING, AbstractMeasure, Array
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.declare.auto_update import auto_update
from stagecache.system.declare.cached import cached


@final
class Derivative(AbstractMeasure):
    """The rate of change of a source since the end of the last step: of first order in the step.

    For what has no derivative of its own: where you can, compute that instead. At the time of the
    last end of a step it is the rate that was found there; at the first one, 0.

    Parameters
    ----------
    source : handle

    Raises
    ------
    WrongTypeError

    Attributes
    ----------
    value : CacheEntry
        In the form of the source, by s.
    kept : AutoUpdateVariable
        Three rows: time, numbers and rates at the end of the last step.
    """

    kept = auto_update(NOTHING, invalidates=Stage.REPORT, available_from=Stage.ACCELERATION)

    def __init__(self, source: Callable[[State], Any]) -> None:
        super().__init__(source)

    @cached(prerequisites=lambda self: (self.source, self.kept, self.time))
    def rates(self, state: State) -> Array:
        """The rates of all numbers of the source."""
        new, old = self.measured(state), self.kept(state)
        if not old.size:
            return np.zeros(len(new))
        passed = state.time - old[0, 0]
        found: Array = (new - old[1]) / passed if passed > 0.0 else old[2].copy()
        return found

    @cached(prerequisites=lambda self: (self.rates, self.source))
    def value(self, state: State) -> Any:
        """The rate of change of each number of the source."""
        return self.shaped(state, self.rates(state))

    @kept.update(prerequisites=lambda self: (self.rates, self.source, self.time))
    def keep(self, state: State) -> Array:
        """Keep the numbers at the end of a step."""
        numbers = self.measured(state)
        return np.vstack([np.full(len(numbers), state.time), numbers, self.rates(state)])
