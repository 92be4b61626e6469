"""An operation on a State that an error cuts short has happened, or what it touched is recomputed.

After each strike every entry and vector is as it is computed from scratch, from variables that have
their values of before or after; nothing can be read below its stage; and all goes on to work.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

from stagecache import (
    CacheEntry,
    Checkpoint,
    Stage,
    State,
    Subsystem,
    System,
    TriggeredEventHandler,
    cached,
    modeling_option,
    parameter,
    position_error,
    q_variable,
    u_variable,
    z_variable,
)
from stagecache.errors import CacheEntryOutOfDateError, StageTooLowError
from tests.interrupting import (
    ignore_lost_strikes,
    needs_timer,
    plain_only,
    strikes,
    struck_by_timer,
)

MODEL, POSITION, VELOCITY, REPORT = Stage.MODEL, Stage.POSITION, Stage.VELOCITY, Stage.REPORT


class Pendulum(Subsystem):
    """Something of each kind."""

    length = parameter(1.0)
    mass = parameter(2.0)
    links = modeling_option(2)
    angle = q_variable(0.1)
    more = q_variable(factory=lambda self, state: np.ones(self.links(state)))
    rate = u_variable(0.2)
    fuel = z_variable(3.0)
    stored: CacheEntry[float]

    @cached(prerequisites=(angle, length))
    def tip(self, state: State) -> float:
        return self.angle(state) * self.length(state)

    @cached(prerequisites=(tip,), equal=True)
    def is_far(self, state: State) -> bool:
        return self.tip(state) > 0.3

    @cached(prerequisites=(is_far, mass))
    def force(self, state: State) -> float:
        return (2.0 if self.is_far(state) else 1.0) * self.mass(state)

    @cached(available_from=POSITION, computed_by=POSITION)
    def height(self, state: State) -> float:
        return self.angle(state) + 1

    @cached(available_from=VELOCITY)
    def momentum(self, state: State) -> float:
        return self.rate(state) * self.mass(state)

    @position_error()
    def gap(self, state: State) -> float:
        return self.angle(state) - 0.5

    def realize_topology(self, state: State) -> None:
        allocate = state[self].allocate_cache_entry
        self.stored = allocate(POSITION, Stage.DYNAMICS, 0.0, name="stored")

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[0] = self.rate(state)

    def realize_dynamics(self, state: State) -> None:
        self.stored.set(state, self.angle(state) * 10)
        state[self].upd_zdot()[0] = 1.0

    def realize_acceleration(self, state: State) -> None:
        state[self].upd_udot()[0] = -self.tip(state) * self.force(state)


class Anchor(Subsystem):
    stiffness = parameter(1.0)

    def __init__(self, pendulum: Pendulum) -> None:
        self.pendulum = pendulum

    @cached(prerequisites=lambda self: (self.pendulum.force, self.stiffness))
    def pull(self, state: State) -> float:
        return self.pendulum.force(state) * self.stiffness(state)


pendulum = Pendulum()
anchor = Anchor(pendulum)
system = System(pendulum, anchor)
system.add_event_handler(TriggeredEventHandler(POSITION, pendulum.height, lambda s: None), "watch")
waiting = {pendulum.height: POSITION, pendulum.momentum: VELOCITY}


class Subject:
    """A State with a history, and a checkpoint of it."""

    def __init__(self, history: str) -> None:
        self.state = state = system.new_state()
        self.mark: Checkpoint | None = None
        if history != "new":
            system.realize(state)
            anchor.pull(state)
        if history == "written":
            pendulum.angle.set(state, 0.4)
            system.realize(state, POSITION)
            pendulum.tip(state)
        if history == "marked":
            self.mark = state.checkpoint()
            pendulum.angle.set(state, 0.8)
            pendulum.length.set(state, 2.0)
            system.realize(state)
            anchor.pull(state)
            pendulum.links.set(state, 3)
            system.realize(state, VELOCITY)
            anchor.pull(state)

    def roll_back(self) -> None:
        if self.mark is not None:
            self.state.rollback(self.mark)

    def release(self) -> None:
        if self.mark is not None:
            self.mark.release()


def other() -> State:
    """Another State of the System, with other sizes."""
    state = system.new_state()
    pendulum.links.set(state, 4)
    system.realize(state, MODEL)
    pendulum.angle.set(state, 0.6)
    system.realize(state)
    return state


def set_q(state: State) -> None:
    state.q = np.full(state.nq, 0.5)


def set_time(state: State) -> None:
    state.time = 2.0


def update_q(state: State) -> None:
    state.upd_q()[0] = 0.55


ANOTHER = other()

OPERATIONS: dict[str, Callable[[Subject], object]] = {
    "write of a q": lambda s: pendulum.angle.set(s.state, 0.5),
    "write of a parameter": lambda s: pendulum.length.set(s.state, 1.7),
    "write of an option": lambda s: pendulum.links.set(s.state, 5),
    "write of all q": lambda s: set_q(s.state),
    "write access": lambda s: update_q(s.state),
    "write of the time": lambda s: set_time(s.state),
    "realize": lambda s: system.realize(s.state),
    "read": lambda s: anchor.pull(s.state),
    "copy": lambda s: s.state.copy(),
    "copy with cache": lambda s: s.state.copy(keep_cache=True),
    "invalidate from Time": lambda s: s.state.invalidate_all(Stage.TIME),
    "invalidate from Model": lambda s: s.state.invalidate_all(MODEL),
    "invalidate an entry": lambda s: pendulum.tip.invalidate(s.state),
    "checkpoint": lambda s: s.state.checkpoint(),
    "rollback": lambda s: s.roll_back(),
    "release": lambda s: s.release(),
    "assign": lambda s: s.state.assign(ANOTHER),
    "explain": lambda s: s.state.explain(anchor.pull),
}


def check(state: State) -> None:
    """Assert that all is right, and goes on to be."""
    refuse_below_its_stage(state)
    check_values(state)
    pendulum.angle.set(state, pendulum.angle(state) + 0.25)
    check_realized(state)
    pendulum.length.set(state, pendulum.length(state) * 1.5)
    check_realized(state)
    state.u = [0.7]
    pendulum.mass.set(state, 3.0)
    system.realize(state)
    anchor.stiffness.set(state, 5.0)
    check_realized(state)
    before = state.y.copy()
    mark = state.checkpoint()
    pendulum.angle.set(state, 9.0)
    check_values(state)
    state.rollback(mark)
    assert np.array_equal(state.y, before)
    check_realized(state)
    twin = state.copy(keep_cache=True)
    assert twin.stage is REPORT
    check_realized(twin)
    check_realized(state.copy())
    pendulum.links.set(state, 1)
    check_values(state)
    check_realized(state)
    state.impact(pendulum.angle)
    str(state)


def refuse_below_its_stage(state: State) -> None:
    assert state.stage <= min(part.stage for part in state)
    for entry, stage in waiting.items():
        if state[pendulum].stage < stage:
            assert not entry.is_valid(state)
            with pytest.raises((StageTooLowError, CacheEntryOutOfDateError)):
                entry(state)


def check_values(state: State) -> None:
    """Compare all that needs no stage with what it is from scratch."""
    if state.stage < MODEL:
        system.realize(state, MODEL)
    tip = pendulum.angle(state) * pendulum.length(state)
    force = (2.0 if tip > 0.3 else 1.0) * pendulum.mass(state)
    assert anchor.pull(state) == force * anchor.stiffness(state)
    assert (pendulum.tip(state), pendulum.force(state)) == (tip, force)
    assert pendulum.is_far(state) == (tip > 0.3)


def check_realized(state: State) -> None:
    """Compare all else as well."""
    system.realize(state)
    assert {state.stage, *[part.stage for part in state]} == {REPORT}
    check_values(state)
    angle, rate = pendulum.angle(state), pendulum.rate(state)
    assert pendulum.height(state) == angle + 1
    assert pendulum.momentum(state) == rate * pendulum.mass(state)
    assert pendulum.stored(state) == angle * 10
    assert (state.qdot[0], state.qerr[0]) == (rate, angle - 0.5)
    assert state.event_triggers == [angle + 1]
    assert state.udot[0] == -pendulum.tip(state) * pendulum.force(state)
    assert state.nq == 1 + pendulum.links(state)


@plain_only
@ignore_lost_strikes
@pytest.mark.parametrize("operation", OPERATIONS)
def test_whatever_is_cut_short_leaves_nothing_stale_and_nothing_unusable(operation: str) -> None:
    is_of_mark = operation in ("rollback", "release")
    for history in ["marked"] if is_of_mark else ["new", "written", "marked"]:
        for subject, what in strikes(partial(Subject, history), OPERATIONS[operation], every=97):
            try:
                check(subject.state)
            except BaseException as error:
                error.add_note(f"{operation}, {history}: {what}")
                raise


def endless(state: State) -> Iterator[None]:
    """Do everything, again and again."""
    variables: list[Any] = [pendulum.angle, pendulum.length, pendulum.mass, anchor.stiffness]
    n = 0
    while True:
        n += 1
        mark = state.checkpoint()
        variables[n % 4].set(state, n / 100)
        system.realize(state, VELOCITY)
        anchor.pull(state)
        state.copy(keep_cache=bool(n % 2))
        if n % 3 == 0:
            state.rollback(mark)
        system.realize(state)
        mark.release()
        yield


@needs_timer
@ignore_lost_strikes
def test_interrupts_by_a_timer_leave_nothing_stale_and_nothing_unusable() -> None:
    for n in range(100):
        state = Subject("written").state
        struck_by_timer(1e-4 * (1 + n % 37), endless(state))
        check(state)


@plain_only
def test_a_trigger_of_a_handler_that_is_cut_short_leaves_the_stage_that_was_reached() -> None:
    """Its computation is at a stage that the State has not reached yet."""

    def prepare() -> State:
        state = system.new_state()
        system.realize(state, Stage.TIME)
        return state

    for state, what in strikes(prepare, lambda state: system.realize(state, POSITION), every=1):
        assert state.stage <= min(part.stage for part in state), what
        system.realize(state)
        assert state.event_triggers == [pendulum.angle(state) + 1], what


@plain_only
def test_values_from_before_an_option_was_written_are_not_valid_after_it_whatever_strikes() -> None:
    """The write goes back below Model, and so q gets its first value once more."""

    def prepare() -> State:
        state = system.new_state()
        system.realize(state, MODEL)
        pendulum.angle.set(state, 0.4)
        assert pendulum.tip(state) == 0.4
        return state

    written = pendulum.angle.version(prepare())
    for state, what in strikes(prepare, lambda state: pendulum.links.set(state, 3), every=1):
        system.realize(state, MODEL)
        angle = pendulum.angle(state)
        assert pendulum.tip(state) == angle, what
        assert angle == 0.4 or pendulum.angle.version(state) > written, what
