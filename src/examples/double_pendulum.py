"""A double pendulum: equations of motion, integration, a trajectory, and what it conserves.

Run it: python -m stagecache.examples.double_pendulum [OUTPUT FOLDER]

The pendulum swings for ten seconds. The program compares its end with the result of Simbody for
the same two links, and checks that the energy stays the same. It writes a plot of the angles and of
the path of the free end.
"""

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from stagecache import (
    State,
    Subsystem,
    System,
    Trajectory,
    cached,
    parameter,
    q_variable,
    simulate,
    u_variable,
)
from stagecache.errors import MissingExtraError

Vector = NDArray[np.float64]

SIMBODY = np.array([0.712059607099954, 1.33472997257815, 0.851039412755437, -0.310459936805187])
"""q and u after 10 s, by Simbody 3.7 with an accuracy of 1e-11."""


class DoublePendulum(Subsystem):
    """Two equal links in a plane: the first hangs from a pin, the second from a pin at its end.

    The first angle is measured from straight down, the second one from the first link.
    """

    mass = parameter(1.0, unit="kg")  # of each
    inertia = parameter(0.1, unit="kg m²")  # of each, about its centre
    length = parameter(1.0, unit="m")  # the centre is in the middle
    gravity = parameter(9.8, unit="m/s²")
    angles = q_variable((1.0, 0.5), unit="rad")
    rates = u_variable((0.0, 0.0), unit="rad/s")

    @cached(prerequisites=(angles, length), unit="m")
    def ends(self, state: State) -> Vector:
        """Positions of the lower ends of both links, (2, 2) [m]."""
        directions = np.cumsum(self.angles(state))
        steps = np.stack([np.sin(directions), -np.cos(directions)], axis=1)
        return np.cumsum(self.length(state) * steps, axis=0)

    @cached(prerequisites=(angles, mass, inertia, length), unit="kg m²")
    def mass_matrix(self, state: State) -> Vector:
        """Mass matrix, (2, 2) [kg m²]."""
        first, second, coupling = self._inertias(state)
        return np.array(
            [[first + second + 2 * coupling, second + coupling], [second + coupling, second]]
        )

    @cached(prerequisites=(angles, rates, mass, length, gravity), unit="N m")
    def torques(self, state: State) -> Vector:
        """Torques of weights and centrifugal forces about both pins [N m]."""
        a, b = np.cumsum(self.angles(state))
        rate, both = np.cumsum(self.rates(state))
        lever = self.mass(state) * self.length(state) / 2
        weight = lever * self.gravity(state)
        pull = lever * self.length(state) * np.sin(b - a)
        upper = pull * both**2 - 3 * weight * np.sin(a)
        lower = -pull * rate**2 - weight * np.sin(b)
        return np.array([upper + lower, lower])

    @cached(prerequisites=(angles, rates, mass, inertia, length, gravity), unit="J")
    def energy(self, state: State) -> float:
        """Kinetic and potential energy [J]."""
        rates = self.rates(state)
        kinetic = rates @ self.mass_matrix(state) @ rates / 2
        heights = -np.cos(np.cumsum(self.angles(state)))
        weight = self.mass(state) * self.gravity(state) * self.length(state) / 2
        return float(kinetic + weight * (3 * heights[0] + heights[1]))

    def _inertias(self, state: State) -> tuple[float, float, float]:
        """About the pins, the first one with the other link's mass at its end; and between both."""
        lever = self.mass(state) * self.length(state) ** 2 / 2
        about_end = self.inertia(state) + lever / 2
        coupling = lever * float(np.cos(self.angles(state)[1]))
        return about_end + 2 * lever, about_end, coupling

    def realize_acceleration(self, state: State) -> None:
        """Newton's law."""
        state[self].upd_udot()[:] = np.linalg.solve(self.mass_matrix(state), self.torques(state))


def system() -> System:
    """The model."""
    return System(DoublePendulum(), name="double pendulum")


def plot(trajectory: Trajectory, path: Path) -> None:
    """Draw the angles over the time and, beside them, the path of the free end."""
    over_time = trajectory.plot("double_pendulum.angles")
    figure = over_time.figure
    figure.set_size_inches(10, 4)
    over_time.set_position((0.07, 0.13, 0.33, 0.82))
    in_plane = figure.add_axes((0.71, 0.13, 0.28, 0.82))
    x, y = trajectory["double_pendulum.ends"][:, 1].T
    in_plane.plot(x, y)
    in_plane.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
    figure.savefig(path)


def main() -> None:
    """Let it swing, and compare."""
    model = system()
    pendulum = model.get(DoublePendulum)
    state = model.new_state()
    recorded = (pendulum.energy, pendulum.ends)
    trajectory = simulate(model, state, 10.0, accuracy=1e-6, every=0.02, record=recorded)

    print(f"{len(trajectory)} reports up to t = {trajectory.times[-1]:g} s")
    print("at the end: q =", trajectory.q[-1].round(6), "u =", trajectory.u[-1].round(6))
    difference = np.abs(trajectory.y[-1] - SIMBODY).max()
    print(f"largest difference to Simbody: {difference:.1e}")
    energy = trajectory["double_pendulum.energy"]
    print(f"energy: {energy[0]:.6f} J, changed by at most {np.ptp(energy):.1e} J")
    print(trajectory.statistics)

    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    path = folder / "double_pendulum.png"
    try:
        plot(trajectory, path)
    except MissingExtraError as error:
        print(error)
    else:
        print("wrote", path.name)


if __name__ == "__main__":
    main()
