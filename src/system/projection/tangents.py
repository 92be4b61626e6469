r"""Constraints linearised at one State: the shortest changes that remove their errors.

::

    errors r of their rows    r + A y           A: the Jacobian by y, each row times its weight
    y                         its length is the norm of the change; see `change_norm`
    du  --  along  -->  change of q, or of u
"""

from collections.abc import Callable
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from stagecache.numerics.least_norm import LeastNorm, Matrix
from stagecache.state.handles import Vector
from stagecache.system.projection.change_norm import ChangeNorm

MOST_DOUBT: Final = 0.1
CURVED: Final = 10.0
"""Turn of a row on the way to a constraint, as a multiple of its distance in the norm of changes:
rows that are nearer to dependent than that may be dependent on the constraints."""

Rows = NDArray[np.intp]
Linear = Callable[[Vector], Vector]


@final
class Tangent:
    """Constraints, linearised.

    Parameters
    ----------
    norm : ChangeNorm
        The norm of changes of u.
    jacobian : (len(rows), nu) float, dense or sparse
        The derivatives of weighted errors by u.
    rows, others : (k,) int
        Rows of these errors; and rows that are left alone.
    off : (len(rows),) float
        Errors that tell how far away the constraints on q are; they are weighted, too.
    along, back : callable
        Functions from a change of u to the change of q, or of u; and back.
    """

    def __init__(
        self,
        norm: ChangeNorm,
        jacobian: Matrix,
        rows: Rows,
        others: Rows,
        off: Vector,
        along: Linear,
        back: Linear,
    ) -> None:
        self._norm = norm
        self._solver = LeastNorm(norm.jacobian_by_y(jacobian))
        self._rows, self._others = rows, others
        self._along, self._back = along, back
        lengths = self._solver.row_lengths
        distances = np.abs(off[lengths > 0]) / lengths[lengths > 0]
        self._doubt = min(MOST_DOUBT, CURVED * float(np.max(distances, initial=0.0)))

    @property
    def has_freedom(self) -> bool:
        """True if any u can be changed."""
        return len(self._norm.columns) > 0

    def step(self, errors: Vector) -> tuple[Vector, float]:
        """Return the shortest change that makes weighted errors least, and what is left of them.

        Returns
        -------
        (n,) float
            The change of all q, or all u.
        float
            The root of the sum of squares of all errors that are left, to first order.
        """
        mine = errors[self._rows]
        y = -self._solver.solve(mine, doubt=self._doubt)
        left = np.linalg.norm(mine + self._solver.matrix @ y)
        return self._change(y), float(np.hypot(left, np.linalg.norm(errors[self._others])))

    def steepest(self, errors: Vector) -> tuple[Vector, float]:
        """Return the change down the gradient of their squares, to where these are least.

        Returns
        -------
        (n,) float
        float
            The part by which their squares fall, to first order; 0 if no change makes them smaller.
        """
        mine, matrix = errors[self._rows], self._solver.matrix
        slope = np.asarray(matrix.T @ mine)
        rise = matrix @ slope
        square = float(slope @ slope)
        if not square or not rise.any():
            return self._change(np.zeros(len(slope))), 0.0
        length = square / float(rise @ rise)
        return self._change(-length * slope), length * square / float(errors @ errors)

    def drift(self, change: Vector) -> Vector:
        """Return the part of a change of q, or u, that does not change the errors."""
        y = self._norm.of_change(self._back(change))
        return self._change(y - self._solver.part_in_rows(y, doubt=self._doubt))

    def normal_part(self, estimate: Vector) -> Vector:
        """Return the part of an error estimate that is normal to the constraints."""
        y = self._norm.of_change(self._back(estimate))
        return self._change(self._solver.part_in_rows(y, doubt=self._doubt))

    def _change(self, y: Vector) -> Vector:
        return self._along(self._norm.change(y))
