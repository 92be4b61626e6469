"""A slider-crank in absolute coordinates: bodies, joints, a motor, and the torque that it needs.

Run it: python -m stagecache.examples.slider_crank [OUTPUT FOLDER]

Each body has a position and an angle. A joint is a constraint between two bodies, or between a body
and the ground. The motor is a constraint, too: its multiplier is its torque. The program simulates
two seconds. It compares the position of the slide with the exact one, and the work of the motor
with the gain of energy. It writes a plot of the torque.
"""

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    Trajectory,
    cached,
    generalized_force,
    mass_matrix,
    parameter,
    position_error,
    q_variable,
    simulate,
    u_variable,
)
from stagecache.errors import MissingExtraError

Vector = NDArray[np.float64]
Point = tuple[float, float]

CRANK = 0.3  # m
ROD = 1.0  # m
SPEED = 6.0  # rad/s, of the motor
FIRST_ANGLE = 0.3  # rad


def turned(angle: float, point: Vector) -> Vector:
    """A point of a body, seen from its center, when the body is turned by an angle [m]."""
    cosine, sine = np.cos(angle), np.sin(angle)
    return np.array([cosine * point[0] - sine * point[1], sine * point[0] + cosine * point[1]])


def across(arm: Vector) -> Vector:
    """The velocity of a point for each unit of the rate."""
    return np.array([-arm[1], arm[0]])


class Body(Subsystem):
    """A body in a plane."""

    mass = parameter(1.0, unit="kg")
    moment = parameter(0.1, unit="kg m²")
    gravity = parameter(9.81, unit="m/s²")
    center = q_variable((0.0, 0.0), unit="m")
    angle = q_variable(0.0, unit="rad")
    velocity = u_variable((0.0, 0.0), unit="m/s")
    rate = u_variable(0.0, unit="rad/s")

    @mass_matrix(velocity, rate, prerequisites=(mass, moment))
    def inertia(self, state: State) -> Vector:
        """The mass in both directions, and the moment."""
        return np.array([self.mass(state), self.mass(state), self.moment(state)])

    @generalized_force(velocity, prerequisites=(mass, gravity))
    def weight(self, state: State) -> Vector:
        """Weight of the body [N]."""
        return np.array([0.0, -self.mass(state) * self.gravity(state)])

    @cached(prerequisites=(mass, moment, gravity, center, velocity, rate), unit="J")
    def energy(self, state: State) -> float:
        """Kinetic and potential energy [J]."""
        velocity = self.velocity(state)
        height = self.center(state)[1]
        moving = self.mass(state) * velocity @ velocity + self.moment(state) * self.rate(state) ** 2
        return float(moving / 2 + self.mass(state) * self.gravity(state) * height)


class Pin(Subsystem):
    """Holds a point of a body at a place on the ground, or at a point of another body."""

    def __init__(self, body: Body, point: Point, place: Point, other: Body | None = None) -> None:
        self.ground = np.array(place if other is None else (0.0, 0.0))
        self.ends = [(1.0, body, np.array(point))]
        if other is not None:
            self.ends.append((-1.0, other, np.array(place)))

    @position_error(size=2)
    def gap(self, state: State) -> Vector:
        """Distance of the points from each other [m]."""
        gap = -self.ground
        for sign, body, point in self.ends:
            gap = gap + sign * (body.center(state) + turned(body.angle(state), point))
        return gap

    @gap.velocity
    def gap_rate(self, state: State) -> Vector:
        """Rate of change of the distance [m/s]."""
        rate = np.zeros(2)
        for sign, body, point in self.ends:
            arm = turned(body.angle(state), point)
            rate += sign * (body.velocity(state) + body.rate(state) * across(arm))
        return rate

    @gap.jacobian
    def gap_by_u(self, state: State) -> dict[object, Vector]:
        """Jacobian of that rate with respect to the velocities of the bodies."""
        blocks: dict[object, Vector] = {}
        for sign, body, point in self.ends:
            arm = turned(body.angle(state), point)
            blocks[body.velocity] = sign * np.eye(2)
            blocks[body.rate] = sign * across(arm)[:, np.newaxis]
        return blocks

    @gap.bias
    def gap_bias(self, state: State) -> Vector:
        """The accelerations that the rates bring about by themselves [m/s²]."""
        bias = np.zeros(2)
        for sign, body, point in self.ends:
            bias -= sign * body.rate(state) ** 2 * turned(body.angle(state), point)
        return bias


