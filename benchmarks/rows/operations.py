"""Single operations: a read, a write, and the two together."""

from functools import cached_property
from typing import Final

from benchmarks.functions import successor
from benchmarks.limits import OfPeer, OfRow
from benchmarks.peers import Peer
from benchmarks.probes import AbstractProbe, Prepared, Repeated
from benchmarks.rows.base import Build, Group, Row
from benchmarks.structures import names, star

MOST: Final = 10_000

OF_UNLOCKED: Final = OfPeer(0.24, "reaktiv, unlocked")
SLOW_TO_BUILD: Final = {"traits": "building takes time quadratic in the dependents of one node"}


def read(peer: Peer) -> AbstractProbe:
    """Read an entry that is valid."""
    reader = star(peer(), names(1)).reader(0)
    reader()
    return Repeated("read()", {"read": reader}, times=20)


def read_attribute() -> AbstractProbe:
    """Read the yardstick: the standard library's cached attribute, which nothing can invalidate."""

    class Cached:
        @cached_property
        def value(self) -> int:
            return 2

    node = Cached()
    assert node.value == 2
    return Repeated("node.value", {"node": node}, times=20)


def write_above_valid(dependents: int) -> Build:
    """Return the row of a single write that makes so many entries invalid.

    Before it those are read, after as many others as make 10,000 in all, so that each row finds
    the processor's cache alike. Then a variable beside it is written and read some times, so that
    what is measured is the write, and not the wait for memory that all these computations swept
    from the cache.
    """

    def build(peer: Peer) -> AbstractProbe:
        graph = peer()
        beside, variable = graph.variable("beside", 1), graph.variable("variable", 1)
        below_beside = graph.entry("below beside", successor, [beside])
        below = [graph.entry(f"below {i}", successor, [variable]) for i in range(dependents)]
        others = star(graph, names(MOST - dependents), variables=100)
        other_writers = [others.writer(i) for i in range(100)]
        readers = [*others.readers(), *[graph.reader(entry) for entry in below]]
        read_beside, write_beside = graph.reader(below_beside), graph.writer(beside)

        def prepare(number: int) -> None:
            for write in other_writers:
                write(number)
            for read in readers:
                read()
            for value in range(20):
                write_beside(value)
                read_beside()

        return Prepared(prepare, graph.writer(variable))

    return build


def write_above_invalid(dependents: int) -> Build:
    """Return the row of one write after another, with nothing read in between."""

    def build(peer: Peer) -> AbstractProbe:
        graph = star(peer(), names(dependents))
        for reader in graph.readers():
            reader()
        return Repeated("write(1); write(2)", {"write": graph.writer(0)}, operations=2, times=10)

    return build


def write_and_read(peer: Peer) -> AbstractProbe:
    """Write a variable and read its one dependent."""
    graph = star(peer(), names(1))
    context = {"write": graph.writer(0), "read": graph.reader(0)}
    return Repeated("write(1); read(); write(2); read()", context, operations=2, times=5)


def write_and_read_all(peer: Peer) -> AbstractProbe:
    """Write a variable and read its 10,000 dependents."""
    graph = star(peer(), names(MOST))
    context = {"write": graph.writer(0), "readers": graph.readers()}
    statement = "for value in 1, 2:\n  write(value)\n  for read in readers: read()"
    return Repeated(statement, context, operations=20_000)


def _write(dependents: int, state: str) -> str:
    return f"write, {dependents:,} {state} dependent{'s' if dependents > 1 else ''}"


READS: Final[Group] = (
    Row(
        "read of a valid entry",
        read,
        limits=[OfPeer(1.2, "cached_property")],
        beside={"cached_property": read_attribute},
    ),
)

WRITES: Final[Group] = (
    Row(_write(1, "valid"), write_above_valid(1), limits=[OF_UNLOCKED]),
    Row(_write(100, "valid"), write_above_valid(100), limits=[OF_UNLOCKED]),
    Row(
        _write(MOST, "valid"),
        write_above_valid(MOST),
        limits=[OF_UNLOCKED, OfRow(1.5, _write(1, "valid"))],
        without=SLOW_TO_BUILD,
    ),
    Row(_write(1, "invalid"), write_above_invalid(1)),
    Row(_write(100, "invalid"), write_above_invalid(100)),
    Row(_write(MOST, "invalid"), write_above_invalid(MOST), without=SLOW_TO_BUILD),
)

WRITES_AND_READS: Final[Group] = (
    Row("write + read one", write_and_read),
    Row(
        "write + read all 10,000, per entry",
        write_and_read_all,
        limits=[OfPeer(0.25, "drake")],
        without=SLOW_TO_BUILD,
    ),
)
