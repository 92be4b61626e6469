import gc
import os
from pathlib import Path
from threading import Barrier, Event, Thread
from typing import Any
from weakref import ref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import Graph, State, System, shared_results
from stagecache.errors import MissingExtraError, OutOfRangeError, UnsharableError, WrongTypeError
from stagecache.sharing.results import results_in_use, size_in_bytes, size_of
from tests.profiles import examples

KEYS = [f"{number:064x}" for number in range(20)]


def fail() -> Any:
    raise AssertionError("it must not be computed")


def test_a_value_is_computed_once() -> None:
    with shared_results() as results:
        value, origin, is_found = results.find_or_compute(KEYS[0], "room.load", lambda: 7.0)
        assert origin is not None
        assert (value, origin.entry, is_found) == (7.0, "room.load", False)
        assert results.find_or_compute(KEYS[0], "other.load", fail) == (7.0, origin, True)
        counts = results.statistics
    assert (counts.hits, counts.misses, counts.values) == (1, 1, 1)
    assert counts.seconds_saved == origin.seconds


def test_results_are_used_until_the_block_ends_or_others_are() -> None:
    before = results_in_use()
    with shared_results() as outer:
        assert results_in_use() is outer
        with shared_results(limit=0) as inner:
            assert results_in_use() is inner
            assert inner.is_off
        assert results_in_use() is outer
    assert results_in_use() is before
    with shared_results() as around:
        setting = shared_results(limit="1 kB")
        assert results_in_use() is setting
        with shared_results() as inner, outer:
            assert results_in_use() is outer  # which is used again
        assert results_in_use() is setting
        other = shared_results()
        assert results_in_use() is other
    assert results_in_use() is before
    with around, outer, around:
        with around:
            assert results_in_use() is around
        assert results_in_use() is around
    assert results_in_use() is before


def test_settings_that_are_not_used_again_are_not_kept() -> None:
    with shared_results():
        settings = [ref(shared_results()) for _ in range(5)]
        gc.collect()
        assert [setting() is None for setting in settings] == [True] * 3 + [False] * 2


def test_the_values_used_last_stay_in_memory() -> None:
    arrays = [np.full(1000, float(n)) for n in range(4)]
    with shared_results(limit=3 * size_of(arrays[0], "x")) as results:
        for n in (0, 1, 2, 0, 3):
            results.find_or_compute(KEYS[n], "x", lambda n=n: arrays[n])  # type: ignore[misc]
        assert results.statistics.evicted == 1
        for n in (0, 2, 3):
            assert results.find_or_compute(KEYS[n], "x", fail)[2]
        assert not results.find_or_compute(KEYS[1], "x", lambda: 1.0)[2]


@examples(100)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2000)), max_size=40))
def test_the_limit_is_kept_and_counts_are_right(reads: list[tuple[int, int]]) -> None:
    lengths: dict[int, int] = {}
    with shared_results(limit=5000) as results:
        for key, length in reads:
            lengths.setdefault(key, length)
            value = bytes(lengths[key])
            found = results.find_or_compute(KEYS[key], "x", lambda value=value: value)  # type: ignore[misc]
            assert found[0] == value
            counts = results.statistics
            assert counts.bytes <= 5000
            assert counts.bytes == sum(kept.size for kept in results._kept.values())
            assert counts.values == len(results._kept)
        assert results.statistics.hits + results.statistics.misses == len(reads)
        results.clear()
        assert (results.statistics.bytes, results.statistics.values) == (0, 0)


def test_a_value_larger_than_the_limit_is_not_kept() -> None:
    with shared_results(limit="1 kB") as results:
        results.find_or_compute(KEYS[0], "x", lambda: np.zeros(1000))
        assert results.statistics.values == 0


def test_an_error_is_raised_unchanged_and_nothing_is_kept() -> None:
    with shared_results() as results:
        with pytest.raises(ZeroDivisionError):
            results.find_or_compute(KEYS[0], "x", lambda: 1 / 0)
        assert results.find_or_compute(KEYS[0], "x", lambda: 2.0)[0] == 2.0


def test_a_value_that_is_changed_in_place_stays_as_it_was() -> None:
    with shared_results() as results:
        first = results.find_or_compute(KEYS[0], "x", lambda: [1, 2])[0]
        first.append(3)
        second = results.find_or_compute(KEYS[0], "x", fail)[0]
        second.append(4)
        assert results.find_or_compute(KEYS[0], "x", fail)[0] == [1, 2]


