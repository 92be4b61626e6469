"""Signs of event triggers at the end of the last step, and unreported changes.

::

    a step        after    the values at its end
    an event      before, after: a window in which signs have changed, until it is reported
    a write       after    new values; signs that have changed since are an event at this time
                           as long as the same value comes out, a write has changed nothing

A trigger that rises or falls has gone to the other side. As long as time stands still, zero belongs
to that side: a handler may put it there.
"""

from collections.abc import Mapping
from typing import Final, Self, final

import numpy as np
from attrs import evolve, frozen

from stagecache.state.handles import Vector
from stagecache.study.integrate.localization import TriggerWatch, Window, rates

FADES: Final = 0.98
"""The part of the speed of a trigger that still counts after each step."""

FASTER: Final = 4.0
"""A trigger is taken to become faster by no more than this factor within a step."""


RECORDED: Final = ("after", "values", "gone", "slopes", "speeds")


@final
@frozen(eq=False)
class Signs:
    """The sides of zero on which triggers are, and the changes that are not reported yet.

    Attributes
    ----------
    watch : TriggerWatch
    after : (n,) float
        Values at the start of a step, whose signs are compared with later ones.
    values : (n,) float
        Their values in the State, which projection may have changed slightly.
    gone : (n,) float
        1 or -1, where a trigger has risen or fallen at this time; else 0.
    slopes : (n,) float or None
        Their time derivatives, where these are known.
    speeds : (n,) float or None
        Their largest rates of change of late; None where they are not known.
    window : Window or None
        Unreported changes of signs; both ends are the same time if a write has changed them.
    """

    watch: TriggerWatch
    after: Vector
    values: Vector
    gone: Vector
    slopes: Vector | None = None
    speeds: Vector | None = None
    window: Window | None = None

    @classmethod
    def of_nothing(cls) -> Self:
        """Return the signs before there is a State: a write brings the first triggers."""
        nothing = np.empty(0)
        return cls(TriggerWatch((), 1.0), nothing, nothing, nothing)

    @classmethod
    def of_record(cls, watch: TriggerWatch, record: Mapping[str, Vector | None]) -> Self:
        """Return the signs that `record` was taken of."""
        after, values, gone, slopes, speeds = (record[name] for name in RECORDED)
        assert after is not None
        assert values is not None
        assert gone is not None
        return cls(watch, after, values, gone, slopes, speeds)

    def record(self) -> dict[str, Vector | None]:
        """Return the numbers from which the signs can be made again; no window may be left."""
        assert self.window is None
        return {name: getattr(self, name) for name in RECORDED}

    def stepped(self, values: Vector, slopes: Vector | None, speeds: Vector) -> Self:
        """Return the signs after a step without an event."""
        return type(self)(self.watch, values, values, np.zeros(len(values)), slopes, speeds)

    def speeds_over(self, length: float, values: Vector) -> Vector:
        """Return the largest rates of triggers of late, including a step of that length."""
        speeds = np.abs(rates(self.values, values, length))
        return speeds if self.speeds is None else np.maximum(FADES * self.speeds, speeds)

    def are_far(self, length: float, values: Vector, speeds: Vector) -> bool:
        """Return True if no trigger can reach zero within a step without becoming much faster."""
        if self.speeds is None:
            return False
        nearest = np.minimum(np.abs(self.after), np.abs(values))
        is_far = (nearest > FASTER * length * speeds) & ((self.after > 0) == (values > 0))
        return bool(is_far.all())

    def triggered(self, window: Window, values: Vector) -> Self:
        """Return the signs after a step that ends at an event."""
        gone = np.zeros(len(values))
        return type(self)(self.watch, window.after, values, gone, window=window)

    def reported(self) -> Self:
        """Return the signs after the window is reported."""
        window = self.window
        assert window is not None
        gone = _left(self.gone, self.after)
        rows = self.watch.changed(window.before, window.after)
        gone[rows] = np.where(window.before[rows] < 0, 1.0, -1.0)
        return evolve(self, gone=gone, window=None)

    def written(self, watch: TriggerWatch, time: float, values: Vector) -> Self:
        """Return the signs after a write, which may have changed the number of triggers."""
        known = self if watch is self.watch else self._for(watch)
        has_gone, window = known.gone != 0, known.window
        before = np.where(has_gone, known.gone, known.after) if window is None else window.before
        after = np.where(values == known.values, known.after, values)
        sides = np.where(has_gone & (after == 0), known.gone, after)
        if watch.changed(before, sides).size:
            window = Window(time, time, before, sides)
            return type(self)(watch, after, values, known.gone, window=window)
        return type(self)(watch, after, values, _left(known.gone, after))

    def _for(self, watch: TriggerWatch) -> Self:
        """Return the signs for other triggers; new ones begin with their start values."""
        places = {key: i for i, key in enumerate(self.watch.keys)}
        rows = np.array([places.get(key, -1) for key in watch.keys], np.intp)
        is_new = rows < 0

        def moved(numbers: Vector, new: Vector | float) -> Vector:
            return np.where(is_new, new, np.append(numbers, 0.0)[rows])

        start = watch.before_start
        window = self.window
        if window is not None:
            window = evolve(
                window, before=moved(window.before, start), after=moved(window.after, start)
            )
        after, values = moved(self.after, start), moved(self.values, np.nan)
        return type(self)(watch, after, values, moved(self.gone, 0.0), window=window)


def _left(gone: Vector, after: Vector) -> Vector:
    """Return the sides to which triggers have gone, 0 for those that have come back since."""
    return np.where(np.sign(after) == -gone, 0.0, gone)
