"""Explanation of the status of a computed vector, the status of its stage: ``explain("udot")``.

A vector has no declared prerequisites: hooks and the System compute it on the way to its stage. So
it is valid as long as that stage is realized, and the tree shows what hooks have read in a recorded
run.
"""

from collections.abc import Callable, Sequence
from typing import final

from attrs import evolve

from stagecache.graph.status import status_of
from stagecache.inspection.explain.explain import change_of, explain, start_of
from stagecache.inspection.explain.explanation import Cause, CauseKind, Explanation
from stagecache.inspection.explain.tree import drawn_tree
from stagecache.inspection.hook_graph import HookGraph
from stagecache.inspection.node_paths import NodePaths, stage_path
from stagecache.inspection.reads import RecordedHooks
from stagecache.state.contents.causes import Change
from stagecache.state.contents.contents import Contents
from stagecache.state.handles import CacheEntry
from stagecache.state.items.layout import NO_NODE
from stagecache.state.stage import Stage
from stagecache.views.nodes import EdgeKind, Status


def explain_item(
    contents: Contents, item: object, recorded: Callable[[], RecordedHooks]
) -> Explanation:
    """Explain the status of an entry, or of a computed vector. Cost O(nodes).

    Hooks are asked for only if the item is not in the State.
    """
    if isinstance(item, str):
        paths = NodePaths(contents)
        if paths.seek(item) == NO_NODE:
            hooks = HookGraph(contents, paths, recorded())
            if vector := hooks.find(item):
                return explain_vector(contents, paths, hooks, vector)
    return explain(contents, item)


def explain_vector(
    contents: Contents, paths: NodePaths, hooks: HookGraph, path: str
) -> Explanation:
    """Explain the status of a computed vector, or of the part of a subsystem."""
    status = hooks.status_of(path)
    tree = _Tree(contents, paths, hooks).drawn(path)
    if status is Status.VALID:
        return Explanation(path, status, None, (), (), (), False, "", "", tree)
    kind, x = hooks.vectors[path]
    machine = contents.realization.machine
    at = machine.stage if x is None else machine.stages[x]
    whose = "the system" if x is None else paths.subsystems[x]
    if contents.outdated_by:
        cause = Cause(CauseKind.OUTDATED, written_as=contents.outdated_by)
        return Explanation(path, status, cause, (), (path,), (), False, str(cause), "", tree)
    first = Stage(at + 1)
    clock, written = contents.realization.causes[first]
    start: tuple[str, ...] = ()
    cause = Cause(CauseKind.WAITING)
    if status is Status.STALE and clock:
        change = Change(clock, -1, first, written, ())
        cause = change_of(contents, paths, change)
        start = start_of(contents, paths, change)
    cause = evolve(cause, kind=CauseKind.WAITING, what=stage_path(kind.read), subsystem=whose)
    stages = [stage_path(stage) for stage in range(first, kind.read + 1)]
    way = (*start, *stages, path)
    return Explanation(path, status, cause, (), way, (), False, str(cause), "", tree)


@final
class _Tree:
    """The items from which a vector was computed, as a tree."""

    def __init__(self, contents: Contents, paths: NodePaths, hooks: HookGraph) -> None:
        self._contents = contents
        self._paths = paths
        self._hooks = hooks
        self._above: dict[str, list[str]] = {}
        for edge in hooks.edges:
            if edge.kind is not EdgeKind.STAGE:
                self._above.setdefault(edge.target, []).append(edge.source)

    def drawn(self, path: str) -> str:
        """Return the tree of a vector."""
        return drawn_tree(path, self._sources, lambda each: f"{each}: {self._state(each)}")

    def _sources(self, path: str) -> Sequence[str]:
        node = self._paths.node.get(path)
        store = self._contents.realization.store
        if node is None:
            return self._above.get(path, [])
        if not isinstance(store.keys[node], CacheEntry) or store.is_valid(node):
            return []
        of = self._paths.of
        return [of[p] for p in store.structure.prerequisites[node] if p in of]

    def _state(self, path: str) -> str:
        if path in self._hooks.vectors:
            return str(self._hooks.status_of(path))
        hook = self._hooks.hooks.get(path)
        if hook is not None:
            return f"hook at {hook.stage}"
        node = self._paths.node[path]
        store = self._contents.realization.store
        if isinstance(store.keys[node], CacheEntry):
            return str(status_of(store, node))
        if path.startswith("stage "):
            reached = self._contents.realization.machine.stage
            is_realized = path in {stage_path(s) for s in range(1, reached + 1)}
            return str(Status.REALIZED if is_realized else Status.NOT_REALIZED)
        return f"version {store.versions[node]}"
