"""Contacts beside Simbody's: errors, accelerations, multipliers, forces and power of a small model.

`contacts.txt` is what `contacts.cpp` prints with Simbody 3.7; where that can be compiled, it is run
again. The axes x and y of two spheres are chosen in the ground by Simbody, and in body 1 here; and
where they slip, Simbody keeps these axes from spinning about the normal, so that its errors of
accelerations are not the derivatives of its errors of velocities, which its documentation says.
"""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from stagecache import Stage, State
from stagecache.multibody import (
    Bushing,
    Gimbal,
    Gravity,
    LineOnLineContact,
    MassProperties,
    MobilizedBody,
    MultibodySystem,
    Pin,
    SphereOnPlaneContact,
    SphereOnSphereContact,
    Transform,
)
from stagecache.multibody.constraints.contact import AbstractContact
from stagecache.system.constraints.jacobians import acceleration_bias, acceleration_jacobian
from tests.multibody.constraints.test_simbody import Array, numbers_of
from tests.multibody.mobilizers.test_simbody import rotation
from tests.oracle.simbody import INCLUDE, reason_not_available

HERE: Final = Path(__file__).parent
RECORDED: Final = (HERE / "contacts.txt").read_text(encoding="ascii").splitlines()

P: Final = Transform(rotation(1, 0.4) @ rotation(0, -0.7), [0.2, -0.1, 0.4])
Q: Final = Transform(rotation(2, -0.9) @ rotation(1, 0.5), [-0.3, 0.2, 0.1])
ONE: Final = (0.1, 0.2, -0.3)
TWO: Final = (-0.2, 0.3, 0.4)

Make = Callable[[MobilizedBody, MobilizedBody, MobilizedBody, bool], AbstractContact]


def on_plane(first: MobilizedBody, second: MobilizedBody, rolls: bool) -> AbstractContact:
    return SphereOnPlaneContact(first, P, second, ONE, 0.35, enforce_rolling=rolls)


def on_sphere(first: MobilizedBody, second: MobilizedBody, rolls: bool) -> AbstractContact:
    return SphereOnSphereContact(first, ONE, 0.35, second, TWO, 0.8, enforce_rolling=rolls)


def on_line(first: MobilizedBody, second: MobilizedBody, rolls: bool) -> AbstractContact:
    return LineOnLineContact(first, P, 1.0, second, Q, 2.0, enforce_rolling=rolls)


def of_line(first: MobilizedBody, second: MobilizedBody, rolls: bool) -> AbstractContact:
    return LineOnLineContact(first, Q, 2.0, second, P, 1.0, enforce_rolling=rolls)


KINDS: Final[dict[str, Make]] = {
    "SphereOnPlaneGround": lambda ground, _, c, rolls: on_plane(ground, c, rolls),
    "SphereOnPlaneMoving": lambda _, b, c, rolls: on_plane(b, c, rolls),
    "SphereOnSphereGround": lambda ground, _, c, rolls: on_sphere(ground, c, rolls),
    "SphereOnSphereMoving": lambda _, b, c, rolls: on_sphere(b, c, rolls),
    "LineOnLineGround": lambda ground, _, c, rolls: on_line(ground, c, rolls),
    "LineOnLineMoving": lambda _, b, c, rolls: on_line(b, c, rolls),
    "LineOnLineTurned": lambda _, b, c, rolls: of_line(c, b, rolls),
}


