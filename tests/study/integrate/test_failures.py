"""What cannot be integrated: an error with the time, the variable and a hint; the State is good."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from stagecache import Stage, State, Subsystem, System, q_variable, u_variable, z_variable
from stagecache.errors import NotFiniteError, ReadOnlyError, StagecacheError, StepSizeError
from stagecache.study.integrate.integrator import Integrator
from stagecache.study.integrate.step_status import TerminationReason
from tests.study.integrating import METHODS, ONE_STEP, integrating, run_to
from tests.study.models import state_of

METHOD = pytest.mark.parametrize("method", METHODS)


class Growing(Subsystem):
    """z' = f(t, z), beside a variable that rests."""

    rest = z_variable(1.0)
    growth = z_variable(1.0)

    def __init__(self, function: Callable[[float, float], float]) -> None:
        self.function = function

    def realize_dynamics(self, state: State) -> None:
        state[self].upd_zdot()[:] = 0.0, self.function(state.time, self.growth(state))


def fails(method: str, function: Callable[[float, float], float], **options: Any) -> Any:
    """An integrator that cannot reach t = 3, and why; the State is good, and stays so."""
    options = {"accuracy": 1e-2, **options}
    integrator = integrating(Growing(function), method, **options)
    with pytest.raises((StagecacheError, ArithmeticError, ValueError)) as caught:
        run_to(integrator, 3.0)
    state = integrator.state
    assert state.time == integrator.time == integrator.advanced_time
    assert np.isfinite(state.y).all()
    integrator.system.realize(state, Stage.ACCELERATION)
    assert np.isfinite(state.ydot).all()
    before = (integrator.time, state.y.tolist())
    assert integrator.termination_reason is TerminationReason.AN_UNRECOVERABLE_ERROR_OCCURRED
    assert not integrator.is_simulation_over  # the model's parameters may be changed
    with pytest.raises(type(caught.value)):
        run_to(integrator, 3.0)
    assert integrator.time >= before[0]
    assert any("to which the State has returned" in note for note in caught.value.__notes__)
    return integrator, caught.value


@METHOD
def test_a_derivative_that_is_nan_from_some_time_on_is_told(method: str) -> None:
    integrator, error = fails(method, lambda t, z: math.nan if t > 1 else -z)
    assert isinstance(error, NotFiniteError)
    assert "growing.growth: its time derivative is not finite at t = 1" in error.what
    assert error.hint.endswith("does a hook write zdot, and does it divide by 0?")
    assert 0 < integrator.time <= 1.0
    assert integrator.state.z[1] == pytest.approx(math.exp(-integrator.time), abs=0.1)


@METHOD
def test_a_computation_that_raises_is_told_with_the_time(method: str) -> None:
    """sqrt(1 - t) has a value up to 1; trial steps beyond it are only too long."""
    integrator, error = fails(method, lambda t, z: math.sqrt(1 - t))
    assert isinstance(error, ValueError)
    assert "math domain error" in str(error) or "nonnegative" in str(error)
    assert 0 < integrator.time <= 1.0


@pytest.mark.parametrize("method", ["RK23", "RK45", "Euler", "Verlet"])
def test_trial_steps_may_go_too_far(method: str) -> None:
    """sqrt(z) where trial steps make z negative, and the solution does not."""
    integrator = integrating(
        Growing(lambda t, z: -5 * math.sqrt(z - 0.1) * (z - 0.1)),
        method,
        accuracy=1e-3,
        initial_step=2.0,
    )
    state = run_to(integrator, 2.0)
    assert 0.1 < state.z[1] < 0.2
    assert integrator.statistics.num_realization_failures > 0


@METHOD
def test_a_pole_needs_steps_that_are_too_short(method: str) -> None:
    """z' = z², from 1, is infinite at 1."""
    integrator, error = fails(method, lambda t, z: z * z, min_step=1e-4)
    assert isinstance(error, StepSizeError | NotFiniteError | OverflowError)
    if isinstance(error, StepSizeError):
        assert "growing.growth" in error.what
        assert "min_step" in error.got or "rounding" in error.got
    assert 0.5 < integrator.time < 1.5


@pytest.mark.parametrize("method", METHODS)
def test_a_step_below_the_minimum_is_refused(method: str) -> None:
    integrator = integrating(
        Growing(lambda t, z: -1e3 * (z - math.cos(10 * t))), method, accuracy=1e-6, min_step=0.2
    )
    with pytest.raises(StepSizeError, match=r"growing\.growth: changes too fast") as caught:
        run_to(integrator, 3.0)
    assert "min_step" in caught.value.hint
    assert "min_step is 0.2" in caught.value.got
    assert integrator.time == integrator.state.time < 3.0


@METHOD
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_derivatives_that_are_not_finite_are_refused_at_the_start(
    method: str, value: float
) -> None:
    system, state = state_of(Growing(lambda t, z: value))
    integrator = Integrator(system, method)
    with pytest.raises(NotFiniteError, match=r"growing\.growth: .* at t = 0") as caught:
        integrator.initialize(state)
    assert str(value) in caught.value.got
    assert "not initialized" in repr(integrator)


class Forgetful(Subsystem):
    """Computes no udot."""

    places = q_variable((1.0, 2.0))
    speeds = u_variable((1.0, 2.0))

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[:] = self.speeds(state)


def test_a_model_that_computes_no_derivative_is_told_which() -> None:
    system, state = state_of(Forgetful())
    with pytest.raises(NotFiniteError, match=r"forgetful\.speeds\[0\]") as caught:
        Integrator(system).initialize(state)
    assert "udot" in caught.value.hint


@METHOD
def test_what_is_no_failure_of_arithmetic_is_raised_at_once(method: str) -> None:
    class Confused(Growing):
        def realize_dynamics(self, state: State) -> None:
            if state.time > 1:
                state.time = 0.0
            super().realize_dynamics(state)

    integrator = integrating(Confused(lambda t, z: -z), method, accuracy=1e-2)
    with pytest.raises(ReadOnlyError):
        run_to(integrator, 3.0)
    assert 0 <= integrator.time == integrator.state.time <= 1


@METHOD
def test_an_interruption_leaves_the_last_good_state(method: str) -> None:
    calls = 0

    def interrupted(t: float, z: float) -> float:
        nonlocal calls
        calls += 1
        if calls == 60:
            raise KeyboardInterrupt
        return -z

    integrator = integrating(Growing(interrupted), method, accuracy=1e-4)
    with pytest.raises(KeyboardInterrupt):
        run_to(integrator, 1e9)
    time = integrator.time
    assert integrator.state.z[1] == pytest.approx(math.exp(-time), abs=1e-2)
    state = run_to(integrator, time + 1.0)
    assert state.z[1] == pytest.approx(math.exp(-time - 1), abs=1e-2)


@pytest.mark.parametrize("method", ONE_STEP)
def test_a_fixed_step_that_cannot_be_taken_is_told(method: str) -> None:
    integrator = integrating(
        Growing(lambda t, z: math.nan if t > 1.05 else -z), method, fixed_step=0.1
    )
    with pytest.raises(NotFiniteError, match=r"growing\.growth"):
        run_to(integrator, 3.0)
    assert 0.9 < integrator.time <= 1.05


def test_a_q_that_nobody_moves_is_told_with_what_would_move_it() -> None:
    class Adrift(Subsystem):
        place = q_variable((1.0, 0.0))
        speed = u_variable(0.0)

    system = System(Adrift())
    with pytest.raises(NotFiniteError, match=r"adrift\.place") as caught:
        Integrator(system).initialize(system.realize_topology())
    assert "qdot is u if there are as many" in caught.value.hint
