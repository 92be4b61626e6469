r"""Scales of the free q, which make their changes comparable.

::

    angles          1 / |w|      w: the angular velocity for a unit rate; 1 where q is in rad
    lengths         l / |v|      v: the velocity likewise; 1 where q is in the unit of lengths
    other numbers   max(1, |q|)  at the start, as of their unit nothing is known
    all of these    1 / weight   where the State has another weight of u than 1; see `weights_of_q`

The length l has the effect of an angle of 1 rad: in rows of Jacobians in which
both angles and lengths appear, it is the ratio of their largest derivatives, a lever; of all rows
the median. So it follows from the problem, in whatever unit that is. Where nothing turns, it is the
longest way that a length has to go, or else `System.default_length_scale`.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from stagecache.assembly.coordinates.free_coordinates import FreeCoordinates
from stagecache.errors import KinematicsError
from stagecache.state.handles import Vector
from stagecache.system.motion.operators import weights_of_q

AXES: Final = "axes_by_subsystem"
"""Optional method of a System: ``(state) -> [(subsystem, axes)]``; for each u of the subsystem, the
motion of its body, (nu, 6): angular velocity, then velocity of a point, any if nothing turns."""

NOTHING: Final = 1e-9
"""Part of the largest rate below which a rate is zero; a scale may differ from 1 by as much."""


def natural_scales(coordinates: FreeCoordinates) -> tuple[NDArray[np.bool_], Vector]:
    """Return the independent q that are lengths, and the scales of all, for lengths with l = 1.

    Returns
    -------
    is_length : (m,) bool
    scales : (m,) float
    """
    n = len(coordinates.index)
    turning, moving = np.zeros(n), np.zeros(n)
    offered: Callable[[Any], Sequence[tuple[Any, Vector]]] | None
    offered = getattr(coordinates.system, AXES, None)
    for subsystem, axes in offered(coordinates.state) if offered is not None and n else ():
        try:
            motions = coordinates.by_free_q(axes.T, subsystem)
        except KinematicsError:  # of angles for which velocities say nothing
            continue
        turning += np.linalg.norm(motions[:3], axis=0)
        moving += np.linalg.norm(motions[3:], axis=0)
    turns = turning > NOTHING * np.max(turning, initial=0.0)
    is_length = ~turns & (moving > 0.0)
    plain = 1 / np.maximum(1.0, np.abs(coordinates.q[coordinates.index]))
    rates = np.where(turns, turning, np.where(is_length, moving, plain))
    weights = weights_of_q(coordinates.system, coordinates.state)[coordinates.index]
    is_weighted = (weights != 1.0) & (weights > 0.0) & (weights < np.inf)
    rates = np.where(is_weighted, weights, rates)
    scales: Vector = 1 / rates
    scales[np.abs(scales - 1) < NOTHING] = 1.0
    independent = coordinates.independent
    return (is_length & ~is_weighted)[independent], scales[independent]


def length_of(
    blocks: Iterable[tuple[Vector, Vector]], is_length: NDArray[np.bool_], default: float
) -> float:
    """Return the length that corresponds to an angle of 1 rad.

    Parameters
    ----------
    blocks : iterable of ((m,) float, (m, n) float)
        Errors or residuals, with their derivatives.
    is_length : (n,) bool
    default : float
        For problems that do not determine one.
    """
    levers: list[Vector] = []
    farthest = 0.0
    for values, jacobian in blocks:
        size = np.abs(jacobian)
        by_angles = size[:, ~is_length].max(axis=1, initial=0.0)
        by_lengths = size[:, is_length].max(axis=1, initial=0.0)
        has = [by > NOTHING * np.max(by, initial=0.0) for by in (by_angles, by_lengths)]
        both = has[0] & has[1]
        levers.append(by_angles[both] / by_lengths[both])
        ways = np.abs(values[has[1]]) / by_lengths[has[1]]
        farthest = max(farthest, float(np.max(ways, initial=0.0)))
    found = np.concatenate([*levers, np.empty(0)])
    if len(found) and np.isfinite(found).all():
        return float(np.median(found))
    return farthest if 0.0 < farthest < np.inf else default
