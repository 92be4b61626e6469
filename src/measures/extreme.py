"""The extreme of a quantity since a time, and when it was reached."""

from collections.abc import Callable
from math import inf
from typing import Any, Final, final

import numpy as np

from stagecache.checks import require_choice, require_number
from stagecache.measures.measure import NOTHING, AbstractMeasure, Array
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.declare.auto_update import auto_update
from stagecache.system.declare.cached import cached

KINDS: Final[dict[str, Callable[[Array, Array], Any]]] = {
    "maximum": lambda new, old: new > old,
    "minimum": lambda new, old: new < old,
    "magnitude": lambda new, old: np.abs(new) > np.abs(old),
}
"""The comparison of a kind: True where a new number replaces the old one."""


@final
class Extreme(AbstractMeasure):
    """The extreme of each number of a source since a time.

    Parameters
    ----------
    source : handle
    kind : str
        "maximum", "minimum", or "magnitude": the number that is farthest from 0, with its sign.
    since : float
        The time from which on values count [s].

    Raises
    ------
    WrongTypeError, UnknownChoiceError, NotANumberError, OutOfRangeError

    Attributes
    ----------
    value : CacheEntry
        In the form of the source: the extreme of all ends of steps, and of the present value. NaN
        before `since`.
    reached_at : CacheEntry
        The time of each [s], likewise.
    kept : AutoUpdateVariable
        Two rows: the extremes at the ends of steps, and their times.

    Examples
    --------
    >>> from stagecache import Subsystem, System, cached, simulate
    >>> from stagecache.measures import Extreme
    >>> class Wave(Subsystem):
    ...     @cached(prerequisites=lambda self: (self.time,))
    ...     def height(self, state):
    ...         return state.time * (2.0 - state.time)
    >>> system = System(wave := Wave())
    >>> top = system.add(Extreme(wave.height), "top")
    >>> last = simulate(system, system.new_state(), 3.0, max_step=0.1, every=0.5)[-1]
    >>> round(top.value(last), 6), round(top.reached_at(last), 6)
    (1.0, 1.0)
    """

    kept = auto_update(NOTHING, invalidates=Stage.REPORT, available_from=Stage.ACCELERATION)

    def __init__(
        self, source: Callable[[State], Any], kind: str = "maximum", since: float = -inf
    ) -> None:
        super().__init__(source)
        self.kind = require_choice(kind, KINDS, "Extreme(kind=...)")
        self.since = require_number(since, "Extreme(since=...)", may_be_infinite=True)

    @cached(prerequisites=lambda self: (self.source, self.kept, self.time))
    def both(self, state: State) -> Array:
        """Two rows: the extremes up to now, and their times; NaN before they count."""
        new, old = self.measured(state), self.kept(state)
        if state.time < self.since:
            return np.full((2, len(new)), np.nan)
        found = np.vstack([new, np.full(len(new), state.time)])
        if old.size:
            is_new = KINDS[self.kind](new, old[0])
            found = np.where(is_new, found, old)
        return found

    @cached(prerequisites=lambda self: (self.both, self.source))
    def value(self, state: State) -> Any:
        """The extreme of each number of the source."""
        return self.shaped(state, self.both(state)[0])

    @cached(prerequisites=lambda self: (self.both, self.source))
    def reached_at(self, state: State) -> Any:
        """The time at which each was reached [s]."""
        return self.shaped(state, self.both(state)[1])

    @kept.update(prerequisites=(both,))
    def keep(self, state: State) -> Array:
        """Keep the extremes at the end of a step."""
        found = self.both(state)
        return NOTHING if np.isnan(found).any() else found
