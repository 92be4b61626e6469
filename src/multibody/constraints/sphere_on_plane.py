r"""A contact of a sphere with a plane.

With the center s of the sphere in body 2, its radius r, and a plane with the frame P in body 1, all
in axes of body 1::

    e = n.(p + R s - p_P) - r         n, x, y: the axes z, x, y of P
    c = p + R s - r n                 the bottom of the sphere
"""

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from stagecache.decorations.decorations import AbstractDecoration
from stagecache.multibody.checks import checked_array
from stagecache.multibody.constraints.checks import (
    checked_length,
    checked_lengths_of,
    checked_points_of,
)
from stagecache.multibody.constraints.contact import AbstractContact, sphere
from stagecache.multibody.constraints.contact_batch import AbstractShapes, Touching
from stagecache.multibody.constraints.pair_batch import Poses
from stagecache.multibody.constraints.points import place_of, turned
from stagecache.multibody.geometry.spatial import Array, cross
from stagecache.multibody.geometry.transform import Transform, require_frame
from stagecache.multibody.matter.mobilized_body import MobilizedBody
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.declare.variables import discrete


@final
class SpheresOnPlanes(AbstractShapes):
    """Spheres of bodies 2 on planes of bodies 1."""

    def __init__(self, contacts: Sequence[Any], state: State) -> None:
        frames = [require_frame(c.plane_frame(state), f"{c.plane_frame}") for c in contacts]
        self.axes = np.array([f.rotation.T[[2, 0, 1]] for f in frames]).reshape(-1, 3, 3)
        origins = np.array([f.translation for f in frames]).reshape(-1, 3)
        self.heights: Array = (self.axes[:, 0] * origins).sum(-1)
        self.centers = checked_points_of(contacts, "center", state)
        self.radii = checked_lengths_of(contacts, "radius", state)

    def separations(self, poses: Poses) -> Array:
        """Return the heights of the bottoms of the spheres above the planes."""
        found: Array = (self.axes[:, 0] * place_of(poses, self.centers)).sum(-1)
        return found - self.heights - self.radii

    def touching(self, poses: Poses) -> Touching:
        """Return the bottoms of the spheres, and the axes of the planes."""
        bottoms = place_of(poses, self.centers) - self.radii[:, None] * self.axes[:, 0]
        return Touching(bottoms, self.axes)

    def rates(self, poses: Poses, touching: Touching, rates: Array) -> Touching:
        """Return the velocities of the centers; the axes do not turn."""
        moving = rates[:, 3:] + cross(rates[:, :3], turned(poses, self.centers))
        return Touching(moving, np.zeros_like(touching.axes))


@final
class SphereOnPlaneContact(AbstractContact):
    """A sphere of body 2 on a plane of body 1, which slides on it or rolls. One error [m].

    The error is the height of the bottom of the sphere above the plane. If it rolls, the velocity
    of the sphere there is zero along x and y of the plane as well: two errors more, of uerr.

    The contact does not open: it pulls the sphere to the plane where that is needed.
    `plane_frame`, `center` [m] and `radius` [m] are variables of the State, whose writes invalidate
    Position.

    `separation` [m], `contact_frame` (a Transform in ground) and `slip` (2,) [m/s] are entries; the
    first two also where it is disabled.

    Parameters
    ----------
    first : MobilizedBody
        The body that has the plane.
    plane_frame : Transform
        The frame P of the plane in body 1, initially: its x and y lie in the plane, and z
        is the normal, on the side of the sphere.
    second : MobilizedBody
        The body that has the sphere.
    center : (3,) array_like
        The center of the sphere in body 2, initially [m].
    radius : float
        More than 0, initially [m].
    enforce_rolling : bool, optional
        True for a sphere that does not slip. False by default.

    Raises
    ------
    UnknownBodyError, ConstraintError, WrongTypeError
    ShapeError, NotANumberError, OutOfRangeError

    Examples
    --------
    A ball rolls down a slope of 30 degrees, by 5/7 g sin(30°):

    >>> from scipy.spatial.transform import Rotation
    >>> from stagecache import Stage
    >>> from stagecache.multibody import (
    ...     Free, Gravity, MassProperties, MultibodySystem, SphereOnPlaneContact, Transform
    ... )
    >>> system = MultibodySystem()
    >>> matter, ground = system.matter, system.matter.ground
    >>> solid = MassProperties(2.0, inertia=[0.4 * 2.0 * 0.1**2] * 3)
    >>> ball = matter.add_body("ball", ground, Free(), mass_properties=solid)
    >>> slope = Transform(Rotation.from_euler("y", 30, degrees=True).as_matrix())
    >>> contact = SphereOnPlaneContact(
    ...     ground, slope, ball, [0, 0, 0], 0.1, enforce_rolling=True
    ... )
    >>> _ = system.add(contact, "contact")
    >>> _ = system.add(Gravity(matter, (0, 0, -9.81)), "gravity")
    >>> state = system.new_state()
    >>> ball.q.set(state, [1, 0, 0, 0, *0.1 * slope.rotation[:, 2]])
    >>> system.realize(state, Stage.ACCELERATION)
    >>> contact.error(state).round(9), contact.slip(state).round(9)
    (array([0.]), array([0., 0.]))
    >>> downhill = slope.rotation.T @ state.udot[3:]
    >>> downhill.round(3) + 0.0, round(5 / 7 * 9.81 / 2, 3)
    (array([3.504, 0.   , 0.   ]), 3.504)
    """

    shapes_type = SpheresOnPlanes
    shape_names = ("plane_frame", "center", "radius")

    plane_frame = discrete(factory=lambda self: self._initial[0], invalidates=Stage.POSITION)
    """The frame P of the plane in body 1."""

    center = discrete(factory=lambda self: self._initial[1], invalidates=Stage.POSITION, unit="m")
    """The center of the sphere in body 2, (3,)."""

    radius = discrete(factory=lambda self: self._initial[2], invalidates=Stage.POSITION, unit="m")
    """The radius of the sphere, more than 0."""

    def __init__(
        self,
        first: MobilizedBody,
        plane_frame: Transform,
        second: MobilizedBody,
        center: ArrayLike,
        radius: float,
        *,
        enforce_rolling: bool = False,
    ) -> None:
        super().__init__(first, second, enforce_rolling=enforce_rolling)
        self._initial = (
            require_frame(plane_frame, f"the plane frame of {self}"),
            checked_array(center, (3,), f"the center of {self}"),
            checked_length(radius, f"the radius of {self}"),
        )

    def calc_decorations(self, state: State) -> Sequence[tuple[MobilizedBody, AbstractDecoration]]:
        """Return the sphere."""
        return ((self.bodies[1], sphere(self.radius(state), self.center(state))),)
