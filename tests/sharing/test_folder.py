"""Results in a folder: of several processes and sessions, killed, damaged, or without room."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stagecache import shared_results
from stagecache.errors import UnsavableValueError
from stagecache.sharing.results import SharedResultsWarning
from tests.profiles import is_nightly
from tests.sharing.models import room_in

pytest.importorskip("filelock", reason="filelock is in the extra: pip install '.[studies]'")

ROOT = Path(__file__).parents[2]
KEY = "ab" * 32
OTHER = "cd" * 32


def fail() -> Any:
    raise AssertionError("it must not be computed")


def program(folder: Path, *widths: float) -> subprocess.Popen[str]:
    start = "from tests.sharing.models import main; main()"
    command = [sys.executable, "-c", start, str(folder), *map(str, widths)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def test_a_later_session_finds_what_one_has_computed(tmp_path: Path) -> None:
    array = np.arange(5.0)
    with shared_results(path=tmp_path) as results:
        results.find_or_compute(KEY, "room.factors", lambda: array)
    with shared_results(path=tmp_path) as results:
        value, origin, is_found = results.find_or_compute(KEY, "x", fail)
        assert (value == array).all()
        assert not value.flags.writeable
        assert origin is not None
        assert (origin.entry, is_found) == ("room.factors", True)
        results.find_or_compute(KEY, "x", fail)
        assert results.statistics.hits_in_folder == 1  # then it is in memory
        assert results.statistics.hits == 2


def test_another_process_finds_it_and_computes_the_same_keys(tmp_path: Path) -> None:
    with shared_results(path=tmp_path) as results:
        room, state = room_in(width=5.0)
        assert room.load(state) == 15.5
        assert results.statistics.misses == 2
    out, _ = program(tmp_path, 5.0, 6.0).communicate(timeout=60)
    assert out.split("\n")[:2] == ["15.5 0", "18.5 2"]


def test_two_processes_at_once_compute_each_value_once(tmp_path: Path) -> None:
    widths = [float(n) for n in range(1, 16)]
    both = [program(tmp_path, *widths), program(tmp_path, *widths)]
    lines = [process.communicate(timeout=120)[0].split("\n")[:-1] for process in both]
    for found in lines:
        assert [float(line.split()[0]) for line in found] == [3 * width + 0.5 for width in widths]
    misses = sum(int(found[-1].split()[1]) for found in lines)
    assert misses == 2 * len(widths)  # factors and load, in one process or the other


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_processes_that_are_killed_leave_no_wrong_value_and_no_lock(tmp_path: Path) -> None:
    widths = [float(n) for n in range(1, 400)]
    for number in range(40 if is_nightly() else 4):
        both = [program(tmp_path, *widths), program(tmp_path, *reversed(widths))]
        assert both[0].stdout is not None
        for _ in range(1 + 7 * number % 23):
            both[0].stdout.readline()
        for process in both:
            process.send_signal(signal.SIGKILL)
            process.communicate(timeout=60)
    with shared_results(path=tmp_path) as results:
        for width in widths[:50]:
            room, state = room_in(width=width)
            assert room.load(state) == 3 * width + 0.5
        assert results.statistics.damaged == 0
        assert results.statistics.hits_in_folder > 0


def test_a_damaged_file_is_computed_again_and_said_so(tmp_path: Path) -> None:
    with shared_results(path=tmp_path) as results:
        results.find_or_compute(KEY, "x", lambda: (1.0, np.arange(3.0)))
    (file,) = tmp_path.rglob("*.result")
    whole = file.read_bytes()
    for place in range(0, len(whole), 1 if is_nightly() else 7):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        file.write_bytes(damaged)
        with shared_results(path=tmp_path) as results:
            with pytest.warns(SharedResultsWarning, match="is damaged, and is computed again"):
                value = results.find_or_compute(KEY, "x", lambda: 2.0)[0]
            assert value == 2.0
            assert results.statistics.damaged == results.statistics.misses == 1
            assert results.find_or_compute(KEY, "x", fail)[0] == 2.0
        with shared_results(path=tmp_path) as results:  # it was replaced
            assert results.find_or_compute(KEY, "x", fail)[0] == 2.0


@pytest.mark.parametrize("length", [0, 1, 30, 100])
def test_a_file_that_is_cut_short_is_computed_again(tmp_path: Path, length: int) -> None:
    with shared_results(path=tmp_path) as results:
        results.find_or_compute(KEY, "x", lambda: 1.0)
    (file,) = tmp_path.rglob("*.result")
    file.write_bytes(file.read_bytes()[:length])
    with (
        shared_results(path=tmp_path) as results,
        pytest.warns(SharedResultsWarning, match="is computed again"),
    ):
        assert results.find_or_compute(KEY, "x", lambda: 2.0)[0] == 2.0


def test_a_file_under_another_key_is_not_taken(tmp_path: Path) -> None:
    with shared_results(path=tmp_path) as results:
        results.find_or_compute(KEY, "x", lambda: 1.0)
        results.find_or_compute(OTHER, "x", lambda: 2.0)
    (tmp_path / KEY[:2] / f"{KEY}.result").replace(tmp_path / OTHER[:2] / f"{OTHER}.result")
    with (
        shared_results(path=tmp_path) as results,
        pytest.warns(SharedResultsWarning, match="is not this result"),
    ):
        assert results.find_or_compute(OTHER, "x", lambda: 2.0)[0] == 2.0


def test_a_full_disk_is_said_once_and_values_are_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("stagecache.sharing.folder.write_atomically", full)
    with shared_results(path=tmp_path) as results:
        with pytest.warns(SharedResultsWarning, match="cannot be written"):
            results.find_or_compute(KEY, "x", lambda: 1.0)
        assert results.find_or_compute(OTHER, "x", lambda: 2.0)[0] == 2.0  # warnings are errors
        assert results.find_or_compute(KEY, "x", fail)[0] == 1.0  # from memory


def test_a_file_system_without_locks_serves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with shared_results(path=tmp_path) as results:
        assert results.path == tmp_path

        class NoLock:
            def __init__(self, path: Path) -> None: ...
            def acquire(self) -> None:
                raise NotImplementedError

            def release(self) -> None: ...

        monkeypatch.setattr(results._folder, "_new_lock", NoLock)
        assert results.find_or_compute(KEY, "x", lambda: 1.0)[0] == 1.0


def test_files_not_used_for_longest_are_removed(tmp_path: Path) -> None:
    keys = [f"{number:064x}" for number in range(10)]
    value = np.zeros(1000)
    with shared_results(path=tmp_path, path_limit="50 kB") as results:
        for number, key in enumerate(keys):
            results.find_or_compute(key, "x", lambda: value)
            path = tmp_path / key[:2] / f"{key}.result"
            os.utime(path, (number, number))
    left = {path.stem for path in tmp_path.rglob("*.result")}
    assert keys[-1] in left
    assert keys[0] not in left
    assert sum(path.stat().st_size for path in tmp_path.rglob("*.result")) <= 50_000
    with shared_results(path=tmp_path, path_limit="1 kB") as results:
        results.find_or_compute("ef" * 32, "x", lambda: value)  # too large
    assert not (tmp_path / "ef" / ("ef" * 32 + ".result")).exists()


def test_several_writers_keep_the_limit_of_a_folder(tmp_path: Path) -> None:
    value = np.zeros(500)
    writers = [shared_results(path=tmp_path, path_limit="100 kB") for _ in range(4)]
    for number in range(80):
        key = f"{number:064x}"
        with writers[number % 4]:
            writers[number % 4].find_or_compute(key, "x", lambda: value)
    size = sum(path.stat().st_size for path in tmp_path.rglob("*.result"))
    assert 50_000 <= size <= 120_000  # each has room for a part of what is left


def test_files_that_a_crash_has_left_are_removed(tmp_path: Path) -> None:
    with shared_results(path=tmp_path, path_limit="10 kB") as results:
        left = tmp_path / "ab" / ".stagecache-1.tmp"
        left.parent.mkdir()
        left.write_bytes(bytes(20_000))
        results.find_or_compute(KEY, "x", lambda: 1.0)
        assert left.exists()  # a process may be writing it
        os.utime(left, (0, 0))
        results.find_or_compute(OTHER, "x", lambda: np.zeros(1000))
        assert not left.exists()


def test_a_folder_that_was_deleted_is_said_and_values_are_right(tmp_path: Path) -> None:
    with shared_results(path=tmp_path / "deleted") as results:
        (tmp_path / "deleted").rmdir()
        with pytest.warns(SharedResultsWarning, match="cannot be written"):
            assert results.find_or_compute(KEY, "x", lambda: 1.0)[0] == 1.0


def test_a_value_that_a_file_cannot_have_is_refused_by_path(tmp_path: Path) -> None:
    with shared_results(path=tmp_path) as results:
        for _ in range(2):  # it is not kept in memory either
            with pytest.raises(UnsavableValueError, match=r"room\.table"):
                results.find_or_compute(KEY, "room.table", object)
        assert not list(tmp_path.rglob("*.result"))
