"""reaktiv: signals, and computed signals that track what they read and cut off equal values."""

from collections.abc import Sequence
from functools import partial
from typing import ClassVar, Protocol, final

from reaktiv import Computed, Signal, set_thread_safety

from benchmarks.peers.base import AbstractPeer, Compute, Reader, Writer


class Node(Protocol):
    """A `Signal`, or a computed one, which refuses `set`."""

    def __call__(self) -> object: ...

    def set(self, new_value: object, /) -> None: ...


class AbstractReaktiv(AbstractPeer[Node]):
    """A variable is a `Signal`, an entry a `Computed` of the function bound to what it reads.

    A value that is the same object as before does not count as a change, so dependents of an entry
    that computes the same number again may be spared: it computes less than a library without
    cutoff in some shapes. Nobody subscribes, so a write does not reach the entries; each read
    after any write, related or not, walks up to the sources instead.

    Attributes
    ----------
    locks : bool
        Whether signals have locks, which is decided when they are made.
    """

    distribution: ClassVar[str] = "reaktiv"
    recurses: ClassVar[bool] = True
    native: ClassVar[bool] = False
    locks: ClassVar[bool]

    def variable(self, name: str, value: object) -> Node:
        set_thread_safety(self.locks)
        node: Node = Signal(value)
        return node

    def entry(
        self,
        name: str,
        function: Compute,
        prerequisites: Sequence[Node],
        *,
        is_compared: bool = False,
    ) -> Node:
        set_thread_safety(self.locks)
        node: Node = Computed(partial(function, *prerequisites))
        return node

    def reader(self, node: Node) -> Reader:
        return node

    def writer(self, variable: Node) -> Writer:
        return variable.set


@final
class Reaktiv(AbstractReaktiv):
    """As it comes: safe to be read by several threads, as stagecache is."""

    name: ClassVar[str] = "reaktiv"
    locks: ClassVar[bool] = True


@final
class UnlockedReaktiv(AbstractReaktiv):
    """Its fastest form, for one thread only: less than stagecache promises."""

    name: ClassVar[str] = "reaktiv, unlocked"
    locks: ClassVar[bool] = False
