"""Explanation of the status of an entry: ``state.explain(pendulum.tip)``.

>>> from stagecache.examples import pendulum as example
>>> system = example.system()
>>> state = system.new_state()
>>> pendulum, anchor = system["pendulum"], system["anchor"]
>>> anchor.torque(state) < 0
True
>>> pendulum.angle.set(state, 0.3)
>>> print(state.explain(anchor.torque))
anchor.torque is stale: pendulum.angle (now version 2) has changed since it was computed.
Path: pendulum.angle -> pendulum.tip -> anchor.torque.
A call computes pendulum.tip, anchor.torque.
anchor.torque: stale
├─ pendulum.tip: stale
│  ├─ pendulum.angle: changed, now version 2
│  └─ pendulum.length: version 1
└─ pendulum.weight: valid
"""

from typing import Any

from attrs import evolve

from stagecache.errors import NodeKindError
from stagecache.graph.changes import invalidated_together
from stagecache.graph.evaluation import no_function
from stagecache.graph.store import COMPUTING
from stagecache.inspection.explain.answer import Diagnosis, answer
from stagecache.inspection.explain.explanation import Cause, CauseKind, Explanation
from stagecache.inspection.node_paths import STAGES, NodePaths, invalidated_by, stage_path
from stagecache.state.contents.causes import (
    Change,
    changes_upstream,
    computed_at,
    missing_stage,
    write_that_invalidated,
)
from stagecache.state.contents.contents import Contents
from stagecache.state.contents.guards import FROZEN
from stagecache.state.handles import AbstractHandle, CacheEntry


def explain(contents: Contents, item: object) -> Explanation:
    """Explain the status of an entry, given by its handle or path. Cost O(nodes)."""
    paths = NodePaths(contents)
    node = paths.find(item)
    entry = contents.realization.store.keys[node]
    if not isinstance(entry, CacheEntry):
        raise NodeKindError(
            f"{paths.of[node]}: not an entry",
            "a cache entry, which may be valid or stale",
            "a variable, which has a value always"
            if isinstance(entry, AbstractHandle)
            else "a stage, or weights",
            "ask what a write of it would invalidate: state.impact(...)"
            if invalidated_by(contents, node) is not None
            else "call state.graph.downstream_of(...) for what depends on it",
        )
    store = contents.realization.store
    diagnosis = None
    refuses = ""
    if not store.is_valid(node):
        diagnosis = cause_of(contents, paths, entry)
        refuses = _refusal(contents, node, diagnosis.cause)
    return answer(
        store,
        contents.realization.layout.functions,
        paths.of,
        node,
        diagnosis,
        refuses=refuses,
        stages={stage_path(stage) for stage in STAGES},
    )


def _refusal(contents: Contents, node: int, cause: Cause) -> str:
    if contents.guard is FROZEN:
        return "the State is frozen"
    if cause.kind in (CauseKind.OUTDATED, CauseKind.WAITING, CauseKind.COMPUTING):
        return str(cause)
    if contents.realization.layout.functions[node] is no_function:
        return "it has no compute function"
    return ""


# ---------------------------------------------------------------------- causes


