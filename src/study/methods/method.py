"""The interface between the integrator and a numerical method: steps, and what lies within them.

::

    begin(t, y, bound)      the derivatives at the start are computed, once
    step(bound)             t_old, t, y: one accepted step, which lands on the bound or before it
    project(t, y, errors)   called within `step`: y at the end, moved onto the constraints
    interpolant()           y between t_old and t, as a polynomial

A projection changes y by little, and a method goes on from there with all that it knows of earlier
steps: a multistep method that began anew would stay at order 1 where each step is projected.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from math import inf
from typing import final

from attrs import frozen

from stagecache.state.handles import Vector
from stagecache.study.methods.derivatives import Derivatives
from stagecache.study.methods.step_polynomial import StepPolynomial
from stagecache.study.methods.tolerances import Tolerances

Projection = Callable[[float, Vector, Vector | None], Vector]
"""Takes the time, y, and estimated errors. Returns y on the constraints, or the same object where
it has not moved; the errors lose what is normal to the constraints, in place."""


LastStart = tuple[float, Vector, Vector | None]
"""Time at the start of a step and ydot then, and qdotdot at its end, if that is known."""


@frozen
class StepSizes:
    """Limits of step sizes.

    Attributes
    ----------
    initial : float or None
        First step; None: the method chooses.
    least, most : float
    fixed : float or None
        Size of all steps, regardless of their error.
    """

    initial: float | None = None
    least: float = 0.0
    most: float = inf
    fixed: float | None = None


class StepFailed(Exception):  # noqa: N818  # it is caught, and another one is raised
    """A method cannot take a step; the handler adds the names of variables."""


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
        Beginning and end of the last step.
    y_old, y : (ny,) float
        Solution at both; only for reading.
    project : Projection or None
        The projection of the end of each step; None without constraints.
    step_size : float or None
        Size of the next attempt; None before a method has chosen one.
    num_rejected, num_diverged : int
        Attempts of the last step whose error was too large, or that did not converge.
    num_iterations : int
        Iterations of the last step.
    """

    name: str
    min_order: int
    max_order: int
    degree: int
    """Degree of the interpolant."""

    has_long_steps = False
    """A cubic does not follow what depends on y over one of its steps."""

    takes_constraints = True

    def __init__(self, derivatives: Derivatives, tolerances: Tolerances, sizes: StepSizes) -> None:
        self.derivatives = derivatives
        self.tolerances = tolerances
        self.sizes = sizes
        self.t_old = self.t = 0.0
        self.y_old: Vector
        self.y: Vector
        self.project: Projection | None = None
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
        """Take a step up to the bound, which lies after t, and onto the constraints.

        Raises
        ------
        StepFailed
            It would have to be too short; the method has to begin anew.
        ProjectionError
            A shorter step may end closer to the constraints.
        """

    @abstractmethod
    def interpolant(self) -> StepPolynomial:
        """Return y over the last step, which has y_old and y at the ends.

        It may compute derivatives.
        """

    @property
    def last_start(self) -> LastStart | None:
        """Start of the last step; None unless the next one needs it."""
        return None

    def go_on_after(self, last_start: LastStart) -> None:  # noqa: B027  # few need it
        """Take the start of the step before, as `last_start` had it; after `begin`."""

    def limited(self, step: float) -> float:
        """Return a step size within the limits."""
        return min(max(step, self.sizes.least), self.sizes.most)


@final
class Resting(AbstractMethod):
    """The method of Systems without y, whose events happen at times or depend on them.

    A step goes to the bound, or as far as it may be.
    """

    name, min_order, max_order, degree = "none", 0, 0, 0

    def begin(self, t: float, y: Vector, bound: float) -> None:  # noqa: ARG002  # others need it
        """Note the time."""
        self.t_old = self.t = t
        self.y_old = self.y = y

    def step(self, bound: float) -> None:
        """Let time go on."""
        longest = self.sizes.fixed or self.sizes.most
        t_new = min(bound, self.t + longest)
        if t_new == inf or t_new <= self.t:
            raise StepFailed("time cannot go on")
        if self.project is not None:  # which only checks the constraints
            self.project(t_new, self.y, None)
        self.t_old, self.t = self.t, t_new
        self.step_size = t_new - self.t_old

    def interpolant(self) -> StepPolynomial:
        """Return y, which has no numbers."""
        return StepPolynomial.constant(self.t_old, self.y)
