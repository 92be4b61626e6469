"""Pinocchio: a joint of its own for most mobilizers, others composed; frame B is a placement.

Velocities of its spherical joint, its free flyer and its planar joint are in M, and have the linear
ones first. The planar joint has the cosine and the sine of its angle as q'.
"""

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Final, final

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

from benchmarks.kinematics.twin import (
    GRAVITY,
    AbstractTwin,
    Array,
    Joint,
    Solid,
    inboard_of,
    inverse,
    rotation_of,
)
from stagecache.multibody import (
    Ball,
    Cylinder,
    Free,
    Gimbal,
    MatterSubsystem,
    MobilizedBody,
    Pin,
    Planar,
    Slider,
    StationGroup,
    Translation,
    Universal,
)

ALIGNED: Final = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED


def _composed(*parts: type) -> Any:
    found = pin.JointModelComposite()
    for part in parts:
        found.addJoint(part(), pin.SE3.Identity())
    return found


MAKERS: Final[dict[type, Callable[[], Any]]] = {
    Pin: pin.JointModelRZ,
    Slider: pin.JointModelPX,
    Universal: lambda: pin.JointModelUniversal(np.eye(3)[0], np.eye(3)[1]),
    Cylinder: lambda: _composed(pin.JointModelRZ, pin.JointModelPZ),
    Planar: pin.JointModelPlanar,
    Gimbal: lambda: _composed(pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ),
    Translation: pin.JointModelTranslation,
    Ball: pin.JointModelSpherical,
    Free: pin.JointModelFreeFlyer,
}
"""By mobilizer, its joint. A Weld has none: its body is fixed to that before."""


def _depth_first(matter: MatterSubsystem) -> Iterator[MobilizedBody]:
    """All bodies but the ground in the order that Pinocchio's mass matrix needs."""
    stack = [matter.ground]
    while stack:
        parent = stack.pop()
        if parent is not matter.ground:
            yield parent
        stack += [b for b in matter.bodies[1:] if b.parent is parent]


