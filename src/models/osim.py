"""Models of OpenSim: files of versions 2 to 4, as Systems.

::

    <Model>  BodySet, JointSet   ->  bodies, mobilizers, coordinates
             ConstraintSet       ->  couplers, and other constraints
             MarkerSet           ->  markers
             gravity             ->  Gravity, if masses are read
             ForceSet, ...       ->  left_out, and one warning

Versions before 4 have the joints inside of the bodies. Not a line of OpenSim is needed.
"""

from collections import Counter
from os import PathLike
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from stagecache.checks import require_bool, require_path
from stagecache.errors import MassPropertiesError, StagecacheError
from stagecache.models.looks import folders_of, looks_of
from stagecache.models.model import LeftOut, Model, ModelMarker, warn_of
from stagecache.models.osim_constraints import read_constraint
from stagecache.models.osim_frames import GROUND, Frames, Place
from stagecache.models.osim_joints import (
    JointDescription,
    coordinate_elements,
    joint_elements,
    read_joint,
)
from stagecache.models.reading import number
from stagecache.models.xml import Element, read_xml, shown_tags
from stagecache.multibody import (
    Gravity,
    MassProperties,
    MobilizedBody,
    MultibodySystem,
    Weld,
)

FIRST_VERSION: Final = 20000
END_OF_VERSIONS: Final = 50000
DROPPED_SETS: Final = ("ForceSet", "ContactGeometrySet", "ControllerSet", "ProbeSet")


def load_osim(path: str | PathLike[str], *, masses: bool = True, meshes: bool = False) -> Model:
    """Read a model of OpenSim.

    Coordinates have the values, ranges, clamps and locks of the file; angles are body-fixed x-y-z
    angles, as OpenSim has them, never quaternions. What is not read, as muscles, is in
    `Model.left_out`, and in one warning.

    Parameters
    ----------
    path : str or os.PathLike
        A file of version 2, 3 or 4, ".osim".
    masses : bool
        False to read a model without masses and gravity, for inverse kinematics: then mass
        properties that no body can have are a warning, not an error.
    meshes : bool
        True to read the meshes (.vtp, .obj, .stl) and other shapes of bodies for pictures, where
        files are in the folder of the model, or in `Geometry` there.

    Returns
    -------
    Model

    Raises
    ------
    FileFormatError
        It is not such a file, or has a joint or a function that is not known. The message has the
        line.
    MassPropertiesError
        A body has mass properties that no body can have, and masses are read.
    WrongTypeError, NotANumberError, OSError

    Warns
    -----
    ModelWarning
        Parts of the file are left out.
    """
    file = require_path(path, "load_osim(path)")
    has_masses = require_bool(masses, "load_osim(masses=...)")
    has_meshes = require_bool(meshes, "load_osim(meshes=...)")
    folders = folders_of(file) if has_meshes else None
    reader = _Reader(_model_of(file), folders, has_masses=has_masses)
    model = reader.read(str(file))
    warn_of(file.name, model.left_out)
    return model


def _model_of(path: Path) -> Element:
    """Return <Model> of a file, whose version is known.

    Raises
    ------
    FileFormatError, OSError
    """
    root = read_xml(path)
    if root.tag != "OpenSimDocument":
        raise root.bad(
            "is not a document of OpenSim",
            "<OpenSimDocument>",
            f"<{root.tag}>",
            "pass a file .osim",
        )
    text = root.attributes.get("Version", "")
    version = number(text)
    if version is None or not FIRST_VERSION <= version < END_OF_VERSIONS:
        raise root.bad(
            "is of a version that is not known",
            f"Version from {FIRST_VERSION} to {END_OF_VERSIONS - 1}",
            repr(text),
            "open it with OpenSim 4, and save it again",
        )
    model = root.child("Model")
    if model is None:
        raise root.bad("has no model", "<Model>", shown_tags(root), "pass the file of a model")
    return model


