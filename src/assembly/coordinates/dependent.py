r"""Coordinates that are functions of others, so that an Assembler need not solve for them.

::

    q  [ x | dependent | locked | prescribed ]        d = f(q of others), in order
    dq/dx = T                                         rows of x: 1; of d: grad f . T of its sources

A System may offer them by a method, `_dependent_coordinates`. One is left to the constraint
that declares it where it is not free or has bounds, where another one determines the same q
already, and where it would depend on itself.
"""

from collections.abc import Callable, Iterable
from graphlib import TopologicalSorter
from math import isfinite
from typing import Any, Final, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from stagecache.state.handles import Vector

DEPENDENT: Final = "_dependent_coordinates"
"""Optional method of a System: ``(state) -> [DependentCoordinate, ...]``, those that are enabled,
for a State that has reached Instance."""


@final
@frozen(eq=False)
class DependentCoordinate:
    """A q that is a function of others.

    Attributes
    ----------
    q : int
        Its row in the q of the State.
    sources : ndarray of int, (n,)
        The rows of the others.
    value, gradient, hessian : callable
        The function of these (n,), and its derivatives: a float, (n,), (n, n).
    qerr : int
        The row of qerr that is its difference from the value.
    """

    q: int
    sources: NDArray[np.intp]
    value: Callable[[Vector], float]
    gradient: Callable[[Vector], Vector]
    hessian: Callable[[Vector], Vector]
    qerr: int


@final
class Dependents:
    """Coordinates that are computed from others, in an order in which that is possible.

    Parameters
    ----------
    offered : iterable of DependentCoordinate
    free_of_q : (nq,) int
        By q, its index among the free ones; -1 if it is not.
    may_depend : (nq,) bool
        False for q that must not be set.

    Attributes
    ----------
    qerr : (k,) int
        Rows of qerr that are 0 wherever they were set.
    index : (k,) int
        Their indices among the free q.
    """

    def __init__(
        self,
        offered: Iterable[DependentCoordinate],
        free_of_q: NDArray[np.intp],
        may_depend: NDArray[np.bool_],
    ) -> None:
        taken: dict[int, DependentCoordinate] = {}
        for one in offered:
            if may_depend[one.q] and one.q not in taken and not _leads_to(one.q, one, taken):
                taken[one.q] = one
        graph = {q: [s for s in one.sources.tolist() if s in taken] for q, one in taken.items()}
        # Each with its index, and the indices of its sources: -1, of sources that are not free,
        # stands for a row of zeros that is the last one.
        self._ordered = [
            (one, int(free_of_q[one.q]), free_of_q[one.sources])
            for one in map(taken.__getitem__, TopologicalSorter(graph).static_order())
        ]
        self.qerr = np.array([one.qerr for one, _, _ in self._ordered], np.intp)
        self.index = np.array([free for _, free, _ in self._ordered], np.intp)

    def set_in(self, q: Vector) -> int | None:
        """Set them among all q, (nq,). If one has no finite value, set none, and return its row."""
        before = [q[one.q] for one, _, _ in self._ordered]
        for one, _, _ in self._ordered:
            value = q[one.q] = one.value(q[one.sources])
            if not isfinite(value):
                q[[one.q for one, _, _ in self._ordered]] = before
                return one.q
        return None

    def gradients(self, q: Vector) -> list[Vector]:
        """Return the derivatives of each by its sources."""
        return [one.gradient(q[one.sources]) for one, _, _ in self._ordered]

    def complete(self, t: Vector, gradients: list[Vector]) -> None:
        """Write their rows of T (n + 1, x), which has rows of independent q, and zeros."""
        for (_, free, sources), gradient in zip(self._ordered, gradients, strict=True):
            t[free] = gradient @ t[sources]

    def curvature(self, slope: Vector, t: Vector, gradients: list[Vector], q: Vector) -> Vector:
        """Return the second derivatives by x, (x, x), that they add to those along T.

        Parameters
        ----------
        slope : (n,) float
            First derivatives by the free q.
        t : (n + 1, x) float
        gradients : list of ndarray
        q : (nq,) float
        """
        by_free = [*slope.tolist(), 0.0]
        rows, products = [], []
        both = zip(reversed(self._ordered), reversed(gradients), strict=True)
        for (one, free, sources), gradient in both:
            factor = by_free[free]
            rows.append(t[sources])
            products.append(factor * one.hessian(q[one.sources]) @ rows[-1])
            for source, value in zip(sources.tolist(), gradient.tolist(), strict=True):
                by_free[source] += factor * value
        found: Vector = np.concatenate(rows).T @ np.concatenate(products)
        return found


def _leads_to(q: int, one: DependentCoordinate, taken: dict[int, DependentCoordinate]) -> bool:
    """Tell whether one of these depends on some q, itself or by others that are taken."""
    stack: list[Any] = [one]
    while stack:
        for source in stack.pop().sources.tolist():
            if source == q:
                return True
            if source in taken:
                stack.append(taken[source])
    return False
