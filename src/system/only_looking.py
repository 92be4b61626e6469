"""Giving a State to others who may look at it, realize it and compute, but not write."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from stagecache.state.contents import Contents
from stagecache.state.staged import Guard

REPORTING: Final = Guard(
    "a State that is given to what only looks at it: a reporter, a trigger or a schedule of events",
    "let a handler write it: add_event_handler() instead of add_event_reporter()",
)


@contextmanager
def looked_at(contents: Contents) -> Iterator[None]:
    """Refuse writes of a State for a while."""
    guard = contents.guard
    contents.guard = guard or REPORTING
    try:
        yield
    finally:
        contents.guard = guard