def model(name: str, q: Array, u: Array) -> tuple[MultibodySystem, State, Any]:
    """Return the model of `contacts.cpp`, with the contact of a name."""
    system = MultibodySystem()
    matter, ground = system.matter, system.matter.ground
    frames: Any = {
        "inboard_frame": Transform(rotation(2, 0.3), [0.1, 0.2, 0.3]),
        "outboard_frame": Transform(rotation(0, 0.2), [-0.1, 0.4, 0.2]),
        "mass_properties": MassProperties(1.5, inertia=1.5 * np.diag([1, 1.2, 1.4])),
    }
    a = matter.add_body("a", ground, Gimbal(), **frames)
    b = matter.add_body("b", a, Pin(), **frames)
    c = matter.add_body("c", ground, Bushing(), **frames)
    system.add(Gravity(matter, (0.5, -9.81, 1.0)), "gravity")
    kind = name.removesuffix("Held").removesuffix("Rolling")
    contact = system.add(KINDS[kind](ground, b, c, "Rolling" in name), "contact")
    state = system.new_state()
    state.q, state.u = q, u
    system.realize(state, Stage.ACCELERATION)
    return system, state, contact


def same(found: Any, wanted: Array, atol: float = 2e-11) -> None:
    np.testing.assert_allclose(np.ravel(found), wanted, rtol=1e-11, atol=atol)


@pytest.mark.parametrize("line", RECORDED, ids=lambda line: line.split()[0])
def test_a_contact_holds_as_simbodys_does(line: str) -> None:
    name, (q, u, *recorded) = numbers_of(line)
    qerr, uerr, udoterr, udot, multipliers, g, force, place, power = recorded
    _, state, contact = model(name, q, u)
    jacobian = acceleration_jacobian(state)
    errors = jacobian @ (1 - 0.4 * np.arange(state.nu)) + acceleration_bias(state)
    frame = contact.contact_frame(state)
    same(state.qerr, qerr)
    same(frame.translation, place if len(place) == 3 else place.reshape(3, 4)[:, 3])
    is_sphere, is_held = name.startswith("SphereOnSphere"), name.endswith("Held")
    turn = np.eye(len(uerr))  # from its axes to those here
    if is_sphere:
        theirs = place.reshape(3, 4)[:, :3]
        same(frame.rotation[:, 2], theirs[:, 2])
        between = frame.rotation.T @ theirs
        turn[1:, 1:] = between[: len(uerr) - 1, : len(uerr) - 1]
    elif len(place) > 3:
        same(frame.matrix[:3], place)
    same(state.uerr, turn @ uerr)
    same(jacobian, (turn @ g.reshape(len(uerr), -1)).ravel())
    if is_sphere and len(uerr) > 1 and not is_held:  # its axes spin otherwise where they slip
        same(errors[:1], udoterr[:1])
        spin = errors[1:] - (turn @ udoterr)[1:]
        assert np.linalg.norm(spin) > 0.1
        assert spin @ state.uerr[1:] == pytest.approx(0.0, abs=1e-10)
        return
    same(errors, turn @ udoterr)
    same(state.udot, udot)
    same(state.multipliers, turn @ multipliers)
    same(contact.calc_force(state), force)
    same(contact.power(state), power, 1e-10)
    np.testing.assert_allclose(state.udoterr, 0, atol=1e-10)
    if is_held:
        np.testing.assert_allclose(np.concatenate([qerr, uerr]), 0.0, atol=1e-9)


@pytest.mark.simbody
@pytest.mark.skipif(reason_not_available() is not None, reason=str(reason_not_available()))
def test_the_recorded_contacts_are_those_of_the_installed_simbody(tmp_path: Path) -> None:
    program, source = tmp_path / "contacts", HERE / "contacts.cpp"
    libraries = ("-lSimTKsimbody", "-lSimTKmath", "-lSimTKcommon")
    flags = ("-O0", "-std=c++17", "-w", f"-I{INCLUDE}")
    command: list[str | Path] = ["g++", *flags, source, "-o", program, *libraries]
    subprocess.run(command, check=True, capture_output=True)
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    for one, other in zip(printed.splitlines(), RECORDED, strict=True):
        (found, values), (expected, recorded) = numbers_of(one), numbers_of(other)
        assert found == expected
        np.testing.assert_allclose(
            np.concatenate(values), np.concatenate(recorded), rtol=1e-9, atol=1e-9
        )
