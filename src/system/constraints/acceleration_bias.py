"""The errors of accelerations at udot = 0: as declared, and by differences where they are not."""

from typing import Any

import numpy as np

from stagecache.state.handles import Vector
from stagecache.state.stage import Stage
from stagecache.system.constraints.entry_rows import Place, reader, spread
from stagecache.system.constraints.rows import table_of
from stagecache.system.constraints.values_at_udot import values_at_udot
from stagecache.system.motion.differences import (
    by_differences,
    derivative_along,
    second_derivative_along,
)
from stagecache.system.motion.known_motion import known_qdotdot
from stagecache.system.motion.operators import multiply_by_n


def acceleration_bias(state: Any) -> Vector:
    """Return the acceleration errors at udot = 0. Shape (nudoterr,). Needs Velocity.

    Where no bias is declared, it is the derivative of the velocity errors along qdot = N u and
    time, by differences: two realizations of Velocity, or five of Position where these are not
    declared either. Rows that a hook fills are NaN.

    Raises
    ------
    StageTooLowError, KinematicsError
    """
    contents = state._contents
    contents.require_stage(Stage.VELOCITY, None, "the acceleration errors at udot = 0")
    found = np.full(contents.size("udoterr", None), np.nan)
    own, first, second = _without_bias(state, found)
    with by_differences("the bias of constraints", "declare it with @name.bias"):
        _fill_by_differences(state, found, own, first, second)
    return found


def _fill_by_differences(
    state: Any, found: Vector, own: list[Place], first: list[Place], second: list[Place]
) -> None:
    """Put the acceleration errors at udot = 0 into their rows."""
    contents, system = state._contents, state.system
    zero = np.zeros(contents.size("u", None))
    qdot = multiply_by_n(state, contents.pools.whole["u"]) if first or second else zero
    if first:
        values = derivative_along(
            system, state, reader(first), stage=Stage.VELOCITY, qdot=qdot, time=1.0
        )
        spread(found, first, values)
    if second:
        qdotdot = known_qdotdot(system, state, zero)
        if qdotdot is not None:
            values = second_derivative_along(
                system, state, reader(second), stage=Stage.POSITION, qdot=qdot, qdotdot=qdotdot
            )
            spread(found, second, values)
    if own:
        spread(found, own, values_at_udot(system, state, reader(own), zero[None])[0])


def _without_bias(state: Any, found: Vector) -> tuple[list[Place], list[Place], list[Place]]:
    """Put declared biases into their rows; for the others, what to read, and how often to derive.

    Returns
    -------
    three lists
        Rows of udoterr and the entries to be read at udot = 0, to be differentiated, and to be
        differentiated twice.
    """
    own: list[Place] = []
    first: list[Place] = []
    second: list[Place] = []
    table = table_of(state)
    for constraint, roles in zip(table.constraints, table.roles, strict=True):
        rows, handle = constraint.udoterr, constraint.handle
        if rows is None or handle is None:
            continue
        if "bias" in roles:
            found[rows] = roles["bias"](state)
        elif constraint.uerr is None:
            own.append((rows, handle))
        elif constraint.qerr is None:
            first.append((rows, handle))
        elif "velocity" in roles:
            first.append((rows, roles["velocity"]))
        else:
            second.append((rows, handle))
    return own, first, second
