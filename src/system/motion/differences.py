r"""Derivatives by central differences, with copies of a State.

The derivative of f along a direction d, from two States beside the one at hand:

    (f(x + h d) - f(x - h d)) / 2 h          error of order h^2 f''' + noise |f| / h

h is the largest step for which no variable moves by more than its own step. For a variable of
scale s and value x, that is max(e^(1/3) s, e^(1/2) |x|), e = 2.2e-16, which about balances the two
errors (Press et al., Numerical Recipes, 3rd ed., section 5.7). The scale of the time is the default
time scale of the System, the scale of q, u and z is 1. Weights would tell more; but a write leaves
Velocity and Acceleration realized, so nothing of these may depend on weights.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from stagecache.errors import KinematicsError
from stagecache.state.handles import CacheEntry, Vector
from stagecache.state.stage import Stage
from stagecache.state.vectors.vectors import QERR, VectorKind
from stagecache.system.motion.operators import kinematic_blocks, multiply_by_n

NOISE: Final = float(np.finfo(float).eps)
"""The relative error of values that are computed by formulas."""

NEGLIGIBLE: Final = 1e-150
"""Largest movement in a direction that changes nothing, in units of its step."""

SECOND: Final = (-1.0, 16.0, -30.0, 16.0, -1.0)
"""Weights of values at five points in their second derivative, times 12 h^2."""

Read = Callable[[Any], Vector]
Direction = tuple[str, Vector, Vector]
"""A vector that is moved: its name, its start, and its change in a unit of time."""


@contextmanager
def by_differences(what: object, hint: str) -> Iterator[None]:
    """Add a note to exceptions: they come from a slightly changed copy of the State."""
    try:
        yield
    except Exception as error:
        error.add_note(f"while {what} was computed by differences; {hint}, to do without them")
        raise


def derivative_along(
    system: Any,
    state: Any,
    read: CacheEntry[Any] | Read,
    *,
    stage: Stage | None = None,
    qdot: Vector | None = None,
    udot: Vector | None = None,
    zdot: Vector | None = None,
    time: float = 0.0,
) -> Vector:
    """Differentiate values along a direction of time, q, u and z. The State is not changed.

    Parameters
    ----------
    system : System
    state : State
        A State of that System, at Position or above.
    read : CacheEntry or callable
        The function of the values, called with a copy of the State.
    stage : Stage, optional
        The stage to which copies are realized first. The default is the stage of the entry.
    qdot, udot, zdot : (nq,) (nu,) (nz,) float, optional
        The direction; vectors that are left out do not change.
    time : float
        The rate of the time.

    Returns
    -------
    (n,) float
        A new array, in units of the values divided by the unit of `time`.

    Notes
    -----
    Costs two realizations of `stage`, but not of what comes before stage Time.
    """
    if stage is None:
        assert isinstance(read, CacheEntry)
        stage = read.available_from
    directions = (("q", qdot), ("u", udot), ("z", zdot))
    along = {name: direction for name, direction in directions if direction is not None}
    return MovedCopy(system, state, stage).derivative(read, along, time)


@final
class MovedCopy:
    """A copy of a State that is moved a little and read, for one derivative after the other.

    Parameters
    ----------
    system : System
    state : State
        State of that System, at Position or above; it is not changed.
    stage : Stage
        The stage to which the copy is realized wherever it is moved.
    """

    def __init__(self, system: Any, state: Any, stage: Stage) -> None:
        self._system, self._state, self._stage = system, state, stage
        self._twin = state.copy()
        self._away: set[str] = set()

    def derivative(self, read: Read, along: Mapping[str, Vector], time: float = 0.0) -> Vector:
        """Differentiate values along a direction, of q, u and z by name, and of the time."""
        state, twin = self._state, self._twin
        moved = [
            (name, np.array(getattr(state, name)), np.asarray(direction))
            for name, direction in along.items()
            if np.any(direction)
        ]
        self._return_all_but({name for name, _, _ in moved} | ({"time"} if time else set()))
        steps = _least_steps(self._system, state, moved, time, NOISE ** (1 / 3), NOISE ** (1 / 2))
        if not steps:
            self._system.realize(twin, self._stage)
            return np.zeros_like(read(twin))
        h = min(steps)
        found: list[Vector] = []
        for step in (h, -h):
            if time:
                twin.time = state.time + step * time
            for name, values, direction in moved:
                setattr(twin, name, values + step * direction)
            self._system.realize(twin, self._stage)
            found.append(np.array(read(twin), dtype=np.float64))
        return (found[0] - found[1]) / (2 * h)

    def _return_all_but(self, names: set[str]) -> None:
        for name in self._away - names:
            setattr(self._twin, name, getattr(self._state, name))
        self._away = names


def second_derivative_along(
    system: Any,
    state: Any,
    read: CacheEntry[Any] | Read,
    *,
    stage: Stage | None = None,
    qdot: Vector,
    qdotdot: Vector,
) -> Vector:
    """Differentiate values of Position twice by time, along a motion. The State is not changed.

    Parameters
    ----------
    system, state, read, stage
        Same as for `derivative_along`.
    qdot, qdotdot : (nq,) float

    Returns
    -------
    (n,) float

    Notes
    -----
    Five points are used, with an error of order h^4, on the parabola q + qdot h + qdotdot h^2 / 2
    (Abramowitz and Stegun, Handbook of Mathematical Functions, 25.3.24). A difference of
    differences would lose the half of the digits. Costs five realizations of `stage`.
    """
    if stage is None:
        assert isinstance(read, CacheEntry)
        stage = read.available_from
    twin = state.copy()
    q = np.array(twin.q)
    large, small = NOISE ** (1 / 6), NOISE ** (1 / 3)
    along: list[Direction] = [("q", q, qdot)] if np.any(qdot) else []
    h = min(_least_steps(system, state, along, 1.0, large, small))
    if np.any(qdotdot):
        bend: list[Direction] = [("q", q, qdotdot / 2)]
        h = min([h, *np.sqrt(_least_steps(system, state, bend, 0.0, large, small))])
    total: Vector | None = None
    for weight, k in zip(SECOND, range(-2, 3), strict=True):
        twin.time = state.time + k * h
        twin.q = q + k * h * qdot + (k * h) ** 2 / 2 * qdotdot
        system.realize(twin, stage)
        term = weight * np.array(read(twin), dtype=np.float64)
        total = term if total is None else total + term
    assert total is not None
    return total / (12 * h**2)


def numerical_jacobian(
    system: Any, state: Any, kind: VectorKind, rows: NDArray[np.intp] | slice
) -> Vector:
    """Differentiate rows of qerr by u along qdot = N u, or rows of uerr by u.

    Rows of uerr should be computed by formulas: those that are differences themselves are
    better taken from qerr, as their Jacobian is the same.

    Parameters
    ----------
    system : System
    state : State
        A State of that System, at Position or above.
    kind : VectorKind
        QERR or UERR.
    rows : array of int or slice
        Rows of the whole vector.

    Returns
    -------
    (m, nu) float

    Raises
    ------
    KinematicsError
        N of qdot = N u is not declared.

    Notes
    -----
    Costs a copy of the State, and 2 nu realizations of Position or Velocity of it. For udot see
    `jacobians.values_at_udot`.
    """
    nu = state._contents.size("u", None)
    count = len(np.arange(state._contents.size(kind.part, None))[rows])
    found = np.zeros((count, nu))
    if not found.size:
        return found
    unit = np.eye(nu)
    name, directions = ("q", multiply_by_n(state, unit)) if kind is QERR else ("u", unit)
    copy = MovedCopy(system, state, kind.read)

    def read(twin: Any) -> Vector:
        errors: Vector = twin._contents.pools.view(kind, None)
        return errors[rows]

    for j in range(nu):
        found[:, j] = copy.derivative(read, {name: directions[:, j]})
    return found


# ---------------------------------------------------------------------- how q moves


def known_qdot(state: Any) -> Vector | None:
    """Return N u in a State at Position; where N is not known, the qdot that hooks wrote.

    None if there is nothing, or it is not finite.
    """
    pools = state._contents.pools
    try:
        qdot = multiply_by_n(state, pools.whole["u"])
    except KinematicsError:
        qdot = pools.whole["qdot"].copy()
    return qdot if np.isfinite(qdot).all() else None


def known_qdotdot(system: Any, state: Any, udot: Vector) -> Vector | None:
    """Return N udot + dN/dt u in a State at Velocity; without N, the qdotdot that hooks wrote.

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


# ---------------------------------------------------------------------- steps


def _least_steps(
    system: Any,
    state: Any,
    moved: list[Direction],
    time: float,
    of_scale: float,
    of_value: float,
) -> list[float]:
    """Return, for each part that moves, the largest step at which it moves by its own step."""
    found = []
    for _, values, direction in moved:
        steps = np.maximum(of_scale, of_value * np.abs(values))
        speed = float((np.abs(direction) / steps).max())
        if speed > NEGLIGIBLE:
            found.append(1 / speed)
    if time:
        step: float = max(of_scale * system.default_time_scale, of_value * abs(state.time))
        found.append(step / abs(time))
    return found
