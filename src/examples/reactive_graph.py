"""A plain graph: values that are computed when they are read, without stages or a State.

It answers the questions of a State: what a write would make stale, and why an entry is stale.

Run it: python -m stagecache.examples.reactive_graph
"""

import math
from typing import assert_type

from stagecache import Entry, Graph, Variable


def build() -> Graph:
    """A pendulum: a length and an angle, and what follows from them."""
    graph = Graph("pendulum")
    length = graph.variable("length", 2.0)  # m
    angle = graph.variable("angle", 0.0)  # rad
    assert_type(length, Variable[float])

    height: Entry[float] = graph.entry(
        "height", lambda r, phi: r() * (1 - math.cos(phi())), prerequisites=(length, angle)
    )

    @graph.entry(prerequisites=(height,))
    def energy(height: Entry[float]) -> float:
        return 9.81 * height()

    assert_type(energy, Entry[float])
    return graph


def main() -> None:
    """Write the angle and the length, and read and explain what depends on them."""
    graph = build()
    for node in graph:
        print(node)
    angle, energy = graph["angle"], graph["energy"]
    for value in (0.0, 0.1, 0.2):
        angle.set(value)
        print("angle", value, "rad: energy", round(energy(), 4), "J/kg")
    with graph.checkpoint(), graph.strict():  # an undeclared read would raise
        print(graph.impact("length"))
        graph["length"].set(1.0)
        print(graph.explain("energy"))
        print("length 1.0 m: energy", round(energy(), 4), "J/kg")


if __name__ == "__main__":
    main()
