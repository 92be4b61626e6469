"""Decorations: shapes that show a model, as data for any drawer.

A decoration is a shape in a frame D of its own, with the pose of D in the ground frame G. It knows
nothing of how it is drawn: a drawer takes the classes apart.

    p_G = rotation @ p_D + translation

After Simbody's `DecorativeGeometry` (SimTKcommon/Geometry).
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final, final

import attrs
import numpy as np
from numpy.typing import NDArray

from stagecache.decorations.fields import (
    check_axis_length,
    check_color,
    check_faces,
    check_half_height,
    check_half_lengths,
    check_label,
    check_line_width,
    check_opacity,
    check_point,
    check_point1,
    check_point2,
    check_radius,
    check_rotation,
    check_text,
    check_translation,
    check_vertices,
    out_of_range,
)
from stagecache.errors import WrongTypeError, short_repr

EQUAL: Final = attrs.cmp_using(eq=np.array_equal)
_SHOWN_ELEMENTS: Final = 9  # of an array in a repr: a rotation is still shown


def _shown(value: object) -> str:
    if isinstance(value, np.ndarray):
        few = value.size <= _SHOWN_ELEMENTS
        return str(value.tolist()) if few else f"<{value.dtype} array of shape {value.shape}>"
    return repr(value)


@attrs.frozen(repr=False, unsafe_hash=False)
class AbstractDecoration:
    """A shape that can be drawn, its pose in the ground frame, and its look.

    Two are equal if they are of one class and all their values are. They have no hash. Arrays
    are private read-only copies of what was given.

    Parameters
    ----------
    rotation : (3, 3) array_like, optional
        Axes of the decoration's frame D, as columns, in the ground frame G.
    translation : (3,) array_like, optional
        Origin of D in G [m].
    color : (3,) array_like, optional
        Red, green and blue, each from 0 to 1. None: the drawer's choice.
    opacity : float, optional
        From 0, invisible, to 1, solid.
    line_width : float, optional
        Width of lines and edges, greater than 0, in the drawer's unit.
    label : str, optional
        Text that is shown beside it.

    Raises
    ------
    ShapeError, NotANumberError, OutOfRangeError, InvalidNameError
        The named argument is not as described.
    """

    rotation: NDArray[np.float64] = attrs.field(
        default=((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
        kw_only=True,
        converter=check_rotation,
        eq=EQUAL,
    )
    translation: NDArray[np.float64] = attrs.field(
        default=(0.0, 0.0, 0.0),
        kw_only=True,
        converter=check_translation,
        eq=EQUAL,
    )
    color: tuple[float, float, float] | None = attrs.field(
        default=None, kw_only=True, converter=check_color
    )
    opacity: float = attrs.field(default=1.0, kw_only=True, converter=check_opacity)
    line_width: float = attrs.field(default=1.0, kw_only=True, converter=check_line_width)
    label: str = attrs.field(default="", kw_only=True, converter=check_label)

    def __attrs_pre_init__(self) -> None:
        """Refuse to make an instance, as ABC would if the class had an abstract method."""
        if type(self) is AbstractDecoration:
            raise TypeError(
                "cannot instantiate the abstract class AbstractDecoration: "
                "make a DecorativeSphere, or another of its final classes"
            )

    def __repr__(self) -> str:
        """Show the fields that differ from their defaults."""
        shown = []
        for field in sorted(attrs.fields(type(self)), key=lambda field: bool(field.kw_only)):
            value = getattr(self, field.name)
            if field.default is attrs.NOTHING or not np.array_equal(value, field.default):
                shown.append(f"{field.name}={_shown(value)}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def __reduce__(self) -> tuple[Callable[[], object], tuple[()]]:
        """Copy by construction: arrays that are unpickled as they are could be written."""
        return partial(type(self), **attrs.asdict(self, recurse=False)), ()


@final
@attrs.frozen(repr=False, unsafe_hash=False)
class DecorativePoint(AbstractDecoration):
    """A marker.

    Parameters
    ----------
    point : (3,) array_like
        Position in D [m].
    **look
        As of `AbstractDecoration`.
    """

    point: NDArray[np.float64] = attrs.field(converter=check_point, eq=EQUAL)


@final
@attrs.frozen(repr=False, unsafe_hash=False)
class DecorativeLine(AbstractDecoration):
    """A straight line between two points, which may coincide.

    Parameters
    ----------
    point1, point2 : (3,) array_like
        Its ends, in D [m].
    **look
        As of `AbstractDecoration`.
    """

    point1: NDArray[np.float64] = attrs.field(converter=check_point1, eq=EQUAL)
    point2: NDArray[np.float64] = attrs.field(converter=check_point2, eq=EQUAL)


@final
@attrs.frozen(repr=False, unsafe_hash=False)
class DecorativeSphere(AbstractDecoration):
    """A sphere around the origin of D.

    Parameters
    ----------
    radius : float
        Greater than 0 [m].
    **look
        As of `AbstractDecoration`.

    Examples
    --------
    >>> DecorativeSphere(0.1, translation=[0, 0, 2], color=(1, 0, 0))
    DecorativeSphere(radius=0.1, translation=[0.0, 0.0, 2.0], color=(1.0, 0.0, 0.0))
    """

    radius: float = attrs.field(converter=check_radius)


@final
@attrs.frozen(repr=False, unsafe_hash=False)
class DecorativeBrick(AbstractDecoration):
    """A rectangular block around the origin of D, along its axes.

    Parameters
    ----------
    half_lengths : (3,) array_like
        From the center to the faces, along x, y and z of D, each greater than 0 [m].
    **look
        As of `AbstractDecoration`.
    """

    half_lengths: NDArray[np.float64] = attrs.field(converter=check_half_lengths, eq=EQUAL)


@final
@attrs.frozen(repr=False, unsafe_hash=False)
class DecorativeCylinder(AbstractDecoration):
    """A cylinder around the origin of D, its axis along y, as in Simbody.

    Parameters
    ----------
    radius : float
        Greater than 0 [m].
    half_height : float
        From the center to either end, greater than 0 [m].
    **look
        As of `AbstractDecoration`.
    """

    radius: float = attrs.field(converter=check_radius)
    half_height: float = attrs.field(converter=check_half_height)


@final
@attrs.frozen(repr=False, unsafe_hash=False)
class DecorativeFrame(AbstractDecoration):
    """The axes x, y and z of D.

    Parameters
    ----------
    axis_length : float
        Of each axis, greater than 0 [m].
    **look
        As of `AbstractDecoration`.
    """

    axis_length: float = attrs.field(converter=check_axis_length)


@final
@attrs.frozen(repr=False, unsafe_hash=False)
class DecorativeMesh(AbstractDecoration):
    """A surface made of triangles.

    Parameters
    ----------
    vertices : (n, 3) array_like
        Points in D [m].
    faces : (m, 3) array_like of int
        The corners of each triangle, as rows of `vertices`, counted from 0.
    **look
        As of `AbstractDecoration`.
    """

    vertices: NDArray[np.float64] = attrs.field(converter=check_vertices, eq=EQUAL)
    faces: NDArray[np.int64] = attrs.field(converter=check_faces, eq=EQUAL)

    def __attrs_post_init__(self) -> None:
        """Check that each corner is a vertex."""
        count = len(self.vertices)
        strays = self.faces[(self.faces < 0) | (self.faces >= count)]
        if strays.size:
            raise out_of_range(
                "faces",
                f"from 0 to {count - 1}, the rows of vertices" if count else "none: no vertices",
                int(strays[0]),
                "count vertices from 0, or give those that are missing",
            )


@final
@attrs.frozen(repr=False, unsafe_hash=False)
class DecorativeText(AbstractDecoration):
    """A text at the origin of D.

    Parameters
    ----------
    text : str
        Not empty.
    **look
        As of `AbstractDecoration`.
    """

    text: str = attrs.field(converter=check_text)


def checked_decorations(given: Any, what: str) -> tuple[AbstractDecoration, ...]:
    """Return a list of decorations as a tuple.

    Parameters
    ----------
    given : iterable of AbstractDecoration
    what : str
        Name of the list in errors.

    Raises
    ------
    WrongTypeError
        An item is not a decoration, or they are not a collection.
    """
    if isinstance(given, AbstractDecoration) or not isinstance(given, Iterable):
        raise WrongTypeError(
            f"{what}: not a list of decorations",
            "a list of decorations, which may be empty",
            short_repr(given),
            "put the decorations into a list",
        )
    found = tuple(given)
    for number, decoration in enumerate(found):
        if not isinstance(decoration, AbstractDecoration):
            raise WrongTypeError(
                f"{what}: item {number} is not a decoration",
                "a DecorativeSphere, or another of these classes",
                short_repr(decoration),
                "make one of it; of a point, for instance, DecorativePoint(point)",
            )
    return found
