"""Simbody's tests of integrators and of a loop of one's own, with all kinds of events together."""

from math import cos, floor, pi, sin, sqrt
from typing import Any

import numpy as np
import pytest

from stagecache import Stage, State, Subsystem, System, TriggerDirection, cached
from stagecache.errors import OutOfRangeError
from stagecache.measures import Extreme, Integral
from stagecache.study.integrate.integrator import Integrator
from stagecache.study.integrate.step_status import StepStatus, TerminationReason
from stagecache.study.time_stepper import TimeStepper
from stagecache.system.events.handlers import (
    PeriodicEventHandler,
    PeriodicEventReporter,
    ScheduledEventHandler,
    ScheduledEventReporter,
    TriggeredEventHandler,
    TriggeredEventReporter,
)
from tests.originals.chains import close
from tests.study.models import Rod

METHODS = [
    *((method, 4.003, False) for method in ("RK23", "Fehlberg", "BDF", "Merson")),
    ("Merson", 4.003, True),
    ("Verlet", 4.003, True),
    ("Euler", 1.303, False),  # which need many steps
    ("ExplicitEuler", 1.303, True),
]
"""Methods that take constraints, the final time, and whether each step is returned."""


@pytest.mark.parametrize(("method", "final", "every_step"), METHODS)
def test_a_pendulum_on_a_rod_meets_all_kinds_of_events(
    method: str, final: float, every_step: bool
) -> None:
    """It starts at rest, level with its pivot; half its energy is added at its lowest point."""
    model = Rod()
    system = System(model)
    times: dict[str, list[float]] = {
        name: [] for name in ("turns", "passes", "periodic", "reports", "once", "jumps")
    }
    is_faster = False

    def turns(state: State) -> None:
        assert abs(model.speed(state)[0]) < 0.05
        times["turns"].append(state.time)

    def passes(state: State) -> None:
        nonlocal is_faster
        assert abs(model.place(state)[0]) < 0.01
        times["passes"].append(state.time)
        if state.time > 1.0 and not is_faster:
            is_faster = True
            model.speed.set(state, sqrt(1.5) * model.speed(state))

    def reports(state: State) -> None:
        times["reports"].append(state.time)
        energy = (model.energy(state) + 9.8) / 9.8
        assert energy == pytest.approx(1.5 if is_faster else 1.0, abs=0.05)

    def jumping(state: State) -> float:
        return (1.0, 0.0, -1.0, 0.0)[floor(state.time) % 4]

    def noting(name: str) -> Any:
        return lambda state: times[name].append(state.time)

    for handler in (
        TriggeredEventHandler(
            *(Stage.VELOCITY, lambda s: float(model.speed(s)[0]), turns), TriggerDirection.RISING
        ),
        TriggeredEventHandler(Stage.POSITION, lambda s: float(model.place(s)[0]), passes),
        PeriodicEventHandler(0.5, noting("periodic")),
    ):
        system.add_event_handler(handler)
    for reporter in (
        PeriodicEventReporter(0.15, reports),
        ScheduledEventReporter(noting("once"), 2.0),
        TriggeredEventReporter(Stage.TIME, jumping, noting("jumps")),
    ):
        system.add_event_reporter(reporter)
    options: dict[str, Any] = {
        "constraint_tolerance": 1e-4,
        "max_step": 0.2,
        "return_every_step": every_step,
    }
    integrator = Integrator(system, method, accuracy=1e-4, final_time=final, **options)
    stepper = TimeStepper(system, integrator, progress=False)
    stepper.initialize(system.realize_topology())
    assert stepper.time == 0.0
    assert times["periodic"] == []
    for time in (0.5, 1.0, 1.1, 1.27):
        assert stepper.step_to(time) is StepStatus.REACHED_REPORT_TIME
        assert stepper.time == time
    assert (times["once"], is_faster) == ([], False)
    assert stepper.step_to(50.0) is StepStatus.END_OF_SIMULATION
    assert stepper.time == final
    assert integrator.termination_reason is TerminationReason.REACHED_FINAL_TIME

    def until_final(found: list[float]) -> list[float]:
        return [time for time in found if time <= final]

    wanted_passes, turning = until_final([0.592, 1.777, 3.154]), until_final([1.18, 2.466, 3.499])
    assert times["periodic"] == pytest.approx(until_final([0.5 * k for k in range(9)]))
    assert times["reports"] == pytest.approx(until_final([0.15 * k for k in range(27)]))
    assert times["once"] == until_final([2.0])
    assert times["jumps"] == pytest.approx(until_final([1.0, 3.0]), abs=1e-2)
    assert times["passes"] == pytest.approx(wanted_passes, abs=1e-2)
    # At the level of the pivot, where it starts, a method of first order may cross zero to and fro.
    assert all(min(abs(time - found) for found in times["turns"]) < 0.1 for time in turning)
    assert is_faster == (final > 1.777)
    for found in times.values():
        assert np.all(np.diff(found) > 0)


