"""Motions that prescribe the u of a joint, and leave its q free."""

from typing import Any

import numpy as np
import pytest

from stagecache import Stage, State, simulate
from stagecache.errors import MotionError, ShapeError
from stagecache.multibody import (
    AbstractSpeedMotion,
    Ball,
    Gravity,
    MobilizedBody,
    MultibodySystem,
    Pin,
    Sinusoid,
    SinusoidalSpeed,
    SteadySpeed,
    Transform,
)

BAR: Any = {"mass": 2.0, "center": [0.0, -0.5, 0.0], "inertia": np.diag([1.0, 0.2, 1.0])}


def machine(motion: Any, joint: Any = None) -> tuple[MultibodySystem, MobilizedBody, State]:
    """A driven crank, and a pendulum that hangs from it."""
    system = MultibodySystem()
    crank = system.matter.add_body(
        "crank", system.matter.ground, joint or Pin(), mass_properties=BAR, motion=motion
    )
    system.matter.add_body(
        "bob",
        crank,
        Pin(),
        inboard_frame=Transform(None, [0.3, 0.0, 0.0]),
        mass_properties=BAR,
    )
    system.add(Gravity(system.matter))
    return system, crank, system.new_state()


def test_u_follows_the_motion_and_q_its_integral() -> None:
    system, crank, state = machine(SinusoidalSpeed(2.0, 3.0, 0.4, 0.5))
    crank.q.set(state, [0.7])
    trajectory = simulate(system, state, 2.0, accuracy=1e-8)
    t = trajectory.times
    np.testing.assert_allclose(
        trajectory[crank.u][:, 0], 0.5 + 2.0 * np.sin(3.0 * t + 0.4), atol=1e-12
    )
    q = 0.7 + 0.5 * t - 2.0 / 3.0 * (np.cos(3.0 * t + 0.4) - np.cos(0.4))
    np.testing.assert_allclose(trajectory[crank.q][:, 0], q, atol=1e-6)


def test_the_others_move_as_under_the_motion_of_the_same_q() -> None:
    """Both prescribe the same udot, so what hangs from the crank swings alike."""
    found = []
    for motion in (SinusoidalSpeed(2.0, 3.0, np.pi / 2), Sinusoid(2.0 / 3.0, 3.0)):
        system, _, state = machine(motion)
        system.realize(state, Stage.TIME)
        system.prescribe(state)
        found.append(simulate(system, state, 1.5, accuracy=1e-9)[-1].y)
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)


def test_a_steady_speed_of_a_ball_turns_about_a_fixed_axis() -> None:
    system, ball, state = machine(SteadySpeed([1.0, 2.0, -1.0]), Ball())
    last = simulate(system, state, 1.0, accuracy=1e-9)[-1]
    axis = np.array([1.0, 2.0, -1.0])
    np.testing.assert_allclose(ball.pose(last).rotation @ axis, axis, atol=1e-6)
    np.testing.assert_allclose(ball.u(last), axis, atol=1e-12)


def test_q_stays_free_and_locks_and_switches_count_as_ever() -> None:
    system, crank, state = machine(SteadySpeed(2.0))
    system.realize(state, Stage.TIME)
    assert system.free_q_index(state).tolist() == [0, 1]
    assert system.free_u_index(state).tolist() == [1]
    crank.q.set(state, [0.3])
    system.realize(state, Stage.TIME)
    system.prescribe(state)
    assert (crank.q(state)[0], crank.u(state)[0]) == (0.3, 2.0)
    crank.lock(state)
    system.realize(state, Stage.TIME)
    system.prescribe(state)
    assert (crank.q(state)[0], crank.u(state)[0]) == (0.3, 0.0)
    crank.unlock(state)
    crank.follows_motion.set(state, False)
    system.realize(state, Stage.TIME)
    assert system.free_u_index(state).tolist() == [0, 1]


class Ramp(AbstractSpeedMotion):
    def u(self, time: float) -> Any:
        return [time]

    def udot(self, time: float) -> Any:  # it is constant
        return [1.0]


def test_one_of_your_own() -> None:
    system, crank, state = machine(Ramp())
    last = simulate(system, state, 2.0)[-1]
    assert crank.u(last)[0] == pytest.approx(2.0)
    assert crank.q(last)[0] == pytest.approx(2.0, abs=1e-3)
    assert repr(Ramp()) == "Ramp()"


class Wrong(Ramp):
    def udot(self, time: float) -> Any:  # it is wrong
        return [1.0, 2.0]


@pytest.mark.parametrize(("motion", "error"), [(Wrong(), ShapeError), (3, MotionError)])
def test_wrong_motions(motion: Any, error: type[Exception]) -> None:
    system = MultibodySystem()
    with pytest.raises(error):
        system.matter.add_body("a", system.matter.ground, Pin(), motion=motion)
    assert len(system.matter.bodies) == 1
