"""Operations on a Graph, one of which is struck, and what must hold of the graph after that.

The graph itself tells what is right: functions, prerequisites and variables that it has are put
into a new one, where nothing is cached.
"""

import pickle
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from copy import deepcopy
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from attrs import field, frozen
from hypothesis import strategies as st

from stagecache import Checkpoint, Entry, Graph, Trace, Variable
from stagecache.errors import LayoutMismatchError
from stagecache.graph import (
    AbstractNode,
    pickled,  # noqa: F401  # before a strike: its import is not what is struck
)
from stagecache.inspection.trace.events import ComputationEvent, InvalidationEvent
from tests.graph.check_structure import check_store
from tests.interrupting import fused, struck

Values = dict[tuple[str, int], object]
"""What each version number of a node has stood for."""


@frozen
class Subject:
    """A graph to be struck, with a checkpoint."""

    graph: Graph
    mark: Checkpoint
    at_mark: "Look"
    file: Path
    trace: Trace | None = None
    seen: Values = field(factory=dict)


@frozen
class Look:
    """Variables with their values, and entries with their prerequisites, by name."""

    variables: dict[str, object]
    entries: dict[str, tuple[str, ...]]

    @staticmethod
    def at(graph: Graph) -> "Look":
        return Look(
            {node.name: node() for node in graph if isinstance(node, Variable)},
            {n.name: tuple([p.name for p in n.prerequisites]) for n in graph if is_entry(n)},
        )


def is_entry(node: object) -> bool:
    return isinstance(node, Entry)


@fused
def same(one: object, other: object) -> bool:
    return one == other


def outcome(read: Callable[[], object]) -> object:
    """The value, or the name of what was raised by the model instead."""
    try:
        return read()
    except ZeroDivisionError:
        return "failed"


@contextmanager
def seen_by_trace(graph: Graph, trace: Trace | None, *, goes_back: bool = False) -> Iterator[None]:
    """The trace has the computations and invalidations of an operation, and no others.

    A rollback computes nothing: what it makes valid was valid at the checkpoint.
    """
    if trace is None:
        yield
        return

    def valid() -> dict[str, AbstractNode]:
        return {n.name: n for n in graph if isinstance(n, Entry) and n.is_valid()}

    num_before, valid_before = len(trace.events), valid()
    yield
    valid_after = valid()
    events = trace.events[num_before:]
    lost = {e.entry for e in events if isinstance(e, InvalidationEvent)}
    assert lost == {n for n, node in valid_before.items() if valid_after.get(n) is not node}
    computed = {e.entry for e in events if isinstance(e, ComputationEvent) and not e.error}
    new = {n for n, node in valid_after.items() if valid_before.get(n) is not node}
    if goes_back:
        assert computed == set()
    elif not any(isinstance(e, InvalidationEvent) for e in events):
        assert computed <= new
        assert all(may_be_as_it_was(graph, graph[name]) for name in new - computed)


def may_be_as_it_was(graph: Graph, node: AbstractNode) -> bool:
    """Whether it may become valid without a computation: if what it depends on came out equal."""
    is_compared = node._node in graph._handles.evaluator.equals
    return is_compared or any(may_be_as_it_was(graph, above) for above in node.prerequisites)


# ---------------------------------------------------------------------- operations

Operation = Callable[[Subject], object]


@st.composite
def operations(draw: st.DrawFn, graph: Graph, compute: Callable[..., object]) -> Operation:
    """Draw one operation, that fits any copy of the graph."""
    names = [node.name for node in graph]
    variables = [name for name in names if isinstance(graph[name], Variable)]
    entries = [name for name in names if name not in variables]
    do: list[Any] = [copy, travel, load, roll_back, release, look]
    if variables:
        do += [partial(nest, variables[0])]
        do += 3 * [partial(write, draw(st.sampled_from(variables)))]
    if entries:
        chosen = draw(st.sampled_from(entries))
        do += 3 * [partial(read, chosen), partial(write_and_read, variables, chosen)]
        do += [partial(invalidate, chosen)]
    if names:
        node, n = draw(st.sampled_from(names)), draw(st.integers(0, 3))
        above = draw(st.permutations(names))[:n]
        do += [partial(remove, node), partial(declare, compute, above, bool(n % 2))]
    return draw(st.sampled_from(do))  # type: ignore[no-any-return]  # one of these


def write(name: str, subject: Subject) -> None:
    subject.graph[name].set(7)


def read(name: str, subject: Subject) -> None:
    outcome(subject.graph[name])


def write_and_read(names: list[str], entry: str, subject: Subject) -> None:
    for name in names[:1]:
        subject.graph[name].set(3)
    read(entry, subject)


def invalidate(name: str, subject: Subject) -> None:
    subject.graph[name].invalidate()  # type: ignore[union-attr]  # an entry


def remove(name: str, subject: Subject) -> None:
    """Remove a node, with all below."""
    graph = subject.graph
    going: list[AbstractNode] = [graph[name]]
    for node in going:
        going.extend(below for below in node.dependents if below not in going)
    graph.remove(*going)


