"""Growth of costs with the size of a model, as counts of executed lines at n and 10 n subsystems.

Lines of compiled modules are not counted, so the counts are lower where they are compiled.
"""

import pickle
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, final

import pytest

from stagecache import (
    Graph,
    Stage,
    State,
    Subsystem,
    System,
    Variable,
    cached,
    parameter,
    q_variable,
)

FEW, MANY = 20, 200


@final
class Link(Subsystem):
    """A subsystem with a parameter, a q, and entries below both."""

    length = parameter(1.0)
    angle = q_variable(0.1)

    @cached(prerequisites=(length, angle))
    def height(self, state: State) -> float:
        return self.length(state) * self.angle(state)

    @cached(available_from=Stage.POSITION)
    def position(self, state: State) -> float:
        return self.height(state)


@final
class Model:
    """A System of links, and a State of it with all entries valid."""

    def __init__(self, size: int) -> None:
        self.links = [Link() for _ in range(size)]
        self.system = System(*self.links)
        self.state = self.system.new_state()
        self.system.realize(self.state, Stage.REPORT)
        for link in self.links:
            link.position(self.state)
        self.link = self.links[size // 2]


def lines_of(act: Callable[[], object]) -> int:
    """Return the number of lines that a call executes, after it was called once."""
    act()
    count = 0

    def trace(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    finally:
        sys.settrace(before)
    return count


def write_parameter(model: Model) -> None:
    model.link.length.set(model.state, 2.0)
    model.system.realize(model.state, Stage.INSTANCE)
    model.link.height(model.state)


def write_number(model: Model) -> None:
    model.link.angle.set(model.state, 0.2)
    model.link.height(model.state)


def write_vector(model: Model) -> None:
    """Write q of all subsystems, each of which gets a new version."""
    model.state.q = model.state.q
    model.link.height(model.state)


@pytest.mark.parametrize("write", [write_number, write_parameter])
def test_a_write_and_a_read_execute_as_many_lines_in_a_model_ten_times_as_large(
    write: Callable[[Model], None],
) -> None:
    few, many = (Model(size) for size in (FEW, MANY))
    # The first write leaves stages that all links have reached; it is not counted.
    assert lines_of(lambda: write(many)) == lines_of(lambda: write(few))


def realize_and_read(model: Model) -> None:
    model.link.length.set(model.state, 1.0)
    model.system.realize(model.state, Stage.REPORT)
    for link in model.links:
        link.position(model.state)


LINEAR: dict[str, Callable[[Model], object]] = {
    "write all q, and read one entry": write_vector,
    "copy": lambda model: model.state.copy(),
    "copy with cache": lambda model: model.state.copy(keep_cache=True),
    "new State": lambda model: model.system.new_state(),
    "new topology": lambda model: System(*[Link() for _ in model.links]).new_state(),
    "realize and read all": realize_and_read,
    "impact": lambda model: model.state.impact(model.link.angle),
    "explain": lambda model: model.state.explain(model.link.position),
    "graph": lambda model: model.state.graph,
    "select": lambda model: model.state.graph.select(subsystem=model.link.name),
    "pickle": lambda model: pickle.dumps(model.state),
    "unpickle": lambda model: pickle.loads(pickle.dumps(model.state)),
    "show": lambda model: str(model.state),
}


@pytest.mark.parametrize("name", LINEAR)
def test_costs_grow_linearly_with_the_number_of_subsystems(name: str) -> None:
    act = LINEAR[name]
    few, many = (Model(size) for size in (FEW, MANY))
    assert lines_of(lambda: act(many)) <= 1.1 * MANY / FEW * lines_of(lambda: act(few))


def test_declarations_in_a_graph_execute_as_many_lines_in_one_ten_times_as_large() -> None:
    counts = []
    for size in (FEW, MANY):
        graph = Graph()
        above = graph.variable("above", 1.0)

        def declare(graph: Graph = graph, above: Variable[float] = above) -> None:
            graph.entry(f"entry {len(graph)}", lambda x: x(), prerequisites=(above,))

        for _ in range(size):
            declare()
        counts.append(lines_of(declare))
    assert counts[0] == counts[1]


def test_adding_a_subsystem_executes_as_many_lines_in_a_system_ten_times_as_large() -> None:
    few, many = (System(*[Link() for _ in range(size)]) for size in (FEW, MANY))
    assert lines_of(lambda: many.add(Link())) == lines_of(lambda: few.add(Link()))
