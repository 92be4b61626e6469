"""Locks of single coordinates of a joint."""

from typing import Any

import numpy as np
import pytest

from stagecache import Assembler, QValue, Stage, State, simulate
from stagecache.errors import MotionError, NotANumberError, OutOfRangeError
from stagecache.multibody import (
    Ball,
    Gimbal,
    Gravity,
    MobilizedBody,
    MultibodySystem,
    Pin,
    Planar,
    Steady,
    Transform,
    Translation,
    Weld,
)
from stagecache.system.motion.prescribing import free_q_index, free_u_index

MASS: dict[str, Any] = {"mass": 2.0, "center": [0.1, 0.2, 0.3], "inertia": [1.0, 1.1, 1.2]}


def plate() -> tuple[MultibodySystem, MobilizedBody, State]:
    """A body that moves in a plane, and an arm on it, under gravity."""
    system = MultibodySystem()
    body = system.matter.add_body("plate", system.matter.ground, Planar(), mass_properties=MASS)
    system.matter.add_body("arm", body, Pin(), mass_properties=MASS)
    system.add(Gravity(system.matter), "gravity")
    state = system.new_state()
    state.q = [0.3, 1.0, 2.0, -0.4]
    state.u = [0.5, 0.6, 0.7, 0.8]
    return system, body, state


def prescribed(system: MultibodySystem, state: State) -> State:
    system.realize(state, Stage.TIME)
    system.prescribe(state)
    system.realize(state, Stage.ACCELERATION)
    return state


def test_one_coordinate_is_held_and_the_others_move_as_without_it() -> None:
    """A Planar whose y is held is a Cartesian slide and a pin: M without that row and column."""
    system, body, state = plate()
    system.realize(state, Stage.ACCELERATION)
    body.lock(state, 2.5, coordinate=2)
    assert body.is_locked(state)
    assert [body.is_locked(state, coordinate=i) for i in range(3)] == [False, False, True]
    system.realize(state, Stage.INSTANCE)
    assert free_q_index(state).tolist() == free_u_index(state).tolist() == [0, 1, 3]
    prescribed(system, state)
    np.testing.assert_array_equal(body.q(state), [0.3, 1.0, 2.5])
    np.testing.assert_array_equal(body.u(state), [0.5, 0.6, 0.0])
    assert state.udot[2] == 0.0
    matter = system.matter
    free = [0, 1, 3]
    forces = matter.bias_force(state) + matter.applied_force(state)
    m = matter.m_matrix(state)[np.ix_(free, free)]
    np.testing.assert_allclose(state.udot[free], np.linalg.solve(m, forces[free]), atol=1e-12)


def test_coordinates_are_locked_and_unlocked_one_after_another() -> None:
    system, body, state = plate()
    body.lock(state, 1.0, coordinate=2)
    body.lock(state, coordinate=0)  # where it is
    body.lock(state, 0.9, coordinate=2)
    prescribed(system, state)
    np.testing.assert_array_equal(body.q(state), [0.3, 1.0, 0.9])
    np.testing.assert_array_equal(body.u(state), [0.0, 0.6, 0.0])
    twin = state.copy()
    body.unlock(state, coordinate=2)
    body.unlock(state, coordinate=1)  # which is free
    assert [body.is_locked(state, coordinate=i) for i in range(3)] == [True, False, False]
    assert [body.is_locked(twin, coordinate=i) for i in range(3)] == [True, False, True]
    body.unlock(state, coordinate=0)
    assert not body.is_locked(state)
    body.lock(state)
    assert body.is_locked(state, coordinate=1)
    body.unlock(state)
    assert not body.is_locked(state, coordinate=1)


