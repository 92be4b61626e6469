"""Drawings and animations of decorations."""

from stagecache.pictures.animation import animate
from stagecache.pictures.drawing import draw

__all__ = ["animate", "draw"]
