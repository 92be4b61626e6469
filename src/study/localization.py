r"""Finding when event triggers change their signs, between two times.

::

    low ........ t ........ high        the signs have changed somewhere in (low, high]
        changed?     no:  low = t       until high - low <= localization window * accuracy
                    yes: high = t                         * default_time_scale of the System

t is where the earliest change would be if triggers were straight lines, and a little beyond, so
that the window closes from both sides. Where that does not halve the window, as for a trigger that
jumps, it is bisected. Leaving zero is no event, reaching it is.
"""

from collections.abc import Callable, Sequence
from math import nextafter
from typing import final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from stagecache.errors import TriggerError
from stagecache.state.handles import Vector
from stagecache.state.stage import Stage
from stagecache.system.event_triggers import TriggerDirection
from stagecache.system.events import Event, EventTriggerInfo

Read = Callable[[float], Vector]
"""The values of all triggers at a time."""


@frozen
class TriggeredEvent:
    """An event trigger that has changed its sign.

    Attributes
    ----------
    info : EventTriggerInfo
        Of which row; `info.event` is what happens then.
    is_rising : bool
        Whether it was negative before; if not, it was positive.
    time : float
        When, as far as is known: in the window in which it was found.
    """

    info: EventTriggerInfo
    is_rising: bool
    time: float

    @property
    def event(self) -> Event:
        """What happens then."""
        return self.info.event


@frozen(eq=False)
class Window:
    """Two times between which triggers change their signs.

    Attributes
    ----------
    low, high : float
    before, after : (n,) float
        The values of all watched triggers then.
    """

    low: float
    high: float
    before: Vector
    after: Vector

    @property
    def width(self) -> float:
        """How far the times are apart."""
        return self.high - self.low

    def times(self, rows: NDArray[np.intp]) -> Vector:
        """When these triggers would be zero if they were straight lines."""
        before, after = self.before[rows], self.after[rows]
        with np.errstate(invalid="ignore"):  # of infinite ones
            part = before / (before - after)
        return np.asarray(self.low + self.width * np.nan_to_num(part, nan=0.5))


@final
class TriggerWatch:
    """The event triggers of a State, as far as they are looked at.

    Parameters
    ----------
    infos : sequence of EventTriggerInfo
    unit : float
        That of localization windows: accuracy times the default time scale [s].
    """

    def __init__(self, infos: Sequence[EventTriggerInfo], unit: float) -> None:
        self.infos = tuple(infos)
        self.stage = max((info.stage for info in infos), default=Stage.TIME)
        self._index = np.array([info.index for info in infos], np.intp)
        directions = [info.direction for info in infos]
        self._may_rise = np.array([d is not TriggerDirection.FALLING for d in directions], bool)
        self._may_fall = np.array([d is not TriggerDirection.RISING for d in directions], bool)
        self._widths = unit * np.array([info.localization_window for info in infos])

    def __bool__(self) -> bool:
        return bool(self.infos)

    def values(self, triggers: Vector, time: float) -> Vector:
        """Return those that are watched, of all.

        Raises
        ------
        TriggerError
            One is NaN.
        """
        found: Vector = triggers[self._index]
        if not np.isnan(found).any():
            return found
        info = self.infos[int(np.argmax(np.isnan(found)))]
        raise TriggerError(
            f"{info.name}: is no number at t = {time:.9g}",
            "a number: its sign tells whether the event has happened",
            "nan",
            f"look at what computes it at {info.stage}, there and between steps",
        )

    def changed(self, before: Vector, after: Vector) -> NDArray[np.intp]:
        """Which have changed their sign, in a direction that counts: indices of `infos`."""
        rises = self._may_rise & (before < 0) & (after >= 0)
        falls = self._may_fall & (before > 0) & (after <= 0)
        return np.flatnonzero(rises | falls)

    def localize(self, window: Window, read: Read) -> Window:
        """Narrow a window, in which at least one has changed, around the earliest change.

        Cost: some evaluations; about 2 for each halving of the window where a trigger jumps.
        """
        turn = bisections = 0
        while True:
            rows = self.changed(window.before, window.after)
            rounding = 4 * (nextafter(window.high, np.inf) - window.high)
            enough = max(float(self._widths[rows].min()), rounding)
            if window.width <= enough:
                return window
            middle = window.low + window.width / 2
            t = middle
            if not turn:
                t = float(window.times(rows).min())
                t += 0.4 * enough if t < middle else -0.4 * enough
                if not window.low < t < window.high:
                    t = middle
            if not window.low < t < window.high:
                return window
            narrower = self.split(window, t, read)
            is_slow = narrower.width > window.width / 2
            window = narrower
            if turn:
                turn -= 1
            elif is_slow:
                turn = bisections = 2 * bisections + 1
            else:
                bisections = 0

    def split(self, window: Window, t: float, read: Read) -> Window:
        """The part of a window, up to a time in it or from there on, with the earliest change."""
        values = read(t)
        if self.changed(window.before, values).size:
            return Window(window.low, t, window.before, values)
        return Window(t, window.high, values, window.after)

    def events(self, window: Window) -> tuple[TriggeredEvent, ...]:
        """All that have changed in a window, the earliest first."""
        rows = self.changed(window.before, window.after)
        times = window.times(rows)
        order = np.argsort(times, kind="stable")
        return tuple(
            TriggeredEvent(self.infos[row], bool(window.before[row] < 0), float(time))
            for row, time in zip(rows[order], times[order], strict=True)
        )
