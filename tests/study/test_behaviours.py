"""What Simbody's own tests of its integrators hold, of every method.

Source: IntegratorTestFramework.h and the tests of events in Simbody 3.7, as a list of behaviours.
"""

import itertools
import math
from collections.abc import Callable
from math import floor, sqrt
from typing import Any

import numpy as np
import pytest

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    TriggerDirection,
    discrete,
    q_variable,
    u_variable,
)
from stagecache.study.integrate.integrator import Integrator
from stagecache.study.integrate.step_status import StepStatus, TerminationReason
from stagecache.study.time_stepper import TimeStepper
from stagecache.system.events.handlers import (
    PeriodicEventHandler,
    PeriodicEventReporter,
    ScheduledEventHandler,
    ScheduledEventReporter,
    TriggeredEventHandler,
)
from tests.study.integrating import METHODS
from tests.study.models import DoublePendulum, Oscillator

REPORT, END = StepStatus.REACHED_REPORT_TIME, StepStatus.END_OF_SIMULATION


class Pendulum(Subsystem):
    """A point on a rod of length 1, from a turning point."""

    angle = q_variable(1.0)
    rate = u_variable(0.0)

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[0] = self.rate(state)

    def realize_acceleration(self, state: State) -> None:
        state[self].upd_udot()[0] = -9.8 * math.sin(self.angle(state))

    def energy(self, state: State) -> float:
        """Of motion and height."""
        return self.rate(state) ** 2 / 2 - 9.8 * math.cos(self.angle(state))


def stepping(
    system: System, method: str = "DOP853", *, each: bool = False, **options: Any
) -> TimeStepper:
    """A time stepper at the beginning."""
    stepper = TimeStepper(
        system,
        Integrator(system, method, **options),
        report_all_significant_states=each,
        progress=False,
    )
    stepper.initialize(system.realize_topology())
    return stepper


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("interpolates", [True, False])
def test_stepping_to_a_time_lands_exactly_on_it(method: str, interpolates: bool) -> None:
    stepper = stepping(System(Pendulum()), method, allow_interpolation=interpolates)
    for k in range(1, 30):
        time = k * 0.037
        assert stepper.step_to(time) is REPORT
        assert stepper.time == stepper.state.time == time


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("beyond", [0.0, 0.5, math.inf])
def test_the_first_call_that_reaches_the_final_time_ends_the_simulation(
    method: str, beyond: float
) -> None:
    stepper = stepping(System(Pendulum()), method, final_time=1.1)
    assert stepper.step_to(1.0) is REPORT
    assert not stepper.integrator.is_simulation_over
    assert stepper.integrator.termination_reason is None
    for _ in range(2):
        assert stepper.step_to(1.1 + beyond) is END
        assert stepper.time == 1.1
        assert stepper.integrator.is_simulation_over
        assert stepper.integrator.termination_reason is TerminationReason.REACHED_FINAL_TIME


@pytest.mark.parametrize("beyond", [0.0, 0.5])
def test_where_each_significant_state_is_returned_a_report_at_the_final_time_is_one(
    beyond: float,
) -> None:
    stepper = stepping(System(Pendulum()), final_time=1.1, each=True)
    found = [stepper.step_to(1.1 + beyond)]
    while found[-1] is not END:
        found.append(stepper.step_to(1.1 + beyond))
    start = StepStatus.START_OF_CONTINUOUS_INTERVAL
    assert found == ([start, END] if beyond else [start, REPORT, END])
    assert stepper.time == 1.1


@pytest.mark.parametrize("final", [1.0, math.inf])
@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("interval", [0.1, 0.25, 0.3, 1.0, 3.0])
def test_a_periodic_event_of_period_h_happens_as_often_as_h_fits_and_once_more(
    interval: float, each: bool, final: float
) -> None:
    handled: list[float] = []
    reported: list[float] = []
    system = System(Pendulum())
    system.add_event_handler(PeriodicEventHandler(interval, lambda s: handled.append(s.time)))
    system.add_event_reporter(PeriodicEventReporter(interval, lambda s: reported.append(s.time)))
    stepper = stepping(system, each=each, final_time=final)
    last = REPORT if final == math.inf else END
    while stepper.step_to(1.0) is not last or stepper.time < 1.0:
        pass
    assert stepper.step_to(1.0) is last
    times = [k * interval for k in range(floor(1.0 / interval + 1e-12) + 1)]
    assert handled == pytest.approx(times, abs=1e-15)
    assert reported == pytest.approx(times, abs=1e-15)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("time", [0.0, 0.4321, 1.0])
