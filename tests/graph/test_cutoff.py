"""Early cutoff: what a comparison saves, and that it never changes a value."""

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from stagecache import Entry, Graph, Variable
from stagecache.errors import ComparisonError, ComputeSignatureError, WrongTypeError
from tests.graph.check_structure import check_store
from tests.graph.striking import same, strike_a_copy
from tests.interrupting import FUSE, ignore_lost_strikes, plain_only, steps
from tests.profiles import examples


class Counted:
    """A compute function that counts its calls."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.calls = 0

    def __call__(self, *reads: Callable[[], Any]) -> Any:
        self.calls += 1
        FUSE.pass_by()
        found = self.function(*reads)
        FUSE.pass_by()
        return found


def copied(*reads: Callable[[], Any]) -> Any:
    return reads[0]()


def parity(*reads: Callable[[], Any]) -> int:
    return int(sum(read() for read in reads)) % 2


def cut(equal: Any = True) -> tuple[Variable[int], Entry[int], Entry[int], Counted]:
    """number -> parity (compared) -> below, whose calls are counted."""
    graph = Graph()
    number = graph.variable("number", 1)
    odd = graph.entry("odd", parity, prerequisites=(number,), equal=equal)
    counted = Counted(copied)
    below = graph.entry("below", counted, prerequisites=(odd,))
    return number, odd, below, counted


# ---------------------------------------------------------------------- examples


def test_what_is_below_an_equal_value_is_not_computed_again() -> None:
    number, odd, below, counted = cut()
    assert below() == 1
    number.set(3)
    assert not below.is_valid()
    assert below() == 1
    assert below.is_valid()
    assert counted.calls == 1
    assert below.version == odd.version == 1
    number.set(4)
    assert below() == 0
    assert counted.calls == 2


def test_without_a_comparison_all_is_computed_again() -> None:
    number, _, below, counted = cut(equal=False)
    assert below() == 1
    number.set(3)
    assert below() == 1
    assert counted.calls == 2


def test_an_equal_value_is_the_object_of_before() -> None:
    graph = Graph()
    number = graph.variable("number", 1)
    pair = graph.entry("pair", lambda n: [n() % 2], prerequisites=(number,), equal=True)
    first = pair()
    number.set(3)
    assert pair() is first


def test_several_cuts_in_a_row_stop_at_the_first_equal_value() -> None:
    graph = Graph()
    last: Variable[int] | Entry[int] = graph.variable("number", 1)
    number = last
    assert isinstance(number, Variable)
    counted = [Counted(copied) for _ in range(5)]
    for i, function in enumerate([Counted(parity), *counted]):
        last = graph.entry(f"e{i}", function, prerequisites=(last,), equal=True)
    assert last() == 1
    number.set(3)
    assert last() == 1
    assert [c.calls for c in counted] == [1] * 5


def test_a_diamond_is_computed_only_if_one_of_its_sides_has_changed() -> None:
    graph = Graph()
    number = graph.variable("number", 1)
    left = graph.entry("left", lambda n: n() % 2, prerequisites=(number,), equal=True)
    right = graph.entry("right", lambda n: n() % 3, prerequisites=(number,), equal=True)
    counted = Counted(lambda a, b: (a(), b()))
    tip = graph.entry("tip", counted, prerequisites=(left, right))
    assert tip() == (1, 1)
    number.set(7)
    assert tip() == (1, 1)
    assert counted.calls == 1
    number.set(9)
    assert tip() == (1, 0)
    assert counted.calls == 2


def test_what_is_farther_below_an_equal_value_is_not_computed_again_either() -> None:
    graph = Graph()
    number, other, third = (graph.variable(name, 1) for name in ("number", "other", "third"))
    odd = graph.entry("odd", parity, prerequisites=(number,), equal=True)
    both = graph.entry("both", lambda a, b: a() + b(), prerequisites=(odd, other))
    counted = Counted(lambda a, b: a() + b())
    tip = graph.entry("tip", counted, prerequisites=(both, third))
    assert tip() == 3
    number.set(3)
    assert tip() == 3
    assert counted.calls == 1


def test_a_prerequisite_beside_the_cut_still_counts() -> None:
    graph = Graph()
    number, other = graph.variable("number", 1), graph.variable("other", 10)
    odd = graph.entry("odd", parity, prerequisites=(number,), equal=True)
    both = graph.entry("both", lambda a, b: a() + b(), prerequisites=(odd, other))
    assert both() == 11
    number.set(3)
    other.set(20)
    assert both() == 21


def test_below_an_equal_value_whose_computation_writes_something_all_is_computed() -> None:
    graph = Graph()
    number, num_calls = graph.variable("number", 1), graph.variable("num_calls", 0)

    def counted(number: Variable[int]) -> int:
        num_calls.set(num_calls() + 1)
        return number() % 2

    odd = graph.entry("odd", counted, prerequisites=(number,), equal=True)
    below = Counted(lambda odd: odd() + 10)
    result = graph.entry("result", below, prerequisites=(odd,))
    assert (result(), below.calls) == (11, 1)
    number.set(3)
    assert (result(), below.calls) == (11, 2)
    assert (result(), below.calls, num_calls()) == (11, 2, 2)


def test_a_value_that_changed_and_changed_back_counts_as_changed_only_if_it_was_read() -> None:
    number, odd, below, counted = cut()
    below()
    number.set(2)
    number.set(3)
    below()
    assert counted.calls == 1
    number.set(2)
    odd()
    number.set(3)
    below()
    assert counted.calls == 2


def test_a_deep_chain_below_a_cut_is_not_computed_again() -> None:
    graph = Graph()
    number = graph.variable("number", 1)
    last = graph.entry("odd", parity, prerequisites=(number,), equal=True)
    counted = Counted(copied)
    for i in range(100_000):
        last = graph.entry(f"e{i}", counted, prerequisites=(last,))
    last()
    number.set(3)
    assert last() == 1
    assert counted.calls == 100_000
    number.set(2)
    assert last() == 0
    assert counted.calls == 200_000


def test_a_deep_chain_of_cuts_is_not_computed_again() -> None:
    graph = Graph()
    number = graph.variable("number", 1)
    counted = Counted(copied)
    last = graph.entry("odd", parity, prerequisites=(number,), equal=True)
    for i in range(20_000):
        last = graph.entry(f"e{i}", counted, prerequisites=(last,), equal=i % 2 == 0)
    last()
    number.set(3)
    assert last() == 1
    assert counted.calls == 20_000
    number.set(2)
    assert last() == 0
    assert counted.calls == 40_000


def test_a_removed_cut_leaves_its_number_to_an_entry_that_is_not_compared() -> None:
    graph = Graph()
    number = graph.variable("number", 1)
    odd = graph.entry("odd", parity, prerequisites=(number,), equal=True)
    odd()
    graph.remove(odd)
    assert graph._structure.compared == set()
    counted = Counted(copied)
    plain = graph.entry("plain", parity, prerequisites=(number,))
    below = graph.entry("below", counted, prerequisites=(plain,))
    below()
    number.set(3)
    below()
    assert counted.calls == 2


def test_a_copy_cuts_off_on_its_own() -> None:
    number, _, below, counted = cut()
    below()
    number.set(3)
    graph = number._handles.owner
    assert isinstance(graph, Graph)
    twin = graph.copy()
    assert twin[below]() == 1
    assert not below.is_valid()
    assert below() == 1
    twin[number].set(2)
    assert (twin[below](), below()) == (0, 1)
    assert counted.calls == 2


def test_a_copy_knows_since_when_an_entry_has_its_value() -> None:
    number, odd, below, counted = cut()
    below()
    number.set(3)
    odd()
    graph = number._handles.owner
    assert isinstance(graph, Graph)
    assert graph.copy()[below]() == 1
    assert counted.calls == 1


def test_after_a_rollback_an_entry_has_its_value_since_when_it_had_it_before() -> None:
    number, _, below, counted = cut()
    below()
    graph = number._handles.owner
    assert isinstance(graph, Graph)
    mark = graph.checkpoint()
    for value in (4, 6):  # a new value, and an equal one
        number.set(value)
        below()
    graph.rollback(mark)
    counted.calls = 0
    number.set(3)
    assert (below(), counted.calls) == (1, 0)


# ---------------------------------------------------------------------- what compares


def test_nan_equals_nan_if_the_comparison_says_so() -> None:
    graph = Graph()
    number = graph.variable("number", 0.0)
    equal = partial(np.array_equal, equal_nan=True)
    root = graph.entry(
        "root", lambda n: np.array([n() * np.nan]), prerequisites=(number,), equal=equal
    )
    counted = Counted(copied)
    below = graph.entry("below", counted, prerequisites=(root,))
    below()
    number.set(1.0)
    below()
    assert counted.calls == 1


def test_nan_does_not_equal_nan_by_itself() -> None:
    graph = Graph()
    number = graph.variable("number", 0.0)
    root = graph.entry("root", lambda n: n() * float("nan"), prerequisites=(number,), equal=True)
    counted = Counted(copied)
    below = graph.entry("below", counted, prerequisites=(root,))
    below()
    number.set(1.0)
    below()
    assert counted.calls == 2


@pytest.mark.parametrize("equal", [1, "==", object()])
def test_what_compares_nothing_is_refused(equal: Any) -> None:
    with pytest.raises(WrongTypeError, match=r"equal= is not a comparison"):
        Graph().entry("entry", lambda: 1, equal=equal)


def test_what_compares_one_value_is_refused() -> None:
    def is_one(value: object) -> bool:
        return value == 1

    graph = Graph()
    refused: Any = is_one
    with pytest.raises(ComputeSignatureError, match=r"cannot be called with two values"):
        graph.entry("entry", lambda: 1, equal=refused)
    assert len(graph) == 0


def test_a_comparison_without_a_truth_value_is_reported_at_each_read() -> None:
    graph = Graph()
    vector = graph.variable("vector", np.zeros(2))
    doubled = graph.entry("doubled", lambda v: 2 * v(), prerequisites=(vector,), equal=True)
    below = graph.entry("below", lambda d: d().sum(), prerequisites=(doubled,))
    assert below() == 0
    vector.set(np.ones(2))
    for read in (doubled, below, doubled, below):
        with pytest.raises(ComparisonError, match=r"'doubled': its values cannot be compared"):
            read()
    doubled.invalidate()  # so that there is nothing to compare with
    assert below() == 4


def test_a_comparison_that_raises_leaves_the_value_of_before() -> None:
    def refuse(one: object, other: object) -> bool:
        raise ZeroDivisionError

    number, odd, below, _ = cut(equal=refuse)
    assert below() == 1
    number.set(2)
    with pytest.raises(ComparisonError) as caught:
        odd()
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert odd.version == 1
    assert not odd.is_valid()


def test_an_invalidated_entry_is_computed_and_its_value_counts_as_another() -> None:
    number, odd, below, counted = cut()
    below()
    odd.invalidate()
    assert below() == 1
    assert counted.calls == 2
    assert odd.version == 2
    number.set(3)
    below.invalidate()
    assert below() == 1
    assert counted.calls == 3


# ---------------------------------------------------------------------- failures and interrupts


def test_a_failing_computation_is_called_once_for_each_read_from_outside() -> None:
    calls = {}
    for equal in (False, True):
        graph = Graph()
        number = graph.variable("number", 1)
        counted = Counted(lambda read: 1 // read())
        last: Variable[int] | Entry[int] = number
        for i in range(20):
            last = graph.entry(f"e{i}", counted, prerequisites=(last,), equal=equal)
        last()
        number.set(0)
        with pytest.raises(ZeroDivisionError):
            last()
        number.set(1)
        assert last() == 1
        calls[equal] = counted.calls
    assert calls[True] <= calls[False]


def test_an_equal_value_whose_source_is_written_meanwhile_is_compared_with_nothing() -> None:
    graph = Graph()
    number = graph.variable("number", 1)

    def tell(read: Callable[[], int]) -> int:
        value = read()
        if value == 3:
            number.set(5)
        return value % 2

    odd = graph.entry("odd", tell, prerequisites=(number,), equal=True)
    below = graph.entry("below", copied, prerequisites=(odd,))
    assert below() == 1
    number.set(3)
    assert odd() == 1
    assert not odd.is_valid()
    assert not below.is_valid()
    assert below() == 1
    assert odd.is_valid()
    check_store(graph._handles.store)


def test_a_failure_that_waits_to_be_read_is_not_raised_by_what_is_read_before_it() -> None:
    graph = Graph()
    number = graph.variable("number", 1)
    counted = Counted(lambda read: 1 // read())
    inverse = graph.entry("inverse", counted, prerequisites=(number,), equal=True)
    twice = graph.entry("twice", lambda read: 2 * read(), prerequisites=(number,))
    seen = []

    def read_both(other: Callable[[], int], failing: Callable[[], int]) -> int:
        seen.append(other())
        return failing()

    both = graph.entry("both", read_both, prerequisites=(twice, inverse))
    last = graph.entry("last", copied, prerequisites=(inverse,))
    outer = graph.entry("outer", lambda one, two: one() + two(), prerequisites=(both, last))
    assert outer() == 2
    number.set(0)
    for entry in (both, outer, both):
        with pytest.raises(ZeroDivisionError):
            entry()
    assert seen == [2, 0, 0, 0]
    number.set(1)
    assert outer() == 2


@pytest.mark.parametrize("is_read", [True, False])
def test_a_failure_that_is_over_without_a_write_is_not_raised_again(is_read: bool) -> None:
    graph = Graph()
    is_broken = False

    def measure(number: Variable[int]) -> int:
        if is_broken:
            raise ArithmeticError
        return number()

    def double(measured: Entry[int]) -> int:
        if is_broken and not is_read:
            raise ArithmeticError
        return 2 * measured()

    number = graph.variable("number", 1)
    measured = graph.entry("measured", measure, prerequisites=(number,), equal=True)
    twice = graph.entry("twice", double, prerequisites=(measured,), equal=True)
    assert twice() == 2
    number.set(2)
    is_broken = True
    with pytest.raises(ArithmeticError):
        twice()
    is_broken = False
    assert twice() == 4


def test_a_failure_waits_to_be_read_while_another_entry_is_computed() -> None:
    graph = Graph()
    number = graph.variable("number", 1)
    counted = Counted(lambda read: 1 // read())
    inverse = graph.entry("inverse", counted, prerequisites=(number,), equal=True)
    half = graph.entry("half", lambda read: read() // 2, prerequisites=(number,), equal=True)
    both = graph.entry("both", lambda i, h: h() + i(), prerequisites=(inverse, half))
    assert both() == 1
    number.set(0)
    with pytest.raises(ZeroDivisionError):
        both()
    assert counted.calls == 2


def test_a_failure_that_is_not_read_does_no_harm() -> None:
    graph = Graph()
    number, chosen = graph.variable("number", 1), graph.variable("chosen", True)
    inverse = graph.entry("inverse", lambda n: 1 // n(), prerequisites=(number,), equal=True)
    either = graph.entry("either", lambda c, i: i() if c() else -1, prerequisites=(chosen, inverse))
    assert either() == 1
    chosen.set(False)
    assert either() == -1
    number.set(0)
    assert either() == -1


@pytest.mark.parametrize("where", ["compute", "compare"])
def test_an_interrupt_leaves_nothing_wrong(where: str) -> None:
    is_struck = False

    def strike(here: str) -> None:
        nonlocal is_struck
        if is_struck and where == here:
            is_struck = False
            raise KeyboardInterrupt

    def compute(read: Callable[[], int]) -> int:
        strike("compute")
        return read() % 2

    def equal(one: int, other: int) -> bool:
        strike("compare")
        return one == other

    graph = Graph()
    number = graph.variable("number", 1)
    odd = graph.entry("odd", compute, prerequisites=(number,), equal=equal)
    below = graph.entry("below", copied, prerequisites=(odd,))
    for value in (1, 3, 4, 4, 6, 7):
        below()
        number.set(value)
        is_struck = True
        with pytest.raises(KeyboardInterrupt):
            below()
        assert not below.is_valid()
        assert below() == value % 2
        check_store(graph._handles.store)


NODES = st.lists(
    st.tuples(
        st.lists(st.integers(0, 30), min_size=1, max_size=3),  # prerequisites, counted backwards
        st.sampled_from([True, False, np.array_equal]),
        st.integers(2, 4),
    ),
    min_size=1,
    max_size=14,
)

# ---------------------------------------------------------------------- marks by hand


@pytest.mark.parametrize("between", [False, True])
def test_what_is_marked_while_a_compared_prerequisite_is_stale_does_not_come_back_with_it(
    between: bool,
) -> None:
    graph = Graph()
    gap = graph.variable("gap", 1.0)
    touches = graph.entry("touches", lambda gap: gap() < 0, prerequisites=(gap,), equal=True)
    above = graph.entry("same", copied, prerequisites=(touches,)) if between else touches
    force = graph.entry("force", lambda t: 100 if t() else 0, prerequisites=(above,))
    assert force() == 0
    gap.set(-1.0)
    store = graph._handles.store
    store.values[force._node] = 100  # which is right, and nobody has asked whether it touches
    store.mark_valid(force._node)
    assert force() == 100
    gap.set(2.0)
    assert force() == 0


def test_a_value_that_is_stored_by_hand_in_a_stale_entry_leaves_it_stale() -> None:
    number, odd, below, _ = cut()
    below()
    number.set(3)
    store = odd._handles.store
    store.renounce(odd._node)
    store.values[odd._node] = 0
    assert not odd.is_valid()
    assert below() == 1


@given(seed=st.integers(0, 2**32))
def test_every_read_is_right_whenever_the_right_value_is_marked_by_hand(seed: int) -> None:
    """Twenty random programs a seed: a wrong value takes five operations in the right order."""
    for n in range(20):
        run_with_marks(random.Random(f"{seed} {n}"))


def run_with_marks(draw: random.Random) -> None:
    graph = Graph()
    values = [0] * draw.randint(1, 2)
    nodes: list[Any] = [graph.variable(f"v{i}", 0) for i in range(len(values))]
    above: dict[int, list[int]] = {}
    moduli: dict[int, int] = {}

    def expected(number: int) -> int:
        if number < len(values):
            return values[number]
        return (1 + sum(map(expected, above[number]))) % moduli[number]

    for number in range(len(values), len(values) + draw.randint(2, 4)):
        near = range(max(0, number - 2), number)
        above[number] = sorted(draw.sample(near, draw.randint(1, len(near))))
        moduli[number] = draw.randint(2, 3)

        def compute(*reads: Callable[[], int], modulus: int = moduli[number]) -> int:
            return (1 + sum(read() for read in reads)) % modulus

        handles = [nodes[p] for p in above[number]]
        is_compared = draw.random() < 0.5
        nodes.append(graph.entry(f"e{number}", compute, prerequisites=handles, equal=is_compared))
    store = graph._handles.store
    for _ in range(30):
        number = draw.choice(list(above))
        operation = draw.choice(["write", "write", "mark", "read", "invalidate"])
        if operation == "write":
            source = draw.randrange(len(values))
            values[source] = draw.randint(0, 3)
            nodes[source].set(values[source])
        elif operation == "mark":
            store.renounce(nodes[number]._node)
            store.values[nodes[number]._node] = expected(number)
            store.mark_valid(nodes[number]._node)
        elif operation == "invalidate":
            nodes[number].invalidate()
        else:
            assert nodes[number]() == expected(number)
    check_store(store)


# ---------------------------------------------------------------------- cost


@plain_only
def test_links_reached_by_a_compared_and_a_plain_path_cost_the_same_however_long_the_chain() -> (
    None
):
    def steps_for(length: int) -> int:
        graph = Graph()
        source = graph.variable("source", 0)
        last = graph.entry("e0", copied, prerequisites=(source,))
        for i in range(1, length):
            side = graph.entry(f"x{i}", lambda n: n() // 10, prerequisites=(source,), equal=True)
            above = (side, last)
            last = graph.entry(f"e{i}", lambda x, e: x() + e(), prerequisites=above)
        last()
        source.set(1)
        return steps(last)

    assert steps_for(400) < 12 * steps_for(40)


# ---------------------------------------------------------------------- threads


def test_a_thread_waits_for_a_cut_that_another_one_computes() -> None:
    started, go = threading.Event(), threading.Event()

    def slow(number: Callable[[], int]) -> int:
        value = number()
        if value == 3:
            started.set()
            assert go.wait(10)
        return value % 2

    graph = Graph()
    number = graph.variable("number", 1)
    odd = graph.entry("odd", slow, prerequisites=(number,), equal=True)
    counted = Counted(copied)
    below = graph.entry("below", counted, prerequisites=(odd,))
    below()
    number.set(3)
    first = threading.Thread(target=odd)
    first.start()
    assert started.wait(10)
    found: list[int] = []
    second = threading.Thread(target=lambda: found.append(below()))
    second.start()
    second.join(0.05)
    assert second.is_alive()
    go.set()
    first.join()
    second.join()
    assert found == [1]
    assert counted.calls == 1


def test_threads_below_one_cut_agree_and_compute_it_once() -> None:
    graph = Graph()
    number = graph.variable("number", 0)
    third = Counted(lambda n: n() // 3)
    middle = graph.entry("middle", third, prerequisites=(number,), equal=True)
    counted = [Counted(lambda m, i=i: m() * 10 + i) for i in range(4)]
    below = [graph.entry(f"e{i}", c, prerequisites=(middle,)) for i, c in enumerate(counted)]
    gate = threading.Barrier(4)
    wrong: list[object] = []

    def read(me: int) -> None:
        for n in range(60):
            if gate.wait(20) == 0:
                number.set(n)
            gate.wait(20)
            for i in range(4):
                entry = (i + me) % 4
                if below[entry]() != n // 3 * 10 + entry:
                    wrong.append((n, entry))

    threads = [threading.Thread(target=read, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert third.calls == 60
    assert [c.calls for c in counted] == [20] * 4


# ---------------------------------------------------------------------- exactly what is needed

STEPS = st.lists(
    st.tuples(st.sampled_from(["write", "read", "read", "invalidate"]), st.integers(0, 30)),
    max_size=40,
)


@dataclass
class Exact:
    """An entry, and what it was computed from: variables and compared entries, by their stamp."""

    above: list[int]
    is_compared: bool
    modulus: int
    value: int = 0
    stamp: int = 0
    calls: int = 0
    seen: dict[int, int] | None = None


class ExactModel:
    """Computes an entry exactly if something that it was computed from has another value."""

    def __init__(self, variables: int) -> None:
        self.values = [0] * variables
        self.stamps = [0] * variables
        self.entries: dict[int, Exact] = {}

    def frontier(self, number: int) -> dict[int, int]:
        """The variables and compared entries that are above it without another one in between."""
        found: dict[int, int] = {}
        for p in self.entries[number].above:
            if p not in self.entries:
                found[p] = self.stamps[p]
            elif self.entries[p].is_compared:
                found[p] = self.entries[p].stamp
            else:
                found |= self.frontier(p)
        return found

    def read(self, number: int) -> int:
        if number not in self.entries:
            return self.values[number]
        entry = self.entries[number]
        values = [self.read(p) for p in entry.above]
        now = self.frontier(number)
        if entry.seen != now:
            value = (1 + sum(values)) % entry.modulus
            entry.calls += 1
            if not entry.is_compared or entry.seen is None or value != entry.value:
                entry.value = value
                entry.stamp += 1
        entry.seen = now
        return entry.value

    def invalidate(self, number: int) -> None:
        self.entries[number].seen = None
        for n, entry in self.entries.items():
            if number in entry.above:
                self.invalidate(n)


@given(variables=st.integers(1, 4), nodes=NODES, steps=STEPS)
def test_nothing_is_computed_unless_what_it_depends_on_has_another_value(
    variables: int,
    nodes: list[tuple[list[int], Any, int]],
    steps: list[tuple[str, int]],
) -> None:
    graph, plain, model = Graph(), Graph(), ExactModel(variables)
    real: list[Any] = [graph.variable(f"v{i}", 0) for i in range(variables)]
    without: list[Any] = [plain.variable(f"v{i}", 0) for i in range(variables)]
    counted: dict[int, Counted] = {}
    uncompared: dict[int, Counted] = {}
    for backwards, equal, modulus in nodes:
        number = len(real)
        above = sorted({number - 1 - b % number for b in backwards})

        def compute(*reads: Callable[[], int], modulus: int = modulus) -> int:
            return (1 + sum(read() for read in reads)) % modulus

        counted[number], uncompared[number] = Counted(compute), Counted(compute)
        model.entries[number] = Exact(above, equal is not False, modulus)
        name = f"e{number}"
        handles = [real[p] for p in above]
        real.append(graph.entry(name, counted[number], prerequisites=handles, equal=equal))
        handles = [without[p] for p in above]
        without.append(plain.entry(name, uncompared[number], prerequisites=handles))
    for kind, choice in steps:
        if kind == "write":
            number = choice % variables
            model.values[number] = choice
            model.stamps[number] += 1
            real[number].set(choice)
            without[number].set(choice)
        else:
            number = variables + choice % len(nodes)
            if kind == "read":
                assert real[number]() == without[number]() == model.read(number)
                assert real[number].is_valid()
            else:
                real[number].invalidate()
                without[number].invalidate()
                model.invalidate(number)
        check_store(graph._handles.store)
        for number, entry in model.entries.items():
            assert counted[number].calls == entry.calls <= uncompared[number].calls
            assert real[number].version == entry.stamp


# ---------------------------------------------------------------------- with and without, anything


def fail_at_times(*reads: Callable[[], int]) -> int:
    total = sum(read() for read in reads) % 3
    if total == 0:
        raise ZeroDivisionError
    return total


def read_one_of(*reads: Callable[[], int]) -> int:
    if not reads:
        return 0
    first = reads[0]()
    return (first + reads[first % len(reads)]()) % 3


def survive(*reads: Callable[[], int]) -> int:
    """Reads one, and another one if that fails."""
    for read in reads:
        try:
            return read() % 2
        except ZeroDivisionError:
            continue
    return 2


STATIC = [parity, fail_at_times]
COMPUTES = [*STATIC, read_one_of, survive]


def outcome(read: Callable[[], int]) -> int | str:
    try:
        return read()
    except ZeroDivisionError:
        return "failed"


@dataclass
class Twins:
    """Two graphs of the same entries; those of the first are compared, some of them."""

    cut: Graph = field(default_factory=Graph)
    plain: Graph = field(default_factory=Graph)
    versions: dict[str, tuple[int, int]] = field(default_factory=dict)  # and values

    def copy(self) -> "Twins":
        return Twins(self.cut.copy(), self.plain.copy(), self.versions.copy())


class CutoffMachine(RuleBasedStateMachine):
    """The same operations on a graph with comparisons, and on one without."""

    computes: list[Callable[..., int]] = COMPUTES
    is_counting = False

    def __init__(self) -> None:
        super().__init__()
        self.twins = [Twins()]
        self.seen: dict[tuple[int, str, int], int] = {}
        self.counts: list[tuple[Counted, Counted]] = []

    @initialize(values=st.lists(st.integers(0, 5), min_size=1, max_size=4))
    def start(self, values: list[int]) -> None:
        for i, value in enumerate(values):
            self.twins[0].cut.variable(f"v{i}", value)
            self.twins[0].plain.variable(f"v{i}", value)

    def pick(self, data: st.DataObject, kind: type) -> tuple[Twins, str | None]:
        twins = data.draw(st.sampled_from(self.twins))
        names = [node.name for node in twins.cut if isinstance(node, kind)]
        return twins, data.draw(st.sampled_from(names)) if names else None

    @rule(data=st.data(), is_compared=st.booleans(), i=st.integers(0, 12))
    def add(self, data: st.DataObject, is_compared: bool, i: int) -> None:
        twins, _ = self.pick(data, Entry)
        if f"e{i}" in twins.cut:
            return
        names = [node.name for node in twins.cut]
        chosen = data.draw(st.lists(st.sampled_from(names), unique=True, max_size=3))
        function = data.draw(st.sampled_from(self.computes))
        pair = Counted(function), Counted(function)
        self.counts.append(pair)
        for graph, counted, equal in zip(
            (twins.cut, twins.plain), pair, (same if is_compared else False, False), strict=True
        ):
            handles = [graph[name] for name in chosen]
            graph.entry(f"e{i}", counted, prerequisites=handles, equal=equal)

    @rule(data=st.data(), value=st.integers(0, 5))
    def write(self, data: st.DataObject, value: int) -> None:
        twins, name = self.pick(data, Variable)
        if name:
            twins.cut[name].set(value)
            twins.plain[name].set(value)

    @rule(data=st.data())
    def read(self, data: st.DataObject) -> None:
        twins, name = self.pick(data, Entry)
        if not name:
            return
        before = [(cut.calls, plain.calls) for cut, plain in self.counts]
        assert outcome(twins.cut[name]) == outcome(twins.plain[name])
        if self.is_counting:
            for (cut, plain), (old_cut, old_plain) in zip(self.counts, before, strict=True):
                assert cut.calls - old_cut <= plain.calls - old_plain

    @rule(data=st.data())
    def invalidate(self, data: st.DataObject) -> None:
        twins, name = self.pick(data, Entry)
        if name:
            twins.cut[name].invalidate()  # type: ignore[union-attr]  # an entry
            twins.plain[name].invalidate()  # type: ignore[union-attr]  # an entry

    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        twins, name = self.pick(data, Entry)
        if name and not twins.cut[name].dependents:
            twins.cut.remove(twins.cut[name])
            twins.plain.remove(twins.plain[name])
            twins.versions.pop(name, None)

    @precondition(lambda self: len(self.twins) < 3)
    @rule(data=st.data())
    def copy(self, data: st.DataObject) -> None:
        self.twins.append(self.pick(data, Entry)[0].copy())

    @rule(data=st.data())
    def strike(self, data: st.DataObject) -> None:
        """An operation on a copy that an error cuts short has happened, or has not."""
        twins, _ = self.pick(data, Entry)
        strike_a_copy(data, twins.cut, Counted(data.draw(st.sampled_from(self.computes))))

    @invariant()
    def what_is_valid_is_right(self) -> None:
        for number, twins in enumerate(self.twins):
            check_store(twins.cut._handles.store)
            for node in list(twins.cut):
                twin = twins.plain[node.name]
                if isinstance(node, Entry) and isinstance(twin, Entry):
                    assert node.is_valid() >= (self.is_counting and twin.is_valid())
                    if node.is_valid():
                        self.check_version(number, twins, node)

    def check_version(self, number: int, twins: Twins, node: Entry[int]) -> None:
        version, value = node.version, node()
        assert node.version == version
        assert outcome(twins.plain.copy()[node.name]) == value
        assert self.seen.setdefault((number, node.name, version), value) == value
        assert twins.versions.get(node.name, (0, 0))[0] <= version
        twins.versions[node.name] = version, value


class StaticCutoffMachine(CutoffMachine):
    """Where each computation reads all that it declares, a comparison never costs a call."""

    computes = STATIC
    is_counting = True


TestCutoffMachine = ignore_lost_strikes(CutoffMachine.TestCase)
TestStaticCutoffMachine = ignore_lost_strikes(StaticCutoffMachine.TestCase)
FEWER = examples(50)
TestCutoffMachine.settings = TestStaticCutoffMachine.settings = FEWER
