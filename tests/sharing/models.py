"""A model with shared entries, and a program that reads them from a folder of results.

`main` reads the load of a room for each width, and prints it with the number of computations so
far; its arguments are a folder and widths.
"""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stagecache import State, Subsystem, System, cached, parameter, q_variable, shared_results

LENGTH = 1000


class Room(Subsystem):
    """A room whose factors depend on its width, and whose load depends on them and on an angle."""

    width = parameter(2.0)
    height = parameter(3.0)
    angle = q_variable(0.5)

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = scale

    @cached(prerequisites=(width, height), shared=True)
    def factors(self, state: State) -> NDArray[np.float64]:
        """View factors."""
        return np.full(LENGTH, self.scale * self.width(state) * self.height(state))

    @cached(prerequisites=(factors, angle), shared=True)
    def load(self, state: State) -> float:
        """Load of the room."""
        return float(self.factors(state)[0]) + self.angle(state)


def room_in(**values: Any) -> tuple[Room, State]:
    """Return a room, and a new State with values of its items."""
    room = Room()
    state = System(room).new_state()
    for name, value in values.items():
        getattr(room, name).set(state, value)
    return room, state


def main() -> None:
    """Read the load of a room for each width."""
    folder, *widths = sys.argv[1:]
    with shared_results(path=folder) as results:
        for width in widths:
            room, state = room_in(width=float(width))
            sys.stdout.write(f"{room.load(state)} {results.statistics.misses}\n")
            sys.stdout.flush()
