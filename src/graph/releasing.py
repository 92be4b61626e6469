"""Release of replaced values after the new ones are in their place.

The release of the last reference to an object runs its finalizer and the call-backs of weak
references to it, and these may read the very list that held it. Compiled by mypyc, ``items[i] =
value`` and ``object.attribute = value`` release the old value before the new one is there: a read
at that moment gets a freed object, and the process ends. So compiled code holds the old value until
the new one is in its place, or better until all is consistent again.
"""

from typing import Any


def replace(items: list[Any], place: int, value: Any) -> Any:
    """Put a value into a list, and return the one that was there."""
    before = items[place]
    items[place] = value
    return before


def let_go(_one: object, _other: object = None) -> None:
    """Do nothing: the arguments live until this is called."""


def drop(numbers: dict[int, int], key: int) -> None:
    """Remove a key, if it is there; compiled, `dict.pop` takes far longer."""
    try:  # noqa: SIM105  # suppress() is called
        del numbers[key]
    except KeyError:
        pass
