r"""Step control of explicit one-step methods, and the interpolation between the ends of a step.

::

    error norm <= 1     accepted; the next step is longer, up to 10 times
    error norm > 1      again, with a shorter one
    NaN                 again, with half of it

With constraints, the end of an attempt is projected before its error is judged, and the estimate
loses what the projection has removed: its part normal to the constraints.

The next step is 0.9 h norm^(-1/order of the estimate): Hairer, Nørsett, Wanner, "Solving Ordinary
Differential Equations I", II.4, also the source of the first step. The interpolant is the cubic of
Hermite, plus s² (1 - s)² times what a method knows of the inside of its step (II.6 there).
"""

from abc import abstractmethod
from collections.abc import Sequence
from math import inf, isfinite, nan, nextafter
from typing import Final

import numpy as np
from attrs import frozen

from stagecache.state.handles import Vector
from stagecache.study.methods.derivatives import Derivatives
from stagecache.study.methods.method import AbstractMethod, StepFailed, StepSizes
from stagecache.study.methods.step_polynomial import StepPolynomial
from stagecache.study.methods.tolerances import Tolerances

SAFETY: Final = 0.9
SHRINK: Final = 0.2
GROW: Final = 10.0
LANDS: Final = 1e-9
"""Part of a step by which it may be longer to reach the bound."""

HOPELESS: Final = 10.0
"""Error norm beyond which an attempt is rejected without a projection."""


@frozen(eq=False)
class Attempt:
    """The result of a step of some size.

    Attributes
    ----------
    y, ydot : (ny,) float
        At the end of the step.
    errors : (ny,) float
        The estimated errors of y; NaN where numbers are missing.
    has_converged : bool
        True unless iterations have failed to converge.
    num_iterations : int
    """

    y: Vector
    ydot: Vector
    errors: Vector
    has_converged: bool = True
    num_iterations: int = 0


class AbstractOneStep(AbstractMethod):
    """A method that begins a step with the derivatives at its start.

    Attributes
    ----------
    ydot_old, ydot : (ny,) float
        The derivatives at the start of the last step, and at its end.
    """

    degree = 3
    estimate_order: int
    """The estimated error of a step is of the order h to that power."""

    def __init__(self, derivatives: Derivatives, tolerances: Tolerances, sizes: StepSizes) -> None:
        super().__init__(derivatives, tolerances, sizes)
        self.ydot_old: Vector
        self.ydot: Vector

    @abstractmethod
    def attempt(self, t: float, h: float) -> Attempt:
        """Try a step of size h that ends at t."""

    def begin(self, t: float, y: Vector, bound: float) -> None:  # noqa: ARG002  # others need it
        """Compute the derivatives at the start, which have to be finite."""
        self.t_old = self.t = t
        self.y_old = self.y = y
        self.ydot_old = self.ydot = self._checked_derivatives(t, y)

    def _first_step(self, longest: float) -> float:
        """Return a size with which the estimated error will be about right, by a look ahead."""
        t, y, ydot, tolerances = self.t, self.y, self.ydot, self.tolerances
        size, slope = tolerances.norm(y, y, y), tolerances.norm(ydot, y, y)
        probe = min(0.01 * size / slope if min(size, slope) >= 1e-5 else 1e-6, longest)
        ahead = self.derivatives(t + probe, y + probe * ydot)
        bend = tolerances.norm(ahead - ydot, y, y) / probe
        if not isfinite(bend):  # one look too far
            return min(1e-6, longest)
        steepest = max(slope, bend)
        still = max(1e-3 * probe, 1e-6)
        step = (0.01 / steepest) ** (1 / self.estimate_order) if steepest > 1e-15 else still
        return float(min(100 * probe, step, longest))

    def step(self, bound: float) -> None:
        """Take a step."""
        t, fixed = self.t, self.sizes.fixed
        if self.step_size is None:
            self.step_size = self._first_step(bound - t)
        wanted = fixed or self.limited(self.step_size)
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
            y, norm = self._judged(t_new, found)
            if norm <= 1 or (fixed is not None and isfinite(norm)):
                break
            if fixed is not None:
                raise StepFailed(f"a step of the fixed size {h:g} cannot be taken")
            self.num_rejected += found.has_converged
            self.num_diverged += not found.has_converged
            h *= self._factor(norm, 1.0) if isfinite(norm) else 0.5
        was_rejected = self.num_rejected + self.num_diverged > 0
        self.step_size = h * self._factor(norm, 1.0 if was_rejected else GROW)
        if t_new == bound and not was_rejected:
            self.step_size = max(self.step_size, wanted)
        ydot = found.ydot if y is found.y else self._checked_derivatives(t_new, y)
        self.t_old, self.y_old, self.ydot_old = t, self.y, self.ydot
        self.t, self.y, self.ydot = t_new, y, ydot

    def _judged(self, t: float, found: Attempt) -> tuple[Vector, float]:
        """Return y at the end of an attempt, on the constraints, and the norm of its errors.

        Up to 1 they are small enough; NaN where numbers are missing, infinite without convergence.
        """
        if not found.has_converged:
            return found.y, inf
        norm = self.tolerances.norm(found.errors, self.y, found.y)
        if self.project is None or not norm <= (HOPELESS if self.sizes.fixed is None else inf):
            return found.y, norm
        y = self.project(t, found.y, found.errors)
        return y, self.tolerances.norm(found.errors, self.y, y)

    def _factor(self, norm: float, most: float) -> float:
        if not norm:
            return most
        factor: float = SAFETY * norm ** (-1 / self.estimate_order)
        return min(max(factor, SHRINK), most)

    def _checked_derivatives(self, t: float, y: Vector) -> Vector:
        ydot = self.derivatives.here(t, y)
        self.derivatives.check(ydot)
        return ydot

    def interpolant(self) -> StepPolynomial:
        """Return the polynomial that has y and its derivatives at both ends."""
        ends, slopes = (self.y_old, self.y), (self.ydot_old, self.ydot)
        return StepPolynomial.of_slopes(
            self.t_old, self.t - self.t_old, ends, slopes, self._inside()
        )

    def _inside(self) -> Sequence[Vector]:
        """Return the parts of the polynomial beside those of a cubic."""
        return ()

    def failed(self, y: Vector, num_iterations: int = 0) -> Attempt:
        """Return an attempt in which derivatives were missing."""
        return Attempt(y, y, np.full(len(y), nan), num_iterations=num_iterations)


def parts_of(derivatives: Derivatives) -> tuple[slice, slice]:
    """Return the slices of y that have q, and u and z."""
    nq = derivatives.state.nq
    return slice(0, nq), slice(nq, None)
