r"""Matter: a tree of rigid bodies, as it is built, and the entries of its kinematics.

::

    joint_lock[i]   follows_motion[k]       use_euler_angles (Model)
             \              |                /      |
              +----> driven_joints <--------+       |      joint_q[i]              joint_u[i]
                       |   + time                   |         |                        |
            driven_q, driven_u, driven_udot         +--> tree_poses <- last_poses      |
                                                        /    |     \                   |
                                                pose[i]=   axes   station_positions[g] |
                                                 |         / |  \________     |        |
                                                 |        /  |           \    |        |
                                                 |     / tree_motions <---\---|--------+
                                                 |    /   /     \    station_jacobian[g]
                                               velocity[i]=   tree_bias
                                                      \        /
                                                  acceleration_bias[i]=    = early cutoff

    stage Acceleration -> joint_udot[i]
    stage Acceleration, axes, tree_bias -> tree_accelerations -> acceleration[i]=

    tree_poses -> m_matrix                      if a body has mass
    tree_poses, u -> bias_force
    applied and is_enabled of all forces -> applied_forces -> applied_force
    tree_poses, u, applied_forces -> udot       in the kernel, where there are no constraints

Without the kernel, M is computed from `axes` and `tree_inertias`, and `bias_force` from these,
`tree_motions` and `tree_bias`.

No position depends on u. The poses of all bodies are one entry (see `tree.poses` for the reasons);
`pose[i]` is compared with its last value, so entries that depend on one body stay valid where
another one moves. Driven joints are one entry for each level as well, not one for each joint: few
joints are driven in most States, and a family would take three more entries for each body.

Constraints are Subsystems of their own, all of one kind computed by one that has `tree_poses`,
`tree_motions`, `tree_bias` and `axes` as prerequisites. Bodies and groups of stations are parts of
a matter, which refer to it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from stagecache.checks import (
    did_you_mean,
    require_bool,
    require_name,
    require_new_name,
    require_type,
    whole_number,
)
from stagecache.decorations.decorations import (
    AbstractDecoration,
    DecorativeLine,
    checked_decorations,
)
from stagecache.errors import (
    MassMatrixError,
    MassPropertiesError,
    MotionError,
    NotANumberError,
    ShapeError,
    StagecacheError,
    UnknownBodyError,
    UnknownItemError,
    listed,
    short_repr,
)
from stagecache.multibody.checks import checked_array
from stagecache.multibody.geometry.spatial import (
    Array,
    cross3,
)
from stagecache.multibody.geometry.transform import Transform, checked_frame, same_transform
from stagecache.multibody.matter.coordinates import (
    Coordinate,
    JointCoordinate,
    check_locks,
    checked_coordinates,
    default_angles,
    default_lock,
)
from stagecache.multibody.matter.drives import (
    DrivenJoint,
    Driver,
    Drives,
    JointLock,
)
from stagecache.multibody.matter.mobilized_body import MobilizedBody
from stagecache.multibody.matter.skeletons import BONE, ORIGIN, in_ground, skeletons_of
from stagecache.multibody.matter.station_group import StationGroup
from stagecache.multibody.mobilizers.checks import check_mobilizer
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer
from stagecache.multibody.mobilizers.reversed import Reversed
from stagecache.multibody.mobilizers.sequences import Weld
from stagecache.multibody.motions.motion import (
    AbstractAccelerationMotion,
    AnyMotion,
    check_motion,
)
from stagecache.multibody.tree.applied_forces import AnyForce, TreeForces, sum_of
from stagecache.multibody.tree.coordinate_rates import (
    lengths_of,
    n_of,
    n_pinv_of,
    normals_of,
    qdot_of,
    qdotdot_of,
    u_by_qdot_of,
)
from stagecache.multibody.tree.inertias import (
    Inertias,
    centers_in_ground,
    inertias_in_ground,
    inertias_of,
    mass_matrix_of,
    times_mass_matrix,
)
from stagecache.multibody.tree.layout import TreeLayout, has_kernel
from stagecache.multibody.tree.mass_properties import MassProperties
from stagecache.multibody.tree.motions import (
    axes_in_ground,
    generalized_forces,
    motion_bias,
    motions,
)
from stagecache.multibody.tree.poses import LastPoses, TreePoses
from stagecache.multibody.tree.stations import StationTable
from stagecache.state.handles import (
    AbstractContinuousVariable,
)
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.state.vectors.conversion import ANY
from stagecache.state.vectors.vectors import QDOT, QDOTDOT, UDOT
from stagecache.system.constraints.errors import normalization_error
from stagecache.system.declare.cached import cached
from stagecache.system.declare.enabling import switched_on
from stagecache.system.declare.subsystem import Subsystem
from stagecache.system.declare.variables import modeling_option, parameter, q_variable, u_variable
from stagecache.system.dynamics.dynamics import generalized_force, mass_matrix
from stagecache.system.motion.kinematics import kinematics
from stagecache.system.motion.prescribing import PrescribedVariable

LARGEST_JOINT: Final = 6
"""The largest number of u of a joint for which udot is found by articulated bodies."""


def _default_q(matter: Any, state: Any, i: int) -> Sequence[float]:
    body: MobilizedBody = matter.bodies[i]
    uses_angles = switched_on(matter.use_euler_angles, state)
    if all(described.default is None for described in body.described) and not uses_angles:
        return body.mobilizer.default_q
    angles = default_angles(body.mobilizer, body.described)
    return angles if uses_angles else body.mobilizer.quaternions_of(angles)


def _default_u(matter: Any, state: Any, i: int) -> Array:  # noqa: ARG001  # of a fixed form
    return np.zeros(matter.bodies[i].mobilizer.nu)


def _default_lock(matter: Any, i: int) -> JointLock | None:
    body: MobilizedBody = matter.bodies[i]
    return default_lock(body.mobilizer, body.described)


def _body_names(matter: Any) -> list[str]:
    return [body.name for body in matter.bodies]


def _moving_names(matter: Any) -> list[str]:
    return [matter.bodies[index].name for index, _ in matter.moving]


def _group_names(matter: Any) -> list[str]:
    return [group.name for group in matter.station_groups]


def _same_bits(one: Array, other: Array) -> bool:
    return one.tobytes() == other.tobytes()


def _all_q(matter: Any) -> tuple[Any, ...]:
    return (matter.q, matter.use_euler_angles)


def _has_mass(matter: Any) -> bool:
    return any(body.mass_properties.mass > 0.0 for body in matter.bodies)


def _applied(matter: Any) -> tuple[Any, ...]:
    return tuple(item for force in matter.forces for item in (force.is_enabled, force.applied))


def _energies(matter: Any) -> tuple[Any, ...]:
    return tuple(
        item for force in matter.forces for item in (force.is_enabled, force.potential_energy)
    )


def _drives(matter: Any) -> tuple[Any, ...]:
    """Return the prerequisites of prescribed numbers: without motions, not the time."""
    return (matter.driven_joints, matter.time) if matter.moving else (matter.driven_joints,)


def _drives_udot(matter: Any) -> tuple[Any, ...]:
    """Return the prerequisites of prescribed udot, which also may be functions of q and u."""
    return (*_drives(matter), matter.q, matter.u) if _has_accelerations(matter) else _drives(matter)


def _has_accelerations(matter: Any) -> bool:
    return any(isinstance(motion, AbstractAccelerationMotion) for _, motion in matter.moving)


class MatterSubsystem(Subsystem):
    """A tree of rigid bodies on a ground, joined by mobilizers.

    Joints can be locked, and moved by motions. Bodies and groups of stations have the handles of
    their own entries; the families here have them by index.

    Examples
    --------
    >>> import numpy as np
    >>> from stagecache.multibody import MultibodySystem, Pin, Transform
    >>> system = MultibodySystem()
    >>> arm = system.matter.add_body(
    ...     "arm", system.matter.ground, Pin(), outboard_frame=Transform(None, [0, 1, 0])
    ... )
    >>> state = system.new_state()
    >>> arm.q.set(state, [np.pi / 2])
    >>> np.allclose(arm.pose(state).translation, [1, 0, 0])
    True
    >>> arm.station_jacobian(state, [0, 0, 0]).round(3).tolist()
    [[0.0], [1.0], [0.0]]
    """

    _fills_rates = True

    use_euler_angles = modeling_option(False)
    """True if orientations of Balls and Frees are body-fixed x-y-z angles, not quaternions."""

    joint_q = q_variable(factory=_default_q, count=_body_names)
    joint_u = u_variable(factory=_default_u, count=_body_names)

    joint_lock = parameter(factory=_default_lock, count=_body_names)
    """The lock of the joint of a body, or None. See `MobilizedBody.lock`."""

    follows_motion = parameter(True, count=_moving_names)
    """True if a body that has a motion follows it. See `MobilizedBody.follows_motion`."""

    def __init__(self) -> None:
        here = Transform()
        self._bodies: tuple[MobilizedBody, ...] = (
            MobilizedBody(
                self,
                "ground",
                0,
                parent=None,
                mobilizer=Weld(),
                mass_properties=MassProperties(0.0),
                inboard_frame=here,
                outboard_frame=here,
                motion=None,
                described=(),
            ),
        )
        self._moving: tuple[tuple[int, AnyMotion], ...] = ()
        self._groups: tuple[StationGroup, ...] = ()
        self._decorations: dict[int, tuple[AbstractDecoration, ...]] = {}

    # ------------------------------------------------------------------ the tree

    @property
    def bodies(self) -> tuple[MobilizedBody, ...]:
        """All bodies, the ground first."""
        return self._bodies

    @property
    def ground(self) -> MobilizedBody:
        """The body that does not move, of index 0."""
        return self._bodies[0]

    @property
    def moving(self) -> tuple[tuple[int, AnyMotion], ...]:
        """The bodies that have a motion: their indices and motions."""
        return self._moving

    @property
    def station_groups(self) -> tuple[StationGroup, ...]:
        """All declared groups of stations."""
        return self._groups

    def _meaning_of(self, item: str) -> str:
        """Return the kind of joint of which these are q or u."""
        family, _, body = item.partition("[")
        if family not in ("joint_q", "joint_u"):
            return ""
        return type(self.body(body.removesuffix("]")).mobilizer).__name__

    def _number_names(self, of: AbstractContinuousVariable) -> tuple[str, ...]:
        """Return the names of the coordinates of a joint: "knee" of its q, "knee.u" of its u."""
        if of._number < 0:  # all q or u, and no joint's
            return ()
        end = ".u" if of.kind == "u" else ""
        return tuple(described.name + end for described in self._bodies[of._number].described)

    @property
    def coordinates(self) -> tuple[JointCoordinate, ...]:
        """All coordinates that have names, body by body."""
        named = [body for body in self._bodies if body.described]
        return tuple(coordinate for body in named for coordinate in body.coordinates)

    def coordinate(self, name: str) -> JointCoordinate:
        """Return the coordinate of a name. Cost O(coordinates).

        Raises
        ------
        UnknownItemError
        """
        found = self.coordinates
        for coordinate in found:
            if coordinate.name == name:
                return coordinate
        names = [coordinate.name for coordinate in found]
        raise UnknownItemError(
            f"coordinate {short_repr(name)}: not in {self!r}",
            f"one of {listed(names)}" if names else "a coordinate with a name",
            short_repr(name),
            did_you_mean(f"{name}", names) or "names are given by add_body(coordinates=...)",
        )

    def body(self, which: SupportsIndex | str) -> MobilizedBody:
        """Return the body of an index or a name. Cost O(bodies).

        Raises
        ------
        UnknownBodyError
        """
        number = None if isinstance(which, str) else whole_number(which)
        for body in self._bodies:
            if (body.name == which) if isinstance(which, str) else (body.index == number):
                return body
        raise UnknownBodyError(
            f"body {short_repr(which)}: not in {self!r}",
            f"an index from 0 to {len(self._bodies) - 1}, or a name",
            short_repr(which),
            "use one of " + listed(body.name for body in self._bodies),
        )

    def add_body(
        self,
        name: str,
        parent: MobilizedBody,
        mobilizer: AbstractMobilizer,
        *,
        mass_properties: MassProperties | Mapping[str, Any] | None = None,
        inboard_frame: Transform | None = None,
        outboard_frame: Transform | None = None,
        reverse: bool = False,
        motion: AnyMotion | None = None,
        coordinates: Iterable[Coordinate | str] | None = None,
        decorations: Iterable[AbstractDecoration] | None = None,
    ) -> MobilizedBody:
        """Add a body to the tree. A change of topology.

        Parameters
        ----------
        name : str
            Different from the names of all other bodies.
        parent : MobilizedBody
            A body of this matter: its `ground`, or one that another call has returned.
        mobilizer : AbstractMobilizer
            The motions that it can have on the parent.
        mass_properties : MassProperties or dict, optional
            A dict has the arguments of MassProperties; errors then name the body. The default is
            massless.
        inboard_frame : Transform, optional
            X_PF: the place of the joint on the parent. The default is the frame of the parent.
        outboard_frame : Transform, optional
            X_BM: the place of the joint on the body.
        reverse : bool
            True for a mobilizer that says how F moves in M: a Planar with its plane on the body,
            for instance. `mobilizer` of the body is then a `Reversed`.
        motion : AbstractMotion, AbstractSpeedMotion or AbstractAccelerationMotion, optional
            Its q, or its u, as functions of time, where it is not locked: `prescribe` writes q and
            u, or u only. Or its udot, where it writes neither. By default they are free.
        coordinates : iterable of Coordinate or str, optional
            One for each u of the joint: its name, or what else is to be said of it. A quaternion
            has the coordinates of the Euler angles.
        decorations : iterable of AbstractDecoration, optional
            Its looks, in its frame. The default shows where its joints are; with an empty list
            nothing is shown.

        Raises
        ------
        InvalidNameError, DuplicateNameError
        UnknownBodyError
            The parent is not a body of this matter.
        MobilizerError
            The mobilizer is not one, or its methods contradict each other.
        MotionError
            The motion is not one, or the joint has no q; or a coordinate cannot be locked alone.
        MassPropertiesError, NotANumberError, OutOfRangeError
            No body can have such mass properties.
        ShapeError
            The motion returns a wrong number of floats, or there are fewer or more coordinates.
        KinematicsError
            The q of a joint that gets coordinates do not belong to its u one by one.
        WrongTypeError
            A frame is not a Transform; or mass properties, coordinates or decorations are of
            another type.
        ConstModelError
            A State is being realized.
        """
        require_name(name, "the name of a body")
        require_new_name(name, [body.name for body in self._bodies], "body")
        self._checked_own(parent, f"the parent of body {name!r}")
        check_mobilizer(mobilizer, name, (body.mobilizer for body in self._bodies))
        if require_bool(reverse, f"reverse of body {name!r}"):
            mobilizer = Reversed(mobilizer)
        if motion is not None:
            check_motion(motion, mobilizer, name)
        taken = [*self.declarations, *[coordinate.name for coordinate in self.coordinates]]
        described = checked_coordinates(coordinates, mobilizer, name, taken)
        check_locks(described, mobilizer, has_motion=motion is not None)
        shown = None
        if decorations is not None:
            shown = checked_decorations(decorations, f"decorations of body {name!r}")
        body = MobilizedBody(
            self,
            name,
            len(self._bodies),
            parent=parent,
            mobilizer=mobilizer,
            mass_properties=_mass_properties(mass_properties, name),
            inboard_frame=checked_frame(inboard_frame, f"inboard_frame of body {name!r}"),
            outboard_frame=checked_frame(outboard_frame, f"outboard_frame of body {name!r}"),
            motion=motion,
            described=described,
        )
        self._bodies = (*self._bodies, body)
        if motion is not None:
            self._moving = (*self._moving, (body.index, motion))
        if shown is not None:
            self._decorations = {**self._decorations, body.index: shown}
        return body

    def add_decoration(self, body: MobilizedBody, decoration: AbstractDecoration) -> None:
        """Add a decoration to a body. A change of topology.

        The first one replaces the default, which shows where its joints are.

        Parameters
        ----------
        body : MobilizedBody
            A body of this matter, or its ground.
        decoration : AbstractDecoration
            In the frame of the body.

        Raises
        ------
        UnknownBodyError, WrongTypeError, ConstModelError
        """
        owner = self._checked_own(body, "the body to decorate")
        added = checked_decorations([decoration], f"decorations of {owner}")
        before = self._decorations.get(owner.index, ())
        self._decorations = {**self._decorations, owner.index: (*before, *added)}

    def calc_decorative_geometry_and_append(
        self, state: State, stage: Stage, geometry: list[Any]
    ) -> None:
        """Append the decorations of all bodies, or their skeletons, at stage Position."""
        if stage is not Stage.POSITION:
            return
        shown: Mapping[int, tuple[AbstractDecoration, ...]] = self._decorations
        if len(shown) < len(self._bodies):
            shown = {**skeletons_of(self._bodies), **shown}
        for body in self._bodies:
            if decorations := shown[body.index]:
                pose = body.pose(state)
                geometry += [in_ground(decoration, pose) for decoration in decorations]

    def calc_bones(
        self, state: State, points: Iterable[tuple[MobilizedBody, Array]]
    ) -> list[AbstractDecoration]:
        """Return lines from the origins of bodies to points (3,) of them, in ground. Reads `pose`.

        Bodies with decorations of their own are left out.
        """
        lines = (
            (body, DecorativeLine(ORIGIN, point, line_width=BONE))
            for body, point in points
            if point.any()
        )
        return self.calc_in_ground(state, lines)

    def calc_in_ground(
        self, state: State, decorations: Iterable[tuple[MobilizedBody, AbstractDecoration]]
    ) -> list[AbstractDecoration]:
        """Return decorations of bodies, in ground. Reads `pose`.

        Bodies with decorations of their own are left out.
        """
        return [
            in_ground(decoration, body.pose(state))
            for body, decoration in decorations
            if body.index not in self._decorations
        ]

    def add_stations(
        self,
        name: str,
        bodies: MobilizedBody | Iterable[MobilizedBody],
        stations: ArrayLike,
    ) -> StationGroup:
        """Declare a group of stations, as markers on a body. A change of topology.

        Parameters
        ----------
        name : str
        bodies : MobilizedBody or sequence of MobilizedBody
            By station, its body; or one body for all of them.
        stations : (k, 3) array_like
            Each in the frame of its body [m].

        Raises
        ------
        InvalidNameError, DuplicateNameError, UnknownBodyError
        ShapeError, NotANumberError, OutOfRangeError
        """
        require_name(name, "the name of a group of stations")
        require_new_name(name, [group.name for group in self._groups], "group of stations")
        points = checked_array(stations, (ANY, 3), f"the stations {name!r}")
        given = [bodies] * len(points) if not isinstance(bodies, Iterable) else bodies
        owners = tuple(self._checked_own(b, f"a body of the stations {name!r}") for b in given)
        if len(points) != len(owners):
            raise ShapeError(
                f"the stations {name!r}: not as many as their bodies",
                f"shape ({len(owners)}, 3), a station for each body that was given",
                f"shape {points.shape}",
                "name the body of each station, several times if it has several",
            )
        group = StationGroup(self, name, len(self._groups), bodies=owners, stations=points)
        self._groups = (*self._groups, group)
        return group

    def _checked_own(self, body: object, what: str) -> MobilizedBody:
        if isinstance(body, MobilizedBody) and body.matter is self:
            return body
        raise UnknownBodyError(
            f"{what}: not in the tree of {self.name}",
            "a body that add_body() of the same matter has returned, or its ground",
            f"{body}" if isinstance(body, MobilizedBody) else short_repr(body),
            "add that first; by its name, it is matter.body(name)",
        )

    # ------------------------------------------------------------------ positions

    @cached(prerequisites=())
    def last_poses(self, state: State) -> LastPoses:  # noqa: ARG002  # it is empty at first
        """The memory of the poses computed last, which is not a value."""
        return LastPoses()

    @cached(prerequisites=lambda self: (self.q, self.use_euler_angles, self.last_poses))
    def tree_poses(self, state: State) -> TreePoses:
        """The poses of all bodies. Those that did not move are taken from the last poses."""
        return self.last_poses(state).poses_at(self.layout(state), self.q(state).copy())

    @cached(
        count=_body_names,
        prerequisites=lambda self, i: (self.tree_poses,) if i else (),
        equal=same_transform,
    )
    def pose(self, state: State, i: int) -> Transform:
        """The pose X_GB of a body. The pose of the ground does not change."""
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
        count=_body_names,
        prerequisites=lambda self, i: (self.tree_motions, self.pose[i]),
        equal=_same_bits,
    )
    def velocity(self, state: State, i: int) -> Array:
        """Velocity of a body in ground, (6,): angular, then linear, of its origin."""
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
        count=_body_names,
        prerequisites=lambda self, i: (self.tree_bias, self.velocity[i], self.pose[i]),
        equal=_same_bits,
    )
    def acceleration_bias(self, state: State, i: int) -> Array:
        """The acceleration of a body where udot is 0, in the form of `velocity`."""
        return self._acceleration_at(state, i, self.tree_bias(state))

    # ------------------------------------------------------------------ accelerations

    @cached(count=_body_names, available_from=Stage.ACCELERATION)
    def joint_udot(self, state: State, i: int) -> Array:
        """The udot of the joint of a body; NaN where nothing computes it."""
        layout = self._layouts[False]
        found: Array = state[self].udot[layout.joints[layout.rows[i]].u].copy()
        return found

    @cached(
        prerequisites=lambda self: (self.axes, self.tree_bias, self.use_euler_angles),
        available_from=Stage.ACCELERATION,
    )
    def tree_accelerations(self, state: State) -> Array:
        """The derivatives of `tree_motions`."""
        layout, udot = self.layout(state), state[self].udot
        return self.tree_bias(state) + motions(layout, self.axes(state), udot)

    @cached(
        count=_body_names,
        prerequisites=lambda self, i: (self.tree_accelerations, self.velocity[i], self.pose[i]),
        equal=_same_bits,
    )
    def acceleration(self, state: State, i: int) -> Array:
        """Acceleration of a body in ground, (6,): angular, then linear, of its origin."""
        return self._acceleration_at(state, i, self.tree_accelerations(state))

    def _acceleration_at(self, state: State, i: int, rates: Array) -> Array:
        """Return the acceleration of a body, of derivatives of motions of all bodies."""
        found = _at(self.pose[i](state), rates[self._layouts[False].rows[i]])
        velocity = self.velocity[i](state)
        found[3:] += _cross(velocity, velocity[3:])
        return found

    # ------------------------------------------------------------------ stations

    @cached(count=_group_names, prerequisites=lambda self, _: (self.tree_poses,), unit="m")
    def station_positions(self, state: State, i: int) -> Array:
        """The positions of the stations of a group in ground, (k, 3) [m]."""
        return self._tables[i].positions(self.tree_poses(state).bodies)

    @cached(
        count=_group_names, prerequisites=lambda self, i: (self.axes, self.station_positions[i])
    )
    def station_jacobian(self, state: State, i: int) -> Array:
        """The derivatives of the velocities of a group by u, (k, 3, nu)."""
        return self._tables[i].jacobian(self.station_positions[i](state), self.axes(state))

    @cached(
        count=_group_names,
        prerequisites=lambda self, i: (self.tree_motions, self.station_positions[i]),
        unit="m/s",
    )
    def station_velocities(self, state: State, i: int) -> Array:
        """The velocities of the stations of a group, (k, 3) [m/s]."""
        positions = self.station_positions[i](state)
        return self._tables[i].velocities(positions, self.tree_motions(state))

    @cached(
        count=_group_names,
        prerequisites=lambda self, i: (
            *(self.tree_bias, self.tree_motions),
            self.station_positions[i],
        ),
        unit="m/s²",
    )
    def station_acceleration_bias(self, state: State, i: int) -> Array:
        """The accelerations of a group where udot is 0, (k, 3) [m/s²]."""
        rates, bias = self.tree_motions(state), self.tree_bias(state)
        return self._tables[i].accelerations(self.station_positions[i](state), rates, bias)

    @cached(
        count=_group_names,
        prerequisites=lambda self, i: (
            *(self.tree_accelerations, self.tree_motions),
            self.station_positions[i],
        ),
        unit="m/s²",
    )
    def station_accelerations(self, state: State, i: int) -> Array:
        """The accelerations of the stations of a group, (k, 3) [m/s²]."""
        motion, rates = self.tree_motions(state), self.tree_accelerations(state)
        return self._tables[i].accelerations(self.station_positions[i](state), motion, rates)

    @cached(
        count=_group_names, prerequisites=lambda self, i: (self.axes, self.station_positions[i])
    )
    def station_frame_jacobian(self, state: State, i: int) -> Array:
        """The Jacobian of frames at the stations, (k, 6, nu): angular, then linear velocity."""
        return self._tables[i].frame_jacobian(self.station_positions[i](state), self.axes(state))

    # ------------------------------------------------------------------ qdot = N u

    @kinematics(prerequisites=_all_q)
    def n_matrix(self, state: State) -> Any:
        """The matrix N, which has a block for each joint; sparse where it is large."""
        return n_of(self.layout(state), self.q(state).tolist())

    @n_matrix.pinv(prerequisites=_all_q)
    def n_pinv_matrix(self, state: State) -> Any:
        """The pseudoinverse of N, block by block."""
        return n_pinv_of(self.layout(state), self.q(state).tolist())

    def calc_n_pinv(self, state: State) -> Any:
        """Return the u for a qdot, also at angles where N is singular: pinv(N) mostly. Reads q.

        It is None where N is 1, and is not compared with N.
        """
        layout = self.layout(state)
        return u_by_qdot_of(layout, self.q(state).tolist()) if layout.related else None

    @normalization_error(
        size=lambda self, state: len(self.layout(state).normalized),
        prerequisites=_all_q,
    )
    def quaternion_lengths(self, state: State) -> Array:
        """The lengths of quaternions, minus 1: a row of qerr for each."""
        return lengths_of(self.layout(state), self.q(state).tolist()) - 1.0

    @quaternion_lengths.jacobian(prerequisites=_all_q)
    def quaternion_normals(self, state: State) -> Any:
        """The derivatives of the lengths by q."""
        layout, start = self.layout(state), self.q.place(state).start
        return normals_of(layout, self.q(state).tolist(), start, state.nq)

    # ------------------------------------------------------------------ masses and forces

    @property
    def forces(self) -> tuple[AnyForce, ...]:
        """The forces of the System on this matter, in the order in which they were added."""
        every: Iterable[Any] = self.system.subsystems
        return tuple(s for s in every if getattr(s, "acts_on", None) is self)

    @cached(prerequisites=lambda self: (self.tree_poses,), unit="m")
    def tree_centers(self, state: State) -> Array:
        """The centers of mass of all bodies in ground, by row, (rows, 3) [m]."""
        return centers_in_ground(self._inertias, self.tree_poses(state))

    @cached(prerequisites=lambda self: (self.tree_poses, self.tree_centers))
    def tree_inertias(self, state: State) -> Inertias:
        """The masses, centers of mass and central inertias of all bodies, in ground."""
        return inertias_in_ground(self._inertias, self.tree_poses(state), self.tree_centers(state))

    @property
    def tree_masses(self) -> Array:
        """The masses of all bodies by row, (rows,) [kg]; there once Topology is realized."""
        return self._inertias.masses

    def rows_of(self, bodies: Iterable[MobilizedBody]) -> list[int]:
        """Return the rows of bodies in its tables; known once Topology is realized."""
        return [self._layouts[False].rows[body.index] for body in bodies]

    @mass_matrix(
        prerequisites=lambda self: (
            *((self.tree_poses,) if has_kernel() else (self.axes, self.tree_inertias)),
            self.use_euler_angles,
        ),
        exists=_has_mass,
    )
    def m_matrix(self, state: State) -> Array:
        """The mass matrix M, (nu, nu), by composite bodies."""
        layout = self.layout(state)
        if layout.kernel is not None:
            return layout.kernel.mass_matrix(self.tree_poses(state).arrays, self._inertias.arrays)
        return mass_matrix_of(layout, self.axes(state), self.tree_inertias(state))

    @cached(prerequisites=lambda self: (self.tree_inertias, self.tree_motions, self.tree_bias))
    def inertial_bias(self, state: State) -> Array:
        """The spatial forces of inertia on all bodies where udot is 0, by row, (rows, 6)."""
        return self.tree_inertias(state).forces(self.tree_motions(state), self.tree_bias(state))

    @generalized_force(
        prerequisites=lambda self: (
            *((self.tree_poses, self.u) if has_kernel() else (self.axes, self.inertial_bias)),
            self.use_euler_angles,
        ),
        exists=_has_mass,
    )
    def bias_force(self, state: State) -> Array:
        """The forces on u of inertia where udot is 0: Coriolis, centrifugal, gyroscopic.

        M udot is the sum of these and the applied ones: the opposite of MuJoCo's `qfrc_bias`.
        """
        kernel = self.layout(state).kernel
        if kernel is not None:
            poses, u = self.tree_poses(state).arrays, self.u(state)
            return -kernel.inverse_dynamics(poses, self._inertias.arrays, u, np.zeros(len(u)))
        return -generalized_forces(self.layout(state), self.axes(state), self.inertial_bias(state))

    @cached(prerequisites=lambda self: (*_applied(self), self.use_euler_angles))
    def applied_forces(self, state: State) -> TreeForces:
        """The sum of all forces: spatial ones on bodies, and those on u."""
        acting = [force.applied(state) for force in self._forces if force.is_enabled(state)]
        return sum_of(self.layout(state), acting)

    @generalized_force(
        prerequisites=lambda self: (
            *(self.axes, self.applied_forces),
            *(self.tree_centers, self.use_euler_angles),
        ),
        exists=lambda self: _has_mass(self) or bool(self.forces),
    )
    def applied_force(self, state: State) -> Array:
        """The forces on u of all forces, (nu,)."""
        forces = self.applied_forces(state)
        on_bodies = forces.spatial(self.tree_masses, self.tree_centers(state))
        return generalized_forces(self.layout(state), self.axes(state), on_bodies) + forces.on_u

    @m_matrix.solver(bias_force, applied_force)
    def _solve_m(self, state: State, others: Array | None, known: Array | None) -> Array | None:
        """Return udot by articulated bodies, in O(bodies), where the kernel is there.

        Where a u moves no mass, or numbers are not finite, M is used instead: the error of M, or
        of a force, names the cause.
        """
        layout = self.layout(state)
        kernel = layout.kernel
        if kernel is None or layout.most_u > LARGEST_JOINT:
            return None
        if known is not None and not layout.are_whole_joints(np.isnan(known)):
            return None  # it holds whole joints only
        forces, poses = self.applied_forces(state), self.tree_poses(state)
        on_u = forces.on_u if others is None else forces.on_u + others
        model, on_bodies = (poses.arrays, self._inertias.arrays), forces.about_bodies(poses)
        try:
            return kernel.forward_dynamics(
                *model, self.u(state), on_u, on_bodies, field=forces.field, known=known
            )
        except (MassMatrixError, NotANumberError):
            return None

    @cached(prerequisites=lambda self: (self.tree_inertias, self.tree_motions), unit="J")
    def kinetic_energy(self, state: State) -> float:
        """The kinetic energy of all bodies [J]."""
        return self.tree_inertias(state).kinetic_energy(self.tree_motions(state))

    @cached(prerequisites=_energies, unit="J")
    def potential_energy(self, state: State) -> float:
        """The potential energy of all forces that are enabled [J]."""
        return sum(
            force.potential_energy(state) for force in self.forces if force.is_enabled(state)
        )

    def multiply_by_m(self, state: State, udot: ArrayLike) -> Array:
        """Return M times any udot (nu,), without M. Reads `axes`, `tree_inertias`.

        Cost O(bodies log(depth)).

        Raises
        ------
        ShapeError, NotANumberError, OutOfRangeError, StageTooLowError, WrongTypeError
        """
        layout, axes = self.layout(state), self.axes(state)
        values = checked_array(udot, (layout.nu,), f"multiply_by_m(udot) of {self.name}")
        return times_mass_matrix(layout, axes, self.tree_inertias(state), values)

    def multiply_by_m_inv(self, state: State, forces: ArrayLike) -> Array:
        """Return the udot (nu,) that forces on u (nu,) alone would give: M^-1 times these.

        All u count as free, whatever locks, motions and constraints there are.
        Reads `tree_poses`; `m_matrix` where the kernel is not compiled. Cost O(bodies) with it.

        Raises
        ------
        MassMatrixError
            M is singular: a u moves no mass.
        ShapeError, NotANumberError, OutOfRangeError, StageTooLowError, WrongTypeError
        """
        layout = self.layout(state)
        values = checked_array(forces, (layout.nu,), f"multiply_by_m_inv(forces) of {self.name}")
        if not _has_mass(self):
            raise MassMatrixError(
                f"multiply_by_m_inv of {self.name}: there is no mass",
                "a body with mass outboard of each joint",
                "bodies without mass",
                "give add_body() mass_properties",
            )
        if layout.kernel is not None and layout.most_u <= LARGEST_JOINT:
            poses, own = self.tree_poses(state).arrays, self._inertias.arrays
            with suppress(MassMatrixError):
                solved: Array = layout.kernel.multiply_by_m_inv(poses, own, values[None])[0]
                return solved
        root = type(self).m_matrix.root_in(self)(state)
        found: Array = root.T @ (root @ values)
        return found

    def calc_inverse_dynamics(self, state: State, udot: ArrayLike) -> Array:
        """Return the forces on u that give a udot, beside all forces that act already.

        Constraints are not among these. Reads `axes`, `tree_inertias`, `bias_force` and
        `applied_force`. Cost O(bodies log(depth)).

        Parameters
        ----------
        state : State
            At Model or further; at Dynamics, if a force depends on all of that stage.
        udot : array_like
            Of all u of the matter.

        Returns
        -------
        ndarray
            As many [N m or N].

        Raises
        ------
        ShapeError, NotANumberError, OutOfRangeError, StageTooLowError, WrongTypeError
        """
        found = self.multiply_by_m(state, udot)
        if _has_mass(self):
            found -= self.bias_force(state)
        if _has_mass(self) or self._forces:
            found -= self.applied_force(state)
        return found

    def calc_mass(self) -> float:
        """Return the mass of all bodies [kg]."""
        return sum(body.mass_properties.mass for body in self.bodies)

    def calc_center_of_mass(self, state: State) -> Array:
        """Return the center of mass of all bodies in ground, (3,) [m]. Reads `tree_inertias`.

        It is NaN if no body has mass.

        Raises
        ------
        StageTooLowError, WrongTypeError
        """
        return self.tree_inertias(state).total()[1]

    def calc_momentum(self, state: State) -> Array:
        """Return the momentum of all bodies about their center of mass, (6,).

        Angular [kg m²/s], then linear [kg m/s], in ground. Reads `tree_inertias`, `tree_motions`.

        Raises
        ------
        StageTooLowError, WrongTypeError
        """
        inertias = self.tree_inertias(state)
        found: Array = inertias.momenta(self.tree_motions(state)).sum(axis=0)
        mass, center = inertias.total()
        if mass > 0.0:
            found[:3] -= cross3(center, found[3:])
        return found

    # ------------------------------------------------------------------ drives

    @cached(prerequisites=(joint_lock, follows_motion, use_euler_angles))
    def driven_joints(self, state: State) -> Drives:
        """The joints that are driven. Cost O(bodies)."""
        drivers: dict[int, Driver] = {}
        for (body, motion), follows in zip(self.moving, self.follows_motion, strict=True):
            value = follows(state)
            if not isinstance(value, bool | np.bool_):
                raise MotionError(
                    f"follows_motion of body {self.bodies[body].name!r}: not a truth value",
                    "True or False",
                    short_repr(value),
                    "set it to one of these",
                )
            if value:
                drivers[body] = motion
        for body, lock in enumerate(self.joint_lock):
            held = lock(state)
            if held is None:
                continue
            if not isinstance(held, JointLock):
                raise MotionError(
                    f"the lock of body {self.bodies[body].name!r}: not a lock",
                    "a lock that body.lock(state) writes, or None",
                    short_repr(held),
                    "call body.lock(state) or body.unlock(state)",
                )
            drivers[body] = held
        layout = self.layout(state)
        return Drives(
            ((layout.joints[layout.rows[body]], drivers[body]) for body in sorted(drivers)),
            use_euler_angles=bool(self.use_euler_angles(state)),
            prescribed=self._prescribed,
        )

    @cached(prerequisites=_drives)
    def driven_q(self, state: State) -> Array:
        """The q of joints whose q are driven, end to end."""
        return self.driven_joints(state).q(self._drive_time(state))

    @cached(prerequisites=_drives)
    def driven_u(self, state: State) -> Array:
        """The u of joints whose u are driven, end to end."""
        return self.driven_joints(state).u(self._drive_time(state))

    @cached(prerequisites=_drives_udot)
    def driven_udot(self, state: State) -> Array:
        """The udot of driven joints, end to end: first of those whose u are driven."""
        q: list[float] = []
        u: list[float] = []
        if _has_accelerations(self):
            q, u = self.q(state).tolist(), self.u(state).tolist()
        return self.driven_joints(state).udot(self._drive_time(state), q, u)

    def _prescribed_variables(self, state: State, kind: str) -> Sequence[PrescribedVariable]:
        """Return the q, u or udot of driven joints. Cost O(1) until locks or switches change."""
        return self.driven_joints(state).variables[kind]

    def _prescribed(self, driven: DrivenJoint, kind: str) -> Iterator[PrescribedVariable]:
        body = driven.joint.body.index
        if kind == "q":
            variable, entry, udot = self.joint_q[body], self.driven_q, None
            part = driven.q_part
        else:
            variable, entry, udot = self.joint_u[body], self.driven_u, self.driven_udot
            entry = entry if kind == "u" else udot
            part = driven.u_part
        if driven.coordinates is None:
            yield PrescribedVariable(variable, entry, udot, part)
            return
        for k, i in enumerate(driven.coordinates, part.start):
            yield PrescribedVariable(variable, entry, udot, slice(k, k + 1), slice(i, i + 1))

    def _drive_time(self, state: State) -> float:
        """Return the time, which is not read where nothing depends on it."""
        return state.time if self.moving else 0.0

    # ------------------------------------------------------------------ hooks and tables

    def realize_topology(self, state: State) -> None:  # noqa: ARG002  # of a fixed form
        """Make the tables of the tree."""
        self._layouts = tuple(
            TreeLayout(self.bodies, use_euler_angles=angles) for angles in (False, True)
        )
        self._forces = self.forces
        self._inertias = inertias_of(
            self._layouts[False], [body.mass_properties for body in self.bodies]
        )
        self._tables = tuple(
            StationTable(self._layouts[False], group.bodies, group.stations)
            for group in self._groups
        )

    def realize_velocity(self, state: State) -> None:
        """Write qdot = N u."""
        layout, qdot = self.layout(state), self.u(state)
        if layout.related:
            qdot = qdot_of(layout, self.q(state), qdot)
        state._contents.fill_vector(QDOT, self._index, qdot)

    def realize_acceleration(self, state: State) -> None:
        """Write qdotdot = N udot + dN/dt u; NaN where udot is not known."""
        contents, x, layout = state._contents, self._index, self.layout(state)
        qdotdot = udot = contents.known_so_far(UDOT, x)
        if layout.related:
            qdot = contents.known_so_far(QDOT, x)
            qdotdot = qdotdot_of(layout, self.q(state), qdot, self.u(state), udot)
        contents.fill_vector(QDOTDOT, x, qdotdot)

    def layout(self, state: State) -> TreeLayout:
        """Return the tables of the tree in the form of a State. Reads `use_euler_angles`."""
        return self._layouts[bool(self.use_euler_angles(state))]

    def __getstate__(self) -> dict[str, Any]:
        """Leave out tables, which are made anew."""
        made = ("_layouts", "_forces", "_inertias", "_tables")
        left = (*made, "_arriving_bodies", "_arriving_groups")
        return {k: v for k, v in super().__getstate__().items() if k not in left}


def _at(pose: Transform, motion: Array) -> Array:
    """Return a motion about the origin of the ground as one about the origin of a body."""
    found = motion.copy()
    found[3:] += _cross(motion, pose.translation)
    return found


def _cross(motion: Array, vector: Array) -> Array:
    """Return the cross product of an angular velocity with a vector."""
    return cross3(motion[:3], vector)


def _mass_properties(given: Any, name: str) -> MassProperties:
    what = f"mass_properties of body {name!r}"
    if isinstance(given, Mapping):
        try:
            return MassProperties(**given)
        except StagecacheError as error:
            what = f"{what}: {error.what}"
            raise type(error)(what, error.expected, error.got, error.hint) from None
        except TypeError as error:  # of wrong arguments
            raise MassPropertiesError(
                f"{what}: not arguments of MassProperties",
                "mass, and center and inertia where they are not the default",
                short_repr(given),
                f"{error}",
            ) from None
    given = MassProperties(0.0) if given is None else given
    return require_type(
        given,
        MassProperties,
        f"{what}: not a MassProperties",
        "a MassProperties",
        "make one: MassProperties(mass, center=..., inertia=...)",
    )
