r"""Hooks and computed vectors in the graph of a State, with what they read and write.

::

    living.heats ···> living.realize_dynamics ---> living.zdot ---> zdot
    walls.flows ···'            ^                                    ^
                          stage Dynamics ----------------------------'

Dotted and solid are reads and writes that were recorded. A vector is valid by its stage. The part
of a subsystem is shown only if a hook reads or writes it alone.
"""

from collections.abc import Iterator
from typing import Final, final

from stagecache.inspection.node_paths import NodePaths, stage_path
from stagecache.inspection.node_states import NodeStates
from stagecache.inspection.reads import (
    EVERYTHING,
    KINDS,
    Hook,
    Key,
    Listener,
    Reads,
    RecordedHooks,
    Step,
    VectorPart,
)
from stagecache.state.contents.contents import Contents
from stagecache.state.handles import AbstractHandle
from stagecache.state.stage import Stage
from stagecache.state.vectors.vectors import VectorKind
from stagecache.views.nodes import EdgeInfo, EdgeKind, NodeInfo, Status

COMPUTED: Final = (
    *("qdot", "udot", "zdot", "qdotdot", "qerr", "uerr", "udoterr", "multipliers"),
    "event_triggers",
)
"""Names of the vectors."""

FILLED_BY: Final = {
    "kinematics": "qdot",
    "normalization_error": "qerr",
    "position_error": "qerr",
    "velocity_error": "uerr",
    "acceleration_error": "udoterr",
    "event_trigger": "event_triggers",
}
"""Vectors into which the values of entries are copied, by the decorator of the entry."""

SOURCES: Final = (("u", "qdot"), ("udot", "qdotdot"))
"""Vectors from which the System computes others by default."""


