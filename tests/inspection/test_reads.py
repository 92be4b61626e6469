"""Edges of hooks, against random models that note what their hooks read and write."""

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    cached,
    discrete,
    parameter,
    q_variable,
    u_variable,
    z_variable,
)
from stagecache.views import EdgeKind, GraphView
from tests.profiles import examples

ITEMS = ("mass", "is_on", "angle", "rate", "heat", "twice", "scaled")
WRITES = {Stage.VELOCITY: "qdot", Stage.DYNAMICS: "zdot", Stage.ACCELERATION: "udot"}
Notes = dict[str, set[str]]


@frozen
class PlannedHook:
    """A hook of a subsystem.

    Attributes
    ----------
    part : int
        Number of the subsystem.
    stage : Stage
    reads, reads_if_on : tuple of (int, str)
        The items and vectors that it reads, each with the number of a subsystem: always, and only
        while `is_on` of its own subsystem is True.
    is_writer : bool
        True if it writes the vector of its stage.
    """

    part: int
    stage: Stage
    reads: tuple[tuple[int, str], ...]
    reads_if_on: tuple[tuple[int, str], ...]
    is_writer: bool

    @property
    def name(self) -> str:
        """Name of the method."""
        return f"realize_{self.stage.name.lower()}"


class Part(Subsystem):
    """Variables and entries that hooks may read from Instance on."""

    mass = parameter(2.0)
    is_on = discrete(False, invalidates=Stage.DYNAMICS)
    angle = q_variable(0.5)
    rate = u_variable(1.5)
    heat = z_variable(2.5)

    @cached(prerequisites=(mass,))
    def twice(self, state: State) -> float:
        return 2 * self.mass(state)

    @cached(prerequisites=(twice, angle))
    def scaled(self, state: State) -> float:
        return self.twice(state) * self.angle(state)


@st.composite
def hooks(draw: st.DrawFn, parts: int) -> list[PlannedHook]:
    """Return hooks, at most one of a stage in a subsystem."""
    found = []
    for part in range(parts):
        for stage in draw(st.sets(st.sampled_from(list(WRITES)))):
            vectors = [name for at, name in WRITES.items() if at < stage]
            one = st.tuples(st.integers(0, parts - 1), st.sampled_from([*ITEMS, *vectors]))
            some = st.lists(one, unique=True, max_size=4).map(tuple)
            hook = PlannedHook(part, stage, draw(some), draw(some), draw(st.booleans()))
            found.append(hook)
    return found


def realize(hook: PlannedHook, reads: Notes, writes: Notes) -> Callable[[Any, State], None]:
    """Return the method of a hook, which notes what it does."""
    path = f"part_{hook.part}.{hook.name}"

    def method(self: Any, state: State) -> None:
        own_reads, own_writes = reads.setdefault(path, set()), writes.setdefault(path, set())
        own_reads.add(f"part_{hook.part}.is_on")
        wanted = (*hook.reads, *(hook.reads_if_on if self.is_on(state) else ()))
        total = 0.0
        for number, name in wanted:
            own_reads.add(f"part_{number}.{name}")
            part = self.system.subsystem(f"part_{number}")
            vector = name in WRITES.values()
            found = getattr(state[part], name) if vector else getattr(part, name)(state)
            total += float(np.sum(found))
        if hook.is_writer:
            vector_name = WRITES[hook.stage]
            own_writes.add(f"part_{hook.part}.{vector_name}")
            getattr(state[self], f"upd_{vector_name}")()[:] = total

    return method


def edges(view: GraphView, kind: EdgeKind) -> Notes:
    """Return the other ends of the edges of each hook."""
    found: Notes = {node.path: set() for node in view if node.kind == "hook"}
    for edge in view.edges:
        if edge.kind is kind:
            ends = (edge.target, edge.source)
            hook, other = ends if kind is EdgeKind.READ else ends[::-1]
            if hook in found:
                found[hook].add(other)
    return found


@examples(60)
@given(st.data(), st.integers(1, 3))
def test_edges_are_exactly_what_hooks_have_read_and_written(
    data: st.DataObject, parts: int
) -> None:
    planned = data.draw(hooks(parts))
    reads: Notes = {}
    writes: Notes = {}
    system = System()
    for number in range(parts):
        own = [hook for hook in planned if hook.part == number]
        body = {hook.name: realize(hook, reads, writes) for hook in own}
        system.add(type(f"Part{number}", (Part,), body)(), f"part_{number}")
    state = system.new_state()
    for _ in range(3):
        view = state.graph  # which records a run, the first time
        assert edges(view, EdgeKind.READ) == reads
        assert edges(view, EdgeKind.WRITE) == writes
        switched: Any = system.subsystem(f"part_{data.draw(st.integers(0, parts - 1))}")
        switched.is_on.set(state, not switched.is_on(state))
        system.record_hooks(state)
