"""What `assemble` and `track` return."""

from typing import Final

from attrs import frozen

GAUSS_NEWTON: Final = "Gauss-Newton"
LIBRARY: Final = "SciPy"
RESTARTS: Final = "restarts"
UNCHANGED: Final = "unchanged"


@frozen
class AssemblyResult:
    """A configuration that satisfies all errors, in numbers. ``float(result)`` is the goal.

    Attributes
    ----------
    goal : float
        The weighted sum of all goals; 0 if there are none.
    error_norm : float
        Of all errors, at most the tolerance.
    method : str
        What has found it: "Gauss-Newton", "SciPy", "restarts"; "unchanged" if the start was not
        left.
    num_iterations : int
        Steps, by all methods.
    has_converged : bool
        Whether the goal exceeds its least value nearby by at most `accuracy`, as a part of it.
    time : float
        Of the State.
    independent_goals : tuple of str
        The names of goals that depend on no free q, as far as that is known from the start: no
        method can make them smaller.
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
