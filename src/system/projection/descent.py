r"""Newton's method down to the constraints, along the shortest way.

A step removes the errors r + A dy = 0 by the shortest dy. Each later one is the shortest *whole*
change since the start that does so: what earlier ones went along the constraints is taken back, so
that the change as a whole is the least one to first order::

    start  o-------> o  first step                       r0
                      \
                       o  second: removes r1, without what the first went along the constraints

Conditions that only normalize q are satisfied before the first step and after each.

A Jacobian is used again while errors fall by a factor of 10. If they do not fall, it is computed
anew; then, unless only local steps are allowed, the step is halved several times, and after that
the way down the gradient is tried: Deuflhard, Newton Methods for Nonlinear Problems (2004), chapter
3; Powell's dog leg has the same two directions. Where the gradient is zero,
nothing is better nearby.
"""

from typing import Final, final

import numpy as np
from attrs import frozen

from stagecache.state.handles import Vector
from stagecache.system.projection.manifolds import AbstractManifold
from stagecache.system.projection.options import ProjectOptions, ProjectStatus
from stagecache.system.projection.tangents import Tangent

MOST_ITERATIONS: Final = 50
MOST_LOCAL_ITERATIONS: Final = 10
MOST_HALVINGS: Final = 8
GOOD: Final = 0.1
"""Factor by which errors must fall for a Jacobian to be used again."""

HARDLY: Final = 1e-4
"""Part of the errors that a step must remove to first order, to be worth trying."""

ROUNDING: Final = 1e-14


def norm_of(errors: Vector, options: ProjectOptions) -> float:
    """Return the norm of weighted errors that options ask for; 0 without errors."""
    if not errors.size:
        return 0.0
    if options.use_infinity_norm:
        return float(np.max(np.abs(errors)))
    return float(np.linalg.norm(errors)) / float(np.sqrt(errors.size))


@frozen
class Outcome:
    """The end of a descent.

    Attributes
    ----------
    status : ProjectStatus
    num_iterations : int
    norm : float
        The norm of errors at the end.
    tangent : Tangent or None
        The last one, if it was taken at the end.
    """

    status: ProjectStatus
    num_iterations: int
    norm: float
    tangent: Tangent | None


@final
class Descent:
    """A State on its way to the constraints.

    Parameters
    ----------
    manifold : AbstractManifold
    options : ProjectOptions
    """

    def __init__(self, manifold: AbstractManifold, options: ProjectOptions) -> None:
        self._manifold = manifold
        self._options = options
        self._goal = options.accuracy * options.overshoot
        self._start = manifold.values
        self._was_normalized = manifold.normalize(self._goal / 10)
        self._values = manifold.values
        self._errors = manifold.weighted_errors
        self._size = float(np.linalg.norm(self._errors))
        self._tangent: Tangent | None = None
        self._is_fresh = False

    def run(self) -> Outcome:
        """Step until errors are small enough, or do not fall. Makes at least one iteration."""
        options = self._options
        if self._was_normalized and norm_of(self._errors, options) <= self._goal:
            return Outcome(ProjectStatus.SUCCEEDED, 1, norm_of(self._errors, options), None)
        most = MOST_LOCAL_ITERATIONS if options.local_only else MOST_ITERATIONS
        iterations = 0
        failed = ProjectStatus.FAILED_TO_CONVERGE
        while iterations < most:
            iterations += 1
            size = self._size
            end = self._step()
            if end is not None:
                failed = end
                break
            if norm_of(self._errors, options) <= self._goal:
                break
            if options.force_full_newton or self._size > GOOD * size:
                self._tangent = None
        norm = norm_of(self._errors, options)
        status = ProjectStatus.SUCCEEDED if norm <= options.accuracy else failed
        return Outcome(status, iterations, norm, self._tangent if self._is_fresh else None)

    def _step(self) -> ProjectStatus | None:
        """Make one step; or return the status of a failure, with the State where it was."""
        if self._tangent is None:
            self._renew()
        tangent = self._tangent
        assert tangent is not None
        step, left = tangent.step(self._errors)
        gain = 1 - left / self._size if self._size else 0.0
        change = self._values - self._start
        if np.any(change) and self._goes_to(step - tangent.drift(change), gain / 2):
            return None
        if self._goes_to(step, 1e-4 * gain):
            return None
        self._manifold.move_to(self._values)
        if not self._is_fresh:
            self._tangent = None
            return self._step()
        is_within = norm_of(self._errors, self._options) <= self._options.accuracy
        slope, best = tangent.steepest(self._errors)
        if not self._options.local_only and not is_within and best > HARDLY:
            for change, part in ((step / 2, gain / 2), (slope, best)):
                for factor in 0.5 ** np.arange(MOST_HALVINGS):
                    if self._goes_to(factor * change, 1e-4 * factor * part):
                        return None
            self._manifold.move_to(self._values)
        size = np.max(np.abs(step), initial=0.0)
        reach = np.max(np.abs(self._values), initial=0.0)
        if best <= HARDLY or size <= ROUNDING * reach:
            return ProjectStatus.FAILED_TO_ACHIEVE_ACCURACY
        return ProjectStatus.FAILED_TO_CONVERGE

    def _renew(self) -> None:
        self._tangent = self._manifold.tangent()
        self._is_fresh = True

    def _goes_to(self, step: Vector, gain: float) -> bool:
        """Move the State, and return whether the errors fell by that part at least."""
        values = self._values + step
        if not np.isfinite(values).all():
            return False
        self._manifold.move_to(values)
        self._manifold.normalize(self._goal / 10)
        errors = self._manifold.weighted_errors
        size = float(np.linalg.norm(errors))
        if not size < (1 - gain) * self._size:  # nor if it is NaN
            return False
        self._values, self._errors, self._size = self._manifold.values, errors, size
        self._is_fresh = False
        return True
