"""The chain of rods of `benchmarks/rods.py`, projected by hand: NumPy and SciPy, and no more.

A step is the shortest one that a linear model of the errors asks for: -A' (A A')^-1 errors. A A' is
tridiagonal and positive definite, so it is solved as a band.
"""

from typing import final

import numpy as np
from scipy.linalg import solveh_banded

from benchmarks.rods import OPTIONS, Chain, Vector


@final
class RodsByHand:
    """The same points, off the rods by as much as those of a `Chain`.

    Parameters
    ----------
    chain : Chain

    Attributes
    ----------
    q, u : (2 n,) ndarray
    """

    def __init__(self, chain: Chain) -> None:
        self._chain = chain
        self._count = chain.rods.count
        self.q, self.u = chain.q_off.copy(), chain.u_off.copy()
        self._rods = self._differences(chain.q)

    def leave_q(self, _: int) -> None:
        """Move q off the rods."""
        self.q = self._chain.q_off.copy()

    def leave_u(self, _: int) -> None:
        """Move u off the rods."""
        self.u = self._chain.u_off.copy()

    def project_q(self, _: int) -> int:
        """Move q back, and return the number of iterations."""
        enough = OPTIONS.accuracy
        for iteration in range(20):
            rods = self._differences(self.q)
            errors = (np.einsum("ij,ij->i", rods, rods) - 1) / 2
            if np.sqrt(np.mean(errors**2)) <= enough:
                return iteration
            enough = OPTIONS.accuracy * OPTIONS.overshoot
            self.q -= self._shortest(rods, errors)
        raise AssertionError("the chain was to be projected in 20 iterations")

    def project_u(self, _: int) -> None:
        """Move u back: the velocity errors are linear in it."""
        errors = np.einsum("ij,ij->i", self._rods, self._differences(self.u))
        self.u -= self._shortest(self._rods, errors)

    def _differences(self, x: Vector) -> Vector:
        return np.diff(x.reshape(-1, 2), axis=0, prepend=np.zeros((1, 2)))

    def _shortest(self, rods: Vector, errors: Vector) -> Vector:
        """Return the shortest step that removes the errors of a linear model."""
        squares = np.einsum("ij,ij->i", rods, rods)
        bands = np.zeros((2, self._count))
        bands[1] = squares
        bands[1, 1:] += squares[1:]
        bands[0, 1:] = -np.einsum("ij,ij->i", rods[1:], rods[:-1])
        along = solveh_banded(bands, errors)[:, np.newaxis] * rods
        along[:-1] -= along[1:]
        return np.asarray(along.ravel())
