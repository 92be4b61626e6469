"""What a file says of the model: its bodies, the constraints that close loops, and markers.

All functions raise ProblemFileError, ShapeError, NotANumberError and OutOfRangeError, which name
the field.
"""

from typing import Final

from benchmarks.inverse_kinematics.fields import Field
from benchmarks.inverse_kinematics.problem import GROUND, JOINTS, Aim, Closure, Link, Marker
from stagecache.errors import short_repr
from stagecache.multibody import Transform

CLOSURES: Final = ("Rod", "Ball", "Weld")
AIMS: Final = ("QValue",)


def links_of(top: Field) -> tuple[Link, ...]:
    """The bodies, in their order."""
    links: list[Link] = []
    num_q = 0
    for i, field in enumerate(top["bodies"].items()):
        _told(field, "index", i)
        link = Link(
            field["name"].text(),
            field["parent"].whole(GROUND, i - 1),
            field["joint"].one_of(JOINTS),
            transform_of(field["X_PF"]),
            transform_of(field["X_BM"]),
        )
        _told(field, "q_start", num_q)
        _told(field, "nq", link.num_q)
        if link.name in {"ground", *(other.name for other in links)}:
            raise field["name"].wrong("is taken", "a name of its own", short_repr(link.name))
        num_q += link.num_q
        links.append(link)
    return tuple(links)


def _told(field: Field, name: str, value: int) -> None:
    """What follows from the order of bodies and from their joints may be left out."""
    told = field.get(name)
    if told is not None:
        told.whole(value, value)


def transform_of(field: Field) -> Transform:
    """A frame, of a rotation `R` and a place `p`."""
    return Transform(field["R"].rotation(), field["p"].array((3,)))


def constraints_of(top: Field) -> list[Field]:
    """One, or a list of them."""
    one, several = top.get("constraint"), top.get("constraints")
    return ([] if one is None else [one]) + ([] if several is None else several.items())


def closure_of(field: Field, num_bodies: int) -> Closure:
    """A constraint."""
    kind = field["type"].one_of(CLOSURES)
    first = field["body1"].whole(GROUND, num_bodies - 1)
    second = field["body2"].whole(GROUND, num_bodies - 1)
    if first == second:
        raise field["body2"].wrong("is body1 as well", "two bodies", short_repr(second))
    if kind == "Weld":
        frames = transform_of(field["frame1"]), transform_of(field["frame2"])
    else:
        stations = (field[name].array((3,)) for name in ("station1", "station2"))
        frames = Transform(None, next(stations)), Transform(None, next(stations))
    length = 0.0
    if kind == "Rod":
        length = field["length"].number()
        if length <= 0:
            raise field["length"].wrong("is out of range", "more than 0", f"{length:g}")
    return Closure(kind, first, frames[0], second, frames[1], length)


def markers_of(top: Field, num_bodies: int) -> tuple[Marker, ...]:
    """The markers, in the order of their observations."""
    given = top.get("markers")
    markers: list[Marker] = []
    for field in [] if given is None else given.items():
        name = field["name"].text()
        if name in {marker.name for marker in markers}:
            raise field["name"].wrong("is taken", "a name of its own", short_repr(name))
        body = field["body"].whole(GROUND, num_bodies - 1)
        weight = number_of(field, "weight", 1.0)
        markers.append(Marker(name, body, field["station"].array((3,)), weight))
    return tuple(markers)


def aim_of(field: Field, links: tuple[Link, ...]) -> Aim:
    """A q that is to have a value."""
    field["type"].one_of(AIMS)
    body = field["body"].whole(0, len(links) - 1)
    return Aim(body, field["q_index"].whole(0, links[body].num_q - 1))


def number_of(field: Field, name: str, default: float) -> float:
    """A number that is not negative, and may be missing."""
    found = field.get(name)
    return default if found is None else found.number(0.0)
