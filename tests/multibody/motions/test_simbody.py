"""Motions at the levels of q, u and udot beside Simbody's: udot, accelerations, forces and power.

`simbody.txt` is what `motions.cpp` prints with Simbody 3.7; where that can be compiled, it is run
again. Simbody's tau is on the other side of the equation of motion, so its sign is the opposite.
"""

import subprocess
from collections.abc import Sequence
from math import sin
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from stagecache import Stage
from stagecache.multibody import (
    AbstractAccelerationMotion,
    Gravity,
    MassProperties,
    MultibodySystem,
    Pin,
    RodConstraint,
    Sinusoid,
    SinusoidalAcceleration,
    SinusoidalSpeed,
    Slider,
    SteadySpeed,
    Transform,
    Universal,
)
from tests.multibody.mobilizers.test_simbody import rotation
from tests.oracle.simbody import INCLUDE, reason_not_available

HERE: Final = Path(__file__).parent
RECORDED: Final = (HERE / "simbody.txt").read_text(encoding="ascii").splitlines()


class Feedback(AbstractAccelerationMotion):
    """A function of the time, q and u."""

    def udot(self, time: float, q: Sequence[float], u: Sequence[float]) -> list[float]:
        return [0.3 - 4.0 * q[0] - 0.5 * u[0] ** 2 + sin(2.0 * time)]


MOTIONS: Final[dict[str, Any]] = {
    "none": None,
    "q": Sinusoid(0.4, 3.0, 0.2),
    "u": SinusoidalSpeed(0.4, 3.0, 0.2),
    "steady": SteadySpeed(1.3),
    "udot": SinusoidalAcceleration(0.4, 3.0, 0.2),
    "feedback": Feedback(),
}


def numbers_of(kind: str) -> list[float]:
    name, _, tied = kind.partition(":")
    system = MultibodySystem()
    matter = system.matter
    link = matter.ground
    joints = {"crank": Pin(), "bob": Universal(), "block": Slider()}
    for body, joint in joints.items():
        link = matter.add_body(
            body,
            link,
            joint,
            mass_properties=MassProperties(
                1.5, center=[0.1, 0, 0.2], inertia=np.diag([1.5, 1.8, 2.1])
            ),
            inboard_frame=Transform(rotation(2, 0.3), [0.1, 0.2, 0.3]),
            outboard_frame=Transform(rotation(0, 0.2), [-0.1, 0.4, 0.2]),
            motion=MOTIONS[name] if body == "crank" else None,
        )
    system.add(Gravity(matter, (0.5, -9.81, 1.0)))
    if tied:
        system.add_constraint(RodConstraint(matter.ground, [1, 0, 0], link, [0, 0.1, 0], 1.0))
    state = system.new_state()
    state.time = 0.7
    state.q = 0.3 + 0.2 * np.arange(state.nq)
    state.u = 0.5 - 0.3 * np.arange(state.nu)
    system.prescribe(state)
    system.realize(state, Stage.ACCELERATION)
    tip = link.station_acceleration(state, [0.2, -0.3, 0.1])
    forces = system.calc_motion_forces(state)
    power = system.calc_motion_power(state)
    return [*state.udot, *link.acceleration(state), *tip, *-forces, power]


@pytest.mark.parametrize("line", RECORDED, ids=lambda line: line.split()[0])
def test_a_driven_crank_moves_as_simbodys_does(line: str) -> None:
    kind, *numbers = line.split()
    np.testing.assert_allclose(numbers_of(kind), [float(n) for n in numbers], atol=1e-11)


@pytest.mark.simbody
@pytest.mark.skipif(reason_not_available() is not None, reason=str(reason_not_available()))
def test_the_recorded_numbers_are_those_of_the_installed_simbody(tmp_path: Path) -> None:
    program = tmp_path / "motions"
    libraries = ("-lSimTKsimbody", "-lSimTKmath", "-lSimTKcommon")
    source = ("-O0", "-std=c++17", "-w", f"-I{INCLUDE}", HERE / "motions.cpp")
    subprocess.run(["g++", *source, "-o", program, *libraries], check=True, capture_output=True)
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    for found, expected in zip(printed.splitlines(), RECORDED, strict=True):
        assert found.split()[0] == expected.split()[0]
        one, other = ([float(n) for n in line.split()[1:]] for line in (found, expected))
        np.testing.assert_allclose(one, other, atol=1e-12)
