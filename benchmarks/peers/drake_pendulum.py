"""The double pendulum of `benchmarks/double_pendulum.py` as a `LeafSystem` in Python, simulated.

`Simulator` and integrators are C++; each evaluation crosses into Python and back. The whole vector
is copied and set at once, which is the fastest way.
"""

from typing import Any, final

import numpy as np
from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator
from pydrake.systems.framework import LeafSystem

from benchmarks.double_pendulum import ACCURACY, START, UNTIL, Accelerations

DEFAULT_MAX_STEP = 0.1  # that of a new Simulator


class DrakePendulum(LeafSystem):  # type: ignore[misc]  # it may be missing
    """Two q, two v, and their derivatives."""

    def __init__(self, accelerations: Accelerations) -> None:
        super().__init__()
        self.DeclareContinuousState(2, 2, 0)
        self._accelerations = accelerations

    def DoCalcTimeDerivatives(self, context: Any, derivatives: Any) -> None:  # noqa: N802  # Drake's
        """Compute them."""
        q1, q2, u1, u2 = context.get_continuous_state_vector().CopyToVector().tolist()
        first, second = self._accelerations(q1, q2, u1, u2)
        derivatives.SetFromVector(np.array([u1, u2, first, second]))


@final
class DrakeRun:
    """A run of 10 s, by a `Simulator` that is made for it.

    Parameters
    ----------
    accelerations : callable
    scheme : str
        The integrator; "" leaves the one that a Simulator has, which is runge_kutta3.
    """

    def __init__(self, accelerations: Accelerations, scheme: str = "") -> None:
        self._system = DrakePendulum(accelerations)
        self._scheme = scheme
        self.y = np.array(START)
        self.num_steps = self.num_evaluations = 0

    def __call__(self) -> None:
        """Simulate."""
        simulator = Simulator(self._system)
        if self._scheme:
            ResetIntegratorFromFlags(simulator, self._scheme, DEFAULT_MAX_STEP)
        integrator = simulator.get_mutable_integrator()
        integrator.set_target_accuracy(ACCURACY)
        context = simulator.get_mutable_context()
        context.SetContinuousState(START)
        simulator.Initialize()
        simulator.AdvanceTo(UNTIL)
        self.y = context.get_continuous_state_vector().CopyToVector()
        self.num_steps = integrator.get_num_steps_taken()
        self.num_evaluations = integrator.get_num_derivative_evaluations()
