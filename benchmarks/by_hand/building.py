r"""A day of a building: twelve rooms in a row, each with a thermostat that has two triggers.

::

    outdoors    | room 1 | room 2 | ... | room 12 |    outdoors        a wall is a conductance

The System has a subsystem for each room, one for the walls and one for the weather. By hand, all
temperatures are a vector, and one event function finds the first thermostat that switches.
"""

from math import cos, pi
from typing import Final, final

import numpy as np

from benchmarks.by_hand.run import HandRun, SystemRun, Vector
from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    cached,
    discrete,
    event_trigger,
    parameter,
    z_variable,
)

HOUR: Final = 3600.0  # s
DAY: Final = 24 * HOUR
ROOMS: Final = 12
METHOD: Final = "RK45"
ACCURACY: Final = 1e-4

MEAN: Final = 2.0  # °C, of the air outdoors
SWING: Final = 5.0  # K
INNER: Final = 60.0  # W/K, between two rooms
OUTER: Final = 15.0  # W/K, of a room to the air outdoors
CAPACITY: Final = 1.2e6  # J/K
POWER: Final = 600.0  # W, of a heater
SETPOINTS: Final = 20.0 + 0.1 * np.arange(ROOMS)  # °C
BAND: Final = 0.5  # K, to both sides of the setpoint
START: Final[Vector] = SETPOINTS - 0.4 + 0.07 * np.arange(ROOMS)  # °C


def outdoors(time: float) -> float:
    """Return the temperature of the air outdoors [°C]."""
    return MEAN - SWING * cos(2 * pi * (time - 4 * HOUR) / DAY)


def conductance() -> Vector:
    """Return the heat flows into the rooms for 1 K outdoors, and in each room, [W/K]."""
    rooms = np.diag(np.full(ROOMS - 1, INNER), 1)
    rooms += rooms.T
    rooms -= np.diag(rooms.sum(axis=0) + OUTER)
    return np.column_stack([np.full(ROOMS, OUTER), rooms])


@final
class Weather(Subsystem):
    """The air outdoors."""

    @cached(prerequisites=lambda self: (self.time,))
    def temperature(self, state: State) -> float:
        """Temperature of the air [°C]."""
        return outdoors(state.time)


@final
class Walls(Subsystem):
    """The walls, which conduct heat between the rooms and the air outdoors."""

    def __init__(self, weather: Weather) -> None:
        self.weather = weather
        self.rooms: list[Room] = []  # each adds itself
        self.conductance = conductance()

    @cached(
        prerequisites=lambda self: (
            self.weather.temperature,
            *(room.temperature for room in self.rooms),
        )
    )
    def flows(self, state: State) -> Vector:
        """Heat that flows into each room [W]."""
        temperatures = [room.temperature(state) for room in self.rooms]
        flows: Vector = self.conductance @ [self.weather.temperature(state), *temperatures]
        return flows


@final
class Room(Subsystem):
    """A room with a heater, which a thermostat switches on and off."""

    setpoint = parameter(20.0)  # °C
    heats = discrete(False, invalidates=Stage.DYNAMICS)
    temperature = z_variable(20.0)  # °C

    def __init__(self, walls: Walls) -> None:
        self.walls = walls
        self.place = len(walls.rooms)
        walls.rooms.append(self)

    def realize_dynamics(self, state: State) -> None:
        """The temperature changes with all heat that comes in."""
        heating = POWER if self.heats(state) else 0.0
        inflow = heating + self.walls.flows(state)[self.place]
        state[self].upd_zdot()[0] = inflow / CAPACITY

    @event_trigger(stage=Stage.DYNAMICS, direction="rising", initially=True)
    def warm(self, state: State) -> float:
        """Excess over the upper threshold [K]."""
        return self.temperature(state) - self.setpoint(state) - BAND

    @warm.handler
    def switch_off(self, state: State) -> None:
        """The room is warm enough."""
        self.heats.set(state, False)

    @event_trigger(stage=Stage.DYNAMICS, direction="falling", initially=True)
    def cold(self, state: State) -> float:
        """Excess over the lower threshold [K]."""
        return self.temperature(state) - self.setpoint(state) + BAND

    @cold.handler
    def switch_on(self, state: State) -> None:
        """The room is too cold."""
        self.heats.set(state, True)


def run() -> SystemRun:
    """Return the run of the System."""
    walls = Walls(Weather())
    rooms = [Room(walls) for _ in range(ROOMS)]
    system = System(walls.weather, walls, *rooms)
    state = system.new_state()
    for room, setpoint, start in zip(rooms, SETPOINTS.tolist(), START.tolist(), strict=True):
        room.setpoint.set(state, setpoint)
        room.temperature.set(state, start)
    return SystemRun(system, state, DAY, METHOD, ACCURACY)


@final
class BuildingByHand(HandRun):
    """The same by vectors."""

    def __init__(self) -> None:
        super().__init__(START, DAY, METHOD, ACCURACY)
        walls = conductance()
        self._outer, self._rooms = walls[:, 0] / CAPACITY, walls[:, 1:] / CAPACITY
        self._heating: Vector = np.zeros(ROOMS)  # K/s
        self._heats = np.zeros(ROOMS, bool)

        def switch(_: float, y: Vector) -> float:
            return float(self._left(y).min())

        switch.terminal = True  # type: ignore[attr-defined]  # as solve_ivp wants it
        switch.direction = -1  # type: ignore[attr-defined]  # likewise
        self._switch = switch

    def simulate(self) -> None:
        """Go on from one switch to the next."""
        self._heats = self.y <= SETPOINTS - BAND
        t = 0.0
        while t < self.until:
            self._heating = np.where(self._heats, POWER / CAPACITY, 0.0)
            t = self.go_on(t, self.until, self._switch)
            room = self._left(self.y).argmin()
            self._heats[room] ^= t < self.until

    def _left(self, y: Vector) -> Vector:
        """Return the temperatures that are left until each thermostat switches [K]."""
        left: Vector = np.where(self._heats, SETPOINTS + BAND - y, y - SETPOINTS + BAND)
        return left

    def ydot(self, t: float, y: Vector) -> Vector:
        """Return the rates of the temperatures [K/s]."""
        return np.asarray(self._rooms @ y + self._outer * outdoors(t) + self._heating)
