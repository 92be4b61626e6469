r"""What bodies look like: their decorations, or else a skeleton of the tree.

::

    decoration's frame D  --- given in the frame of a body B --->  D in the ground G
        R_GD = R_GB R_BD      p_GD = R_GB p_BD + p_GB

A body without decorations is a point at its origin, with lines to its own joint, to those of its
children, and to the points that constraints hold; the ground is a frame instead of a point. So any
tree can be seen.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

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
from stagecache.multibody.matter.body import MobilizedBody
from stagecache.state.state import State

Decorations = tuple[AbstractDecoration, ...]

_ORIGIN: Final = (0.0, 0.0, 0.0)
_GROUND_AXES: Final = 0.25  # by the longest line
_BONE: Final = 2.0  # line widths
_JOINT: Final = 1.5


def in_ground(decoration: AbstractDecoration, pose: Transform) -> AbstractDecoration:
    """A decoration that is given in the frame of a body, in the ground."""
    return evolve(
        decoration,
        rotation=pose.rotation @ decoration.rotation,
        translation=pose.rotation @ decoration.translation + pose.translation,
    )


def append_bodies(
    bodies: Sequence[MobilizedBody],
    decorations: Mapping[int, Decorations],
    state: State,
    geometry: list[Any],
) -> None:
    """Append what bodies look like where they are. Needs stage Position.

    Parameters
    ----------
    bodies : sequence of MobilizedBody
        All of a matter.
    decorations : mapping of int to tuple of AbstractDecoration
        By the index of a body, in its frame; those that are not there get a skeleton.
    state : State
    geometry : list of AbstractDecoration
        To which is appended.
    """
    skeletons: dict[int, Decorations] = {}
    if len(decorations) < len(bodies):
        skeletons = skeletons_of(bodies)
    for body in bodies:
        shown = decorations.get(body.index, skeletons.get(body.index, ()))
        if shown:
            pose = body.pose(state)
            geometry += [in_ground(decoration, pose) for decoration in shown]


def bones_to(
    points: Iterable[tuple[MobilizedBody, Array]],
    decorations: Mapping[int, Decorations],
    state: State,
) -> list[AbstractDecoration]:
    """Lines in ground from the origins of bodies to points of them, where those have a skeleton.

    Parameters
    ----------
    points : iterable of (MobilizedBody, (3,) ndarray)
        In the frame of the body [m].
    decorations : mapping of int to tuple of AbstractDecoration
        As for `append_bodies`.
    state : State
        At Model or further.
    """
    return [
        in_ground(DecorativeLine(_ORIGIN, point, line_width=_BONE), body.pose(state))
        for body, point in points
        if body.index not in decorations and point.any()
    ]


def skeletons_of(bodies: Sequence[MobilizedBody]) -> dict[int, Decorations]:
    """By the index of a body, what it looks like if nothing else is said, in its frame."""
    joints: dict[int, list[Array]] = {body.index: [] for body in bodies}
    for body in bodies[1:]:
        joints[body.index].append(body.outboard_frame.translation)
        joints[body.parent.index].append(body.inboard_frame.translation)
    found: dict[int, Decorations] = {}
    for index, places in joints.items():
        bones = [DecorativeLine(_ORIGIN, place, line_width=_BONE) for place in places if any(place)]
        found[index] = (*bones, DecorativePoint(_ORIGIN, line_width=_JOINT))
    lengths = [float(np.linalg.norm(place)) for places in joints.values() for place in places]
    axes = DecorativeFrame(_GROUND_AXES * max(lengths, default=0.0) or 1.0, line_width=_BONE)
    ground = bodies[0].index
    found[ground] = (*found[ground][:-1], axes)
    return found
