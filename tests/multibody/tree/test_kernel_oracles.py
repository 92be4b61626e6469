"""Dynamics of the kernel beside MuJoCo's and Pinocchio's: v' = T u, our forces are T' theirs."""

from abc import ABC, abstractmethod
from typing import Any, Final, cast

import numpy as np
import pytest

from benchmarks.kinematics import load_twin
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer
from tests.multibody.comparison import random_tree
from tests.multibody.masses import Massive, massive
from tests.multibody.trees import MOBILIZERS, Array, Tree, make_tree
from tests.profiles import count

CLOSE: Final = 1e-10


class Peer(ABC):
    """A twin of a tree that has its masses, at the same q and u, without gravity."""

    name: str

    def __init__(self, tree: Tree, m: Massive) -> None:
        self.library: Any = pytest.importorskip(self.name)
        self.twin = cast(Any, load_twin(self.name)(tree.system.matter))
        found: list[Array] = []
        self.twin.compute = lambda _q, _v, bias: found.append(bias)
        self.twin.place(tree.state)
        (self.bias,) = found
        masses, centers, inertias = m.inertias
        for joint in m.layout.joints[1:]:
            row = joint.row
            self.load(joint.body, masses[row], centers[row], inertias[row])

    @abstractmethod
    def load(self, body: Any, mass: float, center: Array, inertia: Array) -> None: ...

    @abstractmethod
    def inverse(self, v: Array, a: Array) -> Array:
        """Its forces for its accelerations."""

    @abstractmethod
    def forward(self, v: Array, forces: Array) -> Array: ...

    def matrix(self) -> Array:
        """By columns: Pinocchio's `crba` takes joints for ordered depth first."""
        still = np.zeros(len(self.twin.v))
        columns = [self.inverse(still, column) for column in np.eye(len(still))]
        return np.array(columns).reshape(len(still), len(still))


class Pinocchio(Peer):
    name = "pinocchio"

    def load(self, body: Any, mass: float, center: Array, inertia: Array) -> None:
        pin, twin = self.library, self.twin
        own = pin.Inertia(mass, center, inertia)
        place = pin.SE3(twin.solids[body.index].frame)
        twin.model.appendBodyToJoint(twin._joints[body.index], own, place)
        twin.model.gravity.setZero()

    def inverse(self, v: Array, a: Array) -> Array:
        model = self.twin.model
        return np.array(self.library.rnea(model, model.createData(), self.twin.q, v, a))

    def forward(self, v: Array, forces: Array) -> Array:
        model = self.twin.model
        return np.array(self.library.aba(model, model.createData(), self.twin.q, v, forces))


class Mujoco(Peer):
    name = "mujoco"

    def load(self, body: Any, mass: float, center: Array, inertia: Array) -> None:
        model, frame = self.twin.model, self.twin.solids[body.index].frame
        number = model.body(f"body {body.index}").id
        moments, axes = np.linalg.eigh(frame[:3, :3] @ inertia @ frame[:3, :3].T)
        axes[:, 0] *= np.linalg.det(axes)
        model.body_mass[number] = mass
        model.body_ipos[number] = frame[:3, :3] @ center + frame[:3, 3]
        model.body_inertia[number] = moments
        self.library.mju_mat2Quat(model.body_iquat[number], axes.ravel())
        model.body_sameframe[number] = model.body_simple[number] = 0

    def inverse(self, v: Array, a: Array) -> Array:
        model, data, library = self.twin.model, self.twin.data, self.library
        data.qpos[:], data.qvel[:], data.qacc[:] = self.twin.q, v, a
        library.mj_kinematics(model, data)
        library.mj_comPos(model, data)
        library.mj_comVel(model, data)
        found = np.zeros(model.nv)
        library.mj_rne(model, data, 1, found)
        return found

    def forward(self, v: Array, forces: Array) -> Array:
        return np.asarray(np.linalg.solve(self.matrix(), forces - self.inverse(v, 0.0 * v)), float)


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(Mujoco, marks=pytest.mark.mujoco),
        pytest.param(Pinocchio, marks=pytest.mark.pinocchio),
    ],
)
def test_dynamics_are_those_of_the_other_library(kind: type[Peer]) -> None:
    kinds: list[type[AbstractMobilizer]] = [*MOBILIZERS] * 2
    worst = compare(kind, make_tree(kinds, list(range(len(kinds))), seed=11))
    for seed in range(count(200)):
        worst = max(worst, compare(kind, random_tree(seed, most=20)))
    assert worst < CLOSE


def compare(kind: type[Peer], tree: Tree) -> float:
    """The largest difference of M, of inverse and of forward dynamics, relative to the numbers.

    What amplifies rounding in forward dynamics is left out.
    """
    m = massive(tree)
    peer = kind(tree, m)
    t, v = peer.twin.transfer, peer.twin.v
    matrix = t.T @ peer.matrix() @ t
    forces = t.T @ peer.inverse(v, t @ m.udot + peer.bias)
    found = m.kernel.inverse_dynamics(m.positions, m.inertias, m.u, m.udot)
    worst = max(apart(m.kernel.mass_matrix(m.positions, m.inertias), matrix), apart(found, forces))
    udot = np.linalg.solve(t, peer.forward(v, np.linalg.solve(t.T, forces)) - peer.bias)
    found = m.kernel.forward_dynamics(m.positions, m.inertias, m.u, forces)
    condition = np.linalg.cond(matrix) if len(matrix) else 1.0
    return max(worst, apart(found, udot) / max(1.0, 1e-2 * condition))


def apart(found: Array, expected: Array) -> float:
    scale = max(1.0, np.abs(expected).max(initial=0.0))
    return float(np.abs(found - expected).max(initial=0.0) / scale)
