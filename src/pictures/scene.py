"""Scenes: what draw, animate and its pages have in common: decorations of a State, and a view.

::

    System, State, stage, extra  ->  parts_of       ->  PictureParts
    up_direction, view           ->  directions_of  ->  right, up, and towards the viewer
"""

from collections.abc import Callable, Iterable
from math import isfinite
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from stagecache.checks import require_callable, require_type
from stagecache.decorations.decorations import AbstractDecoration
from stagecache.errors import PictureError, short_repr
from stagecache.pictures.parts import PictureParts
from stagecache.state.stage import Stage, check_stage
from stagecache.state.state import State
from stagecache.system.core.system import System

Array = NDArray[np.float64]
View = tuple[float, float]
Extra = Callable[[State], Iterable[AbstractDecoration]]

VIEWS: Final[dict[str, View]] = {"x": (20.0, -60.0), "y": (20.0, 30.0), "z": (20.0, -60.0)}
"""Default points of view, by the axis that points upwards."""

_FARTHEST: Final = 1e100  # [m], up to where matplotlib can draw
_THINNEST: Final = 0.3  # how long the shortest side of the box is, by the longest
_MARGIN: Final = 0.05  # around all, by the longest side


def check_look(what: str, system: object, stage: Stage, extra: Any, view: Any) -> Stage:
    """Check the arguments of `draw` and `animate`; return the stage.

    Raises
    ------
    WrongTypeError, StageOutOfRangeError, PictureError
    """
    hint = "pass the System of the States first"
    require_type(system, System, f"{what}: has no System", "a System", hint)
    if extra is not None:
        expected = "a function of a State that returns decorations"
        hint = "for decorations that stay the same: extra=lambda state: [...]"
        require_callable(extra, f"{what[:-1]}extra=...)", expected, hint)
    try:
        elevation, azimuth = (0.0, 0.0) if view is None else map(float, view)
        is_pair = isfinite(elevation) and isfinite(azimuth) and not isinstance(view, str)
    except (TypeError, ValueError, OverflowError):
        is_pair = False
    if not is_pair:
        raise PictureError(
            f"{what[:-1]}view=...): not a pair of angles",
            "an elevation and an azimuth, in degrees",
            short_repr(view),
            "leave it out; from above is (90, 0)",
        )
    return check_stage(stage, Stage.TOPOLOGY, Stage.REPORT, f"{what[:-1]}stage=...)")


def parts_of(system: System, state: State, stage: Stage, extra: Extra | None) -> PictureParts:
    """Return the parts of a State that are drawn; realize the State if needed."""
    system.realize(state, stage)
    geometry: list[Any] = []
    for reached in range(Stage.TOPOLOGY, stage + 1):
        system.calc_decorative_geometry_and_append(state, Stage(reached), geometry)
    parts = PictureParts(geometry, f"the geometry of {system.name}", system.up_direction.vector)
    if extra is not None:
        parts.add(extra(state), "what extra=... returns")
    farthest = float(np.abs(parts.corners()).max(initial=0.0))
    if not farthest <= _FARTHEST:
        raise PictureError(
            f"a picture of {system.name}: would be too large",
            f"coordinates up to {_FARTHEST:g} m",
            f"{farthest:.3g} m",
            "find the decoration that is so far away",
        )
    return parts


def box_of(corners: Array) -> tuple[Array, Array]:
    """Return the middle and the sides of a box around points (n, 3), which is not too thin."""
    if not len(corners):
        corners = np.array([-np.ones(3), np.ones(3)])
    lowest, highest = corners.min(axis=0), corners.max(axis=0)
    longest = float((highest - lowest).max()) or 1.0
    sides = np.maximum(highest - lowest, _THINNEST * longest) + 2.0 * _MARGIN * longest
    return (lowest + highest) / 2.0, sides


def angles_of(system: System, view: View | None) -> View:
    """Return elevation and azimuth [degrees]; those of the upward direction by default."""
    elevation, azimuth = map(
        float, VIEWS[str(system.up_direction)[1].lower()] if view is None else view
    )
    return elevation, azimuth


def directions_of(system: System, view: View) -> Array:
    """Return the directions to the right, upwards and towards the viewer, as rows (3, 3).

    If an axis points downwards, the viewer stands on the other side, head over heels.
    """
    up = str(system.up_direction)  # such as "-Y"
    side = 1.0 if up[0] == "+" else -1.0
    height, angle = np.radians(view)
    forth, aside = np.cos(angle), np.sin(angle)
    low, high = np.cos(height), np.sin(height)
    rows = [
        (-side * aside, side * forth, 0.0),
        (-high * forth, -high * aside, side * low),
        (low * forth, low * aside, side * high),
    ]
    return np.roll(rows, "XYZ".index(up[1]) - 2, axis=1)
