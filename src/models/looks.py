"""Looks of bodies: the decorations that files name, where their meshes are there."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import numpy as np

from stagecache.decorations import (
    AbstractDecoration,
    DecorativeBrick,
    DecorativeCylinder,
    DecorativeMesh,
    DecorativeSphere,
)
from stagecache.errors import StagecacheError
from stagecache.models.meshes import find_mesh, read_mesh
from stagecache.models.xml import Element
from stagecache.multibody import Transform

FOLDER: Final = "Geometry"
"""The folder beside a model of OpenSim that has its meshes."""

NOT_THERE: Final = "the file is not there"

Drop = Callable[..., None]
"""Called with an element that has no counterpart, the reason, its kind and its name."""

ONE: Final = (1.0, 1.0, 1.0)


def mesh_of(
    path: Path, scale: Iterable[float], pose: Transform, look: dict[str, Any]
) -> DecorativeMesh:
    """Return the decoration of a mesh in a file.

    Raises
    ------
    FileFormatError, OSError
    """
    vertices, faces = read_mesh(path)
    return DecorativeMesh(
        vertices * np.array([*scale]),
        faces,
        rotation=pose.rotation,
        translation=pose.translation,
        **look,
    )


def folders_of(model: Path) -> list[Path]:
    """Return the folders in which meshes of a model are looked for."""
    return [model.parent, model.parent / FOLDER]


def looks_of(
    owner: Element, pose: Transform, folders: list[Path], drop: Drop
) -> list[AbstractDecoration]:
    """Return the decorations of a body or an offset frame of OpenSim.

    Parameters
    ----------
    owner : Element
    pose : Transform
        Of its frame in the body.
    folders : list of Path
        Where meshes are looked for.
    drop : callable
    """
    found: list[AbstractDecoration] = []
    for element in owner.child("attached_geometry") or ():
        if element.tag == "Mesh":
            name = element.text_of("mesh_file")
            path = find_mesh(name, folders)
            if path is None:
                drop(element, NOT_THERE, name=name)
                continue
        try:
            made = _decoration(element, path if element.tag == "Mesh" else None, pose)
        except StagecacheError as error:
            drop(element, error.what)
            continue
        if made is None:
            drop(element, "")
        else:
            found.append(made)
    found += _old_looks(owner, folders, drop)
    return found


def _decoration(element: Element, path: Path | None, pose: Transform) -> AbstractDecoration | None:
    scale = element.numbers_of("scale_factors", 3, ONE)
    look = _look(element.child("Appearance"))
    at: dict[str, Any] = {"rotation": pose.rotation, "translation": pose.translation}
    if path is not None:
        return mesh_of(path, scale, pose, look)
    if element.tag == "Sphere":
        return DecorativeSphere(element.number_of("radius") * scale[0], **at, **look)
    if element.tag == "Brick":
        half = np.array(element.numbers_of("half_lengths", 3)) * scale
        return DecorativeBrick(half, **at, **look)
    if element.tag == "Cylinder":
        radius, height = element.number_of("radius"), element.number_of("half_height")
        return DecorativeCylinder(radius * scale[0], height * scale[1], **at, **look)
    return None


def _look(appearance: Element | None) -> dict[str, Any]:
    if appearance is None:
        return {}
    look: dict[str, Any] = {"opacity": appearance.number_of("opacity", 1.0)}
    color = appearance.numbers_of("color", 3, ONE)
    if color != [*ONE]:  # white is the default, and hardly seen
        look["color"] = color
    return look


def _old_looks(owner: Element, folders: list[Path], drop: Drop) -> list[AbstractDecoration]:
    """Return the meshes of a body of version 2 or 3: <VisibleObject> <GeometrySet> ..."""
    visible = owner.child("VisibleObject")
    if visible is None:
        return []
    whole = np.array(visible.numbers_of("scale_factors", 3, ONE))
    found: list[AbstractDecoration] = []
    for element in visible.objects("GeometrySet"):
        path = find_mesh(element.text_of("geometry_file"), folders)
        if path is None:
            drop(element, NOT_THERE, "Mesh", element.text_of("geometry_file"))
            continue
        scale = whole * element.numbers_of("scale_factors", 3, ONE)
        try:
            found.append(mesh_of(path, scale.tolist(), Transform(), {}))
        except StagecacheError as error:
            drop(element, error.what)
    return found
