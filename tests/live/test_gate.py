"""The gate: threads wait at it, are let on one computation at a time, and never wait for good."""

import signal
import threading
import time
from collections.abc import Callable
from threading import Thread, get_ident

import pytest

from stagecache.live.gate import Gate

SOON = 30.0  # seconds, within which a thread has surely done what it can


class Worker:
    """A thread that passes boundaries, and counts what it does: two writes to a computation."""

    def __init__(self, gate: Gate, times: int = 5) -> None:
        self.gate = gate
        self.times = times
        self.passed = 0
        self.computed = 0
        self.thread = Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self) -> None:
        for _ in range(self.times):
            for _ in range(3):
                if self.gate.is_shut:
                    self.gate.pass_through()
                self.passed += 1
            self.computed += 1
            self.gate.count_computation()

    def is_at(self, passed: int, computed: int) -> bool:
        return (self.passed, self.computed) == (passed, computed)


def comes_true(condition: Callable[[], bool]) -> bool:
    """Wait until it does, and look again a little later."""
    end = time.monotonic() + SOON
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    time.sleep(0.05)
    return condition()


def test_an_open_gate_lets_threads_pass() -> None:
    worker = Worker(Gate())
    assert comes_true(lambda: worker.is_at(15, 5))


def test_a_shut_gate_stops_a_thread_at_its_next_boundary() -> None:
    worker = Worker(Gate(is_shut=True))
    assert comes_true(lambda: worker.is_at(0, 0))
    worker.gate.open()
    assert comes_true(lambda: worker.is_at(15, 5))


def test_a_step_goes_to_the_end_of_one_computation_with_the_writes_before_it() -> None:
    worker = Worker(Gate(is_shut=True))
    for steps in range(1, 4):
        worker.gate.grant_step()
        assert comes_true(lambda steps=steps: worker.is_at(3 * steps, steps))  # type: ignore[misc]
    worker.gate.open()
    assert comes_true(lambda: worker.is_at(15, 5))


def test_a_step_is_for_one_of_several_threads() -> None:
    gate = Gate(is_shut=True)
    workers = [Worker(gate) for _ in range(4)]
    for steps in range(1, 5):
        gate.grant_step()
        assert comes_true(lambda steps=steps: sum(w.computed for w in workers) == steps)  # type: ignore[misc]
    gate.open()
    assert comes_true(lambda: all(w.is_at(15, 5) for w in workers))


def test_a_step_that_nothing_has_used_is_given_up_by_a_pause() -> None:
    gate = Gate()
    gate.grant_step()
    gate.shut()
    worker = Worker(gate)
    assert comes_true(lambda: worker.is_at(0, 0))
    gate.open()
    assert comes_true(lambda: worker.is_at(15, 5))


def test_the_time_of_the_wait_is_returned() -> None:
    gate = Gate(is_shut=True)
    threading.Timer(0.1, gate.open).start()
    assert 0.09e9 < gate.pass_through() < SOON * 1e9
    assert gate.pass_through() < 0.01e9


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs signals of Unix")
def test_control_c_ends_the_wait() -> None:
    gate = Gate(is_shut=True)
    me = get_ident()
    timer = threading.Timer(0.1, lambda: signal.pthread_kill(me, signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        gate.pass_through()
    timer.join()
