r"""Stations: points that are fixed to bodies, many at a time, and their Jacobians.

::

    velocity of station k  =  J_k u        J_k = sum over the u that move its body
    J  =  moves * (maps @ S')              maps (k, 3, 6) of the positions, S (nu, 6) axes in ground

That is one product of matrices for all stations. Products with J and its transpose are found by
going along the tree, in O(bodies + stations), without J.
"""

from collections.abc import Sequence
from typing import final

import numpy as np

from stagecache.multibody.geometry.spatial import (
    Array,
    accelerations_at,
    velocities_at,
    velocity_maps,
)
from stagecache.multibody.tree.compiled import kernel
from stagecache.multibody.tree.joints import AnyBody
from stagecache.multibody.tree.layout import Indices, TreeLayout


@final
class StationTable:
    """Constant tables of some stations. It is const.

    Attributes
    ----------
    rows : ndarray of int, (k,)
        By station, the row of its body.
    points : ndarray of shape (k, 4, 1)
        In the frames of the bodies, homogeneous.
    moves : ndarray of shape (k, 1, nu)
        1 where the u moves the station, else 0; multiplied as the Jacobian.
    """

    __slots__ = ("moves", "points", "rows")

    def __init__(self, layout: TreeLayout, bodies: Sequence[AnyBody], stations: Array) -> None:
        self.rows = np.array([layout.rows[body.index] for body in bodies], np.intp)
        self.points = np.ones((len(bodies), 4, 1))
        self.points[:, :3, 0] = stations
        self.moves = layout.moves(self.rows).astype(float)[:, None, :]

    def subset(self, stations: Indices) -> "StationTable":
        """Return the table of some of the stations. Cost some 3 us."""
        rows, points = self.rows.take(stations), self.points.take(stations, 0)
        return self._with(rows, points, self.moves.take(stations, 0))

    def times(self, factors: Array) -> "StationTable":
        """Return the table with Jacobians multiplied by numbers, (k, 1)."""
        return self._with(self.rows, self.points, self.moves * factors[:, :, None])

    def for_columns(self, columns: Indices) -> "StationTable":
        """Return the table for Jacobians by other coordinates, with other axes than u has.

        Parameters
        ----------
        columns : ndarray of int, (n,)
            By coordinate, a u that moves the same bodies; -1 for no bodies.
        """
        moves = self.moves.take(columns, 2) * (columns >= 0)
        return self._with(self.rows, self.points, moves)

    def _with(self, rows: Indices, points: Array, moves: Array) -> "StationTable":
        new = object.__new__(StationTable)
        new.rows, new.points, new.moves = rows, points, moves
        return new

    def positions(self, frames: Array) -> Array:
        """Return the positions in ground (k, 3), for poses of all bodies by row (rows, 4, 4)."""
        found: Array
        if kernel is None:
            found = (frames.take(self.rows, 0) @ self.points)[:, :3, 0]
        else:
            found = np.empty((len(self.rows), 3))
            kernel.station_positions(self.rows, self.points, frames, found)
        return found

    def velocities(self, positions: Array, motions: Array) -> Array:
        """Return the velocities (k, 3), for motions of all bodies by row (rows, 6)."""
        if kernel is None:
            return velocities_at(positions, motions[self.rows])
        found = np.empty((len(self.rows), 3))
        kernel.station_velocities(self.rows, positions, motions, found)
        return found

    def accelerations(self, positions: Array, motions: Array, rates: Array) -> Array:
        """Return the accelerations (k, 3), for motions and their derivatives (rows, 6)."""
        if kernel is None:
            return accelerations_at(positions, motions[self.rows], rates[self.rows])
        found = np.empty((len(self.rows), 3))
        kernel.station_accelerations(self.rows, positions, motions, rates, found)
        return found

    def jacobian(self, positions: Array, axes: Array) -> Array:
        """Return J, (k, 3, nu)."""
        found: Array
        if kernel is None:
            maps = velocity_maps(positions)
            found = (maps.reshape(-1, 6) @ axes.T).reshape(len(maps), 3, len(axes))
            found *= self.moves
        else:
            found = np.empty((len(self.rows), 3, len(axes)))
            kernel.station_jacobian(self.moves, positions, np.ascontiguousarray(axes), found)
        return found

    def frame_jacobian(self, positions: Array, axes: Array) -> Array:
        """Return J of frames at the stations, (k, 6, nu): angular, then linear velocity."""
        found = np.empty((len(positions), 6, len(axes)))
        if kernel is not None:
            kernel.frame_jacobian(self.moves, positions, np.ascontiguousarray(axes), found)
            return found
        found[:, :3] = axes[:, :3].T * self.moves
        found[:, 3:] = self.jacobian(positions, axes)
        return found
