"""Pickles of a Graph: by name of functions; random round trips are in test_graph_machine.py."""

import pickle
import subprocess
import sys
import weakref
from typing import Any

import pytest

from stagecache import Entry, Graph, shared_results
from stagecache.errors import NotPicklableError
from tests.graph import pickled_models
from tests.graph.pickled_models import SPRING


def round_trip(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def test_a_graph_of_a_module_travels_with_values_and_versions() -> None:
    here = SPRING.copy()
    here["stiffness"].set(100.0)
    assert here["twice"]() == -20.0
    there = round_trip(here)
    assert [(n.name, n.version) for n in there] == [(n.name, n.version) for n in here]
    assert not any(node.is_valid() for node in there if isinstance(node, Entry))
    assert (there["stiffness"](), there["twice"](), there["half"]()) == (100.0, -20.0, -5.0)
    assert there["twice"].version == here["twice"].version + 1
    there["stiffness"].set(100.2)
    version = there["twice"].version
    assert (there["twice"](), there["twice"].version) == (-20.0, version)  # equal= travels, too


def test_a_shared_entry_is_shared_where_it_arrives() -> None:
    there = round_trip(SPRING)
    with shared_results():
        SPRING["shared"]()
        there["shared"]()
    assert there.explain("shared").shared


def test_a_decorated_function_is_found_by_its_entry() -> None:
    assert isinstance(pickled_models.force, Entry)
    assert round_trip(SPRING)._handles.functions[2] is SPRING._handles.functions[2]
    assert round_trip(round_trip(SPRING))["force"]() == -20.0


def test_another_process_reads_the_same() -> None:
    program = "import pickle, sys; print(pickle.load(sys.stdin.buffer)['force']())"
    found = subprocess.run(
        [sys.executable, "-c", program], input=pickle.dumps(SPRING), capture_output=True, check=True
    )
    assert found.stdout.split() == [b"-20.0"]


def test_a_handle_travels_with_its_graph() -> None:
    graph, force, again = round_trip((SPRING, SPRING["force"], SPRING["force"]))
    assert force is again is graph["force"]


def test_a_value_may_refer_to_its_graph() -> None:
    graph = Graph()
    one = graph.variable("one", 1)
    graph.variable("two", one)
    there = round_trip(graph)
    assert there["two"]() is there["one"]


def test_a_version_that_a_rollback_took_back_is_not_given_again() -> None:
    graph = Graph()
    a = graph.variable("a", 1)
    mark = graph.checkpoint()
    a.set(2)
    given = a.version
    graph.rollback(mark)
    there = round_trip(graph)
    there["a"].set(3)
    assert there["a"].version == given + 1


def lambda_function() -> Graph:
    graph = Graph("spring")
    graph.entry("force", lambda: 1.0)
    return graph


def local_function() -> Graph:
    graph = Graph("spring")

    def force() -> float:
        return 1.0

    graph.entry("force", force)
    return graph


def lambda_comparison() -> Graph:
    graph = Graph("spring")
    graph.entry("force", float, equal=lambda one, other: one is other)
    return graph


@pytest.mark.parametrize(
    ("make", "what", "got"),
    [
        (lambda_function, "its function", "a lambda"),
        (local_function, "its function", "local_function.<locals>.force, which is inside"),
        (lambda_comparison, "its equal=", "a lambda"),
    ],
)
def test_a_function_without_a_name_is_refused_by_its_entry(make: Any, what: str, got: str) -> None:
    with pytest.raises(NotPicklableError) as caught:
        pickle.dumps(make())
    assert caught.value.what == f"entry 'force' of graph 'spring': {what} cannot be pickled"
    assert caught.value.got.startswith(got)
    assert "top level of a module" in caught.value.hint


def test_a_function_that_pickle_does_not_take_is_refused_by_its_entry() -> None:
    class Local:
        def __call__(self) -> float:
            return 1.0

    graph = Graph("spring")
    graph.entry("force", Local())
    with pytest.raises(NotPicklableError, match="entry 'force' of graph 'spring'"):
        pickle.dumps(graph)


def test_a_graph_can_be_weakly_referenced() -> None:
    graph = Graph()
    alive = weakref.ref(graph)
    known = weakref.WeakKeyDictionary({graph: 1})
    assert alive() is graph
    assert known[graph] == 1
