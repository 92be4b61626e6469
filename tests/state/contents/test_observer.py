"""Observers: one that overrides nothing changes nothing; one may read in the middle of a write."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

from stagecache import (
    CacheEntry,
    DiscreteVariable,
    Graph,
    Stage,
    State,
    Subsystem,
    System,
    cached,
    q_variable,
)
from stagecache.graph.observing import Act
from stagecache.state.checkpoint import going_back
from stagecache.state.contents.observer import Item, Observer, observe
from stagecache.state.handles import AbstractHandle
from stagecache.state.vectors.vectors import QDOT, VectorKind
from tests.state.realizing import realize, state_of
from tests.state.test_interrupts import Subject


def outcomes(subject: Subject) -> list[object]:
    """What operations of each kind return, and what a State shows at the end."""
    state = subject.state
    mark = state.checkpoint()
    found: list[object] = [subject.weight(state), subject.weight(state)]
    subject.mass.set(state, 5.0)
    found += [str(state.explain(subject.weight)), subject.weight(state)]
    subject.q.set(state, [3.0, 4.0])
    subject.q.upd(state)[0] = 5.0
    for stage in list(Stage)[Stage.INSTANCE : Stage.INFINITY]:
        subject.advance(stage)
    subject.swap()
    found += [subject.stored.upd(state), subject.mass.upd(state)]
    for stage in list(Stage)[Stage.POSITION : Stage.INFINITY]:
        subject.advance(stage)
    found += [list(state.q), list(state.ydot), subject.grip(state), state.stage]
    twin = state.copy()
    found += [subject.weight(twin), twin._contents.observers]
    state.rollback(mark)
    return [*found, subject.mass(state), subject.weight.is_valid(state), str(state)]


def test_a_state_with_an_observer_that_overrides_nothing_is_as_one_without() -> None:
    alone, observed = Subject(Stage.MODEL), Subject(Stage.MODEL)
    observe(observed.state._contents, Observer())
    assert list(map(str, outcomes(observed))) == list(map(str, outcomes(alone)))


class Cart:
    """A State with a variable of each kind, and an entry that depends on all."""

    def __init__(self) -> None:
        self.state = state_of("cart")
        part = self.state[0]
        self.q = part.allocate_q([1.0, 2.0])
        self.masses: DiscreteVariable[Any] = part.allocate_discrete_variable(
            Stage.POSITION, np.ones(2)
        )
        above = (self.q, self.masses, *[self.state.variable(name) for name in ("time", "u")])
        part.allocate_u([3.0])
        self.total: CacheEntry[float] = part.allocate_cache_entry_with_prerequisites(
            Stage.TOPOLOGY, Stage.INFINITY, above, compute=self.sum
        )
        realize(self.state, Stage.TIME)

    def sum(self, state: State) -> float:
        return float(self.q(state).sum() + self.masses(state).sum() + state.time + state.u[0])


class Reading(Observer):
    """Reads an entry in the middle of a write, as a finalizer may: once values of before are stale.

    It does so once: a finalizer does not come again, either.
    """

    def __init__(self, read: Callable[[], float]) -> None:
        self.read_once = read
        self.found: list[float] = []

    def write(self, cause: object, nodes: Sequence[int], act: Act) -> Any:
        result = act()
        if not self.found:
            self.found.append(self.read_once())
        return result


def change(view: Any) -> None:
    view[:] = 5.0


WRITES: dict[str, Callable[[Cart], object]] = {
    "q": lambda c: c.q.set(c.state, [5.0, 5.0]),
    "q, in place": lambda c: change(c.q.upd(c.state)),
    "all q": lambda c: setattr(c.state, "q", [5.0, 5.0]),
    "all q, in place": lambda c: change(c.state.upd_q()),
    "u of a subsystem": lambda c: setattr(c.state[0], "u", [5.0]),
    "discrete": lambda c: c.masses.set(c.state, np.array([5.0, 5.0])),
    "discrete, in place": lambda c: change(c.masses.upd(c.state)),
    "time": lambda c: setattr(c.state, "time", 5.0),
}


@pytest.mark.parametrize("write", WRITES)
def test_what_is_computed_in_the_middle_of_a_write_is_stale_afterwards(write: str) -> None:
    cart = Cart()
    before = cart.total(cart.state)
    reading = Reading(lambda: cart.total(cart.state))
    observe(cart.state._contents, reading)
    WRITES[write](cart)
    assert reading.found == [before]
    assert not cart.total.is_valid(cart.state)
    assert cart.total(cart.state) == cart.sum(cart.state) != before


@pytest.mark.parametrize("observers", [(), (Observer(),)])
def test_time_and_y_are_written_at_once_whether_a_state_is_observed_or_not(
    observers: tuple[Observer, ...],
) -> None:
    cart = Cart()
    cart.total(cart.state)
    observe(cart.state._contents, *observers)
    cart.state._contents.write_time_and_y(5.0, np.array([6.0, 7.0, 8.0]))
    assert (cart.state.time, cart.state.y.tolist()) == (5.0, [6.0, 7.0, 8.0])
    assert not cart.total.is_valid(cart.state)


@pytest.mark.parametrize("stage", [Stage.MODEL, Stage.TIME, Stage.POSITION, Stage.REPORT])
@pytest.mark.parametrize("time", [2.0, 5.0])
def test_time_and_y_are_written_at_once_as_they_are_one_after_the_other(
    stage: Stage, time: float
) -> None:
    state = state_of("a")
    state[0].allocate_q([1.0])
    entries = [
        state[0].allocate_cache_entry_with_prerequisites(
            Stage.TOPOLOGY, Stage.INFINITY, (above,), compute=lambda _: 1.0
        )
        for above in (state.variable("time"), state.variable("q"), state.variable("z"))
    ]
    realize(state, Stage.TOPOLOGY)
    state.time = 2.0
    realize(state, stage)
    for entry in entries:
        entry(state)
    twin = state.copy(keep_cache=True)
    state._contents.write_time_and_y(time, np.array([3.0]))
    if time != twin.time:
        twin.time = time
    twin.y = [3.0]
    for one in (state, twin):
        assert (one.time, one.y.tolist()) == (time, [3.0])
    assert state.stage == twin.stage
    assert [s.stage for s in state] == [s.stage for s in twin]
    assert [e.is_valid(state) for e in entries] == [e.is_valid(twin) for e in entries]
    assert [str(state.explain(e)) for e in entries] == [str(twin.explain(e)) for e in entries]


class Door(Subsystem):
    angle = q_variable(0.5)

    @cached(prerequisites=(angle,))
    def width(self, state: State) -> float:
        return 1 - self.angle(state)


def test_so_it_is_for_a_single_number() -> None:
    door = Door()
    state = System(door).new_state()
    reading = Reading(lambda: door.width(state))
    observe(state._contents, reading)
    door.angle.set(state, 0.75)
    assert reading.found == [0.5]
    assert not door.width.is_valid(state)
    assert door.width(state) == 0.25


def test_and_for_a_variable_of_a_graph() -> None:
    graph = Graph()
    angle = graph.variable("angle", 0.5)
    width = graph.entry("width", lambda angle: 1 - angle(), prerequisites=(angle,))
    reading = Reading(width)
    graph._handles.observers = (reading,)
    graph._handles.link()
    angle.set(0.75)
    assert reading.found == [0.5]
    assert not width.is_valid()
    assert width() == 0.25


class Recording(Observer):
    """Notes what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[object, ...]] = []

    def read(self, items: Sequence[Item], title: str) -> None:
        self.told.append(("read", *map(str, items), title))

    def reading(self, entry: CacheEntry[Any]) -> None:
        self.told.append(("reading", entry))

    def handed_out_vector(self, kind: VectorKind, subsystem: int | None) -> None:
        self.told.append(("handed out", kind.name, subsystem))

    def handed_out(self, handle: AbstractHandle) -> None:
        self.told.append(("handed out", handle))

    def advanced(self, stage: Stage, subsystem: int | None) -> None:
        self.told.append(("advanced", stage, subsystem))

    def realizing(self, *, is_on: bool) -> None:
        self.told.append(("realizing", is_on))

    def write(self, cause: object, nodes: Sequence[int], act: Act) -> Any:
        self.told.append(("write", str(cause)))
        return act()

    def replace(self, cause: str, act: Act) -> Any:
        self.told.append(("replace", cause))
        return act()


