r"""A contact of two edges, by the lines that they are on.

With the edge frames E1 in body 1 and E2 in body 2, whose x are the directions d1 and d2 of the
lines, z the directions s1 and s2 out of the solids, and origins P1 and P2, in axes of body 1::

    m = d1 x d2,  n = +-m / |m|            with the sign of m.(s1 - s2)
    e = n.D                                D = P2 - P1
    Q1 = P1 + t1 d1                        t1 = D.(d2 x m) / |m|²
    Q2 = P2 + t2 d2                        t2 = D.(d1 x m) / |m|²
    c = (Q1 + Q2) / 2,  x = d1,  y = n x d1

Q1 and Q2 are the points of the lines that are nearest to each other.

Source: Simbody's `Constraint::LineOnLineContact`.
"""

from collections.abc import Sequence
from typing import Any, Final, final

import numpy as np

from stagecache.decorations.decorations import AbstractDecoration, DecorativeLine
from stagecache.errors import KinematicsError
from stagecache.multibody.constraints.checks import checked_length
from stagecache.multibody.constraints.contact import AbstractContact
from stagecache.multibody.constraints.contact_batch import AbstractShapes, Touching, across
from stagecache.multibody.constraints.pair_batch import Poses
from stagecache.multibody.constraints.points import place_of, turned
from stagecache.multibody.geometry.spatial import Array, cross
from stagecache.multibody.geometry.transform import Transform, require_frame
from stagecache.multibody.matter.mobilized_body import MobilizedBody
from stagecache.state.handles import DiscreteVariable
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.declare.variables import discrete

EDGE_WIDTH: Final = 1.5
"""The width of the line of an edge in pictures."""

PARALLEL: Final = 1e-9
"""The sine of an angle of lines up to which they are parallel."""


@final
class LinesOnLines(AbstractShapes):
    """Lines of bodies 2 on lines of bodies 1."""

    def __init__(self, contacts: Sequence[Any], state: State) -> None:
        self.contacts = tuple(contacts)
        both = [
            [require_frame(h(state), f"{h}") for h in (c.first_frame, c.second_frame)]
            for c in contacts
        ]
        frames = np.array([[frame.matrix for frame in two] for two in both]).reshape(-1, 2, 4, 4)
        self.directions, self.outward = frames[:, :, :3, 0], frames[:, :, :3, 2]
        self.origins = frames[:, :, :3, 3]

    def separations(self, poses: Poses) -> Array:
        """Return the distances of the lines, less than 0 where solids overlap.

        Raises
        ------
        KinematicsError
            Lines are parallel.
        """
        n, _ = self._normals(poses)
        found: Array = (n * self._offsets(poses)).sum(-1)
        return found

    def touching(self, poses: Poses) -> Touching:
        """Return the points between the nearest points of lines, and axes along lines 1."""
        first, (n, _) = self.directions[:, 0], self._normals(poses)
        points = 0.5 * self.nearest(poses).sum(1)
        return Touching(points, np.stack([n, first, cross(n, first)], 1))

    def nearest(self, poses: Poses) -> Array:
        """Return the points of lines 1 and 2 that are nearest to each other, (k, 2, 3)."""
        _, m = self._normals(poses)
        first, second = self.directions[:, 0], turned(poses, self.directions[:, 1])
        t1, t2 = self._places(m, self._offsets(poses), second)
        return np.stack(
            [self.origins[:, 0] + t1 * first, place_of(poses, self.origins[:, 1]) + t2 * second], 1
        )

    def rates(self, poses: Poses, touching: Touching, rates: Array) -> Touching:
        """Return how the nearest points move along both lines, and the turning of lines 2."""
        turning, n, offset = rates[:, :3], touching.axes[:, 0], self._offsets(poses)
        first, second = self.directions[:, 0], turned(poses, self.directions[:, 1])
        m = cross(first, second)
        second_rate = cross(turning, second)
        m_rate = cross(first, second_rate)
        moving: Array = rates[:, 3:] + cross(turning, turned(poses, self.origins[:, 1]))
        t1, t2 = self._places(m, offset, second)
        square = _dot(m, m)
        growth = 2.0 * _dot(m, m_rate) / square
        t1_rate = _dot(moving, cross(second, m)) / square - t1 * growth
        t1_rate += _dot(offset, cross(second_rate, m) + cross(second, m_rate)) / square
        t2_rate = _dot(moving, cross(first, m)) + _dot(offset, cross(first, m_rate))
        t2_rate = t2_rate / square - t2 * growth
        points = 0.5 * (t1_rate * first + moving + t2_rate * second + t2 * second_rate)
        n_rate = across(n, m_rate) / _dot(n, m)
        axes = [n_rate, np.zeros_like(first), cross(n_rate, first)]
        return Touching(points, np.stack(axes, 1))

    def _places(self, m: Array, offset: Array, second: Array) -> tuple[Array, Array]:
        """Return t1 and t2, (k, 1)."""
        square = _dot(m, m)
        of_first, of_second = cross(second, m), cross(self.directions[:, 0], m)
        return _dot(offset, of_first) / square, _dot(offset, of_second) / square

    def _offsets(self, poses: Poses) -> Array:
        """Return the vectors from origins to origins of the edges, (k, 3)."""
        found: Array = place_of(poses, self.origins[:, 1]) - self.origins[:, 0]
        return found

    def _normals(self, poses: Poses) -> tuple[Array, Array]:
        """Return n, and m = d1 x d2, (k, 3)."""
        m = cross(self.directions[:, 0], turned(poses, self.directions[:, 1]))
        sines = np.linalg.norm(m, axis=-1, keepdims=True)
        if (sines <= PARALLEL).any():
            contact = self.contacts[int(np.argmin(sines))]
            raise KinematicsError(
                f"{contact}: its lines are parallel, so it has no normal",
                f"an angle whose sine is more than {PARALLEL}",
                f"{float(sines.min()):.3g}",
                "give q for which they cross; parallel edges are two contacts of points",
            )
        out = self.outward[:, 0] - turned(poses, self.outward[:, 1])
        signs = np.where(_dot(m, out) < 0.0, -1.0, 1.0)
        return signs * m / sines, m


