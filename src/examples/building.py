"""A flat with thermostats: first-order variables, events, and a matrix that is computed once.

Run it: python -m stagecache.examples.building [OUTPUT FOLDER]

It simulates a winter's day, checks the balance of energy, counts how often the matrix of the walls
is computed, and finds how the heat that is lost depends on the thickness of the insulation. It
writes a plot of the temperatures.
"""

import math
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, diags_array
from scipy.sparse.linalg import splu

from stagecache import (
    Integrator,
    Stage,
    State,
    Subsystem,
    System,
    TimeStepper,
    Trajectory,
    cached,
    discrete,
    event_trigger,
    parameter,
    simulate,
    z_variable,
)
from stagecache.errors import MissingExtraError

Vector = NDArray[np.float64]

HOUR, DAY = 3600.0, 86400.0  # s
CELL = 0.25  # m, the side of a letter of the plan
HEIGHT = 2.5  # m, of the rooms
FILM = 8.0  # W/(m² K), between air and the surface of a wall
PLAN = """
..............................
.iiiiiiiiiiiiiiiiiiiiiiiiiiii.
.iwwwwwwwwwwwwwwwwwwwwwwwwwwi.
.iwaaaaaaaaaaaawbbbbbbbbbbbwi.
.iwaaaaaaaaaaaawbbbbbbbbbbbwi.
.iwaaaaaaaaaaaawbbbbbbbbbbbwi.
.iwaaaaaaaaaaaawbbbbbbbbbbbwi.
.iwaaaaaaaaaaaawbbbbbbbbbbbwi.
.iwaaaaaaaaaaaawbbbbbbbbbbbwi.
.iwaaaaaaaaaaaawwwwwwwwwwwwwi.
.iwaaaaaaaaaaaawcccccccccccwi.
.iwaaaaaaaaaaaawcccccccccccwi.
.iwaaaaaaaaaaaawcccccccccccwi.
.iwaaaaaaaaaaaawcccccccccccwi.
.iwwwwwwwwwwwwwwwwwwwwwwwwwwi.
.iiiiiiiiiiiiiiiiiiiiiiiiiiii.
..............................
"""
"""Outdoors ".", insulation "i", walls "w", and the air of three rooms "a", "b" and "c"."""


def wall_conductance(insulation: float, brick: float) -> Vector:
    """Heat flows into outdoors and rooms a, b, c for 1 K in each of them, (4, 4) [W/K].

    Parameters
    ----------
    insulation, brick : float
        Conductivities of the letters "i" and "w" [W/(m K)].
    """
    plan = np.array([list(row) for row in PLAN.split()])
    plan = plan.repeat(4, axis=0).repeat(4, axis=1)  # cells of CELL / 4
    is_wall = np.isin(plan, ["i", "w"])
    node = np.zeros(plan.shape, int)  # 0 to 3 are the air, cells of walls follow
    for number, letter in enumerate(".abc"):
        node[plan == letter] = number
    node[is_wall] = 4 + np.arange(is_wall.sum())

    half = np.full(plan.shape, 4 / (FILM * CELL))  # m K/W, from the middle to a side
    half[plan == "w"] = 0.5 / brick
    half[plan == "i"] = 0.5 / insulation
    here, there, resistance = (
        np.concatenate([along_rows.ravel(), along_columns.ravel()])
        for along_rows, along_columns in (
            (node[:, :-1], node[:-1]),
            (node[:, 1:], node[1:]),
            (half[:, :-1] + half[:, 1:], half[:-1] + half[1:]),
        )
    )
    link = np.where(here == there, 0.0, HEIGHT / resistance)  # W/K
    links = coo_array((link, (here, there)), shape=(node.max() + 1,) * 2)
    links = (links + links.T).tocsc()
    full = links - diags_array(links.sum(axis=0))  # no heat stays in a cell of a wall:
    through = splu(full[4:, 4:].tocsc()).solve(full[4:, :4].toarray())
    conductance: Vector = full[:4, :4].toarray() - full[:4, 4:] @ through
    return conductance


class Weather(Subsystem):
    """The air outdoors: coldest at 4 o'clock, warmest at 16."""

    mean = parameter(2.0, unit="°C")
    swing = parameter(5.0, unit="K")

    @cached(prerequisites=lambda self: (self.time, self.mean, self.swing), unit="°C")
    def temperature(self, state: State) -> float:
        """Temperature of the air [°C]."""
        phase = 2 * math.pi * (state.time - 4 * HOUR) / DAY
        return self.mean(state) - self.swing(state) * math.cos(phase)


class Walls(Subsystem):
    """The walls of the plan, which conduct heat between the rooms and the air outdoors."""

    thickness = parameter(0.08, unit="m")  # of the insulation
    insulator = parameter(0.035, unit="W/(m K)")  # conductivity
    brick = parameter(0.5, unit="W/(m K)")  # conductivity
    lost = z_variable(0.0, unit="J")  # heat that has gone outdoors

    def __init__(self, weather: Weather) -> None:
        self.weather = weather
        self.rooms: list[Room] = []  # each adds itself

    @cached(prerequisites=(thickness, insulator, brick), unit="W/K")
    def conductance(self, state: State) -> Vector:
        """Heat flows into outdoors and rooms a, b, c for 1 K in each of them, (4, 4) [W/K]."""
        insulation = self.insulator(state) * CELL / self.thickness(state)
        return wall_conductance(insulation, self.brick(state))

    @cached(
        prerequisites=lambda self: (
            self.conductance,
            self.weather.temperature,
            *(room.temperature for room in self.rooms),
        ),
        unit="W",
    )
    def flows(self, state: State) -> Vector:
        """Heat that flows outdoors and into each room [W]."""
        temperatures = [room.temperature(state) for room in self.rooms]
        outdoors = self.weather.temperature(state)
        flows: Vector = self.conductance(state) @ [outdoors, *temperatures]
        return flows

    def realize_dynamics(self, state: State) -> None:
        """Count the heat that is lost."""
        state[self].upd_zdot()[0] = self.flows(state)[0]