@final
class HookGraph:
    """Hooks and computed vectors of a State as it is now. Cost O(nodes + reads).

    Attributes
    ----------
    edges : list of EdgeInfo
        All edges from or to them.
    vectors : dict of str to (VectorKind, int or None)
        By path: the vector, and the subsystem whose part it is.
    hooks : dict of str to Hook
        By path.
    """

    def __init__(self, contents: Contents, paths: NodePaths, recorded: RecordedHooks) -> None:
        self._contents = contents
        self._paths = paths
        self._layout = contents.realization.layout
        self._taken: dict[str, int] = {}
        self._number = len(self._layout.subsystems)
        self.vectors: dict[str, tuple[VectorKind, int | None]] = {}
        self.hooks: dict[str, Hook] = {}
        self._path_of_hook: dict[Key, str] = {}
        self._path_of_vector: dict[tuple[str, int | None], str] = {}
        for name in COMPUTED:
            if self._is_there(KINDS[name]):
                self._add_vector(name, None)
        for hook in recorded.hooks:
            label = "" if hook.subsystem is None else f"{paths.subsystems[hook.subsystem]}."
            name = f"{label}{hook.name}"
            if self.hooks.get(name, hook).subsystem != hook.subsystem or name not in self.hooks:
                name = self._free(name)
                self.hooks[name] = hook
            self._path_of_hook[hook.key] = name
        found = dict.fromkeys([*self._recorded_edges(recorded.reads), *self._declared_edges()])
        self.edges = [edge for edge in found if edge.source != edge.target]

    # ------------------------------------------------------------------ nodes

    def nodes(self, *, is_static: bool) -> Iterator[NodeInfo]:
        """Yield the nodes; if static, without statuses."""
        for path, (kind, x) in self.vectors.items():
            yield NodeInfo(
                path=path,
                kind="entry",
                variant="vector",
                subsystem="" if x is None else self._paths.subsystems[x],
                stage=str(kind.read),
                computed_by=str(kind.read),
                column=str(kind.read),
                status=Status.NONE if is_static else self.status_of(path),
            )
        for path, hook in self.hooks.items():
            yield NodeInfo(
                path=path,
                kind="hook",
                variant=hook.variant,
                subsystem="" if hook.subsystem is None else self._paths.subsystems[hook.subsystem],
                stage=str(hook.stage),
                column=str(hook.stage),
                file=hook.source[0],
                line=hook.source[1],
            )

    def status_of(self, path: str) -> Status:
        """Return the status of a computed vector: the status of its stage."""
        return NodeStates(self._contents).status_of_vector(*self.vectors[path])

    def find(self, item: object) -> str:
        """Return the path of a computed vector; "" if the item is something else."""
        if not isinstance(item, str) or item in self._paths.node:
            return ""
        return next((x for x in (item, item.replace("/", ".")) if x in self.vectors), "")

    def _is_there(self, kind: VectorKind) -> bool:
        if kind.name == "event_triggers":
            return any(any(s.triggers) for s in self._layout.subsystems)
        return any(subsystem.rows[kind.part] for subsystem in self._layout.subsystems)

    def _add_vector(self, name: str, subsystem: int | None) -> str:
        label = "" if subsystem is None else f"{self._paths.subsystems[subsystem]}."
        path = self._path_of_vector[name, subsystem] = self._free(f"{label}{name}")
        self.vectors[path] = KINDS[name], subsystem
        return path

    def _free(self, path: str) -> str:
        """Return a path that is not taken: with a number appended, if needed."""
        free = path
        while free in self._paths.node or free in self.hooks or free in self.vectors:
            self._taken[path] = number = self._taken.get(path, 1) + 1
            free = f"{path} ({number})"
        return free

    # ------------------------------------------------------------------ edges

    def _recorded_edges(self, reads: Reads) -> Iterator[EdgeInfo]:
        written: dict[Key, set[str]] = {}
        for items, path in self._written(reads):
            written.setdefault(items, set()).add(path)
        for key, path in self._path_of_hook.items():
            own = written.get(key, set())
            for source in sorted(self._shown(reads.sources.get(key, set())) - own):
                yield EdgeInfo(source, path, EdgeKind.READ)
            for target in sorted(own):
                yield EdgeInfo(path, target, EdgeKind.WRITE)
        for key, sources in reads.sources.items():  # vectors are read by entries, too
            target = self._path(key) if isinstance(key, AbstractHandle) else ""
            for source in sorted(self._shown({s for s in sources if isinstance(s, VectorPart)})):
                if target and source in self.vectors:
                    yield EdgeInfo(source, target, EdgeKind.READ)

    def _written(self, reads: Reads) -> Iterator[tuple[Key, str]]:
        """Yield each hook, with the path of something that it has written."""
        by_hook: dict[Key, set[Key]] = {}
        for item, writers in reads.writers.items():
            for key in writers:
                if key in self._path_of_hook:
                    by_hook.setdefault(key, set()).add(item)
        for key, items in by_hook.items():
            for path in self._shown(items):
                yield key, path

    def _shown(self, items: set[Key]) -> set[str]:
        """Return the paths of items; parts of all subsystems are the whole vector."""
        parts: dict[str, set[int]] = {}
        found = set()
        for item in items:
            if isinstance(item, VectorPart):
                parts.setdefault(item.kind, set()).add(item.subsystem)
            else:
                found.add(self._path(item))
        for name, subsystems in parts.items():
            if name not in COMPUTED:
                found.add(name if self._shows(name) else "")
            elif (name, None) in self._path_of_vector:
                is_whole = len(subsystems) == self._number
                for x in [None] if is_whole else sorted(subsystems):
                    known = self._path_of_vector.get((name, x))
                    found.add(known or self._add_vector(name, x))
        found.discard("")
        return found

    def _shows(self, path: str) -> bool:
        """Return True if views have a variable or an entry of this path."""
        return path in self._paths.node and self._paths.is_shown(self._paths.node[path])

    def _path(self, item: Key) -> str:
        if isinstance(item, AbstractHandle):
            keys = self._contents.realization.store.keys
            node = item._node
            is_own = 0 <= node < len(keys) and keys[node] is item
            return self._paths.of.get(node, "") if is_own and self._paths.is_shown(node) else ""
        if isinstance(item, Stage):
            return stage_path(item) if item < EVERYTHING else ""
        return ""

    def _declared_edges(self) -> Iterator[EdgeInfo]:
        """Yield the edges that are known without a run."""
        for path, (kind, x) in self.vectors.items():
            yield EdgeInfo(stage_path(kind.read), path, EdgeKind.STAGE)
            if x is not None:
                yield EdgeInfo(path, self._path_of_vector[kind.name, None], EdgeKind.PART)
        for path, hook in self.hooks.items():
            if not isinstance(hook.key, Listener):
                yield EdgeInfo(stage_path(hook.stage), path, EdgeKind.STAGE)
            for name in hook.writes:
                if name in self.vectors:
                    yield EdgeInfo(path, name, EdgeKind.WRITE)
        for key, path in self._path_of_hook.items():
            trigger = key.event if isinstance(key, Listener) else ""
            if trigger in self._paths.node:
                yield EdgeInfo(trigger, path, EdgeKind.READ)
        yield from self._filled()
        for source, target in SOURCES:
            if target in self.vectors and (source in self.vectors or self._shows(source)):
                yield EdgeInfo(source, target)

    def _filled(self) -> Iterator[EdgeInfo]:
        system = self._contents.system
        for subsystem in self._layout.subsystems if system is not None else ():
            for entry in subsystem.entries:
                name = FILLED_BY.get(system._variant_of(entry), "")
                if name in self.vectors and entry._node in self._paths.of:
                    yield EdgeInfo(self._paths.of[entry._node], name)

    # ------------------------------------------------------------------ what follows a write

    def reached_from(self, starts: set[str], stage: Stage) -> tuple[str, ...]:
        """Return the hooks of a stage or later ones that have read these paths, and what follows.

        Listeners, which do not run again, are left out.
        """
        below: dict[str, list[str]] = {}
        for edge in self.edges:
            target = self.hooks.get(edge.target)
            runs_again = target is None or (
                isinstance(target.key, Step) and target.key.stage >= stage
            )
            if edge.kind is not EdgeKind.STAGE and runs_again:
                below.setdefault(edge.source, []).append(edge.target)
        dependents = self._contents.realization.store.structure.dependents
        of = self._paths.of
        found: dict[str, None] = {}
        queue = list(starts)
        for path in queue:
            node = self._paths.node.get(path)
            entries = () if node is None or path in starts else dependents[node]
            for target in (*below.get(path, ()), *[of[n] for n in entries if n in of]):
                if target not in found and target not in starts:
                    found[target] = None
                    queue.append(target)
        return tuple(found)
