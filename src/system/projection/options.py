"""Options and results of a projection.

::

    ProjectOptions  ->  project_q, project_u  ->  ProjectResults, with a ProjectStatus
"""

import math

from attrs import frozen

from stagecache.system.options import Explained, flag, number


@frozen
class ProjectOptions:
    """Options of `System.project_q` and `System.project_u`.

    Parameters
    ----------
    accuracy : float
        The norm of weighted errors that has to be reached.
    overshoot : float
        The goal is accuracy times overshoot; the accuracy is enough.
    projection_limit : float
        The largest norm from which projection is tried; infinite by default.
    local_only : bool
        Take only steps that make errors smaller, from nearby: an integrator must not jump to
        another solution.
    dont_raise : bool
        Return the results of a projection that failed, instead of raising `ProjectionError`.
    use_infinity_norm : bool
        The norm is the largest absolute error, not the root of their mean square.
    force_projection : bool
        Make an iteration even where the norm is small enough from the start.
    force_full_newton : bool
        Compute the Jacobian anew for each iteration, and never use one twice.

    Raises
    ------
    OutOfRangeError, NotANumberError

    Examples
    --------
    >>> from stagecache import ProjectOptions
    >>> ProjectOptions(1e-8, local_only=True).accuracy
    1e-08
    """

    accuracy: float = number(default=1e-4, above=0.0, kw_only=False)
    overshoot: float = number(default=0.1, above=0.0, most=1.0)
    projection_limit: float = number(default=math.inf, above=0.0, may_be_infinite=True)
    local_only: bool = flag()
    dont_raise: bool = flag()
    use_infinity_norm: bool = flag()
    force_projection: bool = flag()
    force_full_newton: bool = flag()

    @property
    def norm_name(self) -> str:
        """Name of the norm in messages."""
        return "infinity norm" if self.use_infinity_norm else "RMS norm"


class ProjectStatus(Explained):
    """The end of a projection.

    Attributes
    ----------
    message : str
        Its meaning.
    hint : str
        The way out.
    """

    SUCCEEDED = ("the errors are within the accuracy", "nothing has to be done")
    FAILED_TO_ACHIEVE_ACCURACY = (
        "the errors cannot be made smaller, but are not within the accuracy",
        "make the constraints agree with each other, free a prescribed variable, start elsewhere, "
        "or ask for less accuracy",
    )
    FAILED_TO_CONVERGE = (
        "the iterations do not converge",
        "start closer to the constraints, with smaller steps of time for instance; allow more with "
        "local_only=False or a larger projection_limit; or check the declared Jacobians",
    )


@frozen
class WorstError:
    """The error that was the largest by its weight.

    Attributes
    ----------
    name : str
        The name of the constraint: "rope.rod", or "rope.rod[1]" if it has several rows.
    value : float
        Value in the State, without its weight.
    """

    name: str
    value: float

    def __str__(self) -> str:
        return f"{self.name} = {self.value:g}"


@frozen
class ProjectResults:
    """The results of a projection.

    Attributes
    ----------
    exit_status : ProjectStatus
    any_change_made : bool
        True if the State has changed.
    num_iterations : int
    norm_on_entrance, norm_on_exit : float
        Norms of the weighted errors. After a failure the latter is the smallest one reached, though
        the State is as it was.
    worst_error : WorstError or None
        The largest error on entrance; None without constraints.
    projection_limit_exceeded : bool
        True if it failed for that reason.
    """

    exit_status: ProjectStatus
    any_change_made: bool = False
    num_iterations: int = 0
    norm_on_entrance: float = 0.0
    norm_on_exit: float = 0.0
    worst_error: WorstError | None = None
    projection_limit_exceeded: bool = False

    @property
    def has_succeeded(self) -> bool:
        """True if the accuracy is reached."""
        return self.exit_status is ProjectStatus.SUCCEEDED

    def __str__(self) -> str:
        if self.worst_error is None:
            return f"{self.exit_status}: there are no constraints"
        was = f"the norm was {self.norm_on_entrance:.3g} (worst: {self.worst_error})"
        if self.projection_limit_exceeded:
            return f"{self.exit_status}: {was}, above the limit"
        if not self.num_iterations:
            return f"{self.exit_status}: {was}, no iteration"
        plural = "s" if self.num_iterations > 1 else ""
        return (
            f"{self.exit_status}: {was}, is {self.norm_on_exit:.3g} "
            f"after {self.num_iterations} iteration{plural}"
        )
