"""Runs in files: rows on disk, interruptions, and resumptions to the same result."""

from itertools import count
from pathlib import Path
from typing import Any

import pytest

from stagecache import (
    System,
    resume,
    simulate,
)
from stagecache.study.streaming import Batches
from stagecache.study.trajectory.file import TrajectoryFile
from tests.study.integrating import METHODS
from tests.study.streamed_models import CONSTRAINED, MODELS


class InterruptError(BaseException):
    """Something that ends a program, as Control-C."""


def values_of(trajectory: Any) -> list[Any]:
    """The times, y, and discrete variables of all rows."""
    rows = trajectory._kept.in_memory(range(len(trajectory)))
    return [rows.all_times, rows.all_y, [[c.all(rows.count) for c in s] for s in rows.discrete]]


def interrupt(system: System, until: float, path: Path, after: int, **how: Any) -> None:
    """Begin a run, and end it as Control-C would, when it comes to that row."""
    append, rows = Batches.append, count()

    def stop(*args: Any, **changed: Any) -> None:
        if next(rows) == after:
            raise InterruptError
        append(*args, **changed)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Batches, "append", stop)
        with pytest.raises(InterruptError):
            simulate(system, system.new_state(), until, into=path, **how)


@pytest.mark.parametrize("name", MODELS)
def test_a_file_has_the_rows_that_memory_would_have(name: str, tmp_path: Path) -> None:
    make, until = MODELS[name]
    for method in ("RK45", "Verlet"):
        for every in (None, until / 30):
            system = make()
            how: Any = {"method": method, "every": every, "accuracy": 1e-2}
            whole = simulate(system, system.new_state(), until, **how)
            path = tmp_path / "run.arrows"
            filed = simulate(system, system.new_state(), until, into=path, batch=4, **how)
            assert values_of(filed)[2] == values_of(whole)[2]
            assert filed.times.tobytes() == whole.times.tobytes()
            assert filed.y.tobytes() == whole.y.tobytes()
            assert filed.termination_reason is whole.termination_reason
            assert TrajectoryFile(path).is_finished
            TrajectoryFile(path).verify()


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("method", METHODS)
def test_an_interrupted_run_ends_in_the_same_file_byte_for_byte(
    method: str, name: str, tmp_path: Path
) -> None:
    if method == "LSODA" and name in CONSTRAINED:
        pytest.skip("LSODA takes no constraints")
    make, until = MODELS[name]
    for every in (None, until / 40):
        how: Any = {"method": method, "every": every, "accuracy": 1e-2, "batch": 5}
        whole, cut = tmp_path / "whole.arrows", tmp_path / "cut.arrows"
        system = make()
        num_rows = len(simulate(system, system.new_state(), until, into=whole, **how))
        for after in (num_rows // 2, num_rows - 1):
            interrupt(make(), until, cut, after, **how)
            assert not TrajectoryFile(cut).is_finished
            resumed = resume(cut, make())
            assert cut.read_bytes() == whole.read_bytes()
            assert resumed.statistics is not None
