"""The method of Systems without continuous variables: time goes on, y is empty."""

from math import inf
from typing import final

from stagecache.state.handles import Vector
from stagecache.study.methods.method import AbstractMethod, StepFailed
from stagecache.study.methods.step_polynomial import StepPolynomial


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
        if self.project is not None:  # which only sees whether they are met
            self.project(t_new, self.y, None)
        self.t_old, self.t = self.t, t_new
        self.step_size = t_new - self.t_old

    def interpolant(self) -> StepPolynomial:
        """Return y, which has no numbers."""
        return StepPolynomial.constant(self.t_old, self.y)
