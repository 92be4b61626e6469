"""A peer that counts how often its entries are computed."""

from collections.abc import Sequence
from typing import ClassVar, final

from benchmarks.peers.base import AbstractPeer, Compute, H, Reader, Writer


@final
class Counting(AbstractPeer[H]):
    """Another peer's graph whose compute functions count their calls.

    Counting costs time, so it is for checks, not for figures.

    Attributes
    ----------
    calls : int
        The calls so far; set it to 0 to count anew.
    """

    name: ClassVar[str] = "counting"
    distribution: ClassVar[str] = "stagecache"
    recurses: ClassVar[bool] = True
    native: ClassVar[bool] = False

    def __init__(self, peer: AbstractPeer[H]) -> None:
        self.calls = 0
        self._peer = peer

    def variable(self, name: str, value: object) -> H:
        return self._peer.variable(name, value)

    def entry(
        self,
        name: str,
        function: Compute,
        prerequisites: Sequence[H],
        *,
        is_compared: bool = False,
    ) -> H:
        def counted(*readers: Reader) -> object:
            self.calls += 1
            return function(*readers)

        return self._peer.entry(name, counted, prerequisites, is_compared=is_compared)

    def reader(self, node: H) -> Reader:
        return self._peer.reader(node)

    def writer(self, variable: H) -> Writer:
        return self._peer.writer(variable)
