"""Places in a model where an error was raised."""

import sysconfig
from collections.abc import Iterator
from types import FrameType
from typing import Final

from stagecache.system.declare.subsystem import Subsystem

LIBRARY: Final = (
    *("stagecache.graph.", "stagecache.state.", "stagecache.inspection.", "stagecache.numerics."),
    "stagecache.system.",
)
KIT: Final = "stagecache.testing."
INSTALLED: Final = tuple(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))
"""Folders of packages that a model calls. Of their errors, the call is shown."""


def place_of(error: BaseException) -> str:
    """The file and the line in the model, as `file.py:12`; empty if no model was called."""
    found = [
        (frame.f_code.co_filename, line)
        for frame, line in frames_of(error)
        if not frame.f_globals.get("__name__", "").startswith((*LIBRARY, KIT))
    ]
    own = [place for place in found if not place[0].startswith(INSTALLED)]
    if not found:
        return ""
    file, line = (own or found)[-1]
    return f"{file}:{line}"


def hook_of(error: BaseException) -> str:
    """The hook that raised it, or called what did: `tank.realize_time`; empty if none did."""
    for frame, _ in frames_of(error):
        owner, name = frame.f_locals.get("self"), frame.f_code.co_name
        if isinstance(owner, Subsystem) and name.startswith("realize_"):
            return f"{owner.name}.{name}"
    return ""


def depth_of(error: BaseException) -> int:
    """Count the calls between the place that raised and the one that caught."""
    return len(list(frames_of(error)))


def frames_of(error: BaseException) -> Iterator[tuple[FrameType, int]]:
    """Return the calls, from the outside in, and their lines."""
    at = error.__traceback__
    while at is not None:
        yield at.tb_frame, at.tb_lineno
        at = at.tb_next
