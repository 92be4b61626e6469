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

from typing import final

from stagecache.errors import NodeKindError
from stagecache.graph.changes import invalidated_together, nodes_changed
from stagecache.graph.handles import Handles
from stagecache.graph.kind import NodeKind
from stagecache.graph.observing import last_write
from stagecache.graph.store import COMPUTING, Store
from stagecache.graph.structure import Structure
from stagecache.inspection.explain.answer import Diagnosis, answer
from stagecache.inspection.explain.consequences import entries_downstream
from stagecache.inspection.explain.explanation import Cause, CauseKind, Explanation
from stagecache.inspection.explain.first_changes import FirstChanges
from stagecache.inspection.explain.impact import Impact
from stagecache.inspection.explain.reasons import AbstractReasons
from stagecache.inspection.last_writes import kept_writes
from stagecache.inspection.subject import GraphSubject
from stagecache.state.contents.causes import Change
from stagecache.views.nodes import Reason


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
    cause = Cause(
        CauseKind.CHANGED,
        paths[variable],
        variable=paths[variable],
        version=handles.store.versions[variable],
    )
    return cause.with_trace(last_write(handles.observers, variable))


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
    valid = _valid_entries(store, paths)
    lost = _lost(structure, paths, valid, variable)
    return Impact(paths[variable], lost, lost, {}, (), (), len(valid), has_stages=False)


def _valid_entries(store: Store, paths: dict[int, str]) -> list[int]:
    kinds = store.structure.kinds
    return [n for n in paths if kinds[n] is NodeKind.CACHE_ENTRY and store.is_valid(n)]


def _lost(
    structure: Structure, paths: dict[int, str], valid: list[int], variable: int
) -> tuple[str, ...]:
    """Return the paths of the valid entries that a write of a variable makes stale."""
    below = entries_downstream(structure, [variable])
    return tuple([paths[n] for n in valid if n in below])


# ---------------------------------------------------------------------- of all nodes, for a view


@final
class GraphAnswers:
    """Impacts and reasons of a Graph as it is now, whatever happens to it later. Cost O(nodes)."""

    def __init__(self, handles: Handles) -> None:
        self._handles = handles.copy(handles.owner)
        self._paths = GraphSubject(self._handles).paths()
        kinds = self._handles.store.structure.kinds
        self._variables = [n for n in self._paths if kinds[n] is NodeKind.VARIABLE]
        self._handles.observers = kept_writes(handles.observers, self._variables)

    def impacts(self) -> dict[str, tuple[str, ...]]:
        """Return the valid entries that would become stale, by the path of each variable.

        Cost O(variables * entries).
        """
        store, paths = self._handles.store, self._paths
        valid = _valid_entries(store, paths)
        return {paths[n]: _lost(store.structure, paths, valid, n) for n in self._variables}

    def reasons(self) -> dict[str, Reason]:
        """Return the reason of each entry that is not valid, by path."""
        return GraphReasons(self._handles, self._paths).found()


@final
class GraphReasons(AbstractReasons):
    """Reasons of the entries of a Graph.

    Parameters
    ----------
    handles : Handles
    paths : dict of int to str
        By node.
    """

    def __init__(self, handles: Handles, paths: dict[int, str]) -> None:
        super().__init__(handles.store, paths)
        self._handles = handles
        self._names = paths
        self._changes = FirstChanges(handles.store)

    def _first_change(self, node: int) -> Change | None:
        return self._changes.of(node, self._store.marks[node])

    def _cause(self, change: Change) -> Cause:
        return _change(self._handles, self._names, change.node)

    def _path(self, change: Change) -> tuple[str, ...]:
        return tuple([self._names[n] for n in (change.node, *change.way)])

    def _search(self, node: int) -> Diagnosis:
        return _diagnosis(self._handles, self._names, node)
