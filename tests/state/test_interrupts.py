"""What an error cuts short in a State made by hand: allocation, advancing, updates, marks.

It has happened, or not: what is half allocated is gone, and what is there is consistent.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import count

import numpy as np
import pytest

from stagecache import CacheEntry, Stage, State, Subsystem, System
from tests.graph.check_structure import check_store
from tests.interrupting import ignore_lost_strikes, plain_only, strikes, struck_at

TOPOLOGY, INSTANCE, POSITION, REPORT = Stage.TOPOLOGY, Stage.INSTANCE, Stage.POSITION, Stage.REPORT
LAZY = Stage.INFINITY


class Subject:
    """A State with two subsystems at a stage, and handles of what the first one has."""

    def __init__(self, stage: Stage) -> None:
        self.state = State()
        self.part = self.state[self.state.add_subsystem("arm")]
        self.state.add_subsystem("base")
        self.q = self.part.allocate_q([1.0, 2.0], name="angle")
        self.mass = self.part.allocate_discrete_variable(POSITION, 3.0, name="mass")
        self.grip = self.part.allocate_auto_update_discrete_variable(
            Stage.VELOCITY, 4.0, available_from=POSITION, name="grip"
        )
        self.weight = self.part.allocate_cache_entry_with_prerequisites(
            TOPOLOGY, LAZY, (self.mass,), compute=self.weigh, name="weight"
        )
        self.stored = self.part.allocate_cache_entry(POSITION, Stage.DYNAMICS, 0.0, name="stored")
        self.part.allocate_event_trigger(POSITION, 2)
        for g in range(TOPOLOGY, stage + 1):
            self.advance(Stage(g))

    def weigh(self, state: State) -> float:
        return 9.81 * self.mass(state)

    def advance(self, stage: Stage) -> None:
        for part in self.state:
            if part.stage < stage:
                if stage == Stage.DYNAMICS and part.index == 0:
                    self.stored.set(self.state, self.mass(self.state))
                part.advance_to_stage(stage)
        if self.state.stage < stage:
            self.state.advance_to_stage(stage)

    def allocate_entry(self) -> None:
        above = (self.q, self.mass, self.weight)
        self.part.allocate_cache_entry_with_prerequisites(
            POSITION, Stage.VELOCITY, above, name="more"
        )

    def swap(self) -> None:
        self.grip.update.set(self.state, 5.0)
        self.grip.update.mark_valid(self.state)
        self.state.auto_update_discrete_variables()

    def go_back(self) -> None:
        mark = self.state.checkpoint()
        try:
            self.mass.set(self.state, 7.0)
            self.state.rollback(mark)
        finally:
            mark.release()

    def store(self) -> None:
        self.stored.set(self.state, self.mass(self.state))
        self.stored.mark_valid(self.state)


def check(subject: Subject) -> None:
    """Assert that all is consistent, and goes on to work up to Report and back to the beginning."""
    state, part = subject.state, subject.part
    for g in range(state.stage + 1, REPORT + 1):
        subject.advance(Stage(g))
    check_store(state._contents.realization.store)
    assert state.q[:2].tolist() == [1.0, 2.0]
    assert len(state.q) == sum(p.nq for p in state)
    assert subject.weight(state) == 9.81 * subject.mass(state)
    assert subject.stored(state) == subject.mass(state)
    assert subject.grip(state) in (4.0, 5.0)
    subject.mass.set(state, subject.mass(state) + 1)
    assert not subject.stored.is_valid(state)
    assert subject.weight(state) == 9.81 * subject.mass(state)
    for g in range(state.stage + 1, REPORT + 1):
        subject.advance(Stage(g))
    assert subject.stored(state) == subject.mass(state)
    twin = state.copy()
    assert np.array_equal(twin.q, state.q)
    state.invalidate_all(TOPOLOGY)
    assert not any(part._layout.items() for part in state)
    kept = list(state._contents.realization.store.structure)
    assert all(str(state._contents.realization.store.keys[n]).split()[0] != "more" for n in kept)
    part.allocate_q([7.0])
    entry = part.allocate_lazy_cache_entry(TOPOLOGY, compute=lambda s: 1, name="new")
    for g in range(TOPOLOGY, INSTANCE + 1):
        subject.advance(Stage(g))
    assert (state.q.tolist(), entry(state)) == ([7.0], 1)


OPERATIONS: dict[str, tuple[Stage, Callable[[Subject], object]]] = {
    "add a subsystem": (Stage.EMPTY, lambda s: s.state.add_subsystem("more")),
    "allocate q": (Stage.EMPTY, lambda s: s.part.allocate_q([3.0])),
    "allocate z": (TOPOLOGY, lambda s: s.part.allocate_z([3.0])),
    "allocate errors": (Stage.MODEL, lambda s: s.part.allocate_qerr(2)),
    "allocate triggers": (Stage.MODEL, lambda s: s.part.allocate_event_trigger(POSITION, 1)),
    "allocate a variable": (
        TOPOLOGY,
        lambda s: s.part.allocate_discrete_variable(POSITION, 1, name="more"),
    ),
    "allocate a variable with an update": (
        TOPOLOGY,
        lambda s: s.part.allocate_auto_update_discrete_variable(
            Stage.VELOCITY, 1, available_from=Stage.VELOCITY, name="more"
        ),
    ),
    "allocate an entry": (TOPOLOGY, lambda s: s.allocate_entry()),
    "advance to Topology": (Stage.EMPTY, lambda s: s.advance(TOPOLOGY)),
    "advance to Model": (TOPOLOGY, lambda s: s.advance(Stage.MODEL)),
    "advance to Instance": (Stage.MODEL, lambda s: s.advance(INSTANCE)),
    "advance to Position": (Stage.TIME, lambda s: s.advance(POSITION)),
    "advance to Dynamics": (Stage.VELOCITY, lambda s: s.advance(Stage.DYNAMICS)),
    "back up below what is allocated": (REPORT, lambda s: s.state.invalidate_all(TOPOLOGY)),
    "update": (REPORT, lambda s: s.swap()),
    "store and mark": (REPORT, lambda s: s.store()),
    "go back, and release": (REPORT, lambda s: s.go_back()),
    "clear": (REPORT, lambda s: s.state.clear()),
}


@plain_only
@ignore_lost_strikes
@pytest.mark.parametrize("operation", OPERATIONS)
def test_whatever_is_cut_short_leaves_nothing_stale_and_nothing_half_allocated(
    operation: str,
) -> None:
    stage, operate = OPERATIONS[operation]
    for subject, what in strikes(partial(Subject, stage), operate, every=7):
        try:
            str(subject.state)
            items = [part._layout.items() for part in subject.state]
            if items and items[0]:  # else it went back to the beginning
                check(subject)
        except BaseException as error:
            error.add_note(f"{operation}: {what}")
            raise


@plain_only
@ignore_lost_strikes
def test_a_stage_whose_node_was_just_added_can_be_waited_for_again() -> None:
    for at in count():
        subject = Subject(TOPOLOGY)
        struck_at(at, subject.allocate_entry, KeyboardInterrupt)
        layout = subject.state._contents.realization.layout
        nodes = [(x, g, n) for g, found in enumerate(layout.stage_nodes) for x, n in found.items()]
        if any(layout.subsystems[x].stages[g] != node for x, g, node in nodes):
            break  # it is on one of the lists, and not on the other
    check(subject)


class Allocating(Subsystem):
    """Allocates a variable and an entry below it, and may fail after that."""

    def __init__(self) -> None:
        self.errors: list[Exception] = []
        self.entries: list[CacheEntry[float]] = []

    def realize_model(self, state: State) -> None:
        part = state[self]
        mass = part.allocate_discrete_variable(POSITION, 3.0)
        entry = part.allocate_cache_entry_with_prerequisites(
            INSTANCE, LAZY, (mass,), compute=lambda state: 9.81 * mass(state)
        )
        self.entries.append(entry)
        if self.errors:
            raise self.errors[0]


@plain_only
@ignore_lost_strikes
def test_what_a_hook_has_allocated_is_forgotten_even_if_its_forgetting_is_cut_short() -> None:
    num_in_the_middle = 0
    for at in count(step=9):
        subsystem = Allocating()
        system = System(subsystem)
        state = system.new_state()
        state.invalidate_all(Stage.MODEL)
        subsystem.errors.append(ZeroDivisionError())
        before = list(state._contents.realization.store.structure)
        place = struck_at(at, partial(realize_model, system, state), KeyboardInterrupt)
        if not place:
            break
        realization = state._contents.realization
        if not realization.is_layout_torn or realization.abandoned != subsystem.index:
            continue
        num_in_the_middle += 1
        assert state.stage == TOPOLOGY, place
        assert list(state._contents.realization.store.structure) == before, place
        check_store(state._contents.realization.store)
        subsystem.errors.clear()
        system.realize(state)
        assert subsystem.entries[-1](state) == 9.81 * 3.0, place
    assert num_in_the_middle > 0


def realize_model(system: System, state: State) -> None:
    with suppress(ZeroDivisionError):
        system.realize(state, Stage.MODEL)
