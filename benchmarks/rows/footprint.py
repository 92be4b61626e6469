"""What a node costs before anything happens: the time to build it, and its memory."""

from functools import partial
from typing import Final

from benchmarks.figures import Unit
from benchmarks.limits import OfPeer
from benchmarks.memory import Memory
from benchmarks.peers import AbstractPeer, H, Peer
from benchmarks.probes import AbstractProbe, Building
from benchmarks.rows.base import Group, Row
from benchmarks.structures import Structure, names, star

SIZE: Final = 10_000
VARIABLES: Final = 100
NAMES: Final = names(SIZE)


def build(peer: Peer) -> AbstractProbe:
    """Time it until the first entry can be read."""
    return Building(lambda: fill(peer(), 1), operations=SIZE)


def remember(peer: Peer) -> AbstractProbe:
    """Measure it once all entries have been read, with their names and function made before."""
    return Memory(partial(fill, read=SIZE), peer.name, operations=SIZE)


def fill(peer: AbstractPeer[H], read: int) -> Structure[H]:
    """Build the stars, and read so many of the entries."""
    graph = star(peer, NAMES, variables=VARIABLES)
    for i in range(read):
        graph.reader(i)()
    return graph


FOOTPRINT: Final[Group] = (
    Row("10,000 entries below 100 variables: build, per entry", build, slow=True),
    Row(
        "10,000 entries below 100 variables: memory, per entry",
        remember,
        Unit.BYTES,
        limits=[OfPeer(0.25, "drake")],
        slow=True,
    ),
)
