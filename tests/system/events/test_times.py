"""Times of scheduled events: rounding swallows none and doubles none."""

import itertools
import math
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import State, System
from stagecache.errors import EventTimeError, NotANumberError, ReadOnlyError
from stagecache.system.events.handlers import (
    PeriodicEventHandler,
    PeriodicEventReporter,
    ScheduledEventHandler,
    ScheduledEventReporter,
)
from stagecache.system.events.times import CLOSE, FEW, SUMMED, next_periodic_time, rounding

INTERVALS = st.floats(1e-3, 1e4)
STARTS = st.just(0.0) | st.floats(-1e3, 1e3)


def nothing(state: State) -> None:
    pass


def visited(start: float, interval: float, ends: Iterable[float]) -> int:
    """Return how many events a study sees that begins at the start and stops at these times.

    It steps to the next event, or to where it stops, and asks once more there, as a time stepper
    does: the present time counts unless an event took place at a time that is equal to it.
    """
    time, count, handled = start, 0, -math.inf
    for end in ends:
        while True:
            is_new = abs(time - handled) > rounding(time, start, interval)
            due = next_periodic_time(time, start, interval, include_current_time=is_new)
            if due == time:
                count, handled = count + 1, time
            elif time < end:
                time = min(due, end)
            else:
                break
    return count


@given(STARTS, INTERVALS, st.integers(0, 300), st.floats(0.01, 0.99))
def test_a_periodic_event_takes_place_floor_of_duration_by_interval_plus_one_times(
    start: float, interval: float, periods: int, part: float
) -> None:
    for end in (start + (periods + part) * interval, start + periods * interval):
        assert visited(start, interval, [end]) == periods + 1


@given(STARTS, INTERVALS, st.integers(0, 300))
def test_an_end_that_is_a_sum_of_intervals_counts_as_the_time_of_the_last(
    start: float, interval: float, periods: int
) -> None:
    end = start
    for _ in range(periods):
        end += interval
    assert visited(start, interval, [end]) == periods + 1


@given(STARTS, INTERVALS, st.integers(1, 2000))
def test_after_each_of_the_sums_of_intervals_the_next_event_is_the_one_after_it(
    start: float, interval: float, periods: int
) -> None:
    time = start
    for k in range(periods):
        later = next_periodic_time(time, start, interval, include_current_time=False)
        assert later == start + (k + 1) * interval
        time += interval


@given(STARTS, INTERVALS, st.integers(0, 10_000))
def test_a_time_that_is_hardly_before_or_after_that_of_an_event_is_equal_to_it(
    start: float, interval: float, k: int
) -> None:
    exact = start + k * interval
    following = start + (k + 1) * interval
    for time in (math.nextafter(exact, -math.inf), exact, math.nextafter(exact, math.inf)):
        assert next_periodic_time(time, start, interval, include_current_time=True) == time
        assert next_periodic_time(time, start, interval, include_current_time=False) == following


@given(STARTS, INTERVALS, st.integers(1, 300))
def test_steps_to_sums_of_intervals_meet_each_event_once(
    start: float, interval: float, periods: int
) -> None:
    """As `step_to` of a time stepper is called in a loop, with report times that are added up."""
    ends = itertools.accumulate([interval] * periods, initial=start)
    assert visited(start, interval, ends) == periods + 1


@given(STARTS, INTERVALS, st.integers(0, 1000), st.floats(0.001, 0.999))
def test_between_two_events_the_next_one_is_the_later(
    start: float, interval: float, k: int, part: float
) -> None:
    time = start + (k + part) * interval
    for include in (True, False):
        due = next_periodic_time(time, start, interval, include_current_time=include)
        assert due == start + (k + 1) * interval


@given(STARTS, INTERVALS, st.floats(0.001, 1e3))
def test_before_the_start_the_next_event_is_the_first(
    start: float, interval: float, before: float
) -> None:
    time = start - before * interval
    assert next_periodic_time(time, start, interval, include_current_time=False) == start


@given(st.floats(-1e12, 1e12), st.floats(1e-12, 1e12), st.booleans())
def test_the_next_event_is_never_in_the_past(
    time: float,
    interval: float,
    include: bool,  # drawn
) -> None:
    due = next_periodic_time(time, 0.0, interval, include_current_time=include)
    assert due >= time if include else due > time