def test_a_once_only_report_is_made_once(method: str, time: float) -> None:
    reported: list[tuple[float, float]] = []

    def report(state: State) -> None:
        reported.append((state.time, float(state.q[0])))

    system = System(Pendulum())
    system.add_event_reporter(ScheduledEventReporter(report, time))
    stepper = stepping(system, method, accuracy=1e-5)
    for k in range(1, 6):
        stepper.step_to(0.25 * k)
    assert [t for t, _ in reported] == [time]
    alone = stepping(System(Pendulum()), accuracy=1e-9)
    alone.step_to(time)
    assert reported[0][1] == pytest.approx(alone.state.q[0], abs=2e-3)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("direction", list(TriggerDirection))
def test_triggered_times_increase_and_directions_are_respected(
    method: str, direction: TriggerDirection
) -> None:
    found: list[tuple[float, float, float]] = []
    system = System(Pendulum())
    system.add_event_handler(
        TriggeredEventHandler(
            Stage.POSITION,
            lambda s: float(s.q[0]) - 0.2,
            lambda s: found.append((s.time, float(s.q[0]) - 0.2, float(s.u[0]))),
            direction,
        )
    )
    stepping(system, method).step_to(5.0)
    times, values, rates = np.array(found).T
    counts = {TriggerDirection.RISING: 2, TriggerDirection.FALLING: 3, TriggerDirection.ANY: 5}
    assert len(times) == counts[direction]
    assert np.all(np.diff(times) > 0)
    assert np.all(np.abs(values) < 0.01)
    if direction is TriggerDirection.RISING:
        assert np.all(rates > 0)
    elif direction is TriggerDirection.FALLING:
        assert np.all(rates < 0)
    else:
        assert np.all(rates[:-1] * rates[1:] < 0)


@pytest.mark.parametrize("method", METHODS)
def test_a_discontinuous_witness_fires_when_it_gets_to_zero_and_not_when_it_leaves_it(
    method: str,
) -> None:
    """It is 1, then 0 from 0.5 on, then -1 from 1.2 on, then 1 again from 1.7 on."""

    def witness(state: State) -> float:
        t = state.time
        return 1.0 if t < 0.5 else 0.0 if t < 1.2 else -1.0 if t < 1.7 else 1.0

    found: list[float] = []
    system = System(Pendulum())
    system.add_event_handler(
        TriggeredEventHandler(Stage.TIME, witness, lambda s: found.append(s.time))
    )
    stepper = stepping(system, method, max_step=0.1)
    stepper.step_to(2.0)
    assert found == pytest.approx([0.5, 1.7], abs=2e-4)
    assert all(time >= exact for time, exact in zip(found, [0.5, 1.7], strict=True))


@pytest.mark.parametrize("method", METHODS)
def test_scaling_the_speeds_scales_the_kinetic_energy(method: str) -> None:
    pendulum = DoublePendulum()
    system = System(pendulum)
    energies: list[tuple[float, float]] = []

    def kinetic(state: State) -> float:
        energy = pendulum.energy(state)
        still = state.copy()
        pendulum.rates.set(still, [0.0, 0.0])
        return energy - pendulum.energy(still)

    def kick(state: State) -> None:
        before = kinetic(state)
        state.u = state.u * sqrt(1.5)
        energies.append((before, kinetic(state)))

    system.add_event_handler(PeriodicEventHandler(0.3, kick, 0.2))
    stepper = stepping(system, method)
    total = [pendulum.energy(stepper.state)]
    stepper.step_to(1.0)
    total.append(pendulum.energy(stepper.state))
    assert len(energies) == 3
    for before, after in energies:
        assert after == pytest.approx(1.5 * before, rel=1e-12)
        assert before > 0.1
    gained = sum(after - before for before, after in energies)
    drift = 1.0 if method == "Euler" else 0.05
    assert total[1] - total[0] == pytest.approx(gained, abs=drift)


