"""Stages to which the nodes of a State belong by derivation, which are their columns in pictures.

::

    Instance    Time    Position              Velocity
    length      time    angle, tip, torque    rate, energy

A variable belongs to the stage that its write invalidates; an entry to the highest stage of its
prerequisites and of its `available_from`: the poses that depend on q belong to Position, though
they can be computed from Model on.
"""

from stagecache.inspection.node_paths import STAGES, invalidated_by
from stagecache.state.contents.contents import Contents
from stagecache.state.handles import CacheEntry
from stagecache.state.stage import Stage


def columns_of(contents: Contents) -> dict[int, Stage]:
    """Return the stage of each node that has one, by derivation. Cost O(nodes + edges)."""
    store = contents.realization.store
    layout = contents.realization.layout
    prerequisites = store.structure.prerequisites
    found: dict[int, Stage] = {layout.stages[stage]: stage for stage in STAGES}
    entries: list[int] = []
    for node, key in enumerate(store.keys):
        if isinstance(key, CacheEntry):
            entries.append(node)
        elif node not in found and (stage := invalidated_by(contents, node)) is not None:
            found[node] = stage
    for entry in entries:
        stack = [entry]
        while stack:
            node = stack[-1]
            above = prerequisites[node]
            missing = [p for p in above if p not in found and isinstance(store.keys[p], CacheEntry)]
            if node not in found and missing:
                stack += missing
                continue
            stack.pop()
            if node not in found:
                key = store.keys[node]
                assert isinstance(key, CacheEntry)
                stages = [found[p] for p in above if p in found]
                found[node] = max([key.available_from, *stages])
    return found
