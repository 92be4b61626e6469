"""Times of events against those of formulas, to 1e-10 where the accuracy promises as much."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import (
    PeriodicEventHandler,
    ScheduledEventHandler,
    Stage,
    State,
    Subsystem,
    System,
    event_trigger,
    q_variable,
    simulate,
    u_variable,
)
from tests.profiles import examples, is_nightly
from tests.study.integrate.test_triggers import OfTime, events_of
from tests.study.integrating import METHODS, TRIGGER, integrating, run
from tests.study.models import Oscillator, state_of

EXACT = 1e-11
"""An accuracy whose errors of a few periods are below 1e-10 s."""

SMALL = 1e-10
"""The largest error of a time [s]."""

PRECISE = ("DOP853", "LSODA", *(("RK45", "Radau") if is_nightly() else ()))
PARABOLAS = ("RK23", "RK45", "DOP853", "Radau", "Verlet")
"""Methods without an error where speeds are straight lines; of a short step, only its rounding."""


class Fall(Subsystem):
    """A height that falls from 1 with gravity 10, and is watched at several levels."""

    height = q_variable(1.0)
    speed = u_variable(0.0)

    def __init__(self, *levels: float) -> None:
        self.levels = np.array(levels)

    def realize_acceleration(self, state: State) -> None:
        state[self].upd_udot()[0] = -10.0

    @event_trigger(
        stage=Stage.POSITION, size=lambda self, state: len(self.levels), direction="falling"
    )
    def level(self, state: State) -> Any:
        return self.height(state) - self.levels


def times(model: Subsystem, until: float, method: str = "DOP853", **options: Any) -> list[float]:
    """Times of the events of a model, to be written in one line."""
    return [time for _, _, time in events_of(integrating(model, method, **options), until)]


# ---------------------------------------------------------------------- known motions


@pytest.mark.parametrize("method", PARABOLAS)
@examples(20)
@given(levels=st.lists(st.floats(-50.0, 0.9), min_size=1, max_size=6, unique=True))
def test_a_body_passes_levels_when_it_has_fallen_as_far(method: str, levels: list[float]) -> None:
    """The window is 1e-11 s, and parabolas have no other error than that."""
    found = times(Fall(*levels), 4.0, method, accuracy=1e-9)
    wanted = [math.sqrt((1 - level) / 5) for level in sorted(levels, reverse=True)]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=SMALL)


class Levels(Oscillator):
    """cos 2t, its speed and exp(-t/2), which are watched at levels."""

    def __init__(self, place: float, speed: float, heat: float) -> None:
        self.at = place, speed, heat

    @event_trigger(stage=Stage.POSITION)
    def height(self, state: State) -> float:
        return self.place(state) - self.at[0]

    @event_trigger(stage=Stage.VELOCITY)
    def pace(self, state: State) -> float:
        return self.speed(state) - self.at[1]

    @event_trigger(stage=Stage.DYNAMICS)
    def warmth(self, state: State) -> float:
        return self.heat(state) - self.at[2]


def passes(level: float, until: float) -> list[float]:
    """Times at which cos t passes a level; it begins above it."""
    first = math.acos(level)
    both = [k * 2 * math.pi + t for k in range(9) for t in (first, 2 * math.pi - first)]
    return [t for t in both if t < until]


@pytest.mark.parametrize("method", PRECISE)
@examples(3)
@given(place=st.floats(-0.95, 0.95), speed=st.floats(-1.9, -0.1), heat=st.floats(0.3, 0.95))
def test_an_oscillation_and_a_decay_pass_levels_at_the_times_of_their_formulas(
    method: str, place: float, speed: float, heat: float
) -> None:
    until = 4.0
    integrator = integrating(Levels(place, speed, heat), method, accuracy=EXACT)
    found: dict[str, list[float]] = {"height": [], "pace": [], "warmth": []}
    for name, _, time in events_of(integrator, until):
        found[name.partition(".")[2]].append(time)
    shift = math.pi / 4  # -2 sin 2t is 2 cos(2t + pi/2)
    paces = [t / 2 - shift for t in passes(speed / 2, 2 * until + 2)]
    wanted = {
        "height": [t / 2 for t in passes(place, 2 * until)],
        "pace": [t for t in paces if 0 < t < until],
        "warmth": [-2 * math.log(heat)],
    }
    for name, expected in wanted.items():
        steepness = {"height": math.sqrt(1 - place**2), "pace": math.sqrt(1 - (speed / 2) ** 2)}
        np.testing.assert_allclose(
            found[name], expected, rtol=0, atol=SMALL / steepness.get(name, 1.0)
        )


@pytest.mark.parametrize("method", PRECISE)
@pytest.mark.parametrize("time", [0.2, 0.7])
def test_triggers_that_pass_zero_at_one_time_are_one_event(method: str, time: float) -> None:
    """Three different curves of one motion: they are found in one window, or in neighbours."""
    place, speed, heat = Oscillator.solution(time).tolist()
    integrator = integrating(Levels(place, speed, heat), method, accuracy=EXACT)
    found = [event for event in events_of(integrator, time + 0.1) if abs(event[2] - time) < 1e-3]
    assert sorted(name for name, _, _ in found) == ["levels.height", "levels.pace", "levels.warmth"]
    np.testing.assert_allclose([t for _, _, t in found], time, rtol=0, atol=SMALL)


# ---------------------------------------------------------------------- functions of time


def times_of(function: Callable[[float], Any], until: float = 3.0, **options: Any) -> list[float]:
    """Times of the events of a function of time, beside a motion."""
    _, state = state_of(Fall(-1e9), OfTime(function))
    integrator = integrating(Fall(), state=state, accuracy=1e-9, **options)
    return [time for _, _, time in events_of(integrator, until)]


@examples(30)
@given(middle=st.floats(0.3, 2.7), half=st.floats(-5, -1), height=st.sampled_from([-1.0, 1.0]))
def test_a_trigger_that_passes_zero_and_comes_back_has_two_events_however_close(
    middle: float, half: float, height: float
) -> None:
    """A parabola, 1e-5 s to 0.1 s on the other side; one that stays apart has none."""
    off = 10.0**half
    found = times_of(lambda t: height * ((t - middle) ** 2 - off**2))
    rounding = 1e-15 / off  # of the square of t - middle
    np.testing.assert_allclose(found, [middle - off, middle + off], rtol=0, atol=SMALL + rounding)
    assert times_of(lambda t: height * ((t - middle) ** 2 + off**2)) == []


def test_a_trigger_that_touches_zero_has_reached_it_once() -> None:
    """It stays there for 2e-6 s; leaving zero is not an event."""
    found = times_of(lambda t: max((t - 1.0) ** 2 - 1e-12, 0.0))
    np.testing.assert_allclose(found, [1.0 - 1e-6], rtol=0, atol=SMALL)


@examples(30)
@given(time=st.floats(0.01, 2.9), before=st.floats(1e-6, 1e6), after=st.floats(1e-6, 1e6))
def test_a_trigger_that_jumps_is_found_where_it_jumps(
    time: float, before: float, after: float
) -> None:
    found = times_of(lambda t: -before if t < time else after, max_step=0.5)
    np.testing.assert_allclose(found, [time], rtol=0, atol=SMALL)


def test_a_trigger_with_a_kink_is_found_on_both_sides_of_it() -> None:
    """|t - 1| - 1/8 is 0 before and after the kink."""
    found = times_of(lambda t: abs(t - 1.0) - 0.125, max_step=0.25)
    np.testing.assert_allclose(found, [0.875, 1.125], rtol=0, atol=SMALL)


# ---------------------------------------------------------------------- windows


class Watched(Oscillator):
    """A place that is watched at 0 with windows of several units."""

    @event_trigger(stage=Stage.POSITION, localization_window=0.1)
    def usual(self, state: State) -> float:
        return self.place(state)

    @event_trigger(stage=Stage.POSITION, localization_window=1e-3)
    def narrow(self, state: State) -> float:
        return self.place(state) - 0.5

    @event_trigger(stage=Stage.POSITION, localization_window=10.0)
    def wide(self, state: State) -> float:
        return self.place(state) + 0.5


WINDOWS = {"usual": 0.1, "narrow": 1e-3, "wide": 10.0}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("accuracy", "time_scale"), [(1e-3, 0.1), (1e-4, 10.0), (1e-3, 1e-8)])
def test_windows_are_as_narrow_as_documented(
    method: str, accuracy: float, time_scale: float
) -> None:
    """localization_window * accuracy * default_time_scale; but not narrower than rounding."""
    system = System(Watched())
    system.default_time_scale = time_scale
    state = system.new_state()
    integrator = integrating(Watched(), method, state, accuracy=accuracy)
    names = []
    for status in run(integrator, 1.7):
        if status is not TRIGGER:
            continue
        low, high = integrator.event_window
        (event,) = integrator.triggered_events
        names.append(event.info.name.partition(".")[2])
        widest = WINDOWS[names[-1]] * accuracy * time_scale
        assert 0 < high - low <= max(widest, 8 * math.ulp(high))
        assert low <= event.time <= high
    assert names == ["narrow", "usual", "wide"] + (["wide"] if len(names) > 3 else [])


# ---------------------------------------------------------------------- times that are known


def test_periodic_and_scheduled_events_come_at_their_exact_times() -> None:
    model = Oscillator()
    system, found = System(model), []
    interval, start, single = 0.01, 0.003, 1 / 3
    system.add_event_handler(
        PeriodicEventHandler(interval, lambda state: found.append(state.time), start=start)
    )
    once: list[float] = []
    system.add_event_handler(
        ScheduledEventHandler(lambda state: once.append(state.time), next_time=single)
    )
    simulate(system, system.new_state(), 2.0)
    wanted = start + interval * np.arange(200)
    np.testing.assert_allclose(found, wanted[wanted <= 2.0], rtol=4e-16, atol=0)
    assert once == [single]
