"""The model that is projected for cost: points, each tied by a rod to the one before.

::

    o--- 1 --- 2 --- 3 ... n        in the plane: 2n q, 2n u, n constraints

A rod's row of the Jacobian has four numbers, and A A' is tridiagonal. Errors are computed for all
rods at once, so that what is measured is projection.
"""

from typing import Final, final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    cached,
    position_error,
    q_variable,
    u_variable,
)
from stagecache.system.projection.options import ProjectOptions, ProjectResults

Vector = NDArray[np.float64]

OFF: Final = 1e-3
"""So far is each q from the constraints, and 100 times as far each u: as after a step in time."""

OPTIONS: Final = ProjectOptions(1e-8)


@final
class Rods(Subsystem):
    """A chain of points in the plane, with rods of length 1 between them.

    Parameters
    ----------
    count : int
    """

    places = q_variable(factory=lambda self, _: self.hanging())
    speeds = u_variable(factory=lambda self, _: np.zeros(2 * self.count))

    def __init__(self, count: int) -> None:
        self.count = count
        point, side = np.arange(count)[:, np.newaxis], np.arange(2)
        here, before = 2 * point + side, 2 * point - 2 + side
        self.columns = np.concatenate([before, here], axis=1).ravel()[2:]
        self.starts = np.concatenate([[0], 2 + 4 * np.arange(count)])

    def hanging(self) -> Vector:
        """The places of a chain that is bent, with rods of length 1."""
        angles = np.linspace(0, 3, self.count)
        steps = np.stack([np.sin(angles), -np.cos(angles)], axis=1)
        return np.cumsum(steps, axis=0).ravel()

    @cached(prerequisites=(places,))
    def rods(self, state: State) -> Vector:
        """From each point to the next, (count, 2)."""
        places = self.places(state).reshape(-1, 2)
        return np.diff(places, axis=0, prepend=np.zeros((1, 2)))

    @position_error(size=lambda self, _: self.count)
    def lengths(self, state: State) -> Vector:
        """Half the squares of the lengths, less those that they should have."""
        return np.asarray((np.sum(self.rods(state) ** 2, axis=1) - 1) / 2)

    @lengths.velocity
    def length_rates(self, state: State) -> Vector:
        """How fast these grow."""
        speeds = self.speeds(state).reshape(-1, 2)
        return np.asarray(
            np.sum(self.rods(state) * np.diff(speeds, axis=0, prepend=np.zeros((1, 2))), axis=1)
        )

    @lengths.jacobian(prerequisites=(rods,))
    def length_jacobian(self, state: State) -> csr_array:
        """Four numbers for each rod, and two for the first."""
        rods = self.rods(state)
        values = np.concatenate([-rods, rods], axis=1).ravel()[2:]
        shape = (self.count, 2 * self.count)
        return csr_array((values, self.columns, self.starts), shape=shape)


@final
class Chain:
    """A System of one chain, and a State of it that is moved off the constraints and back.

    Parameters
    ----------
    count : int
        How many constraints.

    Attributes
    ----------
    rods : Rods
    system : System
    state : State
        At Velocity.
    q : (2 n,) ndarray
        Of the hanging chain, on the constraints.
    q_off, u_off : (2 n,) ndarray
        Off the constraints.
    """

    def __init__(self, count: int) -> None:
        self.rods = Rods(count)
        self.system = System(self.rods)
        self.state = self.system.new_state()
        self.system.realize(self.state, Stage.VELOCITY)
        rng = np.random.default_rng(count)
        self.q = self.state.q.copy()
        self.q_off = self.q + OFF * rng.uniform(-1, 1, 2 * count)
        self.u_off = 100 * OFF * rng.uniform(-1, 1, 2 * count)

    def leave_q(self, _: int) -> None:
        """Move q off the constraints."""
        self.state.q = self.q_off
        self.system.realize(self.state, Stage.POSITION)

    def leave_u(self, _: int) -> None:
        """Move u off the constraints."""
        self.state.u = self.u_off
        self.system.realize(self.state, Stage.VELOCITY)

    def project_q(self, _: int) -> ProjectResults:
        """Move q back."""
        return self.system.project_q(self.state, options=OPTIONS)

    def project_u(self, _: int) -> ProjectResults:
        """Move u back."""
        return self.system.project_u(self.state, options=OPTIONS)
