"""Explanations and impacts of a Graph, which knows variables and entries only.

>>> from stagecache.examples.reactive_graph import build
>>> graph = build()
>>> graph["energy"]()
0.0
>>> print(graph.impact("angle"))
A write of angle makes 2 of 2 valid entries stale:
  by its own change: height, energy
>>> graph["angle"].set(0.3)
>>> print(graph.explain("energy"))
energy is stale: angle (now version 2) has changed since it was computed.
Path: angle -> height -> energy.
A call computes height, energy.
energy: stale
└─ height: stale
   ├─ length: version 1
   └─ angle: changed, now version 2
"""

from stagecache.errors import NodeKindError
from stagecache.graph.changes import invalidated_together, nodes_changed
from stagecache.graph.handles import Handles
from stagecache.graph.kind import NodeKind
from stagecache.graph.store import COMPUTING
from stagecache.inspection.explain.answer import Diagnosis, answer
from stagecache.inspection.explain.consequences import entries_downstream
from stagecache.inspection.explain.explanation import Cause, CauseKind, Explanation
from stagecache.inspection.explain.impact import Impact
from stagecache.inspection.subject import GraphSubject


def explain_entry(handles: Handles, entry: int) -> Explanation:
    """Explain the status of an entry of a Graph. Cost O(nodes)."""
    store = handles.store
    if store.structure.kinds[entry] is not NodeKind.CACHE_ENTRY:
        raise NodeKindError(
            f"{store.structure.name_of(entry)}: not an entry",
            "an entry, which may be valid or stale",
            "a variable, which has a value always",
            "ask what a write of it would make stale: graph.impact(...)",
        )
    paths = GraphSubject(handles).paths()
    diagnosis = None if store.is_valid(entry) else _diagnosis(handles, paths, entry)
    refuses = (
        str(diagnosis.cause) if diagnosis and diagnosis.cause.kind is CauseKind.COMPUTING else ""
    )
    return answer(store, handles.functions, paths, entry, diagnosis, refuses=refuses)


def _diagnosis(handles: Handles, paths: dict[int, str], entry: int) -> Diagnosis:
    store = handles.store
    mark = store.marks[entry]
    itself = (paths[entry],)
    if mark <= COMPUTING:
        return Diagnosis(Cause(CauseKind.COMPUTING), (), itself)
    if mark >= 0:
        changes = nodes_changed(store, entry, mark).changes
        if not changes:  # what a read is yet to look into
            changes = nodes_changed(store, entry, mark, cuts=False).changes
        if changes:
            first, *others = sorted(changes, key=lambda change: change.clock)
            names = tuple([paths[c.node] for c in others if c.clock != first.clock])
            path = tuple([paths[n] for n in (first.node, *first.way)])
            return Diagnosis(_change(handles, paths, first.node), names, path)
        return Diagnosis(Cause(CauseKind.UNKNOWN), (), itself)
    if not store.was_computed(entry):
        return Diagnosis(Cause(CauseKind.NEVER), (), itself)
    path = tuple([paths[n] for n in invalidated_together(store, entry)])
    return Diagnosis(Cause(CauseKind.INVALIDATED, path[0]), (), path)


def _change(handles: Handles, paths: dict[int, str], variable: int) -> Cause:
    known = (observer.last_write(variable) for observer in handles.observers)
    before, file, line = next(filter(None, known), (None, "", 0))
    return Cause(
        CauseKind.CHANGED,
        paths[variable],
        variable=paths[variable],
        version=handles.store.versions[variable],
        version_before=before,
        file=file,
        line=line,
    )


def impact_of_variable(handles: Handles, variable: int) -> Impact:
    """Return what a write of a variable of a Graph would make stale. Cost O(nodes)."""
    store = handles.store
    structure = store.structure
    if structure.kinds[variable] is NodeKind.CACHE_ENTRY:
        raise NodeKindError(
            f"{structure.name_of(variable)}: is not written",
            "a variable",
            "an entry",
            "ask why it is not valid: graph.explain(...)",
        )
    paths = GraphSubject(handles).paths()
    kinds = structure.kinds
    valid = [n for n in paths if kinds[n] is NodeKind.CACHE_ENTRY and store.is_valid(n)]
    below = entries_downstream(structure, [variable])
    lost = tuple([paths[n] for n in valid if n in below])
    return Impact(paths[variable], lost, lost, {}, (), (), len(valid), has_stages=False)
