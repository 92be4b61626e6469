"""Mobilizers: how a body moves in its parent."""

from stagecache.multibody.mobilizers.ball import Ball
from stagecache.multibody.mobilizers.cylinder import Cylinder
from stagecache.multibody.mobilizers.free import Free
from stagecache.multibody.mobilizers.gimbal import Gimbal
from stagecache.multibody.mobilizers.pin import Pin
from stagecache.multibody.mobilizers.planar import Planar
from stagecache.multibody.mobilizers.slider import Slider
from stagecache.multibody.mobilizers.translation import Translation
from stagecache.multibody.mobilizers.universal import Universal
from stagecache.multibody.mobilizers.weld import Weld

__all__ = [
    "Ball",
    "Cylinder",
    "Free",
    "Gimbal",
    "Pin",
    "Planar",
    "Slider",
    "Translation",
    "Universal",
    "Weld",
]
