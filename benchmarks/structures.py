"""The graphs that are measured for cost, each built on any peer.

::

    star      v - e, e, e, ...        dependents of one variable
    chain     v - e - e - e - ...     each entry depends on the one before it
    ladder    v   v   v   ...         each entry depends on the one before it
              |   |   |               and on a variable of its own
              e - e - e - ...
"""

from collections.abc import Sequence
from typing import Generic, final

from attrs import frozen

from benchmarks.functions import addition, copy, successor
from benchmarks.peers import AbstractPeer, H, Reader, Writer


@final
@frozen
class Structure(Generic[H]):
    """The nodes of a graph on some peer, in the order of their declaration."""

    peer: AbstractPeer[H]
    variables: Sequence[H]
    entries: Sequence[H]

    def writer(self, index: int) -> Writer:
        """Return the writer of a variable."""
        return self.peer.writer(self.variables[index])

    def reader(self, index: int) -> Reader:
        """Return the reader of an entry."""
        return self.peer.reader(self.entries[index])

    def readers(self) -> list[Reader]:
        """Return the readers of all entries."""
        return [self.peer.reader(entry) for entry in self.entries]


def names(size: int) -> list[str]:
    """Return names for entries, for where what they cost is not to be measured."""
    return [f"e{i}" for i in range(size)]


def star(peer: AbstractPeer[H], entry_names: Sequence[str], *, variables: int = 1) -> Structure[H]:
    """Build stars around a number of variables, with the entries distributed evenly."""
    centres = [peer.variable(f"v{i}", 1) for i in range(variables)]
    each = len(entry_names) // variables
    entries = [
        peer.entry(name, successor, [centre])
        for i, centre in enumerate(centres)
        for name in entry_names[i * each : (i + 1) * each]
    ]
    return Structure(peer, centres, entries)


def chain(peer: AbstractPeer[H], size: int) -> Structure[H]:
    """Build a chain of so many entries below one variable."""
    head = tail = peer.variable("v", 1)
    entries: list[H] = []
    for i in range(size):
        tail = peer.entry(f"e{i}", successor, [tail])
        entries.append(tail)
    return Structure(peer, [head], entries)


def ladder(peer: AbstractPeer[H], size: int, value: int = 1) -> Structure[H]:
    """Build a ladder of so many rungs, each a variable of that value and an entry."""
    variables = [peer.variable("v0", value)]
    entries = [peer.entry("e0", copy, [variables[0]])]
    for i in range(1, size):
        variables.append(peer.variable(f"v{i}", value))
        entries.append(peer.entry(f"e{i}", addition, [entries[-1], variables[-1]]))
    return Structure(peer, variables, entries)
