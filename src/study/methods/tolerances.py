r"""Tolerances of a step: the largest error of each number of y, by its weight.

::

    norm( error_i / (atol_i + rtol |y_i|) ) <= 1      rtol   = accuracy / 10
                                                      atol_i = accuracy / (10 weight_i)

u and z have the weights of the State. A change of q counts as \|Wq dq\|, Wq = N Wu pinv(N), which
is block diagonal: where N is 1, a q has the weight of its u. All q of another block have the norm
of Wq, its largest factor, since a method takes one tolerance for each number.
"""

from math import sqrt
from typing import final

import numpy as np
from attrs import frozen

from stagecache.errors import OutOfRangeError
from stagecache.state.handles import Vector
from stagecache.state.state import State
from stagecache.study.methods.derivatives import name_of_y
from stagecache.system.core.system import System
from stagecache.system.motion.operators import weights_of_q


@final
@frozen(eq=False)
class Tolerances:
    """Tolerances of y.

    Attributes
    ----------
    rtol : float
    atol : (ny,) float
    use_infinity_norm : bool
        The norm is the largest error, not the root of the mean square.
    """

    rtol: float
    atol: Vector
    use_infinity_norm: bool

    def norm(self, errors: Vector, before: Vector, after: Vector) -> float:
        """Return the norm of estimated errors; up to 1 they are small enough. NaN if one is."""
        return self.norm_of_part(errors, before, after, 0)

    def norm_of_part(self, errors: Vector, before: Vector, after: Vector, start: int) -> float:
        """Return the norm of errors of the numbers from an index on."""
        sizes = np.maximum(np.abs(before), np.abs(after))
        scaled = errors / (self.atol[start:] + self.rtol * sizes)
        return norm_of(scaled, use_infinity_norm=self.use_infinity_norm)


def norm_of(errors: Vector, *, use_infinity_norm: bool) -> float:
    """Return the largest error, or the root of the mean of their squares; 0 without errors."""
    if not errors.size:
        return 0.0
    if use_infinity_norm:
        return float(np.abs(errors).max())
    return sqrt(errors.dot(errors) / errors.size)


def tolerances_of(
    system: System, state: State, accuracy: float, *, use_infinity_norm: bool
) -> Tolerances:
    """Return the tolerances that follow from the weights in a State.

    Parameters
    ----------
    system : System
    state : State
        Realized to Position, if q are related to u by more than their order.
    accuracy : float

    Raises
    ------
    OutOfRangeError
        A weight is not positive.
    KinematicsError
        Weights of u are not 1, and it is not known how q follow from u.
    """
    weights = np.concatenate([weights_of_q(system, state), state.u_weights, state.z_weights])
    is_good = (weights > 0) & (weights < np.inf)
    if not is_good.all():
        index = int(np.argmin(is_good))
        vector = "z_weights" if index >= state.z_start else "u_weights"
        raise OutOfRangeError(
            f"the weight of {name_of_y(state, index)}: not a weight",
            "a positive, finite number: 1 / what counts as a unit error",
            f"{weights[index]:g}",
            f"write another one into state.{vector}",
        )
    atol = accuracy / (10 * weights)
    return Tolerances(accuracy / 10, atol, use_infinity_norm)
