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
from numpy.typing import ArrayLike, NDArray

from stagecache.checks import (
    require_name,
    require_number,
    require_positive,
    require_text,
    wrong_type,
)
from stagecache.errors import OutOfRangeError, WrongTypeError, short_repr
from stagecache.state.vectors.conversion import ANY, FLOAT, require_array

TOLERANCE: Final = 1e-6
"""Largest difference of R^T R, and det R, from their values for a rotation."""

_INT: Final = np.dtype(np.int64)


def _array(
    values: object, field: str, shape: tuple[int, ...], dtype: np.dtype[Any] = FLOAT
) -> NDArray[Any]:
    """Return a private read-only array of finite numbers."""
    return require_array(values, shape, f"{field} of a decoration", dtype)


def out_of_range(field: str, expected: str, got: object, hint: str) -> OutOfRangeError:
    """Return the error of a field with a value out of range."""
    return OutOfRangeError(
        f"{field} of a decoration: out of range", expected, short_repr(got), hint
    )


def _positive(value: object, field: str) -> float:
    hint = f"give a greater {field}, or leave the decoration out"
    return require_positive(value, f"{field} of a decoration", hint)


# One converter for each field, since mypy takes the types of arguments from named functions only.


def check_rotation(values: ArrayLike) -> NDArray[np.float64]:
    """Return a rotation matrix."""
    matrix = _array(values, "rotation", (3, 3))
    with np.errstate(all="ignore"):
        deviation = np.max(np.abs(matrix.T @ matrix - np.eye(3)))
        is_rotation = deviation <= TOLERANCE and abs(np.linalg.det(matrix) - 1) <= TOLERANCE
    if not is_rotation:
        raise out_of_range(
            "rotation",
            f"orthonormal, of determinant +1, within {TOLERANCE}",
            values,
            "give it through scipy.spatial.transform.Rotation, whose as_matrix() is one",
        )
    return matrix


def check_translation(values: ArrayLike) -> NDArray[np.float64]:
    """Return a vector."""
    return _array(values, "translation", (3,))


def check_color(values: ArrayLike | None) -> tuple[float, float, float] | None:
    """Check a color; return red, green and blue, or None."""
    if values is None:
        return None
    array = _array(values, "color", (3,))
    if not np.all((array >= 0) & (array <= 1)):
        raise out_of_range("color", "from 0 to 1", values, "divide by 255 what is given in bytes")
    red, green, blue = array.tolist()
    return red, green, blue


def check_opacity(value: float) -> float:
    """Check that an opacity is from 0 to 1, and return it."""
    hint = "give 0 for invisible, 1 for solid"
    return require_number(value, "opacity of a decoration", hint, least=0.0, most=1.0)


def check_line_width(value: float) -> float:
    """Check that a width is positive, and return it."""
    return _positive(value, "line_width")


def check_label(value: str) -> str:
    """Check that a label is a text, perhaps empty, and return it."""
    return str(require_text(value, "label of a decoration"))


def check_point(values: ArrayLike) -> NDArray[np.float64]:
    """Check the coordinates of a point, and return them as an array."""
    return _array(values, "point", (3,))


def check_point1(values: ArrayLike) -> NDArray[np.float64]:
    """Check the coordinates of a point, and return them as an array."""
    return _array(values, "point1", (3,))


def check_point2(values: ArrayLike) -> NDArray[np.float64]:
    """Check the coordinates of a point, and return them as an array."""
    return _array(values, "point2", (3,))


def check_radius(value: float) -> float:
    """Check that a length is positive, and return it."""
    return _positive(value, "radius")


def check_half_lengths(values: ArrayLike) -> NDArray[np.float64]:
    """Check that three lengths are positive, and return them."""
    array = _array(values, "half_lengths", (3,))
    if not np.all(array > 0):
        hint = "give greater half_lengths, or leave the decoration out"
        raise out_of_range("half_lengths", "greater than 0", values, hint)
    return array


def check_half_height(value: float) -> float:
    """Check that a length is positive, and return it."""
    return _positive(value, "half_height")


def check_axis_length(value: float) -> float:
    """Check that a length is positive, and return it."""
    return _positive(value, "axis_length")


def check_vertices(values: ArrayLike) -> NDArray[np.float64]:
    """Return points."""
    return _array(values, "vertices", (ANY, 3))


def check_faces(values: ArrayLike) -> NDArray[np.int64]:
    """Return triples of indices."""
    return _array(values, "faces", (ANY, 3), _INT)


def check_text(value: str) -> str:
    """Return a text that is not empty."""
    hint = "write one, or leave the decoration out"
    return str(require_name(value, "text of a decoration", hint))


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

    Two decorations are equal if their classes are the same and their values are equal. They
    cannot be hashed. Arrays are copied, and the copies are read-only.

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
        Text to show beside the shape.

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
        default=(0.0, 0.0, 0.0), kw_only=True, converter=check_translation, eq=EQUAL
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
        Arguments of every decoration: see `AbstractDecoration`.
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
        Arguments of every decoration: see `AbstractDecoration`.
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
        Arguments of every decoration: see `AbstractDecoration`.

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
        Arguments of every decoration: see `AbstractDecoration`.
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
        Arguments of every decoration: see `AbstractDecoration`.
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
        Length of each axis, greater than 0 [m].
    **look
        Arguments of every decoration: see `AbstractDecoration`.
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
        Arguments of every decoration: see `AbstractDecoration`.
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
        Arguments of every decoration: see `AbstractDecoration`.
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
        hint = "make one of it; of a point, for instance, DecorativePoint(point)"
        expected = "a DecorativeSphere, or another of these classes"
        if not isinstance(decoration, AbstractDecoration):
            item = f"{what}: item {number} is not a decoration"
            raise wrong_type(decoration, item, expected, hint)
    return found
