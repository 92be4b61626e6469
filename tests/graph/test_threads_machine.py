"""Threads that use one Graph, against the model that recomputes everything.

The rules of `GraphMachine` make and change graphs, in one thread. Between them come batches: all is
drawn first, then threads do it at the same time. The documentation promises two things, so there
are two kinds. Threads that only read, compute, copy, or switch strict mode and traces, need no
lock: exactly one value is right. Those that write, and those that read meanwhile, hold the lock of
the graph: each sees what the one before has left.

No batch may change what later rules draw, as the order of threads is not drawn: nodes and
checkpoints are afterwards those of before.
"""

from collections.abc import Callable
from functools import partial

from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from stagecache import Entry, Graph
from stagecache.inspection.trace.events import ComputationEvent
from tests.graph.check_structure import check_store
from tests.graph.model import Compute, ModelGraph
from tests.graph.test_graph_machine import (
    COMPUTES,
    NAMES,
    GraphMachine,
    Mark,
    Pair,
    add_all,
    outcome,
)
from tests.profiles import examples
from tests.threads import many_switches, run_together

READS = ["read", "read", "read", "look", "copy", "strict", "trace", "strict and trace"]
STEPS = ["write", "write", "read", "read", "look", "invalidate", "copy", "declare"]
HELD = ["checkpoint", "go back", "try"]

Step = tuple[str, int]
Plan = tuple[int, list[Step]]
"""Lines after which a thread lets others go on, and its operations.

The number of an operation chooses the node, and the value that is written.
"""


def plans(kinds: list[str], most: int) -> st.SearchStrategy[list[Plan]]:
    steps = st.tuples(st.sampled_from(kinds), st.integers(0, 99))
    plan = st.tuples(st.integers(3, 40), st.lists(steps, min_size=1, max_size=4))
    return st.lists(plan, min_size=2, max_size=most)


class Reader:
    """A thread that holds no lock.

    It reads all nodes, each reader from another one on, and does what is planned in between.
    """

    def __init__(self, graph: Graph, expected: dict[str, int | str], plan: Plan, at: int) -> None:
        self.graph = graph
        self.expected = expected
        self.plan = plan
        names = list(expected)
        self.names = names[at % len(names) :] + names[: at % len(names)]
        self.valid = {name for name in names if graph[name].is_valid()}

    def run(self) -> None:
        for kind, number in self.plan[1]:
            self.do(kind, self.names[number % len(self.names)])
        for name in self.names:
            self.read(name)

    def do(self, kind: str, name: str) -> None:
        if kind == "copy":
            self.check_copy(self.graph.copy())
        elif kind == "look":
            self.look(name)
        elif kind == "strict":
            with self.graph.strict() as log:
                self.read(name)
            assert log.undeclared == ()
        elif kind == "trace":
            self.trace(name)
        elif kind == "strict and trace":
            with self.graph.strict():
                self.trace(name)
        else:
            self.read(name)

    def read(self, name: str) -> None:
        assert outcome(self.graph[name]) == self.expected[name], name
        if isinstance(self.expected[name], int):
            assert self.graph[name].is_valid()

    def look(self, name: str) -> None:
        """Nothing is written, so what was valid stays so, and what is valid can be read."""
        node = self.graph[name]
        is_valid = node.is_valid()
        assert is_valid or name not in self.valid
        if is_valid:
            version = node.version
            assert node() == self.expected[name]
            assert node.version == version

    def trace(self, name: str) -> None:
        """A trace knows each computation once, also those of other threads."""
        with self.graph.trace() as trace:
            self.read(name)
        events = [e for e in trace.events if isinstance(e, ComputationEvent) and not e.error]
        computed = [event.entry for event in events]
        assert len(computed) == len(set(computed))
        assert not self.valid.intersection(computed)

    def check_copy(self, twin: Graph) -> None:
        assert all(twin[name].is_valid() for name in self.valid)
        for name, value in self.expected.items():
            if twin[name].is_valid():
                assert twin[name]() == value, name
        for name, value in self.expected.items():
            assert outcome(twin[name]) == value, name
        check_store(twin._handles.store)


