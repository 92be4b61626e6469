"""The place of a read in the code of a model."""

import sys
from typing import Final

LIBRARY: Final = (
    *("stagecache.graph.", "stagecache.state.", "stagecache.inspection.", "stagecache.numerics."),
    *("stagecache.sharing.", "stagecache.system.", "numpy."),
)
SHOWING: Final = "stagecache.state.display"
"""Module of the library that reads to show something, not for a computation."""

Place = tuple[str, int]
"""A file and a line in it."""


def place_of_read() -> Place | None:
    """Return the file and line of a read in the code of a model; None if the library reads."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        module = frame.f_globals.get("__name__", "")
        if module == SHOWING:
            return None
        if not module.startswith(LIBRARY):
            break
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno
