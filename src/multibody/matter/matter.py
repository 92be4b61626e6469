"""The matter subsystem: a tree of rigid bodies, as it is built."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, SupportsIndex

from numpy.typing import ArrayLike

from stagecache.decorations.decorations import AbstractDecoration
from stagecache.decorations.lists import checked_decorations
from stagecache.errors import (
    DuplicateNameError,
    InvalidNameError,
    MassPropertiesError,
    ShapeError,
    StagecacheError,
    UnknownBodyError,
    listed,
    short_repr,
)
from stagecache.multibody.checks import ANY, checked_array
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.geometry.transform import HOW_TO_MAKE, Transform
from stagecache.multibody.matter.body import MobilizedBody
from stagecache.multibody.matter.decorating import append_bodies, bones_to
from stagecache.multibody.matter.driven_matter import AbstractDrivenMatter
from stagecache.multibody.matter.station_group import StationGroup
from stagecache.multibody.mobilizers.checks import check_mobilizer
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer
from stagecache.multibody.mobilizers.weld import Weld
from stagecache.multibody.motions.checks import check_motion
from stagecache.multibody.motions.motion import AbstractMotion
from stagecache.multibody.tree.mass_properties import MassProperties
from stagecache.state.refusals import whole_number
from stagecache.state.stage import Stage
from stagecache.state.state import State


class MatterSubsystem(AbstractDrivenMatter):
    """A tree of rigid bodies on a ground, joined by mobilizers.

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

    def __init__(self) -> None:
        weld = Weld()
        mass = MassProperties(0.0)
        here = Transform()
        self._bodies: tuple[MobilizedBody, ...] = (
            MobilizedBody(self, "ground", 0, None, weld, mass, here, here, None),
        )
        self._moving: tuple[tuple[int, AbstractMotion], ...] = ()
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
    def moving(self) -> tuple[tuple[int, AbstractMotion], ...]:
        """The bodies that have a motion, by index, and these."""
        return self._moving

    @property
    def station_groups(self) -> tuple[StationGroup, ...]:
        """All declared groups of stations."""
        return self._groups

    def body(self, which: SupportsIndex | str) -> MobilizedBody:
        """The body of an index or a name. Cost O(bodies).

        Raises
        ------
        UnknownBodyError
        """
        number = None if isinstance(which, str) else whole_number(which)
        for body in self._bodies:
            if (body.name == which) if isinstance(which, str) else (body.index == number):
                return body
        raise UnknownBodyError(
            f"body {short_repr(which)}: is not in {self!r}",
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
        motion: AbstractMotion | None = None,
        decorations: Iterable[AbstractDecoration] | None = None,
    ) -> MobilizedBody:
        """Add a body to the tree. A change of topology.

        Parameters
        ----------
        name : str
            Of its own.
        parent : MobilizedBody
            Of this matter: its `ground`, or what another call has returned.
        mobilizer : AbstractMobilizer
            How it can move on the parent.
        mass_properties : MassProperties or dict, optional
            A dict has the arguments of MassProperties; errors name the body then. The default is
            no mass.
        inboard_frame : Transform, optional
            X_PF: where the joint is on the parent. The default is its frame.
        outboard_frame : Transform, optional
            X_BM: where the joint is on the body.
        motion : AbstractMotion, optional
            How its q move with time, where it is not locked. `prescribe` writes q and u. The
            default is that they are free.
        decorations : iterable of AbstractDecoration, optional
            What it looks like, given in its frame. The default shows where its joints are; nothing
            is shown if there are none in the list.

        Raises
        ------
        InvalidNameError, DuplicateNameError
        UnknownBodyError
            The parent is not a body of this matter.
        MobilizerError
            That is no mobilizer, or one whose duties do not fit each other.
        MotionError
            That is no motion, or the joint has no q.
        MassPropertiesError, NotANumberError, OutOfRangeError
            No body can have such mass properties.
        ShapeError
            A frame is no Transform, or the mass properties are none; or the motion returns
            another number of floats.
        WrongTypeError
        ConstModelError
            A State is being realized.
        """
        self._check_name(name, "body", [body.name for body in self._bodies])
        self._checked_own(parent, f"the parent of body {name!r}")
        check_mobilizer(mobilizer, name, (body.mobilizer for body in self._bodies))
        if motion is not None:
            check_motion(motion, mobilizer, name)
        shown = None
        if decorations is not None:
            shown = checked_decorations(decorations, f"decorations of body {name!r}")
        here = Transform()
        body = MobilizedBody(
            self,
            name,
            len(self._bodies),
            parent,
            mobilizer,
            _mass_properties(mass_properties, name),
            _checked(inboard_frame, here, f"inboard_frame of body {name!r}"),
            _checked(outboard_frame, here, f"outboard_frame of body {name!r}"),
            motion,
        )
        self._bodies = (*self._bodies, body)
        if motion is not None:
            self._moving = (*self._moving, (body.index, motion))
        if shown is not None:
            self._decorations = {**self._decorations, body.index: shown}
        return body

    def add_decoration(self, body: MobilizedBody, decoration: AbstractDecoration) -> None:
        """Add to what a body looks like. A change of topology.

        The first one takes the place of the default, which shows where its joints are.

        Parameters
        ----------
        body : MobilizedBody
            Of this matter; it may be the ground.
        decoration : AbstractDecoration
            In the frame of the body.

        Raises
        ------
        UnknownBodyError, WrongTypeError, ConstModelError
        """
        owner = self._checked_own(body, "what is to be decorated")
        added = checked_decorations([decoration], f"decorations of {owner}")
        before = self._decorations.get(owner.index, ())
        self._decorations = {**self._decorations, owner.index: (*before, *added)}

    def calc_decorative_geometry_and_append(
        self, state: State, stage: Stage, geometry: list[Any]
    ) -> None:
        """Append what all bodies look like, at stage Position."""
        if stage is Stage.POSITION:
            append_bodies(self._bodies, self._decorations, state, geometry)

    def calc_bones(
        self, state: State, points: Iterable[tuple[MobilizedBody, Array]]
    ) -> list[AbstractDecoration]:
        """Lines to points (3,) of bodies that have no decorations of their own. Reads `pose`."""
        return bones_to(points, self._decorations, state)

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
            By station, of what it is a point; one body has all of them.
        stations : (k, 3) array_like
            Where, in the frame of its body [m].

        Raises
        ------
        InvalidNameError, DuplicateNameError, UnknownBodyError
        ShapeError, NotANumberError, OutOfRangeError
        """
        self._check_name(name, "group of stations", [group.name for group in self._groups])
        points = checked_array(stations, (ANY, 3), f"the stations {name!r}")
        given = [bodies] * len(points) if not isinstance(bodies, Iterable) else bodies
        owners = tuple(self._checked_own(b, f"a body of the stations {name!r}") for b in given)
        if len(points) != len(owners):
            raise ShapeError(
                f"the stations {name!r}: have another number than their bodies",
                f"shape ({len(owners)}, 3), a station for each body that was given",
                f"shape {points.shape}",
                "name the body of each station, several times if it has several",
            )
        group = StationGroup(self, name, len(self._groups), owners, points)
        self._groups = (*self._groups, group)
        return group

    def _check_name(self, name: object, what: str, taken: list[str]) -> None:
        if not isinstance(name, str) or not name:
            raise InvalidNameError(
                f"the name of a {what}: is none", "a string", short_repr(name), "give one"
            )
        if name in taken:
            raise DuplicateNameError(
                f"{what} {name!r}: there is one already",
                f"a name for each {what} of its own",
                f"{name!r} for another one",
                "give it another name",
            )

    def _checked_own(self, body: object, what: str) -> MobilizedBody:
        if isinstance(body, MobilizedBody) and body.matter is self:
            return body
        raise UnknownBodyError(
            f"{what}: is not in the tree of {self.name}",
            "a body that add_body() of the same matter has returned, or its ground",
            f"{body}" if isinstance(body, MobilizedBody) else short_repr(body),
            "add that first; by its name, it is matter.body(name)",
        )


def _mass_properties(given: Any, name: str) -> MassProperties:
    what = f"mass_properties of body {name!r}"
    if isinstance(given, Mapping):
        try:
            return MassProperties(**given)
        except StagecacheError as error:
            told = f"{what}: {error.what}"
            raise type(error)(told, error.expected, error.got, error.hint) from None
        except TypeError as error:  # of arguments that there are not
            raise MassPropertiesError(
                f"{what}: are no arguments of MassProperties",
                "mass, and center and inertia where they are not the default",
                short_repr(given),
                f"{error}",
            ) from None
    found: MassProperties = _checked(given, MassProperties(0.0), what)
    return found


_CURES: Final = {
    Transform: HOW_TO_MAKE,
    MassProperties: "make one: MassProperties(mass, center=..., inertia=...)",
}


def _checked(value: Any, default: Any, what: str) -> Any:
    if value is None:
        return default
    if isinstance(value, type(default)):
        return value
    kind = type(default)
    name = kind.__name__
    raise ShapeError(f"{what}: is no {name}", f"a {name}", short_repr(value), _CURES[kind])
