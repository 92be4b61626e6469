r"""The graph of a State as people see it: what is in it, how it is, and what depends on what.

::

    pendulum.angle --> pendulum.q --> q --> stage Position --> stage Velocity
                 \                                                    |
                  '-> pendulum.tip --> anchor.torque           pendulum.energy

A part of q invalidates what all of q does, so only the widest has the edge to a stage. Stages are
the stages of the system. Subsystems reach theirs one after the other, which is not
shown: an entry is below the stage of the system that makes it stale.
"""

from collections.abc import Callable, Iterator
from typing import Any, final

from attrs import evolve

from stagecache.graph.evaluation import Arguments, no_function
from stagecache.graph.sources import NOWHERE, shown_file, source_of
from stagecache.inspection.alike import with_alike
from stagecache.inspection.columns import columns_of
from stagecache.inspection.explain.consequences import Consequences
from stagecache.inspection.explain.reasons import StateReasons
from stagecache.inspection.hook_graph import HookGraph
from stagecache.inspection.last_writes import kept_writes
from stagecache.inspection.node_paths import STAGES, NodePaths, invalidated_by, stage_path
from stagecache.inspection.node_states import NodeStates
from stagecache.inspection.reads import RecordedHooks
from stagecache.state.contents.causes import missing_stage
from stagecache.state.contents.contents import Contents
from stagecache.state.display import snake_case
from stagecache.state.handles import (
    AbstractContinuousVariable,
    AbstractHandle,
    AutoUpdateVariable,
    CacheEntry,
    DiscreteVariable,
    TimeVariable,
)
from stagecache.state.stage import Stage
from stagecache.views.nodes import EdgeInfo, EdgeKind, NodeInfo, Reason, Status
from stagecache.views.view import GraphView


def graph_view(
    contents: Contents, title: str, recorded: RecordedHooks, *, is_static: bool = False
) -> GraphView:
    """Return the view of a State; if static, without what differs between States of a System."""
    builder = _Builder(contents, recorded, is_static=is_static)
    edges = [*builder.edges(), *builder.hooks.edges]
    nodes = with_alike([*builder.nodes()], edges, builder.classes())
    if is_static:
        return GraphView(nodes, edges, title)
    return GraphView(
        nodes,
        edges,
        title,
        find_impacts=builder.consequences().paths,
        find_reasons=builder.find_reasons(),
    )