def test_a_lock_of_all_coordinates_is_a_weld_and_one_of_speeds_lets_q_go_on() -> None:
    system, body, state = plate()
    for i in range(3):
        body.lock(state, coordinate=i)
    prescribed(system, state)
    np.testing.assert_array_equal(state.udot[:3], 0.0)
    other = state.copy()
    body.unlock(other)
    body.lock(other)
    prescribed(system, other)
    np.testing.assert_allclose(state.udot, other.udot, atol=1e-12)
    body.unlock(state)
    body.lock(state, 2.0, level=Stage.VELOCITY, coordinate=1)
    after = simulate(system, state, 0.5, accuracy=1e-6)[-1]
    assert body.q(after)[1] == pytest.approx(body.q(state)[1] + 1.0)


def test_a_simulation_keeps_what_is_held() -> None:
    system, body, state = plate()
    body.lock(state, coordinate=2)
    for there in simulate(system, state, 0.3, accuracy=1e-6, every=0.1).states(Stage.VELOCITY):
        assert body.q(there)[2] == 2.0
        assert body.u(there)[2] == 0.0
    assert there.q[0] != state.q[0]


def test_it_moves_as_a_tree_without_that_coordinate() -> None:
    """A Translation whose z is held, and a Planar that does not turn, move alike."""
    udot = []
    for joint, held in ((Translation(), 2), (Planar(), 0)):
        system = MultibodySystem()
        body = system.matter.add_body("body", system.matter.ground, joint, mass_properties=MASS)
        turned = Transform(None, [0.2, 0.1, 0.0])
        system.matter.add_body("arm", body, Pin(), inboard_frame=turned, mass_properties=MASS)
        system.add(Gravity(system.matter), "gravity")
        state = system.new_state()
        body.lock(state, 0.0, coordinate=held)
        system.matter.bodies[2].u.set(state, [3.0])
        prescribed(system, state)
        udot.append(np.delete(state.udot, held))
    np.testing.assert_allclose(udot[0], udot[1], atol=1e-12)


def test_an_assembler_does_not_move_it() -> None:
    system, body, state = plate()
    body.lock(state, coordinate=1)
    assembler = Assembler(system)
    for i in range(3):
        assembler.add_goal(QValue(body, i, 5.0 + i))
    assembler.assemble(state)
    np.testing.assert_allclose(body.q(state), [5.0, 1.0, 7.0], atol=1e-3)


def refused() -> list[tuple[Any, type[Exception], str]]:
    system = MultibodySystem()
    ground = system.matter.ground
    gimbal = system.matter.add_body("gimbal", ground, Gimbal())
    ball = system.matter.add_body("ball", ground, Ball())
    weld = system.matter.add_body("weld", ground, Weld())
    driven = system.matter.add_body("driven", ground, Pin(), motion=Steady(1.0))
    state = system.new_state()
    whole, fast = state.copy(), state.copy()
    gimbal.lock(whole)
    gimbal.lock(fast, level=Stage.VELOCITY, coordinate=0)
    return [
        (lambda: gimbal.lock(state, coordinate=3), OutOfRangeError, "does not exist"),
        (lambda: gimbal.lock(state, coordinate=-1), OutOfRangeError, "from 0 to 2"),
        (lambda: weld.lock(state, coordinate=0), OutOfRangeError, "a joint with u"),
        (lambda: gimbal.unlock(state, coordinate=3), OutOfRangeError, "does not exist"),
        (lambda: gimbal.is_locked(whole, coordinate=3), OutOfRangeError, "does not exist"),
        (lambda: gimbal.lock(state, "x", coordinate=1), NotANumberError, "coordinate 1"),
        (lambda: ball.lock(state, coordinate=1), MotionError, "whose qdot is not its u"),
        (lambda: driven.lock(state, coordinate=0), MotionError, "has a motion"),
        (lambda: gimbal.lock(whole, coordinate=0), MotionError, "as a whole"),
        (lambda: gimbal.unlock(whole, coordinate=0), MotionError, "as a whole"),
        (lambda: gimbal.lock(fast, coordinate=1), MotionError, "locked at Velocity"),
    ]


@pytest.mark.parametrize("case", range(len(refused())))
def test_what_cannot_be_locked_alone_is_refused(case: int) -> None:
    call, error, text = refused()[case]
    with pytest.raises(error, match=text):
        call()
