"""Kinematics and dynamics of a tree of bodies, in flat arrays: `kernel.c`, where it is compiled.

All arrays are contiguous, of float64, or of intp where it is said; sizes are checked, shapes are
not. Results are written into the last arrays. `CompiledTree` in `compiled.py` allocates them.
"""

from typing import final

from typing_extensions import Buffer

@final
class Tree:
    """The constant tables of a tree of bodies. It is const.

    Parameters
    ----------
    joints : (rows, 7) intp
        By row: the row of the parent, the end of the rows outboard, the kind of the mobilizer, the
        place of the first q, nq, the place of the first u, nu. Row 0 is the ground.
    nq : int
    inboard : (rows, 4, 4)
        X_MpF.
    outboard : (rows, 4, 4) or None
        X_MB; None if all are 1.
    axes : (nu, 6)
        Axes of mobilizers in F. Those of Universal and Gimbal are computed.

    Raises
    ------
    ValueError
        The joints are not those of a tree, or an array has another size.
    TypeError
        An array is of another type.
    """

    def __new__(
        cls, joints: Buffer, nq: int, inboard: Buffer, outboard: Buffer | None, axes: Buffer, /
    ) -> Tree: ...

    # ------------------------------------------------------------------ kinematics

    def moved(self, q: Buffer, q_before: Buffer, /) -> list[tuple[int, int]]:
        """Return the rows that are outboard of joints with other q, as ranges in order."""

    def positions(
        self,
        q: Buffer,
        given: Buffer | None,
        ranges: list[tuple[int, int]],
        poses: Buffer,
        q_before: Buffer | None,
        poses_before: Buffer | None,
        /,
    ) -> bool:
        """Compute X_MpM, X_GM, and X_GB unless outboard is None; False if a joint has no pose.

        Parameters
        ----------
        given : (k, 12), optional
            [R p] of mobilizers of kind 0; only those with other q are read.
        ranges : list of (int, int)
            Each has all rows outboard of its first row. With the ground, all rows are one range.
        poses : (2 or 3, m, 4, 4)
            Of the m rows in the ranges.
        q_before, poses_before : (2 or 3, rows, 4, 4), optional
            For the rows that are not in the ranges.
        """

    def axes(self, q: Buffer, joints: Buffer, given_axes: Buffer | None, axes: Buffer, /) -> None:
        """Compute axes about the origin of the ground, (nu, 6).

        Parameters
        ----------
        given_axes : (nu, 6), optional
            Axes in F; those of mobilizers of kind 0 are read.
        """

    def motions(self, axes: Buffer, u: Buffer, motions: Buffer, /) -> None:
        """Compute motions about the origin of the ground, (rows, 6)."""

    def bias(
        self,
        q: Buffer,
        joints: Buffer,
        axes: Buffer,
        motions: Buffer,
        u: Buffer,
        given_rates: Buffer | None,
        bias: Buffer,
        /,
    ) -> None:
        """Compute the derivatives of motions where udot is 0, (rows, 6).

        Parameters
        ----------
        given_rates : (k, 6), optional
            `axes_rate` of mobilizers of kind 0.
        """

    def generalized_forces(self, axes: Buffer, forces: Buffer, found: Buffer, /) -> None:
        """Compute the forces on u of forces (rows, 6) about the origin of the ground."""

    def qdot(self, q: Buffer, u: Buffer, qdot: Buffer, /) -> int:
        """Compute N u, where N of kind 0 counts as 1; return a row whose N is singular, or 0."""

    def qdotdot(self, q: Buffer, qdot: Buffer, u: Buffer, udot: Buffer, qdotdot: Buffer, /) -> int:
        """Compute N udot + dN/dt u, likewise. It is NaN where udot is, in the whole joint."""

    # ------------------------------------------------------------------ dynamics

    def mass_matrix(
        self,
        q: Buffer,
        relative: Buffer,
        joints: Buffer,
        given_axes: Buffer | None,
        masses: Buffer,
        centers: Buffer,
        inertias: Buffer,
        matrix: Buffer,
        /,
    ) -> None:
        """Compute M, (nu, nu), by composite bodies.

        Parameters
        ----------
        masses : (rows,)
        centers : (rows, 3)
            Centers of mass in the frames of bodies.
        inertias : (rows, 3, 3)
            About the centers of mass, in the axes of bodies.
        """

    def inverse_dynamics(
        self,
        q: Buffer,
        relative: Buffer,
        joints: Buffer,
        given_axes: Buffer | None,
        masses: Buffer,
        centers: Buffer,
        inertias: Buffer,
        given_rates: Buffer | None,
        u: Buffer,
        udot: Buffer,
        forces: Buffer | None,
        field: Buffer | None,
        generalized: Buffer,
        reactions: Buffer | None,
        /,
    ) -> None:
        """Compute the generalized forces for udot, beside forces on bodies.

        Parameters
        ----------
        forces : (rows, 6), optional
            Moments and forces on bodies, about their origins, in the axes of the ground.
        field : (3,), optional
            The force on all masses beside these, by mass.
        reactions : (rows, 6), optional
            To be filled: moment and force through each joint on its body, about the origin of its
            M; of the ground, the negative of what all joints exert on it, about its origin.
        """

    def forward_dynamics(
        self,
        q: Buffer,
        relative: Buffer,
        joints: Buffer,
        given_axes: Buffer | None,
        masses: Buffer,
        centers: Buffer,
        inertias: Buffer,
        given_rates: Buffer | None,
        u: Buffer,
        generalized: Buffer,
        forces: Buffer | None,
        field: Buffer | None,
        known: Buffer | None,
        udot: Buffer,
        /,
    ) -> int:
        """Compute udot by articulated bodies; return the row of a singular joint, or 0.

        The result is -1 if some udot is not finite.

        Parameters
        ----------
        known : (nu,), optional
            The udot of joints that are prescribed, NaN for others. All u of a joint are.

        Raises
        ------
        ValueError
            A joint has more than 6 u.
        """

    def multiply_by_m_inv(
        self,
        q: Buffer,
        relative: Buffer,
        joints: Buffer,
        given_axes: Buffer | None,
        masses: Buffer,
        centers: Buffer,
        inertias: Buffer,
        known: Buffer | None,
        generalized: Buffer,
        udot: Buffer,
        /,
    ) -> int:
        """Compute M^-1 f for k rows f, (k, nu); return the row of a singular joint, or 0.

        With `known`, as above, it is the inverse of the part of M of joints that are not
        prescribed, and 0 for those that are.
        """

def station_positions(rows: Buffer, points: Buffer, poses: Buffer, positions: Buffer, /) -> None:
    """Compute the positions of k stations in ground, (k, 3).

    Parameters
    ----------
    rows : (k,) intp
    points : (k, 4)
        Homogeneous.
    poses : (n, 4, 4)
    """

def station_velocities(
    rows: Buffer, positions: Buffer, motions: Buffer, velocities: Buffer, /
) -> None:
    """Compute the velocities of k stations, (k, 3), of motions (n, 6)."""

def station_accelerations(
    rows: Buffer, positions: Buffer, motions: Buffer, rates: Buffer, accelerations: Buffer, /
) -> None:
    """Compute the accelerations of k stations, (k, 3), of motions and their rates, (n, 6)."""

def station_jacobian(moves: Buffer, positions: Buffer, axes: Buffer, jacobian: Buffer, /) -> None:
    """Compute the derivatives of velocities by u, (k, 3, nu), multiplied by moves (k, nu)."""

def frame_jacobian(moves: Buffer, positions: Buffer, axes: Buffer, jacobian: Buffer, /) -> None:
    """Compute the derivatives of angular and linear velocities, (k, 6, nu), likewise."""