# ---------------------------------------------------------------------- several of them


def test_without_events_the_next_time_is_infinite() -> None:
    system = System()
    system.add_event_handler(ScheduledEventHandler(nothing, lambda state, include: math.inf))
    state = system.realize_topology()
    assert system.calc_time_of_next_scheduled_event(state) == (math.inf, ())
    assert system.calc_time_of_next_scheduled_report(state) == (math.inf, ())


def test_the_earliest_events_are_told_and_handlers_and_reporters_apart() -> None:
    system = System()
    system.add_event_handler(PeriodicEventHandler(0.25, nothing), "often")
    system.add_event_reporter(PeriodicEventReporter(0.125, nothing), "look")
    system.add_event_handler(PeriodicEventHandler(0.5, nothing), "seldom")
    system.add_event_handler(ScheduledEventHandler(nothing, 0.5), "once")
    state = system.new_state()
    found = []
    for time in (0.0, 0.25, 0.5):
        state.time = time
        due, events = system.calc_time_of_next_scheduled_event(state, include_current_time=False)
        found.append((due, [event.name for event in events]))
    assert found == [
        (0.25, ["often"]),
        (0.5, ["often", "seldom", "once"]),
        (0.75, ["often"]),
    ]
    time, (event,) = system.calc_time_of_next_scheduled_report(state)
    assert (time, event.name, event.is_report) == (0.5, "look", True)


@given(st.integers(1, 400), st.sampled_from([0.1, 0.3, 0.01, 1 / 3, 0.7]), st.integers(2, 9))
def test_events_of_several_periods_meet_where_they_must(
    count: int, interval: float, factor: int
) -> None:
    """An event of the long period is always told together with one of the short period."""
    long = 0.0
    for _ in range(factor):
        long += interval  # not always factor * interval
    system = System()
    system.add_event_handler(PeriodicEventHandler(interval, nothing), "short")
    system.add_event_handler(PeriodicEventHandler(long, nothing), "long")
    state = system.new_state()
    told: list[list[str]] = []
    for include in [True] + [False] * count:
        state.time, events = system.calc_time_of_next_scheduled_event(state, include)
        told.append([event.name for event in events])
    expected = [["short", "long"] if k % factor == 0 else ["short"] for k in range(count + 1)]
    assert told == expected


def test_a_time_that_rounding_sets_apart_is_the_one_of_the_event_that_has_no_other() -> None:
    exact = 0.1 + 0.2  # a little more than 0.3, and than 3 * 0.1 is nothing
    for once in (0.3, exact, math.nextafter(exact, 1)):
        system = System()
        system.add_event_handler(PeriodicEventHandler(0.1, nothing), "periodic")
        system.add_event_handler(ScheduledEventHandler(nothing, once), "once")
        state = system.new_state()
        state.time = 0.25
        time, events = system.calc_time_of_next_scheduled_event(state)
        assert (time, [event.name for event in events]) == (once, ["periodic", "once"])
        state.time = time
        time, events = system.calc_time_of_next_scheduled_event(state, include_current_time=False)
        assert (time, [event.name for event in events]) == (0.4, ["periodic"])


@given(st.floats(-1e6, 1e6), st.integers(-40, 20))
def test_times_are_told_apart_where_only_a_short_time_has_passed(
    origin: float, exponent: int
) -> None:
    time = origin + 2.0**exponent
    term = (time - origin) / SUMMED
    largest = max(abs(time), abs(origin))
    assert rounding(time, origin) <= max(CLOSE * term, FEW * math.ulp(largest))


@given(STARTS, INTERVALS, st.floats(-1e9, 1e9))
def test_rounding_is_less_than_half_of_an_interval(
    start: float, interval: float, time: float
) -> None:
    for shortest in (interval, math.ulp(max(abs(time), 1.0))):
        assert rounding(time, start, shortest) < shortest / 2


