"""Finalizers that run in the middle of an operation on a Graph, and use the Graph.

The garbage collector may begin wherever an object is allocated. So a finalizer of something in a
cycle may come while the same thread writes a Graph, computes in it, or changes its nodes. What it
reads is right, before the operation or after it, or is refused by an error of the library; and
afterwards nothing stale counts as valid.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial

import pytest

from stagecache import Graph
from stagecache.errors import CycleError, NodeInUseError, StagecacheError
from stagecache.graph.checkpoint import snapshot_of
from tests.graph.check_structure import check_store
from tests.graph.test_interrupts import OPERATIONS, check, expected, prepared, read_all
from tests.interrupting import collections, plain_only, visits


def read(graph: Graph) -> None:
    """Read all that can be read: the inputs, and values that fit the inputs of some moment."""
    for node in list(graph):
        try:
            value = node()
        except StagecacheError:
            continue
        assert value in moments().get(node.name, {value}), node.name


def copy(graph: Graph) -> None:
    """Copy it, and use the copy."""
    twin = graph.copy()
    read_all(twin)
    assert all(twin[name].is_valid() for name in expected(twin))
    for name in "abc":
        twin[name].set(twin[name]() + 1)
        read_all(twin)
    check_store(twin._handles.store)


def write(graph: Graph) -> None:
    graph["b"].set(5)


def read_and_write(graph: Graph) -> None:
    for node in list(graph):
        node()
    graph["b"].set(5)
    for node in list(graph):
        node()


def declare(graph: Graph) -> None:
    graph.remove(graph.variable("own", 1))


@cache
def moments() -> dict[str, set[int]]:
    """The values that there may be: a is 1, 2 or 4, b is 2, and c is 3 or 9."""
    found: dict[str, set[int]] = {}
    for a in (1, 2, 4):
        for c in (3, 9):
            graph = prepared("new")
            graph["a"].set(a)
            graph["c"].set(c)
            for name, value in expected(graph).items():
                found.setdefault(name, set()).add(value)
    return found


def unless_refused(act: Callable[[Graph], object], graph: Graph) -> None:
    with suppress(StagecacheError):
        act(graph)


FREQUENT = ("write", "write of what a wide group depends on", "read", "invalidate")
"""Operations that are short, and so are looked at step by step."""

ACTS = {act.__name__: act for act in (read, copy, write, read_and_write, declare)}


@plain_only
@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_what_a_finalizer_does_in_the_middle_leaves_nothing_stale(operation: str, act: str) -> None:
    operate = OPERATIONS[operation]
    every = 6 if operation in FREQUENT else 50
    for history in ("new", "read", "written"):
        acting = partial(unless_refused, ACTS[act])
        for graph, what in visits(partial(prepared, history), operate, acting, every):
            try:
                check(graph)
            except BaseException as error:
                error.add_note(f"{operation}, {history}: {what}")
                raise


@plain_only
def test_what_a_finalizer_reads_in_the_middle_of_an_observed_write_is_stale_after_it() -> None:
    def observed() -> Graph:
        graph = prepared("read")
        graph.trace().__enter__()
        return graph

    for graph, _ in visits(observed, OPERATIONS["write"], partial(unless_refused, read), every=2):
        read_all(graph)


def chain() -> Graph:
    """Two entries one below the other, in groups of their own; nothing is computed."""
    graph = Graph()
    u, v, w = (graph.variable(name, 1) for name in "uvw")
    upper = graph.entry("upper", lambda u, v: u() + v(), prerequisites=(u, v))
    graph.entry("lower", lambda upper, w: upper() + w(), prerequisites=(upper, w))
    return graph


@plain_only
def test_what_a_finalizer_computes_and_writes_before_all_above_is_live_is_stale_after_it() -> None:
    def act(graph: Graph) -> None:
        with suppress(CycleError):  # it is just being computed
            graph["upper"]()
        graph["u"].set(5)

    for graph, what in visits(chain, lambda graph: graph["lower"](), act, every=1):
        assert (graph["upper"](), graph["lower"]()) == (6, 7), what


@plain_only
@pytest.mark.parametrize("is_computed", [False, True])
def test_what_a_finalizer_computes_in_the_middle_of_a_write_is_stale_after_it(
    is_computed: bool,
) -> None:
    def prepare() -> Graph:
        graph = chain()
        if is_computed:
            graph["lower"]()
        return graph

    def write(graph: Graph) -> None:
        graph["u"].set(5)

    for graph, what in visits(prepare, write, lambda graph: graph["lower"](), every=1):
        assert (graph["upper"](), graph["lower"]()) == (6, 7), what


def test_what_a_collection_computes_in_a_write_after_a_checkpoint_is_stale_after_it() -> None:
    marks = []

    def prepare() -> Graph:
        graph = chain()
        marks.append(graph.checkpoint())
        return graph

    def write(graph: Graph) -> None:
        graph["u"].set(5)

    for graph, when in collections(prepare, write, lambda graph: graph["lower"](), every=1):
        assert (graph["upper"](), graph["lower"]()) == (6, 7), when


@plain_only
@pytest.mark.parametrize("act", ["read", "write", "read another"])
def test_a_use_by_a_finalizer_of_what_is_being_mended_is_refused(act: str) -> None:
    other = chain()

    def prepare() -> Graph:
        graph = chain()
        graph["lower"]()
        store = graph._handles.store
        for group in range(2, len(store.live)):  # as if a computation were cut short
            store.live[group] = False
        store.is_torn = other._handles.store.is_torn = True
        return graph

    def use(graph: Graph) -> None:
        if act == "write":
            graph["w"].set(3)
        elif act == "read":
            graph["u"].set(1)
            assert graph["lower"]() == 3
        else:
            assert other["lower"]() == 3

    refused = set()

    def try_to(graph: Graph) -> None:
        try:
            use(graph)
        except NodeInUseError:
            refused.add(graph)

    for graph, what in visits(prepare, lambda graph: graph["u"].set(5), try_to, every=1):
        assert not graph._handles.store.is_torn
        graph["u"].set(4)
        w = 3 if act == "write" and graph not in refused else 1
        assert (graph["upper"](), graph["lower"]()) == (5, 5 + w), what
    assert bool(refused) == (act != "read another")


def torn(history: str) -> Graph:
    """A graph that the next operation mends."""
    graph = prepared(history)
    graph._handles.is_torn = True
    return graph


@plain_only
@pytest.mark.parametrize(("make", "operate"), [(prepared, OPERATIONS["remove"]), (torn, len)])
def test_a_use_of_a_graph_whose_nodes_are_being_changed_says_what_to_do(
    make: Callable[[str], Graph], operate: Callable[[Graph], object]
) -> None:
    refused = []

    def act(graph: Graph) -> None:
        try:
            graph["a"]()
        except NodeInUseError as error:
            refused.append(error)

    for _ in visits(partial(make, "read"), operate, act, every=1):
        pass
    assert {error.hint for error in refused} == {
        "let the finalizer note what to do, and do it after the operation"
    }


@pytest.mark.parametrize("is_cut_short", [False, True])
def test_a_finalizer_of_what_a_rollback_drops_may_use_the_graph(is_cut_short: bool) -> None:
    graph = Graph()
    variable, other = graph.variable("variable", object()), graph.variable("other", 5)
    found = []

    class Telling:
        def __del__(self) -> None:
            found.append(other())

    mark = graph.checkpoint()
    graph.variable("new", Telling())
    later = graph.checkpoint()
    variable.set(Telling())
    handles = graph._handles
    if is_cut_short:
        handles._unfinished = snapshot_of(mark, handles.checkpoints)
        handles.is_torn = True
    else:
        graph.rollback(mark)
    assert len(graph) == 2
    assert found == [5, 5]
    assert later.is_released


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_finalizers_that_the_collector_runs_leave_nothing_stale(operation: str, act: str) -> None:
    for history in ("read", "written"):
        acting = partial(unless_refused, ACTS[act])
        for graph, what in collections(
            partial(prepared, history), OPERATIONS[operation], acting, every=7
        ):
            try:
                check(graph)
            except BaseException as error:
                error.add_note(f"{operation}, {history}: {what}")
                raise
