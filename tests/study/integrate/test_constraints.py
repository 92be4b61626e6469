"""Constraints: what is integrated stays on them, or the error says why it cannot."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from stagecache import (
    Stage,
    State,
    Subsystem,
    event_trigger,
    position_error,
    q_variable,
    u_variable,
    velocity_error,
)
from stagecache.errors import MethodError, ProjectionError
from stagecache.state.handles import Vector
from stagecache.study.integrate.constraint_keeper import ConstraintKeeper
from stagecache.study.integrate.integrator import Integrator
from stagecache.study.integrate.options import IntegratorOptions
from stagecache.study.integrate.statistics import IntegratorStatistics
from tests.profiles import examples
from tests.study.integrating import (
    CONSTRAINED,
    METHODS,
    POWERS,
    STEP,
    TRIGGER,
    integrating,
    run,
    run_to,
)
from tests.study.models import Rod, state_of

METHOD = pytest.mark.parametrize("method", CONSTRAINED)


def drift(state: State) -> float:
    """The largest of the two weighted errors of a rod, by the tolerance's measure."""
    state.system.realize(state, Stage.VELOCITY)
    return max(abs(float(state.qerr[0])), abs(float(state.uerr[0])) * 0.1)


@METHOD
def test_a_pendulum_on_a_rod_stays_within_the_tolerance(method: str) -> None:
    accuracy = 1e-2 if method in ("Euler", "Verlet") else 1e-3
    integrator = integrating(Rod(), method, accuracy=accuracy, return_every_step=True)
    steps = 0
    for status in run(integrator, 3.0):
        assert drift(integrator.state) <= integrator.constraint_tolerance_in_use
        steps += status is STEP
    assert steps > 5
    counts = integrator.statistics
    assert counts.num_projections > 0


def test_the_rod_holds_for_100_seconds_with_projection() -> None:
    model = Rod()
    integrator = integrating(model, "RK45", accuracy=1e-4)
    start = model.energy(integrator.state)
    energies = []
    for i in range(1, 101):
        state = run_to(integrator, float(i))
        assert drift(state) <= 1e-5
        energies.append(model.energy(state))
    assert max(abs(energy - start) for energy in energies) < 0.1 * 9.8
    assert integrator.statistics.num_q_projections > 0


def test_without_projection_it_drifts_beyond_the_tolerance() -> None:
    """So the projections of the other tests do something."""
    integrator = integrating(Rod(), "RK23", accuracy=1e-3, constraint_tolerance=10.0)
    state = run_to(integrator, 20.0)
    assert drift(state) > 1e-3
    assert integrator.statistics.num_projections == 0


@METHOD
def test_the_motion_is_that_of_an_angle(method: str) -> None:
    """Against the pendulum in its angle, from the horizontal."""
    accuracy = {"RK45": 1e-6, "DOP853": 1e-6}.get(method, 1e-4)
    integrator = integrating(Rod(), method, accuracy=accuracy)
    state = run_to(integrator, 1.0)

    class Angle(Subsystem):
        angle = q_variable(0.0)
        rate = u_variable(0.0)

        def realize_velocity(self, state: State) -> None:
            state[self].upd_qdot()[0] = self.rate(state)

        def realize_acceleration(self, state: State) -> None:
            state[self].upd_udot()[0] = -9.8 * math.cos(self.angle(state))

    angle = run_to(integrating(Angle(), accuracy=1e-10), 1.0).q[0]
    atol = {"Euler": 0.1, "RK45": 1e-5, "DOP853": 1e-5}.get(method, 1e-2)
    np.testing.assert_allclose(state.q, [math.cos(angle), math.sin(angle)], atol=atol)


@METHOD
@pytest.mark.parametrize("infinity", [False, True])
def test_each_step_is_projected_if_that_is_wanted(method: str, infinity: bool) -> None:
    integrator = integrating(
        Rod(),
        method,
        accuracy=1e-2,
        constraint_tolerance=1e-2,
        project_every_step=True,
        use_infinity_norm=infinity,
    )
    run_to(integrator, 0.5)
    counts = integrator.statistics
    assert integrator.system.statistics.num_project_q_calls >= counts.num_steps_taken > 0
    assert counts.num_u_projections >= counts.num_steps_taken - 1
    assert drift(integrator.advanced_state) < 1e-5


# ---------------------------------------------------------------------- accuracy


def swinging(length: float, angle: float) -> tuple[Rod, State]:
    """A rod of that length, held at an angle from the horizontal."""
    model = Rod()
    _, state = state_of(model)
    model.length.set(state, length)
    model.place.set(state, [length * math.cos(angle), length * math.sin(angle)])
    return model, state


