"""Letting go of values only once nothing refers to them any more.

Whatever held the last reference to an object runs its finalizer and the call-backs of weak
references to it, and these may read the very list that held it. Compiled by mypyc, ``items[i] =
value`` and ``object.attribute = value`` let go of the old value before the new one is there: who
reads then gets a freed object, and the process ends. So compiled code keeps the old one until the
new one is in its place, and better until all is consistent again.
"""

from typing import Any


def replace(items: list[Any], place: int, value: Any) -> Any:
    """Put a value into a list, and return the one that was there."""
    before = items[place]
    items[place] = value
    return before


def let_go(*_: object) -> None:
    """Do nothing; what is passed lives until then."""
