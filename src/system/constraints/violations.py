"""How exactly accelerations can satisfy constraints, in a State that violates them a little.

Rows of G that repeat each other where the constraints are satisfied, as those of a closed loop with
a bar too many, do so only roughly close by: a combination of them, which should be 0, is of the
size of the position errors. What it demands is of that size too, and meaningless; but it would take
accelerations as large as all others, and huge multipliers. So errors of that part are left, where
that makes the rows redundant which nearly are.
"""

from typing import Any, Final

import numpy as np
from attrs import frozen

from stagecache.numerics.matrices import is_sparse
from stagecache.state.handles import Vector
from stagecache.system.constraints.rows import constraint_rows

LARGEST: Final = 1e-4
"""The largest violation, as a part of the scales of lengths and speeds, that is made up for."""

FACTOR: Final = 10.0
"""How much larger the errors may be that are left."""


@frozen(eq=False)
class Slack:
    """What may be left.

    Attributes
    ----------
    cut : float
        Combinations of rows of length 1 are redundant that are shorter.
    errors : (nudoterr,) float
        The acceleration errors that these may leave.
    """

    cut: float
    errors: Vector


def slack_of(state: Any, g: Any, bias: Vector, free: Vector) -> Slack:
    """Return what may be left of the acceleration errors of a State. Cost O(numbers in G).

    None where position and velocity errors are 0. The scale of lengths, along which directions
    change, is `default_length_scale` of the System.

    Parameters
    ----------
    state : State
        At Velocity or above.
    g : (m, nu) float
    bias : (m,) float
    free : (nu,) float
        Accelerations without constraints.
    """
    pools = state._contents.pools
    errors = {kind: np.zeros(len(bias)) for kind in ("qerr", "uerr")}
    for constraint in constraint_rows(state):
        for kind, found in errors.items():
            rows = getattr(constraint, kind)
            if rows is not None and constraint.udoterr is not None:
                found[constraint.udoterr] = pools.whole[kind][rows]
    if not any(np.any(found) for found in errors.values()):
        return Slack(0.0, np.zeros(len(bias)))
    sizes = abs(g)
    squares = g.power(2) if is_sparse(g) else g**2
    lengths = np.sqrt(np.asarray(squares.sum(axis=1))).ravel()
    per_length = np.where(lengths > 0, 1 / np.where(lengths > 0, lengths, 1.0), 0.0)
    scale = state.system.default_length_scale
    far, fast = (float((np.abs(np.nan_to_num(e)) * per_length).max()) for e in errors.values())
    speed = float(((sizes @ np.abs(pools.whole["u"])) * per_length).max())
    position = min(far / scale, LARGEST)
    velocity = min(fast, LARGEST * speed) * speed / scale
    terms = np.abs(bias) + sizes @ np.abs(free)
    return Slack(FACTOR * position, FACTOR * (position * terms + velocity * lengths))
