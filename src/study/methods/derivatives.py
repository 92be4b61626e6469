"""The derivatives of y as a function of time and y, computed in a State.

A numerical method calls them thousands of times::

    put(t, y)                   time and y are written, prescribed motion is set
    realize(ACCELERATION)       hooks and entries
    ydot                        a copy; 0 where q or u are prescribed, which no method integrates

A trial step may go too far, as into a negative square root. Then the derivatives are NaN, which
makes a method try a shorter step, and `failure` keeps the reason.
"""

from collections.abc import Callable
from math import inf, isfinite
from typing import final

import numpy as np
from numpy.typing import NDArray

from stagecache.errors import NotFiniteError, StagecacheError
from stagecache.state.handles import Vector
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.core.system import System
from stagecache.system.motion.prescribing import motions


def name_of_y(state: State, index: int) -> str:
    """Return the variable of an item of y: "pendulum.angle", "arm.elbow", or "chain.angles[2]".

    If no declared block has it: "y[3]".
    """
    contents = state._contents
    places = contents.pools.places
    for subsystem in contents.realization.layout.subsystems:
        for blocks in subsystem.blocks.values():
            for block in blocks:
                place = places[block._node]
                if place.start <= index < place.stop:
                    i, count = index - place.start, place.stop - place.start
                    if names := block._names_of(count):
                        return f"{block._owner.name}.{names[i]}"
                    return f"{block}" if count == 1 else f"{block}[{i}]"
    return f"y[{index}]"


TIME, POSITION, VELOCITY, ACCELERATION = (
    Stage.TIME,
    Stage.POSITION,
    Stage.VELOCITY,
    Stage.ACCELERATION,
)
Index = NDArray[np.intp]