def test_threads_that_want_a_value_at_the_same_time_compute_it_once() -> None:
    calls: list[int] = []
    ready = Barrier(8)

    def compute() -> float:
        calls.append(1)
        started.wait(0.2)
        return 3.0

    started = Event()
    found: list[float] = []

    def read() -> None:
        ready.wait()
        found.append(results.find_or_compute(KEYS[0], "x", compute)[0])

    with shared_results() as results:
        threads = [Thread(target=read) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == [3.0] * 8
    assert len(calls) == 1


def test_a_thread_whose_computation_fails_leaves_it_to_the_next() -> None:
    began, goes_on = Event(), Event()

    def failing() -> float:
        began.set()
        goes_on.wait(10)
        raise ValueError

    def first() -> None:
        with pytest.raises(ValueError, match=r"^$"):
            results.find_or_compute(KEYS[0], "x", failing)

    with shared_results() as results:
        thread = Thread(target=first)
        thread.start()
        began.wait(10)
        goes_on.set()
        assert results.find_or_compute(KEYS[0], "x", lambda: 5.0)[0] == 5.0
        thread.join()


def test_other_values_are_computed_while_a_long_one_is() -> None:
    began, goes_on = Event(), Event()

    def long() -> float:
        began.set()
        assert goes_on.wait(10)
        return 1.0

    with shared_results() as results:
        thread = Thread(target=lambda: results.find_or_compute(KEYS[0], "x", long))
        thread.start()
        began.wait(10)
        assert results.find_or_compute(KEYS[1], "x", lambda: 2.0)[0] == 2.0
        goes_on.set()
        thread.join()
        assert results.find_or_compute(KEYS[0], "x", fail)[0] == 1.0


def test_a_computation_may_ask_for_its_own_key() -> None:
    with shared_results() as results:
        inner = lambda: results.find_or_compute(KEYS[0], "x", lambda: 1.0)[0] + 1  # noqa: E731
        assert results.find_or_compute(KEYS[0], "x", inner)[0] == 2.0


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1 GB", 10**9),
        ("200MB", 2 * 10**8),
        ("1.5 kB", 1500),
        ("12", 12),
        ("12 b", 12),
        (4096, 4096),
        (np.int64(4096), 4096),
        (1e6, 10**6),
        (0, 0),
        ("2 tb", 2 * 10**12),
    ],
)
def test_sizes_have_units(text: Any, size: int) -> None:
    assert size_in_bytes(text, "limit") == size


@pytest.mark.parametrize("wrong", ["", "GB", "-1", "1 XB", -1, None, float("nan"), True, [], "1 G"])
def test_what_is_not_a_size_is_refused(wrong: Any) -> None:
    before = results_in_use()
    with pytest.raises(OutOfRangeError, match="not a size"):
        shared_results(limit=wrong)
    assert results_in_use() is before


def test_a_path_that_is_not_a_folder_is_refused(tmp_path: Path) -> None:
    before = results_in_use()
    pytest.importorskip("filelock", reason="filelock is in the extra: pip install '.[studies]'")
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(OSError, match="file"):
        shared_results(path=file)
    with pytest.raises(WrongTypeError):
        shared_results(path=3)  # type: ignore[arg-type]
    assert results_in_use() is before


def test_without_filelock_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "filelock", None)
    with pytest.raises(MissingExtraError, match="studies"):
        shared_results(path=tmp_path / "results")
    assert not (tmp_path / "results").exists()


def test_sizes_of_values_count_their_parts() -> None:
    assert 8000 <= size_of(np.zeros(1000), "x") < 8300
    assert 8000 <= size_of(np.zeros((2, 1000))[0], "x") < 8300
    assert size_of([np.zeros(1000)] * 3, "x") < 9000  # the same one
    assert size_of({"a": np.zeros(1000), "b": (np.zeros(1000),)}, "x") > 16000


@pytest.mark.parametrize(
    "value",
    [lambda: 1, (n for n in (1, 2)), [State()], {"x": Graph().variable("x", 1.0)}, System().time],
)
def test_a_value_that_belongs_to_one_state_or_process_is_refused_by_path(value: Any) -> None:
    with shared_results() as results:
        with pytest.raises(UnsharableError, match=r"room\.law: its value cannot be shared"):
            results.find_or_compute(KEYS[0], "room.law", lambda: value)
        assert results.statistics.values == 0


def test_a_value_whose_key_has_changed_meanwhile_is_returned_and_not_kept() -> None:
    with shared_results() as results:
        found = results.find_or_compute(KEYS[0], "x", lambda: 1.0, lambda: False)
        assert found == (1.0, None, False)
        assert results.find_or_compute(KEYS[0], "x", lambda: 2.0)[0] == 2.0


def test_an_interrupt_leaves_the_value_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    def strike() -> float:
        raise KeyboardInterrupt

    with shared_results() as results:
        with pytest.raises(KeyboardInterrupt):
            results.find_or_compute(KEYS[0], "x", strike)
        assert results.find_or_compute(KEYS[0], "x", lambda: 2.0)[0] == 2.0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process.*multi-threaded:DeprecationWarning")
def test_a_forked_process_does_not_wait_for_a_thread_that_it_does_not_have() -> None:
    began, goes_on = Event(), Event()

    def long() -> float:
        began.set()
        assert goes_on.wait(20)
        return 1.0

    with shared_results() as results:
        thread = Thread(target=lambda: results.find_or_compute(KEYS[0], "x", long))
        thread.start()
        began.wait(10)
        child = os.fork()
        if child == 0:
            os._exit(int(results.find_or_compute(KEYS[0], "x", lambda: 7.0)[0]))
        _, status = os.waitpid(child, 0)
        goes_on.set()
        thread.join()
    assert os.waitstatus_to_exitcode(status) == 7
