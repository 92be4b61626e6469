"""The methods of SciPy, behind the interface of `method`.

SciPy's solvers are told where to end when they are made. Here the bound changes from step to step;
a step that it cuts short says nothing about the error, so the size of before is tried again.

::

    RK23, RK45, DOP853    explicit, one-step: continue from another y at once
    Radau                 implicit, one-step, but it starts from the last solution: begins anew
    BDF, LSODA            multistep: begin anew, with the step that they had
"""

from math import frexp, isfinite, nextafter
from typing import Any, Final, final

import numpy as np
from scipy.integrate import BDF, DOP853, LSODA, RK23, RK45, Radau

from stagecache.state.handles import Vector
from stagecache.study.derivatives import Derivatives
from stagecache.study.method import AbstractMethod, Interpolant, StepFailed, StepSizes
from stagecache.study.tolerances import Tolerances

NEVER: Final = np.inf
LANDS: Final = 1e-9
"""What is left to the bound is taken along with a fixed step, if it is so little of one."""


class AbstractScipyMethod(AbstractMethod):
    """A solver of SciPy."""

    solver_class: Any

    def __init__(self, derivatives: Derivatives, tolerances: Tolerances, sizes: StepSizes) -> None:
        super().__init__(derivatives, tolerances, sizes)
        self._solver: Any = None

    def begin(self, t: float, y: Vector, bound: float) -> None:
        """Make a solver."""
        first = self.step_size
        if first is not None:
            first = min(self.limited(first), bound - t)
        rtol, atol = self._tolerances()
        self._solver = self.solver_class(
            self.derivatives,
            t,
            y,
            bound,
            rtol=rtol,
            atol=atol,
            max_step=self.sizes.most,
            first_step=first,
        )
        self.t_old = self.t = t
        self.y = y

    def _tolerances(self) -> tuple[float, Any]:
        """What SciPy takes; its norm is the root of the mean square, so the largest is √n of it."""
        tolerances = self.tolerances
        if not tolerances.use_infinity_norm:
            return tolerances.rtol, tolerances.atol
        root = len(tolerances.atol) ** 0.5
        return max(tolerances.rtol / root, 2.3e-14), tolerances.atol / root

    def _advance(self, bound: float) -> None:
        """Let the solver take a step."""
        solver = self._solver
        if solver.t_bound != bound:
            solver.t_bound = bound
        try:
            message = solver.step()
        except ValueError as error:
            if error is self.derivatives.failure or self.derivatives.failure is None:
                raise
            raise StepFailed(str(error)) from error  # a matrix is not finite
        if solver.status == "finished":
            solver.status = "running"
        elif solver.status == "failed":
            raise StepFailed(message)
        self.t_old, self.t, self.y = float(solver.t_old), float(solver.t), solver.y

    def interpolant(self) -> Interpolant:
        """The dense output."""
        found: Interpolant = self._solver.dense_output()
        return found

    def changed(self, y: Vector) -> bool:  # noqa: ARG002  # others need it
        """Begin anew; with a longer step, which a method that has just begun does not try."""
        if not self.num_rejected + self.num_diverged and self.step_size is not None:
            self.step_size = max(self.step_size, 2 * (self.t - self.t_old))
        return False


class AbstractRungeKutta(AbstractScipyMethod):
    """An explicit Runge-Kutta method, whose last derivatives are the first of the next step."""

    stages: int

    def begin(self, t: float, y: Vector, bound: float) -> None:
        """Make a solver; its first derivatives have to be finite."""
        super().begin(t, y, bound)
        self.derivatives.check(self._solver.f)
        if self.step_size is not None:
            self._solver.h_abs = self.limited(self.step_size)  # also beyond this bound
        elif not isfinite(self._solver.h_abs):  # its second look was one too far
            self._solver.h_abs = 1e-6

    def _tolerances(self) -> tuple[float, Any]:
        if self.sizes.fixed is not None:
            return 1.0, np.inf  # no error is too large
        return super()._tolerances()

    def step(self, bound: float) -> None:
        """Take a step."""
        solver = self._solver
        fixed = self.sizes.fixed
        if fixed is not None:
            is_last = bound - solver.t < fixed * (1 + LANDS)
            solver.h_abs = solver.max_step = bound - solver.t if is_last else fixed
            wanted = fixed
        else:
            wanted = solver.h_abs = max(solver.h_abs, self.sizes.least)
        count = solver.nfev
        self._advance(bound)
        self.num_rejected = (solver.nfev - count) // self.stages - 1
        if solver.f[0] != solver.f[0]:  # NaN, which no error estimate of DOP853 feels
            self.derivatives.check(solver.f)
        if self.t == bound and not self.num_rejected:
            solver.h_abs = max(solver.h_abs, wanted)
        self.step_size = solver.h_abs

    def changed(self, y: Vector) -> bool:
        """Go on with derivatives of the new y."""
        f = self.derivatives(self.t, y)
        self.derivatives.check(f)
        self._solver.y, self._solver.f, self.y = y, f, y
        return True


