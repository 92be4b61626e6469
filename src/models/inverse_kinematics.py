r"""Inverse kinematics: coordinates of a model over time, from observed positions of its markers.

::

    goal = 1/2 sum w |r|^2 / sum w   +   sum of v 1/2 (q - value)^2
           markers                       tasks of coordinates

These are the terms of OpenSim's tool. Each frame begins where the one before it has ended.
"""

from collections.abc import Mapping, Sequence
from math import ceil
from os import PathLike
from pathlib import Path
from time import perf_counter
from typing import Any, Final, Literal, final

import numpy as np
from attrs import evolve, frozen

from stagecache.assembly import Assembler, AssemblyCondition, FrameResult
from stagecache.checks import did_you_mean, require_count, require_type
from stagecache.decorations import DecorativePoint
from stagecache.errors import (
    NoObservationError,
    ObservationError,
    UnknownItemError,
    listed,
)
from stagecache.models.model import Model, checked_weights
from stagecache.models.table import Table
from stagecache.models.targets import CoordinateTargets
from stagecache.models.tasks import CoordinateTask, IKTasks
from stagecache.models.trc import size_of
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.observers.markers import OBSERVED, Markers
from stagecache.pictures import animate
from stagecache.progress import Progress
from stagecache.state.state import State
from stagecache.study.trajectory.trajectory import Trajectory

ACCURACY: Final = 1e-4
"""The default accuracy of the goal: 1e-4 of its least value."""

IMPLAUSIBLE: Final = 20.0
"""Ratio of sizes, of observations and the model, from which units must be wrong."""

FASTEST: Final = 50.0
"""Frames per second of a page, at most."""

ORIGIN: Final = (0.0, 0.0, 0.0)

ERROR_LABELS: Final = ("total_squared_error", "marker_error_RMS", "marker_error_max", "goal")
"""The first three are OpenSim's."""


@final
@frozen(eq=False, repr=False)
class IKResult:
    """Result of `inverse_kinematics`, frame by frame.

    Attributes
    ----------
    model : Model
    coordinates : Table
        A column for each coordinate [rad or m], a row for each frame that was found.
    observed : Table
        Observed positions of markers that count, in these frames [m].
    errors : Table
        By frame: the sum of squares of distances of markers [m^2], their root mean square [m], the
        largest one [m], and the goal.
    trajectory : Trajectory
        The States of these frames; its `frames` have all else that is known of each.
    skipped : tuple of int
        Frames that failed, from 0, among those that were tried.
    not_used : tuple of str
        Observed markers that the model does not have, or whose weight is 0.
    seconds : float
        Time that it took, for all frames.
    """

    model: Model
    coordinates: Table
    observed: Table
    errors: Table
    trajectory: Trajectory
    skipped: tuple[int, ...]
    not_used: tuple[str, ...]
    seconds: float

    @property
    def frames(self) -> tuple[FrameResult, ...]:
        """Goal, RMS and worst marker of each frame."""
        return self.trajectory.frames

    @property
    def rms(self) -> float:
        """Root mean square of all distances of markers, over all frames [m]."""
        squares = self.errors["total_squared_error"]
        count = float((squares / np.maximum(self.errors["marker_error_RMS"] ** 2, 1e-300)).sum())
        return float(np.sqrt(squares.sum() / count)) if len(squares) else 0.0

    @property
    def worst(self) -> FrameResult | None:
        """The frame with the largest distance of a marker."""
        return max(self.frames, key=lambda frame: frame.worst_error, default=None)

    @property
    def milliseconds(self) -> float:
        """Time that a frame took, on average [ms]."""
        count = len(self.frames) + len(self.skipped)
        return 1e3 * self.seconds / count if count else 0.0

    def calc_markers(self) -> Table:
        """Return the positions of the same markers of the model, in the same frames [m]."""
        own = [self.model.markers[label] for label in self.observed.labels]
        rows = [
            [marker.body.station_position(state, marker.station) for marker in own]
            for state in self.trajectory
        ]
        values = np.array(rows).reshape(len(rows), len(own), 3)
        return evolve(self.observed, values=values)

    def animate(
        self, path: str | PathLike[str], *, most_frames: int = 300, progress: Progress = None
    ) -> Path:
        """Write the moving bodies with observed markers and markers of the model.

        Markers of the model are dark, observed ones are orange. The file is as `stagecache.animate`
        makes it: a page, or a GIF.

        Parameters
        ----------
        path : str or os.PathLike
            A name that ends in ".html" or ".gif".
        most_frames : int
            Of more frames, and of more than 50 a second, every second, third, ... is shown.
        progress : bool or rich.console.Console, optional
            Same as for `simulate`.

        Raises
        ------
        MissingExtraError
            viser is not installed (the extra `viewer`), or for a GIF matplotlib (`viz`).
        PictureError, OutOfRangeError, OSError
        """
        most = require_count(most_frames, 1, "IKResult.animate(most_frames=...)")
        times = self.observed.times
        rate = (len(times) - 1) / float(np.ptp(times)) if np.ptp(times) else 25.0
        step = max(1, ceil(len(times) / most), ceil(rate / FASTEST))
        rows = range(0, len(self.frames), step)
        own = [self.model.markers[label] for label in self.observed.labels]
        seen = {float(self.observed.times[row]): self.observed.values[row] for row in rows}

        def marks(state: State) -> list[DecorativePoint]:
            """Return points at the origin, moved: so a page has each of them once."""
            places = [marker.body.station_position(state, marker.station) for marker in own]
            there = seen[state.time][~np.isnan(seen[state.time]).any(axis=1)]
            found = [DecorativePoint(ORIGIN, translation=place) for place in places]
            return found + [DecorativePoint(ORIGIN, translation=p, color=OBSERVED) for p in there]

        return animate(
            self.model.system,
            (self.trajectory[row] for row in rows),
            path,
            extra=marks,
            title=lambda state: f"t = {state.time:.2f} s",
            frames_per_second=max(1.0, rate / step),
            progress=progress,
        )

    def __str__(self) -> str:
        text = f"{len(self.frames)} frames"
        if self.skipped:
            text += f", {len(self.skipped)} skipped"
        if self.worst is not None:
            worst = self.worst
            text += f": RMS {1e3 * self.rms:.3g} mm, largest {1e3 * worst.worst_error:.3g} mm"
            text += f" of {worst.worst!r} at t = {worst.time:.6g}"
        return f"{text}; {self.milliseconds:.3g} ms a frame"

    def __repr__(self) -> str:
        return f"IKResult({self.model.name!r}, {self})"


