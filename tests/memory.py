"""Memory over many cycles of what programs do again and again: `python -m tests.memory`.

A cycle makes something and drops it, or changes something and takes that back. Counted are objects
of the library that the garbage collector knows, and blocks of the allocator of Python, after a
collection: once when all is warm, and once after the cycles. Both are exact, and neither includes
what the allocator keeps for later, as the memory of the process does. A table has the growth.
"""

import gc
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import click
import numpy as np
from attrs import frozen

from stagecache import (
    Assembler,
    Graph,
    QValue,
    Stage,
    State,
    simulate,
    strict,
    verify,
)
from stagecache.examples import four_bar, pendulum

WARM: Final = 260
"""Cycles before the first count: what is made once is there then, and counters are above 256.

Of larger numbers, Python makes an object each."""

ALLOWED: Final = 250
"""Blocks by which caches of Python and NumPy may grow, however many cycles there are."""

Cycle = Callable[[int], object]


@frozen
class Growth:
    """Growth of what is alive, over some cycles.

    Attributes
    ----------
    cycles : int
    blocks : int
        Blocks of memory.
    objects : dict of str to int
        Objects of the library, by class, where their number has changed.
    seconds : float
    """

    cycles: int
    blocks: int
    objects: dict[str, int]
    seconds: float

    @property
    def is_flat(self) -> bool:
        """True if nothing of the library is left, and next to no memory."""
        return not self.objects and self.blocks <= ALLOWED + self.cycles // 1000


def objects_of_the_library() -> Counter[str]:
    """Count the objects of the library that are alive, by class."""
    kinds = map(type, gc.get_objects())
    return Counter(f"{t.__module__}.{t.__name__}" for t in kinds if is_of_library(t))


def is_of_library(kind: type) -> bool:
    return str(kind.__module__).startswith("stagecache")  # of some, it is a property


def grown(cycle: Cycle, cycles: int, seconds: float = float("inf")) -> Growth:
    """Repeat a cycle, until one of the two limits, and return what has grown."""
    for number in range(WARM):
        cycle(number)
    gc.collect()
    objects = objects_of_the_library()
    gc.collect()
    blocks = sys.getallocatedblocks()
    start = time.monotonic()
    done = 0
    while done < cycles and time.monotonic() - start < seconds:
        cycle(done)
        done += 1
    took = time.monotonic() - start
    gc.collect()
    blocks = sys.getallocatedblocks() - blocks
    now = objects_of_the_library()
    changed = {name: now[name] - objects[name] for name in {*now, *objects}}
    return Growth(done, blocks, {name: n for name, n in changed.items() if n}, took)


# ---------------------------------------------------------------------- cycles


def state_of_a_system() -> Cycle:
    """Make a State, realize it, and drop it."""
    system = pendulum.system()

    def cycle(_: int) -> None:
        system.realize(system.new_state(), Stage.REPORT)

    return cycle


def new_system() -> Cycle:
    """Make a System with its default State."""
    return lambda _: pendulum.system().new_state()


def realized() -> tuple[Any, State]:
    system = pendulum.system()
    state = system.new_state()
    system.realize(state, Stage.REPORT)
    return system, state


def copies() -> Cycle:
    """Copy a State in each way, and overwrite one with another."""
    _, state = realized()
    other = state.copy()

    def cycle(_: int) -> None:
        state.copy(keep_cache=True).frozen()
        other.assign(state)

    return cycle


def checkpoints() -> Cycle:
    """Write, go back, and release."""
    system, state = realized()
    angle = system.get(pendulum.Pendulum).angle

    def cycle(number: int) -> None:
        mark = state.checkpoint()
        angle.set(state, float(number))
        system.realize(state, Stage.REPORT)
        state.rollback(mark)
        if number % 2:
            mark.release()

    return cycle


def late_items() -> Cycle:
    """Allocate a variable and entries, and forget them."""
    state = State()
    part = state[state.add_subsystem("part")]
    base = part.allocate_discrete_variable(Stage.POSITION, 1.0)
    part.advance_to_stage(Stage.TOPOLOGY)
    state.advance_to_stage(Stage.TOPOLOGY)

    def cycle(_: int) -> None:
        late = part.allocate_discrete_variable(Stage.POSITION, 2.0)
        entry = part.allocate_cache_entry_with_prerequisites(
            Stage.TOPOLOGY,
            Stage.INFINITY,
            (base, late),
            compute=lambda state: base(state) + late(state),
        )
        assert entry(state) == 3.0
        part.advance_to_stage(Stage.MODEL)
        state.advance_to_stage(Stage.MODEL)
        state.invalidate_all(Stage.MODEL)

    return cycle


