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

__all__ = [
    "AbstractNode",
    "Entry",
    "Graph",
    "GraphStatistics",
    "NodeKind",
    "Store",
    "Structure",
    "Variable",
]