def inverse_kinematics(
    model: Model,
    markers: Table,
    *,
    weights: Mapping[str, float] | IKTasks | None = None,
    coordinates: Table | None = None,
    accuracy: float = ACCURACY,
    on_failure: Literal["raise", "skip"] = "raise",
    progress: Progress = None,
) -> IKResult:
    """Find the coordinates of a model in each frame from observed positions of its markers.

    Markers that the model does not have are not used. Clamped coordinates stay in their ranges, and
    locked ones where they are; constraints are satisfied.

    Parameters
    ----------
    model : Model
        As `load_osim` returns it.
    markers : Table
        Positions of markers in ground [m], as `read_trc` returns them.
    weights : mapping, or IKTasks, optional
        By marker; those that are not named have weight 1. Of `IKTasks`, those that are not named do
        not count, and tasks of coordinates count as well; frames outside of the time range are left
        out.
    coordinates : Table, optional
        Values for tasks of coordinates that are from a file [rad or m].
    accuracy : float
        Same as for `Assembler`.
    on_failure : str
        Same as for `Assembler.track_all`.
    progress : bool or rich.console.Console, optional
        Same as for `simulate`.

    Returns
    -------
    IKResult

    Raises
    ------
    WrongTypeError
    UnknownMarkerError
        A weight names a marker that the model does not have.
    UnknownItemError
        A task names a coordinate that the model, or the table, does not have.
    NoObservationError
        No marker of the model is observed.
    ObservationError
        The observations are not points, or their size is not plausible beside the model.
    ShapeError, NotANumberError, OutOfRangeError, UnknownChoiceError
    AssembleFailed, TrackFailed
    """
    require_type(
        model,
        Model,
        "inverse_kinematics(model): not a model",
        "a Model",
        "pass what load_osim() has returned",
    )
    require_type(
        markers,
        Table,
        "inverse_kinematics(markers): not a table",
        "a Table of points",
        "pass what read_trc() has returned, or Table(times, names, positions)",
    )
    if coordinates is not None:
        what = "inverse_kinematics(coordinates=...): not a table"
        require_type(coordinates, Table, what, "a Table", "pass what read_mot() has returned")
    tasks = _tasks_of(weights, model)
    used = _used(model, markers, tasks)
    observed = markers.columns(used).between(*tasks.time_range)
    _check_size(observed, model)
    assembler = Assembler(model.system, "inverse kinematics", accuracy=accuracy)
    observer = _observer(model, {name: tasks.markers[name] for name in used})
    assembler.add_goal(observer)
    assembler.system_constraints_weight = tasks.constraint_weight
    targets = _add_coordinates(assembler, model, tasks, coordinates, observed.times)
    observations: dict[AssemblyCondition, Array] = {observer: observed.values, **targets}
    state = model.system.in_assembly_coordinates(model.system.new_state())
    import stagecache.assembly.methods.assembling  # noqa: F401, PLC0415  # not a part of a frame

    start = perf_counter()
    trajectory = assembler.track_all(
        observed.times,
        observations,
        state=state,
        on_failure=on_failure,
        progress=progress,
    )
    seconds = perf_counter() - start
    skipped = assembler.failed_frames
    there = np.delete(np.arange(len(observed)), skipped)
    return IKResult(
        model,
        _coordinates_of(model, trajectory),
        evolve(observed, times=observed.times[there], values=observed.values[there]),
        _errors_of(trajectory, observed.values[there]),
        trajectory,
        skipped,
        tuple(label for label in markers.labels if label not in used),
        seconds,
    )


