"""Mobilizers beside Simbody's, in both directions: poses, velocities, and accelerations by u.

`simbody.txt` is what `mobilizers.cpp` prints with Simbody 3.7; where that can be compiled, it is
run again.
"""

import subprocess
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from stagecache import Stage
from stagecache.multibody import (
    Ball,
    BendStretch,
    Bushing,
    CantileverFreeBeam,
    Cylinder,
    Ellipsoid,
    Free,
    FreeLine,
    Gimbal,
    LineOrientation,
    MultibodySystem,
    Pin,
    Planar,
    Reversed,
    Screw,
    Slider,
    Transform,
    Translation,
    Universal,
)
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer
from tests.oracle.simbody import INCLUDE, reason_not_available

HERE: Final = Path(__file__).parent
RECORDED: Final = (HERE / "simbody.txt").read_text(encoding="ascii").splitlines()
KINDS: Final[dict[str, AbstractMobilizer]] = {
    "Screw": Screw(0.25),
    "BendStretch": BendStretch(),
    "Bushing": Bushing(),
    "Ellipsoid": Ellipsoid((0.3, 0.4, 0.5)),
    "Pin": Pin(),
    "Slider": Slider(),
    "Universal": Universal(),
    "Cylinder": Cylinder(),
    "Planar": Planar(),
    "Gimbal": Gimbal(),
    "Translation": Translation(),
    "Ball": Ball(),
    "Free": Free(),
    "LineOrientation": LineOrientation(),
    "FreeLine": FreeLine(),
    "CantileverFreeBeam": CantileverFreeBeam(0.5),
}


def rotation(axis: int, angle: float) -> Any:
    c, s = np.cos(angle), np.sin(angle)
    found = np.eye(3)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    found[[i, i, j, j], [i, j, i, j]] = c, -s, s, c
    return found


def numbers_of(kind: str) -> list[float]:
    name, _, direction = kind.partition(":")
    system = MultibodySystem()
    body = system.matter.add_body(
        "body",
        system.matter.ground,
        KINDS[name],
        inboard_frame=Transform(rotation(2, 0.3), [0.1, 0.2, 0.3]),
        outboard_frame=Transform(rotation(0, 0.2), [-0.1, 0.4, 0.2]),
        reverse=bool(direction),
    )
    assert isinstance(body.mobilizer, Reversed) is bool(direction)
    state = system.new_state()
    system.matter.use_euler_angles.set(state, True)
    system.realize(state, Stage.MODEL)
    body.q.set(state, 0.3 + 0.2 * np.arange(state.nq))
    body.u.set(state, 0.5 - 0.3 * np.arange(state.nu))
    system.realize(state, Stage.VELOCITY)
    pose = body.pose(state)
    place = np.column_stack([pose.rotation, pose.translation])
    motions = body.velocity(state), body.acceleration_bias(state)
    return [*place.ravel().tolist(), *np.concatenate(motions).tolist()]


@pytest.mark.parametrize("line", RECORDED, ids=lambda line: line.split()[0])
def test_a_mobilizer_moves_as_simbodys_does(line: str) -> None:
    kind, *numbers = line.split()
    np.testing.assert_allclose(numbers_of(kind), [float(n) for n in numbers], atol=1e-12)


@pytest.mark.simbody
@pytest.mark.skipif(reason_not_available() is not None, reason=str(reason_not_available()))
def test_the_recorded_numbers_are_those_of_the_installed_simbody(tmp_path: Path) -> None:
    program, source = tmp_path / "mobilizers", HERE / "mobilizers.cpp"
    libraries = ("-lSimTKsimbody", "-lSimTKmath", "-lSimTKcommon")
    command: list[str | Path] = [
        "g++",
        "-O0",
        "-std=c++17",
        "-w",
        f"-I{INCLUDE}",
        source,
        "-o",
        program,
        *libraries,
    ]
    subprocess.run(command, check=True, capture_output=True)
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    for found, expected in zip(printed.splitlines(), RECORDED, strict=True):
        assert found.split()[0] == expected.split()[0]
        one, other = ([float(n) for n in line.split()[1:]] for line in (found, expected))
        np.testing.assert_allclose(one, other, atol=1e-13)
