"""stagecache: a reactive dependency-graph cache for simulation models."""

from stagecache.graph import (
    AbstractNode,
    Entry,
    Graph,
    GraphStatistics,
    NodeKind,
    Store,
    Structure,
    Variable,
)
from stagecache.state import (
    AbstractHandle,
    CacheEntry,
    ContinuousVariable,
    DiscreteVariable,
    Stage,
    State,
    SubsystemState,
    TimeVariable,
)

__all__ = [
    "AbstractHandle",
    "AbstractNode",
    "CacheEntry",
    "ContinuousVariable",
    "DiscreteVariable",
    "Entry",
    "Graph",
    "GraphStatistics",
    "NodeKind",
    "Stage",
    "State",
    "Store",
    "Structure",
    "SubsystemState",
    "TimeVariable",
    "Variable",
]
