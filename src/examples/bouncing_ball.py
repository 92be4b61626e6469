"""A ball that bounces: an event trigger, its handler, and a handler that ends the simulation.

Run it: python -m stagecache.examples.bouncing_ball [OUTPUT FOLDER]

The trigger is the height of the ball: when it falls through zero, the handler reverses the speed.
The program compares the times of the bounces with exact ones, and writes a plot of the height.
"""

import math
import sys
from pathlib import Path

from stagecache import (
    EventAction,
    Stage,
    State,
    Subsystem,
    System,
    Trajectory,
    cached,
    discrete,
    event_trigger,
    parameter,
    q_variable,
    simulate,
    u_variable,
)
from stagecache.errors import MissingExtraError

Times = tuple[float, ...]

REST = 0.5  # m/s; a ball that bounces more slowly lies still


class Ball(Subsystem):
    """A ball that falls onto the floor, from which it bounces with a part of its speed."""

    gravity = parameter(9.81, unit="m/s²")
    restitution = parameter(0.8)  # speed after a bounce / speed before it
    bounces = discrete(Times(), invalidates=Stage.REPORT)  # when there were any [s]
    height = q_variable(1.0, unit="m")
    speed = u_variable(0.0, unit="m/s")  # upwards

    @cached(prerequisites=(height, speed, gravity), unit="J/kg")
    def energy(self, state: State) -> float:
        """Energy for each kilogram [J]."""
        return self.speed(state) ** 2 / 2 + self.gravity(state) * self.height(state)

    def realize_acceleration(self, state: State) -> None:
        """Nothing but gravity acts."""
        state[self].upd_udot()[0] = -self.gravity(state)

    @event_trigger(stage=Stage.POSITION, direction="falling", prerequisites=(height,))
    def floor(self, state: State) -> float:
        """Height above the floor, negative when the ball reaches it [m]."""
        return self.height(state)

    @floor.handler
    def bounce(self, state: State) -> EventAction | None:
        """Turn the speed; and end the simulation once there is not enough of it."""
        speed = -self.restitution(state) * self.speed(state)
        self.speed.set(state, speed)
        self.bounces.set(state, (*self.bounces(state), state.time))
        return EventAction.TERMINATE if speed < REST else None


def system() -> System:
    """The model."""
    return System(Ball(), name="bouncing ball")


def exact_bounces(count: int) -> list[float]:
    """Return the times at which a ball that falls from 1 m bounces [s]."""
    fall = math.sqrt(2 / 9.81)
    return [fall * (1 + 2 * sum(0.8**k for k in range(1, n + 1))) for n in range(count)]


def plot(trajectory: Trajectory, path: Path) -> None:
    """Draw the height over the time."""
    axes = trajectory.plot("ball.height")
    axes.axhline(0.0, color="gray", linewidth=0.8)
    axes.figure.savefig(path)


def main() -> None:
    """Let it bounce until it is at rest."""
    model = system()
    ball = model.get(Ball)
    state = model.new_state()
    trajectory = simulate(model, state, 10.0, accuracy=1e-6, record=(ball.energy,))

    times = ball.bounces(trajectory[-1])
    errors = [abs(t - exact) for t, exact in zip(times, exact_bounces(len(times)), strict=True)]
    print(f"{len(times)} bounces; the first ones at", [round(t, 4) for t in times[:3]], "s")
    print(f"largest error of their times: {max(errors):.1e} s")
    print(f"at rest at t = {trajectory.times[-1]:.4f} s: {trajectory.termination_reason}")
    energy = trajectory["ball.energy"]
    print(f"energy: {energy[0]:.3f} J at first, {energy[-1]:.3f} J at last")

    path = Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "bouncing_ball.png"
    try:
        plot(trajectory, path)
    except MissingExtraError as error:
        print(error)
    else:
        print("wrote", path.name)


if __name__ == "__main__":
    main()