CASES = list(itertools.product((0.01, 2.0), (0.015, 1.5), (False, True)))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("handling", "reporting", "every_step"), CASES)
def test_handlers_and_reporters_of_all_intervals_go_together(
    method: str, handling: float, reporting: float, every_step: bool
) -> None:
    """The handler counts; the reporter sees its count, and a State at exactly its time."""

    class Counted(Oscillator):
        count = discrete(0, invalidates=Stage.DYNAMICS)

    model = Counted()
    system = System(model)
    handled: list[float] = []
    seen: list[tuple[float, int, float]] = []

    def handle(state: State) -> None:
        handled.append(state.time)
        model.count.set(state, model.count(state) + 1)

    def report(state: State) -> None:
        seen.append((state.time, model.count(state), model.place(state)))

    system.add_event_handler(PeriodicEventHandler(handling, handle))
    system.add_event_reporter(PeriodicEventReporter(reporting, report))
    end = 0.2 if (handling, reporting) == (0.01, 0.015) else 1.6 if handling == 0.01 else 2.1
    accuracy = 1e-2 if method == "Euler" else 1e-3
    stepper = stepping(system, method, accuracy=accuracy, return_every_step=every_step)
    assert stepper.step_to(end) is REPORT
    assert stepper.time == end
    expected = [k * handling for k in range(floor(end / handling + 1e-9) + 1)]
    assert handled == pytest.approx(expected, abs=1e-12)
    times = [k * reporting for k in range(floor(end / reporting + 1e-9) + 1)]
    assert [time for time, _, _ in seen] == pytest.approx(times, abs=1e-12)
    for time, count, place in seen:
        # A report comes before the events of its time, which are equal but for rounding.
        assert count == sum(t < time - 1e-9 for t in handled)
        assert place == pytest.approx(Oscillator.solution(time)[0], abs=20 * accuracy)


@pytest.mark.parametrize("method", METHODS)
def test_every_step_is_seen_where_each_is_wanted(method: str) -> None:
    system = System(Pendulum())
    stepper = stepping(system, method, each=True, return_every_step=True)
    steps: list[float] = []
    statuses: set[StepStatus] = set()
    while (status := stepper.step_to(1.0)) is not REPORT:
        statuses.add(status)
        if status is StepStatus.TIME_HAS_ADVANCED:
            steps.append(stepper.time)
    assert stepper.time == 1.0
    assert statuses == {
        StepStatus.START_OF_CONTINUOUS_INTERVAL,
        StepStatus.TIME_HAS_ADVANCED,
    }
    assert stepper.integrator.statistics.num_steps_taken in (len(steps), len(steps) + 1)
    assert steps == sorted(set(steps))


def order_of(system: System, action: Callable[[TimeStepper], None]) -> list[StepStatus]:
    """What is returned until the time 1 is reached."""
    stepper = stepping(system, each=True)
    found = [stepper.step_to(1.0)]
    while found[-1] is not REPORT or stepper.time < 1.0:
        action(stepper)
        found.append(stepper.step_to(1.0))
    return found


def test_significant_states_are_reported_in_the_order_in_which_they_come() -> None:
    model = Pendulum()
    system = System(model)
    system.add_event_handler(ScheduledEventHandler(lambda s: model.rate.set(s, 0.0), 0.25))
    system.add_event_handler(
        TriggeredEventHandler(Stage.TIME, lambda s: s.time - 0.5, lambda s: None)
    )
    system.add_event_reporter(ScheduledEventReporter(lambda s: None, 0.75))
    system.add_event_handler(ScheduledEventHandler(lambda s: None, 1.0))
    start = StepStatus.START_OF_CONTINUOUS_INTERVAL
    found = order_of(system, lambda stepper: None)
    assert found == [
        start,
        StepStatus.REACHED_SCHEDULED_EVENT,
        start,
        StepStatus.REACHED_EVENT_TRIGGER,
        REPORT,
        StepStatus.REACHED_SCHEDULED_EVENT,
        REPORT,
    ]
