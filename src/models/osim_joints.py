"""Joints of OpenSim's files, as mobilizers and named coordinates.

Joints turn by body-fixed x-y-z angles, and qdot is u, also of a BallJoint and a FreeJoint:

::

    PinJoint    about z        Pin               BallJoint, GimbalJoint    Gimbal
    SliderJoint along x        Slider            FreeJoint                 Bushing
    UniversalJoint             Universal         CustomJoint               FunctionBased, or Weld
    PlanarJoint                Planar            WeldJoint                 Weld
    EllipsoidJoint             Ellipsoid, in angles: u is the angular velocity
"""

from collections.abc import Callable
from math import inf
from typing import Final, final

from attrs import frozen

from stagecache.errors import StagecacheError
from stagecache.models.osim_frames import Frames, Place, offset
from stagecache.models.osim_functions import constant, function_in, read_function
from stagecache.models.simplest import simplest
from stagecache.models.xml import Element, shown_tags
from stagecache.multibody import (
    AbstractFunction,
    AbstractMobilizer,
    Bushing,
    Coordinate,
    Ellipsoid,
    FunctionBased,
    Gimbal,
    Linear,
    Pin,
    Planar,
    Slider,
    Transform,
    Universal,
    Weld,
)

DIRECTIONS: Final = ("1", "2", "3")

Motion = tuple[list[float], AbstractFunction, int]


def _ellipsoid(joint: Element) -> AbstractMobilizer:
    """Return the mobilizer of an EllipsoidJoint, in angles."""
    try:
        return Ellipsoid(joint.numbers_of("radii_x_y_z", 3)).with_euler_angles()
    except StagecacheError as error:
        raise joint.bad(error.what, error.expected, error.got, error.hint) from None


SIMPLE: Final[dict[str, Callable[[Element], AbstractMobilizer]]] = {
    "PinJoint": lambda _: Pin(),
    "SliderJoint": lambda _: Slider(),
    "UniversalJoint": lambda _: Universal(),
    "GimbalJoint": lambda _: Gimbal(),
    "BallJoint": lambda _: Gimbal(),
    "FreeJoint": lambda _: Bushing(),
    "PlanarJoint": lambda _: Planar(),
    "WeldJoint": lambda _: Weld(),
    "EllipsoidJoint": _ellipsoid,
}


@final
@frozen(eq=False)
class JointDescription:
    """A joint of a file.

    Attributes
    ----------
    name : str
    element : Element
    parent, child : Place
        Frames F and M.
    mobilizer : AbstractMobilizer
    coordinates : tuple of Coordinate
        One for each q.
    units : tuple of str
        By coordinate: "rad", "m", or "" if it is neither an angle nor a length.
    """

    name: str
    element: Element
    parent: Place
    child: Place
    mobilizer: AbstractMobilizer
    coordinates: tuple[Coordinate, ...]
    units: tuple[str, ...]


def joint_elements(model: Element) -> list[tuple[Element, Element | None]]:
    """Return the joints of a model, each with the body that has it in versions before 4."""
    found: list[tuple[Element, Element | None]] = [(j, None) for j in model.objects("JointSet")]
    for body in model.objects("BodySet"):
        holder = body.child("Joint")
        if holder is not None:
            found += [(joint, body) for joint in holder]
    return found


def read_joint(element: Element, owner: Element | None, frames: Frames) -> JointDescription:
    """Return a joint.

    Raises
    ------
    FileFormatError
        It is of a kind that is not known, or is not complete.
    """
    if element.tag not in (*SIMPLE, "CustomJoint"):
        raise element.bad(
            f"a joint of kind {element.tag} is not known",
            ", ".join((*SIMPLE, "CustomJoint")),
            element.tag,
            "replace it in the model, by a CustomJoint for one",
        )
    if owner is None:
        parent = frames.place(element, "parent_frame")
        child = frames.place(element, "child_frame")
    else:
        parent, child = _old_places(element, owner, frames)
    if element.flag_of("reverse", default=False):
        parent, child = child, parent
    told = _coordinates(element)
    if element.tag == "CustomJoint":
        mobilizer, names, units = _custom(element, list(told))
        if isinstance(mobilizer, Transform):  # it does not move
            parent = Place(parent.body, parent.pose @ mobilizer)
            mobilizer = Weld()
        mobilizer, turn, order = simplest(mobilizer)
        names, units = [names[i] for i in order], [units[i] for i in order]
        parent = Place(parent.body, parent.pose @ turn)
        child = Place(child.body, child.pose @ turn)
    else:
        mobilizer, names = SIMPLE[element.tag](element), list(told)
        units = ["rad" if any(axis[:3]) else "m" for axis in mobilizer.axes(mobilizer.default_q)]
    if len(names) != mobilizer.nu:
        expected = f"{mobilizer.nu} coordinates, one for each motion"
        raise element.bad("has another number of coordinates", expected, ", ".join(names) or "none")
    coordinates = tuple(told[name] for name in names)
    made = element.name, element, parent, child, mobilizer
    return JointDescription(*made, coordinates, tuple(units))


