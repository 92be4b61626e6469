"""Ten hot operations, each a statement that can be repeated as often as one likes."""

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
from attrs import frozen

from benchmarks.double_pendulum import DoublePendulum, closed_form, evaluating
from benchmarks.models import Computed, Hooked, Model, Scalar, Tuned
from benchmarks.peers.own import Stagecache
from benchmarks.rows.realize import INSTANCE_REALIZATION, REALIZATION, WRITE, WRITE_PARAMETER
from benchmarks.rows.simulate import EVALUATION
from benchmarks.states import Subject
from benchmarks.structures import chain, names, star

Names = Mapping[str, object]

WRITE_AND_READ: Final = "write(1); read()"


@frozen
class Operation:
    """A statement, and a function that makes what the statement names.

    Attributes
    ----------
    name : str
    statement : str
    make : callable
    repetitions : int
        Number of times that the statement is counted once, and then twice as often.
    """

    name: str
    statement: str
    make: Callable[[], Names]
    repetitions: int


def read() -> Names:
    """Make a Graph with a valid entry."""
    reader = star(Stagecache(), names(1)).reader(0)
    reader()
    return {"read": reader}


def links(length: int) -> Names:
    """Make a chain in a Graph."""
    graph = chain(Stagecache(), length)
    return {"write": graph.writer(0), "read": graph.reader(-1)}


def read_state() -> Names:
    """Make a State with a valid entry."""
    subject = Subject()
    entry = subject.below("q")
    subject.realize()
    entry.mark_valid(subject.state)
    return {"entry": entry, "state": subject.state}


def write_state() -> Names:
    """Make a State with 10 entries below q and 10 at Position."""
    subject = Subject()
    subject.fill_below(10, 10)
    subject.fill_lazy(10, 10)
    return {"mark_all": subject.mark_all, "state": subject.state, "q": np.ones(3)}


def set_one() -> Names:
    """Make a System with an entry below one q."""
    part = Scalar()
    return {
        **Model(part).names(),
        "position": part.position,
        "below_position": part.below_position,
    }


def tuned() -> Names:
    """Make a System with ten parameters."""
    parts = [Tuned() for _ in range(10)]
    return {**Model(*parts).names(), "gain": parts[0].gain}


def hooked() -> Names:
    """Make a System of ten subsystems with hooks."""
    return Model(*[Hooked() for _ in range(10)]).names()


def computed() -> Names:
    """Make a System of a subsystem with an entry at each of four stages."""
    return Model(Computed()).names()


def pendulum() -> Names:
    """Make the right-hand side of a double pendulum."""
    return evaluating(DoublePendulum(closed_form))


OPERATIONS: Final = (
    Operation("Graph: read a valid entry", "read()", read, 10_000),
    Operation("Graph: write, read one entry", WRITE_AND_READ, lambda: links(1), 500),
    Operation(
        "Graph: write, read the end of a chain of 100", WRITE_AND_READ, lambda: links(100), 10
    ),
    Operation("State: read a valid entry", "entry(state)", read_state, 5_000),
    Operation("State: mark 20 dependents, write q", "mark_all(); state.q = q", write_state, 50),
    Operation(
        "System: set one q, read an entry below it",
        "position.set(state, 0.3); below_position(state)",
        set_one,
        500,
    ),
    Operation(
        "System: set a parameter, realize Instance",
        f"{WRITE_PARAMETER}; {INSTANCE_REALIZATION}",
        tuned,
        100,
    ),
    Operation(
        "System: write q and u, realize 4 stages of 10 subsystems",
        f"{WRITE}; {REALIZATION}",
        hooked,
        100,
    ),
    Operation(
        "System: write q and u, realize 4 stages, an entry at each",
        f"{WRITE}; {REALIZATION}",
        computed,
        200,
    ),
    Operation("System: two evaluations of a right-hand side", EVALUATION, pendulum, 100),
)
