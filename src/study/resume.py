"""Resumption of a run that was interrupted: from its file, to the same result."""

from os import PathLike
from pathlib import Path
from typing import Any

from stagecache.checks import require_path, require_type
from stagecache.errors import StudyError
from stagecache.files.report import DifferenceKind, LayoutDifference, LoadReport, mismatch
from stagecache.study.plan import Plan
from stagecache.study.progress import Progress, check_progress
from stagecache.study.restart import Restart
from stagecache.study.streaming import EVENTS, PLAN, Batches, carried_out
from stagecache.study.time_stepper import TimeStepper
from stagecache.study.trajectory.file import TrajectoryFile
from stagecache.study.trajectory.loading import load_trajectory
from stagecache.study.trajectory.trajectory import Trajectory
from stagecache.system.core.state_file import restored_state
from stagecache.system.core.system import System


def resume(path: str | PathLike[str], system: System, *, progress: Progress = None) -> Trajectory:
    """Go on with a run that `simulate(..., into=path)` has begun, to its end.

    Rows after the last restart in the file are cut off, and computed again. The result is that of a
    run without an interruption, bit for bit, on the same machine with the same libraries: each run
    goes on from the same restarts. A file that is finished stays as it is.

    The State is resumed, and what the integrator needs beside it; not what handlers, hooks and
    reporters keep elsewhere, as in attributes, files or global variables. Reporters are called
    again for times after the restart.

    Parameters
    ----------
    path : str or os.PathLike
        On Windows, make sure that no other process writes it; elsewhere it is refused then.
    system : System
        The same model, with the same handlers and reporters.
    progress : bool or rich.console.Console, optional
        Same as for `TimeStepper`.

    Returns
    -------
    Trajectory
        All rows of the file, as `load_trajectory` returns them.

    Raises
    ------
    OSError
    FileFormatError
        The file is damaged.
    LayoutMismatchError
        The model has other subsystems, versions, variables, handlers or reporters; its `report`
        lists them. The file stays as it is.
    StudyError
        The file is not that of a run, was interrupted before its first restart, or is being
        written.
    WrongTypeError, NotANumberError
    Exception
        See `simulate`. Rows so far are in the file then.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from stagecache import State, Subsystem, System, q_variable, resume, simulate
    >>> class Cart(Subsystem):
    ...     place = q_variable(0.0)
    ...
    ...     def realize_velocity(self, state: State) -> None:
    ...         state[self].upd_qdot()[0] = 2.0
    >>> system = System(Cart())
    >>> path = Path(mkdtemp(), "run.arrows")
    >>> whole = simulate(system, system.new_state(), 1.0, every=0.25, into=path, batch=2)
    >>> resume(path, system).times
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    where = require_path(path, "resume(path)")
    require_type(system, System, "resume(system)", "a System", "pass the System of the run")
    check_progress(progress)
    file = TrajectoryFile(where)
    try:
        state, _ = restored_state(
            file.header.template, system, strict=True, renamed=None, where=str(where)
        )
        plan = _plan_of(file.header.details, system, where)
        has_ended = file.ending is not None
        number, data = file.last_restart()
    finally:
        file.close()
    if number < 0:
        raise StudyError(
            f"{where}: cannot be resumed",
            "a run with a restart",
            "one that was interrupted before its first step",
            "simulate again, into the same file",
        )
    if has_ended:
        if not file.is_finished:
            file.appending(number).close()
        return load_trajectory(where, system)
    restart = Restart.of_bytes(data, str(where))
    # Refuse a restart that does not fit while the file has all its rows.
    TimeStepper(system, plan.integrator(system), progress=False)._go_on(restart)
    rows = Trajectory(state, file.header.record)
    writer = file.appending(number)
    count = writer.num_rows
    batches = Batches(writer, rows, plan.batch)
    return carried_out(
        system, plan, batches, lambda run: run.go_on(restart, count), where, progress
    )


def _plan_of(details: Any, system: System, where: Path) -> Plan:
    """Return the plan in a file, if the System has the events of that run.

    Raises
    ------
    StudyError, FileFormatError, LayoutMismatchError
    """
    if not isinstance(details, dict) or set(details) != {PLAN, EVENTS}:
        raise StudyError(
            f"{where}: cannot be resumed",
            "the file of a run, which simulate(..., into=path) has written",
            "a trajectory that was saved",
            "open it by load_trajectory()",
        )
    saved, here = details[EVENTS], system._events.table.names
    if saved != list(here):
        missing, new = DifferenceKind.MISSING, DifferenceKind.NEW
        differences = [
            LayoutDifference(str(e), missing, "an event") for e in saved if e not in here
        ]
        differences += [LayoutDifference(e, new, here="an event") for e in here if e not in saved]
        differences = differences or [
            LayoutDifference(
                "the order of events", DifferenceKind.CHANGED, str(saved), str(list(here))
            )
        ]
        report = LoadReport(system.name, (), tuple(differences))
        raise mismatch(report, str(where), "add the same handlers and reporters, in that order")
    return Plan.of_json(details[PLAN], str(where))
