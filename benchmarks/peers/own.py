"""stagecache itself: declared prerequisites, one comparison for a read of what is valid."""

from collections.abc import Sequence
from typing import ClassVar, final

from benchmarks.peers.base import AbstractPeer, Compute, Reader, Writer
from stagecache import Graph
from stagecache.graph import Entry, Variable

Node = Variable[object] | Entry[object]


@final
class Stagecache(AbstractPeer[Node]):
    """A `Graph`. The compute functions are the workload's own: no adapter in between."""

    name: ClassVar[str] = "stagecache"
    distribution: ClassVar[str] = "stagecache"
    recurses: ClassVar[bool] = False
    native: ClassVar[bool] = False

    def __init__(self) -> None:
        self._graph = Graph("benchmark")

    def variable(self, name: str, value: object) -> Node:
        return self._graph.variable(name, value)

    def entry(
        self,
        name: str,
        function: Compute,
        prerequisites: Sequence[Node],
        *,
        is_compared: bool = False,
    ) -> Node:
        return self._graph.entry(name, function, prerequisites=prerequisites, equal=is_compared)

    def reader(self, node: Node) -> Reader:
        return node

    def writer(self, variable: Node) -> Writer:
        return variable.set
