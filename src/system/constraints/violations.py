"""Acceleration errors that may be left, in a State that violates its constraints a little.

Rows of G that repeat each other where the constraints are satisfied, as those of a closed loop with
a bar too many, do so only roughly close by: a combination of them, which should be 0, is of the
size of the position errors. What it demands is of that size too, and meaningless; but it would take
accelerations as large as all others, and huge multipliers. So errors of that part are left, where
that makes the rows redundant which nearly are.
"""

from typing import Any, Final

import numpy as np
from attrs import frozen

from stagecache.state.handles import Vector
from stagecache.system.constraints.rows import ConstraintTable

LARGEST: Final = 1e-4
"""The largest violation, as a part of the scales of lengths and speeds, that is made up for."""

FACTOR: Final = 10.0
"""Factor by which errors that are left may be larger."""


@frozen(eq=False)
class Slack:
    """Errors that may be left.

    Attributes
    ----------
    cut : float
        The length below which combinations of rows of length 1 are redundant.
    errors : (nudoterr,) float
        The acceleration errors that these may leave.
    """

    cut: float
    errors: Vector


def slack_of(state: Any, table: ConstraintTable, g: Any, bias: Vector, free: Vector) -> Slack:
    """Return the acceleration errors that may be left in a State. Cost O(numbers in G).

    None where position and velocity errors are 0. The scale of lengths, along which directions
    change, is `default_length_scale` of the System.

    Parameters
    ----------
    state : State
        At Velocity or above.
    table : ConstraintTable
    g : (m, nu) float
    bias : (m,) float
    free : (nu,) float
        Accelerations without constraints.
    """
    whole = state._contents.pools.whole
    qerr, uerr = np.zeros(len(bias)), np.zeros(len(bias))
    for constraint in table.constraints:
        for found, errors, rows in (
            (qerr, whole["qerr"], constraint.qerr),
            (uerr, whole["uerr"], constraint.uerr),
        ):
            if rows is not None and constraint.udoterr is not None:
                found[constraint.udoterr] = np.abs(errors[rows])
    if not (qerr.any() or uerr.any()):
        return Slack(0.0, np.zeros(len(bias)))
    sizes = abs(g)
    squares = g**2 if isinstance(g, np.ndarray) else g.power(2)
    lengths = np.sqrt(np.asarray(squares.sum(axis=1))).ravel()
    per_length = np.where(lengths > 0, 1 / np.where(lengths > 0, lengths, 1.0), 0.0)
    scale = state.system.default_length_scale
    far = float((np.nan_to_num(qerr) * per_length).max())
    fast = float((np.nan_to_num(uerr) * per_length).max())
    speed = float(((sizes @ np.abs(whole["u"])) * per_length).max())
    position = min(far / scale, LARGEST)
    velocity = min(fast, LARGEST * speed) * speed / scale
    terms = np.abs(bias) + sizes @ np.abs(free)
    return Slack(FACTOR * position, FACTOR * (position * terms + velocity * lengths))
