"""The graph: variables and entries, their prerequisites, versions and validity."""

from stagecache.graph.checkpoint import Checkpoint
from stagecache.graph.graph import Graph, GraphStatistics
from stagecache.graph.handles import AbstractNode, Entry, Variable
from stagecache.graph.kind import NodeKind
from stagecache.graph.store import Store
from stagecache.graph.structure import Structure

__all__ = [
    "AbstractNode",
    "Checkpoint",
    "Entry",
    "Graph",
    "GraphStatistics",
    "NodeKind",
    "Store",
    "Structure",
    "Variable",
]
