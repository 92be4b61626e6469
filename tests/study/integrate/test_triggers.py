"""Event triggers: which changes of sign are events, how exactly they are found, in which order."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import (
    Stage,
    State,
    Subsystem,
    TriggerDirection,
    TriggeredEventHandler,
    event_trigger,
    q_variable,
    u_variable,
    z_variable,
)
from stagecache.errors import NotFiniteError, OutOfRangeError
from stagecache.state.handles import Vector
from stagecache.study.integrate.integrator import Integrator
from stagecache.study.integrate.localization import TriggeredEvent, TriggerWatch, Window
from stagecache.system.events.events import Event, EventTriggerInfo
from tests.profiles import examples
from tests.study.integrating import (
    METHODS,
    REPORT,
    SCHEDULED,
    START,
    TRIGGER,
    integrating,
    run,
    run_to,
)
from tests.study.models import Oscillator, state_of

METHOD = pytest.mark.parametrize("method", METHODS)
TIME_SCALE = 0.1  # the default of a System


class Swinging(Oscillator):
    """cos 2t, with triggers when it passes levels."""

    @event_trigger(stage=Stage.POSITION, direction="falling")
    def down(self, state: State) -> float:
        return self.place(state)

    @event_trigger(stage=Stage.POSITION, direction="rising")
    def up(self, state: State) -> float:
        return self.place(state) + 0.5


def events_of(integrator: Integrator, time: float) -> list[tuple[str, bool, float]]:
    """Which events are triggered up to a time; nothing is done about them."""
    found = []
    for status in run(integrator, time):
        if status is TRIGGER:
            low, high = integrator.event_window
            assert integrator.time == low < high == integrator.advanced_time
            assert type(low) is type(high) is type(integrator.state.time) is float
            events = integrator.triggered_events
            assert all(low <= event.time <= high for event in events)
            found += [(event.info.name, event.is_rising, event.time) for event in events]
    return found


@METHOD
def test_events_happen_in_their_direction_at_the_times_of_the_solution(method: str) -> None:
    accuracy = 1e-3 if method in ("Euler", "Verlet") else 1e-5
    found = events_of(integrating(Swinging(), method, accuracy=accuracy), 7.0)
    down = [(math.pi / 4) + k * math.pi for k in range(2)]
    up = [(2 * math.pi - math.acos(-0.5)) / 2 + k * math.pi for k in range(2)]
    expected = sorted(
        [("swinging.down", False, t) for t in down] + [("swinging.up", True, t) for t in up],
        key=lambda event: event[2],
    )
    assert [event[:2] for event in found] == [event[:2] for event in expected]
    np.testing.assert_allclose(
        [event[2] for event in found],
        [event[2] for event in expected],
        atol=0.05 if method == "Euler" else 50 * accuracy,
    )


@METHOD
def test_the_window_is_as_narrow_as_it_is_to_be(method: str) -> None:
    accuracy = 1e-3
    integrator = integrating(Swinging(), method, accuracy=accuracy)
    count = 0
    for status in run(integrator, 7.0):
        if status is TRIGGER:
            low, high = integrator.event_window
            assert high - low <= 0.1 * accuracy * TIME_SCALE
            assert integrator.state.time == low
            before = integrator.state.q[0]
            assert integrator.advanced_state.time == high
            after = integrator.advanced_state.q[0]
            level = -0.5 if integrator.triggered_events[0].is_rising else 0.0
            assert min(before, after) <= level + 1e-3
            assert max(before, after) >= level - 1e-3
            count += 1
    assert count == 4


def test_reports_are_never_inside_a_window_and_come_in_order() -> None:
    """Also a report at the very time of the event, or one bit beside it."""
    exact = math.pi / 4
    close = [exact + k * math.ulp(exact) * 2**j for j in range(0, 40, 3) for k in (-1, 0, 1)]
    integrator = integrating(Swinging(), accuracy=1e-6)
    integrator.step_to(3.0)
    seen = []
    for time in sorted(close):
        while True:
            status = integrator.step_to(time)
            seen.append((integrator.time, status))
            if status is REPORT:
                assert integrator.time == integrator.state.time == time
                break
            assert status is TRIGGER
            low, high = integrator.event_window
            assert not [t for t in close if low < t < high]
    assert [status for _, status in seen].count(TRIGGER) == 1
    times = [time for time, _ in seen]
    assert times == sorted(times)


def test_an_event_that_changes_the_state_begins_a_new_interval() -> None:
    """A ball that falls from 1, and is thrown back with half its speed."""
    ball = Ball()
    integrator = integrating(ball, accuracy=1e-8)
    hits = []
    for status in run(integrator, 1.2):
        if status is TRIGGER:
            hits.append(integrator.triggered_events[0].time)
            state = integrator.advanced_state
            ball.speed.set(state, -ball.speed(state) / 2)
            integrator.reinitialize(Stage.VELOCITY)
            assert integrator.step_to(1.2) is START
            assert integrator.time == integrator.advanced_time == integrator.event_window[1]
    first = math.sqrt(2 / 10)
    np.testing.assert_allclose(hits, [first, 2 * first, 2.5 * first], atol=1e-6)


class Ball(Subsystem):
    """A height above the floor, with gravity 10."""

    height = q_variable(1.0)
    speed = u_variable(0.0)

    @event_trigger(stage=Stage.POSITION, direction="falling")
    def floor(self, state: State) -> float:
        return self.height(state)

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[0] = self.speed(state)

    def realize_acceleration(self, state: State) -> None:
        state[self].upd_udot()[0] = -10.0


# ---------------------------------------------------------------------- within a step


class Thrown(Subsystem):
    """A place whose time derivative is a polynomial, so that steps may be of any length."""

    place = q_variable(0.0)

    def __init__(self, roots: list[float]) -> None:
        self.polynomial = np.polynomial.Polynomial.fromroots(roots)
        self.rate = self.polynomial.deriv()

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[0] = self.rate(state.time)

    @event_trigger(stage=Stage.POSITION)
    def zero(self, state: State) -> float:
        return self.place(state)


@pytest.mark.parametrize("method", ["RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA"])
@examples(15)
@given(
    roots=st.lists(st.integers(1, 400), min_size=1, max_size=3, unique=True),
    step=st.floats(1.0, 100.0),
)
def test_a_trigger_that_is_a_cubic_is_followed_in_steps_of_any_length(
    method: str, roots: list[int], step: float
) -> None:
    """Both changes of sign are found that lie between two ends of a step."""
    exact = sorted(root / 100 for root in roots)
    model = Thrown(exact)
    _, state = state_of(model)
    model.place.set(state, model.polynomial(0.0))
    is_exact = method in ("RK23", "RK45", "DOP853")
    options = {"fixed_step": step} if is_exact else {"max_step": 2.0}
    integrator = integrating(model, method, state, accuracy=1e-6, **options)
    found = events_of(integrator, 5.0)
    assert [time for _, _, time in found] == pytest.approx(exact, abs=1e-6 if is_exact else 1e-3)
    signs = [rising for _, rising, _ in found]
    assert signs == [(len(exact) - i) % 2 == 1 for i in range(len(exact))]


class Mixed(Oscillator):
    """A sin(2t + phase) - level, of the place and the speed of an oscillator."""

    def __init__(self, phase: float, level: float) -> None:
        self.phase, self.level = phase, level

    @event_trigger(stage=Stage.VELOCITY)
    def level_is_passed(self, state: State) -> float:
        place, speed = self.place(state), self.speed(state) / 2
        return math.sin(self.phase) * place - math.cos(self.phase) * speed - self.level


@METHOD
@examples(25)
@given(
    phase=st.floats(0.0, 6.28),
    depth=st.floats(0.02, 0.5),
    sign=st.sampled_from([-1, 1]),
)
def test_a_wave_that_passes_a_level_within_a_step_is_found(
    method: str, phase: float, depth: float, sign: int
) -> None:
    """sin(2t + phase) is beyond a level for a short while, in each period."""
    level = sign * (1 - depth)
    accuracy = 1e-4
    integrator = integrating(Mixed(phase, level), method, accuracy=accuracy)
    end = 7.0 if method in ("Euler", "Verlet") else 20.0
    found = [time for _, _, time in events_of(integrator, end)]
    width = math.acos(1 - depth)
    middle = (sign * math.pi / 2 - phase) / 2
    turns = [middle + k * math.pi for k in range(-3, 9)]
    exact = sorted(t + side * width / 2 for t in turns for side in (-1, 1))
    close = 0.02 / math.sqrt(depth) if method == "Euler" else 0.005 / math.sqrt(depth)
    sure = [t for t in exact if close < t < end - close]
    missing = [t for t in sure if not any(abs(t - other) < close for other in found)]
    invented = [t for t in found if not any(abs(t - other) < close for other in exact)]
    assert (missing, invented) == ([], [])


SHAPES: dict[str, Callable[[float, float, float], float]] = {
    "product": lambda x, low, high: (x - low) * (x - high),
    "least": lambda x, low, high: min(x - low, high - x),
    "cubic": lambda x, low, high: (x - low) * (x - high) * (x + low),
    "wave": lambda x, low, _: math.sin(2 * x) - low,
}


class Bent(Oscillator):
    """A trigger that is no linear function of the place, and turns more often than it."""

    def __init__(self, shape: str, low: float, high: float) -> None:
        self.shape, self.low, self.high = shape, low, high

    @event_trigger(stage=Stage.POSITION)
    def bent(self, state: State) -> float:
        return SHAPES[self.shape](self.place(state), self.low, self.high)


@examples(60)
@given(
    shape=st.sampled_from(list(SHAPES)),
    low=st.floats(-0.9, 0.9),
    high=st.floats(-0.9, 0.9),
    accuracy=st.sampled_from([1e-2, 1e-3, 1e-5]),
)
def test_what_turns_more_often_than_steps_end_is_followed(
    shape: str, low: float, high: float, accuracy: float
) -> None:
    """The method has steps of about a third of a period at these accuracies."""
    end, calc = 12.0, SHAPES[shape]
    times = np.linspace(0.0, end, 24001)
    values = np.array([calc(Oscillator.solution(t)[0], low, high) for t in times])
    rows = np.flatnonzero(values[:-1] * values[1:] < 0)
    exact = times[rows]
    depths = [np.abs(part).max() for part in np.split(values, rows + 1)]
    integrator = integrating(Bent(shape, low, high), "DOP853", accuracy=accuracy)
    found = np.array([t for _, _, t in events_of(integrator, end)])
    error = 20 * accuracy  # of the place, in the end
    sure = [t for t, *d in zip(exact, depths, depths[1:], strict=False) if min(d) > 8 * error]
    missing = [t for t in sure if not (np.abs(found - t) < math.sqrt(error)).any()]
    invented = [t for t in found if abs(calc(Oscillator.solution(t)[0], low, high)) > 8 * error]
    assert (missing, invented) == ([], [])


def test_a_step_that_begins_at_zero_and_ends_below_it_may_have_been_above() -> None:
    """Free fall is no work for a method: its steps are longer than the flights."""
    for height in (-1e-9, 0.0):
        ball = Ball()
        _, state = state_of(ball)
        ball.height.set(state, height)
        ball.speed.set(state, 2.0)
        integrator = integrating(ball, state=state, fixed_step=5.0)
        assert [t for _, _, t in events_of(integrator, 5.0)] == pytest.approx([0.4], abs=1e-4)


class Watching(Oscillator):
    """With a trigger that never takes place."""

    @event_trigger(stage=Stage.POSITION)
    def far(self, state: State) -> float:
        return self.place(state) - 9.0


@METHOD
def test_a_trigger_that_is_far_from_zero_changes_no_step_and_costs_its_value_at_most(
    method: str,
) -> None:
    plain, watched = (
        integrating(model(), method, accuracy=1e-3) for model in (Oscillator, Watching)
    )
    for integrator in (plain, watched):
        run_to(integrator, 10.0)
    counts = [integrator.statistics for integrator in (plain, watched)]
    assert counts[0].num_steps_taken == counts[1].num_steps_taken
    np.testing.assert_array_equal(plain.state.y, watched.state.y)
    more = counts[1].num_realizations - counts[0].num_realizations
    # Where the end of a step is realized already, its triggers are known. The slopes that are
    # looked at after each long step, those of DOP853, are not.
    is_there = method in ("RK23", "RK45", "Euler", "Verlet")
    assert more <= (20 if is_there else counts[1].num_steps_taken + 20)


def test_a_trigger_does_not_keep_steps_short() -> None:
    class Slow(Subsystem):
        """Decays within weeks."""

        warmth = z_variable(1.0)

        def realize_dynamics(self, state: State) -> None:
            state[self].upd_zdot()[0] = -1e-6 * self.warmth(state)

        @event_trigger(stage=Stage.DYNAMICS)
        def half(self, state: State) -> float:
            return self.warmth(state) - 0.5

    integrator = integrating(Slow(), accuracy=1e-6)
    ((_, _, time),) = events_of(integrator, 3e6)
    assert time == pytest.approx(math.log(2) * 1e6, rel=1e-5)
    assert integrator.statistics.num_steps_taken < 60


# ---------------------------------------------------------------------- functions of time


class OfTime(Subsystem):
    """A trigger that is a function of the time, beside an oscillator."""

    def __init__(self, function: Callable[[float], Any], size: int = 1) -> None:
        self.function = function
        self.size = size

    @event_trigger(stage=Stage.TIME, size=lambda self, state: self.size)
    def watched(self, state: State) -> Any:
        return self.function(state.time)


def times_of(function: Callable[[float], Any], time: float = 3.0, size: int = 1) -> list[float]:
    model = Oscillator()
    _, state = state_of(model, OfTime(function, size))
    integrator = integrating(model, state=state, accuracy=1e-4, max_step=0.25)
    return [event[2] for event in events_of(integrator, time)]


def test_leaving_zero_is_no_event_and_reaching_it_is() -> None:
    assert times_of(lambda t: t) == []
    assert times_of(lambda t: -t) == []
    assert times_of(lambda t: max(0.0, t - 1.0)) == []
    assert times_of(lambda t: min(0.0, t - 1.0)) == pytest.approx([1.0], abs=1e-5)
    assert times_of(lambda t: max(0.0, 1.0 - t)) == pytest.approx([1.0], abs=1e-5)
    assert times_of(lambda t: 0.0 if t < 1 else 2.0 - t) == pytest.approx([2.0], abs=1e-5)


@examples(25)
@given(st.floats(0.05, 2.9), st.sampled_from([-1.0, 1.0]), st.floats(1e-3, 1e6))
def test_a_trigger_that_jumps_is_found(time: float, sign: float, size: float) -> None:
    found = times_of(lambda t: sign if t < time else -sign * size)
    assert found == pytest.approx([time], abs=0.1 * 1e-4 * TIME_SCALE)


@pytest.mark.parametrize("every", [0.1, 0.01])
def test_what_jumps_there_and_back_is_found_if_somebody_looks_as_often(every: float) -> None:
    class Blinking(Oscillator):
        """On for a little longer than the time between looks, at odd times."""

        @event_trigger(stage=Stage.TIME, look_every=every)
        def light(self, state: State) -> float:
            return 1.0 if (state.time % 1.0) > 1.1 * every else -1.0

    integrator = integrating(Blinking(), accuracy=1e-2)
    found = events_of(integrator, 10.5)
    edges = [k + side for k in range(11) for side in (0.0, 1.1 * every)][1:]
    assert [time for _, _, time in found] == pytest.approx(edges, abs=1e-3)


@pytest.mark.parametrize("look_every", [0.0, -1.0, math.inf, math.nan])
def test_the_time_between_two_looks_is_positive_and_finite(look_every: float) -> None:
    with pytest.raises(OutOfRangeError, match=r"event_trigger\(look_every"):
        event_trigger(stage=Stage.TIME, look_every=look_every)
    with pytest.raises(OutOfRangeError, match=r"TriggeredEventHandler\(look_every"):
        TriggeredEventHandler(Stage.TIME, lambda s: 1.0, lambda s: None, look_every=look_every)


def test_the_time_between_two_looks_is_told() -> None:
    handler = TriggeredEventHandler(Stage.TIME, lambda s: 1.0, lambda s: None, look_every=2)
    assert handler.look_every == 2.0
    assert not handler.initially
    system, state = state_of(Oscillator(), stage=Stage.INSTANCE)
    system.add_event_handler(handler)
    system.realize(state := system.new_state(), Stage.INSTANCE)
    assert [info.look_every for info in system.calc_event_trigger_info(state)] == [2.0]


def test_a_trigger_may_be_infinite() -> None:
    assert times_of(lambda t: 1 / (t - 1.0) if t != 1.0 else math.inf) == pytest.approx(
        [1.0], abs=1e-5
    )
    assert times_of(lambda t: -math.inf if t < 1.3 else math.inf) == pytest.approx([1.3], abs=1e-5)
    assert times_of(lambda t: math.inf) == []


def test_a_trigger_that_jumps_to_zero_and_stays_is_one_event() -> None:
    assert times_of(lambda t: 1.0 if t < 1.3 else 0.0) == pytest.approx([1.3], abs=1e-5)
    assert times_of(lambda t: 0.0 if t < 1.3 else 1.0) == []


def test_what_happens_at_the_same_time_is_told_together() -> None:
    model = Oscillator()
    _, state = state_of(
        model, OfTime(lambda t: np.array([t - 1.1, 2.2 - 2 * t, t - 2.0, t - 1.1 - 1e-9]), 4)
    )
    integrator = integrating(model, state=state, accuracy=1e-4)
    together = [
        [event.info.name for event in integrator.triggered_events]
        for status in run(integrator, 3.0)
        if status is TRIGGER
    ]
    names = [[f"of_time.watched[{i}]" for i in indices] for indices in ([0, 1, 3], [2])]
    assert [sorted(group) for group in together] == names


def test_a_scheduled_event_in_the_window_of_a_triggered_one_is_where_it_ends() -> None:
    model = Oscillator()
    _, state = state_of(model, OfTime(lambda t: t - 1.1))
    integrator = integrating(model, state=state, accuracy=1e-2)
    statuses = [integrator.step_to(2.0, 1.1)]
    while statuses[-1] is not SCHEDULED:
        statuses.append(integrator.step_to(2.0, 1.1))
    assert statuses == [START, TRIGGER, SCHEDULED]
    assert integrator.advanced_time == 1.1 == integrator.event_window[1]


# ---------------------------------------------------------------------- the search alone


def watch_of(*directions: TriggerDirection, unit: float = 1e-6) -> TriggerWatch:
    event = Event(0, "test")
    infos = [
        EventTriggerInfo(event, f"row {i}", i, Stage.TIME, direction, 0.1)
        for i, direction in enumerate(directions)
    ]
    return TriggerWatch(infos, unit)


@examples(200)
@given(
    st.lists(st.floats(0.01, 0.99), min_size=1, max_size=4),
    st.lists(st.sampled_from(["line", "cubic", "step", "steep", "flat"]), min_size=4, max_size=4),
    st.lists(st.sampled_from([-1.0, 1.0]), min_size=4, max_size=4),
)
def test_the_earliest_change_is_found_whatever_the_triggers_look_like(
    roots: list[float], shapes: list[str], signs: list[float]
) -> None:
    watch = watch_of(*[TriggerDirection.ANY] * len(roots))
    functions: dict[str, Callable[[float], float]] = {
        "line": lambda s: s,
        "cubic": lambda s: s**3,
        "step": lambda s: -1.0 if s < 0 else 1e3,
        "steep": lambda s: math.tanh(1e5 * s),
        "flat": lambda s: math.copysign(s * s, s),
    }
    count = 0

    def read(t: float) -> Vector:
        nonlocal count
        count += 1
        rows = zip(roots, shapes, signs, strict=False)
        return np.array([sign * functions[shape](t - root) for root, shape, sign in rows])

    window = watch.localize(Window(0.0, 1.0, read(0.0), read(1.0)), read)
    assert window.low < min(roots) <= window.high
    assert window.width <= 1e-7
    assert count <= 100
    events = watch.events(window)
    assert {event.info.index for event in events} == {
        i for i, root in enumerate(roots) if window.low < root <= window.high
    }
    assert all(event.is_rising == (signs[event.info.index] > 0) for event in events)


@given(
    st.floats(-2, 2, allow_subnormal=False),
    st.floats(-2, 2, allow_subnormal=False),
    st.sampled_from(list(TriggerDirection)),
)
def test_signs_decide_as_documented(before: float, after: float, direction: object) -> None:
    assert isinstance(direction, TriggerDirection)
    watch = watch_of(direction)
    is_event = bool(watch.changed(np.array([before]), np.array([after])).size)
    rises, falls = before < 0 <= after, before > 0 >= after
    expected = {"rising": rises, "falling": falls, "any": rises or falls}[direction.value]
    assert is_event == expected
    if is_event:
        (event,) = watch.events(Window(0.0, 1.0, np.array([before]), np.array([after])))
        assert isinstance(event, TriggeredEvent)
        assert event.is_rising == rises
        assert 0 <= event.time <= 1


def test_a_smooth_trigger_costs_few_evaluations() -> None:
    watch, count = watch_of(TriggerDirection.ANY, unit=1e-12), 0

    def read(t: float) -> Vector:
        nonlocal count
        count += 1
        return np.array([math.cos(t)])

    window = watch.localize(Window(0.0, 2.0, read(0.0), read(2.0)), read)
    assert window.low < math.pi / 2 <= window.high
    assert window.width <= 1e-13 or window.width <= 8 * math.ulp(2.0)
    assert count <= 25


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize("when", [-1.0, 1.0])
def test_a_trigger_that_is_no_number_is_refused_by_its_name(when: float) -> None:
    model = Oscillator()
    _, state = state_of(model, OfTime(lambda t: math.nan if t > when else 1.0))
    if when < 0:
        with pytest.raises(
            NotFiniteError, match=r"of_time\.watched: not a number at t = 0"
        ) as caught:
            integrating(model, state=state)
        assert "was initialized" in caught.value.__notes__[0]
        return
    integrator = integrating(model, state=state, accuracy=1e-4, max_step=0.1)
    with pytest.raises(NotFiniteError, match=r"of_time\.watched: not a number at t = ") as caught:
        run_to(integrator, 2.0)
    assert "to which the State has returned" in caught.value.__notes__[0]
    last = integrator.advanced_time
    assert 0.5 < last == integrator.time == integrator.state.time <= 1.0
    np.testing.assert_allclose(integrator.state.y, Oscillator.solution(last), atol=1e-2)
    with pytest.raises(NotFiniteError):
        run_to(integrator, 2.0)
    assert integrator.advanced_time == last


# ---------------------------------------------------------------------- when they are computed


class Counted(Swinging):
    """Counts how often a trigger is computed; its hook reads it, if it is asked to."""

    count = 0
    has_reader = False
    seen: list[tuple[float, float]]

    @event_trigger(stage=Stage.POSITION)
    def watched(self, state: State) -> float:
        type(self).count += 1
        return self.place(state) - 0.3

    def realize_acceleration(self, state: State) -> None:
        super().realize_acceleration(state)
        if self.has_reader:
            triggers = state[self].event_triggers_by_stage(Stage.POSITION)
            self.seen.append((float(triggers[-1]), float(state.q[0]) - 0.3))


@pytest.mark.parametrize("until", [1.0, 10.0])
def test_triggers_are_computed_at_the_ends_of_steps_only(until: float) -> None:
    Counted.count = 0
    integrator = integrating(Counted(), "DOP853", accuracy=1e-6, fixed_step=0.01)
    run_to(integrator, until)
    statistics = integrator.statistics
    assert statistics.num_steps_taken >= 100 * until
    assert statistics.num_realizations > 10 * statistics.num_steps_taken
    assert Counted.count < 4 * statistics.num_steps_taken


@METHOD
def test_a_hook_that_reads_triggers_finds_those_of_its_time(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Counted, "has_reader", True)
    monkeypatch.setattr(Counted, "seen", [], raising=False)
    run_to(integrating(Counted(), method, accuracy=1e-3), 2.0)
    assert len(Counted.seen) > 20
    found, expected = np.array(Counted.seen).T
    assert found.tolist() == expected.tolist()


@METHOD
def test_a_state_that_is_handed_out_has_the_triggers_of_its_time(method: str) -> None:
    integrator = integrating(Counted(), method, accuracy=1e-3)
    system = integrator.system
    for time in (0.5, 1.0, 1.5):
        run_to(integrator, time)
        for state in (integrator.state, integrator.advanced_state):
            system.realize(state, Stage.ACCELERATION)
            expected = [state.q[0], state.q[0] + 0.5, state.q[0] - 0.3]
            assert sorted(state.event_triggers) == pytest.approx(sorted(expected), abs=1e-15)
            copy = state.copy(keep_cache=True)
            assert copy.event_triggers.tolist() == state.event_triggers.tolist()
            mark = integrator.advanced_state.checkpoint()
            integrator.advanced_state.rollback(mark)
            assert integrator.advanced_state.q[0] in integrator.advanced_state.event_triggers
