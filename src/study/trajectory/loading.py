"""Trajectories that are loaded from files, with the model or without it."""

from collections.abc import Mapping
from os import PathLike
from typing import Literal, overload

from stagecache.checks import require_bool, require_path, require_type
from stagecache.files.renaming import Renaming
from stagecache.files.report import LoadReport
from stagecache.study.trajectory.rows import Pattern
from stagecache.study.trajectory.stored import StoredRows, open_trajectory
from stagecache.study.trajectory.trajectory import Trajectory
from stagecache.system.core.state_file import restored_state
from stagecache.system.core.system import System

Path_ = str | PathLike[str]


@overload
def load_trajectory(
    path: Path_,
    system: System | None = None,
    *,
    strict: Literal[True] = True,
    renamed: Mapping[str, str] | None = None,
) -> Trajectory: ...
@overload
def load_trajectory(
    path: Path_,
    system: System | None = None,
    *,
    strict: bool,
    renamed: Mapping[str, str] | None = None,
) -> Trajectory | tuple[Trajectory, LoadReport]: ...
def load_trajectory(
    path: Path_,
    system: System | None = None,
    *,
    strict: bool = True,
    renamed: Mapping[str, str] | None = None,
) -> Trajectory | tuple[Trajectory, LoadReport]:
    """Return the trajectory in a file that `Trajectory.save` or `simulate(into=path)` has written.

    Also one of `to_parquet`, `to_netcdf` or `to_zarr`, which are read as a whole. Another file is
    mapped, not read: a column is read when it is looked at, and each byte of it is
    compared with a checksum then. After a crash, all whole batches are there. Nothing in a file is
    executed.

    Parameters
    ----------
    path : str or os.PathLike
    system : System, optional
        Its model, for States of rows, handles, entries that were not recorded, `save`, and
        `to_parquet`, `to_netcdf` and `to_zarr`. Without it, there are columns by path, plots,
        `to_csv`, `to_dataframe` and `to_xarray`.
    strict, renamed
        As for `load_state`. Items are matched with the model by name.

    Returns
    -------
    Trajectory
        Rows cannot be added.
    LoadReport
        What fits the model, and each difference; only if `strict` is False.

    Raises
    ------
    OSError
    FileFormatError
        The file is damaged, or not a trajectory.
    LayoutMismatchError
        The model has other subsystems, versions or variables; its `report` lists them.
    UnknownPathError
        `renamed` names something that was not saved.
    WrongTypeError
    """
    where = require_path(path, "load_trajectory(path)")
    require_bool(strict, "strict=...")
    file = open_trajectory(where)
    rows = range(file.starts[-1])
    if system is None:
        trajectory = Trajectory._of(StoredRows(file, rows), file.header.record, file.ending)
        report = LoadReport(file.header.system, tuple(file.header.forms), ())
        return trajectory if strict else (trajectory, report)
    require_type(system, System, "the model of a trajectory", "a System", "pass its System")
    restored = restored_state(
        file.header.template, system, strict=strict, renamed=renamed, where=str(where)
    )
    known = {*file.header.forms, *file.header.places, *file.header.record}
    known |= {path.partition(".")[0] for path in known}
    naming = Renaming(renamed, {*known, *(renamed or ())}, str(where))
    new_names = {path: naming(path) for path in known if naming(path) != path}
    stored = StoredRows(file, rows, Pattern.of(restored[0]), new_names)
    record = tuple(naming(path) for path in file.header.record)
    trajectory = Trajectory._of(stored, record, file.ending)
    return trajectory if strict else (trajectory, restored[1])
