r"""Step control of our own methods, and cubic interpolation between the ends of a step.

::

    error norm <= 1     accepted; the next step is longer, up to 5 times
    error norm > 1      again, with a shorter one
    NaN                 again, with half of it

The next step is 0.9 h norm^(-1/order of the estimate): Hairer, Nørsett, Wanner, "Solving Ordinary
Differential Equations I", II.4. The interpolant is the cubic of Hermite, II.6 there.
"""

from abc import abstractmethod
from math import isfinite, isnan, nan, nextafter
from typing import Final

import numpy as np
from attrs import frozen

from stagecache.state.handles import Vector
from stagecache.study.derivatives import Derivatives
from stagecache.study.method import AbstractMethod, Interpolant, StepFailed, StepSizes
from stagecache.study.tolerances import Tolerances

SAFETY: Final = 0.9
SHRINK: Final = 0.2
GROW: Final = 5.0
LANDS: Final = 1e-9
"""What is left to the bound is taken along with a step, if it is so little of one."""


@frozen(eq=False)
class Attempt:
    """What a method makes of a step size.

    Attributes
    ----------
    y, ydot : (ny,) float
        At the end of the step.
    error : float
        The norm of its estimated error; above 1 it is too large, NaN where numbers are missing.
    has_converged : bool
        Whether iterations have, if it needs any.
    num_iterations : int
    """

    y: Vector
    ydot: Vector
    error: float
    has_converged: bool = True
    num_iterations: int = 0


class AbstractOneStep(AbstractMethod):
    """A method that needs the derivatives at the start of a step, and nothing of the steps before.

    Attributes
    ----------
    y_old : ndarray
        The solution at the start of the last step.
    ydot_old, ydot : ndarray
        The derivatives at its start, and at its end.
    """

    estimate_order: int
    """The estimated error of a step is of the order h to that power."""

    def __init__(self, derivatives: Derivatives, tolerances: Tolerances, sizes: StepSizes) -> None:
        super().__init__(derivatives, tolerances, sizes)
        self.y_old: Vector
        self.ydot_old: Vector
        self.ydot: Vector

    @abstractmethod
    def attempt(self, t: float, h: float) -> Attempt:
        """Try a step of size h that ends at t."""

    def begin(self, t: float, y: Vector, bound: float) -> None:
        """Compute the derivatives at the start, which have to be finite."""
        self.t_old = self.t = t
        self.y_old = self.y = y
        self.ydot_old = self.ydot = self.derivatives(t, y)
        self.derivatives.check(self.ydot)
        if self.step_size is None:
            norm = self.tolerances.norm(self.ydot, y, y)
            longest = min(bound - t, 1.0)
            self.step_size = min(0.1 / norm if norm else longest, longest)

    def step(self, bound: float) -> None:
        """Take a step."""
        t, wanted = self.t, self.sizes.fixed
        if wanted is None:
            assert self.step_size is not None
            wanted = self.limited(self.step_size)
        self.num_rejected = self.num_diverged = self.num_iterations = 0
        least = 10 * (nextafter(t, np.inf) - t)
        h = float(max(wanted, least))
        while True:
            if h < least and t + h < bound:
                raise StepFailed("the step is as short as rounding")
            t_new = bound if bound - t < h * (1 + LANDS) else t + h
            h = t_new - t
            found = self.attempt(t_new, h)
            self.num_iterations += found.num_iterations
            if found.has_converged and (
                found.error <= 1 or (self.sizes.fixed is not None and isfinite(found.error))
            ):
                break
            if self.sizes.fixed is not None:
                raise StepFailed(f"a step of the fixed size {h:g} cannot be taken")
            self.num_rejected += found.has_converged
            self.num_diverged += not found.has_converged
            h *= 0.5 if not found.has_converged or isnan(found.error) else self._factor(found, 1.0)
        factor = self._factor(found, 1.0 if self.num_rejected + self.num_diverged else GROW)
        was_cut = t_new == bound and not self.num_rejected + self.num_diverged
        self.step_size = max(h * factor, wanted if was_cut else 0.0)
        self.t_old, self.y_old, self.ydot_old = t, self.y, self.ydot
        self.t, self.y, self.ydot = t_new, found.y, found.ydot

    def _factor(self, found: Attempt, most: float) -> float:
        if not found.error:
            return most
        factor: float = SAFETY * found.error ** (-1 / self.estimate_order)
        return min(max(factor, SHRINK), most)

    def interpolant(self) -> Interpolant:
        """The cubic that has y and its derivatives at both ends."""
        t0, h = self.t_old, self.t - self.t_old
        y0, y1, d0, d1 = self.y_old, self.y, h * self.ydot_old, h * self.ydot
        c = 3 * (y1 - y0) - 2 * d0 - d1
        d = d0 + d1 - 2 * (y1 - y0)

        def interpolate(t: float) -> Vector:
            s = (t - t0) / h
            return np.asarray(y0 + s * (d0 + s * (c + s * d)))

        return interpolate

    def changed(self, y: Vector) -> bool:
        """Go on with derivatives of the new y."""
        ydot = self.derivatives(self.t, y)
        self.derivatives.check(ydot)
        self.y, self.ydot = y, ydot
        return True

    def failed(self, y: Vector, num_iterations: int = 0) -> Attempt:
        """An attempt in which derivatives were missing."""
        return Attempt(y, y, nan, num_iterations=num_iterations)


def parts_of(derivatives: Derivatives) -> tuple[slice, slice]:
    """Where q lies in y, and where u and z do."""
    nq = derivatives.state.nq
    return slice(0, nq), slice(nq, None)
