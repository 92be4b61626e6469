"""A mass on a rod in Cartesian coordinates: a constraint, its force, and projection.

Run it: python -m stagecache.examples.pendulum_on_a_rod [OUTPUT FOLDER]

The program integrates ten seconds twice, with and without projection, and writes a plot of the
errors of the constraint. It makes the steps by hand, to show the effect of projection; `simulate`
makes them for you, and projects, as in `slider_crank.py`.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    generalized_force,
    mass_matrix,
    parameter,
    position_error,
    q_variable,
    u_variable,
)
from stagecache.errors import MissingExtraError

Vector = NDArray[np.float64]

STEP = 0.02  # s
ACCURACY = 1e-8  # m, of the constraint


class Bob(Subsystem):
    """A point mass in a plane, tied to the origin by a rod without mass."""

    length = parameter(1.0, unit="m")
    mass = parameter(2.0, unit="kg")
    gravity = parameter(9.81, unit="m/s²")
    is_tied = parameter(True)
    position = q_variable((1.0, 0.0), unit="m")
    velocity = u_variable((0.0, 0.0), unit="m/s")

    @mass_matrix(velocity, prerequisites=(mass,))
    def inertia(self, state: State) -> Vector:
        """The mass in both directions [kg]."""
        return np.full(2, self.mass(state))

    @generalized_force(velocity, prerequisites=(mass, gravity))
    def weight(self, state: State) -> Vector:
        """Weight of the mass [N]."""
        return np.array([0.0, -self.mass(state) * self.gravity(state)])

    @position_error(prerequisites=(position, length), enabled=is_tied)
    def rod(self, state: State) -> float:
        """Excess of the length of the rod [m]."""
        return float(np.linalg.norm(self.position(state))) - self.length(state)

    @rod.jacobian(prerequisites=(position,))
    def rod_direction(self, state: State) -> dict[object, Vector]:
        """The derivative of its length by the velocity: the direction of the rod."""
        position = self.position(state)
        return {self.velocity: position[np.newaxis] / np.linalg.norm(position)}

    @rod.velocity(prerequisites=(position, velocity))
    def rod_rate(self, state: State) -> float:
        """Rate of the excess [m/s]."""
        position = self.position(state)
        return float(position @ self.velocity(state) / np.linalg.norm(position))

    @rod.bias(prerequisites=(position, velocity))
    def rod_bias(self, state: State) -> float:
        """Rate of change of that rate if nothing accelerates the mass [m/s²]."""
        position, velocity = self.position(state), self.velocity(state)
        length = float(np.linalg.norm(position))
        return float(velocity @ velocity - (position @ velocity / length) ** 2) / length


def system() -> System:
    """The model."""
    return System(Bob(), name="pendulum on a rod")


def rate_of_change(model: System, state: State, y: Vector) -> Vector:
    """The derivative of y, by which `runge_kutta` makes its steps."""
    state.y = y
    model.realize(state, Stage.ACCELERATION)
    return state.ydot.copy()


def runge_kutta(model: System, state: State) -> None:
    """Make one step of the classical method of order 4."""
    h = STEP
    y = state.y.copy()
    k1 = rate_of_change(model, state, y)
    k2 = rate_of_change(model, state, y + h / 2 * k1)
    k3 = rate_of_change(model, state, y + h / 2 * k2)
    k4 = rate_of_change(model, state, y + h * k3)
    state.y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    state.time += h


def errors_of_a_run(*, with_projection: bool) -> Vector:
    """The error of the rod after each step of ten seconds [m]."""
    model = system()
    state = model.new_state()
    errors: list[float] = []
    for _ in range(round(10 / STEP)):
        runge_kutta(model, state)
        if with_projection:
            model.project(state, ACCURACY)
        model.realize(state, Stage.POSITION)
        errors.append(abs(float(state.qerr[0])))
    return np.array(errors)


def plot(drifting: Vector, projected: Vector, path: Path) -> None:
    """Draw both, over the time."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415  # only to draw
    except ImportError:
        raise MissingExtraError(
            "the plot: cannot be drawn",
            "matplotlib",
            "an environment without it",
            "pip install 'stagecache[viz]'",
        ) from None
    time = STEP * np.arange(1, len(drifting) + 1)
    figure: Any = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    floor = np.finfo(float).eps
    axes.semilogy(time, np.maximum(drifting, floor), label="without projection")
    axes.semilogy(time, np.maximum(projected, floor), label="projected after each step")
    axes.axhline(ACCURACY, color="gray", linestyle=":", label="accuracy")
    axes.set(xlabel="time [s]", ylabel="error of the rod's length [m]")
    axes.legend()
    figure.savefig(path)


def main() -> None:
    """Show the force in the rod, then let it swing."""
    model = system()
    state = model.new_state()
    bob = model.get(Bob)
    bob.position.set(state, (0.0, -1.1))  # too long, and hanging
    results = model.project_q(state)
    print(f"projected: {results}")
    print("position:", bob.position(state))
    model.realize(state, Stage.ACCELERATION)
    force = abs(float(state.multipliers[0]))
    print(f"the rod pulls with {force:.2f} N; accelerations:", state.udot)

    bob.is_tied.set(state, False)
    model.realize(state, Stage.ACCELERATION)
    print(f"cut loose: {state.nqerr} rows of constraints; accelerations:", state.udot)

    drifting = errors_of_a_run(with_projection=False)
    projected = errors_of_a_run(with_projection=True)
    worst, best = drifting.max(), projected.max()
    print(f"largest error of ten seconds: {worst:.1e} m, projected {best:.1e} m")
    path = Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "pendulum_on_a_rod.png"
    try:
        plot(drifting, projected, path)
    except MissingExtraError as error:
        print(error)
    else:
        print("wrote", path.name)


if __name__ == "__main__":
    main()
