"""Constraints of OpenSim's files, as constraints of `stagecache.multibody`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, final

import numpy as np

from stagecache.checks import did_you_mean
from stagecache.errors import listed
from stagecache.models.osim_frames import Frames, Place, offset
from stagecache.models.osim_functions import function_in, read_function
from stagecache.models.xml import Element
from stagecache.multibody import (
    AbstractConstraint,
    AbstractFunction,
    BallConstraint,
    CoordinateCouplerConstraint,
    JointCoordinate,
    Linear,
    MobilizedBody,
    RodConstraint,
    WeldConstraint,
)
from stagecache.multibody.geometry.spatial import Array

ZERO: Final = (0.0, 0.0, 0.0)


@final
class Coupling:
    """A sum of functions of coordinates, f1(x1) + f2(x2) + ..., and its derivatives.

    Parameters
    ----------
    functions : tuple of AbstractFunction
        One for each of the coordinates x.
    """

    def __init__(self, functions: tuple[AbstractFunction, ...]) -> None:
        self.functions = functions

    def value(self, x: Array) -> float:
        """Return the sum."""
        return sum(f.value(v) for f, v in zip(self.functions, x.tolist(), strict=True))

    def gradient(self, x: Array) -> list[float]:
        """Return its derivatives."""
        return [f.first(v) for f, v in zip(self.functions, x.tolist(), strict=True)]

    def hessian(self, x: Array) -> Array:
        """Return its second derivatives."""
        return np.diag([f.second(v) for f, v in zip(self.functions, x.tolist(), strict=True)])


def coupler(
    sources: Sequence[JointCoordinate], dependent: JointCoordinate, coupling: Coupling
) -> CoordinateCouplerConstraint:
    """Return the constraint that one coordinate is a coupling of others."""
    return CoordinateCouplerConstraint(
        sources,
        function=coupling.value,
        gradient=coupling.gradient,
        hessian=coupling.hessian,
        dependent=dependent,
    )


def read_constraint(
    element: Element,
    frames: Frames,
    bodies: Mapping[str, MobilizedBody],
    coordinates: Mapping[str, Any],
) -> AbstractConstraint | None:
    """Return a constraint; None where nothing here does the same.

    Raises
    ------
    FileFormatError
        It is not complete, or ties what does not exist.
    """
    reader = _READERS.get(element.tag)
    if reader is not None:
        return reader(element, frames, bodies)
    if element.tag == "CoordinateCouplerConstraint":
        return _coupler(element, coordinates)
    return None


def _coupler(element: Element, coordinates: Mapping[str, Any]) -> AbstractConstraint:
    names = element.text_of("independent_coordinate_names").split()
    names.append(element.text_of("dependent_coordinate_name"))
    for name in names:
        if name not in coordinates:
            raise element.bad(
                "couples a coordinate that does not exist",
                "coordinates of the model: " + listed(coordinates),
                repr(name),
                did_you_mean(name, coordinates) or "write one of these names",
            )
    *sources, dependent = (coordinates[name] for name in names)
    return coupler(sources, dependent, Coupling(_terms(element, len(sources))))


def _terms(element: Element, count: int) -> tuple[AbstractFunction, ...]:
    """Return the function of each independent coordinate."""
    function = function_in(element, "coupled_coordinates_function")
    if function is None or not count:
        expected = "<coupled_coordinates_function>, and independent coordinates"
        raise element.bad("does not say how it couples", expected, "none")
    scale = element.number_of("scale_factor", 1.0)
    if count == 1:
        return (read_function(function, scale),)
    if function.tag != "LinearFunction":
        raise function.bad(
            "is a function of several coordinates",
            "a LinearFunction, or one independent coordinate",
            function.tag,
        )
    *slopes, last = function.numbers_of("coefficients", count + 1)
    found = [Linear(scale * slope) for slope in slopes]
    return (Linear(scale * slopes[0], scale * last), *found[1:])


Bodies = Mapping[str, MobilizedBody]


def _body(place: Place, bodies: Bodies, element: Element) -> MobilizedBody:
    if place.body not in bodies:
        expected = "bodies that joints tie to the ground"
        raise element.bad("ties a body that is not joined to the ground", expected, place.body)
    return bodies[place.body]


def _ends(element: Element, frames: Frames, bodies: Bodies) -> list[Any]:
    """Return both bodies of a constraint, each with the point that it ties."""
    found: list[Any] = []
    for i in ("1", "2"):
        place = frames.place(element, f"body_{i}", f"body_{i}")
        point = place.pose.apply(element.numbers_of(f"location_body_{i}", 3, ZERO))
        found += [_body(place, bodies, element), point]
    return found


def _point(element: Element, frames: Frames, bodies: Bodies) -> AbstractConstraint:
    one, point, two, other = _ends(element, frames, bodies)
    return BallConstraint(one, point, two, other)


def _distance(element: Element, frames: Frames, bodies: Bodies) -> AbstractConstraint:
    one, point, two, other = _ends(element, frames, bodies)
    return RodConstraint(one, point, two, other, element.number_of("constant_distance"))


def _weld(element: Element, frames: Frames, bodies: Bodies) -> AbstractConstraint:
    places = []
    for i in ("1", "2"):
        if element.child(f"body_{i}") is None:
            places.append(frames.place(element, f"frame{i}"))
            continue
        place = frames.place(element, "", f"body_{i}")
        own = offset(
            element.numbers_of(f"location_body_{i}", 3, ZERO),
            element.numbers_of(f"orientation_body_{i}", 3, ZERO),
        )
        places.append(Place(place.body, place.pose @ own))
    one, two = places
    return WeldConstraint(
        _body(one, bodies, element),
        _body(two, bodies, element),
        first_frame=one.pose,
        second_frame=two.pose,
    )


_READERS: Final[dict[str, Callable[[Element, Frames, Bodies], AbstractConstraint]]] = {
    "PointConstraint": _point,
    "ConstantDistanceConstraint": _distance,
    "WeldConstraint": _weld,
}