def swung(length: float, angle: float, time: float) -> Vector:
    """Its y at a time, from the pendulum in its angle."""
    found = solve_ivp(
        lambda _, y: [y[1], -9.8 / length * math.cos(y[0])],
        (0.0, time),
        [angle, 0.0],
        method="DOP853",
        rtol=1e-13,
        atol=1e-13,
    )
    angle, rate = found.y[:, -1].tolist()
    cos, sin = math.cos(angle), math.sin(angle)
    return length * np.array([cos, sin, -sin * rate, cos * rate])


@METHOD
@examples(8)
@given(
    length=st.floats(0.5, 5.0),
    angle=st.floats(-1.4, 1.0),
    accuracy=st.sampled_from([1e-3, 1e-4, 1e-5]),
    forced=st.booleans(),
)
@example(length=1.0, angle=0.0, accuracy=1e-5, forced=False)
def test_a_pendulum_on_a_rod_is_as_accurate_as_it_is_in_its_angle(
    method: str, length: float, angle: float, accuracy: float, forced: bool
) -> None:
    """Within 300 accuracy, to the power of the method, after up to four swings."""
    accuracy = max(accuracy, 1e-3 if method == "Euler" else 0.0)
    model, state = swinging(length, angle)
    integrator = integrating(model, method, state, accuracy=accuracy, project_every_step=forced)
    error = np.abs(run_to(integrator, 3.0).y - swung(length, angle, 3.0)).max()
    assert error <= 300 * accuracy ** POWERS.get(method, 1.0)
    assert integrator.statistics.num_restarts == 1


def test_a_method_that_cannot_go_on_after_a_projection_is_refused_by_name() -> None:
    system, state = state_of(Rod())
    before = (state.y.tolist(), state.stage_versions)
    integrator = Integrator(system, "LSODA")
    with pytest.raises(MethodError, match="LSODA: cannot integrate system") as caught:
        integrator.initialize(state)
    assert "'BDF' or 'Radau'" in caught.value.hint
    assert (state.y.tolist(), state.stage_versions) == before
    assert [m for m in METHODS if m not in CONSTRAINED] == ["LSODA"]
    assert all(method in caught.value.expected for method in CONSTRAINED)


def test_projected_errors_lose_what_is_normal_to_the_constraints() -> None:
    """At (1, 0), the rod is along x: so are the normals of q and u."""
    system, state = state_of(Rod(), stage=Stage.VELOCITY)
    keeper = ConstraintKeeper(system, IntegratorOptions(), IntegratorStatistics())
    keeper.look(state)
    errors = np.array([1.0, 2.0, 3.0, 4.0])
    assert not keeper.keep(state, errors=errors)  # which is on the constraints
    np.testing.assert_array_equal(errors, [1.0, 2.0, 3.0, 4.0])
    keeper.keep(state, errors=errors, forced=True)
    np.testing.assert_allclose(errors, [0.0, 2.0, 0.0, 4.0], atol=1e-15)


class Pushed(Rod):
    """A rod that something pushes along its direction, back and forth; the constraint resists."""

    def __init__(self, push: float) -> None:
        self.push = push  # 1/s²

    def realize_acceleration(self, state: State) -> None:
        super().realize_acceleration(state)
        push = self.push * math.cos(20 * state.time)
        state[self].upd_udot()[:] += push * self.place(state)


@pytest.mark.parametrize(("method", "push"), [("RK23", 10.0), ("Verlet", 3.0)])
def test_steps_need_not_be_short_for_errors_that_a_projection_removes(
    method: str, push: float
) -> None:
    counts = []
    for model in (Pushed(0.0), Pushed(push)):
        integrator = integrating(
            model, method, accuracy=1e-2, max_step=0.05, project_every_step=True
        )
        run_to(integrator, 3.0)
        counts.append(integrator.statistics.num_steps_taken)
    assert counts[1] <= 1.15 * counts[0]


class Shooting(Rod):
    """A rod with a trigger in the middle of its swing, that cuts steps."""

    @event_trigger(stage=Stage.POSITION)
    def bottom(self, state: State) -> float:
        return float(self.place(state)[0])


@METHOD
def test_the_dense_output_goes_to_the_end_of_a_step_that_an_event_has_cut(method: str) -> None:
    integrator = integrating(
        Shooting(), method, accuracy=1e-2, constraint_tolerance=1e-9, max_step=0.2
    )
    while integrator.step_to(3.0) is not TRIGGER:
        pass
    advancer = integrator._initialized("the test")
    assert advancer.t < advancer.method.t
    np.testing.assert_allclose(advancer.interpolate(advancer.t), advancer.y, rtol=0, atol=1e-14)


@METHOD
def test_interpolated_states_are_on_the_constraints_unless_that_is_not_wanted(method: str) -> None:
    found = []
    for projects in (True, False):
        integrator = integrating(
            Rod(),
            method,
            accuracy=1e-2,
            constraint_tolerance=1e-9,
            project_interpolated_states=projects,
        )
        drifts = []
        for i in range(1, 200):
            state = run_to(integrator, 0.005 * i)
            if integrator.is_state_interpolated:
                drifts.append(drift(state))
        found.append(max(drifts, default=0.0))
    assert found[0] <= 1e-9
    assert found[1] > 1e-9


