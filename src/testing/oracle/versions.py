"""Precision and versions: writes make only dependents stale, and versions count writes."""

from typing import Any

from stagecache.state.handles import AbstractHandle, CacheEntry
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.state.vectors.vectors import VECTORS
from stagecache.testing.items import (
    Item,
    entries_of,
    invalidated_stage,
    layout_of,
    variables_of,
)


class Before:
    """The versions of variables, and which entries were realized, before an operation.

    Attributes
    ----------
    valid : list of CacheEntry
    versions : dict of int to int
        By the identity of a handle.
    """

    def __init__(self, state: State) -> None:
        store = state._contents.realization.store
        self.valid = [e for _, e in entries_of(state) if store.is_valid(e._node)]
        self.versions = {id(h): store.versions[h._node] for h in _all_variables(state)}

    def lost(self, state: State, written: list[Item | str], stage: Stage) -> list[Item]:
        """Return the entries that are stale although nothing upstream was written.

        Parameters
        ----------
        stage : Stage
            That was invalidated, beside those that writes invalidate.
        """
        store = state._contents.realization.store
        stale = [
            (item, entry)
            for item, entry in entries_of(state)
            if entry in self.valid and not store.is_valid(entry._node)
        ]
        if not stale:
            return []
        stages = [stage]
        stages += [invalidated_stage(x.handle(state)) for x in written if isinstance(x, Item)]
        stages += [k.invalidates for k in VECTORS if k.name in written and k.invalidates]
        changed = {
            id(h) for h in _all_variables(state) if self.versions.get(id(h)) != h.version(state)
        }
        for subsystem in layout_of(state).subsystems:
            changed |= {id(v._update) for v in subsystem.auto_update if id(v) in changed}
        return [
            item for item, entry in stale if not _is_downstream(state, entry, changed, min(stages))
        ]

    def miscounted(self, state: State, written: list[Item | str]) -> list[tuple[Item, int, int]]:
        """The variables whose versions do not count writes, with the version before and now."""
        handles = [item.handle(state) for item in written if isinstance(item, Item)]
        lowest = min(map(invalidated_stage, handles), default=Stage.INFINITY)
        found = []
        for item, handle in variables_of(state):
            before = self.versions.get(id(handle))
            now = handle.version(state)
            is_reset = lowest <= Stage.MODEL and item.kind not in ("discrete", "time")
            if before is None or (is_reset and now >= before):
                continue
            if (now <= before) if item in written else (now != before):
                found.append((item, before, now))
        return found


def upstream_of(state: State, handle: AbstractHandle) -> list[Any]:
    """A variable or an entry, and all that is upstream of it, the nearest first."""
    found, queue = {id(handle)}, [handle]
    for each in queue:
        for above in each.prerequisites(state) if isinstance(each, CacheEntry) else ():
            if id(above) not in found:
                found.add(id(above))
                queue.append(above)
    return queue


def _is_downstream(state: State, entry: Any, changed: set[int], stage: Stage) -> bool:
    return any(
        id(each) in changed or (isinstance(each, CacheEntry) and each.available_from >= stage)
        for each in upstream_of(state, entry)
    )


def _all_variables(state: State) -> list[AbstractHandle]:
    """The time, discrete variables, blocks, and all wholes."""
    layout = layout_of(state)
    found: list[AbstractHandle] = [handle for _, handle in variables_of(state)]
    found += [layout.variables[kind] for kind in "quz"]
    return found + [w for subsystem in layout.subsystems for w in subsystem.whole.values()]
