"""What is said of a read that an entry does not declare, and what to write instead."""

from collections.abc import Sequence
from typing import Any

from stagecache.errors import UndeclaredPrerequisiteError
from stagecache.inspection.place_of_read import Place
from stagecache.inspection.strict.coverage import Gap
from stagecache.inspection.strict.reads import Item, path_of
from stagecache.state.contents.contents import Contents
from stagecache.state.handles import AbstractContinuousVariable, AbstractHandle, CacheEntry


def hint_of(contents: Contents, entry: CacheEntry[Any], gap: Gap) -> str:
    """What to declare for a read to be covered."""
    if contents.system is not None and entry._owner is not None:
        return str(contents.system._cure_of(entry, gap))
    hints = []
    if gap.handles:
        names = ", ".join(map(_expression, (*contents.prerequisites(entry), *gap.handles)))
        comma = "," if "," not in names else ""
        hints.append(f"allocate it with the prerequisites ({names}{comma})")
    if gap.stage is not None:
        hints.append(f"allocate it with available_from=Stage.{gap.stage.name}")
    return ", and ".join(hints)


def _expression(handle: AbstractHandle) -> str:
    """How to write a handle, as far as that is known."""
    if handle._owner is not None or handle._name:
        return str(handle) if handle._owner is not None else handle._name
    if isinstance(handle, AbstractContinuousVariable) and handle.slot < 0:
        part = "" if handle.subsystem is None else f"[{handle.subsystem}]"
        return f'state{part}.variable("{handle.kind}")'
    return 'state.variable("time")' if handle.subsystem is None else f"<{handle}>"


def titles_of(contents: Contents, items: Sequence[Item]) -> str:
    """What messages call several items."""
    layout = contents.realization.layout
    return ", ".join(path_of(layout, item) for item in items if isinstance(item, AbstractHandle))


def undeclared_error(
    contents: Contents, entry: CacheEntry[Any], title: str, place: Place, hint: str
) -> UndeclaredPrerequisiteError:
    """Return what says who has read what, where, and what to write."""
    names = ", ".join(map(str, contents.prerequisites(entry))) or "none"
    file, line = place
    return UndeclaredPrerequisiteError(
        f"{contents.realization.layout.path(entry)}: reads {title}, which it does not declare",
        f"reads of its prerequisites ({names}), and of what {entry.available_from} guarantees",
        f"a read in {file}:{line}",
        hint,
    )