# ---------------------------------------------------------------------- beginning


def test_a_state_that_does_not_meet_its_constraints_is_projected_at_the_start() -> None:
    model = Rod()
    _, state = state_of(model)
    model.place.set(state, [3.0, 4.0])
    model.speed.set(state, [1.0, 1.0])
    integrator = integrating(model, state=state, accuracy=1e-6)
    assert drift(integrator.state) < 1e-7
    np.testing.assert_allclose(integrator.state.q, [0.6, 0.8], atol=1e-6)
    np.testing.assert_array_equal(state.q, [3.0, 4.0])


class Impossible(Rod):
    """Two rods of different lengths; the second comes after some time."""

    @position_error()
    def other(self, state: State) -> float:
        x, y = self.place(state).tolist()
        longer = 0.0 if state.time < self.when else 1.0
        return float(x * x + y * y - 1 - longer)

    @other.velocity
    def other_rate(self, state: State) -> float:
        return 2 * float(self.place(state) @ self.speed(state))

    @other.acceleration
    def other_acceleration(self, state: State) -> float:
        speed, udot = self.speed(state), state[self].udot
        return 2 * float(speed @ speed + self.place(state) @ udot)

    @other.jacobian
    def other_jacobian(self, state: State) -> Any:
        return 2 * self.place(state)[np.newaxis]

    def __init__(self, when: float) -> None:
        self.when = when


def test_constraints_that_cannot_be_met_are_refused_at_the_start() -> None:
    system, state = state_of(Impossible(-1.0))
    before = (state.y.tolist(), state.stage_versions)
    integrator = Integrator(system)
    with pytest.raises(ProjectionError, match="impossible\\.") as caught:
        integrator.initialize(state)
    assert "was initialized, at t = 0" in caught.value.__notes__[0]
    assert (state.y.tolist(), state.stage_versions) == before
    assert "not initialized" in repr(integrator)


@METHOD
def test_a_projection_that_fails_on_the_way_leaves_the_last_good_state(method: str) -> None:
    integrator = integrating(Impossible(0.2), method, accuracy=1e-2)
    with pytest.raises(ProjectionError, match="impossible\\.") as caught:
        run_to(integrator, 1.0)
    assert "was integrated from t = 0." in caught.value.__notes__[0]
    assert 0.0 < integrator.time == integrator.state.time <= 0.2
    assert drift(integrator.state) <= integrator.constraint_tolerance_in_use
    counts = integrator.statistics
    assert counts.num_q_projection_failures > 1
    failed = counts.num_projection_failures + counts.num_error_test_failures
    failed += counts.num_convergence_test_failures
    assert counts.num_steps_attempted == counts.num_steps_taken + failed
    again = integrator.time
    with pytest.raises(ProjectionError):
        run_to(integrator, 1.0)
    assert again <= integrator.time <= 0.2


# ---------------------------------------------------------------------- prescribed motion


class Driven(Subsystem):
    """A place that is driven as sin t, pulling a mass by a spring."""

    driven = q_variable(0.5)
    pace = u_variable(0.5)
    mass = q_variable(0.0)
    speed = u_variable(0.0)

    @driven.prescribed
    def drive(self, state: State) -> float:
        return math.sin(state.time)

    @pace.prescribed
    def drive_pace(self, state: State) -> float:
        return math.cos(state.time)

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[:] = self.pace(state), self.speed(state)

    def realize_acceleration(self, state: State) -> None:
        pull = 4 * (self.driven(state) - self.mass(state))
        state[self].upd_udot()[:] = math.nan, pull


class DrivenOnRail(Driven):
    """The same, with a constraint that holds anyway."""

    @velocity_error()
    def rail(self, state: State) -> float:
        return 0.0 * self.speed(state)


@METHOD
@pytest.mark.parametrize("kind", [Driven, DrivenOnRail])
def test_prescribed_motion_is_exact_and_drives_the_rest(method: str, kind: type[Driven]) -> None:
    """x'' = 4 (sin t - x): x = (4 sin t - 2 sin 2t) / 3. Hooks give no udot of what is driven."""
    accuracy = 1e-3 if method in ("Euler", "Verlet") else 1e-6
    model = kind()
    integrator = integrating(model, method, accuracy=accuracy)
    for time in (0.5, 1.25, 3.0):
        state = run_to(integrator, time)
        assert model.driven(state) == math.sin(time)
        integrator.system.realize(state, Stage.VELOCITY)
        expected = (4 * math.sin(time) - 2 * math.sin(2 * time)) / 3
        atol = 0.1 if method == "Euler" else 20 * accuracy
        assert model.mass(state) == pytest.approx(expected, abs=atol)
    assert model.pace(integrator.advanced_state) == math.cos(integrator.advanced_time)
