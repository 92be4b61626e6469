"""Changes of sign that handlers bring: which are events, in which order, and where they end.

A change of sign is an event, whether time or a write brings it. What handlers change is compared
with what was before them, at the same time, again and again, until no sign changes any more.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import (
    EventAction,
    EventCause,
    Integrator,
    PeriodicEventHandler,
    ScheduledEventHandler,
    ScheduledEventReporter,
    Stage,
    State,
    StepStatus,
    Subsystem,
    System,
    TimeStepper,
    TriggeredEventHandler,
    TriggeredEventReporter,
    auto_update,
    discrete,
    event_trigger,
    parameter,
    q_variable,
    simulate,
    u_variable,
    z_variable,
)
from stagecache.errors import (
    DeclarationError,
    EventHandlerError,
    EventLoopError,
    NotANumberError,
)
from stagecache.state.handles import Vector
from stagecache.study.integrate.integrator import MOST_ROUNDS
from tests.profiles import examples
from tests.study.models import Rod

REPORT, END = StepStatus.REACHED_REPORT_TIME, StepStatus.END_OF_SIMULATION
START, TRIGGER = StepStatus.START_OF_CONTINUOUS_INTERVAL, StepStatus.REACHED_EVENT_TRIGGER
SCHEDULED = StepStatus.REACHED_SCHEDULED_EVENT


def stepping(system: System, **options: Any) -> TimeStepper:
    """A time stepper at the beginning."""
    each = options.pop("each", False)
    state = options.pop("state", None) or system.realize_topology()
    integrator = Integrator(system, **options)
    stepper = TimeStepper(system, integrator, report_all_significant_states=each, progress=False)
    stepper.initialize(state)
    return stepper


NUMBERS: tuple[float, ...] = ()
TIMES: tuple[tuple[float, float], ...] = ()


class Level(Subsystem):
    """A number that handlers write; time changes nothing but a clock."""

    value = discrete(-1.0, invalidates=Stage.DYNAMICS)
    clock = z_variable(0.0)

    def realize_dynamics(self, state: State) -> None:
        state[self].upd_zdot()[0] = 1.0


def name_of(time: float) -> str:
    """That of a handler which writes at a time; a dot must not be in it."""
    return f"at {time:g}".replace(".", "_")


def watching(
    start: float, direction: str, *writes: tuple[float, float]
) -> tuple[list[float], Level]:
    """The times at which a trigger takes place, whose value is written at these times."""
    level = Level()
    system = System(level)
    found: list[float] = []
    for time, value in writes:
        write = partial(level.value.set, value=value)
        system.add_event_handler(ScheduledEventHandler(write, time), name_of(time))
    system.add_event_handler(
        TriggeredEventHandler(
            Stage.DYNAMICS, level.value, lambda s: found.append(s.time), direction
        ),
        "watch",
    )
    state = system.new_state()
    level.value.set(state, start)
    stepping(system, state=state).step_to(10.0)
    return found, level


@pytest.mark.parametrize("before", [-2.0, -0.0, 0.0, 3.0])
@pytest.mark.parametrize("after", [-1.0, 0.0, 5.0])
@pytest.mark.parametrize("direction", ["rising", "falling", "any"])
def test_a_write_counts_as_time_does(before: float, after: float, direction: str) -> None:
    """Reaching zero is an event, leaving it is not, and which direction counts is the same."""
    found, _ = watching(before, direction, (2.0, after))
    rises, falls = before < 0 <= after, before > 0 >= after
    expected = {"rising": rises, "falling": falls, "any": rises or falls}[direction]
    assert found == [2.0] * expected


def test_a_trigger_that_reaches_zero_by_one_write_is_no_second_event_at_the_next() -> None:
    assert watching(1.0, "any", (1.0, 0.0), (2.0, -1.0), (3.0, 0.0), (4.0, 1.0))[0] == [1.0, 3.0]
    assert watching(1.0, "any", (1.0, 0.0), (2.0, 1.0), (3.0, -1.0))[0] == [1.0, 3.0]


# ---------------------------------------------------------------------- a room with a thermostat


class Room(Subsystem):
    """Heated below `low`, until it is at `high`; towards 5 degrees otherwise."""

    low = parameter(19.0)
    high = parameter(21.0)
    heats = discrete(False, invalidates=Stage.DYNAMICS)
    temperature = z_variable(20.0)
    rate = 1 / 2000.0
    power = 0.0125

    def realize_dynamics(self, state: State) -> None:
        heating = self.power if self.heats(state) else 0.0
        loss = self.rate * (self.temperature(state) - 5.0)
        state[self].upd_zdot()[0] = heating - loss

    @event_trigger(stage=Stage.DYNAMICS, direction="rising", initially=True)
    def warm(self, state: State) -> float:
        return self.temperature(state) - self.high(state)

    @warm.handler
    def off(self, state: State) -> None:
        self.heats.set(state, False)

    @event_trigger(stage=Stage.DYNAMICS, direction="falling", initially=True)
    def cold(self, state: State) -> float:
        return self.temperature(state) - self.low(state)

    @cold.handler
    def on(self, state: State) -> None:
        self.heats.set(state, True)


def exact_thermostat(
    start: float, heats: bool, settings: list[tuple[float, float, float]], end: float
) -> list[tuple[float, bool, float]]:
    """When it switches, to what, and how warm it is then; by solving for the times.

    Parameters
    ----------
    settings : list of (time, low, high)
    """
    found = []
    now, warmth, (low, high) = 0.0, start, settings[0][1:]
    changes = [*settings[1:], (end, 0.0, 0.0)]

    def switch() -> bool:
        if warmth >= high - 1e-12 and heats:
            return False
        return True if warmth <= low + 1e-12 and not heats else heats

    for time, next_low, next_high in changes:
        while True:
            if switch() is not heats:
                heats = not heats
                found.append((now, heats, warmth))
            goal = 5.0 + (Room.power / Room.rate if heats else 0.0)
            level = high if heats else low
            ratio = (warmth - goal) / (level - goal) if level != goal else -1.0
            due = now + math.log(ratio) / Room.rate if ratio > 0 else math.inf
            if not now < due < time:
                break
            now, warmth = due, level
        warmth = goal + (warmth - goal) * math.exp(-Room.rate * (time - now))
        now, low, high = time, next_low, next_high
    return found


@examples(60)
@given(
    start=st.floats(10.0, 28.0).map(lambda x: round(x, 2)),
    heats=st.booleans(),
    setpoints=st.lists(
        st.tuples(st.integers(10, 26), st.sampled_from([0.5, 1.0, 3.0])), min_size=1, max_size=5
    ),
    method=st.sampled_from(["DOP853", "RK45", "BDF", "LSODA"]),
)
def test_a_thermostat_switches_at_the_exact_times_whatever_its_setpoints_become(
    start: float, heats: bool, setpoints: list[tuple[int, float]], method: str
) -> None:
    room = Room()
    system = System(room)
    system.default_time_scale = 60.0
    changes = [
        (900.0 * i, low + 0.25, low + 0.25 + width) for i, (low, width) in enumerate(setpoints)
    ]

    def set_to(state: State, low: float, high: float) -> None:
        room.low.set(state, low)
        room.high.set(state, high)

    for time, low, high in changes[1:]:
        system.add_event_handler(
            ScheduledEventHandler(partial(set_to, low=low, high=high), time), name_of(time)
        )
    state = system.new_state()
    set_to(state, *changes[0][1:])
    room.temperature.set(state, start)
    room.heats.set(state, heats)
    end = 900.0 * len(changes)
    trajectory = simulate(system, state, end, method=method, accuracy=1e-8, progress=False)
    heating = trajectory[room.heats].astype(int)
    rows = np.flatnonzero(np.diff(heating)) + 1
    found = list(zip(trajectory.times[rows], heating[rows] > 0, strict=True))
    expected = exact_thermostat(start, heats, changes, end)
    assert [is_on for _, is_on in found] == [is_on for _, is_on, _ in expected]
    assert [t for t, _ in found] == pytest.approx([t for t, _, _ in expected], abs=1e-2)


@pytest.mark.parametrize("start", [18.0, 19.0, 20.0])
@pytest.mark.parametrize("every", [None, 60.0])
def test_a_thermostat_that_begins_in_the_cold_heats_from_the_beginning(
    start: float, every: float | None
) -> None:
    room = Room()
    system = System(room)
    system.default_time_scale = 60.0
    state = system.new_state()
    room.temperature.set(state, start)
    trajectory = simulate(system, state, 3600.0, every=every, progress=False)
    first = trajectory[room.heats][np.flatnonzero(trajectory.times == 0.0)[-1]]
    assert first == (start <= 19.0)
    assert trajectory[room.temperature].min() > min(start, 19.0) - 0.01
    assert trajectory[room.temperature].max() < 21.01


# ---------------------------------------------------------------------- against a plain list


class Numbers(Subsystem):
    """Some numbers that handlers write, and triggers which compare them with levels."""

    def __init__(self, levels: list[tuple[int, float]], directions: list[str]) -> None:
        self.levels = levels
        self.directions = directions

    values = discrete(NUMBERS, invalidates=Stage.DYNAMICS)
    clock = z_variable(0.0)

    def realize_dynamics(self, state: State) -> None:
        state[self].upd_zdot()[0] = 1.0


Write = tuple[tuple[int, float], ...]
"""Which numbers become what."""

VALUES = st.sampled_from([-1.0, 0.0, 1.0])


class PlainList:
    """The rule, one trigger after the other, with nothing but numbers."""

    def __init__(
        self,
        numbers: list[float],
        levels: list[tuple[int, float]],
        directions: list[str],
        initially: list[bool],
        writes: list[Write],
    ) -> None:
        self.numbers = list(numbers)
        self.levels, self.directions, self.writes = levels, directions, writes
        self.sides: list[str] = []
        self.known = [
            {"rising": -1.0, "falling": 1.0}[direction] if initial else 0.0
            for direction, initial in zip(directions, initially, strict=True)
        ]
        self.log: list[tuple[float, int]] = []
        self.gone: dict[int, float] = {}

    def happen(self, time: float) -> bool:
        """All that follows at a time; False if it goes on and on."""
        for _ in range(MOST_ROUNDS):
            due = []
            for i, (number, level) in enumerate(self.levels):
                value = self.numbers[number] - level
                if value == 0 and i in self.gone:
                    value = self.gone[i]
                rises = self.known[i] < 0 <= value and self.directions[i] != "falling"
                falls = self.known[i] > 0 >= value and self.directions[i] != "rising"
                self.known[i] = value
                if rises or falls:
                    due.append(i)
                    self.gone[i] = self.known[i] = 1.0 if rises else -1.0
                elif i in self.gone and value * self.gone[i] < 0:
                    del self.gone[i]
            if not due:
                self.gone = {}
                self.known = [self.numbers[n] - level for n, level in self.levels]
                return True
            for i in due:
                self.log.append((time, i))
                self.write(self.writes[i])
        return False

    def write(self, write: Write) -> None:
        for number, value in write:
            self.numbers[number] = value


@examples(300)
@given(data=st.data())
def test_handlers_trigger_each_other_as_a_plain_list_of_numbers_says(data: Any) -> None:
    numbers = data.draw(st.lists(VALUES, min_size=1, max_size=3))
    which = st.integers(0, len(numbers) - 1)
    levels = data.draw(
        st.lists(st.tuples(which, st.sampled_from([-0.5, 0.0, 0.5])), min_size=1, max_size=4)
    )
    size = len(levels)
    names = st.sampled_from(["rising", "falling", "any"])
    directions = data.draw(st.lists(names, min_size=size, max_size=size))
    initially = [d != "any" and data.draw(st.booleans()) for d in directions]
    write = st.lists(st.tuples(which, VALUES), max_size=2).map(tuple)
    writes = data.draw(st.lists(write, min_size=size, max_size=size))
    outside = data.draw(st.lists(write, max_size=3))

    oracle = PlainList(numbers, levels, directions, initially, writes)
    model = Numbers(levels, directions)
    system = System(model)
    log: list[tuple[float, int]] = []

    def write_into(state: State, write: Write) -> None:
        values = list(model.values(state))
        for number, value in write:
            values[number] = value
        model.values.set(state, tuple(values))

    for i, (number, level) in enumerate(levels):

        def handle(state: State, i: int = i) -> None:
            log.append((state.time, i))
            write_into(state, writes[i])

        def value(state: State, number: int = number, level: float = level) -> float:
            return float(model.values(state)[number] - level)

        handler = TriggeredEventHandler(
            Stage.DYNAMICS, value, handle, directions[i], initially=initially[i]
        )
        system.add_event_handler(handler, f"trigger {i}")
    for k, change in enumerate(outside, 1):
        system.add_event_handler(
            ScheduledEventHandler(partial(write_into, write=change), float(k)), f"write {k}"
        )
    state = system.new_state()
    model.values.set(state, tuple(numbers))
    stepper = stepping(system, state=state, method="RK23", max_step=0.7)
    for k in range(len(outside) + 1):
        if k:
            oracle.write(outside[k - 1])
        if oracle.happen(float(k)):
            stepper.step_to(float(k))
            assert log == oracle.log
        else:
            with pytest.raises(EventLoopError, match=f"without end at t = {k}"):
                stepper.step_to(float(k))
            assert log == oracle.log[: len(log)]
            break


# ---------------------------------------------------------------------- a trigger and its handler


class Falling(Subsystem):
    """A height above the floor, with gravity 10, and a count of hits."""

    hits = discrete(0, invalidates=Stage.REPORT)
    height = q_variable(1.0)
    speed = u_variable(0.0)

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[0] = self.speed(state)

    def realize_acceleration(self, state: State) -> None:
        state[self].upd_udot()[0] = -10.0


def hits_of(
    handle: Callable[[Falling, State], object], direction: str, end: float, **options: Any
) -> list[float]:
    """When the floor is hit."""
    ball = Falling()
    system = System(ball)
    found: list[float] = []

    def hit(state: State) -> None:
        found.append(state.time)
        handle(ball, state)

    system.add_event_handler(
        TriggeredEventHandler(Stage.POSITION, ball.height, hit, direction), "floor"
    )
    stepping(system, accuracy=1e-8, **options).step_to(end)
    return found


def bounce(ball: Falling, state: State) -> None:
    """Turn the speed."""
    ball.speed.set(state, -0.5 * ball.speed(state))


def bounce_at_zero(ball: Falling, state: State) -> None:
    """Turn the speed, exactly at the floor."""
    ball.height.set(state, 0.0)
    bounce(ball, state)


FIRST = math.sqrt(0.2)


@pytest.mark.parametrize("direction", ["falling", "any"])
@pytest.mark.parametrize("method", ["DOP853", "RK45", "LSODA"])
def test_a_handler_may_leave_its_trigger_at_zero(direction: str, method: str) -> None:
    found = hits_of(bounce_at_zero, direction, 1.3, method=method)
    assert found == pytest.approx([FIRST * k for k in (1, 2, 2.5, 2.75, 2.875)], abs=1e-6)


def test_a_trigger_that_falls_may_be_left_below_zero_by_its_handler() -> None:
    found = hits_of(bounce, "falling", 1.1)
    assert found == pytest.approx([FIRST, 2 * FIRST], abs=1e-6)


@examples(40)
@given(
    height=st.floats(0.1, 3.0),
    speed=st.floats(-2.0, 2.0),
    restitution=st.floats(0.5, 0.95),
    method=st.sampled_from(["DOP853", "RK45", "RK23", "Radau"]),
)
def test_a_ball_bounces_at_the_exact_times(
    height: float, speed: float, restitution: float, method: str
) -> None:
    class Ball(Falling):
        @event_trigger(stage=Stage.POSITION, direction="falling")
        def floor(self, state: State) -> float:
            return self.height(state)

        @floor.handler
        def hit(self, state: State) -> EventAction | None:
            self.hits.set(state, self.hits(state) + 1)
            self.speed.set(state, -restitution * self.speed(state))
            found.append(state.time)
            return EventAction.TERMINATE if self.hits(state) == 6 else None

    found: list[float] = []
    ball = Ball()
    system = System(ball)
    state = system.new_state()
    state.y = [height, speed]
    simulate(system, state, math.inf, method=method, accuracy=1e-9, progress=False)
    impact = math.sqrt(speed**2 + 20 * height)
    times = [(speed + impact) / 10]
    for _ in range(5):
        impact *= restitution
        times.append(times[-1] + impact / 5)
    assert found == pytest.approx(times, abs=1e-6)


@pytest.mark.parametrize(("direction", "calls"), [("rising", 1), ("any", 2), ("falling", 0)])
def test_a_handler_that_takes_its_trigger_back_has_it_take_place_in_the_other_direction(
    direction: str, calls: int
) -> None:
    """A clock that is set back when it is at 1: to -1 of its trigger."""
    clock = Level()
    system = System(clock)
    found: list[float] = []

    def set_back(state: State) -> None:
        found.append(state.time)
        clock.clock.set(state, 0.0)

    system.add_event_handler(
        TriggeredEventHandler(
            Stage.DYNAMICS, lambda s: clock.clock(s) - 1.0, set_back, direction, 1e-4
        ),
        "alarm",
    )
    stepping(system).step_to(1.5)
    assert len(found) == calls
    assert found == pytest.approx([1.0] * calls, abs=1e-6)
    assert len(set(found)) == min(calls, 1)


def test_a_handler_that_changes_nothing_of_a_trigger_lets_it_be_what_it_was() -> None:
    """Projection sets it back over zero by less than the constraint tolerance: no change."""
    rod = Rod()
    system = System(rod)
    passes: list[float] = []

    def passed(state: State) -> None:
        passes.append(state.time)
        rod.gravity.set(state, rod.gravity(state))

    kicks = PeriodicEventHandler(0.05, lambda s: rod.length.set(s, rod.length(s)))
    system.add_event_handler(kicks, "kicks")
    for direction in ("rising", "falling", "any"):
        system.add_event_handler(
            TriggeredEventHandler(
                Stage.POSITION,
                lambda s: float(rod.place(s)[0]),
                passed,
                direction,
            ),
            direction,
        )
    stepping(system, method="RK45", accuracy=1e-2).step_to(4.0)
    times = np.array(passes)
    assert len(times) > 4
    assert len(times) % 2 == 0  # each is seen by `any`, and by one of the others
    gaps = np.diff(times[::2])
    assert gaps.min() > 0.5


# ---------------------------------------------------------------------- the order at one time


def test_reports_come_after_what_is_triggered_and_before_what_is_scheduled_at_one_time() -> None:
    level = Level()
    system = System(level)
    log: list[tuple[str, float]] = []

    def note(name: str, value: float | None = None) -> Callable[[State], None]:
        def handle(state: State) -> None:
            log.append((name, level.value(state)))
            if value is not None:
                level.value.set(state, value)

        return handle

    def at_one(state: State) -> float:
        return state.time - 1.0

    system.add_event_handler(TriggeredEventHandler(Stage.TIME, at_one, note("time", 1.0)), "at one")
    system.add_event_handler(
        TriggeredEventHandler(Stage.DYNAMICS, level.value, note("rises", -2.0), "rising"), "rises"
    )
    system.add_event_handler(
        TriggeredEventHandler(Stage.DYNAMICS, level.value, note("falls"), "falling"), "falls"
    )
    system.add_event_reporter(
        TriggeredEventReporter(Stage.DYNAMICS, level.value, note("report of it")), "report of it"
    )
    system.add_event_handler(ScheduledEventHandler(note("scheduled", 3.0), 1.0), "scheduled")
    system.add_event_reporter(ScheduledEventReporter(note("report"), 1.0), "report")
    stepping(system).step_to(1.0)
    assert log == [
        ("time", -1.0),
        ("rises", 1.0),
        ("report of it", -2.0),
        ("falls", -2.0),
        ("report of it", -2.0),
        ("report", -2.0),
        ("scheduled", -2.0),
        ("rises", 3.0),
        ("report of it", -2.0),
        ("falls", -2.0),
        ("report of it", -2.0),
    ]


def test_all_that_handlers_trigger_is_done_when_the_time_that_was_asked_for_is_returned() -> None:
    for time in (0.0, 1.0):
        level = Level()
        system = System(level)
        found: list[float] = []

        def note(state: State, found: list[float] = found) -> None:
            found.append(state.time)

        write = ScheduledEventHandler(partial(level.value.set, value=1.0), time)
        system.add_event_handler(write, "write")
        system.add_event_handler(
            TriggeredEventHandler(Stage.DYNAMICS, level.value, note, "rising"),
            "watch",
        )
        for each in (False, True):
            found.clear()
            stepper = stepping(system, each=each)
            while stepper.step_to(time) is not REPORT:
                pass
            assert found == [time]


def test_a_handler_that_ends_the_simulation_triggers_nothing_any_more() -> None:
    level = Level()
    system = System(level)

    def end(state: State) -> EventAction:
        level.value.set(state, 1.0)
        return EventAction.TERMINATE

    def never(_: State) -> None:
        raise AssertionError

    system.add_event_handler(ScheduledEventHandler(end, 1.0), "end")
    system.add_event_handler(TriggeredEventHandler(Stage.DYNAMICS, level.value, never), "never")
    stepper = stepping(system)
    assert stepper.step_to(2.0) is END
    assert stepper.time == 1.0


def test_a_handler_that_is_triggered_by_another_one_may_end_the_simulation() -> None:
    level = Level()
    system = System(level)
    system.add_event_handler(ScheduledEventHandler(lambda s: level.value.set(s, 1.0), 1.0), "write")
    system.add_event_handler(
        TriggeredEventHandler(Stage.DYNAMICS, level.value, lambda s: EventAction.TERMINATE), "end"
    )
    stepper = stepping(system)
    assert stepper.step_to(2.0) is END
    assert stepper.time == 1.0


def test_what_a_handler_has_triggered_is_handled_also_if_its_handler_fails_at_first() -> None:
    level = Level()
    system = System(level)
    found: list[float] = []
    is_bad = True

    def handle(state: State) -> None:
        if is_bad:
            raise ValueError("no")
        found.append(state.time)

    system.add_event_handler(ScheduledEventHandler(lambda s: level.value.set(s, 1.0), 1.0), "write")
    system.add_event_handler(TriggeredEventHandler(Stage.DYNAMICS, level.value, handle), "watch")
    stepper = stepping(system)
    for _ in range(2):
        with pytest.raises(EventHandlerError, match="watch"):
            stepper.step_to(2.0)
        assert stepper.time == 1.0
        assert level.value(stepper.state) == 1.0
    is_bad = False
    assert stepper.step_to(2.0) is REPORT
    assert found == [1.0]


def test_a_handler_that_fails_has_changed_no_sign() -> None:
    level = Level()
    system = System(level)
    found: list[float] = []
    is_bad = True

    def write(state: State) -> None:
        level.value.set(state, 1.0 if is_bad else 0.5)
        if is_bad:
            raise ValueError("no")

    system.add_event_handler(ScheduledEventHandler(write, 1.0), "write")
    system.add_event_handler(
        TriggeredEventHandler(Stage.DYNAMICS, level.value, lambda s: found.append(s.time)), "watch"
    )
    stepper = stepping(system)
    with pytest.raises(EventHandlerError, match="write"):
        stepper.step_to(2.0)
    assert found == []
    is_bad = False
    stepper.step_to(2.0)
    assert found == [1.0]


def test_there_is_a_row_before_and_after_each_round_of_handlers() -> None:
    level = Level()
    system = System(level)
    system.add_event_handler(ScheduledEventHandler(lambda s: level.value.set(s, 1.0), 1.0), "write")
    system.add_event_handler(
        TriggeredEventHandler(Stage.DYNAMICS, level.value, lambda s: level.value.set(s, 2.0)),
        "watch",
    )
    trajectory = simulate(system, system.realize_topology(), 2.0, progress=False)
    rows = np.flatnonzero(trajectory.times == 1.0)
    assert trajectory[level.value][rows].tolist() == [-1.0, 1.0, 2.0]


# ---------------------------------------------------------------------- without end


def test_handlers_that_answer_each_other_without_end_are_stopped_and_listed() -> None:
    room = Room()
    system = System(room)

    def warmer(state: State) -> None:
        room.low.set(state, 10.0)
        room.high.set(state, 11.0)

    def colder(state: State) -> None:
        room.low.set(state, 30.0)
        room.high.set(state, 31.0)

    for name, direction, handle in (("up", "rising", colder), ("down", "falling", warmer)):
        system.add_event_handler(
            TriggeredEventHandler(
                Stage.DYNAMICS,
                lambda s: room.temperature(s) - room.high(s),
                handle,
                direction,
            ),
            name,
        )
    system.add_event_handler(ScheduledEventHandler(warmer, 60.0), "start")
    stepper = stepping(system)
    for _ in range(2):
        with pytest.raises(EventLoopError, match="without end at t = 60") as caught:
            stepper.step_to(100.0)
        error = caught.value
        assert "up (500 times)" in error.got
        assert "down (500 times)" in error.got
        assert "room.warm (500 times)" in error.got
        assert stepper.time == stepper.state.time == 60.0
    stepper.initialize(system.realize_topology())
    assert stepper.step_to(30.0) is REPORT


def test_many_rounds_that_have_an_end_are_no_error() -> None:
    level = Level()
    system = System(level)
    count = 0

    def toggle(state: State) -> None:
        nonlocal count
        count += 1
        if count < MOST_ROUNDS:
            level.value.set(state, -level.value(state))

    system.add_event_handler(ScheduledEventHandler(lambda s: level.value.set(s, 1.0), 1.0), "go")
    system.add_event_handler(TriggeredEventHandler(Stage.DYNAMICS, level.value, toggle), "toggle")
    assert stepping(system).step_to(2.0) is REPORT
    assert count == MOST_ROUNDS


# ---------------------------------------------------------------------- at the beginning


@pytest.mark.parametrize("value", [-1.0, 0.0, 2.0])
@pytest.mark.parametrize("direction", ["rising", "falling"])
@pytest.mark.parametrize("initially", [False, True])
@pytest.mark.parametrize("how", ["declared", "added", "reporter"])
def test_what_takes_place_initially_does_so_on_its_side_of_zero(
    value: float, direction: str, initially: bool, how: str
) -> None:
    found: list[float] = []

    def note(state: State) -> None:
        found.append(state.time)

    class Watched(Level):
        @event_trigger(stage=Stage.DYNAMICS, direction=direction, initially=initially)
        def side(self, state: State) -> float:
            return self.value(state)

        @side.handler
        def handle(self, state: State) -> None:
            note(state)

    level = Watched() if how == "declared" else Level()
    system = System(level)
    arguments = (Stage.DYNAMICS, level.value, note, direction)
    if how == "added":
        system.add_event_handler(TriggeredEventHandler(*arguments, initially=initially), "side")
    elif how == "reporter":
        system.add_event_reporter(TriggeredEventReporter(*arguments, initially=initially), "side")
    state = system.new_state()
    level.value.set(state, value)
    stepping(system, state=state).step_to(1.0)
    is_there = value >= 0 if direction == "rising" else value <= 0
    assert found == [0.0] * (initially and is_there)
    (info,) = system.calc_event_trigger_info(_at_instance(system, state))
    assert info.initially is initially


def _at_instance(system: System, state: State) -> State:
    system.realize(state, Stage.INSTANCE)
    return state


def test_reports_at_the_beginning_come_after_what_takes_place_initially() -> None:
    room = Room()
    system = System(room)
    seen: list[bool] = []
    report = ScheduledEventReporter(lambda s: seen.append(room.heats(s)), 0.0)
    system.add_event_reporter(report, "report")
    state = system.new_state()
    room.temperature.set(state, 18.0)
    stepper = stepping(system, state=state)
    stepper.step_to(0.0)
    assert seen == [True]
    assert room.heats(stepper.state)


@pytest.mark.parametrize("initially", [1, None, "yes"])
def test_initially_is_a_truth_value(initially: Any) -> None:
    with pytest.raises(NotANumberError, match="initially"):
        event_trigger(stage=Stage.TIME, direction="rising", initially=initially)


def test_initially_needs_a_direction() -> None:
    with pytest.raises(DeclarationError, match="needs to know the side") as caught:
        event_trigger(stage=Stage.TIME, initially=True)
    assert "direction='rising'" in caught.value.expected
    with pytest.raises(DeclarationError, match=r"TriggeredEventHandler\(initially=True\)"):
        TriggeredEventHandler(Stage.TIME, lambda s: 1.0, lambda s: None, initially=True)


# ---------------------------------------------------------------------- rows that come and go


class Gauges(Subsystem):
    """As many triggers as a parameter says, of levels 0, 1, 2, ... of a number."""

    count = parameter(1)
    value = discrete(-0.5, invalidates=Stage.DYNAMICS)
    log = discrete(NUMBERS, invalidates=Stage.REPORT)
    clock = z_variable(0.0)

    def realize_dynamics(self, state: State) -> None:
        state[self].upd_zdot()[0] = 1.0

    @event_trigger(
        stage=Stage.DYNAMICS, direction="rising", size=lambda self, state: self.count(state)
    )
    def above(self, state: State) -> Vector:
        return self.value(state) - np.arange(float(self.count(state)))

    @above.handler
    def note(self, state: State) -> None:
        self.log.set(state, (*self.log(state), state.time))

    @event_trigger(
        stage=Stage.DYNAMICS,
        direction="rising",
        size=lambda self, state: max(self.count(state) - 1, 0),
        initially=True,
    )
    def new(self, state: State) -> Vector:
        return self.value(state) + 0.25 - np.arange(max(self.count(state) - 1.0, 0.0))

    @new.handler
    def welcome(self, state: State) -> None:
        self.log.set(state, (*self.log(state), -state.time))


def log_of(*writes: tuple[int, float]) -> tuple[float, ...]:
    """What takes place when count and value are written at 1, 2, ..."""
    gauges = Gauges()
    system = System(gauges)

    def write(state: State, count: int, value: float) -> None:
        gauges.count.set(state, count)
        gauges.value.set(state, value)

    for time, (count, value) in enumerate(writes, 1):
        system.add_event_handler(
            ScheduledEventHandler(partial(write, count=count, value=value), time), name_of(time)
        )
    stepper = stepping(system)
    stepper.step_to(len(writes) + 1.0)
    return gauges.log(stepper.state)


def test_a_trigger_that_was_there_before_is_compared_whatever_becomes_of_the_others() -> None:
    assert log_of((3, 0.5)) == (1.0, -1.0)  # the first row rises; of the new ones, one is above
    assert log_of((3, -0.5), (3, 0.5)) == (2.0, -2.0)
    assert log_of((3, -0.5), (1, 0.5)) == (2.0,)
    assert log_of((3, -0.5), (0, 0.5), (1, 0.5)) == ()


def test_a_trigger_that_appears_changes_no_sign_but_takes_place_initially() -> None:
    assert log_of((3, -0.5), (3, 1.5)) == (2.0, -2.0)
    assert log_of((1, 5.0), (4, 5.0)) == (1.0, -2.0)
    assert log_of((4, 5.0), (1, 5.0), (4, 5.0)) == (1.0, -1.0, -3.0)


# ---------------------------------------------------------------------- without a time stepper


def test_a_write_between_steps_is_told_as_an_event_by_the_integrator() -> None:
    level = Level()
    system = System(level)
    watch = TriggeredEventHandler(Stage.DYNAMICS, level.value, lambda s: None)
    system.add_event_handler(watch, "watch")
    integrator = Integrator(system)
    integrator.initialize(system.realize_topology())
    assert [integrator.step_to(2.0, 1.0) for _ in range(2)] == [START, SCHEDULED]
    level.value.set(integrator.advanced_state, 1.0)
    integrator.reinitialize(Stage.DYNAMICS)
    assert [integrator.step_to(2.0) for _ in range(2)] == [START, TRIGGER]
    assert integrator.event_window == (1.0, 1.0)
    (event,) = integrator.triggered_events
    assert (event.info.name, event.is_rising, event.time) == ("watch", True, 1.0)
    assert not integrator.is_state_interpolated
    assert integrator.time == 1.0
    assert integrator.step_to(2.0) is REPORT


def test_only_what_has_changed_in_the_end_counts_before_anybody_is_told() -> None:
    level = Level()
    system = System(level)
    watch = TriggeredEventHandler(Stage.DYNAMICS, level.value, lambda s: None)
    system.add_event_handler(watch, "watch")
    integrator = Integrator(system)
    integrator.initialize(system.realize_topology())
    integrator.step_to(2.0)
    for value in (1.0, -1.0):
        level.value.set(integrator.advanced_state, value)
        integrator.reinitialize(Stage.DYNAMICS)
    assert [integrator.step_to(2.0) for _ in range(2)] == [START, REPORT]


def test_an_event_that_nobody_was_told_of_yet_survives_a_write() -> None:
    ball = Falling()
    system = System(ball)
    watch = TriggeredEventHandler(Stage.POSITION, ball.height, lambda s: None, "falling")
    system.add_event_handler(watch, "floor")
    for height, is_told in ((None, True), (0.5, False)):
        integrator = Integrator(system, accuracy=1e-6)
        integrator.initialize(system.realize_topology())
        assert [integrator.step_to(0.1) for _ in range(2)] == [START, REPORT]
        while integrator.advanced_time < FIRST - 1e-3:
            integrator.step_to(integrator.advanced_time + 1e-9)
        state = integrator.advanced_state  # the step to the floor is taken, and not told
        assert integrator.time < integrator.advanced_time
        ball.hits.set(state, 1)
        if height is not None:
            ball.height.set(state, height)
        integrator.reinitialize(Stage.POSITION)
        statuses = [integrator.step_to(integrator.advanced_time + 0.01) for _ in range(2)]
        assert (TRIGGER in statuses) == is_told


# ---------------------------------------------------------------------- auto-update variables


class Doubling(Subsystem):
    """A number that each step doubles, and triggers that compare it with 100."""

    number = auto_update(1.0, invalidates=Stage.DYNAMICS, available_from=Stage.TIME)
    clock = z_variable(0.0)
    log = discrete(TIMES, invalidates=Stage.REPORT)

    @number.update
    def next_number(self, state: State) -> float:
        return 2 * self.number(state)

    def realize_dynamics(self, state: State) -> None:
        state[self].upd_zdot()[0] = 1.0

    @event_trigger(stage=Stage.TIME, direction="rising")
    def above(self, state: State) -> float:
        return self.number(state) - 100.0

    @above.handler
    def back(self, state: State) -> None:
        self.log.set(state, (*self.log(state), (state.time, self.number(state))))
        self.number.set(state, 1.0)


def test_an_update_that_changes_a_sign_is_an_event_where_it_is_made() -> None:
    model = Doubling()
    system = System(model)
    stepper = stepping(system, method="RK23", fixed_step=0.25)
    stepper.step_to(4.9)
    # updates at 0, 0.25, ...: 128 at 1.5, where it becomes 1, and 2 after the step to 1.75
    assert model.log(stepper.state) == ((1.5, 128.0), (3.25, 128.0))
    assert stepper.integrator.statistics.num_steps_taken == 20


def test_a_cause_of_initialization_may_write_too() -> None:
    level = Level()
    found: list[float] = []

    class Beginning(System):
        def handle_events(
            self, state: State, cause: Any, events: Any = (), options: Any = None
        ) -> Any:
            if cause is EventCause.INITIALIZATION:
                events = [info.event for info in self.calc_event_trigger_info(state)][:1]
            return super().handle_events(state, cause, events, options)

    system = Beginning(level)
    system.add_event_handler(
        TriggeredEventHandler(
            Stage.DYNAMICS, lambda s: 1.0, lambda s: level.value.set(s, 1.0), "falling"
        ),
        "set up",
    )
    system.add_event_handler(
        TriggeredEventHandler(
            Stage.DYNAMICS, level.value, lambda s: found.append(s.time), "rising", initially=True
        ),
        "watch",
    )
    stepping(system).step_to(1.0)
    assert found == [0.0]