def _tasks_of(weights: Any, model: Model) -> IKTasks:
    """Return tasks; by default, all markers with weight 1."""
    if isinstance(weights, IKTasks):
        return weights
    given = checked_weights(weights, "inverse_kinematics(weights=...)")
    model._require_markers(given, "inverse_kinematics(weights=...)")
    return IKTasks({name: given.get(name, 1.0) for name in model.markers})


def _used(model: Model, markers: Table, tasks: IKTasks) -> list[str]:
    """Return the names of the markers that count, as the table has them."""
    if not markers.has_points:
        raise ObservationError(
            "inverse_kinematics(markers): not positions",
            "a Table of points (n, m, 3)",
            repr(markers),
            "pass what read_trc() has returned",
        )
    found = [
        label for label in markers.labels if label in model.markers and tasks.markers.get(label)
    ]
    if not found:
        known = [label for label in markers.labels if label in model.markers]
        raise NoObservationError(
            "inverse_kinematics(markers): no marker of the model is observed",
            "names of markers of the model: " + (listed(model.markers) or "it has none"),
            listed(markers.labels) or "no markers",
            "give some of them a weight" if known else "rename the markers, in one of both files",
        )
    return found


def _check_size(observed: Table, model: Model) -> None:
    """Refuse positions whose unit cannot be meters."""
    size, own = size_of(observed.values), model.size
    if len(observed.labels) < 3 or not size or own / IMPLAUSIBLE < size < own * IMPLAUSIBLE:
        return
    raise ObservationError(
        "inverse_kinematics(markers): their size is not plausible",
        f"positions in meters: markers about {own:.3g} apart, as in the model",
        f"{size:.3g} apart",
        "are they in mm? divide them by 1000, or read them by read_trc(path, unit='mm')",
    )


def _observer(model: Model, weights: dict[str, float]) -> Markers:
    """Return the observer of some markers, in the order of the table."""
    found = Markers()
    for name, weight in weights.items():
        marker = model.markers[name]
        found.add_marker(marker.body, marker.station, weight=weight, name=name)
    return found


def _add_coordinates(
    assembler: Assembler, model: Model, tasks: IKTasks, table: Table | None, times: Array
) -> dict[AssemblyCondition, Array]:
    """Add the tasks of coordinates as one condition; return its values in each frame."""
    for task in tasks.coordinates:
        if task.name not in model.coordinates:
            raise UnknownItemError(
                f"the task of coordinate {task.name!r}: it is not in model {model.name!r}",
                "one of " + (listed(model.coordinates) or "its coordinates; it has none"),
                repr(task.name),
                did_you_mean(task.name, model.coordinates) or "remove the task",
            )
    used = [task for task in tasks.coordinates if task.weight]
    if not used:
        return {}
    own = [model.coordinates[task.name] for task in used]
    values = np.column_stack(
        [_targets(task, one.default, table, times) for task, one in zip(used, own, strict=True)]
    )
    weights = np.array([task.weight for task in used])
    first = np.array([one.default for one in own])
    return {assembler.add_goal(CoordinateTargets(own, weights, first)): values}


def _targets(task: CoordinateTask, default: float, table: Table | None, times: Array) -> Array:
    """Return the values of a task, by frame."""
    if not task.is_from_file:
        return np.full(len(times), default if task.value is None else task.value)
    if table is None or task.name not in table:
        raise UnknownItemError(
            f"the task of coordinate {task.name!r}: its values are missing",
            "a table with a column of this name, as the task says from_file",
            "no table" if table is None else repr(table),
            "pass inverse_kinematics(coordinates=read_mot(path, model=model))",
        )
    found: Array = np.interp(times, table.times, table[task.name])
    return found


def _coordinates_of(model: Model, trajectory: Trajectory) -> Table:
    """Return the coordinates of all rows."""
    columns = [trajectory[c.body.q][:, c.index] for c in model.coordinates.values()]
    labels = list(model.coordinates)
    values = np.array(columns).T.reshape(len(trajectory), len(labels))
    units = [model.units.get(label, "") for label in labels]
    return Table(trajectory.times, labels, values, units, "Coordinates")


def _errors_of(trajectory: Trajectory, observed: Array) -> Table:
    """Return the numbers of each frame that say how well markers are met."""
    frames: Sequence[FrameResult] = trajectory.frames
    counts = (~np.isnan(observed).any(axis=2)).sum(axis=1)
    rows = [
        (count * frame.rms**2, frame.rms, frame.worst_error, frame.goal)
        for frame, count in zip(frames, counts.tolist(), strict=True)
    ]
    values = np.array(rows).reshape(len(rows), len(ERROR_LABELS))
    units = ("m^2", "m", "m", "")
    return Table(trajectory.times, ERROR_LABELS, values, units, "Model Marker Errors from IK")
