"""Coordinates of joints: their names, defaults and ranges.

::

    add_body("shank", ..., coordinates=[Coordinate("knee", range=(-2.1, 0.2), clamped=True)])

    knee = matter.coordinate("knee")        a JointCoordinate: the joint, and the index in it
    knee(state), knee.set(state, -0.3)      its q
    trajectory["matter.knee"]               a column of it, and a label in tables and files
    assembler.lock_q("knee")                restricted to its range if it is clamped

A coordinate is one q of a joint, and the u of the same index. The q of a quaternion have no names:
the coordinates of a Ball or a Free are those that it has with Euler angles.
"""

from collections.abc import Iterable, Sequence
from math import inf
from typing import Any, Final, SupportsFloat, final

from attrs import frozen

from stagecache.checks import (
    require_bool,
    require_name,
    require_new_name,
    require_number,
    require_type,
    wrong_type,
)
from stagecache.errors import (
    InvalidNameError,
    KinematicsError,
    MotionError,
    OutOfRangeError,
    ShapeError,
    listed,
    short_repr,
)
from stagecache.multibody.matter.drives import JointLock
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer
from stagecache.state.handles import ContinuousElement
from stagecache.state.stage import Stage
from stagecache.state.state import State

NO_RANGE: Final = (-inf, inf)


@final
@frozen(init=False)
class Coordinate:
    """A description of one coordinate of a joint, given when its body is added.

    Parameters
    ----------
    name : str
        Different from the names of all other coordinates of the matter.
    default : float, optional
        Its q in the default State [rad or m]; by default, the default q of the mobilizer.
    range : (float, float), optional
        The least and the greatest q. By default there are no limits.
    clamped : bool
        True if its q must be in the range: `JointCoordinate.set` refuses others, and an Assembler
        keeps it there. In a simulation it can leave the range: a `MobilityStop` pushes back.
    locked : bool
        True if it is locked in the default State.

    Raises
    ------
    InvalidNameError, NotANumberError
    ShapeError
        The range is not a pair.
    OutOfRangeError
        The default is not finite, or the range is empty; or the default is not in the range, and
        it is clamped.
    """

    name: str
    default: float | None
    range: tuple[float, float]
    clamped: bool
    locked: bool

    def __init__(
        self,
        name: str,
        default: SupportsFloat | None = None,
        range: Sequence[SupportsFloat] = NO_RANGE,  # noqa: A002  # the term of the field
        *,
        clamped: bool = False,
        locked: bool = False,
    ) -> None:
        name = require_name(name, "the name of a coordinate")
        what = f"coordinate {name!r}"
        if any(character in name for character in ".[]"):
            raise InvalidNameError(
                f"{what}: cannot have this name",
                "a name without '.', '[' and ']', which stand in paths",
                repr(name),
                "write knee_angle_r, for instance",
            )
        bounds = _checked_range(range, what)
        value = None if default is None else require_number(default, f"the default of {what}")
        require_bool(clamped, f"{what}: clamped=...")
        require_bool(locked, f"{what}: locked=...")
        if clamped and value is not None:
            _require_within(value, bounds, f"the default of {what}")
        self.__attrs_init__(name, value, bounds, clamped, locked)


