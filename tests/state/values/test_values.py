"""What a State keeps of a value: an array that nobody else can change."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from attrs import frozen

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    auto_update,
    cached,
    parameter,
)
from stagecache.state.values.values import StoredComputation, duplicate


class Matrix(np.ndarray[Any, Any]):
    """An array of another kind."""


@frozen
class Source:
    """An array that somebody hands over, and a way to change its memory from outside."""

    array: Any
    change: Callable[[], object]


def of_its_own() -> Source:
    array = np.arange(4.0)
    return Source(array, lambda: array.fill(7.0))


def with_an_older_view() -> Source:
    array = np.arange(4.0)
    view = array[:]
    return Source(array, lambda: view.fill(7.0))


def view_of_another() -> Source:
    array = np.arange(8.0)
    return Source(array[2:6], lambda: array.fill(7.0))


def made_read_only() -> Source:
    array = np.arange(4.0)
    view = array[:]
    array.flags.writeable = False
    return Source(array, lambda: view.fill(7.0))


def read_only_view() -> Source:
    array = np.arange(4.0)
    view = array[:]
    view.flags.writeable = False
    return Source(view, lambda: array.fill(7.0))


def transposed() -> Source:
    array = np.arange(6.0).reshape(2, 3)
    return Source(array.T, lambda: array.fill(7.0))


def over_a_buffer() -> Source:
    buffer = bytearray(np.arange(4.0).tobytes())
    array = np.frombuffer(buffer)
    return Source(array, lambda: buffer.__setitem__(0, 7))


def with_a_memory_view() -> Source:
    array: Any = np.arange(4.0)
    memory: Any = memoryview(array)
    return Source(array, lambda: memory.__setitem__(0, 7.0))


def structured() -> Source:
    array = np.zeros(2, [("place", float, 3), ("name", "U4")])
    field = array["place"]
    return Source(array, lambda: field.fill(7.0))


def matrix() -> Source:
    array = np.arange(4.0).reshape(2, 2)
    return Source(array.view(Matrix), lambda: array.fill(7.0))


def without_dimensions() -> Source:
    array = np.array(1.0)
    return Source(array, lambda: array.fill(7.0))


def of_objects() -> Source:
    array = np.array([1, "two", None], object)
    return Source(array, lambda: array.fill(7))


SOURCES = [
    of_its_own,
    with_an_older_view,
    view_of_another,
    made_read_only,
    read_only_view,
    transposed,
    over_a_buffer,
    with_a_memory_view,
    structured,
    matrix,
    without_dimensions,
    of_objects,
]

Read = Callable[[], Any]


def _own_state(model: Subsystem) -> State:
    return System(model).new_state()


def declared_entry(value: Any) -> Read:
    class Model(Subsystem):
        @cached(prerequisites=())
        def entry(self, state: State) -> Any:
            return value

    model = Model()
    state = _own_state(model)
    return lambda: model.entry(state)


def compared_entry(value: Any) -> Read:
    class Model(Subsystem):
        size = parameter(1.0)

        @cached(prerequisites=(size,), equal=lambda a, b: False)
        def entry(self, state: State) -> Any:
            return value

    model = Model()
    state = _own_state(model)
    model.entry(state)
    model.size.set(state, 2.0)
    return lambda: model.entry(state)


def item_of_a_family(value: Any) -> Read:
    class Model(Subsystem):
        @cached(count=2, prerequisites=())
        def entry(self, state: State, i: int) -> Any:
            return value

    model = Model()
    state = _own_state(model)
    return lambda: model.entry[1](state)


def entry_by_a_stage(value: Any) -> Read:
    class Model(Subsystem):
        @cached(available_from=Stage.TIME, computed_by=Stage.POSITION)
        def entry(self, state: State) -> Any:
            return value

    model = Model()
    state = _own_state(model)
    state.system.realize(state, Stage.POSITION)
    return lambda: model.entry(state)


def allocated_entry(value: Any) -> Read:
    state = State()
    part = state[state.add_subsystem("s")]
    entry = part.allocate_lazy_cache_entry(Stage.TOPOLOGY, compute=lambda state: value)
    part.advance_to_stage(Stage.TOPOLOGY)
    return lambda: entry(state)


def first_value_of_an_entry(value: Any) -> Read:
    state = State()
    part = state[state.add_subsystem("s")]
    entry = part.allocate_cache_entry(Stage.TOPOLOGY, value=value)
    part.advance_to_stage(Stage.TOPOLOGY)
    entry.mark_valid(state)
    return lambda: entry(state)


def stored_entry(value: Any) -> Read:
    state = State()
    part = state[state.add_subsystem("s")]
    entry = part.allocate_cache_entry(Stage.TOPOLOGY)
    part.advance_to_stage(Stage.TOPOLOGY)
    entry.set(state, value)
    entry.mark_valid(state)
    return lambda: entry(state)


def next_value(value: Any) -> Read:
    class Model(Subsystem):
        known = auto_update(None, invalidates=Stage.REPORT, available_from=Stage.POSITION)

        @known.update
        def next(self, state: State) -> Any:
            return value

    model = Model()
    state = _own_state(model)
    state.system.realize(state, Stage.POSITION)
    state.auto_update_discrete_variables()
    return lambda: model.known(state)


def next_value_by_hand(value: Any) -> Read:
    state = State()
    part = state[state.add_subsystem("s")]
    known = part.allocate_auto_update_discrete_variable(Stage.REPORT, None, Stage.TOPOLOGY)
    part.advance_to_stage(Stage.TOPOLOGY)
    known.update.set(state, value)
    known.update.mark_valid(state)
    state.auto_update_discrete_variables()
    return lambda: known(state)


def first_value_of_a_parameter(value: Any) -> Read:
    class Model(Subsystem):
        size = parameter(value)

    def read() -> Any:
        model = Model()
        return model.size(_own_state(model))

    return read


def parameter_by_a_factory(value: Any) -> Read:
    class Model(Subsystem):
        size = parameter(factory=lambda self: value)

    model = Model()
    state = _own_state(model)
    return lambda: model.size(state)


def parameter_of_a_family(value: Any) -> Read:
    class Model(Subsystem):
        sizes = parameter(value, count=2)

    model = Model()
    state = _own_state(model)
    return lambda: model.sizes[1](state)


def written_parameter(value: Any) -> Read:
    class Model(Subsystem):
        size = parameter(1.0)

    model = Model()
    state = _own_state(model)
    model.size.set(state, value)
    return lambda: model.size(state)


ROUTES: list[Callable[[Any], Read]] = [
    declared_entry,
    compared_entry,
    item_of_a_family,
    entry_by_a_stage,
    allocated_entry,
    first_value_of_an_entry,
    stored_entry,
    next_value,
    next_value_by_hand,
    first_value_of_a_parameter,
    parameter_by_a_factory,
    parameter_of_a_family,
    written_parameter,
]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("route", ROUTES)
def test_an_array_that_is_kept_can_be_changed_by_nobody_else(
    route: Callable[[Any], Read], source: Callable[[], Source]
) -> None:
    """Nor is anything changed for whoever handed it over: it can be written as before."""
    given = source()
    before, flags = repr(given.array), given.array.flags.writeable
    read = route(given.array)
    found = read()
    assert type(found) is type(given.array)
    assert repr(found) == before
    assert not found.flags.writeable
    assert not np.shares_memory(found, given.array)
    assert given.array.flags.writeable is flags
    given.change()
    assert repr(given.array) != before
    assert repr(found) == repr(read()) == before


@pytest.mark.parametrize("route", ROUTES)
def test_a_value_of_another_kind_is_kept_as_it_is(route: Callable[[Any], Read]) -> None:
    given = (1, "two")
    assert route(given)() is given


def test_an_array_that_nobody_can_change_is_shared_and_another_one_copied() -> None:
    array = np.ones(2)
    assert not np.shares_memory(duplicate(array), array)
    assert not duplicate(array).flags.writeable
    array.flags.writeable = False
    assert duplicate(array) is array


def test_a_computation_that_may_not_return_none_is_refused_where_it_does() -> None:
    def refuse() -> None:
        raise ValueError("None")

    assert StoredComputation(lambda _: None, "an entry")(State()) is None
    assert StoredComputation(lambda _: 1, "an entry", refuse)(State()) == 1
    with pytest.raises(ValueError, match="None"):
        StoredComputation(lambda _: None, "an entry", refuse)(State())
