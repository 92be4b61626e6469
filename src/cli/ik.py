"""`stagecache ik`: inverse kinematics of a model of OpenSim, from files to files."""

import warnings
from math import inf
from pathlib import Path
from typing import Any, Final

import click
import numpy as np
from attrs import evolve, frozen
from rich.console import Console

from stagecache.checks import require_extra
from stagecache.cli.output import new_table, print_table, print_text
from stagecache.errors import StagecacheError
from stagecache.models import (
    IKResult,
    IKTasks,
    Model,
    Table,
    inverse_kinematics,
    load_osim,
    read_ik_tasks,
    read_mot,
    read_trc,
    write_mot,
    write_sto,
)
from stagecache.models.inverse_kinematics import ERROR_LABELS
from stagecache.models.reading import shown

MOST_WORST: Final = 5
"""Markers in the table."""


@frozen
class IKFiles:
    """Files of a run; those that are None are not read or written.

    Attributes
    ----------
    model, markers : Path
    tasks, coordinates : Path or None
    output, errors, plot, html : Path or None
    """

    model: Path
    markers: Path
    tasks: Path | None
    coordinates: Path | None
    output: Path | None
    errors: Path | None
    plot: Path | None
    html: Path | None


@frozen
class IKOptions:
    """Options of a run.

    Attributes
    ----------
    accuracy : float
    start, end : float or None
        Times of the first and the last frame [s].
    unit : str or None
        Unit of the markers, if the file does not say it.
    is_skipping : bool
        True to leave out frames that fail.
    """

    accuracy: float
    start: float | None
    end: float | None
    unit: str | None
    is_skipping: bool


def run(files: IKFiles, options: IKOptions, out: Console, err: Console) -> bool:
    """Find the coordinates, write what was asked for, and print a table.

    Returns
    -------
    bool
        False if frames were skipped.
    """
    if files.plot is not None:
        require_extra("matplotlib", "viz", "stagecache ik --plot")
    if files.html is not None:
        require_extra("viser", "viewer", "stagecache ik --html")
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: print_text(
            err, "Warning: " + str(message).removesuffix("; see model.left_out")
        )
        warnings.simplefilter("always")
        model = load_osim(files.model, masses=False, meshes=files.html is not None)
        markers = read_trc(files.markers, unit=options.unit, model=model)
        tasks = None if files.tasks is None else read_ik_tasks(files.tasks)
        used = _within(markers, tasks, options)
        if tasks is not None:
            tasks = evolve(tasks, time_range=(-inf, inf))  # the frames used set the range
        found = inverse_kinematics(
            model,
            used,
            weights=tasks,
            coordinates=_coordinates(files, tasks, model),
            accuracy=options.accuracy,
            on_failure="skip" if options.is_skipping else "raise",
            progress=err,
        )
    print_result(out, found, _missing(tasks, found))
    for path in _written(files, found, err):
        print_text(out, f"wrote {path}")
    return not found.skipped


def _within(markers: Table, tasks: IKTasks | None, options: IKOptions) -> Table:
    """Return the frames to use.

    Raises
    ------
    click.UsageError
        There are none.
    """
    start, end = (-inf, inf) if tasks is None else tasks.time_range
    start = start if options.start is None else options.start
    end = end if options.end is None else options.end
    found = markers.between(start, end)
    if not len(found):
        raise click.UsageError(f"No frame from {start:g} to {end:g} s: {markers!r}.")
    return found


def _coordinates(files: IKFiles, tasks: IKTasks | None, model: Model) -> Table | None:
    """Return the values for tasks of coordinates that are from a file."""
    path = files.coordinates
    if path is None and files.tasks is not None and tasks is not None and tasks.coordinate_file:
        path = files.tasks.parent / tasks.coordinate_file
    return None if path is None else read_mot(path, model=model)


def _missing(tasks: IKTasks | None, found: IKResult) -> list[str]:
    """Return the markers of tasks that are not observed, or not in the model."""
    if tasks is None:
        return [name for name in found.model.markers if name not in found.observed]
    return [name for name, weight in tasks.markers.items() if weight and name not in found.observed]


