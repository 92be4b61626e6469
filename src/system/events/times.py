r"""Rounding of times, and times of periodic events.

A time that is the result of sums is seldom start + k * interval to the bit. All times, of handlers,
reporters, steps and rows, are compared by one rule, `rounding`: two of them are one time if they
differ by no more than the rounding of a sum of some thousand terms::

           k - 1           k             k + 1
        -----|----------(--|--)------------|-----
                         equal to k
"""

from math import floor, inf, nextafter, ulp
from typing import Final

SUMMED: Final = 4096
"""The assumed number of terms of a sum."""

CLOSE: Final = 1e-6
"""The largest rounding, in units of the interval, or of a term of the sum."""

FEW: Final = 16
"""The smallest rounding, in units in the last place."""


def rounding(time: float, origin: float, interval: float = inf) -> float:
    """Return the difference up to which another time is equal to a time [s].

    Each term of a sum that leads from the origin to the time adds one unit in the last place. There
    are `SUMMED` terms, or as many as there are intervals if these are more.

    Parameters
    ----------
    time, origin : float
        [s]
    interval : float
        The least difference between times that must be told apart [s].
    """
    passed = abs(time - origin)
    unit = ulp(max(abs(time), abs(origin)))
    term = interval if interval < inf else passed / SUMMED
    of_sum = min(max(SUMMED, passed / interval) * unit, CLOSE * term)
    return min(max(of_sum, FEW * unit), interval / 4)


def next_periodic_time(
    time: float, start: float, interval: float, *, include_current_time: bool
) -> float:
    """Return the next of the times start + k * interval, k = 0, 1, ...; cost O(1).

    It is found by a multiplication, so it does not drift. In [start, start + T] there are
    floor(T / interval) + 1 of them.

    Parameters
    ----------
    time, start, interval : float
        [s]
    include_current_time : bool
        True to return the present time if it is one of them, but for rounding.

    Returns
    -------
    float
        Infinite, if that is beyond all floats.
    """
    nearest = max(floor((time - start) / interval + 0.5), 0)
    found = start + nearest * interval
    if abs(found - time) <= rounding(time, start, interval):
        if include_current_time:
            return time
        found = start + (nearest + 1) * interval
    elif found < time:
        found = start + (nearest + 1) * interval
    return max(found, nextafter(time, inf))
