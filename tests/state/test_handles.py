import copy
import pickle
from typing import Any, get_args, get_origin

import numpy as np
import pytest

from stagecache import (
    AutoUpdateVariable,
    CacheEntry,
    DiscreteVariable,
    Entry,
    Graph,
    Stage,
    State,
    Subsystem,
    System,
    Variable,
    parameter,
    q_variable,
    simbody,
)
from stagecache.errors import (
    ForeignNodeError,
    NotANumberError,
    NotPicklableError,
    ShapeError,
    StageTooLowError,
    UnknownItemError,
    UnknownSubsystemError,
    WrongTypeError,
)
from stagecache.state import (
    AbstractHandle,
)
from stagecache.state.handles import NO_NUMBER, declared_item
from tests.state.realizing import realize, state_of

TOPOLOGY, MODEL, INSTANCE, INFINITY = Stage.TOPOLOGY, Stage.MODEL, Stage.INSTANCE, Stage.INFINITY


def build() -> tuple[State, list[AbstractHandle], CacheEntry[float]]:
    state = state_of("a")
    q = state[0].allocate_q([2.0], name="angle")
    mass = state[0].allocate_discrete_variable(INSTANCE, 3.0)
    above: list[AbstractHandle] = [q, mass, state.variable("time")]
    entry = state[0].allocate_cache_entry_with_prerequisites(
        TOPOLOGY, INFINITY, above, compute=lambda state: float(q(state)[0] * mass(state))
    )
    return realize(state, INSTANCE), [*above, state.variable("u"), entry], entry


def test_a_handle_reads_in_every_copy_what_is_there() -> None:
    state, _, entry = build()
    twin = state.copy()
    twin.q = [5.0]
    assert (entry(state), entry(twin)) == (6.0, 15.0)


def test_an_entry_is_computed_once_and_again_after_a_change_of_what_it_depends_on() -> None:
    state = state_of("a")
    calls: list[float] = []

    def compute(state: State) -> float:
        calls.append(state.time)
        return state.time

    entry = state[0].allocate_cache_entry_with_prerequisites(
        TOPOLOGY, INFINITY, (state.variable("time"),), compute=compute
    )
    realize(state, INSTANCE)
    assert [entry(state), entry(state)] == [0.0, 0.0]
    state.time = 1.0
    assert [entry(state), entry(state), calls] == [1.0, 1.0, [0.0, 1.0]]


def test_a_computed_array_is_read_only() -> None:
    state = state_of("a")
    block = state[0].allocate_q([1.0, 2.0])
    entry = state[0].allocate_lazy_cache_entry(MODEL, compute=block)
    doubled = state[0].allocate_lazy_cache_entry(MODEL, compute=lambda state: 2 * block(state))
    realize(state, MODEL)
    kept = entry(state)
    assert not kept.flags.writeable
    assert not doubled(state).flags.writeable
    state.upd_q()[:] = 9
    assert list(kept) == [1, 2]


def test_an_entry_is_not_computed_below_its_stage() -> None:
    state = state_of("a")
    calls: list[int] = []
    entry = state[0].allocate_lazy_cache_entry(Stage.POSITION, compute=calls.append)
    realize(state, Stage.TIME)
    with pytest.raises(StageTooLowError, match="Position or later"):
        entry(state)
    assert calls == []


def test_a_handle_of_another_state_is_refused_everywhere() -> None:
    state, _, _ = build()
    _, others, entry = build()
    for handle in others:
        calls: list[Any] = [handle, handle.dependents, handle.version]
        if not isinstance(handle, CacheEntry):
            calls.append(lambda state, handle=handle: handle.set(state, 1.0))
        for call in calls:
            with pytest.raises(ForeignNodeError, match="is not in this State"):
                call(state)
    with pytest.raises(ForeignNodeError):
        others[1].last_update_time(state)  # type: ignore[attr-defined]  # a discrete variable
    for method in (
        simbody.cache_entry_info,
        simbody.get_cache_entry,
        simbody.mark_cache_value_realized,
    ):
        with pytest.raises(ForeignNodeError):
            method(state[0], entry)
    assert not simbody.has_cache_entry(state[0], entry)


def test_an_entry_of_another_state_is_not_looked_at_nor_changed_here() -> None:
    state, _, _ = build()
    _, _, entry = build()
    uses: list[Any] = [entry.is_valid, entry.mark_valid, entry.invalidate, entry.upd]
    for use in [*uses, entry.prerequisites, lambda state: entry.set(state, 1.0)]:
        with pytest.raises(ForeignNodeError, match="is not in this State"):
            use(state)


def test_a_discrete_variable_of_another_state_is_not_handed_out_here() -> None:
    (state, _, _), (_, handles, _) = build(), build()
    others: Any = handles[1]
    with pytest.raises(ForeignNodeError):
        others.upd(state)


