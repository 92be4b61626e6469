"""Resumption of a run that was interrupted: from its file, to the same result."""

from os import PathLike
from pathlib import Path
from typing import Any

from stagecache.checks import require_bool, require_path, require_type
from stagecache.errors import LayoutMismatchError, StudyError
from stagecache.files.report import DifferenceKind, LayoutDifference, LoadReport, mismatch
from stagecache.progress import Progress, check_progress
from stagecache.state.state import State
from stagecache.study.plan import Plan
from stagecache.study.restart import Restart
from stagecache.study.streaming import CODE, EVENTS, PLAN, Batches, carried_out
from stagecache.study.time_stepper import TimeStepper
from stagecache.study.trajectory.file import TrajectoryFile
from stagecache.study.trajectory.loading import load_trajectory
from stagecache.study.trajectory.trajectory import Trajectory
from stagecache.system.core.state_file import restored_state
from stagecache.system.core.system import System
from stagecache.system.saved.cache import model_code


def resume(
    path: str | PathLike[str],
    system: System,
    *,
    allow_changes: bool = False,
    progress: Progress = None,
) -> Trajectory:
    """Go on with a run that `simulate(..., into=path)` has begun, to its end.

    Rows after the last restart in the file are cut off, and computed again. The result equals the
    result of a run without an interruption, bit for bit, on the same machine with the same
    libraries: each run goes on from the same restarts. A file that is finished stays as it is.

    The State is resumed, and what the integrator needs beside it; not what handlers, hooks and
    reporters keep elsewhere, as in attributes, files or global variables. Reporters are called
    again for times after the restart.

    Parameters
    ----------
    path : str or os.PathLike
        On Windows, make sure that no other process writes it; elsewhere it is refused then.
    system : System
        The same model, with the same handlers and reporters.
    allow_changes : bool
        True to go on although attributes, hooks or computations of the model have changed, with
        later rows as the changed model has them. What cannot be compared counts as the same:
        functions that are defined in functions and hold objects, for instance.
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
        The file is not from a run, was interrupted before its first restart, or is being
        written; or the code or the attributes of the model have changed.
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
    require_bool(allow_changes, "resume(allow_changes=...)")
    check_progress(progress)
    file = TrajectoryFile(where)
    try:
        state = _state_of(file, system, where)
        plan = _plan_of(file.header.details, system, where, allow_changes=allow_changes)
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


def _state_of(file: TrajectoryFile, system: System, where: Path) -> State:
    """Return the State from which rows are made."""
    data, name = file.header.template, str(where)
    try:
        state, _ = restored_state(data, system, strict=True, renamed=None, where=name)
    except LayoutMismatchError as error:
        hint = "resume it by the model that began it; load_trajectory(path) shows the rows"
        report: Any = error.report
        raise mismatch(report, name, hint) from None
    return state


def _plan_of(details: Any, system: System, where: Path, *, allow_changes: bool) -> Plan:
    """Return the plan of a run, if the System has the same code and events.

    Raises
    ------
    StudyError, FileFormatError, LayoutMismatchError
    """
    if not isinstance(details, dict) or {*details} != {PLAN, EVENTS, CODE}:
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
    if not allow_changes and details[CODE] != model_code(system.new_state()):
        raise StudyError(
            f"{where}: cannot be resumed",
            "the code and the attributes that the model had",
            "a model that has changed, or another version of Python or of a package",
            "use the version that began the run; or pass allow_changes=True, for later rows as "
            "this model has them",
        )
    return Plan.of_json(details[PLAN], str(where))
