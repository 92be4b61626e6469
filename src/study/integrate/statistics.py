"""Counters of an integrator."""

from typing import final

from attrs import define

from stagecache.study.counters import AbstractCounters


@final
@define(repr=False)
class IntegratorStatistics(AbstractCounters):
    """Counters of an `Integrator`.

    Radau and BDF do not tell why they reject a step: a step that became shorter than planned counts
    as one failure, of convergence if it was halved, else of the error test. Failures of LSODA are
    not known, and not counted.

    Attributes
    ----------
    num_steps_taken : int
    num_steps_attempted : int
        Steps taken and rejected.
    num_error_test_failures : int
        Attempts whose estimated error was too large.
    num_convergence_test_failures : int
        Attempts in which iterations did not converge.
    num_realization_failures : int
        Evaluations that raised, or returned numbers that are not finite.
    num_q_projection_failures, num_u_projection_failures : int
        Attempts from whose result the State could not be projected.
    num_realizations : int
        Evaluations of derivatives, constraints, event triggers and interpolated States.
    num_q_projections, num_u_projections : int
        Projections that changed q, or u.
    num_iterations : int
        Iterations of Verlet.
    num_initializations : int
        Calls of `Integrator.initialize`.
    num_restarts : int
        Restarts of the method: after `initialize`, events, and changes of the State.
    """

    num_steps_taken: int = 0
    num_steps_attempted: int = 0
    num_error_test_failures: int = 0
    num_convergence_test_failures: int = 0
    num_realization_failures: int = 0
    num_q_projection_failures: int = 0
    num_u_projection_failures: int = 0
    num_realizations: int = 0
    num_q_projections: int = 0
    num_u_projections: int = 0
    num_iterations: int = 0
    num_initializations: int = 0
    num_restarts: int = 0

    @property
    def num_projections(self) -> int:
        """Projections of q and of u."""
        return self.num_q_projections + self.num_u_projections

    @property
    def num_projection_failures(self) -> int:
        """Failed projections of q and of u."""
        return self.num_q_projection_failures + self.num_u_projection_failures
