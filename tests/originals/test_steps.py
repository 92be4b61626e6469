"""Drake's tests of integrators: a spring, polynomials, and a ball that flies and turns."""

from math import cos, inf, pi, sin, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from stagecache import Integrator, State, Subsystem, q_variable, u_variable, z_variable
from stagecache.multibody import Free, MultibodySystem
from tests.originals.chains import close
from tests.study.integrating import END, REPORT, SCHEDULED, START, integrating, run_to
from tests.study.models import state_of

STIFFNESS, MASS = 300.0, 2.0
RATE = sqrt(STIFFNESS / MASS)
CONTROLLED = ("RK23", "RK45", "Verlet")


class Spring(Subsystem):
    place = q_variable(0.1)
    speed = u_variable(0.01)

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[0] = self.speed(state)

    def realize_acceleration(self, state: State) -> None:
        state[self].upd_udot()[0] = -STIFFNESS / MASS * self.place(state)

    @staticmethod
    def solution(time: float) -> float:
        return 0.1 * cos(RATE * time) + 0.01 / RATE * sin(RATE * time)


class Rising(Subsystem):
    """z is a polynomial of the time, by its coefficients."""

    height = z_variable(0.0)

    def __init__(self, *coefficients: float) -> None:
        self.polynomial = np.polynomial.Polynomial(coefficients)

    def realize_dynamics(self, state: State) -> None:
        state[self].upd_zdot()[0] = self.polynomial.deriv()(state.time)


# ---------------------------------------------------------------------- polynomials


@pytest.mark.parametrize(("method", "degree"), [("RK23", 3), ("RK45", 5), ("DOP853", 8)])
def test_a_polynomial_up_to_its_order_is_exact_in_one_step(method: str, degree: int) -> None:
    for more in (0, 1):
        model = Rising(0.0, 12.0, *np.ones(degree - 1 + more))
        integrator = integrating(model, method, fixed_step=1.0)
        state = run_to(integrator, 1.0)
        assert integrator.statistics.num_steps_taken == 1
        error = abs(float(model.height(state)) - float(model.polynomial(1.0)))
        assert (error < 1e-13) == (more == 0)


def test_an_estimated_error_is_0_for_a_quadratic_and_of_order_3_for_a_cubic() -> None:
    """Steps are as long as allowed for one; for the other half as long for an eighth of error."""
    steps = []
    for model, accuracy in [
        (Rising(0.0, 4.0, 4.0), 1e-9),
        (Rising(1.0, 12.0, 1.0, 1.0), 1e-6),
        (Rising(1.0, 12.0, 1.0, 1.0), 1e-6 / 8),
    ]:
        integrator = integrating(model, "RK23", accuracy=accuracy, initial_step=1.0)
        run_to(integrator, 1.0)
        steps.append(integrator.statistics.num_steps_taken)
    assert steps[0] == 1
    assert steps[2] == pytest.approx(2 * steps[1], rel=0.1)


# ---------------------------------------------------------------------- a spring


@pytest.mark.parametrize("method", CONTROLLED)
def test_controlled_steps_along_a_spring_are_fewer_than_fixed_ones(method: str) -> None:
    fixed = integrating(Spring(), method, fixed_step=1e-3)
    free = integrating(Spring(), method, accuracy=1e-3, min_step=1e-6, max_step=0.1)
    for integrator, tolerance in ((fixed, 1e-5), (free, 5e-3)):
        assert run_to(integrator, 1.0).q[0] == pytest.approx(Spring.solution(1.0), abs=tolerance)
        assert integrator.previous_step is not None
        assert 0.0 < integrator.previous_step <= 0.1
        assert integrator.statistics.num_realizations > integrator.statistics.num_steps_taken > 0
    assert (fixed.method_has_error_control, free.method_has_error_control) == (False, True)
    assert 1 <= free.method_min_order <= free.method_max_order
    assert fixed.statistics.num_steps_taken == 1000
    assert free.statistics.num_steps_taken < 1000


@pytest.mark.parametrize("method", ["Euler", "ExplicitEuler"])
def test_short_steps_of_first_order_follow_a_spring(method: str) -> None:
    integrator = integrating(Spring(), method, fixed_step=4e-4, final_time=1.0)
    state = run_to(integrator, 1.0)
    assert state.q[0] == pytest.approx(Spring.solution(1.0), abs=5e-3)
    assert integrator.statistics.num_steps_taken == 2500


@pytest.mark.parametrize("method", CONTROLLED)
def test_a_step_to_the_present_time_changes_nothing(method: str) -> None:
    integrator = integrating(Spring(), method, max_step=1e-2, allow_interpolation=False)
    y = run_to(integrator, 1.0).y.copy()
    for times in ((1.0,), (1.0, inf), (1.0, 1.0)):
        integrator.step_to(*times)
        assert integrator.time == 1.0
        assert integrator.state.y.tolist() == y.tolist()