def test_a_schedule_may_double_its_time() -> None:
    """A handler comes each 1.5 s, and a reporter at 1, 2, 4, 8 s ...: each says itself when."""
    model = Rod()
    system = System(model)
    handled, reported = [0.0], [0.5]
    system.add_event_handler(
        ScheduledEventHandler(
            lambda state: handled.append(state.time), lambda *_: handled[-1] + 1.5
        )
    )
    system.add_event_reporter(
        ScheduledEventReporter(
            lambda state: reported.append(state.time), lambda *_: 2 * reported[-1]
        )
    )
    stepper = TimeStepper(system, Integrator(system, "Merson", accuracy=1e-2), progress=False)
    stepper.initialize(system.realize_topology())
    stepper.step_to(10.0)
    stepper.step_to(20.003)
    assert handled[1:] == [1.5 * k for k in range(1, 14)]
    assert reported[1:] == [1.0, 2.0, 4.0, 8.0, 16.0]


def test_an_accuracy_beyond_all_rounding_is_refused_at_once() -> None:
    with pytest.raises(OutOfRangeError, match="accuracy"):
        Integrator(System(Rod()), "Merson", accuracy=1e-35)


# ---------------------------------------------------------------------- a loop of one's own


class Signals(Subsystem):
    """Numbers of the time."""

    @cached(prerequisites=lambda self: (self.time,))
    def wave(self, state: State) -> float:
        return cos(2 * pi * state.time)

    @cached(prerequisites=lambda self: (self.time,))
    def pair(self, state: State) -> tuple[float, float]:
        return sin(state.time), cos(state.time)


def test_a_loop_of_ones_own_takes_midpoint_steps_with_measures() -> None:
    system = System(signals := Signals())
    area = system.add(Integral(signals.wave))
    turn = system.add(Integral(signals.pair, initial=(1.0, 0.0)))
    least = system.add(Extreme(signals.wave, "minimum"))
    state = system.new_state()
    system.realize(state, Stage.ACCELERATION)
    step = 1e-2
    for _ in range(100):
        start = state.ydot.copy()
        y = state.y.copy()
        state.auto_update_discrete_variables()
        for rates, share in ((start, 0.5), (None, 1.0)):
            slopes = state.ydot if rates is None else rates
            here = y + share * step * slopes
            state.time += step / 2
            state.y = here
            system.realize(state, Stage.TIME)
            system.prescribe(state)
            system.realize(state, Stage.ACCELERATION)
    now = state.time
    close(now, 1.0, 1e-12)
    close(area.value(state), [sin(2 * pi * now) / (2 * pi)], 1e-3)
    close(turn.value(state), [2 - cos(now), sin(now)], 1e-3)
    assert least.value(state) == pytest.approx(-1.0)
    assert least.reached_at(state) == pytest.approx(0.5)


def test_a_stored_value_is_valid_from_its_mark_or_its_stage_on_and_takes_back_no_stage() -> None:
    state = State()
    part = state[state.add_subsystem("part")]
    by_mark = part.allocate_cache_entry(Stage.TIME, Stage.INFINITY, 1.0)
    by_stage = part.allocate_cache_entry(Stage.TIME, Stage.TIME, 2.0)
    for stage in list(Stage)[1:6]:
        part.advance_to_stage(stage)
        state.advance_to_stage(stage)
        if stage is Stage.INSTANCE:
            by_mark.set(state, 1.234)
            by_stage.set(state, 4.321)
    assert by_stage(state) == 4.321
    assert not by_mark.is_valid(state)
    by_mark.mark_valid(state)
    assert by_mark(state) == 1.234
    by_mark.set(state, 5.0)
    assert (by_mark(state), state.stage) == (5.0, Stage.POSITION)
