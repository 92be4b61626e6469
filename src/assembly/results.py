"""Results of an Assembler: the outcome of one call, and counters over many."""

from typing import Final, final

from attrs import define, frozen

from stagecache.display.html import facts, heading, output
from stagecache.errors import listed
from stagecache.study.counters import AbstractCounters

GAUSS_NEWTON: Final = "Gauss-Newton"
LIBRARY: Final = "SciPy"
RESTARTS: Final = "restarts"
UNCHANGED: Final = "unchanged"


@frozen
class AssemblyResult:
    """Result of `assemble` or `track`, in numbers. ``float(result)`` is the goal.

    Attributes
    ----------
    goal : float
        Weighted sum of all goals; 0 without goals.
    error_norm : float
        Norm of all errors, at most the tolerance.
    method : str
        Method that found it: "Gauss-Newton", "SciPy", "restarts"; "unchanged" if the start was
        kept.
    num_iterations : int
        Steps, by all methods.
    has_converged : bool
        True if the goal exceeds its least value nearby by at most `accuracy`, as a part of it.
    time : float
        Time of the State.
    independent_goals : tuple of str
        Names of goals that depend on no free q, as far as this is known from the start: no method
        can make them smaller.
    """

    goal: float
    error_norm: float
    method: str
    num_iterations: int
    has_converged: bool
    time: float
    independent_goals: tuple[str, ...] = ()

    def __float__(self) -> float:
        return self.goal

    def __str__(self) -> str:
        steps = f"{self.num_iterations} iteration{'' if self.num_iterations == 1 else 's'}"
        text = f"goal {self.goal:.6g}, error norm {self.error_norm:.3g} at t = {self.time:.6g}: "
        text += f"{self.method}, {steps}"
        if not self.has_converged:
            text += ", not converged"
        if self.independent_goals:
            text += f"; no free q changes {', '.join(self.independent_goals)}"
        return text

    def _repr_html_(self) -> str:
        found = [
            ("goal", f"{self.goal:.6g}"),
            ("error norm", f"{self.error_norm:.3g}"),
            ("time", f"{self.time:.6g}"),
            ("method", self.method),
            ("iterations", f"{self.num_iterations:,}"),
            ("converged", "yes" if self.has_converged else "no"),
        ]
        if self.independent_goals:
            found.append(("goals that no free q changes", listed(self.independent_goals)))
        return output(heading("AssemblyResult"), facts(found))


@final
@frozen
class FrameResult:
    """Result of one frame of `track_all`; see `Trajectory.frames`.

    Attributes
    ----------
    result : AssemblyResult
        Goal, time and method.
    rms : float
        Root mean square of the distances of markers from their observations [m], of all that count,
        not weighted; NaN without markers.
    worst : str
        Name of the marker with the largest distance; "" without markers.
    worst_error : float
        Its distance [m].
    """

    result: AssemblyResult
    rms: float
    worst: str
    worst_error: float

    @property
    def goal(self) -> float:
        """Weighted sum of all goals."""
        return self.result.goal

    @property
    def time(self) -> float:
        """Time of the frame [s]."""
        return self.result.time

    def __str__(self) -> str:
        text = f"t = {self.time:.6g}: goal {self.goal:.6g}"
        if self.worst:
            text += f", RMS {self.rms:.4g}, largest {self.worst_error:.4g} of {self.worst!r}"
        return text


@final
@define(repr=False)
class AssemblerStatistics(AbstractCounters):
    """Counters of an `Assembler`.

    All but the number of initializations begin at 0 again when the Assembler is initialized.

    Attributes
    ----------
    num_goal_evals, num_error_evals : int
        Evaluations of all goals, and of all errors, including those for differences.
    num_goal_gradient_evals, num_error_jacobian_evals : int
        Evaluations of their derivatives.
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
        """Count an initialization; all other counters begin at 0."""
        count = self.num_initializations + 1
        self.reset()
        self.num_initializations = count
