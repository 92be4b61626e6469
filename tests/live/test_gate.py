"""The gate: threads wait at it, are let on one computation at a time, and never wait for good."""

import signal
import threading
from threading import Thread, get_ident
from time import perf_counter_ns, sleep

import pytest

from stagecache.live.gate import Gate
from tests.threads import comes_to_stay, comes_true, is_waited_for


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


def test_an_open_gate_lets_threads_pass() -> None:
    worker = Worker(Gate())
    assert comes_to_stay(lambda: worker.is_at(15, 5))


def test_a_shut_gate_stops_a_thread_at_its_next_boundary() -> None:
    worker = Worker(Gate(is_shut=True))
    assert comes_to_stay(lambda: worker.is_at(0, 0))
    worker.gate.open()
    assert comes_to_stay(lambda: worker.is_at(15, 5))


def test_a_step_goes_to_the_end_of_one_computation_with_the_writes_before_it() -> None:
    worker = Worker(Gate(is_shut=True))
    for steps in range(1, 4):
        worker.gate.grant_step()
        assert comes_to_stay(lambda steps=steps: worker.is_at(3 * steps, steps))  # type: ignore[misc]
    worker.gate.open()
    assert comes_to_stay(lambda: worker.is_at(15, 5))


def test_a_step_is_for_one_of_several_threads() -> None:
    gate = Gate(is_shut=True)
    workers = [Worker(gate) for _ in range(4)]
    for steps in range(1, 5):
        gate.grant_step()
        assert comes_to_stay(lambda steps=steps: sum(w.computed for w in workers) == steps)  # type: ignore[misc]
    gate.open()
    assert comes_to_stay(lambda: all(w.is_at(15, 5) for w in workers))


def test_a_step_that_nothing_has_used_is_given_up_by_a_pause() -> None:
    gate = Gate()
    gate.grant_step()
    gate.shut()
    worker = Worker(gate)
    assert comes_to_stay(lambda: worker.is_at(0, 0))
    gate.open()
    assert comes_to_stay(lambda: worker.is_at(15, 5))


def test_the_time_of_the_wait_is_returned() -> None:
    gate = Gate(is_shut=True)
    waits: list[int] = []
    before = perf_counter_ns()
    thread = Thread(target=lambda: waits.append(gate.pass_through()))
    thread.start()
    assert comes_true(lambda: is_waited_for(gate._changed))
    begin = perf_counter_ns()
    sleep(0.05)
    end = perf_counter_ns()
    gate.open()
    thread.join()
    assert end - begin <= waits[0] <= perf_counter_ns() - before


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs signals of Unix")
def test_control_c_ends_the_wait() -> None:
    gate = Gate(is_shut=True)
    me = get_ident()
    timer = threading.Timer(0.1, lambda: signal.pthread_kill(me, signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        gate.pass_through()
    timer.join()
