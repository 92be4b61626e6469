"""Errors of an integrator: States and times to begin with, and steps that cannot be taken."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from stagecache.errors import (
    EventLoopError,
    MethodError,
    OutOfRangeError,
    StepSizeError,
    short_repr,
)
from stagecache.state.handles import Vector
from stagecache.state.state import State
from stagecache.study.integrate.localization import TriggeredEvent
from stagecache.study.methods.derivatives import Derivatives, name_of_y
from stagecache.study.methods.method import AbstractMethod
from stagecache.system.core.system import System


def passed(what: str, now: float, got: object) -> OutOfRangeError:
    """Return the error of a time that has passed already."""
    return OutOfRangeError(
        f"{what}: must not lie in the past",
        f"{float(now)!r}, which is the time now, or later",
        short_repr(got),
        "ask for the earliest time first; or initialize() anew",
    )


def not_finite(state: State) -> OutOfRangeError:
    """Return the error of a State with a variable that is not finite."""
    worst = int(np.argmin(np.isfinite(state.y)))
    name = name_of_y(state, worst)
    return OutOfRangeError(
        f"{name}: is not finite at t = {state.time:.9g}",
        "a finite number to go on from",
        f"{state.y[worst]}",
        "write another one; after an event, look at what its handler writes",
    )


def without_constraints(method: type[AbstractMethod], system: System) -> MethodError:
    """Return the error of a method that cannot integrate Systems with constraints."""
    return MethodError(
        f"{method.name}: cannot integrate {system.name}, which has constraints",
        "a method that goes on from a State that was moved onto them: DOP853, RK45, RK23, Radau, "
        "BDF, Verlet, Euler",
        f"{method.name}, which begins anew after each projection, at order 1",
        "choose 'BDF' or 'Radau' for a stiff System, 'DOP853' for others",
    )


def too_fast(
    method: AbstractMethod, derivatives: Derivatives, t: float, y: Vector, why: str
) -> StepSizeError:
    """Return the error of a step from t and y that would be too short; it names the fastest y.

    The State of the derivatives has another y afterwards.
    """
    if not y.size:
        return StepSizeError(
            f"the time of {derivatives.system.name}: cannot go on from t = {t:.9g}",
            "a finite end, or an event in the future",
            f"{why}; and there is nothing to integrate",
            "step to a finite time; or schedule an event that ends the simulation",
        )
    worst = _fastest(method, derivatives, t, y)
    name = name_of_y(derivatives.state, worst)
    return StepSizeError(
        f"{name}: changes too fast for a step from t = {t:.9g}",
        "a step that is long enough, with an error that is small enough",
        f"a shorter one would be needed: {why}; {name} = {y[worst]:.9g}",
        "allow a shorter min_step or less accuracy; or look for a jump or a pole of the model "
        "there, which needs an event trigger",
    )


def _fastest(method: AbstractMethod, derivatives: Derivatives, t: float, y: Vector) -> int:
    """Return the index of the derivative that changes most, measured by tolerances."""
    h = method.sizes.least or 1e-6
    sizes = method.tolerances.atol + method.tolerances.rtol * np.abs(y)
    derivatives.raises = False
    first = derivatives(t, y)
    changes = np.abs(derivatives(t + h, y + h * first) - first)
    ranks = np.nan_to_num(changes, nan=np.inf) / sizes
    return int(np.argmax(ranks if ranks.any() else np.abs(first) / sizes))


def endless(state: State, rounds: Sequence[Sequence[TriggeredEvent]]) -> EventLoopError:
    """Return the error of handlers that trigger each other again and again, at one time."""
    counts = Counter(event.info.name for events in rounds for event in events)
    often = ", ".join(f"{name} ({n} times)" for name, n in counts.most_common(8) if n > 1)
    return EventLoopError(
        f"{state.system.name}: events trigger each other without end at t = {state.time:.9g}",
        f"handlers after which signs stay the same, after {len(rounds)} rounds at most",
        often or ", ".join(counts),
        "let handlers keep the signs that trigger each other; or name the direction of the "
        "triggers that count. The State is as the last of these handlers left it",
    )
