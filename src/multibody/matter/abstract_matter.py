r"""The kinematics of a tree of bodies, as entries of the graph.

::

    use_euler_angles (Model)        joint_q[i]              joint_u[i]
            |                          |                        |
            +----------> tree_poses <--+  <- last_poses         |
                        /    |     \                            |
               pose[i]=    axes     station_positions[g]        |
                  |        / |  \________     |                 |
                  |       /  |           \    |                 |
                  |      / tree_motions <-\---|-----------------+
                  |     /   /     \   station_jacobian[g]       |
               velocity[i]=    tree_bias <----------------------+
                         \      /
                     acceleration_bias[i]=      = stays valid where its value is the same

No position depends on u. How the poses of all bodies are one entry, and why, is told in
`tree_poses`; `pose[i]` is compared with what it was, so what depends on one body stays valid where
another moves.

Others add to this: locks and motions of joints are in `driven_matter`. Constraints are Subsystems
of their own, which name `body.pose`, `body.velocity` and `axes` as prerequisites. Forces and
dynamics are to read `body.mass_properties`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from stagecache.multibody.geometry.spatial import Array, accelerations_at, cross3, velocities_at
from stagecache.multibody.geometry.transform import Transform, same_transform
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer
from stagecache.multibody.tree.coordinate_rates import (
    lengths_of,
    n_of,
    n_pinv_of,
    normals_of,
    qdotdot_of,
)
from stagecache.multibody.tree.layout import AnyBody, TreeLayout
from stagecache.multibody.tree.motions import axes_in_ground, motion_bias, motions
from stagecache.multibody.tree.poses import LastPoses, TreePoses
from stagecache.multibody.tree.stations import AnyStations, StationTable
from stagecache.state.state import State
from stagecache.system.constraints.normalization import normalization_error
from stagecache.system.declare.cached import cached
from stagecache.system.declare.enabling import switched_on
from stagecache.system.declare.subsystem import Subsystem
from stagecache.system.declare.variables import modeling_option, q_variable, u_variable
from stagecache.system.motion.kinematics import kinematics


def _default_q(matter: Any, state: Any, i: int) -> Sequence[float]:
    mobilizer: AbstractMobilizer = matter.bodies[i].mobilizer
    if switched_on(matter.use_euler_angles, state):
        mobilizer = mobilizer.with_euler_angles()
    return mobilizer.default_q


def _default_u(matter: Any, state: Any, i: int) -> Array:  # noqa: ARG001  # of a fixed form
    return np.zeros(matter.bodies[i].mobilizer.nu)


def _num_bodies(matter: Any) -> int:
    return len(matter.bodies)


def _num_groups(matter: Any) -> int:
    return len(matter.station_groups)


def _same_bits(one: Array, other: Array) -> bool:
    return one.tobytes() == other.tobytes()


class AbstractMatter(Subsystem):
    """A tree of bodies, however it is built: what can be computed of it.

    `MatterSubsystem` is the one that there is. Bodies and groups of stations have the handles of
    their own entries; here they are by index.
    """

    use_euler_angles = modeling_option(False)
    """Whether orientations of Balls and Frees are body-fixed x-y-z angles, not quaternions."""

    joint_q = q_variable(factory=_default_q, count=_num_bodies)
    joint_u = u_variable(factory=_default_u, count=_num_bodies)

    @property
    def bodies(self) -> Sequence[AnyBody]:
        """All bodies, the ground first."""
        raise NotImplementedError

    @property
    def station_groups(self) -> Sequence[AnyStations]:
        """All declared groups of stations."""
        raise NotImplementedError

    # ------------------------------------------------------------------ positions

    @cached(prerequisites=())
    def last_poses(self, state: State) -> LastPoses:  # noqa: ARG002  # it is empty at first
        """What the State remembers of the poses computed last; no value, but a memory."""
        return LastPoses()

    @cached(prerequisites=lambda self: (self.q, self.use_euler_angles, self.last_poses))
    def tree_poses(self, state: State) -> TreePoses:
        """The poses of all bodies: what did not move is taken from the poses before."""
        return self.last_poses(state).poses_at(self.layout(state), self.q(state).copy())

    @cached(
        count=_num_bodies,
        prerequisites=lambda self, i: (self.tree_poses,) if i else (),
        equal=same_transform,
    )
    def pose(self, state: State, i: int) -> Transform:
        """X_GB of a body; that of the ground does not change."""
        if i == 0:
            return Transform()
        return self.tree_poses(state).transform(self._layouts[False].rows[i])

    @cached(prerequisites=lambda self: (self.tree_poses, self.use_euler_angles))
    def axes(self, state: State) -> Array:
        """The motion for each u about the origin of the ground, (nu, 6): angular, then linear."""
        return axes_in_ground(self.layout(state), self.tree_poses(state))

    # ------------------------------------------------------------------ velocities

    @cached(prerequisites=lambda self: (self.axes, self.u, self.use_euler_angles))
    def tree_motions(self, state: State) -> Array:
        """The motions of all bodies about the origin of the ground, by row of the layout."""
        return motions(self.layout(state), self.axes(state), self.u(state))

    @cached(
        count=_num_bodies,
        prerequisites=lambda self, i: (self.tree_motions, self.pose[i]),
        equal=_same_bits,
    )
    def velocity(self, state: State, i: int) -> Array:
        """The velocity of a body, (6,): angular, then that of its origin, in ground."""
        motion = self.tree_motions(state)[self._layouts[False].rows[i]]
        return _at(self.pose[i](state), motion)

    @cached(
        prerequisites=lambda self: (
            *(self.tree_poses, self.axes, self.tree_motions),
            *(self.u, self.use_euler_angles),
        )
    )
    def tree_bias(self, state: State) -> Array:
        """The derivatives of `tree_motions` where udot is 0."""
        poses, axes, rates = self.tree_poses(state), self.axes(state), self.tree_motions(state)
        return motion_bias(self.layout(state), poses, axes, rates, self.u(state))

    @cached(
        count=_num_bodies,
        prerequisites=lambda self, i: (self.tree_bias, self.velocity[i], self.pose[i]),
        equal=_same_bits,
    )
    def acceleration_bias(self, state: State, i: int) -> Array:
        """The acceleration of a body where udot is 0, in the form of `velocity`."""
        found = _at(self.pose[i](state), self.tree_bias(state)[self._layouts[False].rows[i]])
        velocity = self.velocity[i](state)
        found[3:] += _cross(velocity, velocity[3:])
        return found

    # ------------------------------------------------------------------ stations

    @cached(count=_num_groups, prerequisites=lambda self, _: (self.tree_poses,))
    def station_positions(self, state: State, i: int) -> Array:
        """Where the stations of a group are in the ground, (k, 3) [m]."""
        return self._tables[i].positions(self.tree_poses(state).bodies)

    @cached(count=_num_groups, prerequisites=lambda self, i: (self.axes, self.station_positions[i]))
    def station_jacobian(self, state: State, i: int) -> Array:
        """The derivatives of the velocities of a group by u, (k, 3, nu)."""
        return self._tables[i].jacobian(self.station_positions[i](state), self.axes(state))

    @cached(
        count=_num_groups,
        prerequisites=lambda self, i: (self.tree_motions, self.station_positions[i]),
    )
    def station_velocities(self, state: State, i: int) -> Array:
        """The velocities of the stations of a group, (k, 3) [m/s]."""
        rates = self.tree_motions(state)[self._tables[i].rows]
        return velocities_at(self.station_positions[i](state), rates)

    @cached(
        count=_num_groups,
        prerequisites=lambda self, i: (
            *(self.tree_bias, self.tree_motions),
            self.station_positions[i],
        ),
    )
    def station_acceleration_bias(self, state: State, i: int) -> Array:
        """The accelerations of a group where udot is 0, (k, 3) [m/s^2]."""
        rows = self._tables[i].rows
        rates, bias = self.tree_motions(state)[rows], self.tree_bias(state)[rows]
        return accelerations_at(self.station_positions[i](state), rates, bias)

    @cached(count=_num_groups, prerequisites=lambda self, i: (self.axes, self.station_positions[i]))
    def station_frame_jacobian(self, state: State, i: int) -> Array:
        """The same of frames at the stations, (k, 6, nu): angular, then linear velocity."""
        return self._tables[i].frame_jacobian(self.station_positions[i](state), self.axes(state))

    # ------------------------------------------------------------------ qdot = N u

    @kinematics(prerequisites=lambda self: (self.q, self.use_euler_angles))
    def n_matrix(self, state: State) -> Any:
        """N, which has a block for each joint; sparse where it is large."""
        return n_of(self.layout(state), self.q(state).tolist())

    @n_matrix.pinv(prerequisites=lambda self: (self.q, self.use_euler_angles))
    def n_pinv_matrix(self, state: State) -> Any:
        """The pseudoinverse of N, block by block."""
        return n_pinv_of(self.layout(state), self.q(state).tolist())

    def calc_n_pinv(self, state: State) -> Any:
        """The same, or None where N is 1, and not compared with N. Reads q.

        So there is one also of angles where N is singular.
        """
        layout = self.layout(state)
        return n_pinv_of(layout, self.q(state).tolist()) if layout.related else None

    @normalization_error(
        size=lambda self, state: len(self.layout(state).normalized),
        prerequisites=lambda self: (self.q, self.use_euler_angles),
    )
    def quaternion_lengths(self, state: State) -> Array:
        """By how much quaternions are longer than 1, a row of qerr for each."""
        return lengths_of(self.layout(state), self.q(state).tolist()) - 1.0

    @quaternion_lengths.jacobian(prerequisites=lambda self: (self.q, self.use_euler_angles))
    def quaternion_normals(self, state: State) -> Any:
        """The derivatives of the lengths by q."""
        start = self.q.place(state).start
        layout, size = self.layout(state), state.nq
        return normals_of(layout, self.q(state).tolist(), start, size)

    # ------------------------------------------------------------------ hooks and tables

    def realize_topology(self, state: State) -> None:  # noqa: ARG002  # of a fixed form
        """Make the tables of the tree."""
        self._layouts = tuple(
            TreeLayout(self.bodies, use_euler_angles=angles) for angles in (False, True)
        )
        self._tables = tuple(
            StationTable(self._layouts[False], group.bodies, group.stations)
            for group in self.station_groups
        )

    def realize_velocity(self, state: State) -> None:
        """Write qdot = N u."""
        u = self.u(state)
        has_n = bool(self.layout(state).related)
        state[self].upd_qdot()[:] = self.n_matrix(state) @ u if has_n else u

    def realize_acceleration(self, state: State) -> None:
        """Write qdotdot = N udot + dN/dt u; NaN where udot is not known."""
        own, q, u = state[self], self.q(state).tolist(), self.u(state)
        qdot, udot = own.qdot.tolist(), own.upd_udot()
        own.upd_qdotdot()[:] = qdotdot_of(self.layout(state), q, qdot, u, udot)

    def station_table(self, index: int) -> StationTable:
        """The tables of a group of stations, which are const."""
        return self._tables[index]

    def layout(self, state: State) -> TreeLayout:
        """The tables of the tree, for the orientations of a State. Reads `use_euler_angles`."""
        return self._layouts[bool(self.use_euler_angles(state))]

    def __getstate__(self) -> dict[str, Any]:
        """Leave out tables, which are made anew."""
        left = ("_layouts", "_tables", "_arriving", "_arriving_groups")
        return {k: v for k, v in super().__getstate__().items() if k not in left}


def _at(pose: Transform, motion: Array) -> Array:
    """A motion about the origin of the ground as one about that of a body."""
    found = motion.copy()
    found[3:] += _cross(motion, pose.translation)
    return found


def _cross(motion: Array, vector: Array) -> Array:
    """The cross product of an angular velocity with a vector."""
    return cross3(motion[:3], vector)