@final
@frozen
class JointCoordinate:
    """One coordinate of a joint of a matter. Call it with a State to read its q. It is const.

    Attributes
    ----------
    body : MobilizedBody
        The body of the joint.
    index : int
        Its place among the u of the joint, and among its q where these are not quaternions.
    """

    body: Any
    index: int

    @property
    def _described(self) -> Coordinate | None:
        described: tuple[Coordinate, ...] = self.body.described
        return described[self.index] if described else None

    @property
    def name(self) -> str:
        """The declared name; "shank[0]" without one."""
        described = self._described
        return f"{self.body.name}[{self.index}]" if described is None else described.name

    @property
    def default(self) -> float:
        """The q in the default State [rad or m]."""
        return default_angles(self.body.mobilizer, self.body.described)[self.index]

    @property
    def range(self) -> tuple[float, float]:
        """The least and the greatest q; infinite if there are no limits."""
        described = self._described
        return NO_RANGE if described is None else described.range

    @property
    def is_clamped(self) -> bool:
        """True if its q must be in the range."""
        described = self._described
        return described is not None and described.clamped

    @property
    def q(self) -> ContinuousElement:
        """The handle of its q.

        Raises
        ------
        KinematicsError
            The joint can have a quaternion, so the place of its q differs from State to State.
        """
        if self.body.mobilizer.quaternion_start is None:
            return self.q_in_angles
        raise KinematicsError(
            f"{self}: has no handle for all States",
            "a joint without a quaternion",
            f"a {self.body.mobilizer!r}",
            "call the coordinate with a State, or set() it; an Assembler takes the coordinate",
        )

    @property
    def q_in_angles(self) -> ContinuousElement:
        """The handle of its q in States with Euler angles, as an Assembler has them."""
        element: ContinuousElement = self.body.q[self.index]
        return element

    @property
    def u(self) -> ContinuousElement:
        """The handle of its u."""
        element: ContinuousElement = self.body.u[self.index]
        return element

    def __call__(self, state: State) -> float:
        """Return its q [rad or m].

        Raises
        ------
        KinematicsError
            It belongs to a quaternion in this State.
        StageTooLowError, ForeignNodeError, WrongTypeError
        """
        return self._element(state)(state)

    def set(self, state: State, value: SupportsFloat) -> None:
        """Write its q, and no other. Invalidates Position.

        Raises
        ------
        KinematicsError
            It belongs to a quaternion in this State.
        OutOfRangeError
            It is clamped, and the value is not in its range.
        NotANumberError, StageTooLowError, ForeignNodeError, WrongTypeError, ReadOnlyError
        """
        element = self._element(state)
        number = require_number(value, str(self))
        if self.is_clamped:
            _require_within(number, self.range, str(self))
        element.set(state, number)

    def lock(self, state: State, value: SupportsFloat | None = None) -> None:
        """Hold it at a q, by default its present one, as `MobilizedBody.lock` does.

        Raises
        ------
        MotionError
            It cannot be locked alone.
        OutOfRangeError
            It is clamped, and the value is not in its range.
        NotANumberError, StageTooLowError, ForeignNodeError, WrongTypeError, ReadOnlyError
        """
        if self.is_clamped:
            held = self(state) if value is None else require_number(value, str(self))
            _require_within(held, self.range, str(self))
        self.body.lock(state, value, coordinate=self.index)

    def unlock(self, state: State) -> None:
        """Remove its lock, if there is one.

        Raises
        ------
        MotionError
            The joint is locked as a whole.
        StageTooLowError, ForeignNodeError, WrongTypeError, ReadOnlyError
        """
        self.body.unlock(state, coordinate=self.index)

    def is_locked(self, state: State) -> bool:
        """Return True if it is held in a State, alone or with the whole joint."""
        locked: bool = self.body.is_locked(state, coordinate=self.index)
        return locked

    def _element(self, state: State) -> ContinuousElement:
        start, body = self.body.mobilizer.quaternion_start, self.body
        uses_euler_angles = start is None or body.matter.use_euler_angles(state)
        element: ContinuousElement = body.q[self._index_of_q(uses_euler_angles=uses_euler_angles)]
        return element

    def _index_of_q(self, *, uses_euler_angles: bool) -> int:
        """Return its place among the q of the joint, in one form of orientations or the other.

        Raises
        ------
        KinematicsError
            It belongs to a quaternion.
        """
        start = self.body.mobilizer.quaternion_start
        if uses_euler_angles or start is None or self.index < start:
            return self.index
        if self.index >= start + 3:  # behind the four numbers, where there are three angles
            return self.index + 1
        raise KinematicsError(
            f"{self}: has no q of its own in this State",
            "a State with Euler angles",
            "one with quaternions",
            "convert it by with_euler_angles(matter, state), or set matter.use_euler_angles first",
        )

    def __str__(self) -> str:
        return f"coordinate {self.name!r} of {self.body}"

    def __repr__(self) -> str:
        return f"JointCoordinate({self.name!r})"


