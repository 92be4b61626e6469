"""Models: a System that was read from a file, with the names that the file gives its parts.

::

    subject.osim  ->  load_osim  ->  Model   system, matter
    arm.urdf      ->  load_urdf  /           coordinates, bodies, markers    by name
                                             left_out                        what was not read
"""

import warnings
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, final

import numpy as np
from attrs import field, frozen

from stagecache.checks import did_you_mean, wrong_type
from stagecache.errors import UnknownMarkerError, listed, short_repr
from stagecache.models.reading import shown
from stagecache.multibody import JointCoordinate, MatterSubsystem, MobilizedBody, MultibodySystem
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.observers.markers import Markers
from stagecache.state.state import State

MOST_KINDS: Final = 8
"""Number of kinds that a warning names."""


class ModelWarning(UserWarning):
    """A part of a file was left out, or does not look right."""


@final
@frozen
class LeftOut:
    """Parts of a file that were left out.

    Attributes
    ----------
    kind : str
        "Thelen2003Muscle", for example.
    names : tuple of str
    reason : str
        "" where nothing here does the same.
    """

    kind: str
    names: tuple[str, ...]
    reason: str = ""

    def __str__(self) -> str:
        why = f": {self.reason}" if self.reason else ""
        return f"{len(self.names)} {self.kind} ({shown(self.names, 3)}){why}"


@final
@frozen(eq=False)
class ModelMarker:
    """A marker of a model: a point of a body.

    Attributes
    ----------
    name : str
    body : MobilizedBody
    station : ndarray of shape (3,)
        In the frame of the body [m].
    """

    name: str
    body: MobilizedBody
    station: Array


def _named(parts: Iterable[Any]) -> Mapping[str, Any]:
    return MappingProxyType({part.name: part for part in parts})


def _frozen(mapping: Mapping[str, Any]) -> Mapping[str, Any]:
    return MappingProxyType(dict(mapping))


@final
@frozen(eq=False, repr=False)
class Model:
    """A System that was read from a file, and its parts by name. It is const.

    Attributes
    ----------
    name : str
    system : MultibodySystem
    markers : mapping
        Markers by name, each a `ModelMarker`.
    constraints : mapping
        Constraints by name, couplers among them.
    units : mapping
        Units of coordinates by name, in the order of the file: "rad", "m", or "" of one that is
        neither an angle nor a length.
    left_out : tuple of LeftOut
        What was not read.
    path : str
        The file.
    """

    name: str
    system: MultibodySystem
    markers: Mapping[str, ModelMarker] = field(converter=_named)
    constraints: Mapping[str, Any] = field(converter=_frozen)
    units: Mapping[str, str] = field(converter=_frozen)
    left_out: tuple[LeftOut, ...] = ()
    path: str = ""

    @property
    def matter(self) -> MatterSubsystem:
        """The tree of bodies."""
        return self.system.matter

    @property
    def bodies(self) -> Mapping[str, MobilizedBody]:
        """All bodies but the ground, by name."""
        return _named(self.matter.bodies[1:])

    @property
    def coordinates(self) -> Mapping[str, JointCoordinate]:
        """All coordinates by name, in the order of the file; each is called with a State."""
        return {name: self.matter.coordinate(name) for name in self.units}

    def new_markers(self, weights: Mapping[str, float] | None = None) -> Markers:
        """Return the markers of the model as a condition for an Assembler.

        Parameters
        ----------
        weights : mapping, optional
            By marker; those that are not named have weight 1.

        Raises
        ------
        UnknownMarkerError
            The model does not have a marker that has a weight.
        WrongTypeError, ShapeError, NotANumberError, OutOfRangeError
        """
        given = checked_weights(weights, "Model.new_markers(weights)")
        self._require_markers(given, f"the weights of markers of model {self.name!r}")
        found = Markers()
        for marker in self.markers.values():
            weight = given.get(marker.name, 1.0)
            found.add_marker(marker.body, marker.station, weight=weight, name=marker.name)
        return found

    def marker_positions(self, state: State) -> dict[str, Array]:
        """Return the positions of all markers in ground, each (3,) [m].

        Raises
        ------
        WrongTypeError, ForeignStateError, StageTooLowError
        """
        return {
            marker.name: marker.body.station_position(state, marker.station)
            for marker in self.markers.values()
        }

    @property
    def size(self) -> float:
        """The diagonal of the box around all markers and bodies in the default State [m]."""
        state = self.system.new_state()
        points = [body.pose(state).translation for body in self.matter.bodies]
        points += self.marker_positions(state).values()
        return float(np.linalg.norm(np.ptp(np.array(points), axis=0)))

    def _require_markers(self, names: Iterable[str], what: str) -> None:
        """Refuse names of markers that the model does not have.

        Raises
        ------
        UnknownMarkerError
        """
        for name in names:
            if name not in self.markers:
                raise UnknownMarkerError(
                    f"{what}: an unknown marker",
                    "markers of the model: " + (listed(self.markers) or "it has none"),
                    short_repr(name),
                    did_you_mean(str(name), self.markers) or "leave it out",
                )

    def __reduce__(self) -> Any:
        parts = [*self.markers.values()], dict(self.constraints), dict(self.units)
        return Model, (self.name, self.system, *parts, self.left_out, self.path)

    def __repr__(self) -> str:
        counts = f"{len(self.bodies)} bodies, {len(self.coordinates)} coordinates"
        return f"Model({self.name!r}, {counts}, {len(self.markers)} markers)"


def checked_weights(weights: Any, what: str) -> dict[str, float]:
    """Return weights by name; none for None.

    Raises
    ------
    WrongTypeError
    """
    if weights is None:
        return {}
    if isinstance(weights, Mapping):
        return dict(weights)
    raise wrong_type(weights, what, "a dict of names and numbers", "write {'Sternum': 2.0}")


def warn_of(file: str, left_out: Iterable[LeftOut]) -> None:
    """Warn once of all that was left out of a file."""
    found = [str(part) for part in left_out]
    if not found:
        return
    more = len(found) - MOST_KINDS
    text = "; ".join(found[:MOST_KINDS]) + (f"; and {more} more kinds" if more > 0 else "")
    warnings.warn(f"{file}: left out: {text}; see model.left_out", ModelWarning, stacklevel=3)
