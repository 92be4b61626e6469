"""The driver: keeps workers busy with batches of members, and takes outcomes as they come.

::

    members  ->  batch  ->  future  ->  outcomes  ->  take      in a bounded window
                   ^           |
                   |           +--  without the System:  again, with the payload
                   +--------------  its worker has died: again, each member alone

A worker that dies ends the whole pool, and an Executor does not tell which member it was running.
So all members that were in flight run again, one at a time: a good one gets its result then, and
one that kills its worker three times, while it runs alone, has failed.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Future
from contextlib import suppress
from itertools import islice
from math import ceil
from queue import Empty, SimpleQueue
from typing import Any, Final, final

from attrs import evolve, frozen

from stagecache.study.ensemble.pools import AbstractPool, was_lost
from stagecache.study.ensemble.worker import Batch, Outcome, Values

WORK_OF_BATCH: Final = 0.1
"""Seconds of work in a batch: overhead of a task becomes small, and progress stays visible."""

PATIENCE: Final = 0.25
"""Seconds to wait for an outcome before more tasks are sent and results are written."""

FIRST_WINDOW: Final = 16
LARGEST_WINDOW: Final = 1000
"""Tasks in flight where the number of workers is not known."""

MOST_DEATHS: Final = 3


@final
@frozen(eq=False)
class Task:
    """Members on their way.

    Attributes
    ----------
    batch : Batch
    is_alone : bool
        True if nothing else runs at the same time.
    with_payload : bool
    generation : int
        Number of the pool of workers.
    """

    batch: Batch
    is_alone: bool = False
    with_payload: bool = False
    generation: int = 0


@final
class Driver:
    """Runs members in a pool.

    Parameters
    ----------
    pool : AbstractPool
    members : iterator of (int, dict)
        Members to run, by index.
    number : int
        Number of members to run.
    take : callable
        Called with each outcome and the values of its member, in any order.
    wait : callable
        Called between outcomes, a few times a second.
    """

    def __init__(
        self,
        pool: AbstractPool,
        members: Iterator[tuple[int, Values]],
        number: int,
        take: Callable[[Outcome, Values], object],
        wait: Callable[[], object],
    ) -> None:
        self._pool = pool
        self._members = members
        self._left = number
        self._take = take
        self._wait = wait
        self._flying: dict[Future[Any], Task] = {}
        self._done: SimpleQueue[Future[Any]] = SimpleQueue()
        self._again: deque[Task] = deque()
        self._suspects: deque[tuple[int, Values]] = deque()
        self._deaths: Counter[int] = Counter()
        self._generation = 0
        self._is_alone = False
        self._seconds = 0.0  # of a member, as far as it is known
        self._size = 1
        workers = pool.num_workers
        # Two tasks wait for each worker, which it takes while outcomes come back.
        self._window = FIRST_WINDOW if workers is None else 3 * workers + 1
        self._largest_window = LARGEST_WINDOW if workers is None else self._window

    def run(self) -> None:
        """Run all members.

        Raises
        ------
        StudyError, NotPicklableError, BrokenExecutor
            Workers cannot be started, or cannot be replaced.
        BaseException
            Any exception of `take` or of the Executor, and KeyboardInterrupt. Outcomes that have
            arrived by then are taken.
        """
        try:
            self._fill()
            while self._flying:
                self._receive()
                self._fill()
        except BaseException:
            self._abandon()
            raise

    # ------------------------------------------------------------------ tasks go

    def _fill(self) -> None:
        """Submit as many tasks as may be in flight."""
        while len(self._flying) < self._window and not self._is_alone:
            if self._again:
                task = self._again.popleft()
            elif self._suspects:
                if self._flying:
                    return
                task = Task([self._suspects.popleft()], is_alone=True)
            else:
                batch = list(islice(self._members, self._next_size()))
                self._left -= len(batch)
                if not batch:
                    return
                task = Task(batch)
            self._submit(task)
            if self._done.qsize():  # a pool without workers has run it by now
                return

    def _next_size(self) -> int:
        """Return the size of the next batch, which shrinks towards the end."""
        workers = self._pool.num_workers or ceil(self._window / 3)
        return max(1, min(self._size, ceil(self._left / (2 * workers))))

    def _submit(self, task: Task) -> None:
        self._is_alone = task.is_alone
        try:
            future = self._pool.submit(task.batch, with_payload=task.with_payload)
        except BrokenExecutor:  # it broke after the last outcome
            self._renew()
            future = self._pool.submit(task.batch, with_payload=True)
        self._flying[future] = evolve(task, generation=self._generation)
        future.add_done_callback(self._done.put)

    # ------------------------------------------------------------------ outcomes come

    def _receive(self) -> None:
        """Wait for a task, and take its outcomes."""
        try:
            future = self._done.get(timeout=PATIENCE)
        except Empty:
            self._window = min(2 * self._window, self._largest_window)
            self._wait()
            return
        task = self._flying.pop(future)
        self._is_alone = False
        try:
            outcomes = self._pool.outcomes(future.result())
        except BrokenExecutor:
            if task.generation == self._generation:
                self._renew()
            self._died(task, 1)
        except Exception as error:
            if type(error).__name__ == "KilledWorker":  # of Dask, which is not imported here
                self._died(task, MOST_DEATHS)  # Dask has tried as often itself
            elif was_lost(error):
                self._died(task, 1)
            else:
                raise
        else:
            if outcomes is None:
                self._again.append(evolve(task, with_payload=True))
            else:
                self._window = min(self._window + 1, self._largest_window)
                self._measure(outcomes)
                self._take_all(task, outcomes)
        self._wait()

    def _take_all(self, task: Task, outcomes: list[Outcome]) -> None:
        """Take outcomes with the values in the task, so that each member is asked for them once."""
        values = dict(task.batch)
        for outcome in outcomes:
            self._take(outcome, values[outcome.index])

    def _measure(self, outcomes: list[Outcome]) -> None:
        """Choose the size of batches by the time that members take."""
        seconds = sum(outcome.seconds for outcome in outcomes) / len(outcomes)
        self._seconds = (self._seconds + seconds) / 2 if self._seconds else seconds
        wanted = WORK_OF_BATCH / max(self._seconds, 1e-6)
        self._size = max(1, min(int(wanted), 2 * self._size, self._pool.most_in_batch))

    # ------------------------------------------------------------------ workers die

    def _renew(self) -> None:
        self._pool.renew()
        self._generation += 1

    def _died(self, task: Task, times: int) -> None:
        """Run the members of a task alone; one that keeps killing its worker has failed."""
        if not task.is_alone:
            self._suspects.extend(task.batch)
            return
        [(index, values)] = task.batch
        self._deaths[index] += times
        if self._deaths[index] < MOST_DEATHS:
            self._suspects.appendleft((index, values))
            return
        message = "its worker died, each time that it ran alone"
        attempts = self._deaths[index]
        self._take(Outcome(index, 0.0, attempts, None, "WorkerDied", message, message), values)

    def _abandon(self) -> None:
        """Take what has finished, and cancel the rest."""
        for future in self._flying:
            future.cancel()
        for future, task in self._flying.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                with suppress(Exception):  # the error that ended the run is raised
                    self._take_all(task, self._pool.outcomes(future.result()) or [])
