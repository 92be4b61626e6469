"""What a write of a variable would make unrealized, without writing: ``state.impact(length)``.

>>> from stagecache.demo.pendulum import make_system
>>> system = make_system()
>>> state = system.realize_topology().copy()
>>> system.realize(state)
>>> print(state.impact("pendulum.angle"))
A write of pendulum.angle leaves stages Position to Report. It makes 1 of 2 entries unrealized:
  by its own change: pendulum.tip
"""

from html import escape
from typing import Any, final

from attrs import asdict, frozen

from stagecache.errors import NodeKindError
from stagecache.graph.kind import NodeKind
from stagecache.state.contents import Contents
from stagecache.state.display import counted
from stagecache.state.handles import AbstractContinuousVariable, CacheEntry, DiscreteVariable
from stagecache.state.node_paths import NodePaths, invalidated_by
from stagecache.state.stage import Stage
from stagecache.state.staged import INSTANCE, MODEL
from stagecache.state.vectors import WEIGHTS, Y


@final
@frozen(repr=False, str=False)
class Impact:
    """What a write of a variable would do.

    Attributes
    ----------
    variable : str
        Its path.
    entries : tuple of str
        The entries that are realized and would not be any more, in the order of the model.
    by_prerequisite : tuple of str
        Of these, those that depend on the variable, directly or by other entries; the next value of
        an auto-update variable, too.
    by_stage : dict of str to tuple of str
        The others, by the stage on which they depend.
    stages : tuple of str
        The stages that the system, or a subsystem, would leave.
    forgotten : tuple of str
        What would be forgotten, realized or not, as it was allocated at one of these stages.
    num_realized : int
        How many entries are realized now.
    """

    variable: str
    entries: tuple[str, ...]
    by_prerequisite: tuple[str, ...]
    by_stage: dict[str, tuple[str, ...]]
    stages: tuple[str, ...]
    forgotten: tuple[str, ...]
    num_realized: int

    def as_dict(self) -> dict[str, Any]:
        """All of it, as JSON takes it."""
        found: dict[str, Any] = asdict(self)
        return {name: list(v) if isinstance(v, tuple) else v for name, v in found.items()} | {
            "by_stage": {stage: list(entries) for stage, entries in self.by_stage.items()}
        }

    def __str__(self) -> str:
        if not self.stages:
            left = "leaves no stage"
        elif len(self.stages) == 1:
            left = f"leaves stage {self.stages[0]}"
        else:
            left = f"leaves stages {self.stages[0]} to {self.stages[-1]}"
        number = f"{len(self.entries)} of {counted(self.num_realized, 'entry')}"
        lines = [f"A write of {self.variable} {left}. It makes {number} unrealized:"]
        if not self.entries:
            lines = [f"A write of {self.variable} {left}. It makes no entry unrealized."]
        if self.by_prerequisite:
            lines.append(f"  by its own change: {', '.join(self.by_prerequisite)}")
        for stage, entries in self.by_stage.items():
            lines.append(f"  by stage {stage}: {', '.join(entries)}")
        if self.forgotten:
            lines.append(f"  forgotten: {', '.join(self.forgotten)}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return (
            f"Impact({self.variable}: {len(self.entries)} of {self.num_realized} realized entries)"
        )

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def impact(contents: Contents, item: object) -> Impact:
    """Return what a write of a variable, given by its handle or path, would do."""
    realization = contents.realization
    store = realization.store
    paths = NodePaths(contents)
    updates: list[int] = []
    if isinstance(item, str) and item == Y.name:
        name, stage = Y.name, Stage.POSITION
        written = realization.layout.variable_nodes(Y.name, None)
    else:
        node = paths.find(item)
        name = paths.of[node]
        stage = _invalidated(contents, paths, node)
        written = _written_with(contents, node)
        key = store.keys[node]
        if isinstance(key, DiscreteVariable) and key.update is not None:
            updates = [key.update._node]
    own = _downstream(contents, [*written, *updates])
    others = {realization.layout.stages[stage]}
    if stage <= MODEL <= realization.stage:
        others.update(realization.layout.variable_nodes(Y.name, None))  # they are dropped
    by_stage = _downstream(contents, list(others))
    is_left = realization.highest >= stage
    forgotten = _forgotten(contents, stage - 1) if is_left and stage - 1 < INSTANCE else set()
    entries = {n: key for n in paths.of if isinstance(key := store.keys[n], CacheEntry)}
    realized = [n for n in entries if store.is_valid(n)]
    lost = [n for n in realized if n in own or n in by_stage or n in forgotten]
    groups: dict[str, list[str]] = {}
    for n in sorted(lost, key=lambda n: entries[n].depends_on):
        if n not in own:
            groups.setdefault(str(entries[n].depends_on), []).append(paths.of[n])
    return Impact(
        name,
        tuple([paths.of[n] for n in lost]),
        tuple([paths.of[n] for n in lost if n in own]),
        {stage: tuple(members) for stage, members in groups.items()},
        tuple([str(Stage(g)) for g in range(stage, realization.highest + 1)]),
        tuple([path for n, path in paths.of.items() if n in forgotten]),
        len(realized),
    )


def _invalidated(contents: Contents, paths: NodePaths, node: int) -> Stage:
    key = contents.realization.store.keys[node]
    stage = invalidated_by(contents, node)
    if stage is None:
        raise NodeKindError(
            f"{paths.of[node]}: is not written",
            "a variable",
            "a cache entry" if isinstance(key, CacheEntry) else "a stage",
            "ask why it is not realized: state.explain(...)"
            if isinstance(key, CacheEntry)
            else "call state.graph.downstream_of(...) for what depends on it",
        )
    return stage


def _written_with(contents: Contents, node: int) -> list[int]:
    """The nodes of a variable and of those that overlap it."""
    layout = contents.realization.layout
    key = contents.realization.store.keys[node]
    for kind in WEIGHTS:
        if node == layout.weights[kind.name]:
            return [node]
    if not isinstance(key, AbstractContinuousVariable):
        return [node]
    if key.slot < 0 or key.subsystem is None:
        return layout.variable_nodes(key.kind, key.subsystem)
    whole = layout.subsystems[key.subsystem].whole[key.kind]
    return [node, whole._node, layout.variables[key.kind]._node]


def _downstream(contents: Contents, nodes: list[int]) -> set[int]:
    """The entries among these nodes, and below them."""
    structure = contents.realization.store.structure
    found = set(nodes)
    for n in nodes:
        for below in structure.dependents[n]:
            if below not in found:
                found.add(below)
                nodes.append(below)
    return {n for n in found if structure.kinds[n] is NodeKind.CACHE_ENTRY}


def _forgotten(contents: Contents, stage: int) -> set[int]:
    """The items that were allocated at a stage or a later one."""
    realization = contents.realization
    return {
        item._node
        for subsystem in realization.layout.subsystems
        for item in subsystem.items()
        if item.allocated_at >= stage
    }
