"""The Graph against the model that recomputes everything: random structures, random operations."""

import copy
import pickle
from collections.abc import Callable
from contextlib import ExitStack

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from stagecache import Checkpoint, Graph, Status, Trace
from stagecache.inspection.explain.explanation import CauseKind
from stagecache.inspection.strict.reads import ReadLog
from tests.graph.check_structure import check_store
from tests.graph.model import Compute, ModelGraph, Read
from tests.graph.striking import seen_by_trace, strike_a_copy
from tests.interrupting import fused, ignore_lost_strikes

NAMES = [f"n{i}" for i in range(14)]


@fused
def add_all(*reads: Read) -> int:
    return 1 + sum(read() for read in reads)


@fused
def read_one_of(*reads: Read) -> int:
    """Reads the first, and one of the others as the first says."""
    if not reads:
        return 0
    first = reads[0]()
    return first + reads[first % len(reads)]()


@fused
def read_none(*_: Read) -> int:
    return 7


@fused
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
        self.rewound: dict[str, int] = {}  # versions at a rollback, until the next one is given
        self.values: dict[tuple[str, int], int] = {}  # by name and version
        self.marks: list[Mark] = []
        self.observed: ExitStack | None = None
        self.trace: Trace | None = None
        self.log: ReadLog | None = None

    def copy(self, real: Graph | None = None) -> "Pair":
        twin = Pair(self.real.copy() if real is None else real, self.model.copy())
        twin.first_version = self.first_version.copy()
        twin.rewound = self.rewound.copy()
        twin.values = self.values.copy()
        return twin

    def go_back(self, at: int) -> None:
        """Go back to a checkpoint; later ones are given up."""
        mark = self.marks[at]
        self.real.rollback(mark.real)
        assert [later.real.is_released for later in self.marks[at:]] == [
            False,
            *[True] * (len(self.marks) - at - 1),
        ]
        del self.marks[at + 1 :]
        self.model = mark.model.copy()
        self.first_version = mark.first_version.copy()
        self.rewound = {node.name: node.version for node in self.real}
        assert all(one is other for one, other in zip(self.real, mark.handles, strict=True))

    def check_validity_and_versions(self) -> None:
        """Assert that they are those of the model, and note versions after a rollback."""
        for node in self.real:
            assert node.is_valid() == self.model.is_valid(node.name), node
            counted = self.model.nodes[node.name].version
            if node.version != self.rewound.get(node.name, node.version):
                del self.rewound[node.name]
                assert (node.name, node.version) not in self.values  # it is never given again
                assert node.version >= self.first_version[node.name] + counted
                self.first_version[node.name] = node.version - counted
            assert node.version == self.first_version[node.name] + counted, node

    def observe(self, *, strict: bool, trace: bool) -> None:
        """Begin to observe; what is on already goes on."""
        self.observed = self.observed or ExitStack()
        if strict and self.log is None:
            self.log = self.observed.enter_context(self.real.strict())
        if trace and self.trace is None:
            self.trace = self.observed.enter_context(self.real.trace())

    def observe_no_more(self) -> None:
        if self.observed is not None:
            self.observed.close()
        self.observed = self.trace = self.log = None


