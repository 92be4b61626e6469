"""An operation on a Graph that an error cuts short has happened, or what it touched is recomputed.

After each strike, every entry that is read is as it is computed from scratch; writes, declarations,
removals and copies work as if nothing had been.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from stagecache import Checkpoint, Entry, Graph, Variable
from stagecache.errors import FileFormatError
from stagecache.graph import NodeKind
from tests.graph.check_structure import check_store
from tests.interrupting import (
    ignore_lost_strikes,
    needs_timer,
    plain_only,
    strikes,
    struck_at,
    struck_by_timer,
)
from tests.threads import wait_until_in

Read = Callable[[], int]


def go_back(graph: Graph) -> None:
    """Go back from a write, a declaration and a removal."""
    mark = graph.checkpoint()
    graph["a"].set(2)
    graph["product"]()
    graph.remove(graph["wide0"])
    graph.variable("new", 1)
    graph.rollback(mark)


OPERATIONS: dict[str, Callable[[Graph], object]] = {
    "write": lambda graph: graph["a"].set(2),
    "write of what a wide group depends on": lambda graph: graph["c"].set(9),
    "read": lambda graph: graph["product"](),
    "invalidate": lambda graph: graph["odd"].invalidate(),  # type: ignore[union-attr]  # an entry
    "copy": lambda graph: graph.copy(),
    "declare a variable": lambda graph: graph.variable("new", 1),
    "declare an entry": lambda graph: graph.entry(
        "new", lambda a, b: a() + b(), prerequisites=(graph["a"], graph["b"])
    ),
    "declare an entry below one that is compared": lambda graph: graph.entry(
        "new", lambda a, b: a() + b(), prerequisites=(graph["odd"], graph["product"])
    ),
    "remove": lambda graph: graph.remove(graph["product"]),
    "checkpoint": lambda graph: graph.checkpoint(),
    "go back": go_back,
    "remove several": lambda graph: graph.remove(*[graph[f"wide{i}"] for i in range(3)]),
}


def model() -> Graph:
    """Variables a, b, c; an entry that is compared and two below it; and a wide group."""
    graph = Graph()
    a, b, c = (graph.variable(name, value) for name, value in zip("abc", (1, 2, 3), strict=True))
    odd = graph.entry("odd", lambda a: a() % 2, prerequisites=(a,), equal=True)
    total = graph.entry("sum", lambda odd, b: odd() + b(), prerequisites=(odd, b))
    graph.entry("product", lambda total, c: total() * c(), prerequisites=(total, c))
    for i in range(9):
        graph.entry(f"wide{i}", lambda c, x, i=i: c() + x() + i, prerequisites=(c, (a, b)[i % 2]))
    return graph


def expected(graph: Graph) -> dict[str, int]:
    a, b, c = (graph[name]() for name in "abc")
    wide = {f"wide{i}": c + (a, b)[i % 2] + i for i in range(9)}
    found = {"odd": a % 2, "sum": a % 2 + b, "product": (a % 2 + b) * c, **wide}
    return {name: value for name, value in found.items() if name in graph}


def read_all(graph: Graph) -> None:
    for name, value in expected(graph).items():
        assert graph[name]() == value, name


def check(graph: Graph) -> None:
    """Assert that all is right, and goes on to be."""
    read_all(graph)
    for name in "acb":
        graph[name].set(graph[name]() + 1)
        read_all(graph)
    check_store(graph._handles.store)
    if "new" not in graph:
        graph.variable("new", 5)
    again = graph.entry("again", lambda n, a: n() + a(), prerequisites=(graph["new"], graph["a"]))
    assert again() == graph["new"]() + graph["a"]()
    graph.remove(again, graph["new"])
    twin = graph.copy()
    read_all(twin)
    graph.remove(*graph)
    assert len(graph) == len(graph._handles.store.structure) == 0
    read_all(twin)


def prepared(history: str) -> Graph:
    graph = model()
    if history != "new":
        read_all(graph)
    if history == "written":
        graph["a"].set(4)
    return graph


@plain_only
@ignore_lost_strikes
@pytest.mark.parametrize("operation", OPERATIONS)
def test_whatever_is_cut_short_leaves_nothing_stale_and_nothing_unusable(operation: str) -> None:
    for history in ("new", "read", "written"):
        for graph, what in strikes(partial(prepared, history), OPERATIONS[operation], every=7):
            values = [graph[name]() for name in "abc"]
            try:
                assert all(v in w for v, w in zip(values, ((1, 2, 4), (2,), (3, 9)), strict=True))
                check(graph)
            except BaseException as error:
                error.add_note(f"{operation}, {history}: {what}")
                raise


def endless(graph: Graph) -> Iterator[None]:
    """Do everything, again and again."""
    variables: list[Variable[Any]] = [node for node in graph if isinstance(node, Variable)]
    entries: list[Entry[Any]] = [node for node in graph if isinstance(node, Entry)]
    n = 0
    while True:
        n += 1
        variables[n % 3].set(n)
        entries[n % len(entries)]()
        graph.copy()
        if "new" in graph:
            graph.remove(graph["new"])
        else:
            graph.entry("new", lambda a, b: a() + b(), prerequisites=(graph["a"], graph["b"]))
        yield


@needs_timer
@ignore_lost_strikes
def test_interrupts_by_a_timer_leave_nothing_stale_and_nothing_unusable() -> None:
    for n in range(150):
        graph = model()
        struck_by_timer(1e-4 * (1 + n % 17), endless(graph))
        check(graph)


@plain_only
@ignore_lost_strikes
def test_a_checkpoint_whose_release_is_cut_short_can_be_gone_back_to_or_says_that_it_cannot() -> (
    None
):
    def prepare() -> tuple[Graph, Checkpoint]:
        graph = prepared("read")
        mark = graph.checkpoint()
        graph["a"].set(2)
        return graph, mark

    for (graph, mark), what in strikes(prepare, lambda pair: pair[1].release(), every=1):
        if not mark.is_released:
            graph.rollback(mark)
            assert graph["a"]() == 1, what
        check(graph)
        again = graph.checkpoint()
        assert len(graph._handles.store.journals) == 1 + (not mark.is_released), what
        again.release()


@plain_only
@ignore_lost_strikes
def test_a_load_that_is_cut_short_has_set_all_variables_or_none(tmp_path: Path) -> None:
    other = model()
    for name in "abc":
        other[name].set(9)
    other.save(tmp_path / "graph")

    def load(graph: Graph) -> None:
        with suppress(
            FileFormatError
        ):  # its JSON seems to be nested without end, if stack is short
            graph.load(tmp_path / "graph")

    for graph, what in strikes(partial(prepared, "read"), load, every=13):
        assert [graph[name]() for name in "abc"] in ([1, 2, 3], [9, 9, 9]), what
        check(graph)


@plain_only
@ignore_lost_strikes
def test_a_removal_of_several_nodes_that_is_cut_short_has_removed_all_or_none() -> None:
    def remove(graph: Graph) -> None:
        graph.remove(graph["sum"], graph["odd"], graph["product"])

    for graph, what in strikes(partial(prepared, "read"), remove, every=5):
        left = [name for name in ("odd", "sum", "product") if name in graph]
        assert len(left) in (0, 3), what
        check(graph)


@plain_only
@ignore_lost_strikes
def test_a_mending_that_is_cut_short_is_done_by_the_next_operation() -> None:
    def torn() -> Graph:
        graph = prepared("read")
        graph._handles.is_torn = True
        return graph

    for graph, _ in strikes(torn, len, every=4):
        check(graph)


def cut_short() -> tuple[Graph, list[Checkpoint]]:
    """A graph with two checkpoints, and a rollback to the first that is begun and not complete."""
    for at in count():
        graph = prepared("read")
        marks = [graph.checkpoint()]
        graph["a"].set(2)
        marks.append(graph.checkpoint())
        graph.variable("new", 1)
        struck_at(at, partial(graph.rollback, marks[0]), KeyboardInterrupt)
        if graph._handles._unfinished is not None:
            break
    assert graph._handles.is_torn
    return graph, marks


NEXT: dict[str, Callable[[Graph, list[Checkpoint]], object]] = {
    "declare, when all is checked": lambda graph, _: graph._handles.declare(
        "new", NodeKind.VARIABLE, 1
    ),
    "remove, when all is checked": lambda graph, _: graph._handles.remove(["product"]),
    "release of the checkpoint": lambda _, marks: marks[0].release(),
    "release of a later one": lambda _, marks: marks[1].release(),
    "rollback": lambda graph, marks: graph.rollback(marks[0]),
}


@plain_only
@ignore_lost_strikes
@pytest.mark.parametrize("operation", [*OPERATIONS, *NEXT])
def test_the_next_operation_completes_a_rollback_that_was_cut_short(operation: str) -> None:
    graph, marks = cut_short()
    if operation in NEXT:
        NEXT[operation](graph, marks)
    else:
        OPERATIONS[operation](graph)
    assert graph._handles._unfinished is None
    assert marks[1].is_released
    assert graph["a"]() == (2 if operation == "write" else 1)
    assert ("new" in graph) == operation.startswith("declare")
    check(graph)


@plain_only
@ignore_lost_strikes
def test_so_does_the_next_use_of_a_handle() -> None:
    graph, _ = cut_short()
    [handle] = [node for node in graph._handles._handles if node is not None and node.name == "a"]
    assert handle.is_valid()
    assert graph._handles._unfinished is None
    check(graph)


@plain_only
@ignore_lost_strikes
def test_threads_that_find_it_cut_short_complete_it_once() -> None:
    graph, _ = cut_short()
    with graph.lock:
        thread = Thread(target=lambda: found.append(graph["a"]()))
        found: list[int] = []
        thread.start()
        wait_until_in(thread, "mend")
        read_all(graph)
        mended = graph._handles.store.clock
    thread.join()
    assert (found, graph._handles.store.clock) == ([1], mended)
    check(graph)


@plain_only
def test_threads_get_the_same_handle_of_a_copy() -> None:
    twin = model().copy()
    with twin.lock:
        thread = Thread(target=lambda: found.append(twin["a"]))
        found: list[object] = []
        thread.start()
        wait_until_in(thread, "get")
        mine = twin["a"]
    thread.join()
    assert found[0] is mine