def test_an_observer_is_told_of_each_operation_and_once() -> None:
    subject = Subject(Stage.VELOCITY)
    state, contents = subject.state, subject.state._contents
    recording = Recording()
    observe(contents, recording)

    def told(act: Callable[[], object]) -> list[tuple[object, ...]]:
        recording.told.clear()
        act()
        return recording.told

    for copy in (state.copy, partial(state.copy, keep_cache=True)):
        assert told(copy) == [("read", "a copy of the State")]
    assert told(lambda: subject.weight(state)) == [("reading", subject.weight), ("read", *MASS)]
    assert told(lambda: subject.weight(state)) == [("reading", subject.weight)]
    assert told(lambda: subject.stored.set(state, 1.0)) == [("handed out", subject.stored)]
    assert told(lambda: contents.write_time_and_y(1.0, np.array([3.0, 4.0]))) == [
        ("write", "time"),
        ("write", "y"),
    ]
    assert told(lambda: subject.part.advance_to_stage(Stage.TIME)) == [("advanced", Stage.TIME, 0)]
    mark = state.checkpoint()
    assert told(lambda: state.rollback(mark)) == [
        ("replace", "rollback()"),
        ("realizing", False),
    ]


MASS = ("mass of subsystem 0", "")


def test_an_observer_is_told_of_a_replacement_once_even_if_it_was_cut_short() -> None:
    subject = Subject(Stage.VELOCITY)
    state, contents = subject.state, subject.state._contents
    recording = Recording()
    mark = state.checkpoint()
    observe(contents, recording)
    contents.unfinished = going_back(contents, mark)  # as Control-C leaves it
    contents.realization.is_torn = True
    assert subject.weight(state) == 9.81 * 3.0
    assert contents.unfinished is None
    assert "replace" not in [kind for kind, *_ in recording.told]


def test_an_observer_is_told_what_hooks_read_and_fill_at_once() -> None:
    state = Subject(Stage.TIME).state
    contents = state._contents
    recording = Recording()
    observe(contents, recording)
    contents.fill_vector(QDOT, 0, np.array([3.0, 4.0]))
    assert contents.known_so_far(QDOT, 0).tolist() == [3.0, 4.0]
    assert recording.told == [
        ("handed out", "qdot", 0),
        ("read", "Velocity", "qdot of subsystem 0 'arm'"),
    ]


def test_an_observer_is_told_that_a_system_realizes_and_not_of_each_stage() -> None:
    system = System(Door())
    state = system.new_state()
    state.invalidate_all(Stage.MODEL)
    recording = Recording()
    observe(state._contents, recording)
    system.realize(state)
    assert recording.told == [("realizing", True), ("realizing", False)]


def test_a_valid_entry_is_read_where_observation_has_just_ended() -> None:
    subject = Subject(Stage.MODEL)
    state = subject.state
    subject.weight(state)
    subject.mass.set(state, 5.0)
    subject.weight(state)
    state.freeze()
    contents = state._contents
    contents.visible = contents.realization.store.blank()  # in which the read has looked
    assert subject.weight(state) == 9.81 * 5.0