# ---------------------------------------------------------------------- the table


def print_result(out: Console, found: IKResult, missing: list[str]) -> None:
    """Print how well markers are met, the worst of them, and what it took."""
    table = new_table("marker", "RMS (mm)", "largest (mm)", "at (s)", numbers=3)
    gaps = np.linalg.norm(found.calc_markers().values - found.observed.values, axis=2)
    rms = _rms(gaps)
    for i in np.argsort(-np.nan_to_num(rms)).tolist()[:MOST_WORST]:
        if np.isnan(gaps[:, i]).all():
            continue
        row = int(np.nanargmax(gaps[:, i]))
        numbers = (
            f"{1e3 * rms[i]:.1f}",
            f"{1e3 * gaps[row, i]:.1f}",
            f"{found.observed.times[row]:g}",
        )
        table.add_row(found.observed.labels[i], *numbers)
    print_table(out, table)
    more = len(found.observed.labels) - MOST_WORST
    if more > 0:
        print_text(out, f"and {more} more")
    out.print()
    summary = new_table(
        "frames", "skipped", "RMS (mm)", "worst (mm)", "marker", "at (s)", "ms a frame"
    )
    worst = found.worst
    summary.add_row(
        str(len(found.frames)),
        str(len(found.skipped)),
        f"{1e3 * found.rms:.2f}",
        "" if worst is None else f"{1e3 * worst.worst_error:.1f}",
        "" if worst is None else worst.worst,
        "" if worst is None else f"{worst.time:g}",
        f"{found.milliseconds:.2f}",
    )
    print_table(out, summary)
    if found.not_used:
        print_text(out, f"not used: {shown(found.not_used, 8)}")
    if missing:
        print_text(out, f"not observed: {shown(missing, 8)}")


def _rms(gaps: Any) -> Any:
    """Return root mean squares of columns; NaN where there is no number."""
    count = (~np.isnan(gaps)).sum(axis=0)
    squares = np.nansum(gaps**2, axis=0)
    return np.sqrt(np.divide(squares, count, out=np.full(len(count), np.nan), where=count > 0))


# ---------------------------------------------------------------------- files


def _written(files: IKFiles, found: IKResult, err: Console) -> list[Path]:
    """Write what was asked for; return the paths."""
    made = []
    if files.output is not None:
        write_mot(files.output, found.coordinates)
        made.append(files.output)
    if files.errors is not None:
        write_sto(files.errors, found.errors)
        made.append(files.errors)
    if files.plot is not None:
        plot(found, files.plot)
        made.append(files.plot)
    if files.html is not None:
        found.animate(files.html, progress=err)
        made.append(files.html)
    return made


def plot(found: IKResult, path: Path) -> None:
    """Draw the coordinates and the RMS of markers over time."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    table, errors = found.coordinates, found.errors
    parts = [("rad", "angle [degrees]", 180.0 / np.pi), ("m", "position [m]", 1.0)]
    parts = [part for part in parts if part[0] in table.units]
    figure = Figure(figsize=(10, 3.2 * (len(parts) + 1)), layout="constrained")
    axes = figure.subplots(len(parts) + 1, 1, sharex=True, squeeze=False)[:, 0]
    for ax, (unit, label, factor) in zip(axes, parts, strict=False):
        for name, own in zip(table.labels, table.units, strict=True):
            if own == unit and np.ptp(table[name]) > 0.0:
                ax.plot(table.times, factor * table[name], label=name)
        ax.set_ylabel(label)
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="x-small", ncols=2)
    for label in ERROR_LABELS[1:3]:
        axes[-1].plot(errors.times, 1e3 * errors[label], label=label.replace("marker_error_", ""))
    axes[-1].set_ylabel("distance of markers (mm)")
    axes[-1].set_xlabel("time (s)")
    axes[-1].set_ylim(bottom=0.0)
    axes[-1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="x-small")
    try:
        figure.savefig(path, dpi=120)
    except ValueError as error:
        raise StagecacheError(
            f"{path.name}: not a picture that can be written",
            "a name that ends in .png, .svg or .pdf",
            str(error),
            "write --plot angles.png",
        ) from None
