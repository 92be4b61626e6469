r"""Parts of decorations for a drawer: faces, lines, points and texts in the ground frame.

::

    DecorativeSphere, Brick, Cylinder, Mesh  ->  faces, shaded as if lit from above
    DecorativeLine, Frame                    ->  lines
    DecorativePoint                          ->  points
    DecorativeText, and any label            ->  texts

Nothing here knows matplotlib. Faces of long shapes are cut into shorter ones, since a drawer that
has no depth buffer sorts faces by their middles.
"""

from collections.abc import Iterable
from math import ceil
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from stagecache.decorations.decorations import (
    AbstractDecoration,
    DecorativeBrick,
    DecorativeCylinder,
    DecorativeFrame,
    DecorativeLine,
    DecorativeMesh,
    DecorativePoint,
    DecorativeSphere,
    DecorativeText,
    checked_decorations,
)
from stagecache.errors import WrongTypeError, short_repr

Array = NDArray[np.float64]
Color = tuple[float, ...]

SURFACE: Final = (0.58, 0.68, 0.80)
STROKE: Final = (0.25, 0.31, 0.38)
AXES: Final = ((0.80, 0.22, 0.20), (0.20, 0.58, 0.25), (0.20, 0.40, 0.80))
"""Default colours: of faces, of lines, and of the axes x, y and z."""

AROUND: Final = 20  # faces around a cylinder or a sphere
FROM_POLE_TO_POLE: Final = 12
MOST_CUTS: Final = 8  # of a face, along one direction

_SUN: Final = np.array([0.35, -0.45, 0.82]) / np.linalg.norm([0.35, -0.45, 0.82])
_AMBIENT: Final = 0.68  # how bright a face is that the light just grazes
_SIDES: Final = ((0, 1, 2), (1, 2, 0), (2, 0, 1))  # of a brick: the direction, and both along it


@final
class PictureParts:
    """Parts of a list of decorations.

    Parameters
    ----------
    decorations : iterable of AbstractDecoration
    what : str
        Name of the list in errors.
    up : ndarray of shape (3,)
        A direction along an axis, from which the light comes, roughly.

    Attributes
    ----------
    faces : list of ndarray of shape (n, 4, 3)
        Four corners of each, in G [m]; two of a triangle are the same.
    face_colors : list of ndarray of shape (n, 4)
        Red, green, blue and opacity, shaded.
    lines : list of (ndarray of shape (2, 3), color, width)
    points : list of (ndarray of shape (3,), color, width)
    texts : list of (ndarray of shape (3,), str, color)
    decorations : list of AbstractDecoration

    Raises
    ------
    WrongTypeError
        An item is not a decoration, or they are not a collection.
    """

    def __init__(self, decorations: Iterable[AbstractDecoration], what: str, up: Array) -> None:
        axis = int(np.abs(up).argmax())
        self._light = np.roll(_SUN, axis - 2)
        self._light[axis] *= up[axis]
        self.faces: list[Array] = []
        self.face_colors: list[Array] = []
        self.lines: list[tuple[Array, Color, float]] = []
        self.points: list[tuple[Array, Color, float]] = []
        self.texts: list[tuple[Array, str, Color]] = []
        self.decorations: list[AbstractDecoration] = []
        self.add(decorations, what)

    def add(self, decorations: Iterable[AbstractDecoration], what: str) -> None:
        """Add the parts of more decorations. Parameters and errors are as above."""
        for decoration in checked_decorations(decorations, what):
            self._add(decoration)

    def corners(self) -> Array:
        """Return all points, (n, 3) [m]."""
        parts = [faces.reshape(-1, 3) for faces in self.faces]
        parts += [ends for ends, _, _ in self.lines]
        parts += [point[None] for point, _, _ in (*self.points, *self.texts)]
        return np.concatenate(parts) if parts else np.empty((0, 3))

    def _add(self, decoration: AbstractDecoration) -> None:
        self.decorations.append(decoration)
        color, width = color_of(decoration, STROKE), decoration.line_width
        match decoration:
            case DecorativePoint():
                self.points.append((_in_ground(decoration, decoration.point), color, width))
            case DecorativeLine() | DecorativeFrame():
                for ends, ink in segments_of(decoration):
                    self.lines.append((_in_ground(decoration, ends), ink, width))
            case DecorativeText():
                pass
            case _:
                faces = _in_ground(decoration, _surface(decoration))
                if len(faces):
                    self.faces.append(faces)
                    self.face_colors.append(_shaded(faces, decoration, self._light))
        for place, text in texts_of(decoration):
            self.texts.append((_in_ground(decoration, place), text, color))


# ---------------------------------------------------------------------- in D, for any drawer


def color_of(decoration: AbstractDecoration, default: Color) -> Color:
    """Return red, green, blue and opacity."""
    return (*(decoration.color or default), decoration.opacity)


