"""Simulations that are cut into segments, or interrupted: all kinds of events, and constraints."""

from typing import Any

import numpy as np

from stagecache import (
    EventAction,
    PeriodicEventHandler,
    PeriodicEventReporter,
    ScheduledEventHandler,
    Stage,
    State,
    Subsystem,
    System,
    TriggeredEventHandler,
    auto_update,
    discrete,
    parameter,
    q_variable,
    u_variable,
)
from stagecache.examples import building, slider_crank
from stagecache.multibody import Ball as Ball_
from stagecache.multibody import Free, MultibodySystem
from tests.study.integrating import CONSTRAINED, METHODS
from tests.study.models import Oscillator, Rod
from tests.system.event_models import Ball


class Driven(Subsystem):
    """A prescribed q, one that follows it, and a prescribed u."""

    driven = q_variable(0.0)
    place = q_variable(0.0)
    pace = u_variable(0.0)
    speed = u_variable(0.0)
    reach = parameter(1.0)

    @driven.prescribed
    def drive(self, state: State) -> float:
        return self.reach(state) * state.time**2

    @pace.prescribed
    def drive_pace(self, state: State) -> float:
        return 2 * self.reach(state) * state.time

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[:] = self.pace(state), self.speed(state)

    def realize_acceleration(self, state: State) -> None:
        stretch = self.place(state) - self.driven(state)
        state[self].upd_udot()[:] = 2 * self.reach(state), -9.0 * stretch


class Counting(Subsystem):
    """Counts its steps, by auto-update variables; the trigger depends on one."""

    place = q_variable(1.0)
    speed = u_variable(0.0)
    largest = auto_update(0.0, invalidates=Stage.DYNAMICS, available_from=Stage.VELOCITY)
    count = auto_update(0, invalidates=Stage.REPORT, available_from=Stage.TIME)

    @largest.update
    def next_largest(self, state: State) -> float:
        return max(self.largest(state), abs(self.speed(state)))

    @count.update
    def next_count(self, state: State) -> int:
        return self.count(state) + 1

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[0] = self.speed(state)

    def realize_acceleration(self, state: State) -> None:
        state[self].upd_udot()[0] = -4 * self.place(state) - self.largest(state) / 8


class Clock(Subsystem):
    """Nothing to integrate: events only."""

    ticks = discrete(0, invalidates=Stage.REPORT)
    gain = parameter(1.0)
    notes: Any = discrete((), invalidates=Stage.REPORT)

    def tick(self, state: State) -> None:
        """Count, and note when."""
        self.ticks.set(state, self.ticks(state) + 1)
        self.notes.set(state, (*self.notes(state), state.time)[-5:])
        self.gain.set(state, 0.5 + self.ticks(state) % 3)


def oscillator() -> System:
    """Three kinds of variables, and triggers at turning points that have handlers."""
    part, clock = Oscillator(), Clock()
    system = System(part, clock)
    system.add_event_handler(PeriodicEventHandler(0.37, clock.tick))
    system.add_event_reporter(PeriodicEventReporter(0.11, lambda state: None), "look")

    def stiffen(state: State) -> None:
        part.frequency.set(state, 4.1 - part.frequency(state))

    system.add_event_handler(TriggeredEventHandler(Stage.POSITION, part.place, stiffen), "stiffen")
    return system


def ball() -> System:
    """A ball with wind, which a handler turns, and that ends the simulation."""
    part = Ball()
    system = System(part)

    def gust(state: State) -> None:
        part.wind.set(state, 0.5 - part.wind(state))

    def end(state: State) -> EventAction:
        return EventAction.TERMINATE

    system.add_event_handler(PeriodicEventHandler(0.4, gust))
    system.add_event_handler(ScheduledEventHandler(end, lambda state, now: 3.3), "end")
    return system


def rod() -> System:
    """A constraint, and a handler that changes a parameter of it."""
    part = Rod()
    system = System(part)

    def weigh(state: State) -> None:
        part.gravity.set(state, 19.0 - part.gravity(state))

    system.add_event_handler(PeriodicEventHandler(0.7, weigh))
    return system


def driven() -> System:
    """Prescribed motion, whose parameter a handler changes."""
    return System(Driven())


def counting() -> System:
    """Auto-update variables."""
    return System(Counting())


def clock() -> System:
    """Events without anything to integrate."""
    part = Clock()
    system = System(part)
    system.add_event_handler(PeriodicEventHandler(0.3, part.tick))
    return system


def together() -> System:
    """A ball, an oscillator, and auto-update variables, in one System."""
    part = Clock()
    system = System(Ball(), Oscillator(), Counting(), part)
    system.add_event_handler(PeriodicEventHandler(0.3, part.tick))
    return system


class Spin(Subsystem):
    """Pulls at each joint of a tree."""

    def __init__(self, matter: Any) -> None:
        self.matter = matter

    def realize_acceleration(self, state: State) -> None:
        u = state.u
        state[self.matter].upd_udot()[:] = 0.5 - np.sin(3 * u) - 0.3 * u - state.q[: state.nu]


def joints() -> System:
    """Joints with quaternions, whose qdot is not u, of bodies without mass."""
    system = MultibodySystem()
    ball = system.matter.add_body("ball", system.matter.ground, Ball_())
    system.matter.add_body("free", ball, Free())
    system.add(Spin(system.matter), "spin")
    return system


MODELS: dict[str, tuple[Any, float]] = {
    "oscillator": (oscillator, 3.0),
    "ball": (ball, 4.0),
    "rod": (rod, 2.0),
    "driven": (driven, 2.0),
    "counting": (counting, 3.0),
    "clock": (clock, 4.0),
    "together": (together, 1.5),
    "joints": (joints, 1.0),
    "slider_crank": (slider_crank.system, 0.5),
    "building": (building.system, 2000.0),
}
"""Functions that make a System, and the time of the end."""

WITH_CONSTRAINTS = ("rod", "joints", "slider_crank")
RUNS = [
    (m, name)
    for m in METHODS
    for name in MODELS
    if m in CONSTRAINED or name not in WITH_CONSTRAINTS
]
"""Methods, and the models that they integrate."""
