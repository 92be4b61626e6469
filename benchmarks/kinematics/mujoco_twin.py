"""MuJoCo: hinges, slides and balls, several of them on one body; frame B is a site.

Where B is M it is the body itself. The angular velocity of a ball is in M. A Free is three slides
and a ball, since MuJoCo has a free joint only on its world. Its quaternions have length 1.
"""

from typing import Any, ClassVar, Final, final

import mujoco
import numpy as np
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
    Weld,
)

X, Y, Z = np.eye(3).tolist()
HINGE: Final = mujoco.mjtJoint.mjJNT_HINGE
SLIDE: Final = mujoco.mjtJoint.mjJNT_SLIDE
BALL: Final = mujoco.mjtJoint.mjJNT_BALL

PARTS: Final[dict[type, list[tuple[Any, list[float], int]]]] = {
    Weld: [],
    Pin: [(HINGE, Z, 0)],
    Slider: [(SLIDE, X, 0)],
    Universal: [(HINGE, X, 0), (HINGE, Y, 1)],
    Cylinder: [(HINGE, Z, 0), (SLIDE, Z, 1)],
    Planar: [(SLIDE, X, 1), (SLIDE, Y, 2), (HINGE, Z, 0)],
    Gimbal: [(HINGE, X, 0), (HINGE, Y, 1), (HINGE, Z, 2)],
    Translation: [(SLIDE, X, 0), (SLIDE, Y, 1), (SLIDE, Z, 2)],
    Ball: [(BALL, Z, 0)],
    Free: [(SLIDE, X, 3), (SLIDE, Y, 4), (SLIDE, Z, 5), (BALL, Z, 0)],
}
"""By mobilizer: the joints of a body, in their order, each with its axis and which u it is."""


