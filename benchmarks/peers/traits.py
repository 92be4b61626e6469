"""traits: objects whose cached properties observe attributes of others."""

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import ClassVar, Protocol, final

from traits.api import Any as AnyTrait
from traits.api import HasTraits, Property, cached_property

from benchmarks.peers.base import AbstractPeer, Compute, Reader, Writer


class Node(Protocol):
    """An object with a trait `value`: an attribute of a source, a property of an entry."""

    value: object


@final
class Traits(AbstractPeer[Node]):
    """An object for each node; an entry's value is a `Property` that observes its prerequisites'.

    A write notifies all that is downstream at once, along every path to it: the number of
    notifications grows exponentially in layers that are densely connected. An attribute is read
    by `partial(getattr, node, "value")`, which costs some 15 ns more than `node.value`.
    """

    name: ClassVar[str] = "traits"
    distribution: ClassVar[str] = "traits"
    recurses: ClassVar[bool] = True
    native: ClassVar[bool] = False

    def variable(self, name: str, value: object) -> Node:
        node: Node = _source_class()(value=value)
        return node

    def entry(
        self,
        name: str,
        function: Compute,
        prerequisites: Sequence[Node],
        *,
        is_compared: bool = False,
    ) -> Node:
        above = {f"above{i}": node for i, node in enumerate(prerequisites)}
        compute = partial(function, *map(self.reader, prerequisites))
        node: Node = _entry_class(len(prerequisites))(compute=compute, **above)
        return node

    def reader(self, node: Node) -> Reader:
        return partial(getattr, node, "value")

    def writer(self, variable: Node) -> Writer:
        return partial(setattr, variable, "value")


@lru_cache
def _source_class() -> type:
    return type("Source", (HasTraits,), {"value": AnyTrait})


@lru_cache
def _entry_class(prerequisites: int) -> type:
    """Return the class of entries with that many prerequisites: what to observe is per class."""
    names = [f"above{i}" for i in range(prerequisites)]
    members: dict[str, object] = dict.fromkeys([*names, "compute"], AnyTrait)
    members["value"] = Property(observe=[f"{name}.value" for name in names])
    members["_get_value"] = cached_property(_get_value)
    return type(f"EntryOf{prerequisites}", (HasTraits,), members)


class _HasCompute(Protocol):
    compute: Compute


def _get_value(self: _HasCompute) -> object:
    return self.compute()
