"""Computing: exceptions, cycles, deep chains, threads."""

import gc
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TypeVar

import pytest

from stagecache import Entry, Graph, Variable
from stagecache.errors import CycleError
from stagecache.graph.evaluation import DEEPEST
from tests.graph.check_structure import check_store
from tests.interrupting import plain_only, visits
from tests.threads import TIMEOUT, many_switches, run_together

T = TypeVar("T")
Read = Callable[[], int]


# ---------------------------------------------------------------------- exceptions


def test_an_exception_reaches_the_reader_unchanged_and_leaves_the_entry_invalid() -> None:
    graph = Graph()
    a = graph.variable("a", 0)
    error = ZeroDivisionError("my own")

    def fail(a: Read) -> int:
        if a() == 0:
            raise error
        return a()

    good = graph.entry("good", lambda a: a() + 1, prerequisites=(a,))
    bad = graph.entry("bad", fail, prerequisites=(a,))
    below = graph.entry("below", lambda g, b: g() + b(), prerequisites=(good, bad))
    with pytest.raises(ZeroDivisionError) as caught:
        below()
    assert caught.value is error
    assert (good.is_valid(), bad.is_valid(), below.is_valid()) == (True, False, False)
    assert (good.version, bad.version, below.version) == (1, 0, 0)
    a.set(2)
    assert below() == 5


def test_an_interrupt_leaves_nothing_half_computed() -> None:
    graph = Graph()
    interrupted = True

    def compute() -> int:
        if interrupted:
            raise KeyboardInterrupt
        return 1

    entry = graph.entry("entry", compute)
    below = graph.entry("below", lambda e: e(), prerequisites=(entry,))
    with pytest.raises(KeyboardInterrupt):
        below()
    interrupted = False
    assert below() == 1