class Mark:
    """A checkpoint of a pair, and copies of all that it should bring back."""

    def __init__(self, pair: Pair) -> None:
        self.real: Checkpoint = pair.real.checkpoint()
        self.model = pair.model.copy()
        self.handles = list(pair.real)
        self.first_version = pair.first_version.copy()


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

    def add_entry_to(self, pair: Pair, name: str, compute: Compute, above: tuple[str, ...]) -> None:
        pair.real.entry(name, compute, prerequisites=[pair.real[n] for n in above])
        pair.model.add_entry(name, compute, above)
        pair.first_version[name] = pair.real[name].version

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
        self.add_entry_to(pair, name, compute, chosen)

    @rule(data=st.data(), value=st.integers(0, 9))
    def write(self, data: st.DataObject, value: int) -> None:
        found = self.some_node(data, entry=False)
        if found:
            pair, name = found
            with seen_by_trace(pair.real, pair.trace):
                pair.real[name].set(value)
            pair.model.write(name, value)

    @rule(data=st.data())
    def read(self, data: st.DataObject) -> None:
        found = self.some_node(data, entry=True)
        if found:
            pair, name = found
            with seen_by_trace(pair.real, pair.trace):
                assert outcome(pair.real[name]) == outcome(lambda: pair.model.read(name))

    @rule(data=st.data())
    def invalidate(self, data: st.DataObject) -> None:
        found = self.some_node(data, entry=True)
        if found:
            pair, name = found
            with seen_by_trace(pair.real, pair.trace):
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
            pair.rewound.pop(name, None)

    @precondition(lambda self: len(self.pairs) < 3)
    @rule(data=st.data())
    def copy(self, data: st.DataObject) -> None:
        self.pairs.append(self.some_pair(data).copy())

    # ------------------------------------------------------------------ going back, and elsewhere

    @rule(data=st.data())
    def checkpoint(self, data: st.DataObject) -> None:
        pair = self.some_pair(data)
        pair.marks.append(Mark(pair))

    @rule(data=st.data())
    def rollback(self, data: st.DataObject) -> None:
        """Go back, any number of times."""
        pair = self.some_pair(data)
        if pair.marks:
            at = data.draw(st.integers(0, len(pair.marks) - 1))
            with seen_by_trace(pair.real, pair.trace, goes_back=True):
                pair.go_back(at)

    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        pair = self.some_pair(data)
        if pair.marks:
            mark = pair.marks.pop(data.draw(st.integers(0, len(pair.marks) - 1)))
            mark.real.release()
            assert mark.real.is_released

    @rule(data=st.data())
    def pickle(self, data: st.DataObject) -> None:
        """A graph from a pickle has the same nodes, variables and versions, and computes anew."""
        pair = self.some_pair(data)
        other = pickle.loads(pickle.dumps(pair.real))
        assert [node.name for node in other] == list(pair.model.nodes)
        for node in other:
            here = pair.real[node.name]
            assert node.version == here.version
            assert [p.name for p in node.prerequisites] == [p.name for p in here.prerequisites]
            assert node.is_valid() == (pair.model.nodes[node.name].compute is None)
            wanted = outcome(lambda: pair.model.recompute(here.name))  # noqa: B023  # called at once
            assert outcome(node) == wanted
        check_store(other._handles.store)

    @rule(data=st.data())
    def deepcopy(self, data: st.DataObject) -> None:
        pair = self.some_pair(data)
        other = copy.deepcopy(pair.real)
        assert [node.is_valid() for node in other] == [node.is_valid() for node in pair.real]
        assert [node.version for node in other] == [node.version for node in pair.real]
        check_store(other._handles.store)

    @rule(data=st.data(), compute=st.sampled_from(COMPUTES))
    def strike(self, data: st.DataObject, compute: Compute) -> None:
        """An operation on a copy that an error cuts short has happened, or has not."""
        strike_a_copy(data, self.some_pair(data).real, compute)

    # ------------------------------------------------------------------ questions

    @rule(data=st.data())
    def explain(self, data: st.DataObject) -> None:
        """The status is right, the path has real edges, and a call computes no more than told."""
        found = self.some_node(data, entry=True)
        if not found:
            return
        pair, name = found
        real = pair.real
        told = real.explain(name)
        assert told.is_valid == real[name].is_valid()
        assert (told.cause is None) == told.is_valid
        assert (told.status is Status.NOT_COMPUTED) == (
            told.cause is not None and told.cause.kind is CauseKind.NEVER
        )
        for above, below in zip(told.path, told.path[1:], strict=False):
            assert above in [p.name for p in real[below].prerequisites]
        if not told.is_valid:
            assert told.cause is not None
            assert told.path[-1] == name
            if told.cause.kind is CauseKind.CHANGED:
                variables = [told.cause.variable, *told.others]
                since = pair.model.nodes[name].computed
                assert all(pair.model.nodes[v].changed > since for v in variables)
                assert told.path[0] == told.cause.variable
                assert told.cause.version == real[told.cause.variable].version
        twin = real.copy()
        before = {node.name: node.version for node in twin}
        outcome(twin[name])
        changed = [node.name for node in twin if node.version != before[node.name]]
        assert set(changed) <= set(told.computes)

    @rule(data=st.data())
    def impact(self, data: st.DataObject) -> None:
        """A write of a copy makes exactly those entries stale."""
        found = self.some_node(data, entry=False)
        if not found:
            return
        pair, name = found
        told = pair.real.impact(pair.real[name])
        twin = pair.real.copy()
        valid = [node.name for node in twin if node.is_valid()]
        entries = [n for n in valid if pair.model.nodes[n].compute is not None]
        assert told.num_valid == len(entries)
        twin[name].set(0)
        assert list(told.entries) == [n for n in entries if not twin[n].is_valid()]

    # ------------------------------------------------------------------ observation

    @rule(data=st.data(), strict=st.booleans(), trace=st.booleans())
    def observe(self, data: st.DataObject, strict: bool, trace: bool) -> None:
        self.some_pair(data).observe(strict=strict, trace=trace)

    def is_unhooked(self, graph: Graph) -> bool:
        """Whether computations begin unnoticed, after strict mode."""
        handles = graph._handles
        return handles.evaluator._bind == handles.bind

    @rule(data=st.data())
    def observe_no_more(self, data: st.DataObject) -> None:
        """What was noted fits what the graph is."""
        pair = self.some_pair(data)
        log, trace = pair.log, pair.trace
        pair.observe_no_more()
        handles = pair.real._handles
        assert handles.visible is handles.store
        assert handles.evaluator.functions is handles.functions
        assert self.is_unhooked(pair.real)
        if log is not None:
            assert log.undeclared == ()
            for over in log.over_declared():
                assert over.prerequisite not in log.of(over.entry)
        if trace is not None:
            summary = trace.summary()
            assert summary.computed >= sum(row.failed for row in summary.rows)

    def teardown(self) -> None:
        for pair in self.pairs:
            pair.observe_no_more()

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
            pair.check_validity_and_versions()

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


TestGraphMachine = ignore_lost_strikes(GraphMachine.TestCase)


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


TestEagerGraphMachine = ignore_lost_strikes(EagerGraphMachine.TestCase)
