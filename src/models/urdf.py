r"""Robots in files of URDF, as Systems. The package yourdfpy reads the elements (extra `robots`).

::

    fixed                   Weld                    <limit lower, upper>   range, clamped
    revolute, continuous    Pin about the axis      <mimic>                a coupler
    prismatic               Slider along the axis   <inertial>             mass properties
    floating                Free

A joint is a coordinate of its name. The z axis points upwards. What has no counterpart, as
transmissions and collisions, is reported.
"""

from collections.abc import Iterable, Mapping
from io import BytesIO
from math import inf
from os import PathLike
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from stagecache.checks import require_bool, require_extra, require_path, require_positive
from stagecache.decorations import (
    AbstractDecoration,
    DecorativeBrick,
    DecorativeCylinder,
    DecorativeSphere,
)
from stagecache.errors import FileFormatError, StagecacheError
from stagecache.models.looks import NOT_THERE, mesh_of
from stagecache.models.meshes import ENDINGS
from stagecache.models.model import LeftOut, Model, warn_of
from stagecache.models.osim_constraints import Coupling, coupler
from stagecache.models.reading import bad, read_bytes
from stagecache.models.simplest import frame_with
from stagecache.models.xml import MOST_BYTES, read_xml
from stagecache.multibody import (
    AbstractMobilizer,
    Coordinate,
    Free,
    Gravity,
    Linear,
    MassProperties,
    MobilizedBody,
    MultibodySystem,
    Pin,
    Slider,
    Transform,
    Weld,
)
from stagecache.multibody.checks import checked_array, checked_direction
from stagecache.multibody.geometry.spatial import Array