@final
class _Builder:
    def __init__(self, contents: Contents, recorded: RecordedHooks, *, is_static: bool) -> None:
        self._contents = contents
        self._realization = contents.realization
        self._store = contents.realization.store
        self._layout = contents.realization.layout
        self._is_static = is_static
        self._states = NodeStates(contents)
        self._paths = NodePaths(contents)
        self._shown = [node for node in self._paths.of if self._paths.is_shown(node)]
        self._columns = columns_of(contents)
        self._files: dict[str, str] = {}
        self.hooks = HookGraph(contents, self._paths, recorded)

    def classes(self) -> dict[str, str]:
        """Return the names of the classes of subsystems, by the name of a subsystem."""
        system = self._contents.system
        subsystems = () if system is None else system.subsystems[: len(self._paths.subsystems)]
        return {
            name: snake_case(type(subsystem).__name__)
            for name, subsystem in zip(self._paths.subsystems, subsystems, strict=False)
        }

    # ------------------------------------------------------------------ nodes

    def nodes(self) -> Iterator[NodeInfo]:
        """All that are shown, in the order of the model."""
        stages = self._states.stages
        for node in self._shown:
            key = self._store.keys[node]
            if node in stages:
                yield self._stage(node, stages[node])
            elif isinstance(key, CacheEntry):
                yield self._entry(node, key)
            else:
                yield self._variable(node, key)
        for info in self.hooks.nodes(is_static=self._is_static):
            yield evolve(info, file=self._shown_file(info.file)) if info.file else info

    def _shown_file(self, file: str) -> str:
        if file not in self._files:
            self._files[file] = shown_file(file) if file else ""
        return self._files[file]

    def _family(self, key: object) -> str:
        """Return the path of the family of a handle; "" without one."""
        if not isinstance(key, AbstractHandle) or key._number < 0 or key._owner is None:
            return ""
        return f"{self._paths.subsystems[key.subsystem or 0]}.{key._declared_as}"

    def _stage(self, node: int, stage: Stage) -> NodeInfo:
        return NodeInfo(
            path=self._paths.of[node],
            kind="stage",
            variant="stage",
            stage=str(stage),
            column=str(stage),
            status=self._status(node),
            version=self._version(node),
        )

    def _variable(self, node: int, key: object) -> NodeInfo:
        subsystem = key.subsystem if isinstance(key, AbstractHandle) else None
        system = self._contents.system
        is_declared = system is not None and isinstance(key, AbstractHandle)
        file, line = system._source_of(key) if is_declared else NOWHERE
        return NodeInfo(
            path=self._paths.of[node],
            kind="variable",
            variant=_variant(key),
            subsystem="" if subsystem is None else self._paths.subsystems[subsystem],
            stage=str(invalidated_by(self._contents, node)),
            status=self._status(node),
            version=self._version(node),
            value=self._value(node),
            file=self._shown_file(file),
            line=line,
            column=str(self._columns[node]),
            family=self._family(key),
        )

    def _entry(self, node: int, entry: CacheEntry[Any]) -> NodeInfo:
        function = self._layout.functions[node]
        file, line = NOWHERE if function is no_function else source_of(function)
        system = self._contents.system
        if not file and system is not None:
            file, line = system._source_of(entry)  # of an entry that the library computes
        is_lazy = entry.computed_by == Stage.INFINITY
        return NodeInfo(
            path=self._paths.of[node],
            kind="entry",
            variant="cached" if system is None else system._variant_of(entry),
            subsystem=self._paths.subsystems[entry.subsystem or 0],
            stage=str(entry.available_from),
            computed_by="" if is_lazy else str(entry.computed_by),
            status=self._status(node),
            waits_for="" if self._is_static else self._awaited(node, entry),
            version=self._version(node),
            value=self._value(node),
            file=self._shown_file(file),
            line=line,
            column=str(self._columns[node]),
            family=self._family(entry),
        )

    def _awaited(self, node: int, entry: CacheEntry[Any]) -> str:
        """The stage for which an entry waits; "" if it can be computed."""
        if not self._store.is_closed(node):
            return ""
        return str(missing_stage(self._realization, entry)[1])

    def _status(self, node: int) -> Status:
        return Status.NONE if self._is_static else self._states.status(node)

    def _version(self, node: int) -> int | None:
        return None if self._is_static else self._states.version(node)

    def _value(self, node: int) -> str:
        return "" if self._is_static else self._states.value(node)

    # ------------------------------------------------------------------ edges and impacts

    def edges(self) -> Iterator[EdgeInfo]:
        """All between nodes that are shown."""
        of = self._paths.of
        for stage in STAGES[1:]:
            yield EdgeInfo(stage_path(stage - 1), stage_path(stage), EdgeKind.STAGE)
        for node in self._shown:
            key = self._store.keys[node]
            if isinstance(key, CacheEntry):
                yield EdgeInfo(stage_path(key.available_from), of[node], EdgeKind.STAGE)
                for above in self._store.structure.prerequisites[node]:
                    if above in of:
                        yield EdgeInfo(of[above], of[node])
            else:
                yield from self._edges_of_variable(node, key)

    def _edges_of_variable(self, node: int, key: object) -> Iterator[EdgeInfo]:
        of = self._paths.of
        _, *wholes = self._paths.parts_to_whole(node)
        if wholes:
            yield EdgeInfo(of[node], of[wholes[0]], EdgeKind.PART)
        elif (stage := invalidated_by(self._contents, node)) is not None:
            yield EdgeInfo(of[node], stage_path(stage), EdgeKind.INVALIDATES)
        if isinstance(key, DiscreteVariable) and key.update is not None:
            update = key.update._node
            if node not in self._store.structure.prerequisites[update]:
                yield EdgeInfo(of[node], of[update], EdgeKind.INVALIDATES)

    def consequences(self) -> Consequences:
        """Consequences of writes, which do not follow the State."""
        self._realization.share()
        self._store.share()
        return Consequences(self._contents, self._paths)

    def find_reasons(self) -> Callable[[], dict[str, Reason]]:
        """Return a function that finds the reasons as they are now, whatever is written later."""
        contents = self._contents
        twin = Contents(self._realization.clone(_no_arguments), contents.system)
        if contents.outdated_by:
            twin.outdate(contents.outdated_by)
        variables = (n for n in self._paths.of if invalidated_by(contents, n) is not None)
        twin.observers = kept_writes(contents.observers, variables)
        return lambda: StateReasons(twin, self._paths).found()


def _no_arguments(_: int) -> Arguments:
    """Return no arguments, for a copy that computes nothing."""
    return ()


def _variant(key: object) -> str:
    if isinstance(key, AbstractContinuousVariable):
        return key.kind
    if isinstance(key, AutoUpdateVariable):
        return "auto-update"
    if isinstance(key, DiscreteVariable):
        special = {Stage.MODEL: "modeling option", Stage.INSTANCE: "parameter"}
        return special.get(key.invalidates, "discrete")
    return "time" if isinstance(key, TimeVariable) else "weights"
