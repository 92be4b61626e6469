r"""A problem of inverse kinematics, as it is read from a file or generated: a tree, and frames.

::

    links, closures        the tree, and what closes its loops
    start                  q before the first frame, with Euler angles where a joint may have them
    frames[0]              is assembled from there
    frames[1], ...         are tracked, each from the one before
    runs                   what someone else has got, frame by frame

Bodies are numbered from 0 as links are; -1 is the ground.
"""

from typing import Final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from benchmarks.inverse_kinematics.run import Run
from stagecache.multibody import (
    AbstractMobilizer,
    Ball,
    Cylinder,
    Free,
    Gimbal,
    Pin,
    Planar,
    Slider,
    Transform,
    Translation,
    Universal,
    Weld,
)

Array = NDArray[np.float64]

GROUND: Final = -1

JOINTS: Final[dict[str, type[AbstractMobilizer]]] = {
    joint.__name__: joint
    for joint in (
        *(Ball, Cylinder, Free, Gimbal, Pin),
        *(Planar, Slider, Translation, Universal, Weld),
    )
}
"""By the name that they have in a file."""


@frozen
class Link:
    """A body, and the joint that holds it.

    Attributes
    ----------
    name : str
    parent : int
        A body that comes before it.
    joint : str
        One of `JOINTS`.
    inboard, outboard : Transform
        X_PF and X_BM.
    """

    name: str
    parent: int
    joint: str
    inboard: Transform
    outboard: Transform

    @property
    def mobilizer(self) -> AbstractMobilizer:
        """Its joint, in a System."""
        return JOINTS[self.joint]()

    @property
    def num_q(self) -> int:
        """How many q it has, in Euler angles."""
        return self.mobilizer.with_euler_angles().nq


@frozen
class Closure:
    """A constraint between two bodies.

    Attributes
    ----------
    kind : str
        "Rod", "Ball" or "Weld".
    first, second : int
        The bodies.
    first_frame, second_frame : Transform
        Where on them; for a Rod and a Ball, only the points matter.
    length : float
        Of a Rod [m].
    """

    kind: str
    first: int
    first_frame: Transform
    second: int
    second_frame: Transform
    length: float = 0.0


@frozen
class Marker:
    """A point of a body that is observed.

    Attributes
    ----------
    name : str
    body : int
    station : ndarray of shape (3,)
        In the frame of the body [m].
    weight : float
    """

    name: str
    body: int
    station: Array = field(eq=False)
    weight: float


@frozen
class Aim:
    """A q that is to have a value, which each frame says; the goal is half the squared difference.

    Attributes
    ----------
    body : int
    index : int
        Among the q of its joint.
    """

    body: int
    index: int


@frozen
class Frame:
    """What is wanted at one time.

    Attributes
    ----------
    time : float or None
        [s]; None where it does not matter.
    value : float or None
        Of the q that is aimed at, if there is one.
    observations : ndarray of shape (markers, 3)
        Where the markers were seen [m]; NaN where one was not.
    """

    time: float | None = None
    value: float | None = None
    observations: Array = field(factory=lambda: np.zeros((0, 3)), eq=False)


@frozen
class KnownPoses:
    """Poses that someone else has computed, to compare conventions.

    Attributes
    ----------
    path : str
        Where they are in the file.
    q : ndarray of shape (nq,)
    matrices : ndarray of shape (links, 4, 4)
        X_GB of all bodies.
    """

    path: str
    q: Array = field(eq=False)
    matrices: Array = field(eq=False)


@frozen
class Problem:
    """A problem; see the top of the module.

    Attributes
    ----------
    name, description : str
    links : tuple of Link
    closures : tuple of Closure
    markers : tuple of Marker
    aim : Aim or None
    start : ndarray of shape (nq,)
        The q of all joints, one joint after the other.
    frames : tuple of Frame
        At least one.
    runs : tuple of Run
    known : KnownPoses or None
    accuracy, tolerance : float
        With which to solve it.
    """

    name: str
    links: tuple[Link, ...]
    start: Array = field(eq=False)
    frames: tuple[Frame, ...]
    closures: tuple[Closure, ...] = ()
    markers: tuple[Marker, ...] = ()
    aim: Aim | None = None
    runs: tuple[Run, ...] = ()
    known: KnownPoses | None = None
    description: str = ""
    accuracy: float = 1e-3
    tolerance: float = 1e-4
