"""Frames of OpenSim's files: each is a pose in a body, found by its path.

::

    /ground   /bodyset/femur_r   /jointset/hip_r/pelvis_offset   ../femur_r   femur_r_offset

An offset frame is fixed to another frame, which may be an offset frame as well, in any depth. Paths
are absolute, or relative to the element that names one; older versions have the name of the model
in front, or only the name of a body.
"""

from typing import Final, final

from attrs import field, frozen

from stagecache.models.xml import Element
from stagecache.multibody import Transform
from stagecache.multibody.geometry.orientation import pose_of_angles
from stagecache.multibody.geometry.spatial import Array

GROUND: Final = "ground"
MOST_DEEP: Final = 200  # offset frames on offset frames
SETS: Final = ("BodySet", "JointSet", "ConstraintSet", "MarkerSet", "ComponentSet", "ForceSet")


@final
@frozen
class Place:
    """A frame that is fixed to a body.

    Attributes
    ----------
    body : str
    pose : Transform
        In the frame of the body.
    """

    body: str
    pose: Transform = field(factory=Transform)


def offset(translation: list[float], angles: list[float]) -> Transform:
    """Return the pose of an offset: body-fixed x-y-z angles [rad], then a translation [m]."""
    import numpy as np  # noqa: PLC0415

    rows: Array = np.array(pose_of_angles(*angles, *translation)).reshape(3, 4)
    return Transform(rows[:, :3], rows[:, 3])


@final
class Frames:
    """The frames of a model, by path.

    Parameters
    ----------
    model : Element
        <Model>
    """

    def __init__(self, model: Element) -> None:
        self._model = model
        self._bodies: dict[str, str] = {f"/{GROUND}": GROUND}  # by path
        self._offsets: dict[str, Element] = {}
        self._found: dict[str, Place] = {}
        for body in model.objects("BodySet"):
            if body.tag == "Body":
                is_ground = body.name == GROUND  # of versions before 4
                self._bodies["/ground" if is_ground else f"/bodyset/{body.name}"] = body.name
        self._collect(model, "")

    def _collect(self, owner: Element, path: str) -> None:
        """Note the offset frames below an element, by path."""
        for child in owner:
            if child.tag == "PhysicalOffsetFrame" and child.name:
                self._offsets[f"{path}/{child.name}"] = child
                self._collect(child, f"{path}/{child.name}")
            elif child.tag in SETS:
                self._collect(child, f"{path}/{child.tag.lower()}")
            elif child.tag in ("objects", "frames", "components"):
                self._collect(child, path)
            elif child.name and child.children:
                self._collect(child, f"{path}/{child.name}")

    def all_offsets(self) -> list[tuple[Element, Place]]:
        """Return all offset frames, each with its place.

        Raises
        ------
        FileFormatError
        """
        return [(e, self._place_at(e, path, "", ())) for path, e in self._offsets.items()]

    # ------------------------------------------------------------------ paths

    def path_of(self, element: Element) -> str:
        """Return the path of a component, with which relative paths begin."""
        parts: list[str] = []
        at: Element | None = element
        while at is not None and at is not self._model:
            if at.tag in SETS:
                parts.append(at.tag.lower())
            elif at.name and at.tag not in ("objects", "frames", "components"):
                parts.append(at.name)
            at = at.parent
        return "/" + "/".join(reversed(parts))

    def place(self, owner: Element, socket: str, old: str = "") -> Place:
        """Return the frame to which a socket of a component is connected.

        Parameters
        ----------
        owner : Element
            The component.
        socket : str
            "parent_frame", for <socket_parent_frame>.
        old : str
            The tag of versions before 4, which has the name of a body.

        Raises
        ------
        FileFormatError
            It is not connected, or to a frame that does not exist; or frames are in a circle.
        """
        element = owner.child(f"socket_{socket}", f"socket_{socket}_connectee_name", old)
        text = "" if element is None else element.text
        if element is None:
            for connector in owner.child("connectors") or ():
                if connector.name == socket:
                    element, text = connector, connector.text_of("connectee_name")
        if element is None or not text:
            problem = f"is not connected to a frame by <socket_{socket}>"
            raise owner.bad(problem, "the path of a frame", "none")
        return self._place_at(element, text, self.path_of(owner), ())

    def _place_at(
        self, element: Element, text: str, start: str, on_the_way: tuple[str, ...]
    ) -> Place:
        path = self._resolved(element, text, start)
        if path in self._bodies:
            return Place(self._bodies[path])
        if path not in self._found:
            if path in on_the_way or len(on_the_way) > MOST_DEEP:
                circle = " -> ".join((*on_the_way, path))
                raise element.bad(
                    "frames are in a circle", "frames that end at a body", circle[:99]
                )
            frame = self._offsets[path]
            inner = frame.child("socket_parent", "socket_parent_connectee_name")
            name = "" if inner is None else inner.text
            for connector in frame.child("connectors") or ():
                inner, name = connector, connector.text_of("connectee_name")
            if inner is None or not name:
                raise frame.bad("has no parent", "the path of a frame in <socket_parent>", "none")
            parent = self._place_at(inner, name, path, (*on_the_way, path))
            own = offset(
                frame.numbers_of("translation", 3, (0.0, 0.0, 0.0)),
                frame.numbers_of("orientation", 3, (0.0, 0.0, 0.0)),
            )
            self._found[path] = Place(parent.body, parent.pose @ own)
        return self._found[path]

    def _resolved(self, element: Element, text: str, start: str) -> str:
        """Return the absolute path of a frame that a text names."""
        known = (*self._bodies, *self._offsets)
        path = text if text.startswith("/") else f"{start}/{text}"
        for candidate in (_normal(path), _normal(f"{start}/../{text}"), _normal(f"/{text}")):
            if candidate in known:
                return candidate
        name = text.rpartition("/")[2]
        alike = [path for path in known if path.rpartition("/")[2] == name]
        if len(alike) == 1:
            return alike[0]
        raise element.bad(
            "names a frame that does not exist" if not alike else "names one of several frames",
            "the path of a body, the ground, or an offset frame",
            text,
            "write one of " + ", ".join((alike or known)[:6]),
        )


def _normal(path: str) -> str:
    """Return a path without "." and ".."."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)
