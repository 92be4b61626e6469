r"""The twin of a tree: the same bodies and joints in another library, in coordinates of its own.

::

    ours   q, u  ------------------------>  X_GB, velocities, J        J = J' T
             |                                     =
    twin   q'(q), v' = T(q) u, a' = T' u  ->  X_GB, velocities, J'     T is a block for each joint

    forces on v' are f'; ours are T' f'. Gravity is along -y.

Frames M are the bodies of the twin; a frame B is fixed to each. Where a library has an angular
velocity in M, and not in F as here, the block is a rotation; it comes from scipy, not from us.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from attrs import frozen
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from stagecache import State
from stagecache.multibody import MatterSubsystem, MobilizedBody, StationGroup

Array = NDArray[np.float64]

GRAVITY = (0.0, -9.81, 0.0)


@frozen
class Joint:
    """What the q and u of one joint are in the twin.

    Attributes
    ----------
    q : ndarray
        Its q'.
    block : ndarray of shape (nu, nu)
        Its part of T.
    bias : ndarray of shape (nu,)
        The derivative of T along the motion, times u.
    """

    q: Array
    block: Array
    bias: Array


@frozen
class Solid:
    """A body in the twin.

    Attributes
    ----------
    frame : ndarray of shape (4, 4)
        X_MB.
    at_q, at_v : int
        Where its q' and v' start.
    """

    frame: Array
    at_q: int
    at_v: int


class AbstractTwin(ABC):
    """A tree of ours in another library. `place` comes first; then results are read.

    Parameters
    ----------
    matter : MatterSubsystem
    markers : StationGroup, optional
        Whose Jacobians are measured.

    Attributes
    ----------
    name : str
    matter : MatterSubsystem
    solids : list of Solid
        By index of the body; not for the ground.
    transfer : ndarray of shape (nu, nu)
        T at the State that was placed last.
    q, v, bias : ndarray
        Its q', v', and a' where our udot is 0.
    """

    name: ClassVar[str]

    def __init__(self, matter: MatterSubsystem, markers: StationGroup | None = None) -> None:
        self.matter = matter
        self.solids: dict[int, Solid] = {}
        self.transfer = np.zeros((0, 0))
        self.q = self.v = self.bias = np.zeros(0)

    def place(self, state: State) -> None:
        """Convert a State, and compute its kinematics."""
        nu = len(self.matter.u(state))
        nq = self.num_q()
        q, bias, transfer = np.zeros(nq), np.zeros(nu), np.zeros((nu, nu))
        start = 0
        for body in self.matter.bodies[1:]:
            width = body.mobilizer.nu
            solid = self.solids[body.index]
            joint = self.joint(body, body.q(state), body.u(state))
            own = slice(solid.at_v, solid.at_v + width)
            q[solid.at_q : solid.at_q + len(joint.q)] = joint.q
            bias[own] = joint.bias
            transfer[own, start : start + width] = joint.block
            start += width
        self.transfer, self.q, self.v = transfer, q, transfer @ self.matter.u(state)
        self.bias = bias
        self.compute(q, self.v, bias)

    @abstractmethod
    def num_q(self) -> int:
        """How many q' there are."""

    @abstractmethod
    def joint(self, body: MobilizedBody, q: Array, u: Array) -> Joint:
        """Convert the q and u of one joint."""

    @abstractmethod
    def compute(self, q: Array, v: Array, a: Array) -> None:
        """Compute positions, velocities, accelerations and Jacobians."""

    @abstractmethod
    def pose(self, body: MobilizedBody) -> Array:
        """X_GB, (4, 4)."""

    @abstractmethod
    def velocity(self, body: MobilizedBody) -> Array:
        """Angular, then linear velocity of the body's origin in ground, (6,)."""

    @abstractmethod
    def acceleration(self, body: MobilizedBody) -> Array:
        """The same of its acceleration where our udot is 0."""

    @abstractmethod
    def own_jacobian(self, body: MobilizedBody, station: Array) -> Array:
        """The derivatives of the velocity at a point of a body by v', (6, nu)."""

    @abstractmethod
    def own_mass_matrix(self) -> Array:
        """The mass matrix for a', (nu, nu)."""

    @abstractmethod
    def own_forces(self, a: Array) -> Array:
        """The forces on v' that some a' takes, with gravity, (nu,)."""

    @abstractmethod
    def own_accelerations(self) -> Array:
        """The a' under gravity alone, (nu,)."""

    @abstractmethod
    def energies(self) -> tuple[float, float]:
        """The kinetic energy, and that of gravity."""

    def mass_matrix(self) -> Array:
        """The mass matrix for our udot."""
        found: Array = self.transfer.T @ self.own_mass_matrix() @ self.transfer
        return found

    def forces_at_rest(self) -> Array:
        """The forces on our u that udot = 0 takes, with gravity."""
        return self.transfer.T @ self.own_forces(self.bias)

    def accelerations(self) -> Array:
        """Our udot under gravity alone."""
        return np.asarray(np.linalg.solve(self.transfer, self.own_accelerations() - self.bias))

    @abstractmethod
    def names(self) -> dict[str, Any]:
        """Return what the statements that are measured name; `place` comes first.

        `jacobian` is (k, 3, nu), by v', and they fill it with that of the markers.
        """

    def frame_jacobian(self, body: MobilizedBody, station: Array) -> Array:
        """The derivatives of the velocity at a point of a body by our u, (6, nu)."""
        found: Array = self.own_jacobian(body, station) @ self.transfer
        return found


def rotation_of(q: Array) -> Rotation:
    """The rotation of a quaternion (w, x, y, z) of any length, or of body-fixed x-y-z angles."""
    return Rotation.from_quat(q[[1, 2, 3, 0]]) if len(q) == 4 else Rotation.from_euler("XYZ", q)


def inverse(frame: Array) -> Array:
    """The inverse of a homogeneous matrix, (4, 4)."""
    found = np.eye(4)
    found[:3, :3] = frame[:3, :3].T
    found[:3, 3] = -frame[:3, :3].T @ frame[:3, 3]
    return found


def inboard_of(body: MobilizedBody) -> Array:
    """X_MpF: where a joint is on frame M of its parent, (4, 4)."""
    parent = body.parent
    inboard = body.inboard_frame.matrix
    return inboard if parent.index == 0 else inverse(parent.outboard_frame.matrix) @ inboard
