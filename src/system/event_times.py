"""Times of scheduled events, which rounding must neither double nor swallow.

A time that is the result of sums is not exactly start + k * interval. So a time that is close to
one of these counts as it::

           k - 1           k             k + 1
        -----|----------(--|--)------------|-----
    event k is now       ^   ^  event k was, for who integrates never steps over its time
"""

from math import floor, inf, nextafter, ulp
from typing import Final

CLOSE: Final = 1e-6
"""In units of the interval: larger differences are never taken for rounding."""

FEW: Final = 4


def rounding_of_periodic(time: float, start: float, interval: float) -> float:
    """By how much a time may differ from start + k * interval, and count as it [s].

    That is what the rounding of a sum of k intervals can amount to.
    """
    unit = ulp(max(abs(time), abs(start)))
    of_sum = min(abs(time - start) / interval * unit, CLOSE * interval)
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
        Whether it may be the present time: that itself is returned, if it is one of them, or so
        little before it that it counts as it.

    Returns
    -------
    float
        Infinite, if that is beyond all floats.
    """
    close = rounding_of_periodic(time, start, interval)
    if time < start - close:
        return start
    nearest = max(floor((time - start) / interval + 0.5), 0)
    found = start + nearest * interval
    if abs(found - time) <= close:
        if include_current_time and time <= found:
            return time
        found = start + (nearest + 1) * interval
    elif found < time:
        found = start + (nearest + 1) * interval
    return max(found, nextafter(time, inf))