class Writer:
    """A thread that does what is planned while it holds the lock, on the graph and on the model."""

    def __init__(self, pair: Pair, plan: Plan, num_marks: int) -> None:
        self.pair = pair
        self.plan = plan
        self.num_marks = num_marks  # of before the batch, which stay
        self.names = list(pair.model.nodes)

    def run(self) -> None:
        for kind, number in self.plan[1]:
            with self.pair.real.lock:
                self.do(kind, number)
                self.pair.check_validity_and_versions()

    def do(self, kind: str, number: int) -> None:
        pair = self.pair
        if kind == "checkpoint":
            pair.marks.append(Mark(pair))
        elif kind == "go back":
            if len(pair.marks) > self.num_marks:
                pair.go_back(self.num_marks + number % (len(pair.marks) - self.num_marks))
        elif kind == "try":
            pair.marks.append(Mark(pair))
            for step in ("write", "read"):
                self.change(step, number)
                pair.check_validity_and_versions()
            pair.go_back(len(pair.marks) - 1)
            pair.marks.pop().real.release()
        else:
            self.change(kind, number)

    def change(self, kind: str, number: int) -> None:
        real, model = self.pair.real, self.pair.model
        name = self.names[number % len(self.names)]
        node = real[name]
        if kind == "declare":
            real.entry("late", add_all, prerequisites=[node])
            model.add_entry("late", add_all, (name,))
            assert outcome(real["late"]) == outcome(lambda: model.read("late"))
            real.remove(real["late"])
            model.remove("late")
        elif kind == "copy":
            twin = real.copy()
            for each in model.nodes:
                assert outcome(twin[each]) == outcome(partial(model.recompute, each))
        elif kind == "look":
            assert node.is_valid() == model.is_valid(name), name
        elif kind == "invalidate" and isinstance(node, Entry):
            node.invalidate()
            model.invalidate(name)
        elif kind == "write" and not isinstance(node, Entry):
            node.set(number % 10)
            model.write(name, number % 10)
        else:
            assert outcome(node) == outcome(lambda: model.read(name)), name


class ThreadsMachine(GraphMachine):
    """Graphs that several threads use, too; they begin with entries."""

    def is_unhooked(self, graph: Graph) -> bool:
        """Whether they do from the next one on: who read when strict mode ended left the hook."""
        entries = [node for node in graph if isinstance(node, Entry)]
        if entries:
            graph._handles.evaluator._bind(entries[0]._node)  # as a computation begins
        return not entries or super().is_unhooked(graph)

    @initialize(
        values=st.lists(st.integers(0, 9), min_size=1, max_size=3),
        entries=st.lists(
            st.tuples(st.sampled_from(COMPUTES), st.lists(st.integers(0, 9), max_size=3)),
            min_size=4,
            max_size=9,
        ),
    )
    def begin(self, values: list[int], entries: list[tuple[Compute, list[int]]]) -> None:
        self.pairs.append(Pair(self.new_graph(), ModelGraph()))
        pair = self.pairs[0]
        for name, value in zip(NAMES, values, strict=False):
            self.add_variable_to(pair, name, value)
        for name, (compute, chosen) in zip(NAMES[len(values) :], entries, strict=False):
            names = list(pair.model.nodes)
            above = tuple(dict.fromkeys(names[-1 - i % len(names)] for i in chosen))
            self.add_entry_to(pair, name, compute, above)

    def start(self) -> None:
        """Begin with variables only: not here."""

    def run_threads(self, drawn: list[Plan], functions: list[Callable[[], None]]) -> None:
        with many_switches():
            run_together(*functions, pauses=[every for every, _ in drawn])

    @rule(data=st.data(), drawn=plans(READS, 16), value=st.integers(0, 9))
    def write_and_read_in_threads(self, data: st.DataObject, drawn: list[Plan], value: int) -> None:
        """Nothing is written while threads read; but something was before."""
        pair = self.some_pair(data)
        if not pair.model.nodes:
            return
        for name, node in pair.model.nodes.items():
            if node.compute is None and value % 3:
                pair.real[name].set(value)
                pair.model.write(name, value)
        expected = {n: outcome(partial(pair.model.recompute, n)) for n in pair.model.nodes}
        readers = [
            Reader(pair.real, expected, plan, i * len(expected) // len(drawn))
            for i, plan in enumerate(drawn)
        ]
        observers = pair.real._handles.observers
        self.run_threads(drawn, [reader.run for reader in readers])
        assert pair.real._handles.observers == observers
        for name in expected:
            outcome(partial(pair.model.read, name))  # so that it knows the versions

    @rule(data=st.data(), drawn=plans([*STEPS, *HELD], 6))
    def write_in_threads(self, data: st.DataObject, drawn: list[Plan]) -> None:
        pair = self.some_pair(data)
        if not pair.model.nodes:
            return
        num_marks = len(pair.marks)
        self.run_threads(drawn, [Writer(pair, plan, num_marks).run for plan in drawn])
        while len(pair.marks) > num_marks:
            pair.marks.pop().real.release()


TestThreadsMachine = ThreadsMachine.TestCase
TestThreadsMachine.settings = examples(50, stateful_step_count=30)
