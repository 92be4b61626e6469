"""Items of a State by their place, which is the same in all States of a System.

Handles that a hook allocates differ in each State, and a System that is built anew has new handles.
An `Item` identifies them in all of these.
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

TAKEN: Final = frozenset(
    {
        *("Stage", "State", "contextlib", "interrupted", "math", "np", "pickle", "state"),
        *("read_in_threads", "system"),
    }
)


@frozen
class Item:
    """A variable or an entry.

    Attributes
    ----------
    kind : str
        "discrete", "entry", "time"; "q", "u" or "z" for a block of these.
    subsystem : int
        Index of the subsystem; -1 for the time.
    index : int
        Index among those of its kind in the subsystem.
    """

    kind: str
    subsystem: int = -1
    index: int = 0

    def handle(self, state: State) -> Any:
        """Return the handle in a State.

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
    """Return the layout of all items of a State."""
    return state._contents.realization.layout


def discrete_of(state: State) -> list[tuple[Item, DiscreteVariable[Any]]]:
    """Return all discrete variables."""
    return [
        (item_at("discrete", x, i), handle)
        for x, subsystem in enumerate(layout_of(state).subsystems)
        for i, handle in enumerate(subsystem.discrete)
    ]


def blocks_of(
    state: State, kind: str, subsystem: int | None = None
) -> list[tuple[Item, AbstractContinuousVariable]]:
    """Return all blocks of q, u or z, in their order."""
    return [
        (item_at(kind, x, i), handle)
        for x, layout in enumerate(layout_of(state).subsystems)
        if subsystem in (None, x)
        for i, handle in enumerate(layout.blocks[kind])
    ]


def variables_of(state: State) -> list[tuple[Item, Any]]:
    """Return all variables that are written one by one: time, discrete variables, blocks."""
    found: list[tuple[Item, Any]] = [(TIME, layout_of(state).variables["time"])]
    found += discrete_of(state)
    for kind in CONTINUOUS:
        found += blocks_of(state, kind)
    return found


def entries_of(state: State) -> list[tuple[Item, CacheEntry[Any]]]:
    """Return all cache entries."""
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
    """Return True if an entry is available at the stages that are realized."""
    return not state._contents.realization.store.is_closed(entry._node)


def is_valid(state: State, entry: CacheEntry[Any]) -> bool:
    """Return True if a read finds a value."""
    return state._contents.realization.store.is_valid(entry._node)


def is_computed(state: State, entry: CacheEntry[Any]) -> bool:
    """Return True if an entry has a compute function, so that no hook has to fill it."""
    return layout_of(state).functions[entry._node] is not no_function


def invalidated_stage(handle: AbstractHandle) -> Stage:
    """Return the stage that a write of a variable makes stale."""
    if isinstance(handle, DiscreteVariable):
        return handle.invalidates
    if isinstance(handle, AbstractContinuousVariable):
        stage = CONTINUOUS[handle.kind].invalidates
        assert stage is not None
        return stage
    return Stage.TIME


def upstream_of(state: State, handle: AbstractHandle) -> list[Any]:
    """Return a variable or an entry, and everything upstream of it, nearest first."""
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
        """Return the expression for a handle; None if only hooks know it."""
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
        """Return the expression for a handle in a program that has a State of this name."""
        known = self.item(handle)
        if known is not None:
            return known
        assert handle.subsystem is not None
        what = "cache_entry" if isinstance(handle, CacheEntry) else "discrete_variable"
        return f"{state}[{self.subsystems[handle.subsystem]}].{what}_info({handle.index})"

    def title(self, handle: AbstractHandle) -> str:
        """Return the name of a handle in messages, as in models: "pendulum.angle"."""
        known = str(handle) if handle._owner is not None else self.item(handle)
        return known or str(handle)


def _attribute(subsystem: Subsystem, handle: AbstractHandle) -> str:
    """Return the attribute of a subsystem in which a hook stored a handle; "" if in none."""
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
