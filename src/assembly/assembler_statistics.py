"""What an Assembler has done so far, in numbers."""

from typing import final

from attrs import define

from stagecache.study.integrate.counters import AbstractCounters


@final
@define(repr=False)
class AssemblerStatistics(AbstractCounters):
    """Counters of an `Assembler`.

    All but the number of initializations begin at 0 again where the Assembler is initialized.

    Attributes
    ----------
    num_goal_evals, num_error_evals : int
        How often all goals, and all errors, were evaluated, also for differences.
    num_goal_gradient_evals, num_error_jacobian_evals : int
        How often their derivatives were.
    num_assembly_steps : int
        Calls of `assemble` and `track`.
    num_initializations : int
    """

    num_goal_evals: int = 0
    num_error_evals: int = 0
    num_goal_gradient_evals: int = 0
    num_error_jacobian_evals: int = 0
    num_assembly_steps: int = 0
    num_initializations: int = 0

    def _begin(self) -> None:
        """Count an initialization; all else begins at 0."""
        count = self.num_initializations + 1
        self.reset()
        self.num_initializations = count
