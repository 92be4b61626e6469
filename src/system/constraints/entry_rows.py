"""Values of several entries, end to end, and the rows of a vector to which they go."""

import numpy as np

from stagecache.state.handles import CacheEntry, Vector
from stagecache.system.motion.differences import Read

Place = tuple[slice, CacheEntry[Vector]]
"""Rows of a vector, and what has their values."""


def reader(entries: list[Place]) -> Read:
    """A function that reads the values of entries, end to end."""
    return lambda state: np.concatenate([entry(state) for _, entry in entries])


def spread(found: Vector, entries: list[Place], values: Vector) -> None:
    """Put values that were read end to end into their rows."""
    at = 0
    for rows, _ in entries:
        count = rows.stop - rows.start
        found[rows] = values[at : at + count]
        at += count