def test_a_handled_failure_does_not_spoil_the_reader() -> None:
    graph = Graph()
    bad = graph.entry("bad", lambda: 1 // 0)

    def careful(bad: Read) -> int:
        try:
            return bad()
        except ZeroDivisionError:
            return -1

    assert graph.entry("careful", careful, prerequisites=(bad,))() == -1


def test_an_entry_that_is_invalidated_while_it_is_computed_stays_invalid() -> None:
    graph = Graph()
    a = graph.variable("a", 1)
    upper: Entry[int] = graph.entry("upper", lambda a: a(), prerequisites=(a,))

    def compute(upper_read: Read) -> int:
        value = upper_read()
        upper.invalidate()
        return value

    entry = graph.entry("entry", compute, prerequisites=(upper,))
    assert entry() == 1
    assert not entry.is_valid()


def test_an_entry_whose_source_is_written_while_it_is_computed_stays_invalid() -> None:
    graph = Graph()
    a = graph.variable("a", 1)

    def compute(a_read: Read) -> int:
        value = a_read()
        a.set(value + 1)
        return value

    entry = graph.entry("entry", compute, prerequisites=(a,))
    assert entry() == 1
    assert not entry.is_valid()
    assert entry() == 2
    check_store(graph._handles.store)


# ---------------------------------------------------------------------- cycles


def test_an_entry_that_reads_itself_is_a_cycle() -> None:
    graph = Graph()
    entry: Entry[int] = graph.entry("entry", lambda: entry() + 1)
    with pytest.raises(CycleError) as caught:
        entry()
    assert caught.value.path == ("entry", "entry")
    assert str(caught.value).startswith("cache entry 'entry': ")
    assert not entry.is_valid()


@pytest.mark.parametrize("length", [2, 5, DEEPEST - 1, DEEPEST + 1, 3 * DEEPEST])
def test_a_cycle_through_an_undeclared_read_names_its_path(length: int) -> None:
    graph = Graph()
    closing = True
    last: Entry[int] = graph.entry("e0", lambda: last() if closing else 0)
    for i in range(1, length):
        last = graph.entry(f"e{i}", lambda below: below() + 1, prerequisites=(last,))
    with pytest.raises(CycleError) as caught:
        last()
    assert caught.value.path == (*[f"e{i}" for i in reversed(range(length))], f"e{length - 1}")
    assert f"cache entry 'e{length - 1}'" in str(caught.value)
    closing = False
    assert last() == length - 1, "the cycle left nothing behind"


def test_an_entry_that_invalidates_and_then_reads_itself_is_a_cycle() -> None:
    graph = Graph()

    def compute() -> int:
        entry.invalidate()
        return entry()

    entry: Entry[int] = graph.entry("entry", compute)
    with pytest.raises(CycleError):
        entry()


# ---------------------------------------------------------------------- deep chains


def chain(graph: Graph, length: int, bottom: Callable[..., int]) -> list[Entry[int]]:
    entries = [graph.entry("e0", bottom)]
    for i in range(1, length):
        entries.append(
            graph.entry(f"e{i}", lambda below: below() + 1, prerequisites=(entries[-1],))
        )
    return entries


def test_a_failure_at_the_end_of_a_deep_chain_reaches_the_reader() -> None:
    calls = []

    def fail() -> int:
        calls.append(1)
        raise ValueError("bottom")

    entries = chain(Graph(), 5_000, fail)
    for reads in (1, 2):
        with pytest.raises(ValueError, match="bottom") as caught:
            entries[-1]()
        assert len(calls) == reads, "it is computed once for each read"
        assert not any(e.is_valid() for e in entries)
        depth = sum(1 for _ in iterate_traceback(caught.value))
        assert depth < 10 * DEEPEST, "the traceback does not grow with the chain"


def iterate_traceback(error: BaseException) -> Iterator[object]:
    traceback = error.__traceback__
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def test_a_deep_failure_that_nobody_reads_is_not_raised() -> None:
    """What a branch does not read may fail, however deep it is."""
    graph = Graph()
    calls = []

    def fail() -> int:
        calls.append(1)
        raise ZeroDivisionError

    bad = graph.entry("bad", fail)
    below: Entry[int] = graph.entry("start", lambda b: 0, prerequisites=(bad,))
    for i in range(1_000):
        below = graph.entry(f"e{i}", lambda x, b: x() + 1, prerequisites=(below, bad))
    assert below() == 1_000
    assert calls == [1]


def test_a_deep_entry_does_not_wait_for_what_it_does_not_read() -> None:
    graph = Graph()
    begun, go_on = threading.Event(), threading.Event()

    def wait() -> int:
        begun.set()
        assert go_on.wait(TIMEOUT)
        return 1

    slow = graph.entry("slow", wait)
    below: Entry[int] = graph.entry("start", lambda slow: 0, prerequisites=(slow,))
    for i in range(3 * DEEPEST):
        below = graph.entry(f"e{i}", lambda below: below() + 1, prerequisites=(below,))
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(slow)
        assert begun.wait(TIMEOUT)
        assert below() == 3 * DEEPEST
        assert not future.done()
        go_on.set()
        assert future.result(TIMEOUT) == 1


def test_a_deep_failure_that_is_handled_is_not_raised() -> None:
    def careful(below: Read) -> int:
        try:
            return below() + 1
        except ZeroDivisionError:
            return 0

    graph = Graph()
    below: Entry[int] = graph.entry("bad", lambda: 1 // 0)
    for i in range(3 * DEEPEST):
        below = graph.entry(f"e{i}", careful, prerequisites=(below,))
    assert below() == 3 * DEEPEST - 1
    assert graph.statistics.valid_entries == 3 * DEEPEST  # all that have a value


def test_an_interrupt_in_a_deep_chain_leaves_nothing_behind() -> None:
    interrupted = True

    def bottom() -> int:
        if interrupted:
            raise KeyboardInterrupt
        return 0

    entries = chain(Graph(), 3 * DEEPEST, bottom)
    with pytest.raises(KeyboardInterrupt):
        entries[-1]()
    interrupted = False
    assert entries[-1]() == 3 * DEEPEST - 1


@pytest.mark.parametrize("length", [DEEPEST, 3 * DEEPEST])
def test_an_entry_that_never_stays_valid_is_computed_once_for_each_read(length: int) -> None:
    graph = Graph()
    calls = []

    def restless() -> int:
        calls.append(1)
        graph["e0"].invalidate()  # type: ignore[union-attr]  # an entry
        return len(calls)

    entries = chain(graph, length, restless)
    graph.entry("another", lambda: 0)()  # which is valid
    for reads in (1, 2, 3):
        assert entries[-1]() == reads + length - 1
        assert len(calls) == reads
        assert not any(entry.is_valid() for entry in entries)


def test_a_deep_entry_whose_source_is_written_below_it_does_not_pass_for_valid() -> None:
    graph = Graph()
    source = graph.variable("source", 0)

    def write_and_read(source: Variable[int]) -> int:
        value = source()
        source.set(value + 1)
        return value

    below = graph.entry("bottom", write_and_read, prerequisites=(source,))
    for i in range(3 * DEEPEST):
        below = graph.entry(f"e{i}", lambda below: below(), prerequisites=(below,))
    for name in ("an idle one", "another"):  # which are never written
        graph.variable(name, 0)
    for expected in range(3):
        assert below() == expected
        assert graph.statistics.valid_entries == 0


def test_a_deep_failure_whose_cause_is_mended_is_not_raised_again() -> None:
    graph = Graph()
    divisor = graph.variable("divisor", 0)
    ratio = graph.entry("ratio", lambda d: 12 // d(), prerequisites=(divisor,))

    def mend(ratio: Entry[int]) -> int:
        try:
            return ratio()
        except ZeroDivisionError:
            divisor.set(4)
            return ratio()

    below = graph.entry("mend", mend, prerequisites=(ratio,))
    for i in range(3 * DEEPEST):
        below = graph.entry(f"e{i}", lambda below: below(), prerequisites=(below,))
    assert below() == 3


def test_a_deep_diamond_ladder_computes_each_entry_once() -> None:
    graph = Graph()
    calls: list[str] = []

    def add(name: str, *above: Entry[int]) -> Entry[int]:
        def compute(*reads: Read) -> int:
            calls.append(name)
            return 1 + max((read() for read in reads), default=0)

        return graph.entry(name, compute, prerequisites=above)

    left, right = add("left"), add("right")
    for i in range(200):
        left, right = add(f"l{i}", left, right), add(f"r{i}", right, left)
    assert left() == 201
    assert len(calls) == len(set(calls))
    graph["left"].invalidate()  # type: ignore[union-attr]  # an entry
    assert not left.is_valid()


# ---------------------------------------------------------------------- threads


def or_cycle(function: Callable[[], T]) -> Callable[[], T | CycleError]:
    """Return a cycle error instead of raising it."""

    def run() -> T | CycleError:
        try:
            return function()
        except CycleError as error:
            return error

    return run


def test_what_several_threads_read_is_computed_once() -> None:
    graph = Graph()
    a = graph.variable("a", 1)
    calls = []

    def slow(a: Read) -> int:
        calls.append(1)
        time.sleep(0.01)
        return a() + 1

    upper = graph.entry("upper", slow, prerequisites=(a,))
    lower = graph.entry("lower", lambda u: u() + 1, prerequisites=(upper,))
    for n in range(1, 6):
        a.set(n)
        assert run_together(upper, lower, upper, lower) == [n + 1, n + 2, n + 1, n + 2]
        assert len(calls) == n


@pytest.fixture
def busy_switching() -> Iterator[None]:
    with many_switches():
        yield


@pytest.mark.usefixtures("busy_switching")
def test_threads_that_read_many_entries_compute_each_once() -> None:
    graph = Graph()
    head = graph.variable("head", 0)
    layer: list[Variable[int] | Entry[int]] = [head]
    for i in range(30):
        layer = [
            graph.entry(f"e{i}-{j}", lambda *r: sum(x() for x in r) % 97, prerequisites=layer)
            for j in range(4)
        ]
    for n in range(1, 30):
        head.set(n)
        results = run_together(*layer)
        assert [node.version for node in graph] == [n + 1] + [n] * 120
        fresh = graph.copy()
        fresh[head].set(n)
        assert results == [fresh[node]() for node in layer]


def test_depth_is_that_of_a_thread() -> None:
    """However much others compute, what is not read is not computed."""
    graph = Graph()
    everybody = threading.Barrier(DEEPEST + 6)
    calls: list[int] = []
    expensive = graph.entry("expensive", lambda: calls.append(1))

    def wait_and_read(inner: Entry[int]) -> int:
        everybody.wait(TIMEOUT)
        return inner()

    outer = []
    for i in range(DEEPEST + 6):
        inner = graph.entry(f"inner{i}", lambda expensive: 1, prerequisites=(expensive,))
        outer.append(graph.entry(f"outer{i}", wait_and_read, prerequisites=(inner,)))
    assert run_together(*outer) == [1] * len(outer)
    assert calls == []


@pytest.mark.usefixtures("busy_switching")
def test_a_deep_value_that_is_stale_at_once_spoils_nothing_that_another_thread_computes() -> None:
    graph = Graph()
    begun, go_on = threading.Event(), threading.Event()

    def wait() -> int:
        begun.set()
        assert go_on.wait(TIMEOUT)
        return 1

    def restless() -> int:
        graph["e0"].invalidate()  # type: ignore[union-attr]  # an entry
        return 0

    apart = graph.entry("apart", wait)
    entries = chain(graph, 3 * DEEPEST, restless)
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(apart)
        assert begun.wait(TIMEOUT)
        assert entries[-1]() == 3 * DEEPEST - 1
        go_on.set()
        assert future.result(TIMEOUT) == 1
    assert apart.is_valid()
    assert not any(entry.is_valid() for entry in entries)


def test_threads_that_ask_a_copy_get_the_same_handle() -> None:
    graph = Graph()
    graph.variable("a", 1)
    for _ in range(50):
        look_up = partial(graph.copy().__getitem__, "a")
        assert len(set(run_together(*[look_up] * 4))) == 1


def test_a_waiting_thread_tries_itself_where_the_other_failed() -> None:
    graph = Graph()
    outcomes: Iterator[Exception | int] = iter([ZeroDivisionError("first"), 7])
    started = threading.Event()

    def compute() -> int:
        started.set()
        time.sleep(0.05)
        outcome = next(outcomes)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    entry = graph.entry("entry", compute)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(entry)
        assert started.wait(TIMEOUT)
        second = pool.submit(entry)
        assert isinstance(first.exception(TIMEOUT), ZeroDivisionError)
        assert second.result(TIMEOUT) == 7


class Patient(threading.Condition):
    """Waits until it is woken, however long that takes, and tells when it begins to."""

    def __init__(self) -> None:
        super().__init__()
        self.has_begun = threading.Event()

    def wait(self, timeout: float | None = None) -> bool:
        self.has_begun.set()
        return super().wait()


@pytest.mark.parametrize("first", [ZeroDivisionError(), 7])
def test_a_waiting_thread_is_woken_when_the_computation_ends(first: Exception | int) -> None:
    graph = Graph()
    graph._handles.evaluator._finished = finished = Patient()
    outcomes: Iterator[Exception | int] = iter([first, 7])

    def compute() -> int:
        assert finished.has_begun.wait(TIMEOUT)
        outcome = next(outcomes)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def read() -> int | None:
        with suppress(ZeroDivisionError):
            return entry()
        return None

    entry = graph.entry("entry", compute)
    assert 7 in run_together(read, read)


def test_a_cycle_across_two_threads_is_an_error_and_no_deadlock() -> None:
    graph = Graph()
    started = {"a": threading.Event(), "b": threading.Event()}

    def compute(name: str, other: str) -> int:
        started[name].set()
        assert started[other].wait(TIMEOUT)
        value: int = graph[other]()
        return value

    a = graph.entry("a", lambda: compute("a", "b"))
    b = graph.entry("b", lambda: compute("b", "a"))
    errors = [r for r in run_together(or_cycle(a), or_cycle(b)) if isinstance(r, CycleError)]
    assert len(errors) == 2
    for error in errors:
        assert error.path in [("a", "b", "a"), ("b", "a", "b")]
    assert not a.is_valid()
    assert not b.is_valid()


@pytest.mark.parametrize("graphs", [2, 3])
def test_a_cycle_across_graphs_and_threads_is_an_error_and_no_deadlock(graphs: int) -> None:
    started = [threading.Event() for _ in range(graphs)]
    entries: list[Entry[int]] = []

    def compute(i: int) -> int:
        started[i].set()
        following = (i + 1) % graphs
        assert started[following].wait(TIMEOUT)
        return entries[following]()

    for i in range(graphs):
        graph = Graph(f"graph {i}")
        for j in range(3 * (i == 0)):
            graph.variable(f"before{j}", 0)
        entries.append(graph.entry(f"e{i}", partial(compute, i)))
        below = entries[-1]
        for j in range(3):  # whose numbers are those of entries of the other graph
            below = graph.entry(f"below{j}", lambda above: above(), prerequisites=(below,))
    errors = [r for r in run_together(*map(or_cycle, entries)) if isinstance(r, CycleError)]
    assert errors
    for error in errors:
        assert set(error.path) <= {f"e{i}" for i in range(graphs)}
        assert error.path[0] == error.path[-1]
    assert max(len(error.path) for error in errors) == graphs + 1
    assert not any(entry.is_valid() for entry in entries)


def test_a_computation_may_use_threads_that_read_other_entries() -> None:
    """Only an entry that is being computed is waited for, not the thread that computes it."""
    graph = Graph()
    parts = [graph.entry(f"part{i}", lambda: 1) for i in range(4)]

    def total(*reads: Read) -> int:
        with ThreadPoolExecutor(4) as pool:
            return sum(pool.map(lambda read: read(), reads))

    assert graph.entry("total", total, prerequisites=parts)() == 4


def test_other_threads_may_go_on_while_a_waiting_one_looks_at_what_they_compute() -> None:
    evaluator = Graph()._handles.evaluator
    thread = 1
    evaluator.running.update(dict.fromkeys(range(1000), thread))

    def begin_some(*_: object) -> None:  # garbage is collected, and another thread runs meanwhile
        known = len(evaluator.running)
        evaluator.running.update(dict.fromkeys(range(known, known + 5), thread))

    before = gc.get_threshold()
    gc.callbacks.append(begin_some)
    gc.set_threshold(1)
    try:
        assert evaluator._stack(thread, 999)[0] == (evaluator, 999)
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(begin_some)


@plain_only
def test_a_computation_may_end_in_another_thread_just_as_it_is_looked_at() -> None:
    """Between two looks of a thread that waits for it, and makes sure that it does not for ever."""

    def prepare() -> Graph:
        graph = Graph()
        graph.entry("slow", lambda: 1)
        graph._handles.evaluator.running[0] = -1  # another thread
        return graph

    def look(graph: Graph) -> None:
        graph._handles.evaluator._refuse_deadlock(0, threading.get_ident())

    def end(graph: Graph) -> None:
        del graph._handles.evaluator.running[0]

    for graph, what in visits(prepare, look, end, every=1):
        assert graph["slow"]() == 1, what
