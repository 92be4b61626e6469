"""Views of four sizes: models as people write them, from 67 to 20,000 nodes."""

from collections.abc import Callable, Mapping
from typing import Final, final

from benchmarks.scaled import Link
from stagecache import (
    Entry,
    Graph,
    GraphView,
    Stage,
    State,
    Subsystem,
    System,
    cached,
    parameter,
    q_variable,
    u_variable,
)
from stagecache.examples import four_bar as example


@final
class Spring(Subsystem):
    """A spring between a mass and a wall."""

    position = q_variable(0.1)
    speed = u_variable(0.0)
    stiffness = parameter(100.0)
    rest = parameter(1.0)

    @cached(prerequisites=(position, rest))
    def stretch(self, state: State) -> float:
        return self.position(state) - self.rest(state)

    @cached(prerequisites=(stretch, stiffness))
    def force(self, state: State) -> float:
        return -self.stiffness(state) * self.stretch(state)

    @cached(prerequisites=(speed,))
    def power(self, state: State) -> float:
        return self.speed(state) ** 2

    @cached(prerequisites=(force, power))
    def energy(self, state: State) -> float:
        return self.force(state) + self.power(state)


def four_bar() -> GraphView:
    """Return the linkage of the example, at Position."""
    system = example.system()
    state = system.new_state()
    system.realize(state, Stage.POSITION)
    return state.graph


def springs(number: int = 40) -> GraphView:
    """Return so many springs, of which one was moved."""
    parts = [Spring() for _ in range(number)]
    system = System(*parts)
    state = system.new_state()
    system.realize(state, Stage.VELOCITY)
    for spring in parts:
        spring.energy(state)
    parts[-1].position.set(state, 0.3)
    return state.graph


def table(rows: int = 30, columns: int = 100) -> GraphView:
    """Return a `Graph` like a sheet: a head for each row, and entries that add up along it."""
    graph = Graph("table")
    heads = [graph.variable(f"head_{row}", float(row)) for row in range(rows)]
    above: list[Entry[float]] = []
    for row, head in enumerate(heads):
        here = [graph.entry(f"cell_{row}_0", lambda a: a(), prerequisites=(head,))]
        for column in range(1, columns):
            both = (here[-1], above[column]) if above and column % 10 == 0 else (here[-1],)
            name = f"cell_{row}_{column}"
            here.append(
                graph.entry(name, lambda *parts: sum(p() for p in parts), prerequisites=both)
            )
        above = here
    return graph.view


def links(number: int = 1_537) -> GraphView:
    """Return a System of so many links, and a State in which all entries are computed but a few."""
    parts = [Link() for _ in range(number)]
    system = System(*parts)
    state = system.new_state()
    system.realize(state, Stage.REPORT)
    for part in parts:
        part.energy(state)
        for multiple in part.multiple:
            multiple(state)
    parts[7].angle.set(state, 0.2)
    return state.graph


VIEWS: Final[Mapping[str, Callable[[], GraphView]]] = {
    "four-bar": four_bar,
    "40 springs": springs,
    "Graph": table,
    "System": links,
}
"""Makers of views, by name."""
