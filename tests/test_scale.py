"""Growth of costs with the size of a model, as counts of executed lines at n and 10 n subsystems.

Lines of compiled modules are not counted, so the counts are lower where they are compiled.
"""

import pickle
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from benchmarks.scaled import Link, ScaledSystem
from stagecache import Graph, Stage, System, Variable

FEW, MANY = 20, 200


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


def write_parameter(model: ScaledSystem) -> None:
    model.link.length.set(model.state, 2.0)
    model.system.realize(model.state, Stage.INSTANCE)
    model.link.height(model.state)


def write_number(model: ScaledSystem) -> None:
    model.link.angle.set(model.state, 0.2)
    model.link.height(model.state)


def write_vector(model: ScaledSystem) -> None:
    """Write q of all subsystems, each of which gets a new version."""
    model.state.q = model.state.q
    model.link.height(model.state)


@pytest.mark.parametrize("write", [write_number, write_parameter])
def test_a_write_and_a_read_execute_as_many_lines_in_a_model_ten_times_as_large(
    write: Callable[[ScaledSystem], None],
) -> None:
    few, many = (ScaledSystem(size) for size in (FEW, MANY))
    # The first write leaves stages that all links have reached; it is not counted.
    assert lines_of(lambda: write(many)) == lines_of(lambda: write(few))


def realize_and_read(model: ScaledSystem) -> None:
    model.link.length.set(model.state, 1.0)
    model.system.realize(model.state, Stage.REPORT)
    for link in model.links:
        link.energy(model.state)


LINEAR: dict[str, Callable[[ScaledSystem], object]] = {
    "write all q, and read one entry": write_vector,
    "copy": lambda model: model.state.copy(),
    "copy with cache": lambda model: model.state.copy(keep_cache=True),
    "new State": lambda model: model.system.new_state(),
    "new topology": lambda model: System(*[Link() for _ in model.links]).new_state(),
    "realize and read all": realize_and_read,
    "impact": lambda model: model.state.impact(model.link.angle),
    "explain": lambda model: model.state.explain(model.link.energy),
    "graph": lambda model: model.state.graph,
    "select": lambda model: model.state.graph.select(subsystem=model.link.name),
    "pickle": lambda model: pickle.dumps(model.state),
    "unpickle": lambda model: pickle.loads(pickle.dumps(model.state)),
    "show": lambda model: str(model.state),
}


@pytest.mark.parametrize("name", LINEAR)
def test_costs_grow_linearly_with_the_number_of_subsystems(name: str) -> None:
    act = LINEAR[name]
    few, many = (ScaledSystem(size) for size in (FEW, MANY))
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


def stale_chains(number: int, equal: bool | None) -> Graph:
    graph = Graph()
    for chain in range(number):
        first = graph.variable(f"v{chain}", 0)
        above: Any = first
        for place in range(10):
            name = f"e{chain}_{place}"
            above = graph.entry(name, lambda x: x() + 1, prerequisites=(above,), equal=equal)
        above()
        first.set(1)
    return graph


@pytest.mark.parametrize("equal", [None, True])
def test_reasons_of_all_entries_grow_with_their_number(equal: bool | None) -> None:
    few, many = (stale_chains(size, equal) for size in (FEW, MANY))
    assert len(many.view.reasons) == 10 * MANY
    assert lines_of(lambda: many.view.reasons) < 12 * lines_of(lambda: few.view.reasons)


def test_impacts_of_all_variables_grow_with_their_number() -> None:
    few, many = (ScaledSystem(size) for size in (FEW, MANY))
    for model in (few, many):
        model.system.realize(model.state, Stage.INSTANCE)
        model.link.height(model.state)
    count = lines_of(lambda: many.state.graph.impacts)
    assert count < 12 * lines_of(lambda: few.state.graph.impacts)
