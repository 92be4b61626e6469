"""Reads without the cache, against values that are computed from the variables each time."""

from collections import Counter
from threading import Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import CacheEntry, Stage, State, Subsystem, System, cached, parameter, strict
from stagecache.errors import ForeignNodeError, StageTooLowError, WrongTypeError
from stagecache.inspection import uncached
from tests.profiles import examples

CALLS: Counter[str] = Counter()


class Chain(Subsystem):
    """Entries in a chain; the first lacks a prerequisite, which the others need as well."""

    first = parameter(1.0)
    second = parameter(10.0)

    @cached(prerequisites=(first,))
    def one(self, state: State) -> float:
        CALLS["one"] += 1
        return self.first(state) + self.second(state)  # the second is not declared

    @cached(prerequisites=(one,), equal=True)
    def is_large(self, state: State) -> bool:
        CALLS["is_large"] += 1
        return self.one(state) > 5.0

    @cached(prerequisites=(is_large, first))
    def two(self, state: State) -> float:
        CALLS["two"] += 1
        return self.one(state) * (2.0 if self.is_large(state) else 1.0)


def truth(first: float, second: float) -> tuple[float, bool, float]:
    one = first + second
    return one, one > 5.0, one * (2.0 if one > 5.0 else 1.0)


def model() -> tuple[Chain, State]:
    chain = Chain()
    state = System(chain).new_state()
    CALLS.clear()
    return chain, state


def read(chain: Chain, state: State) -> tuple[Any, ...]:
    return chain.one(state), chain.is_large(state), chain.two(state)


@given(
    st.lists(
        st.tuples(st.sampled_from(["first", "second", "cached"]), st.sampled_from([0.0, 1.0, 7.0])),
        max_size=10,
    )
)
@examples(200)
def test_values_are_right_in_spite_of_wrong_declarations(writes: list[tuple[str, float]]) -> None:
    chain, state = model()
    values = {"first": 1.0, "second": 10.0}
    for name, value in writes:
        if name == "cached":
            read(chain, state)
            continue
        values[name] = value
        getattr(chain, name).set(state, value)
        with uncached(state):
            assert read(chain, state) == truth(values["first"], values["second"])


def test_each_read_computes_and_after_the_block_none_does() -> None:
    chain, state = model()
    chain.two(state)
    assert CALLS == {"one": 1, "is_large": 1, "two": 1}
    CALLS.clear()
    with uncached(state):
        chain.two(state)
        chain.two(state)
    assert CALLS == {"two": 2, "is_large": 2, "one": 4}
    CALLS.clear()
    chain.two(state)
    assert not CALLS


def test_an_entry_alone_is_computed_and_others_stay_valid() -> None:
    chain, state = model()
    chain.two(state)
    CALLS.clear()
    with uncached(state, chain.one):
        chain.two(state)
        assert not CALLS
        chain.one(state)
        chain.one(state)
    assert CALLS == {"one": 2}
    assert chain.two.is_valid(state)


def test_blocks_may_be_nested_and_end_in_any_order() -> None:
    chain, state = model()
    outer, inner = uncached(state, chain.one), uncached(state, chain.is_large)
    outer.__enter__()
    inner.__enter__()
    outer.__exit__(None, None, None)
    chain.is_large(state)
    CALLS.clear()
    chain.one(state)
    assert not CALLS
    chain.is_large(state)
    assert CALLS == {"is_large": 1}
    inner.__exit__(None, None, None)
    assert state._contents.observers == ()


def test_it_ends_with_an_error_and_a_computation_that_raises_stays_to_be_done() -> None:
    chain, state = model()
    with pytest.raises(ZeroDivisionError), uncached(state):
        raise ZeroDivisionError
    assert state._contents.observers == ()
    chain.two(state)
    chain.second.set(state, "x")  # type: ignore[arg-type]
    with uncached(state), pytest.raises(TypeError):
        chain.one(state)
    assert not chain.one.is_valid(state)


def test_a_trace_and_strict_mode_see_computations() -> None:
    chain, state = model()
    with state.trace() as trace, uncached(state), strict(state, undeclared="record") as reads:
        for _ in range(3):
            chain.one(state)
    assert trace.summary()[chain.one].computed == 3
    assert [str(found.item) for found in reads.undeclared] == ["chain.second"]


def test_a_rollback_keeps_what_was_valid() -> None:
    chain, state = model()
    chain.two(state)
    mark = state.checkpoint()
    chain.second.set(state, 0.0)
    with uncached(state):
        assert chain.one(state) == 1.0
    state.rollback(mark)
    CALLS.clear()
    assert chain.one(state) == 11.0
    assert not CALLS


def test_copies_and_frozen_states_are_as_usual() -> None:
    chain, state = model()
    chain.two(state)
    frozen = state.frozen()
    CALLS.clear()
    with uncached(state), uncached(frozen):
        chain.two(frozen)
        chain.two(state.copy(keep_cache=True))
    assert not CALLS


def test_threads_get_right_values() -> None:
    chain, state = model()
    found: list[object] = []
    with uncached(state):
        threads = [
            Thread(target=lambda: found.extend(read(chain, state) for _ in range(50)))
            for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert set(found) == {truth(1.0, 10.0)}


def test_what_hooks_store_is_not_computed() -> None:
    class Stored(Subsystem):
        entry: CacheEntry[float]

        def realize_topology(self, state: State) -> None:
            self.entry = state[self].allocate_cache_entry(Stage.POSITION, Stage.POSITION)

        def realize_position(self, state: State) -> None:
            self.entry.set(state, 3.0)
            self.entry.mark_valid(state)

    stored = Stored()
    system = System(stored)
    state = system.new_state()
    system.realize(state, Stage.POSITION)
    with uncached(state):
        assert stored.entry(state) == 3.0
    state.discard_cache()
    with pytest.raises(StageTooLowError):
        stored.entry(state)


def test_wrong_arguments_are_refused_before_the_block() -> None:
    chain, state = model()
    with pytest.raises(WrongTypeError, match="not a State"):
        uncached(chain)  # type: ignore[call-overload]
    with pytest.raises(WrongTypeError, match="not an entry"):
        uncached(state, chain.first)  # type: ignore[call-overload]
    with pytest.raises(ForeignNodeError):
        uncached(state, model()[0].one)
