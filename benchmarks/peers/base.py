"""What a benchmark asks of a library, so that each workload is written once for all of them.

A workload declares variables and entries, and gets a *handle* for each, of a type of the library's
own. Once all is declared it asks for what is called to read and to write them::

    peer.variable("a", 1) ---> handle ---> peer.writer(handle)(2)
                                  |
    peer.entry("b", function, [handle]) ---> handle ---> peer.reader(handle)()

The compute function is called with a reader for each prerequisite, in their order.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, Generic, TypeVar

H = TypeVar("H")

Reader = Callable[[], object]
Writer = Callable[[object], None]
Compute = Callable[..., object]


class AbstractPeer(ABC, Generic[H]):
    """One graph of nodes in one library, used the way its own users would, in its fastest form.

    Attributes
    ----------
    name : str
        The head of its column.
    distribution : str
        What is installed, to ask for its version.
    recurses : bool
        Whether a long chain recurses, so that it needs a deep stack and no recursion limit.
    native : bool
        Whether its nodes live outside the Python heap, where tracemalloc does not see them.
    """

    name: ClassVar[str]
    distribution: ClassVar[str]
    recurses: ClassVar[bool]
    native: ClassVar[bool]

    @abstractmethod
    def variable(self, name: str, value: object) -> H:
        """Declare a variable. A library without names ignores the name."""

    @abstractmethod
    def entry(
        self,
        name: str,
        function: Compute,
        prerequisites: Sequence[H],
        *,
        is_compared: bool = False,
    ) -> H:
        """Declare an entry. A library that tracks what a function reads binds the readers to it.

        Where `is_compared`, a library that can cut off values that came out equal does so.
        """

    @abstractmethod
    def reader(self, node: H) -> Reader:
        """Return what is called to read a node. Nothing may be declared afterwards."""

    @abstractmethod
    def writer(self, variable: H) -> Writer:
        """Return what is called to write a variable. Nothing may be declared afterwards."""