def declare(
    compute: Callable[..., object], above: list[str], is_compared: bool, subject: Subject
) -> None:
    graph = subject.graph
    if above:
        nodes = [graph[name] for name in above]
        graph.entry("declared", compute, prerequisites=nodes, equal=same if is_compared else None)
    else:
        graph.variable("declared", 5)


def copy(subject: Subject) -> None:
    subject.graph.copy()
    deepcopy(subject.graph)


def travel(subject: Subject) -> None:
    with suppress(pickle.PicklingError, AttributeError):
        pickle.loads(pickle.dumps(subject.graph))


def load(subject: Subject) -> None:
    with suppress(LayoutMismatchError):
        subject.graph.load(subject.file)


def nest(name: str, subject: Subject) -> None:
    """Try a write and go back, below another checkpoint."""
    with suppress(ZeroDivisionError), subject.graph.checkpoint():
        subject.graph[name].set(8)
        raise ZeroDivisionError


def roll_back(subject: Subject) -> None:
    subject.graph.rollback(subject.mark)


def release(subject: Subject) -> None:
    subject.mark.release()


def look(subject: Subject) -> None:
    graph = subject.graph
    repr(graph)
    _ = graph.view
    for node in list(graph)[-1:]:
        if isinstance(node, Entry):
            graph.explain(node)
        else:
            graph.impact(node)


# ---------------------------------------------------------------------- strikes


def strike_a_copy(data: st.DataObject, graph: Graph, compute: Callable[..., object]) -> None:
    """Strike a drawn operation on copies of a graph, and check these."""
    operation = data.draw(operations(graph, compute))
    names = [node.name for node in graph]
    since = data.draw(st.lists(st.sampled_from(names), max_size=3) if names else st.just([]))
    observed = data.draw(st.sampled_from(["", "", "trace", "strict"]))
    with TemporaryDirectory() as folder, ExitStack() as watching:
        file = Path(folder, "graph")

        def prepare() -> Subject:
            twin = graph.copy()
            trace = watching.enter_context(twin.trace()) if observed == "trace" else None
            if observed == "strict":
                watching.enter_context(twin.strict())
            subject = Subject(twin, twin.checkpoint(), Look.at(twin), file, trace)
            for name in since:
                node = twin[name]
                if isinstance(node, Variable):
                    node.set(6)
                else:
                    outcome(node)
            note_values(subject)
            return subject

        other = graph.copy()
        for name in Look.at(other).variables:
            other[name].set(9)
        other.save(file)
        possible = [Look.at(prepare().graph)]
        if isinstance(operation, partial) and operation.func is nest:  # on its way back
            tried = prepare()
            tried.graph[operation.args[0]].set(8)
            possible.append(Look.at(tried.graph))
        for subject, whole in struck(data, prepare, operation):
            check(subject, [*possible, Look.at(whole.graph)])


def check(subject: Subject, possible: list[Look]) -> None:
    """Assert that the operation has happened or has not, and that all is right, and goes on."""
    graph = subject.graph
    now = Look.at(graph)
    assert now in possible
    check_entries(subject)
    for name in now.variables:
        with seen_by_trace(graph, subject.trace):
            graph[name].set(4)
        note_values(subject)
        check_entries(subject)
    read_all(subject)
    if not subject.mark.is_released:
        graph.rollback(subject.mark)
        assert Look.at(graph) == subject.at_mark
        check_entries(subject)
        read_all(subject)
    twin = graph.copy()
    assert Look.at(twin) == Look.at(graph)
    for name in now.variables:
        if name in graph:
            graph[name].set(5)
    read_all(Subject(twin, subject.mark, now, subject.file, None, subject.seen.copy()))
    read_all(subject)
    graph.variable("one more", 1)
    graph.remove(*graph)
    assert len(graph) == len(graph._handles.store.structure) == 0


def fresh(graph: Graph) -> Graph:
    """A new graph with the variables and functions of another one, in which nothing is cached."""
    found = Graph()
    for node in graph:
        if isinstance(node, Variable):
            found.variable(node.name, node())
        else:
            above = [found[p.name] for p in node.prerequisites]
            found.entry(node.name, graph._handles.functions[node._node], prerequisites=above)
    return found


def note_values(subject: Subject) -> None:
    """Assert that no version number stands for two values."""
    for node in subject.graph:
        if node.is_valid():
            value = subject.graph._handles.store.values[node._node]
            assert subject.seen.setdefault((node.name, node.version), value) == value, node


def check_entries(subject: Subject) -> None:
    """Assert that all that is valid is right."""
    graph = subject.graph
    check_store(graph._handles.store)
    right = fresh(graph)
    for node in graph:
        if node.is_valid():
            version = node.version
            assert node() == right[node.name](), node
            assert node.version == version
    note_values(subject)


def read_all(subject: Subject) -> None:
    """Assert that all that is read is right."""
    right = fresh(subject.graph)
    for node in subject.graph:
        with seen_by_trace(subject.graph, subject.trace):
            assert outcome(node) == outcome(right[node.name]), node
    check_entries(subject)
