"""The public subject of OpenSim, beside OpenSim itself: python -m tests.models.comparison.

The environment variable STAGECACHE_OPENSIM names the folder that has `gait2354`, of the repository
opensim-models of OpenSim (Pipelines/Gait2354_Simbody), with its reference result as
`reference_ik.mot`. It needs the package opensim (the extra `oracles`). It prints the figures, with
the time that a frame takes in both: run it on an idle machine.
"""

import os
import tempfile
import warnings
from functools import cache
from pathlib import Path
from time import process_time
from typing import Any, Final

import numpy as np
from click import echo
from numpy.typing import NDArray

from stagecache.models import (
    IKResult,
    IKTasks,
    Model,
    ModelWarning,
    Table,
    inverse_kinematics,
    load_osim,
    read_ik_tasks,
    read_mot,
    read_trc,
)
from tests.models.opensim_results import each, imported, matrix_of, vector_of

VARIABLE: Final = "STAGECACHE_OPENSIM"
POSES: Final = 200
Array = NDArray[np.float64]


def folder() -> Path | None:
    """Return the folder of the subject, or None if it is not there."""
    found = Path(os.environ.get(VARIABLE, "")) / "gait2354"
    return found if VARIABLE in os.environ and found.is_dir() else None


def path_of(name: str) -> Path:
    """Return the path of one of its files."""
    found = folder()
    assert found is not None
    return found / name


@cache
def subject() -> Model:
    """Return the model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # muscles
        return load_osim(path_of("subject01_simbody.osim"), masses=False)


def trial() -> tuple[Table, IKTasks]:
    """Return the markers and the tasks."""
    tasks = read_ik_tasks(path_of("subject01_Setup_IK.xml"))
    return read_trc(path_of("subject01_walk1.trc")), tasks


def found() -> IKResult:
    """Return the result of inverse kinematics."""
    markers, tasks = trial()
    return inverse_kinematics(subject(), markers, weights=tasks)


def reference() -> Table:
    """Return the angles that OpenSim has found."""
    return read_mot(path_of("reference_ik.mot"), model=subject())


def differences(one: Table, other: Table) -> Array:
    """Return the differences of all angles [degrees]."""
    angles = [label for label, unit in zip(other.labels, other.units, strict=True) if unit == "rad"]
    np.testing.assert_allclose(one.times, other.times, atol=1e-3)  # rounded in one file
    gaps: Array = np.degrees(one.columns(angles).values - other.columns(angles).values)
    return gaps


def goals(model: Model, angles: Table, markers: Table, tasks: IKTasks) -> Array:
    """Return the goal of each frame at some coordinates, by its formula."""
    used = [
        label for label in markers.labels if tasks.markers.get(label) and label in model.markers
    ]
    weights = np.array([tasks.markers[label] for label in used])
    seen = markers.columns(used).values
    state, found = model.system.new_state(), []
    for q, places in zip(angles.values, seen, strict=True):
        for label, value in zip(angles.labels, q, strict=True):
            model.coordinates[label].set(state, value)
        own = model.marker_positions(state)
        squares = np.sum((np.array([own[label] for label in used]) - places) ** 2, axis=1)
        goal = 0.5 * weights @ squares / weights.sum()
        for task in tasks.coordinates:
            coordinate = model.coordinates[task.name]
            goal += 0.5 * task.weight * (coordinate(state) - coordinate.default) ** 2
        found.append(float(goal))
    return np.array(found)


# ---------------------------------------------------------------------- OpenSim


def forward_kinematics(poses: int = POSES) -> float:
    """Return the largest difference of body frames and markers from OpenSim's, at random poses."""
    opensim = imported()
    theirs = opensim.Model(str(path_of("subject01_simbody.osim")))
    their_state = theirs.initSystem()
    model = subject()
    state, rng, worst = model.system.new_state(), np.random.default_rng(0), 0.0
    for _ in range(poses):
        for coordinate in each(theirs.getCoordinateSet()):
            value = float(rng.uniform(-1.5, 1.5))
            coordinate.setValue(their_state, value, False)
            model.coordinates[coordinate.getName()].set(state, value)
        theirs.realizePosition(their_state)
        for body in each(theirs.getBodySet()):
            own = model.bodies[body.getName()].pose(state).matrix[:3]
            gap = own - np.array(matrix_of(body.getTransformInGround(their_state)))
            worst = max(worst, float(np.abs(gap).max()))
        places = model.marker_positions(state)
        for marker in each(theirs.getMarkerSet()):
            gap = places[marker.getName()] - vector_of(marker.getLocationInGround(their_state))
            worst = max(worst, float(np.abs(gap).max()))
    return worst


def opensim_angles() -> tuple[Table, float]:
    """Return what OpenSim's own tool finds now, and the time of a frame [ms of one core]."""
    opensim = imported()
    with tempfile.TemporaryDirectory() as results:
        tool: Any = opensim.InverseKinematicsTool(str(path_of("subject01_Setup_IK.xml")))
        model = opensim.Model(str(path_of("subject01_simbody.osim")))  # the tool does not keep it
        tool.setModel(model)
        tool.setMarkerDataFileName(str(path_of("subject01_walk1.trc")))
        tool.setResultsDir(results)
        tool.setOutputMotionFileName(str(Path(results) / "ik.mot"))
        before = process_time()
        tool.run()
        seconds = process_time() - before
        angles = read_mot(Path(results) / "ik.mot", model=subject())
    return angles, 1e3 * seconds / len(angles)


def main() -> None:
    """Print the figures."""
    if folder() is None:
        raise SystemExit(f"set {VARIABLE} to the folder that has gait2354")
    markers, tasks = trial()
    found()  # imports and first frames
    before = process_time()
    own = found()
    milliseconds = 1e3 * (process_time() - before) / len(own.frames)
    gaps = differences(own.coordinates, reference())
    rms, most = np.sqrt(np.mean(gaps**2)), np.abs(gaps).max()
    echo(f"reference .mot: RMS {rms:.4f} degrees, largest {most:.4f}")
    echo(f"forward kinematics at {POSES} poses: largest difference {forward_kinematics():.1e}")
    angles, theirs = opensim_angles()
    seen = markers.between(*tasks.time_range)
    ratio = goals(subject(), own.coordinates, seen, tasks) / goals(subject(), angles, seen, tasks)
    echo(f"goal by OpenSim's: largest {ratio.max():.8f}, least {ratio.min():.8f}")
    part = milliseconds / theirs
    echo(f"a frame: {milliseconds:.2f} ms, OpenSim {theirs:.2f} ms: {part:.3f}")


if __name__ == "__main__":
    main()
