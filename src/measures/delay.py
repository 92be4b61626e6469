"""A quantity as it was some time ago."""

from collections.abc import Callable
from typing import Any, final

import numpy as np

from stagecache.checks import require_positive
from stagecache.measures.measure import NOTHING, AbstractMeasure, Array
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.declare.auto_update import auto_update
from stagecache.system.declare.cached import cached


@final
class Delay(AbstractMeasure):
    """The value of a source some time ago, interpolated linearly between ends of steps.

    Before there are values of that age, it is the first one. It depends on the present value only
    where a step is longer than the delay, so choose ``max_step`` below the delay where the source
    depends on the delayed value.

    Parameters
    ----------
    source : handle
    delay : float
        [s]

    Raises
    ------
    WrongTypeError, NotANumberError, OutOfRangeError

    Attributes
    ----------
    value : CacheEntry
        In the form of the source.
    kept : AutoUpdateVariable
        The buffer, (k, 1 + n): a row for each end of a step of the last `delay` seconds, of its
        time and the numbers then, and the row before these.

    Examples
    --------
    >>> from stagecache import Subsystem, System, cached, simulate
    >>> from stagecache.measures import Delay
    >>> class Ramp(Subsystem):
    ...     @cached(prerequisites=lambda self: (self.time,))
    ...     def height(self, state):
    ...         return 2.0 * state.time
    >>> system = System(ramp := Ramp())
    >>> late = system.add(Delay(ramp.height, 0.5), "late")
    >>> last = simulate(system, system.new_state(), 2.0, max_step=0.1)[-1]
    >>> round(late.value(last), 6)
    3.0
    """

    kept = auto_update(NOTHING, invalidates=Stage.REPORT, available_from=Stage.ACCELERATION)

    def __init__(self, source: Callable[[State], Any], delay: float) -> None:
        super().__init__(source)
        self.delay = require_positive(delay, "Delay(delay=...)", "give the seconds that pass")

    @cached(prerequisites=lambda self: (self.source, self.kept, self.time))
    def value(self, state: State) -> Any:
        """The value of the source, `delay` seconds ago."""
        rows, then = self.kept(state), state.time - self.delay
        if not rows.size or then > rows[-1, 0]:
            rows = self._with_present(state, rows)
        after = int(np.searchsorted(rows[:, 0], then))
        if after == 0:
            return self.shaped(state, rows[0, 1:])
        (t0, *_), (t1, *_) = rows[after - 1], rows[after]
        part = (then - t0) / (t1 - t0)
        return self.shaped(state, (1.0 - part) * rows[after - 1, 1:] + part * rows[after, 1:])

    @kept.update(prerequisites=lambda self: (self.source, self.kept, self.time))
    def keep(self, state: State) -> Array:
        """Add the present numbers, and drop what is too old."""
        rows = self._with_present(state, self.kept(state))
        first = int(np.searchsorted(rows[:, 0], state.time - self.delay, side="right")) - 1
        return rows[max(first, 0) :]

    def _with_present(self, state: State, rows: Array) -> Array:
        new = np.concatenate([[state.time], self.measured(state)])[None]
        if not rows.size:
            return new
        return np.vstack([rows[rows[:, 0] < state.time], new])
