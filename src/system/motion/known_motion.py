"""How q moves, as far as that is known: by N where it is declared, else by what hooks compute."""

from typing import Any

import numpy as np

from stagecache.errors import KinematicsError
from stagecache.state.handles import Vector
from stagecache.state.stage import Stage
from stagecache.system.motion.differences import derivative_along
from stagecache.system.motion.operators import kinematic_blocks, multiply_by_n


def known_qdot(state: Any) -> Vector | None:
    """N u in a State at Position or above; where N is not known, what hooks have put into qdot.

    None if there is nothing, or it is not finite.
    """
    pools = state._contents.pools
    try:
        qdot = multiply_by_n(state, pools.whole["u"])
    except KinematicsError:
        qdot = pools.whole["qdot"].copy()
    return qdot if np.isfinite(qdot).all() else None


def known_qdotdot(system: Any, state: Any, udot: Vector) -> Vector | None:
    """N udot and the change of N, in a State at Velocity or above; else what hooks have computed.

    None if there is nothing, or it is not finite.
    """
    pools = state._contents.pools
    try:
        qdotdot = multiply_by_n(state, udot)
        if kinematic_blocks(state):
            u = pools.whole["u"].copy()
            qdotdot += derivative_along(
                system,
                state,
                lambda twin: multiply_by_n(twin, u),
                stage=Stage.POSITION,
                qdot=multiply_by_n(state, u),
                time=1.0,
            )
    except KinematicsError:
        qdotdot = pools.whole["qdotdot"].copy()
    return qdotdot if np.isfinite(qdotdot).all() else None
