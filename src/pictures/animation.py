"""Animations: a System in a sequence of States, as a GIF."""

from collections.abc import Callable, Iterable
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, Final

import numpy as np

from stagecache.checks import require_callable, require_extra, require_number
from stagecache.errors import PictureError, WrongTypeError, short_repr
from stagecache.pictures.drawing import (
    INCHES,
    Extra,
    View,
    check_look,
    new_axes,
    paint,
    parts_of,
    set_up,
)
from stagecache.pictures.parts import PictureParts
from stagecache.progress import Progress, ProgressBar, check_progress
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.core.system import System

FRAMES_PER_SECOND: Final = (0.1, 100.0)  # a GIF has hundredths of a second
PIXELS: Final = (64, 4096)

Title = Callable[[State], str]


def animate(
    system: System,
    states: Iterable[State],
    path: str | PathLike[str],
    *,
    frames_per_second: float = 25.0,
    stage: Stage = Stage.POSITION,
    extra: Extra | None = None,
    title: Title | None = None,
    view: View | None = None,
    pixels: int = 480,
    progress: Progress = None,
) -> Path:
    """Write a GIF with a frame for each State, as `draw` draws it, by matplotlib.

    All frames have the same limits, so all States are looked at before the first frame is drawn.
    Cost of a frame some 0.1 s, and memory for all frames until the file is written. Equal frames
    are stored once, and shown for longer.

    Parameters
    ----------
    system : System
    states : iterable of State
        A list, a `Trajectory`, or a generator, which may give one State again and again: each is
        drawn as it is at its turn. They are realized to `stage`.
    path : str or os.PathLike
        A file of that name is replaced. It ends in ".gif".
    frames_per_second : float
        From 0.1 to 100. A GIF rounds the time between frames to hundredths of a second.
    stage, extra, view
        Same as for `draw`.
    title : callable, optional
        Returns the title of the frame of a State.
    pixels : int
        Width and height, from 64 to 4096.
    progress : bool or rich.console.Console, optional
        Same as for `simulate`.

    Returns
    -------
    pathlib.Path
        Path of the file.

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.
    WrongTypeError, ForeignStateError, TopologyVersionError, StageOutOfRangeError
        An item is not a State of the System; a note names the frame.
    WrongTypeError, NotANumberError, OutOfRangeError
    PictureError
        The States are empty, the folder does not exist, or the path does not end in ".gif"; and as
        `draw`.
    OSError
        The file cannot be written.
    Exception
        Any exception of a hook, a computation, `extra` or `title`. Nothing is written then.

    Examples
    --------
    >>> from stagecache import animate, simulate
    >>> trajectory = simulate(system, state, 2.0, every=0.04)  # doctest: +SKIP
    >>> animate(system, trajectory, "arm.gif")  # doctest: +SKIP
    """
    stage = check_look("animate()", system, stage, extra, view)
    check_progress(progress)
    if title is not None:
        expected = "a function of a State that returns a text"
        hint = "for a title that stays the same: title=lambda state: 'arm'"
        require_callable(title, "animate(title=...)", expected, hint)
    file = _checked_path(path)
    least, most = FRAMES_PER_SECOND
    what = "animate(frames_per_second=...)"
    rate = require_number(frames_per_second, what, least=least, most=most)
    least, most = PIXELS
    dots_per_inch = require_number(pixels, "animate(pixels=...)", least=least, most=most) / INCHES
    figures = require_extra("matplotlib.figure", "viz", "animate()")
    writers = require_extra("matplotlib.animation", "viz", "animate()")
    frames = _frames(system, states, stage, extra, title)

    ax = new_axes(figures.Figure(figsize=(INCHES, INCHES)))
    set_up(ax, system, np.concatenate([parts.corners() for parts, _ in frames]), view)
    writer = writers.PillowWriter(fps=rate)
    writer.setup(
        ax.figure, file, dots_per_inch
    )  # not `saving`, which writes what there is if one fails
    bar = ProgressBar(f"writing {file.name}", 0.0, len(frames), progress, counted="frame")
    with bar, import_module("matplotlib").rc_context({"savefig.bbox": None}):  # one size for all
        for number, (parts, text) in enumerate(frames, 1):
            shown = paint(ax, parts)
            ax.set_title(text, parse_math=False)
            writer.grab_frame()
            for artist in shown:
                artist.remove()
            bar.show(number)
    writer.finish()
    return file


def _frames(
    system: System, states: Any, stage: Stage, extra: Extra | None, title: Title | None
) -> list[tuple[PictureParts, str]]:
    """Return the parts to draw of each State, and its title."""
    if isinstance(states, State) or not isinstance(states, Iterable):
        raise WrongTypeError(
            "animate(): has no States",
            "a list of States, a Trajectory, or a generator of States",
            short_repr(states),
            "of one State, draw() makes a picture",
        )
    found: list[tuple[PictureParts, str]] = []
    try:
        for state in states:
            parts = parts_of(system, state, stage, extra)
            found.append((parts, "" if title is None else str(title(state))))
    except Exception as error:
        error.add_note(f"in frame {len(found)} of an animation, counted from 0")
        raise
    if not found:
        raise PictureError(
            "animate(): has no States",
            "one State or more",
            "none",
            "pass a list or a Trajectory that is not empty",
        )
    return found


def _checked_path(path: Any) -> Path:
    try:
        file = Path(path)
    except TypeError:
        file = Path()
    if file.suffix.lower() != ".gif":
        raise PictureError(
            "animate(): writes GIFs only",
            "a path that ends in .gif",
            short_repr(path),
            "give it that ending; for other forms, call draw() for each State",
        )
    if file.is_dir() or not file.parent.is_dir():
        raise PictureError(
            f"animate(): cannot write {file.name}",
            "a file in a folder that exists",
            f"{file}, which is a folder"
            if file.is_dir()
            else f"{file.parent}, which is not a folder",
            "make the folder first, or name another file",
        )
    return file
