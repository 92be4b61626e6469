"""Growth of costs with the size of a Graph and of a State: the same operation at several sizes.

The models are those of `benchmarks.scaled`; each is built once for all its rows.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Final

from benchmarks.limits import Growth
from benchmarks.peers import OWN, Peer
from benchmarks.probes import AbstractProbe, Building, Repeated
from benchmarks.rows.base import Row, Section
from benchmarks.scaled import PER_LINK, ScaledGraph, ScaledSystem

ENTRIES: Final = (1_000, 10_000, 100_000)
MOST: Final = 1.1
ALONE: Final = "the limit is the exponent of its growth"

IN_STATE: Final = {
    "write a q, read an entry below it": "link.angle.set(state, 0.2); link.height(state)",
    "write a parameter, realize Instance": "link.length.set(state, 2.0); realize(state, INSTANCE)",
    "write a q, realize Report": "link.angle.set(state, 0.2); realize(state, REPORT)",
    "copy": "state.copy()",
    "copy with cache": "state.copy(keep_cache=True)",
    "impact of a write": "state.impact(link.angle)",
    "select a subsystem of the graph": "graph.select(subsystem=link.name)",
    "pickle": "dumps(state)",
}
IN_GRAPH: Final = {
    "write a variable, read an entry below it": "above.set(1.0); below()",
    "copy": "graph.copy()",
}

system_of: Final = cache(ScaledSystem)
graph_of: Final = cache(ScaledGraph)


def _rows(what: str, build: Callable[[int, Peer], AbstractProbe]) -> tuple[Row, ...]:
    """Return a row for each size, the last one with the limit for all."""
    names = [(n, f"{what} of {n:,} entries") for n in ENTRIES]
    rows = []
    for n, name in names:
        limits = [Growth(MOST, tuple(names))] if n == ENTRIES[-1] else []
        rows.append(Row(name, partial(build, n), limits=limits, alone=ALONE))
    return tuple(rows)


def _in_state(operation: str) -> tuple[Row, ...]:
    return _rows(
        f"State: {operation},",
        lambda n, _: Repeated(IN_STATE[operation], system_of(n // PER_LINK).names()),
    )


def _in_graph(operation: str) -> tuple[Row, ...]:
    return _rows(
        f"Graph: {operation},", lambda n, _: Repeated(IN_GRAPH[operation], graph_of(n).names())
    )


SCALE: Final = Section(
    "Scale",
    (
        _rows(
            "State: add subsystems, and make the first State,",
            lambda n, _: Building(lambda: ScaledSystem(n // PER_LINK), operations=1),
        ),
        *map(_in_state, IN_STATE),
        _rows("Graph: declare all,", lambda n, _: Building(lambda: ScaledGraph(n), operations=1)),
        *map(_in_graph, IN_GRAPH),
    ),
    peers=(OWN,),
)
