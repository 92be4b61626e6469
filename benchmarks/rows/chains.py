"""Chains and ladders: how cost grows with depth."""

from functools import partial
from typing import Final

from benchmarks.figures import Unit
from benchmarks.limits import OfPeer, OfRow
from benchmarks.memory import Memory
from benchmarks.peers import AbstractPeer, H, Peer, Reader
from benchmarks.probes import AbstractProbe, Building, Repeated
from benchmarks.rows.base import Build, Group, Row
from benchmarks.structures import chain, ladder

TOO_LONG: Final = {
    "drake": "declaring an input port takes time linear in those there are",
    "observ": "an entry depends directly on every variable above it: memory quadratic in the rungs",
    "traits": "12 kB per rung: more than a gigabyte",
}


def through_chain(size: int) -> Build:
    """Return the row of a write at the head of a chain and a read at its tail."""

    def build(peer: Peer) -> AbstractProbe:
        graph = chain(peer(), size)
        context = {"write": graph.writer(0), "read": graph.reader(-1)}
        return Repeated("write(1); read(); write(2); read()", context, operations=2)

    return build


def beside_chain(peer: Peer) -> AbstractProbe:
    """Write a variable above which there is nothing, and read the end of a valid chain."""
    graph = peer()
    elsewhere = graph.variable("elsewhere", 1)
    nodes = chain(graph, 1000)
    context = {"write": graph.writer(elsewhere), "read": nodes.reader(-1)}
    return Repeated("write(1); read(); write(2); read()", context, operations=2)


def into_ladder(size: int, rung: int) -> Build:
    """Return the row of a write at some rung and a read at the last."""

    def build(peer: Peer) -> AbstractProbe:
        graph = ladder(peer(), size)
        context = {"write": graph.writer(rung), "read": graph.reader(-1)}
        return Repeated("write(1); read(); write(2); read()", context, operations=2)

    return build


def again_at_head(size: int) -> Build:
    """Return the row of one write after another at the first rung, with nothing read between."""

    def build(peer: Peer) -> AbstractProbe:
        graph = ladder(peer(), size)
        graph.reader(-1)()
        return Repeated("write(1); write(2)", {"write": graph.writer(0)}, operations=2, times=10)

    return build


def build_ladder(size: int) -> Build:
    """Return the row of building a ladder, until its last rung can be read."""

    def build(peer: Peer) -> AbstractProbe:
        def build_and_find() -> object:
            graph = ladder(peer(), size)
            return graph, graph.reader(-1)

        return Building(build_and_find, operations=size)

    return build


def fill_ladder(peer: AbstractPeer[H], size: int) -> tuple[AbstractPeer[H], Reader]:
    """Build a ladder and read it: some libraries take most of their memory only then.

    All values are 0, so that they take none. What is returned keeps everything alive. It is read
    rung by rung, since tracing an allocation takes time linear in the depth of the stack.
    """
    graph = ladder(peer, size, value=0)
    for i in range(size):
        graph.reader(i)()
    return peer, graph.reader(-1)


def remember_ladder(size: int) -> Build:
    """Return the row of the memory of a ladder."""

    def build(peer: Peer) -> AbstractProbe:
        return Memory(partial(fill_ladder, size=size), peer.name, operations=size)

    return build


def ladder_rows(size: int) -> Group:
    """Return the rows of one ladder."""
    name = f"ladder of {size:,}"
    long = size > 1000
    without = TOO_LONG if long else {}
    less = [OfPeer(0.45, "reaktiv")] if long else []
    constant = [OfRow(1.5, "ladder of 1,000: write head again")] if long else []
    rungs = {"head": 0, "middle": size // 2, "tail": size - 1}
    return (
        Row(f"{name}: build, per rung", build_ladder(size), without=without, slow=long),
        Row(
            f"{name}: memory, per rung",
            remember_ladder(size),
            Unit.BYTES,
            limits=less,
            without=without,
            slow=True,
        ),
        *[
            Row(
                f"{name}: write {place}, read tail",
                into_ladder(size, rung),
                without=without,
                slow=long,
            )
            for place, rung in rungs.items()
        ],
        Row(
            f"{name}: write head again",
            again_at_head(size),
            limits=constant,
            without=without,
            slow=long,
        ),
    )


CHAINS: Final[Group] = (
    Row("chain of 10: write head, read tail", through_chain(10)),
    Row(
        "chain of 1,000: write head, read tail",
        through_chain(1000),
        limits=[OfPeer(0.06, "drake")],
    ),
    Row("chain of 1,000: write elsewhere, read tail", beside_chain),
)

LADDER: Final = ladder_rows(1000)
LONG_LADDERS: Final[tuple[Group, ...]] = tuple((row,) for row in ladder_rows(100_000))
"""One at a time: that many nodes of several libraries fill gigabytes."""
