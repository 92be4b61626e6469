"""Observation that begins and ends while other threads read."""

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import numpy as np
import pytest

from stagecache import CacheEntry, Stage, State, strict, verify
from stagecache.graph.observing import Act
from stagecache.state.contents.observer import Item, Observer, observe
from tests.profiles import is_nightly

READERS = 8
SWITCHES = 10_000 if is_nightly() else 1_000  # --hypothesis-profile=nightly
PER_ROUND = 50  # after which the readers wait for a write


class Model:
    """A State in which there is something of each kind to read."""

    def __init__(self, *, is_strict: bool = False) -> None:
        self.state = state = State(strict=is_strict)
        self.part = part = state[state.add_subsystem("part")]
        self.angle = part.allocate_q([0.0, 0.0])
        self.speed = part.allocate_u([0.0])
        self.mass = part.allocate_discrete_variable(Stage.INSTANCE, 2.0)
        above: Any = self.angle
        self.chain = []
        for _ in range(5):
            above = part.allocate_cache_entry_with_prerequisites(
                Stage.TOPOLOGY, Stage.INFINITY, (above, self.mass), compute=self.step(above)
            )
            self.chain.append(above)
        for stage in (Stage.TOPOLOGY, Stage.MODEL, Stage.INSTANCE, Stage.TIME):
            part.advance_to_stage(stage)
            state.advance_to_stage(stage)
        self.live = state.continuous_state

    def step(self, above: Any) -> Callable[[State], float]:
        return lambda state: float(np.sum(above(state))) + self.mass(state)

    def write(self, value: float) -> None:
        self.state.q = [value, value]
        self.mass.set(self.state, value)

    def read(self, value: float) -> None:
        """Read by all ways that there are, also by what was there before observation began."""
        state = self.state
        assert self.chain[-1](state) == 7 * value
        assert [entry(state) for entry in self.chain] == [n * value for n in range(3, 8)]
        assert self.mass(state) == value
        assert self.angle(state)[1] == state.q[0] == self.part.q[1] == value
        assert self.live.q[0] == value
        assert self.part.nq == state.ny - 1 == 2
        assert self.chain[0].is_valid(state)
        assert state.time == 0.0
        assert len(self.angle.dependents(state)) == 1


@pytest.fixture
def often_switched() -> Iterator[None]:
    """Let threads interrupt each other often."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


WAYS: dict[str, Callable[[State], list[AbstractContextManager[Any]]]] = {
    "strict": lambda state: [strict(state)],
    "trace": lambda state: [state.trace(most=10)],
    "verify": lambda state: [verify(state)],
    "strict and trace": lambda state: [strict(state), state.trace(most=10)],
    "trace and strict": lambda state: [state.trace(most=10), strict(state), strict(state)],
}


@pytest.mark.parametrize("is_strict", [False, True])
@pytest.mark.usefixtures("often_switched")
def test_threads_read_while_observation_begins_and_ends(is_strict: bool) -> None:
    model = Model(is_strict=is_strict)
    contents = model.state._contents
    found: list[BaseException] = []
    barrier = threading.Barrier(READERS + 1)
    value, is_over, is_round_over = 0.0, False, False

    def read() -> None:
        while True:
            barrier.wait()
            if is_over:
                return
            try:
                while not is_round_over:
                    model.read(value)
            except BaseException as error:
                found.append(error)
            barrier.wait()

    threads = [threading.Thread(target=read) for _ in range(READERS)]
    for thread in threads:
        thread.start()
    ways = list(WAYS.values())
    for number in range(SWITCHES // 2):
        if number % PER_ROUND == 0:
            if number:
                is_round_over = True
                barrier.wait()
            value += 1.0
            model.write(value)
            is_round_over = False
            barrier.wait()
        with ExitStack() as stack:
            for way in ways[number % len(ways)](model.state):
                stack.enter_context(way)
            model.read(value)
    is_round_over = True
    barrier.wait()
    is_over = True
    barrier.wait()
    for thread in threads:
        thread.join()
    assert found == []
    assert model.state.is_strict is is_strict
    if not is_strict:
        assert model.state._contents is contents
        assert contents.observers == ()
        assert contents.visible is contents.realization.store


class Recorder(Observer):
    """An observer that notes which items are read."""

    def __init__(self) -> None:
        self.items: list[Item] = []

    def read(self, items: Sequence[Item], title: str) -> None:
        self.items += items

    def read_valid(self, entry: CacheEntry[Any]) -> None:
        self.items.append(entry)

    def read_entry(self, entry: CacheEntry[Any], act: Act) -> Any:
        self.items.append(entry)
        return act()


def test_partitions_and_views_of_before_are_observed() -> None:
    model = Model()
    state, part = model.state, model.part
    part_of_q = model.live.q[:1]
    recorder = Recorder()
    reads: list[tuple[Item, Callable[[], object]]] = [
        (model.chain[0], lambda: model.chain[0](state)),
        (model.mass, lambda: model.mass(state)),
        (part.variable("q"), lambda: part.q),
        (state.variable("q"), lambda: model.live.q[0]),
        (state.variable("q"), lambda: part_of_q[0]),
    ]
    model.write(1.0)
    model.read(1.0)
    observe(state._contents, recorder)
    for item, read in reads:
        recorder.items.clear()
        read()
        assert item in recorder.items
    observe(state._contents)
    recorder.items.clear()
    model.read(1.0)
    assert recorder.items == []


def test_a_thread_that_holds_observed_contents_finishes_with_them() -> None:
    model = Model()
    state = model.state
    with strict(state) as reads, state.trace() as trace:
        model.write(1.0)
        held = state._contents
    assert held.get_discrete(model.mass) == 1.0
    assert held.read_stale(model.chain[-1]) == 7.0
    held.set_discrete(model.mass, 2.0)
    assert model.mass(state) == 2.0
    assert held.read_stale(model.chain[-1]) == 2.0 * 1.0 + 5 * 2.0
    assert trace.summary().computed == 0
    assert reads.of(model.chain[-1]) == frozenset()
