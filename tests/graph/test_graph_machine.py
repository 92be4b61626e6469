"""The Graph against the model that recomputes everything: random structures, random operations."""

from collections.abc import Callable

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from stagecache import Graph
from tests.graph.check_structure import check_store
from tests.graph.model import Compute, ModelGraph, Read

NAMES = [f"n{i}" for i in range(14)]


def add_all(*reads: Read) -> int:
    return 1 + sum(read() for read in reads)


def read_one_of(*reads: Read) -> int:
    """Reads the first, and one of the others as the first says."""
    if not reads:
        return 0
    first = reads[0]()
    return first + reads[first % len(reads)]()


def read_none(*_: Read) -> int:
    return 7


def fail_at_times(*reads: Read) -> int:
    total = sum(read() for read in reads)
    if total % 3 == 0:
        raise ZeroDivisionError(total)
    return total


COMPUTES: list[Compute] = [add_all, add_all, read_one_of, read_none, fail_at_times]


def outcome(read: Callable[[], int]) -> int | str:
    """The value, or what was raised instead."""
    try:
        return read()
    except ZeroDivisionError as error:
        return repr(error)


class Pair:
    """A graph, its model, and what was seen of it."""

    def __init__(self, real: Graph, model: ModelGraph) -> None:
        self.real = real
        self.model = model
        self.first_version: dict[str, int] = {}  # before the first write or computation
        self.values: dict[tuple[str, int], int] = {}  # by name and version

    def copy(self) -> "Pair":
        twin = Pair(self.real.copy(), self.model.copy())
        twin.first_version = self.first_version.copy()
        twin.values = self.values.copy()
        return twin


class GraphMachine(RuleBasedStateMachine):
    """Runs each operation on a graph and on its model; copies make more pairs of these."""

    def __init__(self) -> None:
        super().__init__()
        self.pairs: list[Pair] = []

    @initialize(values=st.lists(st.integers(0, 9), min_size=1, max_size=4))
    def start(self, values: list[int]) -> None:
        self.pairs.append(Pair(self.new_graph(), ModelGraph()))
        for name, value in zip(NAMES, values, strict=False):
            self.add_variable_to(self.pairs[0], name, value)

    def new_graph(self) -> Graph:
        return Graph()

    def add_variable_to(self, pair: Pair, name: str, value: int) -> None:
        pair.real.variable(name, value)
        pair.model.add_variable(name, value)
        pair.first_version[name] = pair.real[name].version - 1

    def some_pair(self, data: st.DataObject) -> Pair:
        return data.draw(st.sampled_from(self.pairs))

    def some_node(self, data: st.DataObject, *, entry: bool) -> tuple[Pair, str] | None:
        pair = self.some_pair(data)
        names = [n for n, node in pair.model.nodes.items() if (node.compute is not None) is entry]
        return (pair, data.draw(st.sampled_from(names))) if names else None

    def free_name(self, pair: Pair, data: st.DataObject) -> str | None:
        free = [n for n in NAMES if n not in pair.model.nodes]
        return data.draw(st.sampled_from(free)) if free else None

    @rule(data=st.data(), value=st.integers(0, 9))
    def add_variable(self, data: st.DataObject, value: int) -> None:
        pair = self.some_pair(data)
        name = self.free_name(pair, data)
        if name:
            self.add_variable_to(pair, name, value)

    @rule(data=st.data(), compute=st.sampled_from(COMPUTES))
    def add_entry(self, data: st.DataObject, compute: Compute) -> None:
        pair = self.some_pair(data)
        name = self.free_name(pair, data)
        if not name:
            return
        existing = list(pair.model.nodes)
        chosen = tuple(data.draw(st.permutations(existing))[: data.draw(st.integers(0, 4))])
        pair.real.entry(name, compute, prerequisites=[pair.real[n] for n in chosen])
        pair.model.add_entry(name, compute, chosen)
        pair.first_version[name] = pair.real[name].version

    @rule(data=st.data(), value=st.integers(0, 9))
    def write(self, data: st.DataObject, value: int) -> None:
        found = self.some_node(data, entry=False)
        if found:
            pair, name = found
            pair.real[name].set(value)
            pair.model.write(name, value)

    @rule(data=st.data())
    def read(self, data: st.DataObject) -> None:
        found = self.some_node(data, entry=True)
        if found:
            pair, name = found
            assert outcome(pair.real[name]) == outcome(lambda: pair.model.read(name))

    @rule(data=st.data())
    def invalidate(self, data: st.DataObject) -> None:
        found = self.some_node(data, entry=True)
        if found:
            pair, name = found
            pair.real[name].invalidate()  # type: ignore[union-attr]  # an entry
            pair.model.invalidate(name)

    @rule(data=st.data())
    def remove_with_all_below(self, data: st.DataObject) -> None:
        pair = self.some_pair(data)
        if not pair.model.nodes:
            return
        going = [data.draw(st.sampled_from(list(pair.model.nodes)))]
        for name in going:
            going.extend(d for d in pair.model.dependents(name) if d not in going)
        pair.real.remove(*[pair.real[name] for name in data.draw(st.permutations(going))])
        for name in going:
            pair.model.remove(name)

    @precondition(lambda self: len(self.pairs) < 3)
    @rule(data=st.data())
    def copy(self, data: st.DataObject) -> None:
        self.pairs.append(self.some_pair(data).copy())

    @invariant()
    def same_nodes_and_edges(self) -> None:
        for pair in self.pairs:
            assert [node.name for node in pair.real] == list(pair.model.nodes)
            for node in pair.real:
                wanted = pair.model.nodes[node.name].prerequisites
                assert tuple(p.name for p in node.prerequisites) == wanted
                below = pair.model.dependents(node.name)
                assert sorted(d.name for d in node.dependents) == sorted(below)
            check_store(pair.real._handles.store)

    @invariant()
    def same_validity_and_versions(self) -> None:
        for pair in self.pairs:
            for node in pair.real:
                assert node.is_valid() == pair.model.is_valid(node.name), node
                counted = pair.model.nodes[node.name].version
                assert node.version == pair.first_version[node.name] + counted, node

    @invariant()
    def valid_values_are_right_and_reading_them_computes_nothing(self) -> None:
        for pair in self.pairs:
            for node in pair.real:
                if node.is_valid():
                    version = node.version
                    value = node()
                    assert value == pair.model.recompute(node.name)
                    assert node.version == version
                    assert pair.values.setdefault((node.name, version), value) == value


TestGraphMachine = GraphMachine.TestCase


class EagerGraphMachine(GraphMachine):
    """The same where every read prepares the declared prerequisites, as deep chains do.

    Then more is valid than the model says, but all else must hold.
    """

    def new_graph(self) -> Graph:
        graph = Graph()
        graph._handles.evaluator.deepest = 0
        return graph

    @invariant()
    def same_validity_and_versions(self) -> None:
        for pair in self.pairs:
            for node in pair.real:
                assert node.is_valid() or not pair.model.is_valid(node.name), node


TestEagerGraphMachine = EagerGraphMachine.TestCase
