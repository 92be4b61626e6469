"""Geometry to draw: points, lines, spheres, frames, meshes."""

from stagecache.decorations.coordinate_direction import CoordinateDirection
from stagecache.decorations.decorations import (
    AbstractDecoration,
    DecorativeBrick,
    DecorativeCylinder,
    DecorativeFrame,
    DecorativeLine,
    DecorativeMesh,
    DecorativePoint,
    DecorativeSphere,
    DecorativeText,
)

__all__ = [
    "AbstractDecoration",
    "CoordinateDirection",
    "DecorativeBrick",
    "DecorativeCylinder",
    "DecorativeFrame",
    "DecorativeLine",
    "DecorativeMesh",
    "DecorativePoint",
    "DecorativeSphere",
    "DecorativeText",
]
