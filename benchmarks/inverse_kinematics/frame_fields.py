"""What a file says of the frames, and what it has of them by others.

All functions raise ProblemFileError, ShapeError, NotANumberError and OutOfRangeError, which name
the field.
"""

import numpy as np

from benchmarks.inverse_kinematics.fields import Field
from benchmarks.inverse_kinematics.problem import Array, Frame
from benchmarks.inverse_kinematics.run import Run
from benchmarks.inverse_kinematics.tree_fields import number_of
from stagecache.errors import short_repr


def frames_of(top: Field, goal: Field | None, num_markers: int) -> tuple[Frame, ...]:
    """The frames of markers, and what else is wanted in them, which is the same for all."""
    value = None if goal is None else goal["value"].number()
    fields = top["frames"].items()
    if not fields:
        raise top["frames"].wrong("is empty", "a frame or more", "none")
    return tuple(
        Frame(field["t"].number(), value, _observations(field["observations"], num_markers))
        for field in fields
    )


def _observations(field: Field, num_markers: int) -> Array:
    """Where markers were seen; null, or a null among three numbers, is NaN."""
    found = np.full((num_markers, 3), np.nan)
    items = field.items()
    if len(items) != num_markers:
        expected = f"{num_markers}, one for each marker"
        raise field.wrong("has another length", expected, f"{len(items)}")
    for place, item in zip(found, items, strict=True):
        if item.value is None:
            continue
        numbers = item.items()
        if len(numbers) != len(place):
            raise item.wrong("has another length", "three numbers", short_repr(item.value))
        place[:] = [np.nan if n.value is None else n.number() for n in numbers]
    return found


def targets_of(top: Field, goal: Field | None) -> tuple[Frame, ...]:
    """The frames of a goal without markers: its value first, then those of the sweep."""
    if goal is None:
        return (Frame(),)
    sweep = top.get("sweep")
    targets = [] if sweep is None else [field["target"] for field in sweep.items()]
    return tuple(Frame(value=field.number()) for field in [goal["value"], *targets])


def runs_of(top: Field, num_frames: int, accuracy: float, tolerance: float) -> tuple[Run, ...]:
    """What others have got: `runs`, each with its accuracy, and `assemble` with `sweep`."""
    runs: list[Run] = []
    stored = top.get("runs")
    for field in [] if stored is None else stored.items():
        own = field["accuracy"].number(0.0)
        lines = field["frames"]
        runs.append(
            _run(lines, lines.items(), num_frames, own, number_of(field, "tolerance", own / 10))
        )
    first, sweep = top.get("assemble"), top.get("sweep")
    if first is not None:
        fields = [first, *([] if sweep is None else sweep.items())]
        runs.append(_run(first, fields, num_frames, accuracy, tolerance))
    return tuple(runs)


def _run(
    place: Field, fields: list[Field], num_frames: int, accuracy: float, tolerance: float
) -> Run:
    if len(fields) != num_frames:
        expected = f"{num_frames}, one for each frame"
        raise place.wrong("has another length", expected, f"{len(fields)}")

    def column(name: str) -> Array:
        """One number for each frame, if the first one has it."""
        if fields[0].get(name) is None:
            return np.zeros(0)
        return np.array([field[name].number() for field in fields])

    return Run(
        "Simbody",
        accuracy,
        tolerance,
        seconds=column("seconds"),
        goals=column("goal"),
        rms=column("rms"),
        errors=column("error_norm"),
    )
