"""Consequences of each write to a State as it is now: entries that it makes stale, and how.

::

    length --> tip --> torque              its own change: whatever is valid
      \
       '-> stage Instance --> energy       the stages that the write invalidates
               \
                '-> allocated at Model     what is forgotten, as that stage is left
                 \
                  '-> stage Dynamics       what was presumed computed when it was reached
"""

from collections.abc import Iterable
from typing import Any, final

from attrs import frozen

from stagecache.graph.kind import NodeKind
from stagecache.graph.store import Store
from stagecache.graph.structure import Structure
from stagecache.inspection.node_paths import NodePaths, invalidated_by
from stagecache.state.contents.contents import Contents
from stagecache.state.handles import (
    AbstractContinuousVariable,
    AbstractHandle,
    CacheEntry,
    DiscreteVariable,
)
from stagecache.state.items.stage_machine import INSTANCE, MODEL
from stagecache.state.stage import Stage
from stagecache.state.vectors.vectors import Y


@frozen
class Consequence:
    """Consequence of a write.

    Attributes
    ----------
    lost : tuple of int
        Valid entries that would be stale, in the order of the model.
    own : frozenset of int
        The entries that depend on what is written, valid or not.
    forgotten : frozenset of int
        What would be forgotten.
    written : tuple of int
        The variable, and those that overlap it.
    by_stage : dict of int to Stage
        The entries of `lost` that do not depend on what is written: the stage that they depend on,
        or at which they are presumed computed, and that is left.
    """

    lost: tuple[int, ...]
    own: frozenset[int]
    forgotten: frozenset[int]
    written: tuple[int, ...]
    by_stage: dict[int, Stage]


@final
class Consequences:
    """Consequences of writes to a State, as it is when this is made. Cost O(nodes).

    It does not follow the State later, if that shares its structure and layout.

    Attributes
    ----------
    valid : dict of int to CacheEntry
        In the order of the model.
    stages : dict of int to Stage
        By variable: the one that a write invalidates.
    """

    def __init__(self, contents: Contents, paths: NodePaths) -> None:
        realization = contents.realization
        store = realization.store
        self._structure = store.structure
        self._layout = realization.layout
        self._paths = paths.of
        self._stage = realization.machine.stage
        self._highest = realization.machine.highest
        self._below_stages: dict[Stage, frozenset[int]] = {}
        self._left_with: dict[Stage, dict[int, Stage]] = {}
        self.valid: dict[int, CacheEntry[Any]] = {
            node: key
            for node in paths.of
            if isinstance(key := store.keys[node], CacheEntry) and store.is_valid(node)
        }
        self._presumed: dict[int, Stage] = {
            node: entry.computed_by
            for node, entry in self.valid.items()
            if _is_presumed(store, node)
        }
        self.stages = {
            node: stage
            for node in paths.of
            if (stage := invalidated_by(contents, node)) is not None
        }

    def of(self, variable: int) -> Consequence:
        """Return the consequence of a write of a variable."""
        return self._of(self._written(variable), self.stages[variable])

    def of_y(self) -> Consequence:
        """Return the consequence of a write of all q, u and z."""
        return self._of(self._layout.variable_nodes(Y.name, None), Stage.POSITION)

    def paths(self) -> dict[str, tuple[str, ...]]:
        """Return the valid entries that would become stale, by the path of each variable.

        Variables that make nothing stale but what their stage does share one tuple. Cost O(nodes),
        and of others O(entries that they make stale).
        """
        of = self._paths
        order = {node: number for number, node in enumerate(self.valid)}
        of_stages: dict[Stage, tuple[str, ...]] = {}
        found: dict[str, tuple[str, ...]] = {}
        for node, stage in self.stages.items():
            by_stage = self._left(stage)
            if stage not in of_stages:
                of_stages[stage] = tuple([of[n] for n in by_stage])
            own = entries_downstream(self._structure, self._written(node))
            beyond = [n for n in own if n in order and n not in by_stage]
            lost = sorted([*by_stage, *beyond], key=order.__getitem__) if beyond else ()
            found[of[node]] = tuple([of[n] for n in lost]) if beyond else of_stages[stage]
        return found

    def _of(self, written: list[int], stage: Stage) -> Consequence:
        own = entries_downstream(self._structure, written)
        by_stage = self._left(stage)
        lost = tuple([n for n in self.valid if n in own or n in by_stage])
        others = {n: by_stage[n] for n in lost if n not in own}
        return Consequence(lost, own, self._forgotten(stage), tuple(written), others)

    def _left(self, stage: Stage) -> dict[int, Stage]:
        """Return the stages by which valid entries become stale if a stage is left.

        They are in the order of the model.
        """
        if stage not in self._left_with:
            below = self._below(stage)
            forgotten = self._forgotten(stage)
            found = self._left_with[stage] = {}
            for n, entry in self.valid.items():
                if n in below or n in forgotten:  # an earlier stage takes what depends on it along
                    found[n] = max(entry.available_from, stage)
                elif self._presumed.get(n, Stage.EMPTY) >= stage:
                    found[n] = self._presumed[n]
        return self._left_with[stage]

    def _written(self, variable: int) -> list[int]:
        """Return the nodes that a write of a variable changes."""
        key = self._structure.keys[variable]
        written = [variable]  # weights, which have no handle
        if isinstance(key, AbstractHandle):
            written = self._written_with(key)
        if isinstance(key, DiscreteVariable) and key.update is not None:
            written.append(key.update._node)
        return written

    def _written_with(self, variable: AbstractHandle) -> list[int]:
        """The nodes of a variable and of those that overlap it."""
        layout = self._layout
        if not isinstance(variable, AbstractContinuousVariable):
            return [variable._node]
        if variable.slot < 0 or variable.subsystem is None:
            return layout.variable_nodes(variable.kind, variable.subsystem)
        whole = layout.subsystems[variable.subsystem].whole[variable.kind]
        return [variable._node, whole._node, layout.variables[variable.kind]._node]

    def _below(self, stage: Stage) -> frozenset[int]:
        """The entries that depend on a stage, or on what is dropped when it is left."""
        if stage not in self._below_stages:
            nodes = [self._layout.stages[stage]]
            if stage <= MODEL <= self._stage:
                nodes += self._layout.variable_nodes(Y.name, None)
            self._below_stages[stage] = entries_downstream(self._structure, nodes)
        return self._below_stages[stage]

    def _forgotten(self, stage: Stage) -> frozenset[int]:
        """The items that were allocated once the stage before was reached, if this one is left."""
        if stage > INSTANCE or self._highest < stage:
            return frozenset()
        return frozenset(
            [
                item._node
                for subsystem in self._layout.subsystems
                for item in subsystem.items()
                if item.allocated_at >= stage - 1
            ]
        )


def _is_presumed(store: Store, node: int) -> bool:
    """Return True if a valid entry is presumed computed, and would not be valid without that."""
    group = store.group_of[node]
    return store.gates[group] < 0 and store.marks[node] < store.unpresumed[group]


def entries_downstream(structure: Structure, nodes: Iterable[int]) -> frozenset[int]:
    """Return the entries among some nodes, and below them."""
    queue = list(nodes)
    found = set(queue)
    for n in queue:
        for below in structure.dependents[n]:
            if below not in found:
                found.add(below)
                queue.append(below)
    return frozenset([n for n in found if structure.kinds[n] is NodeKind.CACHE_ENTRY])