@final
class _Reader:
    """Builds the System of one model."""

    def __init__(self, model: Element, folders: list[Path] | None, *, has_masses: bool) -> None:
        self._model = model
        self._folders = folders  # of meshes
        self._has_masses = has_masses
        self._frames = Frames(model)
        self._system = MultibodySystem(name=model.name or "model")
        self._bodies: dict[str, MobilizedBody] = {GROUND: self._system.matter.ground}
        self._units: dict[str, str] = {}
        self._dropped: dict[tuple[str, str], list[str]] = {}  # names by kind and reason

    def read(self, path: str) -> Model:
        """Return the model."""
        bodies = self._body_elements()
        self._add_bodies(bodies, self._joints())
        constraints = self._add_constraints()
        markers = self._markers()
        self._add_looks()
        if self._has_masses:
            gravity = self._model.numbers_of("gravity", 3, (0.0, -9.80665, 0.0))
            self._system.add(Gravity(self._system.matter, np.array(gravity)), "gravity")
        self._note_what_is_left()
        left_out = tuple(
            LeftOut(kind, tuple(names), why) for (kind, why), names in self._dropped.items()
        )
        name = self._model.name or "model"
        return Model(name, self._system, markers, constraints, self._units, left_out, path)

    def _drop(self, element: Element, reason: str = "", kind: str = "", name: str = "") -> None:
        names = self._dropped.setdefault((kind or element.tag, reason), [])
        names.append(name or element.name or "?")

    # ------------------------------------------------------------------ bodies and joints

    def _body_elements(self) -> dict[str, Element]:
        elements = [b for b in self._model.objects("BodySet") if b.tag == "Body"]
        counts = Counter(body.name for body in elements)
        for body in elements:
            if not body.name or counts[body.name] > 1:
                raise body.bad("has no name of its own", "a name for each body", repr(body.name))
        return {body.name: body for body in elements if body.name != GROUND}

    def _joints(self) -> list[JointDescription]:
        found = [
            read_joint(joint, owner, self._frames) for joint, owner in joint_elements(self._model)
        ]
        names = Counter(c.name for joint in found for c in joint.coordinates)
        for joint in found:
            units = {c.name: u for c, u in zip(joint.coordinates, joint.units, strict=True)}
            self._units |= {e.name: units[e.name] for e in coordinate_elements(joint.element)}
            for coordinate in joint.coordinates:
                if names[coordinate.name] > 1:
                    raise joint.element.bad(
                        f"has coordinate {coordinate.name!r}, which another joint has as well",
                        "a name of its own for each coordinate",
                        f"{names[coordinate.name]} of this name",
                    )
        return found

    def _add_bodies(self, elements: dict[str, Element], joints: list[JointDescription]) -> None:
        """Add bodies from the ground on: each by the first joint that ties it to those before."""
        waiting = list(joints)
        while waiting:
            later = []
            for joint in waiting:
                has_parent = joint.parent.body in self._bodies
                has_child = joint.child.body in self._bodies
                if has_parent and has_child:
                    raise joint.element.bad(
                        "closes a loop",
                        f"one joint for body {joint.child.body!r}, on a body nearer to the ground",
                        f"another joint between {joint.parent.body!r} and {joint.child.body!r}",
                        "replace it by a WeldConstraint or a PointConstraint",
                    )
                if has_parent or has_child:
                    self._add_body(joint, elements, is_reversed=has_child)
                else:
                    later.append(joint)
            if len(later) == len(waiting):
                joint = later[0]
                raise joint.element.bad(
                    "is not joined to the ground",
                    "joints that lead to the ground",
                    f"one between {joint.parent.body!r} and {joint.child.body!r}",
                )
            waiting = later
        for name, element in elements.items():
            if name not in self._bodies:
                self._drop(element, "no joint ties it to the ground")

    def _add_body(
        self, joint: JointDescription, elements: dict[str, Element], *, is_reversed: bool
    ) -> None:
        inboard, outboard = joint.parent, joint.child
        if is_reversed:
            inboard, outboard = outboard, inboard
        element = elements[outboard.body]
        try:
            self._bodies[outboard.body] = self._system.matter.add_body(
                outboard.body,
                self._bodies[inboard.body],
                joint.mobilizer,
                reverse=is_reversed and not isinstance(joint.mobilizer, Weld),
                coordinates=joint.coordinates or None,
                mass_properties=self._mass_properties(element),
                inboard_frame=inboard.pose,
                outboard_frame=outboard.pose,
            )
        except MassPropertiesError:
            raise
        except StagecacheError as error:
            raise joint.element.bad(error.what, error.expected, error.got, error.hint) from error
        if any(
            child.flag_of("prescribed", default=False)
            for child in coordinate_elements(joint.element)
        ):
            self._drop(joint.element, "coordinates are free", "prescribed motion")

    def _mass_properties(self, body: Element) -> MassProperties | None:
        """Return the mass properties of a body; None if masses are not read."""
        mass = body.number_of("mass", 0.0)
        center = body.numbers_of("mass_center", 3, (0.0, 0.0, 0.0))
        inertia = self._inertia(body)
        try:
            found = MassProperties.about_center(mass, center, inertia if mass else [0.0] * 3)
        except StagecacheError as error:
            if not self._has_masses:
                self._drop(body, error.what.partition(": ")[2], "mass properties")
                return None
            raise MassPropertiesError(
                f"{body.where}: {error.what}",
                error.expected,
                error.got,
                "mend the model; or read it without masses: load_osim(path, masses=False)",
            ) from None
        return found if self._has_masses else None

    def _inertia(self, body: Element) -> list[float]:
        """Return xx, yy, zz, xy, xz, yz about the center of mass."""
        if body.child("inertia") is not None:
            return body.numbers_of("inertia", 6)
        return [body.number_of(f"inertia_{i}", 0.0) for i in ("xx", "yy", "zz", "xy", "xz", "yz")]

    # ------------------------------------------------------------------ what is tied to bodies

    def _add_constraints(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        coordinates = {c.name: c for c in self._system.matter.coordinates}
        for i, element in enumerate(self._model.objects("ConstraintSet")):
            if not _is_enforced(element):
                self._drop(element, "it is not enforced")
                continue
            made = read_constraint(element, self._frames, self._bodies, coordinates)
            if made is None:
                self._drop(element, "what it ties is free")
                continue
            name = element.name or f"constraint {i}"
            try:
                found[name] = self._system.add_constraint(made, name)
            except StagecacheError as error:
                raise element.bad(error.what, error.expected, error.got, error.hint) from error
        return found

    def _markers(self) -> list[ModelMarker]:
        found: dict[str, ModelMarker] = {}
        for element in self._model.objects("MarkerSet"):
            if element.tag != "Marker":
                continue
            place = self._frames.place(element, "parent_frame", "body")
            if not element.name or element.name in found:
                raise element.bad(
                    "has no name of its own", "a name for each marker", repr(element.name)
                )
            if place.body not in self._bodies:
                self._drop(element, "its body was left out")
                continue
            station = place.pose.apply(element.numbers_of("location", 3))
            found[element.name] = ModelMarker(element.name, self._bodies[place.body], station)
        return list(found.values())

    def _add_looks(self) -> None:
        """Add meshes and shapes to bodies, where the file names some that are there."""
        if self._folders is None:
            return
        ground = self._model.child("Ground")
        owners = [] if ground is None else [(ground, Place(GROUND))]
        owners += [(b, Place(b.name)) for b in self._model.objects("BodySet") if b.tag == "Body"]
        owners += self._frames.all_offsets()
        for owner, place in owners:
            body = self._bodies.get(place.body)
            if body is not None:
                for look in looks_of(owner, place.pose, self._folders, self._drop):
                    self._system.matter.add_decoration(body, look)

    def _note_what_is_left(self) -> None:
        """Note what is not read, by kind."""
        for tag in DROPPED_SETS:
            for element in self._model.objects(tag):
                self._drop(element)
        for element in self._model.objects("ComponentSet"):
            if element.tag != "PhysicalOffsetFrame":
                self._drop(element)
        for body in self._model.objects("BodySet"):
            for element in body.objects("WrapObjectSet"):
                self._drop(element)
        for child in self._model:
            if child.attributes.get("file"):
                self._drop(child, f"it is in another file, {child.attributes['file']!r}")


def _is_enforced(element: Element) -> bool:
    """Tell whether a constraint holds at first."""
    is_disabled = element.flag_of("isDisabled", default=False)
    return element.flag_of("isEnforced", default=not is_disabled)
