"""Growth of costs with the size of a Graph and of a State: the same operation at several sizes.

The models are those of `benchmarks.scaled`; each is built once for all its rows. There are States
of 1,000 subsystems, with more and more entries each, and States of more and more subsystems, with
a hundred entries each.
"""

import gc
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Final

from benchmarks.figures import Unit
from benchmarks.limits import Growth
from benchmarks.memory import Memory
from benchmarks.peers import OWN, AbstractPeer, Peer
from benchmarks.probes import AbstractProbe, Building, Repeated
from benchmarks.rows.base import Row, Section
from benchmarks.scaled import ScaledGraph, ScaledSystem

MOST: Final = 1.1
ALONE: Final = "the limit is the exponent of its growth"

ENTRIES: Final = (10_000, 100_000, 1_000_000)
SUBSYSTEMS: Final = {
    "over 1,000 subsystems": (1_000, 1_000, 1_000),
    "over subsystems of 100": (100, 1_000, 10_000),
}

IN_STATE: Final = {
    "write a q, read an entry below it": "link.angle.set(state, 0.2); link.height(state)",
    "write a parameter, realize Instance": "link.length.set(state, 2.0); realize(state, INSTANCE)",
    "write a q, realize Report": "link.angle.set(state, 0.2); realize(state, REPORT)",
    "copy": "state.copy()",
    "copy with cache": "state.copy(keep_cache=True)",
    "impact of a write": "state.impact(link.angle)",
    "select a subsystem of the graph": "model.graph.select(subsystem=link.name)",
    "pickle": "dumps(state)",
}
IN_GRAPH: Final = {
    "write a variable, read an entry below it": "above.set(1.0); below()",
    "copy": "graph.copy()",
}


@cache
def system_of(size: int, num_links: int) -> ScaledSystem:
    """Return the System of so many entries in all."""
    model = ScaledSystem(num_links, size // num_links)
    gc.freeze()  # else a collection before each sample would look at all models
    return model


@cache
def graph_of(size: int) -> ScaledGraph:
    """Return the Graph of so many entries."""
    graph = ScaledGraph(size)
    gc.freeze()
    return graph


def build_system(_: AbstractPeer[object], size: int, num_links: int) -> ScaledSystem:
    """Build the System whose memory is measured."""
    return ScaledSystem(num_links, size // num_links)


def _rows(
    operation: str, where: str, builds: Sequence[Callable[[Peer], AbstractProbe]]
) -> tuple[Row, ...]:
    """Return a row for each size, the last one with the limit for all."""
    names = [(n, f"{operation}, {n:,} entries{where}") for n in ENTRIES]
    return tuple(
        Row(
            name,
            build,
            limits=[Growth(MOST, tuple(names))] if n == ENTRIES[-1] else [],
            alone=ALONE,
        )
        for (n, name), build in zip(names, builds, strict=True)
    )


def _of_state(series: str) -> tuple[tuple[Row, ...], ...]:
    where, sizes = f" {series}", list(zip(ENTRIES, SUBSYSTEMS[series], strict=True))

    def build(size: int, num_links: int, _: Peer) -> AbstractProbe:
        return Building(lambda: ScaledSystem(num_links, size // num_links), operations=1)

    def repeat(statement: str, size: int, num_links: int, _: Peer) -> AbstractProbe:
        return Repeated(statement, system_of(size, num_links).names())

    size, num_links = sizes[-1]
    remember = Row(
        f"State: memory of an entry, of {size:,}{where}",
        lambda peer: Memory(
            partial(build_system, size=size, num_links=num_links), peer.name, operations=size
        ),
        unit=Unit.BYTES,
        alone="no peer has so many in a State",
    )
    return (
        _rows("State: make it", where, [partial(build, *each) for each in sizes]),
        (remember,),
        *(
            _rows(f"State: {operation}", where, [partial(repeat, text, *each) for each in sizes])
            for operation, text in IN_STATE.items()
        ),
    )


def _in_graph(operation: str) -> tuple[Row, ...]:
    def repeat(size: int, _: Peer) -> AbstractProbe:
        return Repeated(IN_GRAPH[operation], graph_of(size).names())

    return _rows(f"Graph: {operation}", "", [partial(repeat, n) for n in ENTRIES])


def _declare(size: int, _: Peer) -> AbstractProbe:
    return Building(lambda: ScaledGraph(size), operations=1)


SCALE: Final = Section(
    "Scale",
    (
        *(group for series in SUBSYSTEMS for group in _of_state(series)),
        _rows("Graph: name and declare all", "", [partial(_declare, n) for n in ENTRIES]),
        *map(_in_graph, IN_GRAPH),
    ),
    peers=(OWN,),
)