@final
class RungeKutta23(AbstractRungeKutta):
    """The pair of Bogacki and Shampine, of order 3(2). Cost: 3 evaluations for each attempt."""

    name, min_order, max_order, stages, solver_class = "RK23", 3, 3, 3, RK23


@final
class RungeKutta45(AbstractRungeKutta):
    """The pair of Dormand and Prince, of order 5(4). Cost: 6 evaluations for each attempt."""

    name, min_order, max_order, stages, solver_class = "RK45", 5, 5, 6, RK45


@final
class RungeKutta853(AbstractRungeKutta):
    """DOP853, of order 8(5,3). Cost: 12 evaluations for each attempt, 3 to interpolate."""

    name, min_order, max_order, stages, solver_class = "DOP853", 8, 8, 12, DOP853


class AbstractImplicit(AbstractScipyMethod):
    """A method that solves for the end of the step by iterations, with a Jacobian by differences.

    Cost: ny evaluations for each Jacobian, and some for each step.
    """

    def begin(self, t: float, y: Vector, bound: float) -> None:
        """Make a solver, if the derivatives at the start are finite."""
        self.derivatives.check(self.derivatives(t, y))
        try:
            super().begin(t, y, bound)
        except ValueError as error:
            raise self.derivatives.failure or error from None
        if not isfinite(self._solver.h_abs):
            self._solver.h_abs = 1e-6

    def step(self, bound: float) -> None:
        """Take a step."""
        solver = self._solver
        wanted = min(solver.h_abs, self.sizes.most)
        is_cut = bound - solver.t < wanted
        wanted = min(wanted, bound - solver.t)
        self._advance(bound)
        ratio = (self.t - self.t_old) / wanted
        self.num_rejected = self.num_diverged = 0
        if ratio < 1 - LANDS:
            is_halved = abs(frexp(ratio)[0] - 0.5) < LANDS
            self.num_diverged, self.num_rejected = int(is_halved), int(not is_halved)
        elif is_cut:
            self._lengthen()
        self.step_size = solver.h_abs
        self.derivatives.y = None  # iterations may have changed it in place since

    def _lengthen(self) -> None:
        """Undo that the bound cut a step short."""


@final
class RadauMethod(AbstractImplicit):
    """The Radau IIA method of order 5, for stiff Systems."""

    name, min_order, max_order, solver_class = "Radau", 5, 5, Radau

    def step(self, bound: float) -> None:
        """Take a step."""
        super().step(bound)
        self.derivatives.check(self._solver.f)

    def _lengthen(self) -> None:
        solver = self._solver
        if self.step_size is not None and self.step_size > solver.h_abs:
            solver.h_abs, solver.LU_real, solver.LU_complex = self.step_size, None, None


@final
class BdfMethod(AbstractImplicit):
    """Backward differences of orders 1 to 5, for stiff Systems."""

    name, min_order, max_order, solver_class = "BDF", 1, 5, BDF


@final
class LsodaMethod(AbstractScipyMethod):
    """LSODA of ODEPACK: Adams methods of orders 1 to 12, or BDF where the System is stiff.

    Older versions of SciPy refuse to run two at the same time. Its norm is always the largest
    error. It does not notice NaN, so that is raised at once.
    """

    name, min_order, max_order, solver_class = "LSODA", 1, 12, LSODA

    def begin(self, t: float, y: Vector, bound: float) -> None:
        """Make a solver, if the derivatives at the start are finite."""
        self.derivatives.raises = True
        if self.step_size is None:
            self.step_size = self._first_step(t, y, bound)
        super().begin(t, y, bound)

    def _first_step(self, t: float, y: Vector, bound: float) -> float:
        """As much as is surely small, as LSODA's own choice depends on where it is to end."""
        size = self.tolerances.norm(self.derivatives(t, y), y, y)
        longest = bound - t if isfinite(bound) else 1.0
        return min(0.01 / size if size else longest, longest)

    def _tolerances(self) -> tuple[float, Any]:
        return self.tolerances.rtol, self.tolerances.atol

    def step(self, bound: float) -> None:
        """Take a step."""
        integrator = self._solver._lsoda_solver._integrator
        integrator.rwork[0] = bound
        assert self.step_size is not None
        wanted = min(self.limited(self.step_size), bound - self.t)
        self._advance(bound)
        if self.t <= self.t_old:
            raise StepFailed("the step is as short as rounding")
        self.num_rejected = int(self.t - self.t_old < wanted * (1 - LANDS))
        self.step_size = max(float(integrator.rwork[11]), nextafter(self.t, NEVER) - self.t)


METHODS: Final = (RungeKutta23, RungeKutta45, RungeKutta853, RadauMethod, BdfMethod, LsodaMethod)
