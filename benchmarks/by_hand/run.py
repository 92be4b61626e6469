"""Runs of a workload: by a `TimeStepper`, and by hand, with the same tolerances."""

from collections.abc import Callable
from typing import Protocol, final

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from stagecache import Integrator, State, System, TimeStepper

Vector = NDArray[np.float64]
Ydot = Callable[[float, Vector], Vector]


class AnyRun(Protocol):
    """A simulation that is run when it is called, and the result of its last run."""

    y: Vector
    num_steps: int
    num_evaluations: int

    def __call__(self) -> None: ...


@final
class SystemRun:
    """A run of a System, by an `Integrator` and a `TimeStepper` that are made for it.

    Parameters
    ----------
    system : System
    state : State
        Start of the run.
    until : float
    method : str
    accuracy : float

    Attributes
    ----------
    y : ndarray
        At the end of the last run.
    num_steps, num_evaluations : int
    """

    def __init__(
        self, system: System, state: State, until: float, method: str, accuracy: float
    ) -> None:
        self._system, self._state, self._until = system, state, until
        self._method, self._accuracy = method, accuracy
        self.y = np.array(state.y)
        self.num_steps = self.num_evaluations = 0

    def __call__(self) -> None:
        """Simulate."""
        integrator = Integrator(self._system, self._method, accuracy=self._accuracy)
        stepper = TimeStepper(self._system, integrator)
        stepper.initialize(self._state)
        stepper.step_to(self._until)
        self.y = np.array(stepper.state.y)
        self.num_steps = integrator.statistics.num_steps_taken
        self.num_evaluations = integrator.statistics.num_realizations


class HandRun:
    """A run by `solve_ivp`, from one event to the next.

    Parameters
    ----------
    start : (ny,) ndarray
    until : float
    method : str
    accuracy : float
        The tolerances are a tenth of it, as those of an `Integrator`.

    Attributes
    ----------
    y : ndarray
        At the end of the last run.
    num_steps, num_evaluations : int
    """

    def __init__(self, start: Vector, until: float, method: str, accuracy: float) -> None:
        self.start, self.until = start, until
        self._method, self._tolerance = method, accuracy / 10
        self.y = start
        self.num_steps = self.num_evaluations = 0

    def __call__(self) -> None:
        """Simulate."""
        self.y, self.num_steps, self.num_evaluations = self.start, 0, 0
        self.simulate()

    def simulate(self) -> None:
        """Go on from the start to the end."""
        self.go_on(0.0, self.until)

    def ydot(self, t: float, y: Vector) -> Vector:
        """Return the derivatives of y."""
        raise NotImplementedError

    def go_on(
        self, t: float, until: float, event: Callable[[float, Vector], float] | None = None
    ) -> float:
        """Integrate to the first event, or to the end; return the time."""
        found = solve_ivp(
            self.ydot,
            (t, until),
            self.y,
            method=self._method,
            rtol=self._tolerance,
            atol=self._tolerance,
            events=event,
        )
        self.y = found.y[:, -1]
        self.num_steps += len(found.t) - 1
        self.num_evaluations += found.nfev
        return float(found.t[-1])
