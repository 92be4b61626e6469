"""Why an entry cannot be read: what it waits for, or which write made it stale."""

from typing import Any

from stagecache.errors import CacheEntryOutOfDateError, StagecacheError, StageTooLowError
from stagecache.graph.store import COMPUTING
from stagecache.state.contents.causes import (
    changes_upstream,
    computed_at,
    missing_stage,
    ways_upstream,
)
from stagecache.state.handles import AbstractHandle, CacheEntry
from stagecache.state.items.realization import Realization
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
        "compute its value, store it by entry.set() or entry.upd(), then call "
        "entry.mark_valid(); or give it a compute function when it is allocated",
    )


def _waits(
    realization: Realization, entry: CacheEntry[Any], path: str, *, in_hook: bool
) -> StagecacheError:
    missing = missing_stage(realization, entry)
    assert missing is not None, f"{path}: closed, but all that it waits for is there"
    x, stage, _ = missing
    what = path if x is entry else f"{path}, which depends on {realization.layout.path(x)}"
    who = realization.layout.label(x.subsystem)
    error = too_low(what, stage, who, realization.machine.stages[x.subsystem or 0])
    if not in_hook:
        return error
    return StageTooLowError(
        error.what,
        error.expected,
        error.got,
        f"let {who} be realized before: name the entry as a prerequisite of an entry of "
        "this stage, or override order_subsystems(); or read it in a later hook",
    )


def entries_upstream(realization: Realization, entry: CacheEntry[Any]) -> list[CacheEntry[Any]]:
    """The entry and all those on which it depends, directly or not, the nearest first."""
    keys = realization.store.keys
    found = [keys[node] for node in ways_upstream(realization, entry)]
    return [key for key in found if isinstance(key, CacheEntry)]


def _what_happened(realization: Realization, entry: CacheEntry[Any]) -> str:
    store = realization.store
    mark = store.marks[entry._node]
    if mark <= COMPUTING:
        return "it is being computed"
    if computed_at(realization, entry) < 0:
        _, *upstream = ways_upstream(realization, entry)
        together = [_path(realization, node) for node in upstream if store.marks[node] == mark]
        as_well = f", nor was {' or '.join(together)}" if together else ""
        return f"it was not marked since it was allocated or invalidated{as_well}"
    changed = []
    for change in changes_upstream(realization, entry, cuts=False):
        if change.stage:
            title = change.written
            if isinstance(title, AbstractHandle):
                title = realization.layout.path(title)
            changed.append(f"stage {Stage(change.stage)}, invalidated by {title}")
        else:
            version = store.versions[change.node]
            changed.append(f"{_path(realization, change.node)} (now version {version})")
    return "stale since a change of " + ", and of ".join(dict.fromkeys(changed))


def _path(realization: Realization, node: int) -> str:
    key = realization.store.keys[node]
    assert isinstance(key, AbstractHandle)
    return realization.layout.path(key)
