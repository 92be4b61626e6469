"""Strict mode of a Graph: reads that were not declared, and values that were changed in place."""

import copy
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import Entry, Graph, shared_results, strict, verify
from stagecache.errors import (
    CycleError,
    MutatedValueError,
    StaleValueError,
    UndeclaredPrerequisiteError,
    UnknownChoiceError,
    WrongTypeError,
)
from stagecache.graph import AbstractNode


def spring() -> Graph:
    """A force that reads the stiffness, and does not declare it."""
    graph = Graph("spring")
    stretch = graph.variable("stretch", 0.5)
    stiffness = graph.variable("stiffness", 100.0)
    graph.entry("force", lambda x: -stiffness() * x(), prerequisites=(stretch,))
    return graph


def test_an_undeclared_read_is_silently_stale_without_strict_mode() -> None:
    graph = spring()
    assert graph["force"]() == -50.0
    graph["stiffness"].set(200.0)
    assert graph["force"].is_valid()


def test_an_undeclared_read_names_reader_read_and_place() -> None:
    graph = spring()
    stiffness = graph["stiffness"]

    def compute(x: Callable[[], float]) -> float:
        return float(-stiffness() * x())

    graph.entry("pull", compute, prerequisites=(graph["stretch"],))
    with graph.strict(), pytest.raises(UndeclaredPrerequisiteError) as caught:
        graph["pull"]()
    assert str(caught.value).splitlines() == [
        "pull: reads stiffness, which it does not declare",
        "  expected: reads of its prerequisites (stretch)",
        f"  got:      a read in {__file__}:{compute.__code__.co_firstlineno + 1}",
        "  hint:     declare 'pull' with prerequisites=(stretch, stiffness)",
    ]
    assert not graph["pull"].is_valid()


@pytest.mark.parametrize(
    ("declared", "hint"),
    [((), "(hidden,)"), (("a",), "(a, hidden)"), (("a", "b"), "(a, b, hidden)")],
)
def test_the_hint_is_a_tuple_of_all_prerequisites(declared: tuple[str, ...], hint: str) -> None:
    graph = Graph()
    for name in ("a", "b", "hidden"):
        graph.variable(name, 1)
    entry = graph.entry(
        "entry", lambda *_: graph["hidden"](), prerequisites=tuple(graph[name] for name in declared)
    )
    with graph.strict(undeclared="record") as reads:
        entry()
    assert [read.hint for read in reads.undeclared] == [
        f"declare 'entry' with prerequisites={hint}"
    ]


def test_an_undeclared_read_is_raised_even_if_the_function_catches_it() -> None:
    graph = Graph()
    hidden = graph.variable("hidden", 1)

    def compute() -> int:
        try:
            return hidden()
        except UndeclaredPrerequisiteError:
            return 0

    entry = graph.entry("entry", compute)
    with graph.strict(), pytest.raises(UndeclaredPrerequisiteError):
        entry()


def test_a_prerequisite_of_a_prerequisite_must_be_declared_too() -> None:
    """The one in between may come out equal, and so hide a change."""
    graph = Graph()
    a = graph.variable("a", 1)
    b = graph.entry("b", lambda a: a() % 2, prerequisites=(a,), equal=True)
    c = graph.entry("c", lambda b: b() + a(), prerequisites=(b,))
    with graph.strict(undeclared="record") as reads:
        c()
    assert [(read.entry, read.item) for read in reads.undeclared] == [(c, a)]


def test_an_entry_that_reads_itself_is_a_cycle() -> None:
    graph = Graph()
    graph.entry("loop", lambda: 1 + graph["loop"]())
    with graph.strict(), pytest.raises(CycleError):
        graph["loop"]()


def test_reads_outside_of_computations_are_free() -> None:
    graph = spring()
    with graph.strict():
        assert graph["stiffness"]() == 100.0


