r"""Mobilized bodies: a rigid body, and the mobilizer that joins it to its parent.

::

    ground G ...  parent P --- X_PF ---> F --- X_FM(q) ---> M <--- X_BM --- body B

    X_GB = X_GP X_PF X_FM(q) X_MB
"""

from collections.abc import Callable
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from stagecache.errors import ConstModelError, MotionError
from stagecache.multibody.checks import checked_points
from stagecache.multibody.geometry.spatial import Array, cross
from stagecache.multibody.geometry.transform import Transform
from stagecache.multibody.matter.driven_matter import AbstractDrivenMatter
from stagecache.multibody.matter.joint_lock import JointLock, checked_held
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer
from stagecache.multibody.motions.motion import AbstractMotion
from stagecache.multibody.tree.mass_properties import MassProperties
from stagecache.multibody.tree.stations import StationTable
from stagecache.state.handles import CacheEntry, ContinuousVariable, DiscreteVariable
from stagecache.state.stage import Stage, check_stage
from stagecache.state.state import State


@final
class MobilizedBody:
    """A body of a tree, as `MatterSubsystem.add_body` makes it. It is const.

    `q`, `u`, `pose`, `velocity` and `acceleration_bias` are handles: call them with a State, or
    name them as prerequisites. Methods that take a State say what they read, for
    those who declare it.

    Attributes
    ----------
    matter : MatterSubsystem
        Of which it is a part.
    name : str
    index : int
        Bodies are numbered as they were added; 0 is the ground.
    parent : MobilizedBody
        Nearer to the ground; of the ground, itself.
    mobilizer : AbstractMobilizer
    mass_properties : MassProperties
    inboard_frame : Transform
        X_PF, on the parent.
    outboard_frame : Transform
        X_BM, on the body.
    motion : AbstractMotion or None
        How its q move with time; see `follows_motion` and `lock`.
    """

    __slots__ = (
        "inboard_frame",
        "index",
        "mass_properties",
        "matter",
        "mobilizer",
        "motion",
        "name",
        "outboard_frame",
        "parent",
    )
    matter: AbstractDrivenMatter
    name: str
    index: int
    parent: "MobilizedBody"
    mobilizer: AbstractMobilizer
    mass_properties: MassProperties
    inboard_frame: Transform
    outboard_frame: Transform
    motion: AbstractMotion | None

    def __init__(
        self,
        matter: AbstractDrivenMatter,
        name: str,
        index: int,
        parent: "MobilizedBody | None",
        mobilizer: AbstractMobilizer,
        mass_properties: MassProperties,
        inboard_frame: Transform,
        outboard_frame: Transform,
        motion: AbstractMotion | None,
    ) -> None:
        self.__setstate__(
            {
                "matter": matter,
                "name": name,
                "index": index,
                "parent": self if parent is None else parent,
                "mobilizer": mobilizer,
                "mass_properties": mass_properties,
                "inboard_frame": inboard_frame,
                "outboard_frame": outboard_frame,
                "motion": motion,
            }
        )

    # ------------------------------------------------------------------ handles

    @property
    def q(self) -> ContinuousVariable:
        """The handle of its own q. A write makes poses stale that are outboard of its joint."""
        return self.matter.joint_q.member(self.index)

    @property
    def u(self) -> ContinuousVariable:
        """The handle of its own u. A write leaves all poses as they are."""
        return self.matter.joint_u.member(self.index)

    @property
    def pose(self) -> CacheEntry[Transform]:
        """The entry of X_GB. Needs Model; it stays valid where the body did not move."""
        return self.matter.pose.member(self.index)

    @property
    def velocity(self) -> CacheEntry[Array]:
        """The entry of its velocity, (6,): angular [rad/s], then of its origin [m/s], in ground."""
        return self.matter.velocity.member(self.index)

    @property
    def acceleration_bias(self) -> CacheEntry[Array]:
        """The entry of its acceleration where udot is 0, (6,), in the form of `velocity`."""
        return self.matter.acceleration_bias.member(self.index)

    # ------------------------------------------------------------------ motion and locking

    @property
    def follows_motion(self) -> DiscreteVariable[bool]:
        """The handle that switches its motion on and off in a State. A write invalidates Instance.

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
        self, state: State, values: ArrayLike | None = None, *, level: Stage = Stage.POSITION
    ) -> None:
        """Hold the joint, whatever its motion. An Instance write, and nothing else.

        `prescribe` writes q and u then, unless they are right: q held and u = 0, at level Position;
        u held, at level Velocity. udot is 0 at both. Nothing that is known without stage Instance
        becomes stale, as poses and Jacobians; copies of the State are locked as well.

        Parameters
        ----------
        state : State
            At Model or further; it is at Model then.
        values : array_like, optional
            At which q (nq,), or u (nu,), it is held. The default is where they are. A quaternion is
            brought to length 1.
        level : Stage
            Position, or Velocity: q stay free, and advance by constant u. (Simbody has a third
            level, Acceleration, which holds a motion's udot; here u would be free to drift.)

        Raises
        ------
        StageOutOfRangeError
            The level is another stage.
        ShapeError, NotANumberError, OutOfRangeError
            Other numbers, or a quaternion of zeros.
        StageTooLowError, WrongTypeError, ForeignNodeError, ReadOnlyError
        """
        what = f"the level of the lock of {self}"
        level = check_stage(level, Stage.POSITION, Stage.VELOCITY, what)
        variable = self.q if level is Stage.POSITION else self.u
        present = variable(state)
        given = present if values is None else values
        angles = bool(self.matter.use_euler_angles(state))
        start = None if angles or level is not Stage.POSITION else self.mobilizer.quaternion_start
        what = f"the {variable.kind} of the lock of {self}"
        held = checked_held(given, len(present), start, what)
        lock = JointLock(level, tuple(held), angles)
        if self.matter.joint_lock[self.index](state) != lock:
            self.matter.joint_lock[self.index].set(state, lock)

    def unlock(self, state: State) -> None:
        """Take the lock away, if there is one: the joint is free, or follows its motion.

        An Instance write, as `lock`. q and u stay as they are.
        """
        if self.is_locked(state):
            self.matter.joint_lock[self.index].set(state, None)

    def is_locked(self, state: State) -> bool:
        """Whether the joint is held in a State, at either level."""
        return self.matter.joint_lock[self.index](state) is not None

    # ------------------------------------------------------------------ stations

    def station_position(self, state: State, station: ArrayLike) -> Array:
        """Where points of the body are in the ground. Reads `pose`.

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
        """How fast points of the body move [m/s]. Reads `pose`, `velocity`; else as above."""
        arms, velocity = self._arms(state, station), self.velocity(state)
        found: Array = velocity[3:] + cross(np.broadcast_to(velocity[:3], arms.shape), arms)
        return found.reshape(np.shape(station))

    def station_acceleration_bias(self, state: State, station: ArrayLike) -> Array:
        """How points of the body accelerate where udot is 0 [m/s^2].

        Reads `pose`, `velocity`, `acceleration_bias`; else as above.
        """
        arms, velocity = self._arms(state, station), self.velocity(state)
        bias = self.acceleration_bias(state)
        turning = np.broadcast_to(velocity[:3], arms.shape)
        found: Array = bias[3:] + cross(np.broadcast_to(bias[:3], arms.shape), arms)
        found = found + cross(turning, cross(turning, arms))
        return found.reshape(np.shape(station))

    def station_jacobian(self, state: State, station: ArrayLike) -> Array:
        """The derivatives of velocities of points by the u of the matter. Reads `pose`, `axes`.

        For many points of several bodies, `MatterSubsystem.add_stations` is quicker.

        Returns
        -------
        ndarray
            (3, nu), or (k, 3, nu) where k points are given.
        """
        table, positions = self._table(state, station)
        found = table.jacobian(positions, self.matter.axes(state))
        return found if np.ndim(station) == 2 else found[0]

    def frame_jacobian(self, state: State, station: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
        """The same of frames at the points: angular velocity, then that of the point.

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
        """From the origin of the body to points, in ground: (k, 3)."""
        return self._station(station).reshape(-1, 3) @ self.pose(state).matrix[:3, :3].T

    def _table(self, state: State, station: ArrayLike) -> tuple[StationTable, Array]:
        points = self._station(station).reshape(-1, 3)
        matrix = self.pose(state).matrix  # first, as it refuses a State of before the body
        table = StationTable(self.matter.layout(state), [self] * len(points), points)
        return table, points @ matrix[:3, :3].T + matrix[:3, 3]

    # ------------------------------------------------------------------ a const object

    def __setattr__(self, name: str, value: object) -> None:
        is_variable = name in ("q", "u", "follows_motion")
        raise ConstModelError(
            f"{name} of {self}: cannot be assigned",
            "a body that is const",
            "another value for it",
            f"to write it in a State, call body.{name}.set(state, values)"
            if is_variable
            else "add the body anew to another matter; what varies, as q, is in a State",
        )

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    def __str__(self) -> str:
        return f"body {self.name!r} of {self.matter.name}"

    def __repr__(self) -> str:
        return f"MobilizedBody({self.name!r}, {self.index}, {self.mobilizer!r})"

    def __copy__(self) -> "MobilizedBody":
        return self

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
        return body_of, (self.matter, self.index), {n: getattr(self, n) for n in self.__slots__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if not hasattr(self, "matter"):  # it is new
            for name, value in state.items():
                object.__setattr__(self, name, value)


def body_of(matter: AbstractDrivenMatter, index: int) -> MobilizedBody:
    """The body of that index when it is unpickled: that which is there, or a new one."""
    arriving: dict[int, MobilizedBody] = matter.__dict__.setdefault("_arriving", {})
    there: tuple[MobilizedBody, ...] = matter.__dict__.get("_bodies", ())
    if index < len(there):
        return there[index]
    return arriving.setdefault(index, MobilizedBody.__new__(MobilizedBody))
