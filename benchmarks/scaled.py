"""Models of any size, for the growth of costs: a System of links, and a Graph of stars."""

from pickle import dumps
from typing import Final, final

from stagecache import Graph, Stage, State, Subsystem, System, cached, parameter, q_variable

PER_LINK: Final = 10  # entries
PER_STAR: Final = 100


@final
class Link(Subsystem):
    """A subsystem with a q, a parameter and ten entries."""

    angle = q_variable(0.1)
    length = parameter(1.0)

    @cached(prerequisites=(angle, length))
    def height(self, state: State) -> float:
        return self.length(state) * self.angle(state)

    @cached(prerequisites=(height,), count=PER_LINK - 2)
    def multiple(self, state: State, i: int) -> float:
        return i * self.height(state)

    @cached(available_from=Stage.POSITION)
    def energy(self, state: State) -> float:
        return 9.81 * self.height(state)


@final
class ScaledSystem:
    """A System of links, and a State of it in which all entries are valid."""

    def __init__(self, size: int) -> None:
        self.links = [Link() for _ in range(size)]
        self.link = self.links[size // 2]
        self.system = System(*self.links)
        self.state = self.system.new_state()
        self.system.realize(self.state, Stage.REPORT)
        for link in self.links:
            link.energy(self.state)
            for i in range(PER_LINK - 2):
                link.multiple[i](self.state)

    def names(self) -> dict[str, object]:
        """Return the names in statements."""
        return {
            "state": self.state,
            "realize": self.system.realize,
            "link": self.link,
            "graph": self.state.graph,
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
