"""Auto-update variables: where each step begins, and where the simulation ends.

An update comes after the first derivatives of the step, which the step keeps.
"""

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import (
    EventAction,
    Integrator,
    ScheduledEventHandler,
    Stage,
    State,
    Subsystem,
    System,
    TimeStepper,
    auto_update,
    q_variable,
    simulate,
    u_variable,
    z_variable,
)
from stagecache.errors import NotFiniteError
from tests.profiles import examples
from tests.study.integrating import END, METHODS, STEP, integrating, run, run_to
from tests.study.models import state_of

METHOD = pytest.mark.parametrize("method", METHODS)

NOTHING: tuple[tuple[float, float], ...] = ()


class Counting(Subsystem):
    """Counts its steps, and remembers where each began."""

    place = q_variable(1.0)
    speed = u_variable(0.0)
    count = auto_update(0, invalidates=Stage.REPORT, available_from=Stage.TIME)
    began = auto_update(NOTHING, invalidates=Stage.REPORT, available_from=Stage.VELOCITY)

    @count.update
    def next_count(self, state: State) -> int:
        return self.count(state) + 1

    @began.update
    def next_began(self, state: State) -> tuple[tuple[float, float], ...]:
        return (*self.began(state), (state.time, self.place(state)))

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[0] = self.speed(state)

    def realize_acceleration(self, state: State) -> None:
        state[self].upd_udot()[0] = -4 * self.place(state)


@METHOD
@pytest.mark.parametrize("accuracy", [1e-1, 1e-3])
def test_each_step_updates_once_with_the_values_at_its_start(method: str, accuracy: float) -> None:
    model = Counting()
    integrator = integrating(model, method, accuracy=accuracy, return_every_step=True)
    starts = []
    start = (0.0, 1.0)
    for status in run(integrator, 2.0):
        if status is STEP:
            starts.append(start)
            state = integrator.state
            assert model.count(state) == len(starts) == integrator.statistics.num_steps_taken
            assert model.began(state) == tuple(starts)
            start = (state.time, model.place(state))
        elif integrator.is_state_interpolated:
            assert model.count(integrator.state) == len(starts) + 1
    assert len(starts) > 1


def test_rejected_attempts_do_not_update() -> None:
    model = Counting()
    integrator = integrating(model, "RK45", accuracy=1e-6, initial_step=5.0)
    run_to(integrator, 0.1)
    assert integrator.statistics.num_error_test_failures > 0
    assert model.count(integrator.advanced_state) == integrator.statistics.num_steps_taken


class Switching(Subsystem):
    """z' = gain, which the update of each step doubles."""

    gain = auto_update(1.0, invalidates=Stage.DYNAMICS, available_from=Stage.TIME)
    way = z_variable(0.0)

    @gain.update
    def next_gain(self, state: State) -> float:
        return 2 * self.gain(state)

    def realize_dynamics(self, state: State) -> None:
        state[self].upd_zdot()[0] = self.gain(state)


def test_the_step_keeps_the_derivatives_of_before_the_update() -> None:
    """With one evaluation at its start, and the rest after the update."""
    model = Switching()
    integrator = integrating(model, "Euler", fixed_step=0.5, return_every_step=True)
    statuses = run(integrator, 1.4)
    ways = [model.way(integrator.state) for status in statuses if status is STEP]
    # gains of 1, 2 and 4 at the ends of steps; each is doubled after the next step has taken it
    assert ways == [0.5, 1.5]
    integrator.step_to(2.0)
    assert model.way(integrator.state) == 3.5


class Failing(Counting):
    """Counts, until derivatives are missing."""

    def realize_acceleration(self, state: State) -> None:
        super().realize_acceleration(state)
        if state.time > 0.5:
            state[self].upd_udot()[0] = float("nan")


@METHOD
def test_a_step_that_fails_takes_its_update_back(method: str) -> None:
    model = Failing()
    _, state = state_of(model)
    integrator = integrating(model, method, state, accuracy=1e-2)
    with pytest.raises(NotFiniteError, match=r"failing\.speed"):
        run_to(integrator, 1.0)
    assert 0 < integrator.time <= 0.5
    taken = integrator.statistics.num_steps_taken
    assert model.count(integrator.state) == taken == len(model.began(integrator.state))


# ---------------------------------------------------------------------- the end


@METHOD
@pytest.mark.parametrize("beyond", [0.0, 1.0])
def test_where_a_simulation_ends_each_variable_is_updated_once_more(
    method: str, beyond: float
) -> None:
    model = Counting()
    integrator = integrating(model, method, accuracy=1e-2, final_time=1.0)
    statuses = list(run(integrator, 1.0 + beyond))
    if not beyond:
        assert model.count(integrator.state) == integrator.statistics.num_steps_taken
        statuses.append(integrator.step_to(1.0))
    assert statuses[-1] is END
    state = integrator.state
    assert model.count(state) == integrator.statistics.num_steps_taken + 1
    assert [time for time, _ in model.began(state)][-1] == 1.0
    assert model.began(state)[-1] == (1.0, model.place(state))


def test_a_handler_that_ends_the_simulation_lets_each_variable_be_updated_too() -> None:
    model = Counting()
    system = System(model)
    stop = ScheduledEventHandler(lambda s: EventAction.TERMINATE, 0.5)
    system.add_event_handler(stop, "stop")
    stepper = TimeStepper(system, Integrator(system, "RK45"), progress=False)
    stepper.initialize(system.realize_topology())
    for _ in range(2):
        assert stepper.step_to(1.0) is END
        state = stepper.state
        assert model.began(state)[-1] == (0.5, model.place(state))
        assert model.count(state) == stepper.integrator.statistics.num_steps_taken + 1


@pytest.mark.parametrize("every", [None, 0.25])
def test_the_last_row_of_a_simulation_has_the_last_update(every: float | None) -> None:
    model = Counting()
    system = System(model)
    trajectory = simulate(system, system.realize_topology(), 1.0, every=every, progress=False)
    last = trajectory[-1]
    assert model.began(last)[-1] == (1.0, model.place(last))
    assert trajectory.statistics is not None
    assert model.count(last) == trajectory.statistics.num_steps_taken + 1
    assert (trajectory.times == 1.0).sum() == (1 if every else 2)


class Widest(Counting):
    """Keeps the largest place so far."""

    widest = auto_update(-inf, invalidates=Stage.REPORT, available_from=Stage.POSITION)

    @widest.update
    def next_widest(self, state: State) -> float:
        return max(self.widest(state), abs(self.place(state)))


@METHOD
@given(speed=st.floats(-3, 3), end=st.floats(0.01, 3))
@examples(10)
def test_what_an_update_has_seen_in_the_end_are_all_ends_of_steps(
    method: str, speed: float, end: float
) -> None:
    model = Widest()
    system = System(model)
    state = system.new_state()
    state.u = [speed]
    trajectory = simulate(system, state, end, method=method, accuracy=1e-2, progress=False)
    last = trajectory[-1]
    places = trajectory["widest.place"]
    assert model.widest(last) == np.abs(places).max()
    assert [place for _, place in model.began(last)] == places[:-1].tolist()
