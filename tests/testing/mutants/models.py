"""Small sound models, in which faults are planted by subclasses that replace one item.

Each function makes a System. It takes the classes of its subsystems, so that a mutant can be put in
the place of one. No computation divides, and sizes come from a bool: any value that is written is a
good one, and so every check can draw what it likes.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stagecache import (
    CacheEntry,
    Stage,
    State,
    Subsystem,
    System,
    TriggerDirection,
    auto_update,
    cached,
    discrete,
    event_trigger,
    modeling_option,
    parameter,
    position_error,
    q_variable,
    u_variable,
    z_variable,
)

Vector = NDArray[np.float64]


# ---------------------------------------------------------------------- a pendulum with an anchor


class Pendulum(Subsystem):
    """A point mass on a rod, as in `stagecache.examples.pendulum`."""

    length = parameter(1.0)  # m
    mass = parameter(2.0)  # kg
    gravity = parameter(9.81)  # m/s²
    angle = q_variable(0.1)  # rad
    rate = u_variable(0.5)  # rad/s
    pull = discrete(0.0, invalidates=Stage.ACCELERATION)  # N m

    @cached(prerequisites=(angle, length))
    def tip(self, state: State) -> Vector:
        angle = self.angle(state)
        return self.length(state) * np.array([math.sin(angle), -math.cos(angle)])

    @cached(prerequisites=(mass, gravity))
    def weight(self, state: State) -> float:
        return self.mass(state) * self.gravity(state)

    @cached(available_from=Stage.VELOCITY)
    def kinetic_energy(self, state: State) -> float:
        return self.mass(state) * (self.length(state) * self.rate(state)) ** 2 / 2

    @cached(prerequisites=(tip, weight))
    def potential_energy(self, state: State) -> float:
        return self.weight(state) * float(self.tip(state)[1])

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[0] = self.rate(state)

    def realize_acceleration(self, state: State) -> None:
        torque = self.pull(state) - self.weight(state) * float(self.tip(state)[0])
        state[self].upd_udot()[0] = torque


class Anchor(Subsystem):
    """What the pendulum hangs from, which is shaken."""

    amplitude = parameter(0.2)  # m
    phase = discrete(0.5, invalidates=Stage.REPORT)

    def __init__(self, pendulum: Pendulum) -> None:
        self.pendulum = pendulum

    @cached(prerequisites=lambda self: (self.pendulum.tip, self.pendulum.weight))
    def torque(self, state: State) -> float:
        return -self.pendulum.weight(state) * float(self.pendulum.tip(state)[0])

    @cached(prerequisites=lambda self: (self.amplitude, self.time))
    def shift(self, state: State) -> float:
        return self.amplitude(state) * math.sin(state.time)

    @cached(prerequisites=lambda self: (self.shift, self.pendulum.tip))
    def reach(self, state: State) -> float:
        return self.shift(state) + float(self.pendulum.tip(state)[0])

    @cached(prerequisites=lambda self: (self.phase,))
    def caption(self, state: State) -> str:
        return f"phase {self.phase(state):.3f}"


def clock(pendulum: type[Pendulum] = Pendulum, anchor: type[Anchor] = Anchor) -> System:
    """A pendulum and its anchor."""
    hanging = pendulum()
    return System(name="clock", pendulum=hanging, anchor=anchor(hanging))


# ---------------------------------------------------------------------- springs between neighbours


class Springs(Subsystem):
    """Some equal springs between neighbours."""

    def __init__(self, count: int) -> None:
        self.count = count

    stiffness = parameter(factory=lambda _, i: 10.0 * (i + 1), count=lambda self: self.count)
    place = q_variable(0.5, count=lambda self: self.count + 1)

    @cached(
        count=lambda self: self.count,
        prerequisites=lambda self, i: (self.place[i], self.place[i + 1], self.stiffness[i]),
    )
    def force(self, state: State, i: int) -> float:
        return self.stiffness[i](state) * (self.place[i + 1](state) - self.place[i](state))

    @cached(prerequisites=(force,))
    def total(self, state: State) -> float:
        return sum(force(state) for force in self.force)


def springs(cls: type[Springs] = Springs) -> System:
    """Three springs."""
    return System(name="wall", springs=cls(3))


# ---------------------------------------------------------------------- a constraint


class Slider(Subsystem):
    """A mass in a plane at the end of a rod, which a constraint keeps at its length."""

    length = parameter(1.0)  # m
    floor = parameter(-2.0)  # m
    x = q_variable(0.6)  # m
    y = q_variable(-0.8)  # m
    vx = u_variable(0.8)  # m/s
    vy = u_variable(0.6)  # m/s

    @position_error(prerequisites=(x, y, length))
    def rod(self, state: State) -> float:
        return self.x(state) ** 2 + self.y(state) ** 2 - self.length(state) ** 2

    @rod.velocity(prerequisites=(x, y, vx, vy))
    def rod_velocity(self, state: State) -> float:
        return 2 * (self.x(state) * self.vx(state) + self.y(state) * self.vy(state))

    @rod.acceleration
    def rod_acceleration(self, state: State) -> float:
        return float(state[self].udot[0]) - self.vx(state) ** 2 - self.vy(state) ** 2

    @rod.jacobian(prerequisites=(x, y))
    def rod_jacobian(self, state: State) -> Vector:
        return np.array([[2 * self.x(state), 2 * self.y(state)]])

    @event_trigger(
        stage=Stage.POSITION, direction=TriggerDirection.FALLING, prerequisites=(y, floor)
    )
    def above_floor(self, state: State) -> float:
        return self.y(state) - self.floor(state)

    @above_floor.handler
    def bounce(self, state: State) -> None:
        self.vy.set(state, -self.vy(state))

    @cached(available_from=Stage.POSITION)
    def misfit(self, state: State) -> float:
        return float(state[self].qerr @ state[self].qerr_weights)

    @cached(available_from=Stage.REPORT)
    def effort(self, state: State) -> float:
        return float(np.sum(state.u_weights * state.u**2))

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[:] = [self.vx(state), self.vy(state)]

    def realize_acceleration(self, state: State) -> None:
        state[self].upd_udot()[:] = [-self.x(state), -self.y(state)]


class Follower(Subsystem):
    """What goes after the slider, and comes before it in the System."""

    lag = q_variable(0.0)  # m
    gain = parameter(0.5)

    def __init__(self, slider: Slider) -> None:
        self.slider = slider

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[0] = self.gain(state) * self.slider.vx(state)


def slide(slider: type[Slider] = Slider, follower: type[Follower] = Follower) -> System:
    """A slider on a rod, and its follower."""
    sliding = slider()
    return System(name="slide", follower=follower(sliding), slider=sliding)


# ---------------------------------------------------------------------- a thermostat


class Thermostat(Subsystem):
    """Heats a room when it is cold. The next values of what it remembers are computed."""

    setpoint = parameter(20.0)  # °C
    band = parameter(1.0)  # °C
    rated = parameter(500.0)  # W
    leak = parameter(2.0)  # W/°C
    temperature = z_variable(18.0)  # °C
    heating = auto_update(False, invalidates=Stage.DYNAMICS, available_from=Stage.POSITION)
    highest = auto_update(0.0, invalidates=Stage.REPORT, available_from=Stage.DYNAMICS)

    @heating.update(prerequisites=(temperature,))
    def next_heating(self, state: State) -> bool:
        """Whether to heat from now on: between the edges of the band, as before."""
        excess = self.temperature(state) - self.setpoint(state)
        if abs(excess) <= abs(self.band(state)):
            return self.heating(state)
        return excess < 0

    @highest.update
    def next_highest(self, state: State) -> float:
        return max(self.highest(state), self.temperature(state))

    @cached(prerequisites=lambda self: (self.time,))
    def outside(self, state: State) -> float:
        return 5.0 * math.cos(state.time)

    @cached(prerequisites=(heating, rated))
    def power(self, state: State) -> float:
        return self.rated(state) if self.heating(state) else 0.0

    @cached(prerequisites=(leak, temperature, outside))
    def loss(self, state: State) -> float:
        return self.leak(state) * (self.temperature(state) - self.outside(state))

    @cached(prerequisites=(highest, setpoint))
    def report(self, state: State) -> str:
        return f"{self.highest(state) - self.setpoint(state):.3f} above"

    @event_trigger(stage=Stage.DYNAMICS, direction=TriggerDirection.FALLING)
    def too_cold(self, state: State) -> float:
        return self.temperature(state) - self.setpoint(state)

    @too_cold.handler
    def heat(self, state: State) -> None:
        self.heating.set(state, True)

    def realize_dynamics(self, state: State) -> None:
        state[self].upd_zdot()[0] = -self.loss(state)


def heated(cls: type[Thermostat] = Thermostat) -> System:
    """A thermostat."""
    return System(name="room", thermostat=cls())


# ---------------------------------------------------------------------- a chain of three


class Engine(Subsystem):
    """Pulls."""

    length = parameter(10.0)  # m
    mass = parameter(80.0)  # t
    place = q_variable(100.0)  # m
    speed = u_variable(20.0)  # m/s

    @cached(prerequisites=(place, length))
    def rear(self, state: State) -> float:
        return self.place(state) - self.length(state)

    @cached(prerequisites=(mass, speed))
    def momentum(self, state: State) -> float:
        return self.mass(state) * self.speed(state)

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[0] = self.speed(state)


class Wagon(Subsystem):
    """Is pulled."""

    gap = parameter(1.0)  # m
    load = discrete(40.0, invalidates=Stage.DYNAMICS)  # t

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    @cached(prerequisites=lambda self: (self.engine.rear, self.gap))
    def rear(self, state: State) -> float:
        return self.engine.rear(state) - self.gap(state) - 12.0

    @cached(prerequisites=lambda self: (self.engine.momentum, self.engine.speed, self.load))
    def momentum(self, state: State) -> float:
        return self.engine.momentum(state) + self.load(state) * self.engine.speed(state)


class Brake(Subsystem):
    """Stops both."""

    margin = parameter(5.0)  # m

    def __init__(self, wagon: Wagon) -> None:
        self.wagon = wagon

    @cached(prerequisites=lambda self: (self.wagon.rear, self.margin))
    def distance(self, state: State) -> float:
        return self.wagon.rear(state) - self.margin(state)

    @cached(prerequisites=lambda self: (self.distance, self.wagon.momentum))
    def force(self, state: State) -> float:
        return self.wagon.momentum(state) * self.distance(state)


def train(
    engine: type[Engine] = Engine, wagon: type[Wagon] = Wagon, brake: type[Brake] = Brake
) -> System:
    """An engine, a wagon and a brake, in which the first one is downstream of all."""
    pulling = engine()
    pulled = wagon(pulling)
    return System(name="train", brake=brake(pulled), wagon=pulled, engine=pulling)


# ---------------------------------------------------------------------- sizes and pools


class Beads(Subsystem):
    """Beads on a wire, two or four of them, whose computations read whole vectors."""

    is_long = modeling_option(False)
    mass = parameter(0.5)  # kg
    is_wet = parameter(False)
    viscosity = parameter(0.3)  # kg/s
    height = q_variable(factory=lambda self, state: np.arange(self.count(state)) * 0.5)
    speed = u_variable(factory=lambda self, state: np.ones(self.count(state)))

    def count(self, state: State) -> int:
        """How many there are."""
        return 4 if self.is_long(state) else 2

    @cached(prerequisites=(mass, is_long))
    def total_mass(self, state: State) -> float:
        return self.mass(state) * self.count(state)

    @cached(available_from=Stage.MODEL, prerequisites=(mass,))
    def density(self, state: State) -> float:
        return self.mass(state) * state.nq

    @cached(prerequisites=lambda self: (self.system.q,))
    def highest(self, state: State) -> float:
        return float(state.q.max())

    @cached(prerequisites=lambda self: (self.u,))
    def fastest(self, state: State) -> float:
        return float(state[self].u.max())

    @cached(available_from=Stage.VELOCITY)
    def norm(self, state: State) -> float:
        return float(np.sum(state.y**2))

    @cached(available_from=Stage.VELOCITY)
    def rise(self, state: State) -> float:
        return float(np.sum(state.qdot))

    @cached(prerequisites=(speed, is_wet, viscosity))
    def friction(self, state: State) -> float:
        if not self.is_wet(state):
            return 0.0
        return self.viscosity(state) * float(self.speed(state).sum())

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[:] = self.speed(state)


def wire(cls: type[Beads] = Beads) -> System:
    """Beads on a wire, and a pendulum beside them, so that the State has q of both."""
    return System(name="wire", pendulum=Pendulum(), beads=cls())


# ---------------------------------------------------------------------- values that can be changed


class Timetable(Subsystem):
    """Computes lists and dicts from lists and dicts."""

    times = parameter([3.0, 1.0, 2.0])  # h
    names = parameter({"A": 1, "B": 2})
    delay = discrete(0.25, invalidates=Stage.TIME)  # h

    @cached(prerequisites=(times,))
    def in_order(self, state: State) -> list[float]:
        return sorted(self.times(state))

    @cached(prerequisites=(in_order, delay))
    def delayed(self, state: State) -> list[float]:
        return [time + self.delay(state) for time in self.in_order(state)]

    @cached(prerequisites=(delayed,))
    def number(self, state: State) -> int:
        return len(self.delayed(state))

    @cached(prerequisites=(names, in_order))
    def departures(self, state: State) -> dict[str, float]:
        times = self.in_order(state)
        return {name: sum(times[:i]) for name, i in self.names(state).items()}

    @cached(prerequisites=(departures, delay))
    def latest(self, state: State) -> float:
        return max(self.departures(state).values(), default=0.0) + self.delay(state)


def station(cls: type[Timetable] = Timetable) -> System:
    """A timetable."""
    return System(name="station", timetable=cls())


# ---------------------------------------------------------------------- entries allocated by hand


class Probe(Subsystem):
    """Fills entries by its hooks, which are allocated by hand."""

    is_on = modeling_option(True)
    offset = parameter(0.5)
    angle = q_variable(0.1)
    rate = u_variable(0.2)

    span: CacheEntry[Any]
    spin: CacheEntry[Any]
    product: CacheEntry[float]

    def realize_topology(self, state: State) -> None:
        own = state[self]
        self.span = own.allocate_cache_entry(Stage.POSITION, Stage.POSITION, 0.0, name="span")
        self.spin = own.allocate_cache_entry(Stage.VELOCITY, Stage.VELOCITY, 0.0, name="spin")
        self.product = own.allocate_cache_entry_with_prerequisites(
            Stage.POSITION,
            Stage.INFINITY,
            (self.span, self.offset),
            compute=lambda state: self.span(state) * self.offset(state),
            name="product",
        )

    def realize_position(self, state: State) -> None:
        self.span.set(state, self.angle(state) + self.offset(state))

    def realize_velocity(self, state: State) -> None:
        self.spin.set(state, self.rate(state) if self.is_on(state) else 0.0)


def probed(cls: type[Probe] = Probe) -> System:
    """A probe."""
    return System(name="lab", probe=cls())


# ---------------------------------------------------------------------- early cutoff


class Gearbox(Subsystem):
    """Computes what is often equal to what it was, and then leaves alone what depends on it."""

    ratio = parameter(0.5)
    speed = u_variable(5.0)  # rad/s

    @cached(prerequisites=(speed,), equal=True)
    def gear(self, state: State) -> int:
        return int(abs(self.speed(state))) // 10

    @cached(prerequisites=(speed, ratio), equal=np.array_equal)
    def shafts(self, state: State) -> Vector:
        return np.array([self.speed(state), self.speed(state) * self.ratio(state)])

    @cached(prerequisites=(gear, ratio))
    def torque(self, state: State) -> float:
        return self.ratio(state) * self.gear(state)

    @cached(prerequisites=(shafts, torque))
    def power(self, state: State) -> float:
        return self.torque(state) * float(self.shafts(state).sum())

    def realize_acceleration(self, state: State) -> None:
        state[self].upd_udot()[0] = -self.power(state)


def driven(cls: type[Gearbox] = Gearbox) -> System:
    """A gearbox."""
    return System(name="drive", gearbox=cls())
