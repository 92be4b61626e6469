r"""Ten seconds of a chain: a hundred masses between springs, of which the first one is fixed.

::

    |--/\/\/--[mass 1]--/\/\/--[mass 2]--  ...  --/\/\/--[mass 100]      displacements from rest

As a hundred subsystems, each with the spring before its mass; and as a single one, of vectors. By
hand the same: a loop over a hundred objects, and vectors.
"""

from typing import Final, final

import numpy as np

from benchmarks.by_hand.run import HandRun, SystemRun, Vector
from stagecache import State, Subsystem, System, cached, q_variable, u_variable

UNTIL: Final = 10.0  # s
METHOD: Final = "DOP853"
ACCURACY: Final = 1e-5
LINKS: Final = 100
STIFFNESS: Final = 40.0  # N/m, of each spring; a mass has 1 kg
START: Final = np.concatenate([np.sin(np.arange(LINKS) * 0.1), np.zeros(LINKS)])


@final
class Link(Subsystem):
    """A mass, and the spring before it."""

    place = q_variable(0.0)  # m
    speed = u_variable(0.0)  # m/s

    def __init__(self, before: "Link | None") -> None:
        self.before = before
        self.after: Link | None = None
        if before is not None:
            before.after = self

    @cached(
        prerequisites=lambda self: (
            (self.place,) if self.before is None else (self.place, self.before.place)
        )
    )
    def tension(self, state: State) -> float:
        """Force of the spring on the masses at both its ends [N]."""
        start = 0.0 if self.before is None else self.before.place(state)
        return STIFFNESS * (self.place(state) - start)

    def realize_acceleration(self, state: State) -> None:
        """The mass is accelerated by the springs on both sides."""
        pull = 0.0 if self.after is None else self.after.tension(state)
        state[self].upd_udot()[0] = pull - self.tension(state)


@final
class Chain(Subsystem):
    """All masses and springs at once."""

    places = q_variable(START[:LINKS])  # m
    speeds = u_variable(START[LINKS:])  # m/s

    @cached(prerequisites=(places,))
    def tensions(self, state: State) -> Vector:
        """Forces of the springs [N]."""
        return STIFFNESS * np.diff(self.places(state), prepend=0.0)

    def realize_acceleration(self, state: State) -> None:
        """Each mass is accelerated by the springs on both sides."""
        state[self].upd_udot()[:] = np.diff(self.tensions(state), append=0.0)


def run_of_links() -> SystemRun:
    """Return the run of a hundred subsystems."""
    links: list[Link] = []
    for _ in range(LINKS):
        links.append(Link(links[-1] if links else None))
    system = System(*links)
    state = system.new_state()
    state.q = START[:LINKS]
    return SystemRun(system, state, UNTIL, METHOD, ACCURACY)


def run_of_chain() -> SystemRun:
    """Return the run of the single subsystem."""
    system = System(Chain())
    return SystemRun(system, system.new_state(), UNTIL, METHOD, ACCURACY)


@final
class ChainByHand(HandRun):
    """The same by vectors."""

    def __init__(self) -> None:
        super().__init__(START, UNTIL, METHOD, ACCURACY)

    def ydot(self, _: float, y: Vector) -> Vector:
        """Return the rates of places and speeds."""
        tensions = STIFFNESS * np.diff(y[:LINKS], prepend=0.0)
        return np.concatenate([y[LINKS:], np.diff(tensions, append=0.0)])


class HandLink:
    """A mass, and the spring before it, by hand."""

    def __init__(self, index: int) -> None:
        self._index = index
        self.after: HandLink | None = None

    def tension(self, y: Vector) -> float:
        """Return the force of the spring [N]."""
        start = y[self._index - 1] if self._index else 0.0
        return STIFFNESS * float(y[self._index] - start)

    def accelerate(self, y: Vector, ydot: Vector) -> None:
        """Write the acceleration."""
        pull = 0.0 if self.after is None else self.after.tension(y)
        ydot[LINKS + self._index] = pull - self.tension(y)


@final
class LinksByHand(HandRun):
    """The same by a loop over objects, each of which knows its own mass."""

    def __init__(self) -> None:
        super().__init__(START, UNTIL, METHOD, ACCURACY)
        self._links = [HandLink(index) for index in range(LINKS)]
        for link, after in zip(self._links, self._links[1:], strict=False):
            link.after = after

    def ydot(self, _: float, y: Vector) -> Vector:
        """Return the rates of places and speeds."""
        ydot = np.empty(2 * LINKS)
        ydot[:LINKS] = y[LINKS:]
        for link in self._links:
            link.accelerate(y, ydot)
        return ydot