@pytest.mark.parametrize(
    ("start", "interval", "k"), [(0.0, 1.0, 1), (1e4, 1.0, 1), (0.0, 1 / 128, 2 * SUMMED)]
)
def test_a_unit_in_the_last_place_is_allowed_for_each_term_of_a_sum(
    start: float, interval: float, k: int
) -> None:
    exact = start + k * interval
    at = exact + max(SUMMED, k) * math.ulp(exact)
    for now, due in ((at, at), (math.nextafter(at, math.inf), exact + interval)):
        assert next_periodic_time(now, start, interval, include_current_time=True) == due


def test_times_that_differ_by_no_more_than_rounding_are_one() -> None:
    at = 4.0 + FEW * math.ulp(4.0)
    system = System()
    system.add_event_handler(ScheduledEventHandler(nothing, 4.0), "once")
    system.add_event_reporter(ScheduledEventReporter(nothing, 4.0), "first")
    system.add_event_reporter(ScheduledEventReporter(nothing, at), "second")
    system.add_event_reporter(ScheduledEventReporter(nothing, math.nextafter(at, 5)), "third")
    state = system.new_state()
    time, events = system.calc_time_of_next_scheduled_report(state)
    assert (time, [event.name for event in events]) == (at, ["first", "second"])
    for now, due in ((at, at), (math.nextafter(at, 8), math.inf)):
        state.time = now
        assert system.calc_time_of_next_scheduled_event(state)[0] == due


def test_what_takes_place_once_is_told_until_its_time_has_passed() -> None:
    system = System()
    system.add_event_reporter(ScheduledEventReporter(nothing, next_time=5), "once")
    state = system.new_state()
    assert system.calc_time_of_next_scheduled_report(state)[0] == 5
    state.time = 5.0
    assert system.calc_time_of_next_scheduled_report(state)[0] == 5
    assert system.calc_time_of_next_scheduled_report(state, include_current_time=False) == (
        math.inf,
        (),
    )
    state.time = 6.0
    assert system.calc_time_of_next_scheduled_report(state) == (math.inf, ())


class Doubling(ScheduledEventHandler):
    """Takes place at 1, 2, 4, 8, ... seconds."""

    def handle_event(self, state: State) -> None:
        """Do nothing."""

    def next_event_time(self, state: State, include_current_time: bool) -> float:
        time = 1.0
        while time < state.time or (time == state.time and not include_current_time):
            time *= 2
        return time


def test_a_subclass_says_itself_when_it_takes_place() -> None:
    system = System()
    system.add_event_handler(Doubling())
    state = system.new_state()
    times = []
    for _ in range(4):
        state.time, events = system.calc_time_of_next_scheduled_event(state, False)
        times.append(state.time)
    assert times == [1, 2, 4, 8]
    assert [event.name for event in events] == ["doubling"]


@pytest.mark.parametrize("time", [math.nan, None, "soon", (1.0, 2.0)])
def test_a_next_time_that_is_no_number_is_refused(time: float) -> None:
    system = System()
    system.add_event_handler(ScheduledEventHandler(nothing, lambda state, include: time), "clock")
    with pytest.raises(EventTimeError, match="clock") as caught:
        system.calc_time_of_next_scheduled_event(system.new_state())
    assert "inf" in caught.value.hint


def test_who_says_the_next_time_cannot_write_the_state_and_is_named_if_it_raises() -> None:
    def soon(state: State, include: bool) -> float:  # as it is called
        state.time = 3.0
        return 1.0

    system = System()
    system.add_event_handler(ScheduledEventHandler(nothing, soon), "eager")
    state = system.new_state()
    with pytest.raises(ReadOnlyError, match="only looks") as caught:
        system.calc_time_of_next_scheduled_event(state)
    assert caught.value.__notes__ == ["while the next time of the event eager was asked for"]
    assert state.time == 0
    state.time = 1.0  # can be written again


def test_whether_the_current_time_counts_must_be_a_truth_value() -> None:
    system = System()
    system.add_event_handler(PeriodicEventHandler(0.5, nothing))
    state = system.realize_topology()
    is_new = np.float64(0.25) != 0.25  # of a type of NumPy
    assert system.calc_time_of_next_scheduled_event(state, is_new)[0] == 0.5
    with pytest.raises(NotANumberError, match="include_current_time"):
        system.calc_time_of_next_scheduled_event(state, 1)  # type: ignore[arg-type]  # is refused
