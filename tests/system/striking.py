"""Operations on States of a random model, one of which is struck, and what must hold after that."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
from attrs import field, frozen
from hypothesis import strategies as st

from stagecache import Checkpoint, Stage, State
from stagecache.errors import StagecacheError
from tests.graph.check_structure import check_store
from tests.interrupting import struck
from tests.system.random_model import STAGES, Brute, Built

RUNTIME = STAGES[Stage.TOPOLOGY : Stage.INFINITY]
Values = dict[int, list[float]]
"""Variables that can be read, by number."""


@frozen
class Subject:
    """A State to be struck, with a checkpoint, and what each version number has stood for."""

    state: State
    mark: Checkpoint
    at_mark: Values
    seen: dict[tuple[int, int], float] = field(factory=dict)


Operation = Callable[[Subject], object]


def values_of(built: Built, state: State) -> Values:
    found = {}
    for number, item in enumerate(built.spec.items):
        if item.kind != "entry" and (not item.is_continuous or state.stage >= Stage.MODEL):
            value = np.ravel(built.handle(number)(state))
            if not np.isnan(value).any():  # as the time is before Topology
                found[number] = value.tolist()
    return found


@st.composite
def operations(draw: st.DrawFn, built: Built, other: State, travel: Operation) -> Operation:
    """Draw one operation that fits any copy of a State."""
    items = built.spec.items
    variables = [i for i, item in enumerate(items) if item.kind != "entry"]
    stage = draw(st.sampled_from(RUNTIME[1:]))
    do: list[Operation] = [
        partial(write, built, draw(st.sampled_from(variables)), 7.0),
        partial(write, built, draw(st.sampled_from(variables)), 2.0),
        lambda s: built.system.realize(s.state, stage),
        lambda s: built.system.realize(s.state),
        lambda s: s.state.invalidate_all(stage),
        lambda s: s.state.rollback(s.mark),
        lambda s: s.mark.release(),
        lambda s: s.state.checkpoint(),
        lambda s: s.state.copy(),
        lambda s: s.state.copy(keep_cache=True),
        lambda s: s.state.assign(other),
        lambda s: s.state.auto_update_discrete_variables(),
        lambda s: str(s.state),
        travel,
    ]
    if built.spec.entries():
        entry = draw(st.sampled_from(built.spec.entries()))
        do += [
            partial(read, built, entry),
            partial(read, built, entry),
            lambda s: built.handle(entry).invalidate(s.state),
            lambda s: s.state.explain(built.handle(entry)),
        ]
    return draw(st.sampled_from(do))


def write(built: Built, number: int, value: float, subject: Subject) -> None:
    """Write a variable, unless it cannot be written yet."""
    state, handle = subject.state, built.handle(number)
    if built.spec.items[number].is_continuous:
        if state.stage >= Stage.MODEL:
            handle.upd(state)[:] = value
    else:
        handle.set(state, value)


def read(built: Built, number: int, subject: Subject) -> None:
    """Read an entry, unless it cannot be computed yet."""
    with suppress(StagecacheError):
        built.read(subject.state, number)


def strike_a_copy(
    data: st.DataObject, built: Built, state: State, other: State, travel: Callable[[State], object]
) -> None:
    """Strike a drawn operation on copies of a State, and check these."""
    operation = data.draw(operations(built, other, lambda s: travel(s.state)))
    variables = [i for i, item in enumerate(built.spec.items) if item.kind != "entry"]
    written = data.draw(st.lists(st.sampled_from(variables), min_size=1, max_size=3))
    is_realized = data.draw(st.booleans())
    is_traced = data.draw(st.integers(0, 3)) == 0

    def prepare() -> Subject:
        twin = state.copy(keep_cache=True)
        subject = Subject(twin, twin.checkpoint(), values_of(built, twin))
        for number in written[1:]:
            write(built, number, 6.0, subject)
        if is_realized:
            built.system.realize(twin, Stage.VELOCITY)
        note_values(built, subject)
        return subject

    def operate(subject: Subject) -> None:
        if is_traced:
            with subject.state.trace():
                operation(subject)
        else:
            operation(subject)

    before = values_of(built, prepare().state)
    for subject, whole in struck(data, prepare, operate):
        check(built, subject, before, values_of(built, whole.state), written)
    built.calls.clear()
    built.seen.clear()


def check(
    built: Built, subject: Subject, before: Values, after: Values, written: list[int]
) -> None:
    """Assert that each variable is as before or after, that all is right, and goes on to be."""
    state = subject.state
    for number, value in values_of(built, state).items():
        assert value in (before.get(number), after.get(number)), number
    check_entries(built, subject)
    check_all(built, subject)
    for number in written:
        write(built, number, 4.0, subject)
        assert set(values_of(built, state).get(number, [4.0])) <= {4.0}
        check_entries(built, subject)
        check_all(built, subject)
    if not subject.mark.is_released:
        state.rollback(subject.mark)
        assert values_of(built, state) == subject.at_mark
        check_entries(built, subject)
    twin = state.copy(keep_cache=True)
    write(built, written[0], 5.0, subject)
    assert values_of(built, twin) == subject.at_mark or subject.mark.is_released
    check_all(built, Subject(twin, subject.mark, {}))
    check_all(built, Subject(state.copy(), subject.mark, {}))


def check_all(built: Built, subject: Subject) -> None:
    """Assert that all that hooks see and all entries are right at Report."""
    state = subject.state
    built.seen.clear()
    built.system.realize(state)
    assert {state.stage, *[state[s].stage for s in built.subsystems]} == {Stage.REPORT}
    brute = Brute(built.spec, values_of(built, state))
    for number, value in built.seen:
        assert value == brute.fresh(number), number
    for number in built.spec.entries():
        assert built.read(state, number) == brute.fresh(number), number
    check_entries(built, subject)


def check_entries(built: Built, subject: Subject) -> None:
    """Assert that all that is valid is right, and no stage is above one that was not reached."""
    state = subject.state
    assert state.stage <= min(state[s].stage for s in built.subsystems)
    check_store(state._contents.realization.store)
    brute = Brute(built.spec, values_of(built, state))
    for number in built.spec.entries():
        handle: Any = built.handle(number)
        if handle.is_valid(state):
            version = handle.version(state)
            assert built.read(state, number) == brute.fresh(number), number
            assert handle.version(state) == version
    note_values(built, subject)


def note_values(built: Built, subject: Subject) -> None:
    """Assert that no version number stands for two values."""
    state = subject.state
    for number in [*values_of(built, state), *built.spec.entries()]:
        handle: Any = built.handle(number)
        if built.spec.items[number].kind != "entry" or handle.is_valid(state):
            value = built.read(state, number)
            key = number, handle.version(state)
            assert subject.seen.setdefault(key, value) == value, number
