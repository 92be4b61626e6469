"""Coordinates and speeds for a wanted pose and velocity, for all mobilizers, both ways."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import Stage, State
from stagecache.errors import NotANumberError, OutOfRangeError, ShapeError, WrongTypeError
from stagecache.multibody import MobilizedBody, MultibodySystem, Pin, Slider, Transform
from stagecache.multibody.geometry.orientation import rotation_vectors
from tests.multibody.mobilizers.test_simbody import KINDS
from tests.profiles import examples


def made(kind: str, *, reverse: bool, angles: bool) -> tuple[MultibodySystem, MobilizedBody, State]:
    system = MultibodySystem()
    body = system.matter.add_body("body", system.matter.ground, KINDS[kind], reverse=reverse)
    state = system.new_state()
    system.matter.use_euler_angles.set(state, angles)
    system.realize(state, Stage.MODEL)
    return system, body, state


def moved(body: MobilizedBody, state: State, seed: int) -> Any:
    """Draw q and u, with angles below 1.2 rad, and return X_FM and V_FM."""
    rng = np.random.default_rng(seed)
    twin = body.mobilizer.with_euler_angles()
    q = rng.uniform(-1.2, 1.2, twin.nq).tolist()
    if not body.matter.use_euler_angles(state):
        q = body.mobilizer.quaternions_of(q)
    body.q.set(state, q)
    body.u.set(state, rng.uniform(-2.0, 2.0, body.mobilizer.nu))
    return body.pose(state), body.velocity(state).copy()


def distance(one: Transform, other: Transform) -> float:
    turned = rotation_vectors((one.rotation.T @ other.rotation)[None])[0]
    apart = one.translation - other.translation
    return float(np.sqrt(turned @ turned + apart @ apart))


@pytest.mark.parametrize("kind", KINDS)
@examples(6)
@given(seed=st.integers(0, 10_000), reverse=st.booleans(), angles=st.booleans())
def test_what_the_joint_can_is_fitted_exactly(
    kind: str, seed: int, reverse: bool, angles: bool
) -> None:
    _, body, state = made(kind, reverse=reverse, angles=angles)
    pose, velocity = moved(body, state, seed)
    _, body, state = made(kind, reverse=reverse, angles=angles)
    body.set_q_to_fit_transform(state, pose)
    assert distance(body.pose(state), pose) < 1e-7
    body.set_u_to_fit_velocity(state, velocity)
    np.testing.assert_allclose(body.velocity(state), velocity, atol=1e-6)
    body.set_u_to_fit_angular_velocity(state, velocity[:3])
    np.testing.assert_allclose(body.velocity(state)[:3], velocity[:3], atol=1e-6)
    body.set_u_to_fit_linear_velocity(state, velocity[3:])
    np.testing.assert_allclose(body.velocity(state)[3:], velocity[3:], atol=1e-6)
    body.set_q_to_fit_rotation(state, pose.rotation)
    np.testing.assert_allclose(body.pose(state).rotation, pose.rotation, atol=1e-7)
    body.set_q_to_fit_translation(state, pose.translation)
    np.testing.assert_allclose(body.pose(state).translation, pose.translation, atol=1e-7)


@pytest.mark.parametrize("kind", ["Pin", "Slider", "Universal", "Planar", "Screw"])
@examples(6)
@given(seed=st.integers(0, 10_000))
def test_what_it_cannot_is_fitted_no_worse_than_by_any_q_near_it(kind: str, seed: int) -> None:
    _, free, state = made("Free", reverse=False, angles=False)
    pose, velocity = moved(free, state, seed)
    _, body, state = made(kind, reverse=False, angles=True)
    body.set_q_to_fit_transform(state, pose)
    least, best = distance(body.pose(state), pose), body.q(state).copy()
    rng = np.random.default_rng(seed)
    for step in rng.normal(scale=0.1, size=(10, len(best))):
        body.q.set(state, best + step)
        assert distance(body.pose(state), pose) >= least - 1e-9
    body.q.set(state, best)
    body.set_u_to_fit_velocity(state, velocity)
    off, best = np.linalg.norm(body.velocity(state) - velocity), body.u(state).copy()
    for step in rng.normal(scale=0.1, size=(10, len(best))):
        body.u.set(state, best + step)
        assert np.linalg.norm(body.velocity(state) - velocity) >= off - 1e-12


def test_a_half_turn_is_found() -> None:
    _, body, state = made("Pin", reverse=False, angles=False)
    for angle in (np.pi, 3.1, -3.1, 2.0):
        c, s = np.cos(angle), np.sin(angle)
        wanted = [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]
        body.q.set(state, [0.0])
        body.set_q_to_fit_rotation(state, wanted)
        np.testing.assert_allclose(body.pose(state).rotation, wanted, atol=1e-9)


def test_what_does_not_count_stays() -> None:
    system = MultibodySystem()
    rail = system.matter.add_body("rail", system.matter.ground, Slider())
    arm = system.matter.add_body("arm", rail, Pin())
    state = system.new_state()
    rail.q.set(state, [0.7])
    rail.set_q_to_fit_rotation(state, np.eye(3))
    assert rail.q(state).tolist() == [0.7]
    before = rail.pose.version(state)
    arm.set_u_to_fit_velocity(state, [0.0, 0.0, 2.0, 0.0, 0.0, 0.0])
    assert arm.u(state).tolist() == pytest.approx([2.0])
    assert rail.pose.version(state) == before


@pytest.mark.parametrize(
    ("method", "value", "error"),
    [
        ("set_q_to_fit_transform", np.eye(4), WrongTypeError),
        ("set_q_to_fit_rotation", np.eye(2), ShapeError),
        ("set_q_to_fit_translation", ["x", 0.0, 0.0], NotANumberError),
        ("set_u_to_fit_velocity", [1.0, 2.0, 3.0], ShapeError),
        ("set_u_to_fit_angular_velocity", [1.0], ShapeError),
        ("set_u_to_fit_linear_velocity", [0.0, np.nan, 0.0], OutOfRangeError),
    ],
)
def test_wrong_values_change_nothing(method: str, value: Any, error: type[Exception]) -> None:
    _, body, state = made("Free", reverse=False, angles=False)
    versions = body.q.version(state), body.u.version(state)
    with pytest.raises(error):
        getattr(body, method)(state, value)
    assert (body.q.version(state), body.u.version(state)) == versions
