"""Pictures of a System in a State: its decorations, on three-dimensional axes of matplotlib."""

from importlib import import_module
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from stagecache.checks import require_extra
from stagecache.errors import PictureError, short_repr
from stagecache.pictures.parts import PictureParts
from stagecache.pictures.scene import (
    Extra,
    View,
    angles_of,
    box_of,
    check_look,
    directions_of,
    parts_of,
)
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.core.system import System

Array = NDArray[np.float64]

INCHES: Final = 6.0  # of a new figure

_POINT_SIZE: Final = 4.0  # of a point, for a line_width of 1, in points of 1/72 inch
_PANE: Final = (0.50, 0.57, 0.66, 0.07)  # so that the background of a style is seen through it
_END_ON: Final = 0.999  # the cosine to the line of sight, from which on an axis is left out
_LEVEL: Final = 0.01  # degrees: exactly from the side, labels are at the top
_FILLED: Final = 0.8  # how much of the axes is filled, by what matplotlib takes for 1
_CLOSEST: Final = 1.3  # of zooms; there is to be room for labels
_TICKS: Final = 6  # along the longest side, at most
_PLACE: Final = (0.03, 0.03, 0.92, 0.92)  # of axes on a figure


def draw(
    system: System,
    state: State,
    ax: Any = None,
    *,
    stage: Stage = Stage.POSITION,
    extra: Extra | None = None,
    view: View | None = None,
) -> Any:
    """Draw all decorations of a System with matplotlib.

    Its `up_direction` points upwards, and with `use_uniform_background`, no axes are shown. Lengths
    are the same along x, y and z. Lines are drawn over faces, and points over lines, also where
    they are behind. A line width of 1 is 1/72 inch. Background and letters are those of
    the style that matplotlib has.

    Parameters
    ----------
    system : System
    state : State
        It is realized to `stage`, if it is not yet.
    ax : matplotlib.axes.Axes, optional
        Axes in three dimensions, whose limits are set. The default is on a new figure.
    stage : Stage
        Topology to Report: the decorations up to this stage are drawn.
    extra : callable, optional
        Returns more decorations in the ground frame for a State.
    view : (float, float), optional
        Elevation and azimuth of the viewer [degrees]. The azimuth is 0 on the axis that comes after
        the one that points upwards, as x after z. To see the plane of x and y, with x to the right,
        take (90, -90) where z points upwards, and (0, 0) where y does.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.
    WrongTypeError, ForeignStateError, TopologyVersionError, StageOutOfRangeError
    WrongTypeError
        Not a decoration.
    WrongTypeError, PictureError
        `extra` cannot be called; the axes are flat, the view is not a pair of angles, or a
        decoration is more than 1e100 m away.
    Exception
        Any exception of a hook, a computation or `extra`.

    Examples
    --------
    >>> from stagecache import draw
    >>> from stagecache.multibody import MultibodySystem, Pin
    >>> system = MultibodySystem()
    >>> arm = system.matter.add_body("arm", system.matter.ground, Pin())
    >>> ax = draw(system, system.new_state())  # doctest: +SKIP
    >>> ax.figure.savefig("arm.png")  # doctest: +SKIP
    """
    stage = check_look("draw()", system, stage, extra, view)
    if ax is not None and not hasattr(ax, "set_zlim"):
        raise PictureError(
            "draw(ax=...): not axes in three dimensions",
            "axes in three dimensions",
            short_repr(ax),
            "make them by figure.add_subplot(projection='3d'), or leave them out",
        )
    pyplot = require_extra("matplotlib.pyplot", "viz", "draw()")
    parts = parts_of(system, state, stage, extra)
    if ax is None:
        ax = new_axes(pyplot.figure(figsize=(INCHES, INCHES)))
    set_up(ax, system, parts.corners(), view)
    paint(ax, parts)
    return ax


def new_axes(figure: Any) -> Any:
    """Return three-dimensional axes that fill a figure."""
    return figure.add_axes(_PLACE, projection="3d")


def set_up(ax: Any, system: System, corners: Array, view: View | None) -> None:
    """Set limits for points (n, 3), equal lengths along all axes, and the point of view."""
    middle, spans = box_of(corners)
    look = np.abs(_look(ax, system, view))
    end_on = look[2] > _END_ON
    seen = float((look[:2] @ spans).max() / np.linalg.norm(spans))
    ax.set_proj_type("ortho")
    ax.set_box_aspect(tuple(spans), zoom=min(_CLOSEST, _FILLED / seen))  # no array: it is changed
    ax.computed_zorder = False
    tickers = import_module("matplotlib.ticker")
    for name, center, span, is_hidden in zip("xyz", middle, spans, end_on, strict=True):
        axis = getattr(ax, f"{name}axis")
        getattr(ax, f"set_{name}lim")(center - span / 2.0, center + span / 2.0)
        getattr(ax, f"set_{name}label")("" if is_hidden else f"{name} [m]")
        axis.set_pane_color(_PANE)
        count = max(2, round(_TICKS * span / spans.max()))
        locator = tickers.MaxNLocator(count, steps=(1, 2, 5, 10))
        axis.set_major_locator(tickers.NullLocator() if is_hidden else locator)
        axis.set_tick_params(labelsize="small")
    if system.use_uniform_background:
        ax.set_axis_off()


def _look(ax: Any, system: System, view: View | None) -> Array:
    """Set the point of view; return the directions of `directions_of`."""
    elevation, azimuth = angles_of(system, view)
    elevation = elevation or _LEVEL
    direction = str(system.up_direction)
    up = direction[1].lower()
    if direction[0] == "+":
        ax.view_init(elev=elevation, azim=azimuth, vertical_axis=up)
    else:
        ax.view_init(elev=-elevation, azim=azimuth, roll=180.0, vertical_axis=up)
    return directions_of(system, (elevation, azimuth))


def paint(ax: Any, parts: PictureParts) -> list[Any]:
    """Draw parts on axes that are set up; return the artists."""
    added: list[Any] = []
    art = import_module("mpl_toolkits.mplot3d.art3d")
    if parts.faces:
        polygons, colors = np.concatenate(parts.faces), np.concatenate(parts.face_colors)
        faces = art.Poly3DCollection(
            polygons, facecolors=colors, edgecolors=colors, linewidths=0.2, zorder=1
        )
        added.append(ax.add_collection3d(faces))
    if parts.lines:
        ends, inks, widths = zip(*parts.lines, strict=True)
        lines = art.Line3DCollection(
            ends, colors=inks, linewidths=widths, capstyle="round", zorder=2
        )
        added.append(ax.add_collection3d(lines))
    if parts.points:
        places, inks, widths = zip(*parts.points, strict=True)
        sizes = (_POINT_SIZE * np.array(widths)) ** 2
        added.append(ax.scatter(*np.array(places).T, s=sizes, c=inks, depthshade=False, zorder=3))
    for place, text, color in parts.texts:
        added.append(ax.text(*place, text, color=color, parse_math=False, zorder=4))
    return added