def segments_of(decoration: DecorativeLine | DecorativeFrame) -> list[tuple[Array, Color]]:
    """Return the ends, (2, 3), and the color of a line, or of the axes of a frame."""
    if isinstance(decoration, DecorativeLine):
        ends = np.array([decoration.point1, decoration.point2])
        return [(ends, color_of(decoration, STROKE))]
    axes = decoration.axis_length * np.eye(3)
    return [
        (np.array([np.zeros(3), axis]), color_of(decoration, own))
        for axis, own in zip(axes, AXES, strict=True)
    ]


def texts_of(decoration: AbstractDecoration) -> list[tuple[Array, str]]:
    """Return the text of a DecorativeText, and the label of any, with their places.

    A label is at a point, or in the middle of a line; else at the origin of D.
    """
    found = []
    if isinstance(decoration, DecorativeText):
        found.append((np.zeros(3), decoration.text))
    if decoration.label:
        place = np.zeros(3)
        match decoration:
            case DecorativePoint():
                place = decoration.point
            case DecorativeLine():
                place = (decoration.point1 + decoration.point2) / 2.0
        found.append((place, decoration.label))
    return found


def _in_ground(decoration: AbstractDecoration, points: Array) -> Array:
    """Return points (..., 3) of D in G."""
    found: Array = points @ decoration.rotation.T + decoration.translation
    return found


def _shaded(faces: Array, decoration: AbstractDecoration, light: Array) -> Array:
    """Return the colour of each face (n, 4): bright where its outer side is turned to the light.

    The normal of a polygon is the sum of the cross products along its border (M. Newell): corners
    may coincide.
    """
    normals = np.cross(faces, np.roll(faces, -1, axis=1)).sum(axis=1)
    lengths = np.linalg.norm(normals, axis=1)
    lit = normals @ light / np.where(lengths > 0.0, lengths, 1.0)
    colors = np.empty((len(faces), 4))
    colors[:, :3] = np.outer(_AMBIENT + (1.0 - _AMBIENT) * lit, decoration.color or SURFACE)
    colors[:, 3] = decoration.opacity
    return colors


# ---------------------------------------------------------------------- faces, in D


def _surface(decoration: AbstractDecoration) -> Array:
    """Return the faces of a shape, (n, 4, 3), corners counterclockwise as seen from outside."""
    match decoration:
        case DecorativeSphere():
            angles = np.linspace(-np.pi / 2, np.pi / 2, FROM_POLE_TO_POLE + 1)
            return _revolved(decoration.radius * np.cos(angles), decoration.radius * np.sin(angles))
        case DecorativeCylinder():
            return _cylinder(decoration.radius, decoration.half_height)
        case DecorativeBrick():
            return _brick(decoration.half_lengths)
        case DecorativeMesh():
            return decoration.vertices[decoration.faces[:, (0, 1, 2, 2)]]
        case _:
            raise WrongTypeError(
                f"{type(decoration).__name__}: a decoration of a class that cannot be drawn",
                "a DecorativeSphere, or another of these classes",
                short_repr(decoration),
                "make a DecorativeMesh of it",
            )


def _grid(points: Array) -> Array:
    """Return the faces between the points (rows, columns, 3) of a grid."""
    corners = [points[:-1, :-1], points[:-1, 1:], points[1:, 1:], points[1:, :-1]]
    return np.stack(corners, axis=2).reshape(-1, 4, 3)


def _revolved(radii: Array, heights: Array) -> Array:
    """Return the faces of a profile (n,) that is rotated about y."""
    angles = np.linspace(0.0, 2.0 * np.pi, AROUND + 1)
    points = np.empty((len(radii), AROUND + 1, 3))
    points[:, :, 0] = np.outer(radii, np.cos(angles))
    points[:, :, 1] = heights[:, None]
    points[:, :, 2] = np.outer(radii, -np.sin(angles))
    return _grid(points)


def _cylinder(radius: float, half_height: float) -> Array:
    """Return the side, in pieces that are no longer than they are wide, and both ends."""
    heights = np.linspace(-half_height, half_height, _pieces(half_height / radius) + 1)
    radii = np.pad(np.full_like(heights, radius), 1)
    return _revolved(radii, np.pad(heights, 1, mode="edge"))


def _brick(half_lengths: Array) -> Array:
    """Return six sides, in pieces that are roughly squares."""
    faces = []
    shortest = float(half_lengths.min())
    for normal, right, up in _SIDES:
        a, b = (np.linspace(-h, h, _pieces(h / shortest) + 1) for h in half_lengths[[right, up]])
        side = np.empty((len(b), len(a), 3))
        side[:, :, right], side[:, :, up] = np.meshgrid(a, b)
        side[:, :, normal] = half_lengths[normal]
        faces += [_grid(side), -_grid(side)[:, ::-1]]
    return np.concatenate(faces)


def _pieces(ratio: float) -> int:
    return min(MOST_CUTS, max(1, ceil(ratio)))