EARTH: Final = (0.0, 0.0, -9.81)  # m/s²
Y_TO_Z: Final = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""The turn of a cylinder along y that lies along z."""

TURNING: Final = ("revolute", "continuous")
KINDS: Final = ("fixed", *TURNING, "prismatic", "floating")


def load_urdf(
    path: str | PathLike[str], *, floating: bool = False, masses: bool = True, meshes: bool = False
) -> Model:
    """Read a robot in a file of URDF.

    Each joint that moves is a coordinate of its name [rad or m], clamped to its limits. A joint
    that mimics another one is coupled to it by a constraint.

    Parameters
    ----------
    path : str or os.PathLike
        A file .urdf; not one of xacro.
    floating : bool
        True for a robot whose first link moves freely; by default it is fixed to the ground.
    masses : bool
        False to read it without masses and gravity.
    meshes : bool
        True to read the looks of links: boxes, cylinders, spheres, and meshes (.stl, .obj) in the
        folder of the file, or the folder above it.

    Returns
    -------
    Model

    Raises
    ------
    MissingExtraError
        yourdfpy is not installed (the extra `robots`).
    FileFormatError
        It is not such a file, or has a joint of another kind, or a loop.
    WrongTypeError, NotANumberError, OSError

    Warns
    -----
    ModelWarning
        Parts of the file are left out.
    """
    file = require_path(path, "load_urdf(path)")
    options = {
        "floating": require_bool(floating, "load_urdf(floating=...)"),
        "masses": require_bool(masses, "load_urdf(masses=...)"),
        "meshes": require_bool(meshes, "load_urdf(meshes=...)"),
    }
    robot = _robot_of(file)
    model = _Reader(robot, file, options).read()
    warn_of(file.name, model.left_out)
    return model


def _robot_of(file: Path) -> Any:
    """Return the elements of a file; documents with entities are refused before.

    Raises
    ------
    FileFormatError, MissingExtraError, OSError
    """
    yourdfpy = require_extra("yourdfpy", "robots", "load_urdf()")
    root = read_xml(file)
    if root.tag != "robot":
        raise root.bad("is not a robot", "<robot>", f"<{root.tag}>", "pass a file .urdf")
    try:
        data = BytesIO(read_bytes(file, MOST_BYTES))
        return yourdfpy.URDF.load(data, build_scene_graph=False, load_meshes=False).robot
    except Exception as error:  # of many kinds
        raise bad(
            file.name,
            "is not a robot that yourdfpy reads",
            "links and joints with their elements",
            f"{type(error).__name__}: {error}",
        ) from error


def _transform(matrix: Array | None) -> Transform:
    return Transform() if matrix is None else Transform(matrix[:3, :3], matrix[:3, 3])


@final
class _Reader:
    """Builds the System of one robot."""

    def __init__(self, robot: Any, file: Path, options: Mapping[str, bool]) -> None:
        self._robot = robot
        self._file = file
        self._options = options
        self._system = MultibodySystem(name=robot.name or file.stem)
        self._system.up_direction = "+Z"
        self._bodies: dict[str, MobilizedBody] = {}
        self._units: dict[str, str] = {}
        self._dropped: dict[tuple[str, str], list[str]] = {}

    def read(self) -> Model:
        links = {link.name: link for link in self._robot.links}
        children: dict[str, list[Any]] = {}
        for joint in self._robot.joints:
            self._check(joint, links)
            children.setdefault(joint.parent, []).append(joint)
        inner = {joint.child for joint in self._robot.joints}
        roots = [name for name in links if name not in inner]
        if len(roots) != 1:
            raise self._bad(
                "is not one tree", "one link without a parent", ", ".join(roots) or "none"
            )
        self._add(roots[0], links[roots[0]], None)
        waiting = [roots[0]]
        while waiting:
            for joint in children.get(waiting.pop(0), ()):
                if joint.child in self._bodies:
                    expected = "one joint for each link"
                    raise self._bad(f"link {joint.child!r} has several", expected, joint.name)
                self._add(joint.child, links[joint.child], joint)
                waiting.append(joint.child)
        constraints = self._couple()
        if self._options["masses"]:
            self._system.add(Gravity(self._system.matter, EARTH), "gravity")
        self._note_what_is_left()
        left_out = tuple(
            LeftOut(kind, tuple(names), why) for (kind, why), names in self._dropped.items()
        )
        name = self._robot.name or self._file.stem
        return Model(name, self._system, (), constraints, self._units, left_out, str(self._file))

    def _bad(self, problem: str, expected: str, got: str) -> FileFormatError:
        return bad(self._file.name, problem, expected, got)

    def _check(self, joint: Any, links: Mapping[str, Any]) -> None:
        if joint.type not in KINDS:
            what = f"joint {joint.name!r} is of a kind that is not known"
            raise self._bad(what, ", ".join(KINDS), str(joint.type))
        for link in (joint.parent, joint.child):
            if link not in links:
                what = f"joint {joint.name!r} names a link that does not exist"
                raise self._bad(what, "a link of the robot", repr(link))

    def _drop(self, kind: str, name: str, reason: str = "") -> None:
        self._dropped.setdefault((kind, reason), []).append(name)

    # ------------------------------------------------------------------ bodies

    def _add(self, name: str, link: Any, joint: Any) -> None:
        """Add the body of a link with its joint; without one, it is the first link."""
        try:
            self._bodies[name] = self._added(name, link, joint)
        except FileFormatError:
            raise
        except StagecacheError as error:
            raise bad(
                f"{self._file.name}: link {name!r}: {error.what}",
                "cannot be added",
                error.expected,
                error.got,
                error.hint,
            ) from error

    def _added(self, name: str, link: Any, joint: Any) -> MobilizedBody:
        if joint is None:
            mobilizer: AbstractMobilizer = Free() if self._options["floating"] else Weld()
            inboard = turn = Transform()
            parent, coordinates = self._system.matter.ground, None
        else:
            mobilizer, turn = _mobilizer(joint)
            inboard, parent = _transform(joint.origin) @ turn, self._bodies[joint.parent]
            coordinates = self._coordinates(joint)
        return self._system.matter.add_body(
            name,
            parent,
            mobilizer,
            mass_properties=self._mass_properties(link),
            inboard_frame=inboard,
            outboard_frame=turn,
            coordinates=coordinates,
            decorations=self._looks(link),
        )

    def _coordinates(self, joint: Any) -> list[Coordinate] | None:
        if joint.type not in (*TURNING, "prismatic"):
            return None
        low, high = -inf, inf
        limit = joint.limit
        if joint.type != "continuous" and limit is not None:
            low = -inf if limit.lower is None else limit.lower
            high = inf if limit.upper is None else limit.upper
        if not low <= high:
            what = f"joint {joint.name!r} has limits that are empty"
            raise self._bad(what, "lower <= upper", f"{low:g} to {high:g}")
        self._units[joint.name] = "rad" if joint.type in TURNING else "m"
        default = min(max(0.0, low), high)
        has_limits = (low, high) != (-inf, inf)
        return [Coordinate(joint.name, default, (low, high), clamped=has_limits)]

    def _mass_properties(self, link: Any) -> MassProperties | None:
        inertial = link.inertial
        if inertial is None or not inertial.mass or not self._options["masses"]:
            return None
        pose = _transform(inertial.origin)
        inertia = np.zeros((3, 3)) if inertial.inertia is None else np.array(inertial.inertia)
        turned = pose.rotation @ inertia @ pose.rotation.T
        turned = (turned + turned.T) / 2.0
        return MassProperties.about_center(inertial.mass, pose.translation, turned)

    # ------------------------------------------------------------------ couplers

    def _couple(self) -> dict[str, Any]:
        matter, found = self._system.matter, {}
        for joint in self._robot.joints:
            if joint.mimic is None or joint.type not in (*TURNING, "prismatic"):
                continue
            if joint.mimic.joint not in self._units:
                what = f"joint {joint.name!r} mimics a joint that does not move"
                raise self._bad(what, "the name of another joint", repr(joint.mimic.joint))
            factor = 1.0 if joint.mimic.multiplier is None else joint.mimic.multiplier
            shift = 0.0 if joint.mimic.offset is None else joint.mimic.offset
            source, own = matter.coordinate(joint.mimic.joint), matter.coordinate(joint.name)
            made = coupler([source], own, Coupling((Linear(factor, shift),)))
            name = f"{joint.name} mimics {joint.mimic.joint}".replace(".", "_")
            found[joint.name] = self._system.add_constraint(made, name)
        return found

    # ------------------------------------------------------------------ looks

    def _looks(self, link: Any) -> list[AbstractDecoration] | None:
        """Return the decorations of a link; None, its skeleton, if there are none."""
        if not self._options["meshes"]:
            return None
        colors = {m.name: m.color.rgba for m in self._robot.materials if m.color is not None}
        found = [look for visual in link.visuals if (look := self._look(link, visual, colors))]
        return found or None

    def _look(self, link: Any, visual: Any, colors: Mapping[str, Any]) -> AbstractDecoration | None:
        pose, geometry = _transform(visual.origin), visual.geometry
        at: dict[str, Any] = {"rotation": pose.rotation, "translation": pose.translation}
        try:
            look = _color(visual.material, colors)
            if geometry.box is not None:
                size = checked_array(geometry.box.size, (3,), "the size of a box")
                return DecorativeBrick(size / 2.0, **at, **look)
            if geometry.sphere is not None:
                return DecorativeSphere(geometry.sphere.radius, **at, **look)
            if geometry.cylinder is not None:
                at["rotation"] = pose.rotation @ Y_TO_Z
                shape = geometry.cylinder
                half = require_positive(shape.length, "the length of a cylinder") / 2.0
                return DecorativeCylinder(shape.radius, half, **at, **look)
            if geometry.mesh is not None:
                path = self._mesh(geometry.mesh.filename)
                if path is None:
                    self._drop("mesh", geometry.mesh.filename, NOT_THERE)
                    return None
                scale = np.atleast_1d(1.0 if geometry.mesh.scale is None else geometry.mesh.scale)
                sizes = checked_array(np.resize(scale, 3), (3,), "the scale of a mesh")
                return mesh_of(path, sizes.tolist(), pose, look)
        except StagecacheError as error:
            self._drop("visual", link.name, error.what)
        return None

    def _mesh(self, name: str) -> Path | None:
        """Return the file of a mesh: package://robot/meshes/arm.stl, below a folder nearby."""
        parts = [part for part in name.rpartition("://")[2].split("/") if part not in ("", ".")]
        if ".." in parts:
            return None
        for base in (self._file.parent, self._file.parent.parent):
            for start in range(len(parts)):
                path = base.joinpath(*parts[start:])
                if path.suffix.lower() in ENDINGS and path.is_file():
                    return path
        return None

    def _note_what_is_left(self) -> None:
        """Note what is not read, by kind."""
        for joint in self._robot.joints:
            if joint.dynamics is not None and (joint.dynamics.damping or joint.dynamics.friction):
                self._drop("damping and friction", joint.name)
            if joint.safety_controller is not None:
                self._drop("safety controller", joint.name)
        for link in self._robot.links:
            if link.collisions:
                self._drop("collision", link.name)
        for i, transmission in enumerate(_listed(self._robot.transmission)):
            self._drop("transmission", str(getattr(transmission, "name", i)))
        for i, _ in enumerate(_listed(self._robot.gazebo)):
            self._drop("gazebo", str(i))


def _listed(parts: Any) -> Iterable[Any]:
    return () if parts is None else parts


def _mobilizer(joint: Any) -> tuple[AbstractMobilizer, Transform]:
    """Return the mobilizer of a joint, and the turn of its frames."""
    if joint.type == "fixed":
        return Weld(), Transform()
    if joint.type == "floating":
        return Free(), Transform()
    axis = (1.0, 0.0, 0.0) if joint.axis is None else joint.axis
    frame = frame_with(checked_direction(axis, f"the axis of joint {joint.name!r}"))
    if joint.type == "prismatic":
        return Slider(), Transform(frame)
    return Pin(), Transform(np.roll(frame, 2, axis=1))


def _color(material: Any, colors: Mapping[str, Any]) -> dict[str, Any]:
    """Return the color and the opacity of a material, which may be named only."""
    if material is None:
        return {}
    rgba = material.color.rgba if material.color is not None else colors.get(material.name)
    if rgba is None:
        return {}
    numbers = checked_array(rgba, (4,), f"the color of material {material.name!r}")
    red, green, blue, opacity = np.clip(numbers, 0.0, 1.0).tolist()
    return {"color": (red, green, blue), "opacity": opacity}