def _old_places(joint: Element, owner: Element, frames: Frames) -> tuple[Place, Place]:
    """Return F and M of a joint of version 2 or 3, which is in its child."""
    zero = (0.0, 0.0, 0.0)
    parent = frames.place(joint, "parent_body", "parent_body")
    found = [Place(parent.body), Place(owner.name)]
    tags = (("location_in_parent", "orientation_in_parent"), ("location", "orientation"))
    for i, (location, orientation) in enumerate(tags):
        pose = offset(joint.numbers_of(location, 3, zero), joint.numbers_of(orientation, 3, zero))
        found[i] = Place(found[i].body, pose)
    return found[0], found[1]


# ---------------------------------------------------------------------- coordinates


def coordinate_elements(joint: Element) -> list[Element]:
    """Return the elements of the coordinates of a joint."""
    holder = joint.child("coordinates")
    every = joint.objects("CoordinateSet") if holder is None else holder.children
    return [element for element in every if element.tag == "Coordinate" and element.name]


def _coordinates(joint: Element) -> dict[str, Coordinate]:
    """Return the descriptions of the coordinates of a joint, by name."""
    found: dict[str, Coordinate] = {}
    for element in coordinate_elements(joint):
        low, high = element.numbers_of("range", 2, (-inf, inf), finite=False)
        if not low <= high:
            raise element.bad(
                "has a range that is empty", "two numbers, the lower one first", f"{low:g} {high:g}"
            )
        default = element.number_of("default_value", 0.0)
        clamped = element.flag_of("clamped", default=False)
        if clamped:
            default = min(max(default, low), high)
        locked = element.flag_of("locked", default=False)
        found[element.name] = Coordinate(
            element.name, default, (low, high), clamped=clamped, locked=locked
        )
    return found


# ---------------------------------------------------------------------- CustomJoint


def _custom(
    joint: Element, known: list[str]
) -> tuple[AbstractMobilizer | Transform, list[str], list[str]]:
    """Return the mobilizer of a CustomJoint, its coordinates, and their units.

    Where nothing moves, it is a Transform.
    """
    transform = joint.require("SpatialTransform")
    axes = {axis.name: axis for axis in transform if axis.tag == "TransformAxis"}
    names = [f"{kind}{i}" for kind in ("rotation", "translation") for i in DIRECTIONS]
    missing = [name for name in names if name not in axes]
    if missing:
        expected = "TransformAxis " + ", ".join(names)
        raise transform.bad(f"has no TransformAxis {missing[0]!r}", expected, shown_tags(transform))
    used = [_coordinate_of(axes[name], known) for name in names]
    q = [name for name in known if name in used]  # numbered as the file lists them
    if len(q) != len(known):
        unused = next(name for name in known if name not in used)
        raise joint.bad(
            f"coordinate {unused!r} moves nothing",
            "a TransformAxis with each coordinate",
            "none with this one",
            "remove the coordinate, or name it in a TransformAxis",
        )
    motions = [_motion(axes[name], own, q) for name, own in zip(names, used, strict=True)]
    units = [_unit(name, [axes[name] for name in names], used) for name in q]
    try:
        if not q:
            return _fixed(motions), q, units
        moving = [m for m in motions if not _is_nothing(m)]
        turns = [m for m in motions[:3] if m in moving]
        moves = [m for m in motions[3:] if m in moving]
        return FunctionBased(turns, moves), q, units
    except StagecacheError as error:
        raise joint.bad(error.what, error.expected, error.got, error.hint) from None


def _coordinate_of(axis: Element, known: list[str]) -> str:
    """Return the name of the coordinate of an axis; "" for none."""
    names = axis.text_of("coordinates").split()
    if len(names) > 1:
        raise axis.bad(
            "is a function of several coordinates",
            "one coordinate, or none",
            " ".join(names),
            "use a function of one coordinate",
        )
    if names and names[0] not in known:
        raise axis.bad(
            "names a coordinate that the joint does not have",
            "one of " + (", ".join(known) or "none"),
            names[0],
        )
    return names[0] if names else ""


def _motion(axis: Element, coordinate: str, q: list[str]) -> Motion:
    """Return the axis, the function, and the number of the q of a TransformAxis."""
    direction = axis.numbers_of("axis", 3)
    element = function_in(axis)
    if not coordinate:
        return direction, Linear(0.0, constant(element)), 0
    function = Linear(1.0) if element is None else read_function(element)
    return direction, function, q.index(coordinate)


def _unit(coordinate: str, axes: list[Element], used: list[str]) -> str:
    """Return the unit of a coordinate: the unit of the last axis that moves by it, one to one.

    This is OpenSim's rule, by which columns of a file in degrees are converted.
    """
    found = ""
    for i, (axis, own) in enumerate(zip(axes, used, strict=True)):
        element = function_in(axis)
        if own == coordinate and (element is None or element.tag == "LinearFunction"):
            function = Linear(1.0) if element is None else read_function(element)
            if abs(function.first(0.0)) == 1.0:
                found = "rad" if i < len(DIRECTIONS) else "m"
    return found


def _is_nothing(motion: Motion) -> bool:
    """Tell whether a motion is always 0."""
    function = motion[1]
    return isinstance(function, Linear) and function.slope == 0.0 == function.intercept


def _fixed(motions: list[Motion]) -> Transform:
    """Return the pose of a CustomJoint without coordinates."""
    import numpy as np  # noqa: PLC0415

    moving = FunctionBased(motions[:3], motions[3:])
    rows = np.array(moving.pose([0.0])).reshape(3, 4)
    return Transform(rows[:, :3], rows[:, 3])
