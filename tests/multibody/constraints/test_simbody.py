"""Constraints beside Simbody's: errors, accelerations, multipliers and Jacobians of a small model.

`simbody.txt` is what `constraints.cpp` prints with Simbody 3.7; where that can be compiled, it is
run again.
"""

import subprocess
from collections.abc import Callable
from math import cos, sin
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from stagecache import Stage
from stagecache.multibody import (
    AbstractConstraint,
    AbstractFunction,
    Ball,
    ConstantAccelerationConstraint,
    ConstantSpeedConstraint,
    Gravity,
    MassProperties,
    MobilizedBody,
    MultibodySystem,
    NoSlip1DConstraint,
    Pin,
    PrescribedMotionConstraint,
    RodConstraint,
    Slider,
    SpeedCouplerConstraint,
    Transform,
)
from stagecache.system.constraints.jacobians import (
    acceleration_bias,
    acceleration_jacobian,
    position_jacobian,
)
from tests.multibody.mobilizers.test_simbody import rotation
from tests.oracle.simbody import INCLUDE, reason_not_available

HERE: Final = Path(__file__).parent
RECORDED: Final = (HERE / "simbody.txt").read_text(encoding="ascii").splitlines()
Array = np.ndarray[Any, np.dtype[np.float64]]
Make = Callable[[MobilizedBody, MobilizedBody, MobilizedBody], AbstractConstraint]


class Wave(AbstractFunction):
    """0.4 sin(2 t + 0.3)."""

    def value(self, x: float) -> float:
        return 0.4 * sin(2 * x + 0.3)

    def first(self, x: float) -> float:
        return 0.8 * cos(2 * x + 0.3)

    def second(self, x: float) -> float:
        return -1.6 * sin(2 * x + 0.3)


def coupling(x: Array) -> float:
    return float(x[0] * cos(x[2]) + 0.3 * x[1] ** 2 - 0.2 * x[2])


def coupling_gradient(x: Array) -> Array:
    return np.array([cos(x[2]), 0.6 * x[1], -x[0] * sin(x[2]) - 0.2])


KINDS: Final[dict[str, Make]] = {
    "Rod": lambda a, _, c: RodConstraint(a, [0.1, 0.2, 0.3], c, [-0.2, 0, 0.4], 1.1),
    "ConstantSpeed": lambda a, _, __: ConstantSpeedConstraint(a, 0.7, index=1),
    "ConstantAcceleration": lambda a, _, __: ConstantAccelerationConstraint(a, 0.7, index=2),
    "SpeedCoupler": lambda a, _, c: SpeedCouplerConstraint(
        [(a, 1), (c, 0)], [a.coordinate(1)], function=coupling, gradient=coupling_gradient
    ),
    "PrescribedMotion": lambda a, _, __: PrescribedMotionConstraint(a.coordinate(1), Wave()),
    "NoSlip1D": lambda a, b, c: NoSlip1DConstraint(a, [0.1, 0.2, 0.3], [1, -2, 0.5], b, c),
}

OF_ANGLES: Final = ("SpeedCoupler", "PrescribedMotion")
"""Those of q of the Ball, which need Euler angles."""


def model(
    *kinds: str, use_euler_angles: bool = True, stage: Stage = Stage.ACCELERATION
) -> tuple[MultibodySystem, Any]:
    """Return the model of `constraints.cpp` with some constraints."""
    system = MultibodySystem()
    matter, ground = system.matter, system.matter.ground
    solid = MassProperties(1.5, inertia=1.5 * np.diag([1, 1.2, 1.4]))
    frames: Any = {
        "inboard_frame": Transform(rotation(2, 0.3), [0.1, 0.2, 0.3]),
        "outboard_frame": Transform(rotation(0, 0.2), [-0.1, 0.4, 0.2]),
        "mass_properties": solid,
    }
    a = matter.add_body("a", ground, Ball(), **frames)
    b = matter.add_body("b", a, Pin(), **frames)
    c = matter.add_body("c", ground, Slider(), **frames)
    system.add(Gravity(matter, (0.5, -9.81, 1.0)), "gravity")
    for kind in kinds:
        system.add_constraint(KINDS[kind](a, b, c), kind)
    state = system.new_state()
    matter.use_euler_angles.set(state, use_euler_angles)
    system.realize(state, Stage.MODEL)
    state.time = 0.7
    state.q = 0.3 + 0.2 * np.arange(state.nq)
    state.u = 0.5 - 0.3 * np.arange(state.nu)
    system.realize(state, stage)
    return system, state


def numbers_of(line: str) -> tuple[str, list[Array]]:
    """Return the name, and the arrays, that a line has."""
    name, *words = line.split()
    found = []
    while words:
        count = int(words[0])
        found.append(np.array(words[1 : count + 1], float))
        words = words[count + 1 :]
    return name, found


@pytest.mark.parametrize("line", RECORDED, ids=lambda line: line.split()[0])
def test_a_constraint_holds_as_simbodys_does(line: str) -> None:
    name, (qerr, uerr, udoterr, udot, *more) = numbers_of(line)
    multipliers, g, projected, pq, power = more
    system, state = model(name)
    given = 1 - 0.4 * np.arange(state.nu)
    jacobian = acceleration_jacobian(state)
    found = jacobian @ given + acceleration_bias(state)
    m_inv = np.linalg.inv(system.matter.m_matrix(state))
    of_q = system.multiply_by_n_pinv_transpose(state, position_jacobian(state).T).T
    for one, other in (
        (state.qerr, qerr),
        (state.uerr, uerr),
        (found, udoterr),
        (state.udot, udot),
        (state.multipliers, multipliers),
        (jacobian, g),
        (jacobian @ m_inv @ jacobian.T, projected),
        (of_q, np.delete(pq.reshape(-1, 6), 3, axis=1).ravel()),  # the fourth q of its Ball is idle
    ):
        np.testing.assert_allclose(np.ravel(one), other, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(state.udoterr, 0, atol=1e-12)
    constraint: Any = system.subsystem(name)
    np.testing.assert_allclose(constraint.power(state), power[0], rtol=1e-11, atol=1e-12)


@pytest.mark.simbody
@pytest.mark.skipif(reason_not_available() is not None, reason=str(reason_not_available()))
def test_the_recorded_constraints_are_those_of_the_installed_simbody(tmp_path: Path) -> None:
    program, source = tmp_path / "constraints", HERE / "constraints.cpp"
    libraries = ("-lSimTKsimbody", "-lSimTKmath", "-lSimTKcommon")
    flags = ("-O0", "-std=c++17", "-w", f"-I{INCLUDE}")
    command: list[str | Path] = ["g++", *flags, source, "-o", program, *libraries]
    subprocess.run(command, check=True, capture_output=True)
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    for one, other in zip(printed.splitlines(), RECORDED, strict=True):
        (found, values), (expected, recorded) = numbers_of(one), numbers_of(other)
        assert found == expected
        np.testing.assert_allclose(
            np.concatenate(values), np.concatenate(recorded), rtol=1e-12, atol=1e-12
        )
