"""Giving a State to others who may look at it, realize it and compute, but not write."""

from collections.abc import Callable
from typing import Final, TypeVar

from stagecache.state.contents.contents import Contents
from stagecache.state.contents.guards import Guard

T = TypeVar("T")

REPORTING: Final = Guard(
    "a State that is given to what only looks at it: a reporter, a trigger or a schedule of events",
    "let a handler write it: add_event_handler() instead of add_event_reporter()",
)


def only_looking(contents: Contents, look: Callable[[], T]) -> T:
    """Call a function while a State refuses writes, and return what that returns."""
    found: T = contents.guarded(contents.guard or REPORTING, look)
    return found