class Track(Subsystem):
    """Keeps a body on the x axis, and upright."""

    def __init__(self, body: Body) -> None:
        self.body = body

    @position_error(size=2)
    def off(self, state: State) -> Vector:
        """Height [m] and angle [rad] of the body."""
        return np.array([self.body.center(state)[1], self.body.angle(state)])

    @off.velocity
    def off_rate(self, state: State) -> Vector:
        """Rates of change."""
        return np.array([self.body.velocity(state)[1], self.body.rate(state)])

    @off.jacobian
    def off_by_u(self, state: State) -> dict[object, Vector]:  # noqa: ARG002  # it is constant
        """Each is one of the velocities."""
        return {
            self.body.velocity: np.array([[0.0, 1.0], [0.0, 0.0]]),
            self.body.rate: np.array([[0.0], [1.0]]),
        }

    @off.bias
    def off_bias(self, state: State) -> Vector:  # noqa: ARG002  # it is constant
        """Nothing, as these velocities are numbers of u."""
        return np.zeros(2)


class Motor(Subsystem):
    """Turns a body with a constant speed."""

    def __init__(self, body: Body) -> None:
        self.body = body

    @position_error(prerequisites=lambda self: (self.body.angle, self.time))
    def lag(self, state: State) -> float:
        """Angle by which the body is ahead of its target [rad]."""
        return self.body.angle(state) - FIRST_ANGLE - SPEED * state.time

    @lag.velocity
    def lag_rate(self, state: State) -> float:
        """Rate of change of that angle [rad/s]."""
        return self.body.rate(state) - SPEED

    @lag.jacobian
    def lag_by_u(self, state: State) -> dict[object, Vector]:  # noqa: ARG002  # it is constant
        """Derivative by the rate of the body: 1."""
        return {self.body.rate: np.ones((1, 1))}

    @lag.bias
    def lag_bias(self, state: State) -> float:  # noqa: ARG002  # it is constant
        """Nothing, as the speed is constant."""
        return 0.0

    @cached(available_from=Stage.ACCELERATION, unit="N m")
    def torque(self, state: State) -> float:
        """Torque on the body: forces of constraints are -G' multipliers [N m]."""
        return -float(state[self].multipliers[0])


def system() -> System:
    """The model."""
    crank, rod, slide = Body(), Body(), Body()
    return System(
        crank=crank,
        rod=rod,
        slide=slide,
        bearing=Pin(crank, (-CRANK / 2, 0.0), (0.0, 0.0)),
        crank_pin=Pin(crank, (CRANK / 2, 0.0), (-ROD / 2, 0.0), rod),
        slide_pin=Pin(rod, (ROD / 2, 0.0), (0.0, 0.0), slide),
        track=Track(slide),
        motor=Motor(crank),
        name="slider-crank",
    )


def exact_place(time: Vector) -> Vector:
    """Position of the slide [m]."""
    angle = FIRST_ANGLE + SPEED * time
    place: Vector = CRANK * np.cos(angle) + np.sqrt(ROD**2 - (CRANK * np.sin(angle)) ** 2)
    return place


def plot(trajectory: Trajectory, path: Path) -> None:
    """Draw the torque over the time."""
    axes = trajectory.plot("motor.torque")
    axes.set(ylabel="torque of the motor [N m]")
    axes.figure.savefig(path)


def main() -> None:
    """Put the parts together, then let the motor turn."""
    model = system()
    bodies = [model[name] for name in ("crank", "rod", "slide")]
    state = model.new_state()
    for body, center in zip(bodies, ((0.15, 0.05), (0.8, 0.1), (1.2, 0.1)), strict=True):
        assert isinstance(body, Body)
        body.center.set(state, center)  # roughly
    model.realize(state, Stage.VELOCITY)
    print(f"largest error of a joint: {abs(state.qerr).max():.2f} m at first")
    model.project(state, 1e-10)
    model.realize(state, Stage.ACCELERATION)
    print(f"{abs(state.qerr).max():.0e} m after projection")
    print("the ground pulls at the crank with", -state[model["bearing"]].multipliers.round(2), "N")

    energies = [body.energy for body in bodies if isinstance(body, Body)]
    trajectory = simulate(
        model, state, 2.0, accuracy=1e-6, every=0.005, record=(*energies, "motor.torque")
    )
    error = trajectory["slide.center"][:, 0] - exact_place(trajectory.times)
    print(f"largest error of the slide's place: {abs(error).max():.1e} m")
    energy = np.sum([trajectory[energy] for energy in energies], axis=0)
    power = SPEED * trajectory["motor.torque"]
    work = np.sum((power[1:] + power[:-1]) / 2 * np.diff(trajectory.times))
    print(f"work of the motor: {work:.3f} J; energy gained: {energy[-1] - energy[0]:.3f} J")

    path = Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "slider_crank.png"
    try:
        plot(trajectory, path)
    except MissingExtraError as missing:
        print(missing)
    else:
        print("wrote", path.name)


if __name__ == "__main__":
    main()
