"""Models with events, which note what their handlers do."""

import numpy as np

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    cached,
    discrete,
    event_trigger,
    modeling_option,
    parameter,
    q_variable,
    u_variable,
    z_variable,
)
from stagecache.state.handles import Vector
from stagecache.system.events.events import Event, EventAction


class Ball(Subsystem):
    """Falls, and bounces; its size of variables is a modeling option."""

    is_round = modeling_option(True)
    mass = parameter(2.0)
    kicks = discrete(0, invalidates=Stage.REPORT)
    wind = discrete(0.0, invalidates=Stage.TIME)
    drag = discrete(0.0, invalidates=Stage.DYNAMICS)
    height = q_variable(1.0)
    speed = u_variable(-0.5)
    heat = z_variable(0.25)

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[:] = self.speed(state)

    def realize_dynamics(self, state: State) -> None:
        state[self].upd_zdot()[:] = 0.0

    def realize_acceleration(self, state: State) -> None:
        state[self].upd_udot()[:] = -9.8 + self.wind(state)

    @cached(available_from=Stage.VELOCITY)
    def energy(self, state: State) -> float:
        return self.mass(state) * (self.speed(state) ** 2 / 2 + 9.8 * self.height(state))

    @event_trigger(stage=Stage.POSITION, direction="falling", localization_window=0.01)
    def ground(self, state: State) -> float:
        return self.height(state)

    @ground.handler
    def bounce(self, state: State) -> None:
        self.speed.set(state, -self.speed(state))
        self.kicks.set(state, self.kicks(state) + 1)

    @event_trigger(stage=Stage.VELOCITY, size=lambda self, state: 2 if self.is_round(state) else 1)
    def limits(self, state: State) -> Vector:
        return np.array([-1.0, 1.0])[: 2 if self.is_round(state) else 1] * self.speed(state)

    @event_trigger(stage=Stage.POSITION, direction="rising")
    def top(self, state: State) -> float:
        return self.height(state) - 2.0

    @top.handler
    def stop(self, state: State) -> EventAction:
        return EventAction.TERMINATE


def started(*subsystems: Subsystem, stage: Stage = Stage.ACCELERATION) -> tuple[System, State]:
    """A System, and a State of it at a stage."""
    system = System(*subsystems)
    state = system.new_state()
    system.realize(state, stage)
    return system, state


def events_of(system: System, state: State) -> dict[str, Event]:
    """The events of triggers, by name."""
    return {info.event.name: info.event for info in system.calc_event_trigger_info(state)}


def scheduled(system: System, state: State) -> tuple[Event, ...]:
    """The events that are due now."""
    time, events = system.calc_time_of_next_scheduled_event(state)
    assert time == state.time
    return events
