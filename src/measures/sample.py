"""A quantity that is sampled at times, and held in between."""

from collections.abc import Callable
from typing import Any, final

from stagecache.checks import require_positive
from stagecache.measures.measure import NOTHING, AbstractMeasure
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.declare.cached import cached
from stagecache.system.declare.variables import discrete, parameter
from stagecache.system.events.declared import periodic


@final
class SampleAndHold(AbstractMeasure):
    """The value of a source at the last of the times k * interval: a zero-order hold.

    Parameters
    ----------
    source : handle
    interval : float
        [s]; the initial value of the parameter `interval`.

    Raises
    ------
    WrongTypeError, NotANumberError, OutOfRangeError

    Attributes
    ----------
    value : CacheEntry
        In the form of the source; before the first sample, the present value.
    interval : DiscreteVariable
        A parameter.
    held : DiscreteVariable
        The sampled numbers, (n,). A write invalidates Dynamics.
    """

    interval = parameter(factory=lambda self: self.initial_interval)
    held = discrete(NOTHING, invalidates=Stage.DYNAMICS)

    def __init__(self, source: Callable[[State], Any], interval: float) -> None:
        super().__init__(source)
        what = "SampleAndHold(interval=...)"
        self.initial_interval = require_positive(interval, what, "give the seconds between samples")

    @periodic(interval)
    def sample(self, state: State) -> None:
        """Take a sample."""
        self.held.set(state, self.measured(state))

    @cached(prerequisites=lambda self: (self.held, self.source))
    def value(self, state: State) -> Any:
        """The numbers of the last sample."""
        held = self.held(state)
        return self.shaped(state, held if held.size else self.measured(state))
