"""Views of dependency graphs: to look at, to search, to draw, and to take elsewhere."""

from stagecache.views.nodes import EdgeInfo, EdgeKind, NodeInfo, Reason, Status
from stagecache.views.view import GraphView

__all__ = ["EdgeInfo", "EdgeKind", "GraphView", "NodeInfo", "Reason", "Status"]