@final
class MujocoTwin(AbstractTwin):
    """A tree as MuJoCo's.

    Attributes
    ----------
    model : MjModel
    data : MjData
    """

    name: ClassVar[str] = "mujoco"

    def __init__(self, matter: MatterSubsystem, markers: StationGroup | None = None) -> None:
        super().__init__(matter, markers)
        spec = mujoco.MjSpec()
        spec.option.gravity = GRAVITY
        spec.memory = 2**20  # by itself it would take as much as dynamics may need
        made = {0: spec.worldbody}
        for body in matter.bodies[1:]:
            new = made[body.parent.index].add_body(name=_name(body), **_placed(inboard_of(body)))
            self._give_mass(new, body)
            if not _is_plain(body):
                new.add_site(name=_name(body), **_placed(inverse(body.outboard_frame.matrix)))
            for i, (kind, axis, _) in enumerate(PARTS[type(body.mobilizer)]):
                new.add_joint(name=f"{_name(body)}.{i}", type=kind, axis=axis)
            made[body.index] = new
        marked = [] if markers is None else zip(markers.bodies, markers.stations, strict=True)
        names: list[str] = []
        for body, station in marked:
            names.append(f"marker {len(names)}")
            place = inverse(body.outboard_frame.matrix)
            point = place[:3, :3] @ station + place[:3, 3]
            made[body.index].add_site(name=names[-1], pos=point.tolist())
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        self._markers = [int(self.model.site(name).id) for name in names]
        for body in matter.bodies[1:]:
            frame = inverse(body.outboard_frame.matrix)
            q = v = 0
            if body.mobilizer.nu:
                joint = self.model.joint(f"{_name(body)}.0")
                q, v = int(joint.qposadr[0]), int(joint.dofadr[0])
            self.solids[body.index] = Solid(frame, q, v)

    @staticmethod
    def _give_mass(new: Any, body: MobilizedBody) -> None:
        """Give a body its mass; a massless one some, which MuJoCo needs."""
        mass = body.mass_properties
        new.explicitinertial = True
        if mass.mass == 0:
            new.mass, new.inertia = 1, [1, 1, 1]
            return
        place = inverse(body.outboard_frame.matrix)
        rotation = place[:3, :3]
        moments, axes = np.linalg.eigh(rotation @ mass.central_inertia @ rotation.T)
        axes[:, 2] *= np.linalg.det(axes)
        x, y, z, w = Rotation.from_matrix(axes).as_quat().tolist()
        new.mass, new.inertia, new.iquat = mass.mass, moments, [w, x, y, z]
        new.ipos = rotation @ mass.center + place[:3, 3]

    def num_q(self) -> int:
        return int(self.model.nq)

    def joint(self, body: MobilizedBody, q: Array, u: Array) -> Joint:
        parts = PARTS[type(body.mobilizer)]
        values: list[float] = []
        block = np.zeros((len(u), len(u)))
        orientation = len(q) - 3 if isinstance(body.mobilizer, Free) else len(q)
        row = 0
        for kind, _, which in parts:
            if kind == BALL:
                turned = rotation_of(q[:orientation])
                values += turned.as_quat()[[3, 0, 1, 2]].tolist()
                block[row : row + 3, :3] = turned.as_matrix().T
                row += 3
            else:  # of a Free, q of its origin may start elsewhere than u
                values.append(q[which - len(u)])
                block[row, which] = 1
                row += 1
        return Joint(np.array(values), block, np.zeros(len(u)))

    def compute(self, q: Array, v: Array, a: Array) -> None:
        model, data = self.model, self.data
        data.qpos[:], data.qvel[:], data.qacc[:] = q, v, a
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        model.opt.gravity[:] = 0  # which it would subtract from accelerations
        mujoco.mj_rnePostConstraint(model, data)
        model.opt.gravity[:] = GRAVITY

    def pose(self, body: MobilizedBody) -> Array:
        seen = (self.data.body if _is_plain(body) else self.data.site)(_name(body))
        found = np.eye(4)
        found[:3, :3] = seen.xmat.reshape(3, 3)
        found[:3, 3] = seen.xpos
        return found

    def velocity(self, body: MobilizedBody) -> Array:
        return self._motion(mujoco.mj_objectVelocity, body)

    def acceleration(self, body: MobilizedBody) -> Array:
        return self._motion(mujoco.mj_objectAcceleration, body)

    def _motion(self, function: Any, body: MobilizedBody) -> Array:
        plain = _is_plain(body)
        kind = mujoco.mjtObj.mjOBJ_XBODY if plain else mujoco.mjtObj.mjOBJ_SITE
        number = (self.model.body if plain else self.model.site)(_name(body)).id
        found = np.zeros(6)
        function(self.model, self.data, kind, number, found, 0)
        return found

    def own_jacobian(self, body: MobilizedBody, station: Array) -> Array:
        pose = self.pose(body)
        point = pose[:3, :3] @ station + pose[:3, 3]
        linear, angular = np.zeros((2, 3, self.model.nv))
        number = self.model.body(_name(body)).id
        mujoco.mj_jac(self.model, self.data, linear, angular, point, number)
        return np.concatenate([angular, linear])

    def own_mass_matrix(self) -> Array:
        mujoco.mj_forward(self.model, self.data)
        found = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, found)
        return found

    def own_forces(self, a: Array) -> Array:
        mujoco.mj_forward(self.model, self.data)
        self.data.qacc[:] = a
        found = np.zeros(self.model.nv)
        mujoco.mj_rne(self.model, self.data, 1, found)
        return found

    def own_accelerations(self) -> Array:
        mujoco.mj_forward(self.model, self.data)
        return np.array(self.data.qacc)

    def energies(self) -> tuple[float, float]:
        mujoco.mj_forward(self.model, self.data)
        mujoco.mj_energyPos(self.model, self.data)
        mujoco.mj_energyVel(self.model, self.data)
        potential, kinetic = self.data.energy
        return float(kinetic), float(potential)

    def names(self) -> dict[str, Any]:
        jacobian = np.zeros((len(self._markers), 3, self.model.nv))
        return {
            "model": self.model,
            "data": self.data,
            "q": self.q,
            "v": self.v,
            "qpos": self.data.qpos,
            "qvel": self.data.qvel,
            "jacobian": jacobian,
            "parts": list(zip(jacobian, self._markers, strict=True)),
            "mj_kinematics": mujoco.mj_kinematics,
            "mj_comPos": mujoco.mj_comPos,
            "mj_comVel": mujoco.mj_comVel,
            "mj_jacSite": mujoco.mj_jacSite,
        }


def _name(body: MobilizedBody) -> str:
    return f"body {body.index}"


def _is_plain(body: MobilizedBody) -> bool:
    """Whether B is M, so that it needs no site: MuJoCo computes all sites with the poses."""
    return np.array_equal(body.outboard_frame.matrix, np.eye(4))


def _placed(frame: Array) -> dict[str, list[float]]:
    """The arguments of what is placed in a frame, for (4, 4)."""
    x, y, z, w = Rotation.from_matrix(frame[:3, :3]).as_quat().tolist()
    return {"pos": frame[:3, 3].tolist(), "quat": [w, x, y, z]}
