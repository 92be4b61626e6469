"""What the integrator asks of a numerical method: steps, and what lies between their ends.

::

    begin(t, y, bound)      the derivatives at the start are computed, once
    step(bound)             t_old, t, y: one accepted step, which lands on the bound or before it
    interpolant()           y between t_old and t, as a function that stays good
    changed(y)              y at the end was moved onto the constraints
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from math import inf

from attrs import frozen

from stagecache.state.handles import Vector
from stagecache.study.derivatives import Derivatives
from stagecache.study.tolerances import Tolerances

Interpolant = Callable[[float], Vector]


@frozen
class StepSizes:
    """Which steps a method may take.

    Attributes
    ----------
    initial : float or None
        The first one; None: the method chooses.
    least, most : float
    fixed : float or None
        That of all steps, without a look at their error.
    """

    initial: float | None = None
    least: float = 0.0
    most: float = inf
    fixed: float | None = None


class StepFailed(Exception):  # noqa: N818  # it is caught, and told as another one
    """A method cannot take a step; whoever catches it knows what to call the State's items."""


class AbstractMethod(ABC):
    """A method that advances y from t, by steps of its own choice.

    Parameters
    ----------
    derivatives : Derivatives
    tolerances : Tolerances
    sizes : StepSizes

    Attributes
    ----------
    t_old, t : float
        The beginning and the end of the last step.
    y : ndarray
        The solution at its end; not to be changed.
    step_size : float or None
        What is to be tried next; None before a method has chosen one.
    num_rejected, num_diverged : int
        Of the last step: attempts whose error was too large, and that did not converge.
    num_iterations : int
        Of the last step.
    """

    name: str
    min_order: int
    max_order: int
    has_error_control = True

    def __init__(self, derivatives: Derivatives, tolerances: Tolerances, sizes: StepSizes) -> None:
        self.derivatives = derivatives
        self.tolerances = tolerances
        self.sizes = sizes
        self.t_old = self.t = 0.0
        self.y: Vector
        self.step_size: float | None = sizes.fixed or sizes.initial
        self.num_rejected = self.num_diverged = self.num_iterations = 0

    @abstractmethod
    def begin(self, t: float, y: Vector, bound: float) -> None:
        """Begin anew, with `step_size` if that is known; y is kept, and never changed.

        Raises
        ------
        Exception
            What the derivatives raise, or have failed for.
        """

    @abstractmethod
    def step(self, bound: float) -> None:
        """Take a step up to the bound, which lies after t.

        Raises
        ------
        StepFailed
            It would have to be too short; the method has to begin anew.
        """

    @abstractmethod
    def interpolant(self) -> Interpolant:
        """Return y over the last step as a function of t. It may compute derivatives."""

    @abstractmethod
    def changed(self, y: Vector) -> bool:
        """Go on from another y at the end of the last step; False if it has to begin anew."""

    def limited(self, step: float) -> float:
        """A step size within the limits."""
        return min(max(step, self.sizes.least), self.sizes.most)
