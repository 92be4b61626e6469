"""The dependency graph: nodes, edges, versions. It knows nothing of stages or physics."""

from stagecache.graph.graph import Graph
from stagecache.graph.handles import AbstractNode, Entry, Variable
from stagecache.graph.kind import NodeKind
from stagecache.graph.statistics import GraphStatistics
from stagecache.graph.store import Store
from stagecache.graph.structure import Structure

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