def simulations() -> Cycle:
    """Simulate."""
    system = pendulum.system()
    start = system.new_state()
    return lambda _: simulate(system, start, 0.05, method="RK45", progress=False)


def tracking() -> Cycle:
    """Follow a goal, frame by frame."""
    system = four_bar.system()
    state = system.new_state()
    assembler = Assembler(system)
    aim = assembler.add_goal(QValue(system.matter.bodies[1], 0, 1.0))
    assembler.assemble(state)

    def cycle(number: int) -> None:
        aim.value = 1.0 + 0.1 * float(np.sin(number))
        assembler.track()

    return cycle


def graphs() -> Cycle:
    """Make a Graph, compute, copy it, and drop both."""

    def cycle(number: int) -> None:
        graph = Graph()
        above = graph.variable("above", number)
        entry = graph.entry("entry", lambda x: x() + 1, prerequisites=(above,), equal=True)
        below = graph.entry("below", lambda x: x() + 1, prerequisites=(entry,))
        assert below() == graph.copy()["below"]()

    return cycle


def nodes() -> Cycle:
    """Declare an entry in a Graph, compute it, and remove it; with a checkpoint at times."""
    graph = Graph()
    above = graph.variable("above", 0)

    def cycle(number: int) -> None:
        mark = graph.checkpoint() if number % 2 else None
        above.set(number)
        entry = graph.entry("entry", lambda x: x() + 1, prerequisites=(above,))
        assert entry() == number + 1
        if mark is None:
            graph.remove(entry)
        else:
            graph.rollback(mark)

    return cycle


def observers() -> Cycle:
    """Begin and end strict mode, a trace and verification."""
    system, state = realized()
    torque = system.get(pendulum.Anchor).torque
    mass = system.get(pendulum.Pendulum).mass

    def cycle(number: int) -> None:
        with strict(state), state.trace():
            mass.set(state, 1.0 + number % 7)
            torque(state)
        with verify(state):
            torque(state)

    return cycle


def errors() -> Cycle:
    """Read an entry that raises, in a State and in a Graph."""
    graph = Graph()
    above = graph.variable("above", 0)
    entry = graph.entry("entry", lambda x: 1 / x(), prerequisites=(above,))
    below = graph.entry("below", lambda x: x(), prerequisites=(entry,))

    def cycle(_: int) -> None:
        above.set(0)
        for each in (entry, below):
            with suppress(ZeroDivisionError):
                each()

    return cycle


CYCLES: Final[dict[str, Callable[[], Cycle]]] = {
    "a State of a System": state_of_a_system,
    "a System": new_system,
    "copies, and an assignment": copies,
    "a checkpoint and a rollback": checkpoints,
    "late variables and entries": late_items,
    "a Graph": graphs,
    "an entry of a Graph": nodes,
    "strict mode, a trace, verification": observers,
    "an error in a computation": errors,
    "a simulation": simulations,
    "a frame of an Assembler": tracking,
}


@click.command(help="Count what is alive after many cycles.")
@click.option("--cycles", default=100_000, show_default=True, help="Of each kind.")
@click.option("--seconds", default=300.0, show_default=True, help="For each kind, at most.")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(list(CYCLES)), help="All else.")
def main(cycles: int, seconds: float, kinds: tuple[str, ...]) -> None:
    """Print a row for each kind."""
    click.echo(f"{'cycle':36}{'cycles':>8}{'seconds':>9}{'blocks':>8}  objects of the library")
    is_flat = True
    for kind in kinds or CYCLES:
        growth = grown(CYCLES[kind](), cycles, seconds)
        is_flat = is_flat and growth.is_flat
        numbers = f"{growth.cycles:8,}{growth.seconds:9.1f}{growth.blocks:8,}"
        click.echo(f"{kind:36}{numbers}  {growth.objects or 0}")
    sys.exit(not is_flat)


if __name__ == "__main__":
    main()
