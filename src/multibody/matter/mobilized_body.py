"""Bodies: a rigid body with its joint, the handles of its entries, locks, fits and stations."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, SupportsIndex, final

import numpy as np
from numpy.typing import ArrayLike

from stagecache.checks import (
    did_you_mean,
    require_number,
    require_type,
    whole_number,
)
from stagecache.errors import (
    MotionError,
    OutOfRangeError,
    StageOutOfRangeError,
    UnknownItemError,
    listed,
    short_repr,
)
from stagecache.multibody.checks import checked_array, checked_points
from stagecache.multibody.geometry.spatial import (
    Array,
    cross,
)
from stagecache.multibody.geometry.transform import Transform
from stagecache.multibody.matter.coordinates import (
    Coordinate,
    JointCoordinate,
)
from stagecache.multibody.matter.drives import (
    JointLock,
    checked_held,
)
from stagecache.multibody.matter.fitting import fitted_q, fitted_u
from stagecache.multibody.matter.part import MatterPart
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer
from stagecache.multibody.motions.motion import AnyMotion
from stagecache.multibody.tree.mass_properties import MassProperties
from stagecache.multibody.tree.stations import StationTable
from stagecache.state.handles import (
    CacheEntry,
    ContinuousVariable,
    DiscreteVariable,
)
from stagecache.state.stage import Stage, check_stage
from stagecache.state.state import State

if TYPE_CHECKING:
    from stagecache.multibody.matter.matter import MatterSubsystem

_HELD: Final = {Stage.POSITION: "q", Stage.VELOCITY: "u", Stage.ACCELERATION: "udot"}


@final
class MobilizedBody(MatterPart):
    r"""A rigid body, and the mobilizer that joins it to its parent; see `add_body`. It is const.

    ::

        ground G ...  parent P --- X_PF ---> F --- X_FM(q) ---> M <--- X_BM --- body B

        X_GB = X_GP X_PF X_FM(q) X_MB

    `q`, `u`, `udot`, `pose`, `velocity`, `acceleration` and `acceleration_bias` are handles: call
    them with a State, or name them as prerequisites. Each method that takes a State says which
    entries it reads, so that a caller can declare them.

    Attributes
    ----------
    matter : MatterSubsystem
        The tree that has the body.
    name : str
    index : int
        Bodies are numbered as they were added; 0 is the ground.
    parent : MobilizedBody
        The body on which the mobilizer is; of the ground, the ground itself.
    mobilizer : AbstractMobilizer
    mass_properties : MassProperties
    inboard_frame : Transform
        X_PF, on the parent.
    outboard_frame : Transform
        X_BM, on the body.
    motion : AbstractMotion, AbstractSpeedMotion, AbstractAccelerationMotion or None
        Its q, u or udot as functions of time; see `follows_motion` and `lock`.
    """

    __slots__ = (
        "described",
        "inboard_frame",
        "mass_properties",
        "mobilizer",
        "motion",
        "outboard_frame",
        "parent",
    )
    _collection = "_bodies"
    parent: "MobilizedBody"
    mobilizer: AbstractMobilizer
    mass_properties: MassProperties
    inboard_frame: Transform
    outboard_frame: Transform
    motion: AnyMotion | None
    described: tuple[Coordinate, ...]
    """The descriptions of its coordinates with which it was added: one for each u, or none."""

    def __init__(
        self,
        matter: "MatterSubsystem",
        name: str,
        index: int,
        *,
        parent: "MobilizedBody | None",
        **others: Any,
    ) -> None:
        super().__init__(matter, name, index, parent=parent or self, **others)

    # ------------------------------------------------------------------ handles

    @property
    def q(self) -> ContinuousVariable:
        """The handle of its own q. A write makes the poses outboard of its joint stale."""
        return self.matter.joint_q.member(self.index)

    @property
    def u(self) -> ContinuousVariable:
        """The handle of its own u. A write leaves all poses valid."""
        return self.matter.joint_u.member(self.index)

    @property
    def udot(self) -> CacheEntry[Array]:
        """The entry of its own udot, (nu,). Needs Acceleration; NaN if nothing computes it."""
        return self.matter.joint_udot.member(self.index)

    @property
    def pose(self) -> CacheEntry[Transform]:
        """The entry of X_GB. Needs Model; it stays valid where the body did not move."""
        return self.matter.pose.member(self.index)

    @property
    def velocity(self) -> CacheEntry[Array]:
        """The entry of its velocity, (6,): angular [rad/s], then of its origin [m/s], in ground."""
        return self.matter.velocity.member(self.index)

    @property
    def acceleration(self) -> CacheEntry[Array]:
        """The entry of its acceleration, (6,): angular, then of its origin. Needs Acceleration."""
        return self.matter.acceleration.member(self.index)

    @property
    def acceleration_bias(self) -> CacheEntry[Array]:
        """The entry of its acceleration where udot is 0, (6,), in the form of `velocity`."""
        return self.matter.acceleration_bias.member(self.index)

    @property
    def coordinates(self) -> tuple[JointCoordinate, ...]:
        """The coordinates of its joint, one for each u."""
        return tuple(JointCoordinate(self, i) for i in range(self.mobilizer.nu))

    def coordinate(self, which: SupportsIndex | str) -> JointCoordinate:
        """Return one coordinate of the joint, by its index or its name.

        Raises
        ------
        OutOfRangeError
        UnknownItemError
            The joint has no coordinate of that name.
        """
        return JointCoordinate(self, self._checked_coordinate(which))

    # ------------------------------------------------------------------ motion and locking

    @property
    def follows_motion(self) -> DiscreteVariable[bool]:
        """Handle that switches the motion on and off in a State. A write invalidates Instance.

        Raises
        ------
        MotionError
            It has no motion.
        """
        moving = [index for index, _ in self.matter.moving]
        if self.index not in moving:
            raise MotionError(
                f"{self}: has no motion to follow",
                "a body that was added with motion=",
                f"its joint, a {self.mobilizer!r}, is free",
                "give add_body() a motion; to hold the joint, call lock(state)",
            )
        return self.matter.follows_motion[moving.index(self.index)]

    def lock(
        self,
        state: State,
        values: ArrayLike | None = None,
        *,
        level: Stage = Stage.POSITION,
        coordinate: int | str | None = None,
    ) -> None:
        """Hold the joint, whatever its motion. An Instance write, and nothing else.

        `prescribe` then writes q and u, unless they are right: q held and u = 0, at level Position;
        u held, at level Velocity. udot is 0 at both, and held at level Acceleration, where q and u
        are free. Entries that do not depend on stage Instance, as poses and Jacobians, stay valid;
        copies of the State are locked as well.

        Parameters
        ----------
        state : State
            At Model or further; it is at Model then.
        values : array_like, optional
            The q (nq,), u (nu,) or udot (nu,) at which it is held. The default is the present q or
            u, and a udot of 0. A quaternion is normalized.
        level : Stage
            Position; Velocity, where q advance by constant u; or Acceleration, where u advance by
            constant udot.
        coordinate : int or str, optional
            The index or name of a q of the joint, to hold that one alone, beside others that are
            held already; `values` is then a number. The default is the whole joint.

        Raises
        ------
        StageOutOfRangeError
            The level is another stage.
        ShapeError, NotANumberError, OutOfRangeError, UnknownItemError
            Wrong values, or a quaternion of zeros; or the joint does not have that coordinate.
        MotionError
            One coordinate alone of a joint that has a motion, whose qdot is not u, or that is
            locked at the other level.
        StageTooLowError, WrongTypeError, ForeignNodeError, ReadOnlyError
        """
        what = f"the level of the lock of {self}"
        level = check_stage(level, Stage.POSITION, Stage.ACCELERATION, what)
        if level is Stage.DYNAMICS:
            raise StageOutOfRangeError(
                f"{what}: nothing is held at that stage",
                "Stage.POSITION, Stage.VELOCITY or Stage.ACCELERATION",
                f"{level}",
                "to hold the udot, write level=Stage.ACCELERATION",
            )
        variable = self.q if level is Stage.POSITION else self.u
        present = variable(state)
        if level is Stage.ACCELERATION:
            present = np.zeros(len(present))
        if coordinate is not None:
            self._lock_one(state, present, values, level, coordinate)
            return
        given = present if values is None else values
        angles = bool(self.matter.use_euler_angles(state))
        start = None if angles or level is not Stage.POSITION else self.mobilizer.quaternion_start
        what = f"the {_HELD[level]} of the lock of {self}"
        held = checked_held(given, len(present), start, what)
        lock = JointLock(level, tuple(held), angles)
        if self.matter.joint_lock[self.index](state) != lock:
            self.matter.joint_lock[self.index].set(state, lock)

    def _lock_one(
        self,
        state: State,
        present: Array,
        value: Any,
        level: Stage,
        coordinate: int | str,
    ) -> None:
        i = self._checked_coordinate(coordinate)
        what = f"coordinate {i} of {self}"
        held = self.matter.joint_lock[self.index](state)
        whole = held is not None and held.coordinates is None
        problem = ""
        if self.motion is not None:
            problem = "a joint that has a motion"
        elif self.mobilizer.n(self.mobilizer.default_q) is not None:
            problem = f"a {self.mobilizer!r}, whose qdot is not its u"
        elif held is not None and (whole or held.level is not level):
            problem = "one that is locked as a whole" if whole else f"one locked at {held.level}"
        if problem:
            raise MotionError(
                f"{what}: cannot be locked alone",
                "a joint without a motion, whose qdot is u, and that is free or locked at this "
                "level in some coordinates",
                problem,
                "lock the whole joint; or unlock it first",
            )
        given = float(present[i]) if value is None else value
        number = require_number(given, f"the {_HELD[level]} of the lock of {what}")
        angles = bool(self.matter.use_euler_angles(state))
        lock = JointLock(level, (), angles, ()) if held is None else held
        lock = lock.with_coordinate(i, number)
        if lock != held:
            self.matter.joint_lock[self.index].set(state, lock)

    def _checked_coordinate(self, coordinate: Any) -> int:
        """Return the index of a u of the joint, or of a q whose qdot it is, of an index or name.

        Raises
        ------
        OutOfRangeError, UnknownItemError
        """
        if isinstance(coordinate, str):
            names = [described.name for described in self.described]
            if coordinate in names:
                return names.index(coordinate)
            raise UnknownItemError(
                f"coordinate {coordinate!r} of {self}: does not exist",
                f"one of {listed(names)}" if names else "an index: its coordinates have no names",
                repr(coordinate),
                did_you_mean(coordinate, names) or "names are given by add_body(coordinates=...)",
            )
        number, count = whole_number(coordinate), self.mobilizer.nu
        if number is None or not 0 <= number < count:
            raise OutOfRangeError(
                f"coordinate {short_repr(coordinate)} of {self}: does not exist",
                f"an index from 0 to {count - 1}" if count else "a joint with u",
                f"{short_repr(coordinate)}, of a {self.mobilizer!r}",
                "count the u of the joint from 0",
            )
        return number

    def unlock(self, state: State, *, coordinate: int | str | None = None) -> None:
        """Remove the lock, if there is one: the joint is free, or follows its motion.

        An Instance write, as `lock`. q and u stay as they are.

        Parameters
        ----------
        state : State
            At Model or further; it is at Model then.
        coordinate : int or str, optional
            The index or name of a q of the joint that was locked alone. The default is the whole
            joint.

        Raises
        ------
        MotionError
            One coordinate of a joint that is locked as a whole.
        OutOfRangeError, UnknownItemError, StageTooLowError, WrongTypeError, ForeignNodeError
        ReadOnlyError
        """
        lock = self.matter.joint_lock[self.index]
        held = lock(state)
        if coordinate is None:
            if held is not None:
                lock.set(state, None)
            return
        i = self._checked_coordinate(coordinate)
        if held is None:
            return
        if held.coordinates is None:
            raise MotionError(
                f"coordinate {i} of {self}: cannot be unlocked alone",
                "a joint that is locked in some coordinates",
                "one that is locked as a whole",
                "unlock the whole joint, and lock the other coordinates",
            )
        if i in held.coordinates:
            lock.set(state, held.without_coordinate(i))

    def is_locked(self, state: State, *, coordinate: int | str | None = None) -> bool:
        """Return True if the joint is held in a State, at any level, in any coordinate.

        With `coordinate`, if that one is held, alone or with the whole joint.

        Raises
        ------
        OutOfRangeError, UnknownItemError, StageTooLowError, WrongTypeError, ForeignNodeError
        """
        i = None if coordinate is None else self._checked_coordinate(coordinate)
        held = self.matter.joint_lock[self.index](state)
        if i is None or held is None:
            return held is not None
        return held.coordinates is None or i in held.coordinates

    # ------------------------------------------------------------------ fitting

    def set_q_to_fit_transform(self, state: State, transform: Transform) -> None:
        """Set its q so that X_FM, the pose of M in F, is the nearest to a wanted one.

        Exact where the joint can. Else the sum of two squares is least, as found from several
        starts: of the angle between the orientations [rad], and of the distance in units of
        `default_length_scale`. u stay as they are. Invalidates Position.

        Parameters
        ----------
        state : State
            At Model or further.
        transform : Transform
            X_FM.

        Raises
        ------
        WrongTypeError, StageTooLowError, ForeignNodeError, ReadOnlyError
        """
        what = f"the pose to fit of {self}"
        hint = "write Transform(rotation, translation)"
        wanted = require_type(transform, Transform, what, "a Transform", hint)
        self._fit_q(state, wanted.rotation, wanted.translation)

    def set_q_to_fit_rotation(self, state: State, rotation: ArrayLike) -> None:
        """Set its q so that R_FM is the nearest to a wanted one, (3, 3). As above.

        Of q that decide on the origin only, present values stay.

        Raises
        ------
        ShapeError, NotANumberError, OutOfRangeError
        StageTooLowError, WrongTypeError, ForeignNodeError, ReadOnlyError
        """
        checked_array(rotation, (3, 3), f"the rotation to fit of {self}")
        self._fit_q(state, Transform(rotation).rotation, None)

    def set_q_to_fit_translation(self, state: State, translation: ArrayLike) -> None:
        """Set its q so that p_FM is the nearest to a wanted one, (3,) [m]. As above.

        Raises
        ------
        ShapeError, NotANumberError, OutOfRangeError
        StageTooLowError, WrongTypeError, ForeignNodeError, ReadOnlyError
        """
        what = f"the translation to fit of {self}"
        self._fit_q(state, None, checked_array(translation, (3,), what))

    def set_u_to_fit_velocity(self, state: State, velocity: ArrayLike) -> None:
        """Set its u so that V_FM is the nearest to a wanted one. Invalidates Velocity.

        V_FM is the angular velocity of M in F [rad/s], and the velocity of its origin [m/s], both
        in F. Exact where the joint can; else by least squares.

        Parameters
        ----------
        state : State
            At Model or further.
        velocity : (6,) array_like

        Raises
        ------
        ShapeError, NotANumberError, OutOfRangeError
        StageTooLowError, WrongTypeError, ForeignNodeError, ReadOnlyError
        """
        self._fit_u(state, checked_array(velocity, (6,), f"the velocity to fit of {self}"), 0)

    def set_u_to_fit_angular_velocity(self, state: State, velocity: ArrayLike) -> None:
        """Set its u so that the angular velocity of M in F is the nearest, (3,). As above.

        Raises
        ------
        ShapeError, NotANumberError, OutOfRangeError
        StageTooLowError, WrongTypeError, ForeignNodeError, ReadOnlyError
        """
        what = f"the angular velocity to fit of {self}"
        self._fit_u(state, checked_array(velocity, (3,), what), 0)

    def set_u_to_fit_linear_velocity(self, state: State, velocity: ArrayLike) -> None:
        """Set its u so that the velocity of the origin of M in F is the nearest, (3,). As above.

        Raises
        ------
        ShapeError, NotANumberError, OutOfRangeError
        StageTooLowError, WrongTypeError, ForeignNodeError, ReadOnlyError
        """
        what = f"the linear velocity to fit of {self}"
        self._fit_u(state, checked_array(velocity, (3,), what), 3)

    def _fit_q(self, state: State, rotation: Array | None, translation: Array | None) -> None:
        mobilizer, present = self.mobilizer, self.q(state).tolist()
        has_angles = bool(self.matter.use_euler_angles(state))
        start = present if has_angles else mobilizer.euler_angles_of(present)
        length = getattr(self.matter.system, "default_length_scale", 1.0)
        twin = mobilizer.with_euler_angles()
        found: Sequence[float] = fitted_q(twin, start, rotation, translation, length)
        self.q.set(state, found if has_angles else mobilizer.quaternions_of(found))

    def _fit_u(self, state: State, wanted: Array, first: int) -> None:
        mobilizer = self.mobilizer
        if self.matter.use_euler_angles(state):
            mobilizer = mobilizer.with_euler_angles()
        rows = slice(first, first + len(wanted))
        self.u.set(state, fitted_u(mobilizer, self.q(state).tolist(), wanted, rows))

    # ------------------------------------------------------------------ stations

    def station_position(self, state: State, station: ArrayLike) -> Array:
        """Return the positions in ground of points of the body. Reads `pose`.

        Parameters
        ----------
        state : State
            At Model or further.
        station : (3,) or (k, 3) array_like
            In the frame of the body [m].

        Returns
        -------
        ndarray of the shape of `station`
            [m]

        Raises
        ------
        ShapeError, NotANumberError, OutOfRangeError, StageTooLowError, WrongTypeError
        """
        matrix = self.pose(state).matrix
        found: Array = self._station(station) @ matrix[:3, :3].T + matrix[:3, 3]
        return found

    def station_velocity(self, state: State, station: ArrayLike) -> Array:
        """Return the velocities of points [m/s]. Reads `pose`, `velocity`; else as above."""
        arms, velocity = self._arms(state, station), self.velocity(state)
        found: Array = velocity[3:] + cross(np.broadcast_to(velocity[:3], arms.shape), arms)
        return found.reshape(np.shape(station))

    def station_acceleration_bias(self, state: State, station: ArrayLike) -> Array:
        """Return the accelerations of points where udot is 0 [m/s²].

        Reads `pose`, `velocity`, `acceleration_bias`; else as above.
        """
        return self._station_acceleration(state, station, self.acceleration_bias)

    def station_acceleration(self, state: State, station: ArrayLike) -> Array:
        """Return the accelerations of points [m/s²]. Needs Acceleration.

        Reads `pose`, `velocity`, `acceleration`; else as above.
        """
        return self._station_acceleration(state, station, self.acceleration)

    def _station_acceleration(
        self, state: State, station: ArrayLike, entry: CacheEntry[Array]
    ) -> Array:
        arms, velocity, rate = self._arms(state, station), self.velocity(state), entry(state)
        turning = np.broadcast_to(velocity[:3], arms.shape)
        found: Array = rate[3:] + cross(np.broadcast_to(rate[:3], arms.shape), arms)
        found = found + cross(turning, cross(turning, arms))
        return found.reshape(np.shape(station))

    def station_jacobian(self, state: State, station: ArrayLike) -> Array:
        """Return the derivatives of velocities of points by the u of the matter.

        Reads `pose`, `axes`. For many points of several bodies, `MatterSubsystem.add_stations` is
        faster.

        Returns
        -------
        ndarray
            (3, nu), or (k, 3, nu) where k points are given.
        """
        table, positions = self._table(state, station)
        found = table.jacobian(positions, self.matter.axes(state))
        return found if np.ndim(station) == 2 else found[0]

    def frame_jacobian(self, state: State, station: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
        """Return the Jacobian of frames at points: angular velocity, then velocity of the point.

        Reads `pose`, `axes`.

        Returns
        -------
        ndarray
            (6, nu), or (k, 6, nu).
        """
        table, positions = self._table(state, station)
        found = table.frame_jacobian(positions, self.matter.axes(state))
        return found if np.ndim(station) == 2 else found[0]

    def _station(self, station: ArrayLike) -> Array:
        return checked_points(station, f"a station of {self}")

    def _arms(self, state: State, station: ArrayLike) -> Array:
        """Return the vectors from the origin of the body to points, in ground: (k, 3)."""
        return self._station(station).reshape(-1, 3) @ self.pose(state).matrix[:3, :3].T

    def _table(self, state: State, station: ArrayLike) -> tuple[StationTable, Array]:
        points = self._station(station).reshape(-1, 3)
        matrix = self.pose(state).matrix  # first, as it refuses a State older than the body
        table = StationTable(self.matter.layout(state), [self] * len(points), points)
        return table, points @ matrix[:3, :3].T + matrix[:3, 3]

    def _hint(self, name: str) -> str:
        if name in ("q", "u", "follows_motion"):
            return f"to write it in a State, call body.{name}.set(state, values)"
        return "add the body anew to another matter; variables, as q, are in a State"

    def __str__(self) -> str:
        return f"body {self.name!r} of {self.matter.name}"

    def __repr__(self) -> str:
        return f"MobilizedBody({self.name!r}, {self.index}, {self.mobilizer!r})"
