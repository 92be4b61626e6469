"""Rod: two points keep their distance."""

from typing import Any, ClassVar, Final, final

import numpy as np
from numpy.typing import ArrayLike

from stagecache.decorations.decorations import DecorativeLine
from stagecache.errors import KinematicsError
from stagecache.multibody.checks import checked_array
from stagecache.multibody.constraints.checks import checked_number
from stagecache.multibody.constraints.pair_constraint import AbstractPairConstraint
from stagecache.multibody.constraints.point_motion import place_of, point_bias, point_jacobian
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.geometry.transform import Transform
from stagecache.multibody.matter.matter import MobilizedBody
from stagecache.state.stage import Stage
from stagecache.state.state import State

ROD_WIDTH: Final = 1.5
"""Of the line by which a picture shows a rod."""


@final
class RodConstraint(AbstractPairConstraint):
    """A massless rod between a point of each body. One error: distance minus length [m].

    With the unit vector e along the rod, from body 1 to body 2, e.(v + w x r) is its rate.

    Parameters
    ----------
    first : MobilizedBody
    first_station : (3,) array_like
        In body 1 [m].
    second : MobilizedBody
    second_station : (3,) array_like
        In body 2 [m].
    length : float
        More than 0 [m].

    Raises
    ------
    UnknownBodyError, ConstraintError, ShapeError, NotANumberError, OutOfRangeError

    Examples
    --------
    >>> from stagecache import Stage
    >>> from stagecache.multibody import MultibodySystem, RodConstraint, Translation
    >>> system = MultibodySystem()
    >>> ground = system.matter.ground
    >>> bob = system.matter.add_body("bob", ground, Translation())
    >>> rod = RodConstraint(ground, [0, 0, 0], bob, [0, 0, 0], 2.0)
    >>> _ = system.add(rod, "rod")
    >>> state = system.new_state()
    >>> bob.q.set(state, [3, 0, 4])
    >>> system.realize(state, Stage.POSITION)
    >>> rod.error(state), rod.jacobian(state).round(3)
    (array([3.]), array([[0.6, 0. , 0.8]]))
    >>> system.project(state, 1e-10)
    >>> bob.q(state).round(6)
    array([1.2, 0. , 1.6])
    """

    num_errors: ClassVar[int] = 1

    def __init__(
        self,
        first: MobilizedBody,
        first_station: ArrayLike,
        second: MobilizedBody,
        second_station: ArrayLike,
        length: float,
    ) -> None:
        super().__init__(first, second)
        self.first_station = checked_array(first_station, (3,), f"the first station of {self}")
        self.second_station = checked_array(second_station, (3,), f"the second station of {self}")
        hint = "give more than 0; to hold points together, take a BallConstraint"
        self.length = checked_number(length, f"the length of {self}", above=0.0, hint=hint)

    def _held_points(self) -> tuple[tuple[MobilizedBody, Array], ...]:
        one, two = self.bodies
        return (one, self.first_station), (two, self.second_station)

    def calc_error(self, pose: Transform) -> Any:
        """Distance minus length."""
        return np.linalg.norm(self._arrow(pose)) - self.length

    def calc_jacobian(self, pose: Transform) -> Array:
        """Along the rod.

        Raises
        ------
        KinematicsError
            The points coincide.
        """
        along = self._along(pose)[0]
        return point_jacobian(pose, self.second_station, along[None])

    def calc_bias(self, pose: Transform, velocity: Array) -> Any:
        """Centripetal acceleration, and what comes of turning of the rod."""
        along, distance = self._along(pose)
        moving = point_jacobian(pose, self.second_station, np.eye(3)) @ velocity
        across = moving - (along @ moving) * along
        turning = point_bias(pose, self.second_station, velocity)
        return [across @ across / distance + along @ turning]

    def calc_decorative_geometry_and_append(
        self, state: State, stage: Stage, geometry: list[Any]
    ) -> None:
        """Append a line from point to point as well, where it is enabled, at stage Position."""
        super().calc_decorative_geometry_and_append(state, stage, geometry)
        if stage is Stage.POSITION and self.is_enabled(state):
            one, two = self.bodies
            ends = (
                one.station_position(state, self.first_station),
                two.station_position(state, self.second_station),
            )
            geometry.append(DecorativeLine(*ends, line_width=ROD_WIDTH))

    def _arrow(self, pose: Transform) -> Array:
        """From the first to the second point, in body 1."""
        return place_of(pose, self.second_station) - self.first_station

    def _along(self, pose: Transform) -> tuple[Array, float]:
        """The direction of the rod, and the distance."""
        arrow = self._arrow(pose)
        distance = float(np.linalg.norm(arrow))
        if distance == 0.0:
            raise KinematicsError(
                f"{self}: its points coincide, so the rod has no direction",
                "points at some distance from each other",
                "a distance of 0",
                "give q for which they are apart, nearer to the length",
            )
        return arrow / distance, distance