def cause_of(contents: Contents, paths: NodePaths, entry: CacheEntry[Any]) -> Diagnosis:
    """Return why an entry is not valid, what else has changed, and the path from the cause."""
    realization = contents.realization
    store = realization.store
    node = entry._node
    itself = (paths.of[node],)
    if contents.outdated_by:
        return Diagnosis(Cause(CauseKind.OUTDATED, written_as=contents.outdated_by), (), itself)
    if store.marks[node] <= COMPUTING:
        return Diagnosis(Cause(CauseKind.COMPUTING), (), itself)
    missing = missing_stage(realization, entry) if store.is_closed(node) else None
    changes: list[Change] = []
    if computed_at(realization, entry) >= 0:
        changes = changes_upstream(realization, entry)
        if not changes and missing is None:
            changes = changes_upstream(realization, entry, cuts=False)
    elif store.versions[node] and (change := write_that_invalidated(realization, entry)):
        changes = [change]
    if changes:
        first = min(changes, key=_clock)
        cause = change_of(contents, paths, first)
        if missing is not None:
            what, whose = stage_path(missing[1]), paths.subsystems[missing[0].subsystem or 0]
            cause = evolve(cause, kind=CauseKind.WAITING, what=what, subsystem=whose)
        return Diagnosis(
            cause, _others(contents, paths, changes, first), path_of(contents, paths, first)
        )
    if missing is not None:
        waiting, stage, way = missing
        whose = paths.subsystems[waiting.subsystem or 0]
        path = (stage_path(stage), *[paths.of[n] for n in way])
        return Diagnosis(Cause(CauseKind.WAITING, stage_path(stage), subsystem=whose), (), path)
    if store.marks[node] >= 0:
        return Diagnosis(Cause(CauseKind.UNKNOWN), (), itself)
    if not store.was_computed(node):
        return Diagnosis(Cause(CauseKind.NEVER), (), itself)
    path = tuple([paths.of[n] for n in invalidated_together(store, node)])
    return Diagnosis(Cause(CauseKind.INVALIDATED, path[0]), (), path)


def _others(
    contents: Contents, paths: NodePaths, changes: list[Change], first: Change
) -> tuple[str, ...]:
    """Return what else has changed, each write once."""
    seen: list[object] = []
    found: dict[str, None] = {}
    for change in sorted(changes, key=_clock):
        if change.clock != first.clock and change.written not in seen:
            found[_written_path(contents, paths, change)] = None
        if change.written is not None:
            seen.append(change.written)
    found.pop(_written_path(contents, paths, first), None)
    return tuple(found)


def _written_path(contents: Contents, paths: NodePaths, change: Change) -> str:
    node = _written_node(contents, change)
    return stage_path(change.stage) if node < 0 else paths.of[node]


def _clock(change: Change) -> int:
    return change.clock


def change_of(contents: Contents, paths: NodePaths, change: Change) -> Cause:
    """Return the cause that a change is."""
    node = _written_node(contents, change)
    written = change.written
    if isinstance(written, AbstractHandle):
        written = paths.of[written._node]
    cause = Cause(CauseKind.CHANGED, stage_path(change.stage), written_as=str(written or ""))
    if node < 0:
        return cause
    return evolve(
        cause,
        what=cause.what if change.stage else paths.of[node],
        variable=paths.of[node],
        version=contents.realization.store.versions[node],
    ).with_trace(contents.trace_of_write(node))


def _written_node(contents: Contents, change: Change) -> int:
    """The node of the variable that was written; -1 if it is not known, or y, or none."""
    if change.node >= 0:
        return change.node
    if isinstance(change.written, AbstractHandle):
        return change.written._node
    name = str(change.written).partition(" ")[0]  # of weights, maybe those of a subsystem
    return contents.realization.layout.weights.get(name, -1)


def path_of(contents: Contents, paths: NodePaths, change: Change) -> tuple[str, ...]:
    """Return the path from a change down to the entry in question."""
    way = [paths.of[n] for n in change.way]
    if not change.stage:
        return (paths.of[change.node], *way)
    first = contents.realization.store.keys[change.way[0]]
    assert isinstance(first, CacheEntry)
    stages = [stage_path(g) for g in range(change.stage, first.available_from + 1)]
    return (*start_of(contents, paths, change), *stages, *way)


def start_of(contents: Contents, paths: NodePaths, change: Change) -> tuple[str, ...]:
    """Return the variable that has left a stage, and the variables that it is a part of."""
    node = _written_node(contents, change)
    is_known = node >= 0 and paths.is_shown(node)
    return tuple([paths.of[n] for n in paths.parts_to_whole(node)]) if is_known else ()
