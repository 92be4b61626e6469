r"""Skeletons: the looks of bodies without decorations, and decorations in ground.

::

    decoration's frame D  --- given in the frame of a body B --->  D in the ground G
        R_GD = R_GB R_BD      p_GD = R_GB p_BD + p_GB

A body without decorations is a point at its origin, with lines to its own joint, to those of its
children, and to the points that constraints hold; the ground is a frame instead of a point. So any
tree is visible.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from attrs import evolve

from stagecache.decorations.decorations import (
    AbstractDecoration,
    DecorativeFrame,
    DecorativeLine,
    DecorativePoint,
)
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.geometry.transform import Transform
from stagecache.multibody.tree.joints import AnyBody

Decorations = tuple[AbstractDecoration, ...]

ORIGIN: Final = (0.0, 0.0, 0.0)
_GROUND_AXES: Final = 0.25  # by the longest line
BONE: Final = 2.0  # line widths
_JOINT: Final = 1.5


def in_ground(decoration: AbstractDecoration, pose: Transform) -> AbstractDecoration:
    """Return in ground a decoration that is given in the frame of a body."""
    return evolve(
        decoration,
        rotation=pose.rotation @ decoration.rotation,
        translation=pose.rotation @ decoration.translation + pose.translation,
    )


def skeletons_of(bodies: Sequence[AnyBody]) -> dict[int, Decorations]:
    """Return decorations of bodies by their indices, each in the frame of its body."""
    joints: dict[int, list[Array]] = {body.index: [] for body in bodies}
    for body in bodies[1:]:
        joints[body.index].append(body.outboard_frame.translation)
        joints[body.parent.index].append(body.inboard_frame.translation)
    found: dict[int, Decorations] = {}
    for index, places in joints.items():
        bones = [DecorativeLine(ORIGIN, place, line_width=BONE) for place in places if any(place)]
        found[index] = (*bones, DecorativePoint(ORIGIN, line_width=_JOINT))
    lengths = [float(np.linalg.norm(place)) for places in joints.values() for place in places]
    axes = DecorativeFrame(_GROUND_AXES * max(lengths, default=0.0) or 1.0, line_width=BONE)
    ground = bodies[0].index
    found[ground] = (*found[ground][:-1], axes)
    return found