@final
class PinocchioTwin(AbstractTwin):
    """A tree as Pinocchio's.

    Attributes
    ----------
    model : pinocchio.Model
    data : pinocchio.Data
    frames : dict of int
        By index of the body, its frame B.
    """

    name: ClassVar[str] = "pinocchio"

    def __init__(self, matter: MatterSubsystem, markers: StationGroup | None = None) -> None:
        super().__init__(matter, markers)
        self.model = pin.Model()
        self.frames: dict[int, int] = {}
        self._joints = {0: 0}
        placed = {0: np.eye(4)}  # by body, frame M in that of its joint
        for body in _depth_first(matter):
            joint = self._joints[body.parent.index]
            placement = placed[body.parent.index] @ inboard_of(body)
            maker = MAKERS.get(type(body.mobilizer))
            at_q = at_v = 0
            if maker is not None:
                name = f"joint {body.index}"
                joint = self.model.addJoint(joint, maker(), pin.SE3(placement), name)
                at_q, at_v = self.model.joints[joint].idx_q, self.model.joints[joint].idx_v
                placement = np.eye(4)
            self._joints[body.index] = joint
            placed[body.index] = placement
            frame = placement @ inverse(body.outboard_frame.matrix)
            self.solids[body.index] = Solid(frame, at_q, at_v)
            mass = body.mass_properties
            inertia = pin.Inertia(mass.mass, mass.center, mass.central_inertia)
            self.model.appendBodyToJoint(joint, inertia, pin.SE3(frame))
            self.frames[body.index] = self._add_frame(body, np.zeros(3))
        self._markers: list[int] = []
        if markers is not None:
            placed_on = zip(markers.bodies, markers.stations, strict=True)
            self._markers = [self._add_frame(body, station) for body, station in placed_on]
        self.model.gravity.linear = np.array(GRAVITY)
        self.data = self.model.createData()

    def _add_frame(self, body: MobilizedBody, station: Array) -> int:
        place = pin.SE3(self.solids[body.index].frame) * pin.SE3(np.eye(3), station)
        joint = self._joints[body.index]
        name = f"frame {self.model.nframes}"
        frame = pin.Frame(name, joint, 0, place, pin.FrameType.OP_FRAME)
        return int(self.model.addFrame(frame))

    def num_q(self) -> int:
        return int(self.model.nq)

    def joint(self, body: MobilizedBody, q: Array, u: Array) -> Joint:
        match body.mobilizer:
            case Ball():
                turned = rotation_of(q)
                return Joint(turned.as_quat(), turned.as_matrix().T, np.zeros(3))
            case Free():
                turned = rotation_of(q[:-3])
                both = np.zeros((6, 6))
                both[:3, 3:] = both[3:, :3] = turned.as_matrix().T
                linear, angular = (both @ u).reshape(2, 3)
                bias = [*np.cross(linear, angular), 0, 0, 0]  # the rate of R' times v
                return Joint(np.array([*q[-3:], *turned.as_quat()]), both, np.array(bias))
            case Planar():
                inward = Rotation.from_rotvec([0, 0, -q[0]]).as_matrix()
                block = np.zeros((3, 3))
                block[:2, 1:], block[2, 0] = inward[:2, :2], 1
                x, y, rate = block @ u
                values = [q[1], q[2], np.cos(q[0]), np.sin(q[0])]
                return Joint(np.array(values), block, np.array([y * rate, -x * rate, 0]))
        return Joint(q, np.eye(len(u)), np.zeros(len(u)))

    def compute(self, q: Array, v: Array, a: Array) -> None:
        pin.forwardKinematics(self.model, self.data, q, v, a)
        pin.updateFramePlacements(self.model, self.data)
        pin.computeJointJacobians(self.model, self.data)

    def pose(self, body: MobilizedBody) -> Array:
        found: Array = self.data.oMf[self.frames[body.index]].homogeneous
        return found

    def velocity(self, body: MobilizedBody) -> Array:
        return self._motion(pin.getFrameVelocity, body)

    def acceleration(self, body: MobilizedBody) -> Array:
        return self._motion(pin.getFrameClassicalAcceleration, body)

    def _motion(self, function: Any, body: MobilizedBody) -> Array:
        found = function(self.model, self.data, self.frames[body.index], ALIGNED)
        return np.concatenate([found.angular, found.linear])

    def own_jacobian(self, body: MobilizedBody, station: Array) -> Array:
        joint = self._joints[body.index]
        if joint == 0:  # its universe, which Pinocchio must not be asked for: it would crash
            return np.zeros((6, self.model.nv))
        place = pin.SE3(self.solids[body.index].frame) * pin.SE3(np.eye(3), station)
        found = pin.getFrameJacobian(self.model, self.data, joint, place, ALIGNED)
        found = found.reshape(6, -1)  # it is (6,) for one v'
        return np.concatenate([found[3:], found[:3]])

    def own_mass_matrix(self) -> Array:
        upper = np.triu(pin.crba(self.model, self.data, self.q))
        found: Array = upper + np.triu(upper, 1).T
        return found

    def own_forces(self, a: Array) -> Array:
        found: Array = pin.rnea(self.model, self.data, self.q, self.v, a)
        return found

    def own_accelerations(self) -> Array:
        found: Array = pin.aba(self.model, self.data, self.q, self.v, np.zeros(self.model.nv))
        return found

    def energies(self) -> tuple[float, float]:
        kinetic = pin.computeKineticEnergy(self.model, self.data, self.q, self.v)
        potential = pin.computePotentialEnergy(self.model, self.data, self.q)
        fixed = self.model.inertias[0]  # which it leaves out
        return float(kinetic), float(potential - fixed.mass * (fixed.lever @ GRAVITY))

    def names(self) -> dict[str, Any]:
        jacobian = np.zeros((len(self._markers), 3, self.model.nv))
        return {
            "model": self.model,
            "data": self.data,
            "q": self.q,
            "v": self.v,
            "no_force": np.zeros(self.model.nv),
            "aba": pin.aba,
            "forwardKinematics": pin.forwardKinematics,
            "aligned": ALIGNED,
            "computeJointJacobians": pin.computeJointJacobians,
            "jacobian": jacobian,
            "framesForwardKinematics": pin.framesForwardKinematics,
            "updateFramePlacements": pin.updateFramePlacements,
            "getFrameJacobian": pin.getFrameJacobian,
            "parts": list(zip(jacobian, self._markers, strict=True)),
        }
