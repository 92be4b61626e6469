"""observ: reactive containers, and computed functions that track what they read."""

from collections.abc import Sequence
from functools import partial
from typing import ClassVar, NamedTuple, final

from observ import computed, shallow_reactive

from benchmarks.peers.base import AbstractPeer, Compute, Reader, Writer


class Node(NamedTuple):
    """What reads a node and, of a variable, what writes it."""

    read: Reader
    write: Writer | None = None


@final
class Observ(AbstractPeer[Node]):
    """A variable is a dict with one key, as of `observ.ref`; an entry is an `observ.computed`.

    Its fastest form: the dicts are shallow and the computed functions not deep, so that values are
    neither wrapped nor searched for further reactive ones, and prerequisites are bound by
    `functools.partial`, which costs less than a closure. A computed function depends on all
    variables above it directly: a ladder of n rungs has n²/2 dependencies.
    """

    name: ClassVar[str] = "observ"
    distribution: ClassVar[str] = "observ"
    recurses: ClassVar[bool] = True
    native: ClassVar[bool] = False

    def variable(self, name: str, value: object) -> Node:
        cell = shallow_reactive({"value": value})
        return Node(partial(cell.__getitem__, "value"), partial(cell.__setitem__, "value"))

    def entry(
        self,
        name: str,
        function: Compute,
        prerequisites: Sequence[Node],
        *,
        is_compared: bool = False,
    ) -> Node:
        bound = partial(function, *[p.read for p in prerequisites])
        return Node(computed(deep=False)(bound))

    def reader(self, node: Node) -> Reader:
        return node.read

    def writer(self, variable: Node) -> Writer:
        assert variable.write is not None, "only a variable is written"
        return variable.write
