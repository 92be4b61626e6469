r"""A linear bushing: springs and dampers along six coordinates of one frame in another.

The coordinates x of frame M, fixed to body 2, in frame F, fixed to body 1, are body-fixed x-y-z
angles, and the place of the origin of M::

    f = -K x - C x'                     K, C: six numbers each
    x' = (N w, v)                       w, v: the velocity of M in F, in axes of F

The power f.x' is the power of a moment N' f on M, and a force, at the origin of M, in F.
"""

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from stagecache.errors import KinematicsError, OutOfRangeError, short_repr
from stagecache.multibody.checks import checked_array
from stagecache.multibody.constraints.pair_constraint import relative_pose, relative_velocity
from stagecache.multibody.forces.force import AbstractForce, ForceSum, applied_from, energy_from
from stagecache.multibody.forces.two_points import checked_two
from stagecache.multibody.geometry.orientation import angles_of_pose, n_of_angles
from stagecache.multibody.geometry.spatial import Array, cross3
from stagecache.multibody.geometry.transform import Transform, checked_frame
from stagecache.multibody.matter.mobilized_body import MobilizedBody
from stagecache.state.state import State
from stagecache.system.declare.variables import parameter


def _poses(self: Any) -> tuple[Any, ...]:
    one, two = self.bodies
    return (self.stiffness, one.pose, two.pose)


@final
class LinearBushing(AbstractForce):
    """Springs and dampers along six coordinates of a frame of body 2 in a frame of body 1.

    `stiffness` and `damping` are parameters: six numbers each, of three angles
    [N m/rad, N m s/rad], and of x, y, z [N/m, N s/m].

    Parameters
    ----------
    first, second : MobilizedBody
    stiffness : (6,) array_like
        The initial values of the springs; 0 or more.
    damping : (6,) array_like, optional
        The initial values of the dampers; 0 by default.
    first_frame, second_frame : Transform, optional
        F in body 1, and M in body 2. The defaults are the frames of the bodies.

    Raises
    ------
    UnknownBodyError, WrongTypeError, ShapeError, NotANumberError, OutOfRangeError
    ConstraintError
        The bodies are of different matters, or the same one.

    Examples
    --------
    >>> from stagecache import Stage
    >>> from stagecache.multibody import Free, LinearBushing, MultibodySystem
    >>> system = MultibodySystem()
    >>> ground = system.matter.ground
    >>> properties = {"mass": 2.0, "inertia": [1.0, 1.0, 1.0]}
    >>> plate = system.matter.add_body("plate", ground, Free(), mass_properties=properties)
    >>> mount = LinearBushing(ground, plate, [3, 3, 3, 8, 8, 8])
    >>> _ = system.add(mount, "mount")
    >>> state = system.new_state()
    >>> plate.q.set(state, [1, 0, 0, 0, 0.5, 0, 0])
    >>> system.realize(state, Stage.ACCELERATION)
    >>> state.udot + 0.0
    array([ 0.,  0.,  0., -2.,  0.,  0.])
    """

    bodies: tuple[MobilizedBody, MobilizedBody]
    frames: tuple[Transform, Transform]

    stiffness = parameter(factory=lambda self: self._initial[0])
    damping = parameter(factory=lambda self: self._initial[1])

    def __init__(
        self,
        first: MobilizedBody,
        second: MobilizedBody,
        stiffness: ArrayLike,
        damping: ArrayLike = (0.0,) * 6,
        *,
        first_frame: Transform | None = None,
        second_frame: Transform | None = None,
    ) -> None:
        self.bodies = checked_two(first, second, "LinearBushing")
        super().__init__(self.bodies[0].matter)
        self.frames = (
            checked_frame(first_frame, f"the first frame of {self}"),
            checked_frame(second_frame, f"the second frame of {self}"),
        )
        self._initial = (
            _checked_six(stiffness, f"the stiffness of {self}"),
            _checked_six(damping, f"the damping of {self}"),
        )

    def calc_coordinates(self, state: State) -> Array:
        """Return the three angles [rad] and the place [m] of M in F, (6,). Reads the poses."""
        return _coordinates(*self._frames(state))

    def calc_force(self, state: State, forces: ForceSum) -> None:
        """Add the forces of springs and dampers."""
        one, two = self._frames(state)
        x = _coordinates(one, two)
        n = np.eye(6)
        n[:3, :3] = self._n(x)
        rates = n @ relative_velocity(one, two, *self._velocities(state, one, two))
        in_f = n.T @ -(np.array(self.stiffness(state)) * x + np.array(self.damping(state)) * rates)
        first, second = self.bodies
        moment = one.rotation @ in_f[:3]
        forces.add_moment(first, -moment)
        forces.add_moment(second, moment)
        forces.add_between(first, second, two.translation, one.rotation @ in_f[3:])

    def calc_potential_energy(self, state: State) -> float:
        """Return the energy of the springs."""
        return 0.5 * float(np.array(self.stiffness(state)) @ self.calc_coordinates(state) ** 2)

    applied = applied_from(
        lambda self: (
            *(*_poses(self), self.damping),
            *(body.velocity for body in self.bodies),
        )
    )
    potential_energy = energy_from(_poses)

    def _frames(self, state: State) -> tuple[Transform, Transform]:
        """Return F and M in ground."""
        one, two = (
            body.pose(state) @ frame for body, frame in zip(self.bodies, self.frames, strict=True)
        )
        return one, two

    def _velocities(self, state: State, *frames: Transform) -> list[Array]:
        """Return the velocities of F and M in ground, (6,): angular, and of the origin."""
        found = []
        for body, frame in zip(self.bodies, frames, strict=True):
            velocity = body.velocity(state).copy()
            arm = frame.translation - body.pose(state).translation
            velocity[3:] += cross3(velocity[:3], arm)
            found.append(velocity)
        return found

    def _n(self, x: Array) -> Any:
        try:
            return n_of_angles(x[:3].tolist())
        except ZeroDivisionError:
            raise KinematicsError(
                f"{self}: is turned by a right angle about y, where its angles are not defined",
                "a second angle that is not pi/2",
                f"angles {x[:3].tolist()}",
                "turn both frames, so that it is farther from there",
            ) from None


def _coordinates(one: Transform, two: Transform) -> Array:
    """Return the three angles and the place of M in F, for frames F and M in ground."""
    pose = relative_pose(one, two)
    numbers: Any = pose.matrix[:3].ravel().tolist()
    return np.array([*angles_of_pose(numbers), *pose.translation.tolist()])


def _checked_six(values: ArrayLike, what: str) -> tuple[float, ...]:
    found = checked_array(values, (6,), what)
    if found.min() < 0.0:
        raise OutOfRangeError(
            f"{what}: has a negative number",
            "six numbers that are 0 or more",
            short_repr(values),
            "give them without signs",
        )
    return tuple(found.tolist())
