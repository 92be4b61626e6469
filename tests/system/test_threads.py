"""Threads that read a State while others copy it, or switch strict mode, verify or trace."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from stagecache import (
    CacheEntry,
    Stage,
    State,
    Subsystem,
    System,
    cached,
    discrete,
    event_trigger,
    parameter,
    position_error,
    q_variable,
    simbody,
    strict,
    verify,
)
from stagecache.errors import CycleError
from tests.interrupting import plain_only
from tests.threads import TIMEOUT, many_switches, run_together


class Arm(Subsystem):
    """Something of each kind that can be read."""

    length = parameter(2.0)
    angle = q_variable(0.5)
    mode = discrete(3, invalidates=Stage.DYNAMICS)

    @cached(prerequisites=(length, angle))
    def tip(self, state: State) -> float:
        return self.length(state) * self.angle(state)

    @cached(prerequisites=(tip,), equal=True)
    def is_far(self, state: State) -> bool:
        return self.tip(state) > 0.7

    @cached(prerequisites=(is_far,))
    def force(self, state: State) -> float:
        return 100.0 if self.is_far(state) else 0.0

    @position_error()
    def gap(self, state: State) -> float:
        return self.angle(state)

    @event_trigger(stage=Stage.POSITION)
    def crossing(self, state: State) -> float:
        return self.angle(state)

    def read(self, state: State) -> None:
        """Read everything, as it can be read, and compare it with what it is."""
        assert (self.tip(state), self.is_far(state), self.force(state)) == (1.0, True, 100.0)
        assert (self.length(state), self.angle(state), self.mode(state)) == (2.0, 0.5, 3)
        assert self.tip.is_valid(state)
        assert self.mode.version(state) == 1
        assert (state.time, state.q[0], state[self].q[0], state.y[0]) == (0.0, 0.5, 0.5, 0.5)
        assert (state.nq, state.nqerr, state.q_start, state.qerr[0]) == (1, 1, 0, 0.5)
        assert state.num_event_triggers == len(state.event_triggers) == 1
        assert simbody.get_cache_entry(state[self], self.tip) == 1.0


def realized() -> tuple[Arm, State]:
    arm = Arm()
    system = System(arm)
    state = system.new_state()
    system.realize(state)
    arm.force(state)
    return arm, state


def watch(state: State, n: int) -> None:
    """Switch strict mode, a trace, or verification on and off."""
    if n % 3 == 0:
        with strict(state), state.trace(most=10):
            pass
    elif n % 3 == 1:
        with state.trace(most=10), strict(state):
            pass
    else:
        with verify(state):
            pass


@pytest.mark.parametrize("is_frozen", [False, True])
def test_reads_see_nothing_of_strict_mode_traces_and_verification_that_begin_and_end(
    is_frozen: bool,
) -> None:
    arm, state = realized()
    if is_frozen:
        state = state.frozen()
    has_ended = threading.Event()

    def read() -> int:
        n = 0
        while not has_ended.is_set():
            arm.read(state)
            n += 1
        return n

    with many_switches(), ThreadPoolExecutor(8) as pool:
        readers = [pool.submit(read) for _ in range(8)]
        for n in range(2000):
            watch(state, n)
            if any(reader.done() for reader in readers):
                break  # one has failed
        has_ended.set()
        counts = [reader.result(TIMEOUT) for reader in readers]
    assert min(counts) > 0
    assert state._contents.observers == ()


class Interposed(list[Any]):
    """A list of which somebody does something else while it is copied: before, or after it."""

    def __init__(self, items: list[Any], act: Callable[[], object], *, is_before: bool) -> None:
        super().__init__(items)
        self._act: Callable[[], object] | None = act
        self._is_before = is_before

    def act(self) -> None:
        if self._act is not None:
            act, self._act = self._act, None
            act()

    def copy(self) -> list[Any]:
        if self._is_before:
            self.act()
        copied = super().copy()
        if not self._is_before:
            self.act()
        return copied


@plain_only  # there, other threads run while lists are copied
@pytest.mark.parametrize("name", ["marks", "values", "versions", "gates"])
@pytest.mark.parametrize("is_before", [False, True])
@pytest.mark.parametrize("entry", ["tip", "is_far", "force"])
@pytest.mark.parametrize("angle", [0.1, 0.6])
def test_a_copy_is_of_one_moment_whatever_is_computed_meanwhile(
    name: str, is_before: bool, entry: str, angle: float
) -> None:
    arm, state = realized()
    arm.angle.set(state, angle)  # 0.1: another value of what is compared; 0.6: the same one
    store = state._contents.realization.store
    read = getattr(arm, entry)
    setattr(store, name, Interposed(getattr(store, name), lambda: read(state), is_before=is_before))
    twin = state.copy(keep_cache=True)
    force = 100.0 if 2 * angle > 0.7 else 0.0
    for one in (twin, state):
        assert arm.force(one) == force
        assert (arm.tip(one), arm.is_far(one)) == (2 * angle, 2 * angle > 0.7)
    arm.angle.set(twin, 0.5)
    assert (arm.tip(twin), arm.force(twin)) == (1.0, 100.0)


def test_copies_made_while_others_compute_are_right() -> None:
    arm, state = realized()
    barrier = threading.Barrier(3)

    def compute() -> None:
        for _ in range(150):
            barrier.wait(TIMEOUT)
            arm.force(state)
            barrier.wait(TIMEOUT)

    with many_switches(), ThreadPoolExecutor(2) as pool:
        computing = [pool.submit(compute) for _ in range(2)]
        for n in range(150):
            angle = (0.1, 0.6, 0.5)[n % 3]
            arm.angle.set(state, angle)
            barrier.wait(TIMEOUT)
            twins = [state.copy(keep_cache=True) for _ in range(3)]
            barrier.wait(TIMEOUT)
            for twin in twins:
                assert arm.force(twin) == (100.0 if angle > 0.35 else 0.0)
        for thread in computing:
            thread.result(TIMEOUT)


@pytest.mark.parametrize("states", [2, 3])
def test_a_cycle_across_states_and_threads_is_an_error_and_no_deadlock(states: int) -> None:
    started = [threading.Event() for _ in range(states)]
    entries: list[tuple[CacheEntry[int], State]] = []

    def compute(i: int, _: State) -> int:
        started[i].set()
        entry, state = entries[(i + 1) % states]
        assert started[(i + 1) % states].wait(TIMEOUT)
        return entry(state)

    def read(i: int) -> CycleError | None:
        entry, state = entries[i]
        try:
            entry(state)
        except CycleError as error:
            return error
        return None

    for i in range(states):
        state = State()
        part = state[state.add_subsystem(f"part {i}")]
        entry = part.allocate_lazy_cache_entry(Stage.TOPOLOGY, compute=partial(compute, i))
        part.advance_to_stage(Stage.TOPOLOGY)
        state.advance_to_stage(Stage.TOPOLOGY)
        entries.append((entry, state))
    errors = [error for error in run_together(*[partial(read, i) for i in range(states)]) if error]
    assert errors
    assert max(len(error.path) for error in errors) == states + 1
    assert not any(entry.is_valid(state) for entry, state in entries)
