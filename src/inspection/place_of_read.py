"""Where in the code of a model something is read."""

import sys
from typing import Final

LIBRARY: Final = (
    *("stagecache.graph.", "stagecache.state.", "stagecache.inspection.", "stagecache.numerics."),
    *("stagecache.system.", "numpy."),
)
CHECKING: Final = ("stagecache.state.display", "stagecache.system.constraints.errors")
"""Of the library, what reads on behalf of no computation: to show something, or to check it."""

Place = tuple[str, int]
"""A file and a line in it."""


def place_of_read() -> Place | None:
    """Where in the code of a model something is read; None if the library does."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        module = frame.f_globals.get("__name__", "")
        if module in CHECKING:
            return None
        if not module.startswith(LIBRARY):
            break
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno
