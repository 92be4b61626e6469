"""Frames of `Assembler.track_all`: times, observations, and frames that fail."""

import warnings
from collections.abc import Mapping
from math import nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stagecache.assembly.conditions.condition import AssemblyCondition
from stagecache.assembly.conditions.q_value import QValue
from stagecache.assembly.results import AssemblyResult, FrameResult
from stagecache.errors import AssemblyError, ObservationError, OutOfRangeError, short_repr
from stagecache.state.handles import Vector
from stagecache.state.state import State
from stagecache.state.vectors.conversion import FLOAT, converted

MOST_NAMED = 20
"""Number of frames that a warning names."""

SKIPPING = "with on_failure='skip', frames that fail have no row, and the others are found"


def checked_times(times: ArrayLike) -> Vector:
    """Return the times of frames, which are finite and ascending."""
    found: Vector = converted(times, FLOAT, None, "track_all(times)")
    if found.ndim == 1 and np.isfinite(found).all() and (np.diff(found) >= 0).all():
        return found
    raise OutOfRangeError(
        "track_all(times): not times of frames",
        "finite numbers, in ascending order, one for each frame",
        f"{short_repr(times)}, of shape {found.shape}",
        "sort the frames, and leave out those without a time",
    )


def by_condition(
    assembler: Any, observations: Any, num_frames: int
) -> dict[AssemblyCondition, Any]:
    """Return the observations of each condition, frame by frame."""
    if isinstance(observations, Mapping):
        found = {c: _frames(values) for c, values in observations.items()}
    else:
        observing = [c for c in assembler.conditions if c.observes]
        if len(observing) > 1:  # values of q are targets that may stay the same
            observing = [c for c in observing if not isinstance(c, QValue)] or observing
        if len(observing) != 1:
            raise ObservationError(
                "track_all(observations): not clear which condition observes them",
                "a dict of conditions and arrays; an array where one condition observes",
                f"an array, and {len(observing)} conditions that observe: "
                + (", ".join(repr(c.name) for c in observing) or "none"),
                "write {markers: positions}",
            )
        found = {observing[0]: _frames(observations)}
    for condition, values in found.items():
        assembler.condition_weight(condition)  # which refuses all but conditions that were added
        if len(values) != num_frames:
            raise ObservationError(
                f"track_all(observations): condition {condition.name!r} has another number of "
                "frames",
                f"{num_frames} frames, a time for each",
                f"{len(values)}",
                "give an array whose first dimension counts the frames",
            )
    return found


def frame_result(
    result: AssemblyResult, conditions: tuple[AssemblyCondition, ...], state: State
) -> FrameResult:
    """Return the result of a frame, with distances of all markers that count."""
    names: list[str] = []
    distances: list[float] = []
    for condition in conditions:
        found = condition.marker_distances(state)
        if found is not None:
            names += found[0]
            distances += found[1].tolist()
    if not distances:
        return FrameResult(result, nan, "", nan)
    worst = max(range(len(distances)), key=distances.__getitem__)
    rms = sqrt(sum(d * d for d in distances) / len(distances))
    return FrameResult(result, rms, names[worst], distances[worst])


def _frames(values: Any) -> Any:
    """Return observations that can be counted, frame by frame."""
    try:
        len(values)
    except TypeError:
        raise ObservationError(
            "track_all(observations): not observations of frames",
            "an array whose first dimension counts the frames",
            short_repr(values),
            "give a sequence with the observations of each frame",
        ) from None
    return values


def is_skipped(error: Exception, on_failure: str, frame: int, count: int, time: float) -> bool:
    """Return True if the frame with this error is to be skipped; else note its number on it."""
    may_be_skipped = isinstance(error, AssemblyError | ObservationError)
    if on_failure == "skip" and may_be_skipped:
        return True
    error.add_note(f"in frame {frame} of {count}, at t = {time:.9g}")
    if may_be_skipped:
        error.add_note(SKIPPING)
    return False


def warn_of_skipped(name: str, frames: tuple[int, ...], count: int) -> None:
    """Warn the caller of `track_all` that some frames failed and have no row."""
    shown = ", ".join(map(str, frames[:MOST_NAMED]))
    more = f" and {len(frames) - MOST_NAMED} more" if len(frames) > MOST_NAMED else ""
    warnings.warn(
        f"{name}: {len(frames)} of {count} frames failed and have no row: "
        f"{shown}{more}; see failed_frames",
        RuntimeWarning,
        stacklevel=3,
    )