@final
class Derivatives:
    """ydot of a State, whose time and y are written for it.

    Cost: a write, the realization of Time to Acceleration, and a copy of ydot.

    Parameters
    ----------
    system : System
    state : State
        Realized to Instance or further.

    Attributes
    ----------
    count : int
        Number of evaluations, and of partial realizations.
    num_failures : int
        Number of evaluations that were not finite.
    failure : Exception or None
        Reason of the last failure.
    raises : bool
        True to raise failures, for methods that do not notice NaN.
    is_driven : bool
        True if any q or u is prescribed in the State.
    time : float
        Time of the State.
    y : ndarray or None
        Array that was last written into the State; None if it has other y now.
    """

    __slots__ = (
        "_is_plain",
        "_prescribed",
        "_realize",
        "count",
        "failure",
        "is_driven",
        "num_failures",
        "raises",
        "state",
        "system",
        "time",
        "y",
    )

    def __init__(self, system: System, state: State) -> None:
        self.system = system
        self.state = state
        self.count = 0
        self.num_failures = 0
        self.failure: Exception | None = None
        self.raises = False
        self.time = state.time
        self.y: Vector | None = None
        self._realize: Callable[[State, Stage], None] = system.realize
        self._is_plain = type(system).realize is System.realize  # and can leave out triggers
        self.is_driven = False
        self._prescribed: Index = np.empty(0, np.intp)
        self.look()

    def look(self) -> None:
        """Find prescribed q and u, which parameters may have changed."""
        contents = self.state._contents
        found = [m.rows(self.state) for kind in "qu" for m in motions(self.state, kind)]
        self.is_driven = bool(found)
        indices = [np.arange(len(contents.pools.y))[rows] for rows in found]
        self._prescribed = np.concatenate([np.empty(0, np.intp), *indices])
        self.time, self.y = contents.time, None

    def __call__(self, time: float, y: Vector) -> Vector:
        """Return ydot, a new array, at a time and y, which the State has then, with triggers.

        Raises
        ------
        NotFiniteError
            It is not finite, and `raises` is set; else it is NaN.
        Exception
            Any exception of a hook or an entry, but failures of arithmetic.
        """
        return self._with_triggers(self.inside(time, y), y)

    def here(self, time: float, y: Vector) -> Vector:
        """Return ydot, as a call does; the State is not written if it has this time and array.

        No item of the array may have changed since it was written.
        """
        is_here = self.y is y and self.time == time
        return self._with_triggers(self.inside(time, y, is_here=is_here), y)

    def inside(self, time: float, y: Vector, *, is_here: bool = False) -> Vector:
        """Return ydot at a time and y inside of a step, where triggers are not computed."""
        self.count += 1
        try:
            if not is_here:
                self.put(time, y)
            self._advance(ACCELERATION)
        except (ArithmeticError, ValueError) as error:
            return self._failed(error, y, len(y))
        ydot: Vector = self.state._contents.pools.whole["ydot"].copy()
        if self.is_driven:
            ydot[self._prescribed] = 0.0
        if ydot.dot(ydot) < inf or np.isfinite(ydot).all():
            return ydot
        return self._failed(self._not_finite(ydot), y, len(y))

    def _with_triggers(self, ydot: Vector, y: Vector) -> Vector:
        """Compute the triggers of the State that has this ydot, which is returned; NaN if not."""
        contents = self.state._contents
        if contents.pools.lacks_triggers and isfinite(ydot.sum()):
            try:
                contents.complete_triggers()
            except (ArithmeticError, ValueError) as error:
                return self._failed(error, y, len(y))
        return ydot

    def qdot(self, time: float, y: Vector) -> Vector:
        """Return qdot, which needs no more than Velocity."""
        self.count += 1
        nq = len(self.state._contents.pools.whole["q"])
        try:
            self.put(time, y)
            self._advance(VELOCITY)
        except (ArithmeticError, ValueError) as error:
            return self._failed(error, y, nq)
        qdot: Vector = self.state._contents.pools.whole["qdot"].copy()
        if self.is_driven:
            qdot[self._prescribed[self._prescribed < nq]] = 0.0
        return qdot

    def put(self, time: float, y: Vector) -> None:
        """Write the time and y into the State, with prescribed motion.

        Invalidates Time, or only Position.
        """
        time = float(time)
        self.y = None  # until all is written, be it by the next call
        self.state._contents.write_time_and_y(time, y)
        self.time = time
        if self.is_driven:
            self.drive()
        self.y = y

    def settle(self, time: float, y: Vector, stage: Stage) -> None:
        """Write a time and y into the State, with prescribed motion, and realize a stage.

        Nothing is written if the State has them already.

        Raises
        ------
        Exception
            Any exception of a hook or an entry.
        """
        if self.y is not y or self.time != time:
            self.put(time, y)
        if self.state._contents.realization.machine.stage < stage:
            self.count += 1
            self._advance(stage)
        self.state._contents.complete_triggers()

    def _advance(self, stage: Stage) -> None:
        """Realize the State, without triggers, if its System does that by the usual way."""
        if self._is_plain:
            self.system._realize_rates(self.state, self.state._contents, stage)
        else:
            self._realize(self.state, stage)

    def check(self, ydot: Vector) -> None:
        """Raise the last failure if derivatives are NaN.

        Raises
        ------
        NotFiniteError
        Exception
            Any exception of a hook or an entry.
        """
        if np.isfinite(ydot).all():
            return
        raise self.failure or self._not_finite(ydot)

    def drive(self) -> None:
        """Set prescribed motion, which realizes the State to Position."""
        state = self.state
        self._advance(TIME)
        self.system.prescribe_q(state)
        self._advance(POSITION)
        self.system.prescribe_u(state)

    def _failed(self, error: Exception, y: Vector, count: int) -> Vector:
        """Note a failure, and return NaN."""
        is_ours = isinstance(error, StagecacheError) and not isinstance(error, NotFiniteError)
        self.num_failures += 1
        if self.failure is None or np.isfinite(y).all():  # else it only follows from the last one
            self.failure = error
        if is_ours or self.raises:
            raise error
        return np.full(count, np.nan)

    def _not_finite(self, ydot: Vector) -> NotFiniteError:
        worst = int(np.argmin(np.isfinite(ydot)))
        name, y = name_of_y(self.state, worst), self.state._contents.pools.y
        return NotFiniteError(
            f"{name}: its time derivative is not finite at t = {self.time:.9g}",
            "a finite number",
            f"{ydot[worst]}, where {name} = {y[worst]:.9g}",
            f"look at what computes it there: does a hook write {_cache_of(self.state, worst)}, "
            "and does it divide by 0?" + _hint_without_hook(self.state, worst),
        )


def _hint_without_hook(state: State, index: int) -> str:
    """Return a hint on the computation without hooks."""
    return {
        "qdot": " Without a hook, qdot is u if there are as many; else declare kinematics",
        "udot": " Without a hook, it needs a mass matrix",
        "zdot": "",
    }[_cache_of(state, index)]


def _cache_of(state: State, index: int) -> str:
    starts = {"qdot": 0, "udot": state.u_start, "zdot": state.z_start}
    return [kind for kind, start in starts.items() if start <= index][-1]
