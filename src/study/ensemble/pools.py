"""Pools: an Executor, or this thread, where batches of members run.

::

    None                      LocalPool    in this thread, member by member
    ThreadPoolExecutor        LocalPool    the System is shared
    workers=N                 RemotePool   own processes, renewed when one dies
    ProcessPoolExecutor       RemotePool   replaced by a new one of the same kind when one dies
    Dask's, MPI's, ...        RemotePool   the Executor replaces its workers itself
"""

import hashlib
import multiprocessing
import os
import signal
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from threading import Thread
from traceback import walk_tb
from typing import Any, Final, final

from stagecache.checks import require_count, wrong_type
from stagecache.errors import StudyError, UnknownOptionError, short_repr
from stagecache.sharing.results import Totals
from stagecache.study.ensemble.values import from_bytes
from stagecache.study.ensemble.worker import Batch, Outcome, Runner, Work, run_task

MOST_IN_BATCH: Final = 1000
HINT: Final = (
    "pass a concurrent.futures.Executor, as Client.get_executor() of Dask; or workers=4 for "
    "processes"
)


class AbstractPool(ABC):
    """A place where members run.

    Attributes
    ----------
    num_workers : int or None
        None if it is not known.
    most_in_batch : int
    """

    num_workers: int | None
    most_in_batch: int

    @property
    @abstractmethod
    def totals(self) -> Totals:
        """Totals of shared results in the outcomes so far."""

    @abstractmethod
    def submit(self, batch: Batch, *, with_payload: bool) -> "Future[Any]":
        """Run members.

        Raises
        ------
        BrokenExecutor
            The workers have died; `renew` replaces them.
        """

    @abstractmethod
    def outcomes(self, result: Any) -> list[Outcome] | None:
        """Return the outcomes in the result of a task; None if the worker needs the payload."""

    @abstractmethod
    def renew(self) -> None:
        """Replace workers that have died, and make sure that new ones start.

        Raises
        ------
        BrokenExecutor, StudyError
            They cannot be replaced.
        """

    @abstractmethod
    def close(self, *, at_once: bool) -> None:
        """End the workers that the pool has started; with `at_once`, even busy ones."""


@final
class LocalPool(AbstractPool):
    """Threads of an Executor, or this thread."""

    def __init__(self, work: Work, executor: Executor | None) -> None:
        self._runner = Runner.of(work)
        self._runner.new_totals()  # so that values from before the study do not count
        self._executor = executor
        self.num_workers = 1 if executor is None else _number_of(executor)
        self.most_in_batch = 1  # a batch saves little here, and keeps members from idle threads

    @property
    def totals(self) -> Totals:
        """Totals of shared results since the pool was made."""
        return self._runner.new_totals()

    def submit(self, batch: Batch, *, with_payload: bool) -> "Future[Any]":  # noqa: ARG002  # threads share it
        """Run members in threads; at once, in this thread, if there are none."""
        if self._executor is not None:
            return self._executor.submit(self._runner.run, batch)
        future: Future[Any] = Future()
        future.set_result(self._runner.run(batch))
        return future

    def outcomes(self, result: Any) -> list[Outcome] | None:
        """Return the result."""
        found: list[Outcome] = result
        return found

    def renew(self) -> None:
        """Raise: threads do not die."""
        raise BrokenExecutor(f"{short_repr(self._executor)} is broken")

    def close(self, *, at_once: bool) -> None:
        """Do nothing: the Executor belongs to the caller."""


@final
class RemotePool(AbstractPool):
    """Processes, here or elsewhere.

    Parameters
    ----------
    work : Work
    executor : Executor, optional
        The pool starts processes by default.
    make : callable, optional
        Makes a new Executor in place of a broken one; None if the Executor replaces its workers.
    """

    def __init__(
        self, work: Work, executor: Executor | None, make: Callable[[], Executor] | None
    ) -> None:
        self._payload = work.to_payload()
        self._token = hashlib.sha256(self._payload).hexdigest()
        self._system = work.state.system
        self._make = make
        self._own: Executor | None = None
        if executor is None:
            assert make is not None
            executor = self._own = make()
        self._executor = executor
        self.num_workers = _number_of(executor)
        self.most_in_batch = MOST_IN_BATCH
        self._totals: Totals = (0, 0, 0.0)

    @property
    def totals(self) -> Totals:
        """Totals of shared results in the outcomes so far."""
        return self._totals

    def submit(self, batch: Batch, *, with_payload: bool) -> "Future[Any]":
        """Run members in a process."""
        payload = self._payload if with_payload else None
        return self._executor.submit(run_task, self._token, payload, batch)

    def outcomes(self, result: Any) -> list[Outcome] | None:
        """Return the outcomes in the bytes of a result."""
        if result is None:
            return None
        outcomes: list[Outcome]
        outcomes, new = from_bytes(result, self._system)
        had = self._totals
        self._totals = had[0] + new[0], had[1] + new[1], had[2] + new[2]
        return outcomes

    def renew(self) -> None:
        """Start a new pool of processes."""
        if self._make is None:
            raise BrokenExecutor(f"{short_repr(self._executor)} is broken")
        self.close(at_once=True)
        self._executor = self._own = self._make()
        try:
            self._executor.submit(os.getpid).result()
        except BrokenExecutor as error:
            raise StudyError(
                "run_study(): workers die before they run a member",
                "processes that can import the main program and the modules of the model",
                f"{type(error).__name__}: {error}",
                "call run_study() under if __name__ == '__main__':, and look at what the workers "
                "have printed",
            ) from error

    def close(self, *, at_once: bool) -> None:
        """End the processes that the pool has started."""
        own, self._own = self._own, None
        if own is None:
            return
        own.shutdown(wait=False, cancel_futures=True)
        if at_once:
            for process in list((getattr(own, "_processes", None) or {}).values()):
                process.terminate()
        own.shutdown(wait=True)


