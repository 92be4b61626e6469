"""Dynamics of the kernel beside Pinocchio's: its v' are T u, and our forces T' times its own."""

from typing import Any, Final

import numpy as np
import pytest

from benchmarks.kinematics import load_twin
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer
from tests.multibody.comparison import random_tree
from tests.multibody.masses import Massive, massive
from tests.multibody.trees import MOBILIZERS, Array, Tree, make_tree
from tests.profiles import count

CLOSE: Final = 1e-11


pin = pytest.importorskip("pinocchio", reason="needs pinocchio: the extra oracles")


@pytest.mark.pinocchio
def test_dynamics_are_those_of_pinocchio() -> None:
    kinds: list[type[AbstractMobilizer]] = [*MOBILIZERS] * 2
    worst = compare(make_tree(kinds, list(range(len(kinds))), seed=11))
    for seed in range(count(200)):
        worst = max(worst, compare(random_tree(seed, most=20)))
    assert worst < CLOSE


def compare(tree: Tree) -> float:
    """The largest difference of M, of inverse and of forward dynamics, relative to the numbers.

    M is by columns, as Pinocchio's `crba` takes joints for ordered depth first. What amplifies
    rounding in forward dynamics is left out.
    """
    m = massive(tree)
    twin: Any = load_twin("pinocchio")(tree.system.matter)
    with_masses(twin, m)
    biases: list[Array] = []
    twin.compute = lambda _q, _v, bias: biases.append(bias)
    twin.place(tree.state)
    model, data, t, (bias,) = twin.model, twin.model.createData(), twin.transfer, biases
    still = np.zeros(model.nv)
    columns = [pin.rnea(model, data, twin.q, still, column) for column in t.T]
    matrix = t.T @ np.array(columns).reshape(len(t), model.nv).T
    forces = t.T @ pin.rnea(model, data, twin.q, twin.v, t @ m.udot + bias)
    found = m.kernel.inverse_dynamics(m.positions, m.inertias, m.u, m.udot)
    worst = max(apart(m.kernel.mass_matrix(m.positions, m.inertias), matrix), apart(found, forces))
    tau = np.linalg.solve(t.T, forces)
    udot = np.linalg.solve(t, pin.aba(model, data, twin.q, twin.v, tau) - bias)
    found = m.kernel.forward_dynamics(m.positions, m.inertias, m.u, forces)
    condition = np.linalg.cond(matrix) if len(matrix) else 1.0
    return max(worst, apart(found, udot) / max(1.0, 1e-2 * condition))


def with_masses(twin: Any, m: Massive) -> None:
    """Give the bodies of a twin their masses; it has no gravity then."""
    twin.model.gravity.setZero()
    masses, centers, inertias = m.inertias
    for joint in m.layout.joints[1:]:
        row, body = joint.row, joint.body
        own = pin.Inertia(masses[row], centers[row], inertias[row])
        place = pin.SE3(twin.solids[body.index].frame)
        twin.model.appendBodyToJoint(twin._joints[body.index], own, place)


def apart(found: Array, expected: Array) -> float:
    scale = max(1.0, np.abs(expected).max(initial=0.0))
    return float(np.abs(found - expected).max(initial=0.0) / scale)
