"""Quaternions: their N is the derivative of a rotation, and none but unit length is right."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from stagecache import (
    Stage,
    State,
    Subsystem,
    modeling_option,
    parameter,
    q_variable,
    u_variable,
)
from stagecache.errors import DeclarationError, KinematicsError, ShapeError, UnknownChoiceError
from stagecache.state.handles import Vector
from stagecache.system.constraints.jacobians import normalization_jacobian
from stagecache.system.constraints.quaternions import (
    Frame,
    quaternion_kinematics,
    quaternion_n,
    quaternion_normalization,
)
from stagecache.system.motion.operators import (
    kinematic_blocks,
    multiply_by_n,
    multiply_by_n_pinv,
    multiply_by_n_pinv_transpose,
    multiply_by_n_transpose,
)
from tests.system.models import state_of

FRAMES: tuple[Frame, ...] = ("parent", "body")
POSITION = Stage.POSITION


class Bodies(Subsystem):
    """As many bodies as a modeling option says."""

    num = modeling_option(1)
    is_normal = parameter(True)
    place = q_variable(0.5)
    orientation = q_variable(factory=lambda self, _: np.tile((1.0, 0, 0, 0), self.num(_)))
    spin = u_variable(factory=lambda self, _: np.zeros(3 * self.num(_)))
    speed = u_variable(0.25)
    turning = quaternion_kinematics(orientation, spin)
    length = quaternion_normalization(orientation, enabled=is_normal)


class BodiesWithTheirFrames(Bodies):
    """The same, the angular velocities in the frames of the bodies."""

    turning = quaternion_kinematics(Bodies.orientation, Bodies.spin, frame="body")


class Swarm(Subsystem):
    """A family of bodies."""

    def __init__(self, count: int) -> None:
        self.count = count

    orientation = q_variable((1.0, 0.0, 0.0, 0.0), count=lambda self: self.count)
    spin = u_variable((0.0, 0.0, 0.0), count=lambda self: self.count)
    turning = quaternion_kinematics(orientation, spin)
    length = quaternion_normalization(orientation)


CLASSES = {"parent": Bodies, "body": BodiesWithTheirFrames}


def bodies(quaternions: Vector, frame: Frame = "parent") -> tuple[Bodies, State]:
    """As many bodies, and a State in which these are their orientations."""
    made = CLASSES[frame]()
    state = state_of(made)
    made.num.set(state, len(quaternions))
    assert state.system is not None
    state.system.realize(state, Stage.MODEL)
    made.orientation.set(state, quaternions.ravel())
    state.system.realize(state, POSITION)
    return made, state


def rotation(q: Vector) -> Rotation:
    return Rotation.from_quat(np.roll(q, -1))  # SciPy has the scalar last


numbers = st.floats(-3, 3, allow_subnormal=False)
vectors = st.lists(numbers, min_size=3, max_size=3).map(np.array)
quaternions = (
    st.lists(numbers, min_size=4, max_size=4)
    .map(np.array)
    .filter(lambda q: float(np.linalg.norm(q)) > 0.1)
)
several = st.lists(quaternions, max_size=4).map(lambda found: np.reshape(found, (-1, 4)))
frames = st.sampled_from(FRAMES)


@given(quaternions, vectors, frames)
def test_n_is_the_derivative_of_a_rotation(q: Vector, spin: Vector, frame: Frame) -> None:
    """A body that turns by a small angle, once forth and once back: central differences."""
    step = 1e-5
    _, state = bodies(q[None], frame)
    qdot = multiply_by_n(state, [*spin, 0.0])[1:]

    def turned(time: float) -> Vector:
        turn = Rotation.from_rotvec(time * spin)
        found = turn * rotation(q) if frame == "parent" else rotation(q) * turn
        return np.asarray(found.as_matrix())

    by_turning = (turned(step) - turned(-step)) / (2 * step)
    by_qdot = (rotation(q + step * qdot).as_matrix() - rotation(q - step * qdot).as_matrix()) / (
        2 * step
    )
    assert_allclose(by_qdot, by_turning, atol=1e-7)


@given(several, frames)
def test_pinv_is_the_inverse_from_the_left_whatever_the_length(q: Vector, frame: Frame) -> None:
    made, state = bodies(q, frame)
    assert made.turning(state).shape == (len(q), 4, 3)
    identity = np.eye(3 * len(q) + 1)
    u = multiply_by_n_pinv(state, multiply_by_n(state, identity))
    assert_allclose(u, identity, atol=1e-12)
    for one, block in zip(q, kinematic_blocks(state), strict=True):
        assert_allclose(block.n_pinv, np.linalg.pinv(block.n), atol=1e-12)
        assert_allclose(one @ block.n, np.zeros(3), atol=1e-14)


@given(several, frames, st.integers(1, 3))
def test_forces_do_the_same_work_on_both_sides(q: Vector, frame: Frame, width: int) -> None:
    _, state = bodies(q, frame)
    random = np.random.default_rng(len(q))
    u, fu = random.normal(size=(2, state.nu, width))
    qdot, fq = random.normal(size=(2, state.nq, width))
    power = np.sum(fq * multiply_by_n(state, u))
    assert np.isclose(power, np.sum(multiply_by_n_transpose(state, fq) * u))
    power = np.sum(fu * multiply_by_n_pinv(state, qdot))
    assert np.isclose(power, np.sum(multiply_by_n_pinv_transpose(state, fu) * qdot))


@given(several)
def test_the_rows_of_normalization_are_lengths_and_their_derivatives(q: Vector) -> None:
    _, state = bodies(q)
    assert (state.nqerr, state.nuerr, state.nudoterr) == (len(q), 0, 0)
    lengths = np.linalg.norm(q, axis=1)
    assert_allclose(state.qerr, lengths - 1, atol=1e-15)
    expected = np.zeros((len(q), state.nq))
    for i, one in enumerate(q):
        expected[i, 1 + 4 * i : 5 + 4 * i] = one / lengths[i]
    found = normalization_jacobian(state)
    assert_allclose(found, expected, atol=1e-15)
    moved = multiply_by_n(state, np.ones(state.nu)) - multiply_by_n(
        state, [0] * (state.nu - 1) + [1]
    )
    assert_allclose(found @ moved, np.zeros(len(q)), atol=1e-13)


def test_normalization_can_be_switched_off() -> None:
    made, state = bodies(np.array([[2.0, 0, 0, 0]]))
    assert list(state.qerr) == [1.0]
    made.is_normal.set(state, False)
    assert state.system is not None
    state.system.realize(state, POSITION)
    assert state.nqerr == 0


@pytest.mark.parametrize("count", [0, 1, 3, 40])
def test_a_family_is_one_block_of_each(count: int) -> None:
    swarm = Swarm(count)
    state = state_of(swarm, stage=POSITION)
    random = np.random.default_rng(count)
    state.q = random.normal(size=4 * count)
    assert state.system is not None
    state.system.realize(state, POSITION)
    u = random.normal(size=3 * count)
    n = quaternion_n(state.q.reshape(-1, 4))
    assert_allclose(multiply_by_n(state, u), (n @ u.reshape(-1, 3, 1)).ravel())
    assert len(kinematic_blocks(state)) == count
    jacobian = normalization_jacobian(state)
    assert jacobian.shape == (count, 4 * count)
    assert_allclose(jacobian @ state.q, state.qerr + 1)


def test_a_zero_quaternion_has_an_n_but_no_pseudoinverse() -> None:
    _, state = bodies(np.array([[1.0, 0, 0, 0], [0, 0, 0, 0]]))
    assert not multiply_by_n(state, [1, 2, 3, 4, 5, 6, 0])[5:].any()
    with pytest.raises(KinematicsError, match=r"bodies\.turning: a quaternion is zero") as caught:
        multiply_by_n_pinv(state, state.q)
    assert "index 1" in caught.value.got
    with pytest.raises(KinematicsError, match=r"bodies\.orientation: a quaternion is zero"):
        normalization_jacobian(state)
    assert state.stage == POSITION


def test_numbers_that_are_no_quaternions_are_refused() -> None:
    class Lame(Subsystem):
        orientation = q_variable((1.0, 0, 0, 0, 1))
        spin = u_variable((0.0, 0, 0))
        turning = quaternion_kinematics(orientation, spin)

    class Slow(Subsystem):
        orientation = q_variable((1.0, 0, 0, 0))
        spin = u_variable((0.0, 0))
        turning = quaternion_kinematics(orientation, spin)

    with pytest.raises(ShapeError, match=r"lame\.orientation: is not made of quaternions"):
        multiply_by_n(state_of(Lame(), stage=POSITION), [0, 0, 0])
    with pytest.raises(ShapeError, match=r"slow\.turning: its computation returned a matrix"):
        multiply_by_n(state_of(Slow(), stage=POSITION), [0, 0])


def test_what_is_no_frame_or_no_variable_is_refused() -> None:
    orientation, spin = q_variable((1.0, 0, 0, 0)), u_variable((0.0, 0, 0))
    with pytest.raises(UnknownChoiceError, match="frame"):
        quaternion_kinematics(orientation, spin, frame="world")  # type: ignore[arg-type]  # is refused
    with pytest.raises(DeclarationError):
        quaternion_kinematics(orientation, 3)  # type: ignore[arg-type]  # is refused
    with pytest.raises(DeclarationError, match="kinematics: not for these") as caught:
        quaternion_kinematics(spin, orientation)
    assert caught.value.hint == "write quaternion_kinematics(orientation, spin)"
    with pytest.raises(DeclarationError, match="normalization: not for these"):
        quaternion_normalization(spin)
