"""Drake: cache entries of a LeafSystem, computed in Python, with the prerequisites declared.

The framework is C++; a figure includes what pydrake's bindings cost for each call across.
"""

from collections.abc import Sequence
from functools import partial
from typing import ClassVar, TypeAlias, final

from pydrake.common.value import AbstractValue
from pydrake.systems.framework import (
    CacheEntry,
    Context,
    FixedInputPortValue,
    InputPort,
    LeafSystem,
    ValueProducer,
)

from benchmarks.peers.base import AbstractPeer, Compute, Reader, Writer

Node: TypeAlias = InputPort | CacheEntry


@final
class Drake(AbstractPeer[Node]):
    """One `LeafSystem`; a variable is an input port with a fixed value, an entry a cache entry.

    A cache entry has the tickets of its prerequisites and a `ValueProducer`, which stores what the
    function returns. The context is made when the first reader or writer is asked for.

    A port is the only thing in a context that can be written without invalidating what depends on
    its neighbours: a numeric parameter is read in 0.7 µs instead of 0.9, but writing it counts as
    a change of all parameters. Next to a calc written by hand for each entry, the call of a
    function common to all peers adds a tenth to a computation.
    """

    name: ClassVar[str] = "drake"
    distribution: ClassVar[str] = "drake"
    recurses: ClassVar[bool] = True
    native: ClassVar[bool] = True

    def __init__(self) -> None:
        self._system = LeafSystem()
        self._context: Context | None = None
        self._start_values: list[tuple[InputPort, object]] = []
        self._boxes: dict[int, FixedInputPortValue] = {}  # by port
        self._unbound: list[tuple[list[Reader], Sequence[Node]]] = []

    def variable(self, name: str, value: object) -> Node:
        port = self._system.DeclareAbstractInputPort(name, _empty_box())
        self._start_values.append((port, value))
        return port

    def entry(
        self,
        name: str,
        function: Compute,
        prerequisites: Sequence[Node],
        *,
        is_compared: bool = False,
    ) -> Node:
        readers: list[Reader] = []  # filled when there is a context

        def calc(_: Context, box: AbstractValue) -> None:
            box.set_value(function(*readers))

        self._unbound.append((readers, tuple(prerequisites)))
        producer = ValueProducer(allocate=_empty_box, calc=calc)
        return self._system.DeclareCacheEntry(name, producer, {p.ticket() for p in prerequisites})

    def reader(self, node: Node) -> Reader:
        return partial(node.Eval, self._start())

    def writer(self, variable: Node) -> Writer:
        self._start()
        get_box = self._boxes[int(variable.get_index())].GetMutableData
        return lambda value: get_box().set_value(value)

    def _start(self) -> Context:
        if self._context is None:
            context = self._context = self._system.CreateDefaultContext()
            for port, value in self._start_values:
                box = port.FixValue(context, _empty_box())
                box.GetMutableData().set_value(value)
                self._boxes[int(port.get_index())] = box
            for readers, prerequisites in self._unbound:
                readers.extend([partial(p.Eval, context) for p in prerequisites])
        return self._context


def _empty_box() -> AbstractValue:
    """Return what holds a value of any type of Python's."""
    return AbstractValue.Make(None)