def test_an_entry_can_be_marked_from_the_stage_before_its_own_of_its_subsystem_on() -> None:
    state = state_of("ahead", "behind")
    entries = [s.allocate_lazy_cache_entry(Stage.POSITION) for s in state]
    realize(state, INSTANCE)
    state[0].advance_to_stage(Stage.TIME)
    entries[0].mark_valid(state)
    with pytest.raises(StageTooLowError, match="'behind' at Time"):
        entries[1].mark_valid(state)


class Wheel(Subsystem):
    radius = parameter(1.0)


def test_a_subsystem_that_its_system_got_later_is_not_in_states_from_before() -> None:
    system = System(Wheel())
    state = system.new_state()
    later = system.add(Wheel())
    for realized in (False, True):
        with pytest.raises(
            ForeignNodeError, match="a State of another topology of System"
        ) as caught:
            later.radius(state)
        assert ("default_state" in caught.value.hint) == realized
        with pytest.raises(UnknownSubsystemError, match="is not in State"):
            state[later]
        system.realize_topology()
    assert later.radius(system.new_state()) == 1.0


def test_a_handle_of_another_subsystem_is_refused() -> None:
    state = state_of("a", "b")
    entry = state[0].allocate_lazy_cache_entry(MODEL)
    with pytest.raises(UnknownItemError, match="belongs to another subsystem"):
        simbody.get_cache_entry(state[1], entry)


def test_a_handle_of_a_forgotten_item_is_refused_even_if_its_node_is_used_again() -> None:
    state = state_of("a")
    realize(state, TOPOLOGY)
    old = state[0].allocate_lazy_cache_entry(TOPOLOGY, compute=lambda _: "old")
    twin = realize(state, MODEL).copy()
    state.invalidate_all(MODEL)
    new = state[0].allocate_lazy_cache_entry(TOPOLOGY, compute=lambda _: "new")
    assert (old._node, old.index) == (new._node, new.index)
    assert (new(state), old(twin)) == ("new", "old")
    with pytest.raises(ForeignNodeError):
        old(state)
    with pytest.raises(ForeignNodeError):
        new(twin)


@pytest.mark.parametrize("bad", [None, 3, "state"])
def test_what_is_no_state_is_refused(bad: Any) -> None:
    _, handles, _ = build()
    for handle in handles:
        with pytest.raises(WrongTypeError, match="a State"):
            handle(bad)


def test_a_handle_of_another_kind_is_no_index() -> None:
    state, (q, mass, _, _, entry), _ = build()
    for call, handle in (
        (simbody.get_cache_entry, mass),
        (simbody.cache_entry_info, q),
        (simbody.get_discrete_variable, entry),
    ):
        with pytest.raises(UnknownItemError, match="use the handle of a "):
            call(state[0], handle)
    with pytest.raises(UnknownSubsystemError):
        state[entry]  # type: ignore[index]  # is refused
    assert not simbody.has_cache_entry(state[0], mass)


def test_a_partition_is_no_state() -> None:
    state, _, entry = build()
    with pytest.raises(WrongTypeError, match="pass the whole State"):
        entry(state[0])  # type: ignore[arg-type]  # is refused
    a_class: Any = State
    with pytest.raises(WrongTypeError):
        entry(a_class)


def test_a_partition_is_no_state_where_the_values_are_valid_either() -> None:
    state, handles, entry = build()
    assert entry(state) == 6.0
    for handle in handles:
        with pytest.raises(WrongTypeError, match="pass the whole State"):
            handle(state[0])  # type: ignore[arg-type]  # is refused


def test_who_passes_something_else_is_not_told_of_partitions() -> None:
    _, _, entry = build()
    for other in (5, None, State):
        with pytest.raises(WrongTypeError, match="pass the State in which to read or write"):
            entry(other)  # type: ignore[arg-type]  # is refused


def test_a_number_behind_the_last_one_of_a_block_does_not_exist_wherever_the_block_starts() -> None:
    state = state_of("a")
    first, second = state[0].allocate_q([1.0]), state[0].allocate_q([2.0])
    realize(state, MODEL)
    assert (first[0](state), second[0](state)) == (1.0, 2.0)
    for block in (first, second):
        with pytest.raises(UnknownItemError, match="an index from 0 to 0"):
            block[1](state)


def test_states_and_handles_are_not_pickled_yet_but_copied() -> None:
    state, _, entry = build()
    for thing in (state, entry, [entry]):
        with pytest.raises(NotPicklableError):
            pickle.dumps(thing)
    twin = copy.deepcopy({"state": state})["state"]
    assert entry(twin) == 6.0