def test_it_is_off_after_the_block_and_in_copies() -> None:
    graph = spring()
    evaluator = graph._handles.evaluator
    bind = evaluator._bind
    with graph.strict():
        assert graph.copy()["force"]() == -50.0
        assert copy.deepcopy(graph)["force"]() == -50.0
        with pytest.raises(UndeclaredPrerequisiteError):
            graph["force"]()
        assert evaluator._bind is not bind
    assert evaluator._bind == bind
    assert graph["force"]() == -50.0


def test_without_an_argument_it_watches_each_graph_that_is_made() -> None:
    with strict():
        with pytest.raises(UndeclaredPrerequisiteError):
            spring()["force"]()
        twin = Graph().copy()
        hidden = twin.variable("hidden", 1)
        with pytest.raises(UndeclaredPrerequisiteError):
            twin.entry("entry", hidden)()
    assert spring()["force"]() == -50.0


def test_nodes_declared_and_removed_in_the_block_are_watched() -> None:
    graph = spring()
    with graph.strict(undeclared="record") as reads:
        graph["force"]()
        hidden = graph.variable("hidden", 1)
        late = graph.entry(
            "late", lambda force: force() + hidden(), prerequisites=(graph["force"],)
        )
        late()
        assert [read.item.name for read in reads.undeclared] == ["stiffness", "hidden"]
        graph.remove(late, hidden)
        assert [over.prerequisite for over in reads.over_declared()] == []


def test_a_value_changed_in_place_is_found() -> None:
    graph = Graph()
    items = graph.variable("items", [1, 2])
    total = graph.entry("total", lambda items: sum(items()), prerequisites=(items,))
    with graph.strict():
        total()
        items().append(3)
        with pytest.raises(MutatedValueError, match=r"items\.set\(value\)"):
            items()
    squares = graph.entry("squares", lambda items: [i**2 for i in items()], prerequisites=(items,))
    with graph.strict():
        squares().append(3)
        with pytest.raises(MutatedValueError, match="squares: its value") as caught:
            squares()
    assert "copy it first" in caught.value.hint


@pytest.mark.parametrize("number", [1, 2])
def test_each_computation_in_the_block_may_not_change_what_it_reads(number: int) -> None:
    """Nor the first one of an entry that is declared there."""
    graph = Graph()
    parts = graph.variable("parts", [2, 1])
    computations = []

    def total(parts: Callable[[], list[int]]) -> int:
        computations.append("total")
        found = parts()
        if len(computations) == number:
            found.append(0)
        return sum(found)

    with graph.strict():
        entry = graph.entry("total", total, prerequisites=(parts,))
        for _ in range(number - 1):
            assert entry() == 3
            parts.set([2, 1])
        with pytest.raises(MutatedValueError, match="parts"):
            entry()


def test_an_array_changed_in_place_is_found_unless_it_is_read_only() -> None:
    graph = Graph()
    array = graph.variable("array", np.zeros(2))
    fixed = np.zeros(2)
    fixed.setflags(write=False)
    graph.variable("fixed", fixed)
    entry = graph.entry("entry", lambda array: array() + 1, prerequisites=(array,))
    with graph.strict():
        entry()
        array()[0] = 1.0
        with pytest.raises(MutatedValueError, match="array: its value"):
            array()
    with graph.strict():
        entry()
        graph["fixed"]()


def test_verify_finds_a_stale_value_and_its_cause() -> None:
    graph = spring()
    graph["force"]()
    graph["stiffness"].set(200.0)
    with verify(graph), pytest.raises(StaleValueError) as caught:
        graph["force"]()
    assert caught.value.suspects == ("stiffness",)


def test_a_shared_entry_is_computed_to_watch_its_reads() -> None:
    graph = Graph()
    a, hidden = graph.variable("a", 1), graph.variable("hidden", 2)

    def compute(a: Any) -> int:
        return int(a()) + hidden()

    entry = graph.entry("entry", compute, prerequisites=(a,), shared=True)
    with shared_results(), graph.strict(), pytest.raises(UndeclaredPrerequisiteError):
        entry()


