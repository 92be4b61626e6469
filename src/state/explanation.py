"""Why an entry cannot be read: what it waits for, or which write made it stale."""

from typing import Any

from stagecache.errors import CacheEntryOutOfDateError, StagecacheError, StageTooLowError
from stagecache.graph.kind import NodeKind
from stagecache.graph.store import COMPUTING
from stagecache.state.handles import AbstractHandle, CacheEntry
from stagecache.state.realization import Realization
from stagecache.state.refusals import too_low
from stagecache.state.stage import Stage


def why_unrealized(
    realization: Realization, entry: CacheEntry[Any], *, in_hook: bool = False
) -> StagecacheError:
    """The error to raise at a read of an entry that is not realized, maybe in a hook."""
    path = realization.layout.path(entry)
    if realization.store.is_closed(entry._node):
        return _waits(realization, entry, path, in_hook=in_hook)
    return CacheEntryOutOfDateError(
        f"{path}: is not realized",
        "a value that was marked as realized, and nothing upstream that changed since",
        _what_happened(realization, entry),
        "compute its value, store it by upd_cache_entry() or set_cache_entry(), then call "
        "mark_cache_value_realized(); or give it a compute function when it is allocated",
    )


def _waits(
    realization: Realization, entry: CacheEntry[Any], path: str, *, in_hook: bool
) -> StagecacheError:
    stages = realization.stages
    for x in entries_upstream(realization, entry):
        if x.subsystem is not None and stages[x.subsystem] < x.depends_on:
            what = path if x is entry else f"{path}, which depends on {realization.layout.path(x)}"
            who = realization.layout.label(x.subsystem)
            error = too_low(what, x.depends_on, who, stages[x.subsystem])
            if not in_hook:
                return error
            return StageTooLowError(
                error.what,
                error.expected,
                error.got,
                f"let {who} be realized before: name the entry as a prerequisite of an entry of "
                "this stage, or override order_subsystems(); or read it in a later hook",
            )
    raise AssertionError(f"{path}: closed, but all that it waits for is there")


def entries_upstream(realization: Realization, entry: CacheEntry[Any]) -> list[CacheEntry[Any]]:
    """The entry and all those on which it depends, directly or not, the nearest first."""
    structure = realization.store.structure
    found = {entry._node}
    queue = [entry]
    for e in queue:
        for node in structure.prerequisites[e._node]:
            key = structure.keys[node]
            if node not in found and isinstance(key, CacheEntry):
                found.add(node)
                queue.append(key)
    return queue


def _what_happened(realization: Realization, entry: CacheEntry[Any]) -> str:
    store = realization.store
    structure = store.structure
    layout = realization.layout
    mark = store.marks[entry._node]
    upstream = entries_upstream(realization, entry)
    if mark <= COMPUTING:
        return "it is being computed"
    if mark < 0:
        together = [layout.path(x) for x in upstream[1:] if store.marks[x._node] == mark]
        as_well = f", nor was {' or '.join(together)}" if together else ""
        return f"it was not marked since it was allocated or invalidated{as_well}"
    changed = []
    for x in upstream:
        for node in structure.prerequisites[x._node]:
            if structure.kinds[node] == NodeKind.VARIABLE and store.gates[node] > mark:
                key = structure.keys[node]
                assert isinstance(key, AbstractHandle)
                changed.append(f"{layout.path(key)} (now version {store.versions[node]})")
    for stage in range(entry.depends_on + 1):
        clock, cause = realization.causes[stage]
        if clock > mark:
            what = layout.path(cause) if isinstance(cause, AbstractHandle) else cause
            changed.append(f"stage {Stage(stage)}, invalidated by {what}")
    return "stale since a change of " + ", and of ".join(dict.fromkeys(changed))