def pool_of(work: Work, executor: object, workers: object) -> AbstractPool:
    """Return the pool for arguments of `run_study`.

    Raises
    ------
    UnknownOptionError, OutOfRangeError, WrongTypeError, NotPicklableError
    StudyError
        A pool of forked processes.
    """
    if executor is None and workers is None:
        return LocalPool(work, None)
    if workers is not None:
        if executor is not None:
            raise UnknownOptionError(
                "run_study(): executor=... and workers=... exclude each other",
                "one of them",
                f"both: {short_repr(executor)}, workers={short_repr(workers)}",
                "leave out workers=..., since the Executor has its own",
            )
        number = require_count(
            workers, 1, "run_study(workers=...)", "leave it out for this process"
        )
        return RemotePool(work, None, lambda: own_processes(number))
    if not isinstance(executor, Executor):
        raise wrong_type(executor, "run_study(executor=...): not an Executor", "an Executor", HINT)
    if isinstance(executor, ThreadPoolExecutor):
        return LocalPool(work, executor)
    if isinstance(executor, ProcessPoolExecutor):
        _refuse_fork(executor)
        return RemotePool(work, executor, lambda: _alike(executor))
    return RemotePool(work, executor, None)


def was_lost(error: Exception) -> bool:
    """Return True if an Executor has lost a task with its worker, so that it has no result.

    Dask cancels a task whose result was in the worker, or runs it again; its Executor may look in
    between, where it finds neither a result nor an error, and fails itself: it unpacks None. Errors
    of Dask's scheduler, which have no traceback, it raises in the same place.
    """
    if isinstance(error, CancelledError):
        return True
    *_, (frame, _) = walk_tb(error.__traceback__)
    is_dask = frame.f_globals.get("__name__") == "distributed.cfexecutor"
    return is_dask and isinstance(error, TypeError)


def _refuse_fork(executor: ProcessPoolExecutor) -> None:
    context: Any = getattr(executor, "_mp_context", None)
    if context is None or context.get_start_method() != "fork":
        return
    raise StudyError(
        "run_study(executor=...): its processes are forked",
        "processes that are spawned: a forked one may inherit locks that are never released",
        "a ProcessPoolExecutor with the start method 'fork'",
        "pass mp_context=multiprocessing.get_context('spawn') to it; or write workers=N instead",
    )


def _number_of(executor: Executor) -> int | None:
    """Return the number of workers of an Executor; None if it does not tell."""
    for name in ("_max_workers", "num_workers"):
        number = getattr(executor, name, None)
        if isinstance(number, int) and number > 0:
            return number
    return None


# ---------------------------------------------------------------------- processes


def own_processes(number: int) -> ProcessPoolExecutor:
    """Return a pool of processes, which end when this one does."""
    method = "spawn" if sys.platform == "win32" else "forkserver"
    context = multiprocessing.get_context(method)
    return ProcessPoolExecutor(number, mp_context=context, initializer=begin_worker)


def begin_worker() -> None:
    """Make a worker ignore Control-C, which the driver handles, and end when the driver ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    driver = multiprocessing.parent_process()
    assert driver is not None

    def watch() -> None:
        driver.join()
        os._exit(1)  # the queue of the pool stays open as long as one worker has it

    Thread(target=watch, daemon=True).start()


def _alike(executor: ProcessPoolExecutor) -> ProcessPoolExecutor:
    """Return a new pool with the size, the context and the initializer of a broken one."""
    had: Any = vars(executor)
    return ProcessPoolExecutor(
        had["_max_workers"],
        mp_context=had["_mp_context"],
        initializer=had["_initializer"],
        initargs=had["_initargs"],
        max_tasks_per_child=had.get("_max_tasks_per_child"),
    )