def test_a_deep_chain_is_watched_although_it_is_prepared_ahead() -> None:
    graph = Graph()
    hidden = graph.variable("hidden", 1)
    node: Any = graph.entry("e0", hidden)
    for i in range(1, 200):
        node = graph.entry(f"e{i}", lambda above: above() + 1, prerequisites=(node,))
    with graph.strict(undeclared="record") as reads:
        assert node() == 200
    assert [(read.entry.name, read.item.name) for read in reads.undeclared] == [("e0", "hidden")]
    assert reads.over_declared() == ()


def test_threads_are_told_apart() -> None:
    graph = spring()
    errors: list[BaseException] = []

    def read() -> None:
        try:
            graph["stiffness"]()
        except BaseException as error:
            errors.append(error)

    def compute(stretch: Callable[[], float]) -> float:
        thread = threading.Thread(target=read)
        thread.start()
        thread.join()
        return stretch()

    entry = graph.entry("entry", compute, prerequisites=(graph["stretch"],))
    with graph.strict():
        assert entry() == 0.5
    assert errors == []


def test_a_wrong_mode_or_thing_is_refused() -> None:
    with pytest.raises(UnknownChoiceError):
        Graph().strict(undeclared="ignore")  # type: ignore[arg-type]  # that is the test
    with pytest.raises(WrongTypeError, match="a State or a Graph"):
        strict("graph")  # type: ignore[call-overload]  # that is the test


@given(data=st.data())
def test_exactly_what_is_read_and_not_declared_is_told(data: st.DataObject) -> None:
    """Entries declare some of the nodes before them, and read others."""
    graph = Graph()
    nodes: list[AbstractNode] = [graph.variable(f"v{i}", i) for i in range(2)]
    reads: dict[str, set[str]] = {}
    for number in range(data.draw(st.integers(1, 6))):
        some = st.lists(st.sampled_from(nodes), unique_by=id, max_size=3)
        declared, read = data.draw(some), data.draw(some)

        def compute(*_: object, read: list[AbstractNode] = read) -> int:
            return sum(int(str(node())) for node in read)

        entry = graph.entry(f"e{number}", compute, prerequisites=tuple(declared))
        reads[entry.name] = {node.name for node in read}
        nodes.append(entry)
    values = {"v0": 0, "v1": 1}
    for name, read_names in reads.items():
        values[name] = sum(values[each] for each in read_names)
    entries = [node for node in nodes if isinstance(node, Entry)]
    wrong = {
        entry.name: reads[entry.name] - {node.name for node in entry.prerequisites}
        for entry in entries
    }
    with graph.strict(undeclared="record") as log:
        assert {node.name: node() for node in graph} == values
    told: dict[str, set[str]] = {name: set() for name in reads}
    for each in log.undeclared:
        told[each.entry.name].add(each.item.name)
    assert told == wrong
    over: dict[str, set[str]] = {name: set() for name in reads}
    for each_over in log.over_declared():
        over[each_over.entry.name].add(each_over.prerequisite.name)
    assert over == {
        e.name: {node.name for node in e.prerequisites} - reads[e.name] for e in entries
    }
    for node in reversed(entries):
        node.invalidate()
    with graph.strict():
        for node in entries:  # what is upstream was read before, if it may be
            if wrong[node.name]:
                with pytest.raises(UndeclaredPrerequisiteError):
                    node()
                break
            node()


def test_an_entry_that_is_declared_in_the_block_is_watched_from_the_beginning() -> None:
    graph = Graph()
    a, b = graph.variable("a", 1), graph.variable("b", 2)
    with graph.strict():
        compared = graph.entry(
            "compared", lambda a: a() if a() < 2 else b(), prerequisites=(a,), equal=True
        )
        below = graph.entry("below", lambda c: c(), prerequisites=(compared,))
        assert below() == 1
        a.set(2)
        with pytest.raises(UndeclaredPrerequisiteError, match="'compared'"):
            below()  # which computes the compared one before its own function reads it
