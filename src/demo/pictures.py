"""The files of the demonstration: the page of its graph, a plot, and an animation."""

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import click
import numpy as np

from stagecache.checks import require_extra
from stagecache.decorations import DecorativeLine
from stagecache.demo.turn import Demonstration, Vector, gauge_of
from stagecache.examples.four_bar import ROCKER, closed_form
from stagecache.pictures.animation import animate
from stagecache.pictures.drawing import draw
from stagecache.pictures.scene import View
from stagecache.state import State

PAGE: Final = "four_bar.html"
PLOT: Final = "four_bar.png"
ANIMATION: Final = "four_bar.gif"
SCENE: Final = "four_bar_3d.html"

FRONT: Final[View] = (0.0, 0.0)
"""Point of view on the plane of the linkage, x to the right and y upwards."""

MOST_FRAMES: Final = 60  # of the animation
FRAMES_PER_SECOND: Final = 20.0
MOST_SEGMENTS: Final = 360  # of a curve
GHOSTS: Final = 6  # positions that are shown faintly in the plot

_CURVE: Final = (0.55, 0.35, 0.65)
_FAINT: Final = 0.25  # opacity
_INCHES: Final = (11.0, 5.0)
_LEFT: Final = (0.05, 0.08, 0.42, 0.84)
_RIGHT: Final = (0.56, 0.12, 0.41, 0.78)
_DPI: Final = 120


def made_folder(folder: Path) -> None:
    """Make a folder, if it is not there.

    Raises
    ------
    click.FileError
    """
    _writing(folder, lambda: folder.mkdir(parents=True, exist_ok=True))


def write_page(found: Demonstration, path: Path) -> None:
    """Write the page of the graph, with what the turn with a trace has cost.

    Raises
    ------
    click.FileError
    """
    page = found.graph.with_costs(found.summary.rows).to_html()
    _writing(path, lambda: path.write_text(page, encoding="utf-8"))


def check_matplotlib() -> None:
    """Check that pictures can be written.

    Raises
    ------
    MissingExtraError
    """
    require_extra("matplotlib.figure", "viz", "the plot and the animation")


def write_pictures(found: Demonstration, folder: Path) -> Iterator[tuple[str, str]]:
    """Write the plot and the animation; yield the name and the subject of each when it is written.

    The animation is written as a page in three dimensions, too, where viser is installed.

    Raises
    ------
    click.FileError
    """
    plot, animation = folder / PLOT, folder / ANIMATION
    figure = plotted(found)
    _writing(plot, lambda: figure.savefig(plot, dpi=_DPI))
    yield PLOT, "positions, the curve of a coupler point, and angles"
    _writing(animation, lambda: _animate(found, animation))
    yield ANIMATION, "the turn"
    if find_spec("viser") is not None:
        scene = folder / SCENE
        _writing(scene, lambda: _animate(found, scene))
        yield SCENE, "the turn in three dimensions, for a browser"


def plotted(found: Demonstration) -> Any:
    """Draw some positions with the curve of the coupler point, and angles over the crank angle.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure = require_extra("matplotlib.figure", "viz", "the plot").Figure(
        figsize=_INCHES, facecolor="white"
    )
    linkage = figure.add_axes(_LEFT, projection="3d")
    state = found.start.copy()
    every = max(1, round(found.num_frames / GHOSTS))
    state.q = found.turn.q[every // 2]
    others = found.turn.q[every + every // 2 :: every]
    ghosts = [line for q in others for line in _bars(found, q)]
    curve = curve_of(found.turn.points)
    draw(found.system, state, linkage, extra=lambda _: ghosts + curve, view=FRONT)
    linkage.set_title("positions, and the curve of a coupler point")

    axes = figure.add_axes(_RIGHT)
    crank, coupler, rocker = np.degrees(found.turn.angles).T
    exact = [np.degrees(angle) for angle in closed_form(np.radians(crank))]
    axes.plot(crank, rocker, color="#408c4d", label="rocker")
    axes.plot(crank, coupler, color="#3366bf", label="coupler")
    axes.plot(crank, exact[0], ":k", crank, exact[1], ":k", linewidth=1)
    axes.plot([], [], ":k", linewidth=1, label="closed form")
    axes.set(xlabel="angle of the crank [deg]", ylabel="angle [deg]", xlim=(0, 360))
    axes.set_xticks(range(0, 361, 60))
    axes.grid(alpha=0.3)
    axes.legend()
    axes.set_title("angles over the angle of the crank")
    return figure


def curve_of(points: Vector) -> list[DecorativeLine]:
    """A line through points, (n, 3), or through enough of them, in equal steps."""
    steps = min(len(points) - 1, MOST_SEGMENTS)
    shown = points[np.linspace(0, len(points) - 1, steps + 1).round().astype(int)]
    return [DecorativeLine(*ends, color=_CURVE, line_width=1.0) for ends in pairwise(shown)]


def _bars(found: Demonstration, q: Vector) -> list[DecorativeLine]:
    """Return faint lines from joint to joint that show another position."""
    state = found.start.copy()
    state.q = q
    bars = gauge_of(found.system).bars
    joints = [bar.pose(state).translation for bar in bars]
    joints.append(bars[-1].station_position(state, (ROCKER, 0.0, 0.0)))
    return [
        DecorativeLine(*pair, color=(0.3, 0.3, 0.3), opacity=_FAINT, line_width=2.0)
        for pair in pairwise(joints)
    ]


def _animate(found: Demonstration, path: Path) -> None:
    gauge = gauge_of(found.system)
    count = min(found.num_frames, MOST_FRAMES)
    frames = np.linspace(0, found.num_frames, count, endpoint=False).astype(int)
    curve = curve_of(found.turn.points)

    def states() -> Iterator[State]:
        state = found.start.copy()
        for q in found.turn.q[frames]:
            state.q = q
            yield state

    animate(
        found.system,
        states(),
        path,
        frames_per_second=FRAMES_PER_SECOND,
        extra=lambda _: curve,
        title=lambda state: f"crank at {np.degrees(gauge.angles(state)[0]):.0f}°",
        view=FRONT,
    )


def _writing(path: Path, write: Callable[[], object]) -> None:
    """Write a file or folder; name it in the error if that fails."""
    try:
        write()
    except OSError as error:
        raise click.FileError(str(path), error.strerror or str(error)) from error
