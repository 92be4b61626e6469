r"""The q or u of a joint for a wanted pose or velocity: exact where it can, else the nearest.

::

    q     least squares of [rotation vector of R' R_FM, (p_FM - p) / length]
    u     least squares of the rows of V_FM = sum of axes(q)[j] u[j]

The search for q, with Euler angles, starts from the present q, from the default, and from each q
moved by a third of a turn; the best result counts, the first of equal ones.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from stagecache.multibody.geometry.orientation import angles_of_pose, rotation_vectors
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer

THIRD: Final = 2.0 * np.pi / 3.0
EXACT: Final = 1e-10
"""The residual below which no further start is tried."""


def fitted_q(
    mobilizer: AbstractMobilizer,
    start: Sequence[float],
    rotation: Array | None,
    translation: Array | None,
    length: float,
) -> list[float]:
    """Return the q of a joint, in Euler angles, whose pose is the nearest to a wanted one.

    Parameters
    ----------
    mobilizer : AbstractMobilizer
        With Euler angles.
    start : sequence of float
        The present q.
    rotation : (3, 3) float, or None
        R_FM, where it counts.
    translation : (3,) float, or None
        p_FM, where it counts [m].
    length : float
        The length that counts as much as an angle of 1 rad [m].
    """
    from scipy.optimize import least_squares  # noqa: PLC0415  # it takes a while

    def residuals(q: Array) -> Array:
        pose = np.array(mobilizer.pose(q.tolist())).reshape(3, 4)
        found = [np.empty(0)]
        if rotation is not None:
            found.append(rotation_vectors((rotation.T @ pose[:, :3])[None])[0])
        if translation is not None:
            found.append((pose[:, 3] - translation) / length)
        return np.concatenate(found)

    best, least = np.array(start, float), np.inf
    for first in _starts(mobilizer, start, rotation):
        found = least_squares(residuals, first, x_scale="jac", xtol=1e-15, ftol=1e-15, gtol=1e-15)
        if found.cost < least * (1.0 - 1e-9):
            best, least = found.x, found.cost
        if least < 0.5 * EXACT**2:
            break
    result: list[float] = best.tolist()
    return result


def _starts(
    mobilizer: AbstractMobilizer, start: Sequence[float], rotation: Array | None
) -> list[Array]:
    starts = [np.array(start, float), np.array(mobilizer.default_q, float)]
    if rotation is not None and mobilizer.nq >= 3:
        pose: Any = np.column_stack([rotation, np.zeros(3)]).ravel().tolist()
        likely = starts[0].copy()
        likely[:3] = angles_of_pose(pose)
        starts.append(likely)
    for i in range(mobilizer.nq):
        for turn in (THIRD, -THIRD):
            other = starts[1].copy()
            other[i] += turn
            starts.append(other)
    return starts


def fitted_u(mobilizer: AbstractMobilizer, q: Sequence[float], wanted: Array, rows: slice) -> Array:
    """Return the u of a joint at which rows of V_FM are the nearest to wanted ones."""
    axes = np.array(mobilizer.axes(q), float).reshape(mobilizer.nu, 6)
    found: Array = np.linalg.lstsq(axes[:, rows].T, wanted, rcond=None)[0]
    return found
