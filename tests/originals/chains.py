"""Chains of bodies, their accelerations, and States that satisfy their constraints."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stagecache import Stage, State
from stagecache.multibody import (
    AbstractMobilizer,
    Gravity,
    MobilizedBody,
    MultibodySystem,
    Transform,
)

Array = NDArray[np.float64]


def chain(
    mobilizer: Callable[[], AbstractMobilizer],
    count: int = 6,
    *,
    inboard: Sequence[float] = (0.0, 0.0, 0.0),
    gravity: Sequence[float] = (0.0, 0.0, 0.0),
) -> MultibodySystem:
    """Return links of 0.4 m, of which each is a little heavier than the one before."""
    system = MultibodySystem()
    body = system.matter.ground
    for i in range(count):
        mass = 1.0 + 0.1 * i
        body = system.matter.add_body(
            f"link {i + 1}",
            body,
            mobilizer(),
            inboard_frame=Transform(None, inboard),
            outboard_frame=Transform(None, [0.4, 0.0, 0.0]),
            mass_properties={"mass": mass, "inertia": [0.3 * mass, 0.4 * mass, 0.5 * mass]},
        )
    system.add(Gravity(system.matter, np.array(gravity)), "gravity")
    return system


def settled(
    system: MultibodySystem, seed: int = 1, q: Array | None = None, u: Array | None = None
) -> State:
    """Return a State at Acceleration, random or near given q and u, on the constraints."""
    rng = np.random.default_rng(seed)
    state = system.new_state()
    state.q = rng.uniform(0.0, 1.0, state.nq) if q is None else q
    state.u = rng.uniform(0.0, 1.0, state.nu) if u is None else u
    system.realize(state, Stage.TIME)
    system.project(state, 1e-11)
    system.realize(state, Stage.ACCELERATION)
    return state


def acceleration(body: MobilizedBody, state: State, station: Sequence[float] | Array) -> Array:
    """Return angular and linear acceleration of a frame at a station, in ground."""
    angular = body.acceleration(state)[:3]
    return np.concatenate([angular, body.station_acceleration(state, station)])


def close(one: Any, other: Any, tolerance: float = 1e-9) -> None:
    np.testing.assert_allclose(one, other, atol=tolerance, rtol=0)