def test_handles_are_const_hashable_and_no_conditions() -> None:
    _, handles, entry = build()
    assert len(set(handles)) == len(handles)
    assert copy.copy(entry) is copy.deepcopy(entry) is entry
    with pytest.raises(WrongTypeError):
        bool(entry)


def test_handles_say_what_they_are() -> None:
    state, (q, mass, time, u, entry), _ = build()
    assert [str(h) for h in (q, mass, time, u, entry)] == [
        "angle of subsystem 0",
        "discrete variable 0 of subsystem 0",
        "time",
        "u",
        "cache entry 0 of subsystem 0",
    ]
    assert [h.name for h in (q, mass, time)] == ["angle", "discrete variable 0", "time"]
    assert [u.name, state[0].variable("u").name] == ["u", "u"]
    assert state_of("b")[0].allocate_q([1.0]).name == "q block 0"
    assert repr(entry) == "CacheEntry('cache entry 0 of subsystem 0')"
    assert str(state[0].variable("u")) == "u of subsystem 0"
    assert (u.index, state[0].variable("u").index) == (0, 0)


def test_an_entry_knows_its_prerequisites_and_they_their_dependents() -> None:
    state, (q, mass, time, u, _), entry = build()
    assert entry.prerequisites(state) == (q, mass, time)
    assert q.dependents(state) == mass.dependents(state) == time.dependents(state) == (entry,)
    assert u.dependents(state) == ()


@pytest.mark.parametrize("value", ["1.0", None, 1j, object(), [1.0], {}, b"", True, [1.0, 2.0]])
def test_a_time_that_is_not_a_number_is_refused_by_name(value: Any) -> None:
    """In compiled modules as well, where an annotation that is not kept is a bare TypeError."""
    state = realize(state_of("arm"), Stage.TIME)
    for write in (state.variable("time").set, lambda state, v: setattr(state, "time", v)):
        with pytest.raises((NotANumberError, ShapeError), match="time: cannot be written"):
            write(state, value)
    assert (state.time, state.stage) == (0.0, Stage.TIME)


@pytest.mark.parametrize("value", [1, np.float32(1.0), np.int8(1), np.array(1.0)])
def test_a_time_may_be_a_number_of_any_kind(value: Any) -> None:
    state = realize(state_of("arm"), Stage.TIME)
    state.variable("time").set(state, value)
    assert (state.time, type(state.time)) == (1.0, float)


def test_a_handle_refuses_unknown_attributes() -> None:
    """Compiled as well: a dictionary would take `angle.value = 3` without a word."""
    graph = Graph()
    source = graph.variable("source", 1.0)
    entry = graph.entry("entry", float, prerequisites=(source,))
    handles: list[Any] = [source, entry, *build()[1]]
    for handle in handles:
        with pytest.raises(AttributeError, match="'value'"):
            handle.value = 3


@pytest.mark.parametrize(
    "handle", [Variable, Entry, CacheEntry, DiscreteVariable, AutoUpdateVariable]
)
def test_the_class_of_a_handle_takes_a_type_in_annotations(handle: Any) -> None:
    assert (get_origin(handle[float]), get_args(handle[float])) == (handle, (float,))


def test_an_item_is_found_by_its_name_and_one_that_is_not_there_is_named_with_its_number() -> None:
    wheel = Wheel()
    assert declared_item(wheel, "radius", NO_NUMBER) is wheel.radius
    assert declared_item(wheel, "name", NO_NUMBER) == wheel.name
    for number, name in [(NO_NUMBER, "gone"), (2, "gone[2]")]:
        with pytest.raises(UnknownItemError) as caught:
            declared_item(wheel, "gone", number)
        assert str(caught.value).startswith(f"Wheel.{name}: does not exist")


class Hinge(Subsystem):
    angle = q_variable(0.5)

    def _number_names(self, of: object) -> tuple[str, ...]:
        return ("swing",)


def test_a_number_is_not_read_from_a_part_of_a_state() -> None:
    hinge = Hinge()
    state = System(hinge).new_state()
    assert hinge.angle(state) == 0.5
    with pytest.raises(WrongTypeError, match="pass the whole State"):
        hinge.angle(state[1])  # type: ignore[arg-type]  # is refused


def test_names_of_numbers_are_those_of_the_subsystem_if_there_are_as_many() -> None:
    hinge = Hinge()
    assert hinge.angle._names_of(1) == ("swing",)
    assert hinge.angle._names_of(2) == ()
    _, handles, _ = build()
    assert handles[0]._names_of(1) == ()  # type: ignore[attr-defined]  # of q


def test_the_time_is_the_first_and_only_one_of_its_kind() -> None:
    assert state_of("a").variable("time").index == 0
