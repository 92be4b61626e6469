"""A walking subject: joint angles from markers, with a model of OpenSim.

Run it: python -m stagecache.examples.walking_subject [OUTPUT FOLDER]

The model is a file .osim, as of a small leg model: a pelvis that moves freely, two thighs, shanks
with a knee whose axis slides while it bends, and feet. The trial is a file .trc of one second of
walking, filmed a hundred times a second with noise of 3 mm; a marker is hidden for a while. Inverse
kinematics finds the angles, which are written as a file .mot. All files are made here: replace them
by your own. With matplotlib, a GIF shows the walk.
"""

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from stagecache.errors import MissingExtraError
from stagecache.models import (
    IKResult,
    Model,
    Table,
    inverse_kinematics,
    load_osim,
    read_trc,
    write_mot,
)

Array = NDArray[np.float64]

FRAMES = 101
SECONDS = 1.0
NOISE = 0.003  # m
SPEED = 1.2  # m/s
HIDDEN = ("R.Knee", slice(40, 55))  # a marker, and in which frames

LINEAR = "<LinearFunction><coefficients>1 0</coefficients></LinearFunction>"
NOTHING = "<Constant><value>0</value></Constant>"
SLIDE = "<SimmSpline><x>-2 -1 -0.5 0 0.2</x><y>-0.003 0.004 0.001 0 -0.002</y></SimmSpline>"
AXES = ("0 0 1", "1 0 0", "0 1 0", "1 0 0", "0 1 0", "0 0 1")  # three turns, three slides

# Of each body: its markers, and where they are in its frame [m].
MARKERS = {
    "pelvis": {"R.ASIS": "0.02 0.03 0.13", "L.ASIS": "0.02 0.03 -0.13", "Sacrum": "-0.16 0.04 0"},
    "thigh_r": {"R.Thigh": "0.05 -0.2 0.06", "R.Knee": "0 -0.4 0.05"},
    "shank_r": {"R.Shank": "0.04 -0.2 0.05", "R.Ankle": "0 -0.42 0.04"},
    "foot_r": {"R.Heel": "-0.06 -0.04 0", "R.Toe": "0.16 -0.05 0.03"},
    "thigh_l": {"L.Thigh": "0.05 -0.2 -0.06", "L.Knee": "0 -0.4 -0.05"},
    "shank_l": {"L.Shank": "0.04 -0.2 -0.05", "L.Ankle": "0 -0.42 -0.04"},
    "foot_l": {"L.Heel": "-0.06 -0.04 0", "L.Toe": "0.16 -0.05 -0.03"},
}


# ---------------------------------------------------------------------- the files


def joint(
    name: str, parent: str, child: str, place: str, motions: dict[int, tuple[str, str]]
) -> str:
    """A CustomJoint: by number of its axis, the name of a coordinate, and a function of it."""
    coordinates = "".join(
        f'<Coordinate name="{c}"><range>-2 2</range></Coordinate>'
        for c in dict.fromkeys(coordinate for coordinate, _ in motions.values())
    )
    axes = ""
    for i, axis in enumerate(AXES):
        coordinate, function = motions.get(i, ("", NOTHING))
        kind = "rotation" if i < 3 else "translation"
        axes += f"""
          <TransformAxis name="{kind}{i % 3 + 1}">
            <coordinates>{coordinate}</coordinates><axis>{axis}</axis>
            <function>{function}</function>
          </TransformAxis>"""
    return f"""
      <CustomJoint name="{name}">
        <socket_parent_frame>parent</socket_parent_frame>
        <socket_child_frame>{child}</socket_child_frame>
        <coordinates>{coordinates}</coordinates>
        <frames>
          <PhysicalOffsetFrame name="parent">
            <socket_parent>{parent}</socket_parent><translation>{place}</translation>
          </PhysicalOffsetFrame>
        </frames>
        <SpatialTransform>{axes}
        </SpatialTransform>
      </CustomJoint>"""


def leg(side: str, z: str) -> str:
    """The joints of one leg."""
    names = [f"hip_{motion}_{side}" for motion in ("flexion", "adduction", "rotation")]
    hip = {i: (name, LINEAR) for i, name in enumerate(names)}
    knee = {0: (f"knee_{side}", LINEAR), 3: (f"knee_{side}", SLIDE)}
    ankle = {0: (f"ankle_{side}", LINEAR)}
    thigh, shank, foot = (f"/bodyset/{part}_{side}" for part in ("thigh", "shank", "foot"))
    return (
        joint(f"hip_{side}", "/bodyset/pelvis", thigh, f"-0.07 -0.07 {z}", hip)
        + joint(f"knee_{side}", thigh, shank, "0 -0.4 0", knee)
        + joint(f"ankle_{side}", shank, foot, "0 -0.42 0", ankle)
    )


