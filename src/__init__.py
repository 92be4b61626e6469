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
    AbstractContinuousState,
    AbstractElementView,
    AbstractHandle,
    CacheEntry,
    ContinuousState,
    ContinuousVariable,
    DiagramContinuousState,
    DiscreteVariable,
    Stage,
    State,
    SubsystemState,
    TimeVariable,
)

__all__ = [
    "AbstractContinuousState",
    "AbstractElementView",
    "AbstractHandle",
    "AbstractNode",
    "CacheEntry",
    "ContinuousState",
    "ContinuousVariable",
    "DiagramContinuousState",
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
