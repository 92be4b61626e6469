"""Models of any size, for the growth of costs: a System of links, and a Graph of stars."""

from functools import cached_property
from pickle import dumps
from typing import Final, final

from stagecache import (
    Graph,
    GraphView,
    Stage,
    State,
    Subsystem,
    System,
    cached,
    parameter,
    q_variable,
)

PER_LINK: Final = 10  # entries
PER_STAR: Final = 100


@final
class Link(Subsystem):
    """A subsystem with a q, a parameter and some entries."""

    angle = q_variable(0.1)
    length = parameter(1.0)

    def __init__(self, num_entries: int = PER_LINK) -> None:
        self.num_entries = num_entries

    @cached(prerequisites=(angle, length))
    def height(self, state: State) -> float:
        return self.length(state) * self.angle(state)

    @cached(prerequisites=(height,), count=lambda self: self.num_entries - 2)
    def multiple(self, state: State, i: int) -> float:
        return i * self.height(state)

    @cached(available_from=Stage.POSITION)
    def energy(self, state: State) -> float:
        return 9.81 * self.height(state)


@final
class ScaledSystem:
    """A System of links, and a State of it in which all entries are valid."""

    def __init__(self, num_links: int, per_link: int = PER_LINK) -> None:
        self.links = [Link(per_link) for _ in range(num_links)]
        self.link = self.links[num_links // 2]
        self.system = System(*self.links)
        self.state = self.system.new_state()
        self.system.realize(self.state, Stage.REPORT)
        for link in self.links:
            link.energy(self.state)
            for multiple in link.multiple:
                multiple(self.state)

    @cached_property
    def graph(self) -> GraphView:
        """The view of the graph, which takes long to make."""
        return self.state.graph

    def names(self) -> dict[str, object]:
        """Return the names in statements."""
        return {
            "model": self,
            "state": self.state,
            "realize": self.system.realize,
            "link": self.link,
            "dumps": dumps,
            "INSTANCE": Stage.INSTANCE,
            "REPORT": Stage.REPORT,
        }


@final
class ScaledGraph:
    """A Graph of variables, each with a hundred entries that have their own names and functions."""

    def __init__(self, size: int) -> None:
        self.graph = Graph("scaled")
        for s in range(size // PER_STAR):
            self.above = self.graph.variable(f"variable {s}", 1.0)
            for i in range(PER_STAR):
                self.below = self.graph.entry(
                    f"entry {i} of {s}", lambda x, i=i: x() + i, prerequisites=(self.above,)
                )

    def names(self) -> dict[str, object]:
        """Return the names in statements."""
        return {"graph": self.graph, "above": self.above, "below": self.below}
