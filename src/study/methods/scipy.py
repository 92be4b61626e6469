"""Methods of SciPy for stiff Systems, behind the interface of `method`.

SciPy's solvers are told where to end when they are made. Here the bound changes from step to step;
a step that it cuts short says nothing about the error, so the previous size is tried again. After
a projection they go on::

    Radau     one-step: from another y, with the derivatives there
    BDF       multistep: its history is shifted by as much as y, which leaves its differences
    LSODA     multistep, its history is private: refused with constraints; begins anew at each bound

Their estimated errors are private, too, and not projected: steps may be shorter than they need be.
"""

from abc import abstractmethod
from math import frexp, isfinite
from typing import Any, Final, final

from scipy.integrate import BDF, LSODA, Radau

from stagecache.state.handles import Vector
from stagecache.study.methods.derivatives import Derivatives
from stagecache.study.methods.method import AbstractMethod, StepFailed, StepSizes
from stagecache.study.methods.step_polynomial import StepPolynomial
from stagecache.study.methods.tolerances import Tolerances

LANDS: Final = 1e-9
"""Part of a step by which it may be shorter than planned, and still count as full."""


class AbstractScipyMethod(AbstractMethod):
    """A method whose steps are those of a solver of SciPy."""

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
        self.y_old = self.y = y

    def _tolerances(self) -> tuple[float, Any]:
        """Return rtol and atol for SciPy, whose norm is the root of the mean square.

        The largest of n errors is √n of it at most.
        """
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
        self.y_old = self.y
        self.t_old, self.t, self.y = float(solver.t_old), float(solver.t), solver.y

    def interpolant(self) -> StepPolynomial:
        """Return the dense output, made to have y at both ends.

        The output of multistep methods misses them, as a polynomial through other points.
        """
        output, h = self._solver.dense_output(), self.t - self.t_old
        found = StepPolynomial.of_values(self.t_old, h, self.degree, lambda t: output(t).T)
        return found.through(self.y_old, self.t, self.y)


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
        if self.project is not None:
            y = self.project(self.t, self.y, None)
            if y is not self.y:
                self._move(y)
                solver.y = self.y = y

    @abstractmethod
    def _move(self, y: Vector) -> None:
        """Go on from another y at the end of the step."""

    def _lengthen(self) -> None:
        """Restore a step size that the bound cut short."""


@final
class RadauMethod(AbstractImplicit):
    """The Radau IIA method of order 5, for stiff Systems."""

    name, min_order, max_order, degree, solver_class = "Radau", 5, 5, 3, Radau

    def step(self, bound: float) -> None:
        """Take a step."""
        super().step(bound)
        self.derivatives.check(self._solver.f)

    def _move(self, y: Vector) -> None:
        self._solver.f = self.derivatives(self.t, y)

    def _lengthen(self) -> None:
        solver = self._solver
        if self.step_size is not None and self.step_size > solver.h_abs:
            solver.h_abs, solver.LU_real, solver.LU_complex = self.step_size, None, None


@final
class BdfMethod(AbstractImplicit):
    """Backward differences of orders 1 to 5, for stiff Systems."""

    name, min_order, max_order, degree, solver_class = "BDF", 1, 5, 5, BDF

    def _move(self, y: Vector) -> None:
        self._solver.D[0] = y  # the other rows are differences to steps before


@final
class LsodaMethod(AbstractScipyMethod):
    """LSODA of ODEPACK: Adams methods of orders 1 to 12, or BDF where the System is stiff.

    Older versions of SciPy refuse to run two at the same time. Its norm is always the largest
    error. It does not notice NaN, so that is raised at once. It tells neither of attempts that it
    rejects nor of the step that it will try.
    """

    name, min_order, max_order, degree, solver_class = "LSODA", 1, 12, 12, LSODA
    takes_constraints = False

    def begin(self, t: float, y: Vector, bound: float) -> None:
        """Make a solver, if the derivatives at the start are finite."""
        self.derivatives.raises = True
        if self.step_size is None:
            self.step_size = self._first_step(t, y, bound)
        super().begin(t, y, bound)

    def _first_step(self, t: float, y: Vector, bound: float) -> float:
        """Return a step that is surely small, as LSODA's own choice depends on the bound."""
        size = self.tolerances.norm(self.derivatives(t, y), y, y)
        longest = bound - t if isfinite(bound) else 1.0
        return min(0.01 / size if size else longest, longest)

    def _tolerances(self) -> tuple[float, Any]:
        return self.tolerances.rtol, self.tolerances.atol

    def step(self, bound: float) -> None:
        """Take a step."""
        if bound != self._solver.t_bound:  # which it keeps in private
            self.begin(self.t, self.y, bound)
        self._advance(bound)
        if self.t <= self.t_old:
            raise StepFailed("the step is as short as rounding")
        if self.t < bound or self.step_size is None:
            self.step_size = self.t - self.t_old


SOLVERS: Final = (RadauMethod, BdfMethod, LsodaMethod)
