"""Studies in other processes: the same results, also when workers die."""

import asyncio
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stagecache import Simulation, Stage, run_study
from stagecache.errors import NotPicklableError, StudyError
from stagecache.study.ensemble import driver, worker
from stagecache.study.ensemble.settings import Settings
from stagecache.study.ensemble.worker import Runner, Work, run_task
from tests.study.ensemble.models import (
    MEADOW,
    MEADOWS,
    SYSTEM,
    TABLE,
    Counted,
    deadly,
    energy,
    everything,
    meadow,
    process,
    processes,
    slow,
)
from tests.threads import comes_true

ENTRIES: tuple[Any, ...] = (
    *(MEADOW.costly, MEADOW.rounded, MEADOW.light, MEADOW.soil, MEADOW.grass),
    *(MEADOW.picked, MEADOW.law, MEADOW.end),
)
MANY = {"spring.stiffness": [float(k) for k in range(40)]}


def spawned() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPoolExecutor]:
    """Two processes for all tests: it takes seconds to start them."""
    with spawned() as executor:
        yield executor


def kill_one_after(seconds: float, pids: Callable[[], Any]) -> threading.Thread:
    """Kill one of several processes, as soon as there are some and the time has passed."""

    def kill() -> None:
        time.sleep(seconds)
        os.kill(next(iter(pids())), signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


def test_results_do_not_depend_on_the_number_of_workers_or_the_order(
    tmp_path: Path, pool: ProcessPoolExecutor
) -> None:
    pytest.importorskip("xarray")
    alone = run_study(SYSTEM, TABLE, everything, seed=3).to_xarray()
    both = run_study(SYSTEM, TABLE, everything, seed=3, executor=pool, into=tmp_path)
    assert alone.identical(both.to_xarray())
    assert both.failures[0].traceback.splitlines()[-1].startswith("  hint:")
    reverse = {path: column[::-1] for path, column in TABLE.items()}
    other = run_study(SYSTEM, reverse, energy, executor=pool).to_xarray()
    assert (
        other["result"].values[::-1].tobytes()
        == alone["energy"].fillna(other["result"].values[::-1][5]).values.tobytes()
    )
    # The same pool serves another study, of the same System, and of trajectories.
    members = {"spring.place": [0.1, 0.2, 0.3]}
    study = Simulation(0.2, every=0.1)
    found = run_study(SYSTEM, members, study, executor=pool).to_xarray()
    assert found.identical(run_study(SYSTEM, members, study).to_xarray())
    pids = {result.values["result"] for result in run_study(SYSTEM, TABLE, process)}
    assert pids == {os.getpid()}


@pytest.mark.skipif(os.name != "posix", reason="a process is killed by SIGKILL")
def test_a_worker_that_is_killed_loses_nothing_and_doubles_nothing(
    pool: ProcessPoolExecutor,
) -> None:
    expected = run_study(SYSTEM, MANY, slow)
    run_study(SYSTEM, TABLE, energy, executor=pool)  # both are there
    thread = kill_one_after(0.2, lambda: [*pool._processes])
    results = run_study(SYSTEM, MANY, slow, executor=pool)
    thread.join()
    assert comes_true(lambda: not any(p.is_alive() for p in (pool._processes or {}).values()))
    assert [r.values for r in results] == [r.values for r in expected]


def test_a_member_that_kills_its_worker_is_found_and_kept_as_failed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(driver, "MOST_DEATHS", 1)  # each takes a new pool
    results = run_study(SYSTEM, {"spring.place": [0.1] * 6}, deadly, workers=2)
    [failure] = results.failures
    assert (failure.index, failure.error) == (3, "WorkerDied")
    assert [r.values["result"] for r in results if r.status == "ok"] == [0, 1, 2, 4, 5]


def test_what_was_computed_before_the_study_is_valid_in_workers(
    pool: ProcessPoolExecutor,
) -> None:
    state = MEADOWS.new_state()
    MEADOW.costly(state)
    members = {"meadow.shade": [0.5, 1.0, 2.0, 4.0]}
    found = run_study(MEADOWS, members, processes, state=state, executor=pool)
    assert {result.values["costly"] for result in found} == {os.getpid()}
    assert os.getpid() not in {result.values["here"] for result in found}
    sizes = {"meadow.size": [1.0, 2.0, 4.0]}  # it depends on these
    found = run_study(MEADOWS, sizes, processes, state=state, executor=pool)
    assert os.getpid() not in {result.values["costly"] for result in found}


def test_what_was_computed_before_the_study_does_not_change_results(
    pool: ProcessPoolExecutor,
) -> None:
    pytest.importorskip("xarray")
    members = {"meadow.shade": [0.5, 1.0, 1.0, 1.0], "meadow.size": [3.0, 3.0, 3.2, 5.7]}
    expected = run_study(MEADOWS, members, meadow).to_xarray()
    assert expected["is_picked"].all()
    state = MEADOWS.new_state()
    MEADOWS.realize(state, Stage.ACCELERATION)
    for entry in ENTRIES:
        entry(state)
    assert run_study(MEADOWS, members, meadow, state=state).to_xarray().identical(expected)
    for given in (None, state):
        both = run_study(MEADOWS, members, meadow, state=given, executor=pool)
        assert both.to_xarray().identical(expected)


def test_what_cannot_travel_is_refused_at_once() -> None:
    with pytest.raises(NotPicklableError, match="study") as caught:
        run_study(SYSTEM, TABLE, lambda state: 1.0, workers=1)
    assert "level of a module" in caught.value.hint
    state = SYSTEM.new_state()
    SYSTEM.get(type(SYSTEM.subsystems[1])).anything.set(state, lambda: 1)  # type: ignore[attr-defined]  # a Spring
    with pytest.raises(NotPicklableError, match="state"):
        run_study(SYSTEM, TABLE, energy, state=state, workers=1)


def refuse() -> None:
    raise RuntimeError("this worker does not start")


def test_workers_that_never_start_are_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    context = multiprocessing.get_context("spawn")
    with (
        ProcessPoolExecutor(1, mp_context=context, initializer=refuse) as executor,
        pytest.raises(StudyError, match="die before they run a member"),
    ):
        run_study(SYSTEM, TABLE, energy, executor=executor)


# ---------------------------------------------------------------------- a worker, in this process


def work(**changes: Any) -> Work:
    fields: dict[str, Any] = {
        "state": SYSTEM.new_state(),
        "study": energy,
        "takes_member": False,
        "seed": 0,
        "retries": 0,
        "paths": (),
        "settings": Settings.here(),
    }
    return Work(**fields | changes)


def test_a_worker_asks_once_for_the_work_and_keeps_the_last_few(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker, "KEPT", {})
    loaded: list[bytes] = []
    of_payload = Work.of_payload

    def noted(payload: bytes) -> Work:
        loaded.append(payload)
        return of_payload(payload)

    monkeypatch.setattr(Work, "of_payload", noted)
    payload, batch = work().to_payload(), [(0, {"spring.place": 1.0})]
    assert run_task("a", None, batch) is None
    assert run_task("a", payload, batch) is not None
    assert run_task("a", None, batch) is not None
    assert run_task("a", payload, batch) is not None
    assert len(loaded) == 1
    for token in "bcde":
        assert run_task(token, payload, batch) is not None
    assert list(worker.KEPT) == list("bcde")
    assert run_task("a", None, batch) is None


def test_a_payload_that_cannot_be_read_names_the_cause() -> None:
    with pytest.raises(NotPicklableError, match="modules that workers can import"):
        run_task("unknown", b"not a pickle", [])


def test_settings_travel_with_the_work() -> None:
    with np.errstate(divide="raise"):
        sent = work().to_payload()
    twin = Work.of_payload(sent)
    assert twin.settings.floating_point["divide"] == "raise"
    [outcome] = Runner.of(Work.of_payload(work(study=divide).to_payload())).run([(0, {})])
    assert outcome.error == ""
    with np.errstate(divide="raise"):
        sent = work(study=divide).to_payload()
    [outcome] = Runner.of(Work.of_payload(sent)).run([(0, {})])
    assert outcome.error == "FloatingPointError"
    assert np.geterr()["divide"] == "warn"


def divide(state: Any) -> Any:
    with np.errstate(divide="ignore" if np.geterr()["divide"] == "warn" else "raise"):
        return np.ones(1) / 0


# ---------------------------------------------------------------------- Dask


@pytest.mark.skipif(os.name != "posix", reason="a process is killed by SIGKILL")
@pytest.mark.filterwarnings("ignore")  # whatever Dask says of a worker that is gone
def test_dask_runs_members_and_a_worker_that_is_killed_loses_nothing(tmp_path: Path) -> None:
    distributed: Any = pytest.importorskip("distributed")
    options = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": 60}
    with (
        distributed.LocalCluster(n_workers=2, processes=True, **options) as cluster,
        distributed.Client(cluster) as client,
        client.get_executor() as executor,
    ):
        pids = list(client.run(os.getpid).values())
        thread = kill_one_after(0.5, lambda: pids)
        study = Counted(tmp_path)
        results = run_study(SYSTEM, MANY, slow, executor=executor)
        thread.join()
        assert client.run(os.getpid).keys()
        counted = run_study(SYSTEM, TABLE, study, executor=executor)
    expected = run_study(SYSTEM, MANY, slow)
    assert [r.values for r in results] == [r.values for r in expected]
    assert {r.values["result"] for r in counted} == {1}


class LosesFirst(Executor):
    """Loses the first task as Dask does with a worker: the future fails, or is cancelled."""

    def __init__(self, status: str, error: Exception | None = None) -> None:
        self.status = status
        self.error = error
        self.num_tasks = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.num_tasks += 1
        future: Future[Any] = Future()
        if self.num_tasks > 1:
            future.set_result(fn(*args, **kwargs))
        else:
            cfexecutor: Any = pytest.importorskip("distributed.cfexecutor")
            asyncio.run(self._cascade(cfexecutor, future))
        return future

    async def _cascade(self, cfexecutor: Any, future: Future[Any]) -> None:
        await cfexecutor._cascade_future(self, future)

    async def _result(self, raiseit: bool) -> object:  # as Dask passes it
        assert not raiseit
        return None if self.error is None else (type(self.error), self.error, None)


@pytest.mark.parametrize("status", ["pending", "cancelled"])
def test_a_task_that_dask_loses_runs_again(status: str) -> None:
    executor = LosesFirst(status)
    results = run_study(SYSTEM, TABLE, energy, executor=executor)
    assert [r.values for r in results] == [r.values for r in run_study(SYSTEM, TABLE, energy)]
    assert executor.num_tasks > 1


def test_an_error_of_dasks_scheduler_is_raised() -> None:
    executor = LosesFirst("error", TimeoutError("no worker came"))
    with pytest.raises(TimeoutError, match="no worker came"):
        run_study(SYSTEM, TABLE, energy, executor=executor)
