"""Items of a State by their place, which is the same in all States of a System.

Handles of what a hook allocates are others in each State, and those of a System that was built anew
are others, too. An `Item` says which one is meant.
"""

import keyword
import re
from functools import cache
from typing import Any, Final

from attrs import frozen

from stagecache.graph.evaluation import no_function
from stagecache.state.handles import (
    NO_NUMBER,
    AbstractContinuousVariable,
    AbstractHandle,
    CacheEntry,
    DiscreteVariable,
)
from stagecache.state.items.layout import Layout
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.state.vectors.vectors import CONTINUOUS
from stagecache.system.core.system import System
from stagecache.system.declare.subsystem import Subsystem

TAKEN: Final = frozenset({"Stage", "contextlib", "math", "np", "pickle", "state", "system"})


@frozen
class Item:
    """A variable or an entry.

    Attributes
    ----------
    kind : str
        "discrete", "entry", "time"; "q", "u" or "z" for a block of these.
    subsystem : int
        The index of the subsystem; -1 for the time.
    index : int
        Its place among those of its kind in the subsystem.
    """

    kind: str
    subsystem: int = -1
    index: int = 0

    def handle(self, state: State) -> Any:
        """Its handle in a State.

        Raises
        ------
        IndexError
            The State does not have it.
        """
        layout = layout_of(state)
        if self.kind == "time":
            return layout.variables["time"]
        subsystem = layout.subsystems[self.subsystem]
        if self.kind == "discrete":
            return subsystem.discrete[self.index]
        if self.kind == "entry":
            return subsystem.entries[self.index]
        return subsystem.blocks[self.kind][self.index]


TIME: Final = Item("time")
item_at: Final = cache(Item)


def layout_of(state: State) -> Layout:
    """Items that are allocated in a State."""
    return state._contents.realization.layout


def discrete_of(state: State) -> list[tuple[Item, DiscreteVariable[Any]]]:
    """All discrete variables."""
    return [
        (item_at("discrete", x, i), handle)
        for x, subsystem in enumerate(layout_of(state).subsystems)
        for i, handle in enumerate(subsystem.discrete)
    ]


def blocks_of(
    state: State, kind: str, subsystem: int | None = None
) -> list[tuple[Item, AbstractContinuousVariable]]:
    """All blocks of q, u or z, in the order in which they lie there."""
    return [
        (item_at(kind, x, i), handle)
        for x, layout in enumerate(layout_of(state).subsystems)
        if subsystem in (None, x)
        for i, handle in enumerate(layout.blocks[kind])
    ]


def variables_of(state: State) -> list[tuple[Item, Any]]:
    """All that is written one by one: the time, discrete variables and blocks."""
    found: list[tuple[Item, Any]] = [(TIME, layout_of(state).variables["time"])]
    found += discrete_of(state)
    for kind in CONTINUOUS:
        found += blocks_of(state, kind)
    return found


def entries_of(state: State) -> list[tuple[Item, CacheEntry[Any]]]:
    """All cache entries."""
    return [
        (item_at("entry", x, i), handle)
        for x, subsystem in enumerate(layout_of(state).subsystems)
        for i, handle in enumerate(subsystem.entries)
    ]


def has_item(state: State, item: Item) -> bool:
    """Return True if a State has an item."""
    try:
        item.handle(state)
    except IndexError:
        return False
    return True


def is_open(state: State, entry: CacheEntry[Any]) -> bool:
    """Return True if all stages are realized from which an entry is available."""
    return not state._contents.realization.store.is_closed(entry._node)


def is_valid(state: State, entry: CacheEntry[Any]) -> bool:
    """Return True if a read finds a value."""
    return state._contents.realization.store.is_valid(entry._node)


def is_computed(state: State, entry: CacheEntry[Any]) -> bool:
    """Return True if an entry has a compute function, so that no hook has to fill it."""
    return layout_of(state).functions[entry._node] is not no_function


def invalidated_stage(handle: AbstractHandle) -> Stage:
    """The stage that a write of a variable makes stale."""
    if isinstance(handle, DiscreteVariable):
        return handle.invalidates
    if isinstance(handle, AbstractContinuousVariable):
        stage = CONTINUOUS[handle.kind].invalidates
        assert stage is not None
        return stage
    return Stage.TIME


def upstream_of(state: State, handle: AbstractHandle) -> list[Any]:
    """A variable or an entry, and all that is upstream of it, the nearest first."""
    found, queue = {id(handle)}, [handle]
    for each in queue:
        for above in each.prerequisites(state) if isinstance(each, CacheEntry) else ():
            if id(above) not in found:
                found.add(id(above))
                queue.append(above)
    return queue


class Names:
    """Names of the subsystems of a System, and of their items, in programs."""

    def __init__(self, system: System) -> None:
        self.subsystems: list[str] = []
        for subsystem in system.subsystems:
            name = re.sub(r"\W", "_", subsystem.name)
            if not name.isidentifier() or keyword.iskeyword(name):
                name = f"subsystem_{subsystem.index}"
            while name in TAKEN or name in self.subsystems or name.startswith(("state_", "mark")):
                name += "_"
            self.subsystems.append(name)
        self._system = system

    def item(self, handle: AbstractHandle) -> str | None:
        """The expression for a handle; None if only hooks know it."""
        owner = handle._owner
        if owner is self._system:
            return f"system.{handle._declared_as}"
        if owner is not None:
            name, declared_as = self.subsystems[owner.index], handle._declared_as
            if "." in declared_as and declared_as in type(owner).declarations:
                return f'{name}.declarations["{declared_as}"].bound({name})'  # not an attribute
            number = "" if handle._number == NO_NUMBER else f"[{handle._number}]"
            return f"{name}.{declared_as}{number}"
        if handle.subsystem is None:
            return None
        attribute = _attribute(self._system.subsystems[handle.subsystem], handle)
        if attribute:
            return f"{self.subsystems[handle.subsystem]}.{attribute}"
        return None

    def get(self, handle: AbstractHandle, state: str) -> str:
        """The expression for it in a program that has a State of that name."""
        known = self.item(handle)
        if known is not None:
            return known
        assert handle.subsystem is not None
        what = "cache_entry" if isinstance(handle, CacheEntry) else "discrete_variable"
        return f"{state}[{self.subsystems[handle.subsystem]}].{what}_info({handle.index})"

    def title(self, handle: AbstractHandle) -> str:
        """Return its name in messages, as in models: "pendulum.angle"."""
        known = str(handle) if handle._owner is not None else self.item(handle)
        return known or str(handle)


def _attribute(subsystem: Subsystem, handle: AbstractHandle) -> str:
    """The attribute of a subsystem in which a hook stored a handle; "" if in none."""
    for name, value in vars(subsystem).items():
        if value is handle:
            return name
        if isinstance(value, list | tuple):
            for i, item in enumerate(value):
                if item is handle:
                    return f"{name}[{i}]"
        if isinstance(value, dict):
            for key, item in value.items():
                if item is handle:
                    return f"{name}[{key!r}]"
    return ""
