"""Values of stage Acceleration for accelerations that are given, whatever would compute these."""

from typing import Any

import numpy as np

from stagecache.state.handles import Vector
from stagecache.state.stage import Stage
from stagecache.state.vectors.vectors import UDOT
from stagecache.system.motion.differences import Read


def values_at_udot(system: Any, state: Any, read: Read, udots: Vector) -> Vector:
    """Compute values of Acceleration for some udot, without its hooks. The State is left as it is.

    Parameters
    ----------
    system : System
    state : State
        Of that System, at Velocity or above.
    read : callable
        What gives the values, called with a copy of the State.
    udots : (k, nu) float

    Returns
    -------
    (k, n) float

    Notes
    -----
    Costs one realization of Dynamics, and k computations of the values.
    """
    twin = state.copy()
    system.realize(twin, Stage.DYNAMICS)
    contents = twin._contents
    found = []
    for udot in udots:
        twin.invalidate_all(Stage.ACCELERATION)
        contents.pools.write(UDOT, None, udot)
        for x in range(len(contents.realization.stages)):
            contents.advance(Stage.ACCELERATION, x)
        contents.advance(Stage.ACCELERATION, None)
        found.append(np.array(read(twin), dtype=np.float64))
    return np.array(found)


def jacobian_by_udot(system: Any, state: Any, read: Read) -> Vector:
    """The derivatives of values that are linear in udot, which needs no small step. (n, nu)."""
    nu = state._contents.size("u", None)
    values = values_at_udot(system, state, read, np.vstack([np.zeros((1, nu)), np.eye(nu)]))
    jacobian: Vector = (values[1:] - values[0]).T
    return jacobian