@pytest.mark.parametrize("method", [*CONTROLLED, "ExplicitEuler"])
@pytest.mark.parametrize(("begin", "interval"), [(0.0, 1e-40), (1e10, 1e-6), (-1.0, 0.5)])
def test_a_step_may_be_tiny_or_far_from_0_or_before_it(
    method: str, begin: float, interval: float
) -> None:
    _, state = state_of(Spring())
    state.time = begin
    integrator = integrating(Spring(), method, state, min_step=1e-40, max_step=0.1, accuracy=1e-5)
    place = run_to(integrator, begin + interval).q[0]
    assert place == pytest.approx(Spring.solution(interval), abs=1e-3)


def test_whatever_comes_first_ends_a_step() -> None:
    """A report, a scheduled event, the longest step, an event just beyond it, and the end."""
    integrator = integrating(
        Spring(), "ExplicitEuler", allow_interpolation=False, fixed_step=0.01, final_time=0.05
    )
    statistics = integrator.statistics
    found = []
    for report, event in [(0.005, 0.007), (0.0013, 0.0011), (0.17, 0.01001), (9.0, 9.0)]:
        now, steps = integrator.time, statistics.num_steps_taken
        status = integrator.step_to(now + report, now + event)
        while status is START:
            status = integrator.step_to(now + report, now + event)
        found.append((status, integrator.time - now, statistics.num_steps_taken - steps))
    statuses, times, counts = zip(*found, strict=True)
    assert statuses == (REPORT, SCHEDULED, SCHEDULED, END)
    assert times == pytest.approx((0.005, 0.0011, 0.01001, 0.05 - 0.01611))
    assert counts == (1, 1, 2, 4)


# ---------------------------------------------------------------------- a ball


class Ball:
    """A free sphere that flies and turns, without any force."""

    SPIN, SPEED = np.array([-4.0, 5.0, -6.0]), np.array([1.0, 2.0, 3.0])

    def __init__(self) -> None:
        self.system = MultibodySystem()
        mass = {"mass": 0.1, "inertia": np.eye(3) * 1e-4}
        matter = self.system.matter
        self.body = matter.add_body("ball", matter.ground, Free(), mass_properties=mass)
        self.state = self.system.new_state()
        self.body.q.set(self.state, [sqrt(0.5), 0.0, sqrt(0.5), 0.0, 1.0, 2.0, 3.0])
        self.body.u.set(self.state, [*self.SPIN, *self.SPEED])

    def check(self, state: State, tolerance: float) -> None:
        pose = self.body.pose(state)
        turn = Rotation.from_rotvec(self.SPIN * state.time) * Rotation.from_rotvec([0, pi / 2, 0])
        close(pose.rotation, turn.as_matrix(), tolerance)
        close(pose.translation, np.array([1.0, 2.0, 3.0]) + state.time * self.SPEED, 1e-9)


@pytest.mark.parametrize("method", ["RK23", "RK45"])
def test_a_ball_that_turns_is_right_between_steps_too(method: str) -> None:
    ball = Ball()
    integrator = Integrator(ball.system, method, accuracy=1e-6, max_step=0.1)
    integrator.initialize(ball.state)
    for i in range(1, 101):
        ball.check(run_to(integrator, i / 100), 1e-4)


@pytest.mark.parametrize("method", ["Euler", "ExplicitEuler"])
def test_a_ball_that_turns_is_right_by_short_steps_of_first_order(method: str) -> None:
    ball = Ball()
    integrator = Integrator(ball.system, method, fixed_step=1e-3, final_time=0.2)
    integrator.initialize(ball.state)
    ball.check(run_to(integrator, 0.2), 2e-2)


STEPS = pytest.mark.parametrize(
    "options", [{"fixed_step": 0.1}, {"max_step": 0.1, "accuracy": 1e-5}]
)
STEPPED = pytest.mark.parametrize("method", ["RK23", "RK45", "Verlet", "Euler"])


@STEPS
@STEPPED
def test_time_goes_on_without_any_body(method: str, options: dict[str, Any]) -> None:
    system = MultibodySystem()
    integrator = Integrator(system, method, **options)
    integrator.initialize(system.new_state())
    assert run_to(integrator, 0.5).y.size == 0


@STEPS
@STEPPED
def test_a_locked_ball_stays_where_it_is(method: str, options: dict[str, Any]) -> None:
    ball = Ball()
    ball.body.lock(ball.state)
    q = ball.state.q.copy()
    integrator = Integrator(ball.system, method, **options)
    integrator.initialize(ball.state)
    assert run_to(integrator, 0.5).q.tolist() == q.tolist()
