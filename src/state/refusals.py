"""Errors that several calls raise in the same words."""

from collections.abc import Callable, Sequence
from operator import index
from typing import Final

from stagecache.errors import (
    OutOfRangeError,
    StageTooHighError,
    StageTooLowError,
    UnknownItemError,
    UnknownSubsystemError,
    short_repr,
)
from stagecache.state.handles import AbstractHandle
from stagecache.state.stage import Stage

MOST_LISTED: Final = 12  # subsystems that an error message lists


def too_low(what: str, needed: int, who: str, at: int) -> StageTooLowError:
    """`what` needs `who` (the system, a subsystem) at a later stage."""
    return StageTooLowError(
        f"{what}: needs a later stage",
        f"{who} at {Stage(needed)} or later",
        f"{who} at {Stage(at)}",
        f"call system.realize(state, Stage.{Stage(needed).name}) first; or, without a System, "
        "advance_to_stage(), stage by stage",
    )


def too_high(what: str, highest: int, who: str, at: int) -> StageTooHighError:
    """`what` needs `who` at an earlier stage."""
    return StageTooHighError(
        f"{what}: comes too late",
        f"{who} at {Stage(highest)}" + (" or earlier" if highest > Stage.EMPTY else ""),
        f"{who} at {Stage(at)}",
        f"do it earlier; or call invalidate_all(Stage.{Stage(highest + 1).name}) first, which also "
        "forgets what was allocated from then on",
    )


def check_subsystem(subsystem: object, count: int, label: Callable[[int], str]) -> int:
    """Return the index of a subsystem as an int, if there is one."""
    number = whole_number(subsystem)
    if number is not None and 0 <= number < count:
        return number
    hint = "call add_subsystem() first"
    if count:
        hint = "use one of " + ", ".join([label(x) for x in range(count)][:MOST_LISTED])
    raise UnknownSubsystemError(
        f"subsystem {short_repr(subsystem)}: does not exist",
        f"an index from 0 to {count - 1}" if count else "a State with subsystems",
        short_repr(subsystem),
        hint,
    )


def check_index(item: object, count: int, kind: str, whose: str) -> int:
    """Return the index of an item as an int, if there is one; an index is not negative."""
    number = whole_number(item)
    if number is not None and 0 <= number < count:
        return number
    raise UnknownItemError(
        f"{kind} {short_repr(item)} of {whose}: does not exist",
        f"an index from 0 to {count - 1}, or a handle" if count else f"a subsystem with a {kind}",
        short_repr(item),
        f"use the handle of a {kind}, which the allocating call returned, or its index",
    )


def is_item(item: object, items: Sequence[AbstractHandle]) -> bool:
    """Whether there is an item of that index, or with that handle."""
    if isinstance(item, AbstractHandle):
        return item.index < len(items) and items[item.index] is item
    number = whole_number(item)
    return number is not None and 0 <= number < len(items)


def check_count(count: object, lowest: int, what: str) -> int:
    """Return a number of things as an int, if it is one and not too low."""
    number = whole_number(count)
    if number is not None and number >= lowest:
        return number
    raise OutOfRangeError(
        f"{what}: is no possible number",
        f"an integer from {lowest} on",
        short_repr(count),
        "count again",
    )


def whole_number(value: object) -> int | None:
    """The value as an int, if it is an integer of any kind; else None."""
    if isinstance(value, bool | AbstractHandle):
        return None
    try:
        return index(value)  # type: ignore[arg-type]  # raises if it is none
    except TypeError:
        return None