def write_subject(path: Path) -> None:
    """The model, as OpenSim 4 writes one."""
    names = ("tilt", "list", "rotation", "tx", "ty", "tz")
    pelvis = {i: (f"pelvis_{name}", LINEAR) for i, name in enumerate(names)}
    joints = joint("pelvis", "/ground", "/bodyset/pelvis", "0 0 0", pelvis)
    joints += leg("r", "0.08") + leg("l", "-0.08")
    inertia = "<mass>1</mass><inertia>0.01 0.01 0.01 0 0 0</inertia>"
    bodies = "".join(f'\n      <Body name="{body}">{inertia}</Body>' for body in MARKERS)
    markers = "".join(
        f"""
      <Marker name="{name}">
        <socket_parent_frame>/bodyset/{body}</socket_parent_frame><location>{place}</location>
      </Marker>"""
        for body, own in MARKERS.items()
        for name, place in own.items()
    )
    path.write_text(
        f"""<?xml version="1.0" encoding="UTF-8" ?>
<OpenSimDocument Version="40000">
  <Model name="walker">
    <gravity>0 -9.80665 0</gravity>
    <BodySet><objects>{bodies}
    </objects></BodySet>
    <JointSet><objects>{joints}
    </objects></JointSet>
    <MarkerSet><objects>{markers}
    </objects></MarkerSet>
  </Model>
</OpenSimDocument>
""",
        encoding="utf-8",
    )


def true_angles(model: Model) -> Table:
    """The walk: the coordinates over time [rad and m]."""
    times = np.linspace(0.0, SECONDS, FRAMES)
    phase = 2.0 * np.pi * times
    columns = dict.fromkeys(model.coordinates, np.zeros(FRAMES))
    columns["pelvis_tx"] = SPEED * times
    columns["pelvis_ty"] = 0.95 + 0.02 * np.cos(2.0 * phase)
    columns["pelvis_list"] = 0.05 * np.sin(phase)
    columns["pelvis_rotation"] = 0.08 * np.cos(phase)
    for side, shift in (("r", 0.0), ("l", np.pi)):
        columns[f"hip_flexion_{side}"] = 0.1 + 0.4 * np.cos(phase + shift)
        columns[f"hip_adduction_{side}"] = 0.05 * np.sin(phase + shift)
        columns[f"knee_{side}"] = -0.5 + 0.45 * np.cos(phase + shift + 0.9)
        columns[f"ankle_{side}"] = 0.2 * np.sin(phase + shift)
    units = [model.units[name] for name in columns]
    return Table(times, [*columns], np.column_stack([*columns.values()]), units)


def write_trial(path: Path, model: Model) -> None:
    """The trial, as motion capture exports it: in millimeters, with gaps."""
    truth, state = true_angles(model), model.system.new_state()
    rng = np.random.default_rng(3)
    names = [*model.markers]
    seen = np.empty((FRAMES, len(names), 3))
    for row, values in enumerate(truth.values):
        for name, value in zip(truth.labels, values, strict=True):
            model.coordinates[name].set(state, value)
        seen[row] = [*model.marker_positions(state).values()]
    seen += rng.normal(scale=NOISE, size=seen.shape)
    marker, frames = HIDDEN
    seen[frames, names.index(marker)] = np.nan
    lines = [
        f"PathFileType\t4\t(X/Y/Z)\t{path.name}",
        "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits",
        f"100\t100\t{FRAMES}\t{len(names)}\tmm",
        "Frame#\tTime\t" + "\t\t\t".join(names),
        "\t\t" + "\t".join(f"{axis}{i + 1}" for i in range(len(names)) for axis in "XYZ"),
    ]
    for row, (time, places) in enumerate(zip(truth.times, seen, strict=True), 1):
        cells = ["" if np.isnan(x) else f"{1e3 * x:.4f}" for x in places.ravel()]
        lines.append("\t".join([f"{row}", f"{time:.3f}", *cells]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


# ---------------------------------------------------------------------- the angles


def find_angles(subject: Path, trial: Path) -> IKResult:
    """Find the angles in the files: this is all that you need for your own."""
    model = load_osim(subject, masses=False)
    markers = read_trc(trial)
    return inverse_kinematics(model, markers, weights={"R.Thigh": 0.3, "L.Thigh": 0.3})


def main(folder: Path) -> None:
    """Make the files, find the angles, and compare them with the true ones."""
    subject, trial, motion = folder / "walker.osim", folder / "walk.trc", folder / "walk.mot"
    write_subject(subject)
    write_trial(trial, load_osim(subject))
    found = find_angles(subject, trial)
    write_mot(motion, found.coordinates)
    print(f"wrote {subject.name}, {trial.name}, {motion.name}")

    print("\n-- How well are the markers met?")
    errors = found.errors
    print(f"{len(found.frames)} frames, RMS {1e3 * found.rms:.2f} mm, largest ", end="")
    print(f"{1e3 * errors['marker_error_max'].max():.1f} mm")
    hidden = np.isnan(found.observed["R.Knee"]).any(axis=1)
    print(f"R.Knee is hidden in {hidden.sum()} frames")

    print("\n-- How near are the angles to the true ones? [degrees]")
    truth = true_angles(found.model)
    for name in ("pelvis_tilt", "hip_flexion_r", "hip_rotation_r", "knee_r", "ankle_r"):
        gap = np.degrees(found.coordinates[name] - truth[name])
        print(f"{name:>15}: RMS {np.sqrt(np.mean(gap**2)):.2f}, largest {np.abs(gap).max():.2f}")

    print("\n-- What does it look like?")
    try:
        found.animate(folder / "walking_subject.gif", most_frames=25)
        print("wrote walking_subject.gif")
    except MissingExtraError as missing:
        print(missing)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
