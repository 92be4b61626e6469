"""An arm of six joints: where it is, what a write makes stale, what holds it, and how it drops.

Run it: python -m stagecache.examples.robot_arm [OUTPUT FOLDER]

The arm is a tree of six bodies, each joined by a pin to the one before it, as in many industrial
robots: three joints place the wrist, three turn the tool. A subsystem has an entry for the height
of each link, and the program shows which of these a write makes stale. The links have masses:
inverse dynamics gives the torques that hold them, and a simulation shows how the arm drops if the
motors stop, with the friction of the joints only. At the end the tool draws a circle on a wall, by
the inverse of its Jacobian, and the arm drops. The program writes a picture and a GIF of it.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from stagecache import (
    CoordinateDirection,
    DecorativeCylinder,
    DecorativeFrame,
    DecorativeLine,
    Stage,
    State,
    Subsystem,
    animate,
    cached,
    draw,
    simulate,
)
from stagecache.decorations import (
    AbstractDecoration,
)
from stagecache.errors import MissingExtraError
from stagecache.multibody import (
    DiscreteForces,
    Gravity,
    MassProperties,
    MobilityDamper,
    MobilizedBody,
    MultibodySystem,
    Pin,
    Transform,
)

Vector = NDArray[np.float64]
Point = tuple[float, float, float]

X, Y, Z = range(3)
# The links from the base on: name, axis of the joint, and where that is on the link before [m].
# Where all q are 0, all frames have the axes of the ground, and the forearm points along x.
LINKS: list[tuple[str, int, Point]] = [
    ("turret", Z, (0.0, 0.0, 0.20)),
    ("upper arm", Y, (0.06, 0.0, 0.20)),
    ("forearm", Y, (0.0, 0.0, 0.45)),
    ("wrist", X, (0.25, 0.0, 0.0)),
    ("hand", Y, (0.20, 0.0, 0.0)),
    ("flange", X, (0.08, 0.0, 0.0)),
]
TOOL: Point = (0.12, 0.0, 0.0)  # on the flange, m
RADII = [0.10, 0.075, 0.065, 0.055, 0.045, 0.04]  # of the joints, m
MASSES = [9.0, 6.0, 4.0, 1.5, 0.8, 0.3]  # of the links, kg
FRICTION = 0.05  # of each joint, N m s/rad
PEDESTAL = 0.08  # m
READY = [0.0, 0.2, 0.3, 0.0, -0.5, 0.0]  # rad: the tool points along x
TURNED = [0.6, 0.3, 0.2, 0.5, -0.4, 0.2]  # rad

PAINT = (0.95, 0.55, 0.15)
METAL = (0.45, 0.48, 0.52)
INK = (0.15, 0.35, 0.75)

CIRCLE = 0.15  # m, the radius
FRAMES = 30

DROP = 0.3  # s


class Heights(Subsystem):
    """Watches how high the links are."""

    def __init__(self, links: Sequence[MobilizedBody]) -> None:
        self.links = links

    @cached(
        count=lambda self: len(self.links),
        prerequisites=lambda self, i: (self.links[i].pose,),
        unit="m",
    )
    def height(self, state: State, i: int) -> float:
        """Height of the joint of a link above the ground [m]."""
        return float(self.links[i].pose(state).translation[Z])


def rotation(column: int, axis: int) -> Vector:
    """A rotation that has an axis of the ground as this column."""
    return np.roll(np.eye(3), axis - column, axis=0)


def tube(end: Point, radius: float) -> list[AbstractDecoration]:
    """Make pieces along z and x, from the origin of a link to a point of it."""
    x, _, z = end
    pieces: list[AbstractDecoration] = []
    for axis, length, middle in ((Z, z, (0.0, 0.0, z / 2)), (X, x, (x / 2, 0.0, z))):
        if length:
            turned = rotation(1, axis)  # the axis of a cylinder is its y
            pieces.append(
                DecorativeCylinder(
                    radius, length / 2, rotation=turned, translation=middle, color=PAINT
                )
            )
    return pieces


def solid(mass: float, end: Point, radius: float) -> MassProperties:
    """Mass properties of a link: a ball at its joint, and one as heavy at its end."""
    ball = mass / 2.0 * np.eye(3) * 0.4 * radius**2
    middle = np.array(end) / 2.0
    across = mass * (middle @ middle * np.eye(3) - np.outer(middle, middle))  # of two points
    return MassProperties.about_center(mass, middle, 2.0 * ball + across)


def make_arm() -> MultibodySystem:
    """The model."""
    system = MultibodySystem(name="robot arm")
    system.up_direction = CoordinateDirection.Z
    matter = system.matter
    link = matter.ground
    for shape in tube((0.0, 0.0, PEDESTAL), 0.13):
        matter.add_decoration(link, shape)
    ends = [place for _, _, place in LINKS[1:]] + [TOOL]
    for (name, axis, place), end, radius, mass in zip(LINKS, ends, RADII, MASSES, strict=True):
        turned = rotation(2, axis)  # the axis of a pin is z
        hub = DecorativeCylinder(radius, 1.2 * radius, rotation=rotation(1, axis), color=METAL)
        link = matter.add_body(
            name,
            link,
            Pin(),
            inboard_frame=Transform(turned, place),
            outboard_frame=Transform(turned),
            mass_properties=solid(mass, end, radius),
            decorations=[hub, *tube(end, 0.7 * radius)],
        )
    matter.add_decoration(link, DecorativeFrame(0.12, translation=TOOL, line_width=2))
    system.add(Heights(matter.bodies[1:]), "heights")
    system.add(Gravity(matter, (0.0, 0.0, -9.81)), "gravity")
    system.add(DiscreteForces(matter), "motors")
    for body in matter.bodies[1:]:
        system.add(MobilityDamper(body, 0, FRICTION), f"friction_of_{body.name.replace(' ', '_')}")
    return system


def computed_again(state: State, heights: Heights, write: Callable[[], None]) -> list[str]:
    """Computations when all heights, and the velocity of the flange, are read after a write."""

    def read() -> None:
        for height in heights.height:
            height(state)
        heights.links[-1].velocity(state)

    read()
    with state.trace() as trace:
        write()
        read()
    return [row.entry for row in trace.summary().rows if row.computed]


def drop(system: MultibodySystem, state: State, step: float) -> Iterator[State]:
    """Let the arm fall for a while, and yield its States."""
    trajectory = simulate(system, state, DROP, accuracy=1e-5, every=step)
    yield from trajectory.states(Stage.VELOCITY)


def place_tool(state: State, flange: MobilizedBody, target: Transform) -> None:
    """Move all joints until the tool is where it should be."""
    for _ in range(20):
        pose = flange.pose(state)
        turn = target.rotation @ pose.rotation.T  # a small one, whose axis is in its skew part
        error = np.zeros(6)
        error[:3] = (turn[Z, Y] - turn[Y, Z], turn[X, Z] - turn[Z, X], turn[Y, X] - turn[X, Y])
        error[:3] /= 2.0
        error[3:] = target.translation - flange.station_position(state, TOOL)
        if np.abs(error).max() < 1e-9:
            return
        state.q = state.q + np.linalg.solve(flange.frame_jacobian(state, TOOL), error)
    raise ArithmeticError("the tool does not get there")


def draw_circle(state: State, flange: MobilizedBody, drawn: list[Vector]) -> Iterator[State]:
    """Let the tool draw a circle on a wall, and note each of its points."""
    state.q = READY
    middle = flange.station_position(state, TOOL)
    for angle in np.linspace(0.0, 2.0 * np.pi, FRAMES + 1):
        point = middle + CIRCLE * np.array([0.0, np.sin(angle), np.cos(angle)])
        place_tool(state, flange, Transform(None, point))
        drawn.append(flange.station_position(state, TOOL))
        yield state


def write_pictures(system: MultibodySystem, folder: Path) -> None:
    """A still and a GIF of the arm at its circle."""
    flange = system.matter.body("flange")
    state = system.new_state()
    drawn: list[Vector] = []

    def line(_: State) -> list[DecorativeLine]:
        return [
            DecorativeLine(one, other, color=INK, line_width=2) for one, other in pairwise(drawn)
        ]

    motion = chain(draw_circle(state, flange, drawn), drop(system, state, DROP / 10))
    print("wrote", animate(system, motion, folder / "robot_arm.gif", extra=line).name)
    ax = draw(system, state, extra=line)
    ax.figure.savefig(folder / "robot_arm.png", dpi=120)
    print("wrote robot_arm.png")


def main(folder: Path) -> None:
    """Look at the arm, then let it draw."""
    system = make_arm()
    matter, heights = system.matter, system.get(Heights)
    flange = matter.body("flange")
    state = system.new_state()
    print(f"{len(LINKS)} joints, nq = {state.nq}, nu = {state.nu}")

    state.q = TURNED
    print("\n-- Where is it?")
    for link in heights.links:
        print(f"{link.name:>10} at", link.pose(state).translation.round(4), "m")
    print(f"{'tool':>10} at", flange.station_position(state, TOOL).round(4), "m")
    print(f"{'':>10} pointing along", flange.pose(state).rotation[:, X].round(4))

    print("\n-- How does the tool move?")
    jacobian = flange.station_jacobian(state, TOOL)
    print("Jacobian [m/rad]:")
    print(jacobian.round(4) + 0.0)
    state.u = [0.1, -0.2, 0.3, 0.0, 0.5, 1.0]
    velocity = flange.station_velocity(state, TOOL)
    print("velocity:", velocity.round(4), "m/s")
    print(f"difference to J u: {np.abs(velocity - jacobian @ state.u).max():.0e} m/s")

    print("\n-- What does a write compute again?")
    for link in heights.links:
        turn = partial(link.q.set, state, link.q(state) + 0.1)
        again = computed_again(state, heights, turn)
        count = sum(entry.startswith("heights.") for entry in again)
        print(f"the q of the {link.name}: heights of {count} of {len(LINKS)} links")
    again = computed_again(state, heights, partial(matter.u.set, state, -state.u))
    print("all u: nothing but", ", ".join(sorted(again)))

    print("\n-- Which torques hold it?")
    state.u = np.zeros(state.nu)
    torques = matter.calc_inverse_dynamics(state, np.zeros(state.nu))
    for link, torque in zip(heights.links, torques, strict=True):
        print(f"{link.name:>10}: {torque + 0.0:7.3f} N m")
    motors = system.get(DiscreteForces)
    for link, torque in zip(heights.links, torques, strict=True):
        motors.set_mobility_force(state, link, 0, torque)
    system.realize(state, Stage.ACCELERATION)
    print(f"with these, joints accelerate by {np.abs(state.udot).max():.3f} rad/s²")

    print("\n-- What if the motors stop?")
    motors.clear(state)
    for at in drop(system, state, DROP / 3):
        height = flange.station_position(at, TOOL)[Z]
        kinetic, potential = system.calc_kinetic_energy(at), system.calc_potential_energy(at)
        print(f"{at.time:.1f} s: {height:.3f} m high, {kinetic:4.1f} J + {potential:5.1f} J")

    print("\n-- What does it look like?")
    try:
        write_pictures(system, folder)
    except MissingExtraError as missing:
        print(missing)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
