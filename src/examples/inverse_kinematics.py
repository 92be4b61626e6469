"""Inverse kinematics: the angles of a chain, from the observed positions of markers on it.

Run it: python -m stagecache.examples.inverse_kinematics [OUTPUT FOLDER]

A chain of twenty ball joints hangs from the ceiling, slightly folded, and swings. A camera sees ten
markers on it, a hundred times a second, with noise of 2 mm; one marker is hidden for a while. An
Assembler finds the chain in the first frame, and tracks it through the others. The chain has sixty
angles, and a frame has thirty numbers, so many positions fit; the Assembler finds one that is near
to the last. A GIF shows the chain, its markers, and their observed positions.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from stagecache import (
    Assembler,
    State,
    Trajectory,
    animate,
)
from stagecache.decorations import (
    AbstractDecoration,
)
from stagecache.errors import MissingExtraError
from stagecache.multibody import Ball, Markers, MultibodySystem, Transform, with_euler_angles

Vector = NDArray[np.float64]

LINKS = 20
LENGTH = 0.2  # of a link, m
CEILING = (0.0, 4.2, 0.0)  # m
FRAMES = 100
STEP = 0.01  # s
NOISE = 0.002  # m
BEND = 0.6  # rad, of each joint at rest, to the left and to the right in turn
SWING = 0.2  # rad, about each axis, to both sides of that, at most
HIDDEN = (6, slice(40, 60))  # a marker, and in which frames


def make_chain() -> MultibodySystem:
    """The model."""
    system = MultibodySystem(name="chain")
    link = system.matter.ground
    place = CEILING
    for i in range(LINKS):
        frame = Transform(None, place)
        link = system.matter.add_body(f"link {i}", link, Ball(), inboard_frame=frame)
        place = (0.0, -LENGTH, 0.0)
    return system


def add_markers(system: MultibodySystem) -> Markers:
    """A marker on every second link, beside its middle; those further down count more."""
    markers = Markers()
    for i, link in enumerate(system.matter.bodies[2::2]):
        place = [0.03, -LENGTH / 2, 0.0]
        markers.add_marker(link, place, weight=1.0 + i / 10, name=f"{i}")
    return markers


def at_rest(system: MultibodySystem) -> State:
    """The chain at rest, in a zigzag, with a quaternion for each joint."""
    state = system.new_state()
    for i, link in enumerate(system.matter.bodies[1:]):
        half = BEND / (2 if i else 4) * (-1) ** i  # of the angle about z
        link.q.set(state, [np.cos(half), 0.0, 0.0, np.sin(half)])
    return state


def film(system: MultibodySystem, markers: Markers) -> tuple[Vector, Vector]:
    """Let the chain swing: the times of the frames (n,), and what is seen of markers (n, m, 3)."""
    rng = np.random.default_rng(20)
    lowest, highest = [0.2 * SWING, 2.0, 0.0], [SWING, 6.0, 2.0 * np.pi]
    size, speed, phase = rng.uniform(lowest, highest, (3 * LINKS, 3)).T
    state = with_euler_angles(system.matter, at_rest(system))
    rest = state.q.copy()
    times = np.linspace(0.0, STEP * (FRAMES - 1), FRAMES)
    places: list[Vector] = []
    for time in times:
        state.q = rest + size * np.sin(speed * time + phase)
        places.append(markers.current_positions(state))
    seen = np.array(places)
    seen += rng.normal(scale=NOISE, size=seen.shape)
    marker, frames = HIDDEN
    seen[frames, marker] = np.nan
    return times, seen


def distances(markers: Markers, states: Sequence[State], seen: Vector) -> Vector:
    """Distances of markers from where they were seen, (frames, markers) [m]; NaN where hidden."""
    found = np.array([markers.current_positions(state) for state in states])
    gaps: Vector = np.linalg.norm(found - seen, axis=2)
    return gaps


def summarize(gaps: Vector) -> None:
    """Print how well the frames are met."""
    rms = 1e3 * np.sqrt(np.nanmean(gaps**2, axis=1))
    worst = int(np.argmax(rms))
    print(f"RMS of a frame: mean {rms.mean():.4f} mm, largest {rms[worst]:.4f} mm in frame {worst}")
    print(f"largest distance of a marker: {1e3 * np.nanmax(gaps):.4f} mm")


def write_gif(trajectory: Trajectory, markers: Markers, seen: Vector, path: Path) -> None:
    """Every fourth frame, with what was seen in it."""

    def show(state: State) -> list[AbstractDecoration]:
        markers.move_all_observations(seen[round(state.time / STEP)])
        return markers.calc_decorations(state)

    states = [trajectory[i] for i in range(0, len(trajectory), 4)]
    animate(trajectory.system, states, path, extra=show, title=lambda s: f"t = {s.time:.2f} s")
    print("wrote", path.name)


def main(folder: Path) -> None:
    """Film the chain, find its angles, and look at what that took."""
    system = make_chain()
    markers = add_markers(system)
    times, seen = film(system, markers)
    hidden = int(np.isnan(seen).any(axis=2).sum())
    print(f"{len(times)} frames of {seen.shape[1]} markers; {hidden} observations are missing")

    assembler = Assembler(system)
    assembler.add_goal(markers)
    state = at_rest(system)
    start = perf_counter()
    trajectory = assembler.track_all(times, {markers: seen}, state=state)
    seconds = perf_counter() - start

    print(f"\n-- How well is it met? ({assembler.num_free_qs} angles are free)")
    print("at rest, ", end="")
    summarize(distances(markers, [state] * len(times), seen))
    print("tracked, ", end="")
    summarize(distances(markers, [trajectory[i] for i in range(len(trajectory))], seen))

    print(f"\n-- What did it take? ({1e3 * seconds / len(times):.1f} ms for a frame)")
    print(assembler.statistics)

    print("\n-- What does another frame compute?")
    markers.move_all_observations(seen[-2])
    with assembler.internal_state.trace() as trace:
        result = assembler.track(times[-2])
    print(result)
    for row in trace.summary().rows:
        if row.computed:
            print(f"{row.entry:>20}: {row.computed} times")

    print("\n-- What does it look like?")
    try:
        write_gif(trajectory, markers, seen, folder / "inverse_kinematics.gif")
    except MissingExtraError as missing:
        print(missing)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
