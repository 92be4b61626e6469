"""Streamed runs: rows go into a file in batches, each with a restart if it can have one.

::

    row, row, ...  ->  a batch is full  ->  the next pause  ->  batch and restart, on disk
                       twice as many rows, and no pause     ->  batch
                       an error, Control-C                  ->  batch, and the error goes on
                       the end                              ->  batch and the Ending, end of stream
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, final

from stagecache.errors import FileFormatError, StudyError
from stagecache.progress import Progress, ProgressBar
from stagecache.state.state import State
from stagecache.study.ending import Ending
from stagecache.study.integrate.integrator import Integrator
from stagecache.study.plan import Plan
from stagecache.study.run import AbstractSink, Run
from stagecache.study.trajectory.file import TrajectoryFile
from stagecache.study.trajectory.loading import load_trajectory
from stagecache.study.trajectory.rows import Rows
from stagecache.study.trajectory.stream import TrajectoryWriter
from stagecache.study.trajectory.trajectory import Trajectory
from stagecache.system.core.system import System
from stagecache.system.saved.cache import model_code

PLAN: Final = "plan"
EVENTS: Final = "events"
CODE: Final = "code"


@final
class Batches(AbstractSink):
    """The rows of a run on their way into a file.

    Parameters
    ----------
    writer : TrajectoryWriter
    rows : Trajectory
        Without rows; it says what is recorded.
    batch : int
        Number of rows to a batch.
    """

    def __init__(self, writer: TrajectoryWriter, rows: Trajectory, batch: int) -> None:
        self._writer = writer
        self._rows = rows
        self._batch = batch
        self._is_writing = False

    def append(self, state: State, integrator: Integrator, *, has_changed: bool) -> None:  # noqa: ARG002  # others need them
        """Take a row; write those before it if there was no pause for long."""
        if len(self._rows) == 2 * self._batch:
            self._write()
        self._rows.append(state)

    def see_step(self, integrator: Integrator) -> None:
        """Ignore steps between rows."""

    @property
    def is_full(self) -> bool:
        """True after a batch; at the beginning after a row, so that no crash is too early."""
        return len(self._rows) >= (self._batch if self._writer.num_rows else 1)

    def restart(self, restart: bytes) -> None:
        """Write the rows, and from where the run goes on after them."""
        self._write(restart)

    def finish(self, ending: Ending) -> None:
        """Write the last rows and the end."""
        if len(self._rows):
            self._write(ending.to_bytes())
        self._writer.close()

    def abandon(self) -> None:
        """Write the last rows, if no batch is half written, and close the file."""
        with suppress(Exception):  # the error for which the run is abandoned counts
            if len(self._rows) and not self._is_writing:
                self._write()
        self._writer.close(is_finished=False)

    def _write(self, restart: bytes | None = None) -> None:
        rows = self._rows._kept
        assert isinstance(rows, Rows)
        self._is_writing = True
        self._writer.write(rows, restart)
        self._rows = self._rows[:0]  # first: `abandon` would write them again
        self._is_writing = False


def stream(
    system: System, state: State, plan: Plan, path: Path, rows: Trajectory, progress: Progress
) -> Trajectory:
    """Simulate, with rows in a file, and return the trajectory that is there."""
    details = {
        PLAN: plan.to_json(),
        EVENTS: list(system._events.table.names),
        CODE: model_code(system.new_state()),
    }
    _refuse_interrupted(path)
    writer = TrajectoryWriter(path, rows.record, details)
    batches = Batches(writer, rows, plan.batch)
    return carried_out(system, plan, batches, lambda run: run.begin(state), path, progress)


def _refuse_interrupted(path: Path) -> None:
    """Refuse to replace a run that goes on, or that can be resumed."""
    try:
        file = TrajectoryFile(path)
    except (OSError, FileFormatError):
        return
    try:
        is_run = PLAN in file.header.details and file.ending is None
        can_go_on = is_run and file.last_restart()[0] >= 0
    except FileFormatError:
        can_go_on = False
    finally:
        file.close()
    if can_go_on:
        raise StudyError(
            f"simulate(into={str(path)!r}): would replace a run that is not finished",
            "the name of a new file, or of a run that has ended",
            f"{file.num_rows} rows of such a run",
            "go on with it by resume(path, system); or delete the file to begin anew",
        )


def carried_out(
    system: System,
    plan: Plan,
    batches: Batches,
    start: Callable[[Run], Ending],
    path: Path,
    progress: Progress,
) -> Trajectory:
    """Start a run, bring its rows into the file, and return the trajectory that is there."""
    try:
        with ProgressBar(system.name, plan.begin, plan.until, progress) as bar:
            ending = start(Run(system, plan, batches, bar.show))
        batches.finish(ending)
    except BaseException:
        batches.abandon()
        raise
    return load_trajectory(path, system)
