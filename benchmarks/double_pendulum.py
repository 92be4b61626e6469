r"""The double pendulum that is simulated for cost: as bare functions, and as a System.

::

    ////////
       o           two pins; each link is 1 m long and has 1 kg, 0.1 kg m² about its centre in
        \          the middle; g = 9.8 m/s²
         \
          o        angle 1 from straight down, angle 2 from the first link
          |
          |

There are two right-hand sides, of the same values. All who are compared call the same function:

    closed form        solved for both accelerations by hand, in floats: as cheap as can be
    mass matrix        M udot = f, by arrays and `numpy.linalg.solve`: as books have it

Source of the reference values: Simbody 3.7, with an accuracy of 1e-11.
"""

from collections.abc import Callable
from math import cos, sin
from typing import Final, final

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from stagecache import Stage, State, Subsystem, System, TimeStepper, q_variable, simbody, u_variable
from stagecache.study.integrate.integrator import Integrator
from stagecache.study.methods.derivatives import Derivatives

Vector = NDArray[np.float64]

MASS: Final = 1.0  # kg
INERTIA: Final = 0.1  # kg m²
LENGTH: Final = 1.0  # m
GRAVITY: Final = 9.8  # m/s²

START: Final = (1.0, 0.5, 0.0, 0.0)
UNTIL: Final = 10.0
ACCURACY: Final = 1e-6
REFERENCE: Final = np.array(
    [0.712059607099954, 1.33472997257815, 0.851039412755437, -0.310459936805187]
)
"""y at that time."""

LEVER: Final = MASS * LENGTH / 2
LOWER: Final = INERTIA + LEVER * LENGTH / 2  # kg m², of the second link, about its pin
UPPER: Final = LOWER + 2 * LEVER * LENGTH  # that of the first, with the other's mass at its end

Accelerations = Callable[[float, float, float, float], tuple[float, float] | Vector]
"""From angles and rates."""


def closed_form(q1: float, q2: float, u1: float, u2: float) -> tuple[float, float]:
    """Return both accelerations [rad/s²]."""
    rate = u1 + u2
    coupling = LEVER * LENGTH * cos(q2)
    pull = LEVER * LENGTH * sin(q2)
    upper = pull * rate * rate - 3 * LEVER * GRAVITY * sin(q1)
    lower = -pull * u1 * u1 - LEVER * GRAVITY * sin(q1 + q2)
    determinant = UPPER * LOWER - coupling * coupling
    first = (LOWER * upper - coupling * lower) / determinant
    return first, (UPPER * lower - coupling * upper) / determinant - first


def mass_matrix(q1: float, q2: float, u1: float, u2: float) -> Vector:
    """Return both accelerations [rad/s²], (2,)."""
    coupling = LEVER * LENGTH * cos(q2)
    pull = LEVER * LENGTH * sin(q2)
    off = LOWER + coupling
    matrix = np.array([[UPPER + off + coupling, off], [off, LOWER]])
    upper = pull * (u1 + u2) ** 2 - 3 * LEVER * GRAVITY * sin(q1)
    lower = -pull * u1**2 - LEVER * GRAVITY * sin(q1 + q2)
    return np.asarray(np.linalg.solve(matrix, np.array([upper + lower, lower])))


def bare(accelerations: Accelerations) -> Callable[[float, Vector], Vector]:
    """Return the function (t, y) of ydot that `solve_ivp` gets."""

    def ydot(_: float, y: Vector) -> Vector:
        q1, q2, u1, u2 = y.tolist()
        first, second = accelerations(q1, q2, u1, u2)
        return np.array([u1, u2, first, second])

    return ydot


@final
class DoublePendulum(Subsystem):
    """The same as a Subsystem, which reads by handles, and writes in the hooks of two stages."""

    angles = q_variable(START[:2])
    rates = u_variable(START[2:])

    def __init__(self, accelerations: Accelerations) -> None:
        self.accelerations = accelerations

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[:] = self.rates(state)

    def realize_acceleration(self, state: State) -> None:
        q1, q2 = self.angles(state).tolist()
        u1, u2 = self.rates(state).tolist()
        state[self].upd_udot()[:] = self.accelerations(q1, q2, u1, u2)


@final
class Idle(Subsystem):
    """A pendulum whose hooks do nothing: what is left is the machinery."""

    angles = q_variable(START[:2])
    rates = u_variable(START[2:])

    def realize_velocity(self, state: State) -> None:
        pass

    def realize_acceleration(self, state: State) -> None:
        pass


@final
class Run:
    """A run of 10 s, by a `TimeStepper` that is made for it.

    Parameters
    ----------
    method : str
    accelerations : callable

    Attributes
    ----------
    y : (4,) ndarray
        At the end of the last run.
    num_steps, num_evaluations : int
        That it took.
    """

    def __init__(self, method: str, accelerations: Accelerations) -> None:
        self._method = method
        self._system = System(DoublePendulum(accelerations))
        self._state = self._system.realize_topology()
        self.y = np.array(START)
        self.num_steps = self.num_evaluations = 0

    def __call__(self) -> None:
        """Simulate."""
        integrator = Integrator(self._system, self._method, accuracy=ACCURACY)
        stepper = TimeStepper(self._system, integrator)
        stepper.initialize(self._state)
        stepper.step_to(UNTIL)
        self.y = stepper.state.y
        self.num_steps = integrator.statistics.num_steps_taken
        self.num_evaluations = integrator.statistics.num_realizations


@final
class BareRun:
    """The same by `scipy.integrate.solve_ivp`, which gets a bare function."""

    def __init__(self, method: str, accelerations: Accelerations) -> None:
        self._method = method
        self._ydot = bare(accelerations)
        self.y = np.array(START)
        self.num_steps = self.num_evaluations = 0

    def __call__(self) -> None:
        """Simulate, with the tolerances to which the accuracy is mapped."""
        tolerance = ACCURACY / 10
        found = solve_ivp(
            self._ydot,
            (0.0, UNTIL),
            START,
            method=self._method,
            rtol=tolerance,
            atol=tolerance,
        )
        self.y = found.y[:, -1]
        self.num_steps, self.num_evaluations = len(found.t) - 1, found.nfev


def evaluating(subsystem: Subsystem) -> dict[str, object]:
    """Return what statements name that compute ydot as an Integrator does it.

    What hooks do not write of ydot is 0.
    """
    system = System(subsystem)
    state = system.new_state()
    system.realize(state, Stage.INSTANCE)
    simbody.upd_ydot(state)[:] = 0.0
    return {"derivatives": Derivatives(system, state), "y": np.array(START)}