class Room(Subsystem):
    """A room with a heater, which a thermostat switches on and off."""

    setpoint = parameter(20.0, unit="°C")
    band = parameter(0.5, unit="K")  # to both sides of the setpoint
    power = parameter(600.0, unit="W")  # of the heater
    capacity = parameter(1.2e6, unit="J/K")  # of air, furniture and surfaces of the walls
    heats = discrete(False, invalidates=Stage.DYNAMICS)
    temperature = z_variable(20.0, unit="°C")
    energy = z_variable(0.0, unit="J")  # used by the heater

    def __init__(self, walls: Walls) -> None:
        walls.rooms.append(self)
        self.walls = walls
        self.place = len(walls.rooms)

    def realize_dynamics(self, state: State) -> None:
        """The temperature changes with all heat that comes in."""
        heating = self.power(state) if self.heats(state) else 0.0
        inflow = heating + self.walls.flows(state)[self.place]
        state[self].upd_zdot()[:] = inflow / self.capacity(state), heating

    @event_trigger(stage=Stage.DYNAMICS, direction="rising", initially=True)
    def warm(self, state: State) -> float:
        """Excess over the upper threshold [K]."""
        return self.temperature(state) - self.setpoint(state) - self.band(state)

    @warm.handler
    def switch_off(self, state: State) -> None:
        """The room is warm enough."""
        self.heats.set(state, False)

    @event_trigger(stage=Stage.DYNAMICS, direction="falling", initially=True)
    def cold(self, state: State) -> float:
        """Excess over the lower threshold [K]."""
        return self.temperature(state) - self.setpoint(state) + self.band(state)

    @cold.handler
    def switch_on(self, state: State) -> None:
        """The room is too cold."""
        self.heats.set(state, True)


def system() -> System:
    """The model: a living room, a bedroom and a kitchen."""
    weather = Weather()
    walls = Walls(weather)
    living, bedroom, kitchen = Room(walls), Room(walls), Room(walls)
    return System(weather, walls, living=living, bedroom=bedroom, kitchen=kitchen, name="building")


def count_computations(model: System, state: State) -> dict[str, int]:
    """Numbers of computations in a day, after the first one of each, by a trace."""
    stepper = TimeStepper(model, Integrator(model, "RK45", accuracy=1e-4))
    stepper.initialize(state)
    with stepper.integrator.advanced_state.trace() as trace:
        stepper.step_to(DAY)
    return {row.entry: row.computed for row in trace.summary().rows}


def heat_lost(model: System, start: State) -> float:
    """Heat that goes outdoors in a day [kWh]."""
    last = simulate(model, start, DAY, method="RK45", accuracy=1e-4)[-1]
    return model.get(Walls).lost(last) / 3.6e6


def plot(trajectory: Trajectory, path: Path) -> None:
    """Draw the temperatures, and under them when the heater of the living room is on."""
    temperatures = ("living.temperature", "bedroom.temperature", "kitchen.temperature")
    upper = trajectory.plot(*temperatures)
    figure = upper.figure
    figure.set_size_inches(7, 4)
    upper.set_position((0.1, 0.4, 0.58, 0.57))
    upper.set(xlabel="", ylabel="°C")
    lower = figure.add_axes((0.1, 0.12, 0.58, 0.2), sharex=upper)
    trajectory.plot("living.heats", ax=lower)
    figure.savefig(path, bbox_inches="tight")


def main() -> None:
    """Simulate a day, count, and vary the insulation."""
    model = system()
    walls = model.get(Walls)
    start = model.new_state()
    trajectory = simulate(model, start, DAY, method="RK45", accuracy=1e-4)
    last = trajectory[-1]
    used = sum(room.energy(last) for room in walls.rooms)
    stored = sum(
        room.capacity(last) * (room.temperature(last) - room.temperature(start))
        for room in walls.rooms
    )
    switched = np.count_nonzero(np.diff(trajectory["living.heats"]))
    print(f"the heater of the living room is switched {switched} times")
    print(f"heating {used:.0f} J, lost {walls.lost(last):.0f} J, stored {stored:.0f} J")
    print(f"error of the balance: {abs(used - stored - walls.lost(last)):.1e} J")

    computed = count_computations(model, start)
    print(f"computed again in a day: the flows {computed['walls.flows']} times,", end=" ")
    print(f"the conductance {computed['walls.conductance']} times")

    for thickness in (0.02, 0.04, 0.08, 0.16, 0.32):
        variation = start.copy()
        walls.thickness.set(variation, thickness)
        print(f"{thickness:.2f} m of insulation: {heat_lost(model, variation):6.2f} kWh lost")

    path = Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "building.png"
    try:
        plot(trajectory, path)
    except MissingExtraError as error:
        print(error)
    else:
        print("wrote", path.name)


if __name__ == "__main__":
    main()
