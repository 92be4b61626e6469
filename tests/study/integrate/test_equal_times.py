"""Times that are equal but for rounding: handlers, reporters, rows and steps take them for one.

Against arithmetic with fractions, where equal times are equal.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import State, Subsystem, System, q_variable
from stagecache.study.integrate.integrator import Integrator
from stagecache.study.integrate.step_status import StepStatus
from stagecache.study.simulate import simulate
from stagecache.study.time_stepper import TimeStepper
from stagecache.system.events.handlers import (
    PeriodicEventHandler,
    PeriodicEventReporter,
    ScheduledEventHandler,
    ScheduledEventReporter,
)
from tests.profiles import examples

REPORT, END = StepStatus.REACHED_REPORT_TIME, StepStatus.END_OF_SIMULATION


class Clock(Subsystem):
    """Its place is the time."""

    place = q_variable(0.0)

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[0] = 1.0


class Log:
    """What has happened when: for each event, the times that it has seen."""

    def __init__(self, clock: Clock, *, writes: bool) -> None:
        self.clock = clock
        self.writes = writes
        self.times: dict[str, list[float]] = defaultdict(list)

    def handler(self, name: str) -> Callable[[State], None]:
        def handle(state: State) -> None:
            self.times[name].append(state.time)
            if self.writes:
                self.clock.place.set(state, state.time)

        return handle

    def reporter(self, name: str) -> Callable[[State], None]:
        return lambda state: self.times[name].append(state.time)


Series = tuple[Fraction, Fraction]
"""Start and interval."""

FRACTIONS = st.builds(Fraction, st.integers(1, 12), st.sampled_from([2, 3, 5, 7, 10, 20, 30]))
SERIES = st.tuples(st.just(Fraction(0)) | FRACTIONS, FRACTIONS)


def ticks(series: Series, end: Fraction) -> list[Fraction]:
    start, interval = series
    return [start + n * interval for n in range(max(math.floor((end - start) / interval) + 1, 0))]


def add_all(
    system: System, log: Log, handled: list[Series], reported: list[Series], once: list[Fraction]
) -> dict[str, Series | Fraction]:
    """Give the System all of these events, and return what they are, by name."""
    known: dict[str, Series | Fraction] = {}
    for i, (start, interval) in enumerate(handled):
        name = f"handler {i}"
        handler = PeriodicEventHandler(float(interval), log.handler(name), float(start))
        system.add_event_handler(handler, name)
        known[name] = (start, interval)
    for i, (start, interval) in enumerate(reported):
        name = f"reporter {i}"
        reporter = PeriodicEventReporter(float(interval), log.reporter(name), float(start))
        system.add_event_reporter(reporter, name)
        known[name] = (start, interval)
    for i, time in enumerate(once):
        name = f"once {i}"
        system.add_event_handler(ScheduledEventHandler(log.handler(name), float(time)), name)
        name = f"report {i}"
        system.add_event_reporter(ScheduledEventReporter(log.reporter(name), float(time)), name)
        known[f"once {i}"] = known[f"report {i}"] = time
    return known


def expected(known: dict[str, Series | Fraction], end: Fraction) -> dict[str, list[Fraction]]:
    return {
        name: ticks(what, end) if isinstance(what, tuple) else [what] * (what <= end)
        for name, what in known.items()
    }


def check(log: Log, known: dict[str, Series | Fraction], end: Fraction) -> None:
    """Each event took place once at each of its times, and those of one time saw one number."""
    numbers: dict[Fraction, set[float]] = defaultdict(set)
    for name, times in expected(known, end).items():
        seen = log.times[name]
        assert seen == pytest.approx([float(t) for t in times], abs=1e-11), name
        for exact, number in zip(times, seen, strict=True):
            numbers[exact].add(number)
    assert {t: len(n) for t, n in numbers.items() if len(n) > 1} == {}


def sums(step: Fraction, end: Fraction) -> list[float]:
    """Times that are added up, as in a loop."""
    number = math.floor(end / step)
    return list(itertools.accumulate([float(step)] * number))


@examples(200)
@given(
    handled=st.lists(SERIES, max_size=3),
    reported=st.lists(SERIES, max_size=3),
    once=st.lists(FRACTIONS, max_size=2),
    step=FRACTIONS,
    method=st.sampled_from(["RK23", "DOP853", "BDF", "LSODA", "Verlet"]),
    interpolates=st.booleans(),
    writes=st.booleans(),
    is_final=st.booleans(),
)
def test_events_take_place_once_and_in_the_step_to_a_sum_that_is_their_time(
    handled: list[Series],
    reported: list[Series],
    once: list[Fraction],
    step: Fraction,
    method: str,
    interpolates: bool,
    writes: bool,
    is_final: bool,
) -> None:
    clock = Clock()
    system = System(clock)
    log = Log(clock, writes=writes)
    known = add_all(system, log, handled, reported, once)
    times = sums(step, Fraction(3))
    final = float(len(times) * step) if is_final else math.inf
    integrator = Integrator(
        system, method, allow_interpolation=interpolates, final_time=final, max_step=0.7
    )
    stepper = TimeStepper(system, integrator, progress=False)
    stepper.initialize(system.realize_topology())
    for k, time in enumerate(times, 1):
        is_last = is_final and k == len(times)
        assert stepper.step_to(time) is (END if is_last else REPORT)
        assert stepper.time == (final if is_last else time)
        check(log, known, k * step)


@examples(150)
@given(
    handled=st.lists(SERIES, max_size=3),
    reported=st.lists(SERIES, max_size=3),
    once=st.lists(FRACTIONS, max_size=2),
    every=st.none() | FRACTIONS,
    end=FRACTIONS,
    begin=st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(-3, 10)]),
    writes=st.booleans(),
)
def test_rows_and_events_of_a_simulation_share_their_times(
    handled: list[Series],
    reported: list[Series],
    once: list[Fraction],
    every: Fraction | None,
    end: Fraction,
    begin: Fraction,
    writes: bool,
) -> None:
    clock = Clock()
    system = System(clock)
    log = Log(clock, writes=writes)
    later = [(begin + start, interval) for start, interval in [*handled, *reported]]
    known = add_all(
        system, log, later[: len(handled)], later[len(handled) :], [begin + t for t in once]
    )
    state = system.new_state()
    state.time = float(begin)
    trajectory = simulate(
        system,
        state,
        float(begin + end),
        every=None if every is None else float(every),
        progress=False,
    )
    check(log, known, begin + end)
    if every is not None:
        rows = [float(t) for t in ticks((begin, every), begin + end)]
        if end % every:
            rows.append(float(begin + end))
        assert trajectory.times.tolist() == pytest.approx(rows, abs=1e-12)
        seen = {t for times in log.times.values() for t in times}
        for time in rows:
            equal = {t for t in seen if abs(t - time) < 1e-11}
            assert equal <= set(trajectory.times)


def test_a_series_of_reports_and_one_of_handlers_meet_at_times_that_rounding_sets_apart() -> None:
    clock = Clock()
    system = System(clock)
    log = Log(clock, writes=False)
    system.add_event_handler(PeriodicEventHandler(0.3, log.handler("h")), "h")
    system.add_event_reporter(PeriodicEventReporter(0.1, log.reporter("r")), "r")
    simulate(system, system.realize_topology(), 2.0, every=0.1, progress=False)
    assert (len(log.times["h"]), len(log.times["r"])) == (7, 21)
    assert set(log.times["h"]) < set(log.times["r"])


@pytest.mark.parametrize("begin", [0.0, -1e3, 1.7e9])
def test_events_that_are_apart_stay_apart_far_from_zero(begin: float) -> None:
    """Seconds since 1970, of which a float holds a quarter of a microsecond."""
    clock = Clock()
    system = System(clock)
    log = Log(clock, writes=True)
    gap = 1e-5
    for i in range(5):
        once = ScheduledEventHandler(log.handler(f"{i}"), begin + 0.5 + i * gap)
        system.add_event_handler(once, f"{i}")
    system.add_event_handler(PeriodicEventHandler(1e-3, log.handler("often"), begin), "often")
    state = system.new_state()
    state.time = begin
    simulate(system, state, begin + 1.0, every=0.25, progress=False)
    assert [len(log.times[f"{i}"]) for i in range(5)] == [1] * 5
    assert len({t for i in range(5) for t in log.times[f"{i}"]}) == 5
    assert len(log.times["often"]) == 1001


def multiples(interval: float) -> Callable[[State, bool], float]:
    """The next multiple, computed as a user would, who does not think of rounding."""

    def next_time(state: State, include_current_time: bool) -> float:
        n = math.floor(state.time / interval)
        while n * interval < state.time or (
            n * interval == state.time and not include_current_time
        ):
            n += 1
        return n * interval

    return next_time


@pytest.mark.parametrize("step", [0.1, 0.05, 0.3, 0.025])
@pytest.mark.parametrize("method", ["DOP853", "LSODA"])
def test_times_that_a_function_computes_without_thought_of_rounding_come_once(
    step: float, method: str
) -> None:
    clock = Clock()
    system = System(clock)
    log = Log(clock, writes=True)
    system.add_event_handler(ScheduledEventHandler(log.handler("h"), multiples(0.1)), "h")
    system.add_event_reporter(ScheduledEventReporter(log.reporter("r"), multiples(0.1)), "r")
    stepper = TimeStepper(system, Integrator(system, method), progress=False)
    stepper.initialize(system.realize_topology())
    time = 0.0
    for _ in range(round(3 / step)):
        time += step
        stepper.step_to(time)
    for name in "hr":
        assert log.times[name] == pytest.approx([k * 0.1 for k in range(31)], abs=1e-12)