def _dot(a: Array, b: Array) -> Array:
    """Return the products of rows, (k, 1)."""
    found: Array = (a * b).sum(-1, keepdims=True)
    return found


@final
class LineOnLineContact(AbstractContact):
    """An edge of body 2 on one of body 1, which slides on it or does not. One error [m].

    The error is the distance of the lines that the edges are on, less than 0 where the bodies
    overlap. If it rolls, the velocity of body 2 at the contact, relative to body 1, is zero along
    edge 1 and across it as well: two errors more, of uerr.

    The contact does not open, and does not end where the edges do. `first_frame`, `second_frame`,
    `first_half_length` and `second_half_length` [m] are variables of the State, whose writes
    invalidate Position; the lengths are for pictures. Where the lines are parallel, there is
    neither an error nor a Jacobian: reading them raises a KinematicsError.

    `separation` [m], `contact_frame` (a Transform in ground) and `slip` (2,) [m/s] are entries; the
    first two also where it is disabled.

    Parameters
    ----------
    first : MobilizedBody
    first_frame : Transform
        The frame of edge 1 in body 1, initially: its origin is the middle of the edge, x its
        direction, and z points out of the body, midway between its faces at the edge.
    first_half_length : float
        More than 0, initially [m].
    second : MobilizedBody
    second_frame : Transform
        The frame of edge 2 in body 2, initially.
    second_half_length : float
        More than 0, initially [m].
    enforce_rolling : bool, optional
        True for edges that do not slip. False by default.

    Raises
    ------
    UnknownBodyError, ConstraintError, WrongTypeError
    NotANumberError, OutOfRangeError

    Examples
    --------
    >>> from scipy.spatial.transform import Rotation
    >>> from stagecache import Stage
    >>> from stagecache.multibody import LineOnLineContact, MultibodySystem, Transform, Translation
    >>> system = MultibodySystem()
    >>> ground = system.matter.ground
    >>> box = system.matter.add_body("box", ground, Translation())
    >>> below = Transform(Rotation.from_euler("xz", [180, 90], degrees=True).as_matrix())
    >>> contact = LineOnLineContact(ground, Transform(), 1.0, box, below, 1.0)
    >>> _ = system.add(contact, "contact")
    >>> state = system.new_state()
    >>> box.q.set(state, [0.3, 0.2, 0.5])
    >>> system.realize(state, Stage.POSITION)
    >>> contact.error(state), contact.contact_frame(state).translation
    (array([0.5]), array([0.3 , 0.  , 0.25]))
    """

    shapes_type = LinesOnLines
    shape_names = ("first_frame", "second_frame")

    first_frame = discrete(factory=lambda self: self._initial[0], invalidates=Stage.POSITION)
    """The frame of edge 1 in body 1."""

    first_half_length = discrete(
        factory=lambda self: self._initial[1], invalidates=Stage.POSITION, unit="m"
    )
    """The length of half of edge 1, for pictures."""

    second_frame = discrete(factory=lambda self: self._initial[2], invalidates=Stage.POSITION)
    """The frame of edge 2 in body 2."""

    second_half_length = discrete(
        factory=lambda self: self._initial[3], invalidates=Stage.POSITION, unit="m"
    )
    """The length of half of edge 2, for pictures."""

    def __init__(
        self,
        first: MobilizedBody,
        first_frame: Transform,
        first_half_length: float,
        second: MobilizedBody,
        second_frame: Transform,
        second_half_length: float,
        *,
        enforce_rolling: bool = False,
    ) -> None:
        super().__init__(first, second, enforce_rolling=enforce_rolling)
        self._initial = (
            require_frame(first_frame, f"the first frame of {self}"),
            checked_length(first_half_length, f"the first half length of {self}"),
            require_frame(second_frame, f"the second frame of {self}"),
            checked_length(second_half_length, f"the second half length of {self}"),
        )

    def calc_decorations(self, state: State) -> Sequence[tuple[MobilizedBody, AbstractDecoration]]:
        """Return both edges."""
        one, two = self.bodies
        return (
            (one, _edge(self.first_frame(state), self.first_half_length, state)),
            (two, _edge(self.second_frame(state), self.second_half_length, state)),
        )


def _edge(frame: Transform, half_length: DiscreteVariable[float], state: State) -> DecorativeLine:
    half = checked_length(half_length(state), f"{half_length}")
    ends = frame.apply([[-half, 0.0, 0.0], [half, 0.0, 0.0]])
    return DecorativeLine(*ends, line_width=EDGE_WIDTH)
