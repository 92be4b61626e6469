"""Inverse kinematics of many frames: the first is assembled, the others are tracked."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stagecache.assembly.abstract_prepared import AbstractPrepared
from stagecache.assembly.conditions.condition import AssemblyCondition
from stagecache.errors import (
    AssemblyError,
    ObservationError,
    OutOfRangeError,
    UnknownChoiceError,
    WrongTypeError,
    short_repr,
)
from stagecache.state.handles import Vector
from stagecache.state.state import State
from stagecache.state.vectors.conversion import FLOAT, converted
from stagecache.study.progress import Progress, ProgressBar, check_progress
from stagecache.study.trajectory.trajectory import Trajectory

MOST_NAMED = 20
"""Frames that a warning names."""

SKIPPING = "with on_failure='skip', frames that fail have no row, and the others are found"
"""The note on an error for which that is so."""


def track_frames(
    assembler: AbstractPrepared,
    assemble: Callable[[float], object],
    track: Callable[[float], object],
    times: ArrayLike,
    observations: Mapping[AssemblyCondition, Any] | ArrayLike,
    state: State | None,
    on_failure: str,
    progress: Progress,
    failures: list[int],
) -> Trajectory:
    """Assemble the first frame and track the others, as `Assembler.track_all` says.

    The list becomes that of the frames that were left out.
    """
    if on_failure not in ("raise", "skip"):
        raise UnknownChoiceError(
            "track_all(on_failure=...): is no way of working",
            "'raise' or 'skip'",
            short_repr(on_failure),
            "write 'skip' to leave out frames that fail, and be warned",
        )
    check_progress(progress)
    frames = _checked_times(times)
    observed = _by_condition(assembler, observations, len(frames))
    if state is not None:
        assembler.set_internal_state(state)
    row = (assembler.internal_state if state is None else state).copy()
    trajectory = Trajectory(row)
    is_warm = False
    failures.clear()
    begin, end = (frames[0], frames[-1]) if len(frames) else (0.0, 0.0)
    with ProgressBar(assembler.name, float(begin), float(end), progress) as bar:
        for i, time in enumerate(frames.tolist()):
            try:
                for condition, values in observed.items():
                    condition.move_all_observations(values[i])
                (track if is_warm else assemble)(time)
            except Exception as error:
                is_warm = False
                may_be_skipped = isinstance(error, AssemblyError | ObservationError)
                if on_failure == "raise" or not may_be_skipped:
                    error.add_note(f"in frame {i} of {len(frames)}, at t = {time:.9g}")
                    if may_be_skipped:
                        error.add_note(SKIPPING)
                    raise
                failures.append(i)
            else:
                is_warm = True
                row.time = time
                assembler.update_from_internal_state(row)
                trajectory.append(row)
            bar.show(time)
    if failures:
        shown = ", ".join(map(str, failures[:MOST_NAMED]))
        more = f" and {len(failures) - MOST_NAMED} more" if len(failures) > MOST_NAMED else ""
        warnings.warn(
            f"{assembler.name}: {len(failures)} of {len(frames)} frames failed and have no row: "
            f"{shown}{more}; see failed_frames",
            RuntimeWarning,
            stacklevel=3,
        )
    return trajectory


def _checked_times(times: ArrayLike) -> Vector:
    """The times of frames: finite, and ascending."""
    found: Vector = converted(times, FLOAT, None, "track_all(times)")
    if found.ndim == 1 and np.isfinite(found).all() and (np.diff(found) >= 0).all():
        return found
    raise OutOfRangeError(
        "track_all(times): are no times of frames",
        "finite numbers, in ascending order, one for each frame",
        f"{short_repr(times)}, of shape {found.shape}",
        "sort the frames, and leave out those without a time",
    )


def _by_condition(
    assembler: AbstractPrepared, observations: Any, num_frames: int
) -> dict[AssemblyCondition, Any]:
    """What each condition observes, by frame."""
    if isinstance(observations, Mapping):
        found = {c: _frames(values) for c, values in observations.items()}
    else:
        observing = [c for c in assembler.conditions if c.observes]
        if len(observing) != 1:
            raise ObservationError(
                "track_all(observations): do not say what observes them",
                "a dict of conditions and arrays; an array where one condition observes",
                f"an array, and {len(observing)} conditions that observe: "
                + (", ".join(repr(c.name) for c in observing) or "none"),
                "write {markers: positions}",
            )
        found = {observing[0]: _frames(observations)}
    for condition, values in found.items():
        if not isinstance(condition, AssemblyCondition):
            raise WrongTypeError(
                f"track_all(observations): {short_repr(condition)} is no condition",
                "conditions as keys, and arrays as values",
                f"an object of type {type(condition).__name__}",
                "write {markers: positions}",
            )
        assembler.condition_weight(condition)  # which refuses one that was not added
        if len(values) != num_frames:
            raise ObservationError(
                f"track_all(observations): condition {condition.name!r} has another number of "
                "frames",
                f"{num_frames} frames, a time for each",
                f"{len(values)}",
                "give an array whose first dimension is that of the frames",
            )
    return found


def _frames(values: Any) -> Any:
    """Observations, one after the other."""
    try:
        len(values)
    except TypeError:
        raise ObservationError(
            "track_all(observations): are no observations of frames",
            "an array whose first dimension is that of the frames",
            short_repr(values),
            "give a sequence of what is observed in each frame",
        ) from None
    return values