def checked_coordinates(
    given: Iterable[Coordinate | str] | None,
    mobilizer: AbstractMobilizer,
    body: str,
    taken: Iterable[str],
) -> tuple[Coordinate, ...]:
    """Return descriptions of all coordinates of a joint; none if none are given.

    Parameters
    ----------
    given : iterable of Coordinate or str, optional
    mobilizer : AbstractMobilizer
    body : str
        The name of the body in errors.
    taken : iterable of str
        Names that others have.

    Raises
    ------
    ShapeError
        They are not as many as the u of the joint.
    WrongTypeError, InvalidNameError, DuplicateNameError
    KinematicsError
        The q of the joint do not belong to its u one by one.
    OutOfRangeError
        One is clamped, and the default q of the mobilizer is not in its range.
    """
    if given is None:
        return ()
    what = f"coordinates of body {body!r}"
    hint = 'write coordinates=["knee"], or [Coordinate("knee", range=(-2.1, 0.2))]'
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise wrong_type(given, what, "an iterable of Coordinates or names", hint)
    found: list[Coordinate] = []
    names = [*taken]
    for i, item in enumerate(given):
        one, expected = f"{what}[{i}]", "a Coordinate or a name"
        described = Coordinate(item) if isinstance(item, str) else item
        require_type(described, Coordinate, one, expected, hint)
        require_new_name(described.name, names, "coordinate")
        names.append(described.name)
        found.append(described)
    if len(found) != mobilizer.nu:
        raise ShapeError(
            f"{what}: not as many as the joint has",
            f"{mobilizer.nu}, one for each u of a {mobilizer!r}",
            f"{len(found)}: {listed(described.name for described in found)}",
            "name all of them, in the order of the u",
        )
    if len(mobilizer.with_euler_angles().default_q) != mobilizer.nu:
        raise KinematicsError(
            f"{what}: cannot have names",
            "a joint with as many q as u, at least with Euler angles",
            f"a {mobilizer!r}",
            "leave the coordinates out",
        )
    for described, default in zip(found, default_angles(mobilizer, found), strict=True):
        if described.clamped:
            _require_within(default, described.range, f"the default of {described.name!r}")
    return tuple(found)


def default_angles(
    mobilizer: AbstractMobilizer, coordinates: Sequence[Coordinate]
) -> tuple[float, ...]:
    """Return the default q of a joint, with Euler angles."""
    defaults = mobilizer.with_euler_angles().default_q
    if not coordinates:
        return defaults
    return tuple(
        value if described.default is None else described.default
        for described, value in zip(coordinates, defaults, strict=True)
    )


def default_lock(
    mobilizer: AbstractMobilizer, coordinates: Sequence[Coordinate]
) -> JointLock | None:
    """Return the lock of a joint in the default State, or None."""
    locked = tuple(i for i, described in enumerate(coordinates) if described.locked)
    if not locked:
        return None
    angles = default_angles(mobilizer, coordinates)
    if len(locked) == len(coordinates):
        return JointLock(Stage.POSITION, angles, uses_euler_angles=True)
    return JointLock(Stage.POSITION, tuple(angles[i] for i in locked), True, locked)


def check_locks(
    coordinates: Sequence[Coordinate], mobilizer: AbstractMobilizer, *, has_motion: bool
) -> None:
    """Refuse a lock of one coordinate where it cannot be locked alone.

    Raises
    ------
    MotionError
    """
    locked = [described.name for described in coordinates if described.locked]
    if not locked or len(locked) == len(coordinates):
        return
    if has_motion or mobilizer.n(mobilizer.default_q) is not None:
        raise MotionError(
            f"coordinate {locked[0]!r}: cannot be locked alone",
            "a joint without a motion whose qdot is u",
            "a joint with a motion" if has_motion else f"a {mobilizer!r}, whose qdot is not its u",
            "lock all its coordinates",
        )


def _checked_range(given: Any, what: str) -> tuple[float, float]:
    pair = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else ()
    if len(pair) != 2:
        raise ShapeError(
            f"the range of {what}: not a pair",
            "the least and the greatest q",
            short_repr(given),
            "write range=(-2.1, 0.2), in rad or m",
        )
    low, high = (
        require_number(bound, f"the range of {what}", may_be_infinite=True) for bound in pair
    )
    if not low <= high or low == inf or high == -inf:
        raise OutOfRangeError(
            f"the range of {what}: has no value",
            "a least q that is not above the greatest",
            f"({low:g}, {high:g})",
            "exchange the two",
        )
    return low, high


def _require_within(value: float, bounds: tuple[float, float], what: str) -> None:
    low, high = bounds
    if not low <= value <= high:
        raise OutOfRangeError(
            f"{what}: not in its range",
            f"{low:g} to {high:g}, as it is clamped",
            f"{value:g}",
            "angles are in rad, lengths in m; or leave clamped out",
        )
