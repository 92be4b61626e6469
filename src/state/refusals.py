"""Errors that several calls raise in the same words."""

from collections.abc import Callable, Sequence
from typing import Final, Protocol

from stagecache.checks import whole_number
from stagecache.errors import (
    StageTooHighError,
    StageTooLowError,
    UnknownItemError,
    UnknownSubsystemError,
    short_repr,
)
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


class Named(Protocol):
    """Anything with a name."""

    @property
    def name(self) -> str:
        """The name."""
        ...


def check_subsystem(which: object, subsystems: Sequence[Named], owner: Callable[[], str]) -> int:
    """Return the index of the subsystem that an integer or a name stands for."""
    if isinstance(which, str):
        same = [x for x, subsystem in enumerate(subsystems) if subsystem.name == which]
        if len(same) == 1:
            return same[0]
    number = whole_number(which)
    if number is not None and 0 <= number < len(subsystems):
        return number
    raise unknown_subsystem(which, subsystems, owner())


def unknown_subsystem(
    which: object, subsystems: Sequence[Named], owner: str
) -> UnknownSubsystemError:
    """Return the error of an index, a name or a subsystem that is not there."""
    listed = [f"{x} {s.name!r}" if s.name else str(x) for x, s in enumerate(subsystems)]
    return UnknownSubsystemError(
        f"subsystem {short_repr(which)}: is not in {owner}",
        f"an index from 0 to {len(listed) - 1}, or a name that one subsystem has"
        if listed
        else "a State with subsystems",
        short_repr(which),
        "use one of " + ", ".join(listed[:MOST_LISTED]) if listed else "call add_subsystem() first",
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
