r"""A joint by functions as a simpler one, in turned frames, where there is one that moves alike.

::

    about one axis                       Pin            z of the turned frames is the axis
    about two, at right angles           Universal      x, y
    about three, of a right-handed frame Gimbal         x, y, z
    along one axis                       Slider         x
    about and along these three          Bushing        x, y, z

Joints of these kinds are computed in compiled code, at a tenth of the cost.
"""

from typing import Final

import numpy as np

from stagecache.multibody import (
    AbstractFunction,
    AbstractMobilizer,
    Bushing,
    FunctionBased,
    Gimbal,
    Linear,
    Pin,
    Slider,
    Transform,
    Universal,
)
from stagecache.multibody.geometry.spatial import Array

ROUNDING: Final = 1e-14
"""Deviation from right angles that axes may have."""


def simplest(mobilizer: AbstractMobilizer) -> tuple[AbstractMobilizer, Transform, list[int]]:
    """Return a mobilizer that moves alike, the turn of both its frames, and the order of its q.

    The order has the index of each of its q among the q of the given one.
    """
    order = list(range(mobilizer.nu))
    same = mobilizer, Transform(), order
    if not isinstance(mobilizer, FunctionBased):
        return same
    motions = (*mobilizer.rotations, *mobilizer.translations)
    is_plain = all(_is_plain(function) for _, function, _ in motions)
    if not is_plain or [q for _, _, q in motions] != list(range(len(motions))):
        return same
    axes = [np.array(axis) * function.first(0.0) for axis, function, _ in motions]
    match len(mobilizer.rotations), len(mobilizer.translations):
        case 1, 0:
            return Pin(), Transform(np.roll(frame_with(axes[0]), 2, axis=1)), order
        case 0, 1:
            return Slider(), Transform(frame_with(axes[0])), order
        case 2, 0 if abs(axes[0] @ axes[1]) < ROUNDING:
            third = np.cross(axes[0], axes[1])
            return Universal(), Transform(np.column_stack([*axes, third])), order
        case 3, 0:
            turn = np.column_stack(axes)
            if _is_rotation(turn):
                return Gimbal(), Transform(turn), order
        case 3, 3:
            turn = np.column_stack(axes[:3])
            along = turn.T @ np.column_stack(axes[3:])  # a permutation, if it is one
            if _is_rotation(turn) and _is_permutation(along):
                return Bushing(), Transform(turn), [0, 1, 2, *(3 + along.argmax(axis=1)).tolist()]
    return same


def _is_rotation(matrix: Array) -> bool:
    deviation = np.abs(matrix.T @ matrix - np.eye(3)).max()
    return bool(deviation < ROUNDING and np.linalg.det(matrix) > 0.0)


def _is_permutation(matrix: Array) -> bool:
    near = np.abs(matrix - np.round(matrix)).max() < ROUNDING
    return bool(
        near
        and (matrix > 0.5).sum(axis=0).tolist() == [1, 1, 1] == (matrix > 0.5).sum(axis=1).tolist()
    )


def _is_plain(function: AbstractFunction) -> bool:
    """Tell whether a function is the coordinate itself, or its opposite."""
    return isinstance(function, Linear) and abs(function.slope) == 1.0 and not function.intercept


def frame_with(axis: Array) -> Array:
    """Return axes of a frame as columns, the first of which is given."""
    other = np.eye(3)[np.abs(axis).argmin()]
    second = np.cross(axis, other)
    second /= np.linalg.norm(second)
    return np.column_stack([axis, second, np.cross(axis, second)])
