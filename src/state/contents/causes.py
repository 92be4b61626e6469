"""Causes of a stale entry of a State: changes upstream of it, of variables and of stages.

`stagecache.graph.changes` finds changes of nodes. The time of each write is not stored: known is,
in addition, the last one that invalidated a stage.
"""

from typing import Any

from attrs import frozen

from stagecache.errors import CacheEntryOutOfDateError, StagecacheError, StageTooLowError
from stagecache.graph.changes import Above, invalidated_together, nodes_changed, way_down
from stagecache.graph.kind import NodeKind
from stagecache.graph.store import COMPUTING, SHUT
from stagecache.state.handles import (
    AbstractContinuousVariable,
    AbstractHandle,
    CacheEntry,
    DiscreteVariable,
)
from stagecache.state.items.realization import Realization
from stagecache.state.refusals import too_low
from stagecache.state.stage import Stage
from stagecache.state.vectors.vectors import Y

Causes = list[tuple[int, object]]
"""Time and cause of the last invalidation, by stage; a cause is a handle, or text."""


@frozen
class Change:
    """Something upstream of an entry that has changed since it was computed.

    Attributes
    ----------
    clock : int
        Time of the change.
    node : int
        The variable, or the compared entry whose value was replaced by hand; -1 for a stage.
    stage : int
        The stage; 0 if the change is not one of a stage.
    written : object
        Handle of the variable written then, or later with it; or text; None if it is not known.
    way : tuple of int
        The entries from there down to the one in question.
    """

    clock: int
    node: int
    stage: int
    written: object
    way: tuple[int, ...]


def changes_upstream(
    realization: Realization, entry: CacheEntry[object], *, cuts: bool = True
) -> list[Change]:
    """Return all known changes, the nearest first, stages after variables.

    Parameters
    ----------
    cuts : bool
        Leave out changes above entries that came out equal. If False, this finds also what a
        read is yet to look into.
    """
    store = realization.store
    node = entry._node
    search = nodes_changed(store, node, computed_at(realization, entry), cuts=cuts)
    causes = known_causes(realization)
    found = []
    for change in search.changes:
        written = cause_of_variable(causes, store.keys[change.node], change.clock)
        found.append(Change(change.clock, change.node, 0, written, change.way))
    of_stages: dict[int, Change] = {}
    for visited, since in search.visited:
        key = store.keys[visited]
        assert isinstance(key, CacheEntry)
        for stage in range(key.available_from + 1):
            clock, cause = causes[stage]
            if clock > since:
                by_stage = Change(clock, -1, stage, cause, way_down(search.below, visited))
                known = of_stages.get(stage)
                if known is None or _length(realization, by_stage) < _length(realization, known):
                    of_stages[stage] = by_stage
    return [*found, *[of_stages[stage] for stage in sorted(of_stages)]]


def computed_at(realization: Realization, entry: CacheEntry[object]) -> int:
    """Return the time since which changes count; below 0 if not computed since invalidated.

    An entry that was presumed computed until something upstream was written was so up to then.
    """
    store = realization.store
    mark = store.marks[entry._node]
    group = store.group_of[entry._node]
    gate = store.gates[group]
    reached = realization.machine.stages[entry.subsystem or 0]
    if gate < SHUT and group in store.unpresumed:
        return max(mark, gate - 1) if reached >= entry.computed_by else mark
    return mark


def write_that_invalidated(realization: Realization, entry: CacheEntry[object]) -> Change | None:
    """Return the write of an auto-update variable that has discarded the entry, its next value."""
    clock = ~realization.store.marks[entry._node] - 1
    for when, cause in realization.causes:
        if when == clock and isinstance(cause, DiscreteVariable) and cause.update is not None:
            way = invalidated_together(realization.store, entry._node)
            if way[0] == cause.update._node:
                return Change(clock, cause._node, 0, cause, way)
    return None


def known_causes(realization: Realization) -> Causes:
    """Return the causes in a State, with names of handles that were forgotten since."""
    keys = realization.store.keys
    return [
        (when, str(cause))
        if isinstance(cause, AbstractHandle) and keys[cause._node] is not cause
        else (when, cause)
        for when, cause in realization.causes
    ]


def cause_of_variable(causes: Causes, variable: object, clock: int) -> object:
    """Return the cause of the last change of a variable, which was then; None if not known."""
    known = [
        (when, stage, cause)
        for stage, (when, cause) in enumerate(causes)
        if when >= clock and _overlap(cause, variable)
    ]
    if known:
        return max(known)[2]
    if isinstance(variable, AbstractContinuousVariable):
        for when, cause in causes[: Stage.INSTANCE]:
            if when == clock - 1:
                return cause  # which has dropped it, with all q, u and z
    return None


def _overlap(cause: object, variable: object) -> bool:
    """Return True if a write with this cause is one of the variable, too."""
    if not isinstance(variable, AbstractContinuousVariable):
        return cause is variable
    if cause == Y.name:
        return True
    if not isinstance(cause, AbstractContinuousVariable) or cause.kind != variable.kind:
        return False
    if cause.subsystem is None or variable.subsystem is None:
        return True
    is_whole = cause.slot < 0 or variable.slot < 0
    return cause.subsystem == variable.subsystem and (is_whole or cause.slot == variable.slot)


def _length(realization: Realization, change: Change) -> int:
    """Return a number that rises with the edges between a stage and the entry in question."""
    first = realization.store.keys[change.way[0]]
    assert isinstance(first, CacheEntry)
    return first.available_from + len(change.way)


# ---------------------------------------------------------------------- missing stages


def ways_upstream(realization: Realization, entry: CacheEntry[object]) -> Above:
    """Return the entry and all on which it depends, directly or not, with the paths down to it."""
    structure = realization.store.structure
    below: Above = {entry._node: -1}
    queue = [entry._node]
    for node in queue:
        for above in structure.prerequisites[node]:
            if above not in below and structure.kinds[above] is NodeKind.CACHE_ENTRY:
                below[above] = node
                queue.append(above)
    return below


def missing_stage(
    realization: Realization, entry: CacheEntry[object]
) -> tuple[CacheEntry[object], Stage, tuple[int, ...]]:
    """Return what keeps an entry closed: the nearest entry whose stage is not reached.

    With it, the stage, and the path down from it to the entry.
    """
    below = ways_upstream(realization, entry)
    stages = realization.machine.stages
    keys = [realization.store.keys[node] for node in below]
    nearest = next(
        key
        for key in keys
        if isinstance(key, CacheEntry) and stages[key.subsystem or 0] < key.available_from
    )
    return nearest, nearest.available_from, way_down(below, nearest._node)


# ---------------------------------------------------------------------- errors


def why_not_valid(
    realization: Realization, entry: CacheEntry[Any], *, in_hook: bool = False
) -> StagecacheError:
    """Return the error to raise at a read of an entry that is not valid, maybe in a hook."""
    path = realization.layout.path(entry)
    if realization.store.is_closed(entry._node):
        return _waits(realization, entry, path, in_hook=in_hook)
    return CacheEntryOutOfDateError(
        f"{path}: is not valid",
        "a value that was marked as valid, and nothing upstream that changed since",
        _what_happened(realization, entry),
        "compute its value, store it by entry.set() or entry.upd(), then call "
        "entry.mark_valid(); or give it a compute function when it is allocated",
    )


def _waits(
    realization: Realization, entry: CacheEntry[Any], path: str, *, in_hook: bool
) -> StagecacheError:
    x, stage, _ = missing_stage(realization, entry)
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
    """Return the entry and all on which it depends, directly or not, the nearest first."""
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
