r"""Localization of events: the time at which an event trigger changes its sign.

First the earliest stretch of a step in which a sign has changed::

    trigger   \                   /      the cubic with the values and the slopes of both ends turns
               \                 /       towards zero at t: there is a look at the trigger at t, and
    0 ----------\-------t-------/---     there are two stretches, for which the same is done
                 `---------------

Over a step of a method of high order, a trigger may turn more often than a cubic. Such a step is
halved until the cubics agree with the triggers in the middle.

Then the time in it::

    low ........ t ........ high        the signs have changed somewhere in (low, high]
        changed?     no:  low = t       until high - low <= localization window * accuracy
                    yes: high = t                         * default_time_scale of the System

t is where the earliest change would be if the time were a quadratic of the trigger, through both
ends and the end that was dropped last; and beyond that by as much as a straight line differs, so
that the window closes from both sides. Where that does not halve the window, as for a trigger that
jumps, it is bisected. Reaching zero is an event, leaving it is not.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from math import copysign, inf, isfinite, nan, nextafter, sqrt
from typing import Final, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from stagecache.errors import NotFiniteError
from stagecache.state.handles import Vector
from stagecache.state.stage import Stage
from stagecache.system.events.events import Event, EventTriggerInfo
from stagecache.system.events.triggers import TriggerDirection

Read = Callable[[float], Vector]
"""Function of the time that returns the values of all triggers."""

MOST_TURNS: Final = 8
"""Divisions of a stretch where triggers turn towards zero."""

MOST_HALVINGS: Final = 4
"""Halvings of a stretch that is too long for cubics."""

REACH: Final = 4.0
"""A turn of a cubic is looked at if the trigger comes nearer to zero by more than what is left,
divided by this: it may reach zero there, as far as the cubic shows."""

DOUBT: Final = 2.0
"""The error of a cubic may be larger by this factor than the one that is seen in the middle."""


@frozen
class TriggeredEvent:
    """An event trigger that has changed its sign.

    Attributes
    ----------
    info : EventTriggerInfo
        Row of the trigger, and its event.
    is_rising : bool
        True if it was negative before; if not, it was positive.
    time : float
        Estimated time, in the window in which it was found.
    """

    info: EventTriggerInfo
    is_rising: bool
    time: float

    @property
    def event(self) -> Event:
        """Event of this trigger."""
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
        """Length of the window [s]."""
        return self.high - self.low

    def times(self, rows: NDArray[np.intp]) -> Vector:
        """Return the times at which these triggers would be zero if they were straight lines."""
        before, after = self.before[rows], self.after[rows]
        with np.errstate(invalid="ignore"):  # of infinite ones
            part = before / (before - after)
        return np.asarray(self.low + self.width * np.nan_to_num(part, nan=0.5))


@frozen(eq=False)
class Look:
    """The triggers at a time.

    Attributes
    ----------
    time : float
    values : (n,) float
    slopes : (n,) float
        Their time derivatives.
    """

    time: float
    values: Vector
    slopes: Vector


@final
class TriggerWatch:
    """The event triggers of a State that are watched.

    Parameters
    ----------
    infos : sequence of EventTriggerInfo
    unit : float
        Unit of localization windows: accuracy times the default time scale [s].
    """

    def __init__(self, infos: Sequence[EventTriggerInfo], unit: float) -> None:
        self.infos = tuple(infos)
        self.stage = max((info.stage for info in infos), default=Stage.TIME)
        self._index = np.array([info.index for info in infos], np.intp)
        directions = [info.direction for info in infos]
        self._may_rise = np.array([d is not TriggerDirection.FALLING for d in directions], bool)
        self._may_fall = np.array([d is not TriggerDirection.RISING for d in directions], bool)
        self._widths = unit * np.array([info.localization_window for info in infos])
        self.look_every = min((info.look_every for info in infos), default=inf)

    def __bool__(self) -> bool:
        return bool(self.infos)

    @property
    def keys(self) -> list[tuple[str, int]]:
        """Keys of the triggers, which stay the same if numbers of rows change."""
        counts: Counter[str] = Counter()
        keys = []
        for info in self.infos:
            keys.append((info.event.name, counts[info.event.name]))
            counts[info.event.name] += 1
        return keys

    def values(self, triggers: Vector, time: float) -> Vector:
        """Return the watched triggers of all.

        Raises
        ------
        NotFiniteError
            One is NaN.
        """
        found: Vector = triggers[self._index]
        if not np.isnan(found).any():
            return found
        info = self.infos[int(np.argmax(np.isnan(found)))]
        raise NotFiniteError(
            f"{info.name}: not a number at t = {time:.9g}",
            "a number: its sign tells whether the event has happened",
            "nan",
            f"look at what computes it at {info.stage}, there and between steps",
        )

    def changed(self, before: Vector, after: Vector) -> NDArray[np.intp]:
        """Return the indices of `infos` whose sign has changed in a direction that counts."""
        rises = self._may_rise & (before < 0) & (after >= 0)
        falls = self._may_fall & (before > 0) & (after <= 0)
        return np.flatnonzero(rises | falls)

    @property
    def before_start(self) -> Vector:
        """Values of triggers before the start.

        Zero, which can be left without an event; the opposite sign for a trigger with `initially`.
        """
        sides = self._may_fall.astype(float) - self._may_rise
        return np.where([info.initially for info in self.infos], sides, 0.0)

    def first_change(
        self,
        low: Look,
        high: Look,
        look: Callable[[float], Look],
        turns: int = MOST_TURNS,
        halvings: int = 0,
    ) -> Window | None:
        """Return the earliest stretch between two looks in which any has changed; else None.

        Cost O(triggers), and a look wherever one turns towards zero. With halvings there is a look
        in the middle, and more as long as cubics do not agree with the triggers.
        """
        t = self._turn(low, high) if turns else inf
        if t == inf and halvings:
            t = (low.time + high.time) / 2
        if not low.time < t < high.time:
            has_changed = self.changed(low.values, high.values).size > 0
            return Window(low.time, high.time, low.values, high.values) if has_changed else None
        middle = look(t)
        turns = max(turns - 1, 0)
        halvings = halvings - 1 if halvings and not _is_cubic(low, middle, high) else 0
        found = self.first_change(low, middle, look, turns, halvings)
        return found or self.first_change(middle, high, look, turns, halvings)

    def _turn(self, low: Look, high: Look) -> float:
        """Return the first time at which a trigger turns towards zero between two looks, or inf."""
        h = high.time - low.time
        with np.errstate(invalid="ignore", over="ignore"):  # of infinite ones
            change = high.values - low.values
            starts, ends = h * low.slopes, h * high.slopes
            a, b, most = starts * change, ends * change, 3 * change * change
            is_monotone = (a >= 0) & (b >= 0) & (a <= most) & (b <= most)
            if is_monotone.all():  # Fritsch and Carlson, SIAM J. Numer. Anal. 17 (1980) 238
                return inf
            nearest = np.minimum(np.abs(low.values), np.abs(high.values))
            is_far = (low.values > 0) == (high.values > 0)
            is_far &= nearest > (REACH + 1) * 4 / 27 * (np.abs(starts) + np.abs(ends))
        first = inf
        for row in np.flatnonzero(~is_monotone & ~is_far):
            numbers = (low.values[row], starts[row], high.values[row], ends[row])
            first = min(first, _turn_towards_zero(*map(float, numbers)))
        return low.time + h * first

    def localize(self, window: Window, read: Read) -> Window:
        """Narrow a window, in which at least one has changed, around the earliest change.

        Cost: some evaluations; about 2 for each halving of the window where a trigger jumps.
        """
        turn = bisections = 0
        dropped: tuple[float, Vector] | None = None
        while True:
            rows = self.changed(window.before, window.after)
            rounding = 4 * (nextafter(window.high, np.inf) - window.high)
            enough = max(float(self._widths[rows].min()), rounding)
            if window.width <= enough:
                return window
            middle = window.low + window.width / 2
            t = middle
            if not turn:
                t, doubt = _earliest(window, rows, dropped)
                doubt = max(doubt, 0.4 * enough)
                t += doubt if t < middle else -doubt
                if not window.low < t < window.high:
                    t = middle
            if not window.low < t < window.high:
                return window
            narrower = self.split(window, t, read)
            is_slow = narrower.width > window.width / 2 and dropped is not None
            is_earlier = narrower.high == t
            dropped = (window.high, window.after) if is_earlier else (window.low, window.before)
            window = narrower
            if turn:
                turn -= 1
            elif is_slow:
                turn = bisections = 2 * bisections + 1
            else:
                bisections = 0

    def split(self, window: Window, t: float, read: Read) -> Window:
        """Return the part of a window, before or after a time in it, with the earliest change."""
        values = read(t)
        if self.changed(window.before, values).size:
            return Window(window.low, t, window.before, values)
        return Window(t, window.high, values, window.after)

    def events(self, window: Window) -> tuple[TriggeredEvent, ...]:
        """Return the events in a window, the earliest first."""
        rows = self.changed(window.before, window.after)
        times = window.times(rows)
        order = np.argsort(times, kind="stable")
        return tuple(
            TriggeredEvent(self.infos[row], bool(window.before[row] < 0), float(time))
            for row, time in zip(rows[order], times[order], strict=True)
        )


def _earliest(
    window: Window, rows: NDArray[np.intp], dropped: tuple[float, Vector] | None
) -> tuple[float, float]:
    """Return the earliest time at which one of these triggers may be zero, and a doubt about it."""
    lines = window.times(rows).tolist()
    if dropped is None:
        return min(lines), 0.0
    found = []
    for row, line in zip(rows.tolist(), lines, strict=True):
        ends = float(window.before[row]), float(window.after[row])
        t = _inverse_quadratic(
            (window.low, ends[0]), (window.high, ends[1]), (dropped[0], float(dropped[1][row]))
        )
        t = t if window.low < t < window.high else line
        found.append((t, abs(t - line)))
    return min(found)


def _inverse_quadratic(
    a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]
) -> float:
    """Return the time at 0 of the quadratic of the value through three points; NaN without one."""
    (t, u), (t1, v), (t2, w) = a, b, c
    if u in (v, w) or v == w or not isfinite(u * v * w):
        return nan
    return t + (t1 - t) * u * w / ((v - u) * (v - w)) + (t2 - t) * u * v / ((w - u) * (w - v))


def _is_cubic(low: Look, middle: Look, high: Look) -> bool:
    """Return True if signs between two looks are those of cubics through values and slopes.

    The errors of the cubics are taken for multiples of s^2 (1 - s)^2, as where the triggers are of
    degree 4. The slope sees what is of degree 5, and zero in the middle.
    """
    h = high.time - low.time
    s = (middle.time - low.time) / h
    with np.errstate(invalid="ignore", over="ignore"):  # of infinite ones
        cubics = low.values, h * low.slopes, high.values, h * high.slopes
        value, slope = _cubic(s, *cubics)
        errors = np.abs(value - middle.values) + 0.3 * np.abs(slope - h * middle.slopes)
        errors *= DOUBT / (s * (1 - s)) ** 2
        places = np.arange(1, 8)[:, None] / 8
        curves, _ = _cubic(places, *cubics)
        return not (np.abs(curves) < errors * (places * (1 - places)) ** 2).any()


def _cubic(
    s: float | Vector, start: Vector, slope: Vector, end: Vector, end_slope: Vector
) -> tuple[Vector, Vector]:
    """Return cubics and their slopes at s, from values and slopes at 0 and 1."""
    c = 3 * (end - start) - 2 * slope - end_slope
    d = slope + end_slope - 2 * (end - start)
    return start + s * (slope + s * (c + s * d)), slope + s * (2 * c + 3 * s * d)


def rates(before: Vector, after: Vector, length: float) -> Vector:
    """Return the time derivatives of triggers; NaN for infinite ones."""
    with np.errstate(invalid="ignore", over="ignore"):
        return (after - before) / length


def _turn_towards_zero(start: float, slope: float, end: float, end_slope: float) -> float:
    """Return the first place in (0, 1) where a cubic turns towards zero, near to it; or inf."""
    c = 3 * (end - start) - 2 * slope - end_slope
    d = slope + end_slope - 2 * (end - start)
    square = c * c - 3 * d * slope  # slope + 2 c s + 3 d s^2 = 0
    if not square > 0:
        return inf
    q = -(c + copysign(sqrt(square), c))
    roots = [numerator / by for numerator, by in ((q, 3 * d), (slope, q)) if by]
    turns = sorted(s for s in roots if 0 < s < 1)
    values = [start, *(start + s * (slope + s * (c + s * d)) for s in turns), end]
    for s, before, turn, after in zip(turns, values, values[1:], values[2:], strict=False):
        sign = 1.0 if turn < min(before, after) else -1.0
        nearest = min(sign * before, sign * after)
        if nearest >= 0 and sign * turn < REACH * (nearest - sign * turn):
            return s
    return inf
