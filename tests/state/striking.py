"""Commands on a State, one of which is struck, and what must hold of the State after that.

A copy in which every computed entry was invalidated tells what is right.
"""

from contextlib import suppress
from typing import Any

from attrs import field, frozen
from hypothesis import strategies as st

from stagecache import CacheEntry, Checkpoint, DiscreteVariable, Stage, State
from stagecache.errors import StagecacheError
from stagecache.graph.evaluation import NO_FUNCTION
from tests.graph.check_structure import check_store
from tests.interrupting import struck
from tests.state.combined import CombinedInterpreter, CombinedPair

Values = dict[str, object]
"""Variables that can be read, by path."""


@frozen
class Subject:
    """An interpreter to be struck, a checkpoint of its State, and what versions have stood for."""

    interpreter: CombinedInterpreter
    state: State
    mark: Checkpoint
    at_mark: Values
    seen: dict[tuple[object, int], object] = field(factory=dict)


def handles_of(state: State, kind: type[Any]) -> list[Any]:
    return [item for part in state for item in part._layout.items() if isinstance(item, kind)]


def computed_in(state: State) -> list[CacheEntry[Any]]:
    functions = state._contents.realization.evaluator.functions
    return [e for e in handles_of(state, CacheEntry) if functions[e._node] is not NO_FUNCTION]


def values_of(state: State) -> Values:
    """Values of all variables, and all q, u and z if they are there."""
    path = state._contents.realization.layout.path
    found = {path(handle): handle(state) for handle in handles_of(state, DiscreteVariable)}
    if state.stage >= Stage.MODEL:
        found |= {name: state.variable(name)(state).tolist() for name in ("q", "u", "z")}
    return found


def strike_a_copy(data: st.DataObject, pair: CombinedPair, commands: list[str]) -> None:
    """Strike commands on copies of a State, and check these."""
    goes_back = data.draw(st.integers(0, 3)) == 0
    is_traced = data.draw(st.integers(0, 3)) == 0

    def prepare() -> Subject:
        interpreter = CombinedInterpreter()
        held = pair.interpreter.held
        interpreter.held = held.copied(held.state.copy(keep_cache=True))
        interpreter.saved = pair.interpreter.saved.copy()
        interpreter.slots = {
            k: slot.copied(slot.state.copy(keep_cache=True))
            for k, slot in pair.interpreter.slots.items()
        }
        state = interpreter.state
        subject = Subject(interpreter, state, state.checkpoint(), values_of(state))
        if goes_back:
            run(interpreter)
        note_values(subject, subject.state)
        return subject

    def run(interpreter: CombinedInterpreter) -> None:
        for command in commands:
            interpreter.run(command)

    def operate(subject: Subject) -> None:
        if goes_back:
            subject.state.rollback(subject.mark)
        elif is_traced:
            with subject.state.trace():
                run(subject.interpreter)
        else:
            run(subject.interpreter)

    try:
        before = values_of(prepare().state)
    except StagecacheError:  # it cannot be copied: an entry depends on what would be left out
        return
    for subject, whole in struck(data, prepare, operate):
        possible = (before, values_of(whole.state), values_of(whole.interpreter.state))
        for state in {id(s): s for s in (subject.state, subject.interpreter.state)}.values():
            check(subject, state, possible)


def check(subject: Subject, state: State, possible: tuple[Values, ...]) -> None:
    """Assert that each variable is as before or after, that all is right, and goes on to be."""
    if state is subject.state:
        for name, value in values_of(state).items():
            assert any(value == values.get(name) for values in possible), name
    check_entries(subject, state)
    read_all(subject, state)
    for handle in handles_of(state, DiscreteVariable):
        handle.set(state, 3.0)
        check_entries(subject, state)
    read_all(subject, state)
    if state is subject.state and not subject.mark.is_released:
        state.rollback(subject.mark)
        assert values_of(state) == subject.at_mark
        check_entries(subject, state)
        read_all(subject, state)
    with suppress(StagecacheError):  # what a copy leaves out may be a prerequisite
        twin = state.copy()
        read_all(Subject(subject.interpreter, twin, subject.mark, {}), twin)
    str(state)


def check_entries(subject: Subject, state: State) -> None:
    """Assert that all that is valid is as it is computed from scratch.

    What is made by hand is taken over, also if it depends on what is computed.
    """
    assert state.stage <= min([part.stage for part in state], default=state.stage)
    check_store(state._contents.realization.store)
    scratch = state.copy(keep_cache=True)
    computed = computed_in(state)
    valid = [entry for entry in handles_of(state, CacheEntry) if entry.is_valid(state)]
    for entry in computed:
        entry.invalidate(scratch)
    for entry in sorted(valid, key=lambda entry: entry._node):  # first what others depend on
        version = entry.version(state)
        if entry not in computed and not entry.is_valid(scratch):
            entry.set(scratch, entry(state))
            entry.mark_valid(scratch)
        assert entry(state) == entry(scratch), entry
        assert entry.version(state) == version
    note_values(subject, state)


def read_all(subject: Subject, state: State) -> None:
    """Read all that can be read, and assert that it is right."""
    for entry in computed_in(state):
        with suppress(StagecacheError):  # a stage, or an entry made by hand, is missing
            entry(state)
    check_entries(subject, state)


def note_values(subject: Subject, state: State) -> None:
    """Assert that no version number stands for two values."""
    if state is not subject.state:
        return
    for handle in [*handles_of(state, DiscreteVariable), *computed_in(state)]:
        if isinstance(handle, DiscreteVariable) or handle.is_valid(state):
            value = handle(state)
            key = handle, handle.version(state)
            assert subject.seen.setdefault(key, value) == value, handle
